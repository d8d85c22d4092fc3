/*
 * dedupe_report.h - progress and summary of `urlweir dedupe`, on stderr.
 *
 * While it runs: one live line on a terminal, elsewhere one line of key=value
 * every ten seconds, later every minute. At the end: a summary for a person or
 * a JSON object (docs/formats/dedupe.md).
 */
#ifndef URLWEIR_CLI_DEDUPE_DEDUPE_REPORT_H
#define URLWEIR_CLI_DEDUPE_DEDUPE_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/buf.h"

struct dedupe_progress {
    int64_t elapsed_ms;
    uint64_t lines, unique, duplicates, invalid;
    uint64_t bytes; /* read, before decompression */
    uint64_t size;  /* of all files; 0: unknown */
};

struct dedupe_report;

/* `now`: monotonic nanoseconds. */
struct dedupe_report *dedupe_report_new(int64_t now);
void dedupe_report_update(struct dedupe_report *r,
                          const struct dedupe_progress *s, int64_t now);
/* Removes the live line, and frees. NULL is fine. */
void dedupe_report_free(struct dedupe_report *r);

/* ---- the text of it ---- */

/* At most `width` columns; `rate`: lines a second, lately. */
void dedupe_report_bar(struct buf *out, const struct dedupe_progress *s,
                       double rate, size_t width);
void dedupe_report_line(struct buf *out, const struct dedupe_progress *s,
                        double rate);

struct dedupe_summary {
    struct dedupe_progress all;
    uint64_t known, known_before; /* in the set: at the end, at the start */
    uint64_t memory;              /* peak resident octets; 0: unknown */
    uint64_t disk;
    const char *dir; /* NULL: the set was not stored */
    bool interrupted;
};

void dedupe_summary_text(struct buf *out, const struct dedupe_summary *s);
/* STATUS_NOMEM. */
MUST_CHECK enum status dedupe_summary_json(struct buf *out,
                                           const struct dedupe_summary *s);

/* The most memory this process has had resident, in octets; 0: unknown. */
uint64_t dedupe_peak_memory(void);

#endif
