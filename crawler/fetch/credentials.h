/*
 * credentials.h - what is sent to which origin: headers, a cookie, passwords.
 *
 * A secret goes to the origins it is bound to and to no other, whatever a page
 * links to or a response redirects to: each request is judged by its own origin
 * (RFC 6454: scheme, host and port), so that a redirect from https to http, to
 * another port or to another host carries nothing. What is not bound by name
 * belongs to the origins of the seeds. robots.txt and sitemaps are requests
 * like others.
 *
 * Made at start; credentials_for and credentials_add_seed may then be called
 * from any thread.
 */
#ifndef URLWEIR_CRAWLER_FETCH_CREDENTIALS_H
#define URLWEIR_CRAWLER_FETCH_CREDENTIALS_H

#include <curl/curl.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/status.h"
#include "frontier/url/url.h"

struct credentials;

/* Borrowed while they are read. */
struct credentials_options {
    const char *const *headers; /* "Name: value", for the origins of seeds */
    size_t header_count;
    const char *cookie; /* value of the Cookie header, for these; or NULL */
    const char *const *bound; /* "ORIGIN=Name: value"; "*=...": any origin */
    size_t bound_count;
    const char *const *basic; /* "ORIGIN=USER:PASSWORD" (RFC 7617) */
    size_t basic_count;
    const char *const *bearer; /* "ORIGIN=TOKEN" (RFC 6750) */
    size_t bearer_count;
    struct bytes netrc; /* the text of such a file (netrc.h), or nothing */
};

/* What one request carries; lives as long as the credentials. */
struct credential_set {
    struct curl_slist *headers; /* NULL: none */
    const char *cookie;         /* NULL: none */
    bool of_seed;               /* its origin is that of a seed */
};

/* STATUS_ARG: `error` gains what is wrong, without any value. */
MUST_CHECK enum status credentials_new(struct credentials **out,
                                       const struct credentials_options *o,
                                       struct buf *error);
void credentials_free(struct credentials *c); /* NULL is fine */

/* Another "ORIGIN=USER:PASSWORD", before the first request. */
MUST_CHECK enum status credentials_add_basic(struct credentials *c,
                                             const char *login,
                                             struct buf *error);
/* `seed` is canonical. */
void credentials_add_seed(struct credentials *c, const struct url *seed);
/* For a request to this origin (url_origin); nothing for an empty one. */
const struct credential_set *credentials_for(struct credentials *c,
                                             struct bytes origin);

/* The head of a request as it may be recorded: values of the Cookie,
 * Authorization and Proxy-Authorization fields, and of headers that do not go
 * to every origin, become "redacted". */
void credentials_redact(const struct credentials *c, struct bytes head,
                        struct buf *out);

/* "ORIGIN=REST": ORIGIN is [https://]HOST[:PORT] or http://HOST[:PORT]. *origin
 * gains it in canonical form, and *rest is what follows; "*" stays "*". False:
 * it is not of that shape. */
MUST_CHECK bool credentials_split(const char *text, struct buf *origin,
                                  const char **rest);

#endif
