/* SPDX-License-Identifier: MIT */
/* test_page_cache.c - the exact set's cache of its pages. */
#include "storage/index/page_cache.h"

#include <check.h>
#include <string.h>

#define PAGES 64 /* the least that a cache holds: 8 sets of 8 */

static struct page_cache *make(uint64_t bytes)
{
    struct page_cache *c = NULL;

    ck_assert_int_eq(page_cache_new(&c, bytes), STATUS_OK);
    return c;
}

static void fill(unsigned char *page, uint32_t id)
{
    ck_assert_ptr_nonnull(page);
    memset(page, (int)(id * 7 + 1), PAGE_CACHE_PAGE);
    memcpy(page, &id, sizeof id);
}

static void expect(const unsigned char *page, uint32_t id)
{
    uint32_t is;

    ck_assert_ptr_nonnull(page);
    memcpy(&is, page, sizeof is);
    ck_assert_uint_eq(is, id);
    for (size_t i = sizeof id; i < PAGE_CACHE_PAGE; i++)
        if (page[i] != (unsigned char)(id * 7 + 1))
            ck_abort_msg("octet %zu of page %u", i, id);
}

START_TEST(a_page_is_whole_or_not_there)
{
    struct page_cache *c = make(0);
    unsigned n = 0;

    for (uint32_t id = 0; id < 1000; id++)
        fill(page_cache_put(c, id), id);
    for (uint32_t id = 0; id < 1000; id++) {
        const unsigned char *page = page_cache_peek(c, id);

        if (page == NULL)
            continue;
        expect(page, id);
        expect(page_cache_get(c, id), id);
        n++;
    }
    ck_assert_uint_eq(n, PAGES);
    ck_assert_ptr_null(page_cache_get(c, 5000));
    page_cache_free(c);
    page_cache_free(NULL);
}
END_TEST

START_TEST(a_page_that_is_there_keeps_its_place)
{
    struct page_cache *c = make(0);

    fill(page_cache_put(c, 3), 3);
    expect(page_cache_put(c, 3), 3);
    expect(page_cache_put_cheap(c, 3), 3);
    ck_assert_uint_eq(page_cache_memory(c), 8 * 64 + PAGE_CACHE_PAGE);
    page_cache_free(c);
}
END_TEST

/* Pages of one set in a cache of the least size, see set_of. */
static const uint32_t mates[] = {0,  5,  13, 18, 26, 34, 39,
                                 47, 60, 68, 73, 81, 89, 94};

/* Which of mates[0..14) are there, as bits. */
static unsigned there(const struct page_cache *c)
{
    unsigned bits = 0;

    for (unsigned i = 0; i < sizeof mates / sizeof *mates; i++) {
        const unsigned char *page = page_cache_peek(c, mates[i]);

        if (page == NULL)
            continue;
        expect(page, mates[i]);
        bits |= 1U << i;
    }
    return bits;
}

static void put(struct page_cache *c, unsigned i)
{
    fill(page_cache_put(c, mates[i]), mates[i]);
}

static struct page_cache *make_full(void)
{
    struct page_cache *c = make(0);

    for (unsigned i = 0; i < 8; i++)
        fill(page_cache_put_cheap(c, mates[i]), mates[i]);
    ck_assert_uint_eq(there(c), 0xff);
    return c;
}

START_TEST(a_cheap_put_pushes_nobody_out)
{
    struct page_cache *c = make_full();

    ck_assert_ptr_null(page_cache_put_cheap(c, mates[8]));
    ck_assert_uint_eq(there(c), 0xff);
    fill(page_cache_put_cheap(c, 1), 1); /* of another set */
    ck_assert_uint_eq(there(c), 0xff);
    page_cache_free(c);
}
END_TEST

/* A new page enters at the sixth rank: one pass over many pages leaves five of
 * eight, and pushes out the last. */
START_TEST(a_pass_over_many_pages_leaves_the_popular_ones)
{
    struct page_cache *c = make_full();

    put(c, 8);
    ck_assert_uint_eq(there(c), 0x17f);
    put(c, 9);
    ck_assert_uint_eq(there(c), 0x33f);
    put(c, 10);
    ck_assert_uint_eq(there(c), 0x71f);
    put(c, 11);
    ck_assert_uint_eq(there(c), 0xe1f);
    page_cache_free(c);
}
END_TEST

START_TEST(a_hit_moves_a_page_up_by_one_and_a_peek_does_not)
{
    struct page_cache *c = make_full();

    put(c, 8);
    (void)page_cache_peek(c, mates[6]);
    expect(page_cache_get(c, mates[8]), mates[8]); /* before mates[4] */
    for (unsigned i = 9; i < 12; i++)
        put(c, i);
    ck_assert_uint_eq(there(c), 0xf0f);
    for (unsigned i = 0; i < 9; i++) /* to the first rank, where it stays */
        expect(page_cache_get(c, mates[8]), mates[8]);
    expect(page_cache_get(c, mates[11]), mates[11]);
    expect(page_cache_get(c, mates[11]), mates[11]);
    for (unsigned i = 12; i < 14; i++)
        put(c, i);
    put(c, 4);
    ck_assert_uint_eq(there(c) & 0x100, 0x100);
    ck_assert_uint_eq(there(c) & 0x800, 0x800);
    ck_assert_uint_eq(there(c) & 0xf, 0x7); /* mates[3] was passed */
    page_cache_free(c);
}
END_TEST

START_TEST(a_cache_of_a_size_holds_that_many_pages)
{
    const uint64_t page = PAGE_CACHE_PAGE;
    struct page_cache *c = make(200 * page);
    uint64_t least = page_cache_memory(c);

    for (uint32_t id = 0; id < 100000; id++)
        fill(page_cache_put(c, id), id);
    ck_assert_uint_gt(page_cache_memory(c), 180 * page);
    ck_assert_uint_le(page_cache_memory(c), 200 * page);
    ck_assert_uint_lt(least, page);
    page_cache_free(c);
}
END_TEST

Suite *suite_page_cache(void)
{
    Suite *s = suite_create("page_cache");
    TCase *t = tcase_create("page_cache");

    tcase_add_test(t, a_page_is_whole_or_not_there);
    tcase_add_test(t, a_page_that_is_there_keeps_its_place);
    tcase_add_test(t, a_cheap_put_pushes_nobody_out);
    tcase_add_test(t, a_pass_over_many_pages_leaves_the_popular_ones);
    tcase_add_test(t, a_hit_moves_a_page_up_by_one_and_a_peek_does_not);
    tcase_add_test(t, a_cache_of_a_size_holds_that_many_pages);
    suite_add_tcase(s, t);
    return s;
}
