/*
 * cond.h - waiting for a condition until a moment of clock_mono.
 *
 * POSIX waits by the wall clock unless told otherwise, and that may be set
 * back; a condition made here is waited for by the clock of all deadlines.
 */
#ifndef URLWEIR_BASE_COND_H
#define URLWEIR_BASE_COND_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* pthread_cond_destroy ends it; signalled, and waited for without an end, as
 * any. */
void cond_init(pthread_cond_t *c);
/* `mtx` is held. False: it is `until`. True: look again; also without a signal,
 * as in POSIX. */
bool cond_wait_until(pthread_cond_t *c, pthread_mutex_t *mtx, int64_t until);

#endif
