/*
 * origins.h - the prefixes of URLs, stored once for each queue (table origin).
 *
 * A URL is its origin's prefix, "https://example.org", and the path that
 * follows it. A URL that does not have the form scheme://authority/path has the
 * empty prefix. In memory an origin costs about 25 octets, whatever its length;
 * the prefixes of those in use are cached.
 */
#ifndef URLWEIR_STORAGE_INDEX_ORIGINS_H
#define URLWEIR_STORAGE_INDEX_ORIGINS_H

#include <stdint.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "storage/db/db.h"

struct origins;

/* `queues`: number of queues; `cache_bytes`: memory for prefixes, clamped to 64
 * KiB .. 4 MiB. */
MUST_CHECK enum status origins_open(struct origins **out, struct db *d,
                                    uint32_t queues, uint64_t cache_bytes);
void origins_close(struct origins *o); /* NULL is fine */

/* Where the URL's path begins. */
size_t origins_split(struct bytes url);
/* The number of the origin, which is added if it is new. */
MUST_CHECK enum status origins_number(struct origins *o, uint32_t queue,
                                      struct bytes prefix, uint32_t *origin);
/* Its queue; 0: there is no such origin. */
uint32_t origins_queue(const struct origins *o, uint32_t origin);
/* Appends its prefix. STATUS_DAMAGED: there is no such origin. */
MUST_CHECK enum status origins_prefix(struct origins *o, uint32_t origin,
                                      struct buf *out);

/* Prefetch what origins_queue() reads, and after that what origins_prefix()
 * does; any number will do. */
void origins_prefetch(const struct origins *o, uint32_t origin);
void origins_prefetch_prefix(const struct origins *o, uint32_t origin);

/* Before many URLs are read in order: reads the prefixes of as many origins,
 * from the first, as fit in `most` octets, so that origins_prefix() need not
 * look each up. Their memory is freed by origins_let_go(). */
MUST_CHECK enum status origins_gather(struct origins *o, uint64_t most);
void origins_let_go(struct origins *o);

uint32_t origins_count(const struct origins *o);
uint64_t origins_memory(const struct origins *o);

#endif
