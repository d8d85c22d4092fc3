/*
 * scalable_impl.h - the scalable filter's own struct, shared by its files.
 *
 *   scalable.c        making, adding, asking, growing, merging; the drawing
 *   scalable_file.c   saving and loading
 *
 * No other file includes this.
 */
#ifndef URLWEIR_FILTER_KINDS_SCALABLE_IMPL_H
#define URLWEIR_FILTER_KINDS_SCALABLE_IMPL_H

#include <pthread.h>

#include "filter/block.h"
#include "filter/key_store.h"
#include "filter/kind.h"
#include "filter/sizing.h"
#include "filter/slab.h"

#define SCALABLE_SEGMENTS KEY_STORE_PARTS
#define SCALABLE_GROWTH   1.125
#define SCALABLE_NEVER    UINT32_MAX

struct scalable {
    struct filter base;
    struct slab_run runs[SCALABLE_SEGMENTS];
    uint32_t
        count[SCALABLE_SEGMENTS]; /* fresh keys; the saving thread reads them */
    uint32_t limit[SCALABLE_SEGMENTS]; /* rebuilt when count passes it */
    bool starving[SCALABLE_SEGMENTS], lost[SCALABLE_SEGMENTS];
    struct slab slab;
    pthread_mutex_t moving;
    struct key_store *key_store; /* NULL: the caller's source has the keys */
    struct filter_source source;
    double load; /* keys a block when a segment is full */
    unsigned k;  /* of segments that have all the memory they need */
    /* Where memory is short, fewer marks a key give fewer errors. */
    uint8_t k_of[SCALABLE_SEGMENTS];
    uint32_t thin; /* segments whose k is not `k` */
    uint64_t rebuilds, starved, n_lost;
    bool reduced;
    struct sizing_curve
        curves[SIZING_MOST_K / 4 + 1]; /* by k / 4; k of 0: not yet made */
};

static inline uint32_t scalable_segment(uint64_t key)
{
    return key_store_part(key);
}

static inline uint64_t *scalable_block(const struct slab_run *r, uint64_t key)
{
    return r->at + block_index(key << KEY_STORE_BITS, r->blocks) * BLOCK_LANES;
}

/* Make an empty filter without segments. `whole`: its key store, if it has one,
 * is complete while empty. */
MUST_CHECK enum status scalable_new_empty(struct scalable **out,
                                          const struct filter_options *o,
                                          unsigned k, bool whole);

/* ---- scalable.c ---- */

/* The next size of segment s in blocks: a rung above `blocks`, with room for
 * `keys`. */
uint32_t scalable_rung(const struct scalable *c, uint32_t s, uint32_t blocks,
                       uint64_t keys);
/* Make `run` the segment's blocks, with `k` marks a key and `count` keys in
 * it. */
void scalable_set_run(struct scalable *c, uint32_t s, struct slab_run run,
                      unsigned k, uint32_t count);
/* Mean number of keys a block in segment s, from its count or, if that is
 * unreliable, from a sample of its bits. */
double scalable_load(const struct scalable *c, uint32_t s);
/* Pass every key of segment s to `visit`. */
MUST_CHECK enum status scalable_keys_of(struct scalable *c, uint32_t s,
                                        void (*visit)(void *, const uint64_t *,
                                                      size_t),
                                        void *to);

/* A segment being built, visible to no other code yet. */
struct scalable_building {
    uint32_t segment;
    struct slab_run run;
    unsigned k;
    uint64_t seen, fresh; /* keys set, and those of them that changed a bit */
};

void scalable_build_visit(void *to, const uint64_t *keys, size_t n);
/* Replace the segment by the one that was built, with `count` keys in it. */
void scalable_replace(struct scalable *c, const struct scalable_building *b,
                      uint64_t count);

/* ---- scalable_file.c: as filter/kind.h says ---- */

uint64_t scalable_shape(const struct filter *f, uint64_t shape[FILTER_SHAPE]);
enum status scalable_get_unit(struct filter *f, uint64_t i, struct buf *to,
                              uint64_t meta[FILTER_META]);
enum status scalable_make_shaped(struct filter **out,
                                 const struct filter_options *o,
                                 const uint64_t shape[FILTER_SHAPE],
                                 uint64_t units, uint64_t most);
enum status scalable_put_unit(struct filter *f, uint64_t i, struct bytes from,
                              const uint64_t meta[FILTER_META]);
enum status scalable_mend_unit(struct filter *f, uint64_t i);
enum status scalable_loaded(struct filter *f);

#endif
