/* SPDX-License-Identifier: MIT */
/*
 * shared.c - a filter in memory that many threads use at once.
 *
 * Locks around groups rather than atomic bits: "certainly new" is an answer
 * about k bits at once, and with each of them set atomically two threads that
 * race for a key can both find one that was not set yet. Growing and removal
 * need the lock anyway. A batch is dealt to the groups first, so that a lock
 * is taken once a batch and group.
 *
 * The group is the top of a product, not of the key: segments and blocks are
 * chosen by the key's own top bits, fingerprints by its low ones, and a group
 * must have all of either.
 */
#include "filter/shared.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "filter/kind.h"

#define GROUPS      64
#define MOST_GROUPS 256
#define WINDOW      1024 /* keys dealt at once */

struct group {
    pthread_rwlock_t lock;
    struct filter *filter; /* under lock */
    char apart[64];        /* locks of their own cache line */
};

struct filter_shared {
    struct group *groups;
    unsigned count, shift; /* shift: 64 less the bits of a group's number */
};

/* Keys fall to groups at random: four standard deviations more, lest one that
 * cannot grow be full while the whole is not. */
static uint64_t share_of(uint64_t expect, unsigned groups, bool grows)
{
    double mean = (double)expect / groups;

    return (uint64_t)ceil(grows || groups == 1 ? mean : mean + 4 * sqrt(mean));
}

enum status filter_shared_new(struct filter_shared **out,
                              const struct filter_options *o, unsigned groups)
{
    const char *kind = o->kind != NULL ? o->kind : "scalable";
    const struct filter_traits *traits = filter_kind_named(kind);
    unsigned n = groups != 0 ? groups : GROUPS;
    struct filter_options part = *o;
    struct filter_shared *s;
    enum status st = STATUS_OK;

    if (traits == NULL || traits->remote || o->source.keys_of != NULL ||
        n > MOST_GROUPS || (n & (n - 1)) != 0)
        return STATUS_ARG;
    s = xcalloc(1, sizeof *s);
    s->groups = xcalloc(n, sizeof *s->groups);
    s->shift = 64 - (unsigned)__builtin_ctz(n);
    part.expect = share_of(o->expect, n, traits->grows);
    part.most_bytes = o->most_bytes / n;
    for (; st == STATUS_OK && s->count < n; s->count++) {
        pthread_rwlock_init(&s->groups[s->count].lock, NULL);
        st = filter_new(&s->groups[s->count].filter, &part);
    }
    if (st != STATUS_OK) {
        filter_shared_free(s);
        return st;
    }
    *out = s;
    return STATUS_OK;
}

void filter_shared_free(struct filter_shared *s)
{
    if (s == NULL)
        return;
    for (unsigned i = 0; i < s->count; i++) {
        pthread_rwlock_destroy(&s->groups[i].lock);
        filter_free(s->groups[i].filter);
    }
    free(s->groups);
    free(s);
}

/* ---- dealing a batch to the groups ---- */

struct deal {
    uint32_t end[MOST_GROUPS]; /* of each group in `keys`, which is in order */
    uint64_t keys[WINDOW];
    uint32_t from[WINDOW]; /* where each stood in the batch */
    bool answers[WINDOW];
};

static unsigned group_of(const struct filter_shared *s, uint64_t key)
{
    return s->count == 1
               ? 0
               : (unsigned)((key * UINT64_C(0xd1342543de82ef95)) >> s->shift);
}

/* Stable, so that equal keys keep their order. */
static void deal(const struct filter_shared *s, struct deal *d,
                 const uint64_t *keys, size_t n)
{
    uint32_t at[MOST_GROUPS] = {0}, sum = 0;

    for (size_t i = 0; i < n; i++)
        at[group_of(s, keys[i])]++;
    for (unsigned g = 0; g < s->count; g++) {
        uint32_t size = at[g];

        at[g] = sum;
        sum += size;
        d->end[g] = sum;
    }
    for (size_t i = 0; i < n; i++) {
        uint32_t place = at[group_of(s, keys[i])]++;

        d->keys[place] = keys[i];
        d->from[place] = (uint32_t)i;
    }
}

enum what { ADD, CHECK, REMOVE };

static enum status ask(struct group *g, enum what what, const uint64_t *keys,
                       size_t n, bool *answers)
{
    enum status st = STATUS_OK;

    if (what == CHECK)
        pthread_rwlock_rdlock(&g->lock);
    else
        pthread_rwlock_wrlock(&g->lock);
    if (what == CHECK)
        filter_check(g->filter, keys, n, answers);
    else if (what == ADD)
        st = filter_add(g->filter, keys, n, answers);
    else
        st = filter_remove(g->filter, keys, n, answers);
    pthread_rwlock_unlock(&g->lock);
    return st;
}

/* All keys take their turn whatever comes of the others; the last failure. */
static enum status ask_window(struct filter_shared *s, enum what what,
                              struct deal *d, const uint64_t *keys, size_t n,
                              bool *answers)
{
    enum status st = STATUS_OK;
    uint32_t first = 0;

    deal(s, d, keys, n);
    for (unsigned g = 0; g < s->count; g++) {
        enum status one = STATUS_OK;

        if (d->end[g] > first)
            one = ask(&s->groups[g], what, d->keys + first, d->end[g] - first,
                      d->answers + first);
        if (one != STATUS_OK)
            st = one;
        first = d->end[g];
    }
    for (size_t i = 0; answers != NULL && i < n; i++)
        answers[d->from[i]] = d->answers[i];
    return st;
}

static enum status ask_all(struct filter_shared *s, enum what what,
                           const uint64_t *keys, size_t n, bool *answers)
{
    enum status st = STATUS_OK;
    struct deal d;

    memset(d.answers, 0, sizeof d.answers);
    for (size_t at = 0; at < n; at += WINDOW) {
        size_t w = n - at < WINDOW ? n - at : WINDOW;
        enum status one = ask_window(s, what, &d, keys + at, w,
                                     answers != NULL ? answers + at : NULL);

        if (one != STATUS_OK)
            st = one;
    }
    return st;
}

enum status filter_shared_add(struct filter_shared *s, const uint64_t *keys,
                              size_t n, bool *fresh)
{
    return ask_all(s, ADD, keys, n, fresh);
}

void filter_shared_check(struct filter_shared *s, const uint64_t *keys,
                         size_t n, bool *maybe)
{
    (void)!ask_all(s, CHECK, keys, n, maybe); /* checking cannot fail */
}

enum status filter_shared_remove(struct filter_shared *s, const uint64_t *keys,
                                 size_t n, bool *removed)
{
    return ask_all(s, REMOVE, keys, n, removed);
}

/* ---- telling ---- */

static void add_up(struct filter_stats *all, const struct filter_stats *one,
                   double share)
{
    all->kind = one->kind;
    all->k = one->k;
    all->fpr_promised = one->fpr_promised;
    all->count += one->count;
    all->capacity += one->capacity;
    all->bits += one->bits;
    all->key_bits += one->key_bits;
    all->fill += one->fill * share;
    all->fpr_predicted += one->fpr_predicted * share;
    all->segments += one->segments;
    all->rebuilds += one->rebuilds;
    all->starved += one->starved;
    all->stuck += one->stuck;
    all->lost += one->lost;
    all->reduced |= one->reduced;
    all->huge_pages |= one->huge_pages;
}

void filter_shared_stats(struct filter_shared *s, struct filter_stats *out)
{
    memset(out, 0, sizeof *out);
    for (unsigned i = 0; i < s->count; i++) {
        struct filter_stats one;

        pthread_rwlock_rdlock(&s->groups[i].lock);
        filter_stats(s->groups[i].filter, &one);
        pthread_rwlock_unlock(&s->groups[i].lock);
        add_up(out, &one, 1.0 / s->count);
    }
    out->overfull = filter_is_past_promise(out);
}
