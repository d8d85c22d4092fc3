/*
 * heap.h - binary min-heap whose items know their place.
 *
 * An item embeds a struct heap_item, so that it can be removed or re-ordered
 * in O(log n) without a search. Items belong to the caller. Equal keys leave
 * in the order they entered. One thread at a time.
 */
#ifndef URLWEIR_BASE_HEAP_H
#define URLWEIR_BASE_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct heap_item {
    int64_t key;
    uint64_t order; /* breaks ties; set by the heap */
    size_t place;   /* 1-based; 0 = in no heap; set by the heap */
};

struct heap {
    struct heap_item **items;
    size_t count, cap;
    uint64_t entered;
};

void heap_init(struct heap *h);
void heap_fini(struct heap *h);

/* `item` must not be in a heap. */
void heap_push(struct heap *h, struct heap_item *item, int64_t key);
/* The item with the least key, left in place; NULL when empty. */
struct heap_item *heap_top(const struct heap *h);
struct heap_item *heap_pop(struct heap *h);
/* False: it was not in the heap. */
bool heap_remove(struct heap *h, struct heap_item *item);
/* Moves `item`, which is in this heap, to where it would be had it entered as
 * number `order`. */
void heap_date_back(struct heap *h, struct heap_item *item, uint64_t order);
/* Changes the key of `item`, which is in this heap. */
void heap_move(struct heap *h, struct heap_item *item, int64_t key);
size_t heap_count(const struct heap *h);

#endif
