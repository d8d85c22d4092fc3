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

MUST_CHECK enum status path_log_open(struct path_log **out, struct db *d);
void path_log_close(struct path_log *l); /* NULL is fine */

/* Records that page `from` leads to to[0..n), and sorts that array. `on_level`:
 * they are as far from a seed as the page (redirects, URLs in a sitemap), else
 * one link farther. Inside a transaction. */
MUST_CHECK enum status path_log_add(struct path_log *l, uint64_t from,
                                    bool on_level, uint64_t *to, size_t n);
/* The number of the last row; 0 if there are no rows. */
uint64_t path_log_last(const struct path_log *l);

/* Calls `visit` for each path of up to `most` rows after row *at, and moves
 * *at to the last of them. STATUS_NOT_FOUND: there are no more. STATUS_DAMAGED
 * with a log line. */
MUST_CHECK enum status path_log_each(struct path_log *l, uint64_t *at,
                                     size_t most,
                                     void (*visit)(void *ctx, uint64_t from,
                                                   bool on_level, uint64_t to),
                                     void *ctx);

#endif
