/*
 * queue.h - bounded queue of pointers between two threads.
 *
 * A full queue makes the sender wait (back-pressure); it never grows or drops
 * items. What is full is told by the number of items, and where their sizes
 * differ much by their octets, too. Any number of threads may send, one
 * receives; order is kept.
 */
#ifndef URLWEIR_BASE_THREAD_QUEUE_H
#define URLWEIR_BASE_THREAD_QUEUE_H

#include <stddef.h>
#include <stdint.h>

struct queue;

/* `capacity` >= 1, in items; `octets`: the most they may take together, but for
 * one item that alone takes more; 0: no limit. */
struct queue *queue_new(size_t capacity, size_t octets);
void queue_free(struct queue *q); /* the caller owns items still inside */

/* Waits while the queue is full. `octets`: what the item takes. */
void queue_send(struct queue *q, void *item, size_t octets);

/* Receives up to `most` items, as many as there are; waits at most `timeout_ns`
 * for the first (negative: for ever), and then at most `gather_ns` more until
 * there are `enough`, a sender waits for room, or it is woken. 0: timed out, or
 * woken. Together they take no more octets than may wait. Only one thread may
 * receive from a queue. */
size_t queue_gather(struct queue *q, void **items, size_t most,
                    int64_t timeout_ns, size_t enough, int64_t gather_ns);

/* Makes a waiting receiver return now, even without items. */
void queue_wake(struct queue *q);
size_t queue_count(struct queue *q);

#endif
