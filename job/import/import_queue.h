/*
 * import_queue.h - the requests in one file of a disk queue of Scrapy.
 *
 * The files are those of its library queuelib, numbers big-endian:
 *
 *   LIFO  4 octets, how many there are when it was closed; then for each
 *         request its octets and, in 4 octets, how many they are
 *   FIFO  for each request 4 octets, how many it has, and its octets
 *
 * A LIFO file is made to be read from its end. This reads from its start, since
 * a process that was killed left the end unwritten: a serialized request shows
 * its own end (import_request.h), and its length behind it confirms that. After
 * one that cannot be read the next is searched by that length.
 *
 * Bytes are hostile. One buffer of IMPORT_REQUEST_MOST octets. One thread.
 */
#ifndef URLWEIR_JOB_IMPORT_IMPORT_QUEUE_H
#define URLWEIR_JOB_IMPORT_IMPORT_QUEUE_H

#include "job/import/import_format.h"

#define IMPORT_REQUEST_MOST ((size_t)1 << 20) /* octets of a request */

enum import_queue_kind { IMPORT_QUEUE_LIFO, IMPORT_QUEUE_FIFO };

struct import_queue;

struct import_queue *import_queue_new(void);
void import_queue_free(struct import_queue *q); /* NULL is fine */

/* Begins a file, at the request at `from`, 0: the first. Takes `fd`. */
void import_queue_open(struct import_queue *q, int fd,
                       enum import_queue_kind kind, uint64_t from);

/* The next request: it waits, and its `line` counts from 1. IMPORT_NOTHING: the
 * file has ended, and is closed. */
enum import_said import_queue_next(struct import_queue *q,
                                   struct import_record *out);
/* Why the last one was refused; static. */
const char *import_queue_why(const struct import_queue *q);
/* The request that was taken last. */
uint64_t import_queue_at(const struct import_queue *q);

#endif
