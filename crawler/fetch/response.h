/*
 * response.h - the head of one HTTP response: its status and the fields we act
 * on.
 *
 * Filled line by line as curl passes lines on. Heads of 1xx responses are
 * skipped and trailers after the body are not read (RFC 9110 sections 15.2 and
 * 6.5.1: they must not be merged without knowing the field). All heads of one
 * transfer together are bounded by RESPONSE_MOST. One thread at a time.
 */
#ifndef URLWEIR_CRAWLER_FETCH_RESPONSE_H
#define URLWEIR_CRAWLER_FETCH_RESPONSE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/bytes.h"

#define RESPONSE_MOST ((size_t)256 << 10)

enum response_field {
    RESPONSE_CACHE_CONTROL,
    RESPONSE_CONTENT_ENCODING,
    RESPONSE_CONTENT_LANGUAGE,
    RESPONSE_CONTENT_LENGTH,
    RESPONSE_CONTENT_LOCATION,
    RESPONSE_CONTENT_TYPE,
    RESPONSE_DATE,
    RESPONSE_ETAG,
    RESPONSE_EXPIRES,
    RESPONSE_LAST_MODIFIED,
    RESPONSE_LINK,
    RESPONSE_LOCATION,
    RESPONSE_REFRESH,
    RESPONSE_RETRY_AFTER,
    RESPONSE_TRANSFER_ENCODING,
    RESPONSE_X_ROBOTS_TAG,
    RESPONSE_FIELD_COUNT_
};

struct response {
    struct buf raw;  /* the head as it came, with line ends, but with folded
                        lines joined */
    size_t received; /* octets of all heads, 1xx included */
    uint16_t status; /* 0: no status line yet */
    bool complete;   /* the whole head of a final response was read */
    struct {
        uint32_t at, len; /* the value that counts, in raw */
        uint32_t count;
    } fields[RESPONSE_FIELD_COUNT_];
};

void response_init(struct response *a);
void response_fini(struct response *a);
/* Prepares for the next transfer; a small buffer is kept. */
void response_clear(struct response *a);

/* One line of a head, line end included. False: over RESPONSE_MOST, or the
 * status line is not valid. */
bool response_line(struct response *a, struct bytes line);

/* The first value of a field, without white space around it; empty if there is
 * none. Of several Content-Types it is the one that counts (Fetch Standard,
 * "extract a MIME type"): the last that is one. Valid until the next line. */
struct bytes response_get(const struct response *a, enum response_field f);
/* Is it a redirect of `url` to an http(s) URL? Any other 3xx but 304 is a page:
 * 305, 306, and those without a Location, or with one that is no such URL. */
bool response_redirects(const struct response *a, struct bytes url);
/* Are there several Content-Lengths, not all the same, that count (RFC 9112
 * section 6.3)? */
bool response_has_two_lengths(const struct response *a);
/* Every value of a field, in order. */
void response_each(const struct response *a, enum response_field f,
                   void (*visit)(void *ctx, struct bytes value), void *ctx);

#endif
