/*
 * url.h - parse and canonicalise http and https URLs.
 *
 * Parsing follows the URL Standard (https://url.spec.whatwg.org/) to the
 * letter, with its basic URL parser written out for the two schemes a crawler
 * can fetch; everything else is refused with a reason. The fragment is always
 * dropped. The canonical form on top of it is the identity of a URL in the
 * whole program: two spellings with one canonical form are one URL.
 *
 * Every function may be called from any thread.
 */
#ifndef URLWEIR_FRONTIER_URL_URL_H
#define URLWEIR_FRONTIER_URL_URL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/bytes.h"

/* Ceiling of a serialised URL and of every intermediate text; longer URLs are
 * refused. */
#define URL_LENGTH_CEILING ((size_t)1 << 20)

enum url_reason {
    URL_OK = 0,
    URL_EMPTY,     /* empty, and no base was given */
    URL_SCHEME,    /* a scheme other than http and https */
    URL_RELATIVE,  /* relative, and no base was given */
    URL_HOST,      /* the host is empty or has forbidden code points */
    URL_HOST_IPV4, /* ends like an IPv4 address but is not one */
    URL_HOST_IPV6, /* not an IPv6 address inside the brackets */
    URL_HOST_IDNA, /* not allowed by domain to ASCII (UTS #46) */
    URL_PORT,      /* not a number, or over 65535 */
    URL_LENGTH,    /* over URL_LENGTH_CEILING */
    URL_REASON_COUNT_
};
/* One or two words with an underscore, as printed after `!` TAB. */
const char *url_reason_text(enum url_reason r);

/* A parsed URL: its serialised text and the offsets of its parts. */
struct url {
    struct buf text; /* scheme://[userinfo@]host[:port]/path[?query] */
    bool https;
    uint16_t port;            /* the scheme's default if none is given */
    size_t userinfo_at;       /* start of the userinfo; == host_at if none */
    size_t host_at, host_len; /* IPv6 with its brackets */
    size_t path_at;           /* the slash */
    size_t query_at;          /* the question mark; == text.len if none */
};

void url_init(struct url *u);
void url_fini(struct url *u);

/* How a query is written as octets before percent-encoding, for pages that are
 * not in UTF-8 (URL Standard, "percent-encode after encoding"): appends the
 * octets of UTF-8 text `in` in the page's encoding; a code point the encoding
 * lacks becomes `&#N;` with N decimal, which the encoder writes as `%26%23N%3B`
 * itself. NULL everywhere below: UTF-8. */
struct url_encoder {
    void (*encode)(void *ctx, struct bytes in, struct buf *out);
    void *ctx;
};

/* The `--whatwg` form: parse `in` against `base` (NULL: none). The Standard
 * parses text; we are given octets, and those that are not UTF-8 are
 * percent-encoded as they are (C8), so that what a server wrote is what it is
 * asked for. Text of a page is decoded before, with U+FFFD for bad sequences.
 * On any reason but URL_OK *out is unspecified, but may be used again. `out` is
 * not `base`. */
enum url_reason url_parse(struct url *out, struct bytes in,
                          const struct url *base,
                          const struct url_encoder *query_encoder);

/* Bring a parsed URL to its canonical form, in place:
 * C2 no userinfo; C3 %XX of unreserved octets decoded until nothing changes,
 * other %XX in capitals (path and query); C4 no trailing dots of the host if a
 * valid host remains; C5 no empty query; C6 dot segments that C3 brought to
 * light removed; C7 nothing else. Applying it twice changes nothing more. */
void url_canonicalise(struct url *u);

/* url_parse and url_canonicalise in one. */
enum url_reason url_canonical(struct url *out, struct bytes in,
                              const struct url *base,
                              const struct url_encoder *query_encoder);

/* Incremented when the canonical form of any URL changes: files that store
 * digests of canonical forms store this number too. */
#define URL_CANONICAL_FORM 2

/* The parts, valid until the URL changes. */
struct bytes url_text(const struct url *u);
struct bytes url_host(const struct url *u);       /* without port */
struct bytes url_origin(const struct url *u);     /* scheme://host[:port], only
                                                     right on a canonical URL */
struct bytes url_path_query(const struct url *u); /* from the slash on */
struct bytes url_path(const struct url *u);       /* from the slash to ? */

/* The same host and port; http and https on their default ports count as one.
 */
bool url_same_site(const struct url *a, const struct url *b);

/* The length of scheme://host[:port] in canonical text, which is where the path
 * begins, without parsing it again. 0: the text does not have that form. */
size_t url_origin_length(struct bytes canonical);
/* The host of canonical text or of an origin, without port; IPv6 with its
 * brackets. Empty where the text is not of that shape. */
struct bytes url_canonical_host(struct bytes canonical);

#endif
