/*
 * path_log.h - which URLs each page led to (table path).
 *
 * A crawl with a depth limit keeps it: whether a URL is within the limit
 * depends on the shortest path from a seed, which may be found last. The link
 * graph of --record links is for people and has every repeat of a link; this
 * log has each link once, as numbers, about two octets each. Frontier thread
 * only.
 */
#ifndef URLWEIR_STORAGE_ROWS_PATH_LOG_H
#define URLWEIR_STORAGE_ROWS_PATH_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "storage/db/db.h"

struct path_log;

/* How much farther from a seed a page's link leads. */
enum path_step {
    PATH_LINK,  /* one link */
    PATH_SAME,  /* as far: a redirect */
    PATH_ENTRY, /* as far, but at least one: what a sitemap lists is no seed */
    PATH_STEPS_
};

static inline uint32_t path_depth(uint32_t of_page, enum path_step step)
{
    return of_page +
           (step == PATH_LINK || (step == PATH_ENTRY && of_page == 0));
}

MUST_CHECK enum status path_log_open(struct path_log **out, struct db *d);
void path_log_close(struct path_log *l); /* NULL is fine */

/* Records that page `from` leads to to[0..n), and sorts that array. Inside a
 * transaction. */
MUST_CHECK enum status path_log_add(struct path_log *l, uint64_t from,
                                    enum path_step step, uint64_t *to,
                                    size_t n);
/* The number of the last row; 0 if there are no rows. */
uint64_t path_log_last(const struct path_log *l);

/* Calls `visit` for each path of up to `most` rows after row *at, and moves
 * *at to the last of them. STATUS_NOT_FOUND: there are no more. STATUS_DAMAGED
 * with a log line. */
MUST_CHECK enum status path_log_each(
    struct path_log *l, uint64_t *at, size_t most,
    void (*visit)(void *ctx, uint64_t from, enum path_step step, uint64_t to),
    void *ctx);

#endif
