/* SPDX-License-Identifier: MIT */
/* heap.c - binary min-heap in an array; places are kept in the items. */
#include "base/heap.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"

void heap_init(struct heap *h)
{
    *h = (struct heap){0};
}

void heap_fini(struct heap *h)
{
    free(h->items);
    heap_init(h);
}

static bool before(const struct heap_item *a, const struct heap_item *b)
{
    return a->key != b->key ? a->key < b->key : a->order < b->order;
}

static void put_at(struct heap *h, size_t i, struct heap_item *item)
{
    h->items[i] = item;
    item->place = i + 1;
}

static void rise(struct heap *h, size_t i)
{
    struct heap_item *item = h->items[i];

    while (i > 0 && before(item, h->items[(i - 1) / 2])) {
        put_at(h, i, h->items[(i - 1) / 2]);
        i = (i - 1) / 2;
    }
    put_at(h, i, item);
}

static void sink(struct heap *h, size_t i)
{
    struct heap_item *item = h->items[i];

    for (;;) {
        size_t child = 2 * i + 1;

        if (child >= h->count)
            break;
        if (child + 1 < h->count &&
            before(h->items[child + 1], h->items[child]))
            child++;
        if (!before(h->items[child], item))
            break;
        put_at(h, i, h->items[child]);
        i = child;
    }
    put_at(h, i, item);
}

void heap_push(struct heap *h, struct heap_item *item, int64_t key)
{
    assert(item->place == 0);
    if (h->count == h->cap) {
        h->cap = h->cap > 0 ? h->cap * 2 : 16;
        h->items = xrealloc(h->items, h->cap * sizeof(struct heap_item *));
    }
    item->key = key;
    item->order = h->entered++;
    h->items[h->count] = item;
    rise(h, h->count++);
}

void heap_date_back(struct heap *h, struct heap_item *item, uint64_t order)
{
    assert(item->place > 0 && order <= item->order);
    item->order = order;
    rise(h, item->place - 1);
}

struct heap_item *heap_top(const struct heap *h)
{
    return h->count > 0 ? h->items[0] : NULL;
}

bool heap_remove(struct heap *h, struct heap_item *item)
{
    size_t i;

    if (item->place == 0)
        return false;
    i = item->place - 1;
    assert(i < h->count && h->items[i] == item);
    item->place = 0;
    h->count--;
    if (i < h->count) {
        put_at(h, i, h->items[h->count]);
        rise(h, i);
        sink(h, h->items[i]->place - 1);
    }
    return true;
}

struct heap_item *heap_pop(struct heap *h)
{
    struct heap_item *top = heap_top(h);

    if (top != NULL)
        heap_remove(h, top);
    return top;
}

void heap_move(struct heap *h, struct heap_item *item, int64_t key)
{
    heap_remove(h, item);
    heap_push(h, item, key);
}

size_t heap_count(const struct heap *h)
{
    return h->count;
}
