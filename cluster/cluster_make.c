/* SPDX-License-Identifier: MIT */
/* cluster_make.c - makes a crawl on many machines. */
#include "cluster/cluster_make.h"

#include <stdio.h>
#include <time.h>

#include "base/clock.h"
#include "cluster/cluster_control.h"
#include "cluster/cluster_sender.h"
#include "config/config.h"
#include "frontier/url/host.h"
#include "job/settings/cluster_settings.h"
#include "job/settings/seeds.h"
#include "job/settings/settings.h"

#define THERE_MS 60000
#define LOOK     (50 * NS_PER_MS)

struct making {
    struct crawl_settings *s;
    struct cluster_sender *to;
    uint32_t shards;
    uint64_t seeds;
    struct buf *why;
};

static enum status send_seed(void *ctx, struct url *u)
{
    struct making *m = ctx;

    m->seeds++;
    return cluster_sender_seed(m->to, u, m->shards, m->why);
}

static enum status send_settings(struct making *m,
                                 const struct crawl_settings *s)
{
    struct buf text;
    enum status st;

    buf_init(&text, CONFIG_CEILING);
    config_write(&crawl_options, s, false, &text);
    st = buf_failed(&text);
    if (st == STATUS_OK)
        st = cluster_sender_record(m->to, "settings", buf_bytes(&text), m->why);
    buf_fini(&text);
    return st;
}

static enum status send_kept(struct making *m, const struct crawl_settings *s)
{
    struct buf names;
    enum status st;

    buf_init(&names, 4096);
    cluster_settings_kept(s, &names);
    st = names.len > 0
             ? cluster_sender_record(m->to, "kept", buf_bytes(&names), m->why)
             : STATUS_OK;
    buf_fini(&names);
    return st;
}

static void keep_login(void *ctx, struct bytes login)
{
    struct making *m = ctx;

    seed_login_add(m->s, login);
}

static enum status send_all(struct making *m)
{
    struct crawl_settings *s = m->s;
    struct seeds seeds = {.report = stderr,
                          .visit = send_seed,
                          .login = keep_login,
                          .ctx = m};
    bool given = s->seeds.count > 0 || s->input != NULL;
    enum status st = cluster_sender_begin(m->to, m->why);

    if (st == STATUS_OK && given)
        st = seeds_all(&seeds, &s->seeds, s->input);
    if (st == STATUS_OK && given && m->seeds == 0)
        st = STATUS_NOT_FOUND;
    if (st == STATUS_OK)
        st = cluster_sender_number(m->to, "shards", m->shards, m->why);
    if (st == STATUS_OK)
        st = cluster_sender_number(m->to, "seeds", m->seeds, m->why);
    if (st == STATUS_OK)
        st = cluster_sender_record(m->to, "suffixes",
                                   bytes_of_str(host_suffixes()), m->why);
    if (st == STATUS_OK)
        st = send_settings(m, s);
    if (st == STATUS_OK)
        st = send_kept(m, s);
    return st == STATUS_OK ? cluster_sender_commit(m->to, m->why) : st;
}

/* A transaction is answered for before its end is written to all topics, and
 * nobody else reads it until then. */
static enum status wait_until_there(const struct kafka_access *a,
                                    const char *name, struct buf *why)
{
    const struct timespec moment = {.tv_nsec = LOOK};
    int64_t until = clock_mono() + THERE_MS * NS_PER_MS;
    struct cluster_control *c = NULL;
    enum status st;

    while ((st = cluster_control_open(&c, a, name, why)) == STATUS_NOT_FOUND &&
           clock_mono() < until)
        nanosleep(&moment, NULL);
    cluster_control_close(c);
    return st;
}

/* The producer's id keeps a second one from being made at the same moment. */
enum status cluster_make_may(const struct kafka_access *a, const char *name,
                             struct buf *why)
{
    struct cluster_control *c = NULL;
    enum status st = cluster_control_open(&c, a, name, why);

    cluster_control_close(c);
    return st == STATUS_OK          ? STATUS_EXISTS
           : st == STATUS_NOT_FOUND ? STATUS_OK
                                    : st;
}

/* A shard knows the earlier crawl's shard of its number, so there have to be as
 * many. */
static enum status may_know_earlier(const struct kafka_access *a,
                                    const struct crawl_settings *s,
                                    uint32_t shards, struct buf *why)
{
    struct cluster_control *c = NULL;
    struct kafka_access access = *a;
    struct kafka_address at;
    struct buf text;
    enum status st;

    if (s->since == NULL)
        return STATUS_OK;
    st = kafka_address_read(&at, s->since, why);
    access.brokers = at.brokers;
    if (st == STATUS_OK)
        st = cluster_control_open(&c, &access, at.topic, why);
    buf_init(&text, 4096);
    if (st == STATUS_OK && cluster_control_shards(c) != shards) {
        buf_addf(&text, "it has %u shards, and this crawl needs as many",
                 cluster_control_shards(c));
        st = STATUS_ARG;
    } else if (st == STATUS_NOT_FOUND) {
        buf_add_str(&text, "there is no such crawl");
    } else {
        buf_add_bytes(&text, buf_bytes(why));
    }
    buf_clear(why);
    if (st != STATUS_OK)
        buf_addf(why, "--since %s: %s", s->since, buf_str(&text));
    buf_fini(&text);
    cluster_control_close(c);
    return st;
}

enum status cluster_make(const struct kafka_access *a, const char *name,
                         struct crawl_settings *s, uint32_t shards,
                         struct buf *why)
{
    struct making m = {.s = s, .shards = shards, .why = why};
    enum status st = may_know_earlier(a, s, shards, why);

    if (st == STATUS_OK)
        st = cluster_make_topics(a, name, shards, why);
    if (st == STATUS_OK)
        st = cluster_sender_open(&m.to, a, name, "make", why);
    if (st == STATUS_OK)
        st = cluster_make_may(a, name, why);
    if (st == STATUS_OK)
        st = send_all(&m);
    if (st == STATUS_OK)
        st = wait_until_there(a, name, why);
    cluster_sender_close(m.to);
    return st;
}
