/*
 * crawl_setup.h - from settings to the parts of a crawl.
 *
 * Makes what fetchers and frontier share and fills in their options; used by
 * crawl and resume. One thread, before and after the crawl.
 */
#ifndef URLWEIR_JOB_CRAWL_SETUP_H
#define URLWEIR_JOB_CRAWL_SETUP_H

#include "base/buf.h"
#include "base/status.h"
#include "crawler/crawl.h"
#include "crawler/fetcher.h"
#include "frontier/embedded/frontier.h"
#include "job/options.h"

struct crawl_setup {
    struct frontier_options frontier;
    struct fetcher_options fetch;
    struct resolver_options resolve;
    struct crawl_options crawl;
    /* owned */
    struct guard *guard;
    struct scope *scope;
    struct blocklist *blocklist; /* opened by crawl_block_start() */
    struct body_pool *bodies;
    struct ip_limit *ip_limit;
    struct connection_budget connections;
    struct rate_limit *rate;
    struct buf user_agent, product_token;
    /* by crawl_credentials_make() */
    struct credentials *credentials;
    struct cookie_jar *jar;
    struct option_list logins; /* of seeds, not among the settings yet */
    char *jar_path;
    bool jar_is_new;   /* it was never saved */
    int64_t jar_saved; /* when it was tried last */
};

/* `s` outlives the result. False: *code is the exit status, and what is wrong
 * was said on stderr. crawl_setup_fini is needed either way. */
MUST_CHECK bool crawl_setup_init(struct crawl_setup *c,
                                 const struct crawl_settings *s, int *code);
/* The same for who says it himself: STATUS_FORMAT or STATUS_ARG, and `why`. */
MUST_CHECK enum status crawl_setup_make(struct crawl_setup *c,
                                        const struct crawl_settings *s,
                                        struct buf *why);
void crawl_setup_fini(struct crawl_setup *c);

/* Where no seed is given, the sitemaps of --sitemap-url say which hosts the
 * crawl is about. At the start, and again whenever the scope is asked anew. */
void crawl_setup_open_sitemaps(struct scope *scope,
                               const struct crawl_settings *s);

/* In a crawl that is gone on with: what the scope is about, and which origins
 * are those of seeds. */
MUST_CHECK enum status crawl_setup_reopen(struct engine *e,
                                          struct crawl_setup *c,
                                          const struct crawl_settings *s);
/* The scope alone, for one that is to take the place of another. */
MUST_CHECK enum status crawl_setup_reopen_scope(struct engine *e,
                                                struct scope *scope,
                                                const struct crawl_settings *s);

#endif
