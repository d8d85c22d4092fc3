/* SPDX-License-Identifier: MIT */
/* cluster_seed.c - a crawl in a cluster, opened to add seeds. */
#include "job/cluster_seed.h"

#include <stdlib.h>

#include "base/mem.h"
#include "frontier/cluster/cluster_seeder.h"
#include "frontier/cluster_store/cluster_watch.h"
#include "job/cluster_part.h"
#include "job/crawl_setup.h"
#include "job/settings/settings.h"

struct cluster_seed {
    struct crawl_settings s;
    struct crawl_setup setup;
    struct cluster_store *store;
    struct engine *engine;
};

enum status cluster_seed_open(struct cluster_seed **out, const char *url,
                              struct buf *why)
{
    struct cluster_seed *c = xcalloc(1, sizeof *c);
    enum status st;

    settings_init(&c->s);
    st = cluster_part_look(&c->store, url, &c->s, why);
    if (st == STATUS_OK && crawl_setup_make(&c->setup, &c->s, why) != STATUS_OK)
        st = STATUS_FORMAT;
    if (st != STATUS_OK) {
        cluster_seed_close(c);
        return st;
    }
    c->engine = cluster_seeder_new(c->store);
    *out = c;
    return STATUS_OK;
}

enum status cluster_seed_put(struct cluster_seed *c, struct seed *seeds,
                             size_t n)
{
    return seed_sink_more(c->engine, &c->setup, &c->s, seeds, n);
}

bool cluster_seed_is_alone(struct cluster_seed *c)
{
    size_t alive = 0;

    return cluster_store_count_alive(c->store, &alive) == STATUS_OK &&
           alive == 0;
}

void cluster_seed_close(struct cluster_seed *c)
{
    if (c == NULL)
        return;
    if (c->engine != NULL)
        c->engine->ops->close(c->engine);
    cluster_store_close(c->store);
    crawl_setup_fini(&c->setup);
    settings_fini(&c->s);
    free(c);
}
