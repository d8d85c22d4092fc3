/* SPDX-License-Identifier: MIT */
/*
 * bloom.c - Bloom filters of 512-bit blocks: the `bloom` kind, of a fixed size,
 * and the `stacked` kind, a chain of ever larger ones.
 *
 * Blocked rather than plain: 15.7 bits a key instead of 14.4 at 0.1 %, for one
 * cache miss a question instead of up to ten. `bloom` cannot grow. Past its
 * capacity it still adds every key, and with each batch reports that its rate no
 * longer holds, so that it never fills up silently.
 */

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "filter/block.h"
#include "filter/kind.h"

struct bloom {
    struct filter base;
    struct layer layer;
    uint64_t count; /* fresh keys; the saving thread reads it too */
    uint64_t rebuilds, lost;
};

static void bloom_free(struct filter *f)
{
    struct bloom *b = (struct bloom *)f;

    layer_fini(&b->layer);
    free(b);
}

static struct bloom *new_empty(const struct filter_options *o)
{
    struct bloom *b = try_calloc(1, sizeof *b);

    if (b != NULL) {
        b->base.ops = &bloom_ops;
        b->base.opt = *o;
    }
    return b;
}

static enum status bloom_make(struct filter **out,
                              const struct filter_options *o)
{
    struct bloom *b = new_empty(o);
    enum status st;

    if (b == NULL)
        return STATUS_NOMEM;
    st = layer_init(&b->layer, o->expect, o->fpr, BLOCK_CELLS, o->most_bytes);
    if (st != STATUS_OK) {
        free(b);
        return st;
    }
    *out = &b->base;
    return STATUS_OK;
}

/* Set the bits of all keys; returns how many were fresh. */
static uint64_t set_all(struct bloom *b, const uint64_t *keys, size_t n,
                        bool *fresh)
{
    uint64_t *at[BLOCK_WINDOW], count = 0;
    bool own[BLOCK_WINDOW];

    for (size_t i = 0; i < n; i += BLOCK_WINDOW) {
        size_t w = block_window(n - i);
        bool *new = fresh != NULL ? fresh + i : own;

        layer_place(&b->layer, keys + i, w, at);
        block_set(b->layer.k, at, keys + i, w, new);
        for (size_t j = 0; j < w; j++)
            count += new[j];
    }
    return count;
}

static enum status set_count(struct bloom *b, uint64_t count)
{
    __atomic_store_n(&b->count, count, __ATOMIC_RELAXED);
    return count > b->layer.capacity ? filter_say_overfull(&b->base, "full")
                                     : STATUS_OK;
}

static enum status bloom_add(struct filter *f, const uint64_t *keys, size_t n,
                             bool *fresh)
{
    struct bloom *b = (struct bloom *)f;

    return set_count(b, b->count + set_all(b, keys, n, fresh));
}

static void bloom_check(const struct filter *f, const uint64_t *keys, size_t n,
                        bool *maybe)
{
    const struct bloom *b = (const struct bloom *)f;
    uint64_t *at[BLOCK_WINDOW];

    for (size_t i = 0; i < n; i += BLOCK_WINDOW) {
        size_t w = block_window(n - i);

        layer_place(&b->layer, keys + i, w, at);
        block_test(b->layer.k, at, keys + i, w, maybe + i);
    }
}

/* The number of keys is not the sum, since some may be in both; it is estimated
 * from the bits. */
static enum status bloom_merge(struct filter *into, const struct filter *from)
{
    struct bloom *b = (struct bloom *)into;
    const struct bloom *c = (const struct bloom *)from;

    if (!layer_merge(&b->layer, &c->layer))
        return STATUS_ARG;
    b->lost += c->lost;
    return set_count(b, layer_keys(&b->layer, layer_fill(&b->layer)));
}

/* The rate is computed from the bits, not from the count, which misses new keys
 * that changed no bit. */
static void bloom_stats(const struct filter *f, struct filter_stats *out)
{
    const struct bloom *b = (const struct bloom *)f;
    uint64_t units = layer_units(&b->layer);
    double lost = (double)b->lost / (double)units;

    out->count = b->count;
    out->capacity = b->layer.capacity;
    out->bits = b->layer.nblocks * BLOCK_BYTES * 8;
    out->fill = layer_fill(&b->layer);
    out->fpr_predicted = lost + (1 - lost) * layer_rate(&b->layer, out->fill);
    out->k = b->layer.k;
    out->segments = units;
    out->rebuilds = b->rebuilds;
    out->lost = b->lost;
    out->reduced = b->layer.reduced;
    out->huge_pages = b->layer.huge;
}

/* ---- saving and loading ---- */

static uint64_t bloom_shape(const struct filter *f,
                            uint64_t shape[FILTER_SHAPE])
{
    const struct bloom *b = (const struct bloom *)f;

    shape[0] = b->layer.nblocks;
    shape[1] = b->layer.k;
    shape[2] = __atomic_load_n(&b->count, __ATOMIC_RELAXED);
    return layer_units(&b->layer);
}

static enum status bloom_get_unit(struct filter *f, uint64_t i, struct buf *to,
                                  uint64_t meta[FILTER_META])
{
    (void)meta;
    return layer_get_unit(&((struct bloom *)f)->layer, i, to);
}

static enum status bloom_make_shaped(struct filter **out,
                                     const struct filter_options *o,
                                     const uint64_t shape[FILTER_SHAPE],
                                     uint64_t units, uint64_t most)
{
    struct bloom *b = new_empty(o);
    enum status st;

    if (b == NULL)
        return STATUS_NOMEM;
    st = layer_init_shaped(&b->layer, shape[0], shape[1], o->fpr, BLOCK_CELLS,
                           most);
    if (st == STATUS_OK && units != layer_units(&b->layer))
        st = STATUS_FORMAT;
    if (st != STATUS_OK) {
        bloom_free(&b->base);
        return st;
    }
    b->count = shape[2];
    *out = &b->base;
    return STATUS_OK;
}

static enum status bloom_put_unit(struct filter *f, uint64_t i,
                                  struct bytes from,
                                  const uint64_t meta[FILTER_META])
{
    (void)meta;
    return layer_put_unit(&((struct bloom *)f)->layer, i, from);
}

static void mend_visit(void *to, const uint64_t *keys, size_t n)
{
    (void)set_all(to, keys, n, NULL);
}

static enum status bloom_mend_unit(struct filter *f, uint64_t i)
{
    struct bloom *b = (struct bloom *)f;
    const struct filter_source *s = &f->opt.source;
    uint64_t low, high;

    layer_unit_range(&b->layer, i, &low, &high);
    if (s->keys_of != NULL &&
        s->keys_of(s->ctx, low, high, mend_visit, b) == STATUS_OK) {
        b->rebuilds++;
        return STATUS_OK;
    }
    layer_flood_unit(&b->layer, i);
    b->lost++;
    return STATUS_NOT_FOUND;
}

const struct filter_ops bloom_ops = {
    .traits = {.name = "bloom",
               .summary = "fixed size, one cache line a question"},
    .make = bloom_make,
    .free = bloom_free,
    .add = bloom_add,
    .check = bloom_check,
    .merge = bloom_merge,
    .stats = bloom_stats,
    .file_version = 1,
    .shape = bloom_shape,
    .get_unit = bloom_get_unit,
    .make_shaped = bloom_make_shaped,
    .put_unit = bloom_put_unit,
    .mend_unit = bloom_mend_unit,
};

/*
 * Chain of ever larger Bloom filters with tightening rates.
 *
 * Almeida, Baquero, Preguica, Hutchison: Scalable Bloom Filters, 2007. Layer i
 * holds n0 * s^i keys at the rate p (1 - r) r^i, so the rates of any number of
 * layers sum to less than p (section 2). `growth` is s, `tightening` is r.
 *
 * Its one advantage over scalable.c is that it needs no keys to grow; the price
 * is that a question that misses reads every layer. So a layer's blocks are
 * fetched for a whole window before they are read, and a key that one layer
 * calls "maybe" is not looked up in the next.
 *
 * Layers are never moved or freed, and their number is published after the
 * layer itself, so that the saving thread needs no lock.
 */

#define MOST_LAYERS 64
/* Below this rate the 64 bits of a key are the limit, not the blocks
 * (block.c). */
#define LEAST_RATE 1e-10

struct stacked {
    struct filter base;
    struct layer layers[MOST_LAYERS];
    uint64_t count[MOST_LAYERS];
    uint32_t nlayers; /* the saving thread reads it too */
    uint64_t bytes;   /* of all layers */
    uint64_t rebuilds, lost;
    bool reduced;
};

static void stacked_free(struct filter *f)
{
    struct stacked *t = (struct stacked *)f;

    for (uint32_t i = 0; i < t->nlayers; i++)
        layer_fini(&t->layers[i]);
    free(t);
}

static double layer_share(const struct filter_options *o, uint32_t i)
{
    double rate = o->fpr * (1 - o->tightening) * pow(o->tightening, i);

    return rate < LEAST_RATE ? LEAST_RATE : rate;
}

static enum status add_layer(struct stacked *t)
{
    const struct filter_options *o = &t->base.opt;
    uint32_t i = t->nlayers;
    double keys = (double)o->expect * pow(o->growth, i);
    uint64_t left = 0;
    enum status st;

    if (i == MOST_LAYERS || keys > 0x1p42)
        return STATUS_LIMIT;
    if (o->most_bytes > 0) {
        if (t->bytes >= o->most_bytes)
            return STATUS_LIMIT;
        left = o->most_bytes - t->bytes;
    }
    st = layer_init(&t->layers[i], (uint64_t)ceil(keys), layer_share(o, i),
                    BLOCK_CELLS, left);
    if (st != STATUS_OK)
        return st;
    t->reduced |= t->layers[i].reduced;
    t->bytes += t->layers[i].nblocks * BLOCK_BYTES;
    __atomic_store_n(&t->nlayers, i + 1, __ATOMIC_RELEASE);
    return STATUS_OK;
}

static struct stacked *stacked_new_empty(const struct filter_options *o)
{
    struct stacked *t = try_calloc(1, sizeof *t);

    if (t != NULL) {
        t->base.ops = &stacked_ops;
        t->base.opt = *o;
    }
    return t;
}

static enum status stacked_make(struct filter **out,
                                const struct filter_options *o)
{
    struct stacked *t = stacked_new_empty(o);
    enum status st;

    if (t == NULL)
        return STATUS_NOMEM;
    st = add_layer(t);
    if (st != STATUS_OK) {
        stacked_free(&t->base);
        return st;
    }
    *out = &t->base;
    return STATUS_OK;
}

/* ---- asking and adding ---- */

/* Fill maybe[] for up to BLOCK_WINDOW keys from layer `layers` - 1 down to
 * layer 0. */
static void stacked_ask(const struct stacked *t, uint32_t layers,
                        const uint64_t *keys, size_t n, bool *maybe)
{
    uint64_t left[BLOCK_WINDOW], *at[BLOCK_WINDOW];
    uint8_t place[BLOCK_WINDOW];
    bool hit[BLOCK_WINDOW];

    for (size_t i = 0; i < n; i++) {
        left[i] = keys[i];
        place[i] = (uint8_t)i;
        maybe[i] = false;
    }
    while (layers-- > 0 && n > 0) {
        const struct layer *l = &t->layers[layers];
        size_t still = 0;

        layer_place(l, left, n, at);
        block_test(l->k, at, left, n, hit);
        for (size_t i = 0; i < n; i++) {
            if (hit[i]) {
                maybe[place[i]] = true;
                continue;
            }
            left[still] = left[i];
            place[still++] = place[i];
        }
        n = still;
    }
}

static void stacked_check(const struct filter *f, const uint64_t *keys,
                          size_t n, bool *maybe)
{
    const struct stacked *t = (const struct stacked *)f;

    for (size_t i = 0; i < n; i += BLOCK_WINDOW)
        stacked_ask(t, t->nlayers, keys + i, block_window(n - i), maybe + i);
}

/* Add one window: a key that an older layer calls "maybe" counts as present;
 * the rest goes into the newest, which detects duplicates within the window. */
static void add_window(struct stacked *t, const uint64_t *keys, size_t n,
                       bool *fresh)
{
    uint32_t newest = t->nlayers - 1;
    struct layer *l = &t->layers[newest];
    uint64_t left[BLOCK_WINDOW], *at[BLOCK_WINDOW], count = t->count[newest];
    bool new[BLOCK_WINDOW];
    size_t m = 0;

    stacked_ask(t, newest, keys, n, fresh);
    for (size_t i = 0; i < n; i++)
        if (!fresh[i])
            left[m++] = keys[i];
    layer_place(l, left, m, at);
    block_set(l->k, at, left, m, new);
    for (size_t i = 0, j = 0; i < n; i++) {
        fresh[i] = !fresh[i] && new[j++];
        count += fresh[i];
    }
    __atomic_store_n(&t->count[newest], count, __ATOMIC_RELAXED);
}

/* The size of the next window, cut so that the newest layer does not pass its
 * capacity: in a small layer even a few keys too many would show in the
 * rate. */
static size_t next_window(const struct stacked *t, size_t left)
{
    uint64_t capacity = t->layers[t->nlayers - 1].capacity;
    uint64_t count = t->count[t->nlayers - 1];
    size_t w = block_window(left);

    return count < capacity && capacity - count < w ? (size_t)(capacity - count)
                                                    : w;
}

static enum status stacked_add(struct filter *f, const uint64_t *keys, size_t n,
                               bool *fresh)
{
    struct stacked *t = (struct stacked *)f;
    enum status st = STATUS_OK;
    bool own[BLOCK_WINDOW];

    for (size_t i = 0, w; i < n; i += w) {
        w = next_window(t, n - i);
        add_window(t, keys + i, w, fresh != NULL ? fresh + i : own);
        /* Once the memory limit is reached, there is no point in another
         * layer. */
        if (!t->reduced &&
            t->count[t->nlayers - 1] >= t->layers[t->nlayers - 1].capacity)
            st = add_layer(t);
    }
    if (st == STATUS_NOMEM)
        return filter_say_overfull(f, "no memory for another layer");
    if (st != STATUS_OK || t->reduced) {
        t->reduced = true;
        return filter_say_overfull(f, "memory share reached");
    }
    return STATUS_OK;
}

/* ---- merging, stats ---- */

static bool same_plan(const struct stacked *a, const struct stacked *b)
{
    const struct filter_options *x = &a->base.opt, *y = &b->base.opt;
    uint32_t both = a->nlayers < b->nlayers ? a->nlayers : b->nlayers;

    for (uint32_t i = 0; i < both; i++)
        if (a->layers[i].nblocks != b->layers[i].nblocks)
            return false;
    return x->expect == y->expect && x->fpr == y->fpr &&
           x->growth == y->growth && x->tightening == y->tightening;
}

/* Merge layer by layer. The result may be fuller than planned; then it is
 * reported as overfull. */
static enum status stacked_merge(struct filter *into, const struct filter *from)
{
    struct stacked *a = (struct stacked *)into;
    const struct stacked *b = (const struct stacked *)from;
    struct filter_stats s;

    if (!same_plan(a, b))
        return STATUS_ARG;
    while (a->nlayers < b->nlayers) {
        enum status st = add_layer(a);

        if (st != STATUS_OK)
            return st;
    }
    for (uint32_t i = 0; i < b->nlayers; i++) {
        struct layer *l = &a->layers[i];

        if (!layer_merge(l, &b->layers[i]))
            return STATUS_ARG;
        __atomic_store_n(&a->count[i], layer_keys(l, layer_fill(l)),
                         __ATOMIC_RELAXED);
    }
    a->lost += b->lost;
    filter_stats(into, &s);
    return s.overfull ? filter_say_overfull(into, "merged") : STATUS_OK;
}

static void stacked_stats(const struct filter *f, struct filter_stats *out)
{
    const struct stacked *t = (const struct stacked *)f;
    double new = 1, marked = 0;

    out->huge_pages = true;
    for (uint32_t i = 0; i < t->nlayers; i++) {
        const struct layer *l = &t->layers[i];
        double fill = layer_fill(l);

        new *= 1 - layer_rate(l, fill);
        marked += fill * (double)l->nblocks;
        out->count += t->count[i];
        out->segments += layer_units(l);
        out->huge_pages &= l->huge;
    }
    out->bits = t->bytes * 8;
    out->fill = marked * BLOCK_BYTES / (double)t->bytes;
    out->fpr_predicted = 1 - new *(1 - (double)t->lost / (double)out->segments);
    out->k = t->layers[0].k;
    out->rebuilds = t->rebuilds;
    out->lost = t->lost;
    out->reduced = t->reduced;
}

/* ---- saving and loading: units of layer 0, then of layer 1, ... ---- */

/* The layer that unit i belongs to; *i becomes its number in that layer. */
static uint32_t layer_of_unit(const struct stacked *t, uint64_t *i)
{
    uint32_t layer = 0;

    while (*i >= layer_units(&t->layers[layer]))
        *i -= layer_units(&t->layers[layer++]);
    return layer;
}

static uint64_t stacked_shape(const struct filter *f,
                              uint64_t shape[FILTER_SHAPE])
{
    const struct stacked *t = (const struct stacked *)f;
    uint32_t n = __atomic_load_n(&t->nlayers, __ATOMIC_ACQUIRE);
    uint64_t units = 0;

    for (uint32_t i = 0; i < n; i++)
        units += layer_units(&t->layers[i]);
    shape[0] = n;
    shape[1] = t->layers[n - 1].nblocks; /* may have been cut to most_bytes */
    return units;
}

static enum status stacked_get_unit(struct filter *f, uint64_t i,
                                    struct buf *to, uint64_t meta[FILTER_META])
{
    struct stacked *t = (struct stacked *)f;
    uint32_t layer = layer_of_unit(t, &i);

    meta[0] = __atomic_load_n(&t->count[layer], __ATOMIC_RELAXED);
    return layer_get_unit(&t->layers[layer], i, to);
}

/* The layers follow from the options; only the last may be smaller. */
static enum status add_shaped(struct stacked *t, uint32_t layers, uint64_t last,
                              uint64_t most)
{
    const struct filter_options *o = &t->base.opt;

    while (t->nlayers < layers) {
        uint32_t i = t->nlayers;
        double keys = (double)o->expect * pow(o->growth, i), load;
        unsigned k = sizing_block_best(BLOCK_CELLS, layer_share(o, i), &load);
        uint64_t nblocks;
        enum status st;

        if (keys > 0x1p42 || t->bytes > most)
            return STATUS_FORMAT;
        nblocks = sizing_blocks((uint64_t)ceil(keys), load);
        if (i + 1 == layers && last < nblocks) {
            nblocks = last;
            t->reduced = true;
        }
        st = layer_init_shaped(&t->layers[i], nblocks, k, layer_share(o, i),
                               BLOCK_CELLS, most - t->bytes);
        if (st != STATUS_OK)
            return st;
        t->bytes += nblocks * BLOCK_BYTES;
        t->nlayers++;
    }
    return STATUS_OK;
}

static enum status stacked_make_shaped(struct filter **out,
                                       const struct filter_options *o,
                                       const uint64_t shape[FILTER_SHAPE],
                                       uint64_t units, uint64_t most)
{
    struct stacked *t;
    uint64_t own[FILTER_SHAPE];
    enum status st;

    if (shape[0] < 1 || shape[0] > MOST_LAYERS)
        return STATUS_FORMAT;
    t = stacked_new_empty(o);
    if (t == NULL)
        return STATUS_NOMEM;
    st = add_shaped(t, (uint32_t)shape[0], shape[1], most);
    if (st == STATUS_OK && units != stacked_shape(&t->base, own))
        st = STATUS_FORMAT;
    if (st != STATUS_OK) {
        stacked_free(&t->base);
        return st;
    }
    *out = &t->base;
    return STATUS_OK;
}

static enum status stacked_put_unit(struct filter *f, uint64_t i,
                                    struct bytes from,
                                    const uint64_t meta[FILTER_META])
{
    struct stacked *t = (struct stacked *)f;
    uint32_t layer = layer_of_unit(t, &i);

    if (t->count[layer] < meta[0])
        t->count[layer] = meta[0];
    return layer_put_unit(&t->layers[layer], i, from);
}

struct mending {
    struct stacked *filter;
    struct layer *layer;
    uint64_t low, high;
};

/* Keys that no layer knows were in the damaged unit; put them there again. */
static void stacked_mend_visit(void *to, const uint64_t *keys, size_t n)
{
    struct mending *m = to;

    for (size_t i = 0; i < n; i++) {
        uint64_t *at;
        bool maybe;

        if (keys[i] < m->low || keys[i] > m->high)
            continue;
        stacked_ask(m->filter, m->filter->nlayers, keys + i, 1, &maybe);
        if (maybe)
            continue;
        layer_place(m->layer, keys + i, 1, &at);
        block_set(m->layer->k, &at, keys + i, 1, &maybe);
    }
}

static enum status stacked_mend_unit(struct filter *f, uint64_t i)
{
    struct stacked *t = (struct stacked *)f;
    const struct filter_source *s = &f->opt.source;
    struct mending m = {.filter = t};

    m.layer = &t->layers[layer_of_unit(t, &i)];
    layer_unit_range(m.layer, i, &m.low, &m.high);
    if (s->keys_of != NULL && s->keys_of(s->ctx, m.low, m.high,
                                         stacked_mend_visit, &m) == STATUS_OK) {
        t->rebuilds++;
        return STATUS_OK;
    }
    layer_flood_unit(m.layer, i);
    t->lost++;
    return STATUS_NOT_FOUND;
}

const struct filter_ops stacked_ops = {
    .traits = {.name = "stacked",
               .summary = "grows by layers, needs no keys, asks each layer",
               .grows = true},
    .make = stacked_make,
    .free = stacked_free,
    .add = stacked_add,
    .check = stacked_check,
    .merge = stacked_merge,
    .stats = stacked_stats,
    .file_version = 1,
    .shape = stacked_shape,
    .get_unit = stacked_get_unit,
    .make_shaped = stacked_make_shaped,
    .put_unit = stacked_put_unit,
    .mend_unit = stacked_mend_unit,
};
