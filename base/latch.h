/*
 * latch.h - one thread waits until another says, once, that something is done.
 *
 * It stands on the stack of who waits: whoever opens it does not touch it when
 * latch_open has returned, and who waits may free it when latch_wait has.
 */
#ifndef URLWEIR_BASE_LATCH_H
#define URLWEIR_BASE_LATCH_H

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
