/*
 * queue_names.h - the names of all queues, in memory.
 *
 * A queue is named by a crawl ID and a key, both plain bytes; crawl IDs are few
 * and stored once. Names do not move until the table is freed. A queue costs
 * the octets of its key and some 20 more. Numbers are 1, 2, 3 ...
 */
#ifndef URLWEIR_STORAGE_INDEX_QUEUE_NAMES_H
#define URLWEIR_STORAGE_INDEX_QUEUE_NAMES_H

#include <stdint.h>

#include "base/bytes.h"
#include "base/status.h"

struct queue_names;

struct queue_names *queue_names_new(void);
void queue_names_free(struct queue_names *t); /* NULL is fine */

/* 0: not there. */
uint32_t queue_names_find(const struct queue_names *t, struct bytes crawl,
                          struct bytes key);
/* The same for `n` keys, into queues[0..n): while one is compared, the memory
 * of those after it is fetched. */
void queue_names_find_all(const struct queue_names *t, struct bytes crawl,
                          const struct bytes *keys, size_t n, uint32_t *queues);
/* STATUS_EXISTS; STATUS_LIMIT: no more numbers, or a name over 64 KiB. */
MUST_CHECK enum status queue_names_add(struct queue_names *t,
                                       struct bytes crawl, struct bytes key,
                                       uint32_t *queue);
/* For loading many names: call queue_names_load for each, which numbers them in
 * order, then queue_names_index once, and nothing else in between.
 * STATUS_EXISTS: a name is there twice. */
MUST_CHECK enum status queue_names_load(struct queue_names *t,
                                        struct bytes crawl, struct bytes key);
MUST_CHECK enum status queue_names_index(struct queue_names *t);
/* The name of `queue`, which must exist. */
void queue_names_get(const struct queue_names *t, uint32_t queue,
                     struct bytes *crawl, struct bytes *key);

/* Prefetch what queue_names_get() reads: where the name is, and after that the
 * name. Any number will do. */
void queue_names_prefetch(const struct queue_names *t, uint32_t queue);
void queue_names_prefetch_name(const struct queue_names *t, uint32_t queue);

uint32_t queue_names_count(const struct queue_names *t);
uint64_t queue_names_memory(const struct queue_names *t);

#endif
