/* SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <stdint.h>
#include <unistd.h>

#include "base/thread/queue.h"
#include "tests/unit/unit.h"

#define MESSAGES 20000

struct sender {
    struct queue *q;
    uintptr_t name; /* 0 or 1: the lowest bit of all that it sends */
};

static void *send_many(void *arg)
{
    const struct sender *s = arg;

    for (uintptr_t i = 1; i <= MESSAGES; i++)
        queue_send(s->q, (void *)(i << 1 | s->name), 0);
    return NULL;
}

TEST(everything_sent_by_two_threads_arrives_once_and_in_order_of_each)
{
    struct queue *q = queue_new(8, 0);
    struct sender senders[2] = {{q, 0}, {q, 1}};
    uintptr_t last[2] = {0, 0};
    pthread_t t[2];

    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, send_many, &senders[i]);
    while (last[0] + last[1] < 2 * MESSAGES) {
        void *items[5];
        size_t n = queue_gather(q, items, 5, -1, 1, 0);

        ck_assert_uint_gt(n, 0);
        for (size_t i = 0; i < n; i++) {
            uintptr_t item = (uintptr_t)items[i];

            ck_assert_uint_eq(item >> 1, ++last[item & 1]);
        }
        ck_assert_uint_le(queue_count(q), 8);
    }
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    queue_free(q);
}

struct sized {
    struct queue *q;
    size_t octets, number;
};

#define A_MINUTE INT64_C(60000000000)

static void *send_slowly(void *arg)
{
    struct sized *s = arg;

    for (size_t i = 1; i <= s->number; i++) {
        usleep(2000);
        queue_send(s->q, (void *)i, 0);
    }
    return NULL;
}

/* A minute would be the test's time limit. */
TEST(a_gatherer_waits_until_there_are_enough_and_no_longer)
{
    struct sized slow = {queue_new(8, 0), 0, 4};
    struct sized fast = {queue_new(2, 0), 0, 3};
    struct queue *q = slow.q;
    void *items[8];
    pthread_t t;

    pthread_create(&t, NULL, send_slowly, &slow);
    ck_assert_uint_eq(queue_gather(q, items, 8, -1, 4, A_MINUTE), 4);
    pthread_join(t, NULL);

    queue_send(q, &t, 0);
    ck_assert_uint_eq(queue_gather(q, items, 8, -1, 1, A_MINUTE), 1);
    queue_send(q, &t, 0);
    ck_assert_uint_eq(queue_gather(q, items, 8, -1, 2, 1000000), 1);
    queue_send(q, &t, 0);
    queue_wake(q);
    ck_assert_uint_eq(queue_gather(q, items, 8, -1, 2, A_MINUTE), 1);
    ck_assert_uint_eq(queue_gather(q, items, 8, 1000000, 2, A_MINUTE), 0);
    queue_free(q);

    /* more than there is room for */
    pthread_create(&t, NULL, send_slowly, &fast);
    ck_assert_uint_eq(queue_gather(fast.q, items, 8, -1, 4, A_MINUTE), 2);
    ck_assert_uint_eq(queue_gather(fast.q, items, 8, -1, 1, 0), 1);
    pthread_join(t, NULL);
    queue_free(fast.q);
}
