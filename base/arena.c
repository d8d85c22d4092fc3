/* SPDX-License-Identifier: MIT */
/*
 * arena.c - memory of one lifetime: a chain of blocks, the last one kept.
 *
 * Blocks double in size: most pages need a few KiB, and memory that was not
 * touched lately is in no cache.
 */
#include "base/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define BLOCK_LEAST ((size_t)4 << 10)
#define BLOCK_MOST  ((size_t)64 << 10) /* but for what is larger by itself */

struct block {
    struct block *next;
    size_t size, used;
    alignas(max_align_t) unsigned char bytes[];
};

struct arena {
    struct block *head; /* the block being filled */
    size_t ceiling, used;
};

static struct block *block_new(size_t size)
{
    struct block *b = xmalloc(sizeof *b + size);

    b->next = NULL;
    b->size = size;
    b->used = 0;
    return b;
}

struct arena *arena_new(size_t ceiling)
{
    struct arena *a = xcalloc(1, sizeof *a);

    a->ceiling = ceiling;
    return a;
}

/* The size of the block behind `b`, or of the first. */
static size_t next_size(const struct block *b)
{
    if (b == NULL)
        return BLOCK_LEAST;
    return b->size < BLOCK_MOST / 2 ? 2 * b->size : BLOCK_MOST;
}

void *arena_try(struct arena *a, size_t size)
{
    const size_t align = alignof(max_align_t);
    struct block *b = a->head;
    void *p;

    if (size > a->ceiling || a->used > a->ceiling - size)
        return NULL;
    size = (size + align - 1) / align * align;
    if (b == NULL || size > b->size - b->used) {
        b = block_new(size > next_size(b) ? size : next_size(b));
        b->next = a->head;
        a->head = b;
    }
    p = b->bytes + b->used;
    b->used += size;
    a->used += size;
    return p;
}

char *arena_try_copy(struct arena *a, const void *bytes, size_t len)
{
    char *p = len < SIZE_MAX ? arena_try(a, len + 1) : NULL;

    if (p != NULL) {
        if (len > 0)
            memcpy(p, bytes, len);
        p[len] = '\0';
    }
    return p;
}

void arena_reset(struct arena *a)
{
    struct block *keep = NULL;

    while (a->head != NULL) {
        struct block *next = a->head->next;

        if (keep == NULL && a->head->size <= BLOCK_MOST)
            keep = a->head;
        else
            free(a->head);
        a->head = next;
    }
    if (keep != NULL) {
        keep->next = NULL;
        keep->used = 0;
        a->head = keep;
    }
    a->used = 0;
}

void arena_free(struct arena *a)
{
    if (a == NULL)
        return;
    arena_reset(a);
    free(a->head);
    free(a);
}

size_t arena_used(const struct arena *a)
{
    return a->used;
}
