/*
 * warc_capture.h - the WARC records of one response, made where it was fetched.
 *
 * A response is a response record, or a revisit; behind it stand its request
 * and a metadata record (warc_metadata.h), which both name it.
 *
 * libcurl takes chunking and content encodings off the body, so the recorded
 * head is corrected to what follows it: Transfer-Encoding goes, Content-
 * Encoding goes where the body was decoded, Content-Length is true. What was
 * changed stands, as the wire had it, in the record's WARC-X-As-Received.
 * Answers by HTTP/2 are written as HTTP/1.1, with WARC-Protocol: h2. Line ends
 * are CRLF throughout. The request is what curl sent, without
 * Proxy-Authorization.
 *
 * Compressing, at gzip's level 1, happens on the fetcher's thread; the frontier
 * thread only appends, or puts a small revisit record in the response's place
 * where its body was recorded before.
 */
#ifndef URLWEIR_CRAWLER_ARCHIVE_WARC_CAPTURE_H
#define URLWEIR_CRAWLER_ARCHIVE_WARC_CAPTURE_H

#include <stdbool.h>

#include "base/buf.h"
#include "crawler/archive/warc_metadata.h"
#include "crawler/fetch/fetch.h"
#include "storage/warc/warc_record.h"

struct warc_capture {
    struct buf members;  /* response (or revisit), request, metadata */
    size_t first_length; /* octets of the first */
    int64_t date_ms;
    bool may_repeat; /* whole, with a body: it may be one recorded before */
    /* what a revisit record needs */
    struct buf head; /* corrected */
    char *uri, *ip, *as_received;
    const char *protocol;
    char id[WARC_ID_SIZE], payload_digest[WARC_DIGEST_SIZE];
    char info_id[WARC_ID_SIZE]; /* of the warcinfo record; "": none is named */
    struct body_pool *pool;     /* where its memory counts, or NULL */
    uint64_t held;
};

/* NULL: the response has no whole head, or there is no memory; a log line says
 * the latter. `info_id` may be NULL. */
struct warc_capture *warc_capture_of(struct warc_maker *m, const char *info_id,
                                     const struct warc_facts *facts,
                                     const struct fetch_result *result);
void warc_capture_free(struct warc_capture *c); /* NULL is fine */
/* Its memory counts in `pool` until it is freed. */
void warc_capture_count(struct warc_capture *c, struct body_pool *pool);

/* Puts a revisit record in the place of the response: the same payload was
 * recorded for `uri` at `date_ms`. */
MUST_CHECK enum status warc_capture_revisit(struct warc_capture *c,
                                            struct warc_maker *m,
                                            struct bytes uri, int64_t date_ms);
/* Names another warcinfo record: its file was finished meanwhile. */
MUST_CHECK enum status warc_capture_move(struct warc_capture *c,
                                         struct warc_maker *m,
                                         const char *info_id);

#endif
