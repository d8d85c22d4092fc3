/* SPDX-License-Identifier: MIT */
/*
 * scalable_grow.c - how large a segment is, and how it is rebuilt.
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
#include "filter/kinds/scalable_impl.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"

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

uint32_t scalable_rung(const struct scalable *c, uint32_t s, uint32_t blocks,
                       uint64_t keys)
{
    do
        blocks = rung_above(s, blocks);
    while (scalable_room(c, blocks) < keys && blocks < UINT32_MAX);
    return blocks;
}

void scalable_set_run(struct scalable *c, uint32_t s, struct slab_run run,
                      unsigned k, uint32_t count)
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
double scalable_load(const struct scalable *c, uint32_t s)
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

void scalable_build_visit(void *to, const uint64_t *keys, size_t n)
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
enum status scalable_keys_of(struct scalable *c, uint32_t s,
                             void (*visit)(void *, const uint64_t *, size_t),
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

void scalable_replace(struct scalable *c, const struct scalable_building *b,
                      uint64_t count)
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

void scalable_grow(struct scalable *c, uint32_t s, const uint64_t *keys,
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
