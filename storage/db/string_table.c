/* SPDX-License-Identifier: MIT */
/* string_table.c - numbers for short texts that repeat. */
#include "storage/db/string_table.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"
#include "storage/db/db_row.h"

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

static uint32_t add(struct string_table *w, struct bytes text)
{
    struct word *v = xmalloc(sizeof *v);

    *v = (struct word){w->count + 1, xstrndup(text.at, text.len), text.len};
    map_put(w->by_text, text, v);
    w->list[w->count++] = v;
    return v->number;
}

static enum status read_all(struct string_table *w)
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
            add(w, text);
        }
    }
    sqlite3_finalize(row);
    return st == STATUS_NOT_FOUND ? STATUS_OK : st;
}

enum status string_table_open(struct string_table **out, struct db *d)
{
    struct string_table *w = xcalloc(1, sizeof *w);
    enum status st;

    w->d = d;
    w->by_text = map_new();
    w->list = xcalloc(STRING_TABLE_MOST, sizeof(struct word *));
    st = read_all(w);
    if (st != STATUS_OK) {
        string_table_close(w);
        return st;
    }
    *out = w;
    return STATUS_OK;
}

void string_table_close(struct string_table *w)
{
    if (w == NULL)
        return;
    map_free(w->by_text, free_word);
    free(w->list);
    free(w);
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
    *number = add(w, text);
    q = db_statement(w->d, "INSERT INTO word VALUES(?, ?)");
    sqlite3_bind_int64(q, 1, *number);
    db_bind_text(q, 2, text);
    return db_run(w->d, q);
}

enum status string_table_bind(struct string_table *w, sqlite3_stmt *s,
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

struct bytes string_table_column(const struct string_table *w, sqlite3_stmt *s,
                                 int column)
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
