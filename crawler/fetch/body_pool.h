/*
 * body_pool.h - limits the memory of bodies in flight.
 *
 * Fetchers reserve memory before they buffer; when the pool is empty, the
 * transfer is paused (back-pressure on the sender) until others give back. One
 * transfer at a time may overdraw by one body, so that paused transfers cannot
 * wait for each other for ever. Thread-safe.
 */
#ifndef URLWEIR_CRAWLER_FETCH_BODY_POOL_H
#define URLWEIR_CRAWLER_FETCH_BODY_POOL_H

#include <stdbool.h>
#include <stdint.h>

struct body_pool;

struct body_pool *body_pool_new(uint64_t bytes);
void body_pool_free(struct body_pool *p); /* NULL is fine */

/* True: `bytes` are reserved for `owner` (any address that names the transfer).
 * False: wait and try again. */
bool body_pool_take(struct body_pool *p, const void *owner, uint64_t bytes);
/* Counts `bytes` that exist already, and never refuses: for records that
 * replace a body whose reservation is given back at once, and that are larger
 * only by their heads; and for transfers that need more than their memory. */
void body_pool_hold(struct body_pool *p, uint64_t bytes);
/* Gives back everything that `owner` has: `bytes` in total. */
void body_pool_give(struct body_pool *p, const void *owner, uint64_t bytes);
uint64_t body_pool_used(struct body_pool *p);
uint64_t body_pool_size(const struct body_pool *p);

#endif
