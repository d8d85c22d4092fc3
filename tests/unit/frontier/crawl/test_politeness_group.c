/* SPDX-License-Identifier: MIT */
/*
 * test_politeness_group.c - politeness by address or domain: hosts that share
 * one are asked as if they were one host, and remain separate hosts in every
 * other respect.
 *
 * The program that runs the crawl looks names up; here that is a table, and a
 * host's number gives its address: h0, h3, h6 ... are at 192.0.2.0 and so on.
 */
/* Promise (Politeness): hosts of one address, with --queue-key ip, or of one
 * domain are asked one at a time, with the delay between, also after kills and
 * restarts; a dead one stops no other. See also `make sim`, `resolver`,
 * `ip`. */
#include "frontier/crawl/frontier_impl.h"

#include "tests/unit/frontier/frontier_rig.h"

#define DELAY     (100 * NS_PER_MS)
#define ADDRESSES 3

static void start_grouped(struct rig *r, enum queue_key_mode group)
{
    rig_init(r);
    r->o.group = group;
    r->o.conns_per_host = 1;
    r->o.schedule.delay = DELAY;
    r->o.schedule.max_crawl_delay = 60 * NS_PER_S;
    rig_create(r);
}

static void start(struct rig *r)
{
    start_grouped(r, QUEUE_KEY_IP);
}

static struct ip address(unsigned n)
{
    const unsigned char octets[4] = {192, 0, 2, (unsigned char)n};
    struct ip ip;

    ck_assert(ip_of_octets(&ip, octets, sizeof octets));
    return ip;
}

/* h<N>.test is at 192.0.2.(N mod ADDRESSES); from 900 on, names have no
 * address. */
static unsigned number_of(struct bytes host)
{
    return (unsigned)strtoul(host.at + 1, NULL, 10);
}

/* Answers the pending lookups; returns how many there were. */
static unsigned place_all(struct rig *r)
{
    struct bytes host;
    unsigned asked = 0;
    uint32_t queue;

    while ((queue = frontier_next_unplaced(r->e, &host)) != 0) {
        unsigned n = number_of(host);
        struct ip ip = address(n % ADDRESSES);

        ck_ok(frontier_place(r->e, queue, n < 900 ? &ip : NULL, r->now));
        asked++;
    }
    return asked;
}

/* Leases what is due now, at most 64, and looks up addresses on the way. */
static size_t lease(struct rig *r, struct url_lease *out)
{
    size_t n = 0, more;

    do {
        ck_ok(frontier_lease(r->e, 64 - n, r->now, RIG_WALL, out + n, &more));
        n += more;
    } while (place_all(r) > 0);
    return n;
}

static struct url_done answer(struct rig *r, uint64_t id)
{
    return (struct url_done){
        .id = id,
        .outcome = {OUTCOME_FETCHED, REASON_NONE, 200},
        .row = {.at_ms = RIG_WALL},
        .host = {.ended = r->now, .retry_after_ms = -1},
    };
}

static void ack(struct rig *r, struct url_done *d)
{
    ck_ok(frontier_ack(r->e, d, 1, r->now, RIG_WALL));
}

static void ack_page(struct rig *r, uint64_t id)
{
    struct url_done d = answer(r, id);

    ack(r, &d);
}

static void put(struct rig *r, const char *url)
{
    ck_assert_int_eq(rig_put(r, rig_item(r, url)), PUT_NEW);
}

TEST(a_retry_after_holds_for_all_hosts_of_an_address)
{
    struct url_lease l[64];
    struct url_done d;
    struct rig r;

    start(&r);
    put(&r, "http://h0.test/");
    put(&r, "http://h3.test/");
    ck_assert_uint_eq(lease(&r, l), 1);
    d = answer(&r, l[0].id);
    d.outcome = (struct outcome){OUTCOME_FAILED, REASON_HTTP, 503};
    d.transient = true;
    d.host.retry_after_ms = 10000;
    ack(&r, &d);
    r.now += 9 * NS_PER_S;
    ck_assert_uint_eq(lease(&r, l), 0);
    r.now += NS_PER_S;
    ck_assert_uint_eq(lease(&r, l), 1);
    rig_fini(&r);
}

TEST(a_literal_address_is_looked_up_nowhere)
{
    struct url_lease l[64];
    struct bytes host;
    struct rig r;
    size_t n;

    start(&r);
    put(&r, "http://192.0.2.1/");
    put(&r, "http://[::ffff:c000:201]/");
    put(&r, "http://h1.test/");
    ck_ok(frontier_lease(r.e, 64, r.now, RIG_WALL, l, &n));
    ck_assert_uint_eq(n, 1); /* all three are one group */
    ck_assert_uint_ne(frontier_next_unplaced(r.e, &host), 0);
    ck_assert(bytes_is(host, "h1.test"));
    ck_assert_uint_eq(frontier_next_unplaced(r.e, &host), 0);
    rig_fini(&r);
}

TEST(a_place_is_remembered_and_looked_up_once)
{
    struct url_lease l[64];
    struct bytes host;
    struct rig r;
    size_t n;

    start(&r);
    put(&r, "http://h0.test/1");
    put(&r, "http://h0.test/2");
    ck_assert_uint_eq(lease(&r, l), 1);
    ack_page(&r, l[0].id);
    rig_commit(&r);
    rig_reopen(&r);
    r.now += NS_PER_S;
    ck_ok(frontier_lease(r.e, 64, r.now, RIG_WALL, l, &n));
    ck_assert_uint_eq(n, 1);
    ck_assert_uint_eq(frontier_next_unplaced(r.e, &host), 0);
    rig_fini(&r);
}

TEST(as_many_hosts_are_looked_up_at_once_as_urls_may_be_in_flight)
{
    struct url_lease l[64];
    char url[64];
    struct bytes host;
    unsigned asked = 0;
    struct rig r;
    size_t n;

    start(&r);
    for (unsigned i = 0; i < 200; i++) {
        snprintf(url, sizeof url, "http://h%u.test/", i);
        put(&r, url);
    }
    for (int i = 0; i < 3; i++)
        ck_ok(frontier_lease(r.e, 64, r.now, RIG_WALL, l, &n));
    while (frontier_next_unplaced(r.e, &host) != 0)
        asked++;
    ck_assert_uint_eq(asked, r.o.in_flight);
    ck_assert_int_eq(frontier_next_due(r.e, r.now, NULL), INT64_MAX);
    rig_fini(&r);
}
