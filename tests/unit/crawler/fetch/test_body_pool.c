/* SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "crawler/transfer/limits.h"
#include "tests/unit/unit.h"

/* Takes and gives at random and compares with plain sums. */
TEST(agrees_with_a_plain_model)
{
    enum { OWNERS = 6, SIZE = 1000, STEPS = 200000 };
    struct body_pool *p = body_pool_new(SIZE);
    uint64_t held[OWNERS] = {0}, sum = 0;
    int over = -1;

    srand(7);
    for (int i = 0; i < STEPS; i++) {
        int who = rand() % OWNERS;
        uint64_t n = (uint64_t)(rand() % 300);

        if (rand() % 3 == 0) {
            body_pool_give(p, &held[who], held[who]);
            sum -= held[who];
            held[who] = 0;
            over = over == who ? -1 : over;
        } else {
            bool fits = sum + n <= SIZE;

            if (!fits && over == -1)
                over = who;
            fits = fits || over == who;
            ck_assert_int_eq(body_pool_take(p, &held[who], n), fits);
            if (fits) {
                held[who] += n;
                sum += n;
            }
        }
        ck_assert_uint_eq(body_pool_used(p), sum);
    }
    body_pool_free(p);
}

enum { THREADS = 4, BODIES = 300, BODY = 50, STEP = 10 };

static struct body_pool *shared;
static pthread_barrier_t all_have_begun;

/* Buffers bodies in steps and keeps what it holds while it waits. */
static void *buffer_bodies(void *arg)
{
    (void)arg;
    for (int i = 0; i < BODIES; i++) {
        for (int have = 0; have < BODY; have += STEP) {
            while (!body_pool_take(shared, &arg, STEP))
                sched_yield();
            if (i == 0 && have == 0)
                pthread_barrier_wait(&all_have_begun);
        }
        ck_assert_uint_le(body_pool_used(shared), THREADS * STEP + BODY);
        body_pool_give(shared, &arg, BODY);
    }
    return NULL;
}

/* The first step of every body together fills the pool. */
TEST(half_finished_bodies_never_wait_for_each_other_for_ever)
{
    pthread_t t[THREADS];

    shared = body_pool_new(THREADS * STEP);
    pthread_barrier_init(&all_have_begun, NULL, THREADS);
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&t[i], NULL, buffer_bodies, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(t[i], NULL);
    ck_assert_uint_eq(body_pool_used(shared), 0);
    pthread_barrier_destroy(&all_have_begun);
    body_pool_free(shared);
}
