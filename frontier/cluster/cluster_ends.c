/* SPDX-License-Identifier: MIT */
/*
 * cluster_ends.c - how leases of the cluster end, and what is said of their
 * hosts then.
 *
 * The pause of a host is what the directory says, and so is whether it responds
 * (frontier/embedded/frontier_reach.c): the next worker that leases it goes on
 * from there. One that has not responded for --give-up is put off for ten
 * years; the next worker that begins asks it again
 * (cluster_store_ask_again()).
 */
#include "base/clock.h"
#include "frontier/cluster/cluster_engine_impl.h"
#include "frontier/cluster/cluster_reach.h"

#define PAUSE_MOST_MS (INT64_C(30) * 24 * 3600 * 1000)

static void acked(void *ctx, enum status st, bool over)
{
    struct cluster_engine *e = ctx;

    e->acks--;
    e->lost += st == STATUS_OK && over;
    cluster_engine_fail(e, st);
}

static int64_t pause_ms(const struct held *h, const struct external_queue *q)
{
    int64_t wait = q->polite_for / NS_PER_MS + (q->polite_for % NS_PER_MS != 0);

    if (h->id == 0 || !h->requested)
        return -1;
    return h->reach.given_up ? CLUSTER_GIVEN_UP_MS
                             : clock_earlier(wait, PAUSE_MOST_MS);
}

/* A URL whose request found nobody goes behind those that have not been asked
 * for. */
static int64_t delay_ms(const struct held *h)
{
    return h->requested && h->reach.failures > 0 ? CLUSTER_ACK_LAST
                                                 : CLUSTER_ACK_NEXT;
}

static void send_end(struct cluster_engine *e, const struct held *h)
{
    struct external_queue q = {.pending = 0};
    struct cluster_ack a = {.shard = h->shard,
                            .token = h->token,
                            .host = h->host,
                            .item = h->back ? h->item : bytes_of("", 0)};
    struct buf state;
    enum status st;

    if (h->id != 0)
        e->own->ops->external_get_queue(e->own, h->queue, e->now, &q);
    buf_init(&state, CLUSTER_STATE_MOST);
    cluster_reach_write(&h->reach, &state);
    a.state = buf_bytes(&state);
    a.pause_ms = pause_ms(h, &q);
    a.delay_ms = delay_ms(h);
    st = cluster_store_ack(e->store, &a, acked, e);
    if (st == STATUS_OK)
        e->acks++;
    cluster_engine_fail(e, st);
    buf_fini(&state);
}

void cluster_held_send(struct cluster_engine *e)
{
    struct held *h = e->ending;

    e->ending = NULL;
    e->endings = 0;
    while (h != NULL) {
        struct held *next = h->next;

        send_end(e, h);
        cluster_held_free(h);
        h = next;
    }
}
