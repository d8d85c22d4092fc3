/*
 * body_index.h - bodies seen, by digest, to the first fetch that had them.
 *
 * Sixteen octets a distinct body at most three quarters full: 64 bits of the
 * digest and the seq. A match is confirmed by the caller from the row itself.
 * Past four million bodies no more are taken in, with one log line: content
 * seen first after that is not known again.
 */
#ifndef URLWEIR_STORAGE_BODY_INDEX_H
#define URLWEIR_STORAGE_BODY_INDEX_H

#include <stdbool.h>
#include <stdint.h>

#include "base/digest.h"

#define BODY_INDEX_MOST (UINT64_C(1) << 22)

struct body_index;

struct body_index *body_index_new(void);
void body_index_free(struct body_index *x); /* NULL is fine */

/* 0: not known. `confirm` answers whether that row has the whole digest. */
uint64_t body_index_find(const struct body_index *x, struct digest d,
                         bool (*confirm)(void *ctx, uint64_t seq,
                                         struct digest d),
                         void *ctx);
/* It is not known. */
void body_index_add(struct body_index *x, struct digest d, uint64_t seq);

#endif
