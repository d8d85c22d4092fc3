/*
 * seen_memory.h - what a frontier does with its part of --memory.
 */
#ifndef URLWEIR_FRONTIER_SEEN_SEEN_MEMORY_H
#define URLWEIR_FRONTIER_SEEN_SEEN_MEMORY_H

#include <stdint.h>

/* Octets that the frontier holds. */
struct frontier_memory {
    uint64_t all;      /* the sum of: */
    uint64_t filter;   /* in this process */
    uint64_t hot;      /* the seen check's hot cache and batches */
    uint64_t exact;    /* fences, cached pages and new digests of the exact set,
                          and of the indexes of pages */
    uint64_t database; /* SQLite's page cache and statements */
    uint64_t queues;   /* names, pending URLs, and hosts with work */
};

#endif
