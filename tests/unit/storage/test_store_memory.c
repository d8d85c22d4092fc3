/* SPDX-License-Identifier: MIT */
/*
 * test_store_memory.c - the parts of a store say what memory they take.
 *
 * The frontier divides --memory by these figures, so each is compared with what
 * the allocator gave out meanwhile.
 */
#include <malloc.h>
#include <stdio.h>

#include "storage/frontier_store_impl.h"
#include "storage/index/done_bits.h"
#include "storage/index/exact_parts.h"
#include "storage/index/exact_set.h"
#include "storage/index/name_table.h"
#include "storage/index/segment_list.h"
#include "tests/unit/storage/store_model.h"

#define MANY 100000

static uint64_t allocated(void)
{
    struct mallinfo2 m = mallinfo2();

    return m.uordblks + m.hblkhd;
}

/* Sanitizers bring an allocator of their own, which tells nothing. */
static bool allocator_tells(void)
{
    uint64_t before = allocated();
    void *volatile some = malloc(1 << 20);
    uint64_t after = allocated();

    free(some);
    return after - before >= 1 << 20;
}

/* The allocator adds some octets to each piece. */
static void expect_told(uint64_t told, uint64_t took)
{
    if (allocator_tells())
        ck_assert_msg(told > took - took / 16 && told < took + took / 16,
                      "%llu octets told, %llu taken", (unsigned long long)told,
                      (unsigned long long)took);
}

TEST(the_names_of_queues)
{
    uint64_t before = allocated();
    struct queue_names *t = queue_names_new();

    ck_assert_uint_lt(queue_names_memory(t), 1024);
    for (uint32_t i = 0; i < MANY; i++) {
        char key[64];
        uint32_t queue;

        snprintf(key, sizeof key, "www.host-%u.example", i);
        SAME(queue_names_add(t, bytes_of_str("c"), bytes_of_str(key), &queue),
             STATUS_OK);
    }
    expect_told(queue_names_memory(t), allocated() - before);
    queue_names_free(t);
}

TEST(bits_of_done_urls)
{
    struct scratch dir = scratch_make();
    struct db *d = scratch_open(dir.db, DB_CREATE);
    struct done_bits *b = NULL;
    uint64_t before, told;

    ck_ok(done_bits_open(&b, d, 0, 0));
    before = allocated();
    told = done_bits_memory(b);
    for (uint64_t block = 0; block < 500; block++)
        ck_assert(done_bits_set(b, block * DONE_BLOCK + 1, block + 1));
    expect_told(done_bits_memory(b) - told, allocated() - before);
    done_bits_close(b);
    db_close(d);
    scratch_remove(&dir);
}

/* Of each of three reasons the examples, and many hosts; a longer example
 * takes the place of a shorter one. */
TEST(drops_by_reason_and_host)
{
    static const char *const reasons[] = {"scope", "trap", "exclude"};
    struct scratch dir = scratch_make();
    struct db *d = scratch_open(dir.db, DB_CREATE);
    static const struct frontier_store_options o = {.memory_bytes = 1 << 20};
    struct frontier_store *t = NULL;
    uint64_t before;

    ck_ok(frontier_store_open(&t, d, &o, 0, NULL, NULL));
    before = allocated() - db_memory(d) - frontier_store_memory(t);
    for (unsigned i = 0; i < 3 * DROPS_EXAMPLES * 20; i++) {
        char host[64], url[1100];

        snprintf(host, sizeof host, "h%u.example", i);
        snprintf(url, sizeof url, "http://%s/%0*u", host, (int)(i / 60), i);
        frontier_store_drop(t, reasons[i % 3], bytes_of_str(host),
                            bytes_of_str(url), 0, 5);
    }
    ck_ok(db_begin(d));
    ck_ok(frontier_store_step(t));
    ck_ok(db_commit(d));
    expect_told(frontier_store_memory(t), allocated() - db_memory(d) - before);
    frontier_store_close(t);
    db_close(d);
    scratch_remove(&dir);
}

/* In memory first; then in pages, of which a cache has as many as fit into the
 * least it may have: 64, for which it does not ask the allocator. */
TEST(digests_in_memory_and_in_pages)
{
    static const struct exact_set_options o = {.block_cache_bytes = 1,
                                               .delta_most = MANY};
    struct scratch dir = scratch_make();
    struct db *d = scratch_open(dir.db, DB_CREATE);
    struct exact_set *s = NULL;
    uint64_t before;

    ck_ok(exact_set_open(&s, d, &o));
    before = allocated() - db_memory(d) - exact_set_stats(s).memory;
    for (uint64_t id = 1; id <= MANY; id++)
        exact_set_add(s, scratch_digest(id), id);
    expect_told(exact_set_stats(s).memory, allocated() - db_memory(d) - before);
    ck_ok(db_begin(d));
    ck_ok(exact_set_merge(s, EXACT_SET_PARTS));
    ck_ok(db_commit(d));
    for (uint64_t id = 1; id <= MANY; id++) {
        struct digest digest = scratch_digest(id);
        uint64_t found = 0;

        SAME(exact_set_find(s, &digest, 1, &found), STATUS_OK);
        SAME(found, id);
    }
    expect_told(exact_set_stats(s).memory - 64 * BLOCK_CACHE_BLOCK,
                allocated() - db_memory(d) - before);
    exact_set_close(s);
    db_close(d);
    scratch_remove(&dir);
}

static void admit(struct frontier_store *s, uint64_t n)
{
    char url[128], key[32];
    uint64_t id = 0;
    struct url_row row = {.depth = 1, .via = n / 2, .found_at_ms = 5};

    snprintf(key, sizeof key, "host%u.example", (unsigned)(n % 20000));
    SAME(frontier_store_queue(s, bytes_of_str("c"), bytes_of_str(key),
                              &row.queue),
         STATUS_OK);
    row.url = model_url(url, n, row.queue);
    SAME(frontier_store_admit(s, &row, &id), STATUS_OK);
}

/* With the pages of its database in memory, and without them. */
TEST(a_store_and_its_database)
{
    static const struct frontier_store_options o = {.flush_least = 1000};
    struct scratch dir = scratch_make();
    struct db *d = scratch_open(dir.db, DB_CREATE);
    uint64_t before = allocated() - db_memory(d), with;
    struct frontier_store *s = NULL;

    ck_ok(frontier_store_open(&s, d, &o, 0, NULL, NULL));
    for (unsigned i = 0; i < 20; i++) {
        ck_ok(db_begin(d));
        for (unsigned k = 0; k < 3000; k++)
            admit(s, i * 3000 + k);
        ck_ok(frontier_store_step(s));
        ck_ok(db_commit(d));
    }
    with = db_memory(d);
    ck_assert_uint_gt(with, 4 << 20);
    expect_told(frontier_store_memory(s) + with, allocated() - before);
    db_forget_pages(d);
    ck_assert_uint_lt(db_memory(d), 1 << 20);
    expect_told(frontier_store_memory(s) + db_memory(d), allocated() - before);
    frontier_store_close(s);
    db_close(d);
    scratch_remove(&dir);
}
