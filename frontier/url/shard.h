/*
 * shard.h - which shard of a crawl on many machines a URL belongs to.
 *
 * All hosts of a registrable domain are in one shard, so that their budgets,
 * traps, sitemaps and places of the scope are known there (Mercator's host
 * splitting, Heydon and Najork 1999, section 4.1). The number is the XXH3 of
 * the domain modulo the number of shards, which never changes.
 *
 * Pure, any thread.
 */
#ifndef URLWEIR_FRONTIER_URL_SHARD_H
#define URLWEIR_FRONTIER_URL_SHARD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"

#define SHARDS_MOST 4096

/* One of `count` shards. count 0: the crawl is not divided. */
struct shard_number {
    uint32_t number, count;
};

/* The shard of a host, 0 to count - 1; `host` is canonical. */
uint32_t shard_of_host(struct bytes host, uint32_t count);

static inline bool shard_is_other(struct shard_number s, struct bytes host)
{
    return s.count > 1 && shard_of_host(host, s.count) != s.number;
}

#endif
