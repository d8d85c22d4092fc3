/* SPDX-License-Identifier: MIT */
/*
 * done_bits.c - which URLs are done: one bit each.
 *
 * We store the seq at the start of the round rather than a number in each row:
 * then an unchanged block need not be written, and a block without a row yet
 * loses nothing, since its fetches came after the round began.
 */
#include "storage/index/done_bits.h"

#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "base/logger.h"
#include "base/mem.h"
#include "storage/db/db_row.h"

#define OCTETS      (DONE_BLOCK / 8)
#define ROUND_LEAST UINT64_C(262144) /* changes in a round */

struct done_bits {
    struct db *d;
    unsigned char **blocks; /* NULL: all zero */
    bool *dirty;
    uint32_t cap;
    uint64_t seq;
    uint64_t memory;
    uint64_t rows; /* the last id at opening */
    /* the round */
    uint64_t round_least;
    uint32_t next;
    uint64_t began_at; /* seq when it began */
    uint64_t owed;     /* blocks still to write, times the round's length */
};

static uint32_t block_of(uint64_t id)
{
    return (uint32_t)((id - 1) / DONE_BLOCK);
}

static unsigned char *make_block(struct done_bits *b, uint32_t block)
{
    if (block >= b->cap) {
        uint32_t cap = b->cap + b->cap / 2;

        if (cap < block + 16)
            cap = block + 16;
        b->blocks = xrealloc(b->blocks, cap * sizeof *b->blocks);
        b->dirty = xrealloc(b->dirty, cap * sizeof *b->dirty);
        memset(b->blocks + b->cap, 0, (cap - b->cap) * sizeof *b->blocks);
        memset(b->dirty + b->cap, 0, (cap - b->cap) * sizeof *b->dirty);
        b->cap = cap;
    }
    if (b->blocks[block] == NULL) {
        b->blocks[block] = xcalloc(1, OCTETS);
        b->memory += OCTETS;
    }
    return b->blocks[block];
}

bool done_bits_has(const struct done_bits *b, uint64_t id)
{
    uint32_t block = block_of(id), i = (uint32_t)((id - 1) % DONE_BLOCK);

    if (id == 0 || block >= b->cap || b->blocks[block] == NULL)
        return false;
    return b->blocks[block][i >> 3] >> (i & 7) & 1;
}

void done_bits_prefetch(const struct done_bits *b, uint64_t id)
{
    uint32_t block = block_of(id), i = (uint32_t)((id - 1) % DONE_BLOCK);

    if (id > 0 && block < b->cap && b->blocks[block] != NULL)
        __builtin_prefetch(&b->blocks[block][i >> 3]);
}

bool done_bits_set(struct done_bits *b, uint64_t id, uint64_t seq)
{
    uint32_t i = (uint32_t)((id - 1) % DONE_BLOCK);

    if (seq > b->seq)
        b->seq = seq;
    if (done_bits_has(b, id))
        return false;
    make_block(b, block_of(id))[i >> 3] |= (unsigned char)(1 << (i & 7));
    b->dirty[block_of(id)] = true;
    return true;
}

/* ---- opening ---- */

static enum status read_blocks(struct done_bits *b)
{
    sqlite3_stmt *row = NULL;
    enum status st = db_prepare(b->d, &row, "SELECT block, done FROM status");

    while (st == STATUS_OK && (st = db_step(b->d, row)) == STATUS_OK) {
        struct db_row r = db_row(row);
        uint64_t block = db_row_count(&r, 0, b->rows / DONE_BLOCK);
        struct bytes bits = db_column(row, 1);

        st = db_row_check(&r, "status");
        if (st == STATUS_OK && bits.len != OCTETS)
            st = db_damaged("status", (int64_t)block, "is no block of bits");
        if (st == STATUS_OK)
            memcpy(make_block(b, (uint32_t)block), bits.at, OCTETS);
    }
    sqlite3_finalize(row);
    return st == STATUS_NOT_FOUND ? STATUS_OK : st;
}

static enum status read_fetches(struct done_bits *b, uint64_t after)
{
    sqlite3_stmt *row = NULL;
    enum status st = db_prepare(b->d, &row,
                                "SELECT seq, url, final FROM fetch"
                                " WHERE seq > ? ORDER BY seq");

    if (st == STATUS_OK)
        sqlite3_bind_int64(row, 1, (int64_t)after);
    while (st == STATUS_OK && (st = db_step(b->d, row)) == STATUS_OK) {
        struct db_row r = db_row(row);
        uint64_t seq = db_row_count(&r, 0, DB_ID_MOST);
        int64_t url = db_row_number(&r, 1, 1, (int64_t)b->rows);
        bool final = db_row_flag(&r, 2);

        st = db_row_check(&r, "fetch");
        if (st == STATUS_OK && final)
            done_bits_set(b, (uint64_t)url, seq);
        b->seq = seq;
    }
    sqlite3_finalize(row);
    return st == STATUS_NOT_FOUND ? STATUS_OK : st;
}

/* A mark ahead of the rows would hide later rows. */
static enum status read_upto(struct done_bits *b, uint64_t *upto)
{
    int64_t v = 0, last = 0;
    enum status st =
        db_number(b->d, "SELECT ifnull(max(seq), 0) FROM fetch", &last);

    if (st == STATUS_OK)
        st = db_number(b->d,
                       "SELECT value FROM meta WHERE name = 'status_upto'", &v);
    if (st == STATUS_NOT_FOUND)
        return STATUS_OK;
    if (st == STATUS_OK && (v < 0 || v > last))
        return db_damaged("meta", v, "status_upto is ahead of the fetches");
    *upto = (uint64_t)v;
    return st;
}

enum status done_bits_open(struct done_bits **out, struct db *d,
                           uint64_t last_id, uint64_t round_least)
{
    struct done_bits *b = xcalloc(1, sizeof *b);
    uint64_t upto = 0;
    enum status st;

    b->d = d;
    b->rows = last_id;
    b->round_least = round_least > 0 ? round_least : ROUND_LEAST;
    st = read_upto(b, &upto);
    if (st == STATUS_OK)
        st = read_blocks(b);
    if (st == STATUS_OK)
        st = read_fetches(b, upto);
    if (st != STATUS_OK) {
        done_bits_close(b);
        return st;
    }
    /* An unfinished round does not count: begin again after the last finished
     * one, with every fetch since then replayed. */
    b->began_at = b->seq;
    *out = b;
    return STATUS_OK;
}

void done_bits_close(struct done_bits *b)
{
    if (b == NULL)
        return;
    for (uint32_t i = 0; i < b->cap; i++)
        free(b->blocks[i]);
    free(b->blocks);
    free(b->dirty);
    free(b);
}

/* ---- the round ---- */

static enum status write_block(struct done_bits *b, uint32_t block)
{
    sqlite3_stmt *q;
    enum status st;

    if (block >= b->cap || !b->dirty[block])
        return STATUS_OK;
    q = db_statement(b->d, "INSERT OR REPLACE INTO status"
                           " VALUES(?, ?, ?)");
    sqlite3_bind_int64(q, 1, block);
    sqlite3_bind_int64(q, 2, (int64_t)b->seq);
    sqlite3_bind_blob(q, 3, b->blocks[block], OCTETS, SQLITE_STATIC);
    st = db_run(b->d, q);
    b->dirty[block] = false;
    fault_point("status-sweep");
    return st;
}

static enum status end_round(struct done_bits *b)
{
    sqlite3_stmt *q = db_statement(b->d, "INSERT OR REPLACE INTO meta"
                                         " VALUES('status_upto', ?)");
    enum status st;

    sqlite3_bind_int64(q, 1, (int64_t)b->began_at);
    st = db_run(b->d, q);
    b->began_at = b->seq;
    b->next = 0;
    return st;
}

/* A round spans changes to 1/64 of all URLs, so its blocks cost 64 * 4,000 /
 * 32,000 = 8 octets a change at most. */
enum status done_bits_step(struct done_bits *b, uint64_t last_id,
                           uint64_t changes)
{
    uint64_t round =
        last_id / 64 > b->round_least ? last_id / 64 : b->round_least;
    uint64_t blocks = last_id / DONE_BLOCK + 1;
    enum status st = STATUS_OK;

    b->owed += changes * blocks;
    while (b->owed >= round && st == STATUS_OK) {
        b->owed -= round;
        st = write_block(b, b->next++);
        if (st == STATUS_OK && b->next >= blocks)
            st = end_round(b);
    }
    return st;
}

/* ---- verify ---- */

/* The fetch rows, read again, must give the bits that opening made. */
static enum status compare(const struct done_bits *b, unsigned char *bits,
                           uint64_t last_id)
{
    for (uint64_t id = 1; id <= last_id; id++) {
        bool said = bits[id >> 3] >> (id & 7) & 1;

        if (said != done_bits_has(b, id)) {
            log_error("store is damaged", "id=%llu reason=\"%s\"",
                      (unsigned long long)id,
                      said ? "fetched, but not marked as done"
                           : "marked as done, but never fetched");
            return STATUS_DAMAGED;
        }
    }
    return STATUS_OK;
}

enum status done_bits_verify(struct done_bits *b, uint64_t last_id)
{
    unsigned char *bits = try_calloc(last_id / 8 + 1, 1);
    sqlite3_stmt *row = NULL;
    enum status st = bits != NULL ? STATUS_OK : STATUS_NOMEM;

    if (st == STATUS_OK)
        st = db_prepare(b->d, &row, "SELECT seq, url, final FROM fetch");
    while (st == STATUS_OK && (st = db_step(b->d, row)) == STATUS_OK) {
        int64_t url = sqlite3_column_int64(row, 1);

        if (url < 1 || (uint64_t)url > last_id)
            st = db_damaged("fetch", sqlite3_column_int64(row, 0),
                            "makes no sense");
        else if (sqlite3_column_int(row, 2) != 0)
            bits[url >> 3] |= (unsigned char)(1 << (url & 7));
    }
    if (st == STATUS_NOT_FOUND)
        st = compare(b, bits, last_id);
    sqlite3_finalize(row);
    free(bits);
    return st;
}

uint64_t done_bits_memory(const struct done_bits *b)
{
    return sizeof *b + b->memory + b->cap * (sizeof *b->blocks + 1);
}
