/* SPDX-License-Identifier: MIT */
/*
 * test_served_faults.c - makes each SQLite statement of the served URLs fail
 * once: the call must report it, and the next start must find a sound store.
 */
#include "frontier/served/served.h"
#include "tests/unit/frontier/frontier_rig.h"
#include "tests/unit/frontier/served/served_check.h"
#include "tests/unit/storage/step_fault.h"

#define NOW RIG_WALL

static const struct served_options options = {.fpr = 0.01,
                                              .memory = (uint64_t)64 << 20,
                                              .sweep_from = 10};

struct run {
    struct scratch at, made;
    struct served *t;
    uint64_t leases[8];
    size_t n;
};

static struct url_put url(char text[64], unsigned i, bool known)
{
    snprintf(text, 64, "http://h%u.test/%u", i % 3, i);
    return (struct url_put){.known = known,
                            .crawl = bytes_of_str("c"),
                            .key = bytes_of(text + 7, 7),
                            .url = bytes_of_str(text),
                            .metadata = bytes_of_str("a=b"),
                            .due_ms = NOW + i % 2};
}

static bool note(void *ctx, const struct url_view *v)
{
    struct run *x = ctx;

    if (v->lease != 0)
        x->leases[x->n++] = v->lease;
    return true;
}

/* ---- the tasks ---- */

static void open_it(void *run)
{
    struct run *x = run;

    TELLS(served_open(&x->t, x->at.dir, &options, NOW));
}

static void put(void *run)
{
    struct run *x = run;
    struct url_put list[6];
    char text[6][64];

    for (unsigned i = 0; i < 6; i++) /* some exist, some do not */
        list[i] = url(text[i], 2 + 7 * i, i % 2 == 0);
    TELLS(served_put(x->t, list, 6, NOW));
    TELLS(served_commit(x->t));
}

/* URLs of a removed queue come back, between others. */
static void put_again(void *run)
{
    struct run *x = run;
    struct url_put list[6];
    char text[6][64];
    uint64_t gone;

    TELLS(served_remove_queue(x->t, bytes_of_str("c"), bytes_of_str("h1.test"),
                              NOW, &gone));
    TELLS(served_commit(x->t));
    for (unsigned i = 0; i < 6; i++)
        list[i] = url(text[i], i * 7, i % 2 == 0);
    TELLS(served_put(x->t, list, 6, NOW));
    TELLS(served_commit(x->t));
}

static void lease(void *run)
{
    struct run *x = run;
    struct url_ask ask = {.any_crawl = true,
                          .most_urls = 2,
                          .most_queues = 3,
                          .lease_ms = 5000};
    const struct bytes other = bytes_of_str("c=d");
    bool more;

    x->n = 0;
    TELLS(served_get(x->t, &ask, NOW + 9, note, x, &more));
    ck_assert_uint_ge(x->n, 4);
    TELLS(
        served_settle(x->t, x->leases[0], URL_SETTLE_ACK, 0, &other, NOW + 9));
    TELLS(served_settle(x->t, x->leases[1], URL_SETTLE_ACK, NOW + 99, NULL,
                        NOW + 9));
    TELLS(served_settle(x->t, x->leases[2], URL_SETTLE_FAIL, NOW + 99, NULL,
                        NOW + 9));
    TELLS(served_settle(x->t, x->leases[3], URL_SETTLE_EXTEND, NOW + 9999, NULL,
                        NOW + 9));
    TELLS(served_commit(x->t));
}

static void ask(void *run)
{
    struct run *x = run;
    struct url_list list = {.crawl = bytes_of_str("c"),
                            .filtered = true,
                            .filter = bytes_of_str("/1"),
                            .budget = 100};
    struct url_facts facts;
    char text[64];
    struct url_put u = url(text, 4, false);
    bool more;

    TELLS(served_find(x->t, u.crawl, u.key, u.url, NOW, &facts, note, x));
    TELLS(served_list(x->t, &list, NOW, note, x, &more));
}

static void steer(void *run)
{
    struct run *x = run;
    struct bytes c = bytes_of_str("c"), k = bytes_of_str("h1.test");
    uint64_t gone;

    TELLS(served_block(x->t, c, k, NOW + 5, NOW));
    TELLS(served_set_delay(x->t, c, k, 5, NOW));
    TELLS(served_set_limit(x->t, c, k, 5, NOW));
    TELLS(served_set_default_delay(x->t, 7, NOW));
    TELLS(served_set_active(x->t, false));
    TELLS(served_purge(x->t, c, k, NOW - 1, NOW, &gone));
    TELLS(served_commit(x->t));
    TELLS(served_remove_queue(x->t, c, k, NOW, &gone));
    TELLS(served_remove_crawl(x->t, c, NOW, &gone));
    TELLS(served_stop(x->t, NOW));
}

/* ---- each of their statements fails in turn ---- */

static const struct work {
    const char *name;
    void (*run)(void *run);
} works[] = {{"open", open_it}, {"put", put}, {"put again", put_again},
             {"lease", lease},  {"ask", ask}, {"steer", steer}};

static void open_whole(struct run *x)
{
    ck_ok(served_open(&x->t, x->at.dir, &options, NOW));
}

static void make_store(struct run *x)
{
    struct url_put list[30];
    char text[30][64];

    x->at = x->made = scratch_make();
    open_whole(x);
    for (unsigned i = 0; i < 30; i++)
        list[i] = url(text[i], i, i % 4 == 0);
    TELLS(served_put(x->t, list, 30, NOW - 9));
    TELLS(served_set_default_delay(x->t, 0, NOW));
    lease(x);
    TELLS(served_stop(x->t, NOW));
    served_close(x->t);
    x->t = NULL;
}

static bool fails_at(struct run *x, const struct work *work, uint64_t n)
{
    unsigned descriptors = scratch_descriptors();
    bool failed;

    x->at = scratch_make();
    rig_copy(&x->made, &x->at);
    if (work->run != open_it)
        open_whole(x);
    failed = step_fault_at(n, work->run, x);
    served_close(x->t);
    open_whole(x);
    ck_assert(served_consistent(x->t));
    ck_ok(served_stop(x->t, NOW));
    served_close(x->t);
    x->t = NULL;
    (void)rig_verify_dir(x->at.dir);
    ck_assert_uint_eq(scratch_descriptors(), descriptors);
    scratch_remove(&x->at);
    return failed;
}

TIMEOUT(120);

TEST_EACH(a_statement_that_fails_is_told_and_the_next_start_goes_on, works)
{
    const struct work *work = &works[_i];
    struct run x = {.t = NULL};
    uint64_t n = 1;

    make_store(&x);
    while (fails_at(&x, work, n))
        n++;
    ck_assert_msg(n > 3, "%s runs %llu statements", work->name,
                  (unsigned long long)n);
    scratch_remove(&x.made);
}
