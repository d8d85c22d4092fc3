/*
 * queue.h - bounded queue of pointers between two threads.
 *
 * A full queue makes the sender wait (back-pressure); it never grows or drops
 * items. Any number of threads may send and receive; order is kept.
 */
#ifndef URLWEIR_BASE_THREAD_QUEUE_H
#define URLWEIR_BASE_THREAD_QUEUE_H

#include <stddef.h>
#include <stdint.h>

struct queue;

/* `capacity` >= 1. */
struct queue *queue_new(size_t capacity);
void queue_free(struct queue *q); /* the caller owns items still inside */

/* Waits while the queue is full. */
void queue_send(struct queue *q, void *item);

/* Receives up to `most` items, as many as there are; waits at most `timeout_ns`
 * for the first (negative: for ever). 0: timed out, or woken. */
size_t queue_receive(struct queue *q, void **items, size_t most,
                     int64_t timeout_ns);

/* Makes a waiting receiver return now, even without items. */
void queue_wake(struct queue *q);
size_t queue_count(struct queue *q);

#endif
