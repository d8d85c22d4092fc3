/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <string.h>

#include "filter/key_store.h"
#include "tests/unit/filter/keys.h"

static struct key_store *kept_of(bool whole)
{
    struct key_store *k = NULL;

    ck_assert_int_eq(key_store_new(&k, whole), STATUS_OK);
    return k;
}

/* Few different keys, all in part 0, so that each of them goes through
 * everything. */
START_TEST(random_changes_agree_with_a_plain_table)
{
    enum { KEYS = 300 };
    struct key_store *k = kept_of(true);
    bool in[KEYS] = {false};
    const uint64_t *keys;
    size_t n, want = 0;

    for (uint64_t i = 0; i < 100000; i++) {
        uint64_t r = nth_key(i), key = r % KEYS;

        if (r >> 62 == 0) {
            ck_assert(key_store_remove(k, key) == in[key]);
            in[key] = false;
        } else if (r >> 62 == 1) {
            ck_assert(key_store_has(k, key) == in[key]);
        } else {
            key_store_add(k, key, !in[key]);
            in[key] = true;
        }
    }
    ck_assert(key_store_get(k, 0, &keys, &n));
    for (uint64_t key = 0; key < KEYS; key++)
        if (in[key])
            ck_assert_uint_eq(keys[want++], key);
    ck_assert_uint_eq(n, want);
    key_store_free(k);
}
END_TEST

static void sum_visit(void *to, const uint64_t *keys, size_t n)
{
    uint64_t *sum = to;

    for (size_t i = 0; i < n; i++)
        *sum += keys[i];
}

START_TEST(a_source_gives_exactly_the_range_asked_for)
{
    struct key_store *k = kept_of(true);
    struct filter_source s = key_store_source(k);
    uint64_t low = UINT64_C(1) << 60, high = UINT64_C(3) << 60;
    uint64_t want = 0, got = 0;

    for (uint64_t i = 0; i < 20000; i++) {
        key_store_add(k, nth_key(i), true);
        if (nth_key(i) >= low && nth_key(i) <= high)
            want += nth_key(i);
    }
    ck_assert_int_eq(s.keys_of(s.ctx, low, high, sum_visit, &got), STATUS_OK);
    ck_assert_uint_eq(got, want);
    key_store_free(k);
}
END_TEST

START_TEST(a_part_not_put_yet_is_missing_not_empty)
{
    struct key_store *k = kept_of(false);
    struct filter_source s = key_store_source(k);
    const unsigned char key[8] = {7};
    const unsigned char elsewhere[8] = {0, 0, 0, 0, 0, 0, 0, 0xff};
    uint64_t got = 0;

    ck_assert_int_eq(s.keys_of(s.ctx, 0, 9, sum_visit, &got), STATUS_NOT_FOUND);
    ck_assert_int_eq(key_store_put(k, 0, bytes_of(elsewhere, 8)),
                     STATUS_DAMAGED);
    ck_assert_int_eq(key_store_put(k, 0, bytes_of(key, 7)), STATUS_DAMAGED);
    ck_assert_int_eq(s.keys_of(s.ctx, 0, 9, sum_visit, &got), STATUS_NOT_FOUND);
    ck_assert_int_eq(key_store_put(k, 0, bytes_of(key, 8)), STATUS_OK);
    ck_assert_int_eq(s.keys_of(s.ctx, 0, 9, sum_visit, &got), STATUS_OK);
    ck_assert_uint_eq(got, 7);
    key_store_free(k);
}
END_TEST

START_TEST(duplicates_do_not_pile_up)
{
    struct key_store *k = kept_of(true);
    uint64_t before;

    for (uint64_t i = 0; i < 100000; i++)
        key_store_add(k, nth_key(i), true);
    before = key_store_bytes(k);
    for (uint64_t i = 0; i < 2000000; i++)
        key_store_add(k, nth_key(i % 100000), false);
    ck_assert_uint_le(key_store_bytes(k), before * 2);
    key_store_free(k);
}
END_TEST

START_TEST(without_memory_a_part_is_incomplete)
{
    struct key_store *k = kept_of(true);
    struct filter_source s = key_store_source(k);
    uint64_t got = 0;

    mem_fail_after(1);
    key_store_add(k, 1, true);
    mem_fail_after(0);
    key_store_add(k, 2, true);
    ck_assert_int_eq(s.keys_of(s.ctx, 0, 9, sum_visit, &got), STATUS_NOT_FOUND);
    key_store_free(k);
}
END_TEST

Suite *suite_key_store(void)
{
    Suite *s = suite_create("key_store");
    TCase *t = tcase_create("key_store");

    tcase_set_timeout(t, 60);
    tcase_add_test(t, random_changes_agree_with_a_plain_table);
    tcase_add_test(t, a_source_gives_exactly_the_range_asked_for);
    tcase_add_test(t, a_part_not_put_yet_is_missing_not_empty);
    tcase_add_test(t, duplicates_do_not_pile_up);
    tcase_add_test(t, without_memory_a_part_is_incomplete);
    suite_add_tcase(s, t);
    return s;
}
