/* SPDX-License-Identifier: MIT */
/*
 * test_run_space.c - random transactions against a plain model: no page is
 * given out while a run in force, or one that a reader or a power cut may go
 * back to, has it.
 */
#include "storage/db/run_space.h"

#include "tests/unit/storage/scratch.h"

#define RUNS    60
#define LARGEST 90

struct run {
    uint32_t at[LARGEST], count;
};

/* The runs that are in force after a commit. */
struct state {
    struct run runs[RUNS];
};

struct model {
    struct run_space *s;
    struct state now, committed;
    struct state kept[8]; /* after commits that are not covered yet */
    unsigned kept_count;
    uint64_t random, commits;
};

static void expect_apart(const struct run *taken, const struct state *state)
{
    for (unsigned i = 0; i < RUNS; i++) {
        for (uint32_t k = 0; k < state->runs[i].count; k++) {
            for (uint32_t t = 0; t < taken->count; t++)
                SAME(taken->at[t] == state->runs[i].at[k], false);
        }
    }
}

static void merge_one(struct model *m)
{
    struct run *r = &m->now.runs[scratch_below(&m->random, RUNS)], taken;

    taken.count = (uint32_t)scratch_below(&m->random, LARGEST);
    SAME(run_space_take(m->s, taken.at, taken.count), STATUS_OK);
    for (uint32_t i = 1; i < taken.count; i++)
        SAME(taken.at[i] != taken.at[i - 1], true);
    expect_apart(&taken, &m->now);
    expect_apart(&taken, &m->committed);
    for (unsigned i = 0; i < m->kept_count; i++)
        expect_apart(&taken, &m->kept[i]);
    run_space_drop(m->s, r->at, r->count);
    *r = taken;
}

static void end_one(struct model *m)
{
    if (scratch_below(&m->random, 4) == 0) {
        run_space_roll_back(m->s);
        m->now = m->committed;
        return;
    }
    if (m->kept_count == 8) {
        run_space_reuse(m->s, m->commits);
        m->kept_count = 0;
    }
    m->kept[m->kept_count++] = m->committed;
    m->commits = run_space_commit(m->s);
    m->committed = m->now;
}

static uint32_t in_force(const struct state *state)
{
    uint32_t n = 0;

    for (unsigned i = 0; i < RUNS; i++)
        n += state->runs[i].count;
    return n;
}

TEST(a_page_that_somebody_may_need_is_not_given_out)
{
    struct model *m = calloc(1, sizeof *m);
    uint32_t most = 0;

    ck_assert_ptr_nonnull(m);
    m->s = run_space_new();
    m->random = 5;
    run_space_claimed(m->s);
    for (unsigned round = 0; round < 2000; round++) {
        for (uint64_t i = scratch_below(&m->random, 4); i-- > 0;)
            merge_one(m);
        end_one(m);
        if (in_force(&m->committed) > most)
            most = in_force(&m->committed);
    }
    /* and yet the file does not grow with the number of merges */
    ck_assert_uint_lt(run_space_pages(m->s), 2 * most + 20 * LARGEST);
    ck_assert_uint_lt(run_space_memory(m->s), 200000);
    run_space_free(m->s);
    free(m);
}

/* A reader may be older than the process that opened the file. */
TEST(what_no_run_has_at_the_start_waits_for_a_checkpoint)
{
    struct run_space *s = run_space_new();
    uint32_t at[3];

    run_space_size(s, 100);
    for (uint32_t page = 0; page < 100; page++)
        ck_assert(page == 40 || page == 41 || run_space_claim(s, page));
    ck_assert(!run_space_claim(s, 5));
    ck_assert(!run_space_claim(s, 100));
    run_space_claimed(s);
    ck_ok(run_space_take(s, at, 2));
    ck_assert_uint_eq(at[0], 100);
    ck_assert_uint_eq(run_space_commit(s), 2);
    run_space_reuse(s, 0);
    ck_ok(run_space_take(s, at, 2));
    ck_assert_uint_eq(at[0], 102);
    run_space_roll_back(s);
    run_space_reuse(s, 1);
    ck_ok(run_space_take(s, at, 2));
    ck_assert_uint_eq(at[0], 40);
    ck_assert_uint_eq(at[1], 41);
    run_space_free(s);
}

TEST(a_file_that_would_grow_too_large_is_refused)
{
    struct run_space *s = run_space_new();
    uint32_t at[4];

    run_space_size(s, RUN_SPACE_MOST - 2);
    ck_assert(run_space_claim(s, RUN_SPACE_MOST - 3));
    ck_assert_int_eq(run_space_take(s, at, 3), STATUS_LIMIT);
    ck_ok(run_space_take(s, at, 2));
    ck_assert_int_eq(run_space_take(s, at, 1), STATUS_LIMIT);
    run_space_free(s);
}
