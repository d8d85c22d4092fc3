/* SPDX-License-Identifier: MIT */
/*
 * name_table.c - numbers for names, which are kept (queue_names) or not
 * (tag_index).
 *
 * Open addressing over numbers; the tags are in an array of their own, in order
 * of number, so that a free slot wastes four octets and not sixteen.
 */
#include "storage/index/name_table.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <xxhash.h>

#include "base/clock.h"
#include "base/digest.h"
#include "base/map.h"
#include "base/mem.h"
#include "storage/db/packed.h"

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

static uint32_t tag_slot(const struct tag_index *t, const struct tag *tag)
{
    uint32_t i = tag->word[0] & (t->slot_count - 1);

    while (t->slots[i] != 0 &&
           memcmp(&t->tags[t->slots[i] - 1], tag, sizeof *tag) != 0)
        i = (i + 1) & (t->slot_count - 1);
    return i;
}

/* Rebuilds the slots for all tags. Each insertion waits for a cache line, so it
 * is prefetched some tags ahead. False: a tag is there twice. */
static bool fill_tag_slots(struct tag_index *t, uint32_t slot_count)
{
    enum { AHEAD = 16 };
    bool all_different = true;

    free(t->slots);
    t->slot_count = slot_count;
    t->slots = xcalloc(t->slot_count, sizeof *t->slots);
    for (uint32_t n = 1; n <= t->count; n++) {
        uint32_t slot = tag_slot(t, &t->tags[n - 1]);

        if (n + AHEAD <= t->count)
            __builtin_prefetch(&t->slots[t->tags[n - 1 + AHEAD].word[0] &
                                         (t->slot_count - 1)]);
        all_different &= t->slots[slot] == 0;
        t->slots[slot] = n;
    }
    return all_different;
}

static void append_tag(struct tag_index *t, struct tag tag)
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

    return t->slots[tag_slot(t, &tag)];
}

uint32_t tag_index_add(struct tag_index *t, uint32_t space, struct bytes name)
{
    struct tag tag = tag_of(t, space, name);
    uint32_t slot;

    if ((uint64_t)(t->count + 1) * 4 > (uint64_t)t->slot_count * 3)
        (void)fill_tag_slots(t, t->slot_count * 2);
    slot = tag_slot(t, &tag);
    if (t->slots[slot] == 0) {
        append_tag(t, tag);
        t->slots[slot] = t->count;
    }
    return t->slots[slot];
}

uint32_t tag_index_load(struct tag_index *t, uint32_t space, struct bytes name)
{
    append_tag(t, tag_of(t, space, name));
    return t->count;
}

bool tag_index_index(struct tag_index *t)
{
    uint32_t slots = t->slot_count;

    while ((uint64_t)t->count * 4 > (uint64_t)slots * 3)
        slots *= 2;
    return fill_tag_slots(t, slots);
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

/*
 * The names of all queues, in memory.
 *
 * Unlike origins, queue names are needed all the time (for digests and
 * politeness), so all are in memory, packed into large blocks: crawl number (4
 * octets), length (2), key.
 */

#define BLOCK    ((size_t)256 << 10)
#define HEAD     6
#define MOST_LEN 65535

struct crawl {
    uint32_t number; /* 1, 2, 3 ... */
    size_t len;
    char name[];
};

struct queue_names {
    const unsigned char **names; /* entry i: queue i + 1 */
    uint32_t count, cap;
    uint32_t *slots;     /* queues; 0: free */
    uint32_t slot_count; /* a power of two */
    uint64_t seed;
    struct map *crawls; /* name to struct crawl */
    struct crawl **crawl_list;
    uint32_t crawl_count;
    unsigned char **blocks;
    size_t block_count, block_used, block_size;
    uint64_t memory; /* of names */
};

struct queue_names *queue_names_new(void)
{
    struct queue_names *t = xcalloc(1, sizeof *t);

    if (getrandom(&t->seed, sizeof t->seed, 0) != (ssize_t)sizeof t->seed)
        t->seed = (uintptr_t)t;
    t->crawls = map_new();
    t->slot_count = 64;
    t->slots = xcalloc(t->slot_count, sizeof *t->slots);
    return t;
}

void queue_names_free(struct queue_names *t)
{
    if (t == NULL)
        return;
    for (size_t i = 0; i < t->block_count; i++)
        free(t->blocks[i]);
    map_free(t->crawls, free);
    free(t->crawl_list);
    free(t->blocks);
    free(t->names);
    free(t->slots);
    free(t);
}

static struct bytes key_of(const unsigned char *name)
{
    return bytes_of(name + HEAD, packed_get(name + 4, 2));
}

static uint32_t home_of(const struct queue_names *t, uint32_t crawl,
                        struct bytes key)
{
    uint64_t h = XXH3_64bits_withSeed(key.at, key.len, t->seed + crawl);

    return (uint32_t)h & (t->slot_count - 1);
}

static uint32_t slot_from(const struct queue_names *t, uint32_t home,
                          uint32_t crawl, struct bytes key)
{
    uint32_t i = home;

    for (; t->slots[i] != 0; i = (i + 1) & (t->slot_count - 1)) {
        const unsigned char *name = t->names[t->slots[i] - 1];

        if (packed_get(name, 4) == crawl && bytes_equal(key_of(name), key))
            break;
    }
    return i;
}

static uint32_t slot_of(const struct queue_names *t, uint32_t crawl,
                        struct bytes key)
{
    return slot_from(t, home_of(t, crawl, key), crawl, key);
}

/* Rebuilds the slots for all names; each cache line is prefetched some names
 * ahead. False: a name is there twice. */
static bool fill_slots(struct queue_names *t, uint32_t slot_count)
{
    enum { AHEAD = 16 }; /* a power of two */
    uint32_t homes[AHEAD];
    bool all_different = true;

    free(t->slots);
    t->slot_count = slot_count;
    t->slots = xcalloc(t->slot_count, sizeof *t->slots);
    for (uint32_t n = 0; n < t->count + AHEAD; n++) {
        uint32_t before = n - AHEAD, slot;

        if (n >= AHEAD) {
            const unsigned char *name = t->names[before];

            slot = slot_from(t, homes[before % AHEAD],
                             (uint32_t)packed_get(name, 4), key_of(name));
            all_different &= t->slots[slot] == 0;
            t->slots[slot] = before + 1;
        }
        if (n < t->count) {
            const unsigned char *name = t->names[n];

            homes[n % AHEAD] =
                home_of(t, (uint32_t)packed_get(name, 4), key_of(name));
            __builtin_prefetch(&t->slots[homes[n % AHEAD]]);
        }
    }
    return all_different;
}

static uint32_t crawl_number(struct queue_names *t, struct bytes crawl)
{
    struct crawl *c = map_get(t->crawls, crawl);

    if (c != NULL)
        return c->number;
    c = xmalloc(sizeof *c + crawl.len);
    c->number = ++t->crawl_count;
    c->len = crawl.len;
    if (crawl.len > 0)
        memcpy(c->name, crawl.at, crawl.len);
    map_put(t->crawls, crawl, c);
    t->crawl_list =
        xrealloc(t->crawl_list, t->crawl_count * sizeof(struct crawl *));
    t->crawl_list[c->number - 1] = c;
    t->memory += 2 * crawl.len + 64;
    return c->number;
}

static unsigned char *room(struct queue_names *t, size_t len)
{
    if (t->block_size - t->block_used < len) {
        t->block_size = len > BLOCK ? len : BLOCK;
        t->block_used = 0;
        t->blocks =
            xrealloc(t->blocks, (t->block_count + 1) * sizeof *t->blocks);
        t->blocks[t->block_count++] = xmalloc(t->block_size);
        t->memory += t->block_size;
    }
    t->block_used += len;
    return t->blocks[t->block_count - 1] + t->block_used - len;
}

uint32_t queue_names_find(const struct queue_names *t, struct bytes crawl,
                          struct bytes key)
{
    const struct crawl *c = map_get(t->crawls, crawl);

    return c != NULL ? t->slots[slot_of(t, c->number, key)] : 0;
}

/* Where the name of a slot's queue is, and then the name. */
static void prefetch_place(const struct queue_names *t, uint32_t slot)
{
    if (t->slots[slot] != 0)
        __builtin_prefetch(&t->names[t->slots[slot] - 1]);
}

static void prefetch_name(const struct queue_names *t, uint32_t slot)
{
    if (t->slots[slot] != 0)
        __builtin_prefetch(t->names[t->slots[slot] - 1]);
}

void queue_names_find_all(const struct queue_names *t, struct bytes crawl,
                          const struct bytes *keys, size_t n, uint32_t *queues)
{
    enum { AHEAD = 6, RING = 32 }; /* more than 3 * AHEAD, a power of two */
    const struct crawl *c = map_get(t->crawls, crawl);
    uint32_t homes[RING];

    for (size_t i = 0; c != NULL && i < n + 3 * AHEAD; i++) {
        size_t place = i - AHEAD, name = i - 2 * AHEAD, k = i - 3 * AHEAD;

        if (i < n) {
            homes[i % RING] = home_of(t, c->number, keys[i]);
            __builtin_prefetch(&t->slots[homes[i % RING]]);
        }
        if (i >= AHEAD && place < n)
            prefetch_place(t, homes[place % RING]);
        if (i >= 2 * AHEAD && name < n)
            prefetch_name(t, homes[name % RING]);
        if (i >= 3 * AHEAD)
            queues[k] =
                t->slots[slot_from(t, homes[k % RING], c->number, keys[k])];
    }
    if (c == NULL && n > 0)
        memset(queues, 0, n * sizeof *queues);
}

static bool fits(const struct queue_names *t, struct bytes crawl,
                 struct bytes key)
{
    return t->count < UINT32_MAX - 1 && key.len <= MOST_LEN &&
           crawl.len <= MOST_LEN;
}

static void append(struct queue_names *t, uint32_t crawl, struct bytes key)
{
    unsigned char *name = room(t, HEAD + key.len);

    if (t->count == t->cap) {
        t->cap = t->cap > 0 ? t->cap + t->cap / 2 : 64;
        t->names = xrealloc(t->names, t->cap * sizeof *t->names);
    }
    packed_put(name, crawl, 4);
    packed_put(name + 4, key.len, 2);
    if (key.len > 0)
        memcpy(name + HEAD, key.at, key.len);
    t->names[t->count++] = name;
}

enum status queue_names_add(struct queue_names *t, struct bytes crawl,
                            struct bytes key, uint32_t *queue)
{
    uint32_t number, slot;

    if (!fits(t, crawl, key))
        return STATUS_LIMIT;
    number = crawl_number(t, crawl);
    if ((uint64_t)(t->count + 1) * 4 > (uint64_t)t->slot_count * 3)
        (void)fill_slots(t, t->slot_count * 2);
    slot = slot_of(t, number, key);
    if (t->slots[slot] != 0)
        return STATUS_EXISTS;
    append(t, number, key);
    t->slots[slot] = t->count;
    *queue = t->count;
    return STATUS_OK;
}

enum status queue_names_load(struct queue_names *t, struct bytes crawl,
                             struct bytes key)
{
    if (!fits(t, crawl, key))
        return STATUS_LIMIT;
    append(t, crawl_number(t, crawl), key);
    return STATUS_OK;
}

enum status queue_names_index(struct queue_names *t)
{
    uint32_t slots = t->slot_count;

    while ((uint64_t)t->count * 4 > (uint64_t)slots * 3)
        slots *= 2;
    return fill_slots(t, slots) ? STATUS_OK : STATUS_EXISTS;
}

void queue_names_get(const struct queue_names *t, uint32_t queue,
                     struct bytes *crawl, struct bytes *key)
{
    const unsigned char *name;
    const struct crawl *c;

    assert(queue >= 1 && queue <= t->count);
    name = t->names[queue - 1];
    c = t->crawl_list[packed_get(name, 4) - 1];
    *crawl = bytes_of(c->name, c->len);
    *key = key_of(name);
}

void queue_names_prefetch(const struct queue_names *t, uint32_t queue)
{
    if (queue >= 1 && queue <= t->count)
        __builtin_prefetch(&t->names[queue - 1]);
}

void queue_names_prefetch_name(const struct queue_names *t, uint32_t queue)
{
    if (queue >= 1 && queue <= t->count)
        __builtin_prefetch(t->names[queue - 1]);
}

uint32_t queue_names_count(const struct queue_names *t)
{
    return t->count;
}

uint64_t queue_names_memory(const struct queue_names *t)
{
    return sizeof *t + t->memory + t->cap * sizeof *t->names +
           t->slot_count * sizeof *t->slots;
}
