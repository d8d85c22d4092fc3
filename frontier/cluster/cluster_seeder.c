/* SPDX-License-Identifier: MIT */
/* cluster_seeder.c - puts seeds into a crawl in a cluster. */
#include "frontier/cluster/cluster_seeder.h"

#include <stdlib.h>

#include "base/mem.h"
#include "frontier/cluster/cluster_engine_impl.h"

/* What is put is in the cluster already. */
static enum status seeder_turn(struct engine *engine, bool force, int64_t now,
                               int64_t wall_ms, uint64_t *durable)
{
    (void)engine;
    (void)force;
    (void)now;
    (void)wall_ms;
    if (durable != NULL)
        *durable = 0;
    return STATUS_OK;
}

static const struct digest_key *seeder_digest_key(struct engine *engine)
{
    return cluster_store_digest_key(((struct cluster_engine *)engine)->store);
}

static void seeder_close(struct engine *engine)
{
    free(engine);
}

static const struct engine_ops seeder_ops = {
    .put = cluster_put,
    .turn = seeder_turn,
    .digest_key = seeder_digest_key,
    .close = seeder_close,
};

struct engine *cluster_seeder_new(struct cluster_store *store)
{
    struct cluster_engine *e = xcalloc(1, sizeof *e);

    e->engine = (struct engine){&seeder_ops, "cluster", NULL};
    e->store = store;
    return &e->engine;
}
