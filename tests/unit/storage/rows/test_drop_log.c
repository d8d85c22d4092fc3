/* SPDX-License-Identifier: MIT */
/* test_drop_log.c - recorded drops and paths, as stored in blobs. */
#include "storage/rows/drop_log.h"

#include <stdio.h>

#include "storage/rows/path_log.h"
#include "tests/unit/storage/scratch.h"

#define DROPS 3000

static struct kept_drop nth(uint64_t i, char *text, size_t size)
{
    uint64_t state = i * 2 + 1;
    uint64_t r = scratch_random(&state);
    struct kept_drop k = {.reason = (uint8_t)(1 + r % 40)};

    if (r % 7 == 0) {
        k.id = 1 + r % 100000;
        k.reason_of_row = (uint8_t)(r % 40);
        k.text = bytes_of_str(r % 2 != 0 ? "text/plain" : "");
        return k;
    }
    snprintf(text, size, "http://h%d.example/%0*d", (int)(r % 5),
             1 + (int)(r % 90), (int)(r % 1000));
    k.text = bytes_of_str(text);
    k.via = i / 20;
    k.depth = (uint32_t)(i / 20 % 9);
    k.hops = r % 11 == 0 ? 3 : 0;
    k.kind = (uint8_t)(r % 29);
    k.place = r % 13 == 0 ? r % 70000 : 0;
    k.on_its_level = r % 3 == 0;
    return k;
}

static void expect_nth(const struct kept_drop *k, uint64_t i)
{
    char text[128];
    struct kept_drop want = nth(i, text, sizeof text);

    ck_assert_uint_eq(k->id, want.id);
    ck_assert_uint_eq(k->via, want.via);
    ck_assert_uint_eq(k->depth, want.depth);
    ck_assert_uint_eq(k->hops, want.hops);
    ck_assert_uint_eq(k->kind, want.kind);
    ck_assert_uint_eq(k->reason, want.reason);
    ck_assert_uint_eq(k->reason_of_row, want.reason_of_row);
    ck_assert_uint_eq(k->place, want.place);
    ck_assert(k->on_its_level == want.on_its_level);
    ck_assert(bytes_equal(k->text, want.text));
}

static struct drop_log *fill(struct db *d, uint64_t n)
{
    struct drop_log *l = NULL;
    char text[128];

    ck_assert_int_eq(drop_log_open(&l, d), STATUS_OK);
    for (uint64_t i = 0; i < n; i++) {
        const struct kept_drop k = nth(i, text, sizeof text);

        ck_assert_int_eq(drop_log_add(l, &k), STATUS_OK);
    }
    ck_assert_int_eq(drop_log_flush(l), STATUS_OK);
    return l;
}

START_TEST(what_is_kept_is_read_back_and_what_came_back_is_gone)
{
    struct scratch dir = scratch_make();
    struct db *d = scratch_open(dir.db, DB_CREATE);
    struct drop_log *l = fill(d, DROPS);
    struct drop_block b = {.number = 0};
    uint64_t i = 0;

    ck_assert_uint_eq(drop_log_count(l), DROPS);
    while (drop_log_next(l, b.number, UINT64_MAX, &b) == STATUS_OK) {
        size_t left = 0;

        for (size_t k = 0; k < b.count; k++, i++) {
            expect_nth(&b.at[k], i);
            if (i % 3 == 0)
                b.at[left++] = b.at[k];
        }
        ck_assert_int_eq(drop_log_rewrite(l, b.number, b.at, left), STATUS_OK);
    }
    ck_assert_uint_eq(i, DROPS);
    ck_assert_uint_eq(drop_log_count(l), DROPS / 3);
    ck_assert_int_eq(drop_log_verify(l), STATUS_OK);
    drop_log_close(l);
    ck_assert_int_eq(drop_log_open(&l, d), STATUS_OK);
    ck_assert_uint_eq(drop_log_count(l), DROPS / 3);
    b.number = i = 0;
    while (drop_log_next(l, b.number, UINT64_MAX, &b) == STATUS_OK)
        for (size_t k = 0; k < b.count; k++, i += 3)
            expect_nth(&b.at[k], i);
    ck_assert_uint_eq(i, DROPS);
    drop_log_close(l);
    db_close(d);
    scratch_remove(&dir);
}
END_TEST

START_TEST(a_block_without_a_lifted_reason_is_not_read)
{
    struct scratch dir = scratch_make();
    struct db *d = scratch_open(dir.db, DB_CREATE);
    struct drop_log *l = fill(d, 1);
    struct drop_block b;

    ck_assert_int_eq(drop_log_next(l, 0, ~drop_log_reasons(l), &b), STATUS_OK);
    ck_assert_uint_eq(b.count, 0);
    ck_assert_int_eq(drop_log_next(l, 0, drop_log_reasons(l), &b), STATUS_OK);
    ck_assert_uint_eq(b.count, 1);
    drop_log_close(l);
    db_close(d);
    scratch_remove(&dir);
}
END_TEST

/* Cut anywhere, or with any octet changed, they are read or refused; nothing
 * reads beyond their end. */
START_TEST(damaged_entries_are_read_within_their_bounds_or_refused)
{
    struct scratch dir = scratch_make();
    struct db *d = scratch_open(dir.db, DB_CREATE);
    struct drop_log *l = fill(d, 30);
    char sql[256];
    int refused = 0;

    for (int i = 1; i < 400; i++) {
        struct drop_block b;
        enum status st;

        snprintf(sql, sizeof sql,
                 "CREATE TEMP TABLE IF NOT EXISTS was AS SELECT entries FROM"
                 " kept_drop; UPDATE kept_drop SET entries = "
                 "substr((SELECT entries FROM was), 1, %d) || x'%02x%02x'",
                 i, i * 37 % 256, i * 11 % 256);
        ck_assert_int_eq(db_exec(d, sql), STATUS_OK);
        st = drop_log_next(l, 0, UINT64_MAX, &b);
        ck_assert(st == STATUS_OK || st == STATUS_DAMAGED);
        refused += st == STATUS_DAMAGED;
    }
    ck_assert_int_gt(refused, 100);
    drop_log_close(l);
    db_close(d);
    scratch_remove(&dir);
}
END_TEST

struct paths {
    uint64_t sum, count;
};

static void visit(void *ctx, uint64_t from, bool on_level, uint64_t to)
{
    struct paths *p = ctx;

    p->count++;
    p->sum += from * 1000 + to * 2 + on_level;
}

START_TEST(paths_are_kept_each_once_and_read_in_steps)
{
    struct scratch dir = scratch_make();
    struct db *d = scratch_open(dir.db, DB_CREATE);
    struct path_log *l = NULL;
    struct paths p = {0, 0};
    uint64_t sum = 0, at = 0;

    ck_assert_int_eq(path_log_open(&l, d), STATUS_OK);
    for (uint64_t from = 1; from <= 50; from++) {
        uint64_t to[] = {from + 300, 7, from + 1, 7};

        ck_assert_int_eq(path_log_add(l, from, from % 2 != 0, to, 4),
                         STATUS_OK);
        sum += 3 * (from * 1000 + from % 2) + 2 * (from + 300 + 7 + from + 1);
        if (from + 1 == 7)
            sum -= from * 1000 + from % 2 + 14;
    }
    ck_assert_uint_eq(path_log_last(l), 50);
    while (path_log_each(l, &at, 7, visit, &p) == STATUS_OK)
        ;
    ck_assert_uint_eq(p.count, 149);
    ck_assert_uint_eq(p.sum, sum);
    ck_assert_int_eq(db_exec(d, "UPDATE path SET dst = x'0580' WHERE seq = 9"),
                     STATUS_OK);
    at = 0;
    ck_assert_int_eq(path_log_each(l, &at, 50, visit, &p), STATUS_DAMAGED);
    path_log_close(l);
    db_close(d);
    scratch_remove(&dir);
}
END_TEST

Suite *suite_drop_log(void)
{
    Suite *s = suite_create("drop_log");
    TCase *t = tcase_create("drop_log");

    tcase_set_timeout(t, 60);
    tcase_add_test(t, what_is_kept_is_read_back_and_what_came_back_is_gone);
    tcase_add_test(t, a_block_without_a_lifted_reason_is_not_read);
    tcase_add_test(t, damaged_entries_are_read_within_their_bounds_or_refused);
    tcase_add_test(t, paths_are_kept_each_once_and_read_in_steps);
    suite_add_tcase(s, t);
    return s;
}
