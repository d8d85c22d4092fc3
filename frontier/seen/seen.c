/* SPDX-License-Identifier: MIT */
/*
 * seen.c - in-batch dedupe, hot cache, filter, exact set.
 *
 * The order is by cost. When most of a stream is duplicates, a filter in front
 * of a B-tree alone does not pay, since every duplicate is a "maybe"; the batch
 * table and the hot cache in front of the filter catch nearly all of them.
 */
#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "frontier/seen/seen.h"

/*
 * The hot cache: the digests that links name most, in memory.
 *
 * Sets are so many that none has more than 2^16 places, so the low 16 bits of a
 * place and the number of the set say which one it is.
 */
#define ENTRY      2 /* place at which a new digest enters: the third */
#define LEAST      (HOT_LEAST / sizeof(struct hot_set))
#define MOST       (UINT32_C(1) << HOT_PLACE_BITS)
#define MORE_BITS  5
#define MORE_SHIFT (64 - HOT_PLACE_BITS - MORE_BITS)
#define MORE_MASK  ((UINT32_C(1) << MORE_BITS) - 1)

_Static_assert(sizeof(struct hot_set) == 64, "a line of the processor's cache");
_Static_assert(LEAST >= 1 << (HOT_PLACE_BITS - 16), "places of a set");
_Static_assert(HOT_WAYS *MORE_BITS <= 32, "more bits than there is room for");

/* As one way of a set has it. */
struct entry {
    uint64_t hi;
    uint32_t more;
    uint16_t place;
};

static struct entry entry_of(struct digest d)
{
    return (struct entry){.hi = d.hi,
                          .more = (uint32_t)(d.lo >> MORE_SHIFT) & MORE_MASK,
                          .place = (uint16_t)hot_place(d)};
}

static struct entry get(const struct hot_set *set, int way)
{
    return (struct entry){.hi = set->hi[way],
                          .more = set->more >> way * MORE_BITS & MORE_MASK,
                          .place = set->place[way]};
}

static void put(struct hot_set *set, int way, struct entry e)
{
    set->hi[way] = e.hi;
    set->place[way] = e.place;
    set->more &= ~(MORE_MASK << way * MORE_BITS);
    set->more |= e.more << way * MORE_BITS;
}

static uint32_t sets_in(uint64_t bytes, uint32_t most)
{
    uint64_t sets = bytes / sizeof(struct hot_set);

    return sets < LEAST ? LEAST : sets < most ? (uint32_t)sets : most;
}

enum status hot_cache_init(struct hot_cache *c, uint64_t bytes)
{
    uint32_t sets = sets_in(bytes, MOST);

    *c = (struct hot_cache){.sets =
                                try_pages(sets * sizeof(struct hot_set), NULL),
                            .count = sets,
                            .most = sets};
    return c->sets != NULL ? STATUS_OK : STATUS_NOMEM;
}

void hot_cache_fini(struct hot_cache *c)
{
    mem_free_pages(c->sets, c->most * sizeof *c->sets);
    *c = (struct hot_cache){0};
}

/* The place of an entry of set `number` of `count`. */
static uint32_t place_of(struct entry e, uint32_t number, uint32_t count)
{
    uint64_t first = (((uint64_t)number << HOT_PLACE_BITS) + count - 1) / count;

    return (uint32_t)(first + (uint16_t)(e.place - first));
}

/* Puts the digests of one set of `before` into those that they belong to now,
 * behind what is there. What does not fit is dropped. */
static void move_set(struct hot_cache *c, uint32_t number, uint32_t before)
{
    const struct hot_set old = c->sets[number];

    c->sets[number] = (struct hot_set){0};
    for (int i = 0; i < HOT_WAYS && old.hi[i] != 0; i++) {
        struct entry e = get(&old, i);
        struct hot_set *to = hot_cache_set_at(c, place_of(e, number, before));
        int k = 0;

        while (k < HOT_WAYS && to->hi[k] != 0)
            k++;
        if (k < HOT_WAYS)
            put(to, k, e);
    }
}

/* Sets move away from those that have not had their turn. */
void hot_cache_resize(struct hot_cache *c, uint64_t bytes)
{
    uint32_t before = c->count;

    c->count = sets_in(bytes, c->most);
    if (!c->touched)
        return;
    if (c->count > before) {
        for (uint32_t i = before; i > 0; i--)
            move_set(c, i - 1, before);
    } else if (c->count < before) {
        for (uint32_t i = 0; i < before; i++)
            move_set(c, i, before);
        mem_clear_pages(&c->sets[c->count],
                        (before - c->count) * sizeof *c->sets);
    }
}

static uint64_t hot_cache_memory(const struct hot_cache *c)
{
    return c->count * sizeof *c->sets;
}

bool hot_cache_has(struct hot_cache *c, struct digest d)
{
    struct hot_set *set = hot_cache_set(c, d);
    struct entry want = entry_of(d);

    for (int i = 0; i < HOT_WAYS && want.hi != 0; i++) {
        if (set->hi[i] != want.hi || set->place[i] != want.place ||
            get(set, i).more != want.more)
            continue;
        if (i > 0) {
            put(set, i, get(set, i - 1));
            put(set, i - 1, want);
        }
        return true;
    }
    return false;
}

/* The set fills up before anything is evicted. A digest whose hi is 0 would
 * look like a free way. */
void hot_cache_add(struct hot_cache *c, struct digest d)
{
    struct hot_set *set = hot_cache_set(c, d);
    int at = ENTRY;

    if (d.hi == 0)
        return;
    c->touched = true;
    while (at > 0 && set->hi[at - 1] == 0)
        at--;
    if (set->hi[at] != 0) {
        for (int i = HOT_WAYS - 1; i > at; i--)
            put(set, i, get(set, i - 1));
    }
    put(set, at, entry_of(d));
}

#define AHEAD 8 /* digests for which memory is fetched */

struct seen {
    struct filter *filter;
    struct exact_set *exact;
    struct hot_cache hot;
    struct seen_counts counts;
    /* memory of a call, reused by the next */
    uint32_t *table; /* index + 1 of the first with that digest */
    size_t table_size;
    size_t room;    /* entries in each of the arrays below */
    uint32_t *rest; /* indices that are still open */
    uint64_t *keys;
    bool *maybe;
    struct digest *ask;
    uint64_t *ids;
};

enum status seen_new(struct seen **out, struct filter *filter,
                     struct exact_set *exact, uint64_t hot_bytes)
{
    struct seen *s = xcalloc(1, sizeof *s);
    enum status st = hot_cache_init(&s->hot, hot_bytes);

    s->filter = filter;
    s->exact = exact;
    if (st == STATUS_OK)
        *out = s;
    else
        free(s);
    return st;
}

void seen_free(struct seen *s)
{
    if (s == NULL)
        return;
    hot_cache_fini(&s->hot);
    free(s->table);
    free(s->rest);
    free(s->keys);
    free(s->maybe);
    free(s->ask);
    free(s->ids);
    free(s);
}

void seen_use_filter(struct seen *s, struct filter *filter)
{
    s->filter = filter;
}

void seen_resize(struct seen *s, uint64_t hot_bytes)
{
    hot_cache_resize(&s->hot, hot_bytes);
}

static void make_room(struct seen *s, size_t n)
{
    size_t table = s->table_size > 0 ? s->table_size : 256;

    if (n > s->room) {
        s->room = n + n / 2;
        s->rest = xrealloc(s->rest, s->room * sizeof *s->rest);
        s->keys = xrealloc(s->keys, s->room * sizeof *s->keys);
        s->maybe = xrealloc(s->maybe, s->room * sizeof *s->maybe);
        s->ask = xrealloc(s->ask, s->room * sizeof *s->ask);
        s->ids = xrealloc(s->ids, s->room * sizeof *s->ids);
    }
    while (table < 2 * n)
        table *= 2;
    if (table != s->table_size) {
        s->table = xrealloc(s->table, table * sizeof *s->table);
        s->table_size = table;
    }
}

/* Is there an equal digest earlier in the batch? */
static bool repeats(struct seen *s, const struct digest *digests, size_t i,
                    size_t mask)
{
    size_t at = (size_t)digests[i].lo & mask;

    while (s->table[at] != 0) {
        if (digest_equal(digests[s->table[at] - 1], digests[i]))
            return true;
        at = (at + 1) & mask;
    }
    s->table[at] = (uint32_t)i + 1;
    return false;
}

/* Answers from batch table and hot cache; the other indices go into s->rest. */
static size_t take_easy_ones(struct seen *s, const struct digest *digests,
                             size_t n, enum seen_answer *answers)
{
    size_t mask = s->table_size - 1, left = 0;

    memset(s->table, 0, s->table_size * sizeof *s->table);
    for (size_t i = 0; i < n; i++) {
        if (i + AHEAD < n)
            __builtin_prefetch(hot_cache_set(&s->hot, digests[i + AHEAD]));
        answers[i] = SEEN_BEFORE;
        if (repeats(s, digests, i, mask)) {
            s->counts.in_batch++;
        } else if (hot_cache_has(&s->hot, digests[i])) {
            s->counts.hot++;
        } else {
            s->keys[left] = digests[i].hi;
            s->rest[left++] = (uint32_t)i;
        }
    }
    return left;
}

/* Keeps those of s->rest that the filter calls "maybe". *asked: the filter
 * could be asked; if not, all are kept and none of its answers is counted. */
static size_t ask_filter(struct seen *s, size_t left, enum seen_answer *answers,
                         bool *asked)
{
    size_t maybe = 0;
    uint64_t unsure;

    *asked = false;
    if (s->filter == NULL || left == 0)
        return left;
    unsure = filter_unsure(s->filter);
    filter_check(s->filter, s->keys, left, s->maybe);
    if (filter_unsure(s->filter) != unsure) {
        s->counts.unsure += left;
        return left;
    }
    *asked = true;
    for (size_t i = 0; i < left; i++) {
        if (s->maybe[i])
            s->rest[maybe++] = s->rest[i];
        else
            answers[s->rest[i]] = SEEN_NEW;
    }
    s->counts.filter_new += left - maybe;
    s->counts.filter_maybe += maybe;
    return maybe;
}

enum status seen_check(struct seen *s, const struct digest *digests, size_t n,
                       enum seen_answer *answers)
{
    return seen_find(s, digests, n, answers, NULL);
}

enum status seen_find(struct seen *s, const struct digest *digests, size_t n,
                      enum seen_answer *answers, uint64_t *ids)
{
    size_t left;
    enum status st;
    bool asked;

    assert(n < UINT32_MAX);
    make_room(s, n);
    s->counts.asked += n;
    if (ids != NULL)
        memset(ids, 0, n * sizeof *ids);
    left = take_easy_ones(s, digests, n, answers);
    left = ask_filter(s, left, answers, &asked);
    if (left == 0)
        return STATUS_OK;
    for (size_t i = 0; i < left; i++)
        s->ask[i] = digests[s->rest[i]];
    st = exact_set_find(s->exact, s->ask, left, s->ids);
    if (st != STATUS_OK)
        return st;
    for (size_t i = 0; i < left; i++) {
        if (ids != NULL)
            ids[s->rest[i]] = s->ids[i];
        if (s->ids[i] != 0) {
            hot_cache_add(&s->hot, s->ask[i]);
        } else if (!asked) {
            answers[s->rest[i]] = SEEN_NEW;
        } else {
            answers[s->rest[i]] = SEEN_NEW_FALSE_POSITIVE;
            s->counts.false_positives++;
        }
    }
    return STATUS_OK;
}

/* Add to the exact set first: a filter segment is rebuilt from its keys, and
 * must find those that make it grow. */
enum status seen_admit(struct seen *s, const struct digest *digests, size_t n,
                       uint64_t first_id)
{
    enum status st = STATUS_OK;

    make_room(s, n);
    for (size_t i = 0; i < n; i++) {
        if (i + AHEAD < n)
            exact_set_prefetch(s->exact, digests[i + AHEAD]);
        exact_set_add(s->exact, digests[i], first_id + i);
        hot_cache_add(&s->hot, digests[i]);
        s->keys[i] = digests[i].hi;
    }
    if (s->filter != NULL)
        st = filter_add_lenient(s->filter, s->keys, n, NULL);
    return st;
}

struct seen_counts seen_counts(const struct seen *s)
{
    return s->counts;
}

uint64_t seen_hot_memory(const struct seen *s)
{
    return hot_cache_memory(&s->hot);
}

uint64_t seen_memory(const struct seen *s)
{
    return hot_cache_memory(&s->hot) + s->table_size * sizeof *s->table +
           s->room * (sizeof *s->rest + sizeof *s->keys + sizeof *s->maybe +
                      sizeof *s->ask + sizeof *s->ids);
}
