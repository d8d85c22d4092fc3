/* SPDX-License-Identifier: MIT */
/*
 * test_frontier_order.c - which URL of a host goes first.
 */
#include "frontier/order.h"
#include "tests/unit/frontier/frontier_rig.h"

static struct order *make(enum order_mode mode, const char *boost)
{
    const struct order_options o = {mode, &boost, boost != NULL, NULL, 0};
    struct order *made = NULL;
    struct buf why;

    buf_init(&why, 1024);
    ck_ok(order_new(&made, &o, &why));
    buf_fini(&why);
    return made;
}

static void begin(struct rig *r, struct order *order)
{
    rig_init(r);
    r->o.order = order;
    r->o.conns_per_host = 1;
    r->o.tries = 2;
    rig_create(r);
}

/* Leases the next URL of the one host, which must end so. */
static uint64_t expect(struct rig *r, const char *end)
{
    uint64_t id = rig_lease(r);
    struct bytes url = frontier_leased_url(r->e, id);
    size_t len = strlen(end);

    ck_assert_msg(url.len >= len &&
                      memcmp(url.at + url.len - len, end, len) == 0,
                  "%.*s is not the one that ends with %s", (int)url.len, url.at,
                  end);
    return id;
}

static void fetch(struct rig *r, const char *end, const struct url_item *found,
                  size_t n)
{
    rig_ack(r, expect(r, end),
            (struct outcome){OUTCOME_FETCHED, REASON_NONE, 200}, found, n);
}

/* Long enough to give no points; depth 2. */
#define PAGE(name) "http://a.test/pages/of/a/site/" name

static struct url_item page(struct rig *r, const char *url)
{
    struct url_item item = rig_item(r, url);

    item.depth = 2;
    return item;
}

/* The host's page 0 links to one, two and three; three again from page 1. */
static void link_to_three(struct rig *r)
{
    struct url_item found[3];

    rig_seed(r, "http://a.test/0");
    rig_seed(r, "http://a.test/1");
    found[0] = page(r, PAGE("one"));
    found[1] = page(r, PAGE("two"));
    found[2] = page(r, PAGE("three"));
    fetch(r, "/0", found, 3);
    fetch(r, "/1", found + 2, 1);
    rig_turn(r);
}

TIMEOUT(120);

TEST(what_was_raised_goes_first_after_a_kill_too)
{
    struct order *o = make(ORDER_BEST, NULL);
    struct rig r;

    begin(&r, o);
    link_to_three(&r);
    (void)expect(&r, "/three"); /* and it is never reported */
    rig_crash(&r);
    fetch(&r, "/three", NULL, 0);
    rig_turn(&r);
    rig_crash(&r);
    fetch(&r, "/one", NULL, 0);
    fetch(&r, "/two", NULL, 0);
    rig_fini(&r);
    order_free(o);
}

TEST(in_links_add_up_over_a_restart)
{
    struct order *o = make(ORDER_BEST, NULL);
    struct url_item found[2];
    struct rig r;
    uint8_t class_ = 0;
    uint32_t links = 0;

    begin(&r, o);
    link_to_three(&r);
    rig_crash(&r);
    found[0] = page(&r, PAGE("three"));
    for (int i = 0; i < 2; i++) { /* of a put, which counts as a link does */
        ck_assert_int_eq(rig_put(&r, found[0]), PUT_SEEN);
        rig_turn(&r);
    }
    ck_ok(early_store_get(r.e->base->db, 1, 5, &class_, &links));
    ck_assert_uint_eq(links, 4); /* two before, two now */
    ck_assert_uint_eq(class_, ORDER_IN_TURN + 2);
    rig_fini(&r);
    order_free(o);
}

TEST(what_scores_below_0_waits_until_the_host_has_no_other)
{
    struct order *o = make(ORDER_BEST, "/old/=-5");
    struct url_item found[4];
    struct rig r;

    begin(&r, o);
    rig_seed(&r, "http://a.test/0");
    found[0] = page(&r, PAGE("old/x"));
    found[1] = page(&r, PAGE("one"));
    found[2] = page(&r, PAGE("old/y"));
    found[3] = page(&r, PAGE("two"));
    fetch(&r, "/0", found, 3);
    fetch(&r, "/one", NULL, 0);
    fetch(&r, "/old/x", found + 3, 1);
    fetch(&r, "/two", NULL, 0);
    rig_turn(&r);
    rig_crash(&r);
    fetch(&r, "/old/y", NULL, 0);
    ck_assert_uint_eq(rig_stats(&r).queued, 0);
    rig_stop(&r);
    rig_verify(&r);
    rig_fini(&r);
    order_free(o);
}

TEST(depth_first_follows_a_path_to_its_end)
{
    struct order *o = make(ORDER_DEPTH, NULL);
    struct url_item found[2];
    struct rig r;

    begin(&r, o);
    rig_seed(&r, "http://a.test/0");
    found[0] = page(&r, PAGE("a"));
    found[1] = page(&r, PAGE("b"));
    fetch(&r, "/0", found, 2);
    found[0] = page(&r, PAGE("a/a"));
    found[0].depth = 3;
    fetch(&r, "/a", found, 1);
    fetch(&r, "/a/a", NULL, 0);
    fetch(&r, "/b", NULL, 0);
    rig_fini(&r);
    order_free(o);
}

TEST(a_changed_order_applies_to_what_is_queued)
{
    struct order *best = make(ORDER_BEST, NULL);
    struct order *boosted = make(ORDER_BEST, "/two$=3");
    struct order *breadth = make(ORDER_BREADTH, NULL);
    struct rig r;

    begin(&r, NULL);
    link_to_three(&r);
    ck_ok(frontier_set_order(r.e, boosted));
    ck_assert_int_eq(frontier_next_due(r.e, r.now, NULL), r.now);
    rig_turn(&r);
    r.o.order = boosted;
    rig_crash(&r);
    rig_ack(&r, expect(&r, "/two"),
            (struct outcome){OUTCOME_REDIRECT, REASON_NONE, 301}, NULL, 0);
    rig_turn(&r);
    r.o.order = best; /* as a resume sets it */
    rig_crash(&r);
    rig_turn(&r);
    ck_assert_int_eq(rig_put(&r, page(&r, PAGE("three"))), PUT_SEEN);
    ck_assert_int_eq(rig_put(&r, page(&r, PAGE("three"))), PUT_SEEN);
    ck_ok(frontier_set_order(r.e, breadth));
    rig_turn(&r);
    fetch(&r, "/one", NULL, 0);
    ck_ok(frontier_set_order(r.e, best));
    fetch(&r, "/three", NULL, 0);
    ck_assert_uint_eq(rig_stats(&r).queued, 0);
    rig_fini(&r);
    order_free(best);
    order_free(boosted);
    order_free(breadth);
}
