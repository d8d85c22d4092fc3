/*
 * check.h - compares requests with the truth.
 */
#ifndef URLWEIR_TESTS_SUPPORT_WEB_CHECK_H
#define URLWEIR_TESTS_SUPPORT_WEB_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

#define IGNORES_MOST 16

struct check_options {
    const char *truth;         /* file of `site truth` */
    const char *logs;          /* journals, separated by commas */
    uint64_t kills, in_flight; /* this many URLs may be requested once more */
    double delay_ms;     /* least time from an answer to the next request of
                            the same host; 0: not checked */
    double tolerance_ms; /* tolerance of gaps and overlaps */
    bool crawl_delay;    /* check hosts' own Crawl-delay too */
    bool partial;        /* the crawl was stopped: missing URLs are fine */
    const char *ignore[IGNORES_MOST + 1]; /* paths to ignore */
};

/* Counts on stdout, one "name number" a line, examples on stderr; *clean: all
 * error counts are 0. */
MUST_CHECK enum status check_run(const struct check_options *o, bool *clean);

#endif
