/*
 * hint_store.h - what sitemaps say about the URLs they list.
 *
 * Table hint has a row for each URL about which some sitemap or feed said
 * anything: its priority, when it last changed, how often it changes. None of
 * this is trusted: it only orders URLs. A later statement replaces an earlier
 * one. URLs that no sitemap lists cost nothing.
 *
 * Owned by the frontier thread; readers open the database read-only.
 */
#ifndef URLWEIR_STORAGE_ROWS_HINT_STORE_H
#define URLWEIR_STORAGE_ROWS_HINT_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "storage/db/db.h"

/* The values of <changefreq> (sitemaps.org); the numbers are stored. */
enum url_changefreq {
    CHANGEFREQ_NONE = 0, /* not given */
    CHANGEFREQ_ALWAYS,
    CHANGEFREQ_HOURLY,
    CHANGEFREQ_DAILY,
    CHANGEFREQ_WEEKLY,
    CHANGEFREQ_MONTHLY,
    CHANGEFREQ_YEARLY,
    CHANGEFREQ_NEVER,
    CHANGEFREQ_COUNT_
};
/* "daily"; "" for CHANGEFREQ_NONE; static. */
const char *changefreq_name(enum url_changefreq f);

#define HINT_NO_PRIORITY (-1)
#define HINT_NO_LASTMOD  INT64_MIN

struct url_hint {
    int64_t lastmod_ms; /* since 1970, UTC; HINT_NO_LASTMOD: not given */
    int16_t priority;   /* thousandths, 0 to 1000; HINT_NO_PRIORITY */
    uint8_t changefreq; /* enum url_changefreq */
};

struct hint_store;

MUST_CHECK enum status hint_store_open(struct hint_store **out, struct db *d);
void hint_store_close(struct hint_store *s); /* NULL is fine */

MUST_CHECK enum status hint_store_set(struct hint_store *s, uint64_t url,
                                      const struct url_hint *hint);
/* STATUS_NOT_FOUND: no sitemap said anything about it. */
MUST_CHECK enum status hint_store_get(struct hint_store *s, uint64_t url,
                                      struct url_hint *hint);
/* Are there any hints at this moment? */
MUST_CHECK enum status hint_store_any(struct hint_store *s, bool *any);

#endif
