/* SPDX-License-Identifier: MIT */
/* test_scalable_file.c - a growing filter's way into a file and back. */
#include "filter/key_store.h"
#include "tests/unit/storage/scratch.h"

/* Its variables must not hide the names in there. */
#include "tests/unit/filter/image.h"

static struct filter_stats stats_of(const struct filter *f)
{
    struct filter_stats s;

    filter_stats(f, &s);
    return s;
}

FIXTURE(use_a_file, drop_the_file);

/* A segment that was lost is saved as such, and mended when keys are there. */
TEST(a_lost_segment_is_mended_by_a_later_load)
{
    struct remembered *r = xcalloc(1, sizeof *r);
    struct filter *f = saved("scalable", 100000, r), *g = NULL, *h = NULL;
    struct checkpoint_info info;
    struct filter_stats s;

    flip(8 * 300);
    r->fail = STATUS_IO;
    ck_ok(load(&g, r, &info));
    ck_assert_uint_eq(info.lost, 1);
    s = stats_of(g);
    ck_assert_uint_eq(s.lost, 1);
    ck_assert_double_eq_tol(s.group_fill[0], 1.0 / 64 + s.group_fill[1], 0.01);
    ck_assert_double_ge(s.fpr_predicted, 1.0 / 4096);
    ck_ok(checkpoint_save(path, g, &id));
    ck_ok(load(&h, r, &info)); /* still without keys */
    ck_assert_uint_eq(info.damaged, 1);
    ck_assert_uint_eq(info.lost, 1);
    filter_free(h);
    r->fail = STATUS_OK;
    ck_ok(load(&h, r, &info));
    ck_assert_uint_eq(info.damaged, 1);
    ck_assert_uint_eq(info.lost, 0);
    s = stats_of(h);
    ck_assert_uint_eq(s.lost, 0);
    ck_assert_uint_eq(s.rebuilds, 1);
    ck_assert_uint_eq(count_maybe(h, 0, 100000), 100000);
    ck_assert_double_eq_tol((double)s.count, 100000, 1000);
    /* A lost one never grows, however many keys come. */
    ck_assert_int_eq(add_range(g, 100000, 400000), STATUS_LIMIT);
    filter_free(f);
    filter_free(g);
    filter_free(h);
    forget_all(r);
}

TEST(stored_keys_come_back_and_go_where_a_source_is)
{
    struct filter *f = saved("scalable", 100000, NULL), *g = NULL;
    struct remembered *r = xcalloc(1, sizeof *r);
    struct checkpoint_info info;

    ck_ok(checkpoint_peek(path, &info));
    ck_assert_uint_eq(info.units, 2 * KEY_STORE_PARTS);
    ck_ok(load(&g, NULL, NULL));
    ck_assert_uint_ge(stats_of(g).key_bits, 100000 * 64);
    ck_ok(add_range(g, 100000, 300000));
    ck_assert_uint_eq(count_maybe(g, 0, 400000), 400000);
    filter_free(g);
    remember_range(r, 0, 100000);
    ck_ok(load(&g, r, NULL));
    ck_assert_uint_eq(stats_of(g).key_bits, 0);
    remember_range(r, 100000, 300000);
    ck_ok(add_range(g, 100000, 300000));
    ck_assert_uint_gt(r->asked, 0);
    ck_assert_uint_eq(count_maybe(g, 0, 400000), 400000);
    filter_free(g);
    /* Saved without keys, and loaded without a source: it cannot grow. */
    filter_free(f);
    f = saved("scalable", 1000, r);
    ck_ok(checkpoint_peek(path, &info));
    ck_assert_uint_eq(info.units, KEY_STORE_PARTS);
    ck_ok(load(&g, NULL, NULL));
    ck_assert_int_eq(add_range(g, 1000, 500000), STATUS_LIMIT);
    ck_assert_uint_gt(stats_of(g).starved, 0);
    ck_assert_uint_eq(count_maybe(g, 0, 501000), 501000);
    filter_free(f);
    filter_free(g);
    forget_all(r);
}

TEST(shapes_that_lie_are_refused)
{
    static const struct {
        size_t at;
        uint64_t value;
    } lies[] = {{128, 4095}, {128, 4097}, {136, 0},    {136, 2},
                {136, 6},    {136, 28},   {192, 4095}, {192, 8191}};
    struct filter *f = saved("scalable", 1000, NULL), *g = NULL;

    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        ck_ok(checkpoint_save(path, f, &id));
        forge(lies[i].at, &lies[i].value, 8);
        ck_assert_msg(load(&g, NULL, NULL) == STATUS_FORMAT, "lie %zu", i);
        ck_assert_ptr_null(g);
    }
    filter_free(f);
}
