/* SPDX-License-Identifier: MIT */
/*
 * segments.c - the queues on disk: the list of segments, the octets of their
 * rows, the ids that wait to be written, and how all of them are searched.
 *
 * We rejected a table of (queue, id), with a row inserted for each URL and
 * deleted when it was done: at ten million URLs it wrote 4,052 octets a URL.
 * The store as it is now writes 950 in all, of which segments cause less than
 * half.
 */
#include "storage/index/segments.h"

#include <stdlib.h>
#include <string.h>

#include "base/logger.h"
#include "base/mem.h"
#include "storage/db/db_row.h"
#include "storage/db/packed.h"
#include "storage/index/segment_list.h"

enum status segments_damaged(const struct segment *g, uint32_t row,
                             const char *why)
{
    log_error("store is damaged", "table=qseg segment=%u row=%u reason=\"%s\"",
              g->number, row, why);
    return STATUS_DAMAGED;
}

/* ---- one segment ---- */

struct segment *segment_new(uint32_t number, uint32_t level, uint64_t first,
                            uint64_t last)
{
    struct segment *g = xcalloc(1, sizeof *g);

    g->number = number;
    g->level = level;
    g->first = first;
    g->last = last;
    return g;
}

void segment_free(struct segment *g)
{
    if (g == NULL)
        return;
    free(g->fence_queue);
    free(g->fence_id);
    free(g->present);
    free(g);
}

void segment_add_fence(struct segment *g, uint32_t queue, uint64_t id)
{
    if (g->rows == g->rows_cap) {
        g->rows_cap = g->rows_cap > 0 ? g->rows_cap + g->rows_cap / 2 : 16;
        g->fence_queue =
            xrealloc(g->fence_queue, g->rows_cap * sizeof *g->fence_queue);
        g->fence_id = xrealloc(g->fence_id, g->rows_cap * sizeof *g->fence_id);
    }
    g->fence_queue[g->rows] = queue;
    g->fence_id[g->rows++] = id;
}

void segment_add_queue(struct segment *g, uint32_t queue)
{
    uint32_t at = queue >> 3;

    if (at >= g->present_octets) {
        uint32_t octets = at + at / 8 + 64;

        g->present = xrealloc(g->present, octets);
        memset(g->present + g->present_octets, 0, octets - g->present_octets);
        g->present_octets = octets;
    }
    g->present[at] |= (unsigned char)(1 << (queue & 7));
}

enum status segments_read_row(struct segments *s, const struct segment *g,
                              uint32_t row,
                              unsigned char octets[SEGMENT_ROW_MOST],
                              struct segment_reader *r)
{
    sqlite3_stmt *q = db_statement(s->d, "SELECT ids FROM qseg WHERE id = ?");
    enum status st;
    size_t len = 0;

    sqlite3_bind_int64(q, 1, segment_row_id(g, row));
    st = db_step(s->d, q);
    if (st == STATUS_OK) {
        const void *at = sqlite3_column_blob(q, 0);

        len = (size_t)sqlite3_column_bytes(q, 0);
        if (at == NULL || len > SEGMENT_ROW_MOST)
            st = segments_damaged(g, row, "row is too long");
        else
            memcpy(octets, at, len);
    } else if (st == STATUS_NOT_FOUND) {
        st = segments_damaged(g, row, "row is missing");
    }
    sqlite3_reset(q);
    if (st == STATUS_OK)
        segment_reader_start(r, octets, len, g->first);
    return st;
}

/* ---- ids that wait in memory ---- */

static void make_room(struct queue_delta *t, uint32_t queue)
{
    if (t->count == t->cap) {
        t->cap = t->cap > 0 ? t->cap + t->cap / 2 : 4096;
        t->queue_of = xrealloc(t->queue_of, t->cap * sizeof *t->queue_of);
        t->next = xrealloc(t->next, t->cap * sizeof *t->next);
    }
    if (queue > t->tail_cap) {
        uint32_t cap = t->tail_cap + t->tail_cap / 2;

        if (cap < queue + 64)
            cap = queue + 64;
        t->tails = xrealloc(t->tails, cap * sizeof *t->tails);
        memset(t->tails + t->tail_cap, 0,
               (cap - t->tail_cap) * sizeof *t->tails);
        t->tail_cap = cap;
    }
}

void segments_append(struct segments *s, uint32_t queue)
{
    struct queue_delta *t = &s->delta;
    uint32_t i = t->count, tail;

    make_room(t, queue);
    t->count++;
    t->queue_of[i] = queue;
    if (queue == 0)
        return;
    tail = t->tails[queue - 1];
    t->next[i] = tail > 0 ? t->next[tail - 1] : i;
    if (tail > 0)
        t->next[tail - 1] = i;
    t->tails[queue - 1] = i + 1;
}

void segments_prefetch(const struct segments *s, uint32_t queue)
{
    const struct queue_delta *t = &s->delta;

    if (queue <= t->tail_cap)
        __builtin_prefetch(&t->tails[queue - 1]);
}

uint64_t segments_waiting(const struct segments *s)
{
    return s->delta.count;
}

uint32_t segments_waiting_queue(const struct segments *s, uint64_t id)
{
    const struct queue_delta *t = &s->delta;

    return id > t->base && id - t->base <= t->count
               ? t->queue_of[id - t->base - 1]
               : 0;
}

/* Finds up to `most` ids of `queue` greater than `after` that are not done, and
 * returns their number. Starting takes constant time if `after` is an id of
 * that queue or is not in the delta. */
static size_t take_waiting(const struct segments *s, uint32_t queue,
                           uint64_t after, const struct done_bits *done,
                           uint64_t *ids, size_t most)
{
    const struct queue_delta *t = &s->delta;
    uint32_t tail = queue <= t->tail_cap ? t->tails[queue - 1] : 0, i;
    size_t n = 0;

    if (tail == 0 || most == 0 || after >= t->base + tail)
        return 0;
    i = t->next[tail - 1];
    if (segments_waiting_queue(s, after) == queue)
        i = t->next[after - t->base - 1];
    for (;; i = t->next[i]) {
        uint64_t id = t->base + i + 1;

        if (id > after && !done_bits_has(done, id))
            ids[n++] = id;
        if (n == most || i == tail - 1)
            return n;
    }
}

static int compare_queues(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return x < y ? -1 : x > y;
}

void queue_delta_each(struct queue_delta *t, const struct done_bits *done,
                      void (*visit)(void *ctx, uint32_t queue, uint64_t id),
                      void *ctx)
{
    uint32_t *queues = xmalloc(t->count * sizeof *queues), n = 0;

    for (uint32_t i = 0; i < t->count; i++) {
        if (t->queue_of[i] > 0 && t->tails[t->queue_of[i] - 1] == i + 1)
            queues[n++] = t->queue_of[i];
    }
    qsort(queues, n, sizeof *queues, compare_queues);
    for (uint32_t k = 0; k < n; k++) {
        uint32_t tail = t->tails[queues[k] - 1] - 1, i = tail;

        do {
            i = t->next[i];
            if (!done_bits_has(done, t->base + i + 1))
                visit(ctx, queues[k], t->base + i + 1);
        } while (i != tail);
    }
    free(queues);
}

void queue_delta_flushed(struct queue_delta *t)
{
    for (uint32_t i = 0; i < t->count; i++) {
        if (t->queue_of[i] > 0)
            t->tails[t->queue_of[i] - 1] = 0;
    }
    t->base += t->count;
    t->count = 0;
}

/* ---- the octets of a row ---- */

#define GROUP_HEAD (5 + 1 + 6) /* most octets of a group with one id */
#define MOST_ID    ((UINT64_C(1) << 40) - 1)

void segment_row_start(struct segment_row *r, uint64_t base)
{
    r->len = r->count_at = 0;
    r->queue = r->first_queue = 0;
    r->id = r->first_id = 0;
    r->base = base;
}

static bool start_group(struct segment_row *r, uint32_t queue, uint64_t id)
{
    if (r->len + GROUP_HEAD > SEGMENT_ROW_MOST)
        return false;
    if (r->len == 0) {
        r->first_queue = queue;
        r->first_id = id;
    }
    r->len += varint_put(r->octets + r->len, queue - r->queue);
    r->count_at = r->len++;
    r->octets[r->count_at] = 1;
    r->len += varint_put(r->octets + r->len, id - r->base);
    r->queue = queue;
    r->id = id;
    return true;
}

bool segment_row_add(struct segment_row *r, uint32_t queue, uint64_t id)
{
    if (r->len == 0 || queue != r->queue ||
        r->octets[r->count_at] == SEGMENT_GROUP_MOST)
        return start_group(r, queue, id);
    if (r->len + 6 > SEGMENT_ROW_MOST)
        return false;
    r->len += varint_put(r->octets + r->len, id - r->id);
    r->octets[r->count_at]++;
    r->id = id;
    return true;
}

void segment_reader_start(struct segment_reader *r, const void *octets,
                          size_t len, uint64_t base)
{
    *r = (struct segment_reader){.base = base};
    r->at = octets;
    r->end = r->at + len;
}

static bool take_number(struct segment_reader *r, uint64_t *v)
{
    const unsigned char *behind = varint_get(r->at, r->end, v);

    if (behind == NULL || *v > MOST_ID) {
        r->damaged = true;
        return false;
    }
    r->at = behind;
    return true;
}

/* Reads the head of a group; r->left counts the first id too. */
static bool take_group(struct segment_reader *r)
{
    uint64_t step, count;

    if (!take_number(r, &step) || !take_number(r, &count))
        return false;
    if (count < 1 || count > SEGMENT_GROUP_MOST ||
        step > UINT32_MAX - r->queue) {
        r->damaged = true;
        return false;
    }
    r->queue += (uint32_t)step;
    r->left = (uint32_t)count;
    r->id = r->base;
    return true;
}

bool segment_reader_next(struct segment_reader *r)
{
    uint64_t step;

    if (r->damaged || (r->left == 0 && r->at == r->end))
        return false;
    if (r->left == 0 && !take_group(r))
        return false;
    if (!take_number(r, &step) || step > MOST_ID - r->id) {
        r->damaged = true;
        return false;
    }
    r->left--;
    r->id += step;
    return true;
}

uint32_t segment_reader_group(struct segment_reader *r,
                              uint64_t ids[SEGMENT_GROUP_MOST])
{
    uint32_t n = 0;
    uint64_t id;

    if (r->damaged || r->at == r->end || !take_group(r))
        return 0;
    for (id = r->base; r->left > 0; r->left--) {
        uint64_t step;

        if (!take_number(r, &step))
            return 0;
        if (n > 0 && step == 0)
            break;
        ids[n++] = id += step;
    }
    if (r->left > 0 || id > MOST_ID) {
        r->damaged = true;
        return 0;
    }
    r->id = id;
    return n;
}

void segment_reader_skip_to(struct segment_reader *r, uint32_t queue)
{
    while (!r->damaged && r->left == 0 && r->at < r->end) {
        const unsigned char *start = r->at;
        uint32_t before = r->queue;

        if (!take_group(r))
            return;
        if (r->queue >= queue) { /* segment_reader_next will read it again */
            r->at = start;
            r->queue = before;
            r->left = 0;
            return;
        }
        for (; r->left > 0 && r->at < r->end; r->at++)
            r->left -= *r->at < 0x80;
        r->damaged = r->left > 0;
    }
}

/* ---- reads a whole segment and checks it on the way ---- */

struct scan {
    struct segment *g;
    uint32_t queue;
    uint64_t id;    /* 0: nothing read yet */
    uint64_t count; /* entries read */
    bool learn;
    uint32_t queues; /* while it learns */
    segment_visit visit;
    void *ctx;
};

static enum status scan_group(struct scan *c, uint32_t row, uint32_t queue,
                              const uint64_t *ids, uint32_t n)
{
    const struct segment *g = c->g;

    if (ids[0] < g->first || ids[n - 1] > g->last || queue == 0)
        return segments_damaged(g, row, "entry out of range");
    if (c->learn && queue > c->queues)
        return segments_damaged(g, row, "of no queue");
    if (c->id != 0 &&
        (queue < c->queue || (queue == c->queue && ids[0] <= c->id)))
        return segments_damaged(g, row, "entries out of order");
    if (c->learn)
        segment_add_queue(c->g, queue);
    c->queue = queue;
    c->id = ids[n - 1];
    c->count += n;
    c->visit(c->ctx, queue, ids, n);
    return STATUS_OK;
}

static enum status scan_row(struct scan *c, uint32_t row,
                            struct segment_reader *r)
{
    uint64_t ids[SEGMENT_GROUP_MOST];
    bool first = true;
    uint32_t n;

    while ((n = segment_reader_group(r, ids)) > 0) {
        enum status st;

        if (first && (r->queue != c->g->fence_queue[row] ||
                      ids[0] != c->g->fence_id[row]))
            return segments_damaged(c->g, row, "fence is not the first entry");
        st = scan_group(c, row, r->queue, ids, n);
        if (st != STATUS_OK)
            return st;
        first = false;
    }
    if (r->damaged || first)
        return segments_damaged(c->g, row, "row does not parse");
    return STATUS_OK;
}

static enum status segments_scan(struct segments *s, struct segment *g,
                                 bool learn, segment_visit visit, void *ctx)
{
    struct scan c = {.g = g,
                     .learn = learn,
                     .queues = s->queues_there,
                     .visit = visit,
                     .ctx = ctx};
    unsigned char octets[SEGMENT_ROW_MOST];
    struct segment_reader r;

    for (uint32_t row = 0; row < g->rows; row++) {
        enum status st = segments_read_row(s, g, row, octets, &r);

        if (st == STATUS_OK)
            st = scan_row(&c, row, &r);
        if (st != STATUS_OK)
            return st;
    }
    if (c.count != g->ids)
        return segments_damaged(g, 0, "holds another number of entries");
    return STATUS_OK;
}

/* ---- opening ---- */

void segments_drop(struct segments *s, uint32_t number)
{
    s->dropped =
        xrealloc(s->dropped, (s->dropped_count + 1) * sizeof *s->dropped);
    s->dropped[s->dropped_count++] = number;
}

static enum status take_meta(struct segments *s, sqlite3_stmt *row)
{
    struct db_row r = db_row(row);
    struct segment *g = segment_new((uint32_t)db_row_count(&r, 0, MOST_NUMBER),
                                    (uint32_t)db_row_count(&r, 1, MOST_LEVEL),
                                    db_row_count(&r, 2, DB_ID_MOST),
                                    db_row_count(&r, 3, DB_ID_MOST));
    struct bytes fences = db_column(row, 5);
    uint64_t before = segments_upto(s);
    enum status st;

    s->list = xrealloc(s->list, (s->count + 1) * sizeof(struct segment *));
    s->list[s->count++] = g;
    g->ids = db_row_count(&r, 4, DB_ID_MOST);
    st = db_row_check(&r, "qmeta");
    if (st != STATUS_OK)
        return st;
    if (g->first != before + 1 || g->last < g->first ||
        fences.len % FENCE_OCTETS != 0 || fences.len / FENCE_OCTETS > MOST_ROWS)
        return segments_damaged(g, 0, "qmeta makes no sense");
    if (g->number >= s->next_number)
        s->next_number = g->number + 1;
    for (size_t i = 0; i < fences.len; i += FENCE_OCTETS) {
        const unsigned char *at = (const unsigned char *)fences.at + i;

        segment_add_fence(g, (uint32_t)packed_get(at, 4),
                          packed_get(at + 4, 5));
    }
    return STATUS_OK;
}

static enum status read_list(struct segments *s)
{
    sqlite3_stmt *row = NULL;
    enum status st = db_prepare(s->d, &row,
                                "SELECT seg, level, first, last, ids, fences"
                                " FROM qmeta ORDER BY first");

    while (st == STATUS_OK && (st = db_step(s->d, row)) == STATUS_OK)
        st = take_meta(s, row);
    sqlite3_finalize(row);
    return st == STATUS_NOT_FOUND ? STATUS_OK : st;
}

static bool listed(const struct segments *s, uint32_t number)
{
    for (uint32_t i = 0; i < s->count; i++) {
        if (s->list[i]->number == number)
            return true;
    }
    return false;
}

/* Finds rows that belong to no segment in the list. */
static enum status find_left_over(struct segments *s)
{
    sqlite3_stmt *row = NULL;
    int64_t from = 0;
    enum status st = db_prepare(s->d, &row,
                                "SELECT id FROM qseg WHERE id >= ?"
                                " ORDER BY id LIMIT 1");

    while (st == STATUS_OK) {
        sqlite3_bind_int64(row, 1, from);
        st = db_step(s->d, row);
        if (st == STATUS_OK) {
            struct db_row r = db_row(row);
            uint32_t number =
                (uint32_t)(db_row_count(&r, 0, MOST_ROW_ID) >> ROW_BITS);

            st = db_row_check(&r, "qseg");
            if (st != STATUS_OK)
                break;
            if (!listed(s, number))
                segments_drop(s, number);
            if (number >= s->next_number)
                s->next_number = number + 1;
            from = ((int64_t)number + 1) << ROW_BITS;
        }
        sqlite3_reset(row);
    }
    sqlite3_finalize(row);
    return st == STATUS_NOT_FOUND ? STATUS_OK : st;
}

enum status segments_open(struct segments **out, struct db *d, uint32_t queues,
                          segment_visit visit, void *ctx)
{
    struct segments *s = xcalloc(1, sizeof *s);
    enum status st;

    s->d = d;
    s->next_number = 1;
    s->queues_there = queues;
    st = read_list(s);
    if (st == STATUS_OK)
        st = find_left_over(s);
    for (uint32_t i = 0; i < s->count && st == STATUS_OK; i++)
        st = segments_scan(s, s->list[i], true, visit, ctx);
    s->delta.base = segments_upto(s);
    if (st != STATUS_OK) {
        segments_close(s);
        return st;
    }
    *out = s;
    return STATUS_OK;
}

void segments_close(struct segments *s)
{
    if (s == NULL)
        return;
    segment_merge_free(s->merge);
    for (uint32_t i = 0; i < s->count; i++)
        segment_free(s->list[i]);
    free(s->list);
    free(s->dropped);
    free(s->delta.queue_of);
    free(s->delta.next);
    free(s->delta.tails);
    free(s);
}

uint64_t segments_upto(const struct segments *s)
{
    return s->count > 0 ? s->list[s->count - 1]->last : 0;
}

/* ---- searching ---- */

/* The row where entries (queue, id) and later begin. */
static uint32_t row_for(const struct segment *g, uint32_t queue, uint64_t id)
{
    uint32_t low = 0, high = g->rows;

    while (low < high) {
        uint32_t mid = low + (high - low) / 2;

        if (g->fence_queue[mid] < queue ||
            (g->fence_queue[mid] == queue && g->fence_id[mid] <= id))
            low = mid + 1;
        else
            high = mid;
    }
    return low > 0 ? low - 1 : 0;
}

struct taking {
    uint32_t queue;
    uint64_t after;
    const struct done_bits *done;
    uint64_t *ids;
    size_t most, n;
};

static enum status take_from(struct segments *s, const struct segment *g,
                             struct taking *t)
{
    unsigned char octets[SEGMENT_ROW_MOST];
    struct segment_reader r;

    for (uint32_t row = row_for(g, t->queue, t->after + 1);
         row < g->rows && g->fence_queue[row] <= t->queue; row++) {
        enum status st = segments_read_row(s, g, row, octets, &r);

        if (st != STATUS_OK)
            return st;
        segment_reader_skip_to(&r, t->queue);
        while (segment_reader_next(&r) && r.queue == t->queue) {
            if (r.id <= t->after || done_bits_has(t->done, r.id))
                continue;
            if (t->n == t->most)
                return STATUS_OK;
            t->ids[t->n++] = r.id;
        }
        if (r.damaged)
            return segments_damaged(g, row, "row does not parse");
    }
    return STATUS_OK;
}

enum status segments_take(struct segments *s, uint32_t queue, uint64_t after,
                          const struct done_bits *done, uint64_t *ids,
                          size_t most, size_t *n)
{
    struct taking t = {queue, after, done, ids, most, 0};
    enum status st = STATUS_OK;

    for (uint32_t i = 0; i < s->count && t.n < most && st == STATUS_OK; i++) {
        const struct segment *g = s->list[i];

        if (g->last > after && segment_has_queue(g, queue))
            st = take_from(s, g, &t);
    }
    if (st == STATUS_OK)
        *n = t.n + take_waiting(s, queue, after, done, ids + t.n, most - t.n);
    return st;
}

enum status segments_verify(struct segments *s, segment_visit visit, void *ctx)
{
    enum status st = STATUS_OK;

    for (uint32_t i = 0; i < s->count && st == STATUS_OK; i++)
        st = segments_scan(s, s->list[i], false, visit, ctx);
    return st;
}

uint64_t segments_memory(const struct segments *s)
{
    uint64_t sum = sizeof *s + (uint64_t)s->delta.cap * 8 +
                   (uint64_t)s->delta.tail_cap * 4;

    for (uint32_t i = 0; i < s->count; i++) {
        const struct segment *g = s->list[i];

        sum += sizeof *g + g->present_octets + (uint64_t)g->rows_cap * 12;
    }
    return sum + (s->merge != NULL ? sizeof *s->merge : 0);
}
