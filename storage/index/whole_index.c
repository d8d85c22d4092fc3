/* SPDX-License-Identifier: MIT */
/*
 * whole_index.c - maps a URL to its newest whole fetch.
 *
 *   set ──► young: hash table ──(full)──► round: sorted by id ──► table whole
 *
 * A number in a B-tree at the place of its URL would cost a page of write-ahead
 * log each, since hosts take turns and their ids lie far apart. A round of 1/32
 * of all URLs rewrites each row once: 160 octets a change, and less where
 * fetches are near each other. Rows of a round that did not end are no harm:
 * the fetches since it began are read again, and the newest one counts.
 */
#include "storage/index/whole_index.h"

#include <stdlib.h>
#include <string.h>

#include "base/logger.h"
#include "base/mem.h"
#include "storage/db/db_row.h"
#include "storage/db/packed.h"

#define OCTETS       5
#define BLOCK_OCTETS ((size_t)WHOLE_BLOCK * OCTETS)
#define ROUND_LEAST  ((size_t)16384) /* changes in a round */
#define ROUND_SHARE  32              /* of all URLs known */
#define ROOM_LEAST   ((size_t)1024)  /* places of the hash table */
/* Of memory, for each change of a round. A table of them has half as many
 * places again and is sorted where it stands; while the round that this makes
 * is written, the next table grows to half of its size. Sorting takes as much
 * as is sorted. */
#define CHANGE_COST 25

/* Packed, since the memory for changes decides how often rows are written. */
struct change {
    unsigned char url[OCTETS], seq[OCTETS]; /* url 0: an empty place */
};

struct fetch {
    uint64_t url, seq;
};

struct whole_index {
    struct db *d;
    uint64_t memory; /* 0: a reader */
    uint64_t last_url, last_seq;
    struct change *young; /* open addressing, at most three quarters full */
    size_t room, count;
    /* the round */
    struct change *round; /* sorted by url */
    size_t round_count, round_at;
    uint64_t round_seq; /* all fetches up to it are in the round or the table */
    size_t owed;        /* changes since the last step */
};

/* ---- changes in memory ---- */

static uint64_t url_of(const struct change *c)
{
    return packed_get(c->url, OCTETS);
}

static uint64_t seq_of(const struct change *c)
{
    return packed_get(c->seq, OCTETS);
}

static struct change change_of(uint64_t url, uint64_t seq)
{
    struct change c = {.url = {0}};

    packed_put(c.url, url, OCTETS);
    packed_put(c.seq, seq, OCTETS);
    return c;
}

/* Ids are dense, so the multiplication spreads neighbours (Knuth 6.4). */
static size_t place_of(const struct whole_index *x, uint64_t url)
{
    uint64_t mixed = url * UINT64_C(0x9e3779b97f4a7c15) >> 32;

    return (size_t)(mixed * x->room >> 32);
}

/* Its place, or the empty one where it would be. */
static struct change *find_young(const struct whole_index *x, uint64_t url)
{
    size_t i = place_of(x, url);

    for (;;) {
        uint64_t at = url_of(&x->young[i]);

        if (at == 0 || at == url)
            return &x->young[i];
        i = i + 1 < x->room ? i + 1 : 0;
    }
}

/* How many changes make a round. */
static size_t round_size(const struct whole_index *x)
{
    size_t size = (size_t)(x->last_url / ROUND_SHARE);
    size_t most = (size_t)(x->memory / CHANGE_COST);

    if (size < ROUND_LEAST)
        size = ROUND_LEAST;
    if (size > most)
        size = most;
    return size > 0 ? size : 1;
}

/* Twice the room, but no more than a round needs if that is enough. */
static size_t next_room(const struct whole_index *x)
{
    size_t enough = round_size(x) + round_size(x) / 2;

    return x->room < enough && x->room * 2 > enough ? enough : x->room * 2;
}

static void make_room(struct whole_index *x)
{
    struct change *old = x->young;
    size_t room = x->room;

    x->room = next_room(x);
    x->young = xcalloc(x->room, sizeof *x->young);
    for (size_t i = 0; i < room; i++)
        if (url_of(&old[i]) != 0)
            *find_young(x, url_of(&old[i])) = old[i];
    free(old);
}

void whole_index_set(struct whole_index *x, uint64_t url, uint64_t seq)
{
    struct change *c = find_young(x, url);

    if (url_of(c) == 0) {
        x->count++;
        x->owed++;
    }
    *c = change_of(url, seq);
    x->last_seq = seq;
    if (url > x->last_url)
        x->last_url = url;
    if (x->count * 4 > x->room * 3)
        make_room(x);
}

static int by_url(const void *a, const void *b)
{
    const struct change *x = a, *y = b;

    return memcmp(x->url, y->url, OCTETS);
}

/* The young changes become the round, where they stand. */
static void begin_round(struct whole_index *x)
{
    size_t n = 0;

    for (size_t i = 0; i < x->room; i++)
        if (url_of(&x->young[i]) != 0)
            x->young[n++] = x->young[i];
    qsort(x->young, n, sizeof *x->young, by_url);
    x->round = xrealloc(x->young, (n + 1) * sizeof *x->young);
    x->round_count = n;
    x->round_at = 0;
    x->round_seq = x->last_seq;
    x->room = ROOM_LEAST;
    x->young = xcalloc(x->room, sizeof *x->young);
    x->count = 0;
}

/* ---- the table ---- */

static uint64_t block_of(uint64_t url)
{
    return (url - 1) / WHOLE_BLOCK;
}

static size_t offset_of(uint64_t url)
{
    return (size_t)((url - 1) % WHOLE_BLOCK) * OCTETS;
}

/* All zero if the block has no row. */
static enum status read_block(struct whole_index *x, uint64_t block,
                              unsigned char seqs[BLOCK_OCTETS])
{
    sqlite3_stmt *q =
        db_statement(x->d, "SELECT seqs FROM whole WHERE block = ?");
    enum status st;

    memset(seqs, 0, BLOCK_OCTETS);
    sqlite3_bind_int64(q, 1, (int64_t)block);
    st = db_step(x->d, q);
    if (st == STATUS_OK) {
        struct bytes row = db_column(q, 0);

        if (row.len == BLOCK_OCTETS)
            memcpy(seqs, row.at, BLOCK_OCTETS);
        else
            st = db_damaged("whole", (int64_t)block, "is no block of fetches");
    }
    return db_end(q, st);
}

static enum status find_stored(struct whole_index *x, uint64_t url,
                               uint64_t *seq)
{
    unsigned char seqs[BLOCK_OCTETS];
    enum status st = read_block(x, block_of(url), seqs);

    *seq = packed_get(seqs + offset_of(url), OCTETS);
    return st;
}

enum status whole_index_find(struct whole_index *x, uint64_t url, uint64_t *seq)
{
    const struct change *c, key = change_of(url, 0);

    *seq = 0;
    if (url == 0)
        return STATUS_OK;
    c = find_young(x, url);
    if (url_of(c) == 0 && x->round_count > 0)
        c = bsearch(&key, x->round, x->round_count, sizeof key, by_url);
    if (c != NULL && url_of(c) == url) {
        *seq = seq_of(c);
        return STATUS_OK;
    }
    return find_stored(x, url, seq);
}

/* Writes the block that the next change of the round is in. */
static enum status write_block(struct whole_index *x)
{
    sqlite3_stmt *q;
    uint64_t block = block_of(url_of(&x->round[x->round_at]));
    unsigned char seqs[BLOCK_OCTETS];
    enum status st = read_block(x, block, seqs);

    if (st != STATUS_OK)
        return st;
    while (x->round_at < x->round_count &&
           block_of(url_of(&x->round[x->round_at])) == block) {
        const struct change *c = &x->round[x->round_at++];

        memcpy(seqs + offset_of(url_of(c)), c->seq, OCTETS);
    }
    q = db_statement(x->d, "INSERT OR REPLACE INTO whole VALUES(?, ?)");
    sqlite3_bind_int64(q, 1, (int64_t)block);
    sqlite3_bind_blob(q, 2, seqs, (int)BLOCK_OCTETS, SQLITE_STATIC);
    return db_run(x->d, q);
}

static enum status end_round(struct whole_index *x)
{
    sqlite3_stmt *q =
        db_statement(x->d,
                     "INSERT OR REPLACE INTO meta VALUES('whole_upto', ?)");
    enum status st;

    sqlite3_bind_int64(q, 1, (int64_t)x->round_seq);
    st = db_run(x->d, q);
    free(x->round);
    x->round = NULL;
    x->round_count = x->round_at = 0;
    return st;
}

/* Writes at least `most` changes of the round. */
static enum status write_some(struct whole_index *x, size_t most)
{
    size_t upto = x->round_at + most;
    enum status st = STATUS_OK;

    while (st == STATUS_OK && x->round_at < x->round_count &&
           x->round_at < upto)
        st = write_block(x);
    return st == STATUS_OK && x->round_at == x->round_count ? end_round(x) : st;
}

/* Two of the round for each new one, so the round is over when the next one is
 * half full. */
enum status whole_index_step(struct whole_index *x)
{
    size_t owed = x->owed;

    x->owed = 0;
    if (x->memory == 0)
        return STATUS_OK;
    if (x->round == NULL && x->count >= round_size(x))
        begin_round(x);
    return x->round != NULL && owed > 0 ? write_some(x, 2 * owed) : STATUS_OK;
}

/* ---- opening ---- */

/* Writes everything in memory, in a transaction of its own. */
static enum status write_all(struct whole_index *x)
{
    enum status st = db_begin(x->d);

    begin_round(x);
    if (st == STATUS_OK)
        st = write_some(x, SIZE_MAX / 2);
    return st == STATUS_OK ? db_commit(x->d) : st;
}

/* A mark ahead of the rows would hide later rows. */
static enum status read_upto(struct whole_index *x, uint64_t *upto)
{
    int64_t v = 0, last = 0;
    enum status st =
        db_number(x->d, "SELECT ifnull(max(seq), 0) FROM fetch", &last);

    if (st == STATUS_OK)
        st = db_number(x->d, "SELECT value FROM meta WHERE name = 'whole_upto'",
                       &v);
    if (st == STATUS_NOT_FOUND)
        return STATUS_OK;
    if (st == STATUS_OK && (v < 0 || v > last))
        return db_damaged("meta", v, "whole_upto is ahead of the fetches");
    *upto = (uint64_t)v;
    return st;
}

#define SELECT_FATES "SELECT seq, url, final, status, reason FROM fetch"

static enum status take_fetch(sqlite3_stmt *q, struct fetch *f, bool *whole)
{
    struct db_row r = db_row(q);
    bool final;
    unsigned status, reason;

    f->seq = db_row_count(&r, 0, DB_ID_MOST);
    f->url = (uint64_t)db_row_number(&r, 1, 1, (int64_t)DB_ID_MOST);
    final = db_row_flag(&r, 2);
    status = (unsigned)db_row_count(&r, 3, UINT8_MAX);
    reason = (unsigned)db_row_count(&r, 4, UINT8_MAX);
    *whole = whole_index_takes(final, status, reason);
    return db_row_check(&r, "fetch");
}

/* Reads fetches after *after, until memory is full or *over. */
static enum status replay(struct whole_index *x, uint64_t *after, bool *over)
{
    sqlite3_stmt *q = NULL;
    struct fetch f;
    bool whole, full = false;
    enum status st =
        db_prepare(x->d, &q, SELECT_FATES " WHERE seq > ? ORDER BY seq");

    if (st == STATUS_OK)
        sqlite3_bind_int64(q, 1, (int64_t)*after);
    while (st == STATUS_OK && !full && (st = db_step(x->d, q)) == STATUS_OK) {
        st = take_fetch(q, &f, &whole);
        if (st == STATUS_OK && whole)
            whole_index_set(x, f.url, f.seq);
        x->last_seq = *after = f.seq;
        full = x->memory > 0 && x->count >= round_size(x);
    }
    sqlite3_finalize(q);
    *over = st == STATUS_NOT_FOUND;
    return *over ? STATUS_OK : st;
}

static enum status replay_all(struct whole_index *x)
{
    bool over = false;
    uint64_t upto = 0;
    enum status st = read_upto(x, &upto);

    x->last_seq = upto;
    while (st == STATUS_OK && !over) {
        st = replay(x, &upto, &over);
        if (st == STATUS_OK && !over)
            st = write_all(x);
    }
    x->owed = 0;
    return st;
}

enum status whole_index_open(struct whole_index **out, struct db *d,
                             uint64_t memory)
{
    struct whole_index *x = xcalloc(1, sizeof *x);
    enum status st;

    x->d = d;
    x->memory = memory;
    x->room = ROOM_LEAST;
    x->young = xcalloc(x->room, sizeof *x->young);
    st = replay_all(x);
    if (st != STATUS_OK) {
        whole_index_close(x);
        return st;
    }
    *out = x;
    return STATUS_OK;
}

void whole_index_close(struct whole_index *x)
{
    if (x == NULL)
        return;
    free(x->young);
    free(x->round);
    free(x);
}

/* ---- verify ---- */

static enum status compare(struct whole_index *x, const uint64_t *newest,
                           uint64_t last_id)
{
    enum status st = STATUS_OK;

    for (uint64_t id = 1; st == STATUS_OK && id <= last_id; id++) {
        uint64_t seq;

        st = whole_index_find(x, id, &seq);
        if (st == STATUS_OK && seq != newest[id - 1]) {
            log_error("the index of whole fetches does not agree with the rows",
                      "id=%llu indexed=%llu newest=%llu",
                      (unsigned long long)id, (unsigned long long)seq,
                      (unsigned long long)newest[id - 1]);
            st = STATUS_DAMAGED;
        }
    }
    return st;
}

enum status whole_index_verify(struct whole_index *x, uint64_t last_id)
{
    uint64_t *newest = try_calloc((size_t)last_id + 1, sizeof *newest);
    sqlite3_stmt *q = NULL;
    struct fetch f;
    bool whole;
    enum status st = newest != NULL ? STATUS_OK : STATUS_NOMEM;

    if (st == STATUS_OK)
        st = db_prepare(x->d, &q, SELECT_FATES " ORDER BY seq");
    while (st == STATUS_OK && (st = db_step(x->d, q)) == STATUS_OK) {
        st = take_fetch(q, &f, &whole);
        if (st == STATUS_OK && f.url > last_id)
            st = db_damaged("fetch", (int64_t)f.seq, "is of an unknown URL");
        if (st == STATUS_OK && whole)
            newest[f.url - 1] = f.seq;
    }
    sqlite3_finalize(q);
    if (st == STATUS_NOT_FOUND)
        st = compare(x, newest, last_id);
    free(newest);
    return st;
}

uint64_t whole_index_memory(const struct whole_index *x)
{
    return sizeof *x + (x->room + x->round_count) * sizeof *x->young;
}
