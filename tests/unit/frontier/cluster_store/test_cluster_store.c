/* SPDX-License-Identifier: MIT */
/* test_cluster_store.c - the state of a crawl in a real Redis server. */
#include "tests/unit/frontier/cluster_store/cluster_rig.h"

FIXTURE(rig_begin, rig_end);

TEST(a_url_is_new_once_whoever_puts_it)
{
    struct redis_address a;
    const struct cluster_store_options o = rig_options(&a);
    struct cluster_store *s, *other = NULL;
    struct buf error;

    NEEDS_SERVER;
    s = rig_create(7);
    buf_init(&error, 1000);
    ck_ok(cluster_store_open(&other, &o, &error));
    ck_assert_uint_eq(rig_put(s, 0, 1000, 20), 1000);
    ck_assert_uint_eq(rig_put(s, 500, 1000, 20), 500);
    ck_assert_uint_eq(rig_put(other, 0, 1600, 20), 100);
    ck_assert_uint_eq(rig_put(s, 0, 1600, 20), 0);
    ck_assert_uint_eq(rig_count(s).seen, 1600);
    ck_assert_uint_eq(rig_put(s, 0, 0, 20), 0);
    cluster_store_close(other);
    cluster_store_close(s);
    buf_fini(&error);
}

/* In one shard, so that its buckets split some sixty times; another client
 * that knows of none of it has to be told. */
TEST(a_seen_set_that_grows_forgets_nothing_and_stays_small)
{
    struct redis_address a;
    const struct cluster_store_options o = rig_options(&a);
    struct cluster_store *s, *other = NULL;
    struct cluster_counts c;
    struct buf error;
    long long most = 0;

    NEEDS_SERVER;
    s = rig_create(1);
    buf_init(&error, 1000);
    ck_ok(cluster_store_open(&other, &o, &error));
    for (unsigned i = 0; i < 12800; i += 128)
        ck_assert_uint_eq(rig_put(s, i, 128, 3), 128);
    while (cluster_store_pending(s) > 0)
        cluster_store_turn(s, NS_PER_S);
    c = rig_count(s);
    ck_assert_uint_ge(c.buckets, 60);
    ck_assert_uint_le(c.buckets, 70);
    ck_assert_uint_eq(rig_put(other, 0, 12800, 3), 0);
    for (unsigned i = 0; i < c.buckets; i++) {
        char command[64];
        long long n;

        snprintf(command, sizeof command, "SCARD {crawl:0}s:%x", i);
        n = redis_server_do(&server, command);
        most = n > most ? n : most;
    }
    ck_assert_int_lt(most, 512); /* else it is no array of integers */
    cluster_store_close(other);
    cluster_store_close(s);
    buf_fini(&error);
}

TEST(buckets_of_fingerprints_split_as_the_script_does)
{
    for (uint32_t n = 1; n < 300; n++)
        for (uint64_t fp = 0; fp < 3000; fp += 7) {
            uint64_t at = cluster_bucket_of(fp, n);
            uint64_t then = cluster_bucket_of(fp, n + 1);
            uint32_t half = 1;

            while (half * 2 <= n)
                half *= 2;
            ck_assert_uint_lt(at, n);
            if (then != at) { /* only from one, to the new one */
                ck_assert_uint_eq(then, n);
                ck_assert_uint_eq(at, n - half);
            }
        }
}

TEST(a_host_is_leased_once_at_a_time_and_its_urls_in_order)
{
    struct cluster_store *s;
    struct rig_leases l;

    NEEDS_SERVER;
    s = rig_create(4);
    (void)rig_put(s, 0, 30, 10);
    ck_assert_uint_eq(rig_lease(s, &l, 50), 10);
    for (unsigned round = 0; round < 3; round++) {
        struct rig_leases more;

        ck_assert_uint_eq(rig_lease(s, &more, 50), 0);
        for (size_t i = 0; i < 10; i++) {
            char item[24];

            snprintf(item, sizeof item, "item %lu",
                     strtoul(l.lease[i].host + 1, NULL, 10) + round * 10);
            ck_assert_str_eq(l.lease[i].item, item);
            ck_assert_str_eq(l.lease[i].state, round == 0 ? "" : "st:ate");
            ck_assert(!rig_ack(s, &l, i, 0, "", 0));
        }
        ck_assert_uint_eq(rig_lease(s, &l, 50), round < 2 ? 10 : 0);
    }
    ck_assert_uint_eq(rig_count(s).done, 30);
    cluster_store_close(s);
}

TEST(no_more_leases_are_given_than_asked_for)
{
    struct cluster_store *s;
    struct rig_leases l;

    NEEDS_SERVER;
    s = rig_create(4);
    (void)rig_put(s, 0, 40, 40);
    ck_assert_uint_eq(rig_lease(s, &l, 7), 7);
    ck_assert_uint_eq(rig_lease(s, &l, 1), 1);
    ck_assert_uint_eq(rig_lease(s, &l, 60), 32);
    ck_assert_uint_eq(rig_count(s).leased, 40);
    cluster_store_close(s);
}

/* The pause is counted by the server's clock: not before, also for URLs that
 * are put meanwhile. */
TEST(a_host_waits_for_its_pause)
{
    struct cluster_store *s;
    struct rig_leases l;
    int64_t before;

    NEEDS_SERVER;
    s = rig_create(1);
    (void)rig_put(s, 0, 2, 1);
    ck_assert_uint_eq(rig_lease(s, &l, 9), 1);
    before = clock_mono();
    ck_assert(!rig_ack(s, &l, 0, 200, "", 0));
    (void)rig_put(s, 2, 1, 1);
    while (rig_lease(s, &l, 9) == 0)
        ;
    ck_assert_int_ge(clock_mono() - before, 199 * NS_PER_MS);
    before = clock_mono();
    ck_assert(!rig_ack(s, &l, 0, 200, "", 0));
    ck_assert_uint_eq(rig_lease(s, &l, 9),
                      clock_mono() - before < 199 * NS_PER_MS ? 0 : l.n);
    cluster_store_close(s);
}

static void elements_came(void *ctx, enum status st, const redisReply *r)
{
    ck_ok(st);
    *(long *)ctx = (long)r->elements;
}

/* A look is old by the time of its claim: another worker may have leased and
 * acknowledged the host meanwhile. */
TEST(a_claim_of_a_host_that_is_not_due_any_more_gets_nothing)
{
    const struct bytes args[5] = {{REDIS_RUN_ID, REDIS_RUN_ID_SIZE - 1},
                                  {"60000", 5},
                                  {"0", 1},
                                  {"9", 1},
                                  {"h0", 2}};
    static const char kinds[5][2] = {"m", "r", "l", "t", "h"};
    struct cluster_store *s;
    struct rig_leases l;
    struct key_list k;

    NEEDS_SERVER;
    s = rig_create(1);
    (void)rig_put(s, 0, 3, 1);
    ck_assert_uint_eq(rig_lease(s, &l, 9), 1);
    for (int round = 0; round < 2; round++) { /* leased; waiting */
        long elements = -1;

        key_list_init(&k);
        for (int i = 0; i < 5; i++)
            key_list_add(&k, s, 0, kinds[i], bytes_of("", 0));
        key_list_add(&k, s, 0, "q:", args[4]);
        key_list_add(&k, s, 0, "d:", args[4]);
        cluster_run(s, 0, &cluster_script_claim, &k, args, 5, true,
                    elements_came, &elements);
        key_list_fini(&k);
        while (elements < 0)
            cluster_store_turn(s, NS_PER_S);
        ck_assert_int_eq(elements, 0);
        if (round == 0)
            ck_assert(!rig_ack(s, &l, 0, 60000, "", 0));
    }
    cluster_store_close(s);
}

/* A host with nothing left keeps its pause for what comes next. */
TEST(a_pause_outlives_the_last_url_of_a_host)
{
    struct cluster_store *s;
    struct rig_leases l;
    int64_t before;

    NEEDS_SERVER;
    s = rig_create(1);
    (void)rig_put(s, 0, 1, 1);
    ck_assert_uint_eq(rig_lease(s, &l, 9), 1);
    before = clock_mono();
    ck_assert(!rig_ack(s, &l, 0, 200, "", 0));
    (void)rig_put(s, 1, 1, 1);
    while (rig_lease(s, &l, 9) == 0)
        ;
    ck_assert_int_ge(clock_mono() - before, 199 * NS_PER_MS);
    cluster_store_close(s);
}

TEST(a_url_may_be_queued_again_at_once_or_later)
{
    struct cluster_store *s;
    struct rig_leases l;
    int64_t before;

    NEEDS_SERVER;
    s = rig_create(1);
    (void)rig_put(s, 0, 2, 1);
    ck_assert_uint_eq(rig_lease(s, &l, 9), 1);
    ck_assert(!rig_ack(s, &l, 0, -1, "first", -1)); /* released */
    ck_assert_uint_eq(rig_lease(s, &l, 9), 1);
    ck_assert_str_eq(l.lease[0].item, "first");
    ck_assert_uint_eq(l.lease[0].lost, 0);
    before = clock_mono();
    ck_assert(!rig_ack(s, &l, 0, 0, "later", 200));
    ck_assert_uint_eq(rig_lease(s, &l, 9), 1); /* its host goes on */
    ck_assert_str_eq(l.lease[0].item, "item 1");
    ck_assert(!rig_ack(s, &l, 0, 0, "", 0));
    while (rig_lease(s, &l, 9) == 0)
        ;
    ck_assert_int_ge(clock_mono() - before, 199 * NS_PER_MS);
    ck_assert_str_eq(l.lease[0].item, "later");
    ck_assert(!rig_ack(s, &l, 0, 0, "", 0));
    ck_assert_uint_eq(rig_count(s).done, 2);
    cluster_store_close(s);
}

TEST(a_lease_that_is_over_is_given_out_again_and_its_token_is_stale)
{
    struct redis_address a;
    struct cluster_store_options o = rig_options(&a);
    struct cluster_store *s, *brief = NULL;
    struct rig_leases old, l;
    struct buf error;
    int64_t now = clock_mono();

    NEEDS_SERVER;
    s = rig_create(1);
    buf_init(&error, 1000);
    o.lease_ms = 600;
    ck_ok(cluster_store_open(&brief, &o, &error));
    (void)rig_put(s, 0, 2, 1);
    ck_assert_uint_eq(rig_lease(brief, &old, 9), 1);
    /* Its holder may ask until shortly before: 500 ms of margin. */
    ck_assert_int_lt(old.lease[0].until, clock_mono() + 101 * NS_PER_MS);
    ck_assert(
        !cluster_lease_allows(&(struct cluster_lease){.until =
                                                          old.lease[0].until},
                              now, 1 + old.lease[0].until - now));
    ck_assert(cluster_lease_allows(
        &(struct cluster_lease){.until = old.lease[0].until}, now, 0));
    while (rig_lease(s, &l, 9) == 0)
        ;
    ck_assert_str_eq(l.lease[0].item, "item 0"); /* before others */
    ck_assert_uint_eq(l.lease[0].lost, 1);
    ck_assert(rig_ack(brief, &old, 0, 0, "", 0));
    ck_assert_uint_eq(rig_count(s).done, 0);
    ck_assert(!rig_ack(s, &l, 0, 0, "", 0));
    ck_assert(!rig_ack(s, &l, 0, 0, "", 0)); /* a repeat is no stale one */
    ck_assert_uint_eq(rig_count(s).done, 1);
    ck_assert_uint_eq(rig_count(s).expired, 1);
    cluster_store_close(brief);
    cluster_store_close(s);
    buf_fini(&error);
}

TEST(an_extended_lease_lasts)
{
    struct redis_address a;
    struct cluster_store_options o = rig_options(&a);
    struct cluster_store *s, *brief = NULL;
    struct rig_leases held, l;
    struct rig_end e = {0};
    struct buf error;

    NEEDS_SERVER;
    s = rig_create(1);
    buf_init(&error, 1000);
    o.lease_ms = 500;
    ck_ok(cluster_store_open(&brief, &o, &error));
    (void)rig_put(s, 0, 1, 1);
    do { /* on a busy machine it may be over before it is extended */
        while (rig_lease(brief, &held, 9) == 0)
            continue;
        e.ended = false;
        cluster_store_extend(s, 0, bytes_of_str("h0"), held.lease[0].token,
                             rig_ack_end, &e); /* 60 s */
        rig_wait(s, &e);
        ck_ok(e.st);
    } while (e.over);
    usleep(550000); /* by the server's clock the 500 ms are over */
    ck_assert_uint_eq(rig_lease(s, &l, 9), 0);
    ck_assert(!rig_ack(brief, &held, 0, 0, "", 0));
    e.ended = false;
    cluster_store_extend(s, 0, bytes_of_str("h0"), held.lease[0].token,
                         rig_ack_end, &e);
    rig_wait(s, &e);
    ck_assert(e.over);
    cluster_store_close(brief);
    cluster_store_close(s);
    buf_fini(&error);
}

TEST(a_shard_whose_server_is_another_is_held_and_skips_tokens)
{
    struct redis_address a;
    struct cluster_store_options o = rig_options(&a);
    struct cluster_store *s, *brief = NULL;
    struct rig_leases l;
    struct buf error;
    uint64_t token;
    int64_t before;

    NEEDS_SERVER;
    s = rig_create(1);
    buf_init(&error, 1000);
    (void)rig_put(s, 0, 2, 2);
    ck_assert_uint_eq(rig_lease(s, &l, 1), 1);
    token = l.lease[0].token;
    /* As if a replica of another master had been promoted. */
    (void)redis_server_do(&server, "HSET {crawl:0}m run another");
    /* A master that is cut off may go on for longer than a lease. */
    (void)redis_server_do(&server, "CONFIG SET cluster-node-timeout 300");
    o.hold_ms = 100;
    ck_ok(cluster_store_open(&brief, &o, &error));
    before = clock_mono();
    while (rig_lease(brief, &l, 9) == 0)
        ;
    ck_assert_int_ge(clock_mono() - before, 299 * NS_PER_MS);
    ck_assert_uint_gt(l.lease[0].token, token + 999999);
    cluster_store_close(brief);
    cluster_store_close(s);
    buf_fini(&error);
}

TEST(scripts_that_the_server_forgot_are_loaded_again)
{
    struct cluster_store *s;
    struct redis_cluster_stats stats;
    struct rig_leases l;

    NEEDS_SERVER;
    s = rig_create(4);
    for (unsigned i = 0; i < 5; i++) {
        (void)redis_server_do(&server, "SCRIPT FLUSH");
        ck_assert_uint_eq(rig_put(s, i * 100, 100, 10), 100);
    }
    (void)redis_server_do(&server, "SCRIPT FLUSH");
    ck_assert_uint_eq(rig_lease(s, &l, 64), 10);
    cluster_store_get_stats(s, &stats);
    ck_assert_uint_ge(stats.noscript, 6);
    ck_assert_uint_eq(rig_count(s).seen, 500);
    cluster_store_close(s);
}

static void note_full(void *ctx, const struct redis_master *m)
{
    ck_assert_uint_gt(m->name.len, 0);
    *(bool *)ctx = m->is_full;
}

static bool has_full_server(const struct cluster_store *s)
{
    bool full = false;

    cluster_store_each_master(s, note_full, &full);
    return full;
}

TEST(a_full_server_takes_nothing_new_but_ends_leases)
{
    struct redis_address a;
    struct cluster_store_options o = rig_options(&a);
    struct cluster_store *s, *brief = NULL;
    struct rig_url u;
    struct rig_end e = {0};
    struct rig_leases l;
    struct buf error;

    NEEDS_SERVER;
    s = rig_create(1);
    buf_init(&error, 1000);
    o.call_ns = 300 * NS_PER_MS;
    ck_ok(cluster_store_open(&brief, &o, &error));
    (void)rig_put(brief, 0, 2, 1);
    ck_assert(!has_full_server(brief));
    (void)redis_server_do(&server, "CONFIG SET maxmemory 1000");
    rig_url_make(&u, brief, 9, 1);
    ck_ok(cluster_store_put(brief, &u.url, 1, rig_put_end, &e));
    rig_wait(brief, &e);
    ck_assert_int_eq(e.st, STATUS_FULL);
    ck_assert(has_full_server(brief));
    ck_assert_uint_eq(rig_lease(brief, &l, 1), 1);
    ck_assert(!rig_ack(brief, &l, 0, 0, "", 0));
    (void)redis_server_do(&server, "CONFIG SET maxmemory 0");
    ck_assert_uint_eq(rig_put(brief, 9, 1, 1), 1);
    while (has_full_server(brief)) /* some seconds */
        cluster_store_turn(brief, NS_PER_S);
    cluster_store_close(brief);
    cluster_store_close(s);
    buf_fini(&error);
}

/* Of shards 0 to 3 a worker of two has the first half. */
TEST(a_worker_takes_from_its_part_first_and_then_what_is_left)
{
    struct cluster_store *s;
    struct rig_leases own = {0}, all = {0};
    int64_t end = clock_mono() + 60 * NS_PER_S;

    NEEDS_SERVER;
    s = rig_create(4);
    cluster_store_set_part(s, 0, 2);
    ck_assert_uint_eq(rig_put(s, 0, 40, 40), 40);
    ck_assert_uint_eq(rig_lease(s, &own, 5), 5);
    for (size_t i = 0; i < own.n; i++)
        ck_assert_uint_lt(own.lease[i].shard, 2);
    while (all.n < 35 && clock_mono() < end) {
        cluster_store_lease(s, 35 - all.n, rig_take, &all);
        cluster_store_turn(s, 5 * NS_PER_MS);
    }
    ck_assert_uint_eq(all.n, 35);
    for (size_t i = 1; i < all.n; i++) /* its own ones came first */
        ck_assert(all.lease[i].shard >= 2 || all.lease[i - 1].shard < 2);
    cluster_store_close(s);
}

TEST(spare_leases_are_of_its_own_part)
{
    struct rig_leases l = {0};
    struct cluster_store *s;
    int64_t end;

    NEEDS_SERVER;
    s = rig_create(4);
    cluster_store_set_part(s, 0, 2);
    ck_assert_uint_eq(rig_put(s, 0, 40, 40), 40);
    cluster_store_set_spare(s, RIG_LEASES);
    end = clock_mono() + NS_PER_S; /* hosts of others would be taken by then */
    while (clock_mono() < end) {
        cluster_store_lease(s, 0, rig_take, &l);
        cluster_store_turn(s, 5 * NS_PER_MS);
    }
    ck_assert_uint_gt(l.n, 5);
    ck_assert_uint_lt(l.n, 40);
    for (size_t i = 0; i < l.n; i++)
        ck_assert_uint_lt(l.lease[i].shard, 2);
    cluster_store_close(s);
}

static uint64_t calls(const struct cluster_store *s)
{
    struct redis_cluster_stats stats;

    cluster_store_get_stats(s, &stats);
    return stats.calls;
}

/* One lease for one call. */
static void claim_alone(struct cluster_store *s, struct rig_leases *l)
{
    uint64_t before = calls(s);

    l->n = 0;
    s->shards[0].next_look = INT64_MAX;
    cluster_store_lease(s, 1, rig_take, l);
    while (cluster_store_pending(s) > 0)
        cluster_store_turn(s, NS_PER_S);
    ck_assert_uint_eq(l->n, 1);
    ck_assert_uint_eq(calls(s) - before, 1);
}

TEST(what_a_worker_made_due_itself_it_claims_without_a_look)
{
    struct rig_leases l = {0};
    struct cluster_store *s;

    NEEDS_SERVER;
    s = rig_create(1);
    ck_assert_uint_eq(rig_put(s, 0, 2, 1), 2);
    ck_assert_uint_eq(rig_lease(s, &l, 1), 1);
    ck_assert(!rig_ack(s, &l, 0, 0, "", 0));
    claim_alone(s, &l); /* the host's second URL */
    ck_assert_str_eq(l.lease[0].item, "item 1");
    ck_assert(!rig_ack(s, &l, 0, 0, "", 0));
    ck_assert_uint_eq(s->shards[0].hint_count, 0); /* nothing of it waits */
    ck_assert_uint_eq(rig_put(s, 5, 1, 6), 1);
    claim_alone(s, &l); /* a new host's */
    ck_assert_str_eq(l.lease[0].host, "h5");
    /* One that others have claimed meanwhile is not given. */
    ck_assert_uint_eq(rig_put(s, 4, 1, 6), 1);
    (void)redis_server_do(&server, "ZREM {crawl:0}r h4");
    s->shards[0].next_look = INT64_MAX;
    l.n = 0;
    cluster_store_lease(s, 1, rig_take, &l);
    while (cluster_store_pending(s) > 0)
        cluster_store_turn(s, NS_PER_S);
    ck_assert_uint_eq(l.n, 0);
    ck_assert_uint_eq(s->claiming, 0);
    cluster_store_close(s);
}

TEST(a_crawl_is_created_once_and_opened_by_its_name)
{
    struct redis_address a;
    struct cluster_store_options o = rig_options(&a);
    struct cluster_new what = {3, cluster_seed, {"", 0}};
    struct cluster_store *s, *x = NULL;
    struct buf error;

    NEEDS_SERVER;
    s = rig_create(3);
    buf_init(&error, 4096);
    ck_ok(cluster_store_begin(s));
    ck_assert_int_eq(cluster_store_create(&x, &o, &what, &error),
                     STATUS_EXISTS);
    what.shards = 0;
    ck_assert_int_eq(cluster_store_create(&x, &o, &what, &error), STATUS_ARG);
    o.name = "another";
    ck_assert_int_eq(cluster_store_open(&x, &o, &error), STATUS_NOT_FOUND);
    o.name = "a}b";
    ck_assert_int_eq(cluster_store_open(&x, &o, &error), STATUS_ARG);
    o.name = "crawl";
    (void)redis_server_do(&server, "HSET {crawl} format 3");
    ck_assert_int_eq(cluster_store_open(&x, &o, &error), STATUS_VERSION);
    (void)redis_server_do(&server, "HSET {crawl} format 2 shards 99999");
    ck_assert_int_eq(cluster_store_open(&x, &o, &error), STATUS_DAMAGED);
    (void)redis_server_do(&server, "HSET {crawl} shards 3 seed 00");
    ck_assert_int_eq(cluster_store_open(&x, &o, &error), STATUS_DAMAGED);
    o.replicas = 1;
    ck_assert_int_eq(cluster_store_open(&x, &o, &error), STATUS_REFUSED);
    ck_assert_ptr_null(x);
    cluster_store_close(s);
    buf_fini(&error);
}

TEST(what_is_too_long_is_refused)
{
    static char text[CLUSTER_ITEM_MOST + 1];
    struct cluster_store *s;
    struct cluster_url u = {.host = {text, CLUSTER_HOST_MOST + 1},
                            .item = {text, 1}};
    struct cluster_ack a = {.host = {text, 1},
                            .state = {text, CLUSTER_STATE_MOST + 1}};
    struct rig_end e = {0};

    NEEDS_SERVER;
    memset(text, 'x', sizeof text);
    s = rig_create(1);
    ck_assert_int_eq(cluster_store_put(s, &u, 1, rig_put_end, &e), STATUS_ARG);
    u.host.len = 0;
    ck_assert_int_eq(cluster_store_put(s, &u, 1, rig_put_end, &e), STATUS_ARG);
    u.host.len = 1;
    u.item.len = CLUSTER_ITEM_MOST;
    ck_assert_int_eq(cluster_store_put(s, &u, 1, rig_put_end, &e), STATUS_ARG);
    ck_assert_int_eq(cluster_store_ack(s, &a, rig_ack_end, &e), STATUS_ARG);
    a.state.len = 0;
    a.shard = 1;
    ck_assert_int_eq(cluster_store_ack(s, &a, rig_ack_end, &e), STATUS_ARG);
    ck_assert(!e.ended);
    cluster_store_close(s);
}

/* What is under way when a store is closed ends, too. */
TEST(closing_ends_what_is_under_way)
{
    struct cluster_store *s;
    struct rig_url u;
    struct rig_end put = {0}, count = {0};
    struct rig_leases l = {0};

    NEEDS_SERVER;
    s = rig_create(16);
    rig_url_make(&u, s, 0, 1);
    ck_ok(cluster_store_put(s, &u.url, 1, rig_put_end, &put));
    cluster_store_count(s, rig_count_end, &count);
    cluster_store_lease(s, 5, rig_take, &l);
    cluster_store_close(s);
    ck_assert(put.ended && put.st == STATUS_CLOSED);
    ck_assert(count.ended && count.st == STATUS_CLOSED);
}
