/*
 * check.h - what was asked, held against the truth.
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
    uint64_t kills, in_flight; /* so many URLs may be asked once more */
    double delay_ms;     /* least time from an answer to the next request of
                            the same host; 0: not checked */
    double tolerance_ms; /* by which gaps and overlaps may be off */
    bool crawl_delay;    /* hold hosts' own Crawl-delay against it too */
    bool partial;        /* the crawl was stopped: missing is no fault */
    const char *ignore[IGNORES_MOST + 1]; /* paths nobody minds */
};

/* Counts on stdout, one "name number" a line, examples on stderr; *clean: all
 * that count are 0. */
MUST_CHECK enum status check_run(const struct check_options *o, bool *clean);

#endif
