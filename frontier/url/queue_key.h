/*
 * queue_key.h - the queue of a URL, and what politeness makes of queues.
 *
 * Every host has its own queue in every mode of politeness: its robots.txt,
 * whether it is dead, and the digests of its URLs concern no other host. The
 * schedule (frontier_impl.h) decides which queues take turns. Scheme and
 * port are not part of the key: http and https of a host are one machine to be
 * polite to.
 */
#ifndef URLWEIR_FRONTIER_URL_QUEUE_KEY_H
#define URLWEIR_FRONTIER_URL_QUEUE_KEY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "frontier/url/url.h"

/* What politeness treats as one: a host, all hosts of a registrable domain, or
 * all hosts of a network address. */
enum queue_key_mode { QUEUE_KEY_HOST, QUEUE_KEY_DOMAIN, QUEUE_KEY_IP };

/* Borrowed from `u`, which is canonical. */
struct bytes queue_key_of(const struct url *u);

/* ---- which shard of a crawl on many machines a URL belongs to ---- */

/*
 * All hosts of a registrable domain are in one shard, so that their budgets,
 * traps, sitemaps and places of the scope are known there (Mercator's host
 * splitting, Heydon and Najork 1999, section 4.1). The number is the XXH3 of
 * the domain modulo the number of shards, which never changes.
 *
 * Pure, any thread.
 */

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
