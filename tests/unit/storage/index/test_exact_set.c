/* SPDX-License-Identifier: MIT */
/*
 * test_exact_set.c - the exact set against a simple model: digest number i of a
 * fixed sequence has id i and is in the set once it was added.
 */
#include "base/mem.h"
#include "storage/db/schema.h"
#include "storage/index/exact_parts.h"
#include "storage/index/exact_set.h"
#include "tests/unit/storage/scratch.h"

static const struct exact_set_options options = {
    .block_cache_bytes = 256 << 10,
    .delta_most = 2000,
};

static struct exact_set *open_set(struct db *d)
{
    struct exact_set *s = NULL;

    ck_ok(exact_set_open(&s, d, &options));
    return s;
}

/* exact_set_verify compares its ids with the url rows. */
static void add_row(struct db *d, uint64_t id)
{
    char sql[128];

    snprintf(sql, sizeof sql,
             "INSERT INTO url(id, origin, path) VALUES(%llu, 1, '/%llu')",
             (unsigned long long)id, (unsigned long long)id);
    SAME(db_exec(d, sql), STATUS_OK);
}

static void add_range(struct db *d, struct exact_set *s, uint64_t first,
                      uint64_t last)
{
    ck_ok(db_begin(d));
    for (uint64_t id = first; id <= last; id++) {
        add_row(d, id);
        exact_set_add(s, scratch_digest(id), id);
    }
    ck_ok(exact_set_step(s, last - first + 1));
    ck_ok(db_commit(d));
}

static void replay(struct exact_set *s, uint64_t last)
{
    for (uint64_t id = exact_set_upto(s) + 1; id <= last; id++)
        exact_set_add(s, scratch_digest(id), id);
}

/* Asks for ids [1, 2 * last], of which the lower half exists. */
static void check_all(struct exact_set *s, uint64_t last)
{
    struct digest *digests = malloc(2 * last * sizeof *digests);
    uint64_t *ids = malloc(2 * last * sizeof *ids);

    ck_assert_ptr_nonnull(digests);
    ck_assert_ptr_nonnull(ids);
    for (uint64_t i = 0; i < 2 * last; i++)
        digests[i] = scratch_digest(i + 1);
    ck_ok(exact_set_find(s, digests, 2 * last, ids));
    for (uint64_t i = 0; i < 2 * last; i++)
        SAME(ids[i], i < last ? i + 1 : 0);
    free(digests);
    free(ids);
}

/* Adds a row for URL number `url` again: after a program had put row `before`,
 * which was removed, or after the URL was done in a crawl (`again`). */
static void replace_row(struct db *d, struct exact_set *s, uint64_t url,
                        uint64_t before, uint64_t id, bool again)
{
    char sql[192];

    if (again)
        snprintf(sql, sizeof sql,
                 "INSERT INTO url(id, origin, path, flags, via)"
                 " VALUES(%llu, 1, '/%llu', %d, 1)",
                 (unsigned long long)id, (unsigned long long)url,
                 URL_ROW_AGAIN);
    else
        snprintf(sql, sizeof sql,
                 "INSERT INTO url(id, kind, via) VALUES(%llu, %d, %llu)",
                 (unsigned long long)id, URL_KIND_SERVED,
                 (unsigned long long)before);
    SAME(db_exec(d, sql), STATUS_OK);
    exact_set_replace(s, scratch_digest(url), id);
}

static void count_each(void *ctx, struct digest digest, uint64_t id)
{
    (void)digest, (void)id;
    ++*(uint64_t *)ctx;
}

TIMEOUT(120);

/* Number of entries in the young runs. */
static int64_t in_young_runs(struct db *d)
{
    int64_t n = 0;

    ck_ok(db_number(d,
                    "SELECT ifnull(sum(count), 0) FROM seenpart"
                    " WHERE part >= 1024",
                    &n));
    return n;
}

/* Adds in small steps, so that young runs fill and are merged many times. */
TEST(finds_what_is_in_old_runs_young_runs_and_memory)
{
    struct scratch dir = scratch_make();
    struct db *d = scratch_open(dir.db, DB_CREATE);
    struct exact_set *s = open_set(d);
    uint64_t last = 0;
    int64_t least = INT64_MAX, most = 0, young;

    while (last < 60000) {
        add_range(d, s, last + 1, last + 500);
        last += 500;
        young = in_young_runs(d);
        if (last > 20000) {
            least = young < least ? young : least;
            most = young > most ? young : most;
        }
    }
    /* n = 60,000, D = 2,000: parts reach the limit of some eight deltas at
     * different times. */
    ck_assert_int_gt(least, 2000);
    ck_assert_int_lt(most, 20000);
    check_all(s, last);
    ck_ok(exact_set_verify(s));
    exact_set_close(s);
    s = open_set(d);
    replay(s, last);
    check_all(s, last);
    ck_assert_uint_eq(exact_set_stats(s).count, last);
    ck_ok(db_begin(d));
    ck_ok(exact_set_merge(s, EXACT_SET_PARTS));
    ck_ok(db_commit(d));
    ck_assert_int_eq(in_young_runs(d), 0);
    check_all(s, last);
    ck_ok(exact_set_verify(s));
    exact_set_close(s);
    db_close(d);
    scratch_remove(&dir);
}

/* The replaced ids are in old runs, in young runs and in memory. */
TEST(a_digest_moves_out_of_any_run)
{
    struct scratch dir = scratch_make();
    struct db *d = scratch_open(dir.db, DB_CREATE);
    struct exact_set *s = open_set(d);
    uint64_t n = 30000, last = n, ids[200], all = 0;
    struct digest ask[200];

    for (uint64_t id = 1; id <= n; id += 500)
        add_range(d, s, id, id + 499);
    ck_assert_int_gt(in_young_runs(d), 1000);
    for (uint64_t i = 0; i < 200; i++) {
        ck_ok(db_begin(d));
        replace_row(d, s, (i + 1) * 150, (i + 1) * 150, ++last, false);
        ck_ok(exact_set_step(s, 30));
        ck_ok(db_commit(d));
        ask[i] = scratch_digest((i + 1) * 150);
    }
    for (int round = 0; round < 2; round++) {
        ck_ok(exact_set_find(s, ask, 200, ids));
        for (uint64_t i = 0; i < 200; i++)
            SAME(ids[i], n + 1 + i);
        ck_ok(db_begin(d));
        ck_ok(exact_set_step(s, 4000));
        ck_ok(db_commit(d));
    }
    ck_ok(exact_set_each(s, 0, UINT64_MAX, count_each, &all));
    SAME(all, n);
    ck_ok(exact_set_verify(s));
    exact_set_close(s);
    db_close(d);
    scratch_remove(&dir);
}

TEST(is_the_same_after_a_crash_and_a_replay)
{
    struct scratch dir = scratch_make();
    struct db *d = scratch_open(dir.db, DB_CREATE);
    struct exact_set *s = open_set(d);
    uint64_t last = 0;

    for (int round = 0; round < 6; round++) {
        for (int k = 0; k < 5; k++, last += 900)
            add_range(d, s, last + 1, last + 900);
        exact_set_close(s);
        scratch_crash_copy(&dir);
        db_close(d);
        unlink(dir.db);
        rename(dir.other, dir.db);
        {
            char from[128], to[128];

            snprintf(from, sizeof from, "%s-wal", dir.other);
            snprintf(to, sizeof to, "%s-wal", dir.db);
            rename(from, to);
        }
        d = scratch_open(dir.db, DB_WRITE);
        s = open_set(d);
        replay(s, last);
        check_all(s, last);
        ck_ok(exact_set_verify(s));
    }
    exact_set_close(s);
    db_close(d);
    scratch_remove(&dir);
}

/* Digests that agree in all bits of a fence must still be told apart, also if
 * they fall on both sides of a block's boundary. */
TEST(tells_apart_digests_that_share_a_fence)
{
    enum { N = 1000 };
    struct scratch dir = scratch_make();
    struct db *d = scratch_open(dir.db, DB_CREATE);
    struct exact_set *s = open_set(d);
    struct digest digests[N + 1];
    uint64_t ids[N + 1];

    ck_ok(db_begin(d));
    for (uint64_t i = 0; i <= N; i++) {
        digests[i] = (struct digest){UINT64_C(0x123456789abcdef0),
                                     UINT64_C(0x1100000000000000) + i * 3};
        if (i < N) {
            add_row(d, i + 1);
            exact_set_add(s, digests[i], i + 1);
        }
    }
    ck_ok(exact_set_step(s, 100000));
    ck_ok(db_commit(d));
    ck_assert_uint_eq(exact_set_stats(s).delta, 0);
    ck_ok(exact_set_find(s, digests, N + 1, ids));
    for (uint64_t i = 0; i <= N; i++)
        SAME(ids[i], i < N ? i + 1 : 0);
    ck_ok(exact_set_verify(s));
    exact_set_close(s);
    db_close(d);
    scratch_remove(&dir);
}

/* All of one part, in three heaps, so that a guess of a block by proportion is
 * off by dozens, in either direction. */
TEST(finds_digests_that_lie_in_heaps)
{
    enum { N = 9000 };
    struct scratch dir = scratch_make();
    struct db *d = scratch_open(dir.db, DB_CREATE);
    struct exact_set *s = open_set(d);
    static struct digest digests[2 * N];
    static uint64_t ids[2 * N];

    ck_ok(db_begin(d));
    for (uint64_t i = 0; i < 2 * N; i++) {
        digests[i] = scratch_digest(i);
        digests[i].hi = UINT64_C(7) << 54 | i % 3 << 52 | digests[i].hi >> 20;
        if (i < N) {
            add_row(d, i + 1);
            exact_set_add(s, digests[i], i + 1);
        }
    }
    ck_ok(exact_set_step(s, 100000));
    ck_ok(db_commit(d));
    ck_assert_uint_eq(exact_set_stats(s).delta, 0);
    ck_ok(exact_set_find(s, digests, 2 * N, ids));
    for (uint64_t i = 0; i < 2 * N; i++)
        SAME(ids[i], i < N ? i + 1 : 0);
    ck_ok(exact_set_verify(s));
    exact_set_close(s);
    db_close(d);
    scratch_remove(&dir);
}

TEST(without_memory_it_says_so_and_holds_nothing)
{
    struct scratch dir = scratch_make();
    struct db *d = scratch_open(dir.db, DB_CREATE);
    struct exact_set *s = NULL;

    for (uint64_t nth = 1; nth <= 2; nth++) {
        mem_fail_after(nth);
        ck_assert_int_eq(exact_set_open(&s, d, &options), STATUS_NOMEM);
        ck_assert_ptr_null(s);
    }
    mem_fail_after(0);
    s = open_set(d);
    mem_fail_after(1);
    ck_assert_int_eq(exact_set_verify(s), STATUS_NOMEM);
    ck_ok(exact_set_verify(s));
    exact_set_close(s);
    db_close(d);
    scratch_remove(&dir);
}

static void merge(struct db *d, struct exact_set *s, unsigned parts)
{
    ck_ok(db_begin(d));
    ck_ok(exact_set_merge(s, parts));
    ck_ok(db_commit(d));
}

/* ---- damage ---- */

#define DAMAGED_ROWS 8000 /* some eight entries in each part */

/* A change to the entries of a run: the first run with five entries or more. */
enum change {
    NOTHING,
    SWAP_FIRST, /* the first is not the fence's */
    SWAP_LATER, /* two are out of order */
    KEY_TWICE,
    ID_TWICE,
    ID_ZERO, /* ids that no row has */
    ID_ABOVE,
    PART_ABOVE, /* another part */
    PART_BELOW,
    CHANGES
};

static void swap_entries(unsigned char *at, size_t i)
{
    unsigned char kept[ENTRY_SIZE];

    memcpy(kept, at + i * ENTRY_SIZE, ENTRY_SIZE);
    memcpy(at + i * ENTRY_SIZE, at + (i + 1) * ENTRY_SIZE, ENTRY_SIZE);
    memcpy(at + (i + 1) * ENTRY_SIZE, kept, ENTRY_SIZE);
}

static void change_entries(unsigned char *at, enum change change)
{
    unsigned char *second = at + ENTRY_SIZE, *third = second + ENTRY_SIZE;

    switch (change) {
    case SWAP_FIRST:
        swap_entries(at, 0);
        break;
    case SWAP_LATER:
        swap_entries(at, 1);
        break;
    case KEY_TWICE:
        memcpy(second, at, KEY_SIZE);
        break;
    case ID_TWICE:
        memcpy(second + KEY_SIZE, at + KEY_SIZE, ID_SIZE);
        break;
    case ID_ZERO:
        packed_put(second + KEY_SIZE, 0, ID_SIZE);
        break;
    case ID_ABOVE:
        packed_put(second + KEY_SIZE, 1 << 20, ID_SIZE);
        break;
    case PART_ABOVE:
        memset(third, 0xff, KEY_SIZE);
        break;
    case PART_BELOW:
        memset(third, 0, KEY_SIZE);
        break;
    default:
        break;
    }
}

static void plant(const char *path, enum change change)
{
    struct db *d = scratch_open(path, DB_WRITE);
    sqlite3_stmt *q = NULL, *set = NULL;
    unsigned char octets[ROW_SIZE];

    SAME(db_begin(d), STATUS_OK);
    SAME(db_prepare(d, &q,
                    "SELECT id, entries FROM seenpage, seenpart WHERE id ="
                    " part << 18 AND count BETWEEN 5 AND 50 LIMIT 1"),
         STATUS_OK);
    SAME(db_step(d, q), STATUS_OK);
    SAME(db_column(q, 1).len, ROW_SIZE);
    memcpy(octets, db_column(q, 1).at, ROW_SIZE);
    change_entries(octets, change);
    SAME(db_prepare(d, &set, "UPDATE seenpage SET entries = ? WHERE id = ?"),
         STATUS_OK);
    sqlite3_bind_blob(set, 1, octets, ROW_SIZE, SQLITE_STATIC);
    sqlite3_bind_int64(set, 2, sqlite3_column_int64(q, 0));
    SAME(db_run(d, set), STATUS_OK);
    sqlite3_finalize(q);
    sqlite3_finalize(set);
    SAME(db_commit(d), STATUS_OK);
    db_close(d);
}

static enum status verified(const char *path)
{
    struct db *d = scratch_open(path, DB_READ);
    struct exact_set *s = open_set(d);
    enum status st = exact_set_verify(s);

    exact_set_close(s);
    db_close(d);
    return st;
}

TEST_LOOP(verify_finds_entries_that_cannot_be, 0, CHANGES)
{
    struct scratch dir = scratch_make();
    struct db *d = scratch_open(dir.db, DB_CREATE);
    struct exact_set *s = open_set(d);

    scratch_quiet();
    add_range(d, s, 1, DAMAGED_ROWS);
    merge(d, s, EXACT_SET_PARTS);
    exact_set_close(s);
    db_close(d);
    plant(dir.db, (enum change)_i);
    SAME(verified(dir.db), _i == NOTHING ? STATUS_OK : STATUS_DAMAGED);
    scratch_remove(&dir);
}

static const char *const damages[] = {
    "DELETE FROM url WHERE id = (SELECT max(id) FROM url)",
    "UPDATE seenpart SET count = 0, fences = x'' WHERE part = 7",
    "DELETE FROM seenpage WHERE id = 7 << 18",
    "UPDATE seenpage SET entries = substr(entries, 1, 999) WHERE id = 7 << 18",
    "UPDATE seenpage SET entries = NULL WHERE id = 7 << 18",
    "UPDATE seenpage SET entries = (SELECT entries FROM seenpage"
    " WHERE id = 8 << 18) WHERE id = 7 << 18",
};

#define OF_PAGES 2 /* from here on the damage is to rows of seenpage */

TEST_EACH(verify_finds_rows_that_are_gone_or_another_part_s, damages)
{
    struct scratch dir = scratch_make();
    struct db *d = scratch_open(dir.db, DB_CREATE);
    struct exact_set *s = open_set(d);

    scratch_quiet();
    add_range(d, s, 1, DAMAGED_ROWS);
    merge(d, s, EXACT_SET_PARTS);
    exact_set_close(s);
    db_close(d);
    scratch_sql(dir.db, damages[_i]);
    SAME(verified(dir.db), STATUS_DAMAGED);
    scratch_remove(&dir);
}

static void count_entry(void *ctx, struct digest d, uint64_t id)
{
    (void)d, (void)id;
    ++*(uint64_t *)ctx;
}

/* Nor is it a digest that is not in the set, which would be admitted again. */
TEST(a_row_that_is_gone_or_short_is_damage_to_all_who_read_it)
{
    struct scratch dir = scratch_make();

    scratch_quiet();
    for (size_t i = OF_PAGES; i < OF_PAGES + 3; i++) {
        struct db *d = scratch_open(dir.db, DB_CREATE);
        struct exact_set *s = open_set(d);
        uint64_t id = 0, n = 0, of_seven = 0;

        add_range(d, s, 1, DAMAGED_ROWS);
        merge(d, s, EXACT_SET_PARTS);
        exact_set_close(s);
        ck_ok(db_exec(d, damages[i]));
        s = open_set(d);
        for (uint64_t k = 1; k <= DAMAGED_ROWS; k++) {
            struct digest digest = scratch_digest(k);
            bool seven = exact_part_of(digest) == 7;
            enum status st = exact_set_find(s, &digest, 1, &id);

            SAME(st, seven ? STATUS_DAMAGED : STATUS_OK);
            of_seven += seven;
        }
        ck_assert_uint_gt(of_seven, 0);
        SAME(exact_set_each(s, 0, UINT64_MAX, count_entry, &n), STATUS_DAMAGED);
        for (uint64_t k = DAMAGED_ROWS + 1; k <= 2 * DAMAGED_ROWS; k++)
            exact_set_add(s, scratch_digest(k), k);
        ck_ok(db_begin(d));
        SAME(exact_set_merge(s, EXACT_SET_PARTS), STATUS_DAMAGED);
        db_rollback(d);
        ck_assert(!db_broken(d));
        exact_set_close(s);
        db_close(d);
        unlink(dir.db);
    }
    scratch_remove(&dir);
}

#define THINNED_ROWS 450000 /* three pages a part */

struct thinned {
    uint64_t from; /* earlier rows are gone, but for each hundredth */
};

static bool has_row(void *ctx, uint64_t id)
{
    const struct thinned *t = ctx;

    return id >= t->from || id % 100 == 0;
}

/* Rows are removed, some digests come again, and parts become shorter, down to
 * nothing. */
TEST(a_merge_leaves_out_the_entries_of_rows_that_are_gone)
{
    struct thinned t = {.from = 1};
    const struct exact_set_options o = {.tables = "body",
                                        .rows = {has_row, &t},
                                        .block_cache_bytes = 256 << 10};
    struct scratch dir = scratch_make();
    struct db *d = scratch_open(dir.db, DB_CREATE);
    struct exact_set *s = NULL;
    uint64_t last = THINNED_ROWS, id = last;

    ck_ok(exact_set_open(&s, d, &o));
    ck_ok(db_begin(d));
    for (uint64_t i = 1; i <= last; i++)
        exact_set_add(s, scratch_digest(i), i);
    ck_ok(exact_set_merge(s, EXACT_SET_PARTS));
    for (unsigned round = 1; round <= 4; round++) {
        t.from = last * round / 4 + 1;
        exact_set_replace(s, scratch_digest(last * (round - 1) / 4 + 1), ++id);
        for (unsigned i = 0; i < 20000; i++) { /* some in each part */
            id++;
            exact_set_add(s, scratch_digest(id), id);
        }
        ck_ok(exact_set_merge(s, EXACT_SET_PARTS));
        ck_ok(exact_set_verify_upto(s, id));
        ck_assert_uint_eq(exact_set_stats(s).count, last - last * round / 4 +
                                                        last * round / 400 +
                                                        20001 * round);
    }
    ck_ok(db_commit(d));
    exact_set_close(s);
    ck_ok(exact_set_open(&s, d, &o));
    for (id = 1; id <= last; id += 50) {
        struct digest digest = scratch_digest(id);
        bool replaced = (id - 1) % (last / 4) == 0;
        uint64_t found, want = id % 100 == 0 ? id : 0;

        if (replaced)
            want = last + (id - 1) / (last / 4) * 20001 + 1;
        ck_ok(exact_set_find(s, &digest, 1, &found));
        ck_assert_uint_eq(found, want);
    }
    exact_set_close(s);
    db_close(d);
    scratch_remove(&dir);
}
