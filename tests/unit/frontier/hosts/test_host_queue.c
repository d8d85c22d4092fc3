/* SPDX-License-Identifier: MIT */
/* test_host_queue.c - the order of one host's URLs, and when the host may be
 * asked. */
#include "frontier/hosts/host_queue.h"

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

static uint64_t take(struct place *p, int64_t now)
{
    uint64_t id = 99;

    ck_ok(host_queue_take(p->h, p->store, now, &id));
    return id;
}

TEST(is_due_never_while_all_its_urls_are_out_and_later_for_retries)
{
    struct host_queue *h = host_queue_new(1);

    ck_assert_int_eq(host_queue_due(h, 0), NEVER);
    h->leased = 2;
    ck_assert_int_eq(host_queue_due(h, 2), NEVER);
    ck_assert_int_eq(host_queue_due(h, 3), 0);
    host_queue_retry(h, 5, 900);
    ck_assert_int_eq(host_queue_due(h, 3), 900); /* 2 out, 1 to retry */
    h->next_due = 1000;
    ck_assert_int_eq(host_queue_due(h, 3), 1000);
    ck_assert_int_eq(host_queue_due(h, 4), 1000);
    host_queue_free(h);
}

TEST(a_retry_that_is_dropped_is_that_url_and_no_other)
{
    struct host_queue *h = host_queue_new(1);

    ck_assert(!host_queue_drop_retry(h, 5));
    for (uint64_t id = 4; id <= 7; id++)
        host_queue_retry(h, id, (int64_t)id);
    ck_assert(!host_queue_drop_retry(h, 9));
    ck_assert_uint_eq(h->retry_count, 4);
    ck_assert(host_queue_drop_retry(h, 5));
    ck_assert_uint_eq(h->retry_count, 3);
    ck_assert_uint_eq(h->retries[0].id, 4);
    ck_assert_uint_eq(h->retries[1].id, 6);
    ck_assert_uint_eq(h->retries[2].id, 7);
    ck_assert(host_queue_drop_retry(h, 7));
    ck_assert(!host_queue_drop_retry(h, 7)); /* it stands behind the end yet */
    ck_assert_uint_eq(h->retry_count, 2);
    host_queue_free(h);
}

TEST(done_urls_come_out_no_more_whether_read_ahead_or_to_be_retried)
{
    static const uint64_t done[] = {3, 7, 31};
    struct place p;

    place_init(&p, 20);
    for (uint64_t id = 1; id <= 5; id += 2)
        ck_assert_uint_eq(take(&p, 0), id);
    host_queue_retry(p.h, 1, 100);
    host_queue_retry(p.h, 3, 100);
    host_queue_retry(p.h, 5, 100);
    ck_ok(db_begin(p.db));
    for (size_t i = 0; i < 3; i++)
        ck_ok(frontier_store_done(p.store, done[i], 0));
    host_queue_forget_done(p.h, p.store);
    ck_assert_uint_eq(take(&p, 100), 1);
    ck_assert_uint_eq(take(&p, 100), 5);
    for (uint64_t id = 9; id <= 29; id += 2)
        ck_assert_uint_eq(take(&p, 100), id);
    ck_assert_uint_eq(take(&p, 100), 33);
    ck_ok(db_commit(p.db));
    place_fini(&p);
}

#define NOW 1000

/* Sets one of the things that a host remembers. */
static void remember(struct host_queue *h, int what)
{
    h->active = what == 1;
    h->set_aside = what == 2;
    h->place.place = what == 3;
    h->leased = what == 4;
    h->guests = what == 5;
    h->next_due = what == 6 ? NOW + 1 : NOW;
    host_orders_of(h)->expects_until = what == 7 ? NOW + 1 : NOW;
    host_trouble_of(h)->blocked_until = what == 8 ? NOW + 1 : NOW;
    h->own_delay = what == 9 ? 0 : -1;
    host_orders_of(h)->set_delay = what == 10 ? 0 : -1;
    host_orders_of(h)->set_limit = what == 11;
    h->backoffs = what == 12;
    h->errors = what == 13;
    host_trouble_of(h)->failures = what == 14;
    host_spent_of(h)->pages = what == 15;
    if (what == 16)
        (void)host_origin_fails(h, bytes_of_str("http://a.test/"), 3,
                                (struct outcome){.status = OUTCOME_FAILED}, 0);
    else
        host_origins_revive(h);
    if (what == 17)
        host_queue_retry(h, 1, 0);
}

TEST(is_forgotten_only_when_it_remembers_nothing)
{
    struct host_queue *h = host_queue_new(1);

    remember(h, 0);
    ck_assert(host_queue_is_idle(h, NOW));
    for (int what = 1; what <= 17; what++) {
        remember(h, what);
        ck_assert_msg(!host_queue_is_idle(h, NOW), "thing %d", what);
    }
    host_queue_free(h);
}

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

TEST(a_request_to_another_host_waits_for_its_own_moment)
{
    struct host_queue *h = host_queue_new(1);

    host_orders_of(h)->cross_to = 2;
    host_orders_of(h)->cross_due = 900;
    ck_assert_int_eq(host_queue_due(h, 1), 900);
    host_orders_of(h)->expects_until =
        1100; /* a URL of another host comes first */
    ck_assert_int_eq(host_queue_due(h, 1), 1100);
    host_orders_of(h)->cross_to = 0;
    host_orders_of(h)->expects_until = 0;
    ck_assert_int_eq(host_queue_due(h, 1), 0);
    host_queue_free(h);
}
