/* SPDX-License-Identifier: MIT */
/* counters.c - named counters, written in the transaction they belong to. */
#include "storage/db/counters.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "storage/db/db_row.h"

struct counter {
    uint64_t value;
    bool dirty;
    char name[];
};

struct counters {
    struct db *d;
    struct map *by_name;
    struct counter **list;
    size_t count;
};

static struct counter *make(struct counters *t, struct bytes name)
{
    struct counter *c = xcalloc(1, sizeof *c + name.len + 1);

    if (name.len > 0)
        memcpy(c->name, name.at, name.len);
    map_put(t->by_name, name, c);
    t->list = xrealloc(t->list, (t->count + 1) * sizeof(struct counter *));
    t->list[t->count++] = c;
    return c;
}

static enum status read_all(struct counters *t)
{
    sqlite3_stmt *row = NULL;
    enum status st = db_prepare(t->d, &row, "SELECT name, value FROM counter");

    while (st == STATUS_OK && (st = db_step(t->d, row)) == STATUS_OK) {
        struct bytes name = db_column(row, 0);
        struct db_row r = db_row(row);
        uint64_t value = db_row_count(&r, 1, DB_TOTAL_MOST);

        st = db_row_check(&r, "counter");
        /* To SQLite a name as text and the same name as a blob are two keys. */
        if (st == STATUS_OK && map_get(t->by_name, name) != NULL)
            st = db_damaged("counter", 0, "stands twice");
        if (st == STATUS_OK && name.len > 0)
            make(t, name)->value = value;
    }
    sqlite3_finalize(row);
    return st == STATUS_NOT_FOUND ? STATUS_OK : st;
}

enum status counters_open(struct counters **out, struct db *d)
{
    struct counters *t = xcalloc(1, sizeof *t);
    enum status st;

    t->d = d;
    t->by_name = map_new();
    st = read_all(t);
    if (st != STATUS_OK) {
        counters_close(t);
        return st;
    }
    *out = t;
    return STATUS_OK;
}

void counters_close(struct counters *t)
{
    if (t == NULL)
        return;
    map_free(t->by_name, free);
    free(t->list);
    free(t);
}

uint64_t counters_get(const struct counters *t, const char *name)
{
    const struct counter *c = map_get(t->by_name, bytes_of_str(name));

    return c != NULL ? c->value : 0;
}

void counters_add(struct counters *t, const char *name, uint64_t by)
{
    struct counter *c;

    if (by == 0)
        return;
    c = map_get(t->by_name, bytes_of_str(name));
    if (c == NULL)
        c = make(t, bytes_of_str(name));
    c->value += by;
    c->dirty = true;
}

void counters_each(const struct counters *t,
                   void (*visit)(void *ctx, const char *name, uint64_t value),
                   void *ctx)
{
    for (size_t i = 0; i < t->count; i++)
        visit(ctx, t->list[i]->name, t->list[i]->value);
}

enum status counters_flush(struct counters *t)
{
    sqlite3_stmt *q;
    enum status st = STATUS_OK;

    for (size_t i = 0; i < t->count && st == STATUS_OK; i++) {
        struct counter *c = t->list[i];

        if (!c->dirty)
            continue;
        q = db_statement(t->d, "INSERT OR REPLACE INTO counter"
                               " VALUES(?, ?)");
        sqlite3_bind_text(q, 1, c->name, -1, SQLITE_STATIC);
        sqlite3_bind_int64(q, 2, (int64_t)c->value);
        st = db_run(t->d, q);
        c->dirty = false;
    }
    return st;
}
