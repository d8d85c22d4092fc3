/* SPDX-License-Identifier: MIT */
/* segment_scan.c - reads a whole segment and checks it on the way. */
#include "storage/index/segment_list.h"

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
