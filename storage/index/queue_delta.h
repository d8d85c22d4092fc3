/*
 * queue_delta.h - the ids that are in no queue segment yet, by queue.
 *
 * Ids come one after the other, so an entry is its queue's number and a link
 * to the next of the same queue: eight octets, and four a queue. Memory only:
 * it is replayed from the url rows.
 */
#ifndef URLWEIR_STORAGE_INDEX_QUEUE_DELTA_H
#define URLWEIR_STORAGE_INDEX_QUEUE_DELTA_H

#include <stddef.h>
#include <stdint.h>

#include "storage/index/done_bits.h"

struct queue_delta;

/* Ids follow `base`. */
struct queue_delta *queue_delta_new(uint64_t base);
void queue_delta_free(struct queue_delta *t); /* NULL is fine */

/* Appends the next id, base + count + 1; queue 0: the id is in no queue. */
void queue_delta_add(struct queue_delta *t, uint32_t queue);
/* Fetches the memory that an add to `queue`, not 0, will touch. */
void queue_delta_prefetch(const struct queue_delta *t, uint32_t queue);
uint64_t queue_delta_base(const struct queue_delta *t);
uint64_t queue_delta_count(const struct queue_delta *t);
/* The queue of an id; 0: not here, or in no queue. */
uint32_t queue_delta_queue(const struct queue_delta *t, uint64_t id);

/* Finds up to `most` ids of `queue` greater than `after` that are not done, and
 * returns their number. Starting takes constant time if `after` is an id of
 * that queue or is not in the delta. */
size_t queue_delta_take(const struct queue_delta *t, uint32_t queue,
                        uint64_t after, const struct done_bits *done,
                        uint64_t *ids, size_t most);

/* Passes every entry that is not done to `visit`, by queue, then id. */
void queue_delta_each(struct queue_delta *t, const struct done_bits *done,
                      void (*visit)(void *ctx, uint32_t queue, uint64_t id),
                      void *ctx);
/* Empties the delta; its base becomes the last id it held. */
void queue_delta_flushed(struct queue_delta *t);

uint64_t queue_delta_memory(const struct queue_delta *t);

#endif
