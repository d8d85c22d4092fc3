/* SPDX-License-Identifier: MIT */
/*
 * test_done_bits.c - done bits of many blocks, partly through a round, against
 * the fetch rows that must agree.
 */
#include "storage/index/done_bits.h"
#include "tests/unit/storage/scratch.h"

#define IDS (7 * DONE_BLOCK + 100)

struct run {
    struct scratch dir;
    struct db *d;
    struct done_bits *b;
    unsigned char *done;
    uint64_t seq, state;
};

static void add_fetch(struct run *r, uint64_t id, bool final)
{
    char sql[96];

    snprintf(sql, sizeof sql,
             "INSERT INTO fetch(seq, url, final) VALUES(%llu, %llu, %d)",
             (unsigned long long)++r->seq, (unsigned long long)id, final);
    SAME(db_exec(r->d, sql), STATUS_OK);
    if (!final)
        return;
    SAME(done_bits_set(r->b, id, r->seq), !r->done[id]);
    r->done[id] = 1;
}

static void transaction(struct run *r, uint64_t last_id)
{
    SAME(db_begin(r->d), STATUS_OK);
    for (int i = 0; i < 40; i++)
        add_fetch(r, 1 + scratch_below(&r->state, last_id), i % 9 != 0);
    SAME(done_bits_step(r->b, last_id, 40), STATUS_OK);
    SAME(db_commit(r->d), STATUS_OK);
}

static void compare(const struct run *r, const struct done_bits *b)
{
    for (uint64_t id = 1; id <= IDS; id++)
        SAME(done_bits_has(b, id), r->done[id]);
    SAME(done_bits_has(b, 0), false);
    SAME(done_bits_has(b, UINT64_C(1) << 39), false);
}

TEST(opening_at_any_step_of_a_round_gives_the_same_bits)
{
    struct run r = {.dir = scratch_make(), .state = 9};
    int64_t upto = 0;

    r.done = calloc(IDS + 1, 1);
    r.d = scratch_open(r.dir.db, DB_CREATE);
    ck_ok(done_bits_open(&r.b, r.d, UINT32_MAX, 600));
    for (int i = 0; i < 600; i++) {
        /* The range of ids grows, as in a crawl. */
        transaction(&r, (uint64_t)(i + 1) * IDS / 600);
        if (i % 13 == 12) {
            struct db *d;
            struct done_bits *b = NULL;

            scratch_crash_copy(&r.dir);
            d = scratch_open(r.dir.other, DB_WRITE);
            ck_ok(done_bits_open(&b, d, UINT32_MAX, 600));
            compare(&r, b);
            ck_ok(done_bits_verify(b, IDS));
            done_bits_close(b);
            db_close(d);
        }
    }
    ck_ok(db_number(r.d,
                    "SELECT value FROM meta"
                    " WHERE name = 'status_upto'",
                    &upto));
    ck_assert_int_gt(upto, (int64_t)r.seq - 2 * 7 * 600);
    done_bits_close(r.b);
    db_close(r.d);
    free(r.done);
    scratch_remove(&r.dir);
}
