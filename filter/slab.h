/*
 * slab.h - memory for runs of blocks that are replaced by longer ones.
 *
 * A growing filter gives back a run of blocks each time it takes a longer one,
 * so that what is free never fits what is needed: malloc would hold up to a
 * third more than is used. Here runs are cut one after the other from large
 * chunks; when more than 1/SLAB_WASTE of all memory is dead, the emptiest
 * chunk's runs are copied elsewhere and the chunk used again (Rosenblum &
 * Ousterhout, The Design and Implementation of a Log-Structured File System,
 * 1992, section 3). Runs made at one time die at one time, so little is copied.
 *
 * One thread at a time; runs move in slab_tidy() only.
 */
#ifndef URLWEIR_FILTER_SLAB_H
#define URLWEIR_FILTER_SLAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

#define SLAB_WASTE 40

/* A run of `blocks` 64-byte blocks at `at`, 64-byte aligned; not there while
 * `blocks` is 0. */
struct slab_run {
    uint64_t *at;
    uint32_t blocks;
    uint32_t chunk;
};

struct slab_chunk {
    uint64_t *at;        /* NULL: not there */
    uint32_t size, used; /* in blocks; cut off so far */
    uint32_t live;       /* of those, in a run that is still there */
    bool huge;
};

struct slab {
    struct slab_chunk *chunks;
    uint32_t count, current; /* `current` is being cut */
    uint64_t most, total;    /* blocks: allowed, and held in chunks */
    uint64_t used, live;     /* of those: cut off, and in runs */
};

/* `most_blocks`: never holds more; 0: no limit. */
void slab_init(struct slab *s, uint64_t most_blocks);
void slab_fini(struct slab *s);

/* A zeroed run into *out. STATUS_NOMEM; STATUS_LIMIT: over most_blocks. */
MUST_CHECK enum status slab_take(struct slab *s, uint32_t blocks,
                                 struct slab_run *out);
/* *run is not there afterwards. */
void slab_give(struct slab *s, struct slab_run *run);
/* Move runs together where too much is dead; `runs` are all there are. At most
 * one chunk is emptied a call. */
void slab_tidy(struct slab *s, struct slab_run *runs, size_t n);
/* Whether every chunk of 2 MiB or more is in huge pages, and there is one. */
bool slab_huge(const struct slab *s);

#endif
