/* SPDX-License-Identifier: MIT */
/* test_cluster_engine.c - workers of one crawl, each with a directory. */
#include <time.h>

#include "frontier/cluster/cluster_engine.h"
#include "frontier/cluster/cluster_engine_impl.h"
#include "frontier/cluster_store/cluster_item.h"
#include "frontier/cluster_store/cluster_steer.h"
#include "frontier/embedded/frontier.h"
#include "frontier/reader.h"
#include "frontier/scope.h"
#include "frontier/url/queue_key.h"
#include "frontier/url/url.h"
#include "tests/unit/frontier/cluster_store/cluster_rig.h"
#include "tests/unit/storage/scratch.h"

#define LEASE_MS 2000
#define LONGEST  (20 * NS_PER_S)

struct worker {
    struct scratch at;
    struct scope *scope;
    struct engine *e;
};

static struct cluster_store *reach(bool create)
{
    struct redis_address a;
    struct cluster_store_options o = rig_options(&a);
    const struct cluster_new what = {4, cluster_seed, {"", 0}};
    struct cluster_store *s = NULL;
    struct buf error;

    o.lease_ms = LEASE_MS;
    buf_init(&error, 4096);
    ck_assert_msg((create ? cluster_store_create(&s, &o, &what, &error)
                          : cluster_store_open(&s, &o, &error)) == STATUS_OK,
                  "%s", buf_str(&error));
    buf_fini(&error);
    return s;
}

/* `known`: the directory has been used before. */
static void open_worker(struct worker *w, bool create, bool known)
{
    const struct scope_options so = {.mode = SCOPE_HOST,
                                     .depth = -1,
                                     .max_url_length = 2048};
    struct cluster_store *s = reach(create);
    const struct frontier_options o = {.crawl = bytes_of_str(CRAWL_ID),
                                       .schedule = {.max_delay = NS_PER_S,
                                                    .retry_delay = NS_PER_MS,
                                                    .give_up = 3 * NS_PER_S},
                                       .tries = 2,
                                       .conns_per_host = 1,
                                       .in_flight = 16,
                                       .links_elsewhere = true,
                                       .store = {.use_filter = true,
                                                 .fpr = 0.01,
                                                 .memory = (uint64_t)64 << 20,
                                                 .digest_seed = cluster_seed},
                                       .commit_interval = 200 * NS_PER_MS,
                                       .random_seed = 7};
    struct cluster_engine_options eo = {.store = s,
                                        .crawl = o.crawl,
                                        .request = 500 * NS_PER_MS,
                                        .lease = LEASE_MS * NS_PER_MS,
                                        .in_flight = 16,
                                        .kinds = 29,
                                        .robots = true};
    struct buf error;

    buf_init(&error, 4096);
    ck_ok(scope_new(&w->scope, &so, &error));
    buf_fini(&error);
    eo.scope = w->scope;
    ck_ok(known ? frontier_open(&eo.own, w->at.dir, &o, clock_mono(),
                                clock_wall_ms())
                : frontier_create(&eo.own, w->at.dir, &o, clock_wall_ms()));
    ck_ok(cluster_engine_open(&w->e, &eo, clock_mono(), clock_wall_ms()));
}

static void begin_worker(struct worker *w, bool create)
{
    *w = (struct worker){.at = scratch_make()};
    open_worker(w, create, false);
}

static void close_worker(struct worker *w)
{
    w->e->ops->close(w->e);
    scope_free(w->scope);
}

static void end_worker(struct worker *w)
{
    close_worker(w);
    scratch_remove(&w->at);
}

static void stop_worker(struct worker *w)
{
    ck_ok(w->e->ops->checkpoint_now(w->e, "stopped", true, clock_mono(),
                                    clock_wall_ms()));
}

static void turn(struct worker *w, bool force)
{
    ck_ok(w->e->ops->turn(w->e, force, clock_mono(), clock_wall_ms(), NULL));
}

/* ---- URLs ---- */

struct made {
    struct url u;
    struct engine_item item;
};

static void make(struct made *m, struct worker *w, const char *text)
{
    url_init(&m->u);
    ck_assert_int_eq(url_parse(&m->u, bytes_of_str(text), NULL, NULL), URL_OK);
    m->item = (struct engine_item){.key = queue_key_of(&m->u),
                                   .url = url_text(&m->u)};
    m->item.digest =
        digest_url(w->e->ops->digest_key(w->e), bytes_of_str(CRAWL_ID),
                   m->item.key, m->item.url);
}

static void put_seed(struct worker *w, const char *text)
{
    struct made m;
    enum engine_answer answer;

    make(&m, w, text);
    m.item.seed = true;
    ck_ok(w->e->ops->put(w->e, bytes_of_str(CRAWL_ID), 0, &m.item, 1,
                         clock_wall_ms(), &answer));
    ck_assert_int_eq(answer, ENGINE_NEW);
    url_fini(&m.u);
}

/* Waits for a lease; false: none came in `patience`. */
static bool lease(struct worker *w, struct engine_lease *out, int64_t patience)
{
    int64_t end = clock_mono() + patience;
    size_t n = 0;

    while (n == 0 && clock_mono() < end) {
        const struct timespec nap = {.tv_nsec = NS_PER_MS};

        turn(w, false);
        ck_ok(
            w->e->ops->lease(w->e, 1, clock_mono(), clock_wall_ms(), out, &n));
        nanosleep(&nap, NULL);
    }
    return n > 0;
}

static void done(struct worker *w, uint64_t id, const char *to)
{
    struct engine_done d = {.id = id,
                            .outcome = {.status = OUTCOME_FETCHED,
                                        .http_status = 200},
                            .row = {.at_ms = clock_wall_ms(),
                                    .http_status = 200},
                            .host = {.ended = clock_mono(),
                                     .crawl_delay_ms = -2,
                                     .retry_after_ms = -1,
                                     .http_status = 200}};
    struct made m;

    if (to != NULL) {
        make(&m, w, to);
        m.item.depth = 1;
        d.outlinks = &m.item;
        d.outlink_count = 1;
    }
    ck_ok(w->e->ops->ack(w->e, &d, 1, clock_mono(), clock_wall_ms()));
    if (to != NULL)
        url_fini(&m.u);
}

static void give_back(struct worker *w, uint64_t id)
{
    const struct engine_host_news none = {.crawl_delay_ms = -2,
                                          .retry_after_ms = -1};

    ck_ok(
        w->e->ops->release(w->e, id, 0, &none, clock_mono(), clock_wall_ms()));
}

static struct cluster_counts counts(void)
{
    struct cluster_store *s = reach(false);
    struct rig_end e = {0};

    cluster_store_count(s, rig_count_end, &e);
    rig_wait(s, &e);
    cluster_store_close(s);
    return e.counts;
}

static uint64_t left(struct worker *w)
{
    struct engine_stats s;

    w->e->ops->stats(w->e, &s);
    return s.queued;
}

/* ---- tests ---- */

TIMEOUT(120);
FIXTURE(rig_begin, rig_end);

TEST(a_page_is_acknowledged_after_its_links_and_its_commit)
{
    struct engine_lease l;
    struct worker w;

    NEEDS_SERVER;
    begin_worker(&w, true);
    put_seed(&w, "http://a.example/");
    ck_assert(lease(&w, &l, LONGEST));
    ck_assert_int_gt(l.until, clock_mono());
    done(&w, l.id, "http://b.example/1");
    ck_assert_uint_eq(counts().done, 0); /* whatever has been sent by now */
    turn(&w, true);
    stop_worker(&w);
    ck_assert_uint_eq(counts().seen, 2);
    ck_assert_uint_eq(counts().done, 1);
    ck_assert_uint_eq(left(&w), 1);
    end_worker(&w);
}

TEST(it_is_over_when_all_is_done_wherever)
{
    struct worker a, b;
    struct engine_lease l;
    int64_t end = clock_mono() + LONGEST;

    NEEDS_SERVER;
    begin_worker(&a, true);
    put_seed(&a, "http://a.example/");
    begin_worker(&b, false);
    ck_assert(lease(&b, &l, LONGEST));
    for (int i = 0; i < 30; i++) { /* counts, and looks for leases */
        struct engine_lease none;

        ck_assert(!lease(&a, &none, 50 * NS_PER_MS));
        turn(&b, false); /* extends its lease */
    }
    ck_assert_uint_gt(left(&a), 0);
    done(&b, l.id, NULL);
    while ((left(&a) > 0 || left(&b) > 0) && clock_mono() < end) {
        turn(&a, false);
        turn(&b, false);
    }
    ck_assert_uint_eq(left(&a), 0);
    ck_assert_uint_eq(left(&b), 0);
    end_worker(&a);
    end_worker(&b);
}

TEST(a_worker_that_stops_gives_back_what_it_has)
{
    struct worker a, b;
    struct engine_lease l, again;

    NEEDS_SERVER;
    begin_worker(&a, true);
    put_seed(&a, "http://a.example/");
    ck_assert(lease(&a, &l, LONGEST));
    give_back(&a, l.id);
    stop_worker(&a);
    close_worker(&a);
    begin_worker(&b, false);
    ck_assert(lease(&b, &again, LONGEST));
    stop_worker(&b);
    end_worker(&b); /* it has not come back: the lease has to end */
    open_worker(&a, false, true);
    ck_assert(!lease(&a, &l, LEASE_MS * NS_PER_MS / 2)); /* parked */
    ck_assert(lease(&a, &again, LONGEST));
    ck_assert_uint_eq(again.id, 1);
    done(&a, again.id, NULL);
    turn(&a, true);
    stop_worker(&a);
    ck_assert_uint_eq(counts().done, 1);
    end_worker(&a);
}

/* Else it would be taken for a crawl whose last URL waits for ten years. */
TEST(what_is_parked_is_not_waited_for)
{
    struct worker a, b;
    struct engine_lease l;

    NEEDS_SERVER;
    begin_worker(&a, true);
    put_seed(&a, "http://a.example/");
    ck_assert(lease(&a, &l, LONGEST));
    give_back(&a, l.id);
    stop_worker(&a);
    close_worker(&a);
    begin_worker(&b, false);
    ck_assert(lease(&b, &l, LONGEST));
    done(&b, l.id, NULL);
    turn(&b, true);
    stop_worker(&b);
    end_worker(&b);
    open_worker(&a, false, true);
    while (left(&a) > 0) {
        struct bytes why;

        ck_assert_int_lt(a.e->ops->next_due(a.e, clock_mono(), &why),
                         clock_mono() + NS_PER_S);
        ck_assert(!lease(&a, &l, NS_PER_MS));
    }
    end_worker(&a);
}

TEST(a_lease_lasts_while_its_worker_does)
{
    struct worker a, b;
    struct engine_lease l, none;
    int64_t end;

    NEEDS_SERVER;
    begin_worker(&a, true);
    put_seed(&a, "http://a.example/");
    ck_assert(lease(&a, &l, LONGEST));
    begin_worker(&b, false);
    end = clock_mono() + 2 * LEASE_MS * NS_PER_MS;
    while (clock_mono() < end) {
        turn(&a, false);
        ck_assert(!lease(&b, &none, 20 * NS_PER_MS));
    }
    ck_assert(lease(&b, &none, LONGEST)); /* a does no turn any more */
    done(&a, l.id, NULL);
    turn(&a, true);
    stop_worker(&a);
    ck_assert_uint_eq(counts().done, 0); /* it came too late */
    done(&b, none.id, NULL);
    turn(&b, true);
    stop_worker(&b);
    ck_assert_uint_eq(counts().done, 1);
    end_worker(&a);
    end_worker(&b);
}

static void link_again(struct worker *w, uint64_t seen)
{
    struct engine_lease l;

    ck_assert(lease(w, &l, LONGEST));
    done(w, l.id, "http://b.example/1");
    turn(w, true);
    ck_assert_uint_eq(counts().seen, seen);
}

/* The fingerprints are taken away, so that a link that is put again is new. */
TEST(a_link_is_put_once_unless_a_server_was_lost)
{
    struct worker w;

    NEEDS_SERVER;
    begin_worker(&w, true);
    put_seed(&w, "http://a.example/");
    put_seed(&w, "http://c.example/");
    put_seed(&w, "http://d.example/");
    link_again(&w, 4);
    for (int shard = 0; shard < 4; shard++) {
        char key[32];

        snprintf(key, sizeof key, "DEL {crawl:%d}s:0", shard);
        (void)redis_server_do(&server, key);
    }
    link_again(&w, 4);
    (void)redis_server_do(&server, "CLIENT KILL TYPE normal SKIPME yes");
    link_again(&w, 5);
    end_worker(&w);
}

static long long puts_of(unsigned shards)
{
    long long n = 0;

    for (unsigned i = 0; i < shards; i++) {
        char command[64];

        snprintf(command, sizeof command, "HINCRBY {crawl:%x}m puts 0", i);
        n += redis_server_do(&server, command);
    }
    return n;
}

/* Until they have gone, the pages are not committed. */
TEST(links_of_several_pages_go_together_and_before_the_pages)
{
    struct engine_lease a, b;
    struct worker w;
    long long before;

    NEEDS_SERVER;
    begin_worker(&w, true);
    put_seed(&w, "http://a.example/");
    put_seed(&w, "http://c.example/");
    ck_assert(lease(&w, &a, LONGEST));
    ck_assert(lease(&w, &b, LONGEST));
    before = puts_of(4);
    done(&w, a.id, "http://b.example/1");
    done(&w, b.id, "http://b.example/2");
    ck_assert_int_eq(w.e->ops->checkpoint(w.e, clock_mono(), clock_wall_ms()),
                     STATUS_AGAIN);
    turn(&w, true);
    ck_assert_int_eq(puts_of(4) - before, 1);
    ck_assert_uint_eq(counts().seen, 4);
    end_worker(&w);
}

TEST(a_place_is_known_before_what_it_lets_in)
{
    struct worker a, b;
    struct engine_lease l;
    struct url u;

    NEEDS_SERVER;
    begin_worker(&a, true);
    begin_worker(&b, false);
    put_seed(&a, "http://a.example/");
    ck_assert(lease(&b, &l, LONGEST));
    url_init(&u);
    ck_assert_int_eq(url_parse(&u, bytes_of_str("http://a.example/x"), NULL,
                               NULL),
                     URL_OK);
    ck_assert(scope_check(b.scope, &u, 1).in);
    url_fini(&u);
    end_worker(&a);
    end_worker(&b);
}

/* Put by something else that has the password. */
TEST(items_that_are_no_urls_of_ours_are_dropped)
{
    static const struct cluster_item bad[] = {
        {.kind = 0, .url = {"http://b.example/", 17}}, /* of another host */
        {.kind = 0, .url = {"http://a.example", 16}},  /* not canonical */
        {.kind = 31, .url = {"http://a.example/", 17}},
        {.kind = 0, .url = {"nonsense", 8}}};
    struct worker w;
    struct cluster_store *s;
    struct engine_lease l;

    NEEDS_SERVER;
    begin_worker(&w, true);
    s = reach(false);
    for (size_t i = 0; i <= sizeof bad / sizeof *bad; i++) {
        struct cluster_url u = {.host = {"a.example", 9},
                                .item = {"\1", 1},
                                .digest =
                                    digest_bytes(cluster_store_digest_key(s),
                                                 bytes_of(&i, sizeof i))};
        struct rig_end e = {0};
        struct buf text;

        buf_init(&text, 4096);
        if (i < sizeof bad / sizeof *bad) {
            cluster_item_write(&bad[i], u.host, &text);
            u.item = buf_bytes(&text);
        }
        ck_ok(cluster_store_put(s, &u, 1, rig_put_end, &e));
        rig_wait(s, &e);
        buf_fini(&text);
    }
    put_seed(&w, "http://a.example/last");
    ck_assert(lease(&w, &l, LONGEST));
    ck_assert(bytes_is(l.url, "http://a.example/last"));
    stop_worker(&w);
    ck_assert_uint_eq(counts().done, sizeof bad / sizeof *bad + 1);
    cluster_store_close(s);
    end_worker(&w);
}

/* ---- hosts that do not respond ---- */

static void silence(struct worker *w, uint64_t id)
{
    struct engine_done d = {.id = id,
                            .outcome = {.status = OUTCOME_FAILED,
                                        .reason = REASON_CONNECT},
                            .transient = true,
                            .row = {.at_ms = clock_wall_ms()},
                            .host = {.ended = clock_mono(),
                                     .crawl_delay_ms = -2,
                                     .retry_after_ms = -1,
                                     .unreachable = true,
                                     .silent = true}};

    ck_ok(w->e->ops->ack(w->e, &d, 1, clock_mono(), clock_wall_ms()));
    turn(w, true);
    while (((struct cluster_engine *)w->e)->acks > 0)
        turn(w, false);
}

static struct external_reach reach_of(struct worker *w, const char *host)
{
    struct external_queue q;

    w->e->ops->external_get_queue(w->e,
                                  w->e->ops->find_queue(w->e,
                                                        bytes_of_str(CRAWL_ID),
                                                        bytes_of_str(host)),
                                  clock_mono(), &q);
    return q.reach;
}

/* Each worker has two tries for a URL. */
TEST(a_host_that_does_not_respond_costs_no_worker_a_try)
{
    struct worker w[2];
    struct engine_lease l;

    NEEDS_SERVER;
    begin_worker(&w[0], true);
    put_seed(&w[0], "http://a.example/");
    begin_worker(&w[1], false);
    for (unsigned i = 0; i < 8; i++) {
        ck_assert(lease(&w[i % 2], &l, LONGEST));
        ck_assert_uint_eq(reach_of(&w[i % 2], "a.example").failures, i);
        silence(&w[i % 2], l.id);
        ck_assert_uint_eq(reach_of(&w[i % 2], "a.example").failures, i + 1);
    }
    ck_assert(lease(&w[0], &l, LONGEST));
    done(&w[0], l.id, NULL);
    turn(&w[0], true);
    stop_worker(&w[0]);
    put_seed(&w[1], "http://a.example/2");
    ck_assert(lease(&w[1], &l, LONGEST));
    ck_assert_uint_eq(reach_of(&w[1], "a.example").failures, 0);
    ck_assert(reach_of(&w[1], "a.example").answered);
    end_worker(&w[0]);
    end_worker(&w[1]);
}

TEST(a_host_that_was_given_up_is_asked_again_by_a_new_worker)
{
    struct worker a, b;
    struct engine_lease l;
    bool given_up = false;

    NEEDS_SERVER;
    begin_worker(&a, true);
    put_seed(&a, "http://a.example/");
    while (!given_up) {
        ck_assert(lease(&a, &l, LONGEST));
        silence(&a, l.id);
        given_up = reach_of(&a, "a.example").given_up;
    }
    ck_assert(!lease(&a, &l, 3 * NS_PER_S)); /* max_delay is 1 s */
    ck_assert_int_gt(a.e->ops->next_due(a.e, clock_mono(), NULL) - clock_mono(),
                     INT64_C(1000) * 24 * 3600 * NS_PER_S);
    begin_worker(&b, false);
    ck_assert(lease(&b, &l, LONGEST));
    ck_assert_uint_eq(reach_of(&b, "a.example").failures, 0);
    done(&b, l.id, NULL);
    turn(&b, true);
    stop_worker(&b);
    ck_assert_uint_eq(counts().done, 1);
    end_worker(&a);
    end_worker(&b);
}

/* ---- URLs whose workers are lost ---- */

static void take_none(void *ctx, const struct cluster_lease *l)
{
    unsigned *lost = ctx;

    *lost = l->lost + 1;
}

/* Loses leases of the only URL until `wanted` were lost. */
static void lose(unsigned wanted)
{
    struct redis_address a;
    struct cluster_store_options o = rig_options(&a);
    struct cluster_store *s = NULL;
    struct buf error;
    unsigned lost = 0;

    o.lease_ms = 1;
    buf_init(&error, 4096);
    ck_ok(cluster_store_open(&s, &o, &error));
    while (lost < wanted) {
        cluster_store_lease(s, 1, take_none, &lost);
        cluster_store_turn(s, 2 * NS_PER_MS);
    }
    cluster_store_close(s);
    buf_fini(&error);
}

TEST(a_url_with_which_workers_are_lost_fails_in_the_end)
{
    struct worker w;
    struct engine_lease l;
    struct engine_stats stats;
    int64_t end = clock_mono() + LONGEST;

    NEEDS_SERVER;
    begin_worker(&w, true);
    put_seed(&w, "http://a.example/");
    lose(4);
    ck_assert(lease(&w, &l, LONGEST)); /* asked for once more */
    stop_worker(&w);
    end_worker(&w); /* lost again, as it had not come back */
    begin_worker(&w, false);
    while (counts().done == 0 && clock_mono() < end)
        ck_assert(!lease(&w, &l, 100 * NS_PER_MS));
    w.e->ops->stats(w.e, &stats);
    ck_assert_uint_eq(stats.failed, 1);
    ck_assert_uint_eq(counts().done, 1);
    end_worker(&w);
}

TEST(a_worker_goes_by_the_delay_that_a_host_has)
{
    struct worker w;
    struct engine_lease l;
    struct cluster_store *s;

    NEEDS_SERVER;
    begin_worker(&w, true);
    put_seed(&w, "http://a.example/1");
    put_seed(&w, "http://a.example/2");
    s = reach(false);
    ck_ok(cluster_store_set_host(s, bytes_of_str("a.example"),
                                 CLUSTER_HOST_DELAY, 300000, 0));
    ck_assert(lease(&w, &l, LONGEST));
    ck_assert_int_eq(l.pause, 300 * NS_PER_S);
    ck_ok(cluster_store_set_host(s, bytes_of_str("a.example"),
                                 CLUSTER_HOST_DELAY, -1, 0));
    done(&w, l.id, NULL); /* by what it knew */
    turn(&w, true);
    end_worker(&w);
    ck_ok(cluster_store_set_host(s, bytes_of_str("a.example"),
                                 CLUSTER_HOST_DELAY, 0, 300000));
    cluster_store_close(s);
    begin_worker(&w, false);
    ck_assert(lease(&w, &l, LONGEST));
    ck_assert_int_eq(l.pause, 0);
    end_worker(&w);
}

/* ---- robots.txt ---- */

/* Its URL is released, as its robots.txt was read instead. */
static void read_robots(struct worker *w, const struct engine_lease *l,
                        struct bytes body, int64_t fresh_ms)
{
    const struct robots_row row = {.origin = bytes_of_str("http://a.example"),
                                   .fetched_at_ms = clock_wall_ms(),
                                   .expires_at_ms = clock_wall_ms() + fresh_ms,
                                   .http_status = 200,
                                   .body = body};
    const struct engine_host_news news = {.ended = clock_mono(),
                                          .crawl_delay_ms = -1,
                                          .retry_after_ms = -1,
                                          .http_status = 200,
                                          .robots = &row};

    ck_assert(l->url.len > 0);
    ck_ok(w->e->ops->release(w->e, l->id, 0, &news, clock_mono(),
                             clock_wall_ms()));
}

/* What `w` can tell a fetcher of a robots.txt; -1: nothing. */
static int64_t fresh_for(struct worker *w, struct bytes body)
{
    struct robots_row row;
    struct buf text;
    int64_t ms = -1;

    buf_init(&text, (size_t)1 << 20);
    if (w->e->ops->robots(w->e, bytes_of_str("http://a.example"), &row,
                          &text) == STATUS_OK) {
        ck_assert(bytes_equal(row.body, body));
        ck_assert_uint_eq(row.http_status, 200);
        ms = row.expires_at_ms - clock_wall_ms();
    }
    buf_fini(&text);
    return ms;
}

TEST(a_robots_txt_that_one_has_read_the_others_know)
{
    const struct bytes body = bytes_of_str("User-agent: *\nDisallow: /x\n");
    struct worker a, b;
    struct engine_lease l;
    int64_t fresh;

    NEEDS_SERVER;
    begin_worker(&a, true);
    put_seed(&a, "http://a.example/1");
    put_seed(&a, "http://a.example/2");
    put_seed(&a, "http://a.example/3");
    ck_assert(lease(&a, &l, LONGEST));
    ck_assert(!l.robots_news);
    read_robots(&a, &l, body, 60000);
    ck_assert(lease(&a, &l, LONGEST));
    ck_assert(!l.robots_news); /* it was read here */
    done(&a, l.id, NULL);
    turn(&a, true);
    stop_worker(&a);
    begin_worker(&b, false);
    ck_assert(lease(&b, &l, LONGEST));
    ck_assert(l.robots_news);
    fresh = fresh_for(&b, body);
    ck_assert(fresh > 30000 && fresh <= 60000);
    done(&b, l.id, NULL);
    turn(&b, true);
    ck_assert(lease(&b, &l, LONGEST));
    ck_assert(!l.robots_news); /* known by now */
    end_worker(&b);
    end_worker(&a);
}

TEST(a_robots_txt_that_is_stale_is_not_passed_on)
{
    const struct bytes body = bytes_of_str("User-agent: *\nDisallow: /x\n");
    const struct timespec nap = {.tv_nsec = 200 * NS_PER_MS};
    struct worker a, b;
    struct engine_lease l;

    NEEDS_SERVER;
    begin_worker(&a, true);
    put_seed(&a, "http://a.example/1");
    ck_assert(lease(&a, &l, LONGEST));
    read_robots(&a, &l, body, 100);
    stop_worker(&a);
    nanosleep(&nap, NULL); /* stale by the server's clock */
    begin_worker(&b, false);
    ck_assert(lease(&b, &l, LONGEST));
    ck_assert(!l.robots_news);
    ck_assert_int_eq(fresh_for(&b, body), -1);
    end_worker(&b);
    end_worker(&a);
}

TEST(what_is_of_a_whole_crawl_is_refused)
{
    struct worker w;
    struct failed_retry r = {0};
    bool over;

    NEEDS_SERVER;
    begin_worker(&w, true);
    ck_assert_int_eq(w.e->ops->block(w.e, bytes_of_str(CRAWL_ID),
                                     bytes_of_str("a.example"), INT64_MAX,
                                     clock_mono(), clock_wall_ms()),
                     STATUS_REFUSED);
    ck_assert_int_eq(w.e->ops->retry_failed(w.e, &r, 10, clock_mono(),
                                            clock_wall_ms(), &over),
                     STATUS_REFUSED);
    end_worker(&w);
}
