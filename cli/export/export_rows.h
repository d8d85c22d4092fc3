/*
 * export_rows.h - rows of `urlweir export` that are put together from several
 * tables: hosts, drops, links, broken links.
 */
#ifndef URLWEIR_CLI_EXPORT_EXPORT_ROWS_H
#define URLWEIR_CLI_EXPORT_EXPORT_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/record.h"
#include "base/status.h"
#include "frontier/reader.h"

/* Prints the rows of docs/formats/hosts.md. Holds four octets for each URL of
 * the crawl while it reads. STATUS_IO: stdout is gone. */
MUST_CHECK enum status export_hosts(struct reader *r, struct record *out);

/*
 * `urlweir export` of links that were dropped.
 *
 * The rows are those of docs/formats/export.md. Each returns STATUS_IO if
 * stdout is gone.
 */

/* Counts by reason and host. */
MUST_CHECK enum status export_drops(struct reader *r, struct record *out);
/* Some URLs of each reason. */
MUST_CHECK enum status export_drop_examples(struct reader *r,
                                            struct record *out);
/* Each drop that is kept (--keep-dropped). */
MUST_CHECK enum status export_dropped(struct reader *r, struct record *out);

/*
 * How many pages link to each URL of a crawl.
 *
 * Counted from the recorded links when asked: a count that is kept would be a
 * random write for each link. Eight octets a URL.
 */

struct in_links;

/* STATUS_OK with *out NULL: no links were recorded. The caller frees *out. */
MUST_CHECK enum status in_links_load(struct in_links **out, struct reader *r);
void in_links_free(struct in_links *l); /* NULL is fine */

/* The pages that link to URL `id`, but itself, and not by redirects; -1: not
 * known. `l` may be NULL. */
int64_t in_links_of(const struct in_links *l, uint64_t id);

/* ---- `urlweir export --what links` ---- */

/* Is there a link graph? Prints a message if it is incomplete or missing. */
bool export_has_links(const struct reader *r, int *code);
/* Writes it to stdout. STATUS_IO: stdout is gone; STATUS_DAMAGED: a link names
 * a URL that is not there. */
MUST_CHECK enum status export_links(struct reader *r, struct record *out);

/* ---- `urlweir export --what broken`: links that lead nowhere ---- */

/* Prints a row for each recorded link whose target failed, itself or behind
 * redirects, as docs/formats/export.md describes. `checked`, which may be NULL,
 * is another crawl, which says what came of targets of dropped links. Holds
 * eight octets for each URL of either crawl. STATUS_IO: stdout is gone. */
MUST_CHECK enum status export_broken(struct reader *r, struct reader *checked,
                                     struct record *out);

#endif
