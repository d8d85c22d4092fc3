/* SPDX-License-Identifier: MIT */
/*
 * fuzz_cluster_reply.c - whatever servers reply to the scripts of a cluster,
 * each call ends once, and what comes out is within its bounds.
 *
 * In place of the router stands that of replies_router.h. If the first octet is
 * even, the crawl's record is a good one, else the input's. What is leased goes
 * to the readers of items and of states of hosts.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontier/cluster/cluster_reach.h"
#include "frontier/cluster_store/cluster_item.h"
#include "frontier/cluster_store/cluster_watch.h"
#include "fuzz/replies_router.h"

#define RECORD REPLIES_RECORD("1", "2")

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* ---- what the router has besides ---- */

const char REDIS_RUN_ID[REDIS_RUN_ID_SIZE] =
    "0000000000000000000000000000000000000000";

size_t redis_cluster_pending(const struct redis_cluster *c)
{
    return c->count;
}

void redis_cluster_remap(struct redis_cluster *c)
{
    (void)c;
}

bool redis_cluster_has_master(const struct redis_cluster *c,
                              struct bytes run_id)
{
    (void)c;
    return run_id.len % 2 == 1;
}

void redis_cluster_each_master(const struct redis_cluster *c,
                               redis_master_visit *visit, void *ctx)
{
    (void)c;
    (void)visit;
    (void)ctx;
}

/* ---- what a worker and a watcher ask ---- */

struct seen {
    unsigned puts, acks, counts, places;
};

static void put_ended(void *ctx, enum status st, const bool *fresh, size_t n)
{
    unsigned fresh_ones = 0;

    for (size_t i = 0; st == STATUS_OK && i < n; i++)
        fresh_ones += fresh[i];
    if (fresh_ones > 2)
        abort();
    ((struct seen *)ctx)->puts++;
}

static void ack_ended(void *ctx, enum status st, bool over)
{
    (void)st;
    (void)over;
    ((struct seen *)ctx)->acks++;
}

static void count_ended(void *ctx, enum status st,
                        const struct cluster_counts *c)
{
    (void)st;
    (void)c;
    ((struct seen *)ctx)->counts++;
}

static void places_ended(void *ctx, enum status st, const struct bytes *places,
                         size_t n)
{
    for (size_t i = 0; st == STATUS_OK && i < n; i++)
        if (places[i].len > 0 && places[i].at == NULL)
            abort();
    if (n > CLUSTER_PLACES_AT_ONCE)
        abort();
    ((struct seen *)ctx)->places++;
}

static void take(void *ctx, const struct cluster_lease *l)
{
    struct cluster_item item;
    struct external_reach reach;
    struct buf url;

    (void)ctx;
    if (l->host.len > CLUSTER_HOST_MOST || l->item.len > CLUSTER_ITEM_MOST)
        abort();
    buf_init(&url, CLUSTER_ITEM_MOST);
    if (cluster_item_read(&item, l->item, l->host, &url) == STATUS_OK &&
        item.url.len > l->item.len + l->host.len + 8)
        abort();
    buf_fini(&url);
    (void)cluster_reach_read(&reach, l->state);
}

static void told(void *ctx, enum status st, const struct cluster_wanted *w)
{
    (void)ctx;
    if (st == STATUS_OK && w == NULL)
        abort();
}

/* Adds up what it is shown, so that a sanitizer sees it read. */
static void visit(void *ctx, struct bytes name, int64_t heard_ms,
                  struct bytes words)
{
    unsigned *sum = ctx;

    (void)heard_ms;
    for (size_t i = 0; i < name.len; i++)
        *sum += (unsigned char)name.at[i];
    for (size_t i = 0; i < words.len; i++)
        *sum += (unsigned char)words.at[i];
}

static void work(struct cluster_store *s)
{
    static const struct cluster_url u[2] = {
        {.host = {"a", 1}, .item = {"x", 1}},
        {.host = {"b", 1}, .digest = {1, 1}, .item = {"y", 1}}};
    const struct cluster_ack a = {.host = bytes_of_str("a"), .token = 1};
    struct seen n = {0};

    for (unsigned i = 1; i <= 2; i++) {
        if (cluster_store_put(s, u, 2, put_ended, &n) != STATUS_OK ||
            cluster_store_ack(s, &a, ack_ended, &n) != STATUS_OK)
            abort();
        cluster_store_extend(s, cluster_store_shards(s) - 1, bytes_of_str("b"),
                             2, ack_ended, &n);
        cluster_store_count(s, count_ended, &n);
        cluster_store_places(s, 0, places_ended, &n);
        cluster_store_lease(s, 5, take, NULL);
        cluster_store_tell(s, "0123456789abcdef", bytes_of_str("{}"), told,
                           NULL);
        while (cluster_store_pending(s) > 0)
            cluster_store_turn(s, 0);
        if (n.puts != i || n.acks != 2 * i || n.counts != i || n.places != i)
            abort(); /* a call has not ended, or more than once */
    }
}

static void watch(struct cluster_store *s)
{
    struct cluster_shard_row *rows =
        xcalloc(cluster_store_shards(s), sizeof *rows);
    const struct bytes place = bytes_of_str("http://a/");
    struct cluster_weights weights;
    unsigned sum = 0;
    uint64_t count;

    if (cluster_store_add_places(s, &place, 1, &count) != STATUS_OK ||
        cluster_store_each_worker(s, visit, &sum) != STATUS_OK ||
        cluster_store_survey(s, rows) != STATUS_OK ||
        cluster_store_weigh(s, rows, &weights) != STATUS_OK)
        weights = (struct cluster_weights){0};
    free(rows);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct cluster_store_options o = {.name = "c",
                                            .lease_ms = 1000,
                                            .hold_ms = 1000};
    struct cluster_store *s = NULL;
    struct buf error;
    bool opened;

    if (size < 1)
        return 0;
    replies_begin(data, size, bytes_of(RECORD, sizeof RECORD - 1));
    buf_init(&error, 4096);
    opened = cluster_store_open(&s, &o, &error) == STATUS_OK;
    if (opened) {
        if (data[0] % 4 < 2)
            work(s);
        watch(s);
        cluster_store_close(s);
    }
    replies_end(opened, &error);
    return 0;
}
