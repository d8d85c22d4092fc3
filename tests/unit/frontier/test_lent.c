/* SPDX-License-Identifier: MIT */
/* URLs of our own crawl that other programs fetch. */
#include "frontier/lent.h"
#include "frontier/removal.h"
#include "tests/unit/frontier/engine_rig.h"

#define HOSTS  5
#define PATHS  20
#define URLS   (HOSTS * PATHS)
#define HOLD_S 30

static const struct outcome fetched = {OUTCOME_FETCHED, REASON_NONE, 200};

/* One host at a time, one second between. */
static void polite(struct rig *r)
{
    rig_init(r);
    r->o.conns_per_host = 1;
    r->o.schedule.delay = NS_PER_S;
}

static size_t lend(struct rig *r, struct lent_ask ask, struct lent_url *out)
{
    size_t n = 0;

    if (ask.most == 0)
        ask.most = 100;
    if (ask.hold == 0)
        ask.hold = HOLD_S * NS_PER_S;
    ck_assert_int_eq(lent_lease(r->e, &ask, r->now, rig_wall(r), out, &n),
                     STATUS_OK);
    rig_turn(r);
    return n;
}

/* The next URL that is lent; number 0: none. */
static struct lent_url lend_one(struct rig *r)
{
    struct lent_url u = {.number = 0};

    (void)lend(r, (struct lent_ask){.most = 1}, &u);
    return u;
}

static enum lent_said say(struct rig *r, uint64_t id, struct lent_word w)
{
    enum lent_said said;

    ck_assert_int_eq(lent_say(r->e, id, &w, r->now, rig_wall(r), &said),
                     STATUS_OK);
    rig_turn(r);
    return said;
}

static enum lent_said done(struct rig *r, uint64_t id)
{
    return say(r, id, (struct lent_word){.final = true, .http_status = 200});
}

static uint64_t own_lease(struct rig *r)
{
    struct engine_lease l;
    size_t n = 0;

    ck_assert_int_eq(r->e->ops->lease(r->e, 1, r->now, rig_wall(r), &l, &n),
                     STATUS_OK);
    return n > 0 ? l.id : 0;
}

/* ---- one at a time ---- */

START_TEST(what_is_lent_is_handed_to_nobody_else_and_done_when_told)
{
    struct rig r;
    struct lent_url u;

    polite(&r);
    rig_create(&r);
    rig_seed(&r, "http://a.test/1");
    u = lend_one(&r);
    ck_assert_uint_ne(u.number, 0);
    ck_assert_uint_lt(u.number, UINT64_C(1) << LENT_NUMBER_BITS);
    ck_assert(bytes_is(u.lease.url, "http://a.test/1"));
    ck_assert_uint_eq(rig_stats(&r).leased, 1);
    r.now += 5 * NS_PER_S;
    ck_assert_uint_eq(own_lease(&r), 0);
    ck_assert_uint_eq(lend_one(&r).number, 0);
    ck_assert_uint_eq(lent_find(r.e, u.number, r.now), u.lease.id);
    ck_assert_int_eq(done(&r, u.lease.id), LENT_TAKEN);
    ck_assert_uint_eq(lent_find(r.e, u.number, r.now), 0);
    ck_assert_uint_eq(rig_stats(&r).queued, 0);
    ck_assert_uint_eq(rig_stats(&r).leased, 0);
    ck_assert_uint_eq(rig_stats(&r).fetched, 1);
    ck_assert_uint_eq(rig_stats(&r).pages, 1);
    ck_assert_uint_eq(rig_counter(&r, "fetched.lent"), 1);
    ck_assert_int_eq(done(&r, u.lease.id), LENT_WAS_DONE);
    ck_assert_uint_eq(rig_stats(&r).pages, 1);
    rig_stop(&r);
    rig_verify(&r);
    rig_fini(&r);
}
END_TEST

START_TEST(a_host_is_busy_while_a_url_of_it_is_lent_and_its_delay_runs_after)
{
    struct rig r;
    struct lent_url u;

    polite(&r);
    rig_create(&r);
    rig_seed(&r, "http://a.test/1");
    rig_seed(&r, "http://a.test/2");
    u = lend_one(&r);
    r.now += 20 * NS_PER_S;
    ck_assert_uint_eq(own_lease(&r), 0);
    done(&r, u.lease.id);
    ck_assert_uint_eq(own_lease(&r), 0);
    r.now += NS_PER_S - 1;
    ck_assert_uint_eq(own_lease(&r), 0);
    ck_assert_uint_eq(lend_one(&r).number, 0);
    r.now += 1;
    ck_assert_uint_ne(own_lease(&r), 0);
    ck_assert_uint_eq(lend_one(&r).number, 0); /* nor is it lent meanwhile */
    rig_fini(&r);
}
END_TEST

START_TEST(a_hold_that_is_over_gives_the_url_back)
{
    struct rig r;
    struct lent_url u;

    polite(&r);
    rig_create(&r);
    rig_seed(&r, "http://a.test/1");
    u = lend_one(&r);
    r.now += HOLD_S * NS_PER_S - 1;
    rig_turn(&r);
    ck_assert_uint_eq(lent_find(r.e, u.number, r.now), u.lease.id);
    r.now += 1;
    rig_turn(&r);
    ck_assert_uint_eq(lent_find(r.e, u.number, r.now), 0);
    ck_assert_uint_eq(own_lease(&r),
                      0); /* asked just before, for all we know */
    r.now += NS_PER_S;
    ck_assert_uint_eq(own_lease(&r), u.lease.id);
    ck_assert_int_eq(done(&r, u.lease.id), LENT_OURS);
    rig_ack(&r, u.lease.id, fetched, NULL, 0);
    ck_assert_uint_eq(rig_stats(&r).queued, 0);
    rig_fini(&r);
}
END_TEST

START_TEST(a_hold_can_be_extended_and_the_old_number_is_nothing_after)
{
    struct rig r;
    struct lent_url u, again;

    polite(&r);
    rig_create(&r);
    rig_seed(&r, "http://a.test/1");
    u = lend_one(&r);
    r.now += 20 * NS_PER_S;
    ck_assert_int_eq(lent_extend(r.e, u.number, 60 * NS_PER_S, r.now,
                                 rig_wall(&r)),
                     STATUS_OK);
    rig_turn(&r);
    r.now += 50 * NS_PER_S;
    rig_crash(&r);
    ck_assert_uint_eq(lent_find(r.e, u.number, r.now), u.lease.id);
    r.now += 11 * NS_PER_S;
    rig_turn(&r);
    r.now += 2 * NS_PER_S;
    again = lend_one(&r);
    ck_assert_uint_eq(again.lease.id, u.lease.id);
    ck_assert_uint_ne(again.number, u.number);
    ck_assert_int_eq(lent_extend(r.e, u.number, 60 * NS_PER_S, r.now,
                                 rig_wall(&r)),
                     STATUS_NOT_FOUND);
    rig_fini(&r);
}
END_TEST

START_TEST(holds_survive_kill_9_until_they_are_over_or_settled)
{
    struct rig r;
    struct lent_url u[3];

    polite(&r);
    rig_create(&r);
    rig_seed(&r, "http://a.test/1");
    rig_seed(&r, "http://b.test/1");
    rig_seed(&r, "http://c.test/1");
    ck_assert_uint_eq(lend(&r, (struct lent_ask){.most_queues = 2}, u), 2);
    r.now += NS_PER_S;
    rig_crash(&r);
    ck_assert_uint_eq(rig_stats(&r).leased, 2);
    r.now += 2 * NS_PER_S;
    u[2].lease.id = own_lease(&r);
    ck_assert_uint_ne(u[2].lease.id, 0);
    ck_assert_uint_eq(own_lease(&r), 0);
    ck_assert_uint_eq(lend_one(&r).number, 0);
    ck_assert_uint_eq(lent_find(r.e, u[0].number, r.now), u[0].lease.id);
    ck_assert_int_eq(done(&r, u[0].lease.id), LENT_TAKEN);
    rig_crash(&r); /* what ours had goes back, what is lent does not */
    r.now += 2 * NS_PER_S;
    ck_assert_uint_eq(own_lease(&r), u[2].lease.id);
    ck_assert_uint_eq(own_lease(&r), 0);
    r.now += HOLD_S * NS_PER_S;
    rig_crash(&r); /* over while nobody ran */
    ck_assert_uint_eq(rig_stats(&r).leased, 0);
    r.now += 2 * NS_PER_S;
    ck_assert_uint_eq(own_lease(&r), u[1].lease.id);
    ck_assert_uint_eq(own_lease(&r), u[2].lease.id);
    ck_assert_uint_eq(own_lease(&r), 0);
    rig_fini(&r);
}
END_TEST

START_TEST(what_is_given_back_waits_as_told_also_over_a_restart)
{
    struct rig r;
    struct lent_url u;

    polite(&r);
    rig_create(&r);
    rig_seed(&r, "http://a.test/1");
    u = lend_one(&r);
    ck_assert_int_eq(say(&r, u.lease.id,
                         (struct lent_word){.due_ms = rig_wall(&r) + 60000}),
                     LENT_TAKEN);
    r.now += 59 * NS_PER_S;
    ck_assert_uint_eq(own_lease(&r), 0);
    rig_crash(&r);
    ck_assert_uint_eq(lend_one(&r).number, 0);
    r.now += 2 * NS_PER_S;
    u = lend_one(&r);
    ck_assert_uint_ne(u.number, 0);
    ck_assert_uint_eq(u.lease.tries, 0); /* nobody's failure */
    rig_fini(&r);
}
END_TEST

START_TEST(a_url_that_was_never_lent_can_be_done_or_put_off_in_its_queue)
{
    struct rig r;
    uint64_t first, second, third;

    polite(&r);
    r.o.schedule.delay = 0;
    rig_create(&r);
    rig_seed(&r, "http://a.test/1");
    rig_seed(&r, "http://a.test/2");
    rig_seed(&r, "http://a.test/3");
    first = own_lease(&r); /* the others are read ahead by now */
    second = first + 1;
    third = first + 2;
    ck_assert_int_eq(done(&r, first), LENT_OURS);
    ck_assert_int_eq(done(&r, second), LENT_TAKEN);
    ck_assert_int_eq(say(&r, third,
                         (struct lent_word){.due_ms = rig_wall(&r) + 5000}),
                     LENT_TAKEN);
    rig_ack(&r, first, fetched, NULL, 0);
    ck_assert_uint_eq(own_lease(&r), 0);
    r.now += 5 * NS_PER_S;
    ck_assert_uint_eq(own_lease(&r), third);
    rig_ack(&r, third, fetched, NULL, 0);
    ck_assert_uint_eq(rig_stats(&r).queued, 0);
    ck_assert_uint_eq(rig_stats(&r).fetched, 3);
    rig_stop(&r);
    rig_verify(&r);
    rig_fini(&r);
}
END_TEST

START_TEST(one_put_off_again_is_due_when_the_last_word_said)
{
    struct rig r;
    uint64_t id;

    polite(&r);
    rig_create(&r);
    rig_seed(&r, "http://a.test/1");
    id = lend_one(&r).lease.id;
    say(&r, id, (struct lent_word){.due_ms = rig_wall(&r) + 60000});
    say(&r, id, (struct lent_word){.due_ms = rig_wall(&r) + 2000});
    r.now += 2 * NS_PER_S;
    ck_assert_uint_eq(lend_one(&r).lease.id, id);
    say(&r, id, (struct lent_word){.due_ms = rig_wall(&r) + 60000});
    ck_assert_int_eq(done(&r, id), LENT_TAKEN); /* before it is due */
    r.now += 100 * NS_PER_S;
    ck_assert_uint_eq(own_lease(&r), 0);
    ck_assert_uint_eq(rig_stats(&r).queued, 0);
    rig_fini(&r);
}
END_TEST

START_TEST(queues_are_served_in_turn_within_the_limits_asked_for)
{
    struct rig r;
    struct lent_url u[100];

    rig_init(&r); /* 64 at once of one host, no delay */
    rig_create(&r);
    for (int host = 0; host < 4; host++)
        for (int path = 0; path < 5; path++) {
            char url[64];

            snprintf(url, sizeof url, "http://h%d.test/%d", host, path);
            rig_seed(&r, url);
        }
    ck_assert_uint_eq(
        lend(&r, (struct lent_ask){.most_urls = 2, .most_queues = 3}, u), 6);
    ck_assert_uint_eq(u[0].lease.queue, u[1].lease.queue);
    ck_assert_uint_ne(u[1].lease.queue, u[2].lease.queue);
    ck_assert_uint_eq(lend(&r,
                           (struct lent_ask){.one_queue = true,
                                             .key = bytes_of_str("h3.test")},
                           u),
                      5);
    ck_assert_uint_eq(lend(&r,
                           (struct lent_ask){.one_queue = true,
                                             .key = bytes_of_str("x.test")},
                           u),
                      0);
    ck_assert_uint_eq(lend(&r, (struct lent_ask){.most = 4}, u), 4);
    ck_assert_uint_eq(lend(&r, (struct lent_ask){.most = 100}, u), 5);
    ck_assert_uint_eq(own_lease(&r), 0);
    rig_fini(&r);
}
END_TEST

START_TEST(the_limit_of_pages_counts_what_is_lent)
{
    struct rig r;
    struct lent_url u[8];

    rig_init(&r);
    r.o.limit_pages = 3;
    rig_create(&r);
    for (int path = 0; path < 8; path++) {
        char url[64];

        snprintf(url, sizeof url, "http://a.test/%d", path);
        rig_seed(&r, url);
    }
    ck_assert_uint_ne(own_lease(&r), 0);
    ck_assert_uint_eq(lend(&r, (struct lent_ask){.most = 8}, u), 2);
    ck_assert_uint_eq(own_lease(&r), 0);
    rig_fini(&r);
}
END_TEST

START_TEST(what_is_lent_takes_no_room_from_our_own_fetchers)
{
    struct rig r;
    struct lent_url u[8];

    rig_init(&r);
    r.o.in_flight = 2;
    rig_create(&r);
    for (int path = 0; path < 8; path++) {
        char url[64];

        snprintf(url, sizeof url, "http://a.test/%d", path);
        rig_seed(&r, url);
    }
    ck_assert_uint_eq(lend(&r, (struct lent_ask){.most = 5}, u), 5);
    ck_assert_uint_ne(own_lease(&r), 0);
    ck_assert_uint_ne(own_lease(&r), 0);
    ck_assert_uint_eq(own_lease(&r), 0);
    rig_fini(&r);
}
END_TEST

START_TEST(lists_of_urls_stay_for_our_own_fetchers)
{
    struct rig r;
    struct engine_item list;
    struct lent_url u;
    uint64_t id;

    polite(&r);
    r.o.listings = LINK_BIT(LINK_SITEMAP);
    rig_create(&r);
    list = rig_item(&r, "http://a.test/sitemap.xml");
    list.kind = LINK_SITEMAP;
    ck_assert_int_eq(rig_put(&r, list), ENGINE_NEW);
    ck_assert_uint_eq(lend_one(&r).number, 0);
    rig_seed(&r, "http://a.test/1");
    u = lend_one(&r);
    ck_assert(bytes_is(u.lease.url, "http://a.test/1"));
    done(&r, u.lease.id);
    r.now += NS_PER_S;
    ck_assert_uint_eq(lend_one(&r).number, 0); /* nor is its host charged */
    id = own_lease(&r);
    ck_assert_uint_eq(id, u.lease.id - 1);
    rig_ack(&r, id, fetched, NULL, 0);
    r.now += 2 * NS_PER_S;
    ck_assert_uint_eq(own_lease(&r), 0);
    rig_fini(&r);
}
END_TEST

START_TEST(what_a_status_says_becomes_the_outcome)
{
    static const struct {
        uint16_t http;
        const char *counter;
        uint64_t pages;
    } cases[] = {
        {0, "fetched.lent", 1},      {200, "fetched.lent", 1},
        {304, "fetched.lent", 1},    {301, "redirect.lent", 0},
        {404, "failed.http_404", 1}, {503, "failed.http_503", 1},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct rig r;

        polite(&r);
        rig_create(&r);
        rig_seed(&r, "http://a.test/1");
        say(&r, lend_one(&r).lease.id,
            (struct lent_word){.final = true, .http_status = cases[i].http});
        ck_assert_uint_eq(rig_counter(&r, cases[i].counter), 1);
        ck_assert_uint_eq(rig_stats(&r).pages, cases[i].pages);
        rig_fini(&r);
    }
}
END_TEST

START_TEST(a_borrower_that_was_told_to_slow_down_slows_the_host)
{
    struct rig r;

    polite(&r);
    rig_create(&r);
    rig_seed(&r, "http://a.test/1");
    rig_seed(&r, "http://a.test/2");
    say(&r, lend_one(&r).lease.id,
        (struct lent_word){.final = true, .http_status = 503});
    r.now += 59 * NS_PER_S;
    ck_assert_uint_eq(own_lease(&r), 0);
    r.now += 30 * NS_PER_S;
    ck_assert_uint_ne(own_lease(&r), 0);
    rig_fini(&r);
}
END_TEST

START_TEST(links_that_others_found_are_admitted_once_and_drops_counted)
{
    struct rig r;
    struct engine_item two[2];
    const struct engine_drop drop = {REASON_SCOPE, bytes_of_str("x.test"),
                                     bytes_of_str("http://x.test/")};
    uint64_t ids[2], id;

    polite(&r);
    rig_create(&r);
    rig_seed(&r, "http://a.test/1");
    two[0] = rig_item(&r, "http://a.test/1");
    two[1] = rig_item(&r, "http://a.test/2");
    ck_assert_int_eq(lent_discover(r.e, two, 2, &drop, 1, r.now, rig_wall(&r),
                                   ids),
                     STATUS_OK);
    ck_assert_uint_eq(ids[0], 0);
    ck_assert_uint_ne(ids[1], 0);
    rig_turn(&r);
    ck_assert_int_eq(lent_identify(r.e, two[1].key, two[1].url, &id),
                     STATUS_OK);
    ck_assert_uint_eq(id, ids[1]);
    ck_assert_int_eq(lent_identify(r.e, two[1].key, bytes_of_str("http://a/"),
                                   &id),
                     STATUS_OK);
    ck_assert_uint_eq(id, 0);
    ck_assert_uint_eq(rig_stats(&r).links, 3);
    ck_assert_uint_eq(rig_stats(&r).duplicates, 1);
    ck_assert_uint_eq(rig_stats(&r).dropped, 1);
    ck_assert_uint_eq(rig_counter(&r, "dropped.scope"), 1);
    rig_stop(&r);
    rig_verify(&r);
    rig_fini(&r);
}
END_TEST

/* ---- delays that people set ---- */

START_TEST(a_delay_that_is_set_holds_over_robots_that_ask_for_none_and_restarts)
{
    struct rig r;
    struct engine_host_news news;
    uint64_t id;
    struct engine_done d;

    polite(&r);
    rig_create(&r);
    for (int path = 0; path < 4; path++) {
        char url[64];

        snprintf(url, sizeof url, "http://a.test/%d", path);
        rig_seed(&r, url);
    }
    ck_assert_int_eq(r.e->ops->delay(r.e, r.o.crawl, bytes_of_str("b.test"),
                                     10000, r.now),
                     STATUS_NOT_FOUND);
    ck_assert_int_eq(r.e->ops->delay(r.e, r.o.crawl, bytes_of_str("a.test"),
                                     10000, r.now),
                     STATUS_OK);
    rig_turn(&r);
    for (int turn = 0; turn < 2; turn++) {
        id = own_lease(&r);
        ck_assert_uint_ne(id, 0);
        news = (struct engine_host_news){.ended = r.now,
                                         .crawl_delay_ms = -1,
                                         .retry_after_ms = -1};
        d = (struct engine_done){.id = id, .outcome = fetched, .host = news};
        ck_assert_int_eq(r.e->ops->ack(r.e, &d, 1, r.now, rig_wall(&r)),
                         STATUS_OK);
        rig_turn(&r);
        r.now += 10 * NS_PER_S - 1;
        ck_assert_uint_eq(own_lease(&r), 0);
        r.now += 1;
        if (turn == 0)
            rig_crash(&r);
        r.now += turn == 0 ? 10 * NS_PER_S : 0; /* nobody knows when it was */
    }
    id = own_lease(&r);
    ck_assert_uint_ne(id, 0);
    rig_ack(&r, id, fetched, NULL, 0);
    ck_assert_int_eq(r.e->ops->delay(r.e, r.o.crawl, bytes_of_str("a.test"), -1,
                                     r.now),
                     STATUS_OK);
    r.now += NS_PER_S; /* a shorter one holds at once */
    ck_assert_uint_ne(own_lease(&r), 0);
    rig_fini(&r);
}
END_TEST

/* ---- against a plain model ---- */

struct model_url {
    char url[32];
    enum { M_QUEUED, M_OURS, M_LENT, M_DONE, M_REMOVED } state;
    int64_t due, until; /* monotonic */
    uint64_t number;
    unsigned fetches;
    bool removed; /* nobody is to get it any more */
};

struct model {
    struct rig r;
    struct model_url u[URLS + 1]; /* by id */
    int64_t free_at[HOSTS];       /* its last answer, and the delay */
    unsigned out[HOSTS];
    uint32_t limit[HOSTS]; /* most done of it; 0: as many as there are */
    uint64_t random;
};

static uint64_t roll(struct model *m, uint64_t sides)
{
    m->random ^= m->random << 13;
    m->random ^= m->random >> 7;
    m->random ^= m->random << 17;
    return m->random % sides;
}

static size_t host_of(uint64_t id)
{
    return (size_t)((id - 1) / PATHS);
}

static bool model_is_done(const struct model_url *u)
{
    return u->state == M_DONE || u->state == M_REMOVED;
}

static uint32_t model_done_of(const struct model *m, size_t host)
{
    uint32_t n = 0;

    for (uint64_t id = 1 + host * PATHS; id <= (host + 1) * PATHS; id++)
        n += m->u[id].state == M_DONE;
    return n;
}

static void model_out(struct model *m, uint64_t id, int state)
{
    struct model_url *u = &m->u[id];
    uint32_t limit = m->limit[host_of(id)];

    ck_assert_msg(u->state == M_QUEUED, "%s handed out in state %d", u->url,
                  (int)u->state);
    ck_assert_msg(u->due <= m->r.now, "%s before its time", u->url);
    ck_assert_msg(!u->removed, "%s was removed", u->url);
    ck_assert_msg(limit == 0 || model_done_of(m, host_of(id)) < limit,
                  "%s goes beyond the limit of its queue", u->url);
    ck_assert_uint_eq(m->out[host_of(id)], 0);
    ck_assert_int_le(m->free_at[host_of(id)], m->r.now);
    m->out[host_of(id)]++;
    u->state = state;
}

static void model_back(struct model *m, uint64_t id, int state)
{
    m->u[id].state = state;
    m->out[host_of(id)]--;
    m->free_at[host_of(id)] = m->r.now + NS_PER_S;
}

/* Holds that are over end; what was removed and came back gets its last word
 * when its queue's turn comes. */
static void model_expire(struct model *m)
{
    rig_turn(&m->r);
    for (uint64_t id = 1; id <= URLS; id++) {
        struct model_url *u = &m->u[id];

        if (u->state == M_LENT && u->until <= m->r.now)
            model_back(m, id, M_QUEUED);
        if (u->removed && u->state == M_QUEUED &&
            frontier_store_is_done(frontier_store_of(m->r.e), id))
            u->state = M_REMOVED;
    }
}

static void model_lend(struct model *m)
{
    struct lent_url u[HOSTS];
    int64_t hold = (int64_t)(1 + roll(m, 8)) * NS_PER_S;
    size_t n =
        lend(&m->r, (struct lent_ask){.most = 1 + roll(m, HOSTS), .hold = hold},
             u);

    for (size_t i = 0; i < n; i++) {
        model_out(m, u[i].lease.id, M_LENT);
        m->u[u[i].lease.id].until = m->r.now + hold;
        m->u[u[i].lease.id].number = u[i].number;
    }
}

static void model_say(struct model *m)
{
    uint64_t id = 1 + roll(m, URLS);
    struct model_url *u = &m->u[id];
    bool final = roll(m, 2) == 0, was_lent = u->state == M_LENT;
    int64_t wait = final ? 0 : (int64_t)roll(m, 6) * NS_PER_S;
    enum lent_said said;

    if (u->state == M_QUEUED && (u->removed || roll(m, 4) != 0))
        return;
    said =
        say(&m->r, id,
            (struct lent_word){.final = final,
                               .due_ms = rig_wall(&m->r) + wait / NS_PER_MS});
    ck_assert_int_eq(said, model_is_done(u)     ? LENT_WAS_DONE
                           : u->state == M_OURS ? LENT_OURS
                                                : LENT_TAKEN);
    if (said != LENT_TAKEN)
        return;
    if (was_lent)
        model_back(m, id, final ? M_DONE : M_QUEUED);
    u->state = final ? M_DONE : M_QUEUED;
    u->due = m->r.now + wait;
    u->fetches += final;
}

static void model_own(struct model *m)
{
    uint64_t id = own_lease(&m->r);

    if (id != 0)
        model_out(m, id, M_OURS);
}

static void model_ack(struct model *m)
{
    for (uint64_t id = 1; id <= URLS; id++) {
        if (m->u[id].state != M_OURS || roll(m, 2) != 0)
            continue;
        rig_ack(&m->r, id, fetched, NULL, 0);
        rig_turn(&m->r);
        m->u[id].fetches++;
        model_back(m, id, M_DONE);
    }
}

/* Ours are given back; what is lent is not. Every host waits once. */
static void model_crash(struct model *m)
{
    rig_crash(&m->r);
    for (uint64_t id = 1; id <= URLS; id++)
        if (m->u[id].state == M_OURS)
            model_back(m, id, M_QUEUED);
}

/* What waits in a queue goes, and what is out is for nobody afterwards; perhaps
 * the process is killed half-way. */
static void model_remove(struct model *m)
{
    size_t host = (size_t)roll(m, HOSTS);
    char key[16];
    struct removal removal;
    bool over = false;
    int n = snprintf(key, sizeof key, "h%zu.test", host);

    ck_assert_int_eq(removal_begin(m->r.e, bytes_of(key, (size_t)n), INT64_MAX,
                                   &removal),
                     STATUS_OK);
    do {
        ck_assert_int_eq(removal_step(m->r.e, &removal, 2, m->r.now,
                                      rig_wall(&m->r), &over),
                         STATUS_OK);
        rig_turn(&m->r);
    } while (!over && roll(m, 4) != 0);
    for (uint64_t id = 1; id <= URLS; id++)
        if (host_of(id) == host)
            m->u[id].removed |= !model_is_done(&m->u[id]);
    if (!over)
        model_crash(m);
}

/* So many as are done, or a few more; or any number. */
static void model_limit(struct model *m)
{
    size_t host = (size_t)roll(m, HOSTS);
    uint32_t done = model_done_of(m, host);

    m->limit[host] = roll(m, 2) == 0 ? 0 : done + (uint32_t)roll(m, 4);
    ck_assert_int_eq(frontier_limit_queue(m->r.e, (uint32_t)host + 1,
                                          m->limit[host], done, m->r.now),
                     STATUS_OK);
    rig_turn(&m->r);
}

static void model_step(struct model *m)
{
    if (roll(m, 32) == 0)
        model_limit(m);
    if (roll(m, 128) == 0)
        model_remove(m);
    switch (roll(m, 16)) {
    case 0:
        model_crash(m);
        break;
    case 1:
    case 2:
    case 3:
        model_lend(m);
        break;
    case 4:
    case 5:
    case 6:
    case 7:
        model_say(m);
        break;
    case 8:
    case 9:
        model_own(m);
        break;
    case 10:
    case 11:
        model_ack(m);
        break;
    default:
        m->r.now += (int64_t)roll(m, 1500) * NS_PER_MS;
        break;
    }
    model_expire(m);
}

static uint64_t model_count(const struct model *m, int state)
{
    uint64_t n = 0;

    for (uint64_t id = 1; id <= URLS; id++)
        n += m->u[id].state == (unsigned)state;
    return n;
}

START_TEST(every_url_is_done_once_or_removed_as_a_plain_model_says)
{
    struct model *m = calloc(1, sizeof *m);
    unsigned steps = 0;

    polite(&m->r);
    rig_create(&m->r);
    m->random = UINT64_C(0x9e3779b97f4a7c15) + (uint64_t)_i;
    for (uint64_t id = 1; id <= URLS; id++) {
        snprintf(m->u[id].url, sizeof m->u[id].url, "http://h%zu.test/%d",
                 host_of(id), (int)((id - 1) % PATHS));
        rig_seed(&m->r, m->u[id].url);
    }
    rig_turn(&m->r);
    while (model_count(m, M_DONE) + model_count(m, M_REMOVED) < URLS) {
        struct engine_stats s;

        model_step(m);
        s = rig_stats(&m->r);
        ck_assert_uint_eq(s.queued, URLS - model_count(m, M_DONE) -
                                        model_count(m, M_REMOVED));
        ck_assert_uint_eq(s.leased,
                          model_count(m, M_OURS) + model_count(m, M_LENT));
        ck_assert_uint_lt(steps++, 20000);
    }
    for (uint64_t id = 1; id <= URLS; id++)
        ck_assert_uint_eq(m->u[id].fetches, m->u[id].state == M_DONE);
    ck_assert_uint_eq(rig_stats(&m->r).fetched, model_count(m, M_DONE));
    ck_assert_uint_eq(rig_counter(&m->r, "skipped.removed"),
                      model_count(m, M_REMOVED));
    rig_stop(&m->r);
    rig_verify(&m->r);
    rig_fini(&m->r);
    free(m);
}
END_TEST

Suite *suite_lent(void)
{
    Suite *s = suite_create("lent");
    TCase *t = tcase_create("lent");

    tcase_set_timeout(t, 60);
    tcase_add_test(t, what_is_lent_is_handed_to_nobody_else_and_done_when_told);
    tcase_add_test(
        t, a_host_is_busy_while_a_url_of_it_is_lent_and_its_delay_runs_after);
    tcase_add_test(t, a_hold_that_is_over_gives_the_url_back);
    tcase_add_test(t,
                   a_hold_can_be_extended_and_the_old_number_is_nothing_after);
    tcase_add_test(t, holds_survive_kill_9_until_they_are_over_or_settled);
    tcase_add_test(t, what_is_given_back_waits_as_told_also_over_a_restart);
    tcase_add_test(
        t, a_url_that_was_never_lent_can_be_done_or_put_off_in_its_queue);
    tcase_add_test(t, one_put_off_again_is_due_when_the_last_word_said);
    tcase_add_test(t, queues_are_served_in_turn_within_the_limits_asked_for);
    tcase_add_test(t, the_limit_of_pages_counts_what_is_lent);
    tcase_add_test(t, what_is_lent_takes_no_room_from_our_own_fetchers);
    tcase_add_test(t, lists_of_urls_stay_for_our_own_fetchers);
    tcase_add_test(t, what_a_status_says_becomes_the_outcome);
    tcase_add_test(t, a_borrower_that_was_told_to_slow_down_slows_the_host);
    tcase_add_test(t,
                   links_that_others_found_are_admitted_once_and_drops_counted);
    tcase_add_test(
        t,
        a_delay_that_is_set_holds_over_robots_that_ask_for_none_and_restarts);
    tcase_add_loop_test(t,
                        every_url_is_done_once_or_removed_as_a_plain_model_says,
                        0, 12);
    suite_add_tcase(s, t);
    return s;
}
