/* SPDX-License-Identifier: MIT */
/*
 * slab.c - memory for runs of blocks that are replaced by longer ones.
 *
 * Chunks are about 1/256 of all memory, so that those being cut waste little,
 * and at least eight of the longest run, so that their ends waste little. A
 * dead run is not reused until its chunk has been emptied: no free list, no
 * coalescing. New runs and moved ones are cut from different chunks: those that
 * were moved are old, so they die soon and together, and an emptied chunk has
 * few left to move. That took copying from 12 blocks for each one cut to 3.
 *
 * From 2 MiB on a chunk is whole huge pages, but the kernel is asked for them
 * only once it is full: it then makes them in the background. If asked at once,
 * it finds and clears 2 MiB at the first touch of each page, which takes up to
 * 5 ms on a virtual machine.
 */
#include "filter/slab.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/mem.h"
#include "filter/block.h"

#define CHUNK_LEAST (UINT32_C(16384) / BLOCK_BYTES)
#define CHUNK_MOST  ((UINT32_C(4) << 20) / BLOCK_BYTES)
#define CHUNK_HUGE  ((UINT32_C(2) << 20) / BLOCK_BYTES)

void slab_init(struct slab *s, uint64_t most_blocks)
{
    memset(s, 0, sizeof *s);
    s->most = most_blocks;
    s->current[0] = s->current[1] = s->victim = UINT32_MAX;
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

    while (size < CHUNK_MOST && size * 256 < s->live)
        size *= 2;
    while (size < (uint64_t)run * 8)
        size *= 2;
    return size;
}

/* Find a free entry in the table of chunks; *id is its index. */
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

/* Cut runs from chunk `id` from now on; the one before is full enough to ask
 * for huge pages. */
static void begin_cutting(struct slab *s, uint32_t id, int for_moved)
{
    uint32_t was = s->current[for_moved];

    if (was < s->count && s->chunks[was].at != NULL && s->chunks[was].huge)
        s->chunks[was].huge = madvise(s->chunks[was].at,
                                      (size_t)s->chunks[was].size * BLOCK_BYTES,
                                      MADV_HUGEPAGE) == 0;
    s->current[for_moved] = id;
}

static enum status add_chunk(struct slab *s, uint32_t run, int for_moved)
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
    c->huge =
        huge != 0 && madvise(c->at, size * BLOCK_BYTES, MADV_NOHUGEPAGE) == 0;
    s->total += size;
    begin_cutting(s, id, for_moved);
    return STATUS_OK;
}

static bool fits(const struct slab *s, uint32_t id, uint32_t blocks)
{
    return id < s->count && s->chunks[id].at != NULL &&
           s->chunks[id].size - s->chunks[id].used >= blocks;
}

/* Choose the chunk to cut next: an empty one, or the one with the least room
 * that is enough. False: there is none. The chunk that is current for the other
 * purpose is not touched. */
static bool choose_chunk(struct slab *s, uint32_t blocks, int for_moved)
{
    uint32_t best = UINT32_MAX;

    if (fits(s, s->current[for_moved], blocks))
        return true;
    for (uint32_t i = 0; i < s->count; i++) {
        const struct slab_chunk *c = &s->chunks[i];

        if (i != s->current[!for_moved] && fits(s, i, blocks) &&
            (best == UINT32_MAX ||
             c->size - c->used < s->chunks[best].size - s->chunks[best].used))
            best = i;
    }
    if (best == UINT32_MAX)
        return false;
    begin_cutting(s, best, for_moved);
    return true;
}

static enum status slab_cut(struct slab *s, uint32_t blocks, int for_moved,
                            struct slab_run *out)
{
    struct slab_chunk *c;

    if (!choose_chunk(s, blocks, for_moved)) {
        enum status st = add_chunk(s, blocks, for_moved);

        if (st != STATUS_OK)
            return st;
    }
    c = &s->chunks[s->current[for_moved]];
    *out = (struct slab_run){c->at + (size_t)c->used * BLOCK_LANES, blocks,
                             s->current[for_moved]};
    c->used += blocks;
    c->live += blocks;
    s->used += blocks;
    s->live += blocks;
    return STATUS_OK;
}

enum status slab_take(struct slab *s, uint32_t blocks, struct slab_run *out)
{
    enum status st = slab_cut(s, blocks, 0, out);

    if (st == STATUS_OK)
        memset(out->at, 0, (size_t)blocks * BLOCK_BYTES);
    return st;
}

void slab_give(struct slab *s, struct slab_run *run)
{
    struct slab_chunk *c = &s->chunks[run->chunk];

    c->live -= run->blocks;
    s->live -= run->blocks;
    run->blocks = 0;
    if (c->live > 0)
        return;
    if (run->chunk == s->victim)
        s->victim = UINT32_MAX;
    /* Nothing in it is alive: reuse it, or free it if chunks are larger by
     * now. */
    s->used -= c->used;
    c->used = 0;
    if (c->size < chunk_size(s, 1))
        drop_chunk(s, c);
}

/* The chunk with the largest dead share, except those being cut. */
static uint32_t deadest(const struct slab *s)
{
    uint32_t best = UINT32_MAX;
    double most = 0;

    for (uint32_t i = 0; i < s->count; i++) {
        const struct slab_chunk *c = &s->chunks[i];
        double dead;

        if (c->at == NULL || i == s->current[0] || i == s->current[1])
            continue;
        dead = (double)(c->used - c->live) / c->size;
        if (dead > most) {
            most = dead;
            best = i;
        }
    }
    return best;
}

/* Copy one run to the end of another chunk; false if there is no room. */
static bool move_run(struct slab *s, struct slab_run *run)
{
    struct slab_run to;

    if (slab_cut(s, run->blocks, 1, &to) != STATUS_OK)
        return false;
    memcpy(to.at, run->at, (size_t)run->blocks * BLOCK_BYTES);
    slab_give(s, run);
    *run = to;
    return true;
}

/* Choose the chunk to empty next; false: none needs it now. */
static bool choose_victim(struct slab *s)
{
    struct slab_chunk *c;

    if ((s->used - s->live) * SLAB_WASTE <= s->total)
        return false;
    s->victim = deadest(s);
    if (s->victim == UINT32_MAX)
        return false;
    c = &s->chunks[s->victim];
    s->used += c->size - c->used; /* nothing more is cut from it */
    c->used = c->size;
    return true;
}

void slab_tidy(struct slab *s, struct slab_run *runs, size_t n)
{
    uint64_t most = n > 0 ? 4 * (s->live / n) + 1024 : 0;

    if (s->victim == UINT32_MAX && !choose_victim(s))
        return;
    for (size_t i = 0, moved = 0; i < n && moved < most; i++) {
        /* slab_give() clears the victim when its last run has left. */
        if (s->victim == UINT32_MAX)
            return;
        if (runs[i].blocks == 0 || runs[i].chunk != s->victim)
            continue;
        moved += runs[i].blocks;
        if (!move_run(s, &runs[i]))
            return;
    }
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
