/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "filter/block.h"
#include "filter/slab.h"
#include "tests/unit/filter/keys.h"
#include "tests/unit/storage/scratch.h"
#include "tests/unit/unit.h"

enum { RUNS = 500 };

static void mark(struct slab_run *r, uint64_t with)
{
    for (size_t i = 0; i < (size_t)r->blocks * BLOCK_LANES; i++)
        r->at[i] = with + i;
}

static void check_mark(const struct slab_run *r, uint64_t with)
{
    for (size_t i = 0; i < (size_t)r->blocks * BLOCK_LANES; i++)
        if (r->at[i] != with + i)
            ck_abort_msg("a run changed");
}

/* As in a growing filter: each run in turn grows by an eighth. */
TEST(runs_that_grow_keep_their_content_and_little_is_wasted)
{
    static struct slab_run runs[RUNS];
    struct slab s;

    slab_init(&s, 0);
    for (size_t i = 0; i < RUNS; i++) {
        ck_ok(slab_take(&s, 40, &runs[i]));
        mark(&runs[i], i << 32);
    }
    for (uint64_t step = 0; step < RUNS * 30; step++) {
        size_t i = nth_key(step) % RUNS;
        struct slab_run more;

        if (runs[i].blocks > 1000)
            continue;
        ck_ok(slab_take(&s, runs[i].blocks + runs[i].blocks / 8, &more));
        for (size_t j = 0; j < (size_t)more.blocks * BLOCK_LANES; j++)
            if (more.at[j] != 0)
                ck_abort_msg("a new run is not empty");
        slab_give(&s, &runs[i]);
        runs[i] = more;
        mark(&runs[i], i << 32);
        slab_tidy(&s, runs, RUNS);
    }
    for (size_t i = 0; i < RUNS; i++)
        check_mark(&runs[i], i << 32);
    /* With 500 runs, the ends of chunks matter more than with 4096. */
    ck_assert_double_le((double)s.total, 1.15 * (double)s.live);
    slab_fini(&s);
}

TEST(it_never_holds_more_than_allowed)
{
    static struct slab_run runs[RUNS];
    enum status st = STATUS_OK;
    struct slab s;
    size_t n = 0;

    slab_init(&s, 5000);
    while (n < RUNS && (st = slab_take(&s, 50, &runs[n])) == STATUS_OK) {
        n++;
        ck_assert_uint_le(s.total, 5000);
    }
    ck_assert_int_eq(st, STATUS_LIMIT);
    ck_assert_uint_ge(n, 70);
    slab_fini(&s);
}

TEST(memory_that_fails_changes_nothing)
{
    struct slab_run a, b;
    struct slab s;

    slab_init(&s, 0);
    mem_fail_after(1);
    ck_assert_int_eq(slab_take(&s, 10, &a), STATUS_NOMEM);
    mem_fail_after(2);
    ck_assert_int_eq(slab_take(&s, 10, &a), STATUS_NOMEM);
    mem_fail_after(0);
    ck_ok(slab_take(&s, 10, &a));
    ck_ok(slab_take(&s, 100000, &b));
    ck_assert_uint_eq((uintptr_t)b.at % BLOCK_BYTES, 0);
    slab_give(&s, &a);
    slab_give(&s, &b);
    ck_assert_uint_eq(s.live, 0);
    slab_fini(&s);
}
/* ---- the books ------------------------------------------------------------*/

/* What the slab counts is what chunks and runs add up to, and no two runs
 * overlap. */
static void check_books(const struct slab *s, const struct slab_run *runs,
                        size_t n)
{
    static uint32_t live[4096];
    uint64_t total = 0, used = 0, all_live = 0;

    ck_assert_uint_le(s->count, 4096);
    memset(live, 0, sizeof live);
    for (size_t i = 0; i < n; i++) {
        const struct slab_run *r = &runs[i];
        const struct slab_chunk *c;
        size_t at;

        if (r->blocks == 0)
            continue;
        SAME(r->chunk < s->count, true);
        c = &s->chunks[r->chunk];
        SAME(r->at >= c->at, true);
        at = (size_t)(r->at - c->at);
        SAME(at % BLOCK_LANES, 0);
        SAME(at / BLOCK_LANES + r->blocks <= c->used, true);
        SAME((uintptr_t)r->at % BLOCK_BYTES, 0);
        live[r->chunk] += r->blocks;
        all_live += r->blocks;
    }
    for (uint32_t i = 0; i < s->count; i++) {
        const struct slab_chunk *c = &s->chunks[i];

        SAME(c->live, live[i]);
        SAME(c->live <= c->used && c->used <= c->size, true);
        if (c->at == NULL)
            SAME(c->size, 0);
        total += c->size;
        used += c->used;
    }
    SAME(s->total, total);
    SAME(s->used, used);
    SAME(s->live, all_live);
    if (s->most > 0)
        SAME(s->total <= s->most, true);
}

/* Takes, gives and tidies at random; each run keeps what was written to it. */
TEST(random_use_keeps_the_books_and_every_run)
{
    static struct slab_run runs[RUNS];
    static const uint64_t most[] = {0, 20000};

    for (int limited = 0; limited < 2; limited++) {
        uint64_t random = 1, refused = 0;
        struct slab s;

        memset(runs, 0, sizeof runs);
        slab_init(&s, most[limited]);
        for (int step = 0; step < 20000; step++) {
            size_t i = nth_key(random++) % RUNS;
            uint32_t blocks = (uint32_t)(nth_key(random++) % 200) + 1;

            if (runs[i].blocks > 0) {
                check_mark(&runs[i], i << 32);
                slab_give(&s, &runs[i]);
                SAME(runs[i].blocks, 0);
            } else if (slab_take(&s, blocks, &runs[i]) == STATUS_OK) {
                SAME(runs[i].blocks, blocks);
                mark(&runs[i], i << 32);
            } else {
                runs[i].blocks = 0;
                refused++;
            }
            if (step % 3 == 0)
                slab_tidy(&s, runs, RUNS);
            if (step % 50 == 0)
                check_books(&s, runs, RUNS);
        }
        ck_assert((refused > 0) == (limited == 1));
        for (size_t i = 0; i < RUNS; i++)
            if (runs[i].blocks > 0) {
                check_mark(&runs[i], i << 32);
                slab_give(&s, &runs[i]);
            }
        check_books(&s, runs, RUNS);
        ck_assert_uint_eq(s.live, 0);
        slab_fini(&s);
    }
}

/* A chunk is 16 KiB (256 blocks) at least, eight of the longest run, and about
 * 1/256 of all, but no more than 4 MiB for that. */
TEST(chunks_grow_with_what_is_held)
{
    static struct slab_run runs[40000];
    struct slab s;
    struct slab_run one;

    slab_init(&s, 0);
    ck_ok(slab_take(&s, 1, &one));
    ck_assert_uint_eq(s.total, 256);
    ck_ok(slab_take(&s, 33, &one));
    ck_assert_uint_eq(s.total, 256); /* it still fits */
    ck_ok(slab_take(&s, 250, &one));
    ck_assert_uint_eq(s.total, 256 + 2048);
    slab_fini(&s);

    slab_init(&s, 0);
    for (size_t i = 0; i < 40000; i++) {
        uint64_t before = s.total;

        ck_ok(slab_take(&s, 10, &runs[i]));
        if (s.total == before)
            continue;
        ck_assert_uint_ge((s.total - before) * 256, s.live - 10);
        ck_assert_uint_le(s.total - before, 2048);
        if (s.live < 65536)
            ck_assert_uint_eq(s.total - before, 256);
    }
    ck_assert_uint_lt(s.total, 400000 + 400000 / 50);
    ck_assert(!slab_huge(&s)); /* no chunk is that large */
    slab_fini(&s);
}

TEST(at_the_limit_smaller_chunks_are_taken_as_long_as_the_run_fits)
{
    struct slab_run r[4];
    struct slab s;

    slab_init(&s, 1000);
    /* Eight times 100 are 1024 blocks: too many, so half of that. */
    ck_ok(slab_take(&s, 100, &r[0]));
    ck_assert_uint_eq(s.total, 512);
    ck_ok(slab_take(&s, 412, &r[1]));
    ck_assert_uint_eq(s.total, 512);
    ck_ok(slab_take(&s, 100, &r[2]));
    ck_assert_uint_eq(s.total, 768); /* 256 are the least */
    ck_assert_int_eq(slab_take(&s, 157, &r[3]), STATUS_LIMIT);
    ck_ok(slab_take(&s, 156, &r[3]));
    ck_assert_uint_eq(s.total, 768);
    slab_fini(&s);
    slab_init(&s, 256);
    ck_assert_int_eq(slab_take(&s, 257, &r[0]), STATUS_LIMIT);
    ck_ok(slab_take(&s, 256, &r[0]));
    slab_fini(&s);
    slab_init(&s, 255);
    ck_assert_int_eq(slab_take(&s, 1, &r[0]), STATUS_LIMIT);
    slab_fini(&s);
}

/* A few at a time, until no more than a fortieth is dead. */
TEST(tidying_moves_a_few_runs_at_a_time)
{
    static struct slab_run runs[RUNS];
    uint64_t before[RUNS], calls = 0;
    struct slab s;

    slab_init(&s, 0);
    for (size_t i = 0; i < RUNS; i++) {
        ck_ok(slab_take(&s, 100, &runs[i]));
        mark(&runs[i], i << 32);
    }
    slab_tidy(&s, runs, RUNS); /* nothing is dead */
    check_books(&s, runs, RUNS);
    for (size_t i = 0; i < RUNS; i += 2)
        slab_give(&s, &runs[i]);
    while ((s.used - s.live) * SLAB_WASTE > s.total && calls < 10000) {
        uint64_t moved = 0;

        for (size_t i = 0; i < RUNS; i++)
            before[i] = (uint64_t)(uintptr_t)runs[i].at;
        slab_tidy(&s, runs, RUNS);
        for (size_t i = 1; i < RUNS; i += 2)
            moved += before[i] != (uint64_t)(uintptr_t)runs[i].at ? 100 : 0;
        ck_assert_uint_le(moved, 4 * (s.live / RUNS) + 1024 + 100);
        check_books(&s, runs, RUNS);
        calls++;
    }
    ck_assert_uint_gt(calls, 5);
    ck_assert_uint_lt(calls, 10000);
    for (size_t i = 1; i < RUNS; i += 2)
        check_mark(&runs[i], i << 32);
    slab_tidy(&s, NULL, 0);
    slab_fini(&s);
}

/* Only chunks of 2 MiB or more count. */
TEST(huge_is_said_of_all_large_chunks_or_of_none)
{
    uint64_t somewhere;
    struct slab_chunk chunks[4] = {
        {.at = NULL, .size = 0, .huge = false},
        {.at = &somewhere, .size = 32767, .huge = false},
        {.at = &somewhere, .size = 32768, .huge = true},
        {.at = &somewhere, .size = 65536, .huge = true},
    };
    struct slab s = {.chunks = chunks, .count = 4};

    ck_assert(slab_huge(&s));
    chunks[2].huge = false;
    ck_assert(!slab_huge(&s));
    chunks[2].huge = true;
    chunks[3].huge = false;
    ck_assert(!slab_huge(&s));
    s.count = 3;
    ck_assert(slab_huge(&s));
    s.count = 2;
    ck_assert(!slab_huge(&s)); /* there is none */
    s.count = 0;
    ck_assert(!slab_huge(&s));
}
