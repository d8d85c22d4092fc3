/* SPDX-License-Identifier: MIT */
/* test_cluster_watch.c - workers, what there is of each kind. */
#include "frontier/cluster_store/cluster_robots.h"
#include "frontier/cluster_store/cluster_watch.h"
#include "tests/unit/frontier/cluster_store/cluster_rig.h"

struct told {
    bool ended;
    enum status st;
    struct cluster_wanted w;
};

static void note_told(void *ctx, enum status st, const struct cluster_wanted *w)
{
    *(struct told *)ctx = (struct told){true, st, *w};
}

static struct told tell_any(struct cluster_store *s, const char *name,
                            const char *words)
{
    struct told t = {0};

    cluster_store_tell(s, name, bytes_of_str(words), note_told, &t);
    while (!t.ended)
        cluster_store_turn(s, NS_PER_S);
    return t;
}

static uint64_t tell(struct cluster_store *s, const char *name,
                     const char *words)
{
    struct told t = tell_any(s, name, words);

    ck_ok(t.st);
    return t.w.version;
}

struct found {
    size_t n;
    char name[4][CLUSTER_WORD_SIZE], words[4][32];
    int64_t heard_ms[4];
};

static void note_worker(void *ctx, struct bytes name, int64_t heard_ms,
                        struct bytes words)
{
    struct found *f = ctx;

    ck_assert_uint_lt(f->n, 4);
    snprintf(f->name[f->n], CLUSTER_WORD_SIZE, "%.*s", (int)name.len, name.at);
    snprintf(f->words[f->n], 32, "%.*s", (int)words.len, words.at);
    f->heard_ms[f->n++] = heard_ms;
}

static struct found workers(struct cluster_store *s)
{
    struct found f = {0};

    ck_ok(cluster_store_each_worker(s, note_worker, &f));
    return f;
}

TIMEOUT(120);
FIXTURE(rig_begin, rig_end);

TEST(each_worker_has_a_place_among_those_that_live)
{
    struct cluster_store *s;
    struct told t;

    NEEDS_SERVER;
    s = rig_create(4);
    t = tell_any(s, "bb", "{}");
    ck_assert(t.w.place == 0 && t.w.workers == 1);
    t = tell_any(s, "aa", "{}");
    ck_assert(t.w.place == 0 && t.w.workers == 2);
    (void)redis_server_do(&server, "ZADD {crawl}a 1000 0killed");
    t = tell_any(s, "bb", "{}");
    ck_assert(t.w.place == 1 && t.w.workers == 2);
    cluster_store_leave(s, "aa", NS_PER_S);
    t = tell_any(s, "bb", "{}");
    ck_assert(t.w.place == 0 && t.w.workers == 1);
    cluster_store_close(s);
}

TEST(a_worker_is_there_until_it_leaves)
{
    struct cluster_store *s;
    struct found f;

    NEEDS_SERVER;
    s = rig_create(4);
    ck_assert_uint_eq(workers(s).n, 0);
    ck_assert_uint_eq(tell(s, "aa", "{}"), 1);
    ck_assert_uint_eq(tell(s, "bb", "{\"pages\":1}"), 1);
    ck_assert_uint_eq(tell(s, "aa", "{\"pages\":2}"), 1); /* as a repeat does */
    f = workers(s);
    ck_assert_uint_eq(f.n, 2);
    for (size_t i = 0; i < 2; i++) {
        ck_assert_str_eq(f.words[i], f.name[i][0] == 'a' ? "{\"pages\":2}"
                                                         : "{\"pages\":1}");
        ck_assert_int_ge(f.heard_ms[i], 0);
        ck_assert_int_lt(f.heard_ms[i], 60000);
    }
    cluster_store_leave(s, "aa", NS_PER_S);
    cluster_store_leave(s, "aa", NS_PER_S);
    f = workers(s);
    ck_assert_uint_eq(f.n, 1);
    ck_assert_str_eq(f.name[0], "bb");
    cluster_store_close(s);
}

/* An hour after it was heard last. */
TEST(a_worker_that_was_killed_is_forgotten)
{
    struct cluster_store *s;
    struct found f;

    NEEDS_SERVER;
    s = rig_create(4);
    (void)tell(s, "aa", "{}");
    (void)redis_server_do(&server, "ZADD {crawl}a 1 aa");
    ck_assert_int_gt(workers(s).heard_ms[0], 3600000);
    (void)tell(s, "bb", "{}");
    f = workers(s);
    ck_assert_uint_eq(f.n, 1);
    ck_assert_str_eq(f.name[0], "bb");
    cluster_store_close(s);
}

/* Else a worker would make half a crawl of one that was removed. */
TEST(no_worker_of_a_crawl_that_is_gone)
{
    struct cluster_store *s;

    NEEDS_SERVER;
    s = rig_create(4);
    (void)redis_server_do(&server, "FLUSHALL");
    ck_assert_int_eq(tell_any(s, "aa", "{}").st, STATUS_NOT_FOUND);
    ck_assert_uint_eq(workers(s).n, 0);
    cluster_store_close(s);
}

#define URLS 3000

/* One of 4,000 octets, which cannot be deflated, for each of 100 hosts. */
static void share_robots(struct cluster_store *s)
{
    struct cluster_robots r = {.expires_in = 60000, .unreachable_for = -1};
    char host[24], body[4000];

    for (unsigned i = 0; i < sizeof body; i++)
        body[i] = (char)(digest_bytes(cluster_store_digest_key(s),
                                      bytes_of(&i, sizeof i))
                             .hi &
                         255);
    r.body = bytes_of(body, sizeof body);
    for (unsigned i = 0; i < 100; i++) {
        snprintf(host, sizeof host, "h%u", i);
        cluster_store_share_robots(s, bytes_of_str(host),
                                   bytes_of_str("http://x"), &r);
    }
    while (cluster_store_pending(s) > 0)
        cluster_store_turn(s, NS_PER_S);
}

TEST(a_survey_counts_each_url_once)
{
    struct cluster_shard_row rows[4], sum = {0};
    struct cluster_weights w;
    struct rig_leases l;
    struct cluster_store *s;

    NEEDS_SERVER;
    s = rig_create(4);
    ck_assert_uint_eq(cluster_store_shards(s), 4);
    ck_assert_uint_eq(rig_put(s, 0, URLS, 100), URLS);
    ck_assert_uint_eq(rig_lease(s, &l, 20), 20);
    for (size_t i = 0; i < 5; i++)
        ck_assert(!rig_ack(s, &l, i, 1000000, "", -1));
    ck_ok(cluster_store_survey(s, rows));
    for (unsigned i = 0; i < 4; i++) {
        ck_assert_uint_eq(rows[i].shard, i);
        sum.seen += rows[i].seen;
        sum.waiting += rows[i].waiting;
        sum.leased += rows[i].leased;
        sum.done += rows[i].done;
        sum.hosts += rows[i].hosts;
    }
    ck_assert_uint_eq(sum.seen, URLS);
    ck_assert_uint_eq(sum.leased, 15);
    ck_assert_uint_eq(sum.done, 5);
    ck_assert_uint_eq(sum.waiting, URLS - 20);
    ck_assert_uint_eq(sum.hosts, 100 - 15);
    share_robots(s);
    ck_ok(cluster_store_weigh(s, rows, &w));
    ck_assert_uint_gt(w.robots, 95 * 4000);
    ck_assert_uint_lt(w.robots, 100 * 8000);
    /* Nine octets each, more while a bucket waits for its split; and some ten
     * with its item. */
    ck_assert_uint_gt(w.seen, URLS * 8);
    ck_assert_uint_lt(w.seen, URLS * 100);
    ck_assert_uint_gt(w.queues, URLS * 8);
    ck_assert_uint_lt(w.queues, URLS * 60);
    ck_assert_uint_gt(w.hosts, 0);
    ck_assert_uint_gt(w.leases, 0);
    ck_assert_uint_gt(w.counts, 0);
    cluster_store_close(s);
}

TEST(an_empty_crawl_weighs_next_to_nothing)
{
    struct cluster_shard_row rows[1];
    struct cluster_weights w;
    struct cluster_store *s;

    NEEDS_SERVER;
    s = rig_create(1);
    ck_ok(cluster_store_survey(s, rows));
    ck_ok(cluster_store_weigh(s, rows, &w));
    ck_assert_uint_eq(w.seen + w.queues + w.hosts + w.leases + w.counts, 0);
    cluster_store_close(s);
}
