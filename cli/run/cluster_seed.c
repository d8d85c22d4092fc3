/* SPDX-License-Identifier: MIT */
/* cluster_seed.c - a crawl in a cluster, opened to add seeds. */
#include "cli/run/cluster_seed.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "cli/command.h"
#include "frontier/cluster/cluster_seeder.h"
#include "frontier/cluster/cluster_watch.h"
#include "job/crawl_setup.h"
#include "job/settings/settings.h"

struct cluster_seed {
    struct crawl_settings s;
    struct crawl_setup setup;
    struct cluster_store *store;
    struct engine *engine;
};

static void free_seed(struct cluster_seed *c)
{
    if (c->engine != NULL)
        c->engine->ops->close(c->engine);
    cluster_store_close(c->store);
    crawl_setup_fini(&c->setup);
    settings_fini(&c->s);
    free(c);
}

int cluster_seed_open(struct cluster_seed **out, struct steer *t)
{
    struct cluster_seed *c = xcalloc(1, sizeof *c);
    int code;

    settings_init(&c->s);
    code = steer_cluster_open(t, &c->s, &c->store);
    if (code == EXIT_DONE &&
        crawl_setup_make(&c->setup, &c->s, &t->why) != STATUS_OK)
        code = steer_cluster_failed(t, STATUS_FORMAT);
    if (code != EXIT_DONE) {
        free_seed(c);
        return code;
    }
    c->engine = cluster_seeder_new(c->store);
    *out = c;
    return EXIT_DONE;
}

enum status cluster_seed_put(struct cluster_seed *c, struct seed *seeds,
                             size_t n)
{
    return seed_sink_more(c->engine, &c->setup, &c->s, seeds, n);
}

void cluster_seed_close(struct cluster_seed *c, const struct steer *t)
{
    size_t alive = 0;

    if (cluster_store_count_alive(c->store, &alive) == STATUS_OK && alive == 0)
        fprintf(stderr,
                "urlweir %s: nobody works on that crawl; `urlweir resume DIR` "
                "of a worker or `urlweir join` fetches what waits\n",
                t->usage->name);
    free_seed(c);
}
