/*
 * cluster_verify.h - does the state of a crawl in a cluster agree with itself,
 * and what can be mended?
 *
 * Each URL seen is done or in exactly one place: waiting at its host, or
 * leased. A host with URLs is due or leased; a lease has its URL; a fingerprint
 * is in its bucket; counts agree. Scripts change a shard as a whole, so what is
 * found was done by something else: keys that were deleted or restored, a
 * server that came back with an older copy.
 *
 * Nobody may work on the crawl meanwhile. Shards are checked one after the
 * other; memory is bounded by CLUSTER_VERIFY_URLS_MOST fingerprints of eight
 * octets. Waits for the servers. Threads: one.
 */
#ifndef URLWEIR_FRONTIER_CLUSTER_CLUSTER_VERIFY_H
#define URLWEIR_FRONTIER_CLUSTER_CLUSTER_VERIFY_H

#include "frontier/cluster_store/cluster_store.h"

/* URLs of one shard that wait or are leased, among which repeats are found. */
#define CLUSTER_VERIFY_URLS_MOST ((size_t)1 << 22)

enum cluster_finding {
    CLUSTER_ADRIFT,    /* hosts with waiting URLs, neither due nor leased */
    CLUSTER_IDLE,      /* hosts that are due, and have no URL */
    CLUSTER_IN_BOTH,   /* hosts that are due and leased */
    CLUSTER_ENDLESS,   /* leased URLs whose lease never ends */
    CLUSTER_EMPTY,     /* leases without a URL */
    CLUSTER_UNREAD,    /* items that are no URL of this crawl */
    CLUSTER_UNSEEN,    /* URLs that wait or are leased, and are not seen */
    CLUSTER_REPEATED,  /* URLs in two places */
    CLUSTER_MISPLACED, /* fingerprints in a bucket of others */
    CLUSTER_SEEN,      /* shards whose count of URLs seen is wrong */
    CLUSTER_NOWHERE,   /* URLs seen that are in no place, and not done */
    CLUSTER_DONE,      /* URLs that count as done, and wait or were not seen */
    CLUSTER_FINDINGS
};

struct cluster_verdict {
    uint64_t found[CLUSTER_FINDINGS];
    uint64_t mended[CLUSTER_FINDINGS];
    uint64_t seen, done, waiting, leased; /* as they are in the end */
    uint64_t buckets, large; /* large: with more than set-max-intset-entries of
                                512 */
    uint64_t unchecked;      /* shards with too many URLs to find repeats */
};

/* `crawl`: as the engine's directories have it. With `repair` what was found is
 * mended, and what is left is found again. STATUS_ARG: a key has a wrong type,
 * STATUS_FORMAT: a value is not ours; others as cluster_store.h says. */
MUST_CHECK enum status cluster_verify(struct cluster_store *s,
                                      struct bytes crawl, bool repair,
                                      struct cluster_verdict *out);

/* "hosts with waiting URLs, neither due nor leased"; static. */
const char *cluster_finding_text(enum cluster_finding f);

#endif
