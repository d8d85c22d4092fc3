/* SPDX-License-Identifier: MIT */
/*
 * seen.c - in-batch dedupe, hot cache, filter, exact set.
 *
 * The order is by cost. When most of a stream is duplicates, a filter in front
 * of a B-tree alone does not pay, since every duplicate is a "maybe"; the batch
 * table and the hot cache in front of the filter catch nearly all of them.
 */
#include "frontier/seen/seen.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "frontier/seen/hot_cache.h"

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
