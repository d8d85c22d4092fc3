/*
 * http_text.h - reads paths, queries, headers and JSON of the HTTP side. Pure
 * functions; any thread.
 */
#ifndef URLWEIR_SERVICE_HTTP_HTTP_TEXT_H
#define URLWEIR_SERVICE_HTTP_HTTP_TEXT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "base/status.h"
#include "service/calls/call.h"

/* Returns the text percent-decoded (RFC 3986 section 2.1), zero-terminated,
 * from malloc; `form`: '+' is a space. NULL: a '%' without two digits, a zero
 * byte, not UTF-8. */
char *http_decode(struct bytes text, bool form);
/* The query as an object of strings. NULL: as above, or a name twice. */
json_t *http_query(struct bytes query);

/* A body as JSON; numbers that equal an integer are integers, as 5.0 and 1e2.
 * NULL: not an object or array, a name twice, or nested too deep; *wrong says
 * where. */
json_t *http_body(struct bytes text, json_error_t *wrong);

/* Does a Host header name this machine by a loopback address, or `host`? */
bool http_host_is_local(struct bytes header, struct bytes host);

/* A time of RFC 3339 as seconds since 1970; a fraction is dropped.
 * STATUS_FORMAT: not a time, or before 1970. */
MUST_CHECK enum status http_time_parse(struct bytes text, uint64_t *seconds);
/* A time as a string; null for 0. Times past the year 9999 become its end. */
json_t *http_time_json(int64_t ms);
json_t *http_seconds_json(uint64_t seconds);

/* Fills in url, key, crawl and metadata; `metadata`, of the form {"key":
 * ["value", ...]}, may be NULL. They point into `a` and the arguments.
 * STATUS_FORMAT: not of that form; STATUS_LIMIT: no room in `a`. */
MUST_CHECK enum status http_item_take(struct frontier_item *item,
                                      struct bytes url, struct bytes key,
                                      struct bytes crawl, json_t *metadata,
                                      struct arena *a);
/* Is it valid metadata, as the frontier stores it? */
bool http_metadata_reads(struct bytes metadata, struct arena *a);
/* The entries of stored `metadata` as JSON. */
json_t *http_metadata_json(struct bytes metadata, struct arena *a);
json_t *http_bytes_json(struct bytes b);

/* ---- members of an object, read by a table ---- */

enum http_member_type {
    HTTP_TEXT,   /* struct bytes: point into the JSON value; of at least `least`
                    octets */
    HTTP_NUMBER, /* uint64_t, `least` to `most`; in a query: digits */
    HTTP_FRACTION, /* double, above 0 and below 1; JSON only */
    HTTP_FLAG,     /* bool; in a query: true or false */
    HTTP_TIME,     /* uint64_t, seconds since 1970, at least 1; null: 0 */
    HTTP_LEASE, /* uint64_t; in JSON a string of digits, since a double may not
                   hold it */
    HTTP_METADATA, /* json_t *: borrowed */
    HTTP_ARRAY,    /* json_t *: borrowed; the caller checks elements */
    HTTP_OBJECT
};

struct http_member {
    const char *name;
    enum http_member_type type;
    void *to; /* unchanged if the member is missing */
    bool needed;
    uint64_t least, most;
};

/* Reads a lease or another token: a string of digits. */
bool http_lease_read(const json_t *v, uint64_t *out);

/* False: `why` says what is wrong; a member that is not in the table is an
 * error too. */
bool http_members_read(json_t *object, const struct http_member *m, size_t n,
                       bool query, char *why, size_t why_size);

#endif
