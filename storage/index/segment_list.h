/*
 * segment_list.h - the inside of segments, for segments.c and segment_merge.c
 * alone.
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

#include "storage/index/segments.h"

/*
 * One row of a queue segment: ids by queue, as varints.
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

/* ---- segments ---- */

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

/* The ids that are in no segment yet, by queue. Ids come one after the other,
 * so an entry is its queue's number and a link to the next of the same queue:
 * eight octets, and four a queue. The entries of a queue form a ring: we store
 * its tail, and the tail's next is the head. An id is an index plus the base, so
 * a cursor that is one of our ids needs no search. */
struct queue_delta {
    uint64_t base;
    uint32_t *queue_of; /* entry i: id base + i + 1 */
    uint32_t *next;     /* index of the next in the ring */
    uint32_t count, cap;
    uint32_t *tails; /* entry i: queue i + 1; index + 1, 0: empty */
    uint32_t tail_cap;
};

struct segments {
    struct db *d;
    struct queue_delta delta;
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

void segment_merge_free(struct merge *m); /* NULL is fine */

/* Passes every entry that is not done to `visit`, by queue, then id. */
void queue_delta_each(struct queue_delta *t, const struct done_bits *done,
                      void (*visit)(void *ctx, uint32_t queue, uint64_t id),
                      void *ctx);
/* Empties the delta; its base becomes the last id it held. */
void queue_delta_flushed(struct queue_delta *t);

#endif
