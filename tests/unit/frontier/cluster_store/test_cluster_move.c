/* SPDX-License-Identifier: MIT */
/* test_cluster_move.c - a whole crawl into a real Redis server, and out. */
#include "frontier/cluster_store/cluster_move.h"

#include <time.h>

#include "frontier/cluster_store/cluster_watch.h"
#include "tests/unit/frontier/cluster_store/cluster_rig.h"

#define URLS  3000
#define HOSTS 20

/* Moves URLs 0 .. URLS - 1 in: of three one is done. */
static size_t move_in(struct cluster_store *s, int64_t delay_ms,
                      int64_t wait_ms)
{
    struct rig_url *u = calloc(URLS, sizeof *u);
    struct cluster_url *urls = calloc(URLS, sizeof *urls);
    struct cluster_moved *moved = calloc(URLS, sizeof *moved);
    struct rig_end e = {0};

    for (unsigned i = 0; i < URLS; i++) {
        rig_url_make(&u[i], s, i, HOSTS);
        urls[i] = u[i].url;
        moved[i] = (struct cluster_moved){i % 3 == 0, delay_ms, wait_ms};
    }
    ck_ok(cluster_store_move(s, urls, moved, URLS, rig_put_end, &e));
    free(urls);
    free(moved);
    free(u);
    rig_wait(s, &e);
    ck_ok(e.st);
    return e.fresh;
}

FIXTURE(rig_begin, rig_end);

TEST(what_is_moved_in_is_known_and_waits_or_is_done)
{
    struct cluster_store *s;
    struct cluster_counts c;
    struct rig_leases l;

    NEEDS_SERVER;
    s = rig_create(3);
    ck_assert_uint_eq(move_in(s, -1, 0), URLS);
    ck_assert_uint_eq(move_in(s, -1, 0), 0);
    c = rig_count(s);
    ck_assert_uint_eq(c.seen, URLS);
    ck_assert_uint_eq(c.done, URLS / 3);
    ck_assert_uint_eq(rig_put(s, 0, URLS + 50, HOSTS), 50);
    ck_assert_uint_eq(rig_lease(s, &l, 50), HOSTS); /* one of each host */
    for (size_t i = 0; i < l.n; i++) {
        unsigned n = (unsigned)strtoul(l.lease[i].item + 5, NULL, 10);

        ck_assert(n % 3 != 0 || n >= URLS);
    }
    cluster_store_close(s);
}

TEST(what_waits_is_not_given_out_before_its_time)
{
    struct cluster_store *s;
    struct rig_leases l;
    size_t leased = 0;

    NEEDS_SERVER;
    s = rig_create(3);
    (void)move_in(s, 1000000, 0); /* its own */
    ck_assert_uint_eq(rig_lease(s, &l, 50), 0);
    ck_ok(cluster_move_clear_shards(s));
    cluster_store_close(s);
    redis_server_do(&server, "FLUSHALL");
    s = rig_create(3);
    (void)move_in(s, -1, 1000000); /* its host's */
    ck_assert_uint_eq(rig_lease(s, &l, 50), 0);
    cluster_store_close(s);
    redis_server_do(&server, "FLUSHALL");
    s = rig_create(3);
    (void)move_in(s, 50, 70);
    while (leased < HOSTS)
        leased += rig_lease(s, &l, 50);
    ck_assert_uint_eq(leased, HOSTS);
    cluster_store_close(s);
}

static void clear(struct cluster_store *s)
{
    char name[HOSTS][8];
    struct bytes host[HOSTS];

    for (unsigned i = 0; i < HOSTS; i++) {
        snprintf(name[i], sizeof name[i], "h%u", i);
        host[i] = bytes_of_str(name[i]);
    }
    ck_ok(cluster_move_clear_hosts(s, host, HOSTS));
    ck_ok(cluster_move_clear_shards(s));
}

TEST(what_is_cleared_has_left_nothing)
{
    struct cluster_store *s;
    long long before;

    NEEDS_SERVER;
    s = rig_create(3);
    before = redis_server_do(&server, "DBSIZE");
    (void)move_in(s, -1, 5);
    while (cluster_store_pending(s) > 0) /* buckets that split */
        cluster_store_turn(s, NS_PER_S);
    ck_assert_int_gt(redis_server_do(&server, "DBSIZE"), before + HOSTS);
    clear(s);
    ck_assert_int_eq(redis_server_do(&server, "DBSIZE"), before);
    ck_assert_uint_eq(move_in(s, -1, 0), URLS);
    cluster_store_close(s);
}

/* ---- out ---- */

struct out {
    unsigned char times[URLS];
    size_t n;
    int64_t delay, wait; /* the longest */
};

static enum status note(void *ctx, const struct cluster_waiting *w)
{
    struct out *out = ctx;
    char text[24];
    unsigned long i;

    snprintf(text, sizeof text, "%.*s", (int)w->item.len, w->item.at);
    i = strtoul(text + 5, NULL, 10);
    ck_assert_uint_lt(i, URLS);
    snprintf(text, sizeof text, "h%lu", i % HOSTS);
    ck_assert(bytes_is(w->host, text));
    out->times[i]++;
    out->n++;
    out->delay = clock_later(out->delay, w->delay_ms);
    out->wait = clock_later(out->wait, w->wait_ms);
    return STATUS_OK;
}

static void read_out(struct cluster_store *s, struct out *out)
{
    memset(out, 0, sizeof *out);
    for (unsigned i = 0; i < cluster_store_shards(s); i++)
        ck_ok(cluster_move_read(s, i, note, out));
}

TEST(all_that_waits_is_read_and_nothing_else)
{
    struct cluster_store *s;
    struct rig_leases l;
    static struct out out;
    int64_t left = 0;

    NEEDS_SERVER;
    s = rig_create(2); /* so that hosts of a shard take more than one scan */
    (void)move_in(s, -1, 0);
    ck_assert_uint_eq(rig_lease(s, &l, 50), HOSTS);
    (void)rig_ack(s, &l, 0, 0, "", 0);
    (void)rig_ack(s, &l, 1, 5000, l.lease[1].item, 9000);
    (void)rig_ack(s, &l, 2, 0, l.lease[2].item, -1);
    ck_ok(cluster_move_hold(s, 60000, &left));
    ck_assert_int_gt(left, 30000);
    ck_assert_int_le(left, 60000);
    ck_assert_uint_eq(rig_lease(s, &l, 50), 0);
    read_out(s, &out);
    ck_assert_uint_eq(out.n, URLS / 3 * 2 - 1); /* with those of leases */
    for (unsigned i = 0; i < URLS; i++)
        ck_assert_int_le(out.times[i], i % 3 != 0);
    ck_assert_int_gt(out.delay, 8000);
    ck_assert_int_gt(out.wait, 4000);
    cluster_store_close(s);
}

TEST(a_hold_ends_by_itself_or_never)
{
    struct cluster_store *s;
    struct rig_leases l;
    size_t leased = 0;
    int64_t left = 0;

    NEEDS_SERVER;
    s = rig_create(2);
    (void)move_in(s, -1, 0);
    ck_assert_uint_eq(rig_lease(s, &l, 1), 1); /* a server has the shards */
    ck_ok(cluster_move_hold(s, 30, &left));
    while (leased < HOSTS - 1) {
        leased += rig_lease(s, &l, 50);
        for (size_t i = 0; i < l.n; i++)
            (void)rig_ack(s, &l, i, 1000000, "", 0);
    }
    ck_assert_uint_eq(leased, HOSTS - 1);
    ck_ok(cluster_move_hold(s, -1, &left));
    ck_ok(cluster_move_hold(s, 0, &left));
    /* nor does another server that takes the shards over end it */
    redis_server_do(&server, "HSET {crawl:0}m run other");
    redis_server_do(&server, "HSET {crawl:1}m run other");
    ck_assert_uint_eq(rig_lease(s, &l, 50), 0);
    ck_assert_uint_eq(rig_lease(s, &l, 50), 0);
    cluster_store_close(s);
}

TEST(what_is_not_there_is_found_out)
{
    struct cluster_store *s;
    struct rig_url u[200];
    struct cluster_url urls[200];
    struct rig_end e = {0};

    NEEDS_SERVER;
    s = rig_create(3);
    (void)move_in(s, -1, 0);
    for (unsigned i = 0; i < 200; i++) {
        rig_url_make(&u[i], s, URLS - 150 + i, HOSTS);
        urls[i] = u[i].url;
    }
    ck_ok(cluster_store_seek(s, urls, 200, rig_put_end, &e));
    rig_wait(s, &e);
    ck_ok(e.st);
    ck_assert_uint_eq(e.fresh, 50);
    ck_assert_uint_eq(rig_count(s).seen, URLS);
    cluster_store_close(s);
}

TEST(a_crawl_that_is_elsewhere_says_so)
{
    struct redis_address a;
    const struct cluster_store_options o = rig_options(&a);
    struct cluster_store *s, *again = NULL;
    struct buf error;

    NEEDS_SERVER;
    buf_init(&error, 1000);
    s = rig_create(2);
    ck_ok(cluster_store_begin(s));
    ck_assert(!cluster_store_is_moved(s));
    ck_ok(cluster_store_end_move(s, bytes_of_str("a")));
    ck_ok(cluster_store_end_move(s, bytes_of_str("a")));
    ck_assert_int_eq(cluster_store_end_move(s, bytes_of_str("b")),
                     STATUS_EXISTS);
    ck_ok(cluster_store_open(&again, &o, &error));
    ck_assert(cluster_store_is_moved(again) && !cluster_store_is_begun(again));
    cluster_store_close(again);
    cluster_store_close(s);
    buf_fini(&error);
}
