/*
 * report_helper.h - a process beside the sandboxed one that starts reports.
 *
 * A report (crawl_job_report.c) is this program again, and the sandboxed
 * process starts no program. The helper was started before and holds nothing
 * but a socket: it is asked for a report by its parts, never by a command line,
 * and hands the descriptor to write to on to the report. It has a sandbox of
 * its own, with the same paths, and ends with the process that started it.
 */
#ifndef URLWEIR_CLI_REPORT_HELPER_H
#define URLWEIR_CLI_REPORT_HELPER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/sandbox.h"
#include "base/status.h"
#include "job/crawls.h"

/* Before the sandbox is entered and any thread is started. Without one, when it
 * cannot be had, reports fail with STATUS_IO. */
void report_helper_start(const struct sandbox_path *paths, size_t count);
bool report_helper_is_there(void);

/* What crawl_job_report_run says in the helper. Waits for the report's end. Any
 * thread. */
MUST_CHECK enum status report_helper_ask(const char *dir,
                                         const struct crawls_report *r, int fd);

#endif
