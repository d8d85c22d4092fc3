/*
 * queue_names.h - the names of all queues, in memory.
 *
 * A queue is named by a crawl ID and a key, both plain bytes; crawl IDs are few
 * and stand once. Names stay where they are until the table is freed. Costs
 * the key's octets and some 20 more a queue. Numbers are 1, 2, 3 ...
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
/* STATUS_EXISTS; STATUS_LIMIT: no more numbers, or a name over 64 KiB. */
MUST_CHECK enum status queue_names_add(struct queue_names *t,
                                       struct bytes crawl, struct bytes key,
                                       uint32_t *queue);
/* For reading many in: each by queue_names_load, which numbers them in order,
 * then all of them by queue_names_index; nothing else in between.
 * STATUS_EXISTS: a name came twice. */
MUST_CHECK enum status queue_names_load(struct queue_names *t,
                                        struct bytes crawl, struct bytes key);
MUST_CHECK enum status queue_names_index(struct queue_names *t);
/* `queue` is one of ours. */
void queue_names_get(const struct queue_names *t, uint32_t queue,
                     struct bytes *crawl, struct bytes *key);

uint32_t queue_names_count(const struct queue_names *t);
uint64_t queue_names_memory(const struct queue_names *t);

#endif
