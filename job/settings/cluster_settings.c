/* SPDX-License-Identifier: MIT */
/*
 * cluster_settings.c - the settings of a crawl in a cluster.
 *
 * What needs to know the whole crawl is refused, since a worker knows a part of
 * it: limits and budgets of pages, depth by the shortest path, repeats of
 * content, refreshes. So are secrets and files, which the cluster does not
 * store.
 */
#include "job/settings/cluster_settings.h"

#include <stdio.h>
#include <string.h>

#include "base/kafka/kafka_address.h"
#include "config/config.h"
#include "job/settings/settings.h"

#define URL_MOST 32768 /* octets; an item of the cluster has 64 KiB */

/* ---- the URL ---- */

static enum status read_name(struct cluster_url_parts *out, struct buf *why)
{
    if (out->redis.hosts[0].is_unix)
        buf_add_str(why, "a socket is of one machine; give redis://HOST:PORT/"
                         "NAME");
    else if (out->redis.path.len == 0)
        buf_add_str(why, "the name of the crawl is missing: "
                         "redis://HOST:PORT/NAME");
    else if (!redis_url_unescape(out->redis.path, out->name, sizeof out->name))
        buf_addf(why, "the name of a crawl has at most %d octets",
                 CLUSTER_URL_NAME_MOST);
    else
        return STATUS_OK;
    return STATUS_FORMAT;
}

static enum status read_durability(struct cluster_url_parts *out,
                                   struct buf *why)
{
    struct bytes settings = out->redis.settings;

    out->replicas = 1;
    out->alone_is_fine = settings.len == 0;
    if (settings.len == 0 || bytes_is(settings, "durability=safe"))
        return STATUS_OK;
    out->replicas = 0;
    if (bytes_is(settings, "durability=fast"))
        return STATUS_OK;
    buf_add_str(why, "after ? it takes durability=safe or durability=fast");
    return STATUS_FORMAT;
}

enum status cluster_url_read(struct cluster_url_parts *out, const char *text,
                             struct buf *why)
{
    const char *phrase = "";
    enum status st;

    memset(out, 0, sizeof *out);
    st = redis_address_read(&out->redis, text, &phrase);
    if (st != STATUS_OK) {
        buf_addf(why, "it takes redis://HOST[:PORT][,...]/NAME: %s", phrase);
        return STATUS_FORMAT;
    }
    st = read_name(out, why);
    return st == STATUS_OK ? read_durability(out, why) : st;
}

void cluster_url_show(const char *text, struct buf *out)
{
    struct redis_url_parts u;
    const char *phrase;

    if (redis_address_read(&u, text, &phrase) != STATUS_OK)
        return;
    redis_address_show(&u.hosts[0], out);
    buf_add_char(out, '/');
    buf_add_bytes(out, u.path);
}

/* ---- which settings ---- */

struct refusal {
    const char *name, *why;
};

/* With shards, which are whole crawls, only what needs to know all of them. */
static const struct refusal refused_by_shards[] = {
    {"queue-key", "addresses are not divided among shards"},
    {"since", NULL},
};

/* What is kept by each worker for itself: secrets, and files. */
static const char *const kept_by_workers[] = {"header",       "header-host",
                                              "cookie",       "cookies",
                                              "auth",         "bearer",
                                              "netrc",        "cert",
                                              "key",          "proxy",
                                              "block-filter", "block-exact"};

/* Those that are set, or only those that are not. */
static void name_kept(const struct crawl_settings *s, bool set,
                      const char *among, const char *before, struct buf *out)
{
    struct crawl_settings none;
    char word[32];

    settings_init(&none);
    for (size_t i = 0; i < sizeof kept_by_workers / sizeof *kept_by_workers;
         i++) {
        const struct option_spec *o =
            &crawl_options.spec[settings_index(kept_by_workers[i])];

        snprintf(word, sizeof word, " %s ", o->name);
        if (option_equal(o, s, &none) != set &&
            (among == NULL || strstr(among, word) != NULL))
            buf_addf(out, "%s%s ", before, o->name);
    }
    settings_fini(&none);
}

void cluster_settings_kept(const struct crawl_settings *s, struct buf *names)
{
    name_kept(s, true, NULL, "", names);
}

void cluster_settings_lack(const struct crawl_settings *s, struct bytes names,
                           struct buf *lacking)
{
    struct buf among;

    buf_init(&among, 4096);
    buf_add_char(&among, ' ');
    buf_add_bytes(&among, names);
    name_kept(s, false, buf_str(&among), "--", lacking);
    buf_fini(&among);
}

static const struct refusal refused[] = {
    {"depth", "how deep a URL is depends on who finds it first"},
    {"order", NULL},
    {"boost", NULL},
    {"first", NULL},
    {"refresh", NULL},
    {"keep-history", NULL},
    {"until-idle", NULL},
    {"per-host", NULL},
    {"per-domain", NULL},
    {"per-host-bytes", NULL},
    {"budget", NULL},
    {"quota", "--time limits a worker"},
    {"conns-per-host", "a host is asked by one worker at a time"},
    {"queue-key", NULL},
    {"header", "the cluster stores no secrets"},
    {"header-host", "the cluster stores no secrets"},
    {"cookie", "the cluster stores no secrets"},
    {"cookies", "the cluster stores no secrets"},
    {"auth", "the cluster stores no secrets"},
    {"bearer", "the cluster stores no secrets"},
    {"netrc", "the cluster stores no secrets"},
    {"cert", "the cluster stores no secrets"},
    {"key", "the cluster stores no secrets"},
    {"proxy", "the cluster stores no secrets"},
    {"redis", NULL},
    {"compare-text", NULL},
    {"dup-content", "a worker knows only its own pages"},
    {"trap", "traps are not looked for there"},
    {"block-filter", NULL},
    {"block-exact", NULL},
    {"rewrite", NULL},
    {"since", NULL},
    {"record", NULL},
    {"check", NULL},
    {"check-external", NULL},
};

bool cluster_settings_are_own(const struct option_spec *o)
{
    return (o->flags & (OPTION_OF_WORKER | OPTION_OF_RUN | OPTION_LINE_ONLY)) !=
           0;
}

enum status cluster_settings_take(struct bytes text, struct crawl_settings *s,
                                  struct buf *why)
{
    struct crawl_settings all;
    enum status st;

    settings_init(&all);
    st = config_read(&crawl_options, &all, text, "the settings in the cluster",
                     OPTION_FROM_CRAWL, why);
    for (size_t i = 0; st == STATUS_OK && i < crawl_options.count; i++)
        if (!cluster_settings_are_own(&crawl_options.spec[i]))
            option_assign(&crawl_options, i, s, &all, OPTION_FROM_CRAWL);
    /* A file is a worker's, a topic is the crawl's. */
    if (st == STATUS_OK && s->jsonl == NULL && all.jsonl != NULL &&
        kafka_address_is_url(all.jsonl))
        option_assign(&crawl_options, settings_index("jsonl"), s, &all,
                      OPTION_FROM_CRAWL);
    settings_fini(&all);
    return st;
}

const char *cluster_settings_foreign(const struct crawl_settings *s)
{
    for (size_t i = 0; i < crawl_options.count; i++)
        if (!cluster_settings_are_own(&crawl_options.spec[i]) &&
            option_given(&crawl_options, i, s))
            return crawl_options.spec[i].name;
    return NULL;
}

const char *cluster_settings_changed(const struct crawl_settings *before,
                                     const struct crawl_settings *after)
{
    for (size_t i = 0; i < crawl_options.count; i++) {
        const struct option_spec *o = &crawl_options.spec[i];

        if (!cluster_settings_are_own(o) && !option_equal(o, before, after))
            return o->name;
    }
    return NULL;
}

static enum status refuse(struct buf *error, const char *name, const char *why)
{
    buf_addf(error, "--%s does not work with --cluster; leave it out", name);
    if (why != NULL)
        buf_addf(error, " (%s)", why);
    return STATUS_ARG;
}

static enum status refuse_some(const struct crawl_settings *s,
                               const struct refusal *list, size_t n,
                               struct buf *error)
{
    struct crawl_settings none;
    enum status st = STATUS_OK;

    settings_init(&none);
    for (size_t i = 0; st == STATUS_OK && i < n; i++) {
        const struct option_spec *o =
            &crawl_options.spec[settings_index(list[i].name)];

        if (!option_equal(o, s, &none))
            st = refuse(error, list[i].name, list[i].why);
    }
    settings_fini(&none);
    return st;
}

bool cluster_is_kafka(const struct crawl_settings *s)
{
    return s->cluster != NULL && kafka_address_is_url(s->cluster);
}

static enum status check_kafka(struct crawl_settings *s, struct buf *error)
{
    struct kafka_address where;
    struct buf why;
    enum status st;

    buf_init(&why, 1024);
    st = kafka_address_read(&where, s->cluster, &why);
    if (st != STATUS_OK) {
        buf_addf(error, "--cluster: %s", buf_str(&why));
        st = STATUS_ARG;
    }
    buf_fini(&why);
    if (st == STATUS_OK)
        st = refuse_some(s, refused_by_shards,
                         sizeof refused_by_shards / sizeof *refused_by_shards,
                         error);
    if (st == STATUS_OK && s->jsonl != NULL && strcmp(s->jsonl, "-") == 0)
        st = refuse(error, "jsonl -",
                    "each shard has its own lines: name a file or a topic");
    if (st == STATUS_OK && s->output == NULL) {
        buf_add_str(error, "--cluster needs -o DIR, where this worker keeps "
                           "what it fetches");
        st = STATUS_ARG;
    }
    return st;
}

enum status cluster_settings_check(struct crawl_settings *s, struct buf *error)
{
    struct cluster_url_parts url;
    struct buf why;
    enum status st;

    if (s->cluster == NULL)
        return STATUS_OK;
    if (cluster_is_kafka(s))
        return check_kafka(s, error);
    buf_init(&why, 1024);
    st = cluster_url_read(&url, s->cluster, &why);
    if (st != STATUS_OK) {
        buf_addf(error, "--cluster: %s", buf_str(&why));
        st = STATUS_ARG;
    }
    buf_fini(&why);
    if (st == STATUS_OK)
        st = refuse_some(s, refused, sizeof refused / sizeof *refused, error);
    if (st == STATUS_OK && s->output == NULL) {
        buf_add_str(error, "--cluster needs -o DIR, where this worker keeps "
                           "what it fetches");
        st = STATUS_ARG;
    }
    if (st == STATUS_OK && s->near_dup == NEAR_DUP_SKIP)
        st =
            refuse(error, "near-dup skip", "a worker knows only its own pages");
    if (st == STATUS_OK && s->max_url_length > URL_MOST) {
        buf_addf(error, "--max-url-len is at most %d with --cluster", URL_MOST);
        st = STATUS_ARG;
    }
    if (st == STATUS_OK && s->traps != TRAPS_OFF &&
        option_given(&crawl_options, settings_index("traps"), s))
        st = refuse(error, "traps", "traps are not looked for there");
    if (st == STATUS_OK)
        s->traps = TRAPS_OFF;
    return st;
}
