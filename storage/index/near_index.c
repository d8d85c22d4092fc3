/* SPDX-License-Identifier: MIT */
/*
 * near_index.c - finds fingerprints that differ from a given one in few bits.
 *
 * An entry of table t for fingerprint p has the digest
 *
 *   hi  18 bits: t and block t of p, scrambled; 46 bits: the other blocks
 *   lo  their last 2 bits; 62 bits: a hash of the rest
 *
 * and the id seq * 4 + t. Blocks are not spread evenly, which the parts of an
 * exact set need, and are scrambled for that; entries with one block stay
 * together, as the scrambling maps each block to one place. The hash is there
 * for the set's hash tables. The set has one run, since a search reads each
 * run's page with the block, in all four tables.
 */
#include "storage/index/near_index.h"

#include <stdlib.h>

#include "base/mem.h"
#include "storage/index/exact_set.h"

#define TABLES     4
#define BLOCK_BITS 16
#define REST_BITS  48
#define GROUP_BITS 18
/* Searches read pages past the set's cache, so most of the memory is for the
 * entries that wait to be merged: the more, the fewer octets are written. */
#define DELTA_ENTRY UINT64_C(40)
#define DELTA_LEAST UINT64_C(65536)
#define DELTA_MOST  UINT64_C(2097152)
#define PAGE_CACHE  (UINT64_C(1) << 20)

struct near_index {
    struct exact_set *set;
    struct exact_set_rows rows;
    uint64_t added; /* entries since the last step */
};

/* ---- entries ---- */

/* A bijection of 18 bits. */
static uint64_t scramble(uint64_t n)
{
    const uint64_t mask = (UINT64_C(1) << GROUP_BITS) - 1;

    n = n * 0x2c1b3 & mask;
    n ^= n >> 9;
    return n * 0x1e35d & mask;
}

/* Table t's part of hi. */
static uint64_t group_of(uint64_t print, unsigned t)
{
    uint64_t block = print >> BLOCK_BITS * t & 0xffff;

    return scramble(block << 2 | t) << (64 - GROUP_BITS);
}

/* The blocks but block t. */
static uint64_t rest_of(uint64_t print, unsigned t)
{
    uint64_t low = print & ((UINT64_C(1) << BLOCK_BITS * t) - 1);
    uint64_t high = t == TABLES - 1 ? 0 : print >> BLOCK_BITS * (t + 1);

    return high << BLOCK_BITS * t | low;
}

static struct digest entry_of(uint64_t print, unsigned t)
{
    uint64_t rest = rest_of(print, t);
    uint64_t hash = (print + t) * UINT64_C(0x9e3779b97f4a7c15);

    hash ^= hash >> 32;
    return (struct digest){group_of(print, t) | rest >> 2,
                           rest << 62 | hash >> 2};
}

static uint64_t rest_in(struct digest entry)
{
    return (entry.hi << 2 | entry.lo >> 62) & ((UINT64_C(1) << REST_BITS) - 1);
}

/* ---- the set ---- */

static bool has_row(void *ctx, uint64_t id)
{
    const struct near_index *x = ctx;

    return x->rows.has == NULL || x->rows.has(x->rows.ctx, id / TABLES);
}

enum status near_index_open(struct near_index **out, struct db *d,
                            uint64_t memory, const struct exact_set_rows *rows)
{
    struct near_index *x = xcalloc(1, sizeof *x);
    uint64_t delta = memory / DELTA_ENTRY;
    const struct exact_set_options o = {.tables = "near",
                                        .rows = {has_row, x},
                                        .one_run = true,
                                        .block_cache_bytes = PAGE_CACHE,
                                        .delta_most =
                                            delta < DELTA_LEAST  ? DELTA_LEAST
                                            : delta > DELTA_MOST ? DELTA_MOST
                                                                 : delta};
    enum status st = exact_set_open(&x->set, d, &o);

    if (rows != NULL)
        x->rows = *rows;
    if (st == STATUS_OK)
        *out = x;
    else
        free(x);
    return st;
}

void near_index_close(struct near_index *x)
{
    if (x == NULL)
        return;
    exact_set_close(x->set);
    free(x);
}

static uint64_t last_id_of(uint64_t seq)
{
    return seq * TABLES + TABLES - 1;
}

enum status near_index_check_upto(const struct near_index *x, uint64_t last)
{
    return exact_set_check_upto(x->set, last_id_of(last));
}

uint64_t near_index_upto(const struct near_index *x)
{
    return exact_set_upto(x->set) / TABLES;
}

struct search {
    struct near_index *x;
    uint64_t rest, seq;
};

/* Counting all bits of a word is a call where the processor may lack an
 * instruction for it; NEAR_INDEX_BITS of them are soon cleared. */
static bool is_near(uint64_t differ)
{
    for (unsigned i = 0; i < NEAR_INDEX_BITS; i++)
        differ &= differ - 1;
    return differ == 0;
}

static void compare(void *ctx, struct digest entry, uint64_t id)
{
    struct search *s = ctx;
    uint64_t seq = id / TABLES;

    if (is_near(rest_in(entry) ^ s->rest) && (s->seq == 0 || seq < s->seq) &&
        has_row(s->x, seq * TABLES))
        s->seq = seq;
}

enum status near_index_find(struct near_index *x, uint64_t print, uint64_t *seq)
{
    const uint64_t rest_mask = UINT64_MAX >> GROUP_BITS;
    struct search s = {.x = x};
    enum status st = STATUS_OK;

    for (unsigned t = 0; st == STATUS_OK && t < TABLES; t++) {
        uint64_t group = group_of(print, t);

        s.rest = rest_of(print, t);
        st = exact_set_each(x->set, group, group | rest_mask, compare, &s);
    }
    *seq = s.seq;
    return st;
}

/* A replayed row may find itself in some parts, and in others the entries of a
 * row that is gone. */
enum status near_index_add(struct near_index *x, uint64_t print, uint64_t seq)
{
    struct digest entries[TABLES];
    uint64_t known[TABLES];
    enum status st;

    for (unsigned t = 0; t < TABLES; t++)
        entries[t] = entry_of(print, t);
    st = exact_set_find(x->set, entries, TABLES, known);
    if (st != STATUS_OK)
        return st;
    for (unsigned t = 0; t < TABLES; t++)
        if (known[t] != 0 && known[t] / TABLES < seq && has_row(x, known[t]))
            return STATUS_OK;
    for (unsigned t = 0; t < TABLES; t++)
        if (known[t] != 0 && known[t] / TABLES < seq)
            exact_set_replace(x->set, entries[t], seq * TABLES + t);
        else
            exact_set_add(x->set, entries[t], seq * TABLES + t);
    x->added += TABLES;
    return STATUS_OK;
}

enum status near_index_step(struct near_index *x)
{
    enum status st = exact_set_step(x->set, x->added);

    x->added = 0;
    return st;
}

uint64_t near_index_count(const struct near_index *x)
{
    return exact_set_stats(x->set).count / TABLES;
}

uint64_t near_index_memory(const struct near_index *x)
{
    return exact_set_stats(x->set).memory;
}

enum status near_index_verify(struct near_index *x, uint64_t last)
{
    return exact_set_verify_upto(x->set, last_id_of(last));
}
