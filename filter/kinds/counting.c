/* SPDX-License-Identifier: MIT */
/*
 * counting.c - Bloom filter with small counters, for removal.
 *
 * Fan, Cao, Almeida, Broder: Summary Cache, 2000, with the blocks of block.h:
 * a lane of 64 bits is 16 counters of four bits, and a key counts up one or
 * more in each lane. A counter that reached 15 no longer knows how many keys it
 * stands for; it stays there, so removal may leave a "maybe" behind but never
 * turns a present key "new". With four bits that happens to fewer than 1e-10 of
 * the counters in a filter filled to its capacity.
 *
 *     g_i as in block.c, cell = bits 16 + 6 * lane .. + 3
 *
 * A key added twice counts twice, and is gone after two removals; a key that
 * was never added but looks alike takes counts away that others need. A filter
 * that keeps its keys counts each once and refuses to remove any other.
 *
 * Counters alone may be copied while they change. With keys beside them an
 * image must have both of a key or neither: one that is in the keys and not in
 * the counters would not be counted again. So adding and removing then wait for
 * the saving thread.
 */
#include <pthread.h>
#include <stdlib.h>

#include "base/mem.h"
#include "filter/block.h"
#include "filter/key_store.h"
#include "filter/kind.h"

#define CELLS 16
#define FULL  15

struct counting {
    struct filter base;
    struct layer layer;
    uint64_t count; /* keys added less those removed */
    uint64_t stuck; /* counters that reached FULL */
    uint64_t rebuilds, lost;
    struct key_store *key_store; /* NULL: not kept */
    struct filter_source source;
    pthread_mutex_t moving; /* guards all of it while keys are kept */
};

static void counting_free(struct filter *f)
{
    struct counting *c = (struct counting *)f;

    layer_fini(&c->layer);
    key_store_free(c->key_store);
    pthread_mutex_destroy(&c->moving);
    free(c);
}

/* `keep`: it stores its keys; `whole`: its key store is complete while empty.
 * NULL: no memory. */
static struct counting *counting_new_empty(const struct filter_options *o,
                                           bool keep, bool whole)
{
    struct counting *c = try_calloc(1, sizeof *c);

    if (c == NULL)
        return NULL;
    if (keep && key_store_new(&c->key_store, whole) != STATUS_OK) {
        free(c);
        return NULL;
    }
    c->base.ops = &counting_ops;
    c->base.opt = *o;
    c->source =
        c->key_store != NULL ? key_store_source(c->key_store) : o->source;
    pthread_mutex_init(&c->moving, NULL);
    return c;
}

static void counting_hold(struct filter *f, bool on)
{
    struct counting *c = (struct counting *)f;

    if (c->key_store == NULL)
        return;
    if (on)
        pthread_mutex_lock(&c->moving);
    else
        pthread_mutex_unlock(&c->moving);
}

static enum status counting_make(struct filter **out,
                                 const struct filter_options *o)
{
    struct counting *c =
        counting_new_empty(o, o->source.keys_of == NULL && !o->keep_nothing,
                           true);
    enum status st;

    if (c == NULL)
        return STATUS_NOMEM;
    st = layer_init(&c->layer, o->expect, o->fpr, CELLS, o->most_bytes);
    if (st != STATUS_OK) {
        counting_free(&c->base);
        return st;
    }
    *out = &c->base;
    return STATUS_OK;
}

/* ---- one key's counters ---- */

/* What to do with each of a key's counters. */
enum step { ASK, COUNT_UP, COUNT_DOWN };

/* Were all of the key's counters above 0 before? *stuck grows by those that
 * became full. Inlined with a constant `step`, and with a constant k for the
 * usual values. */
static inline __attribute__((always_inline)) bool walk_k(
    unsigned k, uint64_t *at, uint64_t key, enum step step, uint64_t *stuck)
{
    struct block_hashes h = block_hashes(key);
    bool all = true;

    for (unsigned group = 0; group * BLOCK_LANES < k; group++) {
        unsigned left = k - group * BLOCK_LANES;
        unsigned first = left < BLOCK_LANES ? block_half(h) * 4 : 0;
        unsigned behind = left < BLOCK_LANES ? first + 4 : BLOCK_LANES;

        for (unsigned j = first; j < behind; j++) {
            unsigned s = block_cell(h, group, j) % CELLS * 4;
            uint64_t word = __atomic_load_n(at + j, __ATOMIC_RELAXED);
            unsigned v = (unsigned)(word >> s) & FULL;

            all &= v > 0;
            if (step == COUNT_UP) {
                word += (uint64_t)(v < FULL) << s;
                *stuck += v == FULL - 1;
            } else if (step == COUNT_DOWN) {
                word -= (uint64_t)(v > 0 && v < FULL) << s;
            }
            if (step != ASK)
                __atomic_store_n(at + j, word, __ATOMIC_RELAXED);
        }
    }
    return all;
}

static bool counting_ask(const struct counting *c, uint64_t *at, uint64_t key)
{
    return c->layer.k == 8 ? walk_k(8, at, key, ASK, NULL)
                           : walk_k(c->layer.k, at, key, ASK, NULL);
}

static bool count_up(struct counting *c, uint64_t *at, uint64_t key)
{
    return c->layer.k == 8 ? walk_k(8, at, key, COUNT_UP, &c->stuck)
                           : walk_k(c->layer.k, at, key, COUNT_UP, &c->stuck);
}

static void count_down(struct counting *c, uint64_t *at, uint64_t key)
{
    (void)walk_k(c->layer.k, at, key, COUNT_DOWN, NULL);
}

/* ---- batches ---- */

/* True: the key is fresh. */
static bool add_one(struct counting *c, uint64_t *at, uint64_t key)
{
    bool known;

    if (c->key_store == NULL) {
        __atomic_store_n(&c->count, c->count + 1, __ATOMIC_RELAXED);
        return !count_up(c, at, key);
    }
    known = counting_ask(c, at, key);
    if (known && key_store_has(c->key_store, key))
        return false;
    key_store_add(c->key_store, key, true);
    c->count++;
    (void)count_up(c, at, key);
    return !known;
}

static enum status counting_add(struct filter *f, const uint64_t *keys,
                                size_t n, bool *fresh)
{
    struct counting *c = (struct counting *)f;
    uint64_t *at[BLOCK_WINDOW];

    counting_hold(f, true);
    for (size_t i = 0; i < n; i += BLOCK_WINDOW) {
        size_t w = block_window(n - i);

        layer_place(&c->layer, keys + i, w, at);
        for (size_t j = 0; j < w; j++) {
            bool is_new = add_one(c, at[j], keys[i + j]);

            if (fresh != NULL)
                fresh[i + j] = is_new;
        }
    }
    counting_hold(f, false);
    return c->count > c->layer.capacity ? filter_say_overfull(f, "full")
                                        : STATUS_OK;
}

static void counting_check(const struct filter *f, const uint64_t *keys,
                           size_t n, bool *maybe)
{
    const struct counting *c = (const struct counting *)f;
    uint64_t *at[BLOCK_WINDOW];

    for (size_t i = 0; i < n; i += BLOCK_WINDOW) {
        size_t w = block_window(n - i);

        layer_place(&c->layer, keys + i, w, at);
        for (size_t j = 0; j < w; j++)
            maybe[i + j] = counting_ask(c, at[j], keys[i + j]);
    }
}

static bool remove_one(struct counting *c, uint64_t key)
{
    uint64_t *at;

    layer_place(&c->layer, &key, 1, &at);
    if (c->key_store != NULL ? !key_store_remove(c->key_store, key)
                             : !counting_ask(c, at, key))
        return false; /* it was never added: nothing may be taken out */
    count_down(c, at, key);
    if (c->count > 0)
        __atomic_store_n(&c->count, c->count - 1, __ATOMIC_RELAXED);
    return true;
}

static enum status counting_remove(struct filter *f, const uint64_t *keys,
                                   size_t n, bool *removed)
{
    struct counting *c = (struct counting *)f;

    counting_hold(f, true);
    for (size_t i = 0; i < n; i++) {
        bool out = remove_one(c, keys[i]);

        if (removed != NULL)
            removed[i] = out;
    }
    counting_hold(f, false);
    return STATUS_OK;
}

/* Add counters; those that would pass FULL stay there. */
static uint64_t add_counters(uint64_t a, uint64_t b)
{
    uint64_t sum = 0;

    for (unsigned s = 0; s < 64; s += 4) {
        uint64_t v = (a >> s & FULL) + (b >> s & FULL);

        sum |= (v < FULL ? v : FULL) << s;
    }
    return sum;
}

static uint64_t full_counters(const struct layer *l)
{
    uint64_t n = 0;

    for (uint64_t i = 0; i < l->nblocks * BLOCK_LANES; i++) {
        uint64_t w = l->words[i];

        w &= w >> 2;
        w &= w >> 1;
        n += (uint64_t)__builtin_popcountll(w & UINT64_C(0x1111111111111111));
    }
    return n;
}

static enum status counting_merge(struct filter *into,
                                  const struct filter *from)
{
    struct counting *c = (struct counting *)into;
    const struct counting *d = (const struct counting *)from;

    if (d->key_store != NULL)
        return into->opt.fpr != from->opt.fpr
                   ? STATUS_ARG
                   : filter_add_from(into, &d->source);
    if (c->key_store != NULL || c->layer.nblocks != d->layer.nblocks ||
        c->layer.k != d->layer.k)
        return STATUS_ARG;
    for (uint64_t i = 0; i < c->layer.nblocks * BLOCK_LANES; i++)
        __atomic_store_n(c->layer.words + i,
                         add_counters(c->layer.words[i], d->layer.words[i]),
                         __ATOMIC_RELAXED);
    __atomic_store_n(&c->count, c->count + d->count, __ATOMIC_RELAXED);
    c->stuck = full_counters(&c->layer);
    c->lost += d->lost;
    return c->count > c->layer.capacity ? filter_say_overfull(into, "merged")
                                        : STATUS_OK;
}

static void counting_stats(const struct filter *f, struct filter_stats *out)
{
    const struct counting *c = (const struct counting *)f;
    uint64_t units = layer_units(&c->layer);
    double lost = (double)c->lost / (double)units;

    out->count = c->count;
    out->capacity = c->layer.capacity;
    out->bits = c->layer.nblocks * BLOCK_BYTES * 8;
    out->key_bits =
        c->key_store != NULL ? key_store_bytes(c->key_store) * 8 : 0;
    out->fill = layer_fill(&c->layer);
    out->fpr_predicted = lost + (1 - lost) * layer_rate(&c->layer, out->fill);
    out->k = c->layer.k;
    out->segments = units;
    out->rebuilds = c->rebuilds;
    out->stuck = c->stuck;
    out->lost = c->lost;
    out->reduced = c->layer.reduced;
    out->huge_pages = c->layer.huge;
}

/* ---- saving and loading ---- */

static uint64_t counting_shape(const struct filter *f,
                               uint64_t shape[FILTER_SHAPE])
{
    const struct counting *c = (const struct counting *)f;

    shape[0] = c->layer.nblocks;
    shape[1] = c->layer.k;
    shape[2] = __atomic_load_n(&c->count, __ATOMIC_RELAXED);
    shape[3] = c->key_store != NULL;
    return layer_units(&c->layer) +
           (c->key_store != NULL ? KEY_STORE_PARTS : 0);
}

static enum status counting_get_unit(struct filter *f, uint64_t i,
                                     struct buf *to, uint64_t meta[FILTER_META])
{
    struct counting *c = (struct counting *)f;
    uint64_t units = layer_units(&c->layer);

    return i < units ? layer_get_unit(&c->layer, i, to)
                     : key_store_save(c->key_store, (uint32_t)(i - units), to,
                                      &meta[0]);
}

static enum status counting_make_shaped(struct filter **out,
                                        const struct filter_options *o,
                                        const uint64_t shape[FILTER_SHAPE],
                                        uint64_t units, uint64_t most)
{
    bool kept = shape[3] == 1;
    struct counting *c;
    enum status st;

    if (shape[3] > 1)
        return STATUS_FORMAT;
    c = counting_new_empty(o, kept && o->source.keys_of == NULL, false);
    if (c == NULL)
        return STATUS_NOMEM;
    st = layer_init_shaped(&c->layer, shape[0], shape[1], o->fpr, CELLS, most);
    if (st == STATUS_OK &&
        units != layer_units(&c->layer) + (kept ? KEY_STORE_PARTS : 0))
        st = STATUS_FORMAT;
    if (st != STATUS_OK) {
        counting_free(&c->base);
        return st;
    }
    c->count = shape[2];
    *out = &c->base;
    return STATUS_OK;
}

static enum status counting_put_unit(struct filter *f, uint64_t i,
                                     struct bytes from,
                                     const uint64_t meta[FILTER_META])
{
    struct counting *c = (struct counting *)f;
    uint64_t units = layer_units(&c->layer);

    if (i < units)
        return layer_put_unit(&c->layer, i, from);
    if (c->key_store == NULL)
        return STATUS_OK; /* the caller's source has them */
    return meta[0] != 1
               ? STATUS_DAMAGED
               : key_store_put(c->key_store, (uint32_t)(i - units), from);
}

struct mending {
    struct counting *filter;
    uint64_t low, high;
};

static void counting_mend_visit(void *to, const uint64_t *keys, size_t n)
{
    struct mending *m = to;

    for (size_t i = 0; i < n; i++) {
        uint64_t *at;

        if (keys[i] < m->low || keys[i] > m->high)
            continue;
        layer_place(&m->filter->layer, keys + i, 1, &at);
        (void)count_up(m->filter, at, keys[i]);
    }
}

static enum status counting_mend_unit(struct filter *f, uint64_t i)
{
    struct counting *c = (struct counting *)f;
    const struct filter_source *s = &c->source;
    struct mending m = {.filter = c};

    if (i >= layer_units(&c->layer))
        return STATUS_NOT_FOUND; /* its keys answer, but cannot be removed */
    layer_unit_range(&c->layer, i, &m.low, &m.high);
    if (s->keys_of != NULL &&
        s->keys_of(s->ctx, m.low, m.high, counting_mend_visit, &m) ==
            STATUS_OK) {
        c->rebuilds++;
        return STATUS_OK;
    }
    layer_flood_unit(&c->layer, i);
    c->lost++;
    return STATUS_NOT_FOUND;
}

static enum status counting_loaded(struct filter *f)
{
    struct counting *c = (struct counting *)f;

    c->stuck = full_counters(&c->layer);
    return STATUS_OK;
}

const struct filter_ops counting_ops = {
    .traits = {.name = "counting",
               .summary = "fixed size, removes keys, four bits a mark",
               .removes = true,
               .waits_for_saving = true},
    .make = counting_make,
    .free = counting_free,
    .add = counting_add,
    .check = counting_check,
    .remove = counting_remove,
    .merge = counting_merge,
    .stats = counting_stats,
    .file_version = 2,
    .shape = counting_shape,
    .get_unit = counting_get_unit,
    .hold = counting_hold,
    .make_shaped = counting_make_shaped,
    .put_unit = counting_put_unit,
    .mend_unit = counting_mend_unit,
    .loaded = counting_loaded,
};
