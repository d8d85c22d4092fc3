/*
 * jsonl.h - --jsonl: a line for each URL, when its outcome is durable.
 *
 * The lines come from the store: a separate thread follows it with its own
 * connection (outcome_rows.h), so there is never a line without a row, and a
 * slow reader of the lines does not slow the crawl; unread rows wait on disk. A
 * file is continued at its end (jsonl_tail.h): after any number of crashes and
 * resumes it holds each row once, in the order of seq. Standard output, "-",
 * gets the rows of this run, each at most once.
 *
 * Main thread, except the thread it starts.
 */
#ifndef URLWEIR_JOB_JSONL_H
#define URLWEIR_JOB_JSONL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/status.h"

struct jsonl;

/* For a new crawl. False: `path` is a file with content, which was reported on
 * stderr. */
bool jsonl_may_begin(const char *path);

/* `dir` holds a crawl. `urls`: a line is the URL alone, and only what was
 * fetched has one, sitemaps excepted. *upto, if not NULL, is set to the row
 * that was written last, from now on until jsonl_close. False: the error was
 * printed on stderr, and *code is the exit status. */
MUST_CHECK bool jsonl_open(struct jsonl **out, const char *dir,
                           const char *path, bool urls, _Atomic uint64_t *upto,
                           int *code);
/* Has writing failed, or reading the store? STATUS_OK: no. STATUS_CLOSED:
 * standard output has lost its reader. */
enum status jsonl_status(struct jsonl *j);
/* Writes the remaining rows; no more will come. */
void jsonl_finish(struct jsonl *j);
/* True: the thread has finished. */
bool jsonl_is_done(struct jsonl *j);
/* Stops waiting for a reader; lines that it does not take are lost. */
void jsonl_give_up(struct jsonl *j);
/* Waits for the thread, after jsonl_finish or jsonl_give_up, and syncs a file.
 * NULL is fine. */
enum status jsonl_close(struct jsonl *j);

#endif
