/*
 * http_text.h - what stands in paths, queries, headers and JSON of the HTTP
 * side. Functions of their arguments alone; any thread.
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

/* Percent-decoded (RFC 3986 section 2.1), zero-terminated, from malloc; `form`:
 * '+' is a space. NULL: a '%' without two digits, a zero byte, not UTF-8. */
char *http_decode(struct bytes text, bool form);
/* The query as an object of strings. NULL: as above, or a name twice. */
json_t *http_query(struct bytes query);

/* Does a Host header name this machine by a loopback address, or `host`? */
bool http_host_is_local(struct bytes header, struct bytes host);

/* "2026-11-21T12:00:00Z", with or without a fraction, as seconds since 1970; a
 * fraction is let go. STATUS_FORMAT: it is none, or before 1970. */
MUST_CHECK enum status http_time_parse(struct bytes text, uint64_t *seconds);
/* As a string; null for 0. What is past the year 9999 becomes its end. */
json_t *http_time_json(int64_t ms);
json_t *http_seconds_json(uint64_t seconds);

/* Fills in url, key, crawl and metadata; `metadata`, of the form
 * {"key": ["value", ...]}, may be NULL. The bytes are those of `a` and those
 * given. STATUS_FORMAT: not of that form; STATUS_LIMIT: no room in `a`. */
MUST_CHECK enum status http_item_take(struct frontier_item *item,
                                      struct bytes url, struct bytes key,
                                      struct bytes crawl, json_t *metadata,
                                      struct arena *a);
/* Is it what the frontier keeps as metadata? */
bool http_metadata_reads(struct bytes metadata, struct arena *a);
/* The entries of `metadata` as the frontier has it. */
json_t *http_metadata_json(struct bytes metadata, struct arena *a);
json_t *http_bytes_json(struct bytes b);

/* ---- members of an object, read by a table ---- */

enum http_member_type {
    HTTP_TEXT,     /* struct bytes: those of the JSON value */
    HTTP_NUMBER,   /* uint64_t, `least` to `most`; in a query: digits */
    HTTP_FLAG,     /* bool; in a query: true or false */
    HTTP_TIME,     /* uint64_t, seconds since 1970; null: 0 */
    HTTP_LEASE,    /* uint64_t; in JSON a string of digits, since it may be
                      more than a double holds */
    HTTP_METADATA, /* json_t *: borrowed */
    HTTP_ARRAY,    /* the same; of what is for the reader to see */
    HTTP_OBJECT
};

struct http_member {
    const char *name;
    enum http_member_type type;
    void *to; /* left alone when the member is not there */
    bool needed;
    uint64_t least, most;
};

/* False: `why` says what is wrong, a member that no line names included. */
bool http_members_read(json_t *object, const struct http_member *m, size_t n,
                       bool query, char *why, size_t why_size);

#endif
