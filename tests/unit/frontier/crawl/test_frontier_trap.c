/* SPDX-License-Identifier: MIT */
/* test_frontier_trap.c - a crawl of a site with a calendar without end. */
#include "tests/unit/frontier/crawl/judge_rig.h"

#define THRESHOLD 10

static void begin(struct rig *r, enum trap_policy policy)
{
    judge_init(r);
    scratch_quiet();
    r->o.traps.policy = policy;
    r->o.traps.threshold[TRAP_COUNTER] = THRESHOLD;
    rig_create(r);
}

/* A page with a text of its own, or with that of all months. */
static void read_page(struct rig *r, uint64_t id, bool of_month,
                      const struct url_item *found, size_t n)
{
    const struct trap_text text = {.tag = (of_month ? 7 : 1000 + id) << 32};
    struct url_done d = {
        .id = id,
        .outcome = judge_fetched,
        .row = {.at_ms = RIG_WALL, .body_digest = {id, 1}},
        .text = &text,
        .outlinks = found,
        .outlink_count = n,
        .host = {.ended = r->now, .retry_after_ms = -1},
    };

    ck_assert_uint_ne(id, 0);
    ck_ok(frontier_ack(r->e, &d, 1, r->now, RIG_WALL));
}

static struct url_item month(struct rig *r, unsigned n)
{
    static char texts[1000][40];

    snprintf(texts[n], sizeof texts[n], "http://a.test/cal?m=%u", n);
    return rig_item(r, texts[n]);
}

/* Reads a page that links to two months, and as many months, each of which
 * links to two others, as make a trap. */
static void find_trap(struct rig *r)
{
    struct url_item two[2];

    rig_seed(r, "http://a.test/");
    for (unsigned i = 0; i <= THRESHOLD + 1; i++) {
        ck_assert_uint_eq(rig_counter(r, "traps"), 0);
        two[0] = month(r, 2 * i);
        two[1] = month(r, 2 * i + 1);
        read_page(r, rig_lease(r), i > 0, two, 2);
    }
    ck_assert_uint_eq(rig_counter(r, "traps"), 1);
}

TEST(what_is_queued_of_a_trap_is_skipped_when_its_turn_comes)
{
    uint64_t left;
    struct rig r;

    begin(&r, TRAPS_SKIP);
    find_trap(&r);
    left = rig_stats(&r).queued;
    ck_assert_uint_ge(left, THRESHOLD);
    ck_assert_uint_eq(rig_lease(&r), 0);
    rig_commit(&r);
    ck_assert_uint_eq(rig_stats(&r).queued, 0);
    ck_assert_uint_eq(rig_stats(&r).skipped, left);
    ck_assert_uint_eq(rig_counter(&r, "seeds_failed"), 0); /* none is a seed */
    ck_assert_uint_eq(rig_stats(&r).drops_kept, left);
    ck_assert_uint_eq(rig_counter(&r, "trap.counter"), left);
    judge_fini(&r);
}

/* Seeds, and what lists of URLs name, are what a person wants. */
TEST(new_links_into_a_trap_are_dropped_and_what_a_person_wants_is_not)
{
    struct url_item links[3];
    struct rig r;
    uint64_t id;

    begin(&r, TRAPS_SKIP);
    find_trap(&r);
    (void)rig_lease(&r); /* skips those that are left */
    rig_seed(&r, "http://a.test/other");
    links[0] = month(&r, 500);
    links[1] = month(&r, 501);
    links[1].kind = LINK_SITEMAP;
    links[2] = rig_item(&r, "http://a.test/another");
    read_page(&r, rig_lease(&r), false, links, 3);
    ck_assert_uint_eq(rig_counter(&r, "dropped.trap"), 1);
    ck_assert_uint_eq(rig_stats(&r).dropped, 1);
    id = rig_lease(&r);
    (void)judge_page(&r, "http://a.test/cal?m=600", NULL, 0);
    ck_assert_uint_ne(id, 0);
    ck_assert_uint_eq(rig_stats(&r).queued, 2);
    judge_fini(&r);
}

TEST(what_a_trap_kept_out_comes_back_without_traps)
{
    struct url_item link;
    uint64_t kept;
    struct rig r;

    begin(&r, TRAPS_SKIP);
    find_trap(&r);
    (void)rig_lease(&r);
    rig_seed(&r, "http://a.test/other");
    link = month(&r, 500);
    read_page(&r, rig_lease(&r), false, &link, 1);
    rig_commit(&r);
    kept = rig_stats(&r).drops_kept;
    judge_again(&r, BIT(REASON_TRAP)); /* it is still one */
    judge_all(&r);
    ck_assert_uint_eq(rig_stats(&r).drops_kept, kept);
    ck_assert_uint_eq(rig_stats(&r).queued, 0);
    rig_stop(&r);
    r.o.traps.policy = TRAPS_OFF;
    rig_reopen(&r);
    judge_again(&r, BIT(REASON_TRAP));
    judge_all(&r);
    ck_assert_uint_eq(rig_stats(&r).drops_kept, 0);
    ck_assert_uint_eq(rig_stats(&r).skipped, 0);
    ck_assert_uint_eq(rig_stats(&r).queued, kept);
    (void)judge_newest(&r, "http://a.test/cal?m=500");
    judge_fini(&r);
}
