/* SPDX-License-Identifier: MIT */
/*
 * buckets.c - the table of a cuckoo filter: fingerprints in buckets.
 *
 * Slots are packed without gaps, so that a bucket of one slot of 12 bits may
 * begin in the middle of an octet. A bucket is read a word at a time and all
 * fingerprints of the word are compared at once; the last word read may reach
 * past the table, which therefore ends in spare octets.
 *
 * The last resort when both buckets are full is the random walk of the paper:
 * displace a fingerprint, take that one to its other bucket, and so on. 500
 * steps are never needed at the loads of cuckoo.c but in tables of a few
 * buckets.
 */
#include "filter/kinds/buckets.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "filter/block.h"

#define MOST_STEPS 500
#define SPARE      16

static uint64_t buckets_octets(uint64_t slots, unsigned bits)
{
    return (slots * bits + 7) / 8;
}

uint64_t buckets_bytes(const struct buckets *b)
{
    return buckets_octets(b->count * b->slots, b->bits);
}

/* A group of 12-bit slots is four at most, so that it begins with an octet. */
static void set_groups(struct buckets *b)
{
    unsigned most = b->bits == 12 ? 4 : 64 / b->bits;
    unsigned n = b->slots < most ? b->slots : most;

    b->groups = b->slots / n;
    b->group_bits = n * b->bits;
    b->group_mask = UINT64_MAX >> (64 - b->group_bits);
    for (unsigned i = 0; i < n; i++)
        b->ones |= UINT64_C(1) << i * b->bits;
}

enum status buckets_init(struct buckets *b, uint64_t count, unsigned bits,
                         unsigned slots)
{
    int huge;

    *b = (struct buckets){.count = count,
                          .bits = bits,
                          .slots = slots,
                          .random = 1};
    set_groups(b);
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
    unsigned bits = b->bits * b->slots;

    __builtin_prefetch(b->at + p->first * bits / 8);
    __builtin_prefetch(b->at + p->second * bits / 8);
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

static uint64_t slot_bit(const struct buckets *b, uint64_t bucket, unsigned i)
{
    return (bucket * b->slots + i) * b->bits;
}

static uint32_t get_slot(const struct buckets *b, uint64_t bucket, unsigned i)
{
    uint64_t bit = slot_bit(b, bucket, i);

    return (uint32_t)(load_word(b->at + bit / 8) >> bit % 8 &
                      UINT64_MAX >> (64 - b->bits));
}

static void set_slot(struct buckets *b, uint64_t bucket, unsigned i,
                     uint32_t print)
{
    uint64_t bit = slot_bit(b, bucket, i);
    unsigned char *at = b->at + bit / 8;

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
    uint64_t bit = slot_bit(b, bucket, 0);
    bool has = false;

    for (unsigned g = 0; g < b->groups; g++, bit += b->group_bits)
        has |= word_has(load_word(b->at + bit / 8) >> bit % 8 & b->group_mask,
                        print, b->bits, b->ones);
    return has;
}

static bool swap_slot(struct buckets *b, uint64_t bucket, uint32_t was,
                      uint32_t is)
{
    for (unsigned i = 0; i < b->slots; i++) {
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

    for (unsigned i = 0; i < b->slots; i++) {
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
        slot = (unsigned)((b->random >> 32) * b->slots >> 32);
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

void buckets_each(const struct buckets *b,
                  void (*visit)(void *to, const struct bucket_place *p),
                  void *to)
{
    for (uint64_t i = 0; i < b->count; i++) {
        for (unsigned j = 0; j < b->slots; j++) {
            struct bucket_place p = {.first = i, .print = get_slot(b, i, j)};

            if (p.print == 0)
                continue;
            p.second = other(b, i, p.print);
            visit(to, &p);
        }
    }
}

void buckets_recount(struct buckets *b)
{
    b->taken = 0;
    for (uint64_t i = 0; i < b->count; i++)
        for (unsigned j = 0; j < b->slots; j++)
            b->taken += get_slot(b, i, j) != 0;
}
