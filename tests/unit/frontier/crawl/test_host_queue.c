/* SPDX-License-Identifier: MIT */
/* test_host_queue.c - the order of one host's URLs, and when the host may be
 * asked. */
#include "frontier/crawl/host_queue.h"

#include "tests/unit/storage/scratch.h"

#define NEVER INT64_MAX

struct place {
    struct scratch dir;
    struct db *db;
    struct frontier_store *store;
    struct host_queue *h;
};

/* Two queues whose URLs alternate: ours has the odd ids up to 2 * `urls`. */
static void place_init(struct place *p, unsigned urls)
{
    const struct frontier_store_options o = {.memory_bytes = 1 << 20};
    uint32_t queue = 0;

    p->dir = scratch_make();
    p->db = scratch_open(p->dir.db, DB_CREATE);
    ck_ok(frontier_store_open(&p->store, p->db, &o, 0, NULL, NULL));
    ck_ok(db_begin(p->db));
    for (unsigned i = 0; i < 2 * urls; i++) {
        char url[64];
        struct url_row row = {.depth = 1};
        uint64_t id;

        snprintf(url, sizeof url, "http://h%u.test/%u", i % 2, i);
        row.url = bytes_of_str(url);
        ck_ok(frontier_store_queue(p->store, bytes_of_str("c"),
                                   bytes_of_str(i % 2 != 0 ? "h1" : "h0"),
                                   &row.queue));
        ck_ok(frontier_store_admit(p->store, &row, &id));
        ck_assert_uint_eq(id, i + 1);
    }
    ck_ok(frontier_store_step(p->store));
    ck_ok(db_commit(p->db));
    queue = frontier_store_find_queue(p->store, bytes_of_str("c"),
                                      bytes_of_str("h0"));
    p->h = host_queue_new(queue);
}

static void place_fini(struct place *p)
{
    host_queue_free(p->h);
    frontier_store_close(p->store);
    db_close(p->db);
    scratch_remove(&p->dir);
}

#define NOW 1000

TEST(a_store_that_cannot_be_read_is_an_error_and_no_empty_queue)
{
    struct place p;
    uint64_t id = 99;

    place_init(&p, 1);
    p.h->queue = 77; /* a queue that the store does not have */
    ck_assert_int_eq(host_queue_take(p.h, p.store, 0, &id), STATUS_ARG);
    ck_assert_uint_eq(id, 0);
    place_fini(&p);
}
