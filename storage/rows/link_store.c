/* SPDX-License-Identifier: MIT */
/*
 * link_store.c - the whole link graph, if a crawl keeps it.
 *
 * meta.links_recorded: 'all', 'part' or absent. A run writes it with the
 * first page that it marks done, so a run that does nothing changes nothing.
 */
#include "storage/rows/link_store.h"

#include <stdlib.h>

#include "base/mem.h"
#include "storage/db/db_row.h"
#include "storage/db/url_kind.h"

struct link_store {
    struct db *d;
    sqlite3_stmt *add;
    enum link_record recorded;
};

static enum status read_recorded(struct link_store *s)
{
    sqlite3_stmt *q = NULL;
    enum status st = db_prepare(s->d, &q,
                                "SELECT value FROM meta"
                                " WHERE name = 'links_recorded'");

    if (st == STATUS_OK && (st = db_step(s->d, q)) == STATUS_OK)
        s->recorded = bytes_is(db_column(q, 0), "all") ? LINK_RECORD_ALL
                                                       : LINK_RECORD_PART;
    sqlite3_finalize(q);
    return st == STATUS_NOT_FOUND ? STATUS_OK : st;
}

enum status link_store_open(struct link_store **out, struct db *d)
{
    struct link_store *s = xcalloc(1, sizeof *s);
    enum status st;

    s->d = d;
    st = db_prepare(d, &s->add,
                    "INSERT INTO link(src, dst, kind) VALUES(?, ?, ?)");
    if (st == STATUS_OK)
        st = read_recorded(s);
    if (st != STATUS_OK) {
        link_store_close(s);
        return st;
    }
    *out = s;
    return STATUS_OK;
}

void link_store_close(struct link_store *s)
{
    if (s == NULL)
        return;
    sqlite3_finalize(s->add);
    free(s);
}

enum link_record link_store_recorded(const struct link_store *s)
{
    return s->recorded;
}

enum status link_store_note(struct link_store *s, bool keeps, bool first_run)
{
    enum link_record same = keeps ? LINK_RECORD_ALL : LINK_RECORD_NONE;
    enum link_record now =
        first_run || s->recorded == same ? same : LINK_RECORD_PART;
    enum status st;

    if (now == s->recorded)
        return STATUS_OK;
    st = db_exec(s->d, now == LINK_RECORD_ALL
                           ? "INSERT OR REPLACE INTO meta"
                             " VALUES('links_recorded', 'all')"
                           : "INSERT OR REPLACE INTO meta"
                             " VALUES('links_recorded', 'part')");
    if (st == STATUS_OK)
        s->recorded = now;
    return st;
}

enum status link_store_add(struct link_store *s, const struct link_row *row)
{
    sqlite3_bind_int64(s->add, 1, (int64_t)row->from);
    sqlite3_bind_int64(s->add, 2, (int64_t)row->to);
    sqlite3_bind_int(s->add, 3, row->kind);
    return db_run(s->d, s->add);
}

enum status link_store_each(struct link_store *s,
                            bool (*visit)(void *ctx,
                                          const struct link_row *row),
                            void *ctx)
{
    sqlite3_stmt *q = NULL;
    enum status st =
        db_prepare(s->d, &q, "SELECT src, dst, kind FROM link ORDER BY rowid");
    bool more = true;

    while (more && st == STATUS_OK && (st = db_step(s->d, q)) == STATUS_OK) {
        struct db_row r = db_row(q);
        const struct link_row row = {
            .from = db_row_count(&r, 0, DB_ID_MOST),
            .to = db_row_count(&r, 1, DB_ID_MOST),
            .kind = (uint8_t)db_row_count(&r, 2, URL_KIND_MOST),
        };

        st = db_row_check(&r, "link");
        more = st == STATUS_OK && visit(ctx, &row);
    }
    sqlite3_finalize(q);
    return st == STATUS_NOT_FOUND ? STATUS_OK : st;
}

enum status link_store_seen_again(struct link_store *s, uint64_t to,
                                  uint64_t via, uint64_t *count)
{
    sqlite3_stmt *q = NULL;
    enum status st = db_prepare(s->d, &q,
                                "SELECT count(*) - ifnull(max(src = ?2), 0)"
                                " FROM link WHERE dst = ?1");

    if (st == STATUS_OK) {
        sqlite3_bind_int64(q, 1, (int64_t)to);
        sqlite3_bind_int64(q, 2, (int64_t)via);
        st = db_step(s->d, q);
    }
    if (st == STATUS_OK)
        *count = (uint64_t)sqlite3_column_int64(q, 0);
    sqlite3_finalize(q);
    return st;
}

struct check {
    uint64_t last, count;
    bool bad;
};

static bool check_row(void *ctx, const struct link_row *l)
{
    struct check *c = ctx;

    c->count++;
    c->bad = l->from == 0 || l->from > c->last || l->to == 0 || l->to > c->last;
    return !c->bad;
}

enum status link_store_verify(struct link_store *s, uint64_t last,
                              uint64_t *count)
{
    struct check c = {.last = last};
    enum status st = link_store_each(s, check_row, &c);

    *count = c.count;
    if (st != STATUS_OK)
        return st;
    if (c.bad)
        return db_damaged("link", (int64_t)c.count, "names no URL");
    if (c.count > 0 && s->recorded == LINK_RECORD_NONE)
        return db_damaged("link", 1, "nothing was recorded");
    return STATUS_OK;
}
