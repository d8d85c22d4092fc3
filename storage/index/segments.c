/* SPDX-License-Identifier: MIT */
/*
 * segments.c - the queues on disk: the list of segments, and how it is
 * searched.
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
        *n = t.n;
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
    uint64_t sum = sizeof *s;

    for (uint32_t i = 0; i < s->count; i++) {
        const struct segment *g = s->list[i];

        sum += sizeof *g + g->present_octets + (uint64_t)g->rows_cap * 12;
    }
    return sum + (s->merge != NULL ? sizeof *s->merge : 0);
}
