/*
 * digest.h - the 128-bit seeded digest of a URL (XXH3, libxxhash).
 *
 * Computed once for each URL: the high half addresses the filter, all of it is
 * the exact set's key. Each crawl has its own secret, so outsiders cannot make
 * URLs that collide. URLs whose 128 bits are equal count as the same (with 1e9
 * URLs the chance that any new one is taken for an old one is below 1e-20).
 */
#ifndef URLWEIR_BASE_DIGEST_H
#define URLWEIR_BASE_DIGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"

struct digest {
    uint64_t hi, lo;
};

#define DIGEST_SEED_SIZE 32

/* The derived secret: read-only once made, so threads may share it. */
struct digest_key {
    unsigned char secret[192]; /* as long as XXH3's own */
};

/* `seed`: DIGEST_SEED_SIZE octets. */
void digest_key_init(struct digest_key *k, const unsigned char *seed);

/* The digest of one run of bytes. */
struct digest digest_bytes(const struct digest_key *k, struct bytes b);
/* The digest of a URL's identity: crawl ID, queue key and URL, each with its
 * length, so that no two different triples give the same input. */
struct digest digest_url(const struct digest_key *k, struct bytes crawl,
                         struct bytes queue_key, struct bytes url);

/* Another digest of the same triple for each salt from 1 on; 0 gives the one
 * above. For a URL whose own digest belongs to another URL. */
struct digest digest_url_salted(const struct digest_key *k, struct bytes crawl,
                                struct bytes queue_key, struct bytes url,
                                uint8_t salt);

static inline bool digest_equal(struct digest a, struct digest b)
{
    return a.hi == b.hi && a.lo == b.lo;
}

/* Order by hi, then lo: the order of the exact set's pages. */
static inline int digest_compare(struct digest a, struct digest b)
{
    if (a.hi != b.hi)
        return a.hi < b.hi ? -1 : 1;
    return a.lo < b.lo ? -1 : a.lo > b.lo;
}

#endif
