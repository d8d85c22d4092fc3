/*
 * fingerprint_sample.h - how often fingerprints of URLs are alike, measured.
 *
 * Two URLs of a shard whose 63 bits are equal are taken for one, so the second
 * is lost. That is too rare to be met, so pairs are counted that share their
 * first few bits: as many as expected, if the digest spreads URLs evenly, and
 * half as many with each bit more.
 *
 * Memory: 24 octets a URL. Threads: one.
 */
#ifndef URLWEIR_FRONTIER_AUDIT_FINGERPRINT_SAMPLE_H
#define URLWEIR_FRONTIER_AUDIT_FINGERPRINT_SAMPLE_H

#include "base/bytes.h"
#include "base/digest.h"

/* URLs; further ones are left */
#define FINGERPRINT_SAMPLE_MOST ((size_t)1 << 21)

struct fingerprint_sample;

struct fingerprint_sample *fingerprint_sample_new(unsigned shards);
void fingerprint_sample_free(struct fingerprint_sample *c); /* NULL is fine */
/* `digest`: of the URL, as it was put. False: there is no room. */
bool fingerprint_sample_add(struct fingerprint_sample *c, unsigned shard,
                            struct digest digest);

struct fingerprint_sample_result {
    uint64_t urls;       /* without those that came twice */
    uint64_t collisions; /* of 63 bits */
    unsigned bits;       /* at these there should be 100 pairs or more */
    uint64_t pairs;      /* that share so many bits, in one shard */
    double expected;     /* pairs, if all digests are as likely */
};
void fingerprint_sample_finish(struct fingerprint_sample *c,
                               struct fingerprint_sample_result *out);

/* Of a crawl: URLs seen that may be lost already, as a mean, and the chance
 * that the next one is. `seen`: of each shard. */
double fingerprint_collisions_expected(const uint64_t *seen, size_t shards);
double fingerprint_collision_chance(const uint64_t *seen, size_t shards);

#endif
