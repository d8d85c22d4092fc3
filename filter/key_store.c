/* SPDX-License-Identifier: MIT */
/*
 * key_store.c - a filter's own copy of its keys, by hash prefix.
 *
 * Each part is an array: a sorted front, then new keys in order of arrival. A
 * stream of duplicates appends each "maybe" again, since a filter cannot tell
 * it from a false positive; when the array is full, it is sorted and duplicates
 * are dropped; it grows only if that frees less than a quarter. So memory stays
 * within a factor of the distinct keys. The new keys are sorted by themselves
 * and merged, or not at all while none of them can be a duplicate.
 */
#include "filter/key_store.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "filter/block.h"

#define LEAST_ROOM 16

struct part {
    uint64_t *keys;
    uint32_t count, cap;
    uint32_t sorted;   /* that many in front are sorted and distinct */
    uint32_t doubtful; /* that many of the others may be duplicates */
    bool incomplete;
};

struct key_store {
    struct part parts[KEY_STORE_PARTS];
};

enum status key_store_new(struct key_store **out, bool whole)
{
    struct key_store *k = try_calloc(1, sizeof *k);

    if (k == NULL)
        return STATUS_NOMEM;
    for (uint32_t i = 0; i < KEY_STORE_PARTS; i++)
        k->parts[i].incomplete = !whole;
    *out = k;
    return STATUS_OK;
}

void key_store_free(struct key_store *k)
{
    if (k == NULL)
        return;
    for (uint32_t i = 0; i < KEY_STORE_PARTS; i++)
        free(k->parts[i].keys);
    free(k);
}

static int by_value(const void *a, const void *b)
{
    uint64_t x, y;

    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return x < y ? -1 : x > y;
}

/* Merge the sorted front with the sorted arrivals `tail`, from the end
 * backwards, so that nothing is overwritten before it is read. */
static void part_merge(uint64_t *keys, uint32_t front, const uint64_t *tail,
                       uint32_t n)
{
    while (n > 0) {
        if (front > 0 && keys[front - 1] > tail[n - 1]) {
            keys[front + n - 1] = keys[front - 1];
            front--;
        } else {
            keys[front + n - 1] = tail[n - 1];
            n--;
        }
    }
}

static void put_in_order(struct part *p)
{
    uint32_t n = p->count - p->sorted, out = 0;
    uint64_t *tail;

    if (n == 0)
        return;
    qsort(p->keys + p->sorted, n, sizeof *p->keys, by_value);
    tail = xmalloc(n * sizeof *tail);
    memcpy(tail, p->keys + p->sorted, n * sizeof *tail);
    part_merge(p->keys, p->sorted, tail, n);
    free(tail);
    for (uint32_t i = 0; i < p->count; i++)
        if (i == 0 || p->keys[i] != p->keys[i - 1])
            p->keys[out++] = p->keys[i];
    p->count = p->sorted = out;
    p->doubtful = 0;
}

static void give_up(struct part *p)
{
    free(p->keys);
    *p = (struct part){.incomplete = true};
}

static bool part_make_room(struct part *p, uint32_t room)
{
    uint64_t *more;

    if (room <= p->cap)
        return true;
    more = try_realloc(p->keys, room * sizeof *more);
    if (more == NULL)
        return false;
    p->keys = more;
    p->cap = room;
    return true;
}

void key_store_add(struct key_store *k, uint64_t key, bool fresh)
{
    struct part *p = &k->parts[key_store_part(key)];

    if (p->incomplete)
        return;
    if (p->count == p->cap) {
        if (p->doubtful > 0)
            put_in_order(p);
        if (p->count >= p->cap - p->cap / 4 &&
            !part_make_room(p, p->cap + p->cap / 4 + LEAST_ROOM)) {
            give_up(p);
            return;
        }
    }
    p->keys[p->count++] = key;
    p->doubtful += !fresh;
}

bool key_store_has(struct key_store *k, uint64_t key)
{
    struct part *p = &k->parts[key_store_part(key)];

    /* Search a few new keys one by one; sort them if there are many. */
    if (p->count - p->sorted > 32 + p->count / 8)
        put_in_order(p);
    if (p->sorted > 0 &&
        bsearch(&key, p->keys, p->sorted, sizeof *p->keys, by_value) != NULL)
        return true;
    for (uint32_t i = p->sorted; i < p->count; i++)
        if (p->keys[i] == key)
            return true;
    return false;
}

bool key_store_remove(struct key_store *k, uint64_t key)
{
    struct part *p = &k->parts[key_store_part(key)];
    uint32_t out = 0, sorted = 0;

    for (uint32_t i = 0; i < p->count; i++) {
        if (p->keys[i] == key)
            continue;
        p->keys[out++] = p->keys[i];
        sorted += i < p->sorted;
    }
    if (out == p->count)
        return false;
    p->count = out;
    p->sorted = sorted;
    return true;
}

static enum status kept_keys_of(void *ctx, uint64_t first, uint64_t last,
                                void (*visit)(void *to, const uint64_t *keys,
                                              size_t n),
                                void *to)
{
    struct key_store *k = ctx;

    for (uint32_t i = key_store_part(first); i <= key_store_part(last); i++)
        if (k->parts[i].incomplete)
            return STATUS_NOT_FOUND;
    for (uint32_t i = key_store_part(first); i <= key_store_part(last); i++) {
        struct part *p = &k->parts[i];
        uint32_t from = 0, until;

        put_in_order(p);
        until = p->count;
        while (from < until && p->keys[from] < first)
            from++;
        while (until > from && p->keys[until - 1] > last)
            until--;
        if (until > from)
            visit(to, p->keys + from, until - from);
    }
    return STATUS_OK;
}

struct filter_source key_store_source(struct key_store *k)
{
    return (struct filter_source){kept_keys_of, k};
}

uint64_t key_store_bytes(const struct key_store *k)
{
    uint64_t bytes = sizeof *k;

    for (uint32_t i = 0; i < KEY_STORE_PARTS; i++)
        bytes += (uint64_t)k->parts[i].cap * sizeof(uint64_t);
    return bytes;
}

bool key_store_get(struct key_store *k, uint32_t part, const uint64_t **keys,
                   size_t *n)
{
    struct part *p = &k->parts[part];

    if (p->incomplete)
        return false;
    put_in_order(p);
    *keys = p->keys;
    *n = p->count;
    return true;
}

enum status key_store_save(struct key_store *k, uint32_t part, struct buf *to,
                           uint64_t *complete)
{
    const uint64_t *keys;
    size_t n;

    *complete = key_store_get(k, part, &keys, &n);
    return *complete != 0 && n > 0 ? block_append(to, keys, n) : STATUS_OK;
}

enum status key_store_put(struct key_store *k, uint32_t part,
                          struct bytes octets)
{
    struct part *p = &k->parts[part];
    size_t n = octets.len / 8;

    if (octets.len % 8 != 0 || n > UINT32_MAX / 2)
        return STATUS_DAMAGED;
    p->count = p->sorted = 0;
    if (!part_make_room(p, (uint32_t)n))
        return STATUS_NOMEM;
    if (n > 0)
        block_import(p->keys, (const unsigned char *)octets.at, n);
    for (size_t i = 0; i < n; i++)
        if (key_store_part(p->keys[i]) != part ||
            (i > 0 && p->keys[i] <= p->keys[i - 1]))
            return STATUS_DAMAGED;
    p->count = p->sorted = (uint32_t)n;
    p->incomplete = false;
    return STATUS_OK;
}
