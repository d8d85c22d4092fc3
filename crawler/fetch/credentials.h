/*
 * credentials.h - decides which headers, cookie and passwords are sent to
 * which origin.
 *
 * A secret goes to the origins it is bound to and to no other, whatever a page
 * links to or a response redirects to: each request is judged by its own origin
 * (RFC 6454: scheme, host and port), so that a redirect from https to http, to
 * another port or to another host carries no secret. Secrets not bound by name
 * belong to the origins of the seeds. robots.txt and sitemaps are requests like
 * others.
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
    struct bytes netrc; /* text of a .netrc file (credentials.h), or empty */
    bool cert;          /* seeds' origins are shown a certificate of ours */
};

/* The secrets of one request; lives as long as the credentials. */
struct credential_set {
    struct curl_slist *headers; /* NULL: none */
    const char *cookie;         /* NULL: none */
    bool of_seed; /* its origin is that of a seed; false if nothing is for these
                     alone */
};

/* STATUS_ARG: `error` gets what is wrong, without any value. */
MUST_CHECK enum status credentials_new(struct credentials **out,
                                       const struct credentials_options *o,
                                       struct buf *error);
void credentials_free(struct credentials *c); /* NULL is fine */

/* Adds another "ORIGIN=USER:PASSWORD", before the first request. */
MUST_CHECK enum status credentials_add_basic(struct credentials *c,
                                             const char *login,
                                             struct buf *error);
/* `seed` is canonical. */
void credentials_add_seed(struct credentials *c, const struct url *seed);
/* The set for a request to this origin (url_origin); an empty set for an empty
 * origin. */
const struct credential_set *credentials_for(struct credentials *c,
                                             struct bytes origin);

/* Notes that a URL of one origin redirects to another. If a seed's redirect
 * loses what the seed was sent, one warning per crawl says so: http is easily
 * given for https. */
void credentials_note_redirect(struct credentials *c, struct bytes from,
                               struct bytes to);

/* Appends the head of a request in the form to record: values of the Cookie,
 * Authorization and Proxy-Authorization fields, and of headers that do not go
 * to every origin, become "redacted". */
void credentials_redact(const struct credentials *c, struct bytes head,
                        struct buf *out);

/* "ORIGIN=REST": ORIGIN is [https://]HOST[:PORT] or http://HOST[:PORT]. *origin
 * gets it in canonical form, and *rest is what follows; "*" stays "*". False:
 * the text does not have that form. */
MUST_CHECK bool credentials_split(const char *text, struct buf *origin,
                                  const char **rest);

/* ---- the logins of a .netrc file ---- */

/*
 * The format is that of ftp(1) and curl: `machine NAME`, or `default`, then
 * `login` and `password`, separated by white space; double quotes around a
 * value, with \ before ", \, n, r and t; `macdef` up to an empty line and
 * `account` are skipped, and # at the beginning of a token begins a comment.
 */

#define NETRC_MOST ((size_t)1 << 20) /* octets of a file */

/* A machine with a login or a password; `machine` is empty for `default`. The
 * first entry of a machine counts; the caller drops others. */
typedef void (*netrc_visit)(void *ctx, struct bytes machine, struct bytes login,
                            struct bytes password);

/* STATUS_FORMAT: `error` gets "line N: what is wrong", never a value. */
MUST_CHECK enum status netrc_read(struct bytes text, netrc_visit visit,
                                  void *ctx, struct buf *error);

#endif
