/*
 * import_jobdir.h - the requests that wait in a JOBDIR of Scrapy.
 *
 *     requests.queue/[SLOT/]PRIORITY[s]         a LIFO file (import_queue.h)
 *     requests.queue/[SLOT/]PRIORITY[s]/qNNNNN  FIFO files, which info.json
 *                                               tells the first request of
 *     requests.queue/active.json                priorities in use
 *     requests.seen                             fingerprints of all requests
 *     spider.state                              a pickle of the spider
 *
 * Fingerprints are SHA-1 and tell no URLs, so that only what waits can be read.
 * Links are not followed; the depth is bounded, and a directory is read entry
 * by entry, so memory does not grow with their number. The order is that of the
 * directory. One thread.
 */
#ifndef URLWEIR_JOB_IMPORT_IMPORT_JOBDIR_H
#define URLWEIR_JOB_IMPORT_IMPORT_JOBDIR_H

#include "job/import/import_format.h"

struct import_jobdir;

/* `path`: a JOBDIR, or the requests.queue of one. NULL: it cannot be read, and
 * errno says why. */
struct import_jobdir *import_jobdir_open(const char *path);
void import_jobdir_close(struct import_jobdir *j); /* NULL is fine */

/* The next request; IMPORT_NOTHING: there are no more. */
enum import_said import_jobdir_next(struct import_jobdir *j,
                                    struct import_record *out);
/* Why the last one was refused; static. */
const char *import_jobdir_why(const struct import_jobdir *j);
/* Were there fingerprints beside requests.queue? */
bool import_jobdir_has_seen(const struct import_jobdir *j);
/* The file that is read, and which of its requests was taken last. */
const char *import_jobdir_file(const struct import_jobdir *j);
uint64_t import_jobdir_at(const struct import_jobdir *j);

#endif
