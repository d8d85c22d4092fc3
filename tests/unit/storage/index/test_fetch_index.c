/* SPDX-License-Identifier: MIT */
/*
 * test_fetch_index.c - near fingerprints, against comparing with all of them;
 * bodies whose rows are removed and come again.
 */
#include "storage/index/fetch_index.h"

#include <stdlib.h>

#include "base/mem.h"
#include "tests/unit/storage/scratch.h"
#include "tests/unit/unit.h"

static struct scratch scratch;
static struct db *d;
static struct fetch_index *x;

static void open_index(enum db_mode mode)
{
    const struct db_options o = {.cache_bytes = 1 << 20};

    ck_ok(db_open(&d, scratch.db, mode, &o));
    ck_ok(fetch_index_open(&x, d, FETCH_TEXTS, 1 << 20, NULL));
}

static void setup(void)
{
    scratch = scratch_make();
    open_index(DB_CREATE);
}

static void teardown(void)
{
    fetch_index_close(x);
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
 * `fetch_index/manku_3_a_print_is_found_up_to_three_bits_away_and_no_further`,
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
        ck_ok(fetch_index_step(x));
        ck_ok(db_commit(d));
        if (seq % (10 * ROUND) != 0)
            continue;
        fetch_index_close(x);
        db_close(d);
        open_index(DB_WRITE);
        ck_ok(fetch_index_check_upto(x, seq));
        for (uint64_t again = fetch_index_upto(x) + 1; again <= seq; again++)
            ck_ok(near_index_add(x, prints[again], again));
        ck_ok(fetch_index_verify(x, seq));
    }
    ck_assert_uint_gt(hits, n / 10);
    ck_assert_uint_lt(fetch_index_memory(x), 16 << 20);
    free(prints);
}

TEST(a_print_that_is_there_keeps_its_seq)
{
    ck_ok(near_index_add(x, 42, 1));
    ck_ok(near_index_add(x, 42, 2));
    ck_assert_uint_eq(found(42), 1);
    ck_assert_uint_eq(fetch_index_count(x), 1);
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
            ck_ok(fetch_index_step(x));
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
    ck_ok(fetch_index_verify(x, 40000));
}

/* ---- bodies ---- */

#define MEMORY  (1 << 20)
#define REMOVED 200   /* the first bodies, whose rows are removed */
#define TURN    70000 /* so many more, and each part was merged once */

struct run {
    struct db *d;
    struct fetch_index *x;
    uint64_t seq;   /* of the newest row */
    uint64_t again; /* the seq from which the removed ones come again */
    bool removed;
};

static bool has_row(void *ctx, uint64_t seq)
{
    const struct run *r = ctx;

    return !r->removed || seq > REMOVED;
}

static struct digest nth_body(uint64_t n)
{
    return (struct digest){n * UINT64_C(0x9e3779b97f4a7c15), ~n};
}

static struct digest body_of(const struct run *r, uint64_t seq)
{
    bool again = r->again > 0 && seq - r->again < REMOVED;

    return nth_body(again ? seq - r->again + 1 : seq);
}

static void add(struct run *r, uint64_t n)
{
    for (; n > 0; n--) {
        uint64_t seq = ++r->seq;

        SAME(body_index_add(r->x, body_of(r, seq), seq), STATUS_OK);
        if (seq % 1000 != 0)
            continue;
        SAME(db_begin(r->d), STATUS_OK);
        SAME(fetch_index_step(r->x), STATUS_OK);
        SAME(db_commit(r->d), STATUS_OK);
    }
}

static void open_bodies(struct run *r)
{
    const struct exact_set_rows rows = {has_row, r};

    ck_ok(fetch_index_open(&r->x, r->d, FETCH_BODIES, MEMORY, &rows));
}

static void check_removed(const struct run *r)
{
    for (uint64_t n = 1; n <= REMOVED; n++) {
        uint64_t seq = 1;

        SAME(body_index_find(r->x, nth_body(n), &seq), STATUS_OK);
        SAME(seq, r->again > 0 ? r->again + n - 1 : 0);
    }
}

/* A part refuses a digest that it is given twice, so a body that came again and
 * was not seen to do so would be damage at the next merge. */
TEST(a_removed_body_comes_again_over_merges_and_replays)
{
    struct scratch at = scratch_make();
    struct run r = {.d = scratch_open(at.db, DB_CREATE)};
    uint64_t last;

    open_bodies(&r);
    add(&r, TURN);
    r.removed = true;
    check_removed(&r);
    r.again = r.seq + 1;
    add(&r, TURN / 2); /* half of the parts have them in their pages */
    check_removed(&r);
    fetch_index_close(r.x);

    last = r.seq;
    open_bodies(&r);
    r.seq = fetch_index_upto(r.x);
    ck_assert_uint_lt(r.seq, r.again);
    add(&r, last - r.seq); /* a replay */
    check_removed(&r);
    add(&r, 2 * TURN);
    check_removed(&r);
    fetch_index_close(r.x);
    db_close(r.d);
    scratch_remove(&at);
}
