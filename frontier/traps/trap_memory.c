/* SPDX-License-Identifier: MIT */
/*
 * trap_memory.c - what pages have shown, as far as a bounded memory goes.
 *
 * A table without chains: a key has WAYS places side by side, in the order in
 * which their keys were noted or set last, and a new one pushes the last out.
 * So a lookup is one cache miss, and what a space shows on each page stays,
 * whatever passes by. (With two places, three such keys at one pair pushed each
 * other out for ever, and a space looked new without end.)
 */
#include "frontier/traps/trap_memory.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define ROOM_LEAST ((size_t)256) /* entries */
#define WAYS       ((size_t)8)   /* of a cache line */

struct entry {
    uint32_t check; /* the low half of the key, never 0; 0: free */
    uint32_t value;
};

struct trap_memory {
    struct entry *at; /* NULL: nothing is known yet */
    size_t room;      /* a power of two */
};

struct trap_memory *trap_memory_new(uint64_t octets)
{
    struct trap_memory *m = xcalloc(1, sizeof *m);

    m->room = ROOM_LEAST;
    while (2 * m->room * sizeof *m->at <= octets)
        m->room *= 2;
    return m;
}

void trap_memory_free(struct trap_memory *m)
{
    if (m == NULL)
        return;
    free(m->at);
    free(m);
}

uint64_t trap_memory_octets(const struct trap_memory *m)
{
    return m->at != NULL ? m->room * sizeof *m->at : 0;
}

static uint32_t check_of(uint64_t key)
{
    uint32_t low = (uint32_t)key;

    return low != 0 ? low : 1;
}

static struct entry *place_of(const struct trap_memory *m, uint64_t key)
{
    return &m->at[(key >> 32 & (m->room - 1)) & ~(WAYS - 1)];
}

/* Which of its places the key has; WAYS: none. */
static size_t find(const struct entry *e, uint32_t check)
{
    size_t i = 0;

    while (i < WAYS && e[i].check != check)
        i++;
    return i;
}

bool trap_memory_get(const struct trap_memory *m, uint64_t key, uint32_t *out)
{
    const uint32_t check = check_of(key);
    const struct entry *e;
    size_t i;

    if (m->at == NULL)
        return false;
    e = place_of(m, key);
    i = find(e, check);
    if (i == WAYS)
        return false;
    *out = e[i].value;
    return true;
}

void trap_memory_set(struct trap_memory *m, uint64_t key, uint32_t value)
{
    const uint32_t check = check_of(key);
    struct entry *e;
    size_t i;

    if (m->at == NULL)
        m->at = xcalloc(m->room, sizeof *m->at);
    e = place_of(m, key);
    i = find(e, check);
    memmove(e + 1, e, (i < WAYS ? i : WAYS - 1) * sizeof *e);
    e[0] = (struct entry){check, value};
}

bool trap_memory_note(struct trap_memory *m, uint64_t key)
{
    uint32_t value = 0;
    bool known = trap_memory_get(m, key, &value);

    trap_memory_set(m, key, value); /* it is the latest now */
    return known;
}
