/*
 * warc_capture.h - the WARC records of one response, made where it was
 * fetched.
 *
 * A response becomes a response record or a revisit record; its request and a
 * metadata record (warc_capture.h) follow, and both name it.
 *
 * libcurl removes chunking and content encodings from the body, so the recorded
 * head is corrected to match: Transfer-Encoding is dropped, Content-Encoding is
 * dropped if the body was decoded, and Content-Length is the real one.
 * WARC-X-As-Received in the record has the changed fields as they came over the
 * wire. HTTP/2 responses are written as HTTP/1.1, with WARC-Protocol: h2. Line
 * ends are CRLF throughout. The request is what curl sent, without
 * Proxy-Authorization.
 *
 * Compression, at gzip's level 1, happens on the fetcher's thread; the frontier
 * thread only appends, or replaces the response by a small revisit record if
 * its body was recorded before.
 */
#ifndef URLWEIR_CRAWLER_ARCHIVE_WARC_CAPTURE_H
#define URLWEIR_CRAWLER_ARCHIVE_WARC_CAPTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "crawler/fetch/assignment.h"
#include "crawler/fetch/fetch.h"
#include "frontier/frontier.h"
#include "storage/warc/warc_record.h"

/* ---- HTTP heads in the form for WARC records ---- */

/*
 * Pure functions over the octets of a head; see warc_capture.h for what is
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

/* ---- warc capture ---- */

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

/* NULL: the response has no whole head, or there is no memory, which is logged.
 * `info_id` may be NULL. */
struct warc_capture *warc_capture_of(struct warc_maker *m, const char *info_id,
                                     const struct warc_facts *facts,
                                     const struct fetch_result *result);
void warc_capture_free(struct warc_capture *c); /* NULL is fine */
/* Counts its memory in `pool` until it is freed. */
void warc_capture_count(struct warc_capture *c, struct body_pool *pool);

/* Replaces the response by a revisit record: the same payload was recorded for
 * `uri` at `date_ms`. */
MUST_CHECK enum status warc_capture_revisit(struct warc_capture *c,
                                            struct warc_maker *m,
                                            struct bytes uri, int64_t date_ms);
/* Changes the warcinfo record it names, since that file was finished
 * meanwhile. */
MUST_CHECK enum status warc_capture_move(struct warc_capture *c,
                                         struct warc_maker *m,
                                         const char *info_id);

#endif
