/* SPDX-License-Identifier: MIT */
/*
 * test_frontier_faults.c - makes each SQLite statement of the frontier of a crawl
 * fail once: the call must report it, and the next start must find a sound
 * store.
 */
#include "tests/unit/frontier/frontier_rig.h"
#include "tests/unit/storage/step_fault.h"

#define URLS 60

struct run {
    struct rig r;
    struct scratch made; /* the crawl that each task starts from */
};

static const char *nth_url(char text[64], unsigned i)
{
    snprintf(text, 64, "http://h%u.test/%u", i % 5, i);
    return text;
}

static void commit(struct run *x)
{
    struct rig *r = &x->r;

    TELLS(frontier_turn(r->e, true, r->now, rig_wall(r), NULL));
}

/* ---- the tasks ---- */

static void open_it(void *run)
{
    struct rig *r = &((struct run *)run)->r;

    TELLS(frontier_open(&r->e, r->at.dir, &r->o, r->now, rig_wall(r)));
}

/* The same without the filter's file, so that it is made from the rows. */
static void rebuild(void *run)
{
    struct rig *r = &((struct run *)run)->r;
    char path[128];

    snprintf(path, sizeof path, "%s/filter.ckpt", r->at.dir);
    unlink(path);
    open_it(run);
}

static void put(void *run)
{
    struct run *x = run;
    struct rig *r = &x->r;
    const struct url_hint hint = {.lastmod_ms = 5, .priority = 500};
    char text[4][64];
    struct url_item items[4];

    for (unsigned i = 0; i < 4; i++)
        items[i] = rig_item(r, nth_url(text[i], 50 + 15 * i));
    items[3].hint = &hint;
    TELLS(frontier_put(r->e, 1, items, 4, rig_wall(r), NULL));
    commit(x);
}

static void crawl(void *run)
{
    struct run *x = run;
    struct rig *r = &x->r;
    const struct robots_row robots = {.origin = bytes_of_str("http://h1.test"),
                                      .body = bytes_of_str("User-agent: *")};
    const struct url_drop drop = {REASON_SCOPE, bytes_of_str("x.test"),
                                  bytes_of_str("http://x.test/")};
    struct host_news host = {.ended = r->now,
                             .robots_read = true,
                             .crawl_delay_ms = 10,
                             .retry_after_ms = 5,
                             .slow_down = true,
                             .robots = &robots};
    struct url_done done[2] = {0};
    struct url_lease l[3];
    struct url_item links[2];
    char text[2][64];
    size_t n = 0;

    r->now += NS_PER_S;
    TELLS(frontier_lease(r->e, 3, r->now, rig_wall(r), l, &n));
    ck_assert_uint_eq(n, 3);
    links[0] = rig_item(r, nth_url(text[0], 1000));
    links[1] = rig_item(r, nth_url(text[1], 3));
    done[0] = (struct url_done){.id = l[0].id,
                                .outcome = {OUTCOME_FETCHED, REASON_NONE, 200},
                                .row = {.at_ms = RIG_WALL,
                                        .mime = bytes_of_str("text/x-new")},
                                .outlinks = links,
                                .outlink_count = 2,
                                .drops = &drop,
                                .drop_count = 1,
                                .host = host};
    done[1] = (struct url_done){.id = l[1].id,
                                .outcome = {OUTCOME_FAILED, REASON_TIMEOUT, 0},
                                .transient = true,
                                .host = {.ended = r->now,
                                         .robots_read = true,
                                         .crawl_delay_ms = -1,
                                         .retry_after_ms = -1}};
    TELLS(frontier_ack(r->e, done, 2, r->now, rig_wall(r)));
    TELLS(
        frontier_release(r->e, l[2].id, 0, &done[1].host, r->now, rig_wall(r)));
    commit(x);
}

static void steer(void *run)
{
    struct run *x = run;
    struct rig *r = &x->r;
    struct bytes key = bytes_of_str("h1.test");

    TELLS(frontier_block(r->e, key, r->now + 5, r->now, rig_wall(r)));
    TELLS(frontier_delay(r->e, key, 500, r->now));
    TELLS(frontier_limit_queue(r->e, 2, 5, 1, r->now));
    commit(x);
    TELLS(frontier_checkpoint_now(r->e, "stopped", true, r->now, rig_wall(r)));
}

static void lend(void *run)
{
    struct run *x = run;
    struct rig *r = &x->r;
    const struct external_request ask = {.most = 3, .length = 30 * NS_PER_S};
    const struct external_report over = {.final = true, .http_status = 200};
    const struct external_report later = {.due_ms = rig_wall(r) + 5000};
    struct external_url u[3];
    enum external_result said;
    struct url_item link;
    char text[64];
    uint64_t id;
    size_t n = 0;

    r->now += NS_PER_S;
    TELLS(external_grant(r->e, &ask, r->now, rig_wall(r), u, &n));
    ck_assert_uint_eq(n, 3);
    TELLS(
        external_extend(r->e, u[0].number, 60 * NS_PER_S, r->now, rig_wall(r)));
    TELLS(external_settle(r->e, u[1].lease.id, &over, r->now, rig_wall(r),
                          &said));
    TELLS(external_settle(r->e, u[2].lease.id, &later, r->now, rig_wall(r),
                          &said));
    link = rig_item(r, nth_url(text, 2000));
    TELLS(external_discover(r->e, &link, 1, NULL, 0, r->now, rig_wall(r), &id));
    commit(x);
}

static void remove_queue(void *run)
{
    struct run *x = run;
    struct rig *r = &x->r;
    struct removal removal;
    bool over = false;
    uint64_t n;

    TELLS(removal_begin(r->e, bytes_of_str("h3.test"), INT64_MAX, &removal));
    while (!over)
        TELLS(removal_step(r->e, &removal, 4, r->now, rig_wall(r), &over));
    TELLS(removal_count(r->e, 4, &n));
    commit(x);
}

static void retry(void *run)
{
    struct run *x = run;
    struct rig *r = &x->r;
    struct failed_retry all = {.reason_count = 0};
    bool over = false;

    TELLS(frontier_retry_failed(r->e, &all, 100, r->now, rig_wall(r), &over));
    ck_assert(over);
    ck_assert_uint_eq(all.queued, 1);
    commit(x);
}

/* The URL that failed is done; the last one is queued, and has a try left. */
static void blame(void *run)
{
    struct run *x = run;
    struct rig *r = &x->r;

    TELLS(frontier_blame(r->e, URLS, BLAME_DIED, r->now, rig_wall(r)));
    TELLS(frontier_blame(r->e, URLS - 1, BLAME_STUCK, r->now, rig_wall(r)));
    commit(x);
}

/* ---- each of their statements fails in turn ---- */

static const struct work {
    const char *name;
    void (*run)(void *run);
    bool opens; /* by itself */
} works[] = {
    {"put", put, false},        {"crawl", crawl, false},
    {"steer", steer, false},    {"lend", lend, false},
    {"retry", retry, false},    {"remove", remove_queue, false},
    {"blame", blame, false},    {"open", open_it, true},
    {"rebuild", rebuild, true},
};

/* Makes a crawl that has had pages, tries, blocks and leases. */
static void make_crawl(struct run *x)
{
    char text[64];

    rig_init(&x->r);
    x->r.o.tries = 3;
    x->r.o.record_links = true;
    x->made = x->r.at;
    rig_create(&x->r);
    for (unsigned i = 0; i < URLS; i++)
        rig_seed(&x->r, nth_url(text, i));
    crawl(x);
    rig_ack(&x->r, rig_lease(&x->r),
            (struct outcome){OUTCOME_FAILED, REASON_HTTP, 404}, NULL, 0);
    lend(x);
    rig_stop(&x->r);
}

static bool fails_at(struct run *x, const struct work *work, uint64_t n)
{
    unsigned descriptors = scratch_descriptors();
    bool failed;

    x->r.at = scratch_make();
    rig_copy(&x->made, &x->r.at);
    if (!work->opens)
        rig_reopen(&x->r);
    failed = step_fault_at(n, work->run, x);
    if (x->r.e != NULL)
        frontier_close(x->r.e);
    x->r.e = NULL;
    rig_reopen(&x->r);
    rig_stop(&x->r);
    rig_verify(&x->r);
    ck_assert_uint_eq(scratch_descriptors(), descriptors);
    scratch_remove(&x->r.at);
    return failed;
}

TIMEOUT(120);

TEST_EACH(a_statement_that_fails_is_told_and_the_next_start_goes_on, works)
{
    const struct work *work = &works[_i];
    struct run x;
    uint64_t n = 1;

    make_crawl(&x);
    while (fails_at(&x, work, n))
        n++;
    ck_assert_msg(n > 5, "%s runs %llu statements", work->name,
                  (unsigned long long)n);
    scratch_remove(&x.made);
}
