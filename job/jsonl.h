/*
 * jsonl.h - --jsonl: a line for each URL, when its outcome is durable.
 *
 * The lines come from the store: a separate thread follows it with its own
 * connection (outcome_rows.h), so there is never a line without a row, and a
 * slow reader of the lines does not slow the crawl; unread rows wait on disk. A
 * file is continued at its end (jsonl_tail.h): after any number of crashes and
 * resumes it holds each row once, in the order of seq. So does a Kafka topic
 * (jsonl.c), in the order of seq for each host; while its brokers are away
 * the crawl goes on, and ends when they have all lines. Standard output, "-",
 * gets the rows of this run, each at most once.
 *
 * Main thread, except the thread it starts.
 */
#ifndef URLWEIR_JOB_JSONL_H
#define URLWEIR_JOB_JSONL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/kafka/kafka_address.h"
#include "base/status.h"
#include "job/settings/options.h"

struct jsonl;

struct jsonl_options {
    const char *dir;  /* of the crawl */
    const char *path; /* a file, "-", or a topic's URL (kafka_address.h) */
    struct kafka_properties kafka;
    bool urls; /* a line is the URL alone, and only what was fetched has one,
                  sitemaps excepted; not for a topic */
    _Atomic uint64_t *upto; /* if not NULL, set to the row that was written
                               last, from jsonl_open to jsonl_close */
};

/* Of these settings; they are to outlive the use of the options. */
struct jsonl_options jsonl_options_of(const struct crawl_settings *s);

/* For a new crawl. False: `path` is a file with content, or a topic that cannot
 * be written, which was reported on stderr. A NULL path may begin. */
bool jsonl_may_begin(const struct jsonl_options *o);

/* `dir` holds a crawl. False: the error was printed on stderr, and *code is the
 * exit status. */
MUST_CHECK bool jsonl_open(struct jsonl **out, const struct jsonl_options *o,
                           int *code);
/* Has writing failed, or reading the store? STATUS_OK: no. STATUS_CLOSED:
 * standard output has lost its reader. STATUS_BUSY: another process sends lines
 * of this crawl. */
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
