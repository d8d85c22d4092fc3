/* SPDX-License-Identifier: MIT */
/*
 * history.c - how many fetches of each URL a crawl keeps.
 *
 * Rejected: removing the oldest row of a URL with each fetch. It needs to know
 * where that row is, a pointer in each row and one read for each of the last
 * `keep` fetches, and a count of the names of each row; and what a crash, or a
 * change of `keep`, leaves has to be found by a pass all the same.
 *
 * A pass over r rows comes after r / 4 new ones, so each fetch pays for four
 * looks at a row, in the order of the table: some microseconds.
 */
#include "storage/rows/history.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"
#include "storage/db/db_row.h"
#include "storage/index/whole_index.h"

#define SHARE      4    /* a pass is due when there are 1/SHARE more rows */
#define MORE_LEAST 1000 /* but at least so many */
#define WHOLE_MET  128  /* in history.met: the newest whole fetch was met */

struct history {
    struct db *d;
    struct page_store *pages;
    struct link_store *links;
    uint64_t most_memory;
    /* of the last pass */
    uint64_t last_keep, last_seq, kept_rows;
    /* of the pass under way */
    bool running;
    unsigned keep;
    uint64_t ids, floor;
    uint64_t began_at, below; /* rows from `below` on were looked at */
    uint64_t kept;
    unsigned char *met; /* [id]: final fetches met, at most keep + 1; a flag */
    struct number_set named, ranges; /* rows; first rows of links */
};

/* ---- opening ---- */

static enum status read_number(struct db *d, const char *sql, uint64_t *out)
{
    int64_t v = 0;
    enum status st = db_number(d, sql, &v);

    if (st == STATUS_OK && (v < 0 || v > (int64_t)DB_ID_MOST))
        return db_damaged("meta", v, "of history is out of bounds");
    if (st == STATUS_OK)
        *out = (uint64_t)v;
    return st == STATUS_NOT_FOUND ? STATUS_OK : st;
}

#define META(name) "SELECT value FROM meta WHERE name = 'history_" name "'"

enum status history_open(struct history **out, struct db *d,
                         struct page_store *pages, struct link_store *links,
                         uint64_t most_memory)
{
    struct history *h = xcalloc(1, sizeof *h);
    enum status st;

    h->d = d;
    h->pages = pages;
    h->links = links;
    h->most_memory = most_memory;
    st = read_number(d, META("keep"), &h->last_keep);
    if (st == STATUS_OK)
        st = read_number(d, META("seq"), &h->last_seq);
    if (st == STATUS_OK)
        st = read_number(d, META("rows"), &h->kept_rows);
    if (st == STATUS_OK)
        *out = h;
    else
        history_close(h);
    return st;
}

void history_close(struct history *h)
{
    if (h == NULL)
        return;
    history_stop(h);
    free(h);
}

/* ---- a pass ---- */

bool history_is_due(const struct history *h, unsigned keep)
{
    uint64_t now = page_store_last_seq(h->pages);
    uint64_t more = h->kept_rows / SHARE;

    if (h->running || now == 0)
        return false;
    return h->last_keep != keep ||
           now - h->last_seq >= (more > MORE_LEAST ? more : MORE_LEAST);
}

bool history_is_running(const struct history *h)
{
    return h->running;
}

enum status history_begin(struct history *h, unsigned keep, uint64_t last_id,
                          uint64_t floor)
{
    history_stop(h);
    h->running = true;
    h->keep = keep;
    h->ids = last_id;
    h->floor = floor;
    h->began_at = page_store_last_seq(h->pages);
    h->below = h->began_at + 1;
    h->kept = 0;
    h->met = xcalloc((size_t)last_id + 1, 1);
    number_set_init(&h->named, h->most_memory / 2);
    number_set_init(&h->ranges, h->most_memory / 2);
    return page_store_thin(h->pages, h->began_at);
}

void history_stop(struct history *h)
{
    free(h->met);
    h->met = NULL;
    number_set_fini(&h->named);
    number_set_fini(&h->ranges);
    h->running = false;
}

/* Its rows are counted by the next pass alone; their seqs are past this one's,
 * but what they name is not. */
void history_add(struct history *h, const struct fetch_row *row)
{
    if (!h->running)
        return;
    if (row->same_as != 0)
        number_set_add(&h->named, row->same_as);
    if (row->near_dup_of != 0)
        number_set_add(&h->named, row->near_dup_of);
}

static enum status end_pass(struct history *h)
{
    sqlite3_stmt *q =
        db_statement(h->d,
                     "INSERT OR REPLACE INTO meta VALUES('history_keep', ?),"
                     " ('history_seq', ?), ('history_rows', ?)");
    enum status st;

    h->last_keep = h->keep;
    h->last_seq = h->began_at;
    h->kept_rows = h->kept;
    sqlite3_bind_int64(q, 1, (int64_t)h->last_keep);
    sqlite3_bind_int64(q, 2, (int64_t)h->last_seq);
    sqlite3_bind_int64(q, 3, (int64_t)h->kept_rows);
    st = db_run(h->d, q);
    history_stop(h);
    return st;
}

/* ---- a row ---- */

struct row {
    uint64_t seq, url, same, near;
    bool final, whole;
};

static enum status take_row(const struct history *h, sqlite3_stmt *q,
                            struct row *row)
{
    struct db_row r = db_row(q);
    unsigned status, reason;

    row->seq = db_row_count(&r, 0, DB_ID_MOST);
    row->url = db_row_count(&r, 1, h->ids);
    row->final = db_row_flag(&r, 2);
    status = (unsigned)db_row_count(&r, 3, UINT8_MAX);
    reason = (unsigned)db_row_count(&r, 4, UINT8_MAX);
    row->whole = whole_index_takes(row->final, status, reason);
    row->same = db_row_count(&r, 5, DB_ID_MOST);
    row->near = db_row_count(&r, 6, DB_ID_MOST);
    return db_row_check(&r, "fetch");
}

/* Is it one of the last fetches of its URL, a try of those, or the newest whole
 * one? Tries come before their fetch. */
static bool is_recent(struct history *h, const struct row *row)
{
    unsigned char *met = &h->met[row->url];
    unsigned n = *met & (WHOLE_MET - 1u);
    bool newest_whole = row->whole && (*met & WHOLE_MET) == 0;

    if (row->final && n <= h->keep)
        *met = (unsigned char)((*met & WHOLE_MET) | ++n);
    if (row->whole)
        *met |= WHOLE_MET;
    return n <= h->keep || newest_whole || row->seq >= h->floor;
}

/* The links of a row that stays are those of others too. */
static enum status keep_links(struct history *h, uint64_t seq)
{
    struct link_range links;
    enum status st = link_store_page(h->links, seq, &links);

    if (st == STATUS_OK)
        number_set_add(&h->ranges, links.first);
    return st == STATUS_NOT_FOUND ? STATUS_OK : st;
}

static enum status drop_links(struct history *h, uint64_t seq)
{
    struct link_range links;
    enum status st = link_store_page(h->links, seq, &links);

    if (st == STATUS_OK)
        st = link_store_forget(h->links, seq, &links,
                               !number_set_has(&h->ranges, links.first));
    return st == STATUS_NOT_FOUND ? STATUS_OK : st;
}

static enum status change(struct history *h, const char *sql, uint64_t seq)
{
    sqlite3_stmt *q = db_statement(h->d, sql);

    sqlite3_bind_int64(q, 1, (int64_t)seq);
    return db_run(h->d, q);
}

static enum status look_at(struct history *h, const struct row *row,
                           uint64_t *removed)
{
    bool named = number_set_has(&h->named, row->seq);
    enum status st;

    if (is_recent(h, row)) {
        h->kept++;
        if (row->same != 0)
            number_set_add(&h->named, row->same);
        if (row->near != 0)
            number_set_add(&h->named, row->near);
        return keep_links(h, row->seq);
    }
    st = drop_links(h, row->seq);
    if (st == STATUS_OK && named) {
        h->kept++;
        if (row->same != 0) /* a first text, of a body met before texts were */
            number_set_add(&h->named, row->same);
        return row->near != 0
                   ? change(h, "UPDATE fetch SET near = NULL WHERE seq = ?",
                            row->seq)
                   : STATUS_OK;
    }
    if (st == STATUS_OK)
        st = change(h, "DELETE FROM fetch WHERE seq = ?", row->seq);
    if (st == STATUS_OK)
        st = change(h, "DELETE FROM revisit WHERE fetch = ?", row->seq);
    *removed += st == STATUS_OK;
    return st;
}

enum status history_step(struct history *h, size_t most, uint64_t *removed)
{
    sqlite3_stmt *q = db_statement(
        h->d, "SELECT seq, url, final, status, reason, same, near FROM fetch"
              " WHERE seq < ? ORDER BY seq DESC LIMIT ?");
    struct row *rows = xcalloc(most, sizeof *rows);
    size_t n = 0;
    enum status st = STATUS_OK;

    sqlite3_bind_int64(q, 1, (int64_t)h->below);
    sqlite3_bind_int64(q, 2, (int64_t)most);
    while (st == STATUS_OK && (st = db_step(h->d, q)) == STATUS_OK)
        st = take_row(h, q, &rows[n++]);
    sqlite3_reset(q);
    if (st == STATUS_NOT_FOUND)
        st = STATUS_OK;
    for (size_t i = 0; st == STATUS_OK && i < n; i++) {
        h->below = rows[i].seq;
        st = look_at(h, &rows[i], removed);
    }
    free(rows);
    return st == STATUS_OK && n < most ? end_pass(h) : st;
}

uint64_t history_memory(const struct history *h)
{
    return h->running ? h->ids + number_set_memory(&h->named) +
                            number_set_memory(&h->ranges)
                      : 0;
}
