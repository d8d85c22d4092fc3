/*
 * crawl_setup.h - makes the parts of a crawl from its settings.
 *
 * Makes the objects that fetchers and frontier share, and fills in their
 * options. One thread, before and after the crawl.
 */
#ifndef URLWEIR_JOB_CRAWL_SETUP_H
#define URLWEIR_JOB_CRAWL_SETUP_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/status.h"
#include "crawler/crawl.h"
#include "crawler/fetcher.h"
#include "frontier/crawl/frontier_open.h"
#include "frontier/frontier.h"
#include "frontier/reader.h"
#include "frontier/seen/blocklist.h"
#include "frontier/url/url_form.h"
#include "job/settings/options.h"

struct crawl_setup {
    struct frontier_options frontier;
    _Atomic uint64_t lines_upto; /* --jsonl: the row written last; UINT64_MAX:
                                    no lines are written */
    struct fetcher_options fetch;
    struct resolver_options resolve;
    struct crawl_options crawl;
    /* owned */
    struct guard *guard;
    struct scope *scope;
    struct url_form *form;
    struct order *order;
    struct past_crawl *past;     /* of --since, or NULL */
    struct blocklist *blocklist; /* opened by crawl_block_start() */
    struct body_pool *bodies;
    struct ip_limit *ip_limit;
    struct connection_budget connections;
    struct tls_sessions *tls_sessions;
    struct rate_limit *rate;
    struct buf user_agent, product_token, identity;
    /* by crawl_credentials_make() */
    struct credentials *credentials;
    struct cookie_jar *jar;
    struct option_list logins; /* of seeds, not in the settings yet */
    char *jar_path;
    bool jar_is_new;   /* never saved yet */
    int64_t jar_saved; /* when saving was tried last */
};

/* `s` outlives the setup. False: *code is the exit status, and the error was
 * printed on stderr. Call crawl_setup_fini in either case. */
MUST_CHECK bool crawl_setup_init(struct crawl_setup *c,
                                 const struct crawl_settings *s, int *code);
/* Like crawl_setup_init, but returns STATUS_FORMAT or STATUS_ARG and puts the
 * error into `why`. */
MUST_CHECK enum status crawl_setup_make(struct crawl_setup *c,
                                        const struct crawl_settings *s,
                                        struct buf *why);
void crawl_setup_fini(struct crawl_setup *c);

/* The share of a transfer in --limit-rate-per-host, octets a second; 0: no
 * limit. */
uint64_t crawl_setup_rate_each(const struct crawl_settings *s);
/* Processors; 1 at least. */
unsigned crawl_setup_cores(void);
/* Fetchers of a crawl with these settings. */
unsigned crawl_setup_threads(const struct crawl_settings *s);
/* What a crawl with these settings may ask; they stay the owner. */
struct guard_options crawl_setup_guard(const struct crawl_settings *s);
struct budgets crawl_setup_budgets(const struct crawl_settings *s);
struct schedule_options crawl_setup_schedule(const struct crawl_settings *s);

/* Without seeds, the sitemaps of --sitemap-url open the scope. Call it at the
 * start, and whenever the scope is made again. */
void crawl_setup_open_sitemaps(struct scope *scope,
                               const struct crawl_settings *s);

/* For a resumed crawl: opens the scope again, and finds the origins of
 * seeds. */
MUST_CHECK enum status crawl_setup_reopen(struct frontier *f,
                                          struct crawl_setup *c,
                                          const struct crawl_settings *s);
/* The same for the scope alone, when a new scope replaces another. */
MUST_CHECK enum status crawl_setup_reopen_scope(struct frontier *f,
                                                struct scope *scope,
                                                const struct crawl_settings *s);

/*
 * The blocklist of --block-filter and --block-exact.
 *
 * Open it when the crawl's directory exists and is locked; DIR/block-exact
 * holds the data made from the exact list.
 */

/* Opens what --block-filter and --block-exact name; NULL if neither is set.
 * False: it cannot be used; the error was printed, and *code is the exit
 * status. */
MUST_CHECK bool crawl_block_open(struct blocklist **out, const char *command,
                                 const struct crawl_settings *s, int *code);
/* Like crawl_block_open, but puts the error into `why`. */
MUST_CHECK enum status crawl_block_make(struct blocklist **out,
                                        const struct crawl_settings *s,
                                        struct buf *why);
/* Opens it for the setup, and says on stderr, unless --quiet, that a filter
 * without an exact list also blocks false positives. */
MUST_CHECK bool crawl_block_start(struct crawl_setup *c,
                                  const struct crawl_settings *s, int *code);

/*
 * The WARC files of a crawl, from --warc to --cdxj.
 *
 * Main thread, before and after the crawl, with the directory locked.
 */

/* Opens setup->crawl.archive if the settings ask for one, and repairs files
 * after a crash. */
MUST_CHECK enum status crawl_archive_open(struct crawl_setup *setup,
                                          const struct crawl_settings *s);
/* Finishes the files, and updates the index if the settings ask for one. Does
 * nothing without an archive. */
MUST_CHECK enum status crawl_archive_close(struct crawl_setup *setup,
                                           const struct crawl_settings *s);

/* ---- removes the files of a crawl that did not start ---- */

/* Removes store, filter, manifest and settings in `dir`, before any page was
 * fetched; ignores missing files. */
void crawl_remove_files(const char *dir);

/* ---- the form of a crawl's URLs, from its settings ----
 *
 * The text of the form (url_form_text) is noted in the store, as `url_form` in
 * its table meta: a rule in the file of --rewrite may change while the settings
 * stay the same, and readers of the store may not have that file.
 */

/* Reads the file of --rewrite too. STATUS_FORMAT, STATUS_LIMIT,
 * STATUS_NOT_FOUND, STATUS_IO: `why` names option and file. */
MUST_CHECK enum status url_forms_make(struct url_form **out,
                                      const struct crawl_settings *s,
                                      struct buf *why);
/* The same for a reader of a store, with the rules as noted there. On failure
 * *out is untouched. */
MUST_CHECK enum status url_forms_read(struct url_form **out,
                                      const struct crawl_settings *s,
                                      struct reader *r);

/* Notes the form of a crawl. *other: the note was another one, so queued URLs
 * may have a new form. */
MUST_CHECK enum status url_forms_note(struct frontier *f,
                                      const struct url_form *form, bool *other);

#endif
