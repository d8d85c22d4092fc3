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
    sqlite3_stmt *add, *set_page, *page, *rows, *drop_page, *drop_rows;
    uint64_t last; /* row */
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

static enum status prepare(struct link_store *s)
{
    const struct {
        sqlite3_stmt **out;
        const char *sql;
    } all[] = {
        /* Rows at the end may be removed, and no number is given twice. */
        {&s->add, "INSERT INTO link(src, dst, kind, rowid) VALUES(?, ?, ?, ?)"},
        {&s->set_page, "INSERT INTO page_links VALUES(?, ?, ?, ?)"},
        {&s->page, "SELECT fetch, first, count, partial FROM page_links"
                   " WHERE fetch = ?"},
        {&s->drop_page, "DELETE FROM page_links WHERE fetch = ?"},
        {&s->drop_rows, "DELETE FROM link WHERE rowid BETWEEN ? AND ?"},
        {&s->rows, "SELECT src, dst, kind FROM link"
                   " WHERE rowid BETWEEN ? AND ?"},
    };
    enum status st = STATUS_OK;

    for (size_t i = 0; i < sizeof all / sizeof *all && st == STATUS_OK; i++)
        st = db_prepare(s->d, all[i].out, all[i].sql);
    return st;
}

enum status link_store_open(struct link_store **out, struct db *d)
{
    struct link_store *s = xcalloc(1, sizeof *s);
    int64_t last = 0;
    enum status st;

    s->d = d;
    st = prepare(s);
    if (st == STATUS_OK)
        st = db_number(d, "SELECT ifnull(max(rowid), 0) FROM link", &last);
    if (st == STATUS_OK)
        st = read_recorded(s);
    s->last = (uint64_t)last;
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
    sqlite3_finalize(s->set_page);
    sqlite3_finalize(s->page);
    sqlite3_finalize(s->rows);
    sqlite3_finalize(s->drop_page);
    sqlite3_finalize(s->drop_rows);
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
    sqlite3_bind_int64(s->add, 4, (int64_t)++s->last);
    return db_run(s->d, s->add);
}

/* ---- the links of one page ---- */

uint64_t link_store_next(const struct link_store *s)
{
    return s->last + 1;
}

enum status link_store_set_page(struct link_store *s, uint64_t seq,
                                const struct link_range *rows)
{
    sqlite3_bind_int64(s->set_page, 1, (int64_t)seq);
    sqlite3_bind_int64(s->set_page, 2, (int64_t)rows->first);
    sqlite3_bind_int64(s->set_page, 3, (int64_t)rows->count);
    if (rows->partial)
        sqlite3_bind_int(s->set_page, 4, 1);
    else
        sqlite3_bind_null(s->set_page, 4);
    return db_run(s->d, s->set_page);
}

enum status link_store_page(struct link_store *s, uint64_t seq,
                            struct link_range *rows)
{
    enum status st;

    sqlite3_bind_int64(s->page, 1, (int64_t)seq);
    st = db_step(s->d, s->page);
    if (st == STATUS_OK) {
        struct db_row r = db_row(s->page);

        (void)db_row_count(&r, 0, DB_ID_MOST);
        rows->first = db_row_count(&r, 1, DB_TOTAL_MOST);
        rows->count = db_row_count(&r, 2, DB_ID_MOST);
        rows->partial = db_row_flag(&r, 3);
        st = db_row_check(&r, "page_links");
    }
    sqlite3_reset(s->page);
    return st;
}

enum status link_store_forget(struct link_store *s, uint64_t seq,
                              const struct link_range *rows, bool with_rows)
{
    enum status st;

    sqlite3_bind_int64(s->drop_page, 1, (int64_t)seq);
    st = db_run(s->d, s->drop_page);
    if (st != STATUS_OK || !with_rows || rows->count == 0)
        return st;
    sqlite3_bind_int64(s->drop_rows, 1, (int64_t)rows->first);
    sqlite3_bind_int64(s->drop_rows, 2,
                       (int64_t)(rows->first + rows->count) - 1);
    return db_run(s->d, s->drop_rows);
}

static enum status take_row(sqlite3_stmt *q, struct link_row *row)
{
    struct db_row r = db_row(q);

    *row = (struct link_row){
        .from = db_row_count(&r, 0, DB_ID_MOST),
        .to = db_row_count(&r, 1, DB_ID_MOST),
        .kind = (uint8_t)db_row_count(&r, 2, URL_KIND_MOST),
    };
    return db_row_check(&r, "link");
}

enum status link_store_each_in(
    struct link_store *s, const struct link_range *rows,
    void (*visit)(void *ctx, const struct link_row *row), void *ctx)
{
    struct link_row row;
    uint64_t count = 0;
    enum status st;

    sqlite3_bind_int64(s->rows, 1, (int64_t)rows->first);
    sqlite3_bind_int64(s->rows, 2, (int64_t)(rows->first + rows->count) - 1);
    while ((st = db_step(s->d, s->rows)) == STATUS_OK &&
           (st = take_row(s->rows, &row)) == STATUS_OK) {
        visit(ctx, &row);
        count++;
    }
    sqlite3_reset(s->rows);
    if (st != STATUS_NOT_FOUND)
        return st;
    return count == rows->count ? STATUS_OK
                                : db_damaged("page_links", (int64_t)rows->first,
                                             "names rows that are not there");
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
        struct link_row row;

        st = take_row(q, &row);
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
