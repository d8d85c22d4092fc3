/*
 * segment_row.h - one row of a queue segment: ids by queue, as varints.
 *
 *   row    groups, one behind the other, at most 4,036 octets, so that it
 *          fills one page of the database; each row can be read alone
 *   group  queue - queue of the group before (0 before the first)
 *          number of ids, 1 to 127: one octet
 *          first id - first id of the segment
 *          each further id - the one before it
 *
 * A queue with more ids has several groups. About 2.6 octets an id.
 */
#ifndef URLWEIR_STORAGE_INDEX_SEGMENT_ROW_H
#define URLWEIR_STORAGE_INDEX_SEGMENT_ROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SEGMENT_ROW_MOST   4036
#define SEGMENT_GROUP_MOST 127

/* Packing. */
struct segment_row {
    unsigned char octets[SEGMENT_ROW_MOST];
    size_t len, count_at; /* position of the open group's number of ids */
    uint32_t queue, first_queue;
    uint64_t id, first_id;
    uint64_t base; /* first id of the segment */
};

void segment_row_start(struct segment_row *r, uint64_t base);
/* Adds an entry; entries come in order of queue, then id. False: no room; the
 * caller writes the row and starts a new one. */
bool segment_row_add(struct segment_row *r, uint32_t queue, uint64_t id);

/* Reading. The octets come from disk and are not trusted. */
struct segment_reader {
    const unsigned char *at, *end;
    uint32_t queue, left;
    uint64_t id, base;
    bool damaged;
};

void segment_reader_start(struct segment_reader *r, const void *octets,
                          size_t len, uint64_t base);
/* The next entry into r->queue and r->id. False: the end, or r->damaged. */
bool segment_reader_next(struct segment_reader *r);
/* Reads a whole group and returns the number of its ids; 0: the end, or
 * r->damaged. Ids rise by at least one. Call it only between groups. */
uint32_t segment_reader_group(struct segment_reader *r,
                              uint64_t ids[SEGMENT_GROUP_MOST]);
/* Skips groups of lesser queues. */
void segment_reader_skip_to(struct segment_reader *r, uint32_t queue);

#endif
