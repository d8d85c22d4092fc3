/* SPDX-License-Identifier: MIT */
/* test_body_index.c - bodies whose rows are removed and come again. */
#include "storage/index/body_index.h"

#include "tests/unit/storage/scratch.h"

#define MEMORY  (1 << 20)
#define REMOVED 200   /* the first bodies, whose rows are removed */
#define TURN    70000 /* so many more, and each part was merged once */

struct run {
    struct db *d;
    struct body_index *x;
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
        SAME(body_index_step(r->x), STATUS_OK);
        SAME(db_commit(r->d), STATUS_OK);
    }
}

static void open_index(struct run *r)
{
    const struct exact_set_rows rows = {has_row, r};

    ck_ok(body_index_open(&r->x, r->d, MEMORY, &rows));
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

    open_index(&r);
    add(&r, TURN);
    r.removed = true;
    check_removed(&r);
    r.again = r.seq + 1;
    add(&r, TURN / 2); /* half of the parts have them in their pages */
    check_removed(&r);
    body_index_close(r.x);

    last = r.seq;
    open_index(&r);
    r.seq = body_index_upto(r.x);
    ck_assert_uint_lt(r.seq, r.again);
    add(&r, last - r.seq); /* a replay */
    check_removed(&r);
    add(&r, 2 * TURN);
    check_removed(&r);
    body_index_close(r.x);
    db_close(r.d);
    scratch_remove(&at);
}
