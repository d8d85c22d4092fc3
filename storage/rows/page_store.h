/*
 * page_store.h - metadata of each fetch: status, times, digest, place in WARC.
 *
 * Rows are appended (table fetch), in the transaction that holds the links the
 * page revealed; a try that will be repeated has a row too, marked as such.
 * Rows that a crawl does not keep for ever are removed by history.h. Owned by
 * the frontier thread; readers open the database read-only.
 */
#ifndef URLWEIR_STORAGE_ROWS_PAGE_STORE_H
#define URLWEIR_STORAGE_ROWS_PAGE_STORE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/digest.h"
#include "storage/db/db.h"
#include "storage/rows/side_tables.h"

struct page_store;

MUST_CHECK enum status page_store_open(struct page_store **out, struct db *d);
void page_store_close(struct page_store *s);

/* More facts about a try. The bits are stored: only add new ones. */
enum {
    FETCH_ROW_AT_ROBOTS = 1,      /* its reason was met at robots.txt */
    FETCH_ROW_NOINDEX = 2,        /* the page asks not to be indexed */
    FETCH_ROW_UNKNOWN_CODING = 4, /* its content coding is unknown, or not the
                                     body's, which was read undecoded */
    FETCH_ROW_NO_NUMBERS = 8,     /* text_digest leaves out numbers and dates */
    FETCH_ROW_CONNECTED = 16,     /* a connection was opened for it, or for
                                     robots.txt before it */
    FETCH_ROW_HANDSHAKE = 32,     /* the same of a TLS handshake */
    FETCH_ROW_KEPT = 64,          /* it came over a connection that was open */
    FETCH_ROW_NOT_WELL_FORMED = 128, /* a page in XML that was read as HTML from
                                        where it is not well formed */
    FETCH_ROW_LIST = 256, /* its links are the entries of a sitemap or
                             feed */
    FETCH_ROW_OF_PAGE = FETCH_ROW_NOINDEX | FETCH_ROW_UNKNOWN_CODING |
                        FETCH_ROW_NO_NUMBERS | FETCH_ROW_NOT_WELL_FORMED |
                        FETCH_ROW_LIST
};

struct fetch_row {
    uint64_t seq;              /* 1, 2, 3 ...; given by the store */
    uint64_t url;              /* id of the url row */
    int64_t at_ms;             /* wall clock of the request */
    uint32_t elapsed_ms;       /* from request to end of response */
    uint8_t status;            /* enum outcome_status (frontier/outcome.h) */
    uint8_t reason;            /* enum outcome_reason */
    bool final;                /* false: will be tried again */
    uint8_t tries;             /* this was try number 1, 2, ... */
    uint16_t http_status;      /* 0: no response */
    uint64_t wire_bytes;       /* octets received, heads included */
    uint64_t body_bytes;       /* decoded */
    struct digest body_digest; /* all zero: no body */
    uint16_t flags;            /* FETCH_ROW_... */
    uint64_t redirect_to;      /* id of the target's row, 0: none */
    struct bytes redirect_url; /* the target, if it has no row */
    uint32_t links;            /* links found on it */
    struct bytes mime;         /* "text/html", lower case, no parameters */
    struct bytes charset;      /* encoding used, or empty */
    struct bytes title, lang;
    struct bytes ip;     /* address that responded, or empty */
    struct bytes detail; /* explanation: robots line, error text */
    struct bytes etag, last_modified;
    struct bytes warc_file; /* empty: none */
    uint64_t warc_offset, warc_length;
    uint32_t first_byte_ms; /* from request to first octet of response */
    uint64_t same_as; /* seq of the first row with this body, 0: this is it */
    uint64_t simhash; /* fingerprint of the text, 0: none (text_simhash.h) */
    uint64_t near_dup_of; /* seq of the first row with a fingerprint near to
                             this one and another body, 0: none */
    struct digest text_digest; /* of what it says (crawler/html/text_digest.h),
                                  of the body if it is no HTML; all zero: no
                                  body, or its row is older */
    uint64_t body_print;       /* of the body, without a secret; 0: as above */
    struct bytes meta; /* what the page says of itself (page_meta); empty: not
                          recorded */
};

/* Fills in row->same_as if page_store_watch_bodies was called, row->near_dup_of
 * if page_store_watch_near was. */
MUST_CHECK enum status page_store_add(struct page_store *s,
                                      struct fetch_row *row, uint64_t *seq);
uint64_t page_store_last_seq(const struct page_store *s);
/* From here on rows up to `seq` may be removed by others (history.h), in the
 * transaction that is open. */
MUST_CHECK enum status page_store_thin(struct page_store *s, uint64_t seq);
/* Rows after `after`, in order of seq; bytes are borrowed during the visit.
 * `visit` returns false to stop. */
MUST_CHECK enum status page_store_each(
    struct page_store *s, uint64_t after,
    bool (*visit)(void *ctx, const struct fetch_row *row), void *ctx);
/* All rows, the newest first. */
MUST_CHECK enum status page_store_each_newest(
    struct page_store *s, bool (*visit)(void *ctx, const struct fetch_row *row),
    void *ctx);
/* Rows of one URL, oldest first (reads the whole table: for explain). */
MUST_CHECK enum status page_store_each_of(
    struct page_store *s, uint64_t url,
    bool (*visit)(void *ctx, const struct fetch_row *row), void *ctx);

/* From here on, recognizes repeated bodies, including those of earlier rows.
 * `memory`: octets for the index, see fetch_index_open. */
MUST_CHECK enum status page_store_watch_bodies(struct page_store *s,
                                               uint64_t memory);
/* From here on, recognizes near duplicates, including those of earlier rows
 * with fingerprints. `memory`: see fetch_index_open. */
MUST_CHECK enum status page_store_watch_near(struct page_store *s,
                                             uint64_t memory);
/* From here on, knows the last whole fetch of each URL (whole_index.h), those
 * of earlier rows included. `memory`: 0 for a reader, see whole_index_open. */
MUST_CHECK enum status page_store_watch_last(struct page_store *s,
                                             uint64_t memory);
/* Visits that row of `url`; its bytes are borrowed during the visit.
 * STATUS_NOT_FOUND: it was never fetched whole. Only with
 * page_store_watch_last. */
MUST_CHECK enum status page_store_last(
    struct page_store *s, uint64_t url,
    void (*visit)(void *ctx, const struct fetch_row *row), void *ctx);
/* Call it inside a transaction, before its commit. */
MUST_CHECK enum status page_store_step(struct page_store *s);
uint64_t page_store_memory(const struct page_store *s);
/* *first: the first row whose body had this digest; its seq is 0 if no row had.
 * Only with page_store_watch_bodies. */
struct first_body {
    uint64_t seq, url;
    int64_t at_ms;
    uint8_t status, reason;
    bool recorded; /* its body is in a WARC file: it is not unchanged since
                      another crawl */
};
/* The same facts of row `seq`. STATUS_DAMAGED: there is no such row. */
MUST_CHECK enum status page_store_brief(struct page_store *s, uint64_t seq,
                                        struct first_body *out);
MUST_CHECK enum status page_store_first_with_body(struct page_store *s,
                                                  struct digest body_digest,
                                                  struct first_body *first);
/* The same for the first row with a fingerprint near to this one. Only with
 * page_store_watch_near. */
MUST_CHECK enum status page_store_first_near(struct page_store *s,
                                             uint64_t simhash,
                                             struct first_body *first);
/* The target that row `seq` was redirected to: its id in *id, or its URL in
 * `url`; neither is set if it was not redirected. */
MUST_CHECK enum status page_store_redirect(struct page_store *s, uint64_t seq,
                                           uint64_t *id, struct buf *url);
/* What an earlier fetch found. */
/* The row `seq`: its URL, outcome, media type, what it repeats, and what tells
 * whether another fetch brought the same (page_same_content); the rest is zero. The
 * type is empty if it is no word of table word. STATUS_NOT_FOUND. */
MUST_CHECK enum status page_store_past(struct page_store *s, uint64_t seq,
                                       struct fetch_row *out);
/* Up to `most` final rows before `before`, latest first. */
struct final_fetch {
    uint64_t seq, url;
    uint8_t status, reason;
    uint16_t http_status;
    int64_t at_ms;
};
MUST_CHECK enum status page_store_finals_before(
    struct page_store *s, uint64_t before, size_t most,
    void (*visit)(void *ctx, const struct final_fetch *row), void *ctx);
/* The newest final row of `url`, if it has been fetched again or was whole; 0:
 * it has one at most, which was not. Only with page_store_watch_last. */
MUST_CHECK enum status page_store_newest(struct page_store *s, uint64_t url,
                                         uint64_t *seq);
/* Notes `row`, which was added just now, as the newest of its URL: a later one
 * than its first. Inside a transaction. */
MUST_CHECK enum status page_store_note_newest(struct page_store *s,
                                              const struct fetch_row *row,
                                              uint64_t seq);
/* Where the WARC record of a row is; no file: it has none. */
struct page_record {
    uint64_t seq;
    struct bytes file;
    uint64_t offset;
    bool of_lost; /* that of the first row with its body is lost */
};
/* Inside a transaction: the next rows after *upto, `most` of them, no longer
 * name a record that `is_lost`. *upto rises; *over: there are no more rows. */
MUST_CHECK enum status page_store_lose_records(
    struct page_store *s, uint64_t *upto, size_t most,
    bool (*is_lost)(void *ctx, const struct page_record *r), void *ctx,
    bool *over);
/* Did row `seq` have a record that is lost? */
MUST_CHECK enum status page_store_is_lost(struct page_store *s, uint64_t seq,
                                          bool *lost);
/* The id of the URL of row `seq`; 0 if there is no such row. */
uint64_t page_store_url_of(struct page_store *s, uint64_t seq);
/* Checks that the index is consistent and names rows that have the bodies;
 * *count: distinct bodies. STATUS_DAMAGED. Readers may call it too. */
MUST_CHECK enum status page_store_verify_bodies(struct page_store *s,
                                                uint64_t *count);

/* The same for fingerprints; *count: different ones. */
MUST_CHECK enum status page_store_verify_near(struct page_store *s,
                                              uint64_t *count);

/* The same for the last whole and the newest fetches of URLs, the ids of which
 * are up to `last_id`. STATUS_NOMEM. */
MUST_CHECK enum status page_store_verify_last(struct page_store *s,
                                              uint64_t last_id);

/*
 * A row of table fetch, for modules that query it with SQL of their own.
 */

/* The columns of table fetch, alias f, that fetch_row_take reads. WORD wraps a
 * column that may hold a number instead of its text, and yields the text. */
/* clang-format off */
#define FETCH_COLUMNS(WORD)                                                    \
    "f.seq, f.url, f.final, f.status, f.reason, f.tries, f.http, f.at,"        \
    " f.elapsed, f.wire, f.body, f.digest, f.redirect, f.links, "              \
    WORD("f.mime") ", " WORD("f.charset") ", " WORD("f.lang") ", "             \
    WORD("f.ip") ", f.title, f.detail, f.etag, f.modified, " WORD("f.warc")    \
    ", f.warc_offset, f.warc_length, f.first_byte, f.same, f.flags,"           \
    " f.text_print, f.near, f.text_digest, f.body_print, f.meta"
/* clang-format on */
#define FETCH_COLUMN_COUNT 33
/* Such a WORD. */
#define FETCH_WORD(column)                                                     \
    "CASE typeof(" column ") WHEN 'integer'"                                   \
    " THEN (SELECT text FROM word WHERE id = " column ") ELSE " column " END"

/* A column of 16 octets; all zero if it is anything else. */
struct digest fetch_digest(sqlite3_stmt *q, int column);

/* Bytes are borrowed from `q` and `words`, which may be NULL if WORD leaves no
 * numbers. STATUS_DAMAGED with one log line. */
struct string_table;
MUST_CHECK enum status fetch_row_take(const struct string_table *words,
                                      sqlite3_stmt *q, struct fetch_row *row);

/*
 * What a page says of itself, packed.
 *
 * Column meta of table fetch, with --record meta: description, first heading,
 * directives for robots and canonical URL, each as its length, a varint, and
 * its octets; then, if the page is HTML, two more varints: the links to
 * versions in other languages and the words of its text. One column, so that
 * crawls without it pay an octet a row.
 */

/* Most octets of each text. */
#define PAGE_DESCRIPTION_MOST 512
#define PAGE_H1_MOST          512
#define PAGE_ROBOTS_MOST      256
#define PAGE_CANONICAL_MOST   4096
#define PAGE_META_MOST                                                         \
    (PAGE_DESCRIPTION_MOST + PAGE_H1_MOST + PAGE_ROBOTS_MOST +                 \
     PAGE_CANONICAL_MOST + 64)

struct page_meta {
    struct bytes description, h1; /* white space folded */
    struct bytes robots;          /* X-Robots-Tag, then meta robots */
    struct bytes canonical;       /* of <link rel=canonical>, else of the HTTP
                                     Link header; a canonical URL */
    bool is_html;                 /* then there are ... */
    uint64_t hreflang, words;
};

/* Longer texts than the bounds above are cut; but a URL is left out. */
void page_meta_put(struct buf *out, const struct page_meta *meta);
/* Texts stay where they are; absent ones are empty. False: `packed` is nothing
 * that page_meta_put has written. */
bool page_meta_get(struct bytes packed, struct page_meta *out);

/*
 * Whether two fetches of a URL brought the same page.
 *
 * Works within a crawl and across crawls, since it goes by the digests that
 * have no secret. Any thread.
 */

/* What makes a page another one: its octets, its visible text, or that text
 * without numbers and dates. */
enum changed_by { CHANGED_BY_BODY, CHANGED_BY_TEXT, CHANGED_BY_WORDS };

/* Do both have a text digest, taken in the same way? */
bool page_texts_compare(const struct fetch_row *a, const struct fetch_row *b);
bool page_same_text(const struct fetch_row *a, const struct fetch_row *b);
/* A row without body_print is compared by its length. */
bool page_same_body(const struct fetch_row *a, const struct fetch_row *b);

/* Is the content of `a` that of `b`? Where texts cannot be compared, bodies
 * are. */
bool page_same_content(const struct fetch_row *a, const struct fetch_row *b,
                       enum changed_by by);

#endif
