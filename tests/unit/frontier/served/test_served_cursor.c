/* SPDX-License-Identifier: MIT */
/*
 * test_served_cursor.c - a list or a get that is cut anywhere continues where
 * it stopped: its slices together equal one call.
 */
#include "frontier/served/served.h"
#include "tests/unit/frontier/frontier_rig.h"
#include "tests/unit/frontier/served/served_check.h"

#define NOW    RIG_WALL
#define QUEUES 3
#define URLS   5 /* per queue */
#define ALL    (QUEUES * URLS)

static const struct served_options options = {.fpr = 0.01,
                                              .memory = (uint64_t)64 << 20};

struct shelf {
    struct scratch at;
    struct served *t;
    unsigned got[4 * ALL]; /* 10 * queue + URL */
    size_t n, stop_every;  /* 0: never */
};

static const char *const keys[QUEUES] = {"a.test", "b.test", "c.test"};

/* URL u of queue q is due from NOW + u on. */
static void make(struct shelf *s)
{
    *s = (struct shelf){.at = scratch_make()};
    ck_ok(served_open(&s->t, s->at.dir, &options, NOW));
    ck_ok(served_set_default_delay(s->t, 0, NOW));
    for (unsigned u = 0; u < URLS; u++) {
        for (unsigned q = 0; q < QUEUES; q++) {
            char text[32];
            struct url_put put = {.crawl = bytes_of_str("c"),
                                  .key = bytes_of_str(keys[q])};

            snprintf(text, sizeof text, "http://%s/%u", keys[q], u);
            put.url = bytes_of_str(text);
            ck_ok(served_put(s->t, &put, 1, NOW + u));
        }
    }
    ck_ok(served_commit(s->t));
}

static void done(struct shelf *s)
{
    served_close(s->t);
    scratch_remove(&s->at);
}

static bool take(void *ctx, const struct url_view *v)
{
    struct shelf *s = ctx;

    SAME(s->n < 4 * ALL, true);
    s->got[s->n++] = 10 * (unsigned)(v->key.at[0] - 'a') +
                     (unsigned)(v->url.at[v->url.len - 1] - '0');
    return s->stop_every == 0 || s->n % s->stop_every != 0;
}

static void is_what(const struct shelf *s, const unsigned *want, size_t n)
{
    ck_assert_uint_eq(s->n, n);
    for (size_t i = 0; i < n; i++)
        ck_assert_msg(s->got[i] == want[i], "%zu: %02u, not %02u", i, s->got[i],
                      want[i]);
}

/* ---- lists ---- */

static void list_on(struct shelf *s, struct url_list *l)
{
    bool more = true;

    for (int calls = 0; more; calls++) {
        ck_assert_int_lt(calls, 10 * ALL);
        ck_ok(served_list(s->t, l, NOW + 9, take, s, &more));
    }
}

/* The entry at the cursor is removed, and some before and after it. */
TEST(a_list_whose_place_was_removed_goes_on_behind_it)
{
    static const unsigned want[] = {0,  1,  2,  3,  4,  10, 11,
                                    13, 14, 20, 21, 22, 23, 24};
    struct url_list l = {.crawl = bytes_of_str("c"), .budget = 7};
    struct shelf s;
    uint64_t gone = 0;
    bool more;

    make(&s);
    ck_ok(served_list(s.t, &l, NOW + 9, take, &s, &more));
    ck_assert(more);
    ck_assert_uint_eq(s.n, 7); /* up to 11 */
    ck_ok(served_purge(s.t, bytes_of_str("c"), bytes_of_str("b.test"), NOW + 3,
                       NOW + 9, &gone));
    ck_assert_uint_eq(gone, 3);
    l.budget = 2;
    list_on(&s, &l);
    is_what(&s, want, sizeof want / sizeof *want);
    done(&s);
}

/* ---- gets ---- */

static void get_on(struct shelf *s, struct url_ask *g)
{
    bool more = true;

    for (int calls = 0; more; calls++) {
        ck_assert_int_lt(calls, 10 * ALL);
        ck_ok(served_get(s->t, g, NOW + 9, take, s, &more));
    }
}

/* A block that ends at this moment is none. */
TEST(a_get_whose_queue_was_blocked_goes_on_with_the_next)
{
    static const unsigned want[] = {0,  1,  10, 11, 12, 13,
                                    14, 20, 21, 22, 23, 24};

    for (int64_t until = NOW + 9; until <= NOW + 10; until++) {
        struct url_ask g = {.any_crawl = true, .lease_ms = 1000};
        struct shelf s;
        bool more;

        make(&s);
        s.stop_every = 2;
        ck_ok(served_get(s.t, &g, NOW + 9, take, &s, &more));
        ck_assert(more);
        ck_ok(served_block(s.t, bytes_of_str("c"), bytes_of_str("a.test"),
                           until, NOW + 9));
        get_on(&s, &g);
        if (until > NOW + 9)
            is_what(&s, want, sizeof want / sizeof *want);
        else
            ck_assert_uint_eq(s.n, ALL);
        ck_assert(served_consistent(s.t));
        done(&s);
    }
}

/* The last part of an answer counts, as after a restart, which has the rows of
 * the leases alone. */
TEST(a_queue_that_was_served_in_parts_was_served_at_the_last)
{
    struct bytes c = bytes_of_str("c"), key = bytes_of_str("a.test");
    struct bytes url = bytes_of_str("http://a.test/0");
    struct url_ask g = {.crawl = c,
                        .key = key,
                        .one_queue = true,
                        .lease_ms = 1000};
    struct url_facts facts[2];
    struct shelf s;
    bool more;

    make(&s);
    s.stop_every = 2;
    for (int64_t at = NOW + 9; at < NOW + 11; at++)
        ck_ok(served_get(s.t, &g, at, take, &s, &more));
    ck_assert_uint_eq(s.n, 4);
    for (unsigned i = 0; i < 2; i++) {
        ck_ok(served_find(s.t, c, key, url, NOW + 20, &facts[i], take, &s));
        ck_assert_int_eq(facts[i].served_ms, NOW + 10);
        ck_ok(served_commit(s.t));
        served_close(s.t);
        ck_ok(served_open(&s.t, s.at.dir, &options, NOW + 20));
    }
    done(&s);
}
