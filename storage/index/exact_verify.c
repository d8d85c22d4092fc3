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

#include "base/logger.h"
#include "base/mem.h"
#include "storage/db/db_row.h"
#include "storage/db/url_kind.h"
#include "storage/index/exact_parts.h"

struct check {
    struct exact_set *s;
    uint64_t last_id;    /* the last row */
    unsigned char *seen; /* a bit for each id up to last_id */
    uint64_t rows;       /* pages that are in the table */
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
    unsigned char at[MOST_OCTETS];
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
    c->rows += exact_in_table(r) ? r->blocks : 0;
    return st;
}

static enum status check_parts(struct check *c)
{
    for (uint32_t part = 0; part < PARTS; part++) {
        for (uint32_t run = 0; run < RUNS; run++) {
            enum status st = check_run(c, part, run);

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

/* Ids up to the least `upto` are in the runs of one part or another. Bodies
 * are different, since not every fetch has a new one: page_store_verify_bodies
 * checks them. */
static enum status check_complete(const struct check *c)
{
    const uint64_t upto = c->s->of_urls ? exact_set_upto(c->s) : 0;

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
    int64_t rows = 0;
    char sql[64];
    enum status st;

    snprintf(sql, sizeof sql, "SELECT count(*) FROM %spage", s->tables);
    st = db_number(s->d, sql, &rows);

    if (st != STATUS_OK)
        return st;
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
    if (st == STATUS_OK && (uint64_t)rows != c.rows)
        st = bad(PARTS, OLD, 0, "pages that belong to no part");
    if (st == STATUS_OK && urls)
        st = mark_replaced(&c);
    if (st == STATUS_OK)
        st = check_complete(&c);
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
