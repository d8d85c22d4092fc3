/*
 * cookie_jar.h - the cookies of a crawl, for all of its fetchers.
 *
 * libcurl's cookie engine (RFC 6265, with the Public Suffix List where libcurl
 * was built with it) decides which cookie goes where and what a response may
 * set. Only requests to sites given to cookie_jar_add_site, and to those in its
 * file, use the jar, so that other sites can neither fill it nor push cookies
 * out. It has at most COOKIE_JAR_MOST cookies, and COOKIE_JAR_DOMAIN_MOST of a
 * domain; the oldest are dropped first. Files have the format of curl and
 * Netscape: a line for each cookie, with seven fields separated by tabs.
 *
 * A handle has copies of cookies, so it may outlive the jar.
 *
 * Threads: any, except for _new, _free and _load; a handle belongs to one.
 */
#ifndef URLWEIR_CRAWLER_FETCH_COOKIE_JAR_H
#define URLWEIR_CRAWLER_FETCH_COOKIE_JAR_H

#include <curl/curl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/status.h"

/* RFC 6265 section 6.1 asks for at least 3000, and 50 a domain. */
#define COOKIE_JAR_MOST        3000
#define COOKIE_JAR_DOMAIN_MOST 180
#define COOKIE_JAR_BYTES_MOST  ((size_t)8 << 20) /* of a file */

struct cookie_jar;

struct cookie_jar *cookie_jar_new(void);
void cookie_jar_free(struct cookie_jar *j); /* NULL is fine */

/* Reads the cookies of a file; they replace cookies with the same name, domain
 * and path. STATUS_NOT_FOUND, STATUS_IO, STATUS_LIMIT, STATUS_FORMAT: `error`
 * gets the reason and the line, never a value; none of its cookies are in the
 * jar. STATUS_NOMEM: curl is out of memory. */
MUST_CHECK enum status cookie_jar_load(struct cookie_jar *j, const char *path,
                                       struct buf *error);
/* Replaces a file, which only its owner may read. */
MUST_CHECK enum status cookie_jar_save(struct cookie_jar *j, const char *path);

/* Has a response set a cookie since the last save? */
bool cookie_jar_is_changed(const struct cookie_jar *j);

/* From now on, requests to hosts of this registrable domain, or address, use
 * the jar. Any thread. */
void cookie_jar_add_site(struct cookie_jar *j, struct bytes host);
/* Call it before a request to `host` with `easy`: gives it the cookies that
 * libcurl may choose from. True: the request uses the jar; false: no cookies.
 * *lent, which is cleared first, gets what was given, for cookie_jar_take. `j`
 * may be NULL. */
bool cookie_jar_lend(struct cookie_jar *j, CURL *easy, struct bytes host,
                     struct buf *lent);
/* A response to a request that uses the jar has set cookies: the jar gets what
 * has changed in `easy`. */
void cookie_jar_take(struct cookie_jar *j, CURL *easy, const struct buf *lent);

/* A request for `url` that was given `lent` is redirected. */
void cookie_jar_note_redirect(struct cookie_jar *j, struct bytes url,
                              const struct buf *lent);
/* Would a request for `url`, if it was redirected before, carry other cookies
 * now? Of the last some thousand redirects this is known; of others it is taken
 * to be so if there are any cookies for it. `j` may be NULL. */
bool cookie_jar_asks_anew(struct cookie_jar *j, struct bytes url);

#endif
