/*
 * summary.h - prints what a crawl did, at its end.
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
#include "crawler/crawl.h"

#define SUMMARY_REASONS 8 /* shown for a status; the rest is "other" */

struct summary {
    const char *dir; /* NULL: it is not kept */
    enum crawl_end end;
    enum exit_code code;
    int64_t elapsed_ms;                   /* of this run */
    const struct crawl_stats *crawl;      /* as it ended */
    const struct frontier_counts *before; /* of this run; NULL: all 0 */

    const struct crawl_wait *waits; /* hosts that have URLs left */
    size_t wait_count;
    const struct crawl_wait *longest; /* of crawl_result; NULL: none */
};

void summary_print(FILE *to, const struct summary *s);

#endif
