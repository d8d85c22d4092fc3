/* SPDX-License-Identifier: MIT */
/* test_cluster_permits.c - how many pages a crawl may still fetch. */
#include "frontier/cluster_store/cluster_permits.h"
#include "frontier/cluster_store/cluster_watch.h"
#include "tests/unit/frontier/cluster_store/cluster_rig.h"

#define A "00000000000000aa"
#define B "00000000000000bb"

struct answer {
    bool ended;
    enum status st;
    struct cluster_permits p;
};

static void note(void *ctx, enum status st, const struct cluster_permits *p)
{
    *(struct answer *)ctx = (struct answer){true, st, *p};
}

/* Asks twice, as a call that is repeated is to change nothing. */
static struct cluster_permits ask(struct cluster_store *s, const char *name,
                                  uint64_t used, uint64_t want, uint64_t limit)
{
    struct answer a = {false};

    for (int i = 0; i < 2; i++) {
        a.ended = false;
        cluster_store_ask_permits(s, name, used, want, limit, note, &a);
        while (!a.ended)
            cluster_store_turn(s, NS_PER_S);
        ck_ok(a.st);
    }
    return a.p;
}

static void note_told(void *ctx, enum status st, const struct cluster_wanted *w)
{
    (void)w;
    ck_ok(st);
    *(bool *)ctx = true;
}

static void live(struct cluster_store *s, const char *name)
{
    bool ended = false;

    cluster_store_tell(s, name, bytes_of_str("{}"), note_told, &ended);
    while (!ended)
        cluster_store_turn(s, NS_PER_S);
}

static uint64_t pages(struct cluster_store *s)
{
    uint64_t n = 0;

    ck_ok(cluster_store_get_pages(s, &n));
    return n;
}

FIXTURE(rig_begin, rig_end);

TEST(what_is_used_and_held_is_never_more_than_the_limit)
{
    struct cluster_store *s;

    NEEDS_SERVER;
    s = rig_create(4);
    live(s, A);
    live(s, B);
    ck_assert_uint_eq(ask(s, A, 0, 6, 10).held, 6);
    ck_assert_uint_eq(ask(s, B, 0, 6, 10).held, 4);
    ck_assert_uint_eq(ask(s, A, 5, 6, 10).held, 1); /* 5 used, 4 with B */
    ck_assert_uint_eq(pages(s), 5);
    ck_assert_uint_eq(ask(s, B, 1, 0, 10).held, 0); /* gives back */
    ck_assert_uint_eq(ask(s, A, 5, 6, 10).held, 4);
    ck_assert_uint_eq(ask(s, A, 9, 3, 10).pages, 10);
    ck_assert_uint_eq(ask(s, A, 9, 3, 10).held, 0);
    ck_assert_uint_eq(ask(s, B, 1, 3, 10).held, 0);
    ck_assert_uint_eq(ask(s, B, 1, 3, 12).held, 2); /* it was raised */
    cluster_store_close(s);
}

TEST(a_worker_that_is_dead_holds_nothing)
{
    struct cluster_store *s;

    NEEDS_SERVER;
    s = rig_create(4);
    live(s, B);
    ck_assert_uint_eq(ask(s, A, 2, 8, 10).held, 8);
    ck_assert_uint_eq(ask(s, B, 0, 8, 10).held, 8); /* A is not heard */
    ck_assert_uint_eq(pages(s), 2);
    ck_assert_uint_eq(ask(s, A, 3, 8, 10).held, 0); /* it was only slow */
    ck_assert_uint_eq(pages(s), 3);
    cluster_store_close(s);
}

TEST(without_a_limit_pages_are_counted_and_a_moved_crawl_has_some)
{
    struct cluster_store *s;

    NEEDS_SERVER;
    s = rig_create(4);
    ck_assert_uint_eq(pages(s), 0);
    ck_ok(cluster_store_set_pages(s, 40));
    ck_assert_uint_eq(ask(s, A, 3, 0, 0).held, 0);
    ck_assert_uint_eq(ask(s, A, 2, 0, 0).pages, 43); /* never back */
    ck_assert_uint_eq(ask(s, A, 3, 5, 45).held, 2);
    cluster_store_close(s);
}

Suite *suite_cluster_permits(void);
