/*
 * tag_index.h - names to small numbers, without keeping the names.
 *
 * A name is known by 96 bits of its seeded hash: 12 octets and 5 to 11 of
 * table. At a million names the chance that two are taken for one is 6e-18;
 * each process draws a new seed, so nobody can search for such a pair. Numbers
 * are 1, 2, 3 ... in the order of adding.
 */
#ifndef URLWEIR_STORAGE_INDEX_TAG_INDEX_H
#define URLWEIR_STORAGE_INDEX_TAG_INDEX_H

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

#endif
