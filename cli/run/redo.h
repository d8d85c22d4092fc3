/*
 * redo.h - what `urlweir retry` and `urlweir refresh` share: URLs of a crawl
 * that are to be fetched again.
 *
 * A running crawl does it between its own work. If nobody runs the crawl, the
 * command opens it, and a resume then fetches the URLs.
 */
#ifndef URLWEIR_CLI_RUN_REDO_H
#define URLWEIR_CLI_RUN_REDO_H

#include <jansson.h>

#include "base/buf.h"
#include "cli/control/steer.h"
#include "cli/run/stopped_crawl.h"

/* How one of them differs from the other. */
struct redo {
    const char *verb;   /* the command, and the call of a process */
    const char *count;  /* the answer's field that says how many */
    const char *done;   /* "URLs ..." */
    const char *left;   /* for stopped_crawl_say_left */
    bool left_is_count; /* it counts these URLs, not all that wait */
    /* Reads the command's own options. Returns the exit status; if that is not
     * EXIT_DONE, the reason was printed. */
    int (*read)(struct steer *t, void *ctx);
    enum status (*stopped)(struct stopped_crawl *c, const struct steer *t,
                           struct bytes host, void *ctx, uint64_t *n);
    /* Adds the command's own options to the call's body. */
    void (*ask)(const struct steer *t, json_t *body);
};

/* `ctx` is for the functions. Returns the command's exit status. */
int redo_urls(struct steer *t, const struct redo *r, void *ctx);

#endif
