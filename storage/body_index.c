/* SPDX-License-Identifier: MIT */
/* body_index.c - bodies seen, by digest, to the first fetch that had them. */
#include "storage/body_index.h"

#include <stdlib.h>

#include "base/logger.h"
#include "base/mem.h"

struct slot {
    uint64_t tag;
    uint64_t seq; /* 0: free */
};

struct body_index {
    struct slot *slots;
    uint64_t cap; /* a power of two */
    uint64_t count;
    bool full;
};

struct body_index *body_index_new(void)
{
    struct body_index *x = xcalloc(1, sizeof *x);

    x->cap = 1024;
    x->slots = xcalloc(x->cap, sizeof *x->slots);
    return x;
}

void body_index_free(struct body_index *x)
{
    if (x == NULL)
        return;
    free(x->slots);
    free(x);
}

uint64_t body_index_find(const struct body_index *x, struct digest d,
                         bool (*confirm)(void *ctx, uint64_t seq,
                                         struct digest d),
                         void *ctx)
{
    uint64_t i = d.lo & (x->cap - 1);

    for (; x->slots[i].seq != 0; i = (i + 1) & (x->cap - 1)) {
        if (x->slots[i].tag == d.lo && confirm(ctx, x->slots[i].seq, d))
            return x->slots[i].seq;
    }
    return 0;
}

static void put(struct body_index *x, uint64_t tag, uint64_t seq)
{
    uint64_t i = tag & (x->cap - 1);

    while (x->slots[i].seq != 0)
        i = (i + 1) & (x->cap - 1);
    x->slots[i] = (struct slot){tag, seq};
}

/* False: there is no memory for more. */
static bool grow(struct body_index *x)
{
    struct slot *old = x->slots, *wider;
    uint64_t old_cap = x->cap;

    wider = try_calloc(old_cap * 2, sizeof *wider);
    if (wider == NULL)
        return false;
    x->slots = wider;
    x->cap = old_cap * 2;
    for (uint64_t i = 0; i < old_cap; i++) {
        if (old[i].seq != 0)
            put(x, old[i].tag, old[i].seq);
    }
    free(old);
    return true;
}

void body_index_add(struct body_index *x, struct digest d, uint64_t seq)
{
    if (x->full)
        return;
    if (x->count == BODY_INDEX_MOST ||
        (x->count + 1 > x->cap / 4 * 3 && !grow(x))) {
        log_warn("duplicate content is no longer noticed for new pages",
                 "bodies=%llu", (unsigned long long)x->count);
        x->full = true;
        return;
    }
    put(x, d.lo, seq);
    x->count++;
}
