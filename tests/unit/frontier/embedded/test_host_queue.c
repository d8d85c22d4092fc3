/* SPDX-License-Identifier: MIT */
/* test_host_queue.c - the order of one host's URLs, and when it may be asked.
 */
#include "frontier/embedded/host_queue.h"

#include "tests/unit/storage/scratch.h"

#define NEVER INT64_MAX

struct place {
    struct scratch dir;
    struct db *db;
    struct frontier_store *store;
    struct host_queue *h;
};

/* Two queues whose URLs come in turn: ours has the odd ids up to 2 * `urls`. */
static void place_init(struct place *p, unsigned urls)
{
    const struct frontier_store_options o = {.memory_bytes = 1 << 20};
    uint32_t queue = 0;

    p->dir = scratch_make();
    p->db = scratch_open(p->dir.db, DB_CREATE);
    ck_assert_int_eq(frontier_store_open(&p->store, p->db, &o, 0, NULL, NULL),
                     STATUS_OK);
    ck_assert_int_eq(db_begin(p->db), STATUS_OK);
    for (unsigned i = 0; i < 2 * urls; i++) {
        char url[64];
        struct url_row row = {.depth = 1};
        uint64_t id;

        snprintf(url, sizeof url, "http://h%u.test/%u", i % 2, i);
        row.url = bytes_of_str(url);
        ck_assert_int_eq(frontier_store_queue(p->store, bytes_of_str("c"),
                                              bytes_of_str(i % 2 != 0 ? "h1"
                                                                      : "h0"),
                                              &row.queue),
                         STATUS_OK);
        ck_assert_int_eq(frontier_store_admit(p->store, &row, &id), STATUS_OK);
        ck_assert_uint_eq(id, i + 1);
    }
    ck_assert_int_eq(frontier_store_step(p->store), STATUS_OK);
    ck_assert_int_eq(db_commit(p->db), STATUS_OK);
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

    ck_assert_int_eq(host_queue_take(p->h, p->store, now, &id), STATUS_OK);
    return id;
}

START_TEST(urls_go_out_in_order_of_arrival_and_each_once)
{
    struct place p;

    place_init(&p, 40); /* more than two windows */
    for (uint64_t i = 0; i < 40; i++)
        ck_assert_uint_eq(take(&p, 0), 2 * i + 1);
    ck_assert_uint_eq(take(&p, 0), 0);
    ck_assert_uint_eq(take(&p, 0), 0);
    place_fini(&p);
}
END_TEST

START_TEST(urls_that_come_later_are_found_by_a_queue_that_was_empty)
{
    struct place p;
    struct url_row row = {.url = bytes_of_str("http://h0.test/late")};
    uint64_t id;

    place_init(&p, 1);
    ck_assert_uint_eq(take(&p, 0), 1);
    ck_assert_uint_eq(take(&p, 0), 0);
    row.queue = p.h->queue;
    ck_assert_int_eq(db_begin(p.db), STATUS_OK);
    ck_assert_int_eq(frontier_store_admit(p.store, &row, &id), STATUS_OK);
    ck_assert_uint_eq(take(&p, 0), id);
    ck_assert_int_eq(db_commit(p.db), STATUS_OK);
    place_fini(&p);
}
END_TEST

START_TEST(retries_go_first_once_they_are_due_soonest_first)
{
    struct place p;

    place_init(&p, 3);
    ck_assert_uint_eq(take(&p, 0), 1);
    ck_assert_uint_eq(take(&p, 0), 3);
    host_queue_retry(p.h, 3, 200);
    host_queue_retry(p.h, 1, 100);
    ck_assert_uint_eq(take(&p, 99), 5); /* neither is due */
    ck_assert_uint_eq(take(&p, 99), 0);
    ck_assert_uint_eq(take(&p, 150), 1);
    ck_assert_uint_eq(take(&p, 150), 0);
    ck_assert_uint_eq(take(&p, 200), 3);
    place_fini(&p);
}
END_TEST

START_TEST(released_urls_of_one_moment_keep_their_order)
{
    struct place p;
    static const uint64_t back[] = {7, 1, 5, 3, 9, 11};

    place_init(&p, 1);
    ck_assert_uint_eq(take(&p, 0), 1);
    for (size_t i = 0; i < 6; i++)
        host_queue_retry(p.h, back[i], 0);
    for (uint64_t id = 1; id <= 11; id += 2)
        ck_assert_uint_eq(take(&p, 0), id);
    place_fini(&p);
}
END_TEST

START_TEST(is_due_when_politeness_and_blocking_both_allow)
{
    struct host_queue *h = host_queue_new(1);

    h->next_due = 100;
    ck_assert_int_eq(host_queue_due(h, 1), 100);
    h->blocked_until = 500;
    ck_assert_int_eq(host_queue_due(h, 1), 500);
    h->next_due = 700;
    ck_assert_int_eq(host_queue_due(h, 1), 700);
    host_queue_free(h);
}
END_TEST

START_TEST(is_due_never_while_all_its_urls_are_out_and_later_for_retries)
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
END_TEST

Suite *suite_host_queue(void)
{
    Suite *s = suite_create("host_queue");
    TCase *t = tcase_create("host_queue");

    tcase_add_test(t, urls_go_out_in_order_of_arrival_and_each_once);
    tcase_add_test(t, urls_that_come_later_are_found_by_a_queue_that_was_empty);
    tcase_add_test(t, retries_go_first_once_they_are_due_soonest_first);
    tcase_add_test(t, released_urls_of_one_moment_keep_their_order);
    tcase_add_test(t, is_due_when_politeness_and_blocking_both_allow);
    tcase_add_test(
        t, is_due_never_while_all_its_urls_are_out_and_later_for_retries);
    suite_add_tcase(s, t);
    return s;
}
