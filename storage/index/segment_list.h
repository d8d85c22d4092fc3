/*
 * segment_list.h - the inside of segments, for segments.c, segment_merge.c and
 * segment_row.c alone.
 *
 *   qseg.id   segment << 24 | row
 *   qmeta     fences: for each row its first entry, queue in 4 octets and id
 *             in 5, big-endian
 *
 * Rows of a segment without a row in qmeta were left by a merge that did not
 * finish. They are deleted, a few in each step.
 */
#ifndef URLWEIR_STORAGE_INDEX_SEGMENT_LIST_H
#define URLWEIR_STORAGE_INDEX_SEGMENT_LIST_H

#include "storage/index/segment_row.h"
#include "storage/index/segments.h"

#define ROW_BITS     24
#define MOST_ROWS    (UINT32_C(1) << ROW_BITS)
#define FENCE_OCTETS 9
/* A segment has a level above those that were merged into it, four at a time.
 */
#define MOST_LEVEL  32
#define MOST_NUMBER (UINT32_MAX >> 1)
#define MOST_ROW_ID (((uint64_t)MOST_NUMBER + 1) * MOST_ROWS - 1)
#define FAN         4 /* segments merged into one */

struct segment {
    uint32_t number;
    uint32_t level;
    uint64_t first, last; /* range of ids it covers */
    uint64_t ids;         /* entries in it */
    uint32_t rows, rows_cap;
    uint32_t *fence_queue;
    uint64_t *fence_id;
    unsigned char *present; /* a bit for each queue that has entries */
    uint32_t present_octets;
};

struct merge_input {
    struct segment *from; /* NULL: read to the end */
    uint32_t row;         /* the row in `octets` */
    unsigned char octets[SEGMENT_ROW_MOST];
    struct segment_reader r;
};

struct segment_writer {
    struct segments *s;
    struct segment *to; /* not in the list yet */
    struct segment_row row;
    enum status st;
};

struct merge {
    struct segment_writer w;
    struct merge_input in[FAN];
    uint32_t place; /* index of the first of the four in the list */
};

struct segments {
    struct db *d;
    struct segment **list; /* by range */
    uint32_t count;
    uint32_t next_number;
    uint32_t queues_there; /* at opening */
    struct merge *merge;   /* NULL: none in progress */
    uint32_t *dropped;     /* numbers whose rows are to be deleted */
    uint32_t dropped_count;
};

static inline int64_t segment_row_id(const struct segment *g, uint32_t row)
{
    return (int64_t)g->number << ROW_BITS | row;
}

static inline bool segment_has_queue(const struct segment *g, uint32_t queue)
{
    return (queue >> 3) < g->present_octets &&
           (g->present[queue >> 3] >> (queue & 7) & 1) != 0;
}

struct segment *segment_new(uint32_t number, uint32_t level, uint64_t first,
                            uint64_t last);
void segment_free(struct segment *g); /* NULL is fine */
void segment_add_fence(struct segment *g, uint32_t queue, uint64_t id);
void segment_add_queue(struct segment *g, uint32_t queue);
/* Schedules the segment's rows for deletion. */
void segments_drop(struct segments *s, uint32_t number);

/* Reads a row from the database. STATUS_DAMAGED. */
MUST_CHECK enum status segments_read_row(struct segments *s,
                                         const struct segment *g, uint32_t row,
                                         unsigned char octets[SEGMENT_ROW_MOST],
                                         struct segment_reader *r);
enum status segments_damaged(const struct segment *g, uint32_t row,
                             const char *why);

/* Reads all of a segment (segment_row.c) and checks it; `learn`: also sets the
 * bits of its queues. */
MUST_CHECK enum status segments_scan(struct segments *s, struct segment *g,
                                     bool learn, segment_visit visit,
                                     void *ctx);

void segment_merge_free(struct merge *m); /* NULL is fine */

#endif
