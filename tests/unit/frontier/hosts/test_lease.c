/* SPDX-License-Identifier: MIT */
/* test_lease.c - URLs handed out, against a plain table. */
#include "frontier/hosts/lease.h"

#include "tests/unit/storage/scratch.h"

#define IDS 200

TEST(a_lease_keeps_a_copy_of_what_it_was_given)
{
    struct lease_table *t = lease_table_new();
    struct host_queue *h = host_queue_new(3);
    char url[] = "http://a.test/x", key[] = "a.test";
    const struct url_row row = {.id = 7,
                                .queue = 3,
                                .url = bytes_of_str(url),
                                .depth = 2,
                                .hops = 1,
                                .kind = 5,
                                .flags = URL_ROW_SEED,
                                .via = 4};
    struct lease_record *r = lease_add(t, h, &row, bytes_of_str(key), 2, NULL);

    memset(url, '#', sizeof url - 1);
    memset(key, '#', sizeof key - 1);
    ck_assert_ptr_eq(lease_find(t, 7), r);
    ck_assert_ptr_eq(r->host, h);
    ck_assert_uint_eq(r->via, 4);
    ck_assert_uint_eq(r->lease.id, 7);
    ck_assert_uint_eq(r->lease.queue, 3);
    ck_assert_uint_eq(r->lease.depth, 2);
    ck_assert_uint_eq(r->lease.hops, 1);
    ck_assert_uint_eq(r->lease.kind, 5);
    ck_assert_uint_eq(r->lease.tries, 2);
    ck_assert(r->lease.seed);
    ck_assert(bytes_is(r->lease.url, "http://a.test/x"));
    ck_assert(bytes_is(r->lease.key, "a.test"));
    lease_table_free(t);
    host_queue_free(h);
}

TEST(behaves_as_a_plain_table_does)
{
    struct lease_table *t = lease_table_new();
    struct host_queue *h = host_queue_new(1);
    bool out[IDS] = {false};
    size_t count = 0;
    uint64_t state = 3;

    for (int i = 0; i < 20000; i++) {
        uint64_t id = scratch_below(&state, IDS);
        struct lease_record *r = lease_find(t, id + 1);

        SAME(r != NULL, out[id]);
        if (r == NULL) {
            const struct url_row row = {.id = id + 1,
                                        .url = bytes_of_str("http://a/")};

            lease_add(t, h, &row, bytes_of_str("a"), 0, NULL);
            count++;
        } else {
            SAME(r->lease.id, id + 1);
            lease_end(t, r);
            count--;
        }
        out[id] = !out[id];
        SAME(lease_count(t), count);
    }
    lease_table_free(t);
    host_queue_free(h);
}
