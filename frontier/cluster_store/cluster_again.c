/* SPDX-License-Identifier: MIT */
/* cluster_again.c - hosts that were given up are due again. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "frontier/cluster_store/cluster_impl.h"

#define AGAIN_AT_ONCE 1000

struct again {
    struct cluster_store *s;
    unsigned shard;
};

static void ask_again(struct cluster_store *s, unsigned shard);

static void again_came(void *ctx, enum status st, const redisReply *r)
{
    struct again *a = ctx;

    if (st == STATUS_OK && r->type == REDIS_REPLY_INTEGER &&
        r->integer >= AGAIN_AT_ONCE)
        ask_again(a->s, a->shard);
    free(a);
}

static void ask_again(struct cluster_store *s, unsigned shard)
{
    struct again *a = xcalloc(1, sizeof *a);
    char least[24], most[24];
    const struct bytes args[] = {
        bytes_of(least, (size_t)snprintf(least, sizeof least, "%" PRId64,
                                         CLUSTER_GIVEN_UP_MS / 2)),
        bytes_of(most,
                 (size_t)snprintf(most, sizeof most, "%d", AGAIN_AT_ONCE))};
    struct key_list k;

    a->s = s;
    a->shard = shard;
    key_list_init(&k);
    key_list_add(&k, s, shard, "r", bytes_of("", 0));
    key_list_add(&k, s, shard, "h", bytes_of("", 0));
    cluster_run(s, shard, &cluster_script_again, &k, args, 2, false, again_came,
                a);
    key_list_fini(&k);
}

void cluster_store_ask_again(struct cluster_store *s)
{
    for (unsigned i = 0; i < s->shard_count; i++)
        ask_again(s, i);
}
