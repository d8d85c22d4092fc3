/*
 * seed_login.h - user names and passwords in the URLs that a person gives.
 *
 * https://user:password@host/ is a login at the origin of that URL and no part
 * of the URL: it is taken off before anything is stored or said, and kept among
 * the secrets as --auth would (RFC 3986 section 3.2.1 has passwords in URLs as
 * deprecated, browsers and curl still take them).
 */
#ifndef URLWEIR_JOB_SEED_LOGIN_H
#define URLWEIR_JOB_SEED_LOGIN_H

#include "base/buf.h"
#include "base/status.h"
#include "frontier/url/url.h"
#include "job/options.h"

/* Appends "ORIGIN=USER:PASSWORD", as --auth takes it, of a URL that was parsed
 * and is not canonical yet. STATUS_NOT_FOUND: it has no login. STATUS_FORMAT:
 * there is a control character in it. */
MUST_CHECK enum status seed_login_of(const struct url *u, struct buf *out);

/* The text of a URL, good or bad, as it may be shown: "***@" stands for what
 * may be a login. */
void seed_login_hide(struct bytes text, struct buf *out);

/* Takes the logins of `seeds` and `sitemap-url` off, and adds them to `auth`.
 * STATUS_ARG: `error`. */
MUST_CHECK enum status seed_login_settings(struct crawl_settings *s,
                                           struct buf *error);
/* Adds one to `auth`. */
void seed_login_add(struct crawl_settings *s, struct bytes login);

#endif
