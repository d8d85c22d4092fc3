/* SPDX-License-Identifier: MIT */
/*
 * page_store.c - metadata of each fetch.
 *
 * Rows are appended, and only history.c removes them; an absent value is NULL
 * and takes one octet, a text that repeats is stored as a number.
 */
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "storage/db/db_row.h"
#include "storage/db/packed.h"
#include "storage/index/whole_index.h"
#include "storage/rows/page_store.h"
#include "storage/rows/page_store_impl.h"

/*
 * Numbers for short texts that repeat (table word).
 *
 * MIME types, encodings, addresses and WARC file names repeat in most fetch
 * rows; as numbers they cost two octets instead of forty. There are at most
 * 32,768 words of 64 octets, since strangers choose them; further words are
 * stored in the row itself, so a column holds a number or a text.
 */
#define STRING_TABLE_MOST 32768
#define STRING_LEN_MOST   64

struct word {
    uint32_t number; /* 1, 2, 3 ... */
    char *text;
    size_t len;
};

struct string_table {
    struct db *d;
    struct map *by_text;
    struct word **list; /* entry i has number i + 1 */
    uint32_t count;
};

static void free_word(void *word)
{
    struct word *v = word;

    free(v->text);
    free(v);
}

static uint32_t add_word(struct string_table *w, struct bytes text)
{
    struct word *v = xmalloc(sizeof *v);

    *v = (struct word){w->count + 1, xstrndup(text.at, text.len), text.len};
    map_put(w->by_text, text, v);
    w->list[w->count++] = v;
    return v->number;
}

static enum status read_words(struct string_table *w)
{
    sqlite3_stmt *row = NULL;
    enum status st =
        db_prepare(w->d, &row, "SELECT id, text FROM word ORDER BY id");

    while (st == STATUS_OK && (st = db_step(w->d, row)) == STATUS_OK) {
        struct bytes text = db_column(row, 1);

        if (sqlite3_column_int64(row, 0) != w->count + 1 || text.len == 0 ||
            w->count == STRING_TABLE_MOST ||
            map_get(w->by_text, text) != NULL) {
            st = db_damaged("word", sqlite3_column_int64(row, 0),
                            "makes no sense");
        } else {
            add_word(w, text);
        }
    }
    sqlite3_finalize(row);
    return st == STATUS_NOT_FOUND ? STATUS_OK : st;
}

static void string_table_close(struct string_table *w)
{
    if (w == NULL)
        return;
    map_free(w->by_text, free_word);
    free(w->list);
    free(w);
}

static enum status string_table_open(struct string_table **out, struct db *d)
{
    struct string_table *w = xcalloc(1, sizeof *w);
    enum status st;

    w->d = d;
    w->by_text = map_new();
    w->list = xcalloc(STRING_TABLE_MOST, sizeof(struct word *));
    st = read_words(w);
    if (st != STATUS_OK) {
        string_table_close(w);
        return st;
    }
    *out = w;
    return STATUS_OK;
}

static enum status number_of(struct string_table *w, struct bytes text,
                             uint32_t *number)
{
    sqlite3_stmt *q;
    const struct word *v = map_get(w->by_text, text);

    if (v != NULL) {
        *number = v->number;
        return STATUS_OK;
    }
    *number = add_word(w, text);
    q = db_statement(w->d, "INSERT INTO word VALUES(?, ?)");
    sqlite3_bind_int64(q, 1, *number);
    db_bind_text(q, 2, text);
    return db_run(w->d, q);
}

/* Binds `word` to a parameter, as number or text, or as NULL if it is empty.
 * Adds a new word to the table. `word` must live until the statement has
 * run. */
static enum status string_table_bind(struct string_table *w, sqlite3_stmt *s,
                                     int parameter, struct bytes word)
{
    uint32_t number = 0;
    enum status st;

    if (word.len == 0) {
        sqlite3_bind_null(s, parameter);
        return STATUS_OK;
    }
    if (word.len > STRING_LEN_MOST ||
        (w->count == STRING_TABLE_MOST && map_get(w->by_text, word) == NULL)) {
        db_bind_text(s, parameter, word);
        return STATUS_OK;
    }
    st = number_of(w, word, &number);
    if (st == STATUS_OK)
        sqlite3_bind_int64(s, parameter, number);
    return st;
}

/* The text in a column, empty if that is NULL; lives as long as the row. `w`
 * may be NULL if no column holds a number. */
static struct bytes string_table_column(const struct string_table *w,
                                        sqlite3_stmt *s, int column)
{
    if (sqlite3_column_type(s, column) == SQLITE_INTEGER) {
        int64_t n = sqlite3_column_int64(s, column);

        return w != NULL && n >= 1 && n <= (int64_t)w->count
                   ? bytes_of(w->list[n - 1]->text, w->list[n - 1]->len)
                   : bytes_of("", 0);
    }
    return bytes_of(sqlite3_column_text(s, column),
                    (size_t)sqlite3_column_bytes(s, column));
}

/* ---- a row of table fetch as it is read ---- */

struct digest fetch_digest(sqlite3_stmt *q, int column)
{
    struct bytes b = db_column(q, column);
    const unsigned char *at = (const unsigned char *)b.at;

    if (b.len != 16)
        return (struct digest){0, 0};
    return (struct digest){packed_get(at, 8), packed_get(at + 8, 8)};
}

enum status fetch_row_take(const struct string_table *words, sqlite3_stmt *q,
                           struct fetch_row *row)
{
    struct db_row r = db_row(q);
    bool to_row = sqlite3_column_type(q, 12) != SQLITE_TEXT;
    struct page_meta meta;

    *row = (struct fetch_row){
        .seq = db_row_count(&r, 0, DB_ID_MOST),
        .url = db_row_count(&r, 1, DB_ID_MOST),
        .final = db_row_flag(&r, 2),
        .status = (uint8_t)db_row_count(&r, 3, UINT8_MAX),
        .reason = (uint8_t)db_row_count(&r, 4, UINT8_MAX),
        .tries = (uint8_t)db_row_count(&r, 5, UINT8_MAX),
        .http_status = (uint16_t)db_row_count(&r, 6, UINT16_MAX),
        .at_ms = db_row_time(&r, 7),
        .elapsed_ms = (uint32_t)db_row_count(&r, 8, UINT32_MAX),
        .wire_bytes = db_row_count(&r, 9, DB_TOTAL_MOST),
        .body_bytes = db_row_count(&r, 10, DB_TOTAL_MOST),
        .body_digest = fetch_digest(q, 11),
        .redirect_to = to_row ? db_row_count(&r, 12, DB_ID_MOST) : 0,
        .redirect_url = to_row ? bytes_of(NULL, 0) : db_column(q, 12),
        .links = (uint32_t)db_row_count(&r, 13, UINT32_MAX),
        .mime = string_table_column(words, q, 14),
        .charset = string_table_column(words, q, 15),
        .lang = string_table_column(words, q, 16),
        .ip = string_table_column(words, q, 17),
        .title = db_column(q, 18),
        .detail = db_column(q, 19),
        .etag = db_column(q, 20),
        .last_modified = db_column(q, 21),
        .warc_file = string_table_column(words, q, 22),
        .warc_offset = db_row_count(&r, 23, DB_TOTAL_MOST),
        .warc_length = db_row_count(&r, 24, DB_TOTAL_MOST),
        .first_byte_ms = (uint32_t)db_row_count(&r, 25, UINT32_MAX),
        .same_as = db_row_count(&r, 26, DB_ID_MOST),
        .flags = (uint16_t)db_row_count(&r, 27, UINT16_MAX),
        .simhash = (uint64_t)sqlite3_column_int64(q, 28),
        .near_dup_of = db_row_count(&r, 29, DB_ID_MOST),
        .text_digest = fetch_digest(q, 30),
        .body_print = (uint64_t)sqlite3_column_int64(q, 31),
        .meta = db_column(q, 32),
    };
    if (row->meta.len > 0 && !page_meta_get(row->meta, &meta))
        return db_damaged("fetch", (int64_t)row->seq, "has no valid meta");
    return db_row_check(&r, "fetch");
}

/* ---- opening ---- */

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
    st = string_table_open(&s->words, d);
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
    string_table_close(s->words);
    fetch_index_close(s->bodies);
    fetch_index_close(s->near);
    whole_index_close(s->last);
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
    sqlite3_stmt *q = db_statement(
        s->d, "INSERT INTO fetch(seq, url, final, status, reason, tries,"
              " http, at, elapsed, wire, body, digest, redirect, links,"
              " mime, charset, lang, ip, title, detail, etag, modified,"
              " warc, warc_offset, warc_length, first_byte, same, flags,"
              " text_print, near, text_digest,"
              " body_print, meta)"
              " VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,"
              " ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
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
    bind_plain(q, row, s->last_seq + 1, digests);
    for (size_t i = 0; i < sizeof words / sizeof *words && st == STATUS_OK; i++)
        st = string_table_bind(s->words, q, words[i].parameter, words[i].word);
    if (st == STATUS_OK)
        st = db_run(s->d, q);
    if (st != STATUS_OK)
        return st;
    *seq = ++s->last_seq;
    if (s->last != NULL &&
        whole_index_takes(row->final, row->status, row->reason))
        whole_index_set(s->last, row->url, *seq);
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
    sqlite3_stmt *q =
        db_statement(s->d, "SELECT redirect FROM fetch WHERE seq = ?");
    enum status st;

    *id = 0;
    buf_clear(url);
    sqlite3_bind_int64(q, 1, (int64_t)seq);
    st = db_step(s->d, q);
    if (st == STATUS_OK)
        st = take_redirect(q, id, url);
    sqlite3_reset(q);
    return st;
}

enum status page_store_past(struct page_store *s, uint64_t seq,
                            struct fetch_row *out)
{
    sqlite3_stmt *q =
        db_statement(s->d, "SELECT url, status, reason, http, redirect, body,"
                           " flags, text_digest, body_print, same, near, mime"
                           " FROM fetch WHERE seq = ?");
    struct db_row r = db_row(q);
    enum status st;

    sqlite3_bind_int64(q, 1, (int64_t)seq);
    st = db_step(s->d, q);
    if (st == STATUS_OK) {
        *out = (struct fetch_row){
            .url = db_row_count(&r, 0, DB_ID_MOST),
            .status = (uint8_t)db_row_count(&r, 1, UINT8_MAX),
            .reason = (uint8_t)db_row_count(&r, 2, UINT8_MAX),
            .http_status = (uint16_t)db_row_count(&r, 3, UINT16_MAX),
            .body_bytes = db_row_count(&r, 5, DB_TOTAL_MOST),
            .flags = (uint16_t)db_row_count(&r, 6, UINT16_MAX),
            .text_digest = fetch_digest(q, 7),
            .body_print = (uint64_t)sqlite3_column_int64(q, 8),
            .same_as = db_row_count(&r, 9, DB_ID_MOST),
            .near_dup_of = db_row_count(&r, 10, DB_ID_MOST),
        };
        if (sqlite3_column_type(q, 11) == SQLITE_INTEGER)
            out->mime = string_table_column(s->words, q, 11);
        if (sqlite3_column_type(q, 4) != SQLITE_TEXT)
            out->redirect_to = db_row_count(&r, 4, DB_ID_MOST);
        st = db_row_check(&r, "fetch");
    }
    sqlite3_reset(q);
    return st;
}

/* ---- records that are lost: such a row keeps what else it said ---- */

static enum status lose_next(struct page_store *s, uint64_t *upto,
                             bool (*is_lost)(void *ctx,
                                             const struct page_record *r),
                             void *ctx)
{
    sqlite3_stmt *lose;
    sqlite3_stmt *next =
        db_statement(s->d, "SELECT f.seq, f.warc, f.warc_offset,"
                           " ifnull(s.warc IS NULL AND s.warc_length > 0, 0)"
                           " FROM fetch f LEFT JOIN fetch s ON s.seq = f.same"
                           " WHERE f.seq > ? ORDER BY f.seq LIMIT 1");
    struct db_row r = db_row(next);
    bool lost = false;
    enum status st;

    sqlite3_bind_int64(next, 1, (int64_t)*upto);
    st = db_step(s->d, next);
    if (st == STATUS_OK) {
        const struct page_record record = {
            .seq = *upto = db_row_count(&r, 0, DB_ID_MOST),
            .file = string_table_column(s->words, next, 1),
            .offset = db_row_count(&r, 2, DB_TOTAL_MOST),
            .of_lost = db_row_flag(&r, 3)};

        st = db_row_check(&r, "fetch");
        lost = st == STATUS_OK && record.file.len > 0 && is_lost(ctx, &record);
    }
    sqlite3_reset(next);
    if (!lost)
        return st;
    lose = db_statement(s->d, "UPDATE fetch SET warc = NULL WHERE seq = ?");
    sqlite3_bind_int64(lose, 1, (int64_t)*upto);
    return db_run(s->d, lose);
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
    sqlite3_stmt *q =
        db_statement(s->d, "SELECT 1 FROM fetch WHERE seq = ?"
                           " AND warc IS NULL AND warc_length > 0");
    enum status st;

    sqlite3_bind_int64(q, 1, (int64_t)seq);
    st = db_step(s->d, q);
    sqlite3_reset(q);
    *lost = st == STATUS_OK;
    return st == STATUS_NOT_FOUND ? STATUS_OK : st;
}

static enum status noted_newest(struct page_store *s, uint64_t url,
                                uint64_t *seq)
{
    sqlite3_stmt *q =
        db_statement(s->d, "SELECT seq FROM newest WHERE url = ?");
    struct db_row r = db_row(q);
    enum status st;

    sqlite3_bind_int64(q, 1, (int64_t)url);
    st = db_step(s->d, q);
    if (st == STATUS_OK) {
        *seq = db_row_count(&r, 0, s->last_seq);
        st = db_row_check(&r, "newest");
    }
    sqlite3_reset(q);
    return st;
}

enum status page_store_newest(struct page_store *s, uint64_t url, uint64_t *seq)
{
    enum status st;

    *seq = 0;
    st = noted_newest(s, url, seq);
    return st == STATUS_NOT_FOUND ? whole_index_find(s->last, url, seq) : st;
}

/* A whole one is in the index of these, newer than all before. */
enum status page_store_note_newest(struct page_store *s,
                                   const struct fetch_row *row, uint64_t seq)
{
    bool whole = whole_index_takes(row->final, row->status, row->reason);
    sqlite3_stmt *q =
        db_statement(s->d, whole
                               ? "DELETE FROM newest WHERE url = ?"
                               : "INSERT OR REPLACE INTO newest VALUES(?, ?)");

    sqlite3_bind_int64(q, 1, (int64_t)row->url);
    if (!whole)
        sqlite3_bind_int64(q, 2, (int64_t)seq);
    return db_run(s->d, q);
}

enum status page_store_finals_before(
    struct page_store *s, uint64_t before, size_t most,
    void (*visit)(void *ctx, const struct final_fetch *row), void *ctx)
{
    sqlite3_stmt *q =
        db_statement(s->d,
                     "SELECT seq, url, status, reason, http, at FROM fetch"
                     " WHERE seq < ? AND final ORDER BY seq DESC LIMIT ?");
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

/* ---- what a page says of itself, packed ---- */

static void put_text(struct buf *out, struct bytes text, size_t most)
{
    text.len = text.len < most ? text.len : most;
    packed_put_count(out, text.len);
    buf_add_bytes(out, text);
}

void page_meta_put(struct buf *out, const struct page_meta *meta)
{
    struct bytes canonical = meta->canonical;

    if (canonical.len > PAGE_CANONICAL_MOST)
        canonical = bytes_of("", 0);
    put_text(out, meta->description, PAGE_DESCRIPTION_MOST);
    put_text(out, meta->h1, PAGE_H1_MOST);
    put_text(out, meta->robots, PAGE_ROBOTS_MOST);
    put_text(out, canonical, PAGE_CANONICAL_MOST);
    if (!meta->is_html)
        return;
    packed_put_count(out, meta->hreflang);
    packed_put_count(out, meta->words);
}

static bool get_text(struct bytes *rest, size_t most, struct bytes *out)
{
    uint64_t len = 0;

    if (!packed_take_count(rest, most, &len) || len > rest->len)
        return false;
    *out = packed_take(rest, (size_t)len);
    return true;
}

bool page_meta_get(struct bytes packed, struct page_meta *out)
{
    *out = (struct page_meta){.is_html = false};
    if (!get_text(&packed, PAGE_DESCRIPTION_MOST, &out->description) ||
        !get_text(&packed, PAGE_H1_MOST, &out->h1) ||
        !get_text(&packed, PAGE_ROBOTS_MOST, &out->robots) ||
        !get_text(&packed, PAGE_CANONICAL_MOST, &out->canonical))
        return false;
    out->is_html = packed.len > 0;
    return !out->is_html ||
           (packed_take_count(&packed, DB_TOTAL_MOST, &out->hreflang) &&
            packed_take_count(&packed, DB_TOTAL_MOST, &out->words) &&
            packed.len == 0);
}

/* ---- whether two fetches of a url brought the same page ---- */

static bool has_text(const struct fetch_row *r)
{
    return (r->text_digest.hi | r->text_digest.lo) != 0;
}

bool page_texts_compare(const struct fetch_row *a, const struct fetch_row *b)
{
    return has_text(a) && has_text(b) &&
           (a->flags & FETCH_ROW_NO_NUMBERS) ==
               (b->flags & FETCH_ROW_NO_NUMBERS);
}

bool page_same_text(const struct fetch_row *a, const struct fetch_row *b)
{
    return page_texts_compare(a, b) &&
           digest_equal(a->text_digest, b->text_digest);
}

bool page_same_body(const struct fetch_row *a, const struct fetch_row *b)
{
    if (a->body_print != 0 && b->body_print != 0)
        return a->body_print == b->body_print;
    return a->body_bytes == b->body_bytes;
}

bool page_same_content(const struct fetch_row *a, const struct fetch_row *b,
                       enum changed_by by)
{
    if (by == CHANGED_BY_BODY || !page_texts_compare(a, b))
        return page_same_body(a, b);
    return page_same_text(a, b);
}
