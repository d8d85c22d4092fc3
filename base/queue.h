/*
 * queue.h - bounded queue of pointers between two threads.
 *
 * A full queue makes the sender wait: back-pressure, never growth and never a
 * drop. Any number of threads may send and receive; order is kept.
 */
#ifndef URLWEIR_BASE_QUEUE_H
#define URLWEIR_BASE_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

struct queue;

/* `capacity` >= 1. */
struct queue *queue_new(size_t capacity);
void queue_free(struct queue *q); /* what is still inside stays the caller's */

/* Waits while full. STATUS_CLOSED: nothing was sent, `item` is still yours. */
MUST_CHECK enum status queue_send(struct queue *q, void *item);
/* As above, but STATUS_AGAIN at once while full. */
MUST_CHECK enum status queue_try_send(struct queue *q, void *item);

/* Up to `most` items, as many as are there; waits at most `timeout_ns` for the
 * first (negative: without end). 0: timed out, or closed and drained. */
size_t queue_receive(struct queue *q, void **items, size_t most,
                     int64_t timeout_ns);

/* No more sends; receivers get what is left, then 0 at once. */
void queue_close(struct queue *q);
/* Make a waiting receiver return now, even with nothing. */
void queue_wake(struct queue *q);
size_t queue_count(struct queue *q);

#endif
