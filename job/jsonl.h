/*
 * jsonl.h - --jsonl: a line for each URL, when what became of it is durable.
 *
 * The lines are those of the store: a thread of its own follows it with a
 * connection of its own (outcome_rows.h), so there is never a line without a
 * row, and whoever reads the lines slowly holds up nobody but himself; what he
 * has not read yet waits on disk. A file is gone on with where it ends
 * (jsonl_tail.h): over any number of crashes and resumes it holds the line of
 * each row once, in the order of their seq. On standard output, "-", the lines
 * are those of the rows of this run, each at most once.
 *
 * Main thread, but for the thread it makes.
 */
#ifndef URLWEIR_JOB_JSONL_H
#define URLWEIR_JOB_JSONL_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/status.h"

struct jsonl;

/* For a new crawl. False: `path` is a file that holds something; said on
 * stderr. */
bool jsonl_may_begin(const char *path);

/* `dir`: of a crawl that is there. False: said on stderr, and *code is the exit
 * status. */
MUST_CHECK bool jsonl_open(struct jsonl **out, const char *dir,
                           const char *path, int *code);
/* Has writing failed, or reading the store? STATUS_OK: no. STATUS_CLOSED: who
 * read standard output has gone. */
enum status jsonl_status(struct jsonl *j);
/* No more rows will come: write those that are there. */
void jsonl_finish(struct jsonl *j);
/* True: the thread is done. */
bool jsonl_is_done(struct jsonl *j);
/* Do not wait for a reader any longer; what he does not take is left out. */
void jsonl_give_up(struct jsonl *j);
/* After jsonl_finish or jsonl_give_up; waits for the thread. A file is synced.
 * NULL is fine. */
enum status jsonl_close(struct jsonl *j);

#endif
