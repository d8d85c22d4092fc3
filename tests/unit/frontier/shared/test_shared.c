/* SPDX-License-Identifier: MIT */
/* test_shared.c - what a shared frontier promises, one sentence a test. */
#include "tests/unit/frontier/shared/shared_rig.h"

static struct rig a, b; /* two processes */

static void setup(void)
{
    rig_begin();
    if (!has_server)
        return;
    a = rig_open(4);
    b = rig_open(4);
}

static void teardown(void)
{
    if (has_server) {
        rig_close(&a);
        rig_close(&b);
    }
    rig_end();
}

static void ck_counts(const char *key, uint64_t active, uint64_t leased,
                      uint64_t completed, uint64_t queues,
                      uint64_t active_queues)
{
    const struct url_counts c = rig_counts(&b, key);

    ck_assert_uint_eq(c.active, active);
    ck_assert_uint_eq(c.leased, leased);
    ck_assert_uint_eq(c.completed, completed);
    ck_assert_uint_eq(c.queues, queues);
    ck_assert_uint_eq(c.active_queues, active_queues);
}

TIMEOUT(120);
FIXTURE(setup, teardown);

TEST(what_one_process_puts_another_gives_out_once)
{
    struct rig_urls got;

    NEEDS_SERVER;
    ck_assert(rig_put(&a, "k", "u1", -1, "m1"));
    ck_assert(!rig_put(&b, "k", "u1", -1, "m2"));
    ck_assert(rig_put(&b, "k", "u2", -1, ""));
    got = rig_get(&b, (struct rig_get){.urls = 0});
    ck_assert_uint_eq(got.n, 2);
    ck_assert_str_eq(got.u[0].url, "u1");
    ck_assert_str_eq(got.u[0].metadata, "m1");
    ck_assert_str_eq(got.u[1].url, "u2");
    ck_counts("k", 2, 2, 0, 1, 1);
    rig_set(&a, "k", SHARED_DELAY, 0);
    ck_assert_uint_eq(rig_get(&a, (struct rig_get){.urls = 0}).n, 0);
}

TEST(urls_of_equal_dates_come_in_order_of_arrival)
{
    struct rig_urls got;
    char url[8];

    NEEDS_SERVER;
    for (int i = 0; i < 30; i++) {
        snprintf(url, sizeof url, "u%02d", i * 7 % 30);
        ck_assert(rig_put(&a, "k", url, 5000, ""));
    }
    ck_assert(rig_put(&a, "k", "first", 4000, ""));
    got = rig_get(&a, (struct rig_get){.urls = 0});
    ck_assert_uint_eq(got.n, 31);
    ck_assert_str_eq(got.u[0].url, "first");
    for (int i = 0; i < 30; i++) {
        snprintf(url, sizeof url, "u%02d", i * 7 % 30);
        ck_assert_str_eq(got.u[i + 1].url, url);
    }
}

TEST(a_known_url_is_dated_completed_and_dated_again)
{
    NEEDS_SERVER;
    ck_assert(rig_put(&a, "k", "u", 0, "m"));
    ck_counts("", 0, 0, 1, 1, 0);
    ck_assert(!rig_put(&a, "k", "u", -1, ""));
    ck_assert(rig_put(&b, "k", "u", 0, ""));
    ck_counts("k", 0, 0, 1, 1, 0);
    ck_assert(rig_put(&a, "k", "u", INT64_C(1) << 47, ""));
    ck_counts("", 1, 0, 0, 1, 1);
    ck_assert_uint_eq(rig_get(&a, (struct rig_get){.urls = 0}).n, 0);
    ck_assert(rig_put(&a, "k", "u", 1000, "now"));
    ck_assert_str_eq(rig_get(&b, (struct rig_get){.urls = 0}).u[0].metadata,
                     "now");
    ck_assert(rig_put(&a, "k", "u", 0, ""));
    ck_counts("", 0, 0, 1, 1, 0);
}

TEST(a_lease_that_is_over_gives_its_url_its_old_place)
{
    struct rig_urls got;

    NEEDS_SERVER;
    rig_put(&a, "k", "u1", -1, "");
    rig_put(&a, "k", "u2", -1, "");
    rig_set(&a, "k", SHARED_DELAY, 0);
    got = rig_get(&a, (struct rig_get){.urls = 1});
    ck_assert_uint_eq(got.n, 1);
    ck_counts("", 2, 1, 0, 1, 1);
    ck_assert_uint_eq(rig_get(&a, (struct rig_get){.urls = 1}).n, 0);
    ck_ok(shared_settle(a.h, got.u[0].lease, URL_SETTLE_EXTEND, clock_wall_ms(),
                        NULL));   /* to now: it is over at once */
    ck_counts("", 2, 0, 0, 1, 1); /* nobody had to look */
    ck_counts("k", 2, 0, 0, 1, 1);
    ck_assert_int_eq(shared_settle(a.h, got.u[0].lease, URL_SETTLE_ACK, 0,
                                   NULL),
                     STATUS_NOT_FOUND);
    got = rig_get(&b, (struct rig_get){.urls = 0});
    ck_assert_uint_eq(got.n, 2);
    ck_assert_str_eq(got.u[0].url, "u1");
}

TEST(a_lease_is_settled_once_by_any_process)
{
    const struct bytes metadata = text("done");
    struct rig_urls got;
    struct url_facts facts;
    struct rig_urls one = {.n = 0};

    NEEDS_SERVER;
    for (int i = 0; i < 3; i++)
        rig_put(&a, "k", (const char *[]){"u1", "u2", "u3"}[i], -1, "m");
    got = rig_get(&a, (struct rig_get){.urls = 0});
    ck_assert_uint_eq(got.n, 3);
    ck_ok(shared_settle(b.h, got.u[0].lease, URL_SETTLE_ACK, 0, &metadata));
    ck_assert_int_eq(shared_settle(b.h, got.u[0].lease, URL_SETTLE_ACK, 0,
                                   &metadata),
                     STATUS_NOT_FOUND);
    ck_counts("", 2, 2, 1, 1, 1);
    ck_ok(shared_settle(b.h, got.u[1].lease, URL_SETTLE_FAIL,
                        clock_wall_ms() + 500000, NULL));
    ck_counts("", 2, 1, 1, 1, 1);
    ck_ok(shared_settle(b.h, got.u[2].lease, URL_SETTLE_EXTEND,
                        clock_wall_ms() + 900000, NULL));
    ck_ok(shared_find(a.h, text("c"), text("k"), text("u3"), &facts, rig_visit,
                      &one));
    ck_assert_int_eq(facts.state, URL_STATE_LEASED);
    ck_assert_int_gt(facts.leased_until_ms, clock_wall_ms() + 700000);
    ck_assert_uint_eq(one.u[0].lease, got.u[2].lease);
    ck_assert_str_eq(one.u[0].metadata, "m");
    ck_assert_int_eq(shared_settle(b.h, UINT64_C(1) << 50, URL_SETTLE_ACK, 0,
                                   NULL),
                     STATUS_NOT_FOUND);
    ck_assert_int_eq(shared_find(a.h, text("c"), text("k"), text("none"),
                                 &facts, rig_visit, &one),
                     STATUS_NOT_FOUND);
}

TEST(queues_take_turns_over_all_shards)
{
    struct rig_urls got;
    char key[8], last[40][8];

    NEEDS_SERVER;
    ck_ok(shared_set_default_delay(a.h, 0));
    for (int i = 0; i < 40; i++) {
        snprintf(key, sizeof key, "k%d", i);
        rig_put(&a, key, "u1", -1, "");
        rig_put(&a, key, "u2", -1, "");
        rig_put(&a, key, "u3", -1, "");
    }
    for (int round = 0; round < 3; round++)
        for (int i = 0; i < 40; i += 4) {
            got = rig_get(i % 8 == 0 ? &a : &b,
                          (struct rig_get){.urls = 3, .queues = 4});
            /* all three at first */
            ck_assert_uint_eq(got.n, round == 0 ? 12 : 4);
            for (size_t u = 0; u < got.n; u++) {
                if (round == 0)
                    snprintf(last[i + (int)u / 3], 8, "%s", got.u[u].key);
                else
                    ck_assert_str_eq(got.u[u].key, last[i + (int)u]);
                rig_put(&a, got.u[u].key, got.u[u].url,
                        strcmp(got.u[u].url, "u1") == 0 ? 1000 : 0, "");
            }
        }
}

TEST(a_queue_is_served_again_after_its_delay)
{
    int64_t began;

    NEEDS_SERVER;
    rig_put(&a, "k", "u1", -1, "");
    rig_put(&a, "k", "u2", -1, "");
    rig_set(&a, "k", SHARED_DELAY, 700);
    began = clock_mono();
    ck_assert_uint_eq(rig_get(&a, (struct rig_get){.urls = 1}).n, 1);
    while (rig_get(&b, (struct rig_get){.urls = 9}).n == 0)
        usleep(5000);
    ck_assert_int_ge(clock_mono() - began, 690 * NS_PER_MS);
}

TEST(blocks_and_limits_hold_for_all_processes)
{
    NEEDS_SERVER;
    rig_put(&a, "k", "u1", -1, "");
    rig_put(&a, "k", "done", 0, "");
    rig_set(&a, "k", SHARED_BLOCKED, clock_wall_ms() + 500000);
    ck_assert_uint_eq(rig_get(&b, (struct rig_get){.urls = 1}).n, 0);
    ck_assert_uint_eq(rig_get(&b, (struct rig_get){.key = "k"}).n, 0);
    rig_set(&b, "k", SHARED_BLOCKED, 0);
    rig_set(&b, "k", SHARED_LIMIT, 1);
    ck_assert_uint_eq(rig_get(&a, (struct rig_get){.urls = 1}).n, 0);
    rig_set(&b, "k", SHARED_LIMIT, 0);
    ck_ok(shared_set_active(a.h, false));
    ck_assert_uint_eq(rig_get(&b, (struct rig_get){.urls = 1}).n, 0);
    ck_ok(shared_set_active(b.h, true));
    ck_assert_uint_eq(rig_get(&a, (struct rig_get){.urls = 1}).n, 1);
    ck_assert_int_eq(shared_set(a.h, text("c"), text("none"), SHARED_LIMIT, 1),
                     STATUS_NOT_FOUND);
    ck_counts("none", 0, 0, 0, 0, 0);
}

TEST(a_get_in_parts_gives_each_url_once)
{
    static bool seen[3000];
    struct url_put *list = calloc(3000, sizeof *list);
    char(*urls)[8] = calloc(3000, sizeof *urls);
    static const char *const keys[] = {"a", "b", "c", "d", "e", "f"};
    struct url_ask ask = {.crawl = text("c"), .lease_ms = 600000};
    bool more = true;
    size_t n = 0;

    NEEDS_SERVER;
    for (int i = 0; i < 3000; i++) {
        snprintf(urls[i], 8, "%d", i);
        list[i] = (struct url_put){.crawl = text("c"),
                                   .key = text(keys[i % 6]),
                                   .url = text(urls[i])};
    }
    shared_put(a.h, list, 3000);
    ck_counts("", 3000, 0, 0, 6, 6);
    for (int part = 0; more; part++) {
        struct rig_urls to = {.n = 0};
        struct rig *r = part % 2 == 0 ? &a : &b;

        r = &a; /* parts of one GET stay in their process */
        ck_ok(shared_get(r->h, &ask, 170, 1 << 20, rig_visit, &to, &more));
        ck_assert_uint_le(to.n, 170);
        for (size_t i = 0; i < to.n; i++) {
            ck_assert(!seen[atoi(to.u[i].url)]);
            seen[atoi(to.u[i].url)] = true;
        }
        n += to.n;
    }
    ck_assert_uint_eq(n, 3000);
    free(list);
    free(urls);
}

/* Lists in parts of a few URLs. */
static size_t list_all(const char *key, uint64_t skip, uint64_t most,
                       struct rig_urls *to)
{
    struct url_list l = {.crawl = text("c"),
                         .key = text(key),
                         .skip = skip,
                         .most = most,
                         .budget = 7};
    bool more;

    to->n = 0;
    do {
        ck_ok(shared_list(b.h, &l, rig_visit, to, &more));
    } while (more);
    return to->n;
}

static void count_key(void *ctx, struct bytes key)
{
    (void)key;
    ++*(size_t *)ctx;
}

TEST(lists_have_each_url_and_queue_once)
{
    static struct rig_urls got;
    struct url_list count = {.crawl = text("c"),
                             .filtered = true,
                             .filter = text("9"),
                             .budget = 1000};
    char key[8], url[8];
    size_t n = 0;
    bool more;

    NEEDS_SERVER;
    for (int i = 0; i < 300; i++) {
        snprintf(key, sizeof key, "k%d", i % 11);
        snprintf(url, sizeof url, "%d", i);
        rig_put(&a, key, url, i % 3 == 0 ? 0 : -1, "");
    }
    ck_assert_uint_eq(list_all("", 0, 1000, &got), 300);
    for (int i = 0; i < 300; i++) {
        size_t at = 0;

        snprintf(url, sizeof url, "%d", i);
        while (at < 300 && strcmp(got.u[at].url, url) != 0)
            at++;
        ck_assert_uint_lt(at, 300);
        ck_assert_int_eq(got.u[at].due_ms == 0, i % 3 == 0);
    }
    ck_assert_uint_eq(list_all("k3", 0, 1000, &got), 27);
    ck_assert_uint_eq(list_all("", 290, 1000, &got), 10);
    ck_assert_uint_eq(list_all("", 0, 13, &got), 13);
    ck_assert_uint_eq(list_all("none", 0, 13, &got), 0);
    ck_ok(shared_list(a.h, &count, NULL, NULL, &more));
    ck_assert_uint_eq(count.passed, 57);
    rig_set(&a, "k1", SHARED_BLOCKED, clock_wall_ms() + 500000);
    ck_ok(shared_each_queue(a.h, text("c"), false, 0, 100, count_key, &n));
    ck_assert_uint_eq(n, 10);
    n = 0;
    ck_ok(shared_each_queue(a.h, text("c"), true, 4, 100, count_key, &n));
    ck_assert_uint_eq(n, 7);
}

TEST(what_is_removed_is_new_again)
{
    struct rig_urls got;
    const struct bytes *names;
    uint64_t gone;
    char key[8];
    size_t n;

    NEEDS_SERVER;
    for (int i = 0; i < 100; i++) {
        snprintf(key, sizeof key, "k%d", i);
        rig_put(&a, key, "u1", -1, "");
        rig_put(&a, key, "u2", 0, "");
    }
    got = rig_get(&a, (struct rig_get){.urls = 1, .queues = 50});
    ck_assert_uint_eq(got.n, 50);
    ck_ok(shared_remove_queue(b.h, text("c"), text(got.u[0].key), &gone));
    ck_assert_uint_eq(gone, 2);
    ck_counts("", 99, 49, 99, 99, 99);
    ck_assert_int_eq(shared_settle(a.h, got.u[0].lease, URL_SETTLE_ACK, 0,
                                   NULL),
                     STATUS_NOT_FOUND);
    ck_assert(rig_put(&a, got.u[0].key, "u1", -1, ""));
    ck_ok(shared_purge(a.h, text("c"), text(""), clock_wall_ms() - 1, &gone));
    ck_assert_uint_ge(gone, 198);
    ck_ok(shared_remove_crawl(b.h, text("c"), &gone));
    ck_counts("", 0, 0, 0, 0, 0);
    ck_ok(shared_crawls(a.h, &names, &n));
    ck_assert_uint_eq(n, 0);
}

/* The second run of a call whose first reply was lost. */
TEST(a_repeated_call_has_no_effect_and_the_same_answer)
{
    struct rig_urls got;
    uint64_t gone;

    NEEDS_SERVER;
    ck_assert(rig_put(&a, "k", "u", -1, ""));
    a.h->calls--;
    ck_assert(rig_put(&a, "k", "u", -1, ""));
    ck_counts("", 1, 0, 0, 1, 1);
    got = rig_get(&a, (struct rig_get){.urls = 0});
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(shared_settle(a.h, got.u[0].lease, URL_SETTLE_FAIL,
                                       1000, NULL),
                         i == 0 ? STATUS_OK : STATUS_NOT_FOUND);
    }
    rig_put(&a, "k", "v", 0, "");
    ck_assert(rig_put(&b, "k", "v", 1000, "")); /* another process's, since */
    a.h->calls--;
    rig_put(&a, "k", "v", 0, "");
    ck_counts("", 2, 0, 0, 1, 1);
    for (int i = 0; i < 2; i++) {
        ck_ok(shared_remove_queue(a.h, text("c"), text("k"), &gone));
        ck_assert_uint_eq(gone, 2);
        a.h->calls--;
    }
}

TEST(a_crawls_name_is_refused)
{
    struct redis_address at;
    struct shared_options o = {.servers = &at, .server_count = 1};
    struct shared *s;
    struct buf error;

    NEEDS_SERVER;
    at = redis_server_place(&server, "").at;
    buf_init(&error, 4096);
    o.name = "a b";
    ck_assert_int_eq(shared_open(&s, &o, &error), STATUS_ARG);
    o.name = "crawl";
    (void)redis_server_do(&server, "HSET {crawl} format 1 shards 4");
    ck_assert_int_eq(shared_open(&s, &o, &error), STATUS_ARG);
    ck_assert_ptr_nonnull(strstr(buf_str(&error), "crawl's name"));
    buf_fini(&error);
}
