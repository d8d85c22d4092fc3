/* SPDX-License-Identifier: MIT */
/*
 * A whole crawl without sockets and without sleeping: a small web that is a
 * pure function of its page number, fetchers that are an array, a clock that
 * is wound by hand, and a store on a real disk.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "frontier/frontier.h"
#include "frontier/reader.h"
#include "frontier/watch.h"

#define PAGES     3000
#define HOSTS     37
#define LINKS     12
#define IN_FLIGHT 16
#define WALL      INT64_C(1700000000000)

static char dir[64];

static void make_dir(void)
{
    strcpy(dir, "/tmp/urlweir-frontier-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(dir));
}

static void remove_dir(void)
{
    char command[128];

    snprintf(command, sizeof command, "rm -rf '%s'", dir);
    ck_assert_int_eq(system(command), 0);
}

static const char *in_dir(const char *name)
{
    static char path[128];

    snprintf(path, sizeof path, "%s/%s", dir, name);
    return path;
}

/* ---- the web ---- */

static unsigned host_of_page(unsigned page)
{
    return page * 7919U % HOSTS;
}

static void url_of_page(unsigned page, char *out, size_t size)
{
    snprintf(out, size, "http://h%u.test/page/%u", host_of_page(page), page);
}

static unsigned nth_link(unsigned page, unsigned k)
{
    if (k < 3) /* a tree, so that every page can be reached */
        return page * 3 + 1 + k < PAGES ? page * 3 + 1 + k : 0;
    return (page * 2654435761U + k * 40503U) % PAGES;
}

/* ---- the crawl ---- */

struct flight {
    bool used;
    struct engine_lease lease;
    unsigned page;
    int64_t ends;
};

struct sim {
    struct engine *e;
    struct frontier_options o;
    int64_t now;
    uint32_t random;
    struct flight flights[IN_FLIGHT];
    unsigned fetched[PAGES]; /* answers given, as the server would count */
    int64_t ended[HOSTS];    /* the last answer of a host; -1: none */
    bool busy[HOSTS];
    unsigned crashes;
    int64_t delay;
};

static uint32_t rnd(struct sim *s)
{
    s->random = s->random * 1664525U + 1013904223U;
    return s->random >> 8;
}

static int64_t wall(const struct sim *s)
{
    return WALL + s->now / NS_PER_MS;
}

static void options(struct sim *s, int64_t delay)
{
    s->delay = delay;
    s->o = (struct frontier_options){
        .crawl = bytes_of_str("DEFAULT"),
        .schedule = {.delay = delay,
                     .max_delay = 30 * NS_PER_S,
                     .max_crawl_delay = 300 * NS_PER_S,
                     .retry_delay = NS_PER_S},
        .tries = 3,
        .conns_per_host = 1,
        .in_flight = IN_FLIGHT,
        .use_filter = true,
        .fpr = 0.01,
        .memory = (uint64_t)64 << 20,
        .commit_interval = 200 * NS_PER_MS,
        .random_seed = 7,
    };
}

static struct engine_item item_of(struct sim *s, unsigned page, char *key,
                                  char *url, size_t size, uint32_t depth)
{
    struct engine_item item = {.depth = depth, .seed = depth == 0};

    snprintf(key, size, "h%u.test", host_of_page(page));
    url_of_page(page, url, size);
    item.key = bytes_of_str(key);
    item.url = bytes_of_str(url);
    item.digest =
        digest_url(frontier_digest_key(s->e), s->o.crawl, item.key, item.url);
    return item;
}

static void start(struct sim *s, int64_t delay)
{
    char key[64], url[64];
    struct engine_item seed;
    enum engine_answer answer;

    memset(s, 0, sizeof *s);
    s->random = 4711;
    s->now = NS_PER_S;
    for (int i = 0; i < HOSTS; i++)
        s->ended[i] = -1;
    options(s, delay);
    ck_assert_int_eq(frontier_create(&s->e, dir, &s->o, s->now, wall(s)),
                     STATUS_OK);
    seed = item_of(s, 0, key, url, sizeof key, 0);
    ck_assert_int_eq(s->e->ops->put(s->e, s->o.crawl, 0, &seed, 1, wall(s),
                                    &answer),
                     STATUS_OK);
    ck_assert_int_eq(answer, ENGINE_NEW);
    ck_assert_int_eq(s->e->ops->turn(s->e, true, s->now, wall(s), NULL),
                     STATUS_OK);
}

static void reopen(struct sim *s)
{
    ck_assert_int_eq(frontier_open(&s->e, dir, &s->o, s->now, wall(s)),
                     STATUS_OK);
}

/* What is in flight when the process ends: the server saw the requests. */
static void cut_flights(struct sim *s)
{
    for (int i = 0; i < IN_FLIGHT; i++) {
        struct flight *f = &s->flights[i];

        if (f->used) {
            s->fetched[f->page]++;
            s->busy[host_of_page(f->page)] = false;
            s->ended[host_of_page(f->page)] = s->now;
            f->used = false;
        }
    }
}

/* As kill -9 would: nothing is committed, nothing is said. */
static void crash(struct sim *s)
{
    s->e->ops->close(s->e);
    s->crashes++;
    cut_flights(s);
    reopen(s);
}

static void take_off(struct sim *s, const struct engine_lease *l)
{
    for (int i = 0; i < IN_FLIGHT; i++) {
        struct flight *f = &s->flights[i];
        char url[128];
        unsigned h;

        if (f->used)
            continue;
        snprintf(url, sizeof url, "%.*s", (int)l->url.len, l->url.at);
        ck_assert_int_eq(sscanf(url, "http://h%u.test/page/%u", &h, &f->page),
                         2);
        ck_assert_msg(!s->busy[h], "host %u asked twice at once", h);
        ck_assert_msg(s->ended[h] < 0 || s->now >= s->ended[h] + s->delay,
                      "host %u asked too soon", h);
        s->busy[h] = true;
        f->used = true;
        f->lease = *l;
        f->ends = s->now + NS_PER_MS * (1 + rnd(s) % 80);
        return;
    }
    ck_abort_msg("more leases than may be in flight");
}

static void land(struct sim *s, struct flight *f)
{
    char keys[LINKS][64], urls[LINKS][64];
    struct engine_item found[LINKS];
    struct engine_done done = {
        .id = f->lease.id,
        .outcome = {OUTCOME_FETCHED, REASON_NONE, 200},
        .row = {.at_ms = wall(s), .links = LINKS, .wire_bytes = 1000},
        .found = found,
        .found_count = LINKS,
        .host = {.ended = s->now, .crawl_delay_ms = -2, .retry_after_ms = -1},
    };

    for (unsigned k = 0; k < LINKS; k++)
        found[k] = item_of(s, nth_link(f->page, k), keys[k], urls[k],
                           sizeof keys[k], f->lease.depth + 1);
    s->fetched[f->page]++;
    s->busy[host_of_page(f->page)] = false;
    s->ended[host_of_page(f->page)] = s->now;
    f->used = false;
    ck_assert_int_eq(s->e->ops->ack(s->e, &done, 1, s->now, wall(s)),
                     STATUS_OK);
}

static bool step(struct sim *s)
{
    struct engine_lease leases[IN_FLIGHT];
    struct engine_stats st;
    size_t n;

    s->now += NS_PER_MS * (1 + rnd(s) % 20);
    for (int i = 0; i < IN_FLIGHT; i++)
        if (s->flights[i].used && s->flights[i].ends <= s->now)
            land(s, &s->flights[i]);
    ck_assert_int_eq(s->e->ops->turn(s->e, false, s->now, wall(s), NULL),
                     STATUS_OK);
    ck_assert_int_eq(s->e->ops->lease(s->e, IN_FLIGHT, s->now, wall(s), leases,
                                      &n),
                     STATUS_OK);
    for (size_t i = 0; i < n; i++)
        take_off(s, &leases[i]);
    s->e->ops->stats(s->e, &st);
    return st.queued > 0;
}

static void check_all_fetched(const struct sim *s)
{
    unsigned again = 0;

    for (unsigned i = 0; i < PAGES; i++) {
        ck_assert_msg(s->fetched[i] > 0, "page %u was lost", i);
        again += s->fetched[i] - 1;
    }
    ck_assert_uint_le(again, IN_FLIGHT * s->crashes);
}

static void finish(struct sim *s)
{
    struct engine_stats st;

    s->e->ops->stats(s->e, &st);
    ck_assert_uint_eq(st.urls, PAGES);
    ck_assert_uint_eq(st.queued, 0);
    ck_assert_uint_eq(st.leased, 0);
    ck_assert_uint_eq(st.queues, HOSTS);
    ck_assert_uint_eq(st.queues_active, 0);
    s->e->ops->close(s->e);
}

START_TEST(fetches_every_page_once_and_never_two_of_a_host_at_once)
{
    static struct sim s;

    start(&s, 5 * NS_PER_MS);
    while (step(&s))
        ;
    check_all_fetched(&s);
    finish(&s);
}
END_TEST

START_TEST(
    loses_nothing_over_fifty_crashes_and_refetches_only_what_was_in_flight)
{
    static struct sim s;
    unsigned steps = 0;

    start(&s, 5 * NS_PER_MS);
    while (step(&s)) {
        steps++;
        if (s.crashes < 50 && rnd(&s) % 40 == 0)
            crash(&s);
        else if (rnd(&s) % 30 == 0)
            ck_assert_int_eq(frontier_checkpoint_now(s.e, "running", false,
                                                     s.now, wall(&s)),
                             STATUS_OK);
    }
    ck_assert_uint_ge(s.crashes, 20);
    check_all_fetched(&s);
    finish(&s);
}
END_TEST

static unsigned links_of[PAGES + 1];

static bool count_link(void *ctx, const struct link_row *l)
{
    (void)ctx;
    if (l->from > PAGES)
        ck_abort_msg("a link of no page");
    links_of[l->from]++;
    return true;
}

/* A page that a crash made us fetch again has its links once, too. */
START_TEST(a_recorded_link_graph_is_whole_after_crashes)
{
    static struct sim s;
    struct reader r;

    start(&s, 0);
    s.o.record_links = true;
    s.e->ops->close(s.e);
    reopen(&s);
    while (step(&s))
        if (s.crashes < 20 && rnd(&s) % 20 == 0)
            crash(&s);
    ck_assert_uint_ge(s.crashes, 5);
    ck_assert_int_eq(s.e->ops->turn(s.e, true, s.now, wall(&s), NULL),
                     STATUS_OK);
    s.e->ops->close(s.e);
    ck_assert_int_eq(reader_open(&r, dir), STATUS_OK);
    ck_assert_int_eq(link_store_recorded(r.links), LINK_RECORD_ALL);
    ck_assert_int_eq(link_store_each(r.links, count_link, NULL), STATUS_OK);
    reader_close(&r);
    for (unsigned id = 1; id <= PAGES; id++)
        if (links_of[id] != LINKS)
            ck_abort_msg("page %u has %u links", id, links_of[id]);
}
END_TEST

START_TEST(hosts_without_delay_are_asked_one_url_at_a_time_too)
{
    static struct sim s;

    start(&s, 0);
    while (step(&s))
        ;
    check_all_fetched(&s);
    finish(&s);
}
END_TEST

/* ---- one URL's fate ---- */

static struct engine_lease lease_one(struct sim *s)
{
    struct engine_lease l = {0};
    size_t n = 0;

    ck_assert_int_eq(s->e->ops->lease(s->e, 1, s->now, wall(s), &l, &n),
                     STATUS_OK);
    if (n == 0)
        l.id = 0;
    return l;
}

/* Its connection is open then. */
START_TEST(
    ours_a_host_without_delay_has_a_run_of_urls_before_others_have_theirs)
{
    static struct sim s;
    struct engine_lease l;
    unsigned changes = 0, leases = 0, last = HOSTS;

    start(&s, 0);
    while ((l = lease_one(&s)).id != 0) {
        struct flight *f = &s.flights[0];

        take_off(&s, &l);
        changes += host_of_page(f->page) != last;
        last = host_of_page(f->page);
        leases++;
        land(&s, f);
        ck_assert_int_eq(s.e->ops->turn(s.e, true, s.now, wall(&s), NULL),
                         STATUS_OK);
        s.now += NS_PER_MS;
    }
    check_all_fetched(&s);
    ck_assert_uint_ge(changes, leases / 8); /* the others have theirs, too */
    ck_assert_uint_lt(changes, leases / 4);
    finish(&s);
}
END_TEST

static struct engine_done failure(struct sim *s, uint64_t id,
                                  enum outcome_reason reason, uint16_t http)
{
    return (struct engine_done){
        .id = id,
        .outcome = {OUTCOME_FAILED, reason, http},
        .transient = true,
        .row = {.at_ms = wall(s)},
        .host = {.ended = s->now, .crawl_delay_ms = -2, .retry_after_ms = -1},
    };
}

static void ack(struct sim *s, const struct engine_done *d)
{
    ck_assert_int_eq(s->e->ops->ack(s->e, d, 1, s->now, wall(s)), STATUS_OK);
}

START_TEST(a_failing_url_gets_its_tries_and_then_its_last_word)
{
    static struct sim s;
    struct engine_stats st;

    start(&s, NS_PER_S);
    for (unsigned try = 0; try < 3; try++) {
        struct engine_lease l = lease_one(&s);
        struct engine_done d;

        ck_assert_uint_eq(l.id, 1);
        ck_assert_uint_eq(l.tries, try);
        d = failure(&s, l.id, REASON_HTTP, 500);
        ack(&s, &d);
        ck_assert_uint_eq(lease_one(&s).id, 0); /* not at once */
        s.now += 60 * NS_PER_S;
        if (try == 1) { /* tries used so far outlive the process */
            ck_assert_int_eq(s.e->ops->turn(s.e, true, s.now, wall(&s), NULL),
                             STATUS_OK);
            s.e->ops->close(s.e);
            reopen(&s);
            s.now += 60 * NS_PER_S;
        }
    }
    s.e->ops->stats(s.e, &st);
    ck_assert_uint_eq(st.queued, 0);
    ck_assert_uint_eq(st.failed, 1);
    ck_assert_uint_eq(st.seeds_failed, 1);
    s.e->ops->close(s.e);
}
END_TEST

START_TEST(retry_after_blocks_the_host_also_across_a_restart)
{
    static struct sim s;
    struct engine_lease l;
    struct engine_done d;

    start(&s, NS_PER_S);
    l = lease_one(&s);
    d = failure(&s, l.id, REASON_HTTP, 429);
    d.host.slow_down = true;
    d.host.retry_after_ms = 120000;
    ack(&s, &d);
    s.now += 119 * NS_PER_S;
    ck_assert_uint_eq(lease_one(&s).id, 0);
    ck_assert_int_eq(s.e->ops->turn(s.e, true, s.now, wall(&s), NULL),
                     STATUS_OK);
    s.e->ops->close(s.e);
    reopen(&s);
    s.now += NS_PER_S / 2;
    ck_assert_uint_eq(lease_one(&s).id, 0);
    s.now += 2 * NS_PER_S;
    ck_assert_uint_eq(lease_one(&s).id, 1);
    s.e->ops->close(s.e);
}
END_TEST

/* Its URLs may all have been done when the process ended. */
START_TEST(after_a_crash_a_host_without_urls_left_waits_out_its_delay_too)
{
    static struct sim s;
    struct engine_done d;
    struct engine_item item;
    char key[64], url[64];

    start(&s, NS_PER_S);
    d = failure(&s, lease_one(&s).id, REASON_HTTP, 404);
    d.transient = false;
    ack(&s, &d);
    ck_assert_int_eq(s.e->ops->turn(s.e, true, s.now, wall(&s), NULL),
                     STATUS_OK);
    crash(&s);
    item = item_of(&s, HOSTS, key, url, sizeof key, 1); /* of the same host */
    ck_assert_int_eq(s.e->ops->put(s.e, s.o.crawl, 1, &item, 1, wall(&s), NULL),
                     STATUS_OK);
    ck_assert_uint_eq(lease_one(&s).id, 0);
    s.now += NS_PER_S;
    ck_assert_uint_eq(lease_one(&s).id, 2);
    s.e->ops->close(s.e);
}
END_TEST

START_TEST(a_crawl_delay_holds_from_its_first_reading_on)
{
    static struct sim s;
    struct engine_host_news news = {.crawl_delay_ms = 5000,
                                    .retry_after_ms = -1};
    struct engine_lease l;

    start(&s, NS_PER_S);
    l = lease_one(&s);
    news.ended = s.now;
    ck_assert_int_eq(s.e->ops->release(s.e, l.id, 0, &news, s.now, wall(&s)),
                     STATUS_OK);
    s.now += 4999 * NS_PER_MS;
    ck_assert_uint_eq(lease_one(&s).id, 0);
    s.now += NS_PER_MS;
    ck_assert_uint_eq(lease_one(&s).id, l.id);
    s.e->ops->close(s.e);
}
END_TEST

START_TEST(a_host_that_cannot_be_reached_costs_its_tries_and_no_more)
{
    static struct sim s;
    struct engine_item items[200];
    static char keys[200][64], urls[200][64];
    struct engine_stats st;
    unsigned asked = 0;
    size_t host_urls = 0;

    start(&s, NS_PER_MS);
    for (unsigned i = 0; host_urls < 50; i++)
        if (host_of_page(i + 1) == host_of_page(0)) {
            items[host_urls] =
                item_of(&s, i + 1, keys[host_urls], urls[host_urls], 64, 1);
            host_urls++;
        }
    ck_assert_int_eq(s.e->ops->put(s.e, s.o.crawl, 1, items, host_urls,
                                   wall(&s), NULL),
                     STATUS_OK);
    for (int i = 0; i < 1000; i++) {
        struct engine_lease l = lease_one(&s);

        if (l.id != 0) {
            struct engine_done d = failure(&s, l.id, REASON_CONNECT, 0);

            d.host.unreachable = true;
            ack(&s, &d);
            asked++;
        }
        s.now += NS_PER_S;
    }
    s.e->ops->stats(s.e, &st);
    ck_assert_uint_eq(asked, 3);
    ck_assert_uint_eq(st.queued, 0);
    ck_assert_uint_eq(st.failed, host_urls + 1);
    s.e->ops->close(s.e);
}
END_TEST

START_TEST(a_redirect_back_to_its_own_chain_is_a_loop)
{
    static struct sim s;
    char key[64], url[64];
    struct engine_item to;
    struct engine_done d;
    struct engine_lease l;
    struct engine_stats st;

    start(&s, NS_PER_MS);
    l = lease_one(&s);
    to = item_of(&s, 1, key, url, sizeof key, 0);
    to.seed = false;
    to.hops = 1;
    d = (struct engine_done){.id = l.id,
                             .outcome = {OUTCOME_REDIRECT, REASON_NONE, 302},
                             .found = &to,
                             .found_count = 1,
                             .host = {.ended = s.now,
                                      .crawl_delay_ms = -2,
                                      .retry_after_ms = -1}};
    ack(&s, &d);
    s.now += NS_PER_S;
    l = lease_one(&s);
    ck_assert_uint_eq(l.id, 2);
    ck_assert_uint_eq(l.hops, 1);
    to = item_of(&s, 0, key, url, sizeof key, 0);
    to.seed = false;
    to.hops = 2;
    d.id = l.id;
    ack(&s, &d);
    s.e->ops->stats(s.e, &st);
    ck_assert_uint_eq(st.queued, 0);
    ck_assert_uint_eq(st.redirects, 2);
    ck_assert_uint_eq(st.seeds_failed, 1);
    ck_assert_uint_eq(frontier_store_counter(frontier_store_of(s.e),
                                             "redirect.redirect_loop"),
                      1);
    s.e->ops->close(s.e);
}
END_TEST

START_TEST(the_page_limit_is_never_overrun)
{
    static struct sim s;
    struct engine_stats st;

    start(&s, 0);
    s.e->ops->close(s.e);
    s.o.limit_pages = 100;
    reopen(&s);
    for (int i = 0; i < 5000; i++)
        step(&s);
    s.e->ops->stats(s.e, &st);
    ck_assert_uint_eq(st.pages, 100);
    ck_assert_uint_gt(st.queued, 0);
    s.e->ops->close(s.e);
}
END_TEST

START_TEST(per_host_budget_gives_the_rest_their_last_word)
{
    static struct sim s;
    struct engine_stats st;

    start(&s, 0);
    s.e->ops->close(s.e);
    s.o.per_host = 3;
    reopen(&s);
    for (int i = 0; i < 20000 && step(&s); i++)
        ;
    s.e->ops->stats(s.e, &st);
    ck_assert_uint_eq(st.queued, 0);
    ck_assert_uint_le(st.pages, 3 * HOSTS);
    ck_assert_uint_eq(st.pages + st.skipped, st.urls);
    s.e->ops->close(s.e);
}
END_TEST

START_TEST(links_of_a_body_seen_before_are_not_admitted_where_that_is_asked)
{
    static struct sim s;
    char keys[4][64], urls[4][64];
    struct engine_item found[4];
    struct engine_done d[1];
    struct engine_stats st;

    start(&s, 0);
    s.e->ops->close(s.e);
    s.o.skip_same_content = true;
    reopen(&s);
    for (unsigned i = 0; i < 4; i++)
        found[i] = item_of(&s, i + 1, keys[i], urls[i], sizeof keys[i], 1);
    d[0] = (struct engine_done){.id = lease_one(&s).id,
                                .outcome = {OUTCOME_FETCHED, REASON_NONE, 200},
                                .row = {.body_digest = {1, 2}, .links = 2},
                                .found = found,
                                .found_count = 2,
                                .host = {.ended = s.now,
                                         .crawl_delay_ms = -2,
                                         .retry_after_ms = -1}};
    ack(&s, &d[0]);
    s.e->ops->stats(s.e, &st);
    ck_assert_uint_eq(st.urls, 3);
    s.now += NS_PER_S;
    d[0].id = lease_one(&s).id; /* the same body, other links */
    d[0].found = found + 2;
    ack(&s, &d[0]);
    s.e->ops->stats(s.e, &st);
    ck_assert_uint_eq(st.urls, 3);
    ck_assert_uint_eq(frontier_store_counter(frontier_store_of(s.e),
                                             "same_content"),
                      1);
    s.now += NS_PER_S;
    d[0].id = lease_one(&s).id; /* another body */
    d[0].row.body_digest.lo++;
    ack(&s, &d[0]);
    s.e->ops->stats(s.e, &st);
    ck_assert_uint_eq(st.urls, 5);
    s.e->ops->close(s.e);
}
END_TEST

/* ---- what is found on disk ---- */

static void crawl_some(struct sim *s)
{
    start(s, 0);
    for (int i = 0; i < 300; i++)
        step(s);
    ck_assert_int_eq(frontier_checkpoint_now(s->e, "stopped", true, s->now,
                                             wall(s)),
                     STATUS_OK);
    s->e->ops->close(s->e);
    cut_flights(s);
}

START_TEST(a_missing_or_damaged_filter_file_is_rebuilt)
{
    static struct sim s;
    struct buf b;

    crawl_some(&s);
    buf_init(&b, (size_t)64 << 20);
    ck_assert_int_eq(file_read(in_dir("filter.ckpt"), &b), STATUS_OK);
    for (int damage = 0; damage < 4; damage++) {
        struct frontier_watch w;
        struct engine_stats st;

        if (damage == 0)
            ck_assert_int_eq(unlink(in_dir("filter.ckpt")), 0);
        else if (damage == 1)
            b.at[b.len / 2] ^= 1;
        else if (damage == 2)
            b.len /= 2;
        else
            b.len = 0;
        if (damage > 0)
            ck_assert_int_eq(file_replace(in_dir("filter.ckpt"), buf_bytes(&b)),
                             STATUS_OK);
        reopen(&s);
        s.e->ops->stats(s.e, &st);
        frontier_watch(s.e, s.now, &w);
        ck_assert_uint_ge(w.filter.keys, st.urls);
        s.e->ops->close(s.e);
    }
    buf_fini(&b);
    reopen(&s);
    while (step(&s))
        ;
    finish(&s);
}
END_TEST

START_TEST(a_store_behind_its_manifest_is_refused)
{
    static struct sim s;
    struct manifest m;

    crawl_some(&s);
    ck_assert_int_eq(manifest_load(in_dir("manifest"), &m), STATUS_OK);
    m.urls++;
    ck_assert_int_eq(manifest_save(in_dir("manifest"), &m), STATUS_OK);
    ck_assert_int_eq(frontier_open(&s.e, dir, &s.o, s.now, wall(&s)),
                     STATUS_DAMAGED);
}
END_TEST

START_TEST(a_missing_emptied_or_cut_store_is_refused_and_never_made_anew)
{
    static struct sim s;
    struct buf b;

    crawl_some(&s);
    buf_init(&b, (size_t)64 << 20);
    ck_assert_int_eq(file_read(in_dir("frontier.db"), &b), STATUS_OK);
    ck_assert_int_eq(unlink(in_dir("frontier.db")), 0);
    ck_assert_int_eq(frontier_open(&s.e, dir, &s.o, s.now, wall(&s)),
                     STATUS_DAMAGED);
    ck_assert_int_eq(file_replace(in_dir("frontier.db"), bytes_of("", 0)),
                     STATUS_OK);
    ck_assert_int_eq(frontier_open(&s.e, dir, &s.o, s.now, wall(&s)),
                     STATUS_DAMAGED);
    ck_assert_int_eq(file_replace(in_dir("frontier.db"),
                                  bytes_of(b.at, b.len / 2)),
                     STATUS_OK);
    ck_assert_int_eq(frontier_open(&s.e, dir, &s.o, s.now, wall(&s)),
                     STATUS_DAMAGED);
    ck_assert_int_eq(file_replace(in_dir("frontier.db"), buf_bytes(&b)),
                     STATUS_OK);
    reopen(&s);
    s.e->ops->close(s.e);
    buf_fini(&b);
}
END_TEST

START_TEST(an_empty_directory_holds_no_crawl)
{
    static struct sim s;

    options(&s, 0);
    ck_assert_int_eq(frontier_open(&s.e, dir, &s.o, 0, WALL), STATUS_NOT_FOUND);
}
END_TEST

struct herald {
    unsigned asked;
    enum status answer;
};

static enum status ask_herald(void *ctx)
{
    struct herald *h = ctx;

    h->asked++;
    return h->answer;
}

/* What a row names (its WARC record, say) is durable before the row is. */
START_TEST(nothing_is_committed_that_before_commit_does_not_allow)
{
    static struct sim s;
    struct herald h = {.answer = STATUS_OK};
    struct engine_stats stats;
    struct engine_item item;
    char key[64], url[64];

    options(&s, 0);
    s.o.before_commit = ask_herald;
    s.o.before_commit_ctx = &h;
    ck_assert_int_eq(frontier_create(&s.e, dir, &s.o, 0, WALL), STATUS_OK);
    for (unsigned page = 0; page < 2; page++) {
        h.asked = 0;
        h.answer = page == 0 ? STATUS_OK : STATUS_IO;
        item = item_of(&s, page, key, url, sizeof key, 1);
        ck_assert_int_eq(s.e->ops->put(s.e, s.o.crawl, 0, &item, 1, WALL, NULL),
                         STATUS_OK);
        ck_assert_uint_eq(h.asked, 0);
        ck_assert_int_eq(s.e->ops->turn(s.e, true, 0, WALL, NULL), h.answer);
        ck_assert_uint_eq(h.asked, 1);
    }
    s.e->ops->close(s.e);
    s.o.before_commit = NULL;
    ck_assert_int_eq(frontier_open(&s.e, dir, &s.o, 0, WALL), STATUS_OK);
    s.e->ops->stats(s.e, &stats);
    ck_assert_uint_eq(stats.urls, 1);
    s.e->ops->close(s.e);
}
END_TEST

Suite *suite_frontier(void)
{
    Suite *s = suite_create("frontier");
    TCase *t = tcase_create("crawl"), *u = tcase_create("fate"),
          *d = tcase_create("disk");

    tcase_set_timeout(t, 60);
    tcase_add_checked_fixture(t, make_dir, remove_dir);
    tcase_add_test(t, fetches_every_page_once_and_never_two_of_a_host_at_once);
    tcase_add_test(
        t,
        loses_nothing_over_fifty_crashes_and_refetches_only_what_was_in_flight);
    tcase_add_test(t, a_recorded_link_graph_is_whole_after_crashes);
    tcase_add_test(t, hosts_without_delay_are_asked_one_url_at_a_time_too);
    tcase_add_test(
        t,
        ours_a_host_without_delay_has_a_run_of_urls_before_others_have_theirs);
    suite_add_tcase(s, t);
    tcase_set_timeout(u, 30);
    tcase_add_checked_fixture(u, make_dir, remove_dir);
    tcase_add_test(u, a_failing_url_gets_its_tries_and_then_its_last_word);
    tcase_add_test(u, retry_after_blocks_the_host_also_across_a_restart);
    tcase_add_test(
        u, after_a_crash_a_host_without_urls_left_waits_out_its_delay_too);
    tcase_add_test(u, a_crawl_delay_holds_from_its_first_reading_on);
    tcase_add_test(u,
                   a_host_that_cannot_be_reached_costs_its_tries_and_no_more);
    tcase_add_test(u, a_redirect_back_to_its_own_chain_is_a_loop);
    tcase_add_test(u, the_page_limit_is_never_overrun);
    tcase_add_test(u, per_host_budget_gives_the_rest_their_last_word);
    tcase_add_test(
        u, links_of_a_body_seen_before_are_not_admitted_where_that_is_asked);
    suite_add_tcase(s, u);
    tcase_set_timeout(d, 30);
    tcase_add_checked_fixture(d, make_dir, remove_dir);
    tcase_add_test(d, a_missing_or_damaged_filter_file_is_rebuilt);
    tcase_add_test(d, a_store_behind_its_manifest_is_refused);
    tcase_add_test(
        d, a_missing_emptied_or_cut_store_is_refused_and_never_made_anew);
    tcase_add_test(d, an_empty_directory_holds_no_crawl);
    tcase_add_test(d, nothing_is_committed_that_before_commit_does_not_allow);
    suite_add_tcase(s, d);
    return s;
}
