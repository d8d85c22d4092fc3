/* SPDX-License-Identifier: MIT */
/*
 * slab.c - memory for runs of blocks that are replaced by longer ones.
 *
 * Chunks are about 1/128 of all memory, so that the one being cut wastes
 * little, and at least eight of the longest run, so that their ends waste
 * little; from 2 MiB on they are whole huge pages. A dead run is not found
 * again until its chunk is emptied: no free list, no coalescing, and fresh
 * memory is cut in order.
 */
#include "filter/slab.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "filter/block.h"

#define CHUNK_LEAST (UINT32_C(65536) / BLOCK_BYTES)
#define CHUNK_MOST  ((UINT32_C(4) << 20) / BLOCK_BYTES)
#define CHUNK_HUGE  ((UINT32_C(2) << 20) / BLOCK_BYTES)

void slab_init(struct slab *s, uint64_t most_blocks)
{
    memset(s, 0, sizeof *s);
    s->most = most_blocks;
}

static void drop_chunk(struct slab *s, struct slab_chunk *c)
{
    mem_free_pages(c->at, (size_t)c->size * BLOCK_BYTES);
    s->total -= c->size;
    s->used -= c->used;
    memset(c, 0, sizeof *c);
}

void slab_fini(struct slab *s)
{
    for (uint32_t i = 0; i < s->count; i++)
        if (s->chunks[i].at != NULL)
            drop_chunk(s, &s->chunks[i]);
    free(s->chunks);
    memset(s, 0, sizeof *s);
}

static uint64_t chunk_size(const struct slab *s, uint32_t run)
{
    uint64_t size = CHUNK_LEAST;

    while (size < CHUNK_MOST && size * 128 < s->live)
        size *= 2;
    while (size < (uint64_t)run * 8)
        size *= 2;
    return size;
}

/* A place in the table of chunks, its own number answered in *id. */
static enum status free_slot(struct slab *s, uint32_t *id)
{
    struct slab_chunk *more;
    uint32_t cap = s->count > 0 ? s->count * 2 : 16;

    for (*id = 0; *id < s->count; ++*id)
        if (s->chunks[*id].at == NULL)
            return STATUS_OK;
    more = try_realloc(s->chunks, cap * sizeof *more);
    if (more == NULL)
        return STATUS_NOMEM;
    memset(more + s->count, 0, (cap - s->count) * sizeof *more);
    s->chunks = more;
    s->count = cap;
    return STATUS_OK;
}

static enum status add_chunk(struct slab *s, uint32_t run)
{
    uint64_t size = chunk_size(s, run);
    struct slab_chunk *c;
    uint32_t id;
    int huge;
    enum status st;

    while (s->most > 0 && s->total + size > s->most && size / 2 >= run &&
           size > CHUNK_LEAST)
        size /= 2;
    if (size > UINT32_MAX || (s->most > 0 && s->total + size > s->most))
        return STATUS_LIMIT;
    st = free_slot(s, &id);
    if (st != STATUS_OK)
        return st;
    c = &s->chunks[id];
    c->at = try_pages(size * BLOCK_BYTES, &huge);
    if (c->at == NULL)
        return STATUS_NOMEM;
    c->size = (uint32_t)size;
    c->used = c->live = 0;
    c->huge = huge != 0;
    s->total += size;
    s->current = id;
    return STATUS_OK;
}

static bool fits(const struct slab *s, uint32_t id, uint32_t blocks)
{
    return id < s->count && s->chunks[id].at != NULL &&
           s->chunks[id].size - s->chunks[id].used >= blocks;
}

/* The chunk with the least room that is enough becomes the current one. */
static bool choose_chunk(struct slab *s, uint32_t blocks)
{
    uint32_t best = UINT32_MAX;

    if (fits(s, s->current, blocks))
        return true;
    for (uint32_t i = 0; i < s->count; i++) {
        const struct slab_chunk *c = &s->chunks[i];

        if (fits(s, i, blocks) &&
            (best == UINT32_MAX ||
             c->size - c->used < s->chunks[best].size - s->chunks[best].used))
            best = i;
    }
    if (best == UINT32_MAX)
        return false;
    s->current = best;
    return true;
}

static void cut(struct slab *s, uint32_t blocks, struct slab_run *out)
{
    struct slab_chunk *c = &s->chunks[s->current];

    *out = (struct slab_run){c->at + (size_t)c->used * BLOCK_LANES, blocks,
                             s->current};
    c->used += blocks;
    c->live += blocks;
    s->used += blocks;
    s->live += blocks;
}

enum status slab_take(struct slab *s, uint32_t blocks, struct slab_run *out)
{
    if (!choose_chunk(s, blocks)) {
        enum status st = add_chunk(s, blocks);

        if (st != STATUS_OK)
            return st;
    }
    cut(s, blocks, out);
    memset(out->at, 0, (size_t)blocks * BLOCK_BYTES);
    return STATUS_OK;
}

void slab_give(struct slab *s, struct slab_run *run)
{
    struct slab_chunk *c = &s->chunks[run->chunk];

    c->live -= run->blocks;
    s->live -= run->blocks;
    run->blocks = 0;
    if (c->live > 0)
        return;
    /* All dead: cut it again, or let it go where today's are larger. */
    s->used -= c->used;
    c->used = 0;
    if (c->size < chunk_size(s, 1))
        drop_chunk(s, c);
}

/* The chunk with the largest share dead, apart from the current one. */
static uint32_t deadest(const struct slab *s)
{
    uint32_t best = UINT32_MAX;
    double most = 0;

    for (uint32_t i = 0; i < s->count; i++) {
        const struct slab_chunk *c = &s->chunks[i];
        double dead;

        if (c->at == NULL || i == s->current)
            continue;
        dead = (double)(c->used - c->live) / c->size;
        if (dead > most) {
            most = dead;
            best = i;
        }
    }
    return best;
}

/* Copy one run to the end of another chunk; false where there is no room. */
static bool move_run(struct slab *s, struct slab_run *run)
{
    struct slab_run to;

    if (!choose_chunk(s, run->blocks) && add_chunk(s, run->blocks) != STATUS_OK)
        return false;
    cut(s, run->blocks, &to);
    memcpy(to.at, run->at, (size_t)run->blocks * BLOCK_BYTES);
    slab_give(s, run);
    *run = to;
    return true;
}

void slab_tidy(struct slab *s, struct slab_run *runs, size_t n)
{
    struct slab_chunk *c;
    uint32_t victim;

    if ((s->used - s->live) * SLAB_WASTE <= s->total)
        return;
    victim = deadest(s);
    if (victim == UINT32_MAX)
        return;
    c = &s->chunks[victim];
    s->used += c->size - c->used; /* nothing more is cut from it */
    c->used = c->size;
    for (size_t i = 0; i < n; i++)
        if (runs[i].blocks > 0 && runs[i].chunk == victim &&
            !move_run(s, &runs[i]))
            return;
}

bool slab_huge(const struct slab *s)
{
    bool any = false;

    for (uint32_t i = 0; i < s->count; i++) {
        const struct slab_chunk *c = &s->chunks[i];

        if (c->at == NULL || c->size < CHUNK_HUGE)
            continue;
        if (!c->huge)
            return false;
        any = true;
    }
    return any;
}
