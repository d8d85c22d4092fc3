/*
 * side_tables.h - the small tables beside those of URLs and fetches.
 *
 * Each has a row for some URLs, fetches or origins, and nothing of it is in
 * memory: these functions are given the database and keep nothing else. Owned
 * by the frontier thread; readers open the database read-only. Make all writing
 * calls between db_begin and db_commit.
 */
#ifndef URLWEIR_STORAGE_ROWS_SIDE_TABLES_H
#define URLWEIR_STORAGE_ROWS_SIDE_TABLES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "storage/db/db.h"

/*
 * What sitemaps say about the URLs they list.
 *
 * Table hint has a row for each URL about which some sitemap or feed said
 * anything: its priority, when it last changed, how often it changes. None of
 * this is trusted: it only orders URLs. A later statement replaces an earlier
 * one. URLs that no sitemap lists cost nothing.
 */

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

MUST_CHECK enum status hint_store_set(struct db *d, uint64_t url,
                                      const struct url_hint *hint);
/* STATUS_NOT_FOUND: no sitemap said anything about it. */
MUST_CHECK enum status hint_store_get(struct db *d, uint64_t url,
                                      struct url_hint *hint);
/* Are there any hints at this moment? */
MUST_CHECK enum status hint_store_any(struct db *d, bool *any);

/*
 * URLs that go before their turn, by queue and class.
 *
 * Table early has a row for each URL whose class is above that of its queue's
 * order of arrival; a higher class goes first. The rows are hints: each URL
 * also stands in its queue (frontier_store.h), so that a row may be stale or
 * missing and no URL is lost. A URL has at most one row; class 0 keeps the
 * in-links of one that needs no class any more, for people.
 *
 * Rows are few, so they are a table with a key of its own and not segments:
 * 16 classes of segments would make every queue's reading and merging dearer.
 */

#define EARLY_CLASS_MOST 15
#define EARLY_NONE       UINT8_MAX /* it has no row */

/* Class and in-links of a URL. STATUS_NOT_FOUND. */
MUST_CHECK enum status early_store_get(struct db *d, uint32_t queue,
                                       uint64_t url, uint8_t *class_,
                                       uint32_t *links);
/* Sets them. `was`: its class until now, or EARLY_NONE. */
MUST_CHECK enum status early_store_put(struct db *d, uint32_t queue,
                                       uint64_t url, uint8_t was,
                                       uint8_t class_, uint32_t links);
/* Passes the URLs of one class to `visit`, in order of arrival, until it
 * returns false. `visit` must not change the store. */
MUST_CHECK enum status early_store_each(struct db *d, uint32_t queue,
                                        uint8_t class_,
                                        bool (*visit)(void *ctx, uint64_t url),
                                        void *ctx);
/* Every queue and class above 0 that has rows, at start. */
MUST_CHECK enum status early_store_each_queue(
    struct db *d, void (*visit)(void *ctx, uint32_t queue, uint8_t class_),
    void *ctx);

/*
 * The calendar: when each done URL is to be fetched again.
 *
 * A URL with a date has one row in table refresh; a URL without one is not
 * fetched again. Rows are in order of queue, then of date, so the next URL of a
 * queue is the first of its rows, and a queue's dates are neighbours on disk:
 * a crawl that leaves a host alone touches none of its pages.
 *
 * A row is written in the transaction of the fetch that gives the date, and
 * replaced in that of the next fetch. So a crash finds the old date with the
 * old fetch or the new date with the new one, and nothing has to be replayed.
 */

struct refresh_row {
    uint32_t queue;
    int64_t due_ms; /* wall clock */
    uint64_t url;
    uint64_t seq;    /* its last final fetch row (page_store.h) */
    int64_t at_ms;   /* when that was asked */
    uint32_t tries;  /* of the refresh under way that failed for now */
    uint32_t absent; /* consecutive fetches that found 404 or 410 */
    uint64_t known;  /* how often it changes (refresh_rule.h) */
    uint64_t links;  /* a digest of those that its page had; 0: not known */
};

/* The URL must have no other row. */
MUST_CHECK enum status refresh_store_put(struct db *d,
                                         const struct refresh_row *row);
/* Removes the row with this queue, date and URL. STATUS_DAMAGED, with a log
 * line: there is none. */
MUST_CHECK enum status refresh_store_drop(struct db *d,
                                          const struct refresh_row *row);

/* Visits rows in order of queue, date and URL, the first of them after that of
 * `after` (whose other fields do not count), until `visit` returns false. All
 * zero but the queue: those of this queue and all later ones. */
MUST_CHECK enum status refresh_store_each(
    struct db *d, const struct refresh_row *after,
    bool (*visit)(void *ctx, const struct refresh_row *row), void *ctx);
/* The first date of each queue that has any, in order of queue. */
MUST_CHECK enum status refresh_store_each_queue(
    struct db *d, void (*visit)(void *ctx, const struct refresh_row *first),
    void *ctx);

/*
 * What the record of a fetch refers to.
 *
 * The record of an unchanged page has no body: it refers to an earlier record,
 * by URL and date (WARC/1.1 section 6.7), which may be in the files of another
 * crawl. The fetch after that needs to know it too, so table revisit keeps it.
 */

/* A record that holds a body. */
struct record_name {
    struct bytes url; /* WARC-Target-URI; empty: there is no such record */
    int64_t at_ms;    /* WARC-Date */
};

/* The record of fetch `seq` refers to this one. */
MUST_CHECK enum status revisit_store_set(struct db *d, uint64_t seq,
                                         const struct record_name *to);
/* STATUS_NOT_FOUND: it refers to none, or to one that fetch.same names.
 * to->url points into `text`. */
MUST_CHECK enum status revisit_store_get(struct db *d, uint64_t seq,
                                         struct record_name *to,
                                         struct buf *text);

/*
 * The robots.txt files in force: one row an origin, which a newer file
 * replaces.
 */

struct robots_row {
    struct bytes origin; /* scheme://host[:port] */
    int64_t fetched_at_ms, expires_at_ms;
    int64_t unreachable_since_ms; /* 0: it responded */
    uint16_t http_status;         /* 0: no response */
    struct bytes body;            /* at most 500 KiB */
};

/* STATUS_LIMIT: the body is too long. */
MUST_CHECK enum status robots_store_set(struct db *d,
                                        const struct robots_row *row);
/* STATUS_NOT_FOUND. `text` holds what *row points to. */
MUST_CHECK enum status robots_store_get(struct db *d, struct bytes origin,
                                        struct robots_row *row,
                                        struct buf *text);

#endif
