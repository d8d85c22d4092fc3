/*
 * latch.h - lets one thread wait, once, until another has done something.
 *
 * The latch is on the stack of the waiting thread: the thread that opens it
 * must not touch it after latch_open, and the waiting thread may free it after
 * latch_wait.
 */
#ifndef URLWEIR_BASE_THREAD_LATCH_H
#define URLWEIR_BASE_THREAD_LATCH_H

#include <pthread.h>
#include <stdbool.h>

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
