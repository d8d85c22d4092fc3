/* SPDX-License-Identifier: MIT */
/*
 * buckets.c - the table of a cuckoo filter: fingerprints, four to a bucket.
 *
 * Buckets are packed without gaps: 4, 6, 8 or 16 octets for fingerprints of 8,
 * 12, 16 or 32 bits. A bucket is read as one or two words and its four
 * fingerprints are compared at once. A bucket of 12-bit fingerprints is read as
 * 8 octets, two too many, so the table ends in spare octets.
 *
 * The last resort when both buckets are full is the random walk of the paper:
 * displace one of four, take that one to its other bucket, and so on. 500 steps
 * are never needed below 95 % of the slots but in tables of a few buckets.
 */
#include "filter/kinds/buckets.h"

#include <string.h>

#include "base/mem.h"
#include "filter/block.h"

#define MOST_STEPS 500
#define SPARE      16

static uint64_t bucket_octets(const struct buckets *b)
{
    return b->bits * BUCKET_SLOTS / 8;
}

uint64_t buckets_bytes(const struct buckets *b)
{
    return b->count * bucket_octets(b);
}

enum status buckets_init(struct buckets *b, uint64_t count, unsigned bits)
{
    int huge;

    *b = (struct buckets){.count = count, .bits = bits, .random = 1};
    b->at = try_pages(buckets_bytes(b) + SPARE, &huge);
    b->huge = huge != 0;
    return b->at != NULL ? STATUS_OK : STATUS_NOMEM;
}

void buckets_fini(struct buckets *b)
{
    mem_free_pages(b->at, buckets_bytes(b) + SPARE);
    *b = (struct buckets){0};
}

/* ---- where ---- */

static uint64_t other(const struct buckets *b, uint64_t bucket, uint32_t print)
{
    uint64_t h = block_index(print * UINT64_C(0xd6e8feb86659fd93), b->count);

    return h >= bucket ? h - bucket : h + b->count - bucket;
}

struct bucket_place buckets_place(const struct buckets *b, uint64_t key)
{
    struct bucket_place p;

    p.print = (uint32_t)(block_hashes(key).h1 >> (64 - b->bits));
    p.print += p.print == 0;
    p.first = block_index(key, b->count);
    p.second = other(b, p.first, p.print);
    return p;
}

void buckets_fetch(const struct buckets *b, const struct bucket_place *p)
{
    __builtin_prefetch(b->at + p->first * bucket_octets(b));
    __builtin_prefetch(b->at + p->second * bucket_octets(b));
}

/* ---- one bucket ---- */

static uint64_t load_word(const unsigned char *from)
{
    uint64_t v;

    memcpy(&v, from, sizeof v);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    v = __builtin_bswap64(v);
#endif
    return v;
}

static uint32_t get_slot(const struct buckets *b, uint64_t bucket, unsigned i)
{
    const unsigned char *at = b->at + bucket * bucket_octets(b);

    if (b->bits == 32)
        return (uint32_t)(load_word(at + i / 2 * 8) >> i % 2 * 32);
    return (uint32_t)(load_word(at) >> i * b->bits) & ((1u << b->bits) - 1);
}

static void set_slot(struct buckets *b, uint64_t bucket, unsigned i,
                     uint32_t print)
{
    unsigned char *at = b->at + bucket * bucket_octets(b);
    unsigned bit = i * b->bits;

    at += bit / 8;
    if (b->bits == 12) { /* one octet and half of the next, or the reverse */
        unsigned odd = bit % 8;

        at[0] = (unsigned char)(odd ? (at[0] & 0x0f) | print << 4 : print);
        at[1] = (unsigned char)(odd ? print >> 4 : (at[1] & 0xf0) | print >> 8);
        return;
    }
    for (unsigned o = 0; o < b->bits / 8; o++)
        at[o] = (unsigned char)(print >> 8 * o);
}

/* Is one of the fields of `bits` bits in `word` equal to `print`? Subtracting 1
 * from each field carries into the top bit of a field that is 0. */
static bool word_has(uint64_t word, uint64_t print, unsigned bits,
                     uint64_t ones)
{
    uint64_t differ = word ^ print * ones;

    return ((differ - ones) & ~differ & ones << (bits - 1)) != 0;
}

static bool bucket_has(const struct buckets *b, uint64_t bucket, uint32_t print)
{
    const unsigned char *at = b->at + bucket * bucket_octets(b);

    switch (b->bits) {
    case 8:
        return word_has(load_word(at) & UINT32_MAX, print, 8, 0x01010101);
    case 12:
        return word_has(load_word(at) & UINT64_C(0xffffffffffff), print, 12,
                        UINT64_C(0x001001001001));
    case 16:
        return word_has(load_word(at), print, 16, UINT64_C(0x0001000100010001));
    default:
        return word_has(load_word(at), print, 32,
                        UINT64_C(0x0000000100000001)) ||
               word_has(load_word(at + 8), print, 32,
                        UINT64_C(0x0000000100000001));
    }
}

static bool swap_slot(struct buckets *b, uint64_t bucket, uint32_t was,
                      uint32_t is)
{
    for (unsigned i = 0; i < BUCKET_SLOTS; i++) {
        if (get_slot(b, bucket, i) == was) {
            set_slot(b, bucket, i, is);
            return true;
        }
    }
    return false;
}

/* ---- a key's two buckets ---- */

bool buckets_have(const struct buckets *b, const struct bucket_place *p)
{
    bool first = bucket_has(b, p->first, p->print);

    /* Both buckets are always read: a branch on the first one's result would be
     * unpredictable. */
    return (bucket_has(b, p->second, p->print) ? 1 : 0) | (first ? 1 : 0);
}

unsigned buckets_copies(const struct buckets *b, const struct bucket_place *p)
{
    unsigned n = 0;

    for (unsigned i = 0; i < BUCKET_SLOTS; i++) {
        n += get_slot(b, p->first, i) == p->print;
        n += p->second != p->first && get_slot(b, p->second, i) == p->print;
    }
    return n;
}

bool buckets_put(struct buckets *b, struct bucket_place *p)
{
    uint64_t bucket = p->second;

    if (swap_slot(b, p->first, 0, p->print) ||
        swap_slot(b, p->second, 0, p->print)) {
        b->taken++;
        return true;
    }
    for (int step = 0; step < MOST_STEPS; step++) {
        unsigned slot;
        uint32_t print;

        b->random = b->random * UINT64_C(6364136223846793005) + 1;
        slot = (unsigned)(b->random >> 62);
        print = get_slot(b, bucket, slot);
        set_slot(b, bucket, slot, p->print);
        p->print = print;
        p->first = bucket;
        bucket = p->second = other(b, bucket, print);
        if (swap_slot(b, bucket, 0, print)) {
            b->taken++;
            return true;
        }
    }
    return false;
}

bool buckets_remove(struct buckets *b, const struct bucket_place *p)
{
    if (!swap_slot(b, p->first, p->print, 0) &&
        !swap_slot(b, p->second, p->print, 0))
        return false;
    b->taken--;
    return true;
}

void buckets_pour(struct buckets *into, const struct buckets *from,
                  void (*homeless)(void *to, const struct bucket_place *p),
                  void *to)
{
    for (uint64_t i = 0; i < from->count; i++) {
        for (unsigned j = 0; j < BUCKET_SLOTS; j++) {
            struct bucket_place p = {.first = i, .print = get_slot(from, i, j)};

            if (p.print == 0)
                continue;
            p.second = other(into, i, p.print);
            if (!buckets_put(into, &p))
                homeless(to, &p);
        }
    }
}

void buckets_recount(struct buckets *b)
{
    b->taken = 0;
    for (uint64_t i = 0; i < b->count; i++)
        for (unsigned j = 0; j < BUCKET_SLOTS; j++)
            b->taken += get_slot(b, i, j) != 0;
}
