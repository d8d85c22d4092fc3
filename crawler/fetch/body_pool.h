/*
 * body_pool.h - the memory that bodies in flight may hold, as one number.
 *
 * Fetchers reserve before they buffer; when the pool is empty the transfer is
 * paused (back-pressure on the sender) until others give back. So that paused
 * transfers cannot wait for each other for ever, one transfer at a time may
 * overdraw by one body. Thread-safe.
 */
#ifndef URLWEIR_CRAWLER_FETCH_BODY_POOL_H
#define URLWEIR_CRAWLER_FETCH_BODY_POOL_H

#include <stdbool.h>
#include <stdint.h>

struct body_pool;

struct body_pool *body_pool_new(uint64_t bytes);
void body_pool_free(struct body_pool *p); /* NULL is fine */

/* True: `bytes` are reserved for `owner` (any address that names the
 * transfer). False: wait and ask again. */
bool body_pool_take(struct body_pool *p, const void *owner, uint64_t bytes);
/* Counts `bytes` that are there already, and never refuses: for what takes the
 * place of a body whose reservation is given back at once, and is not larger
 * but for its heads. */
void body_pool_hold(struct body_pool *p, uint64_t bytes);
/* Gives back all that `owner` had: `bytes` in sum. */
void body_pool_give(struct body_pool *p, const void *owner, uint64_t bytes);
uint64_t body_pool_used(struct body_pool *p);

#endif
