/* SPDX-License-Identifier: MIT */
/*
 * changelog.c - the rows of a database as keyed records, out and in.
 *
 * SQLite tells of each row before it changes
 * (https://sqlite.org/c3ref/preupdate_blobwrite.html). Only its key is kept; the
 * row is read by it when the changes are taken, so a row that a transaction
 * changed ten times is one record, and what was rolled back does no harm.
 */
#define SQLITE_ENABLE_PREUPDATE_HOOK 1

#include "storage/db/changelog.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/buf.h"
#include "base/logger.h"
#include "base/mem.h"
#include "storage/db/db_impl.h"
#include "storage/db/packed.h"

#define COLUMNS_MOST 64
#define NAME_MOST    64                /* octets of a table's name */
#define KEYS_MOST    ((size_t)4 << 30) /* octets of a transaction's keys */

/* The type of a value, in the octet before it. */
enum value_type {
    VALUE_NULL,
    VALUE_INTEGER, /* a varint, zigzag */
    VALUE_REAL,    /* IEEE 754, big-endian */
    VALUE_TEXT,    /* a varint, and so many octets */
    VALUE_BLOB
};

struct table {
    char name[NAME_MOST];
    int columns, keys;
    int key[COLUMNS_MOST]; /* the columns of the primary key, in its order */
    bool by_rowid;         /* the primary key is SQLite's own row number */
    sqlite3_stmt *read, *put, *drop;
};

/* A row that the transaction has changed. */
struct change {
    uint64_t hash;
    size_t at, len; /* its key, in changelog.keys */
    struct table *table;
    bool made; /* by this transaction: if it is gone again, nobody knows it */
};

struct changelog {
    struct db *d;
    struct table *tables;
    size_t count;
    struct buf key, row;

    struct buf keys;
    struct change *changes; /* in the order of the first change */
    size_t changed, room;
    uint32_t *slots; /* twice the room: 1 + an index in changes, or 0 */
    bool failed;     /* a change could not be noted */
};

/* ---- values ---- */

static void add_varint(struct buf *b, uint64_t v)
{
    unsigned char octets[VARINT_MOST];

    buf_add(b, octets, varint_put(octets, v));
}

static void add_integer(struct buf *b, int64_t n)
{
    buf_add_char(b, VALUE_INTEGER);
    add_varint(b, (uint64_t)n << 1 ^ (n < 0 ? UINT64_MAX : 0));
}

static void add_value(struct buf *b, sqlite3_value *v)
{
    unsigned char octets[8];
    uint64_t bits;
    double real;

    switch (sqlite3_value_type(v)) {
    case SQLITE_INTEGER:
        add_integer(b, sqlite3_value_int64(v));
        return;
    case SQLITE_FLOAT:
        real = sqlite3_value_double(v);
        memcpy(&bits, &real, sizeof bits);
        packed_put(octets, bits, sizeof octets);
        buf_add_char(b, VALUE_REAL);
        buf_add(b, octets, sizeof octets);
        return;
    case SQLITE_TEXT:
    case SQLITE_BLOB:
        buf_add_char(b, sqlite3_value_type(v) == SQLITE_TEXT ? VALUE_TEXT
                                                             : VALUE_BLOB);
        add_varint(b, (uint64_t)sqlite3_value_bytes(v));
        buf_add(b, sqlite3_value_blob(v), (size_t)sqlite3_value_bytes(v));
        return;
    default:
        buf_add_char(b, VALUE_NULL);
    }
}

struct cursor {
    const unsigned char *at, *end; /* at NULL: the octets are not a record */
};

static struct cursor cursor_of(struct bytes b)
{
    const unsigned char *at = (const unsigned char *)b.at;

    return (struct cursor){at, at + b.len};
}

static void bind_octets(struct cursor *c, enum value_type type, sqlite3_stmt *s,
                        int parameter)
{
    uint64_t len = 0;

    c->at = varint_get(c->at, c->end, &len);
    if (c->at == NULL || len > (uint64_t)(c->end - c->at)) {
        c->at = NULL;
        return;
    }
    if (type == VALUE_TEXT)
        sqlite3_bind_text64(s, parameter, (const char *)c->at, len,
                            SQLITE_STATIC, SQLITE_UTF8);
    else
        sqlite3_bind_blob64(s, parameter, c->at, len, SQLITE_STATIC);
    c->at += len;
}

static void bind_real(struct cursor *c, sqlite3_stmt *s, int parameter)
{
    uint64_t bits;
    double real;

    if (c->end - c->at < 8) {
        c->at = NULL;
        return;
    }
    bits = packed_get(c->at, 8);
    memcpy(&real, &bits, sizeof real);
    sqlite3_bind_double(s, parameter, real);
    c->at += 8;
}

/* Binds the next value; the octets stay where they are until `s` has run. */
static void bind_value(struct cursor *c, sqlite3_stmt *s, int parameter)
{
    enum value_type type;
    uint64_t v = 0;

    if (c->at == NULL || c->at == c->end) {
        c->at = NULL;
        return;
    }
    type = (enum value_type) * c->at++;
    switch (type) {
    case VALUE_NULL:
        sqlite3_bind_null(s, parameter);
        return;
    case VALUE_INTEGER:
        c->at = varint_get(c->at, c->end, &v);
        sqlite3_bind_int64(s, parameter,
                           (int64_t)(v >> 1 ^ (v & 1 ? UINT64_MAX : 0)));
        return;
    case VALUE_REAL:
        bind_real(c, s, parameter);
        return;
    case VALUE_TEXT:
    case VALUE_BLOB:
        bind_octets(c, type, s, parameter);
        return;
    }
    c->at = NULL;
}

/* ---- tables ---- */

static bool is_made_from_others(const struct db *d, const char *name)
{
    const char *const *table = d->kind->derived;

    for (; table != NULL && *table != NULL; table++)
        if (strcmp(*table, name) == 0)
            return true;
    return strncmp(name, "sqlite_", 7) == 0;
}

static enum status read_columns(struct db *d, struct table *t)
{
    sqlite3_stmt *s = NULL;
    enum status st =
        db_prepare(d, &s,
                   "SELECT pk, c.type = 'INTEGER' AND NOT wr"
                   " FROM pragma_table_info(?1) c, pragma_table_list(?1) t"
                   " WHERE t.schema = 'main' ORDER BY cid");

    if (st != STATUS_OK)
        return st;
    sqlite3_bind_text(s, 1, t->name, -1, SQLITE_STATIC);
    while ((st = db_step(d, s)) == STATUS_OK && t->columns < COLUMNS_MOST) {
        int place = sqlite3_column_int(s, 0);

        if (place > 0 && place <= COLUMNS_MOST) {
            t->key[place - 1] = t->columns;
            t->keys++;
            t->by_rowid = t->keys == 1 && sqlite3_column_int(s, 1) != 0;
        }
        t->columns++;
    }
    sqlite3_finalize(s);
    return st != STATUS_NOT_FOUND ? st
           : t->keys == 0         ? db_damaged(t->name, 0, "no primary key")
                                  : STATUS_OK;
}

static enum status read_tables(struct changelog *l)
{
    sqlite3_stmt *s = NULL;
    enum status st = db_prepare(
        l->d, &s,
        "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name");

    while (st == STATUS_OK && (st = db_step(l->d, s)) == STATUS_OK) {
        const char *name = (const char *)sqlite3_column_text(s, 0);
        struct table *t;

        if (name == NULL || strlen(name) >= NAME_MOST ||
            is_made_from_others(l->d, name))
            continue;
        l->tables = xrealloc(l->tables, (l->count + 1) * sizeof *l->tables);
        t = &l->tables[l->count++];
        *t = (struct table){.columns = 0};
        snprintf(t->name, sizeof t->name, "%s", name);
        st = read_columns(l->d, t);
    }
    sqlite3_finalize(s);
    return st == STATUS_NOT_FOUND ? STATUS_OK : st;
}

static struct table *find_table(struct changelog *l, struct bytes name)
{
    for (size_t i = 0; i < l->count; i++)
        if (bytes_is(name, l->tables[i].name))
            return &l->tables[i];
    return NULL;
}

static enum status prepare(struct changelog *l, sqlite3_stmt **out,
                           const struct buf *sql)
{
    return *out != NULL ? STATUS_OK : db_prepare(l->d, out, buf_str(sql));
}

/* " WHERE a = ?1 AND b = ?2"; columns by number are not SQL, so by name. */
static enum status add_where(struct changelog *l, const struct table *t,
                             struct buf *sql)
{
    sqlite3_stmt *s = NULL;
    enum status st = db_prepare(
        l->d, &s,
        "SELECT name FROM pragma_table_info(?1) WHERE pk > 0 ORDER BY pk");
    int n = 0;

    if (st != STATUS_OK)
        return st;
    sqlite3_bind_text(s, 1, t->name, -1, SQLITE_STATIC);
    while ((st = db_step(l->d, s)) == STATUS_OK) {
        n++;
        buf_addf(sql, "%s \"%s\" = ?%d", n == 1 ? " WHERE" : " AND",
                 (const char *)sqlite3_column_text(s, 0), n);
    }
    sqlite3_finalize(s);
    return st == STATUS_NOT_FOUND ? STATUS_OK : st;
}

static enum status prepare_by_key(struct changelog *l, const struct table *t,
                                  sqlite3_stmt **out, const char *verb)
{
    struct buf sql;
    enum status st;

    if (*out != NULL)
        return STATUS_OK;
    buf_init(&sql, (size_t)16 << 10);
    buf_addf(&sql, "%s FROM %s", verb, t->name);
    st = add_where(l, t, &sql);
    if (st == STATUS_OK)
        st = prepare(l, out, &sql);
    buf_fini(&sql);
    return st;
}

static enum status prepare_put(struct changelog *l, struct table *t)
{
    struct buf sql;
    enum status st;

    buf_init(&sql, (size_t)16 << 10);
    buf_addf(&sql, "INSERT OR REPLACE INTO %s VALUES(?1", t->name);
    for (int i = 2; i <= t->columns; i++)
        buf_addf(&sql, ", ?%d", i);
    buf_add_char(&sql, ')');
    st = prepare(l, &t->put, &sql);
    buf_fini(&sql);
    return st;
}

enum status changelog_open(struct changelog **out, struct db *d)
{
    struct changelog *l = xcalloc(1, sizeof *l);
    enum status st;

    l->d = d;
    buf_init(&l->key, CHANGELOG_KEY_MOST);
    buf_init(&l->row, CHANGELOG_ROW_MOST);
    buf_init(&l->keys, KEYS_MOST);
    st = read_tables(l);
    if (st == STATUS_OK)
        *out = l;
    else
        changelog_close(l);
    return st;
}

void changelog_close(struct changelog *l)
{
    if (l == NULL)
        return;
    for (size_t i = 0; i < l->count; i++) {
        sqlite3_finalize(l->tables[i].read);
        sqlite3_finalize(l->tables[i].put);
        sqlite3_finalize(l->tables[i].drop);
    }
    sqlite3_preupdate_hook(l->d->h, NULL, NULL);
    free(l->tables);
    free(l->changes);
    free(l->slots);
    buf_fini(&l->key);
    buf_fini(&l->row);
    buf_fini(&l->keys);
    free(l);
}

/* ---- out ---- */

static void begin_key(struct changelog *l, const struct table *t)
{
    buf_clear(&l->key);
    buf_add_char(&l->key, (char)strlen(t->name));
    buf_add_str(&l->key, t->name);
}

/* The row that `s` stands on, of all columns of `t`. */
static enum status visit_row(struct changelog *l, const struct table *t,
                             sqlite3_stmt *s, changelog_visit visit, void *ctx)
{
    begin_key(l, t);
    for (int i = 0; i < t->keys; i++)
        add_value(&l->key, sqlite3_column_value(s, t->key[i]));
    buf_clear(&l->row);
    for (int i = 0; i < t->columns; i++)
        add_value(&l->row, sqlite3_column_value(s, i));
    if (buf_failed(&l->key) != STATUS_OK || buf_failed(&l->row) != STATUS_OK)
        return STATUS_LIMIT;
    return visit(ctx, buf_bytes(&l->key), buf_bytes(&l->row));
}

static enum status visit_change(struct changelog *l, const struct change *c,
                                changelog_visit visit, void *ctx)
{
    struct table *t = c->table;
    struct bytes key = bytes_of(l->keys.at + c->at, c->len);
    struct cursor values = cursor_of(key);
    enum status st = prepare_by_key(l, t, &t->read, "SELECT *");

    if (st != STATUS_OK)
        return st;
    values.at += 1 + strlen(t->name);
    for (int i = 1; i <= t->keys; i++)
        bind_value(&values, t->read, i);
    st = db_step(l->d, t->read);
    if (st == STATUS_OK)
        st = visit_row(l, t, t->read, visit, ctx);
    else if (st == STATUS_NOT_FOUND)
        st = c->made ? STATUS_OK : visit(ctx, key, bytes_of(NULL, 0));
    sqlite3_reset(t->read);
    return st;
}

/* ---- what has changed ---- */

static void grow_changes(struct changelog *l)
{
    l->room = l->room > 0 ? l->room * 2 : 512;
    l->changes = xrealloc(l->changes, l->room * sizeof *l->changes);
    free(l->slots);
    l->slots = xcalloc(l->room * 2, sizeof *l->slots);
    for (size_t i = 0; i < l->changed; i++) {
        size_t at = l->changes[i].hash & (l->room * 2 - 1);

        while (l->slots[at] != 0)
            at = (at + 1) & (l->room * 2 - 1);
        l->slots[at] = (uint32_t)i + 1;
    }
}

/* Remembers the row of l->key, once. */
static void note_key(struct changelog *l, struct table *t, bool made)
{
    struct bytes key = buf_bytes(&l->key);
    uint64_t hash = XXH3_64bits(key.at, key.len);
    size_t at;

    l->failed |= buf_failed(&l->key) != STATUS_OK;
    if (l->changed == l->room)
        grow_changes(l);
    for (at = hash & (l->room * 2 - 1); l->slots[at] != 0;
         at = (at + 1) & (l->room * 2 - 1)) {
        const struct change *c = &l->changes[l->slots[at] - 1];

        if (c->hash == hash &&
            bytes_equal(bytes_of(l->keys.at + c->at, c->len), key))
            return;
    }
    l->changes[l->changed++] =
        (struct change){hash, l->keys.len, key.len, t, made};
    l->slots[at] = (uint32_t)l->changed;
    buf_add_bytes(&l->keys, key);
}

static void note_rowid(struct changelog *l, struct table *t, int64_t rowid,
                       bool made)
{
    begin_key(l, t);
    add_integer(&l->key, rowid);
    note_key(l, t, made);
}

static void note_values(struct changelog *l, struct table *t,
                        int (*column)(sqlite3 *, int, sqlite3_value **),
                        bool made)
{
    sqlite3_value *v = NULL;

    begin_key(l, t);
    for (int i = 0; i < t->keys; i++) {
        if (column(l->d->h, t->key[i], &v) != SQLITE_OK) {
            l->failed = true;
            return;
        }
        add_value(&l->key, v);
    }
    note_key(l, t, made);
}

/* SQLite's hook, before each row that changes. */
static void note_change(void *ctx, sqlite3 *h, int op, const char *database,
                        const char *name, sqlite3_int64 was, sqlite3_int64 is)
{
    struct changelog *l = ctx;
    struct table *t = find_table(l, bytes_of_str(name));
    bool made = op == SQLITE_INSERT;

    (void)h;
    if (t == NULL || strcmp(database, "main") != 0)
        return;
    if (t->by_rowid && op != SQLITE_INSERT)
        note_rowid(l, t, was, false);
    if (t->by_rowid && op != SQLITE_DELETE && (made || is != was))
        note_rowid(l, t, is, made);
    if (!t->by_rowid && op != SQLITE_INSERT)
        note_values(l, t, sqlite3_preupdate_old, false);
    if (!t->by_rowid && op != SQLITE_DELETE)
        note_values(l, t, sqlite3_preupdate_new, made);
}

void changelog_follow(struct changelog *l)
{
    sqlite3_preupdate_hook(l->d->h, note_change, l);
}

static void forget_changes(struct changelog *l)
{
    l->changed = 0;
    buf_clear(&l->keys);
    if (l->slots != NULL)
        memset(l->slots, 0, l->room * 2 * sizeof *l->slots);
}

enum status changelog_take(struct changelog *l, changelog_visit visit,
                           void *ctx)
{
    enum status st = l->failed ? STATUS_IO : buf_failed(&l->keys);

    for (size_t i = 0; st == STATUS_OK && i < l->changed; i++)
        st = visit_change(l, &l->changes[i], visit, ctx);
    forget_changes(l);
    return st;
}

static enum status visit_table(struct changelog *l, const struct table *t,
                               changelog_visit visit, void *ctx)
{
    sqlite3_stmt *s = NULL;
    struct buf sql;
    enum status st;

    buf_init(&sql, 256);
    buf_addf(&sql, "SELECT * FROM %s", t->name);
    st = db_prepare(l->d, &s, buf_str(&sql));
    while (st == STATUS_OK && (st = db_step(l->d, s)) == STATUS_OK)
        st = visit_row(l, t, s, visit, ctx);
    sqlite3_finalize(s);
    buf_fini(&sql);
    return st == STATUS_NOT_FOUND ? STATUS_OK : st;
}

enum status changelog_each(struct changelog *l, changelog_visit visit,
                           void *ctx)
{
    enum status st = STATUS_OK;

    for (size_t i = 0; st == STATUS_OK && i < l->count; i++)
        st = visit_table(l, &l->tables[i], visit, ctx);
    return st;
}

/* ---- in ---- */

static enum status refuse(void)
{
    log_error("a record of the changelog is not valid", "%s", "");
    return STATUS_FORMAT;
}

static struct table *table_of_key(struct changelog *l, struct cursor *c)
{
    size_t len = c->at < c->end ? *c->at++ : 0;
    struct bytes name = bytes_of(c->at, len);

    if (len == 0 || len > (size_t)(c->end - c->at))
        return NULL;
    c->at += len;
    return find_table(l, name);
}

/* Runs `s`. If the row breaks a rule of its table, the row is to blame and not
 * the disk, and the statement has changed nothing. */
static enum status run_bound(struct changelog *l, sqlite3_stmt *s)
{
    int rc = sqlite3_step(s);

    sqlite3_reset(s);
    sqlite3_clear_bindings(s);
    if (rc == SQLITE_DONE)
        return STATUS_OK;
    return (rc & 0xff) == SQLITE_CONSTRAINT || (rc & 0xff) == SQLITE_MISMATCH
               ? refuse()
               : db_fail(l->d, rc);
}

/* Are the row's values of the primary key those of `key`, and none of them NULL,
 * for which SQLite would choose a number? Else it would replace another row. */
static bool has_key(const struct table *t, const struct bytes *value,
                    struct cursor key)
{
    for (int i = 0; i < t->keys; i++) {
        struct bytes v = value[t->key[i]];

        if (v.len > (size_t)(key.end - key.at) || v.at[0] == VALUE_NULL ||
            memcmp(v.at, key.at, v.len) != 0)
            return false;
        key.at += v.len;
    }
    return key.at == key.end;
}

static enum status put_row(struct changelog *l, struct table *t,
                           struct cursor key, struct cursor row)
{
    struct bytes value[COLUMNS_MOST];

    for (int i = 0; i < t->columns && row.at != NULL; i++) {
        const unsigned char *from = row.at;

        bind_value(&row, t->put, i + 1);
        if (row.at != NULL)
            value[i] = bytes_of(from, (size_t)(row.at - from));
    }
    if (row.at != NULL && row.at == row.end && has_key(t, value, key))
        return run_bound(l, t->put);
    sqlite3_clear_bindings(t->put);
    return refuse();
}

static enum status delete_row(struct changelog *l, struct table *t,
                              struct cursor key)
{
    for (int i = 1; i <= t->keys; i++)
        bind_value(&key, t->drop, i);
    if (key.at == key.end)
        return run_bound(l, t->drop);
    sqlite3_clear_bindings(t->drop);
    return refuse();
}

enum status changelog_put(struct changelog *l, struct bytes key,
                          struct bytes row)
{
    struct cursor c = cursor_of(key);
    struct table *t;
    enum status st;

    if (key.len > CHANGELOG_KEY_MOST || row.len > CHANGELOG_ROW_MOST)
        return refuse();
    t = table_of_key(l, &c);
    if (t == NULL)
        return refuse();
    st = row.len == 0 ? prepare_by_key(l, t, &t->drop, "DELETE")
                      : prepare_put(l, t);
    if (st != STATUS_OK)
        return st;
    return row.len == 0 ? delete_row(l, t, c)
                        : put_row(l, t, c, cursor_of(row));
}
