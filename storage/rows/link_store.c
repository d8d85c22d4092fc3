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

#define SAID_MOST ((size_t)64 << 20) /* octets of a page */
#define SAID_KEPT ((size_t)1 << 20)  /* room kept between pages */
#define WHOLE_ROWS                                                             \
    "SELECT l.src, l.dst, l.kind, t.said"                                      \
    " FROM link l LEFT JOIN link_text t ON t.link = l.rowid"

struct link_store {
    struct db *d;
    sqlite3_stmt *add, *add_text, *set_page, *page, *rows, *text;
    sqlite3_stmt *drop_page, *drop_rows, *drop_texts;
    uint64_t last;      /* row */
    struct buf said;    /* of the rows since the last end of a page ... */
    uint64_t said_from; /* ... of which this was the first; */
    bool says;          /* and some said something */
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
        {&s->add_text, "INSERT INTO link_text VALUES(?, ?)"},
        {&s->set_page, "INSERT INTO page_links VALUES(?, ?, ?, ?)"},
        {&s->page, "SELECT fetch, first, count, partial FROM page_links"
                   " WHERE fetch = ?"},
        {&s->drop_page, "DELETE FROM page_links WHERE fetch = ?"},
        {&s->drop_rows, "DELETE FROM link WHERE rowid BETWEEN ? AND ?"},
        {&s->drop_texts, "DELETE FROM link_text WHERE link BETWEEN ? AND ?"},
        {&s->rows, "SELECT src, dst, kind FROM link"
                   " WHERE rowid BETWEEN ? AND ?"},
        {&s->text, "SELECT said FROM link_text WHERE link = ?"},
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
    buf_init(&s->said, SAID_MOST);
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
    sqlite3_finalize(s->add_text);
    sqlite3_finalize(s->set_page);
    sqlite3_finalize(s->page);
    sqlite3_finalize(s->rows);
    sqlite3_finalize(s->text);
    sqlite3_finalize(s->drop_page);
    sqlite3_finalize(s->drop_rows);
    sqlite3_finalize(s->drop_texts);
    buf_fini(&s->said);
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
    if (row->to != 0)
        sqlite3_bind_int64(s->add, 2, (int64_t)row->to);
    else
        sqlite3_bind_null(s->add, 2);
    sqlite3_bind_int(s->add, 3, row->kind);
    sqlite3_bind_int64(s->add, 4, (int64_t)++s->last);
    if (s->said.len == 0)
        s->said_from = s->last;
    link_said_put(&s->said, &row->said);
    s->says |=
        (row->said.rel.len | row->said.text.len | row->said.dropped.len) > 0;
    return db_run(s->d, s->add);
}

enum status link_store_end_page(struct link_store *s)
{
    enum status st = buf_failed(&s->said);

    if (st == STATUS_OK && s->says) {
        sqlite3_bind_int64(s->add_text, 1, (int64_t)s->said_from);
        sqlite3_bind_blob64(s->add_text, 2, s->said.at, s->said.len,
                            SQLITE_STATIC);
        st = db_run(s->d, s->add_text);
    }
    if (s->said.cap > SAID_KEPT)
        buf_fini(&s->said);
    buf_clear(&s->said);
    s->says = false;
    return st;
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

static enum status drop_range(struct link_store *s, sqlite3_stmt *q,
                              const struct link_range *rows)
{
    sqlite3_bind_int64(q, 1, (int64_t)rows->first);
    sqlite3_bind_int64(q, 2, (int64_t)(rows->first + rows->count) - 1);
    return db_run(s->d, q);
}

enum status link_store_forget(struct link_store *s, uint64_t seq,
                              const struct link_range *rows, bool with_rows)
{
    enum status st;

    sqlite3_bind_int64(s->drop_page, 1, (int64_t)seq);
    st = db_run(s->d, s->drop_page);
    if (st != STATUS_OK || !with_rows || rows->count == 0)
        return st;
    st = drop_range(s, s->drop_texts, rows);
    return st == STATUS_OK ? drop_range(s, s->drop_rows, rows) : st;
}

/* Where reading is in what is said of the links of a page. */
struct saying {
    struct buf text;
    struct bytes rest;
};

static enum status damaged_saying(void)
{
    return db_damaged("link_text", 0, "is not what the links of a page say");
}

/* A page's links begin with this one. */
static enum status keep_said(struct saying *saying, struct bytes said)
{
    if (saying->rest.len > 0 || said.len > SAID_MOST)
        return damaged_saying();
    buf_clear(&saying->text);
    buf_add_bytes(&saying->text, said);
    saying->rest = buf_bytes(&saying->text);
    return STATUS_OK;
}

/* saying NULL: what is said is not read. */
static enum status take_row(sqlite3_stmt *q, struct saying *saying,
                            struct link_row *row)
{
    struct db_row r = db_row(q);
    enum status st;

    *row = (struct link_row){
        .from = db_row_count(&r, 0, DB_ID_MOST),
        .to = db_row_count(&r, 1, DB_ID_MOST),
        .kind = (uint8_t)db_row_count(&r, 2, URL_KIND_MOST),
    };
    st = db_row_check(&r, "link");
    if (st == STATUS_OK && saying != NULL && saying->rest.len > 0 &&
        !link_said_get(&saying->rest, &row->said))
        st = damaged_saying();
    return st;
}

/* What the links of a page say: borrowed until the statement is reset; nothing
 * if they say nothing. */
static enum status read_said(struct link_store *s,
                             const struct link_range *rows,
                             struct saying *saying)
{
    enum status st;

    if (rows->count == 0)
        return STATUS_OK;
    sqlite3_bind_int64(s->text, 1, (int64_t)rows->first);
    st = db_step(s->d, s->text);
    if (st == STATUS_OK)
        saying->rest = db_column(s->text, 0);
    return st == STATUS_NOT_FOUND ? STATUS_OK : st;
}

enum status link_store_each_in(
    struct link_store *s, const struct link_range *rows,
    void (*visit)(void *ctx, const struct link_row *row), void *ctx)
{
    struct link_row row;
    struct saying saying = {.rest = {NULL, 0}};
    uint64_t count = 0;
    enum status st = read_said(s, rows, &saying);

    sqlite3_bind_int64(s->rows, 1, (int64_t)rows->first);
    sqlite3_bind_int64(s->rows, 2, (int64_t)(rows->first + rows->count) - 1);
    while (st == STATUS_OK && (st = db_step(s->d, s->rows)) == STATUS_OK &&
           (st = take_row(s->rows, &saying, &row)) == STATUS_OK) {
        visit(ctx, &row);
        count++;
    }
    sqlite3_reset(s->rows);
    sqlite3_reset(s->text);
    if (st != STATUS_NOT_FOUND)
        return st;
    if (saying.rest.len > 0)
        return damaged_saying();
    return count == rows->count ? STATUS_OK
                                : db_damaged("page_links", (int64_t)rows->first,
                                             "names rows that are not there");
}

static enum status each(struct link_store *s, const char *sql,
                        struct saying *saying,
                        bool (*visit)(void *ctx, const struct link_row *row),
                        void *ctx)
{
    sqlite3_stmt *q = NULL;
    enum status st = db_prepare(s->d, &q, sql);
    bool more = true;

    while (more && st == STATUS_OK && (st = db_step(s->d, q)) == STATUS_OK) {
        struct link_row row;

        if (saying != NULL && sqlite3_column_bytes(q, 3) > 0)
            st = keep_said(saying, db_column(q, 3));
        if (st == STATUS_OK)
            st = take_row(q, saying, &row);
        more = st == STATUS_OK && visit(ctx, &row);
    }
    sqlite3_finalize(q);
    if (st == STATUS_NOT_FOUND && saying != NULL && saying->rest.len > 0)
        return damaged_saying();
    return st == STATUS_NOT_FOUND ? STATUS_OK : st;
}

enum status link_store_each(struct link_store *s,
                            bool (*visit)(void *ctx,
                                          const struct link_row *row),
                            void *ctx)
{
    return each(s,
                "SELECT src, dst, kind FROM link WHERE dst IS NOT NULL"
                " ORDER BY rowid",
                NULL, visit, ctx);
}

enum status link_store_each_whole(struct link_store *s,
                                  bool (*visit)(void *ctx,
                                                const struct link_row *row),
                                  void *ctx)
{
    struct saying saying = {.rest = {NULL, 0}};
    enum status st;

    buf_init(&saying.text, SAID_MOST);
    st = each(s, WHOLE_ROWS " ORDER BY l.rowid", &saying, visit, ctx);
    buf_fini(&saying.text);
    return st;
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
    c->bad = l->from == 0 || l->from > c->last || l->to > c->last ||
             (l->to == 0) != (l->said.dropped.len > 0);
    return !c->bad;
}

enum status link_store_verify(struct link_store *s, uint64_t last,
                              uint64_t *count)
{
    struct check c = {.last = last};
    int64_t orphans = 0;
    enum status st = link_store_each_whole(s, check_row, &c);

    *count = c.count;
    if (st == STATUS_OK)
        st = db_number(s->d,
                       "SELECT count(*) FROM link_text t WHERE NOT EXISTS"
                       " (SELECT 1 FROM link l WHERE l.rowid = t.link)",
                       &orphans);
    if (st != STATUS_OK)
        return st;
    if (c.bad)
        return db_damaged("link", (int64_t)c.count, "names no URL");
    if (orphans > 0)
        return db_damaged("link_text", orphans, "rows are of no link");
    if (c.count > 0 && s->recorded == LINK_RECORD_NONE)
        return db_damaged("link", 1, "nothing was recorded");
    return STATUS_OK;
}
