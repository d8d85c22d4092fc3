/* SPDX-License-Identifier: MIT */
/*
 * layer.c - a fixed run of 512-bit blocks, addressed by the top of the key.
 *
 * The top bits of the key choose the block, not a hash of the key: keys in
 * order fall into blocks in order, so a range of keys is enough to refill a
 * damaged unit.
 */
#include "filter/layer.h"

#include <string.h>

#include "base/mem.h"
#include "filter/block.h"

#define UNIT_BLOCKS UINT64_C(1024)
#define FILL_SAMPLE 65536 /* blocks sampled: 4 MiB */

static enum status take_blocks(struct layer *l, uint64_t nblocks, unsigned k,
                               unsigned cells, double load)
{
    int huge;

    l->words = try_pages(nblocks * BLOCK_BYTES, &huge);
    if (l->words == NULL)
        return STATUS_NOMEM;
    l->nblocks = nblocks;
    l->capacity = (uint64_t)((double)nblocks * load);
    l->k = k;
    l->cells = cells;
    l->huge = huge != 0;
    sizing_curve_init(&l->curve, k, cells, load);
    return STATUS_OK;
}

enum status layer_init(struct layer *l, uint64_t keys, double fpr,
                       unsigned cells, uint64_t most_bytes)
{
    uint64_t most = most_bytes / BLOCK_BYTES, nblocks;
    unsigned k;
    double load;

    *l = (struct layer){0};
    k = sizing_block_best(cells, fpr, &load);
    nblocks = sizing_blocks(keys, load);
    if (most_bytes > 0 && most == 0)
        return STATUS_LIMIT;
    l->reduced = most > 0 && nblocks > most;
    return take_blocks(l, l->reduced ? most : nblocks, k, cells, load);
}

enum status layer_init_shaped(struct layer *l, uint64_t nblocks, uint64_t k,
                              double fpr, unsigned cells, uint64_t most)
{
    *l = (struct layer){0};
    if (nblocks < 1 || nblocks > most / BLOCK_BYTES || k < 4 ||
        k > SIZING_MOST_K || k % 4 != 0)
        return STATUS_FORMAT;
    return take_blocks(l, nblocks, (unsigned)k, cells,
                       sizing_block_load((unsigned)k, cells, fpr));
}

void layer_fini(struct layer *l)
{
    mem_free_pages(l->words, l->nblocks * BLOCK_BYTES);
    *l = (struct layer){0};
}

void layer_place(const struct layer *l, const uint64_t *keys, size_t n,
                 uint64_t **at)
{
    for (size_t i = 0; i < n; i++) {
        at[i] = l->words + block_index(keys[i], l->nblocks) * BLOCK_LANES;
        __builtin_prefetch(at[i]);
    }
}

bool layer_merge(struct layer *into, const struct layer *from)
{
    if (into->nblocks != from->nblocks || into->k != from->k)
        return false;
    for (uint64_t i = 0; i < into->nblocks * BLOCK_LANES; i++)
        __atomic_store_n(into->words + i, into->words[i] | from->words[i],
                         __ATOMIC_RELAXED);
    return true;
}

/* ---- how full ---- */

/* Cells of `word` that are marked: bits, or counters that are not zero. */
static unsigned marked(const struct layer *l, uint64_t word)
{
    if (l->cells == BLOCK_CELLS)
        return (unsigned)__builtin_popcountll(word);
    word |= word >> 1;
    word |= word >> 2;
    return (unsigned)__builtin_popcountll(word & UINT64_C(0x1111111111111111));
}

double layer_fill(const struct layer *l)
{
    uint64_t n = l->nblocks < FILL_SAMPLE ? l->nblocks : FILL_SAMPLE;
    uint64_t sum = 0;

    for (uint64_t i = 0; i < n * BLOCK_LANES; i++)
        sum += marked(l, l->words[i]);
    return (double)sum / ((double)n * BLOCK_LANES * l->cells);
}

static double load_of_fill(const struct layer *l, double fill)
{
    return sizing_block_load_of_fill(l->k, l->cells, fill);
}

double layer_rate(const struct layer *l, double fill)
{
    return sizing_curve_rate(&l->curve, load_of_fill(l, fill));
}

uint64_t layer_keys(const struct layer *l, double fill)
{
    return (uint64_t)(load_of_fill(l, fill) * (double)l->nblocks + 0.5);
}

/* ---- units ---- */

uint64_t layer_units(const struct layer *l)
{
    return (l->nblocks + UNIT_BLOCKS - 1) / UNIT_BLOCKS;
}

static uint64_t unit_blocks(const struct layer *l, uint64_t i)
{
    uint64_t left = l->nblocks - i * UNIT_BLOCKS;

    return left < UNIT_BLOCKS ? left : UNIT_BLOCKS;
}

static uint64_t *unit_words(const struct layer *l, uint64_t i)
{
    return l->words + i * UNIT_BLOCKS * BLOCK_LANES;
}

void layer_unit_range(const struct layer *l, uint64_t i, uint64_t *low,
                      uint64_t *high)
{
    uint64_t first = i * UNIT_BLOCKS, behind = first + unit_blocks(l, i);

    *low = block_first_key(first, l->nblocks);
    *high = behind == l->nblocks ? UINT64_MAX
                                 : block_first_key(behind, l->nblocks) - 1;
}

enum status layer_get_unit(const struct layer *l, uint64_t i, struct buf *to)
{
    return block_append(to, unit_words(l, i), unit_blocks(l, i) * BLOCK_LANES);
}

enum status layer_put_unit(struct layer *l, uint64_t i, struct bytes from)
{
    size_t words = unit_blocks(l, i) * BLOCK_LANES;

    if (from.len != words * 8)
        return STATUS_DAMAGED;
    block_import(unit_words(l, i), (const unsigned char *)from.at, words);
    return STATUS_OK;
}

void layer_flood_unit(struct layer *l, uint64_t i)
{
    memset(unit_words(l, i), 0xff, unit_blocks(l, i) * BLOCK_BYTES);
}
