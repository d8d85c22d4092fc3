/* SPDX-License-Identifier: MIT */
/*
 * threads.c - pthread, clocks, sleeps, signals and chance over the scheduler.
 *
 * A mutex, a condition or a lock is told by its address; the octets of the
 * system's type hold what we need to know of it, and all zero is free, as the
 * initialisers of POSIX have it.
 */
#include "tests/sim/threads.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/sim/disk.h"
#include "tests/sim/life.h"
#include "tests/sim/scheduler.h"
#include "tests/sim/world.h"

#define FIRST_PID 4000

/* ---- threads ---- */

int sim_pthread_create(pthread_t *out, const pthread_attr_t *attr,
                       void *(*run)(void *), void *arg)
{
    int state = PTHREAD_CREATE_JOINABLE;

    if (attr != NULL)
        pthread_attr_getdetachstate(attr, &state);
    *out = scheduler_spawn(run, arg);
    if (state == PTHREAD_CREATE_DETACHED)
        scheduler_detach((unsigned)*out);
    scheduler_pass();
    return 0;
}

int sim_pthread_join(pthread_t thread, void **result)
{
    void *r = scheduler_join((unsigned)thread);

    if (result != NULL)
        *result = r;
    return 0;
}

int sim_pthread_detach(pthread_t thread)
{
    scheduler_detach((unsigned)thread);
    return 0;
}

pthread_t sim_pthread_self(void)
{
    return scheduler_self();
}

int sim_pthread_setname_np(pthread_t thread, const char *name)
{
    scheduler_name((unsigned)thread, name);
    return 0;
}

int sim_pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
    (void)how, (void)set;
    if (old != NULL)
        sigemptyset(old);
    return 0;
}

/* ---- mutexes ---- */

struct lock {
    unsigned owner;   /* 0: free */
    unsigned readers; /* of a read-write lock */
};

static struct lock *lock_of(void *p)
{
    return p;
}

static void lock(void *p)
{
    struct lock *l = lock_of(p);

    scheduler_pass();
    if (l->owner == scheduler_self())
        life_end_badly("a thread locks a mutex that it has");
    while (l->owner != 0 || l->readers > 0)
        (void)scheduler_wait(p, SCHEDULER_NEVER);
    l->owner = scheduler_self();
}

static void unlock(void *p)
{
    struct lock *l = lock_of(p);

    if (l->owner != scheduler_self())
        life_end_badly("a thread unlocks a mutex that it does not have");
    l->owner = 0;
    scheduler_wake(p, true);
}

int sim_pthread_mutex_init(pthread_mutex_t *m, const pthread_mutexattr_t *attr)
{
    (void)attr;
    memset(m, 0, sizeof *m);
    return 0;
}

int sim_pthread_mutex_destroy(pthread_mutex_t *m)
{
    if (lock_of(m)->owner != 0)
        life_end_badly("a locked mutex is destroyed");
    return 0;
}

int sim_pthread_mutex_lock(pthread_mutex_t *m)
{
    lock(m);
    return 0;
}

int sim_pthread_mutex_unlock(pthread_mutex_t *m)
{
    unlock(m);
    scheduler_pass();
    return 0;
}

int sim_pthread_rwlock_init(pthread_rwlock_t *l, const pthread_rwlockattr_t *a)
{
    (void)a;
    memset(l, 0, sizeof *l);
    return 0;
}

int sim_pthread_rwlock_destroy(pthread_rwlock_t *l)
{
    (void)l;
    return 0;
}

int sim_pthread_rwlock_wrlock(pthread_rwlock_t *l)
{
    lock(l);
    return 0;
}

int sim_pthread_rwlock_rdlock(pthread_rwlock_t *p)
{
    struct lock *l = lock_of(p);

    scheduler_pass();
    while (l->owner != 0)
        (void)scheduler_wait(p, SCHEDULER_NEVER);
    l->readers++;
    return 0;
}

int sim_pthread_rwlock_unlock(pthread_rwlock_t *p)
{
    struct lock *l = lock_of(p);

    if (l->readers > 0) {
        if (--l->readers == 0)
            scheduler_wake(p, true);
    } else {
        unlock(p);
    }
    return 0;
}

int sim_pthread_once(pthread_once_t *once, void (*run)(void))
{
    if (*once == 1)
        world_fault("two threads in pthread_once");
    if (*once == 0) {
        *once = 1;
        run();
        *once = 2;
    }
    return 0;
}

/* ---- conditions ---- */

int sim_pthread_cond_init(pthread_cond_t *c, const pthread_condattr_t *attr)
{
    (void)attr;
    memset(c, 0, sizeof *c);
    return 0;
}

int sim_pthread_cond_destroy(pthread_cond_t *c)
{
    (void)c;
    return 0;
}

int sim_pthread_cond_signal(pthread_cond_t *c)
{
    scheduler_wake(c, false);
    scheduler_pass();
    return 0;
}

int sim_pthread_cond_broadcast(pthread_cond_t *c)
{
    scheduler_wake(c, true);
    scheduler_pass();
    return 0;
}

static int cond_wait(pthread_cond_t *c, pthread_mutex_t *m, int64_t until)
{
    bool woken;

    unlock(m);
    woken = scheduler_idle(c, until);
    lock(m);
    return woken ? 0 : ETIMEDOUT;
}

int sim_pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m)
{
    return cond_wait(c, m, SCHEDULER_NEVER);
}

/* All our conditions go by the monotonic clock, base/thread/cond.h. */
int sim_pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m,
                               const struct timespec *t)
{
    return cond_wait(c, m, (int64_t)t->tv_sec * NS_PER_S + t->tv_nsec);
}

/* ---- time ---- */

int sim_clock_gettime(clockid_t id, struct timespec *t)
{
    int64_t ns = id == CLOCK_REALTIME ? scheduler_wall() : scheduler_mono();

    t->tv_sec = (time_t)(ns / NS_PER_S);
    t->tv_nsec = (long)(ns % NS_PER_S);
    return 0;
}

time_t sim_time(time_t *out)
{
    time_t s = (time_t)(scheduler_wall() / NS_PER_S);

    if (out != NULL)
        *out = s;
    return s;
}

int sim_usleep(useconds_t us)
{
    scheduler_doze((int64_t)us * 1000);
    return 0;
}

int sim_nanosleep(const struct timespec *t, struct timespec *left)
{
    (void)left;
    scheduler_doze((int64_t)t->tv_sec * NS_PER_S + t->tv_nsec);
    return 0;
}

/* ---- signals ---- */

static sigset_t pending;
static bool is_pending;

void threads_signal(int number)
{
    if (!is_pending)
        sigemptyset(&pending);
    sigaddset(&pending, number);
    is_pending = true;
    scheduler_wake(&pending, true);
}

static int take_signal(const sigset_t *set)
{
    for (int s = 1; is_pending && s < 32; s++)
        if (sigismember(&pending, s) == 1 && sigismember(set, s) == 1) {
            sigdelset(&pending, s);
            return s;
        }
    return 0;
}

int sim_sigtimedwait(const sigset_t *set, siginfo_t *info,
                     const struct timespec *t)
{
    int64_t until = world->mono_ns + t->tv_sec * NS_PER_S + t->tv_nsec;
    int s;

    (void)info;
    while ((s = take_signal(set)) == 0)
        if (!scheduler_idle(&pending, until)) {
            errno = EAGAIN;
            return -1;
        }
    return s;
}

/* ---- chance, and what the system tells of itself ---- */

ssize_t sim_getrandom(void *to, size_t len, unsigned flags)
{
    unsigned char *at = to;

    (void)flags;
    for (size_t i = 0; i < len; i++)
        at[i] = (unsigned char)life_random();
    return (ssize_t)len;
}

int sim_RAND_bytes(unsigned char *to, int len)
{
    return sim_getrandom(to, (size_t)len, 0) == len;
}

pid_t sim_getpid(void)
{
    return (pid_t)(FIRST_PID + life_number());
}

int sim_gethostname(char *to, size_t len)
{
    snprintf(to, len, "sim");
    return 0;
}

/* A process does not see our environment, so that a seed does not depend on
 * it. */
char *sim_getenv(const char *name)
{
    return strcmp(name, "TMPDIR") == 0 ? (char *)DISK_TMP : NULL;
}

int sim_getrlimit64(int what, struct rlimit *r)
{
    (void)what;
    r->rlim_cur = r->rlim_max = what == RLIMIT_NOFILE ? 4096 : RLIM_INFINITY;
    return 0;
}

int sim_setrlimit64(int what, const struct rlimit *r)
{
    (void)what, (void)r;
    return 0;
}

int sim_prctl(int what, ...)
{
    (void)what;
    return 0;
}
