/*
 * archive.h - appends the records of a crawl's responses to WARC files.
 *
 * Takes what fetchers recorded (struct warc_capture), turns a response whose
 * body was recorded before into a revisit record, appends it, and stores file and
 * offset in the fetch row. archive_sync runs before each commit, so that every
 * row of the store points at a whole record, even after a crash. Threads: the
 * frontier thread, except for archive_info_id.
 */
#ifndef URLWEIR_CRAWLER_ARCHIVE_ARCHIVE_H
#define URLWEIR_CRAWLER_ARCHIVE_ARCHIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/status.h"
#include "crawler/fetch/fetch.h"
#include "crawler/html/link_values.h"
#include "frontier/frontier.h"
#include "storage/warc/warc.h"
#include "storage/warc/warc_record.h"

/* ---- HTTP heads in the form for WARC records ---- */

/*
 * Pure functions over the octets of a head; see archive.c for what is
 * changed and why. Any thread.
 */

/* The body that follows the head. */
struct warc_body {
    uint64_t length;
    bool none;    /* the response has no body by its nature: 204, 304 */
    bool decoded; /* it is in no content encoding, whatever the head says */
};

/* Appends the head of a response, corrected, with its empty line. `changed`
 * gets the fields that were removed or altered, as received, separated by ";
 * ". */
void warc_response_head(struct bytes raw, const struct warc_body *body,
                        struct buf *out, struct buf *changed);

/* Appends the head of a request, as HTTP/1.1. */
void warc_request_head(struct bytes raw, struct buf *out);

/* ---- the metadata record of a response ---- */

/*
 * The fields of WARC/1.1 section 6.6 (via, hopsFromSeed, fetchTimeMs), and
 * those that archives write beside them: charsetForLinkExtraction, and for each
 * link that is in scope, once,
 *
 *     outlink: URL LETTER CONTEXT
 *
 * LETTER and CONTEXT are those of link_values.h. Pure, any thread.
 */

#define WARC_METADATA_MOST ((size_t)1 << 20) /* of a block */

/* What is known about a response besides the response itself. Bytes are
 * borrowed. */
struct warc_facts {
    struct bytes url; /* that was requested */
    struct found_by by;
    struct record_name same; /* the record that a page without a change refers
                                to; url empty: none */
    struct bytes charset;    /* used to read its links, or empty */
    struct bytes note;       /* what is odd about its body, or empty */
    const struct url_item *outlinks;
    size_t outlink_count;
};

/* Appends the block. False: there was no room for every link. */
bool warc_metadata(const struct warc_facts *facts, int64_t fetch_ms,
                   struct buf *out);

/* ---- the records of one response, made where it was fetched ---- */

struct warc_capture {
    struct buf members;  /* response (or revisit), request, metadata */
    size_t first_length; /* octets of the first */
    int64_t date_ms;
    bool may_repeat; /* has a whole body, which may have been recorded before */
    /* for a revisit record */
    struct buf head; /* corrected */
    char *uri, *ip, *as_received;
    const char *protocol;
    char id[WARC_ID_SIZE], payload_digest[WARC_DIGEST_SIZE];
    char info_id[WARC_ID_SIZE]; /* of the warcinfo record; "": none */
    struct body_pool *pool;     /* the pool that counts its memory, or NULL */
    uint64_t held;
};
void warc_capture_free(struct warc_capture *c); /* NULL is fine */

/* Replaces the response by a revisit record: the same payload was recorded for
 * `uri` at `date_ms`. */
MUST_CHECK enum status warc_capture_revisit(struct warc_capture *c,
                                            struct warc_maker *m,
                                            struct bytes uri, int64_t date_ms);

/* ---- how a URL was found ---- */

/*
 * On which page, and over what kinds of links from a seed.
 *
 * The path is in the form that archives use (WARC/1.1 section 6.6,
 * hopsFromSeed): a letter for each step, L link, E embedded, R redirect, M
 * entry of a sitemap, S form, P prerequisite (robots.txt), and empty for a
 * seed. A path longer than HOP_LETTERS_MOST keeps its last letters, after the
 * number of those cut: "12+LLE...".
 *
 * Paths of pages are cached, so that most URLs need one read of the store.
 * Frontier thread.
 */

struct hop_path;

/* The frontier outlives the hop_path. */
struct hop_path *hop_path_new(struct frontier *f);
void hop_path_free(struct hop_path *t); /* NULL is fine */

/* Says how a leased URL was found. The bytes live until the next call. Errors
 * are the store's. */
MUST_CHECK enum status hop_path_of(struct hop_path *t,
                                   const struct url_lease *l,
                                   struct found_by *out);

/* ---- the archive ---- */

struct archive;

/* Repairs what a crash left in DIR/warc. See warc_open. */
MUST_CHECK enum status archive_open(struct archive **out,
                                    const struct warc_options *o);
/* Finishes the file being written. NULL is fine. */
MUST_CHECK enum status archive_close(struct archive *a);

/* Appends the records of a page and of the robots.txt that was fetched first;
 * either may be NULL. Sets in `row`, the page's row, where its record is. `f`
 * is the frontier of a crawl that knows the bodies seen before. */
MUST_CHECK enum status archive_add(struct archive *a, struct frontier *f,
                                   struct warc_capture *page,
                                   struct warc_capture *robots,
                                   struct fetch_row *row, int64_t wall_ms);
/* For seen_store_options.before_commit; `archive` is a struct archive. */
enum status archive_sync(void *archive);

/* ---- makes the records of what one fetcher fetched ---- */

/*
 * Makes the records of pages and of robots.txt files, compressed, which travel
 * with a report to the frontier thread, which appends them. While
 * they wait, the pool of bodies counts their memory in place of the body's. One
 * thread owns a recorder.
 */

struct warc_recorder;

/* `o` must outlive the recorder. */
struct warc_recorder *warc_recorder_new(const struct fetcher_options *o);
void warc_recorder_free(struct warc_recorder *w); /* NULL is fine */

/* NULL: there is nothing to record (see warc_capture_of), or `w` is NULL.
 * `done` has the links of the page. */
struct warc_capture *warc_recorder_page(struct warc_recorder *w,
                                        const struct assignment *a,
                                        const struct url_done *done,
                                        const struct fetch_result *result);
/* Records a robots.txt at `url`, fetched before `a`, after `hop` redirects. */
struct warc_capture *warc_recorder_robots(struct warc_recorder *w,
                                          const struct assignment *a,
                                          struct bytes url, unsigned hop,
                                          const struct fetch_result *result);

#endif
