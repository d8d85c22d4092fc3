/*
 * layer.h - a fixed run of 512-bit blocks, addressed by the top of the key.
 *
 * A `bloom` filter is one layer, `stacked` a chain of layers, and `counting`
 * one layer with wider cells. A layer knows where a key's block is, how full
 * its blocks are, and how to save itself in units of 64 KiB, each for a range
 * of keys.
 */
#ifndef URLWEIR_FILTER_LAYER_H
#define URLWEIR_FILTER_LAYER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/status.h"
#include "filter/sizing.h"

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
