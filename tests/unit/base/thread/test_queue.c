/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <pthread.h>
#include <stdint.h>

#include "base/thread/queue.h"

#define MESSAGES 20000

static void *send_many(void *arg)
{
    struct queue *q = arg;

    for (uintptr_t i = 1; i <= MESSAGES; i++)
        queue_send(q, (void *)i);
    return NULL;
}

START_TEST(everything_sent_by_two_threads_arrives_once_and_in_order_of_each)
{
    struct queue *q = queue_new(8);
    pthread_t t[2];
    uint64_t sum = 0, got = 0;

    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, send_many, q);
    while (got < 2 * MESSAGES) {
        void *items[5];
        size_t n = queue_receive(q, items, 5, -1);

        ck_assert_uint_gt(n, 0);
        for (size_t i = 0; i < n; i++)
            sum += (uintptr_t)items[i];
        got += n;
        ck_assert_uint_le(queue_count(q), 8);
    }
    ck_assert_uint_eq(sum, (uint64_t)MESSAGES * (MESSAGES + 1));
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    queue_free(q);
}
END_TEST

START_TEST(wake_ends_the_next_wait_at_once)
{
    struct queue *q = queue_new(1);
    void *got;

    queue_wake(q);
    ck_assert_uint_eq(queue_receive(q, &got, 1, -1), 0);
    ck_assert_uint_eq(queue_receive(q, &got, 1, 1000000), 0);
    queue_free(q);
}
END_TEST

Suite *suite_queue(void)
{
    Suite *s = suite_create("queue");
    TCase *t = tcase_create("queue");

    tcase_add_test(
        t, everything_sent_by_two_threads_arrives_once_and_in_order_of_each);
    tcase_add_test(t, wake_ends_the_next_wait_at_once);
    suite_add_tcase(s, t);
    return s;
}
