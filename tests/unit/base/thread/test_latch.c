/* SPDX-License-Identifier: MIT */
#include "base/thread/latch.h"
#include "tests/unit/unit.h"

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
