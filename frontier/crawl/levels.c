/* SPDX-License-Identifier: MIT */
/*
 * levels.c - how far URLs are from a seed, by the shortest path known.
 *
 * A URL's row has the depth at which it was first found. That is usually the
 * shortest path, since queues are first in, first out; but a slow host may hold
 * a shortcut. Its effect is known only at the end, and matters only if a depth
 * limit dropped something. So we do nothing while URLs are queued; then we read
 * the log of paths (storage/rows/path_log.h) from end to end until no URL comes
 * nearer: usually twice, since its pages are roughly in the order of their
 * levels. (To follow each improvement at once, we would need an index of links
 * by page, as large as the log.)
 *
 * In a shard a message may bring a shorter way to a URL, whose row has its
 * depth from then on; and links to other shards are kept among the drops, and
 * sent again when their page has come nearer. Depths only fall, so that ends.
 *
 * This takes two octets a URL while it lasts. A crash leaves nothing half done:
 * the next run begins again.
 */
#include <stdlib.h>

#include "base/logger.h"
#include "base/mem.h"
#include "frontier/crawl/frontier_links.h"

#define ROWS_AT_ONCE  16384
#define PAGES_AT_ONCE 2048
#define FARTHEST      UINT16_MAX /* and beyond */

#define MARK          "paths" /* in meta: paths are kept */

struct levels {
    uint16_t *of; /* by id */
    uint64_t last, at;
    bool rows_read, changed, done;
};

enum status frontier_keep_paths(struct frontier *f)
{
    f->keeps_paths = true;
    return frontier_store_set_meta(f->store, MARK, bytes_of_str("1"));
}

enum status levels_restore(struct frontier *f)
{
    struct buf mark;
    enum status st;

    buf_init(&mark, 64);
    st = frontier_store_meta(f->store, MARK, &mark);
    f->keeps_paths = st == STATUS_OK;
    buf_fini(&mark);
    return st == STATUS_NOT_FOUND ? STATUS_OK : st;
}

static void take_row(void *ctx, const struct url_row *row)
{
    struct levels *l = ctx;

    l->of[row->id] = (uint16_t)(row->depth < FARTHEST ? row->depth : FARTHEST);
}

static void take_path(void *ctx, uint64_t from, enum path_step step,
                      uint64_t to)
{
    struct levels *l = ctx;
    uint32_t level;

    if (from > l->last || to > l->last)
        return;
    level = path_depth(l->of[from], step);
    if (level >= l->of[to])
        return;
    l->of[to] = (uint16_t)level;
    l->changed = true;
}

static enum status read_rows(struct frontier *f, struct levels *l)
{
    enum status st = frontier_store_each(f->store, l->at + 1,
                                         l->at + ROWS_AT_ONCE, take_row, l);

    l->at += ROWS_AT_ONCE;
    if (l->at >= l->last) {
        l->rows_read = true;
        l->at = 0;
    }
    return st;
}

static enum status read_paths(struct frontier *f, struct levels *l)
{
    enum status st =
        path_log_each(f->path_log, &l->at, PAGES_AT_ONCE, take_path, l);

    if (st != STATUS_NOT_FOUND)
        return st;
    l->done = !l->changed;
    l->changed = false;
    l->at = 0;
    return STATUS_OK;
}

static struct levels *levels_new(uint64_t last)
{
    struct levels *l = xcalloc(1, sizeof *l);

    l->last = last;
    l->of = try_calloc(last + 1, sizeof *l->of);
    l->done = l->of == NULL;
    if (l->done)
        log_warn("no memory to find shorter paths: --depth goes by the first "
                 "path found",
                 "urls=%llu", (unsigned long long)last);
    return l;
}

enum status levels_step(struct frontier *f, bool *done)
{
    struct levels *l = f->levels;
    enum status st = STATUS_OK;

    if (l != NULL && l->last != frontier_store_last_id(f->store)) {
        levels_free(f); /* URLs were admitted meanwhile */
        l = NULL;
    }
    if (l == NULL)
        l = f->levels = levels_new(frontier_store_last_id(f->store));
    if (!l->done)
        st = l->rows_read ? read_paths(f, l) : read_rows(f, l);
    *done = l->done;
    return st;
}

void levels_come_nearer(struct frontier *f, uint64_t id, uint32_t depth)
{
    struct levels *l = f->levels;

    if (l == NULL || l->of == NULL || id > l->last || l->of[id] <= depth)
        return;
    l->of[id] = (uint16_t)depth;
    l->changed = true;
}

void levels_free(struct frontier *f)
{
    if (f->levels != NULL)
        free(f->levels->of);
    free(f->levels);
    f->levels = NULL;
}

uint32_t levels_of(const struct frontier *f, uint64_t id, uint32_t otherwise)
{
    const struct levels *l = f->levels;

    if (l == NULL || !l->done || l->of == NULL || id == 0 || id > l->last ||
        l->of[id] >= otherwise)
        return otherwise;
    return l->of[id];
}
