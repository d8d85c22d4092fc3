/* SPDX-License-Identifier: MIT */
/* test_near_index.c - near fingerprints, against comparing with all of them. */
#include "storage/index/near_index.h"

#include <stdlib.h>

#include "base/mem.h"
#include "tests/unit/storage/scratch.h"
#include "tests/unit/unit.h"

static struct scratch scratch;
static struct db *d;
static struct near_index *x;

static void open_index(enum db_mode mode)
{
    const struct db_options o = {.cache_bytes = 1 << 20};

    ck_ok(db_open(&d, scratch.db, mode, &o));
    ck_ok(near_index_open(&x, d, 1 << 20, NULL));
}

static void setup(void)
{
    scratch = scratch_make();
    open_index(DB_CREATE);
}

static void teardown(void)
{
    near_index_close(x);
    db_close(d);
    scratch_remove(&scratch);
}

/* The lowest seq of those near to `print`, by looking at all. */
static uint64_t by_looking(const uint64_t *prints, uint64_t n, uint64_t print)
{
    for (uint64_t seq = 1; seq <= n; seq++)
        if (__builtin_popcountll(prints[seq] ^ print) <= NEAR_INDEX_BITS)
            return seq;
    return 0;
}

static uint64_t found(uint64_t print)
{
    uint64_t seq;

    ck_ok(near_index_find(x, print, &seq));
    return seq;
}

TIMEOUT(600);
FIXTURE(setup, teardown);

TEST(manku_3_a_print_is_found_up_to_three_bits_away_and_no_further)
{
    const uint64_t print = UINT64_C(0x0123456789abcdef);

    ck_ok(near_index_add(x, print, 7));
    ck_assert_uint_eq(found(print), 7);
    for (unsigned a = 0; a < 64; a++)
        for (unsigned b = 0; b < a; b++)
            for (unsigned c = 0; c < b; c++) {
                uint64_t flip =
                    UINT64_C(1) << a | UINT64_C(1) << b | UINT64_C(1) << c;

                ck_assert_uint_eq(found(print ^ flip), 7);
                if (c > 0)
                    ck_assert_uint_eq(found(print ^ flip ^ 1), 0);
            }
}

/* Promise (Archives): pages with nearly the text of an earlier one are marked,
 * exactly those within 3 bits, at any size and after kills; their links are
 * followed or not, as asked. See also
 * `near_index/manku_3_a_print_is_found_up_to_three_bits_away_and_no_further`,
 * `text_simhash`, `tests/cli/near-dup.sh`. */
/* Few values in some blocks, as fingerprints of one site have; random flips;
 * rollbacks, and reopening with what the pages lack added again. */
TEST(it_finds_what_comparing_with_all_finds)
{
    enum { ROUND = 200 };
    const uint64_t n = scratch_size(6000, 60000);
    uint64_t *prints = xcalloc(n + 1, sizeof *prints);
    uint64_t dice = 11, hits = 0;

    for (uint64_t seq = 1; seq <= n; seq++) {
        uint64_t print = scratch_random(&dice);

        if (seq % ROUND == 1)
            ck_ok(db_begin(d));
        if (print % 3 == 0)
            print = (print & 0xffff0000ffff) | UINT64_C(0x5) << 16 |
                    (print >> 60) << 48;
        if (seq > 1 && print % 5 == 0) {
            print = prints[1 + scratch_random(&dice) % (seq - 1)];
            for (uint64_t flips = scratch_random(&dice) % 6; flips > 0; flips--)
                print ^= UINT64_C(1) << (scratch_random(&dice) & 63);
        }
        prints[seq] = print;
        ck_assert_uint_eq(found(print), by_looking(prints, seq - 1, print));
        hits += found(print) != 0;
        ck_ok(near_index_add(x, print, seq));
        if (seq % ROUND != 0)
            continue;
        ck_ok(near_index_step(x));
        ck_ok(db_commit(d));
        if (seq % (10 * ROUND) != 0)
            continue;
        near_index_close(x);
        db_close(d);
        open_index(DB_WRITE);
        ck_ok(near_index_check_upto(x, seq));
        for (uint64_t again = near_index_upto(x) + 1; again <= seq; again++)
            ck_ok(near_index_add(x, prints[again], again));
        ck_ok(near_index_verify(x, seq));
    }
    ck_assert_uint_gt(hits, n / 10);
    ck_assert_uint_lt(near_index_memory(x), 16 << 20);
    free(prints);
}

TEST(a_print_that_is_there_keeps_its_seq)
{
    ck_ok(near_index_add(x, 42, 1));
    ck_ok(near_index_add(x, 42, 2));
    ck_assert_uint_eq(found(42), 1);
    ck_assert_uint_eq(near_index_count(x), 1);
}

/* A second run would be a page more to read in each of the four tables. Enough
 * for each part to be merged twice. */
TEST(a_search_has_one_run_to_read)
{
    int64_t young = -1, parts = -1;
    uint64_t dice = 5;

    for (uint64_t seq = 1; seq <= 40000; seq++) {
        if (seq % 4000 == 1)
            ck_ok(db_begin(d));
        ck_ok(near_index_add(x, scratch_random(&dice), seq));
        if (seq % 4000 == 0) {
            ck_ok(near_index_step(x));
            ck_ok(db_commit(d));
        }
    }
    ck_ok(db_number(d,
                    "SELECT count(*) FROM nearpart"
                    " WHERE part >= 1024",
                    &young));
    ck_assert_int_eq(young, 0);
    ck_ok(db_number(d, "SELECT count(*) FROM nearpart", &parts));
    ck_assert_int_eq(parts, 1024);
    ck_ok(near_index_verify(x, 40000));
}
