/* SPDX-License-Identifier: MIT */
/*
 * cluster_settle.c - ending and extending leases.
 *
 * The answer to an acknowledgement says when its host is due again, so its
 * shard need not be looked at for that (cluster_hints.c).
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "frontier/cluster_store/cluster_impl.h"

#define DUE_MOST_MS (INT64_C(24) * 3600 * 1000) /* later is as good as never */

struct ending {
    cluster_ack_end *end;
    void *ctx;
    struct cluster_store *s;
    unsigned shard;
    size_t len;
    char host[]; /* that may be due again; empty: it is extended */
};

static void note_due(const struct ending *e, long long ms)
{
    cluster_hint_add(e->s, e->shard, bytes_of(e->host, e->len),
                     clock_mono() + clock_earlier(ms, DUE_MOST_MS) * NS_PER_MS);
}

static void ack_came(void *ctx, enum status st, const redisReply *r)
{
    struct ending *e = ctx;

    if (st == STATUS_OK && r->type != REDIS_REPLY_INTEGER)
        st = STATUS_FORMAT;
    if (st == STATUS_OK && r->integer >= 2 && e->len > 0)
        note_due(e, r->integer - 2);
    e->end(e->ctx, st, st == STATUS_OK && r->integer == 0);
    free(e);
}

static struct ending *new_ending(struct cluster_store *s, unsigned shard,
                                 struct bytes host, cluster_ack_end *end,
                                 void *ctx)
{
    struct ending *e = xmalloc(sizeof *e + host.len);

    *e = (struct ending){
        .end = end, .ctx = ctx, .s = s, .shard = shard, .len = host.len};
    memcpy(e->host, host.at, host.len);
    return e;
}

enum status cluster_store_ack(struct cluster_store *s,
                              const struct cluster_ack *a, cluster_ack_end *end,
                              void *ctx)
{
    char token[24], pause[24], delay[24];
    struct bytes args[6] = {a->host, {NULL, 0}, {NULL, 0}, a->state};
    struct key_list k;
    struct buf item;

    if (a->host.len < 1 || a->host.len > CLUSTER_HOST_MOST ||
        a->state.len > CLUSTER_STATE_MOST || a->shard >= s->shard_count ||
        a->item.len >= CLUSTER_ITEM_MOST)
        return STATUS_ARG;
    buf_init(&item, CLUSTER_ITEM_MOST + 1);
    if (a->item.len > 0) {
        buf_add_char(&item, '\0');
        buf_add_bytes(&item, a->item);
    }
    snprintf(token, sizeof token, "%" PRIu64, a->token);
    snprintf(pause, sizeof pause, "%" PRId64, a->pause_ms);
    snprintf(delay, sizeof delay, "%" PRId64, a->delay_ms);
    args[1] = bytes_of_str(token);
    args[2] = bytes_of_str(pause);
    args[4] = buf_bytes(&item);
    args[5] = bytes_of_str(delay);
    key_list_init(&k);
    for (size_t i = 0; i < 5; i++) {
        const char kind[2] = {"mrlth"[i], '\0'};

        key_list_add(&k, s, a->shard, kind, bytes_of("", 0));
    }
    key_list_add(&k, s, a->shard, "q:", a->host);
    key_list_add(&k, s, a->shard, "d:", a->host);
    cluster_run(s, a->shard, &cluster_script_ack, &k, args, 6, true, ack_came,
                new_ending(s, a->shard, a->host, end, ctx));
    key_list_fini(&k);
    buf_fini(&item);
    return STATUS_OK;
}

void cluster_store_extend(struct cluster_store *s, unsigned shard,
                          struct bytes host, uint64_t token,
                          cluster_ack_end *end, void *ctx)
{
    char text[24], length[24];
    struct bytes args[3] = {host};
    struct key_list k;

    snprintf(text, sizeof text, "%" PRIu64, token);
    snprintf(length, sizeof length, "%" PRId64, s->o.lease_ms);
    args[1] = bytes_of_str(text);
    args[2] = bytes_of_str(length);
    key_list_init(&k);
    key_list_add(&k, s, shard, "l", bytes_of("", 0));
    key_list_add(&k, s, shard, "t", bytes_of("", 0));
    cluster_run(s, shard, &cluster_script_extend, &k, args, 3, false, ack_came,
                new_ending(s, shard, bytes_of("", 0), end, ctx));
    key_list_fini(&k);
}
