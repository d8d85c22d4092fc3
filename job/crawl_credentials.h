/*
 * crawl_credentials.h - the secrets of a crawl: out of its settings and files,
 * to its fetchers.
 *
 * The files that settings name (--netrc, --cookies) are read once a start. Of
 * cookies the crawl has a jar of its own, DIR/urlweir-cookies.txt, so that
 * nobody's file is written to: it begins with those of --cookies, is saved
 * while the crawl runs, and is what a resume goes on with, unless that names a
 * file again.
 */
#ifndef URLWEIR_JOB_CRAWL_CREDENTIALS_H
#define URLWEIR_JOB_CRAWL_CREDENTIALS_H

#include "base/status.h"
#include "job/crawl_setup.h"
#include "job/options.h"

#define CRAWL_COOKIES "urlweir-cookies.txt"

/* Into the setup, with the directory locked, before seeds are put. Not
 * STATUS_OK: `why`, without any secret. */
MUST_CHECK enum status crawl_credentials_make(struct crawl_setup *c,
                                              const struct crawl_settings *s,
                                              struct buf *why);
/* The same for who is told on stderr. False: *code is the exit status. */
MUST_CHECK bool crawl_credentials_start(struct crawl_setup *c,
                                        const struct crawl_settings *s,
                                        int *code);
void crawl_credentials_end(struct crawl_setup *c);

/* A seed, or a sitemap that a person named; canonical. */
void crawl_credentials_add_seed(struct crawl_setup *c, const struct url *seed);

/* "ORIGIN=USER:PASSWORD" of a seed in a file, before the crawl runs. */
void crawl_credentials_add_login(struct crawl_setup *c, struct bytes login);
/* Adds these to the settings and saves them, before the seeds are complete. */
MUST_CHECK enum status crawl_credentials_keep_logins(struct crawl_setup *c,
                                                     struct crawl_settings *s);

/* Frontier thread, now and then: saves cookies that were set, every few seconds
 * at most. `last`: whatever the time. */
void crawl_credentials_sync(struct crawl_setup *c, bool last);

#endif
