/*
 * control_place.h - where the process that runs a crawl takes commands.
 *
 * A person names a crawl by its directory, or a service by its URL. A directory
 * leads to its process through the lock: who holds it answers on the Unix
 * socket DIR/control, which only whoever owns the directory may use; where
 * there is none, at the HTTP address that stands in the lock file. The
 * directory of a crawl within a service, DIR/crawls/NAME, leads to the service.
 */
#ifndef URLWEIR_CLI_CONTROL_CONTROL_PLACE_H
#define URLWEIR_CLI_CONTROL_CONTROL_PLACE_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/status.h"

#define CONTROL_SOCKET "control" /* its name in DIR */

struct control_place {
    char *url;    /* what paths are put behind, without a '/' at its end */
    char *socket; /* the Unix socket to it, or NULL */
    char *dir;    /* whose lock is held; NULL: a URL was given */
    char *crawl;  /* the one that was named by its directory, or NULL */
    long process; /* that holds the lock; 0: a URL was given */
    bool service; /* it is `urlweir serve`; of a URL nobody knows */
    int dir_fd;   /* what a long path to the socket goes through, or -1 */
};

/* `where`: a directory or a URL. STATUS_NOT_FOUND: nobody runs there;
 * STATUS_BUSY: somebody holds the directory and takes no commands; STATUS_ARG:
 * no such URL; STATUS_IO: the directory cannot be looked into. `why` says it
 * for people, and what to do. On failure there is nothing to free. */
MUST_CHECK enum status control_place_find(struct control_place *out,
                                          const char *where, struct buf *why);
void control_place_fini(struct control_place *p);

/* Is it the directory of a crawl that nobody runs? */
bool control_place_is_stopped(const char *where);

/* Has the process let the directory go? Of a URL nobody knows: true. */
bool control_place_is_left(const struct control_place *p);

/* What stands in the lock of whoever serves HTTP at `address`, or NULL. */
void control_note(struct buf *out, const char *what, const char *address,
                  bool tls);
/* What the process that has the lock says of its sandbox, for a terminal.
 * False: nothing. */
bool control_note_sandbox(const char *dir, struct buf *out);

#endif
