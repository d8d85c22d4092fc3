/*
 * due_heap.h - the waiting URLs of one queue, by due time.
 *
 * It has only URLs that need it: those put again, or whose lease has ended.
 * Entries are never taken out of the middle: the owner knows which are valid,
 * skips the others, and has them swept when they are too many. Equal times come
 * out by URL id. 16 octets an entry. One thread.
 */
#ifndef URLWEIR_FRONTIER_SERVED_DUE_HEAP_H
#define URLWEIR_FRONTIER_SERVED_DUE_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct due_entry {
    int64_t due_ms;
    uint32_t id;
};

/* All zero: empty. */
struct due_heap {
    struct due_entry *entries;
    uint32_t count, cap;
};

void due_heap_fini(struct due_heap *h); /* empties it and frees its memory */
void due_heap_push(struct due_heap *h, struct due_entry e);
/* NULL: it is empty. */
const struct due_entry *due_heap_top(const struct due_heap *h);
void due_heap_pop(struct due_heap *h);
/* Keeps the entries for which `counts` returns true. */
void due_heap_sweep(struct due_heap *h,
                    bool (*counts)(void *ctx, struct due_entry e), void *ctx);

static inline bool due_before(struct due_entry a, struct due_entry b)
{
    return a.due_ms != b.due_ms ? a.due_ms < b.due_ms : a.id < b.id;
}

#endif
