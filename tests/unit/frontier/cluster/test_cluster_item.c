/* SPDX-License-Identifier: MIT */
/* test_cluster_item.c - URLs as items of a cluster, and bytes that are none. */
#include <check.h>
#include <string.h>

#include "frontier/cluster/cluster_item.h"

START_TEST(an_item_is_read_as_it_was_written)
{
    static const char known[] = "\1\1\3\xac\2\0\5http://h/";
    const struct cluster_item in = {.depth = 300,
                                    .kind = 3,
                                    .seed = true,
                                    .places = 5,
                                    .url = {"http://h/", 9}};
    struct cluster_item out;
    struct buf text;

    buf_init(&text, 4096);
    cluster_item_write(&in, &text);
    ck_assert(bytes_equal(buf_bytes(&text), bytes_of(known, sizeof known - 1)));
    ck_assert_int_eq(cluster_item_read(&out, buf_bytes(&text)), STATUS_OK);
    ck_assert_uint_eq(out.depth, 300);
    ck_assert_uint_eq(out.hops, 0);
    ck_assert_uint_eq(out.kind, 3);
    ck_assert_uint_eq(out.places, 5);
    ck_assert(out.seed);
    ck_assert(bytes_equal(out.url, in.url));
    buf_fini(&text);
}
END_TEST

START_TEST(what_is_cut_or_out_of_range_is_refused)
{
    static const char whole[] = "\1\0\0\xac\2\1\5h";
    static const char deep[] = "\1\0\0\xff\xff\xff\xff\x1f\1\5h";
    static const char hops[] = "\1\0\0\1\x80\x80\4\5h";
    struct cluster_item out;

    for (size_t n = 0; n < sizeof whole - 1; n++)
        ck_assert_int_eq(cluster_item_read(&out, bytes_of(whole, n)),
                         STATUS_FORMAT);
    ck_assert_int_eq(cluster_item_read(&out, bytes_of(deep, sizeof deep - 1)),
                     STATUS_FORMAT);
    ck_assert_int_eq(cluster_item_read(&out, bytes_of(hops, sizeof hops - 1)),
                     STATUS_FORMAT);
    ck_assert_int_eq(cluster_item_read(&out, bytes_of("\2..........", 11)),
                     STATUS_VERSION);
}
END_TEST

Suite *suite_cluster_item(void)
{
    Suite *suite = suite_create("cluster_item");
    TCase *t = tcase_create("item");

    tcase_add_test(t, an_item_is_read_as_it_was_written);
    tcase_add_test(t, what_is_cut_or_out_of_range_is_refused);
    suite_add_tcase(suite, t);
    return suite;
}
