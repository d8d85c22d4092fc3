/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "filter/key_store.h"
#include "tests/unit/filter/keys.h"
#include "tests/unit/unit.h"

static struct key_store *kept_of(bool whole)
{
    struct key_store *k = NULL;

    ck_ok(key_store_new(&k, whole));
    return k;
}

/* Few different keys, all in part 0, so that each of them goes through
 * everything. */
TEST(random_changes_agree_with_a_plain_table)
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

static void sum_visit(void *to, const uint64_t *keys, size_t n)
{
    uint64_t *sum = to;

    for (size_t i = 0; i < n; i++)
        *sum += keys[i];
}

TEST(a_source_gives_exactly_the_range_asked_for)
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
    ck_ok(s.keys_of(s.ctx, low, high, sum_visit, &got));
    ck_assert_uint_eq(got, want);
    key_store_free(k);
}

TEST(a_part_not_put_yet_is_missing_not_empty)
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
    ck_ok(key_store_put(k, 0, bytes_of(key, 8)));
    ck_ok(s.keys_of(s.ctx, 0, 9, sum_visit, &got));
    ck_assert_uint_eq(got, 7);
    key_store_free(k);
}

TEST(without_memory_a_part_is_incomplete)
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
/* So few keys that each limit is met: none, one, two. */
TEST(a_part_of_one_or_two_keys_is_searched_whole)
{
    enum { KEYS = 3 };
    struct key_store *k = kept_of(true);
    bool in[KEYS] = {false};
    const uint64_t *keys;
    size_t n;

    for (uint64_t i = 0; i < 20000; i++) {
        uint64_t r = nth_key(i), key = r % KEYS, held = 0;

        if (r >> 61 < 3) {
            ck_assert(key_store_remove(k, key) == in[key]);
            in[key] = false;
        } else if (r >> 61 < 6) {
            key_store_add(k, key, !in[key]);
            in[key] = true;
        } else {
            for (uint64_t j = 0; j < KEYS; j++)
                held += in[j];
            ck_assert(key_store_get(k, 0, &keys, &n)); /* sorts them */
            ck_assert_uint_eq(n, held);
        }
        for (uint64_t j = 0; j < KEYS; j++)
            if (key_store_has(k, j) != in[j])
                ck_abort_msg("step %d, key %d", (int)i, (int)j);
    }
    key_store_free(k);
    key_store_free(NULL);
}

struct range {
    uint64_t first, last, n;
};

static void range_visit(void *to, const uint64_t *keys, size_t n)
{
    struct range *r = to;

    ck_assert_uint_gt(n, 0);
    for (size_t i = 0; i < n; i++)
        ck_assert(keys[i] >= r->first && keys[i] <= r->last);
    r->n += n;
}

static uint64_t keys_between(struct key_store *k, uint64_t first, uint64_t last)
{
    struct filter_source s = key_store_source(k);
    struct range r = {first, last, 0};

    ck_ok(s.keys_of(s.ctx, first, last, range_visit, &r));
    return r.n;
}

TEST(one_incomplete_part_spoils_the_ranges_that_touch_it)
{
    struct key_store *k = kept_of(true);
    struct filter_source s = key_store_source(k);
    const uint64_t part = UINT64_C(1) << 52;
    struct range r = {0, UINT64_MAX, 0};
    const uint64_t *keys;
    size_t n;

    key_store_add(k, 1, true);
    key_store_add(k, 3 * part, true);
    mem_fail_after(1);
    key_store_add(k, 2 * part, true);
    mem_fail_after(0);
    ck_assert(!key_store_get(k, 2, &keys, &n));
    ck_assert(key_store_get(k, 1, &keys, &n));
    ck_assert_uint_eq(n, 0);
    ck_assert_int_eq(s.keys_of(s.ctx, 0, UINT64_MAX, range_visit, &r),
                     STATUS_NOT_FOUND);
    ck_assert_int_eq(s.keys_of(s.ctx, part, 2 * part, range_visit, &r),
                     STATUS_NOT_FOUND);
    ck_assert_int_eq(s.keys_of(s.ctx, 2 * part, 3 * part, range_visit, &r),
                     STATUS_NOT_FOUND);
    ck_assert_uint_eq(r.n, 0); /* nothing before a failure */
    ck_assert_uint_eq(keys_between(k, 0, 2 * part - 1), 1);
    ck_assert_uint_eq(keys_between(k, 3 * part, UINT64_MAX), 1);
    ck_assert(!key_store_has(k, 2 * part));
    ck_assert(!key_store_remove(k, 2 * part));
    key_store_free(k);
}

TEST(octets_put_are_sorted_distinct_keys_of_their_part)
{
    const uint64_t part = UINT64_C(1) << 52;
    const struct {
        uint64_t keys[3];
        size_t n;
        enum status st;
    } t[] = {
        {{part, part + 5, 2 * part - 1}, 3, STATUS_OK},
        {{part}, 1, STATUS_OK},
        {{0}, 0, STATUS_OK},
        {{part + 5, part + 5, part + 6}, 3, STATUS_DAMAGED},
        {{part + 5, part + 7, part + 6}, 3, STATUS_DAMAGED},
        {{part + 6, part + 5}, 2, STATUS_DAMAGED},
        {{part - 1, part}, 2, STATUS_DAMAGED},
        {{part, 2 * part}, 2, STATUS_DAMAGED},
    };

    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct key_store *k = kept_of(false);
        const uint64_t *keys;
        uint64_t before;
        size_t n;

        /* little-endian, as the machine is */
        ck_assert_msg(key_store_put(k, 1,
                                    bytes_of((const char *)t[i].keys,
                                             8 * t[i].n)) == t[i].st,
                      "%zu", i);
        ck_assert(key_store_get(k, 1, &keys, &n) == (t[i].st == STATUS_OK));
        before = key_store_bytes(k);
        key_store_add(k, part + 9, true);
        if (t[i].st == STATUS_OK) {
            ck_assert(key_store_get(k, 1, &keys, &n));
            ck_assert_uint_eq(n, t[i].n + 1);
            ck_assert(key_store_has(k, part + 9));
            ck_assert(key_store_has(k, t[i].n > 0 ? part : part + 9));
            ck_assert_uint_gt(key_store_bytes(k), before);
        } else {
            ck_assert(!key_store_get(k, 1, &keys, &n));
        }
        key_store_free(k);
    }
}
