/* SPDX-License-Identifier: MIT */
/*
 * exact_delta.c - entries of one part that are not in its pages yet.
 *
 * Entries are stored in order of arrival, with a hash table of their indices
 * beside them: 20 octets and some 10 of table, where a table of entries would
 * cost 40 to 80. Digests are seeded hashes, so any of their bits address the
 * table.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "storage/index/exact_parts.h"

static uint32_t slot_of(const struct exact_delta *t, const unsigned char *key)
{
    uint32_t i = (uint32_t)packed_get(key + KEY_SIZE - 4, 4);

    for (i &= t->slot_count - 1; t->slots[i] != 0;
         i = (i + 1) & (t->slot_count - 1)) {
        const unsigned char *e =
            t->entries + (size_t)(t->slots[i] - 1) * ENTRY_SIZE;

        if (memcmp(e, key, KEY_SIZE) == 0)
            break;
    }
    return i;
}

static void grow_slots(struct exact_delta *t)
{
    t->slot_count = t->slot_count > 0 ? t->slot_count * 2 : 64;
    free(t->slots);
    t->slots = xcalloc(t->slot_count, sizeof *t->slots);
    for (uint32_t i = 0; i < t->count; i++)
        t->slots[slot_of(t, t->entries + (size_t)i * ENTRY_SIZE)] = i + 1;
}

void exact_delta_add(struct exact_delta *t, const unsigned char *entry)
{
    if ((t->count + 1) * 4 > t->slot_count * 3)
        grow_slots(t);
    if (t->count == t->cap) {
        t->cap = t->cap > 0 ? t->cap + t->cap / 2 : 32;
        t->entries = xrealloc(t->entries, (size_t)t->cap * ENTRY_SIZE);
    }
    memcpy(t->entries + (size_t)t->count * ENTRY_SIZE, entry, ENTRY_SIZE);
    t->slots[slot_of(t, entry)] = ++t->count;
}

uint64_t exact_delta_find(const struct exact_delta *t,
                          const unsigned char key[KEY_SIZE])
{
    uint32_t at;

    if (t->count == 0)
        return 0;
    at = t->slots[slot_of(t, key)];
    return at > 0 ? exact_id(t->entries + (size_t)(at - 1) * ENTRY_SIZE) : 0;
}

bool exact_delta_move(struct exact_delta *t, const unsigned char *entry)
{
    uint32_t at = t->count > 0 ? t->slots[slot_of(t, entry)] : 0;

    if (at > 0)
        memcpy(t->entries + (size_t)(at - 1) * ENTRY_SIZE, entry, ENTRY_SIZE);
    return at > 0;
}

static int compare_entries(const void *a, const void *b)
{
    return memcmp(a, b, KEY_SIZE);
}

void exact_delta_sort(struct exact_delta *t)
{
    if (t->count > 1)
        qsort(t->entries, t->count, ENTRY_SIZE, compare_entries);
}

void exact_delta_clear(struct exact_delta *t)
{
    t->count = 0;
    t->replacing = 0;
    if (t->slot_count > 0)
        memset(t->slots, 0, t->slot_count * sizeof *t->slots);
}

void exact_delta_free(struct exact_delta *t)
{
    free(t->entries);
    free(t->slots);
}

uint64_t exact_delta_memory(const struct exact_delta *t)
{
    return (uint64_t)t->cap * ENTRY_SIZE +
           (uint64_t)t->slot_count * sizeof *t->slots;
}
