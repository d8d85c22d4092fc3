/* SPDX-License-Identifier: MIT */
/* segment_row.c - one row of a queue segment: ids by queue, as varints. */
#include "storage/index/segment_row.h"
#include "storage/db/packed.h"
#include "storage/index/segment_list.h"

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

enum status segments_scan(struct segments *s, struct segment *g, bool learn,
                          segment_visit visit, void *ctx)
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
