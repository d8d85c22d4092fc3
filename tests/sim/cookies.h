/*
 * cookies.h - the cookies of an easy handle, as libcurl keeps them.
 *
 * Of RFC 6265 what a simulated web uses: Domain, Path, Secure, HttpOnly,
 * Max-Age and Expires of the past. Listed as libcurl lists them, in the format
 * of Netscape's file, seven fields with tabs between.
 */
#ifndef URLWEIR_TESTS_SIM_COOKIES_H
#define URLWEIR_TESTS_SIM_COOKIES_H

#include <curl/curl.h>
#include <stddef.h>

#include "base/buf.h"

struct cookies;

struct cookies *cookies_new(void);
void cookies_free(struct cookies *);
/* CURLOPT_COOKIELIST: "ALL", or a cookie as it is listed. */
void cookies_line(struct cookies **, const char *line);
/* CURLINFO_COOKIELIST; the caller's. NULL: none. */
struct curl_slist *cookies_list(const struct cookies *);
/* Adds those for a request, as the value of a Cookie header. */
void cookies_for(const struct cookies *, const char *scheme, const char *host,
                 const char *target, struct buf *out);
/* The value of a Set-Cookie header of a response. */
void cookies_take(struct cookies *, const char *scheme, const char *host,
                  const char *target, const char *value, size_t len);

#endif
