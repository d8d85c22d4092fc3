/*
 * block.h - the 512-bit block all Bloom kinds are made of.
 *
 * A block is one cache line: 8 lanes of 64 bits. A key chooses one block and
 * sets k bits in it, dealt to the lanes in turn (k a multiple of 4, at most
 * SIZING_MOST_K; filter/sizing.h has the rates). So a question costs one cache
 * miss, and a batch of questions has all its misses under way at once.
 *
 * Scalar, AVX2 and AVX-512 code set and read the very same bits; the program
 * chooses the best one that this processor has, once. The bits are part of the
 * file format.
 *
 * Threads: one thread may set bits while others test or copy blocks (each word
 * is read and written whole); two threads that set bits at once may lose some.
 */
#ifndef URLWEIR_FILTER_BLOCK_H
#define URLWEIR_FILTER_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/status.h"

#define BLOCK_LANES 8
#define BLOCK_BYTES 64
#define BLOCK_CELLS 64 /* bits a lane, as filter/sizing.h asks for them */
/* Keys handled at once: enough to hide the misses, few enough to stay in the
 * first-level cache until they are used. */
#define BLOCK_WINDOW 64

__extension__ typedef unsigned __int128 block_u128;

/* The size of the next window when `left` keys are left. */
static inline size_t block_window(size_t left)
{
    return left < BLOCK_WINDOW ? left : BLOCK_WINDOW;
}

/* floor(key * blocks / 2^64): keys in order address blocks in order, so a run
 * of blocks belongs to a range of keys. */
static inline uint64_t block_index(uint64_t key, uint64_t blocks)
{
    return (uint64_t)(((block_u128)key * blocks) >> 64);
}

/* The least key whose block_index() is `index`, for index < blocks. */
static inline uint64_t block_first_key(uint64_t index, uint64_t blocks)
{
    return (uint64_t)((((block_u128)index << 64) + blocks - 1) / blocks);
}

/* ---- where a key's marks are (the drawing is in block.c) ---- */

struct block_hashes {
    uint64_t h1, h2;
};

static inline struct block_hashes block_hashes(uint64_t key)
{
    uint64_t h1 = key * UINT64_C(0x9e3779b97f4a7c15);

    return (struct block_hashes){h1, (h1 ^ h1 >> 32) *
                                         UINT64_C(0xd6e8feb86659fd93)};
}

/* The cell of `lane` that mark group `group` sets. */
static inline unsigned block_cell(struct block_hashes h, unsigned group,
                                  unsigned lane)
{
    return (unsigned)((h.h1 + group * h.h2) >> (16 + 6 * lane)) & 63;
}

/* Which half of the lanes a last group of four marks: 0 or 1. */
static inline unsigned block_half(struct block_hashes h)
{
    return (unsigned)(h.h1 >> 15) & 1;
}

/* all[i]: are all k bits of keys[i] set in the block at[i]? */
void block_test(unsigned k, uint64_t *const *at, const uint64_t *keys, size_t n,
                bool *all);
/* Set those bits, one key after the other; fresh[i]: at least one was not set
 * before. */
void block_set(unsigned k, uint64_t *const *at, const uint64_t *keys, size_t n,
               bool *fresh);

/* Copy blocks to little-endian octets while another thread may be setting bits
 * in them, and copy octets back into blocks. */
void block_export(unsigned char *to, const uint64_t *from, size_t words);
/* block_export() behind what `to` has. */
MUST_CHECK enum status block_append(struct buf *to, const uint64_t *words,
                                    size_t n);
void block_import(uint64_t *to, const unsigned char *from, size_t words);

enum block_isa { BLOCK_SCALAR, BLOCK_AVX2, BLOCK_AVX512 };
/* Use `isa` from now on, for tests and benchmarks. False: this processor does
 * not have it. */
bool block_use(enum block_isa isa);
const char *block_isa_name(void);

#endif
