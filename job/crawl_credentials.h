/*
 * crawl_credentials.h - gives the secrets in settings and files to the
 * fetchers.
 *
 * The files that settings name (--netrc, --cookies) are read once at each
 * start. The crawl keeps cookies in its own file, DIR/urlweir-cookies.txt, and
 * never writes to the user's: it starts with the cookies of --cookies, is saved
 * while the crawl runs, and a resume continues with it, unless --cookies is
 * given again.
 */
#ifndef URLWEIR_JOB_CRAWL_CREDENTIALS_H
#define URLWEIR_JOB_CRAWL_CREDENTIALS_H

#include "base/status.h"
#include "job/crawl_setup.h"
#include "job/settings/options.h"

#define CRAWL_COOKIES "urlweir-cookies.txt"

/* Makes the credentials of the setup, with the directory locked, before seeds
 * are put. On failure `why` has the reason, without secrets. */
MUST_CHECK enum status crawl_credentials_make(struct crawl_setup *c,
                                              const struct crawl_settings *s,
                                              struct buf *why);
/* Like crawl_credentials_make, but prints errors on stderr. False: *code is the
 * exit status. */
MUST_CHECK bool crawl_credentials_start(struct crawl_setup *c,
                                        const struct crawl_settings *s,
                                        int *code);
void crawl_credentials_end(struct crawl_setup *c);

/* Adds the origin of a seed or a given sitemap; the URL is canonical. */
void crawl_credentials_add_seed(struct crawl_setup *c, const struct url *seed);

/* Adds "ORIGIN=USER:PASSWORD" of a seed in a file, before the crawl runs. */
void crawl_credentials_add_login(struct crawl_setup *c, struct bytes login);
/* Adds those logins to the settings and saves them, before the seeds are
 * complete. */
MUST_CHECK enum status crawl_credentials_keep_logins(struct crawl_setup *c,
                                                     struct crawl_settings *s);

/* Saves new cookies, every few seconds at most; with `last`, at once. The
 * frontier thread calls it regularly. */
void crawl_credentials_sync(struct crawl_setup *c, bool last);

#endif
