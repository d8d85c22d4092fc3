/* SPDX-License-Identifier: MIT */
/*
 * link_store.c - the whole link graph, if a crawl keeps it.
 *
 * meta.links_recorded: 'all', 'part' or absent. A run writes it with the
 * first page that it marks done, so a run that does nothing changes nothing.
 */
#include "storage/rows/link_store.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/mem.h"
#include "storage/db/db_row.h"
#include "storage/db/packed.h"
#include "storage/db/schema.h"

/*
 * Where the links of one page lead, packed.
 *
 * A JSON array with a number for each link, its target's id * 32 + its kind (id
 * 0: it was dropped). A row of table link_list for each page, and not one for
 * each link, takes two thirds of the octets and a tenth of the time; as JSON
 * and not as varints, SQLite's json_each reads it too, so that people can.
 */

#define KINDS       (URL_KIND_MOST + 1u)
#define DIGITS_MOST 14 /* of DB_ID_MOST * KINDS */

/* One more link of the list in `out`, which is empty at first. */
static void link_list_put(struct buf *out, uint64_t to, uint8_t kind)
{
    char digits[24];
    size_t at = sizeof digits;
    uint64_t n = to * KINDS + kind;

    do
        digits[--at] = (char)('0' + n % 10);
    while ((n /= 10) != 0);
    digits[--at] = out->len == 0 ? '[' : ',';
    buf_add(out, digits + at, sizeof digits - at);
}

/* After the last one. */
static void link_list_end(struct buf *out)
{
    buf_add(out, "]", 1);
}

/* The links of a whole list that has any. False: it is nothing that the above
 * have written. */
static bool link_list_begin(struct bytes *rest)
{
    if (rest->len < 3 || rest->at[0] != '[' || rest->at[rest->len - 1] != ']')
        return false;
    *rest = bytes_of(rest->at + 1, rest->len - 2);
    return true;
}

/* Reads the first of *rest, which it moves on; *rest is empty after the last
 * one. False as above. */
static bool link_list_get(struct bytes *rest, uint64_t *to, uint8_t *kind)
{
    uint64_t n = 0;
    size_t i = 0;

    while (i < rest->len && i <= DIGITS_MOST && rest->at[i] >= '0' &&
           rest->at[i] <= '9')
        n = n * 10 + (unsigned char)(rest->at[i++] - '0');
    if (i == 0 || i > DIGITS_MOST || n / KINDS > DB_ID_MOST ||
        (i > 1 && rest->at[0] == '0'))
        return false;
    *to = n / KINDS;
    *kind = (uint8_t)(n % KINDS);
    if (i < rest->len && (rest->at[i] != ',' || ++i == rest->len))
        return false;
    *rest = bytes_of(rest->at + i, rest->len - i);
    return true;
}

#define SAID_MOST ((size_t)2 << 20)  /* of what is said on a page */
#define LIST_MOST ((size_t)64 << 20) /* octets of a page, said or not */
#define LIST_KEPT ((size_t)1 << 20)  /* room kept between pages */

struct firsts {
    uint64_t *at;
    size_t count, room;
};

struct link_store {
    struct db *d;
    uint64_t last;                /* link */
    struct buf links, said;       /* of the page under way ... */
    uint64_t list_from, list_src; /* ... its first link, and the page; */
    bool says;                    /* some said something */
    enum link_record recorded;
    struct firsts left_out; /* of lists, in order */
};

/* ---- a row of link_list ---- */

/* Bytes are borrowed until the statement moves on. */
struct page_list {
    uint64_t first, src;
    struct bytes links, said;
};

static enum status damaged(uint64_t first, const char *what)
{
    return db_damaged("link_list", (int64_t)first, what);
}

static enum status take_list(sqlite3_stmt *q, struct page_list *l)
{
    struct db_row r = db_row(q);
    enum status st;

    l->first = db_row_count(&r, 0, DB_TOTAL_MOST);
    l->src = db_row_count(&r, 1, DB_ID_MOST);
    st = db_row_check(&r, "link_list");
    if (st != STATUS_OK)
        return st;
    l->links = db_column(q, 2);
    l->said = db_column(q, 3);
    return l->first > 0 && link_list_begin(&l->links)
               ? STATUS_OK
               : damaged(l->first, "is no list of links");
}

static uint64_t count_of(const struct page_list *l)
{
    uint64_t n = 1;

    for (size_t i = 0; i < l->links.len; i++)
        n += l->links.at[i] == ',';
    return n;
}

/* One more link; what is said of them is read as far as l->said has it. */
static enum status take_link(struct page_list *l, struct link_row *row)
{
    *row = (struct link_row){.from = l->src};
    if (!link_list_get(&l->links, &row->to, &row->kind))
        return damaged(l->first, "is no list of links");
    if (l->said.len > 0 && (!link_said_get(&l->said, &row->said) ||
                            (l->links.len == 0) != (l->said.len == 0)))
        return damaged(l->first, "is not what the links of a page say");
    return STATUS_OK;
}

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

#define LISTS "SELECT first, src, links, said FROM link_list"

/* The last link. */
static enum status find_last(struct link_store *s)
{
    struct page_list l;
    sqlite3_stmt *q = NULL;
    enum status st = db_prepare(s->d, &q, LISTS " ORDER BY first DESC LIMIT 1");

    if (st == STATUS_OK)
        st = db_step(s->d, q);
    if (st == STATUS_OK)
        st = take_list(q, &l);
    if (st == STATUS_OK)
        s->last = l.first + count_of(&l) - 1;
    sqlite3_finalize(q);
    return st == STATUS_NOT_FOUND ? STATUS_OK : st;
}

enum status link_store_open(struct link_store **out, struct db *d)
{
    struct link_store *s = xcalloc(1, sizeof *s);
    enum status st;

    s->d = d;
    buf_init(&s->links, LIST_MOST);
    buf_init(&s->said, LIST_MOST);
    st = find_last(s);
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
    buf_fini(&s->links);
    buf_fini(&s->said);
    free(s->left_out.at);
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

bool link_store_is_full(const struct link_store *s)
{
    return s->said.len >= SAID_MOST;
}

void link_store_add(struct link_store *s, const struct link_row *row)
{
    s->last++;
    if (s->links.len == 0) {
        s->list_from = s->last;
        s->list_src = row->from;
    }
    link_list_put(&s->links, row->to, row->kind);
    link_said_put(&s->said, &row->said);
    s->says |=
        (row->said.rel.len | row->said.text.len | row->said.dropped.len) > 0;
}

static void empty(struct buf *b)
{
    if (b->cap > LIST_KEPT)
        buf_fini(b);
    buf_clear(b);
}

enum status link_store_end_page(struct link_store *s)
{
    sqlite3_stmt *q;
    enum status st;

    if (s->links.len == 0)
        return STATUS_OK;
    link_list_end(&s->links);
    st = buf_failed(&s->links);
    if (st == STATUS_OK)
        st = buf_failed(&s->said);
    if (st == STATUS_OK) {
        q = db_statement(s->d, "INSERT INTO link_list VALUES(?, ?, ?, ?)");
        sqlite3_bind_int64(q, 1, (int64_t)s->list_from);
        sqlite3_bind_int64(q, 2, (int64_t)s->list_src);
        sqlite3_bind_text64(q, 3, s->links.at, s->links.len, SQLITE_STATIC,
                            SQLITE_UTF8);
        if (s->says)
            sqlite3_bind_blob64(q, 4, s->said.at, s->said.len, SQLITE_STATIC);
        st = db_run(s->d, q);
    }
    empty(&s->links);
    empty(&s->said);
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
    sqlite3_stmt *q =
        db_statement(s->d, "INSERT INTO page_links VALUES(?, ?, ?, ?)");

    sqlite3_bind_int64(q, 1, (int64_t)seq);
    sqlite3_bind_int64(q, 2, (int64_t)rows->first);
    sqlite3_bind_int64(q, 3, (int64_t)rows->count);
    db_bind_number(q, 4, rows->partial);
    return db_run(s->d, q);
}

enum status link_store_page(struct link_store *s, uint64_t seq,
                            struct link_range *rows)
{
    sqlite3_stmt *q =
        db_statement(s->d, "SELECT fetch, first, count, partial FROM page_links"
                           " WHERE fetch = ?");
    enum status st;

    sqlite3_bind_int64(q, 1, (int64_t)seq);
    st = db_step(s->d, q);
    if (st == STATUS_OK) {
        struct db_row r = db_row(q);

        (void)db_row_count(&r, 0, DB_ID_MOST);
        rows->first = db_row_count(&r, 1, DB_TOTAL_MOST);
        rows->count = db_row_count(&r, 2, DB_ID_MOST);
        rows->partial = db_row_flag(&r, 3);
        st = db_row_check(&r, "page_links");
    }
    sqlite3_reset(q);
    return st;
}

enum status link_store_drop(struct link_store *s, const struct link_range *rows)
{
    sqlite3_stmt *q;

    if (rows->count == 0)
        return STATUS_OK;
    q = db_statement(s->d, "DELETE FROM link_list WHERE first = ?");
    sqlite3_bind_int64(q, 1, (int64_t)rows->first);
    return db_run(s->d, q);
}

enum status link_store_forget(struct link_store *s, uint64_t seq,
                              const struct link_range *rows, bool with_rows)
{
    sqlite3_stmt *q =
        db_statement(s->d, "DELETE FROM page_links WHERE fetch = ?");
    enum status st;

    sqlite3_bind_int64(q, 1, (int64_t)seq);
    st = db_run(s->d, q);
    return st == STATUS_OK && with_rows ? link_store_drop(s, rows) : st;
}

enum status link_store_each_in(
    struct link_store *s, const struct link_range *rows,
    void (*visit)(void *ctx, const struct link_row *row), void *ctx)
{
    sqlite3_stmt *q;
    struct link_row row;
    struct page_list l;
    uint64_t count = 0;
    enum status st;

    if (rows->count == 0)
        return STATUS_OK;
    q = db_statement(s->d, LISTS " WHERE first = ?");
    sqlite3_bind_int64(q, 1, (int64_t)rows->first);
    st = db_step(s->d, q);
    if (st == STATUS_OK)
        st = take_list(q, &l);
    while (st == STATUS_OK && l.links.len > 0) {
        st = take_link(&l, &row);
        if (st == STATUS_OK)
            visit(ctx, &row);
        count++;
    }
    sqlite3_reset(q);
    return st == STATUS_NOT_FOUND || (st == STATUS_OK && count != rows->count)
               ? db_damaged("page_links", (int64_t)rows->first,
                            "names links that are not there")
               : st;
}

/* ---- lists that are left out ---- */

static bool firsts_add(struct firsts *f, uint64_t first)
{
    if (f->count == f->room) {
        size_t room = f->room * 2 + 1024;
        uint64_t *at = try_realloc(f->at, room * sizeof *at);

        if (at == NULL)
            return false;
        f->at = at;
        f->room = room;
    }
    f->at[f->count++] = first;
    return true;
}

static int compare(const void *x, const void *y)
{
    const uint64_t *a = x, *b = y;

    return (*a > *b) - (*a < *b);
}

static void firsts_sort(struct firsts *f)
{
    if (f->count > 0)
        qsort(f->at, f->count, sizeof *f->at, compare);
}

static bool firsts_have(const struct firsts *f, uint64_t first)
{
    return f->count > 0 &&
           bsearch(&first, f->at, f->count, sizeof *f->at, compare) != NULL;
}

/* The lists of the fetches for which is_of_now() is `of_now`, in order, without
 * those in `but`. */
static enum status gather_lists(struct link_store *s, bool of_now,
                                bool (*is_of_now)(void *ctx, uint64_t seq),
                                void *ctx, const struct firsts *but,
                                struct firsts *out)
{
    sqlite3_stmt *q = NULL;
    enum status st = db_prepare(s->d, &q,
                                "SELECT fetch, first FROM page_links"
                                " WHERE count > 0");

    while (st == STATUS_OK && (st = db_step(s->d, q)) == STATUS_OK) {
        struct db_row r = db_row(q);
        uint64_t seq = db_row_count(&r, 0, DB_ID_MOST);
        uint64_t first = db_row_count(&r, 1, DB_TOTAL_MOST);

        st = db_row_check(&r, "page_links");
        if (st == STATUS_OK && is_of_now(ctx, seq) == of_now &&
            !firsts_have(but, first) && !firsts_add(out, first))
            st = STATUS_NOMEM;
    }
    sqlite3_finalize(q);
    firsts_sort(out);
    return st == STATUS_NOT_FOUND ? STATUS_OK : st;
}

enum status link_store_leave_out(struct link_store *s,
                                 bool (*is_of_now)(void *ctx, uint64_t seq),
                                 void *ctx)
{
    struct firsts none = {NULL, 0, 0}, stay = none;
    enum status st = gather_lists(s, true, is_of_now, ctx, &none, &stay);

    s->left_out.count = 0;
    if (st == STATUS_OK)
        st = gather_lists(s, false, is_of_now, ctx, &stay, &s->left_out);
    free(stay.at);
    return st;
}

/* ---- the links of all ---- */

/* *next: the number after the last link before them. */
static enum status each_of(struct page_list *l, uint64_t *next, bool *more,
                           bool (*visit)(void *ctx, const struct link_row *row),
                           void *ctx)
{
    struct link_row row;
    enum status st = STATUS_OK;

    if (l->first < *next)
        return damaged(l->first, "has links of the list before it");
    for (*next = l->first; *more && st == STATUS_OK && l->links.len > 0;
         (*next)++) {
        st = take_link(l, &row);
        *more = st == STATUS_OK && visit(ctx, &row);
    }
    return st;
}

static enum status each(struct link_store *s, bool whole,
                        bool (*visit)(void *ctx, const struct link_row *row),
                        void *ctx)
{
    sqlite3_stmt *q = NULL;
    enum status st = db_prepare(s->d, &q, LISTS " ORDER BY first");
    uint64_t next = 1;
    bool more = true;

    while (more && st == STATUS_OK && (st = db_step(s->d, q)) == STATUS_OK) {
        struct page_list l;

        st = take_list(q, &l);
        if (st == STATUS_OK && !whole)
            l.said.len = 0;
        if (st == STATUS_OK && !firsts_have(&s->left_out, l.first))
            st = each_of(&l, &next, &more, visit, ctx);
    }
    sqlite3_finalize(q);
    return st == STATUS_NOT_FOUND ? STATUS_OK : st;
}

/* Without what is said, and without dropped ones. */
struct plain {
    bool (*visit)(void *ctx, const struct link_row *row);
    void *ctx;
};

static bool visit_plain(void *ctx, const struct link_row *row)
{
    const struct plain *p = ctx;

    return row->to == 0 || p->visit(p->ctx, row);
}

enum status link_store_each(struct link_store *s,
                            bool (*visit)(void *ctx,
                                          const struct link_row *row),
                            void *ctx)
{
    struct plain p = {visit, ctx};

    return each(s, false, visit_plain, &p);
}

enum status link_store_each_whole(struct link_store *s,
                                  bool (*visit)(void *ctx,
                                                const struct link_row *row),
                                  void *ctx)
{
    return each(s, true, visit, ctx);
}

struct again {
    uint64_t to, via, count;
    bool on_via;
};

static bool count_again(void *ctx, const struct link_row *row)
{
    struct again *a = ctx;

    if (row->to == a->to) {
        a->count++;
        a->on_via |= row->from == a->via;
    }
    return true;
}

enum status link_store_seen_again(struct link_store *s, uint64_t to,
                                  uint64_t via, uint64_t *count)
{
    struct again a = {.to = to, .via = via};
    enum status st = link_store_each(s, count_again, &a);

    *count = a.count - a.on_via;
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
    enum status st = link_store_each_whole(s, check_row, &c);

    *count = c.count;
    if (st != STATUS_OK)
        return st;
    if (c.bad)
        return db_damaged("link_list", (int64_t)c.count, "names no URL");
    if (c.count > 0 && s->recorded == LINK_RECORD_NONE)
        return db_damaged("link_list", 1, "nothing was recorded");
    return STATUS_OK;
}

/* ---- what is said of the links of one page, packed ---- */

void link_said_put(struct buf *out, const struct link_said *said)
{
    packed_put_count(out, said->rel.len);
    packed_put_count(out, said->text.len);
    packed_put_count(out, said->dropped.len);
    if (said->dropped.len > 0)
        buf_add_char(out, (char)said->reason);
    buf_add_bytes(out, said->rel);
    buf_add_bytes(out, said->text);
    buf_add_bytes(out, said->dropped);
}

bool link_said_get(struct bytes *rest, struct link_said *out)
{
    uint64_t rel = 0, text = 0, dropped = 0;

    *out = (struct link_said){.reason = 0};
    if (!packed_take_count(rest, LINK_TEXT_MOST, &rel) ||
        !packed_take_count(rest, LINK_TEXT_MOST, &text) ||
        !packed_take_count(rest, LINK_DROPPED_MOST, &dropped) ||
        rest->len < rel + text + dropped + (dropped > 0))
        return false;
    if (dropped > 0)
        out->reason = (uint8_t)packed_take(rest, 1).at[0];
    out->rel = packed_take(rest, rel);
    out->text = packed_take(rest, text);
    out->dropped = packed_take(rest, dropped);
    return true;
}
