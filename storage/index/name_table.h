/*
 * name_table.h - numbers for names, without keeping the names (tag_index), and
 * for the names of queues, which are kept (queue_names).
 *
 * A name is known by 96 bits of its seeded hash: 12 octets and 5 to 11 of
 * table. At a million names the chance that two are taken for one is 6e-18;
 * each process draws a new seed, so nobody can search for such a pair. Numbers
 * are 1, 2, 3 ... in the order of adding.
 */
#ifndef URLWEIR_STORAGE_INDEX_NAME_TABLE_H
#define URLWEIR_STORAGE_INDEX_NAME_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/status.h"

struct tag_index;

struct tag_index *tag_index_new(void);
void tag_index_free(struct tag_index *t); /* NULL is fine */

/* The number of `name` in name space `space`; 0: not there. */
uint32_t tag_index_find(const struct tag_index *t, uint32_t space,
                        struct bytes name);
/* Adds `name` and returns its number, also if it was there already. */
uint32_t tag_index_add(struct tag_index *t, uint32_t space, struct bytes name);

/* For loading many names: call tag_index_load for each, which returns the next
 * number, then tag_index_index once, and nothing else in between. False: a name
 * is there twice. Three times as fast as adding one by one. */
uint32_t tag_index_load(struct tag_index *t, uint32_t space, struct bytes name);
MUST_CHECK bool tag_index_index(struct tag_index *t);

uint32_t tag_index_count(const struct tag_index *t);
uint64_t tag_index_memory(const struct tag_index *t);

/*
 * The names of all queues, in memory.
 *
 * A queue is named by a crawl ID and a key, both plain bytes; crawl IDs are few
 * and stored once. Names do not move until the table is freed. A queue costs
 * the octets of its key and some 20 more. Numbers are 1, 2, 3 ...
 */

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
