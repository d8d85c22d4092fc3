/* SPDX-License-Identifier: MIT */
/*
 * tag_index.c - names to small numbers, without keeping the names.
 *
 * Open addressing over numbers; the tags are in an array of their own, in order
 * of number, so that a free slot wastes four octets and not sixteen.
 */
#include "storage/index/tag_index.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/clock.h"
#include "base/digest.h"
#include "base/mem.h"

struct tag {
    uint32_t word[3];
};

struct tag_index {
    struct digest_key key;
    struct tag *tags; /* entry i: number i + 1 */
    uint32_t count, cap;
    uint32_t *slots;     /* numbers; 0: free */
    uint32_t slot_count; /* a power of two */
};

struct tag_index *tag_index_new(void)
{
    struct tag_index *t = xcalloc(1, sizeof *t);
    unsigned char seed[DIGEST_SEED_SIZE] = {0};

    if (getrandom(seed, sizeof seed, 0) != (ssize_t)sizeof seed) {
        int64_t now = clock_mono();

        memcpy(seed, &now, sizeof now);
    }
    digest_key_init(&t->key, seed);
    t->slot_count = 64;
    t->slots = xcalloc(t->slot_count, sizeof *t->slots);
    return t;
}

void tag_index_free(struct tag_index *t)
{
    if (t == NULL)
        return;
    free(t->tags);
    free(t->slots);
    free(t);
}

static struct tag tag_of(const struct tag_index *t, uint32_t space,
                         struct bytes name)
{
    struct digest d = digest_url(&t->key, bytes_of(&space, sizeof space),
                                 bytes_of(NULL, 0), name);

    return (struct tag){
        {(uint32_t)d.hi, (uint32_t)d.lo, (uint32_t)(d.lo >> 32)}};
}

static uint32_t slot_of(const struct tag_index *t, const struct tag *tag)
{
    uint32_t i = tag->word[0] & (t->slot_count - 1);

    while (t->slots[i] != 0 &&
           memcmp(&t->tags[t->slots[i] - 1], tag, sizeof *tag) != 0)
        i = (i + 1) & (t->slot_count - 1);
    return i;
}

/* Rebuilds the slots for all tags. Each insertion waits for a cache line, so it
 * is prefetched some tags ahead. False: a tag is there twice. */
static bool fill_slots(struct tag_index *t, uint32_t slot_count)
{
    enum { AHEAD = 16 };
    bool all_different = true;

    free(t->slots);
    t->slot_count = slot_count;
    t->slots = xcalloc(t->slot_count, sizeof *t->slots);
    for (uint32_t n = 1; n <= t->count; n++) {
        uint32_t slot = slot_of(t, &t->tags[n - 1]);

        if (n + AHEAD <= t->count)
            __builtin_prefetch(&t->slots[t->tags[n - 1 + AHEAD].word[0] &
                                         (t->slot_count - 1)]);
        all_different &= t->slots[slot] == 0;
        t->slots[slot] = n;
    }
    return all_different;
}

static void append(struct tag_index *t, struct tag tag)
{
    if (t->count == t->cap) {
        t->cap = t->cap > 0 ? t->cap + t->cap / 2 : 64;
        t->tags = xrealloc(t->tags, t->cap * sizeof *t->tags);
    }
    t->tags[t->count++] = tag;
}

uint32_t tag_index_find(const struct tag_index *t, uint32_t space,
                        struct bytes name)
{
    struct tag tag = tag_of(t, space, name);

    return t->slots[slot_of(t, &tag)];
}

uint32_t tag_index_add(struct tag_index *t, uint32_t space, struct bytes name)
{
    struct tag tag = tag_of(t, space, name);
    uint32_t slot;

    if ((uint64_t)(t->count + 1) * 4 > (uint64_t)t->slot_count * 3)
        (void)fill_slots(t, t->slot_count * 2);
    slot = slot_of(t, &tag);
    if (t->slots[slot] == 0) {
        append(t, tag);
        t->slots[slot] = t->count;
    }
    return t->slots[slot];
}

uint32_t tag_index_load(struct tag_index *t, uint32_t space, struct bytes name)
{
    append(t, tag_of(t, space, name));
    return t->count;
}

bool tag_index_index(struct tag_index *t)
{
    uint32_t slots = t->slot_count;

    while ((uint64_t)t->count * 4 > (uint64_t)slots * 3)
        slots *= 2;
    return fill_slots(t, slots);
}

uint32_t tag_index_count(const struct tag_index *t)
{
    return t->count;
}

uint64_t tag_index_memory(const struct tag_index *t)
{
    return sizeof *t + (uint64_t)t->cap * sizeof *t->tags +
           (uint64_t)t->slot_count * sizeof *t->slots;
}
