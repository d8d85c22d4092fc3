/* SPDX-License-Identifier: MIT */
/*
 * Time that passes between two lines of code, on a machine that is busy or was
 * asleep. Here the wall clock advances a step each time it is read.
 */
#include <dlfcn.h>
#include <stdatomic.h>
#include <time.h>

#include "tests/unit/crawler/fetcher_rig.h"
#include "tests/unit/unit.h"

static _Atomic int64_t step_ms, passed_ms;

int clock_gettime(clockid_t id, struct timespec *t)
{
    typedef int (*clock_call)(clockid_t, struct timespec *);
    static _Atomic clock_call known;
    clock_call real = atomic_load_explicit(&known, memory_order_relaxed);
    int64_t ns;
    int rc;

    if (real == NULL) {
        *(void **)&real = dlsym(RTLD_NEXT, "clock_gettime");
        atomic_store_explicit(&known, real, memory_order_relaxed);
    }
    rc = real(id, t);
    if (id != CLOCK_REALTIME || atomic_load(&step_ms) == 0)
        return rc;
    ns = t->tv_nsec +
         (atomic_fetch_add(&passed_ms, step_ms) + step_ms) * NS_PER_MS;
    t->tv_sec += ns / NS_PER_S;
    t->tv_nsec = ns % NS_PER_S;
    return rc;
}

/* The retry of an unreachable robots.txt is due again while its failure is
 * being reported; the URL must not wait for a fetch that nobody started. */
TEST(an_unreachable_robots_txt_is_told_however_soon_it_is_due_again)
{
    struct rig r;

    rig_init(&r, NULL, 0);
    r.o.robots = ROBOTS_OBEY;
    r.o.retry_delay_ms = 50;
    rig_start(&r);
    step_ms = 100;
    for (int i = 0; i < 3; i++) {
        /* nothing listens there */
        struct report *p = rig_ask_url(&r, "http://127.0.0.1:2/");

        assert_outcome(p, OUTCOME_FAILED, REASON_CONNECT);
        ck_assert_uint_eq(p->done.row.flags, FETCH_ROW_AT_ROBOTS);
        report_free(p);
    }
    step_ms = 0;
    rig_fini(&r);
}
