/* SPDX-License-Identifier: MIT */
/* test_cluster_find.c - where a URL is. */
#include "frontier/cluster_check/cluster_find.h"
#include "frontier/cluster_store/cluster_item.h"
#include "tests/unit/frontier/cluster_store/cluster_rig.h"

#define HOST "h.example"

static void url_of(char *out, size_t size, int i)
{
    snprintf(out, size, "http://" HOST "/%d", i);
}

static void put(struct cluster_store *s, const char *text)
{
    const struct cluster_item item = {.depth = 300,
                                      .places = 1000,
                                      .url = bytes_of_str(text)};
    struct cluster_url url = {.host = bytes_of_str(HOST),
                              .digest =
                                  digest_bytes(cluster_store_digest_key(s),
                                               bytes_of_str(text))};
    struct rig_end e = {0};
    struct buf b;

    buf_init(&b, 4096);
    cluster_item_write(&item, url.host, &b);
    url.item = buf_bytes(&b);
    ck_ok(cluster_store_put(s, &url, 1, rig_put_end, &e));
    rig_wait(s, &e);
    ck_ok(e.st);
    buf_fini(&b);
}

static struct cluster_found find(struct cluster_store *s, const char *text)
{
    const struct digest d =
        digest_bytes(cluster_store_digest_key(s), bytes_of_str(text));
    struct cluster_found f;

    ck_ok(
        cluster_store_find(s, bytes_of_str(HOST), &d, bytes_of_str(text), &f));
    return f;
}

/* The lease that is held, for an end of the test's own. */
struct taken {
    size_t n;
    unsigned shard;
    uint64_t token;
    size_t len;
    char item[256];
};

static void take(void *ctx, const struct cluster_lease *l)
{
    struct taken *t = ctx;

    t->n++;
    t->shard = l->shard;
    t->token = l->token;
    t->len = l->item.len;
    ck_assert_uint_lt(l->item.len, sizeof t->item);
    memcpy(t->item, l->item.at, l->item.len);
}

static void lease(struct cluster_store *s, struct taken *t)
{
    *t = (struct taken){0};
    while (t->n == 0) {
        for (unsigned i = 0; i < s->shard_count; i++)
            cluster_look_at(s, i, 0);
        cluster_store_lease(s, 1, take, t);
        cluster_store_turn(s, 10 * NS_PER_MS);
    }
    ck_assert_uint_eq(t->n, 1);
}

static void end(struct cluster_store *s, const struct taken *t, bool done,
                int64_t delay_ms)
{
    const struct cluster_ack a = {.shard = t->shard,
                                  .token = t->token,
                                  .host = bytes_of_str(HOST),
                                  .pause_ms = 0,
                                  .item = bytes_of(t->item, done ? 0 : t->len),
                                  .delay_ms = delay_ms};
    struct rig_end e = {0};

    ck_ok(cluster_store_ack(s, &a, rig_ack_end, &e));
    rig_wait(s, &e);
    ck_assert(e.st == STATUS_OK && !e.over);
}

TIMEOUT(120);
FIXTURE(rig_begin, rig_end);

TEST(a_url_is_in_one_place)
{
    struct cluster_store *s;
    struct cluster_found f;
    struct taken t;
    char url[64];

    NEEDS_SERVER;
    s = rig_create(4);
    cluster_store_set_worker(s, "0123456789abcdef");
    for (int i = 0; i < 5; i++) {
        url_of(url, sizeof url, i);
        put(s, url);
    }
    /* Another URL that ends with one. */
    put(s, "http://" HOST "/?http://" HOST "/9");
    ck_assert_int_eq(find(s, "http://" HOST "/9").where, CLUSTER_UNSEEN);
    f = find(s, "http://" HOST "/3");
    ck_assert_int_eq(f.where, CLUSTER_WAITING);
    ck_assert_uint_eq(f.place, 3);
    ck_assert_uint_eq(f.queue, 6);
    ck_assert_int_eq(f.lease_ms, -1);
    lease(s, &t);
    f = find(s, "http://" HOST "/0");
    ck_assert_int_eq(f.where, CLUSTER_LEASED);
    ck_assert_str_eq(f.worker, "0123456789abcdef");
    ck_assert(f.lease_ms > 0 && f.lease_ms <= 60000);
    ck_assert_uint_eq(find(s, "http://" HOST "/3").place, 2);
    end(s, &t, true, -1);
    f = find(s, "http://" HOST "/0");
    ck_assert_int_eq(f.where, CLUSTER_DONE);
    ck_assert_str_eq(f.worker, "");
    lease(s, &t);
    end(s, &t, false, 1000000);
    f = find(s, "http://" HOST "/1");
    ck_assert_int_eq(f.where, CLUSTER_DELAYED);
    ck_assert(f.due_ms > 0 && f.due_ms <= 1000000);
    cluster_store_close(s);
}

TEST(a_short_url_is_found_behind_many_that_end_as_it_does)
{
    struct cluster_store *s;
    char url[64];

    NEEDS_SERVER;
    s = rig_create(1);
    for (int i = 0; i < 60; i++) {
        snprintf(url, sizeof url, "http://%s/%d/", HOST, i);
        put(s, url);
    }
    put(s, "https://" HOST "/");
    put(s, "http://" HOST "/");
    ck_assert_int_eq(find(s, "http://" HOST "/").where, CLUSTER_WAITING);
    ck_assert_uint_eq(find(s, "http://" HOST "/").place, 61);
    ck_assert_uint_eq(find(s, "https://" HOST "/").place, 60);
    cluster_store_close(s);
}

TEST(a_long_queue_is_looked_at_in_part)
{
    struct cluster_store *s;

    NEEDS_SERVER;
    s = rig_create(1);
    put(s, "http://" HOST "/first");
    (void)redis_server_do(&server,
                          "EVAL for\ti=1,10001\tdo\tredis.call('RPUSH',"
                          "KEYS[1],'x')end 1 {crawl:0}q:" HOST);
    put(s, "http://" HOST "/last");
    ck_assert_int_eq(find(s, "http://" HOST "/first").where, CLUSTER_WAITING);
    ck_assert_int_eq(find(s, "http://" HOST "/last").where, CLUSTER_BEHIND);
    ck_assert_int_eq(find(s, "http://" HOST "/none").where, CLUSTER_UNSEEN);
    cluster_store_close(s);
}

TEST(buckets_that_were_split_are_found)
{
    struct cluster_store *s, *t;
    struct redis_address a;
    const struct cluster_store_options o = rig_options(&a);
    struct buf error;

    NEEDS_SERVER;
    s = rig_create(1);
    for (unsigned i = 0; i < 20; i++)
        (void)rig_put(s, i * 500, 500, 1);
    put(s, "http://" HOST "/one");
    ck_assert_uint_gt(s->shards[0].buckets, 4);
    buf_init(&error, 4096);
    ck_ok(cluster_store_open(&t, &o, &error));
    buf_fini(&error);
    ck_assert_int_eq(find(t, "http://" HOST "/one").where, CLUSTER_WAITING);
    ck_assert_int_eq(find(t, "http://" HOST "/two").where, CLUSTER_UNSEEN);
    cluster_store_close(t);
    cluster_store_close(s);
}
