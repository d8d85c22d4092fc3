/* SPDX-License-Identifier: MIT */
/* URLs of our own crawl that other programs fetch, case by case. */
#include "tests/unit/frontier/crawl/external_rig.h"

/* ---- one at a time ---- */

TEST(queues_are_served_in_turn_within_the_limits_asked_for)
{
    struct rig r;
    struct external_url u[100];

    rig_init(&r); /* 64 at once from one host, no delay */
    rig_create(&r);
    for (int host = 0; host < 4; host++)
        for (int path = 0; path < 5; path++) {
            char url[64];

            snprintf(url, sizeof url, "http://h%d.test/%d", host, path);
            rig_seed(&r, url);
        }
    ck_assert_uint_eq(
        grant(&r, (struct external_request){.most_urls = 2, .most_queues = 3},
              u),
        6);
    ck_assert_uint_eq(u[0].lease.queue, u[1].lease.queue);
    ck_assert_uint_ne(u[1].lease.queue, u[2].lease.queue);
    ck_assert_uint_eq(grant(&r,
                            (struct external_request){.one_queue = true,
                                                      .key = bytes_of_str(
                                                          "h3.test")},
                            u),
                      5);
    ck_assert_uint_eq(grant(&r,
                            (struct external_request){.one_queue = true,
                                                      .key = bytes_of_str(
                                                          "x.test")},
                            u),
                      0);
    ck_assert_uint_eq(grant(&r, (struct external_request){.most = 4}, u), 4);
    ck_assert_uint_eq(grant(&r, (struct external_request){.most = 100}, u), 5);
    ck_assert_uint_eq(own_lease(&r), 0);
    rig_fini(&r);
}

TEST(what_a_status_says_becomes_the_outcome)
{
    static const struct {
        uint16_t http;
        const char *counter;
        uint64_t pages;
    } cases[] = {
        {0, "fetched.external", 1},   {200, "fetched.external", 1},
        {304, "fetched.external", 1}, {301, "redirect.external", 0},
        {404, "failed.http_404", 1},  {503, "failed.http_503", 1},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct rig r;

        polite(&r);
        rig_create(&r);
        rig_seed(&r, "http://a.test/1");
        say(&r, grant_one(&r).lease.id,
            (struct external_report){.final = true,
                                     .http_status = cases[i].http});
        ck_assert_uint_eq(rig_counter(&r, cases[i].counter), 1);
        ck_assert_uint_eq(rig_stats(&r).pages, cases[i].pages);
        rig_fini(&r);
    }
}

TEST(links_that_others_found_are_admitted_once_and_drops_counted)
{
    struct rig r;
    struct url_item two[2];
    const struct url_drop drop = {.reason = REASON_SCOPE,
                                  .host = bytes_of_str("x.test"),
                                  .url = bytes_of_str("http://x.test/")};
    uint64_t ids[2], id;

    polite(&r);
    rig_create(&r);
    rig_seed(&r, "http://a.test/1");
    two[0] = rig_item(&r, "http://a.test/1");
    two[1] = rig_item(&r, "http://a.test/2");
    ck_ok(external_discover(r.e, two, 2, &drop, 1, r.now, rig_wall(&r), ids));
    ck_assert_uint_eq(ids[0], 0);
    ck_assert_uint_ne(ids[1], 0);
    rig_turn(&r);
    ck_ok(frontier_identify(r.e, two[1].key, two[1].url, &id));
    ck_assert_uint_eq(id, ids[1]);
    ck_ok(frontier_identify(r.e, two[1].key, bytes_of_str("http://a/"), &id));
    ck_assert_uint_eq(id, 0);
    ck_assert_uint_eq(rig_stats(&r).links, 3);
    ck_assert_uint_eq(rig_stats(&r).duplicates, 1);
    ck_assert_uint_eq(rig_stats(&r).dropped, 1);
    ck_assert_uint_eq(rig_counter(&r, "dropped.scope"), 1);
    rig_stop(&r);
    rig_verify(&r);
    rig_fini(&r);
}

/* ---- hosts that politeness takes for one ---- */

TEST(hosts_of_one_group_are_granted_one_at_a_time)
{
    struct external_request other = {.one_queue = true,
                                     .key = bytes_of_str("b.example.com")};
    struct external_url u[4], again;
    struct rig r;

    polite(&r);
    r.o.group = QUEUE_KEY_DOMAIN;
    rig_create(&r);
    rig_seed(&r, "http://a.example.com/1");
    rig_seed(&r, "http://b.example.com/1");
    rig_seed(&r, "http://c.other.org/1");
    ck_assert_uint_eq(grant(&r, (struct external_request){.most = 4}, u), 2);
    ck_assert_uint_eq(u[0].lease.queue, 1);
    ck_assert_uint_eq(u[1].lease.queue, 3);
    ck_assert_uint_eq(grant(&r, other, &again), 0); /* its group is busy */
    ck_assert_uint_eq(own_lease(&r), 0);
    r.now += 5 * NS_PER_S;
    ck_assert_int_eq(done(&r, u[0].lease.id), EXTERNAL_SETTLED);
    ck_assert_uint_eq(grant(&r, other, &again), 0); /* the delay runs */
    r.now += NS_PER_S - 1;
    ck_assert_uint_eq(grant(&r, other, &again), 0);
    r.now += 1;
    ck_assert_uint_eq(grant(&r, other, &again), 1);
    ck_assert_uint_eq(again.lease.queue, 2);
    rig_fini(&r);
}

/* Where groups go by address, a host is looked up first. */
TEST(a_host_without_an_address_is_granted_when_it_has_one)
{
    const struct external_request ask = {.one_queue = true,
                                         .key = bytes_of_str("b.test")};
    const unsigned char octets[4] = {192, 0, 2, 1};
    struct external_url u[4];
    struct bytes host;
    struct ip ip;
    struct rig r;

    ck_assert(ip_of_octets(&ip, octets, sizeof octets));
    polite(&r);
    r.o.group = QUEUE_KEY_IP;
    rig_create(&r);
    rig_seed(&r, "http://a.test/1");
    rig_seed(&r, "http://b.test/1");
    ck_assert_uint_eq(grant(&r, ask, u), 0);
    ck_assert_uint_eq(frontier_next_unplaced(r.e, &host), 2);
    ck_assert(bytes_equal(host, bytes_of_str("b.test")));
    ck_assert_uint_eq(grant(&r, ask, u), 0); /* it is being looked up */
    ck_assert_uint_eq(frontier_next_unplaced(r.e, &host), 0);
    ck_ok(frontier_place(r.e, 2, &ip, r.now));
    ck_assert_uint_eq(grant(&r, ask, u), 1);
    ck_assert_uint_eq(grant(&r, (struct external_request){.most = 4}, u), 0);
    ck_assert_uint_eq(frontier_next_unplaced(r.e, &host), 1);
    ck_ok(frontier_place(r.e, 1, NULL, r.now));
    ck_assert_uint_eq(grant(&r, (struct external_request){.most = 4}, u), 1);
    ck_assert_uint_eq(u[0].lease.queue, 1);
    rig_fini(&r);
}

/* ---- facts ---- */

static struct external_facts facts(struct rig *r, uint64_t id)
{
    struct external_facts f;

    external_get_facts(r->e, id, r->now, &f);
    return f;
}

static struct external_queue queue_of(struct rig *r, uint32_t queue)
{
    struct external_queue q;

    external_get_queue(r->e, queue, r->now, &q);
    return q;
}

TEST(facts_of_a_url_say_whose_it_is_and_until_when)
{
    const struct external_report later = {.due_ms = RIG_WALL + 61000};
    struct external_facts f;
    struct external_url u;
    struct rig r;

    polite(&r);
    rig_create(&r);
    rig_seed(&r, "http://a.test/1");
    rig_seed(&r, "http://b.test/1");
    f = facts(&r, 1);
    ck_assert(!f.done && !f.leased);
    ck_assert_int_eq(f.ends_in, 0);
    ck_assert_uint_eq(f.number, 0);
    ck_assert_int_eq(f.due_for, 0);
    u = grant_one(&r);
    r.now += 10 * NS_PER_S;
    f = facts(&r, u.lease.id);
    ck_assert(!f.done && f.leased);
    ck_assert_int_eq(f.ends_in, (HOLD_S - 10) * NS_PER_S);
    ck_assert_uint_eq(f.number, u.number);
    r.now += 20 * NS_PER_S; /* it has ended, and nobody has looked */
    f = facts(&r, u.lease.id);
    ck_assert_int_eq(f.ends_in, 0);
    ck_assert_uint_eq(f.number, 0);
    ck_assert_int_eq(say(&r, u.lease.id, later), EXTERNAL_SETTLED);
    f = facts(&r, u.lease.id);
    ck_assert(!f.done && !f.leased);
    ck_assert_int_eq(f.due_for, (61 - 1 - HOLD_S) * NS_PER_S);
    r.now += 60 * NS_PER_S;
    ck_assert_int_eq(facts(&r, u.lease.id).due_for, 0);
    f = facts(&r, own_lease(&r)); /* one of our own */
    ck_assert(!f.done && f.leased);
    ck_assert_uint_eq(f.number, 0);
    ck_assert_int_eq(done(&r, u.lease.id) == EXTERNAL_SETTLED ||
                         facts(&r, u.lease.id).leased,
                     true);
    rig_fini(&r);
}

TEST(facts_of_a_queue_have_its_settings_and_what_waits)
{
    struct bytes key = bytes_of_str("a.test");
    struct external_queue q;
    struct url_done d;
    struct rig r;

    polite(&r);
    r.o.schedule.max_delay = 60 * NS_PER_S;
    rig_create(&r);
    rig_seed(&r, "http://a.test/1");
    rig_seed(&r, "http://a.test/2");
    q = queue_of(&r, 1);
    ck_assert_uint_eq(q.pending, 2);
    ck_assert_uint_eq(q.leased, 0);
    ck_assert_int_eq(q.blocked_for, 0);
    ck_assert_int_eq(q.delay, NS_PER_S);
    ck_assert_uint_eq(q.limit, 0);
    q = queue_of(&r, 99); /* a queue that nothing is known of */
    ck_assert_uint_eq(q.pending, 0);
    ck_assert_int_eq(q.delay, NS_PER_S);
    (void)grant_one(&r);
    ck_assert_uint_eq(queue_of(&r, 1).leased, 1);
    ck_ok(frontier_delay(r.e, key, 5000, r.now));
    ck_assert_int_eq(queue_of(&r, 1).delay, 5 * NS_PER_S);
    ck_ok(frontier_block(r.e, key, r.now + 7 * NS_PER_S, r.now, rig_wall(&r)));
    ck_assert_int_eq(queue_of(&r, 1).blocked_for, 7 * NS_PER_S);
    r.now += 7 * NS_PER_S;
    ck_assert_int_eq(queue_of(&r, 1).blocked_for, 0);
    ck_ok(frontier_limit_queue(r.e, 1, 9, 0, r.now));
    ck_assert_uint_eq(queue_of(&r, 1).limit, 9);
    r.now += 60 * NS_PER_S;
    rig_turn(&r);
    r.now += 60 * NS_PER_S;
    d = (struct url_done){.id = own_lease(&r),
                          .outcome = fetched,
                          .host = {.ended = r.now,
                                   .robots_read = true,
                                   .crawl_delay_ms = 8000,
                                   .retry_after_ms = -1}};
    ck_assert_uint_ne(d.id, 0);
    ck_ok(frontier_ack(r.e, &d, 1, r.now, rig_wall(&r)));
    ck_assert_int_eq(queue_of(&r, 1).delay, 8 * NS_PER_S); /* the longer one */
    ck_assert_uint_eq(queue_of(&r, 1).pending, 1);
    rig_fini(&r);
}

/* Another URL that took its digest is not it: the next digest is tried. */
TEST(a_url_whose_digest_another_one_took_is_identified)
{
    struct bytes a = bytes_of_str("a.test");
    struct bytes url = bytes_of_str("http://a.test/1");
    struct url_item forged;
    struct rig r;
    uint64_t id = 9;

    polite(&r);
    r.o.compare_text = true;
    rig_create(&r);
    forged = rig_item(&r, "http://a.test/other");
    forged.digest = rig_item(&r, "http://a.test/1").digest;
    ck_assert_int_eq(rig_put(&r, forged), PUT_NEW);
    ck_ok(frontier_identify(r.e, a, url, &id));
    ck_assert_uint_eq(id, 0);
    rig_seed(&r, "http://a.test/1");
    ck_ok(frontier_identify(r.e, a, url, &id));
    ck_assert_uint_eq(id, 2);
    rig_fini(&r);
}

/* A program that takes and settles again and again: rows of leases that have
 * ended are swept, and those that count stay. */
TEST(the_log_of_leases_stays_bounded_and_keeps_what_counts)
{
    int64_t rows = 0;
    struct external_url kept, u;
    struct reader reader;
    struct rig r;

    polite(&r);
    r.o.schedule.delay = 0;
    rig_create(&r);
    rig_seed(&r, "http://kept.test/");
    rig_seed(&r, "http://a.test/1");
    kept = grant_one(&r);
    for (int i = 0; i < 6000; i++) {
        r.now += NS_PER_MS;
        ck_assert_uint_eq(grant(&r,
                                (struct external_request){.most = 1,
                                                          .length =
                                                              3600 * NS_PER_S},
                                &u),
                          1);
        ck_assert_int_eq(say(&r, u.lease.id,
                             (struct external_report){.due_ms = 0}),
                         EXTERNAL_SETTLED);
    }
    ck_assert_uint_eq(external_find(r.e, kept.number, r.now), kept.lease.id);
    rig_crash(&r);
    ck_assert_uint_eq(external_find(r.e, kept.number, r.now), kept.lease.id);
    rig_stop(&r);
    ck_ok(reader_open(&reader, r.at.dir));
    ck_ok(db_number(reader.db, "SELECT count(*) FROM item_lease", &rows));
    ck_assert_int_lt(rows, 9000);
    reader_close(&reader);
    rig_verify(&r);
    rig_fini(&r);
}
