/* SPDX-License-Identifier: MIT */
/*
 * aged.c - a filter that forgets: generations of another kind.
 *
 *     newest                       oldest
 *     [ taking keys ][ whole ] ... [ whole ]     n + 1 filters, n generations
 *     born           born          born
 *
 * A key goes into the newest filter, and is there if any has it. The newest
 * takes keys for ttl / n, then another begins; one is dropped as soon as the
 * last key that it was given is ttl old. So a key is kept for at least ttl and
 * at most ttl (1 + 1/n), without a time beside each key (double buffering, as
 * in Chang, Li and Feng, Approximate caches for packet classification, 2004,
 * with n + 1 buffers instead of two). A key added again lives from then on.
 *
 * While all n + 1 are needed no other begins: that happens after ttl was made
 * longer, and the newest then takes keys for longer, too.
 *
 * Each filter is made for fpr / (n + 1), so that all together keep fpr, and for
 * the keys of ttl / n.
 *
 * In a file each filter is a unit with its shape and the time of its last key,
 * followed by its own units:
 *
 *     shape  0 kind | n << 8 | filters << 16   1 ttl in seconds   2 zero
 *            3.. of each filter, newest first: born << 32 | units with the head
 *
 * A filter whose head does not verify answers "maybe" for every key until it
 * would have been dropped.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "filter/kind.h"

#define MOST_FILTERS (FILTER_GENERATIONS_MOST + 1)

struct generation {
    struct filter *filter; /* NULL: it was lost */
    uint64_t units;        /* while it is read: with the head */
    uint32_t born, last;   /* seconds since 1970; last: when a key was added */
};

struct aged {
    struct filter base;
    uint64_t file_size; /* while it is read */
    unsigned n;         /* generations */
    uint32_t ttl, now;
    struct generation of[MOST_FILTERS]; /* newest first */
    unsigned count;
};

static struct aged *aged_of(const struct filter *f)
{
    return (struct aged *)f;
}

static struct filter_options inner_options(const struct filter_options *o)
{
    struct filter_options in = *o;

    in.fpr = o->fpr / (o->generations + 1);
    if (in.fpr < 1e-9)
        in.fpr = 1e-9;
    in.expect = o->expect / o->generations + 1;
    if (o->most_bytes > 0)
        in.most_bytes = o->most_bytes / (o->generations + 1);
    in.ttl_s = in.generations = 0;
    memset(&in.source, 0, sizeof in.source);
    return in;
}

static void aged_free(struct filter *f)
{
    struct aged *a = aged_of(f);

    for (unsigned i = 0; i < a->count; i++)
        filter_free(a->of[i].filter);
    free(a);
}

/* ---- time ---- */

static uint32_t step_of(const struct aged *a)
{
    return a->ttl / a->n > 0 ? a->ttl / a->n : 1;
}

static enum status begin_generation(struct aged *a, uint32_t born)
{
    struct filter_options in = inner_options(&a->base.opt);
    struct filter *new;
    enum status st = filter_new(&new, &in);

    if (st != STATUS_OK)
        return st;
    memmove(a->of + 1, a->of, a->count * sizeof *a->of);
    a->of[0] = (struct generation){.filter = new, .born = born, .last = born};
    a->count++;
    return STATUS_OK;
}

static void drop_old(struct aged *a)
{
    while (a->count > 1 &&
           (uint64_t)a->of[a->count - 1].last + a->ttl <= a->now)
        filter_free(a->of[--a->count].filter);
}

enum status filter_age(struct filter *f, int64_t now_s)
{
    struct aged *a = aged_of(f);
    uint32_t now, step;
    enum status st = STATUS_OK;

    if (f->ops != &aged_ops || now_s < 0)
        return STATUS_OK;
    now = now_s < UINT32_MAX ? (uint32_t)now_s : UINT32_MAX;
    step = step_of(a);
    if (now > a->now)
        a->now = now;
    drop_old(a);
    if (now >= a->of[0].born && now - a->of[0].born >= step && a->count <= a->n)
        st = begin_generation(a, now - (now - a->of[0].born) % step);
    drop_old(a);
    return st;
}

enum status filter_set_ttl(struct filter *f, int64_t ttl_s)
{
    if (f->ops != &aged_ops || ttl_s < 1 || ttl_s > FILTER_TTL_MOST)
        return STATUS_ARG;
    aged_of(f)->ttl = (uint32_t)ttl_s;
    f->opt.ttl_s = ttl_s;
    return STATUS_OK;
}

/* ---- keys ---- */

static enum status aged_make(struct filter **out,
                             const struct filter_options *o)
{
    struct aged *a = xcalloc(1, sizeof *a);
    enum status st;

    a->base.ops = &aged_ops;
    a->base.opt = *o;
    a->n = o->generations;
    a->ttl = (uint32_t)o->ttl_s;
    a->now = (uint32_t)o->born_s;
    st = begin_generation(a, (uint32_t)o->born_s);
    if (st != STATUS_OK) {
        aged_free(&a->base);
        return st;
    }
    *out = &a->base;
    return STATUS_OK;
}

static void check_from(const struct aged *a, unsigned first,
                       const uint64_t *keys, size_t n, bool *maybe)
{
    bool *one = xmalloc(n > 0 ? n : 1);

    memset(maybe, 0, n);
    for (unsigned i = first; i < a->count; i++) {
        if (a->of[i].filter == NULL)
            memset(one, true, n);
        else
            filter_check(a->of[i].filter, keys, n, one);
        for (size_t k = 0; k < n; k++)
            maybe[k] |= one[k];
    }
    free(one);
}

static void aged_check(const struct filter *f, const uint64_t *keys, size_t n,
                       bool *maybe)
{
    check_from(aged_of(f), 0, keys, n, maybe);
}

static enum status aged_add(struct filter *f, const uint64_t *keys, size_t n,
                            bool *fresh)
{
    struct aged *a = aged_of(f);
    bool *older = NULL;
    enum status st = STATUS_OK;

    /* If it was lost, another begins; without room it answers for its keys. */
    if (a->of[0].filter == NULL && a->count <= a->n) {
        st = begin_generation(a, a->of[0].born);
        if (st != STATUS_OK)
            return st;
    }
    if (fresh != NULL) {
        older = xmalloc(n > 0 ? n : 1);
        check_from(a, 1, keys, n, older);
    }
    if (n > 0 && a->now > a->of[0].last)
        a->of[0].last = a->now;
    if (a->of[0].filter != NULL)
        st = filter_add(a->of[0].filter, keys, n, fresh);
    else if (fresh != NULL)
        memset(fresh, 0, n);
    for (size_t i = 0; fresh != NULL && i < n; i++)
        fresh[i] = fresh[i] && !older[i];
    free(older);
    return st;
}

static enum status aged_remove(struct filter *f, const uint64_t *keys, size_t n,
                               bool *removed)
{
    struct aged *a = aged_of(f);
    bool *one = xmalloc(n > 0 ? n : 1);
    enum status st = STATUS_OK;

    if (removed != NULL)
        memset(removed, 0, n);
    for (unsigned i = 0; st == STATUS_OK && i < a->count; i++) {
        if (a->of[i].filter == NULL)
            continue;
        st = filter_remove(a->of[i].filter, keys, n, one);
        for (size_t k = 0; st == STATUS_OK && removed != NULL && k < n; k++)
            removed[k] |= one[k];
    }
    free(one);
    return st;
}

static void aged_stats(const struct filter *f, struct filter_stats *out)
{
    const struct aged *a = aged_of(f);
    double right = 1;

    out->kind = f->opt.kind;
    out->ttl_s = a->ttl;
    out->generations = a->n;
    for (unsigned i = 0; i < a->count; i++) {
        struct filter_stats s = {.fpr_predicted = 1};

        if (a->of[i].filter != NULL)
            filter_stats(a->of[i].filter, &s);
        else
            out->lost++;
        out->count += s.count;
        out->bits += s.bits;
        out->key_bits += s.key_bits;
        out->segments += s.segments;
        out->rebuilds += s.rebuilds;
        out->starved += s.starved;
        out->stuck += s.stuck;
        out->lost += s.lost;
        out->reduced |= s.reduced;
        if (s.fill > out->fill)
            out->fill = s.fill;
        if (i == 0)
            out->k = s.k;
        right *= 1 - s.fpr_predicted;
    }
    out->fpr_predicted = 1 - right;
}

/* ---- saving ---- */

static unsigned kind_number(const struct filter_options *o)
{
    unsigned i = 0;

    while (strcmp(filter_kind(i)->name, o->kind) != 0)
        i++;
    return i;
}

static uint64_t inner_shape(const struct filter *f,
                            uint64_t shape[FILTER_SHAPE])
{
    memset(shape, 0, FILTER_SHAPE * sizeof *shape);
    return f->ops->shape(f, shape);
}

static uint64_t units_of(const struct generation *g)
{
    uint64_t shape[FILTER_SHAPE];

    return g->filter == NULL ? 1 : 1 + inner_shape(g->filter, shape);
}

static uint64_t aged_shape(const struct filter *f, uint64_t shape[FILTER_SHAPE])
{
    const struct aged *a = aged_of(f);
    uint64_t all = 0;

    shape[0] = kind_number(&f->opt) | a->n << 8 | (uint64_t)a->count << 16;
    shape[1] = a->ttl;
    for (unsigned i = 0; i < a->count; i++) {
        uint64_t units = units_of(&a->of[i]);

        shape[3 + i] = (uint64_t)a->of[i].born << 32 | units;
        all += units;
    }
    return all;
}

/* The generation that unit *i is in; *i becomes its number there, 0: the
 * head. */
static struct generation *generation_of(struct aged *a, uint64_t *i,
                                        bool reading)
{
    for (unsigned g = 0; g < a->count; g++) {
        uint64_t units = reading ? a->of[g].units : units_of(&a->of[g]);

        if (*i < units)
            return &a->of[g];
        *i -= units;
    }
    return NULL;
}

static void aged_put_number(struct buf *to, uint64_t v)
{
    for (int i = 0; i < 8; i++)
        buf_add_char(to, (char)(v >> (8 * i) & 255));
}

static enum status aged_get_unit(struct filter *f, uint64_t i, struct buf *to,
                                 uint64_t meta[FILTER_META])
{
    struct generation *g = generation_of(aged_of(f), &i, false);
    uint64_t shape[FILTER_SHAPE];

    if (i > 0)
        return g->filter->ops->get_unit(g->filter, i - 1, to, meta);
    if (g->filter == NULL)
        return STATUS_OK; /* an empty head stays lost */
    inner_shape(g->filter, shape);
    for (int k = 0; k < FILTER_SHAPE; k++)
        aged_put_number(to, shape[k]);
    aged_put_number(to, g->last);
    return STATUS_OK;
}

static void aged_hold(struct filter *f, bool on)
{
    struct aged *a = aged_of(f);

    for (unsigned i = 0; i < a->count; i++)
        if (a->of[i].filter != NULL && a->of[i].filter->ops->hold != NULL)
            a->of[i].filter->ops->hold(a->of[i].filter, on);
}

/* ---- loading ---- */

static bool take_shape(struct aged *a, const uint64_t shape[FILTER_SHAPE],
                       uint64_t units)
{
    const struct filter_traits *kind = filter_kind(shape[0] & 255);
    uint64_t all = 0;

    a->n = (unsigned)(shape[0] >> 8 & 255);
    a->count = (unsigned)(shape[0] >> 16 & 255);
    if (kind == NULL || shape[0] >> 24 != 0 || a->n < 1 ||
        a->n > FILTER_GENERATIONS_MOST || a->count < 1 || a->count > a->n + 1 ||
        shape[1] < 1 || shape[1] > FILTER_TTL_MOST)
        return false;
    a->ttl = (uint32_t)shape[1];
    for (unsigned i = 0; i < a->count; i++) {
        a->of[i].born = (uint32_t)(shape[3 + i] >> 32);
        a->of[i].units = shape[3 + i] & UINT32_MAX;
        all += a->of[i].units;
        /* Unless its head says better. */
        a->of[i].last = i > 0 ? a->of[i - 1].born : a->of[i].born + step_of(a);
        if (a->of[i].units < 1 || (i > 0 && a->of[i].born > a->of[i - 1].born))
            return false;
    }
    a->base.opt.kind = kind->name;
    a->base.opt.ttl_s = a->ttl;
    a->base.opt.generations = a->n;
    return all == units;
}

static enum status aged_make_shaped(struct filter **out,
                                    const struct filter_options *o,
                                    const uint64_t shape[FILTER_SHAPE],
                                    uint64_t units, uint64_t most)
{
    struct aged *a = xcalloc(1, sizeof *a);

    a->base.ops = &aged_ops;
    a->base.opt = *o;
    a->file_size = most;
    if (!take_shape(a, shape, units)) {
        a->count = 0;
        aged_free(&a->base);
        return STATUS_FORMAT;
    }
    *out = &a->base;
    return STATUS_OK;
}

static enum status put_head(struct aged *a, struct generation *g,
                            struct bytes from)
{
    struct filter_options in = inner_options(&a->base.opt);
    uint64_t shape[FILTER_SHAPE + 1] = {0};
    const struct filter_ops *ops = filter_ops_named(in.kind);

    if (from.len != sizeof shape || g->filter != NULL)
        return STATUS_DAMAGED;
    for (size_t i = 0; i < from.len; i++)
        shape[i / 8] |= (uint64_t)(unsigned char)from.at[i] << (8 * (i % 8));
    if (shape[FILTER_SHAPE] < g->born || shape[FILTER_SHAPE] > UINT32_MAX)
        return STATUS_DAMAGED;
    g->last = (uint32_t)shape[FILTER_SHAPE];
    return ops->make_shaped(&g->filter, &in, shape, g->units - 1,
                            a->file_size) == STATUS_OK
               ? STATUS_OK
               : STATUS_DAMAGED;
}

static enum status aged_put_unit(struct filter *f, uint64_t i,
                                 struct bytes from,
                                 const uint64_t meta[FILTER_META])
{
    struct generation *g = generation_of(aged_of(f), &i, true);

    if (i == 0)
        return put_head(aged_of(f), g, from);
    if (g->filter == NULL)
        return STATUS_DAMAGED;
    return g->filter->ops->put_unit(g->filter, i - 1, from, meta);
}

static enum status aged_mend_unit(struct filter *f, uint64_t i)
{
    struct generation *g = generation_of(aged_of(f), &i, true);

    return i == 0 || g->filter == NULL
               ? STATUS_NOT_FOUND
               : g->filter->ops->mend_unit(g->filter, i - 1);
}

static enum status aged_loaded(struct filter *f)
{
    struct aged *a = aged_of(f);
    enum status st = STATUS_OK;

    for (unsigned i = 0; st == STATUS_OK && i < a->count; i++)
        if (a->of[i].filter != NULL && a->of[i].filter->ops->loaded != NULL)
            st = a->of[i].filter->ops->loaded(a->of[i].filter);
    return st;
}

const struct filter_ops aged_ops = {
    .traits = {.name = "aged",
               .summary = "generations of another kind, that are dropped one "
                          "by one",
               .grows = true,
               .removes = true,
               .waits_for_saving = true},
    .file_version = 2,
    .make = aged_make,
    .free = aged_free,
    .add = aged_add,
    .check = aged_check,
    .remove = aged_remove,
    .stats = aged_stats,
    .shape = aged_shape,
    .get_unit = aged_get_unit,
    .hold = aged_hold,
    .make_shaped = aged_make_shaped,
    .put_unit = aged_put_unit,
    .mend_unit = aged_mend_unit,
    .loaded = aged_loaded,
};
