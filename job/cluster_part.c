/* SPDX-License-Identifier: MIT */
/*
 * cluster_part.c - takes part in a crawl of a cluster.
 *
 * A lease lasts for three requests of the longest kind: it is extended from a
 * quarter of it on, a URL goes out with time for one and a half, and two more
 * seconds are for the servers.
 */
#include "job/cluster_part.h"

#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "config/config.h"
#include "crawler/html/link_kinds.h"
#include "frontier/cluster/cluster_engine.h"
#include "frontier/cluster_store/cluster_move.h"
#include "frontier/cluster_store/cluster_steer.h"
#include "frontier/reader.h"
#include "job/settings/cluster_settings.h"

#define SHARDS      64
#define LEASE_EXTRA 2000                /* ms */
#define PATIENCE    (5 * 60 * NS_PER_S) /* with a cluster that fails */
#define LOOK_MOST   (20 * NS_PER_S)     /* the same, of a command */

int64_t cluster_part_lease_ms(const struct crawl_settings *s)
{
    return 3 * s->timeout_ms + LEASE_EXTRA;
}

static int64_t hold_ms(const struct crawl_settings *s)
{
    return cluster_part_lease_ms(s) + s->delay_ms;
}

static enum status options_of(struct cluster_store_options *o,
                              struct cluster_url_parts *url,
                              const struct crawl_settings *s, struct buf *why)
{
    enum status st = cluster_url_read(url, s->cluster, why);

    if (st != STATUS_OK)
        return st;
    *o = (struct cluster_store_options){.servers = url->redis.hosts,
                                        .server_count = url->redis.host_count,
                                        .name = url->name,
                                        .lease_ms = cluster_part_lease_ms(s),
                                        .pause_ms = s->delay_ms,
                                        .hold_ms = hold_ms(s),
                                        .replicas = url->replicas,
                                        .alone_is_fine = url->alone_is_fine,
                                        .call_ns = PATIENCE};
    return STATUS_OK;
}

static enum status find(struct cluster_store **out,
                        const struct crawl_settings *s, int64_t patience,
                        struct cluster_url_parts *url, struct buf *why)
{
    struct cluster_store_options o;
    enum status st = options_of(&o, url, s, why);

    if (st != STATUS_OK)
        return st;
    o.call_ns = patience;
    return cluster_store_open(out, &o, why);
}

enum status cluster_part_find(struct cluster_store **out,
                              const struct crawl_settings *s, struct buf *why)
{
    struct cluster_url_parts url;

    return find(out, s, PATIENCE, &url, why);
}

static enum status open_for(struct cluster_store **out,
                            const struct crawl_settings *s, int64_t patience,
                            struct buf *why)
{
    struct cluster_url_parts url;
    enum status st = find(out, s, patience, &url, why);

    if (st != STATUS_OK)
        return st;
    if (cluster_store_is_begun(*out))
        return STATUS_OK;
    if (cluster_store_is_moved(*out))
        buf_addf(why, "crawl %s was moved into a directory, and goes on there",
                 url.name);
    else
        buf_addf(
            why,
            "the seeds of crawl %s are not all in the cluster yet; try again, "
            "or give the `urlweir crawl` command again if it has ended",
            url.name);
    cluster_store_close(*out);
    *out = NULL;
    return STATUS_AGAIN;
}

enum status cluster_part_open(struct cluster_store **out,
                              const struct crawl_settings *s, struct buf *why)
{
    return open_for(out, s, PATIENCE, why);
}

enum status cluster_part_create(struct cluster_store **out,
                                const struct crawl_settings *s, struct buf *why)
{
    unsigned char seed[DIGEST_SEED_SIZE];

    if (getrandom(seed, sizeof seed, 0) != sizeof seed)
        return STATUS_IO;
    return cluster_part_create_with(out, s, seed, why);
}

enum status cluster_part_create_with(struct cluster_store **out,
                                     const struct crawl_settings *s,
                                     const unsigned char *seed, struct buf *why)
{
    struct cluster_new what = {.shards = SHARDS, .seed = seed};
    struct cluster_store_options o;
    struct cluster_url_parts url;
    struct buf text;
    enum status st = options_of(&o, &url, s, why);

    if (st != STATUS_OK)
        return st;
    buf_init(&text, CONFIG_CEILING);
    config_write(&crawl_options, s, false, &text);
    st = buf_failed(&text);
    what.settings = buf_bytes(&text);
    if (st == STATUS_OK)
        st = cluster_store_create(out, &o, &what, why);
    buf_fini(&text);
    return st;
}

enum status cluster_part_settings(const struct cluster_store *store,
                                  struct crawl_settings *s, struct buf *why)
{
    return cluster_settings_take(cluster_store_settings(store), s, why);
}

enum status cluster_part_look(struct cluster_store **out, const char *url,
                              struct crawl_settings *s, struct buf *why)
{
    struct cluster_url_parts parts;
    enum status st = cluster_url_read(&parts, url, why);

    if (st != STATUS_OK)
        return STATUS_ARG;
    free(s->cluster);
    s->cluster = xstrdup(url);
    st = open_for(out, s, LOOK_MOST, why);
    if (st != STATUS_OK)
        return st;
    st = cluster_part_settings(*out, s, why);
    if (st != STATUS_OK) {
        cluster_store_close(*out);
        *out = NULL;
    }
    return st;
}

enum status cluster_part_engine(struct engine **e, struct cluster_store *store,
                                struct crawl_setup *c,
                                const struct crawl_settings *s)
{
    char host[256] = "", *dir = realpath(s->output, NULL);
    const struct cluster_engine_options o = {
        .store = store,
        .own = *e,
        .scope = c->scope,
        .crawl = bytes_of_str(CRAWL_ID),
        .request = s->timeout_ms * NS_PER_MS,
        .lease = cluster_part_lease_ms(s) * NS_PER_MS,
        .in_flight = c->crawl.concurrency,
        .limit_pages = (uint64_t)s->limit_pages,
        .kinds = LINK_KIND_COUNT_,
        .robots = s->robots != ROBOTS_OFF,
        .orders = c->orders = cluster_orders_new(),
        .who = {host, dir != NULL ? dir : s->output, (long)getpid()},
    };
    enum status st;

    if (gethostname(host, sizeof host) != 0)
        host[0] = '\0';
    host[sizeof host - 1] = '\0';
    c->crawl.paused = cluster_store_is_paused(store);
    cluster_orders_hear(c->orders, c->crawl.paused, false);
    cluster_store_set_times(store, cluster_part_lease_ms(s), s->delay_ms,
                            hold_ms(s));
    *e = NULL;
    st = cluster_engine_open(e, &o, clock_mono(), clock_wall_ms());
    free(dir);
    return st;
}
