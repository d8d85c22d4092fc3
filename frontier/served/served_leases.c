/* SPDX-License-Identifier: MIT */
/*
 * served_leases.c - two tables of chains over leases that come in blocks.
 *
 * Leases come and go by the thousand each second, beside SQLite's pages; single
 * allocations would fragment the heap. So they come in blocks, and the free
 * ones form a list through next_by_id.
 */
#include "frontier/served/served_leases.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"

#define BLOCK      512
#define LEAST_SIZE 1024

struct block {
    struct block *next;
    struct served_lease leases[BLOCK];
};

struct served_leases {
    struct served_lease **by_id, **by_digest;
    size_t size; /* of both; a power of two */
    size_t count;
    struct served_lease *spare;
    struct block *blocks;
    size_t block_count;
};

static void make_tables(struct served_leases *t, size_t size)
{
    t->size = size;
    t->by_id = xcalloc(size, sizeof(struct served_lease *));
    t->by_digest = xcalloc(size, sizeof(struct served_lease *));
}

static void free_all(struct served_leases *t)
{
    for (struct block *b = t->blocks, *next; b != NULL; b = next) {
        next = b->next;
        free(b);
    }
    free(t->by_id);
    free(t->by_digest);
    *t = (struct served_leases){0};
}

struct served_leases *served_leases_new(void)
{
    struct served_leases *t = xcalloc(1, sizeof *t);

    make_tables(t, LEAST_SIZE);
    return t;
}

void served_leases_free(struct served_leases *t)
{
    if (t == NULL)
        return;
    free_all(t);
    free(t);
}

/* ---- chains ---- */

/* Ids leased together are close to one another or a stride apart:
 * multiplication spreads them (Knuth, TAOCP volume 3, 6.4). */
static struct served_lease **id_chain(const struct served_leases *t,
                                      uint32_t id)
{
    return &t->by_id[(id * UINT64_C(0x9e3779b97f4a7c15)) >> 32 & (t->size - 1)];
}

static struct served_lease **digest_chain(const struct served_leases *t,
                                          struct digest d)
{
    return &t->by_digest[d.lo & (t->size - 1)];
}

static bool is_said(struct digest d)
{
    return d.hi != 0 || d.lo != 0;
}

static void enter_id(struct served_leases *t, struct served_lease *h)
{
    struct served_lease **chain = id_chain(t, h->id);

    h->next_by_id = *chain;
    *chain = h;
}

static void enter_digest(struct served_leases *t, struct served_lease *h)
{
    struct served_lease **chain = digest_chain(t, h->digest);

    h->next_by_digest = *chain;
    *chain = h;
}

static void grow(struct served_leases *t)
{
    free(t->by_id);
    free(t->by_digest);
    make_tables(t, 2 * t->size);
    for (struct block *b = t->blocks; b != NULL; b = b->next) {
        for (size_t i = 0; i < BLOCK; i++) {
            struct served_lease *h = &b->leases[i];

            if (h->id == 0)
                continue;
            enter_id(t, h);
            if (is_said(h->digest))
                enter_digest(t, h);
        }
    }
}

/* ---- coming and going ---- */

static void add_block(struct served_leases *t)
{
    struct block *b = xcalloc(1, sizeof *b);

    b->next = t->blocks;
    t->blocks = b;
    t->block_count++;
    for (size_t i = 0; i < BLOCK; i++) {
        b->leases[i].next_by_id = t->spare;
        t->spare = &b->leases[i];
    }
}

struct served_lease *served_leases_add(struct served_leases *t, uint32_t id)
{
    struct served_lease *h;

    assert(id != 0);
    if (t->spare == NULL)
        add_block(t);
    if (t->count == t->size)
        grow(t);
    h = t->spare;
    t->spare = h->next_by_id;
    *h = (struct served_lease){.id = id};
    enter_id(t, h);
    t->count++;
    return h;
}

void served_leases_set_digest(struct served_leases *t, struct served_lease *h,
                              struct digest digest)
{
    assert(!is_said(h->digest));
    h->digest = digest;
    if (is_said(digest))
        enter_digest(t, h);
}

static void leave_chains(struct served_leases *t, struct served_lease *h)
{
    struct served_lease **at = id_chain(t, h->id);

    while (*at != h)
        at = &(*at)->next_by_id;
    *at = h->next_by_id;
    if (!is_said(h->digest))
        return;
    at = digest_chain(t, h->digest);
    while (*at != h)
        at = &(*at)->next_by_digest;
    *at = h->next_by_digest;
}

void served_leases_remove(struct served_leases *t, struct served_lease *h)
{
    leave_chains(t, h);
    h->id = 0;
    h->next_by_id = t->spare;
    t->spare = h;
    if (--t->count > 0 || t->size == LEAST_SIZE)
        return;
    free_all(t);
    make_tables(t, LEAST_SIZE);
}

/* ---- finding ---- */

struct served_lease *served_leases_find(const struct served_leases *t,
                                        uint32_t id)
{
    struct served_lease *h = *id_chain(t, id);

    while (h != NULL && h->id != id)
        h = h->next_by_id;
    return h;
}

struct served_lease *served_leases_find_digest(const struct served_leases *t,
                                               struct digest digest)
{
    struct served_lease *latest = NULL;

    for (struct served_lease *h = *digest_chain(t, digest); h != NULL;
         h = h->next_by_digest) {
        if (digest_equal(h->digest, digest) &&
            (latest == NULL || h->id > latest->id))
            latest = h;
    }
    return latest;
}

size_t served_leases_count(const struct served_leases *t)
{
    return t->count;
}

size_t served_leases_memory(const struct served_leases *t)
{
    return sizeof *t + t->block_count * sizeof(struct block) +
           2 * t->size * sizeof(struct served_lease *);
}
