/* SPDX-License-Identifier: MIT */
/* test_cluster_item.c - URLs as items of a cluster, and bytes that are none. */
#include <string.h>

#include "frontier/cluster_store/cluster_item.h"
#include "tests/unit/unit.h"

static void check(const char *host, const char *url, struct bytes known)
{
    const struct cluster_item in = {.depth = 300,
                                    .kind = 3,
                                    .seed = true,
                                    .places = 5,
                                    .url = bytes_of_str(url)};
    const struct bytes name = bytes_of_str(host);
    struct cluster_item out;
    struct buf text, whole;

    buf_init(&text, 4096);
    buf_init(&whole, 4096);
    buf_add_str(&whole, "of another one");
    cluster_item_write(&in, name, &text);
    ck_assert(bytes_equal(buf_bytes(&text), known));
    ck_ok(cluster_item_read(&out, buf_bytes(&text), name, &whole));
    ck_assert_uint_eq(out.depth, 300);
    ck_assert_uint_eq(out.hops, 0);
    ck_assert_uint_eq(out.kind, 3);
    ck_assert_uint_eq(out.places, 5);
    ck_assert(out.seed);
    ck_assert(bytes_equal(out.url, in.url));
    buf_fini(&text);
    buf_fini(&whole);
}

#define KNOWN(text) bytes_of(text, sizeof text - 1)

TEST(an_item_is_read_as_it_was_written)
{
    check("h", "http://h/", KNOWN("\2\1\3\xac\2\0\5/"));
    check("h", "https://h:8443/a?b", KNOWN("\2\3\3\xac\2\0\5:8443/a?b"));
    check("h", "http://i/h", KNOWN("\1\1\3\xac\2\0\5http://i/h"));
    check("h", "ftp://h/", KNOWN("\1\1\3\xac\2\0\5ftp://h/"));
    check("host", "http://h", KNOWN("\1\1\3\xac\2\0\5http://h"));
}

TEST(what_is_cut_or_out_of_range_is_refused)
{
    static const char whole[] = "\1\0\0\xac\2\1\5h";
    static const char deep[] = "\1\0\0\xff\xff\xff\xff\x1f\1\5h";
    static const char hops[] = "\2\0\0\1\x80\x80\4\5h";
    const struct bytes host = bytes_of_str("h");
    struct cluster_item out;
    struct buf url;

    buf_init(&url, 4);
    for (size_t n = 0; n < sizeof whole - 1; n++)
        ck_assert_int_eq(cluster_item_read(&out, bytes_of(whole, n), host,
                                           &url),
                         STATUS_FORMAT);
    ck_assert_int_eq(cluster_item_read(&out, KNOWN(deep), host, &url),
                     STATUS_FORMAT);
    ck_assert_int_eq(cluster_item_read(&out, KNOWN(hops), host, &url),
                     STATUS_FORMAT);
    ck_assert_int_eq(cluster_item_read(&out, KNOWN("\3.........."), host, &url),
                     STATUS_VERSION);
    /* longer than the caller's bound */
    ck_assert_int_eq(cluster_item_read(&out, KNOWN("\2\0\0\1\1\1/"), host,
                                       &url),
                     STATUS_LIMIT);
    buf_fini(&url);
}
