/* SPDX-License-Identifier: MIT */
/*
 * crawl_setup.c - makes the parts of a crawl from its settings.
 */
#include "job/crawl_setup.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file/file.h"
#include "base/format.h"
#include "base/logger.h"
#include "base/process/sandbox.h"
#include "config/config.h"
#include "crawler/archive/archive.h"
#include "crawler/crawl_balance.h"
#include "crawler/fetch/coding.h"
#include "crawler/fetch/response.h"
#include "crawler/html/link_values.h"
#include "frontier/crawl/past_crawl.h"
#include "frontier/reader.h"
#include "frontier/seen/blocklist.h"
#include "frontier/url/surt.h"
#include "frontier/url/url_form.h"
#include "job/crawl_credentials.h"
#include "job/exit_code.h"
#include "job/settings/settings.h"
#include "job/settings_applied.h"
#include "storage/warc/cdxj.h"

/* ---- the form of a crawl's URLs, from its settings ---- */

#define NOTE         "url_form"
#define NOTE_CEILING (CONFIG_CEILING + URL_REWRITE_CEILING)

static struct url_form_options options_of(const struct crawl_settings *s,
                                          struct bytes rules)
{
    return (struct url_form_options){.drop = {.names = s->drop_params.item,
                                              .count = s->drop_params.count,
                                              .tracking = s->drop_tracking,
                                              .empty = s->drop_empty_params},
                                     .sort = s->sort_query,
                                     .rewrite = s->rewrite != NULL
                                                    ? rules
                                                    : bytes_of("", 0)};
}

enum status url_forms_make(struct url_form **out,
                           const struct crawl_settings *s, struct buf *why)
{
    struct url_form_options o;
    struct buf rules;
    size_t was = why->len;
    enum status st = STATUS_OK;

    buf_init(&rules, URL_REWRITE_CEILING);
    buf_addf(why, "--rewrite %s: ", s->rewrite != NULL ? s->rewrite : "");
    if (s->rewrite != NULL)
        st = file_read(s->rewrite, &rules);
    if (st != STATUS_OK) {
        buf_add_str(why, status_text(st));
    } else {
        o = options_of(s, buf_bytes(&rules));
        st = url_form_new(out, &o, why);
    }
    if (st == STATUS_OK)
        buf_truncate(why, was);
    buf_fini(&rules);
    return st;
}

enum status url_forms_read(struct url_form **out,
                           const struct crawl_settings *s, struct reader *r)
{
    struct url_form_options o;
    struct buf text, why;
    enum status st;

    buf_init(&text, NOTE_CEILING);
    buf_init(&why, 4096);
    st = frontier_store_meta(r->store, NOTE, &text);
    if (st == STATUS_OK || st == STATUS_NOT_FOUND) {
        o = options_of(s, url_form_rules(buf_bytes(&text)));
        st = url_form_new(out, &o, &why);
    }
    buf_fini(&why);
    buf_fini(&text);
    return st;
}

enum status url_forms_note(struct frontier *f, const struct url_form *form,
                           bool *other)
{
    struct buf text;
    bool noted;
    enum status st;

    buf_init(&text, NOTE_CEILING);
    st = frontier_meta(f, NOTE, &text);
    noted = st == STATUS_OK;
    if (st == STATUS_NOT_FOUND)
        st = STATUS_OK;
    *other =
        st == STATUS_OK && !bytes_equal(buf_bytes(&text), url_form_text(form));
    if (st == STATUS_OK && (*other || !noted))
        st = frontier_set_meta(f, NOTE, url_form_text(form));
    buf_fini(&text);
    return st;
}

/* ---- removes the files of a crawl that did not start ---- */

void crawl_remove_files(const char *dir)
{
    /* Those by which the directory is known as ours last: a power cut may keep
     * a part of this. */
    static const char *const names[] = {"manifest",        "manifest.tmp",
                                        "frontier.db-wal", "frontier.db-shm",
                                        "filter.ckpt",     "filter.ckpt.tmp",
                                        "block-exact",     CRAWL_COOKIES,
                                        SETTINGS_SECRETS,  "frontier.db",
                                        SETTINGS_FILE};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[4096];

        snprintf(path, sizeof path, "%s/%s", dir, names[i]);
        (void)unlink(path);
    }
}

static enum status crawl_archive_sync(void *setup);

/*
 * The earlier crawl of --since, for a crawl that is set up.
 *
 * Links of an unchanged page are those that the earlier crawl took by its
 * rules, so they are used only if the rules that drop links are the same. What
 * decides which links are read at all is part of the crawl's identity.
 */

/* of the frontier's memory, one is for the earlier crawl */
#define MEMORY_PARTS 8

/* The settings by which links of a page are taken or not, whatever the crawl
 * has seen. */
static const char *const rules[] = {
    "scope",         "include",           "exclude",    "max-url-len",
    "assets",        "check-external",    "robots",     "drop-params",
    "drop-tracking", "drop-empty-params", "sort-query", "queue-key",
};

/* The name of a rule that differs, or NULL. */
static const char *other_rule(const struct crawl_settings *was,
                              const struct crawl_settings *s)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (!option_equal(&crawl_options.spec[settings_index(rules[i])], was,
                          s))
            return rules[i];
    /* What is in the file now need not be what was in it then. */
    return was->rewrite != NULL || s->rewrite != NULL ? "rewrite" : NULL;
}

/* Why its links may not be used; NULL: they may. */
static const char *why_no_links(struct past_crawl *p,
                                const struct crawl_settings *s)
{
    struct crawl_settings was;
    const char *no = NULL;
    struct buf text;
    enum status st;

    if (!past_crawl_facts(p).has_links)
        return "it has no links (--record links)";
    buf_init(&text, CONFIG_CEILING);
    st = past_crawl_meta(p, "scope_changed", &text);
    if (st == STATUS_OK)
        no = "its scope was changed while it ran";
    else if (past_crawl_meta(p, "settings", &text) != STATUS_OK)
        no = "its settings are not known";
    if (no == NULL) {
        if (!settings_of_note(buf_bytes(&text), s, &was))
            no = "its settings are not known";
        else
            no = other_rule(&was, s);
        settings_fini(&was);
    }
    buf_fini(&text);
    return no;
}

/* Is there a store of this crawl already? */
static bool is_resumed(const struct crawl_settings *s)
{
    char path[4096];
    int n = snprintf(path, sizeof path, "%s/manifest", s->output);

    return n > 0 && (size_t)n < sizeof path && access(path, F_OK) == 0;
}

static void use(struct crawl_setup *c, const struct crawl_settings *s)
{
    struct frontier_options *o = &c->frontier;
    const struct past_facts past = past_crawl_facts(c->past);
    const char *no = why_no_links(c->past, s);

    past_crawl_set_links(c->past, no == NULL);
    o->past = c->past;
    o->store.digest_seed = past.seed;
    if (o->store.expect < past.urls + past.urls / 8)
        o->store.expect = past.urls + past.urls / 8;
    if (past.is_of_another)
        log_warn("all pages are asked for in full: the earlier crawl had "
                 "another user agent, or read other things of a page (such as "
                 "follow, assets, sitemap, record meta, near-dup, changed-by, "
                 "noindex, mime)",
                 "since=%s", s->since);
    else if (no != NULL)
        log_warn("pages with links are asked for in full: the links that the "
                 "earlier crawl has cannot be used",
                 "since=%s reason=\"%s\"", s->since, no);
}

/* Opens the earlier crawl, if there is one, and fills in c->frontier by it: its
 * secret, its size, memory for it. A crawl that is resumed goes on without an
 * earlier crawl that is gone, with a warning; a new one is refused. STATUS_ARG:
 * `why` says why. */
static enum status crawl_since_open(struct crawl_setup *c,
                                    const struct crawl_settings *s,
                                    struct buf *why)
{
    uint64_t memory = c->frontier.store.memory / MEMORY_PARTS;
    enum status st;

    if (s->since == NULL)
        return STATUS_OK;
    st = past_crawl_open(&c->past, s->since, c->frontier.identity, memory, why);
    if (st == STATUS_OK) {
        c->frontier.store.memory -= memory;
        use(c, s);
        return STATUS_OK;
    }
    if (why->len == 0)
        buf_add_str(why, status_text(st));
    if (!is_resumed(s))
        return STATUS_ARG;
    log_warn("the earlier crawl cannot be read: what is left is asked for in "
             "full",
             "since=%s reason=\"%s\"", s->since, buf_str(why));
    buf_clear(why);
    return STATUS_OK;
}

#define COMMIT_INTERVAL (200 * NS_PER_MS)
#define COMMIT_LEAST    32
#define LOOKUPS         16 /* parallel lookups, --queue-key ip */
#define AUTO_LEAST      64
#define IDENTITY_MOST   ((size_t)64 << 10)
#define AUTO_MOST       10000 /* as --concurrency */
/* More than a core serves: at 5,000 pages a second, a second's worth. */
#define AUTO_PER_CORE 5000

unsigned crawl_setup_cores(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);

    return n < 1 ? 1 : (unsigned)n;
}

unsigned crawl_setup_threads(const struct crawl_settings *s)
{
    int64_t n = s->threads > 0 ? s->threads : crawl_setup_cores();

    if (s->concurrency > 0 && n > s->concurrency)
        n = s->concurrency;
    return (unsigned)n;
}

/* The most transfers that there may ever be; with auto, memory may allow fewer
 * for a time. Half of the descriptors are for connections. */
static size_t most_transfers(const struct crawl_settings *s)
{
    uint64_t half = fetcher_descriptors() / 2, most = AUTO_MOST;

    if (s->concurrency > 0)
        return (size_t)s->concurrency;
    if (most > (uint64_t)crawl_setup_cores() * AUTO_PER_CORE)
        most = (uint64_t)crawl_setup_cores() * AUTO_PER_CORE;
    if (most > half)
        most = half;
    return most > AUTO_LEAST ? (size_t)most : AUTO_LEAST;
}

/* Kinds of links to lists of URLs. */
#define LISTINGS (LINK_BIT(LINK_SITEMAP) | LINK_BIT(LINK_SITEMAP_PART))

static struct memory_plan plan_of(const struct crawl_settings *s)
{
    return memory_plan(s->memory_bytes, s->filter != FILTER_NONE);
}

static enum status before_commit(void *setup)
{
    crawl_credentials_sync(setup, false);
    return crawl_archive_sync(setup);
}

static bool takes_type(const void *ctx, struct bytes mime)
{
    const struct fetcher_options *o = ctx;

    return mime_accepted(mime, o->mime, o->mime_count);
}

struct budgets crawl_setup_budgets(const struct crawl_settings *s)
{
    return (struct budgets){
        .host_pages = (uint64_t)s->limit_per_host,
        .host_octets = s->per_host_bytes,
        .domain_pages = (uint64_t)s->limit_per_domain,
        .inlinks = s->budget == BUDGET_INLINKS,
    };
}

uint64_t crawl_setup_rate_each(const struct crawl_settings *s)
{
    uint64_t rate = s->limit_rate_per_host_bytes;
    uint64_t each = rate / (uint64_t)s->conns_per_host;

    return rate > 0 && each == 0 ? 1 : each;
}

struct schedule_options crawl_setup_schedule(const struct crawl_settings *s)
{
    return (struct schedule_options){
        .delay = s->delay_ms * NS_PER_MS,
        .random_delay = s->random_delay,
        .adaptive = s->adaptive,
        .give_up = s->give_up_ms * NS_PER_MS,
        .max_delay = s->max_delay_ms * NS_PER_MS,
        .max_crawl_delay = s->max_crawl_delay_ms * NS_PER_MS,
        .retry_delay = s->retry_delay_ms * NS_PER_MS,
    };
}

/* Kinds of links whose drops may come back: those that are followed, and URLs
 * that no page links to. With --sitemap only seeds just say which hosts. */
static uint32_t wanted_kinds(const struct crawl_settings *s)
{
    uint32_t given = LINK_BIT(LINK_SITEMAP_PART) | LINK_BIT(LINK_LISTED) |
                     LINK_BIT(LINK_PUT) | LINK_BIT(LINK_IMPORT);

    if (s->sitemap != SITEMAPS_ONLY)
        given |= LINK_BIT(LINK_SEED);
    return settings_link_kinds(s) | given;
}

static void fill_frontier(struct crawl_setup *c, const struct crawl_settings *s)
{
    c->frontier = (struct frontier_options){
        .crawl = bytes_of_str(CRAWL_ID),
        .schedule = crawl_setup_schedule(s),
        .tries = (uint32_t)s->tries,
        .conns_per_host = (uint32_t)s->conns_per_host,
        .group = s->queue_key,
        .in_flight = most_transfers(s),
        .commit_least = COMMIT_LEAST,
        .limit_pages = (uint64_t)s->limit_pages,
        .budgets = crawl_setup_budgets(s),
        .store = {.use_filter = s->filter != FILTER_NONE,
                  .filter_kind = settings_filter_kind(s),
                  .expect = (uint64_t)s->expect,
                  .redis = s->redis,
                  .fpr = s->fpr,
                  .memory = plan_of(s).frontier,
                  .before_commit = before_commit,
                  .before_commit_ctx = c},
        .identity = buf_bytes(&c->identity),
        .keeps_records = s->warc,
        .compare_text = s->compare_text,
        .record_links = (s->record & RECORD_LINKS) != 0,
        .listings = LISTINGS,
        .head_kinds = LINK_BIT(LINK_HEADER),
        .skip_same_content = s->dup_content == DUP_CONTENT_SKIP,
        .traps = settings_traps(s),
        .watch_near = s->near_dup != NEAR_DUP_OFF,
        .skip_near_dup = s->near_dup == NEAR_DUP_SKIP,
        .commit_interval = COMMIT_INTERVAL,
        .refresh = {.every_ms = s->refresh_ms,
                    .min_ms = s->refresh_min_ms,
                    .max_ms = s->refresh_max_ms,
                    .lists = LINK_BIT(LINK_SITEMAP) |
                             LINK_BIT(LINK_SITEMAP_PART) | LINK_BIT(LINK_FEED),
                    .share = s->refresh_share,
                    .keep_history = (unsigned)s->keep_history},
        .lines_upto = &c->lines_upto,
        .changed_by = s->changed_by,
        .order = c->order,
        .keep_dropped = s->keep_dropped_bytes,
        .judge = {.scope = c->scope,
                  .form = c->form,
                  .kinds = wanted_kinds(s),
                  .links_most = (uint64_t)s->max_links,
                  .redirects_most = (uint64_t)s->max_redirects,
                  .timeout_ms = (uint64_t)s->timeout_ms,
                  .body_most = settings_max_body(s),
                  .takes_type = takes_type,
                  .ctx = &c->fetch},
    };
}

static void fill_fetch(struct crawl_setup *c, const struct crawl_settings *s)
{
    c->fetch = (struct fetcher_options){
        .user_agent = buf_str(&c->user_agent),
        .product_token = buf_str(&c->product_token),
        .cert = s->cert,
        .key = s->key,
        .ca = s->cacert,
        .proxy = s->proxy,
        .insecure = s->insecure,
        .resolve = s->resolve.item,
        .resolve_count = s->resolve.count,
        .timeout_ms = s->timeout_ms,
        .connect_timeout_ms = s->connect_timeout_ms,
        .max_body = settings_max_body(s),
        .max_redirects = (uint32_t)s->max_redirects,
        .retry_delay_ms = s->retry_delay_ms,
        .tries = (uint32_t)s->tries,
        .robots = s->robots,
        .check = s->check,
        .check_external = s->check_external,
        .skip_noindex = s->noindex == NOINDEX_SKIP,
        .kinds = settings_link_kinds(s),
        .find_sitemaps = (settings_link_kinds(s) & LINK_BIT(LINK_SITEMAP)) != 0,
        .links_most = (uint64_t)s->max_links,
        .take_simhash = s->near_dup != NEAR_DUP_OFF,
        .text_without_numbers = s->changed_by == CHANGED_BY_WORDS,
        .mime = s->mime.item,
        .mime_count = s->mime.count,
        /* Repeats on a page are found by digest, so all links are sent if texts
         * are to be compared. */
        .record_links = (s->record & RECORD_LINKS) != 0 || s->compare_text,
        .record_meta = (s->record & RECORD_META) != 0,
        .tag_texts = s->traps != TRAPS_OFF,
        .warc = s->warc,
        .guard = c->guard,
        .bodies = c->bodies,
        .ip_limit = c->ip_limit,
        .connections = &c->connections,
        .tls_sessions = c->tls_sessions,
        .rate = c->rate,
        .rules = {.scope = c->scope,
                  .form = c->form,
                  .crawl = bytes_of_str(CRAWL_ID)},
    };
}

static void fill_crawl(struct crawl_setup *c, const struct crawl_settings *s,
                       unsigned threads)
{
    c->crawl = (struct crawl_options){
        .dir = s->output,
        .threads = threads,
        .conns_per_host = (uint32_t)s->conns_per_host,
        .concurrency = most_transfers(s),
        .auto_concurrency = s->concurrency == 0,
        .limit_pages = (uint64_t)s->limit_pages,
        .quota = s->quota_bytes,
        .time_limit = s->limit_time_ms * NS_PER_MS,
        .give_up = s->give_up_ms * NS_PER_MS,
        .until_idle = s->until_idle,
        .min_disk = s->min_disk_bytes,
        .checkpoint = s->checkpoint_ms * NS_PER_MS,
        .resolve = s->queue_key == QUEUE_KEY_IP ? &c->resolve : NULL,
        .connections = &c->connections,
        .fetch = &c->fetch,
    };
    c->resolve = (struct resolver_options){
        .threads = LOOKUPS,
        .most = most_transfers(s),
        .timeout = s->connect_timeout_ms * NS_PER_MS,
        .own = s->resolve.item,
        .own_count = s->resolve.count,
    };
}

struct guard_options crawl_setup_guard(const struct crawl_settings *s)
{
    return (struct guard_options){
        .allow_private = s->allow_private,
        .by_proxy = s->proxy != NULL,
        .allow = s->allow_net.item,
        .allow_count = s->allow_net.count,
        .deny = s->deny_net.item,
        .deny_count = s->deny_net.count,
        .nat64 = s->nat64.item,
        .nat64_count = s->nat64.count,
        .ports = s->allow_port.item,
        .port_count = s->allow_port.count,
    };
}

static enum status make_shared(struct crawl_setup *c,
                               const struct crawl_settings *s,
                               struct buf *error)
{
    struct scope_options so = {
        .mode = s->scope,
        .depth = s->depth,
        .max_url_length = (size_t)s->max_url_length,
        .include = s->include.item,
        .include_count = s->include.count,
        .exclude = s->exclude.item,
        .exclude_count = s->exclude.count,
        .listings = LISTINGS,
        /* Links of kinds that are not followed do not come here, but URLs do
         * that were found by them before. */
        .embedded = s->assets == ASSETS_ALL ? LINK_SET_EMBEDDED : 0,
        .checked = s->check_external
                       ? (LINK_SET_ALL | LINK_BIT(LINK_REDIRECT)) & ~LISTINGS
                       : 0,
        .shard = s->shard,
    };
    const struct guard_options go = crawl_setup_guard(s);
    const struct order_options oo = {
        .mode = s->order,
        .boost = s->boost.item,
        .boost_count = s->boost.count,
        .first = s->first.item,
        .first_count = s->first.count,
    };
    enum status st = guard_new(&c->guard, &go, error);

    if (st == STATUS_OK)
        st = url_forms_make(&c->form, s, error);
    if (st == STATUS_OK)
        st = order_new(&c->order, &oo, error);
    if (st == STATUS_OK)
        st = scope_new(&c->scope, &so, error);
    if (st != STATUS_OK)
        return st;
    c->bodies = body_pool_new(plan_of(s).bodies);
    c->tls_sessions = tls_sessions_new(s->memory_bytes / 64);
    c->rate = rate_limit_new(s->limit_rate_bytes);
    rate_limit_set_each(c->rate, crawl_setup_rate_each(s));
    if (s->conns_per_ip > 0)
        c->ip_limit = ip_limit_new((uint32_t)s->conns_per_ip);
    return STATUS_OK;
}

/* User agent and codings, and what is read of a response. What drops links for
 * their URLs is not in it: such links are known, and judged again. */
static void add_identity(struct buf *out, const char *user_agent,
                         const struct crawl_settings *s)
{
    buf_addf(out, "%s\n" CODING_ACCEPTED "\nlinks %x%s%s%s%s", user_agent,
             (unsigned)settings_link_kinds(s),
             (s->record & RECORD_META) != 0 ? " meta" : "",
             s->near_dup != NEAR_DUP_OFF ? " near-dup" : "",
             s->changed_by == CHANGED_BY_WORDS ? " words" : "",
             s->noindex == NOINDEX_SKIP ? " noindex" : "");
    for (size_t i = 0; i < s->mime.count; i++)
        buf_addf(out, " %s", s->mime.item[i]);
}

enum status crawl_setup_make(struct crawl_setup *c,
                             const struct crawl_settings *s, struct buf *why)
{
    const struct memory_plan plan = plan_of(s);
    unsigned threads = crawl_setup_threads(s);
    enum status st;

    *c = (struct crawl_setup){.lines_upto = UINT64_MAX};
    buf_init(&c->user_agent, 4096);
    buf_init(&c->identity, IDENTITY_MOST);
    buf_init(&c->product_token, 4096);
    settings_user_agent(s, &c->user_agent);
    add_identity(&c->identity, buf_str(&c->user_agent), s);
    settings_product_token(s, &c->product_token);
    st = make_shared(c, s, why);
    if (st != STATUS_OK && why->len == 0)
        buf_add_str(why, status_text(st));
    if (st == STATUS_OK)
        st = fetcher_global_init();
    if (st != STATUS_OK && why->len == 0)
        buf_add_str(why, "cannot start libcurl");
    if (settings_has_secrets(s))
        secret_held();
    connection_budget_init(&c->connections, plan.frontier, plan.connections,
                           fetcher_descriptors(), threads);
    fill_frontier(c, s);
    if (st == STATUS_OK)
        st = crawl_since_open(c, s, why);
    fill_fetch(c, s);
    fill_crawl(c, s, threads);
    c->fetch.conns_per_host =
        crawl_balance_share(threads, (uint32_t)s->conns_per_host);
    return st;
}

bool crawl_setup_init(struct crawl_setup *c, const struct crawl_settings *s,
                      int *code)
{
    struct buf why;
    enum status st;

    buf_init(&why, 4096);
    if (s->decisions)
        logger_set_level(LOG_LEVEL_DEBUG);
    else if (s->verbose)
        logger_set_level(LOG_LEVEL_INFO);
    st = crawl_setup_make(c, s, &why);
    if (st != STATUS_OK) {
        fprintf(stderr, "urlweir: %s\n", buf_str(&why));
        *code = c->scope == NULL ? EXIT_USAGE : EXIT_CANNOT;
    }
    buf_fini(&why);
    return st == STATUS_OK;
}

void crawl_setup_open_sitemaps(struct scope *scope,
                               const struct crawl_settings *s)
{
    struct url u;

    if (s->seeds.count > 0 || s->input != NULL)
        return;
    url_init(&u);
    for (size_t i = 0; i < s->sitemap_url.count; i++)
        if (url_canonical(&u, bytes_of_str(s->sitemap_url.item[i]), NULL,
                          NULL) == URL_OK)
            scope_add_seed(scope, &u);
    url_fini(&u);
}

struct reopening {
    struct crawl_setup *setup; /* NULL: only the scope */
    struct scope *scope;
    const struct crawl_settings *s;
};

/* A sitemap that was given beside seeds opens nothing. One that stands in for a
 * seed (--sitemap only) opens its host, but no directory: the seed does, which
 * is among the drops until it comes back. Of these only seeds are places. */
static bool is_place(const struct reopening *r, const struct url_row *row)
{
    if (row->id == 0)
        return row->kind == LINK_SEED;
    return row->kind != LINK_SITEMAP ||
           (row->depth == 0 && r->s->scope != SCOPE_PREFIX);
}

/* Seeds, and the targets of their redirects, open the scope again; only seeds
 * get secrets. */
static void reopen_place(void *ctx, const struct url_row *row)
{
    const struct reopening *r = ctx;
    bool is_seed = (row->flags & URL_ROW_SEED) != 0 || row->kind == LINK_SEED;
    struct url u;

    url_init(&u);
    if (url_parse(&u, row->url, NULL, NULL) == URL_OK) {
        if (is_place(r, row))
            scope_add_seed(r->scope, &u);
        if (is_seed && r->setup != NULL)
            crawl_credentials_add_seed(r->setup, &u);
    }
    url_fini(&u);
}

static enum status reopen(struct frontier *f, struct reopening *r)
{
    crawl_setup_open_sitemaps(r->scope, r->s);
    return frontier_each_seed(f, reopen_place, r);
}

enum status crawl_setup_reopen_scope(struct frontier *f, struct scope *scope,
                                     const struct crawl_settings *s)
{
    struct reopening r = {NULL, scope, s};

    return reopen(f, &r);
}

enum status crawl_setup_reopen(struct frontier *f, struct crawl_setup *c,
                               const struct crawl_settings *s)
{
    struct reopening r = {c, c->scope, s};

    return reopen(f, &r);
}

void crawl_setup_fini(struct crawl_setup *c)
{
    guard_free(c->guard);
    scope_free(c->scope);
    url_form_free(c->form);
    order_free(c->order);
    past_crawl_close(c->past);
    blocklist_close(c->blocklist);
    body_pool_free(c->bodies);
    ip_limit_free(c->ip_limit);
    tls_sessions_free(c->tls_sessions);
    rate_limit_free(c->rate);
    buf_fini(&c->user_agent);
    buf_fini(&c->identity);
    buf_fini(&c->product_token);
    crawl_credentials_end(c);
}

/* ---- the blocklist of --block-filter and --block-exact ---- */

enum status crawl_block_make(struct blocklist **out,
                             const struct crawl_settings *s, struct buf *why)
{
    struct blocklist_options o = {.filter = s->block_filter,
                                  .exact = s->block_exact,
                                  .memory = s->memory_bytes / 4};
    struct buf kept;
    enum status st;

    *out = NULL;
    if (s->block_filter == NULL)
        return STATUS_OK;
    buf_init(&kept, 8192);
    buf_addf(&kept, "%s/block-exact", s->output);
    o.kept = buf_str(&kept);
    st = blocklist_open(out, &o, why);
    buf_fini(&kept);
    return st;
}

bool crawl_block_open(struct blocklist **out, const char *command,
                      const struct crawl_settings *s, int *code)
{
    struct buf error, safe;
    enum status st;

    buf_init(&error, 8192);
    buf_init(&safe, 65536);
    st = crawl_block_make(out, s, &error);
    if (st != STATUS_OK) {
        format_terminal(&safe, buf_bytes(&error));
        fprintf(stderr, "urlweir %s: the blocklist cannot be used: %s\n",
                command, buf_str(&safe));
        *code =
            st == STATUS_ARG || st == STATUS_FORMAT ? EXIT_USAGE : EXIT_CANNOT;
    }
    buf_fini(&error);
    buf_fini(&safe);
    return st == STATUS_OK;
}

static void log_blocklist(const struct blocklist *b,
                          const struct crawl_settings *s)
{
    const struct blocklist_size size = blocklist_size(b);

    fprintf(stderr, "blocklist: a filter of %s URLs", COUNT(size.keys));
    if (s->block_exact != NULL)
        fprintf(stderr, ", and %s URLs as its second check\n",
                COUNT(size.exact_keys));
    else
        fprintf(stderr,
                " and no second check: about %.3g %% of all other URLs are "
                "blocked too (--block-exact FILE lets them in)\n",
                100 * size.rate);
}

bool crawl_block_start(struct crawl_setup *c, const struct crawl_settings *s,
                       int *code)
{
    if (!crawl_block_open(&c->blocklist, "crawl", s, code))
        return false;
    c->frontier.blocklist = c->blocklist;
    if (c->blocklist != NULL && !s->quiet)
        log_blocklist(c->blocklist, s);
    return true;
}

/* ---- the WARC files of a crawl, from --warc to --cdxj ---- */

#define PREFIX_DEFAULT "urlweir"

enum status crawl_archive_open(struct crawl_setup *setup,
                               const struct crawl_settings *s)
{
    static const char *const robots[] = {[ROBOTS_OBEY] = "obey",
                                         [ROBOTS_REPORT] = "report",
                                         [ROBOTS_OFF] = "ignore"};
    const struct warc_options o = {
        .dir = s->output,
        .prefix = s->warc_prefix != NULL ? s->warc_prefix : PREFIX_DEFAULT,
        .size_most = s->warc_size_bytes,
        .user_agent = buf_str(&setup->user_agent),
        .robots = robots[s->robots],
    };
    enum status st = s->warc ? archive_open(&setup->crawl.archive, &o)
                             : warc_finish_left(s->output);

    setup->fetch.archive = setup->crawl.archive;
    return st;
}

static bool key_of(void *ctx, struct bytes url, struct buf *out)
{
    struct url u;
    bool ok;

    (void)ctx;
    url_init(&u);
    ok = url_parse(&u, url, NULL, NULL) == URL_OK;
    if (ok)
        surt_of(&u, out);
    url_fini(&u);
    return ok;
}

enum status crawl_archive_close(struct crawl_setup *setup,
                                const struct crawl_settings *s)
{
    const struct cdxj_options o = {.dir = s->output,
                                   .memory = (size_t)(s->memory_bytes / 16),
                                   .key_of = key_of};
    enum status st = archive_close(setup->crawl.archive);
    setup->crawl.archive = NULL;
    if (st == STATUS_OK && s->warc && s->cdxj) {
        st = cdxj_update(&o);
        if (st != STATUS_OK)
            log_error("the index of the WARC files could not be written",
                      "dir=%s/warc error=\"%s\"", s->output, status_text(st));
    }
    return st;
}

/* For seen_store_options.before_commit; `setup` is a struct crawl_setup. */
static enum status crawl_archive_sync(void *setup)
{
    struct crawl_setup *c = setup;

    return c->crawl.archive != NULL ? archive_sync(c->crawl.archive)
                                    : STATUS_OK;
}
