/* SPDX-License-Identifier: MIT */
/*
 * due_heap.c - the waiting URLs of one queue, by due time.
 *
 * base/heap.h stores its items' places, which costs 40 octets a URL; here an
 * entry that is no longer valid is simply skipped.
 */
#include "frontier/served/due_heap.h"

#include <stdlib.h>

#include "base/mem.h"

void due_heap_fini(struct due_heap *h)
{
    free(h->entries);
    *h = (struct due_heap){0};
}

static void sift_up(struct due_heap *h, uint32_t i)
{
    struct due_entry e = h->entries[i];

    for (; i > 0 && due_before(e, h->entries[(i - 1) / 2]); i = (i - 1) / 2)
        h->entries[i] = h->entries[(i - 1) / 2];
    h->entries[i] = e;
}

static void sift_down(struct due_heap *h, uint32_t i)
{
    struct due_entry e = h->entries[i];

    for (;;) {
        uint32_t child = 2 * i + 1;

        if (child >= h->count)
            break;
        if (child + 1 < h->count &&
            due_before(h->entries[child + 1], h->entries[child]))
            child++;
        if (!due_before(h->entries[child], e))
            break;
        h->entries[i] = h->entries[child];
        i = child;
    }
    h->entries[i] = e;
}

void due_heap_push(struct due_heap *h, struct due_entry e)
{
    if (h->count == h->cap) {
        h->cap = h->cap > 0 ? h->cap + h->cap / 2 + 1 : 4;
        h->entries = xrealloc(h->entries, h->cap * sizeof *h->entries);
    }
    h->entries[h->count++] = e;
    sift_up(h, h->count - 1);
}

const struct due_entry *due_heap_top(const struct due_heap *h)
{
    return h->count > 0 ? h->entries : NULL;
}

void due_heap_pop(struct due_heap *h)
{
    h->entries[0] = h->entries[--h->count];
    if (h->count > 0)
        sift_down(h, 0);
    else
        due_heap_fini(h);
}

void due_heap_sweep(struct due_heap *h,
                    bool (*counts)(void *ctx, struct due_entry e), void *ctx)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < h->count; i++) {
        if (counts(ctx, h->entries[i]))
            h->entries[kept++] = h->entries[i];
    }
    h->count = kept;
    for (uint32_t i = kept / 2; i-- > 0;)
        sift_down(h, i);
    if (kept == 0)
        due_heap_fini(h);
}
