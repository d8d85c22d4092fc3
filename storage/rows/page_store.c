/* SPDX-License-Identifier: MIT */
/*
 * page_store.c - metadata of each fetch.
 *
 * Rows are appended, and only history.c removes them; an absent value is NULL
 * and takes one octet, a text that repeats is stored as a number
 * (string_table.h).
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "storage/db/packed.h"
#include "storage/index/whole_index.h"
#include "storage/rows/fetch_columns.h"
#include "storage/rows/page_store_impl.h"

/* A row whose record is lost keeps what else it said of it. */
#define RECORD_LOST(row) row ".warc IS NULL AND " row ".warc_length > 0"

/* ---- opening ---- */

static enum status prepare(struct page_store *s)
{
    const struct db_statement all[] = {
        {&s->add,
         "INSERT INTO fetch(seq, url, final, status, reason, tries,"
         " http, at, elapsed, wire, body, digest, redirect, links,"
         " mime, charset, lang, ip, title, detail, etag, modified,"
         " warc, warc_offset, warc_length, first_byte, same, flags,"
         " text_print, near, text_digest,"
         " body_print, meta)"
         " VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,"
         " ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"},
        {&s->has, "SELECT 1 FROM fetch WHERE seq = ?"},
        {&s->first, "SELECT url, at, status, reason,"
                    " warc IS NOT NULL AND reason <> 41"
                    " FROM fetch WHERE seq = ?"},
        {&s->past, "SELECT url, status, reason, http, redirect, body,"
                   " flags, text_digest, body_print, same, near, mime"
                   " FROM fetch WHERE seq = ?"},
        {&s->finals, "SELECT seq, url, status, reason, http, at FROM fetch"
                     " WHERE seq < ? AND final ORDER BY seq DESC LIMIT ?"},
        {&s->redirect, "SELECT redirect FROM fetch WHERE seq = ?"},
        {&s->newest, "SELECT seq FROM newest WHERE url = ?"},
        {&s->set_newest, "INSERT OR REPLACE INTO newest VALUES(?, ?)"},
        {&s->drop_newest, "DELETE FROM newest WHERE url = ?"},
        {&s->record,
         "SELECT f.seq, f.warc, f.warc_offset,"
         " ifnull(" RECORD_LOST(
             "s") ", 0)"
                  " FROM fetch f LEFT JOIN fetch s ON s.seq = f.same"
                  " WHERE f.seq > ? ORDER BY f.seq LIMIT 1"},
        {&s->lose, "UPDATE fetch SET warc = NULL WHERE seq = ?"},
        {&s->is_lost, "SELECT 1 FROM fetch f WHERE seq = ?"
                      " AND " RECORD_LOST("f")},
    };

    return db_prepare_all(s->d, all, sizeof all / sizeof *all);
}

/* Kept in meta.history_upto. */
static enum status read_thinned(struct page_store *s)
{
    int64_t upto = 0;
    enum status st =
        db_number(s->d, "SELECT value FROM meta WHERE name = 'history_upto'",
                  &upto);

    if (st == STATUS_NOT_FOUND)
        return STATUS_OK;
    if (st == STATUS_OK && (upto < 0 || (uint64_t)upto > s->last_seq))
        st = db_damaged("meta", upto, "history_upto is ahead of the fetches");
    s->thinned = (uint64_t)upto;
    return st;
}

enum status page_store_thin(struct page_store *s, uint64_t seq)
{
    sqlite3_stmt *q = NULL;
    enum status st = db_prepare(s->d, &q,
                                "INSERT OR REPLACE INTO meta"
                                " VALUES('history_upto', ?)");

    if (st == STATUS_OK) {
        sqlite3_bind_int64(q, 1, (int64_t)seq);
        st = db_run(s->d, q);
    }
    sqlite3_finalize(q);
    if (st == STATUS_OK)
        s->thinned = seq;
    return st;
}

enum status page_store_open(struct page_store **out, struct db *d)
{
    struct page_store *s = xcalloc(1, sizeof *s);
    int64_t last = 0;
    enum status st;

    s->d = d;
    st = prepare(s);
    if (st == STATUS_OK)
        st = string_table_open(&s->words, d);
    if (st == STATUS_OK)
        st = robots_store_open(&s->robots, d);
    if (st == STATUS_OK)
        st = db_number(d, "SELECT ifnull(max(seq), 0) FROM fetch", &last);
    if (st == STATUS_OK && (last < 0 || last > (int64_t)DB_ID_MOST))
        st = db_damaged("fetch", last, "seq out of bounds");
    s->last_seq = (uint64_t)last;
    if (st == STATUS_OK)
        st = read_thinned(s);
    if (st != STATUS_OK) {
        page_store_close(s);
        return st;
    }
    *out = s;
    return STATUS_OK;
}

void page_store_close(struct page_store *s)
{
    if (s == NULL)
        return;
    sqlite3_finalize(s->add);
    sqlite3_finalize(s->has);
    sqlite3_finalize(s->first);
    sqlite3_finalize(s->past);
    sqlite3_finalize(s->finals);
    sqlite3_finalize(s->redirect);
    sqlite3_finalize(s->newest);
    sqlite3_finalize(s->set_newest);
    sqlite3_finalize(s->drop_newest);
    sqlite3_finalize(s->record);
    sqlite3_finalize(s->lose);
    sqlite3_finalize(s->is_lost);
    robots_store_close(s->robots);
    string_table_close(s->words);
    body_index_close(s->bodies);
    near_index_close(s->near);
    page_last_close(s->last);
    free(s);
}

uint64_t page_store_last_seq(const struct page_store *s)
{
    return s->last_seq;
}

/* ---- rows ---- */

static void bind_text(sqlite3_stmt *q, int parameter, struct bytes text)
{
    if (text.len > 0)
        db_bind_text(q, parameter, text);
    else
        sqlite3_bind_null(q, parameter);
}

/* `room` is in use until the statement has run. */
static void bind_digest(sqlite3_stmt *q, int parameter, struct digest d,
                        unsigned char room[16])
{
    packed_put(room, d.hi, 8);
    packed_put(room + 8, d.lo, 8);
    db_bind_blob(q, parameter, bytes_of(room, page_has_body(d) ? 16 : 0));
}

static void bind_plain(sqlite3_stmt *q, const struct fetch_row *row,
                       uint64_t seq, unsigned char digests[2][16])
{
    sqlite3_bind_int64(q, 1, (int64_t)seq);
    sqlite3_bind_int64(q, 2, (int64_t)row->url);
    sqlite3_bind_int(q, 3, row->final);
    sqlite3_bind_int(q, 4, row->status);
    sqlite3_bind_int(q, 5, row->reason);
    sqlite3_bind_int(q, 6, row->tries);
    db_bind_number(q, 7, row->http_status);
    sqlite3_bind_int64(q, 8, row->at_ms);
    sqlite3_bind_int64(q, 9, row->elapsed_ms);
    db_bind_number(q, 10, row->wire_bytes);
    db_bind_number(q, 11, row->body_bytes);
    bind_digest(q, 12, row->body_digest, digests[0]);
    if (row->redirect_to != 0)
        db_bind_number(q, 13, row->redirect_to);
    else
        bind_text(q, 13, row->redirect_url);
    db_bind_number(q, 14, row->links);
    bind_text(q, 19, row->title);
    bind_text(q, 20, row->detail);
    bind_text(q, 21, row->etag);
    bind_text(q, 22, row->last_modified);
    db_bind_number(q, 24, row->warc_offset);
    db_bind_number(q, 25, row->warc_length);
    db_bind_number(q, 26, row->first_byte_ms);
    db_bind_number(q, 27, row->same_as);
    db_bind_number(q, 28, row->flags);
    db_bind_number(q, 29, row->simhash);
    db_bind_number(q, 30, row->near_dup_of);
    bind_digest(q, 31, row->text_digest, digests[1]);
    db_bind_number(q, 32, row->body_print);
    db_bind_blob(q, 33, row->meta);
}

static enum status find_same(struct page_store *s, struct fetch_row *row)
{
    row->same_as = 0;
    if (s->bodies == NULL || !page_has_body(row->body_digest))
        return STATUS_OK;
    return body_index_find(s->bodies, row->body_digest, &row->same_as);
}

static enum status find_near(struct page_store *s, struct fetch_row *row)
{
    row->near_dup_of = 0;
    if (s->near == NULL || row->simhash == 0 || row->same_as != 0)
        return STATUS_OK;
    return near_index_find(s->near, row->simhash, &row->near_dup_of);
}

enum status page_store_add(struct page_store *s, struct fetch_row *row,
                           uint64_t *seq)
{
    const struct {
        int parameter;
        struct bytes word;
    } words[] = {{15, row->mime},
                 {16, row->charset},
                 {17, row->lang},
                 {18, row->ip},
                 {23, row->warc_file}};
    unsigned char digests[2][16];
    enum status st =
        s->last_seq < DB_ID_MOST ? find_same(s, row) : STATUS_LIMIT;

    if (st == STATUS_OK)
        st = find_near(s, row);
    bind_plain(s->add, row, s->last_seq + 1, digests);
    for (size_t i = 0; i < sizeof words / sizeof *words && st == STATUS_OK; i++)
        st = string_table_bind(s->words, s->add, words[i].parameter,
                               words[i].word);
    if (st == STATUS_OK)
        st = db_run(s->d, s->add);
    if (st != STATUS_OK)
        return st;
    *seq = ++s->last_seq;
    if (s->last != NULL)
        page_last_add(s->last, row, *seq);
    if (s->bodies != NULL && page_has_body(row->body_digest) &&
        row->same_as == 0)
        st = body_index_add(s->bodies, row->body_digest, *seq);
    if (st != STATUS_OK)
        return st;
    return s->near != NULL && row->simhash != 0
               ? near_index_add(s->near, row->simhash, *seq)
               : STATUS_OK;
}

#define AS_IT_STANDS(column) column
#define SELECT_FETCH         "SELECT " FETCH_COLUMNS(AS_IT_STANDS) " FROM fetch f"

static enum status each(struct page_store *s, const char *sql, uint64_t bound,
                        bool (*visit)(void *ctx, const struct fetch_row *row),
                        void *ctx)
{
    sqlite3_stmt *q = NULL;
    struct fetch_row row;
    enum status st = db_prepare(s->d, &q, sql);

    if (st == STATUS_OK)
        sqlite3_bind_int64(q, 1, (int64_t)bound);
    while (st == STATUS_OK && (st = db_step(s->d, q)) == STATUS_OK) {
        st = fetch_row_take(s->words, q, &row);
        if (st == STATUS_OK && !visit(ctx, &row))
            break;
    }
    sqlite3_finalize(q);
    return st == STATUS_NOT_FOUND ? STATUS_OK : st;
}

enum status page_store_each(struct page_store *s, uint64_t after,
                            bool (*visit)(void *ctx,
                                          const struct fetch_row *row),
                            void *ctx)
{
    return each(s, SELECT_FETCH " WHERE f.seq > ? ORDER BY f.seq", after, visit,
                ctx);
}

enum status page_store_each_newest(struct page_store *s,
                                   bool (*visit)(void *ctx,
                                                 const struct fetch_row *row),
                                   void *ctx)
{
    return each(s, SELECT_FETCH " WHERE f.seq > ? ORDER BY f.seq DESC", 0,
                visit, ctx);
}

enum status page_store_each_of(struct page_store *s, uint64_t url,
                               bool (*visit)(void *ctx,
                                             const struct fetch_row *row),
                               void *ctx)
{
    return each(s, SELECT_FETCH " WHERE f.url = ? ORDER BY f.seq", url, visit,
                ctx);
}

static enum status take_redirect(sqlite3_stmt *q, uint64_t *id, struct buf *url)
{
    struct db_row r = db_row(q);

    if (sqlite3_column_type(q, 0) != SQLITE_TEXT) {
        *id = db_row_count(&r, 0, DB_ID_MOST);
        return db_row_check(&r, "fetch");
    }
    buf_add_bytes(url, db_column(q, 0));
    return buf_failed(url);
}

enum status page_store_redirect(struct page_store *s, uint64_t seq,
                                uint64_t *id, struct buf *url)
{
    enum status st;

    *id = 0;
    buf_clear(url);
    sqlite3_bind_int64(s->redirect, 1, (int64_t)seq);
    st = db_step(s->d, s->redirect);
    if (st == STATUS_OK)
        st = take_redirect(s->redirect, id, url);
    sqlite3_reset(s->redirect);
    return st;
}

enum status page_store_past(struct page_store *s, uint64_t seq,
                            struct fetch_row *out)
{
    struct db_row r = db_row(s->past);
    enum status st;

    sqlite3_bind_int64(s->past, 1, (int64_t)seq);
    st = db_step(s->d, s->past);
    if (st == STATUS_OK) {
        *out = (struct fetch_row){
            .url = db_row_count(&r, 0, DB_ID_MOST),
            .status = (uint8_t)db_row_count(&r, 1, UINT8_MAX),
            .reason = (uint8_t)db_row_count(&r, 2, UINT8_MAX),
            .http_status = (uint16_t)db_row_count(&r, 3, UINT16_MAX),
            .body_bytes = db_row_count(&r, 5, DB_TOTAL_MOST),
            .flags = (uint16_t)db_row_count(&r, 6, UINT16_MAX),
            .text_digest = fetch_digest(s->past, 7),
            .body_print = (uint64_t)sqlite3_column_int64(s->past, 8),
            .same_as = db_row_count(&r, 9, DB_ID_MOST),
            .near_dup_of = db_row_count(&r, 10, DB_ID_MOST),
        };
        if (sqlite3_column_type(s->past, 11) == SQLITE_INTEGER)
            out->mime = string_table_column(s->words, s->past, 11);
        if (sqlite3_column_type(s->past, 4) != SQLITE_TEXT)
            out->redirect_to = db_row_count(&r, 4, DB_ID_MOST);
        st = db_row_check(&r, "fetch");
    }
    sqlite3_reset(s->past);
    return st;
}

/* ---- records that are lost ---- */

static enum status lose_next(struct page_store *s, uint64_t *upto,
                             bool (*is_lost)(void *ctx,
                                             const struct page_record *r),
                             void *ctx)
{
    struct db_row r = db_row(s->record);
    bool lost = false;
    enum status st;

    sqlite3_bind_int64(s->record, 1, (int64_t)*upto);
    st = db_step(s->d, s->record);
    if (st == STATUS_OK) {
        const struct page_record record = {
            .seq = *upto = db_row_count(&r, 0, DB_ID_MOST),
            .file = string_table_column(s->words, s->record, 1),
            .offset = db_row_count(&r, 2, DB_TOTAL_MOST),
            .of_lost = db_row_flag(&r, 3)};

        st = db_row_check(&r, "fetch");
        lost = st == STATUS_OK && record.file.len > 0 && is_lost(ctx, &record);
    }
    sqlite3_reset(s->record);
    if (!lost)
        return st;
    sqlite3_bind_int64(s->lose, 1, (int64_t)*upto);
    return db_run(s->d, s->lose);
}

enum status page_store_lose_records(
    struct page_store *s, uint64_t *upto, size_t most,
    bool (*is_lost)(void *ctx, const struct page_record *r), void *ctx,
    bool *over)
{
    enum status st = STATUS_OK;

    for (size_t i = 0; st == STATUS_OK && i < most; i++)
        st = lose_next(s, upto, is_lost, ctx);
    *over = st == STATUS_NOT_FOUND;
    return *over ? STATUS_OK : st;
}

enum status page_store_is_lost(struct page_store *s, uint64_t seq, bool *lost)
{
    enum status st;

    sqlite3_bind_int64(s->is_lost, 1, (int64_t)seq);
    st = db_step(s->d, s->is_lost);
    sqlite3_reset(s->is_lost);
    *lost = st == STATUS_OK;
    return st == STATUS_NOT_FOUND ? STATUS_OK : st;
}

static enum status noted_newest(struct page_store *s, uint64_t url,
                                uint64_t *seq)
{
    struct db_row r = db_row(s->newest);
    enum status st;

    sqlite3_bind_int64(s->newest, 1, (int64_t)url);
    st = db_step(s->d, s->newest);
    if (st == STATUS_OK) {
        *seq = db_row_count(&r, 0, s->last_seq);
        st = db_row_check(&r, "newest");
    }
    sqlite3_reset(s->newest);
    return st;
}

enum status page_store_newest(struct page_store *s, uint64_t url, uint64_t *seq)
{
    enum status st;

    *seq = 0;
    st = noted_newest(s, url, seq);
    return st == STATUS_NOT_FOUND ? page_last_find(s->last, url, seq) : st;
}

/* A whole one is in the index of these, newer than all before. */
enum status page_store_note_newest(struct page_store *s,
                                   const struct fetch_row *row, uint64_t seq)
{
    bool whole = whole_index_takes(row->final, row->status, row->reason);
    sqlite3_stmt *q = whole ? s->drop_newest : s->set_newest;

    sqlite3_bind_int64(q, 1, (int64_t)row->url);
    if (!whole)
        sqlite3_bind_int64(q, 2, (int64_t)seq);
    return db_run(s->d, q);
}

enum status page_store_finals_before(
    struct page_store *s, uint64_t before, size_t most,
    void (*visit)(void *ctx, const struct final_fetch *row), void *ctx)
{
    sqlite3_stmt *q = s->finals;
    enum status st;

    sqlite3_bind_int64(q, 1, (int64_t)before);
    sqlite3_bind_int64(q, 2, (int64_t)most);
    while ((st = db_step(s->d, q)) == STATUS_OK) {
        struct db_row r = db_row(q);
        const struct final_fetch row = {
            .seq = db_row_count(&r, 0, DB_ID_MOST),
            .url = db_row_count(&r, 1, DB_ID_MOST),
            .status = (uint8_t)db_row_count(&r, 2, UINT8_MAX),
            .reason = (uint8_t)db_row_count(&r, 3, UINT8_MAX),
            .http_status = (uint16_t)db_row_count(&r, 4, UINT16_MAX),
            .at_ms = db_row_time(&r, 5),
        };

        st = db_row_check(&r, "fetch");
        if (st != STATUS_OK)
            break;
        visit(ctx, &row);
    }
    sqlite3_reset(q);
    return st == STATUS_NOT_FOUND ? STATUS_OK : st;
}

/* ---- robots.txt ---- */

enum status page_store_set_robots(struct page_store *s,
                                  const struct robots_row *row)
{
    return robots_store_set(s->robots, row);
}

enum status page_store_robots(struct page_store *s, struct bytes origin,
                              struct robots_row *row, struct buf *text)
{
    return robots_store_get(s->robots, origin, row, text);
}
