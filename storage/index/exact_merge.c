/* SPDX-License-Identifier: MIT */
/*
 * exact_merge.c - moves entries from memory into the sorted rows.
 *
 * Parts are merged in turn, each once per D new digests, D = an eighth of the
 * set but at least 64k and at most delta_most. Merging everything at once
 * stalled commits for 50 ms and more, growing with the set. With one run a new
 * digest costs writing n/D entries, so with the second, as in a log-structured
 * merge tree (O'Neil et al. 1996), it costs sqrt(2 n/D): 14 instead of 100 at
 * a hundred million digests and a delta of a million.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/fault.h"
#include "base/logger.h"
#include "base/mem.h"
#include "storage/db/db_row.h"
#include "storage/db/schema.h"
#include "storage/index/exact_parts.h"

#define DELTA_LEAST UINT64_C(65536)

/* D: new digests between two merges of one part. */
static uint64_t delta_limit(const struct exact_set *s)
{
    uint64_t d = s->last_id / 8;

    if (d < DELTA_LEAST)
        d = DELTA_LEAST;
    return d < s->delta_most ? d : s->delta_most;
}

static void make_room(struct exact_entries *e, uint64_t entries)
{
    uint64_t want = entries * ENTRY_SIZE + ROW_SIZE; /* rows are whole */

    if (want <= e->cap)
        return;
    e->cap = want + want / 4;
    e->at = xrealloc(e->at, e->cap);
}

static uint32_t rows_of(const struct exact_run *r)
{
    return (r->blocks + ROW_BLOCKS - 1) / ROW_BLOCKS;
}

/* Reads all entries of a run into s->from. */
static enum status read_run(struct exact_set *s, uint32_t part, uint32_t run)
{
    const struct exact_run *r = &s->parts[part].runs[run];
    const uint32_t n = rows_of(r), first = exact_row_id(part, run, 0);
    uint32_t row = 0;
    enum status st = STATUS_OK;

    make_room(&s->from, r->count);
    s->from.count = r->count;
    sqlite3_bind_int64(s->read_rows, 1, first);
    sqlite3_bind_int64(s->read_rows, 2, (int64_t)first + n - 1);
    while (row < n && (st = db_step(s->d, s->read_rows)) == STATUS_OK) {
        struct bytes entries = db_column(s->read_rows, 1);

        if (sqlite3_column_int64(s->read_rows, 0) != first + row ||
            entries.len != ROW_SIZE)
            break;
        memcpy(s->from.at + (size_t)row++ * ROW_SIZE, entries.at, ROW_SIZE);
    }
    sqlite3_reset(s->read_rows);
    return (st == STATUS_OK || st == STATUS_NOT_FOUND) && row < n
               ? exact_bad_block(s, part, run, row * ROW_BLOCKS)
               : st;
}

/* The end of `n` entries. If n is 0, `from` may be NULL, and C does not allow
 * adding even 0 to that. */
static const unsigned char *entries_end(const unsigned char *from, uint64_t n)
{
    return n == 0 ? from : from + n * ENTRY_SIZE;
}

/* Merges s->from and the `n` entries at `b` into s->merged, in order. Up to
 * *replacing of the latter may stand for an older entry with the same digest;
 * less is left of it afterwards. STATUS_DAMAGED: another one was there
 * already. */
static enum status merge_in_order(struct exact_set *s, uint32_t part,
                                  const unsigned char *b, uint64_t n,
                                  uint32_t *replacing)
{
    const unsigned char *a = s->from.at, *a_end = entries_end(a, s->from.count);
    const unsigned char *b_end = entries_end(b, n);
    unsigned char *to;

    make_room(&s->merged, s->from.count + n);
    to = s->merged.at;
    for (; b < b_end; b += ENTRY_SIZE) {
        const unsigned char *from = a;

        while (a < a_end && memcmp(a, b, KEY_SIZE) < 0)
            a += ENTRY_SIZE;
        if (a > from)
            memcpy(to, from, (size_t)(a - from));
        to += a - from;
        if (a < a_end && memcmp(a, b, KEY_SIZE) == 0 && *replacing > 0 &&
            exact_id(a) < exact_id(b)) {
            a += ENTRY_SIZE;
            --*replacing;
        }
        if ((a < a_end && memcmp(a, b, KEY_SIZE) == 0) ||
            (to > s->merged.at && memcmp(to - ENTRY_SIZE, b, KEY_SIZE) == 0)) {
            log_error("exact set is damaged",
                      "part=%u reason=\"a digest was added twice\"", part);
            return STATUS_DAMAGED;
        }
        memcpy(to, b, ENTRY_SIZE);
        to += ENTRY_SIZE;
    }
    if (a < a_end)
        memcpy(to, a, (size_t)(a_end - a));
    to += a < a_end ? a_end - a : 0;
    s->merged.count = (uint64_t)(to - s->merged.at) / ENTRY_SIZE;
    return STATUS_OK;
}

/* Takes the entries of rows that are gone out of s->merged. */
static void leave_out(struct exact_set *s)
{
    unsigned char *to = s->merged.at;
    uint64_t left = 0;

    for (uint64_t i = 0; s->rows.has != NULL && i < s->merged.count; i++) {
        const unsigned char *from = s->merged.at + i * ENTRY_SIZE;

        if (!s->rows.has(s->rows.ctx, exact_id(from)))
            continue;
        if (left < i)
            memcpy(to + left * ENTRY_SIZE, from, ENTRY_SIZE);
        left++;
    }
    if (s->rows.has == NULL)
        return;
    s->count -= s->merged.count - left;
    s->merged.count = left;
}

/* Sets the run's fences, and puts its blocks into the cache in place of those
 * that they replace. */
static void note_block(struct exact_set *s, uint32_t part, uint32_t run,
                       uint32_t block)
{
    struct exact_run *r = &s->parts[part].runs[run];
    const unsigned char *at =
        s->merged.at + (uint64_t)block * BLOCK_ENTRIES * ENTRY_SIZE;
    unsigned char *cached =
        block_cache_put_cheap(s->cache, exact_block_id(part, run, block));

    r->fences[block] = exact_fence_of(exact_hi(part, at));
    if (cached != NULL)
        memcpy(cached, at, (size_t)exact_block_entries(r, block) * ENTRY_SIZE);
}

/* A row of the same length is overwritten where it is. Those past the run's new
 * end, if it has become shorter, stay for the time when it grows again: to
 * delete and insert them would cost several pages each. */
static enum status write_rows(struct exact_set *s, uint32_t part, uint32_t run)
{
    const uint64_t octets = s->merged.count * ENTRY_SIZE;
    enum status st = STATUS_OK;

    memset(s->merged.at + octets, 0, ROW_SIZE);
    for (uint32_t row = 0; st == STATUS_OK && row * (uint64_t)ROW_SIZE < octets;
         row++) {
        sqlite3_bind_int64(s->write_row, 1, exact_row_id(part, run, row));
        sqlite3_bind_blob(s->write_row, 2,
                          s->merged.at + (size_t)row * ROW_SIZE, ROW_SIZE,
                          SQLITE_STATIC);
        st = db_run(s->d, s->write_row);
    }
    return st;
}

/* Makes s->merged the run's entries. */
static enum status write_run(struct exact_set *s, uint32_t part, uint32_t run)
{
    struct exact_run *r = &s->parts[part].runs[run];
    enum status st;

    s->memory -= exact_run_memory(r);
    st = write_rows(s, part, run);
    if (st != STATUS_OK)
        return st;
    r->count = s->merged.count;
    r->blocks = (uint32_t)((r->count + BLOCK_ENTRIES - 1) / BLOCK_ENTRIES);
    r->fences = xrealloc(r->fences, r->blocks * sizeof *r->fences);
    s->memory += exact_run_memory(r);
    for (uint32_t i = 0; i < r->blocks; i++)
        note_block(s, part, run, i);
    return STATUS_OK;
}

static enum status write_part(struct exact_set *s, uint32_t part, uint32_t run)
{
    const struct exact_run *r = &s->parts[part].runs[run];
    size_t octets = (size_t)r->blocks * FENCE_SIZE;
    unsigned char *fences = xmalloc(octets);
    enum status st;

    for (uint32_t i = 0; i < r->blocks; i++)
        packed_put(fences + FENCE_SIZE * (size_t)i, r->fences[i], FENCE_SIZE);
    sqlite3_bind_int64(s->write_part, 1, run * PARTS + part);
    sqlite3_bind_int64(s->write_part, 2, (int64_t)s->parts[part].upto);
    sqlite3_bind_int64(s->write_part, 3, (int64_t)r->count);
    sqlite3_bind_blob(s->write_part, 4, fences, (int)octets, SQLITE_STATIC);
    st = db_run(s->d, s->write_part);
    sqlite3_clear_bindings(s->write_part);
    free(fences);
    return st;
}

/* ---- one part ---- */

static enum status drop_young(struct exact_set *s, uint32_t part)
{
    struct exact_run *r = &s->parts[part].runs[YOUNG];
    enum status st;

    s->memory -= exact_run_memory(r);
    sqlite3_bind_int64(s->drop_part, 1, YOUNG * PARTS + part);
    st = db_run(s->d, s->drop_part);
    free(r->fences);
    *r = (struct exact_run){0};
    return st;
}

/* The delta goes into the young run. */
static enum status merge_young(struct exact_set *s, uint32_t part)
{
    const struct exact_delta *t = &s->parts[part].delta;
    uint32_t replacing = 0;
    enum status st = read_run(s, part, YOUNG);

    if (st == STATUS_OK)
        st = merge_in_order(s, part, t->entries, t->count, &replacing);
    if (st == STATUS_OK)
        st = write_run(s, part, YOUNG);
    return st == STATUS_OK ? write_part(s, part, YOUNG) : st;
}

/* The delta and the young run go into the old run. */
static enum status merge_old(struct exact_set *s, uint32_t part)
{
    const struct exact_part *p = &s->parts[part];
    const unsigned char *at = p->delta.entries;
    uint64_t n = p->delta.count;
    uint32_t replacing = p->delta.replacing;
    struct exact_entries young;
    enum status st = STATUS_OK;

    if (p->runs[YOUNG].blocks > 0) {
        st = read_run(s, part, YOUNG);
        if (st == STATUS_OK)
            st = merge_in_order(s, part, at, n, &replacing);
        young = s->merged;
        s->merged = s->young;
        s->young = young;
        at = young.at;
        n = young.count;
    }
    if (st == STATUS_OK)
        st = read_run(s, part, OLD);
    if (st == STATUS_OK)
        st = merge_in_order(s, part, at, n, &replacing);
    if (st == STATUS_OK) {
        leave_out(s);
        st = write_run(s, part, OLD);
    }
    if (st == STATUS_OK)
        st = write_part(s, part, OLD);
    if (st == STATUS_OK && p->runs[YOUNG].blocks > 0) {
        fault_point("exact-merge-old");
        st = drop_young(s, part);
    }
    return st;
}

/* How many entries a young run may have before it goes into the old one. With
 * n entries in the old run and d in each delta, a limit of k d makes an entry
 * be written k / 2 times in the young run and n / (k d) times in the old one,
 * and the sum is least for k = sqrt(2 n / d). A quarter more or less, different
 * for each part, keeps the parts from coming to their limits together. */
static uint64_t young_limit(uint32_t part, uint64_t n, uint64_t d)
{
    uint32_t spread = part * UINT32_C(2654435761) >> 23; /* 0 to 511 */

    return (uint64_t)(sqrt(2.0 * (double)n * (double)d) *
                      (768 + (double)spread) / 1024);
}

/* Entries that replace others go through to the old run, so that no digest is
 * in both. */
static bool is_for_old(const struct exact_part *p, uint32_t part)
{
    uint64_t n = p->runs[OLD].count, d = p->delta.count;

    return p->delta.replacing > 0 ||
           p->runs[YOUNG].count + d >= young_limit(part, n, d);
}

static enum status merge_part(struct exact_set *s, uint32_t part, bool old)
{
    struct exact_part *p = &s->parts[part];
    bool nothing = p->delta.count == 0 && p->runs[YOUNG].count == 0;
    enum status st = STATUS_OK;

    if (p->runs[OLD].count + p->runs[YOUNG].count + p->delta.count >
        (uint64_t)MOST_BLOCKS * BLOCK_ENTRIES)
        return STATUS_LIMIT;
    exact_delta_sort(&p->delta);
    /* While rows are replayed, a part may be ahead of them and stays ahead. */
    if (p->upto < s->last_id)
        p->upto = s->last_id;
    if (nothing)
        st = write_part(s, part, OLD);
    else
        st = old || is_for_old(p, part) ? merge_old(s, part)
                                        : merge_young(s, part);
    fault_point("exact-merge");
    s->delta_count -= p->delta.count;
    exact_delta_clear(&p->delta);
    return st;
}

static enum status merge_next(struct exact_set *s, unsigned parts, bool old)
{
    enum status st = STATUS_OK;

    for (; parts > 0 && st == STATUS_OK; parts--) {
        st = merge_part(s, s->next_part, old);
        s->next_part = (s->next_part + 1) % PARTS;
    }
    return st;
}

enum status exact_set_merge(struct exact_set *s, unsigned parts)
{
    return merge_next(s, parts, true);
}

enum status exact_set_step(struct exact_set *s, uint64_t admitted)
{
    uint64_t limit = delta_limit(s);
    unsigned parts = 0;

    s->owed += admitted * PARTS;
    for (; s->owed >= limit; s->owed -= limit)
        parts++;
    return merge_next(s, parts, s->one_run);
}

/*
 * Checks the exact set on disk.
 *
 * Each block is read from the disk, not from the cache. What is in memory only
 * (the delta) has just been replayed from the url rows and is not checked.
 */

struct check {
    struct exact_set *s;
    uint64_t last_id;    /* the last row */
    unsigned char *seen; /* a bit for each id up to last_id */
};

static enum status bad(uint32_t part, uint32_t run, uint32_t block,
                       const char *why)
{
    log_error("exact set is damaged", "part=%u run=%u block=%u reason=\"%s\"",
              part, run, block, why);
    return STATUS_DAMAGED;
}

/* Marks the id; false: it was marked already. */
static bool mark(struct check *c, uint64_t id)
{
    unsigned char bit = (unsigned char)(1 << (id & 7));
    bool fresh = (c->seen[id >> 3] & bit) == 0;

    c->seen[id >> 3] |= bit;
    return fresh;
}

static enum status check_block(struct check *c, uint32_t part, uint32_t run,
                               uint32_t block, unsigned char before[KEY_SIZE])
{
    const struct exact_part *p = &c->s->parts[part];
    const struct exact_run *r = &p->runs[run];
    uint32_t entries = exact_block_entries(r, block);
    unsigned char at[BLOCK_SIZE];
    enum status st = exact_read_block(c->s, part, run, block, at);

    if (st != STATUS_OK)
        return st;
    if (exact_fence_of(exact_hi(part, at)) != r->fences[block])
        return bad(part, run, block, "fence is not the first entry");
    for (uint32_t i = 0; i < entries; i++) {
        const unsigned char *e = at + (size_t)i * ENTRY_SIZE;
        uint64_t id = exact_id(e);

        if (exact_part_of(exact_digest(part, e)) != part)
            return bad(part, run, block, "entry of another part");
        if ((block > 0 || i > 0) && memcmp(before, e, KEY_SIZE) >= 0)
            return bad(part, run, block, "entries out of order");
        if (id == 0 || id > p->upto || id > c->last_id)
            return bad(part, run, block, "id out of range");
        if (!mark(c, id))
            return bad(part, run, block, "id stands twice");
        memcpy(before, e, KEY_SIZE);
    }
    return STATUS_OK;
}

static enum status check_run(struct check *c, uint32_t part, uint32_t run)
{
    const struct exact_run *r = &c->s->parts[part].runs[run];
    unsigned char before[KEY_SIZE];
    enum status st = STATUS_OK;

    for (uint32_t block = 0; st == STATUS_OK && block < r->blocks; block++)
        st = check_block(c, part, run, block, before);
    return st;
}

static enum status check_parts(struct check *c)
{
    for (uint32_t part = 0; part < PARTS; part++) {
        for (uint32_t run = 0; run < RUNS; run++) {
            enum status st = check_run(c, part, run);

            db_blob_close(&c->s->blob);
            if (st != STATUS_OK)
                return st;
        }
    }
    return STATUS_OK;
}

/* If a removed URL was put again, its entry now has the id of the new row. */
static enum status mark_replaced(struct check *c)
{
    sqlite3_stmt *row = NULL;
    enum status st = db_prepare(c->s->d, &row,
                                "SELECT via FROM url WHERE kind = ?"
                                " AND via IS NOT NULL");

    if (st == STATUS_OK)
        sqlite3_bind_int(row, 1, URL_KIND_SERVED);
    while (st == STATUS_OK && (st = db_step(c->s->d, row)) == STATUS_OK) {
        struct db_row r = db_row(row);
        uint64_t id = db_row_count(&r, 0, c->last_id);

        st = db_row_check(&r, "url");
        if (id > 0 && id <= c->last_id)
            c->seen[id >> 3] |= (unsigned char)(1 << (id & 7));
    }
    sqlite3_finalize(row);
    return st == STATUS_NOT_FOUND ? STATUS_OK : st;
}

/* ---- URLs that have come back ---- */

/* A row with URL_ROW_AGAIN. */
struct successor {
    uint64_t url; /* hash of its text */
    uint64_t id;
};

struct successors {
    struct successor *at;
    size_t count, room;
};

/* Of the columns origin and path. */
static uint64_t hash_url(sqlite3_stmt *row, int origin)
{
    const void *path = sqlite3_column_blob(row, origin + 1);

    return XXH3_64bits_withSeed(path != NULL ? path : "",
                                (size_t)sqlite3_column_bytes(row, origin + 1),
                                (uint64_t)sqlite3_column_int64(row, origin));
}

static int compare_successors(const void *x, const void *y)
{
    const struct successor *a = x, *b = y;

    return a->url != b->url ? (a->url > b->url) - (a->url < b->url)
                            : (a->id > b->id) - (a->id < b->id);
}

static enum status add_successor(struct successors *l, struct successor s)
{
    if (l->count == l->room) {
        size_t room = l->room > 0 ? 2 * l->room : 1024;
        struct successor *at = try_calloc(room, sizeof *at);

        if (at == NULL)
            return STATUS_NOMEM;
        if (l->count > 0)
            memcpy(at, l->at, l->count * sizeof *at);
        free(l->at);
        l->at = at;
        l->room = room;
    }
    l->at[l->count++] = s;
    return STATUS_OK;
}

static enum status read_successors(const struct check *c, struct successors *l)
{
    sqlite3_stmt *row = NULL;
    enum status st = db_prepare(c->s->d, &row,
                                "SELECT id, origin, path FROM url"
                                " WHERE flags & ?");

    if (st == STATUS_OK)
        sqlite3_bind_int(row, 1, URL_ROW_AGAIN);
    while (st == STATUS_OK && (st = db_step(c->s->d, row)) == STATUS_OK)
        st = add_successor(
            l, (struct successor){hash_url(row, 1),
                                  (uint64_t)sqlite3_column_int64(row, 0)});
    sqlite3_finalize(row);
    if (l->count > 0)
        qsort(l->at, l->count, sizeof *l->at, compare_successors);
    return st == STATUS_NOT_FOUND ? STATUS_OK : st;
}

/* Is there a later row of the URL? */
static bool has_successor(const struct successors *l, uint64_t url, uint64_t id)
{
    size_t low = 0, high = l->count;

    while (low < high) {
        size_t mid = low + (high - low) / 2;

        if (l->at[mid].url < url ||
            (l->at[mid].url == url && l->at[mid].id <= id))
            low = mid + 1;
        else
            high = mid;
    }
    return low < l->count && l->at[low].url == url;
}

/* The digest of a URL that was done and has come back belongs to its later row.
 * Marks the ids of earlier rows that have no entry for that reason. */
static enum status mark_came_back(struct check *c, uint64_t upto)
{
    struct successors all = {0};
    sqlite3_stmt *row = NULL;
    enum status st = read_successors(c, &all);

    if (st == STATUS_OK && all.count > 0)
        st = db_prepare(c->s->d, &row,
                        "SELECT origin, path FROM url WHERE id = ?");
    for (uint64_t id = 1; st == STATUS_OK && all.count > 0 && id <= upto;
         id++) {
        if ((c->seen[id >> 3] >> (id & 7) & 1) != 0)
            continue;
        sqlite3_bind_int64(row, 1, (int64_t)id);
        st = db_step(c->s->d, row);
        if (st == STATUS_OK && has_successor(&all, hash_url(row, 0), id))
            (void)mark(c, id);
        sqlite3_reset(row);
    }
    sqlite3_finalize(row);
    free(all.at);
    return st == STATUS_NOT_FOUND ? STATUS_OK : st; /* check_complete says it */
}

/* Ids up to the least `upto` are in the runs of one part or another. Bodies
 * are different, since not every fetch has a new one: page_store_verify_bodies
 * checks them. */
static enum status check_complete(const struct check *c, uint64_t upto)
{
    for (uint64_t id = 1; id <= upto; id++) {
        if ((c->seen[id >> 3] >> (id & 7) & 1) == 0) {
            log_error("exact set is damaged",
                      "id=%llu reason=\"no entry for this url\"",
                      (unsigned long long)id);
            return STATUS_DAMAGED;
        }
    }
    return STATUS_OK;
}

static enum status verify(struct exact_set *s, uint64_t last_id, bool urls)
{
    struct check c = {.s = s, .last_id = last_id};
    const uint64_t upto = s->of_urls ? exact_set_upto(s) : 0;
    enum status st;

    if (exact_set_upto(s) > c.last_id) {
        log_error("exact set is damaged",
                  "reason=\"ahead of the rows\" upto=%llu rows=%llu",
                  (unsigned long long)exact_set_upto(s),
                  (unsigned long long)c.last_id);
        return STATUS_DAMAGED;
    }
    c.seen = try_calloc(c.last_id / 8 + 1, 1);
    if (c.seen == NULL)
        return STATUS_NOMEM;
    st = check_parts(&c);
    if (st == STATUS_OK && urls)
        st = mark_replaced(&c);
    if (st == STATUS_OK && urls)
        st = mark_came_back(&c, upto);
    if (st == STATUS_OK)
        st = check_complete(&c, upto);
    free(c.seen);
    return st;
}

enum status exact_set_verify(struct exact_set *s)
{
    int64_t last = 0;
    enum status st =
        db_number(s->d, "SELECT ifnull(max(id), 0) FROM url", &last);

    return st == STATUS_OK ? verify(s, (uint64_t)last, true) : st;
}

enum status exact_set_verify_upto(struct exact_set *s, uint64_t last_id)
{
    return verify(s, last_id, false);
}
