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
#include "filter/sizing.h"

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

/* ---- a fixed run of blocks, addressed by the top of the key ---- */

/*
 * A `bloom` filter is one layer, `stacked` a chain of layers, and `counting`
 * one layer with wider cells. A layer knows where a key's block is, how full
 * its blocks are, and how to save itself in units of 64 KiB, each for a range
 * of keys.
 */

struct layer {
    uint64_t *words; /* nblocks * BLOCK_LANES; NULL: no layer */
    uint64_t nblocks;
    uint64_t capacity;  /* keys at the promised rate */
    unsigned k, cells;  /* as in filter/sizing.h: 64 bits or 16 counters */
    bool reduced, huge; /* fewer blocks than asked for; in huge pages */
    struct sizing_curve curve;
};

/* Make an empty layer for `keys` keys at `fpr`. It takes at most `most_bytes`
 * if that is not 0; if that is too little, `reduced` is set and the capacity is
 * smaller. STATUS_LIMIT: not even one block fits. */
MUST_CHECK enum status layer_init(struct layer *l, uint64_t keys, double fpr,
                                  unsigned cells, uint64_t most_bytes);
/* Make an empty layer of the shape read from a file. STATUS_FORMAT: no layer
 * has this shape, or it takes over `most` bytes. */
MUST_CHECK enum status layer_init_shaped(struct layer *l, uint64_t nblocks,
                                         uint64_t k, double fpr, unsigned cells,
                                         uint64_t most);
void layer_fini(struct layer *l);

/* Find the blocks of up to BLOCK_WINDOW keys and fetch them. */
void layer_place(const struct layer *l, const uint64_t *keys, size_t n,
                 uint64_t **at);

/* Merge `from` into `into`, both with cells of one bit. False: their sizes
 * differ, and `into` is unchanged. */
MUST_CHECK bool layer_merge(struct layer *into, const struct layer *from);

/* Share of cells that are marked, estimated from a sample of the blocks. */
double layer_fill(const struct layer *l);
/* The false-positive rate and the number of keys that go with this fill. */
double layer_rate(const struct layer *l, double fill);
uint64_t layer_keys(const struct layer *l, double fill);

uint64_t layer_units(const struct layer *l);
/* The keys whose blocks are in unit i: *low to *high, both included. */
void layer_unit_range(const struct layer *l, uint64_t i, uint64_t *low,
                      uint64_t *high);
MUST_CHECK enum status layer_get_unit(const struct layer *l, uint64_t i,
                                      struct buf *to);
/* STATUS_DAMAGED: the length is wrong. */
MUST_CHECK enum status layer_put_unit(struct layer *l, uint64_t i,
                                      struct bytes from);
/* Mark every cell of unit i: all its keys are "maybe". */
void layer_flood_unit(struct layer *l, uint64_t i);

#endif
