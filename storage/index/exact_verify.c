/* SPDX-License-Identifier: MIT */
/*
 * exact_verify.c - checks the exact set on disk.
 *
 * Each block is read from the disk, not from the cache. What is in memory only
 * (the delta) has just been replayed from the url rows and is not checked.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/logger.h"
#include "base/mem.h"
#include "storage/db/db_row.h"
#include "storage/db/schema.h"
#include "storage/index/exact_parts.h"

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
        db_number(s->d,
                  s->of_urls ? "SELECT ifnull(max(id), 0) FROM url"
                             : "SELECT ifnull(max(seq), 0) FROM fetch",
                  &last);

    return st == STATUS_OK ? verify(s, (uint64_t)last, s->of_urls) : st;
}

enum status exact_set_verify_upto(struct exact_set *s, uint64_t last_id)
{
    return verify(s, last_id, false);
}
