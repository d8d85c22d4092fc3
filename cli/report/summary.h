/*
 * summary.h - what a crawl did, told at its end.
 *
 * A few lines for a person: the counts, why it stopped, what the exit status
 * says, and the command that most likely comes next.
 */
#ifndef URLWEIR_CLI_REPORT_SUMMARY_H
#define URLWEIR_CLI_REPORT_SUMMARY_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/command.h"

enum summary_stop {
    SUMMARY_FINISHED, /* every URL is done */
    SUMMARY_LIMIT,    /* --limit pages were fetched */
    SUMMARY_TIME,     /* --time is over */
    SUMMARY_QUOTA,    /* --quota was received */
    SUMMARY_GIVE_UP,  /* all that is left waits longer than --give-up */
    SUMMARY_WITHHELD, /* all that is left is beyond the limit of its queue */
    SUMMARY_DISK,     /* less than --min-disk is free */
    SUMMARY_INTERRUPTED,
    SUMMARY_DAMAGED /* the store failed; what was committed stays */
};

/* "http_404", 17: one reason and how many URLs ended with it. */
struct summary_reason {
    const char *name;
    uint64_t count;
};
#define SUMMARY_REASONS 8 /* shown of a status; the rest is "other" */

struct summary {
    const char *dir;
    enum summary_stop stop;
    enum exit_code code;
    int64_t elapsed_ms, elapsed_all_ms; /* this run; all runs, 0: the same */

    /* what became of the URLs, all runs */
    uint64_t pages;        /* that count for --limit */
    uint64_t pages_run;    /* of them in this run */
    uint64_t same_content; /* fetched, with a body seen before */
    uint64_t fetched, redirects, failed, denied, skipped, queued;
    const struct summary_reason *failed_by, *denied_by, *skipped_by;
    size_t failed_reasons, denied_reasons, skipped_reasons; /* any order */

    /* what was seen */
    uint64_t links;           /* found, repeats too */
    uint64_t urls;            /* unique: admitted */
    uint64_t duplicates;      /* of the links */
    uint64_t dropped;         /* of the links: out of scope, over a limit */
    uint64_t false_positives; /* new URLs the filter alone would have lost */
    uint64_t bytes;           /* octets received */
    uint64_t seeds, seeds_failed;

    /* SUMMARY_GIVE_UP: the hosts that must wait, and for how long */
    const struct summary_wait {
        const char *host;
        int64_t ms;
    } * waits;
    size_t wait_count;
};

void summary_print(FILE *to, const struct summary *s);

#endif
