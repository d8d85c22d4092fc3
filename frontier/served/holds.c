/* SPDX-License-Identifier: MIT */
/*
 * holds.c - two tables of chains over holds that come in blocks.
 *
 * Holds come and go by the thousand each second, side by side with SQLite's
 * pages; taken one by one from malloc they would break up what is free of both.
 * So they come in blocks, and those that are free are a list, through
 * next_by_id.
 */
#include "frontier/served/holds.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"

#define BLOCK      512
#define LEAST_SIZE 1024

struct block {
    struct block *next;
    struct hold holds[BLOCK];
};

struct holds {
    struct hold **by_id, **by_digest;
    size_t size; /* of both; a power of two */
    size_t count;
    struct hold *spare;
    struct block *blocks;
    size_t block_count;
};

static void make_tables(struct holds *t, size_t size)
{
    t->size = size;
    t->by_id = xcalloc(size, sizeof(struct hold *));
    t->by_digest = xcalloc(size, sizeof(struct hold *));
}

static void free_all(struct holds *t)
{
    for (struct block *b = t->blocks, *next; b != NULL; b = next) {
        next = b->next;
        free(b);
    }
    free(t->by_id);
    free(t->by_digest);
    *t = (struct holds){0};
}

struct holds *holds_new(void)
{
    struct holds *t = xcalloc(1, sizeof *t);

    make_tables(t, LEAST_SIZE);
    return t;
}

void holds_free(struct holds *t)
{
    if (t == NULL)
        return;
    free_all(t);
    free(t);
}

/* ---- chains ---- */

/* Ids that are handed out together are close to one another or a stride apart:
 * multiplied, they spread (Knuth, TAOCP volume 3, 6.4). */
static struct hold **id_chain(const struct holds *t, uint32_t id)
{
    return &t->by_id[(id * UINT64_C(0x9e3779b97f4a7c15)) >> 32 & (t->size - 1)];
}

static struct hold **digest_chain(const struct holds *t, struct digest d)
{
    return &t->by_digest[d.lo & (t->size - 1)];
}

static bool is_said(struct digest d)
{
    return d.hi != 0 || d.lo != 0;
}

static void enter_id(struct holds *t, struct hold *h)
{
    struct hold **chain = id_chain(t, h->id);

    h->next_by_id = *chain;
    *chain = h;
}

static void enter_digest(struct holds *t, struct hold *h)
{
    struct hold **chain = digest_chain(t, h->digest);

    h->next_by_digest = *chain;
    *chain = h;
}

static void grow(struct holds *t)
{
    free(t->by_id);
    free(t->by_digest);
    make_tables(t, 2 * t->size);
    for (struct block *b = t->blocks; b != NULL; b = b->next) {
        for (size_t i = 0; i < BLOCK; i++) {
            struct hold *h = &b->holds[i];

            if (h->id == 0)
                continue;
            enter_id(t, h);
            if (is_said(h->digest))
                enter_digest(t, h);
        }
    }
}

/* ---- coming and going ---- */

static void add_block(struct holds *t)
{
    struct block *b = xcalloc(1, sizeof *b);

    b->next = t->blocks;
    t->blocks = b;
    t->block_count++;
    for (size_t i = 0; i < BLOCK; i++) {
        b->holds[i].next_by_id = t->spare;
        t->spare = &b->holds[i];
    }
}

struct hold *holds_add(struct holds *t, uint32_t id)
{
    struct hold *h;

    assert(id != 0);
    if (t->spare == NULL)
        add_block(t);
    if (t->count == t->size)
        grow(t);
    h = t->spare;
    t->spare = h->next_by_id;
    *h = (struct hold){.id = id};
    enter_id(t, h);
    t->count++;
    return h;
}

void holds_say_digest(struct holds *t, struct hold *h, struct digest digest)
{
    assert(!is_said(h->digest));
    h->digest = digest;
    if (is_said(digest))
        enter_digest(t, h);
}

static void leave_chains(struct holds *t, struct hold *h)
{
    struct hold **at = id_chain(t, h->id);

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

void holds_remove(struct holds *t, struct hold *h)
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

struct hold *holds_find(const struct holds *t, uint32_t id)
{
    struct hold *h = *id_chain(t, id);

    while (h != NULL && h->id != id)
        h = h->next_by_id;
    return h;
}

struct hold *holds_find_digest(const struct holds *t, struct digest digest)
{
    struct hold *latest = NULL;

    for (struct hold *h = *digest_chain(t, digest); h != NULL;
         h = h->next_by_digest) {
        if (digest_equal(h->digest, digest) &&
            (latest == NULL || h->id > latest->id))
            latest = h;
    }
    return latest;
}

size_t holds_count(const struct holds *t)
{
    return t->count;
}

size_t holds_memory(const struct holds *t)
{
    return sizeof *t + t->block_count * sizeof(struct block) +
           2 * t->size * sizeof(struct hold *);
}
