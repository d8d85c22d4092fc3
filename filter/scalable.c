/* SPDX-License-Identifier: MIT */
/*
 * scalable.c - hash-prefix segments, each rebuilt alone as it fills.
 *
 *     key:  63 .. 52     51 .. 0, times the segment's blocks    times C1, C2
 *           segment      block                                  bits in it
 *
 * A chain of ever larger filters (stacked.c) asks each of its layers and pays
 * for the sum of their rates: 121 ns a batched miss and 48 bits a key after ten
 * layers, against 14 ns and 16 bits here, where a question reads one entry of a
 * 64 KiB table and one block whatever the size. The price is that a full
 * segment needs its keys again (struct filter_source) to be built 1.125 times
 * as large; with 4096 segments that is some 0.1 ms of work at a time.
 *
 * Segments stand at different points between two rebuilds: their sizes are
 * rungs of 4096 interleaved ladders, so that the mean over all of them, not
 * each single one, keeps the promise, and no moment sees all of them full.
 *
 * The saving thread copies one segment at a time under `moving`; the owner
 * takes it only to swap a segment or to move some, never to set bits.
 */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "filter/block.h"
#include "filter/kept.h"
#include "filter/kind.h"
#include "filter/sizing.h"
#include "filter/slab.h"

#define SEGMENTS KEPT_PARTS
#define GROWTH   1.125
/* Sized for this share of the promise: what is left makes room for the
 * interval of a measurement. A full segment then stands at 1.14 p. */
#define AIM         0.84
#define NEVER       UINT32_MAX
#define FILL_SAMPLE 16 /* blocks of a segment looked at for filter_stats() */

struct scalable {
    struct filter base;
    struct slab_run runs[SEGMENTS];
    uint32_t count[SEGMENTS]; /* fresh keys; the saving thread reads them */
    uint32_t limit[SEGMENTS]; /* rebuilt when count passes it */
    bool starving[SEGMENTS], lost[SEGMENTS];
    struct slab slab;
    pthread_mutex_t moving;
    struct kept *kept; /* NULL: the caller's source has the keys */
    struct filter_source source;
    double load; /* keys a block when a segment is full */
    unsigned k;
    uint64_t rebuilds, starved, n_lost;
    bool reduced;
    struct sizing_curve curve;
};

static uint32_t segment_of(uint64_t key)
{
    return kept_part(key);
}

static uint64_t *block_of(const struct slab_run *r, uint64_t key)
{
    return r->at + block_index(key << KEPT_BITS, r->blocks) * BLOCK_LANES;
}

/* ---- sizes ---- */

static uint32_t room_for(const struct scalable *c, uint32_t blocks)
{
    double keys = blocks * c->load;

    return keys < NEVER ? (uint32_t)keys : NEVER - 1;
}

/* The least rung of segment s's ladder above `blocks`. */
static uint32_t rung_above(uint32_t s, uint32_t blocks)
{
    /* Multiples of the golden ratio spread evenly over [0, 1). */
    double phase = (double)(uint32_t)(s * UINT32_C(2654435769)) / 4294967296.0;
    double step = floor(log(fmax(blocks, 1)) / log(GROWTH) - phase) - 1;
    double rung;

    do
        rung = ceil(pow(GROWTH, ++step + phase) - 1e-9);
    while (rung <= blocks);
    return rung < UINT32_MAX ? (uint32_t)rung : UINT32_MAX;
}

static uint32_t rung_for(const struct scalable *c, uint32_t s, uint32_t blocks,
                         uint64_t keys)
{
    do
        blocks = rung_above(s, blocks);
    while (room_for(c, blocks) < keys && blocks < UINT32_MAX);
    return blocks;
}

/* ---- making ---- */

static void scalable_free(struct filter *f)
{
    struct scalable *c = (struct scalable *)f;

    slab_fini(&c->slab);
    kept_free(c->kept);
    pthread_mutex_destroy(&c->moving);
    free(c);
}

static enum status new_empty(struct scalable **out,
                             const struct filter_options *o, unsigned k,
                             bool whole)
{
    struct scalable *c = try_calloc(1, sizeof *c);

    if (c == NULL)
        return STATUS_NOMEM;
    if (o->source.keys_of == NULL && !o->keep_nothing &&
        kept_new(&c->kept, whole) != STATUS_OK) {
        free(c);
        return STATUS_NOMEM;
    }
    c->base.ops = &scalable_ops;
    c->base.opt = *o;
    c->source = c->kept != NULL ? kept_source(c->kept) : o->source;
    c->k = k;
    c->load = sizing_growing_load(k, BLOCK_CELLS, AIM * o->fpr, GROWTH);
    sizing_curve_init(&c->curve, k, BLOCK_CELLS, c->load);
    slab_init(&c->slab, o->most_bytes / BLOCK_BYTES);
    pthread_mutex_init(&c->moving, NULL);
    *out = c;
    return STATUS_OK;
}

static void set_run(struct scalable *c, uint32_t s, struct slab_run run,
                    uint32_t count)
{
    c->runs[s] = run;
    __atomic_store_n(&c->count[s], count, __ATOMIC_RELAXED);
    c->limit[s] = room_for(c, run.blocks);
}

static enum status take_all(struct scalable *c, double keys)
{
    for (uint32_t s = 0; s < SEGMENTS; s++) {
        struct slab_run run;
        enum status st =
            slab_take(&c->slab, rung_for(c, s, 0, (uint64_t)ceil(keys)), &run);

        if (st != STATUS_OK)
            return st;
        set_run(c, s, run, 0);
    }
    return STATUS_OK;
}

static enum status scalable_make(struct filter **out,
                                 const struct filter_options *o)
{
    struct scalable *c = NULL;
    double load, keys = (double)o->expect / SEGMENTS;
    enum status st =
        new_empty(&c, o, sizing_block_best(BLOCK_CELLS, o->fpr, &load), true);

    if (st != STATUS_OK)
        return st;
    while ((st = take_all(c, keys)) == STATUS_LIMIT && keys >= 1) {
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

/* ---- building one segment anew ---- */

/* A segment being built, not yet seen by anybody. */
struct building {
    const struct scalable *filter;
    uint32_t segment;
    struct slab_run run;
    uint64_t seen, fresh; /* keys set, and those of them that changed a bit */
};

static void build_visit(void *to, const uint64_t *keys, size_t n)
{
    struct building *b = to;
    uint64_t *at[BLOCK_WINDOW], own[BLOCK_WINDOW];
    bool new[BLOCK_WINDOW];
    size_t w = 0;

    for (size_t i = 0; i < n; i++) {
        if (segment_of(keys[i]) == b->segment) {
            own[w] = keys[i];
            at[w] = block_of(&b->run, keys[i]);
            __builtin_prefetch(at[w++]);
        }
        if (w == BLOCK_WINDOW || i + 1 == n) {
            block_set(b->filter->k, at, own, w, new);
            b->seen += w;
            for (size_t j = 0; j < w; j++)
                b->fresh += new[j];
            w = 0;
        }
    }
}

/* Kept keys are put in order as they are read, so the saving thread must not
 * read them meanwhile. */
static enum status all_keys_of(struct scalable *c, uint32_t s,
                               void (*visit)(void *, const uint64_t *, size_t),
                               void *to)
{
    uint64_t first = (uint64_t)s << (64 - KEPT_BITS);
    enum status st;

    if (c->source.keys_of == NULL)
        return STATUS_NOT_FOUND;
    if (c->kept != NULL)
        pthread_mutex_lock(&c->moving);
    st = c->source.keys_of(c->source.ctx, first,
                           first | (UINT64_MAX >> KEPT_BITS), visit, to);
    if (c->kept != NULL)
        pthread_mutex_unlock(&c->moving);
    return st;
}

static void replace(struct scalable *c, uint32_t s, struct slab_run run,
                    uint64_t count)
{
    struct slab_run old = c->runs[s];

    pthread_mutex_lock(&c->moving);
    set_run(c, s, run, count < NEVER ? (uint32_t)count : NEVER - 1);
    if (old.blocks > 0)
        slab_give(&c->slab, &old);
    slab_tidy(&c->slab, c->runs, SEGMENTS);
    pthread_mutex_unlock(&c->moving);
    c->rebuilds++;
}

/* Leave the segment as it is and try again an eighth later: until then it
 * answers "maybe" more often than promised, which costs time, never a key. */
static void starve(struct scalable *c, uint32_t s, enum status why)
{
    uint64_t next = (uint64_t)c->count[s] + c->count[s] / 8 + 1;

    c->limit[s] = next < NEVER ? (uint32_t)next : NEVER;
    if (why == STATUS_LIMIT)
        c->reduced = true;
    else if (!c->starving[s])
        c->starved++;
    c->starving[s] |= why != STATUS_LIMIT;
}

/* Set all keys of b's segment; how many there are into *count. `keys` are those
 * of the running call so far, which the caller's source may not have yet. */
static enum status build(struct scalable *c, struct building *b,
                         const uint64_t *keys, size_t n, uint64_t *count)
{
    enum status st = all_keys_of(c, b->segment, build_visit, b);

    *count = b->seen;
    if (c->kept == NULL) {
        b->fresh = 0;
        build_visit(b, keys, n);
        *count += b->fresh;
    }
    /* Fewer than were counted: the source has lost some. One or two may be
     * false positives of the new blocks. */
    if (st == STATUS_OK && *count + 2 < c->count[b->segment])
        st = STATUS_DAMAGED;
    return st;
}

static void grow(struct scalable *c, uint32_t s, const uint64_t *keys, size_t n)
{
    struct building b = {.filter = c, .segment = s};
    uint64_t count = 0;
    enum status st = STATUS_NOT_FOUND;

    if (c->source.keys_of != NULL)
        st = slab_take(&c->slab, rung_for(c, s, c->runs[s].blocks, c->count[s]),
                       &b.run);

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
    replace(c, s, b.run, count);
}

/* ---- adding and asking ---- */

static void place(const struct scalable *c, const uint64_t *keys, size_t n,
                  uint64_t **at)
{
    for (size_t i = 0; i < n; i++) {
        at[i] = block_of(&c->runs[segment_of(keys[i])], keys[i]);
        __builtin_prefetch(at[i]);
    }
}

static void keep(struct scalable *c, const uint64_t *keys, const bool *new,
                 size_t n)
{
    pthread_mutex_lock(&c->moving);
    for (size_t i = 0; i < n; i++)
        kept_add(c->kept, keys[i], new[i]);
    pthread_mutex_unlock(&c->moving);
}

/* Count a window's fresh keys; which segments are over their limit now. */
static size_t count_fresh(struct scalable *c, const uint64_t *keys,
                          const bool *new, size_t n, uint32_t *due)
{
    size_t over = 0;

    for (size_t i = 0; i < n; i++) {
        uint32_t s = segment_of(keys[i]);
        uint32_t count = c->count[s] + new[i];

        __atomic_store_n(&c->count[s], count, __ATOMIC_RELAXED);
        due[over] = s;
        over += count > c->limit[s];
    }
    return over;
}

static enum status scalable_add(struct filter *f, const uint64_t *keys,
                                size_t n, bool *fresh)
{
    struct scalable *c = (struct scalable *)f;
    uint64_t *at[BLOCK_WINDOW];
    uint32_t due[BLOCK_WINDOW];
    bool own[BLOCK_WINDOW];

    for (size_t i = 0; i < n; i += BLOCK_WINDOW) {
        size_t w = block_window(n - i), over;
        bool *new = fresh != NULL ? fresh + i : own;

        place(c, keys + i, w, at);
        block_set(c->k, at, keys + i, w, new);
        if (c->kept != NULL)
            keep(c, keys + i, new, w);
        over = count_fresh(c, keys + i, new, w, due);
        for (size_t j = 0; j < over; j++)
            if (c->count[due[j]] > c->limit[due[j]])
                grow(c, due[j], keys, i + w);
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

        place(c, keys + i, w, at);
        block_test(c->k, at, keys + i, w, maybe + i);
    }
}

/* ---- merging and telling ---- */

static bool same_sizes(const struct scalable *a, const struct scalable *b)
{
    for (uint32_t s = 0; s < SEGMENTS; s++)
        if (a->runs[s].blocks != b->runs[s].blocks)
            return false;
    return a->k == b->k;
}

struct merging {
    struct filter *into;
    enum status st;
};

static void merge_visit(void *to, const uint64_t *keys, size_t n)
{
    struct merging *m = to;
    enum status st = scalable_add(m->into, keys, n, NULL);

    if (st != STATUS_OK)
        m->st = st;
}

/* With the other's keys at hand they are simply added. Without, segments of
 * equal size can still be laid over each other; our own source then has to
 * know those keys too when one of them grows. */
static enum status scalable_merge(struct filter *into,
                                  const struct filter *from)
{
    struct scalable *a = (struct scalable *)into;
    const struct scalable *b = (const struct scalable *)from;
    struct merging m = {into, STATUS_OK};

    if (into->opt.fpr != from->opt.fpr)
        return STATUS_ARG;
    if (b->kept != NULL) {
        enum status st =
            b->source.keys_of(b->source.ctx, 0, UINT64_MAX, merge_visit, &m);

        return st != STATUS_OK ? st : m.st;
    }
    if (a->kept != NULL || !same_sizes(a, b))
        return STATUS_ARG;
    for (uint32_t s = 0; s < SEGMENTS; s++) {
        const struct slab_run *x = &a->runs[s], *y = &b->runs[s];
        size_t words = (size_t)x->blocks * BLOCK_LANES;
        uint64_t set = 0;
        double load;

        for (size_t i = 0; i < words; i++) {
            uint64_t both = x->at[i] | y->at[i];

            set += (uint64_t)__builtin_popcountll(both);
            __atomic_store_n(x->at + i, both, __ATOMIC_RELAXED);
        }
        load = sizing_block_load_of_fill(a->k, BLOCK_CELLS,
                                         (double)set / ((double)words * 64));
        __atomic_store_n(&a->count[s], (uint32_t)(load * x->blocks + 0.5),
                         __ATOMIC_RELAXED);
    }
    return STATUS_OK;
}

/* Keys a block in segment s. Past its limit most keys change no bit and are
 * not counted, so there some of its blocks tell. */
static double load_of(const struct scalable *c, uint32_t s)
{
    const struct slab_run *r = &c->runs[s];
    uint32_t sample = r->blocks < FILL_SAMPLE ? r->blocks : FILL_SAMPLE;
    uint64_t set = 0;

    if (c->count[s] <= room_for(c, r->blocks))
        return (double)c->count[s] / r->blocks;
    for (uint32_t i = 0; i < sample * BLOCK_LANES; i++)
        set += (uint64_t)__builtin_popcountll(r->at[i]);
    return sizing_block_load_of_fill(c->k, BLOCK_CELLS,
                                     (double)set / (sample * BLOCK_BYTES * 8));
}

static void scalable_stats(const struct filter *f, struct filter_stats *out)
{
    const struct scalable *c = (const struct scalable *)f;
    double rate = 0, fill = 0;

    for (uint32_t s = 0; s < SEGMENTS; s++) {
        double load = c->lost[s] ? 0 : load_of(c, s);

        out->count += (uint64_t)(load * c->runs[s].blocks + 0.5);
        rate += c->lost[s] ? 1 : sizing_curve_rate(&c->curve, load);
        fill += c->lost[s] ? 1 : sizing_block_fill(c->k, BLOCK_CELLS, load);
    }
    out->bits = c->slab.total * BLOCK_BYTES * 8 + sizeof c->runs * 8;
    out->key_bits = c->kept != NULL ? kept_bytes(c->kept) * 8 : 0;
    out->fill = fill / SEGMENTS;
    out->fpr_predicted = rate / SEGMENTS;
    out->k = c->k;
    out->segments = SEGMENTS;
    out->rebuilds = c->rebuilds;
    out->starved = c->starved;
    out->lost = c->n_lost;
    out->reduced = c->reduced;
    out->huge_pages = slab_huge(&c->slab);
}

/* ---- saving: units 0..4095 are segments, behind them kept keys if any ---- */

static uint64_t scalable_shape(const struct filter *f,
                               uint64_t shape[FILTER_SHAPE])
{
    const struct scalable *c = (const struct scalable *)f;

    shape[0] = SEGMENTS;
    shape[1] = c->k;
    return c->kept != NULL ? 2 * SEGMENTS : SEGMENTS;
}

static enum status add_words(struct buf *to, const uint64_t *words, size_t n)
{
    char *room = buf_room(to, n * 8);

    if (room == NULL)
        return STATUS_NOMEM;
    block_export((unsigned char *)room, words, n);
    buf_grew(to, n * 8);
    return STATUS_OK;
}

static enum status scalable_get_unit(struct filter *f, uint64_t i,
                                     struct buf *to, uint64_t meta[FILTER_META])
{
    struct scalable *c = (struct scalable *)f;
    uint32_t s = (uint32_t)(i % SEGMENTS);
    enum status st = STATUS_OK;

    pthread_mutex_lock(&c->moving);
    if (i < SEGMENTS) {
        meta[0] = c->runs[s].blocks;
        meta[1] = __atomic_load_n(&c->count[s], __ATOMIC_RELAXED);
        meta[2] = c->lost[s];
        st = add_words(to, c->runs[s].at,
                       (size_t)c->runs[s].blocks * BLOCK_LANES);
    } else {
        const uint64_t *keys;
        size_t n;

        meta[0] = kept_get(c->kept, s, &keys, &n);
        if (meta[0] != 0 && n > 0)
            st = add_words(to, keys, n);
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
    if (shape[0] != SEGMENTS || shape[1] < 4 || shape[1] > SIZING_MOST_K ||
        shape[1] % 4 != 0 || (units != SEGMENTS && units != 2 * SEGMENTS))
        return STATUS_FORMAT;
    own.keep_nothing = units == SEGMENTS;
    st = new_empty(&c, &own, (unsigned)shape[1], false);
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
        meta[2] > 1 || from.len / BLOCK_BYTES != meta[0] ||
        from.len % BLOCK_BYTES != 0)
        return STATUS_DAMAGED;
    if (meta[2] != 0)
        return STATUS_DAMAGED; /* was lost before: try to mend it now */
    st = slab_take(&c->slab, (uint32_t)meta[0], &run);
    if (st != STATUS_OK)
        return st;
    block_import(run.at, (const unsigned char *)from.at,
                 (size_t)meta[0] * BLOCK_LANES);
    set_run(c, s, run, (uint32_t)meta[1]);
    return STATUS_OK;
}

static enum status scalable_put_unit(struct filter *f, uint64_t i,
                                     struct bytes from,
                                     const uint64_t meta[FILTER_META])
{
    struct scalable *c = (struct scalable *)f;

    if (i < SEGMENTS)
        return put_segment(c, (uint32_t)i, from, meta);
    if (c->kept == NULL)
        return STATUS_OK; /* the caller's source has them */
    if (meta[0] != 1)
        return STATUS_DAMAGED;
    return kept_put(c->kept, (uint32_t)(i - SEGMENTS), from);
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
    struct building b = {.filter = c, .segment = s};
    uint64_t keys = 0;
    enum status st;

    if (i >= SEGMENTS)
        return STATUS_NOT_FOUND; /* the segment answers, but cannot grow */
    st = all_keys_of(c, s, count_visit, &keys);
    if (st == STATUS_OK)
        st = slab_take(&c->slab, rung_for(c, s, 0, keys), &b.run);
    if (st == STATUS_OK) {
        st = all_keys_of(c, s, build_visit, &b);
        if (st == STATUS_OK) {
            replace(c, s, b.run, b.seen);
            return STATUS_OK;
        }
        slab_give(&c->slab, &b.run);
    }
    st = slab_take(&c->slab, 1, &b.run);
    if (st != STATUS_OK)
        return st;
    memset(b.run.at, 0xff, BLOCK_BYTES);
    set_run(c, s, b.run, 0);
    c->limit[s] = NEVER;
    c->lost[s] = true;
    c->n_lost++;
    return STATUS_NOT_FOUND;
}

static enum status scalable_loaded(struct filter *f)
{
    struct scalable *c = (struct scalable *)f;

    for (uint32_t s = 0; s < SEGMENTS; s++)
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
    .shape = scalable_shape,
    .get_unit = scalable_get_unit,
    .make_shaped = scalable_make_shaped,
    .put_unit = scalable_put_unit,
    .mend_unit = scalable_mend_unit,
    .loaded = scalable_loaded,
};
