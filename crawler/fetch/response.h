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
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "frontier/frontier.h"

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

/* ---- mime ---- */

/*
 * Media types: of a response, against a list, and of unlabelled bytes.
 *
 * No state; any thread.
 */

#define MIME_SIZE 128 /* room for type/subtype (RFC 6838 section 4.2: 127) */

/* Writes the type of a Content-Type value, lower case and without parameters,
 * into `out`, and returns it there; empty if the value has none (MIME Sniffing
 * Standard, "parse a MIME type", as far as the essence goes), or one of those
 * that say nothing and are sniffed as if it had none. */
struct bytes mime_essence(struct bytes content_type, char out[MIME_SIZE]);

/* Is `essence` on the list? "text/" matches all types of that family,
 * "text/html" only itself. An empty list accepts everything. */
bool mime_accepted(struct bytes essence, const char *const *list, size_t count);

bool mime_is_html(struct bytes essence);
/* text/xml, application/xml or any +xml (MIME Sniffing Standard, "XML MIME
 * type"). */
bool mime_is_xml(struct bytes essence);

/* The type of a body without one: text/html or text/xml by how it begins, as
 * that is read for links (MIME Sniffing Standard section 7.1, the tables of
 * tags and of <?xml); else empty. Static. */
struct bytes mime_sniff(struct bytes body);

/* ---- which conditions a request carries (RFC 9110 section 13) ---- */

/*
 * Made from the last whole response of the same URL. Its entity tag goes into
 * If-None-Match, weak or strong, since that field compares weakly (section
 * 13.1.2). Its date goes into If-Modified-Since, beside the tag for caches that
 * know dates only (section 8.8.4), unless it is no HTTP date, or less than a
 * second before the request: two changes within one second have one date
 * (section 8.8.2.2). Pure functions; any thread.
 */

/* Values of header fields, borrowed from `last`; empty: none. */
struct conditions {
    struct bytes if_none_match, if_modified_since;
};

struct conditions conditions_of(const struct url_last *last);
bool conditions_any(const struct conditions *c);

#endif
