/* SPDX-License-Identifier: MIT */
/* segment_scan.c - reads a whole segment and checks it on the way. */
#include "storage/segment_list.h"

struct scan {
    struct segment *g;
    uint32_t queue;
    uint64_t id;    /* 0: nothing read yet */
    uint64_t count; /* entries read */
    bool learn;
    void (*visit)(void *ctx, uint32_t queue, uint64_t id);
    void *ctx;
};

static enum status scan_row(struct scan *c, uint32_t row,
                            struct segment_reader *r)
{
    const struct segment *g = c->g;
    bool first = true;

    while (segment_reader_next(r)) {
        if (first &&
            (r->queue != g->fence_queue[row] || r->id != g->fence_id[row]))
            return segments_damaged(g, row, "fence is not the first entry");
        if (r->id < g->first || r->id > g->last || r->queue == 0)
            return segments_damaged(g, row, "entry out of range");
        if (c->id != 0 &&
            (r->queue < c->queue || (r->queue == c->queue && r->id <= c->id)))
            return segments_damaged(g, row, "entries out of order");
        if (c->learn && (first || r->queue != c->queue))
            segment_add_queue(c->g, r->queue);
        c->queue = r->queue;
        c->id = r->id;
        c->count++;
        first = false;
        c->visit(c->ctx, r->queue, r->id);
    }
    if (r->damaged || first)
        return segments_damaged(g, row, "row does not parse");
    return STATUS_OK;
}

enum status segments_scan(struct segments *s, struct segment *g, bool learn,
                          void (*visit)(void *ctx, uint32_t queue, uint64_t id),
                          void *ctx)
{
    struct scan c = {.g = g, .learn = learn, .visit = visit, .ctx = ctx};
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
