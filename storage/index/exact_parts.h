/*
 * exact_parts.h - the inside of exact_set: entries, parts, blocks.
 *
 * For the exact_*.c files alone.
 *
 *   part  the top 10 bits of a digest: 1,024 parts of near equal size
 *   run   sorted entries of a part on disk; there are two, a large old one and
 *         a small young one, which is merged into the old one now and then
 *   entry 20 octets: the 15 low-order octets of the digest (those above are
 *         the part's own), then the id in 5, both big-endian, so that memcmp
 *         orders entries as digest_compare orders digests
 *   block 50 entries, the last of a run fewer: 1,000 octets, which a find
 *         reads
 *   row   four blocks, of which those past the run's last entry are unspecified:
 *         4,000 octets, so that a page of the database holds one row
 *   fence the 32 bits after the part's own of a block's first entry
 *   delta entries of a part that are not in its runs yet
 */
#ifndef URLWEIR_STORAGE_INDEX_EXACT_PARTS_H
#define URLWEIR_STORAGE_INDEX_EXACT_PARTS_H

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/status.h"
#include "storage/db/packed.h"
#include "storage/index/exact_set.h"

#define PARTS         EXACT_SET_PARTS
#define PART_SHIFT    54 /* digest.hi >> PART_SHIFT = the part */
#define KEY_SIZE      15
#define ID_SIZE       5
#define ENTRY_SIZE    (KEY_SIZE + ID_SIZE)
#define BLOCK_ENTRIES 50
#define BLOCK_SIZE    (BLOCK_ENTRIES * ENTRY_SIZE)
#define ROW_BLOCKS    4
#define ROW_SIZE      (ROW_BLOCKS * BLOCK_SIZE)
/* A block's number = part << 20 | run << 19 | block, a row's that of its first
 * block / ROW_BLOCKS; seenpart.part = run << 10 | part. */
#define BLOCK_BITS  19
#define MOST_BLOCKS (UINT32_C(1) << BLOCK_BITS)
#define OLD         0
#define YOUNG       1
#define RUNS        2

#define FENCE_SIZE  4

/*
 * The exact set's own cache of its blocks, before the system's.
 *
 * A hit costs one cache line instead of the 2 us of a system call and a
 * checksum; without it, reads for duplicates make the cost of a link grow
 * (docs/performance.md). It has sets of eight ways. A hit promotes a
 * block by one rank, and a new block enters at the sixth, so one pass over many
 * blocks does not evict the popular ones. Memory is touched only as blocks come
 * in.
 */

#define BLOCK_CACHE_BLOCK 1024

struct block_cache;

/* STATUS_NOMEM. At least 64 blocks. */
MUST_CHECK enum status block_cache_new(struct block_cache **out,
                                       uint64_t bytes);
void block_cache_free(struct block_cache *c); /* NULL is fine */

/* The block, valid until the next put, without promoting it; NULL: not
 * cached. */
const unsigned char *block_cache_peek(const struct block_cache *c, uint32_t id);
/* Room for the block if it is cached already or its set has a free way, else
 * NULL. */
unsigned char *block_cache_put_cheap(struct block_cache *c, uint32_t id);

uint64_t block_cache_memory(const struct block_cache *c);

_Static_assert(BLOCK_SIZE <= BLOCK_CACHE_BLOCK, "block too large");

struct exact_delta {
    unsigned char *entries; /* in order of arrival */
    uint32_t count, cap;
    uint32_t replacing;  /* of those, may be in the runs with a lower id */
    uint32_t *slots;     /* hash table of index + 1, 0: free */
    uint32_t slot_count; /* a power of two, or 0 */
};

struct exact_run {
    uint64_t count; /* entries */
    uint32_t blocks;
    uint32_t *fences;
};

/* No digest is in both runs; one that is replaced is merged into the old run,
 * so a find may stop at the first run that has it. */
struct exact_part {
    uint64_t upto; /* every id up to this one is in the runs */
    struct exact_run runs[RUNS];
    struct exact_delta delta;
};

/* Room for the entries of a run, kept from one merge to the next. */
struct exact_entries {
    unsigned char *at;
    uint64_t count, cap; /* cap: octets */
};

struct exact_set {
    struct db *d;
    bool of_urls, one_run;
    struct exact_set_rows rows;
    const char *tables; /* "seen": table seenpart */
    struct exact_part parts[PARTS];
    struct block_cache *cache;
    uint64_t delta_most;
    uint64_t last_id;            /* highest id added */
    uint64_t count, delta_count; /* entries in all, in memory only */
    uint64_t memory;             /* octets of deltas and fences */
    sqlite3_stmt *write_part, *drop_part, *write_row, *read_rows;
    char page_table[16];
    struct db_blob blob;             /* open within a call only */
    unsigned char block[BLOCK_SIZE]; /* the one read last */
    /* merging (exact_merge.c) */
    uint32_t next_part;
    uint64_t owed; /* parts still to merge, times delta_limit() */
    struct exact_entries from, merged, young;
    /* finding: the batch, sorted by part and digest */
    uint32_t *order;
    size_t order_cap;
    uint64_t finds, block_hits, block_reads;
};

static inline uint32_t exact_part_of(struct digest d)
{
    return (uint32_t)(d.hi >> PART_SHIFT);
}

static inline uint32_t exact_fence_of(uint64_t hi)
{
    return (uint32_t)(hi >> (PART_SHIFT - 8 * FENCE_SIZE));
}

static inline void exact_key(unsigned char key[KEY_SIZE], struct digest d)
{
    packed_put(key, d.hi, 7);
    packed_put(key + 7, d.lo, 8);
}

static inline uint64_t exact_hi(uint32_t part, const unsigned char *entry)
{
    uint64_t first;

    memcpy(&first, entry, sizeof first);
    return (uint64_t)(part >> 2) << 56 | be64toh(first) >> 8;
}

static inline struct digest exact_digest(uint32_t part,
                                         const unsigned char *entry)
{
    return (struct digest){exact_hi(part, entry), packed_get(entry + 7, 8)};
}

static inline uint64_t exact_id(const unsigned char *entry)
{
    return packed_get(entry + KEY_SIZE, ID_SIZE);
}

static inline uint32_t exact_block_id(uint32_t part, uint32_t run,
                                      uint32_t block)
{
    return (part * RUNS + run) << BLOCK_BITS | block;
}

static inline uint32_t exact_row_id(uint32_t part, uint32_t run, uint32_t row)
{
    return exact_block_id(part, run, row * ROW_BLOCKS) / ROW_BLOCKS;
}

/* Entries in block number `block` of a run. */
static inline uint32_t exact_block_entries(const struct exact_run *r,
                                           uint32_t block)
{
    uint64_t left = r->count - (uint64_t)block * BLOCK_ENTRIES;

    return left < BLOCK_ENTRIES ? (uint32_t)left : BLOCK_ENTRIES;
}

/* The octets of a run's fences in memory. */
static inline uint64_t exact_run_memory(const struct exact_run *r)
{
    return r->blocks * sizeof *r->fences;
}

/* Reads a block from the database; `to` holds BLOCK_SIZE octets. After the last
 * one of a call db_blob_close(&s->blob) must follow. STATUS_DAMAGED, logged:
 * its row is missing or too short. */
MUST_CHECK enum status exact_read_block(struct exact_set *s, uint32_t part,
                                        uint32_t run, uint32_t block,
                                        unsigned char *to);

/* Logs that a block is missing, and returns STATUS_DAMAGED. */
enum status exact_bad_block(const struct exact_set *s, uint32_t part,
                            uint32_t run, uint32_t block);

/* The last block whose fence is not above `fence`, or 0. */
uint32_t exact_block_for(const struct exact_run *r, uint32_t fence);

/* ---- exact_set.c ---- */

/* The entry's id; 0: not there. */
uint64_t exact_delta_find(const struct exact_delta *t,
                          const unsigned char key[KEY_SIZE]);
/* Prefetch the two places that a find will read. */
static inline void exact_delta_prefetch_slot(const struct exact_delta *t,
                                             struct digest d)
{
    if (t->slot_count > 0)
        __builtin_prefetch(&t->slots[(uint32_t)d.lo & (t->slot_count - 1)]);
}

static inline void exact_delta_prefetch_entry(const struct exact_delta *t,
                                              struct digest d)
{
    uint32_t at =
        t->slot_count > 0 ? t->slots[(uint32_t)d.lo & (t->slot_count - 1)] : 0;

    if (at > 0)
        __builtin_prefetch(t->entries + (size_t)(at - 1) * ENTRY_SIZE);
}

/* Sorts the entries by key. The slots are invalid afterwards, so the next call
 * must be exact_delta_clear. */
void exact_delta_sort(struct exact_delta *t);
void exact_delta_clear(struct exact_delta *t);

#endif
