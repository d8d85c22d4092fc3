/* SPDX-License-Identifier: MIT */
/*
 * test_seen.c - the seen check against a plain set.
 *
 * The answers must match the set, whatever the filter says and whatever the hot
 * cache has forgotten; the counts must add up.
 */
/* Promise (Seen check and store): batch table, hot cache, filter and exact set
 * together answer as a plain set does. See also `exact_set`, `make sim`. */
#include "frontier/seen/seen.h"

#include "tests/unit/storage/scratch.h"

#define UNIVERSE 60000
#define BATCH    700

struct parts {
    struct scratch dir;
    struct db *db;
    struct exact_set *exact;
    struct filter *filter;
    struct seen *seen;
    bool known[UNIVERSE]; /* the model */
    uint64_t admitted;
};

/* `fpr` 0: no filter. */
static void parts_init(struct parts *p, double fpr)
{
    const struct filter_options fo = {.kind = "bloom",
                                      .expect = UNIVERSE / 2,
                                      .fpr = fpr};
    const struct exact_set_options eo = {.block_cache_bytes = 1 << 20,
                                         .delta_most = 2000};

    memset(p, 0, sizeof *p);
    p->dir = scratch_make();
    p->db = scratch_open(p->dir.db, DB_CREATE);
    ck_ok(exact_set_open(&p->exact, p->db, &eo));
    if (fpr > 0)
        ck_ok(filter_new(&p->filter, &fo));
    ck_ok(seen_new(&p->seen, p->filter, p->exact, 0));
}

static void parts_fini(struct parts *p)
{
    seen_free(p->seen);
    filter_free(p->filter);
    exact_set_close(p->exact);
    db_close(p->db);
    scratch_remove(&p->dir);
}

/* Asks for few URLs often and for most of them seldom. */
static uint64_t draw(uint64_t *state)
{
    uint64_t range = UINT64_C(1) << scratch_below(state, 17);

    return scratch_below(state, range < UNIVERSE ? range : UNIVERSE);
}

/* In one of the first 64 sets of the hot cache, so that there are more than it
 * has room for. */
static struct digest crowded(uint64_t i)
{
    struct digest d = scratch_digest(i);

    return (struct digest){d.hi, d.lo >> 8};
}

/* Checks one batch, compares its answers and admits its new URLs; returns how
 * many the filter was wrong about. */
static uint64_t one_batch(struct parts *p, uint64_t *state)
{
    struct digest asked[BATCH] = {{0, 0}}, fresh[BATCH];
    enum seen_answer answers[BATCH];
    uint64_t numbers[BATCH], wrong = 0;
    size_t n = scratch_below(state, BATCH + 1), fresh_count = 0;

    for (size_t i = 0; i < n; i++) {
        numbers[i] = draw(state);
        asked[i] = crowded(numbers[i]);
    }
    ck_ok(seen_check(p->seen, asked, n, answers));
    for (size_t i = 0; i < n; i++) {
        SAME(answers[i] == SEEN_BEFORE, p->known[numbers[i]]);
        if (answers[i] == SEEN_BEFORE)
            continue;
        p->known[numbers[i]] = true;
        wrong += answers[i] == SEEN_NEW_FALSE_POSITIVE;
        fresh[fresh_count++] = asked[i];
    }
    ck_ok(db_begin(p->db));
    if (fresh_count > 0)
        ck_ok(seen_admit(p->seen, fresh, fresh_count, p->admitted + 1));
    ck_ok(exact_set_step(p->exact, fresh_count));
    ck_ok(db_commit(p->db));
    p->admitted += fresh_count;
    return wrong;
}

static void compare_with_a_plain_set(double fpr)
{
    static struct parts p;
    uint64_t state = 42, wrong = 0;
    struct seen_counts c;

    parts_init(&p, fpr);
    for (uint64_t i = 0; i < scratch_size(200, 2000); i++)
        wrong += one_batch(&p, &state);
    c = seen_counts(p.seen);
    ck_assert_uint_gt(p.admitted, 10000);
    ck_assert_uint_gt(c.hot, 1000);
    ck_assert_uint_gt(c.in_batch, 1000);
    ck_assert_uint_eq(c.false_positives, wrong);
    if (fpr > 0) {
        /* each question was answered by exactly one part */
        ck_assert_uint_eq(c.asked,
                          c.in_batch + c.hot + c.filter_new + c.filter_maybe);
        ck_assert_uint_eq(p.admitted, c.filter_new + c.false_positives);
    } else {
        ck_assert_uint_eq(c.filter_new + c.filter_maybe, 0);
    }
    if (fpr > 0.1)
        ck_assert_uint_gt(wrong, 100);
    parts_fini(&p);
}

TIMEOUT(120);

TEST(answers_as_a_plain_set_does_with_a_filter_that_errs_often)
{
    compare_with_a_plain_set(0.5);
}

/* The exact set decides every "maybe" of an overfull filter: only speed is
 * lost. */
TEST(an_overfull_filter_loses_nothing)
{
    static struct parts p;
    const struct filter_options fo = {.kind = "bloom", .expect = 1, .fpr = 0.5};
    uint64_t state = 7, wrong = 0;

    parts_init(&p, 0);
    seen_free(p.seen);
    ck_ok(filter_new(&p.filter, &fo));
    ck_ok(seen_new(&p.seen, p.filter, p.exact, 0));
    for (int i = 0; i < 60; i++)
        wrong += one_batch(&p, &state);
    ck_assert_uint_gt(wrong, p.admitted / 2);
    parts_fini(&p);
}

/* Digests that differ in a few bits only fall on the same place in the batch
 * table and the hot cache. */
TEST(digests_that_share_a_place_are_told_apart)
{
    static struct parts p;
    struct digest d[64];
    enum seen_answer answers[64];

    parts_init(&p, 0.01);
    for (uint64_t i = 0; i < 64; i++)
        d[i] = (struct digest){UINT64_C(1) << i, 5};
    ck_ok(seen_check(p.seen, d, 32, answers));
    for (size_t i = 0; i < 32; i++)
        ck_assert_int_ne(answers[i], SEEN_BEFORE);
    ck_ok(seen_admit(p.seen, d, 32, 1));
    for (int round = 0; round < 3; round++) {
        ck_ok(seen_check(p.seen, d, 64, answers));
        for (size_t i = 0; i < 64; i++)
            ck_assert_int_eq(answers[i] == SEEN_BEFORE, i < 32);
    }
    parts_fini(&p);
}
