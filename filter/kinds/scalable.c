/* SPDX-License-Identifier: MIT */
/*
 * scalable.c - hash-prefix segments, each rebuilt alone as it fills.
 *
 *     key:  63 .. 52     51 .. 0, times the segment's blocks    times C1, C2
 *           segment      block                                  bits in it
 *
 * A chain of ever larger filters (bloom.c) reads each of its layers and pays
 * for the sum of their rates: 121 ns a batched miss and 48 bits a key after ten
 * layers, against 14 ns and 16 bits here, where a question reads one entry of a
 * 64 KiB table and one block at any size. The price is that a full segment
 * needs its keys again (struct filter_source) to be built 1.125 times as large;
 * with 4096 segments that is some 0.1 ms of work at a time.
 *
 * Segments are at different points between two rebuilds: their sizes are rungs
 * of 4096 interleaved ladders, so that they are never all full at once. The
 * mean over all segments, not each single one, keeps the promised rate.
 *
 * The saving thread copies one segment at a time under `moving`; the owner
 * takes it only to swap a segment or to move some, never to set bits.
 */

#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/mem.h"
#include "base/status.h"
#include "filter/block.h"
#include "filter/key_store.h"
#include "filter/kind.h"
#include "filter/sizing.h"

/*
 * Memory for runs of blocks that are replaced by longer ones.
 *
 * A growing filter gives back a run of blocks each time it takes a longer one,
 * so a freed run never fits the next request: malloc would hold up to a third
 * more than is used. Here runs are cut one after the other from large chunks;
 * when more than 1/SLAB_WASTE of all memory is dead, the runs of the chunk with
 * the largest dead share are copied elsewhere, a few at a time, and the chunk
 * is used again (Rosenblum & Ousterhout, The Design and Implementation of a
 * Log-Structured File System, 1992, section 3).
 *
 * One thread at a time; runs move in slab_tidy() only.
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

#define SLAB_WASTE 40

/* A run of `blocks` 64-byte blocks at `at`, 64-byte aligned; no run if `blocks`
 * is 0. */
struct slab_run {
    uint64_t *at;
    uint32_t blocks;
    uint32_t chunk;
};

struct slab_chunk {
    uint64_t *at;        /* NULL: unused entry */
    uint32_t size, used; /* in blocks; cut off so far */
    uint32_t live;       /* of those, in runs still in use */
    bool huge;           /* the kernel was asked for huge pages, and agreed */
};

struct slab {
    struct slab_chunk *chunks;
    uint32_t count;
    uint32_t current[2];  /* chunks being cut: for new runs, for moved ones */
    uint32_t victim;      /* the chunk being emptied */
    uint64_t most, total; /* blocks: allowed, and held in chunks */
    uint64_t used, live;  /* of those: cut off, and in runs */
};

#define CHUNK_LEAST (UINT32_C(16384) / BLOCK_BYTES)
#define CHUNK_MOST  ((UINT32_C(4) << 20) / BLOCK_BYTES)
#define CHUNK_HUGE  ((UINT32_C(2) << 20) / BLOCK_BYTES)

/* `most_blocks`: the most it ever holds; 0: no limit. */
static void slab_init(struct slab *s, uint64_t most_blocks)
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

static void slab_fini(struct slab *s)
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

/* Store a zeroed run in *out. STATUS_NOMEM; STATUS_LIMIT: over most_blocks. */
static enum status slab_take(struct slab *s, uint32_t blocks,
                             struct slab_run *out)
{
    enum status st = slab_cut(s, blocks, 0, out);

    if (st == STATUS_OK)
        memset(out->at, 0, (size_t)blocks * BLOCK_BYTES);
    return st;
}

/* Give a run back; *run is no run afterwards. */
static void slab_give(struct slab *s, struct slab_run *run)
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

/* If too much memory is dead, move a few runs, about four a call. `runs` are
 * all runs taken and not given back. */
static void slab_tidy(struct slab *s, struct slab_run *runs, size_t n)
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

/* Is there a chunk of 2 MiB or more, and is every such chunk in huge pages? */
static bool slab_huge(const struct slab *s)
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

#define SCALABLE_SEGMENTS KEY_STORE_PARTS
#define SCALABLE_GROWTH   1.125
#define SCALABLE_NEVER    UINT32_MAX

struct scalable {
    struct filter base;
    struct slab_run runs[SCALABLE_SEGMENTS];
    uint32_t
        count[SCALABLE_SEGMENTS]; /* fresh keys; the saving thread reads them */
    uint32_t limit[SCALABLE_SEGMENTS]; /* rebuilt when count passes it */
    bool starving[SCALABLE_SEGMENTS], lost[SCALABLE_SEGMENTS];
    struct slab slab;
    pthread_mutex_t moving;
    struct key_store *key_store; /* NULL: the caller's source has the keys */
    struct filter_source source;
    double load; /* keys a block when a segment is full */
    unsigned k;  /* of segments that have all the memory they need */
    /* Where memory is short, fewer marks a key give fewer errors. */
    uint8_t k_of[SCALABLE_SEGMENTS];
    uint32_t thin; /* segments whose k is not `k` */
    uint64_t rebuilds, starved, n_lost;
    bool reduced;
    struct sizing_curve
        curves[SIZING_MOST_K / 4 + 1]; /* by k / 4; k of 0: not yet made */
};

static inline uint32_t scalable_segment(uint64_t key)
{
    return key_store_part(key);
}

static inline uint64_t *scalable_block(const struct slab_run *r, uint64_t key)
{
    return r->at + block_index(key << KEY_STORE_BITS, r->blocks) * BLOCK_LANES;
}

/* A segment being built, visible to no other code yet. */
struct scalable_building {
    uint32_t segment;
    struct slab_run run;
    unsigned k;
    uint64_t seen, fresh; /* keys set, and those of them that changed a bit */
};

/*
 * How large a segment is, and how it is rebuilt.
 *
 * Sizes are rungs of a ladder 1.125^(j + phase), whose phase differs from
 * segment to segment. Otherwise all would be full at one moment, and the rate
 * would swing between half and one and a quarter of its average.
 *
 * A new segment is built in private memory and put in place in one step. If
 * that fails, the old one stays in use, overfull: without memory or a source
 * the rate suffers, but no key is lost. Once the filter has reached its memory
 * limit, a segment is rebuilt in place when fewer marks a key are better: 4
 * instead of 8 below some 9 bits a key.
 */

#define FILL_SAMPLE 16 /* blocks of a segment sampled for its load */

/* ---- sizes ---- */

static uint32_t scalable_room(const struct scalable *c, uint32_t blocks)
{
    double keys = blocks * c->load;

    return keys < SCALABLE_NEVER ? (uint32_t)keys : SCALABLE_NEVER - 1;
}

/* The least rung of segment s's ladder above `blocks`. */
static uint32_t rung_above(uint32_t s, uint32_t blocks)
{
    /* Multiples of the golden ratio spread evenly over [0, 1). */
    double phase = (double)(uint32_t)(s * UINT32_C(2654435769)) / 4294967296.0;
    double step =
        floor(log(fmax(blocks, 1)) / log(SCALABLE_GROWTH) - phase) - 1;
    double rung;

    do
        rung = ceil(pow(SCALABLE_GROWTH, ++step + phase) - 1e-9);
    while (rung <= blocks);
    return rung < UINT32_MAX ? (uint32_t)rung : UINT32_MAX;
}

/* The next size of segment s in blocks: a rung above `blocks`, with room for
 * `keys`. */
static uint32_t scalable_rung(const struct scalable *c, uint32_t s,
                              uint32_t blocks, uint64_t keys)
{
    do
        blocks = rung_above(s, blocks);
    while (scalable_room(c, blocks) < keys && blocks < UINT32_MAX);
    return blocks;
}

/* Make `run` the segment's blocks, with `k` marks a key and `count` keys in
 * it. */
static void scalable_set_run(struct scalable *c, uint32_t s,
                             struct slab_run run, unsigned k, uint32_t count)
{
    struct sizing_curve *curve = &c->curves[k / 4];

    if (curve->k == 0)
        sizing_curve_init(curve, k, BLOCK_CELLS, c->load);
    c->thin -= c->k_of[s] != 0 && c->k_of[s] != c->k;
    c->thin += k != c->k;
    c->k_of[s] = (uint8_t)k;
    c->runs[s] = run;
    __atomic_store_n(&c->count[s], count, __ATOMIC_RELAXED);
    c->limit[s] = scalable_room(c, run.blocks);
}

/* Past a segment's limit most keys change no bit and are not counted, so there
 * the load is estimated from a sample of its blocks. */
static double scalable_load(const struct scalable *c, uint32_t s)
{
    const struct slab_run *r = &c->runs[s];
    uint32_t sample = r->blocks < FILL_SAMPLE ? r->blocks : FILL_SAMPLE;
    uint64_t set = 0;

    if (c->count[s] <= scalable_room(c, r->blocks))
        return (double)c->count[s] / r->blocks;
    for (uint32_t i = 0; i < sample * BLOCK_LANES; i++)
        set += (uint64_t)__builtin_popcountll(r->at[i]);
    return sizing_block_load_of_fill(c->k_of[s], BLOCK_CELLS,
                                     (double)set / (sample * BLOCK_BYTES * 8));
}

/* ---- building one segment anew ---- */

static void scalable_build_visit(void *to, const uint64_t *keys, size_t n)
{
    struct scalable_building *b = to;
    uint64_t *at[BLOCK_WINDOW], own[BLOCK_WINDOW];
    bool new[BLOCK_WINDOW];
    size_t w = 0;

    for (size_t i = 0; i < n; i++) {
        if (scalable_segment(keys[i]) == b->segment) {
            own[w] = keys[i];
            at[w] = scalable_block(&b->run, keys[i]);
            __builtin_prefetch(at[w++]);
        }
        if (w == BLOCK_WINDOW || i + 1 == n) {
            block_set(b->k, at, own, w, new);
            b->seen += w;
            for (size_t j = 0; j < w; j++)
                b->fresh += new[j];
            w = 0;
        }
    }
}

/* Reading stored keys sorts them, so the saving thread must not read them
 * meanwhile. */
static enum status scalable_keys_of(struct scalable *c, uint32_t s,
                                    void (*visit)(void *, const uint64_t *,
                                                  size_t),
                                    void *to)
{
    uint64_t first = (uint64_t)s << (64 - KEY_STORE_BITS);
    enum status st;

    if (c->source.keys_of == NULL)
        return STATUS_NOT_FOUND;
    if (c->key_store != NULL)
        pthread_mutex_lock(&c->moving);
    st = c->source.keys_of(c->source.ctx, first,
                           first | (UINT64_MAX >> KEY_STORE_BITS), visit, to);
    if (c->key_store != NULL)
        pthread_mutex_unlock(&c->moving);
    return st;
}

static uint32_t clamp_count(uint64_t count)
{
    return count < SCALABLE_NEVER ? (uint32_t)count : SCALABLE_NEVER - 1;
}

/* Replace the segment by the one that was built, with `count` keys in it. */
static void scalable_replace(struct scalable *c,
                             const struct scalable_building *b, uint64_t count)
{
    struct slab_run old = c->runs[b->segment];

    pthread_mutex_lock(&c->moving);
    scalable_set_run(c, b->segment, b->run, b->k, clamp_count(count));
    if (old.blocks > 0)
        slab_give(&c->slab, &old);
    slab_tidy(&c->slab, c->runs, SCALABLE_SEGMENTS);
    pthread_mutex_unlock(&c->moving);
    c->rebuilds++;
}

/* Leave the segment as it is and try again an eighth later: until then it
 * answers "maybe" more often than promised, which costs time, never a key. */
static void starve(struct scalable *c, uint32_t s, enum status why)
{
    uint64_t next = (uint64_t)c->count[s] + c->count[s] / 8 + 1;

    c->limit[s] = next < SCALABLE_NEVER ? (uint32_t)next : SCALABLE_NEVER;
    if (why == STATUS_LIMIT)
        c->reduced = true;
    else if (!c->starving[s])
        c->starved++;
    c->starving[s] |= why != STATUS_LIMIT;
}

/* Set all keys of b's segment and store their number in *count. `keys` are
 * those of the current call so far, which the caller's source may not have
 * yet. */
static enum status build(struct scalable *c, struct scalable_building *b,
                         const uint64_t *keys, size_t n, uint64_t *count)
{
    enum status st = scalable_keys_of(c, b->segment, scalable_build_visit, b);

    *count = b->seen;
    if (c->key_store == NULL) {
        b->fresh = 0;
        scalable_build_visit(b, keys, n);
        *count += b->fresh;
    }
    /* There are fewer keys than were counted: the source has lost some. One or
     * two may be false positives of the new blocks. */
    if (st == STATUS_OK && *count + 2 < c->count[b->segment])
        st = STATUS_DAMAGED;
    return st;
}

/* Rebuild segment s in the memory it has, with fewer marks a key, if that makes
 * fewer errors: the more keys share a bit, the less a set bit tells. */
static void make_thinner(struct scalable *c, uint32_t s, const uint64_t *keys,
                         size_t n)
{
    struct slab_run run = c->runs[s];
    size_t bytes = (size_t)run.blocks * BLOCK_BYTES;
    struct scalable_building b = {.segment = s, .run = run};
    double load = scalable_load(c, s) * 1.125; /* load at the next try */
    unsigned k = c->k_of[s];
    uint64_t count = 0;

    if (k <= 4 || sizing_block_rate(k - 4, BLOCK_CELLS, load) >=
                      sizing_block_rate(k, BLOCK_CELLS, load))
        return;
    b.k = k - 4;
    b.run.at = try_pages(bytes, NULL);
    if (b.run.at == NULL)
        return;
    if (build(c, &b, keys, n, &count) == STATUS_OK) {
        pthread_mutex_lock(&c->moving);
        memcpy(run.at, b.run.at, bytes);
        scalable_set_run(c, s, run, b.k, clamp_count(count));
        pthread_mutex_unlock(&c->moving);
        c->rebuilds++;
    }
    mem_free_pages(b.run.at, bytes);
}

/* Rebuild segment s larger; if that fails it stays, and answers "maybe" more
 * often. `keys` are those of the current call so far. */
static void scalable_grow(struct scalable *c, uint32_t s, const uint64_t *keys,
                          size_t n)
{
    struct scalable_building b = {.segment = s, .k = c->k};
    uint64_t count = 0;
    enum status st = STATUS_NOT_FOUND;

    if (c->source.keys_of != NULL)
        st = slab_take(&c->slab,
                       scalable_rung(c, s, c->runs[s].blocks, c->count[s]),
                       &b.run);
    if (st == STATUS_LIMIT)
        make_thinner(c, s, keys, n);
    if (st == STATUS_OK) {
        st = build(c, &b, keys, n, &count);
        if (st != STATUS_OK)
            slab_give(&c->slab, &b.run);
    }
    if (st != STATUS_OK) {
        starve(c, s, st);
        return;
    }
    c->starved -= c->starving[s];
    c->starving[s] = false;
    scalable_replace(c, &b, count);
}

/* Segments are sized for this share of the promised rate; the rest allows for
 * the uncertainty of a measurement. A full segment then stands at 1.14 p. */
#define AIM 0.84

enum { GROUP = SCALABLE_SEGMENTS / FILTER_GROUPS }; /* of group_fill */

/* ---- making ---- */

static void scalable_free(struct filter *f)
{
    struct scalable *c = (struct scalable *)f;

    slab_fini(&c->slab);
    key_store_free(c->key_store);
    pthread_mutex_destroy(&c->moving);
    free(c);
}

/* Make an empty filter without segments. `whole`: its key store, if it has one,
 * is complete while empty. */
static enum status scalable_new_empty(struct scalable **out,
                                      const struct filter_options *o,
                                      unsigned k, bool whole)
{
    struct scalable *c = try_calloc(1, sizeof *c);

    if (c == NULL)
        return STATUS_NOMEM;
    if (o->source.keys_of == NULL && !o->keep_nothing &&
        key_store_new(&c->key_store, whole) != STATUS_OK) {
        free(c);
        return STATUS_NOMEM;
    }
    c->base.ops = &scalable_ops;
    c->base.opt = *o;
    c->source =
        c->key_store != NULL ? key_store_source(c->key_store) : o->source;
    c->k = k;
    c->load =
        sizing_growing_load(k, BLOCK_CELLS, AIM * o->fpr, SCALABLE_GROWTH);
    slab_init(&c->slab, o->most_bytes / BLOCK_BYTES);
    pthread_mutex_init(&c->moving, NULL);
    *out = c;
    return STATUS_OK;
}

static enum status scalable_take_all(struct scalable *c, double keys)
{
    for (uint32_t s = 0; s < SCALABLE_SEGMENTS; s++) {
        struct slab_run run;
        enum status st =
            slab_take(&c->slab, scalable_rung(c, s, 0, (uint64_t)ceil(keys)),
                      &run);

        if (st != STATUS_OK)
            return st;
        scalable_set_run(c, s, run, c->k, 0);
    }
    return STATUS_OK;
}

static enum status scalable_make(struct filter **out,
                                 const struct filter_options *o)
{
    struct scalable *c = NULL;
    double load, keys = (double)o->expect / SCALABLE_SEGMENTS;
    enum status st =
        scalable_new_empty(&c, o, sizing_block_best(BLOCK_CELLS, o->fpr, &load),
                           true);

    if (st != STATUS_OK)
        return st;
    while ((st = scalable_take_all(c, keys)) == STATUS_LIMIT && keys >= 1) {
        slab_fini(&c->slab);
        slab_init(&c->slab, o->most_bytes / BLOCK_BYTES);
        keys *= 0.9;
        c->reduced = true;
    }
    if (st != STATUS_OK) {
        scalable_free(&c->base);
        return st;
    }
    *out = &c->base;
    return STATUS_OK;
}

/* ---- adding and asking ---- */

static void scalable_place(const struct scalable *c, const uint64_t *keys,
                           size_t n, uint64_t **at)
{
    for (size_t i = 0; i < n; i++) {
        at[i] = scalable_block(&c->runs[scalable_segment(keys[i])], keys[i]);
        __builtin_prefetch(at[i]);
    }
}

/* Apply block_set or block_test to a window. Segments rarely differ in k. */
static void scalable_mark(const struct scalable *c, uint64_t *const *at,
                          const uint64_t *keys, size_t n, bool *out,
                          void (*what)(unsigned k, uint64_t *const *at,
                                       const uint64_t *keys, size_t n,
                                       bool *out))
{
    if (c->thin == 0) {
        what(c->k, at, keys, n, out);
        return;
    }
    for (size_t i = 0; i < n; i++)
        what(c->k_of[scalable_segment(keys[i])], at + i, keys + i, 1, out + i);
}

static void scalable_keep(struct scalable *c, const uint64_t *keys,
                          const bool *new, size_t n)
{
    pthread_mutex_lock(&c->moving);
    for (size_t i = 0; i < n; i++)
        key_store_add(c->key_store, keys[i], new[i]);
    pthread_mutex_unlock(&c->moving);
}

/* Count a window's fresh keys; true: some segment is over its limit now. */
static bool count_fresh(struct scalable *c, const uint64_t *keys,
                        const bool *new, size_t n)
{
    bool over = false;

    for (size_t i = 0; i < n; i++) {
        uint32_t s = scalable_segment(keys[i]);
        uint32_t count = c->count[s] + new[i];

        __atomic_store_n(&c->count[s], count, __ATOMIC_RELAXED);
        over |= count > c->limit[s];
    }
    return over;
}

static enum status scalable_add(struct filter *f, const uint64_t *keys,
                                size_t n, bool *fresh)
{
    struct scalable *c = (struct scalable *)f;
    uint64_t *at[BLOCK_WINDOW];
    bool own[BLOCK_WINDOW];

    for (size_t i = 0; i < n; i += BLOCK_WINDOW) {
        size_t w = block_window(n - i);
        bool *new = fresh != NULL ? fresh + i : own;

        scalable_place(c, keys + i, w, at);
        scalable_mark(c, at, keys + i, w, new, block_set);
        if (c->key_store != NULL)
            scalable_keep(c, keys + i, new, w);
        if (!count_fresh(c, keys + i, new, w))
            continue;
        for (size_t j = i; j < i + w; j++) {
            uint32_t s = scalable_segment(keys[j]);

            if (c->count[s] > c->limit[s])
                scalable_grow(c, s, keys, i + w);
        }
    }
    if (c->starved > 0)
        return filter_say_overfull(f, "segments without keys or memory");
    return c->reduced ? filter_say_overfull(f, "memory share reached")
                      : STATUS_OK;
}

static void scalable_check(const struct filter *f, const uint64_t *keys,
                           size_t n, bool *maybe)
{
    const struct scalable *c = (const struct scalable *)f;
    uint64_t *at[BLOCK_WINDOW];

    for (size_t i = 0; i < n; i += BLOCK_WINDOW) {
        size_t w = block_window(n - i);

        scalable_place(c, keys + i, w, at);
        scalable_mark(c, at, keys + i, w, maybe + i, block_test);
    }
}

/* ---- merging, stats ---- */

static bool same_sizes(const struct scalable *a, const struct scalable *b)
{
    for (uint32_t s = 0; s < SCALABLE_SEGMENTS; s++)
        if (a->runs[s].blocks != b->runs[s].blocks || a->k_of[s] != b->k_of[s])
            return false;
    return true;
}

/* If the other filter stores its keys, they are simply added. If not, segments
 * of equal size can still be merged bit by bit; our own source then has to know
 * those keys too when one of the segments grows. */
static enum status scalable_merge(struct filter *into,
                                  const struct filter *from)
{
    struct scalable *a = (struct scalable *)into;
    const struct scalable *b = (const struct scalable *)from;

    if (into->opt.fpr != from->opt.fpr)
        return STATUS_ARG;
    if (b->key_store != NULL)
        return filter_add_from(into, &b->source);
    if (a->key_store != NULL || !same_sizes(a, b))
        return STATUS_ARG;
    for (uint32_t s = 0; s < SCALABLE_SEGMENTS; s++) {
        const struct slab_run *x = &a->runs[s], *y = &b->runs[s];
        size_t words = (size_t)x->blocks * BLOCK_LANES;
        uint64_t set = 0;
        double load;

        for (size_t i = 0; i < words; i++) {
            uint64_t both = x->at[i] | y->at[i];

            set += (uint64_t)__builtin_popcountll(both);
            __atomic_store_n(x->at + i, both, __ATOMIC_RELAXED);
        }
        load = sizing_block_load_of_fill(a->k_of[s], BLOCK_CELLS,
                                         (double)set / ((double)words * 64));
        __atomic_store_n(&a->count[s], (uint32_t)(load * x->blocks + 0.5),
                         __ATOMIC_RELAXED);
    }
    return STATUS_OK;
}

/* A cache of the rate and fill that go with a load. Segments of a young filter
 * hold a few keys each, so most loads come up again and again, and at such
 * loads the rate is a long sum. The odd factor spreads whole numbers and simple
 * fractions over the table. */
struct known_load {
    unsigned k; /* 0: empty entry */
    double load, rate, fill;
};

#define KNOWN_LOADS 256

static struct known_load load_of(const struct scalable *c,
                                 struct known_load *known, uint32_t s)
{
    unsigned k = c->k_of[s];
    double load = scalable_load(c, s);
    struct known_load *l = &known[(size_t)(load * 61) % KNOWN_LOADS];

    if (l->k != k || l->load != load)
        *l = (struct known_load){k, load,
                                 sizing_curve_rate(&c->curves[k / 4], load),
                                 sizing_block_fill(k, BLOCK_CELLS, load)};
    return *l;
}

static void scalable_stats(const struct filter *f, struct filter_stats *out)
{
    static const struct known_load lost = {.rate = 1, .fill = 1};
    const struct scalable *c = (const struct scalable *)f;
    struct known_load known[KNOWN_LOADS] = {0};
    double rate = 0, fill = 0;

    for (uint32_t s = 0; s < SCALABLE_SEGMENTS; s++) {
        struct known_load l = c->lost[s] ? lost : load_of(c, known, s);

        out->count += (uint64_t)(l.load * c->runs[s].blocks + 0.5);
        rate += l.rate;
        fill += l.fill;
        out->group_fill[s / GROUP] += (float)(l.fill / (double)GROUP);
    }
    out->groups = FILTER_GROUPS;
    out->bits = c->slab.total * BLOCK_BYTES * 8 + sizeof c->runs * 8;
    out->key_bits =
        c->key_store != NULL ? key_store_bytes(c->key_store) * 8 : 0;
    out->fill = fill / SCALABLE_SEGMENTS;
    out->fpr_predicted = rate / SCALABLE_SEGMENTS;
    out->k = c->k;
    out->segments = SCALABLE_SEGMENTS;
    out->rebuilds = c->rebuilds;
    out->starved = c->starved;
    out->lost = c->n_lost;
    out->reduced = c->reduced;
    out->huge_pages = slab_huge(&c->slab);
}

/* ---- a scalable filter's way into a file and back ----
 *
 * Units 0 to 4095 are its segments; then follow the stored keys of each
 * segment, if the filter stores keys. A damaged segment is rebuilt from its
 * keys; a segment whose keys are damaged still answers, but cannot grow.
 */

static uint64_t scalable_shape(const struct filter *f,
                               uint64_t shape[FILTER_SHAPE])
{
    const struct scalable *c = (const struct scalable *)f;

    shape[0] = SCALABLE_SEGMENTS;
    shape[1] = c->k;
    return c->key_store != NULL ? 2 * SCALABLE_SEGMENTS : SCALABLE_SEGMENTS;
}

static enum status scalable_get_unit(struct filter *f, uint64_t i,
                                     struct buf *to, uint64_t meta[FILTER_META])
{
    struct scalable *c = (struct scalable *)f;
    uint32_t s = (uint32_t)(i % SCALABLE_SEGMENTS);
    enum status st = STATUS_OK;

    pthread_mutex_lock(&c->moving);
    if (i < SCALABLE_SEGMENTS) {
        meta[0] = c->runs[s].blocks;
        meta[1] = __atomic_load_n(&c->count[s], __ATOMIC_RELAXED);
        meta[2] = c->lost[s] ? 0 : c->k_of[s];
        st = block_append(to, c->runs[s].at,
                          (size_t)c->runs[s].blocks * BLOCK_LANES);
    } else {
        st = key_store_save(c->key_store, s, to, &meta[0]);
    }
    pthread_mutex_unlock(&c->moving);
    return st;
}

static enum status scalable_make_shaped(struct filter **out,
                                        const struct filter_options *o,
                                        const uint64_t shape[FILTER_SHAPE],
                                        uint64_t units, uint64_t most)
{
    struct scalable *c = NULL;
    struct filter_options own = *o;
    enum status st;

    (void)most; /* memory is taken as units are put */
    if (shape[0] != SCALABLE_SEGMENTS || shape[1] < 4 ||
        shape[1] > SIZING_MOST_K || shape[1] % 4 != 0 ||
        (units != SCALABLE_SEGMENTS && units != 2 * SCALABLE_SEGMENTS))
        return STATUS_FORMAT;
    own.keep_nothing = units == SCALABLE_SEGMENTS;
    st = scalable_new_empty(&c, &own, (unsigned)shape[1], false);
    if (st == STATUS_OK)
        *out = &c->base;
    return st;
}

static enum status put_segment(struct scalable *c, uint32_t s,
                               struct bytes from, const uint64_t *meta)
{
    struct slab_run run;
    enum status st;

    if (meta[0] < 1 || meta[0] > UINT32_MAX || meta[1] > UINT32_MAX - 1 ||
        meta[2] > SIZING_MOST_K || meta[2] % 4 != 0 ||
        from.len / BLOCK_BYTES != meta[0] || from.len % BLOCK_BYTES != 0)
        return STATUS_DAMAGED;
    if (meta[2] == 0)
        return STATUS_DAMAGED; /* was lost before: try to mend it now */
    st = slab_take(&c->slab, (uint32_t)meta[0], &run);
    if (st != STATUS_OK)
        return st;
    block_import(run.at, (const unsigned char *)from.at,
                 (size_t)meta[0] * BLOCK_LANES);
    scalable_set_run(c, s, run, (unsigned)meta[2], (uint32_t)meta[1]);
    return STATUS_OK;
}

static enum status scalable_put_unit(struct filter *f, uint64_t i,
                                     struct bytes from,
                                     const uint64_t meta[FILTER_META])
{
    struct scalable *c = (struct scalable *)f;

    if (i < SCALABLE_SEGMENTS)
        return put_segment(c, (uint32_t)i, from, meta);
    if (c->key_store == NULL)
        return STATUS_OK; /* the caller's source has them */
    if (meta[0] != 1)
        return STATUS_DAMAGED;
    return key_store_put(c->key_store, (uint32_t)(i - SCALABLE_SEGMENTS), from);
}

static void count_visit(void *to, const uint64_t *keys, size_t n)
{
    (void)keys;
    *(uint64_t *)to += n;
}

static enum status scalable_mend_unit(struct filter *f, uint64_t i)
{
    struct scalable *c = (struct scalable *)f;
    uint32_t s = (uint32_t)i;
    struct scalable_building b = {.segment = s, .k = c->k};
    uint64_t keys = 0;
    enum status st;

    if (i >= SCALABLE_SEGMENTS)
        return STATUS_NOT_FOUND; /* the segment answers, but cannot grow */
    st = scalable_keys_of(c, s, count_visit, &keys);
    if (st == STATUS_OK)
        st = slab_take(&c->slab, scalable_rung(c, s, 0, keys), &b.run);
    if (st == STATUS_OK) {
        st = scalable_keys_of(c, s, scalable_build_visit, &b);
        if (st == STATUS_OK) {
            scalable_replace(c, &b, b.seen);
            return STATUS_OK;
        }
        slab_give(&c->slab, &b.run);
    }
    st = slab_take(&c->slab, 1, &b.run);
    if (st != STATUS_OK)
        return st;
    memset(b.run.at, 0xff, BLOCK_BYTES);
    scalable_set_run(c, s, b.run, c->k, 0);
    c->limit[s] = SCALABLE_NEVER;
    c->lost[s] = true;
    c->n_lost++;
    return STATUS_NOT_FOUND;
}

static enum status scalable_loaded(struct filter *f)
{
    struct scalable *c = (struct scalable *)f;

    for (uint32_t s = 0; s < SCALABLE_SEGMENTS; s++)
        if (c->runs[s].blocks == 0)
            return STATUS_DAMAGED;
    return STATUS_OK;
}

const struct filter_ops scalable_ops = {
    .traits = {.name = "scalable",
               .summary = "grows segment by segment, one cache line a question",
               .grows = true,
               .needs_keys = true},
    .make = scalable_make,
    .free = scalable_free,
    .add = scalable_add,
    .check = scalable_check,
    .merge = scalable_merge,
    .stats = scalable_stats,
    .file_version = 1,
    .shape = scalable_shape,
    .get_unit = scalable_get_unit,
    .make_shaped = scalable_make_shaped,
    .put_unit = scalable_put_unit,
    .mend_unit = scalable_mend_unit,
    .loaded = scalable_loaded,
};
