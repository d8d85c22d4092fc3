/* SPDX-License-Identifier: MIT */
/*
 * segment_merge.c - writes segments: from memory, and from four older ones.
 *
 *   delta ──flush──► level 0 ─┐
 *                    level 0 ─┤ merge, some rows a step
 *                    level 0 ─┤        │
 *                    level 0 ─┘        ▼ last step: qmeta of the four goes,
 *                                 level 1            that of the new one comes
 *                                      │
 *                                      └─ the rows of the four are deleted in
 *                                         steps after that
 *
 * All of this happens in the caller's transactions. A crash in between leaves
 * rows that no qmeta row names; opening finds them, and they are deleted in the
 * same way.
 */
#include <stdlib.h>

#include "base/fault.h"
#include "base/mem.h"
#include "storage/db/packed.h"
#include "storage/index/segment_list.h"

/* ---- writing ---- */

static void write_row(struct segment_writer *w)
{
    struct segments *s = w->s;
    sqlite3_stmt *q;

    if (w->st != STATUS_OK || w->row.len == 0)
        return;
    if (w->to->rows == MOST_ROWS) {
        w->st = STATUS_LIMIT;
        return;
    }
    q = db_statement(s->d, "INSERT INTO qseg VALUES(?, ?)");
    sqlite3_bind_int64(q, 1, segment_row_id(w->to, w->to->rows));
    sqlite3_bind_blob(q, 2, w->row.octets, (int)w->row.len, SQLITE_STATIC);
    w->st = db_run(s->d, q);
    segment_add_fence(w->to, w->row.first_queue, w->row.first_id);
    segment_row_start(&w->row, w->to->first);
}

static void write_entry(void *writer, uint32_t queue, uint64_t id)
{
    struct segment_writer *w = writer;

    if (queue != w->row.queue || w->row.len == 0)
        segment_add_queue(w->to, queue);
    if (!segment_row_add(&w->row, queue, id)) {
        write_row(w);
        /* An empty row has room for any entry. */
        (void)segment_row_add(&w->row, queue, id);
    }
    w->to->ids++;
}

static enum status write_meta(struct segment_writer *w)
{
    struct segments *s = w->s;
    sqlite3_stmt *q =
        db_statement(s->d, "INSERT INTO qmeta VALUES(?, ?, ?, ?, ?, ?)");
    const struct segment *g = w->to;
    unsigned char *fences = xmalloc((size_t)g->rows * FENCE_OCTETS);
    enum status st;

    for (uint32_t i = 0; i < g->rows; i++) {
        packed_put(fences + (size_t)i * FENCE_OCTETS, g->fence_queue[i], 4);
        packed_put(fences + (size_t)i * FENCE_OCTETS + 4, g->fence_id[i], 5);
    }
    sqlite3_bind_int64(q, 1, g->number);
    sqlite3_bind_int64(q, 2, g->level);
    sqlite3_bind_int64(q, 3, (int64_t)g->first);
    sqlite3_bind_int64(q, 4, (int64_t)g->last);
    sqlite3_bind_int64(q, 5, (int64_t)g->ids);
    sqlite3_bind_blob64(q, 6, fences, (sqlite3_uint64)g->rows * FENCE_OCTETS,
                        SQLITE_STATIC);
    st = db_run(s->d, q);
    free(fences);
    return st;
}

static void start_writing(struct segment_writer *w, struct segments *s,
                          uint32_t level, uint64_t first, uint64_t last)
{
    w->s = s;
    w->st = s->next_number <= MOST_NUMBER && level <= MOST_LEVEL ? STATUS_OK
                                                                 : STATUS_LIMIT;
    w->to = segment_new(s->next_number++, level, first, last);
    segment_row_start(&w->row, first);
}

enum status segments_flush(struct segments *s, const struct done_bits *done)
{
    struct queue_delta *delta = &s->delta;
    struct segment_writer *w;
    enum status st;

    if (delta->count == 0)
        return STATUS_OK;
    w = xmalloc(sizeof *w);
    start_writing(w, s, 0, delta->base + 1, delta->base + delta->count);
    queue_delta_each(delta, done, write_entry, w);
    write_row(w);
    fault_point("queue-flush");
    st = w->st;
    if (st == STATUS_OK)
        st = write_meta(w);
    if (st == STATUS_OK) {
        s->list = xrealloc(s->list, (s->count + 1) * sizeof(struct segment *));
        s->list[s->count++] = w->to;
        queue_delta_flushed(delta);
    } else {
        segment_free(w->to);
    }
    free(w);
    return st;
}

/* ---- merging ---- */

void segment_merge_free(struct merge *m)
{
    if (m == NULL)
        return;
    segment_free(m->w.to);
    free(m);
}

/* Reads the input's row number in->row. The bits of its ids are all over the
 * memory of the done ones, so they are fetched at once, not one after another:
 * that took a twelfth of the CPU of a crawl of ten million URLs. */
static enum status read_row(struct segments *s, const struct done_bits *done,
                            struct merge_input *in)
{
    enum status st =
        segments_read_row(s, in->from, in->row, in->octets, &in->r);
    struct segment_reader ahead = in->r;

    while (st == STATUS_OK && segment_reader_next(&ahead))
        done_bits_prefetch(done, ahead.id);
    return st;
}

/* Moves to the input's next entry, or past its end. *rows counts the rows that
 * were read. */
static enum status advance(struct segments *s, const struct done_bits *done,
                           struct merge_input *in, uint32_t *rows)
{
    enum status st;

    while (!segment_reader_next(&in->r)) {
        if (in->r.damaged)
            return segments_damaged(in->from, in->row, "row does not parse");
        if (++in->row >= in->from->rows) {
            in->from = NULL;
            return STATUS_OK;
        }
        st = read_row(s, done, in);
        if (st != STATUS_OK)
            return st;
        ++*rows;
    }
    return STATUS_OK;
}

static enum status open_input(struct segments *s, const struct done_bits *done,
                              struct merge_input *in, struct segment *from,
                              uint32_t *rows)
{
    enum status st;

    in->row = 0;
    if (from->rows == 0) {
        in->from = NULL;
        return STATUS_OK;
    }
    in->from = from;
    st = read_row(s, done, in);
    ++*rows;
    return st == STATUS_OK ? advance(s, done, in, rows) : st;
}

/* Finds the first four neighbours of one level, the lowest possible. False:
 * there are none. */
static bool find_four(const struct segments *s, uint32_t *place)
{
    uint32_t lowest = UINT32_MAX;

    for (uint32_t i = 0; i + FAN <= s->count; i++) {
        uint32_t level = s->list[i]->level, k = 1;

        while (k < FAN && s->list[i + k]->level == level)
            k++;
        if (k == FAN && level < lowest) {
            lowest = level;
            *place = i;
        }
    }
    return lowest != UINT32_MAX;
}

static enum status start_merge(struct segments *s, const struct done_bits *done,
                               uint32_t place, uint32_t *rows)
{
    struct segment **four = s->list + place;
    struct merge *m = xcalloc(1, sizeof *m);
    enum status st = STATUS_OK;

    m->place = place;
    start_writing(&m->w, s, four[0]->level + 1, four[0]->first,
                  four[FAN - 1]->last);
    for (uint32_t i = 0; i < FAN && st == STATUS_OK; i++)
        st = open_input(s, done, &m->in[i], four[i], rows);
    s->merge = m;
    return st;
}

static enum status finish_merge(struct segments *s)
{
    sqlite3_stmt *q = db_statement(s->d, "DELETE FROM qmeta WHERE seg = ?");
    struct merge *m = s->merge;
    struct segment **four = s->list + m->place;
    enum status st;

    write_row(&m->w);
    st = m->w.st;
    if (st == STATUS_OK)
        st = write_meta(&m->w);
    for (uint32_t i = 0; i < FAN && st == STATUS_OK; i++) {
        sqlite3_bind_int64(q, 1, four[i]->number);
        st = db_run(s->d, q);
    }
    fault_point("queue-switch");
    if (st != STATUS_OK)
        return st;
    for (uint32_t i = 0; i < FAN; i++) {
        segments_drop(s, four[i]->number);
        segment_free(four[i]);
    }
    four[0] = m->w.to;
    m->w.to = NULL;
    for (uint32_t i = m->place + FAN; i < s->count; i++)
        s->list[i - FAN + 1] = s->list[i];
    s->count -= FAN - 1;
    segment_merge_free(m);
    s->merge = NULL;
    return STATUS_OK;
}

/* The input whose entry comes next: that of the least queue, and of those the
 * oldest. */
static struct merge_input *least(struct merge *m)
{
    struct merge_input *best = NULL;

    for (uint32_t i = 0; i < FAN; i++) {
        struct merge_input *in = &m->in[i];

        if (in->from != NULL && (best == NULL || in->r.queue < best->r.queue))
            best = in;
    }
    return best;
}

static enum status merge_rows(struct segments *s, const struct done_bits *done,
                              uint32_t most, uint32_t *rows)
{
    struct merge *m = s->merge;

    while (*rows < most) {
        struct merge_input *in = least(m);
        enum status st;

        if (in == NULL)
            return finish_merge(s);
        if (!done_bits_has(done, in->r.id))
            write_entry(&m->w, in->r.queue, in->r.id);
        st = advance(s, done, in, rows);
        if (st == STATUS_OK)
            st = m->w.st;
        if (st != STATUS_OK)
            return st;
    }
    fault_point("queue-merge");
    return STATUS_OK;
}

static enum status drop_rows(struct segments *s, uint32_t most)
{
    sqlite3_stmt *q =
        db_statement(s->d, "DELETE FROM qseg WHERE id IN (SELECT id FROM qseg"
                           " WHERE id >= ? AND id < ? ORDER BY id LIMIT ?)");
    uint32_t number = s->dropped[s->dropped_count - 1];
    enum status st;

    sqlite3_bind_int64(q, 1, (int64_t)number << ROW_BITS);
    sqlite3_bind_int64(q, 2, ((int64_t)number + 1) << ROW_BITS);
    sqlite3_bind_int64(q, 3, most);
    st = db_run(s->d, q);
    if (st == STATUS_OK && sqlite3_changes(db_handle(s->d)) < (int)most)
        s->dropped_count--; /* all its rows are deleted */
    fault_point("queue-drop");
    return st;
}

enum status segments_step(struct segments *s, const struct done_bits *done,
                          uint32_t rows)
{
    uint32_t read = 0, place;
    enum status st = STATUS_OK;

    if (s->dropped_count > 0)
        st = drop_rows(s, rows * 2);
    if (st == STATUS_OK && s->merge == NULL && find_four(s, &place))
        st = start_merge(s, done, place, &read);
    if (st == STATUS_OK && s->merge != NULL)
        st = merge_rows(s, done, rows, &read);
    return st;
}
