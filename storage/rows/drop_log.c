/* SPDX-License-Identifier: MIT */
/*
 * drop_log.c - dropped URLs, kept in case a changed setting lets them in.
 *
 * Format of an entry, all numbers varints (packed.h):
 *
 *     octet   flags: it has 1 a row of its own, 2 another page than the entry
 *             before, 4 a place, 8 hops, 16 another depth than the one before,
 *             32 a text; 64: it is on the level of its page; 128: it was
 *             sent to another shard
 *     octet   reason
 *     id                         1
 *     octet   kind; with 1 the reason of its row
 *     via                        2
 *     depth                      16
 *     hops                       8
 *     place                      4
 *     shared, length, octets     32: the text, after the prefix it shares
 *                                with the one before
 *
 * Links of a page mostly begin alike, and a page's drops are adjacent: in a
 * crawl of the test web, whose links follow no order, an entry takes 54 octets
 * in all for URLs of 65. The first entry of a block shares nothing, so that
 * each block can be read and written alone.
 */
#include "storage/rows/drop_log.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "storage/db/db_row.h"
#include "storage/db/packed.h"

#define BLOCK_FULL ((size_t)12 << 10) /* the next block begins then */
#define TEXTS_FULL ((size_t)4 << 20)  /* or when its texts reach this */
#define URL_MOST   ((size_t)1 << 24)
#define BLOCK_MOST (2 * URL_MOST) /* larger ones are damaged */

#define HAS_ROW    1
#define HAS_VIA    2
#define HAS_PLACE  4
#define HAS_HOPS   8
#define HAS_DEPTH  16
#define HAS_TEXT   32
#define ON_LEVEL   64
#define SENT       128

/* A block being built. */
struct packer {
    struct buf out;
    struct buf text; /* of the entry before */
    uint64_t via, reasons;
    uint32_t depth;
    uint64_t count;
    size_t texts; /* octets of the texts in it */
};

struct drop_log {
    struct db *d;
    struct packer fresh, again; /* appended; rewritten */
    uint64_t last, count, bytes, reasons;
    /* the block read last */
    uint64_t read;
    struct buf raw, texts, text;
    struct kept_drop *entries;
    size_t read_count;
    size_t room;
};

/* ---- packing ---- */

static void packer_init(struct packer *p)
{
    buf_init(&p->out, BLOCK_MOST);
    buf_init(&p->text, URL_MOST);
}

static void packer_fini(struct packer *p)
{
    buf_fini(&p->out);
    buf_fini(&p->text);
}

static void packer_clear(struct packer *p)
{
    buf_clear(&p->out);
    buf_clear(&p->text);
    p->via = p->reasons = p->count = 0;
    p->depth = 0;
    p->texts = 0;
}

static void put_number(struct buf *out, uint64_t v)
{
    unsigned char octets[VARINT_MOST];

    buf_add(out, octets, varint_put(octets, v));
}

static size_t shared_with(struct bytes a, struct bytes b)
{
    size_t n = 0;

    while (n < a.len && n < b.len && a.at[n] == b.at[n])
        n++;
    return n;
}

static void pack_text(struct packer *p, struct bytes text)
{
    size_t shared = shared_with(buf_bytes(&p->text), text);

    put_number(&p->out, shared);
    put_number(&p->out, text.len - shared);
    buf_add(&p->out, text.at + shared, text.len - shared);
    buf_clear(&p->text);
    buf_add_bytes(&p->text, text);
    p->texts += text.len;
}

static enum status pack(struct packer *p, const struct kept_drop *k)
{
    unsigned has = (k->place != 0 ? HAS_PLACE : 0) |
                   (k->text.len > 0 ? HAS_TEXT : 0) |
                   (k->on_its_level ? ON_LEVEL : 0) | (k->sent ? SENT : 0);

    if (k->id != 0)
        has |= HAS_ROW;
    else
        has |= (k->via != p->via ? HAS_VIA : 0) |
               (k->hops != 0 ? HAS_HOPS : 0) |
               (k->depth != p->depth ? HAS_DEPTH : 0);
    buf_add_char(&p->out, (char)has);
    buf_add_char(&p->out, (char)k->reason);
    if (has & HAS_ROW)
        put_number(&p->out, k->id);
    buf_add_char(&p->out, (char)(has & HAS_ROW ? k->reason_of_row : k->kind));
    if (has & HAS_VIA)
        put_number(&p->out, p->via = k->via);
    if (has & HAS_DEPTH)
        put_number(&p->out, p->depth = k->depth);
    if (has & HAS_HOPS)
        put_number(&p->out, k->hops);
    if (has & HAS_PLACE)
        put_number(&p->out, k->place);
    if (has & HAS_TEXT)
        pack_text(p, k->text);
    p->reasons |= UINT64_C(1) << (k->reason & 63);
    p->count++;
    return buf_failed(&p->out) != STATUS_OK ? buf_failed(&p->out)
                                            : buf_failed(&p->text);
}

/* ---- unpacking ---- */

struct unpacker {
    const unsigned char *at, *end;
    struct buf *texts, *text; /* all; that of the entry before */
    uint64_t via, depth;
    bool bad;
};

static uint64_t take_number(struct unpacker *u, uint64_t most)
{
    uint64_t v = 0;
    const unsigned char *at = u->bad ? NULL : varint_get(u->at, u->end, &v);

    if (at == NULL || v > most) {
        u->bad = true;
        return 0;
    }
    u->at = at;
    return v;
}

static unsigned take_octet(struct unpacker *u)
{
    if (u->bad || u->at == u->end) {
        u->bad = true;
        return 0;
    }
    return *u->at++;
}

/* Appends its text to u->texts, which may still move: see set_texts. */
static void take_text(struct unpacker *u, struct kept_drop *k)
{
    size_t shared = (size_t)take_number(u, u->text->len);
    size_t len = (size_t)take_number(u, URL_MOST);

    if (u->bad || len > (size_t)(u->end - u->at)) {
        u->bad = true;
        return;
    }
    buf_truncate(u->text, shared);
    buf_add(u->text, u->at, len);
    u->at += len;
    buf_add_bytes(u->texts, buf_bytes(u->text));
    u->bad =
        buf_failed(u->text) != STATUS_OK || buf_failed(u->texts) != STATUS_OK;
    k->text = bytes_of(NULL, u->text->len);
}

static struct kept_drop unpack(struct unpacker *u)
{
    unsigned has = take_octet(u);
    struct kept_drop k = {.reason = (uint8_t)take_octet(u)};

    if (k.reason >= 64)
        u->bad = true;
    k.on_its_level = (has & ON_LEVEL) != 0;
    k.sent = (has & SENT) != 0;
    if (has & HAS_ROW) {
        k.id = take_number(u, DB_ID_MOST);
        k.reason_of_row = (uint8_t)take_octet(u);
    } else {
        k.kind = (uint8_t)take_octet(u);
    }
    if (has & HAS_VIA)
        u->via = take_number(u, DB_ID_MOST);
    if (has & HAS_DEPTH)
        u->depth = take_number(u, UINT32_MAX);
    if (has & HAS_HOPS)
        k.hops = (uint16_t)take_number(u, UINT16_MAX);
    if (has & HAS_PLACE)
        k.place = take_number(u, UINT64_MAX);
    if (has & HAS_TEXT)
        take_text(u, &k);
    if (!(has & HAS_ROW)) {
        k.via = u->via;
        k.depth = (uint32_t)u->depth;
    }
    if (k.id == 0 && k.text.len == 0)
        u->bad = true;
    return k;
}

/* Sets the pointers to the texts, once these no longer move. They are in order
 * of entry, without gaps. */
static void set_texts(struct drop_log *l, size_t count)
{
    const char *at = l->texts.at;

    for (size_t i = 0; i < count; i++) {
        l->entries[i].text.at = at;
        at += l->entries[i].text.len;
    }
}

static enum status unpack_all(struct drop_log *l, struct drop_block *out)
{
    const unsigned char *at = (const unsigned char *)l->raw.at;
    struct unpacker u = {.at = at,
                         .end = at + l->raw.len,
                         .texts = &l->texts,
                         .text = &l->text};
    size_t n = 0;

    buf_clear(&l->texts);
    buf_clear(&l->text);
    while (!u.bad && u.at < u.end) {
        if (n == l->room) {
            l->room = l->room > 0 ? 2 * l->room : 256;
            l->entries = xrealloc(l->entries, l->room * sizeof *l->entries);
        }
        l->entries[n++] = unpack(&u);
    }
    if (u.bad)
        return db_damaged("kept_drop", (int64_t)out->number, "makes no sense");
    set_texts(l, n);
    out->at = l->entries;
    out->count = l->read_count = n;
    l->read = out->number;
    return STATUS_OK;
}

/* ---- opening and closing ---- */

static enum status read_reasons(struct drop_log *l)
{
    sqlite3_stmt *q = NULL;
    enum status st = db_prepare(l->d, &q, "SELECT reasons FROM kept_drop");

    while (st == STATUS_OK && (st = db_step(l->d, q)) == STATUS_OK)
        l->reasons |= (uint64_t)sqlite3_column_int64(q, 0);
    sqlite3_finalize(q);
    return st == STATUS_NOT_FOUND ? STATUS_OK : st;
}

static enum status read_sums(struct drop_log *l)
{
    int64_t last = 0, count = 0, bytes = 0;
    enum status st =
        db_number(l->d, "SELECT ifnull(max(seq), 0) FROM kept_drop", &last);

    if (st == STATUS_OK)
        st = db_number(l->d, "SELECT ifnull(sum(count), 0) FROM kept_drop",
                       &count);
    if (st == STATUS_OK)
        st = db_number(l->d,
                       "SELECT ifnull(sum(length(entries)), 0) FROM kept_drop",
                       &bytes);
    if (st == STATUS_OK && (last < 0 || count < 0 || bytes < 0))
        st = db_damaged("kept_drop", last, "makes no sense");
    if (st == STATUS_OK)
        st = read_reasons(l);
    l->last = (uint64_t)last;
    l->count = (uint64_t)count;
    l->bytes = (uint64_t)bytes;
    return st;
}

enum status drop_log_open(struct drop_log **out, struct db *d)
{
    struct drop_log *l = xcalloc(1, sizeof *l);
    enum status st;

    l->d = d;
    packer_init(&l->fresh);
    packer_init(&l->again);
    buf_init(&l->raw, BLOCK_MOST);
    buf_init(&l->texts, TEXTS_FULL + 2 * URL_MOST);
    buf_init(&l->text, URL_MOST);
    st = read_sums(l);
    if (st != STATUS_OK) {
        drop_log_close(l);
        return st;
    }
    *out = l;
    return STATUS_OK;
}

void drop_log_close(struct drop_log *l)
{
    if (l == NULL)
        return;
    packer_fini(&l->fresh);
    packer_fini(&l->again);
    buf_fini(&l->raw);
    buf_fini(&l->texts);
    buf_fini(&l->text);
    free(l->entries);
    free(l);
}

uint64_t drop_log_last(const struct drop_log *l)
{
    return l->last;
}

uint64_t drop_log_count(const struct drop_log *l)
{
    return l->count + l->fresh.count;
}

uint64_t drop_log_reasons(const struct drop_log *l)
{
    return l->reasons | l->fresh.reasons;
}

uint64_t drop_log_bytes(const struct drop_log *l)
{
    return l->bytes + l->fresh.out.len;
}

/* ---- writing ---- */

static enum status write(struct drop_log *l, const char *sql, uint64_t number,
                         const struct packer *p)
{
    sqlite3_stmt *s = db_statement(l->d, sql);

    l->reasons |= p->reasons;
    sqlite3_bind_int64(s, 1, (int64_t)number);
    sqlite3_bind_int64(s, 2, (int64_t)p->reasons);
    sqlite3_bind_int64(s, 3, (int64_t)p->count);
    db_bind_blob(s, 4, buf_bytes(&p->out));
    return db_run(l->d, s);
}

enum status drop_log_flush(struct drop_log *l)
{
    enum status st;

    if (l->fresh.count == 0)
        return STATUS_OK;
    st = write(l, "INSERT INTO kept_drop VALUES(?, ?, ?, ?)", l->last + 1,
               &l->fresh);
    if (st != STATUS_OK)
        return st;
    l->last++;
    l->count += l->fresh.count;
    l->bytes += l->fresh.out.len;
    packer_clear(&l->fresh);
    return STATUS_OK;
}

enum status drop_log_add(struct drop_log *l, const struct kept_drop *k)
{
    enum status st = pack(&l->fresh, k);

    if (st != STATUS_OK)
        return st;
    return l->fresh.out.len >= BLOCK_FULL || l->fresh.texts >= TEXTS_FULL
               ? drop_log_flush(l)
               : STATUS_OK;
}

/* ---- reading ---- */

static enum status take_block(struct drop_log *l, sqlite3_stmt *q,
                              uint64_t reasons, struct drop_block *out)
{
    struct db_row r = db_row(q);
    struct bytes entries;

    out->number = db_row_count(&r, 0, INT64_MAX);
    out->reasons = (uint64_t)sqlite3_column_int64(q, 1);
    out->count = 0;
    if (db_row_check(&r, "kept_drop") != STATUS_OK)
        return STATUS_DAMAGED;
    if ((out->reasons & reasons) == 0)
        return STATUS_OK;
    buf_clear(&l->raw);
    entries = db_column(q, 3);
    buf_add_bytes(&l->raw, entries);
    return buf_failed(&l->raw) == STATUS_OK
               ? unpack_all(l, out)
               : db_damaged("kept_drop", (int64_t)out->number, "is too long");
}

enum status drop_log_next(struct drop_log *l, uint64_t after, uint64_t reasons,
                          struct drop_block *out)
{
    sqlite3_stmt *q =
        db_statement(l->d, "SELECT seq, reasons, count, entries FROM kept_drop"
                           " WHERE seq > ? ORDER BY seq LIMIT 1");
    enum status st;

    sqlite3_bind_int64(q, 1, (int64_t)after);
    st = db_step(l->d, q);
    if (st == STATUS_OK)
        st = take_block(l, q, reasons, out);
    sqlite3_reset(q);
    return st;
}

enum status drop_log_rewrite(struct drop_log *l, uint64_t number,
                             const struct kept_drop *at, size_t count)
{
    enum status st = STATUS_OK;

    assert(number == l->read && count <= l->read_count);
    packer_clear(&l->again);
    for (size_t i = 0; st == STATUS_OK && i < count; i++)
        st = pack(&l->again, &at[i]);
    if (st != STATUS_OK)
        return st;
    if (count > 0) {
        st = write(l,
                   "UPDATE kept_drop SET reasons = ?2, count = ?3,"
                   " entries = ?4 WHERE seq = ?1",
                   number, &l->again);
    } else {
        sqlite3_stmt *q =
            db_statement(l->d, "DELETE FROM kept_drop WHERE seq = ?");

        sqlite3_bind_int64(q, 1, (int64_t)number);
        st = db_run(l->d, q);
    }
    l->count -= l->read_count - count;
    l->bytes -= l->raw.len - l->again.out.len;
    l->read = 0;
    return st;
}

enum status drop_log_verify(struct drop_log *l)
{
    struct drop_block b = {.number = 0};
    uint64_t count = 0;
    enum status st;

    while ((st = drop_log_next(l, b.number, UINT64_MAX, &b)) == STATUS_OK)
        count += b.count;
    if (st == STATUS_NOT_FOUND && count != l->count)
        return db_damaged("kept_drop", (int64_t)b.number,
                          "does not hold as many as it says");
    return st == STATUS_NOT_FOUND ? STATUS_OK : st;
}
