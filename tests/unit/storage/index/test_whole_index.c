/* SPDX-License-Identifier: MIT */
/*
 * test_whole_index.c - the newest whole fetch of each URL, at any step of a
 * round, against the fetch rows that must agree.
 */
#include "storage/db/db_row.h"
#include "storage/index/whole_index.h"
#include "tests/unit/storage/scratch.h"

#define IDS    (5 * WHOLE_BLOCK + 100)
#define ROUND  300
#define MEMORY (25 * ROUND)

struct run {
    struct scratch dir;
    struct db *d;
    struct whole_index *x;
    uint64_t newest[IDS + 1];
    uint64_t seq, state;
};

static void add_fetch(struct run *r, uint64_t id, bool final, unsigned status,
                      unsigned reason)
{
    char sql[160];

    snprintf(sql, sizeof sql,
             "INSERT INTO fetch(seq, url, final, status, reason)"
             " VALUES(%llu, %llu, %d, %u, %u)",
             (unsigned long long)++r->seq, (unsigned long long)id, final,
             status, reason);
    SAME(db_exec(r->d, sql), STATUS_OK);
    if (!whole_index_takes(final, status, reason))
        return;
    whole_index_set(r->x, id, r->seq);
    r->newest[id] = r->seq;
}

/* The range of ids grows, as in a crawl, and some URLs are fetched again. */
static void transaction(struct run *r, uint64_t last_id)
{
    SAME(db_begin(r->d), STATUS_OK);
    for (unsigned i = 0; i < 40; i++)
        add_fetch(r, 1 + scratch_below(&r->state, last_id), i % 9 != 0,
                  1 + (i % 7 == 0), i % 5 == 0 ? WHOLE_UNCHANGED : i % 11 == 0);
    SAME(whole_index_step(r->x), STATUS_OK);
    SAME(db_commit(r->d), STATUS_OK);
}

static void compare(const struct run *r, struct whole_index *x)
{
    uint64_t seq;

    for (uint64_t id = 1; id <= IDS; id++) {
        SAME(whole_index_find(x, id, &seq), STATUS_OK);
        SAME(seq, r->newest[id]);
    }
    SAME(whole_index_find(x, 0, &seq), STATUS_OK);
    SAME(seq, 0);
    SAME(whole_index_find(x, DB_ID_MOST, &seq), STATUS_OK);
    SAME(seq, 0);
}

/* What a process finds that opens the store after a crash, to write or read. */
static void compare_copy(struct run *r, enum db_mode mode, uint64_t memory)
{
    struct whole_index *x = NULL;
    struct db *d;

    scratch_crash_copy(&r->dir);
    d = scratch_open(r->dir.other, mode);
    SAME(whole_index_open(&x, d, memory), STATUS_OK);
    compare(r, x);
    SAME(whole_index_verify(x, IDS), STATUS_OK);
    whole_index_close(x);
    db_close(d);
}

static struct run run_make(void)
{
    struct run r = {.dir = scratch_make(), .state = 9};

    r.d = scratch_open(r.dir.db, DB_CREATE);
    ck_ok(whole_index_open(&r.x, r.d, MEMORY));
    return r;
}

static void run_end(struct run *r)
{
    whole_index_close(r->x);
    db_close(r->d);
    scratch_remove(&r->dir);
}

static int64_t upto(struct run *r)
{
    int64_t v = 0;

    ck_ok(db_number(r->d,
                    "SELECT value FROM meta"
                    " WHERE name = 'whole_upto'",
                    &v));
    return v;
}

TEST(opening_at_any_step_of_a_round_gives_the_same_fetches)
{
    struct run r = run_make();

    for (int i = 0; i < 300; i++) {
        transaction(&r, (uint64_t)(i + 1) * IDS / 300);
        if (i % 7 == 6) {
            compare(&r, r.x);
            compare_copy(&r, i % 2 == 0 ? DB_WRITE : DB_READ,
                         i % 2 == 0 ? MEMORY : 0);
        }
    }
    /* Rounds end, so little is read at the next start; memory is bounded. */
    ck_assert_int_gt(upto(&r), (int64_t)r.seq - 3 * 600);
    ck_assert_uint_lt(whole_index_memory(r.x), MEMORY + 32 * 1024);
    run_end(&r);
}

TEST(a_store_without_the_index_gets_it_within_the_memory)
{
    struct run r = run_make();
    struct whole_index *x = NULL;

    for (int i = 0; i < 100; i++)
        transaction(&r, IDS);
    whole_index_close(r.x);
    r.x = NULL;
    ck_ok(db_exec(r.d, "DELETE FROM whole;"
                       "DELETE FROM meta WHERE name = 'whole_upto'"));
    ck_ok(whole_index_open(&x, r.d, MEMORY));
    compare(&r, x);
    ck_assert_uint_lt(whole_index_memory(x), MEMORY + 32 * 1024);
    ck_assert_int_gt(upto(&r), 0);
    r.x = x;
    run_end(&r);
}

TEST(what_is_not_whole_leaves_the_fetch_before_it)
{
    struct run r = run_make();

    add_fetch(&r, 7, true, WHOLE_STATUS, 0);
    add_fetch(&r, 7, false, WHOLE_STATUS, 0);    /* tried again */
    add_fetch(&r, 7, true, WHOLE_STATUS, 1);     /* truncated */
    add_fetch(&r, 7, true, WHOLE_STATUS + 2, 0); /* failed */
    ck_assert_uint_eq(r.newest[7], 1);
    compare(&r, r.x);
    add_fetch(&r, 7, true, WHOLE_STATUS, WHOLE_UNCHANGED);
    ck_assert_uint_eq(r.newest[7], 5);
    compare(&r, r.x);
    run_end(&r);
}

TEST(damage_is_seen)
{
    static const char *const damages[] = {
        "UPDATE whole SET seqs = x'00' WHERE block = 0",
        "UPDATE meta SET value = 1000000000 WHERE name = 'whole_upto'",
        "UPDATE meta SET value = -1 WHERE name = 'whole_upto'",
        "UPDATE fetch SET url = 0 WHERE seq = (SELECT max(seq) FROM fetch)",
        "UPDATE whole SET seqs = zeroblob(length(seqs)) WHERE block = 1",
    };
    struct run r = run_make();

    for (int i = 0; i < 100; i++)
        transaction(&r, IDS);
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        struct whole_index *x = NULL;
        struct db *d;
        enum status st;

        scratch_crash_copy(&r.dir);
        d = scratch_open(r.dir.other, DB_WRITE);
        ck_ok(db_exec(d, damages[i]));
        st = whole_index_open(&x, d, MEMORY);
        if (st == STATUS_OK)
            st = whole_index_verify(x, IDS);
        ck_assert_msg(st == STATUS_DAMAGED, "%s", damages[i]);
        whole_index_close(x);
        db_close(d);
    }
    run_end(&r);
}
