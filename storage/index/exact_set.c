/* SPDX-License-Identifier: MIT */
/*
 * exact_set.c - opening, adding, walking; exact_find.c finds, exact_merge.c
 * moves entries from memory into rows, exact_parts.h describes their layout.
 */
#include "storage/index/exact_set.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/logger.h"
#include "base/mem.h"
#include "storage/db/db_row.h"
#include "storage/index/exact_parts.h"

/*
 * Entries of one part that are not in its pages yet.
 *
 * Entries are stored in order of arrival, with a hash table of their indices
 * beside them: 20 octets and some 10 of table, where a table of entries would
 * cost 40 to 80. Digests are seeded hashes, so any of their bits address the
 * table.
 */

static uint32_t slot_of(const struct exact_delta *t, const unsigned char *key)
{
    uint32_t i = (uint32_t)packed_get(key + KEY_SIZE - 4, 4);

    for (i &= t->slot_count - 1; t->slots[i] != 0;
         i = (i + 1) & (t->slot_count - 1)) {
        const unsigned char *e =
            t->entries + (size_t)(t->slots[i] - 1) * ENTRY_SIZE;

        if (memcmp(e, key, KEY_SIZE) == 0)
            break;
    }
    return i;
}

static void grow_slots(struct exact_delta *t)
{
    t->slot_count = t->slot_count > 0 ? t->slot_count * 2 : 64;
    free(t->slots);
    t->slots = xcalloc(t->slot_count, sizeof *t->slots);
    for (uint32_t i = 0; i < t->count; i++)
        t->slots[slot_of(t, t->entries + (size_t)i * ENTRY_SIZE)] = i + 1;
}

static void exact_delta_add(struct exact_delta *t, const unsigned char *entry)
{
    if ((t->count + 1) * 4 > t->slot_count * 3)
        grow_slots(t);
    if (t->count == t->cap) {
        t->cap = t->cap > 0 ? t->cap + t->cap / 2 : 32;
        t->entries = xrealloc(t->entries, (size_t)t->cap * ENTRY_SIZE);
    }
    memcpy(t->entries + (size_t)t->count * ENTRY_SIZE, entry, ENTRY_SIZE);
    t->slots[slot_of(t, entry)] = ++t->count;
}

uint64_t exact_delta_find(const struct exact_delta *t,
                          const unsigned char key[KEY_SIZE])
{
    uint32_t at;

    if (t->count == 0)
        return 0;
    at = t->slots[slot_of(t, key)];
    return at > 0 ? exact_id(t->entries + (size_t)(at - 1) * ENTRY_SIZE) : 0;
}

/* Gives the entry with this key the new id; false: there is no such entry. */
static bool exact_delta_move(struct exact_delta *t, const unsigned char *entry)
{
    uint32_t at = t->count > 0 ? t->slots[slot_of(t, entry)] : 0;

    if (at > 0)
        memcpy(t->entries + (size_t)(at - 1) * ENTRY_SIZE, entry, ENTRY_SIZE);
    return at > 0;
}

static int compare_entries(const void *a, const void *b)
{
    return memcmp(a, b, KEY_SIZE);
}

void exact_delta_sort(struct exact_delta *t)
{
    if (t->count > 1)
        qsort(t->entries, t->count, ENTRY_SIZE, compare_entries);
}

void exact_delta_clear(struct exact_delta *t)
{
    t->count = 0;
    t->replacing = 0;
    if (t->slot_count > 0)
        memset(t->slots, 0, t->slot_count * sizeof *t->slots);
}

static void exact_delta_free(struct exact_delta *t)
{
    free(t->entries);
    free(t->slots);
}

static uint64_t exact_delta_memory(const struct exact_delta *t)
{
    return (uint64_t)t->cap * ENTRY_SIZE +
           (uint64_t)t->slot_count * sizeof *t->slots;
}

#define DELTA_MOST UINT64_C(500000)

/* ---- opening ---- */

static enum status bad_part(const struct exact_set *s, uint32_t part)
{
    log_error("exact set is damaged", "table=%spart part=%u", s->tables, part);
    return STATUS_DAMAGED;
}

static enum status take_part(struct exact_set *s, sqlite3_stmt *row)
{
    struct db_row r = db_row(row);
    uint32_t number = (uint32_t)db_row_count(&r, 0, PARTS * RUNS - 1);
    uint64_t upto = db_row_count(&r, 1, DB_ID_MOST);
    uint64_t count = db_row_count(&r, 2, (uint64_t)MOST_BLOCKS * BLOCK_ENTRIES);
    uint32_t blocks = (uint32_t)((count + BLOCK_ENTRIES - 1) / BLOCK_ENTRIES);
    struct bytes fences = db_column(row, 3);
    struct exact_part *p = &s->parts[number % PARTS];
    struct exact_run *run = &p->runs[number / PARTS];
    enum status st = db_row_check(&r, s->of_urls ? "seenpart" : s->tables);

    if (st != STATUS_OK)
        return st;
    if (fences.len != (size_t)blocks * FENCE_SIZE)
        return bad_part(s, number);
    if (upto > p->upto)
        p->upto = upto;
    run->count = count;
    run->blocks = blocks;
    run->fences = xmalloc(blocks * sizeof *run->fences);
    s->memory += exact_run_memory(run);
    s->count += count;
    for (uint32_t i = 0; i < run->blocks; i++)
        run->fences[i] = (uint32_t)packed_get((const unsigned char *)fences.at +
                                                  i * FENCE_SIZE,
                                              FENCE_SIZE);
    return STATUS_OK;
}

static enum status prepare(struct exact_set *s, sqlite3_stmt **out,
                           const char *before, const char *behind)
{
    char sql[128];

    snprintf(sql, sizeof sql, "%s %s%s", before, s->tables, behind);
    return db_prepare(s->d, out, sql);
}

static enum status read_parts(struct exact_set *s)
{
    sqlite3_stmt *row = NULL;
    enum status st =
        prepare(s, &row, "SELECT part, upto, count, fences FROM", "part");

    while (st == STATUS_OK) {
        st = db_step(s->d, row);
        if (st == STATUS_OK)
            st = take_part(s, row);
    }
    sqlite3_finalize(row);
    return st == STATUS_NOT_FOUND ? STATUS_OK : st;
}

enum status exact_set_open(struct exact_set **out, struct db *d,
                           const struct exact_set_options *o)
{
    struct exact_set *s = xcalloc(1, sizeof *s);
    enum status st;

    s->d = d;
    s->of_urls = o->tables == NULL;
    s->one_run = o->one_run;
    s->rows = o->rows;
    s->tables = s->of_urls ? "seen" : o->tables;
    snprintf(s->page_table, sizeof s->page_table, "%spage", s->tables);
    s->blob = (struct db_blob){.table = s->page_table, .column = "entries"};
    s->delta_most = o->delta_most > 0 ? o->delta_most : DELTA_MOST;
    st = block_cache_new(&s->cache, o->block_cache_bytes);
    if (st == STATUS_OK)
        st = prepare(s, &s->write_part, "INSERT OR REPLACE INTO",
                     "part VALUES(?, ?, ?, ?)");
    if (st == STATUS_OK)
        st = prepare(s, &s->write_row, "INSERT OR REPLACE INTO",
                     "page VALUES(?, ?)");
    if (st == STATUS_OK)
        st = prepare(s, &s->read_rows, "SELECT id, entries FROM",
                     "page WHERE id BETWEEN ? AND ? ORDER BY id");
    if (st == STATUS_OK)
        st = prepare(s, &s->drop_part, "DELETE FROM", "part WHERE part = ?");
    if (st == STATUS_OK)
        st = read_parts(s);
    if (st != STATUS_OK) {
        exact_set_close(s);
        return st;
    }
    s->last_id = exact_set_upto(s);
    while (s->parts[s->next_part].upto > s->last_id)
        s->next_part++; /* the part that has waited longest is merged next */
    *out = s;
    return STATUS_OK;
}

void exact_set_close(struct exact_set *s)
{
    if (s == NULL)
        return;
    for (uint32_t i = 0; i < PARTS; i++) {
        for (unsigned run = 0; run < RUNS; run++)
            free(s->parts[i].runs[run].fences);
        exact_delta_free(&s->parts[i].delta);
    }
    sqlite3_finalize(s->write_part);
    sqlite3_finalize(s->drop_part);
    sqlite3_finalize(s->write_row);
    sqlite3_finalize(s->read_rows);
    block_cache_free(s->cache);
    free(s->from.at);
    free(s->merged.at);
    free(s->young.at);
    free(s->order);
    free(s);
}

uint64_t exact_set_upto(const struct exact_set *s)
{
    uint64_t least = s->parts[0].upto;

    for (uint32_t i = 1; i < PARTS; i++) {
        if (s->parts[i].upto < least)
            least = s->parts[i].upto;
    }
    return least;
}

enum status exact_set_check_upto(const struct exact_set *s, uint64_t last)
{
    for (uint32_t i = 0; i < PARTS; i++) {
        if (s->parts[i].upto > last)
            return bad_part(s, i);
    }
    return STATUS_OK;
}

bool exact_set_has_run(const struct exact_set *s, struct digest digest)
{
    const struct exact_part *p = &s->parts[exact_part_of(digest)];

    return p->runs[OLD].blocks > 0 || p->runs[YOUNG].blocks > 0;
}

bool exact_set_has_row(const struct exact_set *s, struct digest digest,
                       uint64_t id)
{
    return id <= s->parts[exact_part_of(digest)].upto;
}

void exact_set_add(struct exact_set *s, struct digest digest, uint64_t id)
{
    struct exact_part *p = &s->parts[exact_part_of(digest)];
    unsigned char entry[ENTRY_SIZE];

    if (id > s->last_id)
        s->last_id = id;
    if (id <= p->upto)
        return; /* a replayed row that this part has in its runs */
    exact_key(entry, digest);
    packed_put(entry + KEY_SIZE, id, ID_SIZE);
    s->memory -= exact_delta_memory(&p->delta);
    exact_delta_add(&p->delta, entry);
    s->memory += exact_delta_memory(&p->delta);
    s->count++;
    s->delta_count++;
}

void exact_set_prefetch(const struct exact_set *s, struct digest digest)
{
    const struct exact_delta *t = &s->parts[exact_part_of(digest)].delta;

    exact_delta_prefetch_slot(t, digest);
    if (t->count < t->cap)
        __builtin_prefetch(t->entries + (size_t)t->count * ENTRY_SIZE);
}

void exact_set_replace(struct exact_set *s, struct digest digest, uint64_t id)
{
    struct exact_part *p = &s->parts[exact_part_of(digest)];
    unsigned char entry[ENTRY_SIZE];

    exact_key(entry, digest);
    packed_put(entry + KEY_SIZE, id, ID_SIZE);
    if (id > p->upto && exact_delta_move(&p->delta, entry)) {
        if (id > s->last_id)
            s->last_id = id;
        return;
    }
    if (id > p->upto) { /* the replaced entry no longer counts */
        p->delta.replacing++;
        s->count--;
    }
    exact_set_add(s, digest, id);
}

/* ---- blocks ---- */

enum status exact_bad_block(const struct exact_set *s, uint32_t part,
                            uint32_t run, uint32_t block)
{
    log_error("exact set is damaged",
              "table=%s part=%u run=%u block=%u row=%u reason=\"its row is "
              "missing or too short\"",
              s->page_table, part, run, block,
              exact_row_id(part, run, block / ROW_BLOCKS));
    return STATUS_DAMAGED;
}

enum status exact_read_block(struct exact_set *s, uint32_t part, uint32_t run,
                             uint32_t block, unsigned char *to)
{
    enum status st =
        db_blob_read(s->d, &s->blob,
                     exact_row_id(part, run, block / ROW_BLOCKS),
                     (size_t)(block % ROW_BLOCKS) * BLOCK_SIZE, BLOCK_SIZE, to);

    return st == STATUS_NOT_FOUND ? exact_bad_block(s, part, run, block) : st;
}

/* ---- walking, counting ---- */

/* How many of the block's `n` entries have a hi below `first`. */
static uint32_t entries_before(const unsigned char *at, uint32_t n,
                               uint32_t part, uint64_t first)
{
    uint32_t low = 0;

    while (low < n) {
        uint32_t middle = low + (n - low) / 2;

        if (exact_hi(part, at + (size_t)middle * ENTRY_SIZE) < first)
            low = middle + 1;
        else
            n = middle;
    }
    return low;
}

static enum status each_in_run(struct exact_set *s, uint32_t part, uint32_t run,
                               uint64_t first, uint64_t last,
                               void (*visit)(void *, struct digest, uint64_t),
                               void *ctx)
{
    const struct exact_part *p = &s->parts[part];
    const struct exact_run *r = &p->runs[run];
    const uint32_t low = exact_fence_of(first), high = exact_fence_of(last);
    unsigned char entries[BLOCK_SIZE];
    uint32_t block = 0;

    if (part == first >> PART_SHIFT)
        block = exact_block_for(r, low);
    /* Entries that share the fence's bits may begin a block earlier. */
    while (block > 0 && r->fences[block] >= low)
        block--;
    for (; block < r->blocks; block++) {
        const unsigned char *at =
            block_cache_peek(s->cache, exact_block_id(part, run, block));

        if (part == last >> PART_SHIFT && r->fences[block] > high)
            break;
        if (at == NULL) {
            enum status st = exact_read_block(s, part, run, block, entries);

            if (st != STATUS_OK)
                return st;
            at = entries;
        }
        for (uint32_t n = exact_block_entries(r, block),
                      i = entries_before(at, n, part, first);
             i < n; i++) {
            const unsigned char *e = at + (size_t)i * ENTRY_SIZE;
            struct digest d = exact_digest(part, e);

            if (d.hi > last)
                break;
            if (p->delta.replacing == 0 || exact_delta_find(&p->delta, e) == 0)
                visit(ctx, d, exact_id(e));
        }
    }
    return STATUS_OK;
}

static void each_in_delta(const struct exact_delta *t, uint32_t part,
                          uint64_t first, uint64_t last,
                          void (*visit)(void *, struct digest, uint64_t),
                          void *ctx)
{
    for (uint32_t i = 0; i < t->count; i++) {
        const unsigned char *e = t->entries + (size_t)i * ENTRY_SIZE;
        uint64_t hi = exact_hi(part, e);

        if (hi - first <= last - first)
            visit(ctx, exact_digest(part, e), exact_id(e));
    }
}

enum status exact_set_each(struct exact_set *s, uint64_t first, uint64_t last,
                           void (*visit)(void *ctx, struct digest digest,
                                         uint64_t id),
                           void *ctx)
{
    if (first > last)
        return STATUS_OK;
    for (uint64_t part = first >> PART_SHIFT; part <= last >> PART_SHIFT;
         part++) {
        const struct exact_delta *t = &s->parts[part].delta;
        enum status st = STATUS_OK;

        for (uint32_t run = 0; st == STATUS_OK && run < RUNS; run++)
            st = each_in_run(s, (uint32_t)part, run, first, last, visit, ctx);
        db_blob_close(&s->blob);
        if (st != STATUS_OK)
            return st;
        each_in_delta(t, (uint32_t)part, first, last, visit, ctx);
    }
    return STATUS_OK;
}

struct exact_set_stats exact_set_stats(const struct exact_set *s)
{
    return (struct exact_set_stats){
        .delta = s->delta_count,
        .count = s->count,
        .finds = s->finds,
        .block_hits = s->block_hits,
        .block_reads = s->block_reads,
        .memory = sizeof *s + s->memory + block_cache_memory(s->cache) +
                  s->from.cap + s->merged.cap + s->young.cap +
                  s->order_cap * sizeof *s->order,
    };
}
