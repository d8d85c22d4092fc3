/*
 * cluster_verify_impl.h - a check of a crawl in a cluster while it runs, for
 * its files alone.
 *
 *   cluster_verify.c        passes over shards, counts, buckets
 *   cluster_verify_hosts.c  hosts, and queues that no host has
 *   cluster_verify_urls.c   URLs of a host
 *   cluster_answer.c        calls that are waited for
 */
#ifndef URLWEIR_FRONTIER_CLUSTER_CLUSTER_VERIFY_IMPL_H
#define URLWEIR_FRONTIER_CLUSTER_CLUSTER_VERIFY_IMPL_H

#include "frontier/cluster_check/cluster_verify.h"
#include "frontier/cluster_store/cluster_answer.h"
#include "frontier/cluster_store/cluster_impl.h"

/* Passes first mend what is in a wrong place, and then the counts. */
enum verify_pass { VERIFY_LOOK, VERIFY_PLACES, VERIFY_COUNTS };

struct verify {
    struct cluster_store *s;
    struct bytes crawl;
    enum verify_pass pass;
    struct cluster_verdict now; /* of this pass */
    unsigned shard;
    uint32_t buckets;
    uint64_t places; /* URLs of the shard that wait or are leased */
    bool unchecked;
    /* hosts that are in nothing but their queues, as the keys of these */
    char **adrift;
    size_t adrift_count;
};

struct verify_host {
    struct bytes name;
    bool due, leased, known; /* known: it was acknowledged once */
    uint64_t queued, delayed;
    struct bytes flight; /* TOKEN:ITEM, empty: none */
    uint64_t *fp;        /* fingerprints of its URLs */
    size_t count, room;
};
/* Check the URLs of a host, and free their fingerprints. */
MUST_CHECK enum status verify_urls(struct verify *v, struct verify_host *h);

/* Check all hosts of the shard. */
MUST_CHECK enum status verify_hosts(struct verify *v);
/* Find hosts that are in nothing but their queues. */
MUST_CHECK enum status verify_sweep(struct verify *v);

/* Run `correct`; `a` and `b` are kinds of keys with what follows them. */
MUST_CHECK enum status verify_correct(struct verify *v, const char *what,
                                      const char *a, struct bytes after_a,
                                      const char *b, struct bytes after_b,
                                      struct bytes value);

#endif
