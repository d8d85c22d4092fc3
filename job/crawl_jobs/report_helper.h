/*
 * report_helper.h - a process that starts reports for the sandboxed one.
 *
 * A report (as in crawls.h) runs this program again, but the sandboxed
 * process cannot start programs. The helper starts before the sandbox and holds
 * only a socket: requests have the parts of a report, never a command line, and
 * the helper passes the descriptor to write to on to the report. It has its own
 * sandbox with the same paths, and ends with the process that started it.
 */
#ifndef URLWEIR_JOB_CRAWL_JOBS_REPORT_HELPER_H
#define URLWEIR_JOB_CRAWL_JOBS_REPORT_HELPER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/process/sandbox.h"
#include "base/status.h"
#include "job/registry/crawls.h"

/* Call it before the sandbox is entered and any thread starts. If the helper
 * cannot start, reports fail with STATUS_IO. */
void report_helper_start(const struct sandbox_path *paths, size_t count);

#endif
