/*
 * filter_measure.h - what one kind of filter costs on this machine.
 *
 * Behind `urlweir filter bench` and bench/bench_filter.c: one thread, keys as
 * in a crawl (64 random bits), in batches as in a crawl. Times are CPU time of
 * the thread, so that other work on the machine matters less.
 */
#ifndef URLWEIR_CLI_FILTER_FILTER_MEASURE_H
#define URLWEIR_CLI_FILTER_FILTER_MEASURE_H

#include "base/status.h"
#include "filter/filter.h"
#include "filter/sizing.h"

struct filter_measured {
    /* Nanoseconds a key, in batches of 1024 and one by one. */
    double insert, hit, miss;
    double insert_single, hit_single, miss_single;
    double insert_worst_ms; /* the slowest batch of 1024 */
    uint64_t asked, false_positives, false_negatives;
    struct sizing_interval fpr; /* 95 % */
    uint64_t huge_bytes;        /* filter_measure_huge() while it existed */
    struct filter_stats stats;
};

/* `start`: keys the filter is made for, `keys`: those it gets. */
MUST_CHECK enum status filter_measure(struct filter_measured *out,
                                      const char *kind, uint64_t start,
                                      uint64_t keys, double fpr);

/*
 * Measuring in steps: a filter that is filled with keys 0, 1, 2, ... and
 * checked in between. `most`: the most keys it will get. filter_probe_fill
 * gives ns a key and ms of the slowest batch in this step. filter_probe_miss
 * returns ns a check, in batches, of at least `asked` keys that are not there;
 * *maybes of them were "maybe".
 */
struct filter_probe;
MUST_CHECK enum status filter_probe_new(struct filter_probe **out,
                                        const char *kind, uint64_t start,
                                        uint64_t most, double fpr);
void filter_probe_free(struct filter_probe *p); /* NULL is fine */
MUST_CHECK enum status filter_probe_fill(struct filter_probe *p, uint64_t upto,
                                         double *insert_ns, double *worst_ms);
struct filter *filter_probe_filter(struct filter_probe *p);
/* A source of the keys it was filled with; all NULL if it needs none. */
struct filter_source filter_probe_source(const struct filter_probe *p);

/* Bytes of this process that are in huge pages now, which may be less than
 * asked for (base/mem.h). 0 if the kernel does not tell. */
uint64_t filter_measure_huge(void);
/* CPU time of this thread in nanoseconds. */
int64_t filter_measure_now(void);
/* The nth key of the measurement's stream, for other measurements. */
uint64_t filter_measure_key(uint64_t n);

#endif
