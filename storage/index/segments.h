/*
 * segments.h - the queues on disk: immutable segments, merged four into one.
 *
 * A segment holds the ids of one range that were not done when it was written,
 * sorted by queue and id (tables qseg, qmeta). Ranges follow one another
 * without a gap, so the segments in order give each queue in order of arrival.
 * Four neighbours of a level are merged, some rows in each step; ids done
 * meanwhile are dropped then, and only then. The rows of the four are deleted
 * in further steps.
 *
 * In memory a segment has its rows' first entries and a bit for each queue, so
 * that only segments that have a queue are searched for it (1.8 instead of
 * 6.7).
 */
#ifndef URLWEIR_STORAGE_INDEX_SEGMENTS_H
#define URLWEIR_STORAGE_INDEX_SEGMENTS_H

#include <stddef.h>
#include <stdint.h>

#include "storage/db/db.h"
#include "storage/index/done_bits.h"

struct segments;

/* Some entries of one queue, in order; done or not. */
typedef void (*segment_visit)(void *ctx, uint32_t queue, const uint64_t *ids,
                              uint32_t n);

/* Calls `visit` for every entry, in order of segment, queue and id; `queues`:
 * number of queues. STATUS_DAMAGED with a log line. */
MUST_CHECK enum status segments_open(struct segments **out, struct db *d,
                                     uint32_t queues, segment_visit visit,
                                     void *ctx);
void segments_close(struct segments *s); /* NULL is fine */

/* Every id up to this one is in a segment, or done. */
uint64_t segments_upto(const struct segments *s);

/* Appends the next id, which waits in memory until a flush; queue 0: it is in
 * no queue. The caller replays those past segments_upto() from the url rows. */
void segments_append(struct segments *s, uint32_t queue);
/* Fetches the memory that an append to `queue`, not 0, will touch. */
void segments_prefetch(const struct segments *s, uint32_t queue);
/* The number of ids that wait, and the queue of one; 0: it does not wait, or is
 * in no queue. */
uint64_t segments_waiting(const struct segments *s);
uint32_t segments_waiting_queue(const struct segments *s, uint64_t id);

/* Up to `most` ids of `queue` greater than `after` that are not done. */
MUST_CHECK enum status segments_take(struct segments *s, uint32_t queue,
                                     uint64_t after,
                                     const struct done_bits *done,
                                     uint64_t *ids, size_t most, size_t *n);

/* Inside a transaction: writes the ids that wait as a segment. */
MUST_CHECK enum status segments_flush(struct segments *s,
                                      const struct done_bits *done);
/* Inside a transaction: goes on with merging, about `rows` rows read or
 * deleted. */
MUST_CHECK enum status segments_step(struct segments *s,
                                     const struct done_bits *done,
                                     uint32_t rows);

/* Checks order, ranges, fences and counts; `visit` gets every entry.
 * STATUS_DAMAGED with a log line. */
MUST_CHECK enum status segments_verify(struct segments *s, segment_visit visit,
                                       void *ctx);

uint64_t segments_memory(const struct segments *s);

#endif
