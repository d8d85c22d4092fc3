/* SPDX-License-Identifier: MIT */

#include "base/clock.h"
#include "base/thread/cond.h"
#include "tests/unit/unit.h"

static pthread_mutex_t mtx = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond;
static bool told;

static void *tell(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&mtx);
    told = true;
    pthread_cond_signal(&cond);
    pthread_mutex_unlock(&mtx);
    return NULL;
}

TEST(a_signal_ends_it_long_before_its_moment)
{
    pthread_t thread;
    bool in_time = true;

    cond_init(&cond);
    told = false;
    pthread_mutex_lock(&mtx);
    ck_assert_int_eq(pthread_create(&thread, NULL, tell, NULL), 0);
    while (!told && in_time)
        in_time = cond_wait_until(&cond, &mtx, clock_mono() + 3600 * NS_PER_S);
    pthread_mutex_unlock(&mtx);
    ck_assert(told && in_time);
    pthread_join(thread, NULL);
    pthread_cond_destroy(&cond);
}

TEST(without_a_signal_it_ends_at_its_moment_and_not_before)
{
    int64_t until = clock_mono() + 20 * NS_PER_MS;

    cond_init(&cond);
    pthread_mutex_lock(&mtx);
    while (cond_wait_until(&cond, &mtx, until))
        ;
    ck_assert_int_ge(clock_mono(), until);
    ck_assert(!cond_wait_until(&cond, &mtx, until)); /* already past */
    ck_assert(!cond_wait_until(&cond, &mtx, 0));
    pthread_mutex_unlock(&mtx);
    pthread_cond_destroy(&cond);
}

/* ---- latch ---- */

static bool done;

static void *do_it(void *latch)
{
    done = true;
    latch_open(latch);
    return NULL;
}

TEST(who_waits_sees_what_was_done_before_it_was_opened)
{
    for (int i = 0; i < 1000; i++) {
        struct latch l;
        pthread_t thread;

        latch_init(&l);
        done = false;
        ck_assert_int_eq(pthread_create(&thread, NULL, do_it, &l), 0);
        latch_wait(&l);
        ck_assert(done);
        latch_wait(&l); /* it stays open */
        pthread_join(thread, NULL);
        latch_fini(&l);
    }
}
