/* SPDX-License-Identifier: MIT */
/*
 * fetch_index.c - finds fetches by what they brought: a body, or a text.
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
#include "storage/index/fetch_index.h"

#include <stdlib.h>

#include "base/mem.h"

#define TABLES     4
#define BLOCK_BITS 16
#define REST_BITS  48
#define GROUP_BITS 18
/* Searches of texts read pages past the set's cache, so most of the memory is
 * for the entries that wait to be merged: the more, the fewer octets are
 * written. */
#define DELTA_ENTRY UINT64_C(40)
#define DELTA_LEAST UINT64_C(65536)
#define DELTA_MOST  UINT64_C(2097152)
#define PAGE_CACHE  (UINT64_C(1) << 20)
#define BODIES_MOST UINT64_C(262144) /* a page has one body and many links */

struct fetch_index {
    struct exact_set *set;
    struct exact_set_rows rows;
    unsigned entries; /* of a fetch */
    uint64_t added;   /* entries since the last step */
    /* bodies: the one that was asked for last */
    bool asked;
    struct digest body;
    uint64_t old;
};

/* ---- the set ---- */

static bool has_row(void *ctx, uint64_t id)
{
    const struct fetch_index *x = ctx;

    return x->rows.has == NULL || x->rows.has(x->rows.ctx, id / x->entries);
}

static struct exact_set_options set_options(struct fetch_index *x,
                                            enum fetch_index_kind kind,
                                            uint64_t memory)
{
    uint64_t delta = memory / DELTA_ENTRY;

    if (kind == FETCH_BODIES)
        return (struct exact_set_options){.tables = "body",
                                          .rows = {has_row, x},
                                          .block_cache_bytes = memory,
                                          .delta_most = BODIES_MOST};
    return (struct exact_set_options){.tables = "near",
                                      .rows = {has_row, x},
                                      .one_run = true,
                                      .block_cache_bytes = PAGE_CACHE,
                                      .delta_most =
                                          delta < DELTA_LEAST  ? DELTA_LEAST
                                          : delta > DELTA_MOST ? DELTA_MOST
                                                               : delta};
}

enum status fetch_index_open(struct fetch_index **out, struct db *d,
                             enum fetch_index_kind kind, uint64_t memory,
                             const struct exact_set_rows *rows)
{
    struct fetch_index *x = xcalloc(1, sizeof *x);
    const struct exact_set_options o = set_options(x, kind, memory);
    enum status st;

    x->entries = kind == FETCH_TEXTS ? TABLES : 1;
    if (rows != NULL)
        x->rows = *rows;
    st = exact_set_open(&x->set, d, &o);
    if (st == STATUS_OK)
        *out = x;
    else
        free(x);
    return st;
}

void fetch_index_close(struct fetch_index *x)
{
    if (x == NULL)
        return;
    exact_set_close(x->set);
    free(x);
}

static uint64_t last_id_of(const struct fetch_index *x, uint64_t seq)
{
    return seq * x->entries + x->entries - 1;
}

enum status fetch_index_check_upto(const struct fetch_index *x, uint64_t last)
{
    return exact_set_check_upto(x->set, last_id_of(x, last));
}

uint64_t fetch_index_upto(const struct fetch_index *x)
{
    return exact_set_upto(x->set) / x->entries;
}

enum status fetch_index_step(struct fetch_index *x)
{
    enum status st = exact_set_step(x->set, x->added);

    x->added = 0;
    x->asked = false;
    return st;
}

uint64_t fetch_index_count(const struct fetch_index *x)
{
    return exact_set_stats(x->set).count / x->entries;
}

uint64_t fetch_index_memory(const struct fetch_index *x)
{
    return exact_set_stats(x->set).memory;
}

enum status fetch_index_verify(struct fetch_index *x, uint64_t last)
{
    return exact_set_verify_upto(x->set, last_id_of(x, last));
}

/* ---- bodies ---- */

static enum status ask(struct fetch_index *x, struct digest d, uint64_t *old)
{
    enum status st = STATUS_OK;

    if (!x->asked || !digest_equal(x->body, d)) {
        x->asked = false;
        st = exact_set_find(x->set, &d, 1, &x->old);
        x->body = d;
        x->asked = st == STATUS_OK;
    }
    *old = x->old;
    return st;
}

enum status body_index_find(struct fetch_index *x, struct digest d,
                            uint64_t *seq)
{
    enum status st = ask(x, d, seq);

    if (st == STATUS_OK && *seq != 0 && !has_row(x, *seq))
        *seq = 0;
    return st;
}

/* A row that is gone may still have its entry. */
enum status body_index_add(struct fetch_index *x, struct digest d, uint64_t seq)
{
    uint64_t old = 0;
    enum status st = STATUS_OK;

    /* When rows are replayed, half of them are, and to find one reads a page.
     */
    if (!exact_set_has_row(x->set, d, seq))
        st = ask(x, d, &old);
    if (st != STATUS_OK)
        return st;
    if (old != 0 && old < seq)
        exact_set_replace(x->set, d, seq);
    else
        exact_set_add(x->set, d, seq);
    x->asked = false;
    x->added++;
    return STATUS_OK;
}

/* In a crawl older than the index, the first replay may meet the same body
 * twice, but there are no runs yet. Whatever is in a run was looked up before
 * it was added. */
enum status body_index_replay(struct fetch_index *x, struct digest d,
                              uint64_t seq, bool removed)
{
    if (removed || !exact_set_has_run(x->set, d))
        return body_index_add(x, d, seq);
    exact_set_add(x->set, d, seq);
    x->added++;
    return STATUS_OK;
}

/* ---- entries of texts ---- */

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

/* ---- texts ---- */

struct search {
    struct fetch_index *x;
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

enum status near_index_find(struct fetch_index *x, uint64_t print,
                            uint64_t *seq)
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
enum status near_index_add(struct fetch_index *x, uint64_t print, uint64_t seq)
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
