/*
 * cond.h - waits for a condition until a time of clock_mono, and a latch.
 *
 * POSIX waits by the wall clock unless told otherwise, and that may be set
 * back; conditions made here use the monotonic clock of all our deadlines.
 */
#ifndef URLWEIR_BASE_THREAD_COND_H
#define URLWEIR_BASE_THREAD_COND_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* Initialises a condition. The other pthread_cond_* functions work as usual. */
void cond_init(pthread_cond_t *c);
/* The caller holds `mtx`. False: the time is `until`. True: check the condition
 * again; as in POSIX, this may happen without a signal. */
bool cond_wait_until(pthread_cond_t *c, pthread_mutex_t *mtx, int64_t until);

/* ---- lets one thread wait, once, until another has done something ----
 *
 * The latch is on the stack of the waiting thread: the thread that opens it
 * must not touch it after latch_open, and the waiting thread may free it after
 * latch_wait.
 */

struct latch {
    pthread_mutex_t mtx;
    pthread_cond_t cond;
    bool open;
};

void latch_init(struct latch *l);
void latch_fini(struct latch *l);
void latch_open(struct latch *l);
void latch_wait(struct latch *l);

#endif
