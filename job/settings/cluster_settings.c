/* SPDX-License-Identifier: MIT */
/*
 * cluster_settings.c - the settings of a crawl in a cluster.
 *
 * A shard is a whole crawl, so only what needs to know all shards is refused.
 */
#include "job/settings/cluster_settings.h"

#include <stdio.h>
#include <string.h>

#include "base/kafka/kafka_address.h"
#include "config/config.h"
#include "job/settings/settings.h"

struct refusal {
    const char *name, *why;
};

static const struct refusal refused[] = {
    {"queue-key", "addresses are not divided among shards"},
    {"once", "a worker keeps its settings"},
    {"retry", "urlweir retry kafka://HOST/NAME does that"},
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

static enum status refuse_some(const struct crawl_settings *s,
                               struct buf *error)
{
    struct crawl_settings none;
    enum status st = STATUS_OK;

    settings_init(&none);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        const struct refusal *r = &refused[i];

        if (option_equal(&crawl_options.spec[settings_index(r->name)], s,
                         &none))
            continue;
        buf_addf(error, "--%s does not work with --cluster; leave it out",
                 r->name);
        buf_addf(error, " (%s)", r->why);
        st = STATUS_ARG;
        break;
    }
    settings_fini(&none);
    return st;
}

enum status cluster_settings_check(const struct crawl_settings *s,
                                   struct buf *error)
{
    struct kafka_address where;
    struct buf why;
    enum status st;

    if (s->cluster == NULL && s->since != NULL &&
        kafka_address_is_url(s->since)) {
        buf_add_str(error, "--since kafka://HOST/NAME is for a crawl with "
                           "--cluster; name the directory of an earlier crawl");
        return STATUS_ARG;
    }
    if (s->cluster == NULL)
        return STATUS_OK;
    buf_init(&why, 1024);
    st = kafka_address_read(&where, s->cluster, &why);
    if (st != STATUS_OK) {
        buf_addf(error, "--cluster: %s", buf_str(&why));
        st = STATUS_ARG;
    }
    buf_fini(&why);
    if (st == STATUS_OK)
        st = refuse_some(s, error);
    if (st == STATUS_OK && s->since != NULL &&
        !kafka_address_is_url(s->since)) {
        buf_addf(error,
                 "--since with --cluster knows a crawl in Kafka, kafka://HOST/"
                 "NAME; `urlweir import --from urlweir %s --cluster "
                 "kafka://HOST/NAME` brings it there",
                 s->since);
        st = STATUS_ARG;
    }
    if (st == STATUS_OK && s->jsonl != NULL && strcmp(s->jsonl, "-") == 0) {
        buf_add_str(error, "--jsonl - does not work with --cluster; each shard "
                           "has its own lines: name a file or a topic");
        st = STATUS_ARG;
    }
    if (st == STATUS_OK && s->output == NULL) {
        buf_add_str(error, "--cluster needs -o DIR, where this worker keeps "
                           "what it fetches");
        st = STATUS_ARG;
    }
    return st;
}
