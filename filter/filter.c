/* SPDX-License-Identifier: MIT */
/*
 * filter.c - the table of kinds, and the checks they share.
 *
 * A table of functions rather than a switch in every call: a kind is one file,
 * and a batch pays the indirect call once.
 */
#include "filter/filter.h"

#include <math.h>
#include <string.h>

#include "base/logger.h"
#include "base/mem.h"
#include "filter/kind.h"

static const struct filter_ops *const kinds[] = {
    &scalable_ops, &bloom_ops, &stacked_ops, &counting_ops, &cuckoo_ops, NULL,
};

const struct filter_traits *filter_kind(size_t i)
{
    for (size_t k = 0; kinds[k] != NULL; k++)
        if (k == i)
            return &kinds[k]->traits;
    return NULL;
}

const struct filter_ops *filter_ops_named(const char *name)
{
    if (strcmp(redis_ops.traits.name, name) == 0)
        return &redis_ops;
    if (strcmp(aged_ops.traits.name, name) == 0)
        return &aged_ops;
    for (size_t k = 0; kinds[k] != NULL; k++)
        if (strcmp(kinds[k]->traits.name, name) == 0)
            return kinds[k];
    return NULL;
}

const struct filter_traits *filter_kind_named(const char *name)
{
    const struct filter_ops *ops = filter_ops_named(name);

    return ops != NULL ? &ops->traits : NULL;
}

enum status filter_complete_options(struct filter_options *o)
{
    const struct filter_ops *ops;

    ops = filter_ops_named(o->kind != NULL ? o->kind : "scalable");
    if (ops == NULL || o->expect < 1 || o->expect > UINT64_C(1) << 40 ||
        !(o->fpr >= 1e-9 && o->fpr <= 0.5))
        return STATUS_ARG;
    o->kind = ops->traits.name; /* our constant, which outlives the caller's */
    if (o->growth == 0)
        o->growth = 2;
    if (o->tightening == 0)
        o->tightening = 0.5;
    if (!(o->growth >= 1 && o->growth <= 16) ||
        !(o->tightening > 0 && o->tightening < 1))
        return STATUS_ARG;
    if (o->bucket_slots == 0)
        o->bucket_slots = 4;
    if (o->bucket_slots != 1 && o->bucket_slots != 2 && o->bucket_slots != 4 &&
        o->bucket_slots != 8)
        return STATUS_ARG;
    if (o->fingerprint_bits != 0 && o->fingerprint_bits != 8 &&
        o->fingerprint_bits != 12 && o->fingerprint_bits != 16 &&
        o->fingerprint_bits != 32)
        return STATUS_ARG;
    if (o->generations == 0)
        o->generations = 2;
    if (o->generations > FILTER_GENERATIONS_MOST || o->ttl_s < 0 ||
        o->ttl_s > FILTER_TTL_MOST)
        return STATUS_ARG;
    return STATUS_OK;
}

/* No filter takes less than log2(1 / fpr) bits a key (Carter et al., Exact and
 * approximate membership testers, 1978). */
uint64_t filter_least_bytes(const struct filter_options *o)
{
    return (uint64_t)((double)o->expect * -log2(o->fpr) / 8);
}

/* Some kinds touch their memory as they are made: rather than be refused it,
 * they would take all that the machine has. */
static bool exceeds_the_machine(const struct filter_options *o)
{
    uint64_t most = mem_total();

    return most > 0 && o->most_bytes == 0 && filter_least_bytes(o) > most;
}

enum status filter_new(struct filter **out, const struct filter_options *o)
{
    struct filter_options full = *o;
    enum status st = filter_complete_options(&full);
    const struct filter_ops *ops;

    if (st != STATUS_OK)
        return st;
    ops = full.ttl_s > 0 ? &aged_ops : filter_ops_named(full.kind);
    if (ops == &aged_ops && (full.ttl_s == 0 || full.kind == ops->traits.name ||
                             filter_kind_named(full.kind)->remote))
        return STATUS_ARG; /* it has a kind, which is in memory */
    if (!ops->traits.remote && exceeds_the_machine(&full))
        return STATUS_NOMEM;
    return ops->make(out, &full);
}

void filter_free(struct filter *f)
{
    if (f != NULL)
        f->ops->free(f);
}

const struct filter_options *filter_options(const struct filter *f)
{
    return &f->opt;
}

enum status filter_add(struct filter *f, const uint64_t *keys, size_t n,
                       bool *fresh)
{
    return f->ops->add(f, keys, n, fresh);
}

enum status filter_add_lenient(struct filter *f, const uint64_t *keys, size_t n,
                               bool *fresh)
{
    enum status st = filter_add(f, keys, n, fresh);

    return st == STATUS_LIMIT ? STATUS_OK : st;
}

void filter_check(const struct filter *f, const uint64_t *keys, size_t n,
                  bool *maybe)
{
    f->ops->check(f, keys, n, maybe);
}

bool filter_check_one(const struct filter *f, uint64_t key)
{
    bool maybe;

    f->ops->check(f, &key, 1, &maybe);
    return maybe;
}

enum status filter_remove(struct filter *f, const uint64_t *keys, size_t n,
                          bool *removed)
{
    if (f->ops->remove == NULL)
        return STATUS_ARG;
    return f->ops->remove(f, keys, n, removed);
}

enum status filter_merge(struct filter *into, const struct filter *from)
{
    if (into->ops != from->ops || into == from || into->ops->merge == NULL)
        return STATUS_ARG;
    return into->ops->merge(into, from);
}

struct pouring {
    struct filter *into;
    enum status st;
};

static void pour_visit(void *to, const uint64_t *keys, size_t n)
{
    struct pouring *p = to;
    enum status st = filter_add(p->into, keys, n, NULL);

    if (st != STATUS_OK)
        p->st = st;
}

enum status filter_add_from(struct filter *into,
                            const struct filter_source *from)
{
    struct pouring p = {into, STATUS_OK};
    enum status st = from->keys_of(from->ctx, 0, UINT64_MAX, pour_visit, &p);

    return st != STATUS_OK ? st : p.st;
}

bool filter_is_past_promise(const struct filter_stats *s)
{
    double chance = s->count > 0 ? 3 / sqrt((double)s->count) : 0;

    return s->fpr_predicted > (1.05 + chance) * s->fpr_promised ||
           (s->capacity > 0 && s->count > s->capacity);
}

void filter_stats(const struct filter *f, struct filter_stats *out)
{
    memset(out, 0, sizeof *out);
    out->kind = f->ops->traits.name;
    out->fpr_promised = f->opt.fpr;
    f->ops->stats(f, out);
    if (out->groups == 0) {
        out->groups = 1;
        out->group_fill[0] = (float)out->fill;
    }
    out->overfull = filter_is_past_promise(out);
}

uint64_t filter_unsure(const struct filter *f)
{
    return f->ops->unsure != NULL ? f->ops->unsure(f) : 0;
}

enum status filter_say_overfull(struct filter *f, const char *why)
{
    struct filter_stats s;

    if (!f->told_overfull) {
        f->told_overfull = true;
        filter_stats(f, &s);
        log_warn("filter is past its promise",
                 "kind=%s why=\"%s\" count=%llu promised=%g predicted=%g",
                 s.kind, why, (unsigned long long)s.count, s.fpr_promised,
                 s.fpr_predicted);
    }
    return STATUS_LIMIT;
}

void filter_find_stuck(const struct filter *f, const uint64_t *keys, size_t n,
                       const bool *removed, bool *stuck)
{
    struct filter_stats s;

    memset(stuck, 0, n * sizeof *stuck);
    filter_stats(f, &s);
    if (s.key_bits == 0)
        filter_check(f, keys, n, stuck);
    for (size_t i = 0; i < n; i++)
        stuck[i] &= !removed[i];
}
