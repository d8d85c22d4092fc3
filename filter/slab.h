/*
 * slab.h - memory for runs of blocks that are replaced by longer ones.
 *
 * A growing filter gives back a run of blocks each time it takes a longer one,
 * so a freed run never fits the next request: malloc would hold up to a third
 * more than is used. Here runs are cut one after the other from large chunks;
 * when more than 1/SLAB_WASTE of all memory is dead, the runs of the chunk with
 * the largest dead share are copied elsewhere, a few at a time, and the chunk
 * is used again (Rosenblum & Ousterhout, The Design and Implementation of a
 * Log-Structured File System, 1992, section 3).
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

/* A run of `blocks` 64-byte blocks at `at`, 64-byte aligned; no run if `blocks`
 * is 0. */
struct slab_run {
    uint64_t *at;
    uint32_t blocks;
    uint32_t chunk;
};

struct slab_chunk {
    uint64_t *at;        /* NULL: unused entry */
    uint32_t size, used; /* in blocks; cut off so far */
    uint32_t live;       /* of those, in runs still in use */
    bool huge;           /* the kernel was asked for huge pages, and agreed */
};

struct slab {
    struct slab_chunk *chunks;
    uint32_t count;
    uint32_t current[2];  /* chunks being cut: for new runs, for moved ones */
    uint32_t victim;      /* the chunk being emptied */
    uint64_t most, total; /* blocks: allowed, and held in chunks */
    uint64_t used, live;  /* of those: cut off, and in runs */
};

/* `most_blocks`: the most it ever holds; 0: no limit. */
void slab_init(struct slab *s, uint64_t most_blocks);
void slab_fini(struct slab *s);

/* Store a zeroed run in *out. STATUS_NOMEM; STATUS_LIMIT: over most_blocks. */
MUST_CHECK enum status slab_take(struct slab *s, uint32_t blocks,
                                 struct slab_run *out);
/* Give a run back; *run is no run afterwards. */
void slab_give(struct slab *s, struct slab_run *run);
/* If too much memory is dead, move a few runs, about four a call. `runs` are
 * all runs taken and not given back. */
void slab_tidy(struct slab *s, struct slab_run *runs, size_t n);
/* Is there a chunk of 2 MiB or more, and is every such chunk in huge pages? */
bool slab_huge(const struct slab *s);

#endif
