/*
 * seed_login.h - user names and passwords in given URLs.
 *
 * https://user:password@host/ has a login for the origin of that URL: it is
 * removed before the URL is stored or printed, and kept among the secrets like
 * --auth (RFC 3986 section 3.2.1 deprecates passwords in URLs; browsers and
 * curl still accept them).
 */
#ifndef URLWEIR_JOB_SETTINGS_SEED_LOGIN_H
#define URLWEIR_JOB_SETTINGS_SEED_LOGIN_H

#include "base/buf.h"
#include "base/status.h"
#include "frontier/url/url.h"
#include "job/settings/options.h"

/* Appends "ORIGIN=USER:PASSWORD", in the form of --auth, for a parsed URL that
 * is not canonical yet. STATUS_NOT_FOUND: the URL has no login. STATUS_FORMAT:
 * the login has a control character. */
MUST_CHECK enum status seed_login_of(const struct url *u, struct buf *out);

/* Appends the text of a URL, valid or not, for display: "***@" replaces what
 * may be a login. */
void seed_login_hide(struct bytes text, struct buf *out);

/* Moves the logins in `seeds` and `sitemap-url` to `auth`. STATUS_ARG: see
 * `error`. */
MUST_CHECK enum status seed_login_settings(struct crawl_settings *s,
                                           struct buf *error);
/* Adds a login to `auth`. */
void seed_login_add(struct crawl_settings *s, struct bytes login);

#endif
