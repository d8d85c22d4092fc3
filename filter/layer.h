/*
 * layer.h - a fixed run of 512-bit blocks, addressed by the top of the key.
 *
 * What `bloom` is one of, `stacked` a chain of and `counting` one of with wider
 * cells. It knows where a key's block is, how full the blocks are, and how to
 * be saved in units of 64 KiB, each of which stands for a range of keys.
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
    uint64_t *words; /* nblocks * BLOCK_LANES; NULL: not there */
    uint64_t nblocks;
    uint64_t capacity;  /* keys at the promised rate */
    unsigned k, cells;  /* as in filter/sizing.h: 64 bits or 16 counters */
    bool reduced, huge; /* fewer blocks than asked; in huge pages */
    struct sizing_curve curve;
};

/* Size for `keys` keys at `fpr`, all empty. With `most_bytes` > 0 it takes no
 * more: then `reduced` and a smaller capacity. STATUS_LIMIT: not one block. */
MUST_CHECK enum status layer_init(struct layer *l, uint64_t keys, double fpr,
                                  unsigned cells, uint64_t most_bytes);
/* As a file tells it. STATUS_FORMAT: no such layer, or over `most` bytes. */
MUST_CHECK enum status layer_init_shaped(struct layer *l, uint64_t nblocks,
                                         uint64_t k, double fpr, unsigned cells,
                                         uint64_t most);
void layer_fini(struct layer *l);

/* Find the blocks of up to BLOCK_WINDOW keys and fetch them. */
void layer_place(const struct layer *l, const uint64_t *keys, size_t n,
                 uint64_t **at);

/* Lay `from` over `into`, both of bits; false: of another size, untouched. */
MUST_CHECK bool layer_merge(struct layer *into, const struct layer *from);

/* Share of cells marked, from some of the blocks: they are all alike. */
double layer_fill(const struct layer *l);
/* Rate and keys that explain such a fill. */
double layer_rate(const struct layer *l, double fill);
uint64_t layer_keys(const struct layer *l, double fill);

uint64_t layer_units(const struct layer *l);
/* The keys whose blocks are in unit i: *low to *high, both included. */
void layer_unit_range(const struct layer *l, uint64_t i, uint64_t *low,
                      uint64_t *high);
MUST_CHECK enum status layer_get_unit(const struct layer *l, uint64_t i,
                                      struct buf *to);
/* STATUS_DAMAGED: of another length. */
MUST_CHECK enum status layer_put_unit(struct layer *l, uint64_t i,
                                      struct bytes from);
/* Mark every cell of unit i: all its keys are "maybe". */
void layer_flood_unit(struct layer *l, uint64_t i);

#endif
