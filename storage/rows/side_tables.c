/* SPDX-License-Identifier: MIT */
/* side_tables.c - the small tables beside those of URLs and fetches. */
#include "storage/rows/side_tables.h"

#include <limits.h>

#include "storage/db/db_row.h"

/* ---- hints ---- */

/*
 * Hints have their own table, keyed by the URL's id: url rows are never
 * changed, and most URLs have no hint. Ids of new URLs rise, so their rows are
 * appended; only a hint for an older URL touches a page elsewhere.
 */

const char *changefreq_name(enum url_changefreq f)
{
    static const char *const names[CHANGEFREQ_COUNT_] = {
        [CHANGEFREQ_NONE] = "",         [CHANGEFREQ_ALWAYS] = "always",
        [CHANGEFREQ_HOURLY] = "hourly", [CHANGEFREQ_DAILY] = "daily",
        [CHANGEFREQ_WEEKLY] = "weekly", [CHANGEFREQ_MONTHLY] = "monthly",
        [CHANGEFREQ_YEARLY] = "yearly", [CHANGEFREQ_NEVER] = "never",
    };

    return (unsigned)f < CHANGEFREQ_COUNT_ ? names[f] : "";
}

enum status hint_store_set(struct db *d, uint64_t url,
                           const struct url_hint *hint)
{
    sqlite3_stmt *q =
        db_statement(d, "INSERT OR REPLACE INTO hint VALUES(?, ?, ?, ?)");

    sqlite3_bind_int64(q, 1, (int64_t)url);
    if (hint->priority != HINT_NO_PRIORITY)
        sqlite3_bind_int(q, 2, hint->priority);
    if (hint->lastmod_ms != HINT_NO_LASTMOD)
        sqlite3_bind_int64(q, 3, hint->lastmod_ms);
    if (hint->changefreq != CHANGEFREQ_NONE)
        sqlite3_bind_int(q, 4, hint->changefreq);
    return db_run(d, q);
}

static bool is_null(sqlite3_stmt *q, int column)
{
    return sqlite3_column_type(q, column) == SQLITE_NULL;
}

static enum status take_hint(sqlite3_stmt *q, struct url_hint *hint)
{
    struct db_row r = db_row(q);

    *hint = (struct url_hint){
        .priority = (int16_t)db_row_count(&r, 0, 1000),
        .lastmod_ms = db_row_time(&r, 1),
        .changefreq = (uint8_t)db_row_count(&r, 2, CHANGEFREQ_COUNT_ - 1),
    };
    if (is_null(q, 0))
        hint->priority = HINT_NO_PRIORITY;
    if (is_null(q, 1))
        hint->lastmod_ms = HINT_NO_LASTMOD;
    return db_row_check(&r, "hint");
}

enum status hint_store_get(struct db *d, uint64_t url, struct url_hint *hint)
{
    sqlite3_stmt *q = db_statement(d, "SELECT priority, lastmod, changefreq"
                                      " FROM hint WHERE url = ?");
    enum status st;

    sqlite3_bind_int64(q, 1, (int64_t)url);
    st = db_step(d, q);
    if (st == STATUS_OK)
        st = take_hint(q, hint);
    sqlite3_reset(q);
    return st;
}

enum status hint_store_any(struct db *d, bool *any)
{
    sqlite3_stmt *q = db_statement(d, "SELECT 1 FROM hint LIMIT 1");
    enum status st = db_step(d, q);

    *any = st == STATUS_OK;
    return db_end(q, st);
}

/* ---- URLs that go before their turn ---- */

enum status early_store_get(struct db *d, uint32_t queue, uint64_t url,
                            uint8_t *class_, uint32_t *links)
{
    sqlite3_stmt *q = db_statement(
        d, "SELECT class, links FROM early WHERE queue = ?"
           " AND class IN (0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15) AND url = ?");
    enum status st;

    sqlite3_bind_int64(q, 1, queue);
    sqlite3_bind_int64(q, 2, (int64_t)url);
    st = db_step(d, q);
    if (st == STATUS_OK) {
        struct db_row r = db_row(q);

        *class_ = (uint8_t)db_row_count(&r, 0, EARLY_CLASS_MOST);
        *links = (uint32_t)db_row_count(&r, 1, UINT32_MAX);
        st = db_row_check(&r, "early");
    }
    sqlite3_reset(q);
    return st;
}

static enum status drop_early(struct db *d, uint32_t queue, uint64_t url,
                              uint8_t class_)
{
    sqlite3_stmt *q = db_statement(d, "DELETE FROM early WHERE queue = ?"
                                      " AND class = ? AND url = ?");

    sqlite3_bind_int64(q, 1, queue);
    sqlite3_bind_int(q, 2, class_);
    sqlite3_bind_int64(q, 3, (int64_t)url);
    return db_run(d, q);
}

enum status early_store_put(struct db *d, uint32_t queue, uint64_t url,
                            uint8_t was, uint8_t class_, uint32_t links)
{
    sqlite3_stmt *q;
    enum status st = STATUS_OK;

    if (was != EARLY_NONE && was != class_)
        st = drop_early(d, queue, url, was);
    if (st != STATUS_OK)
        return st;
    q = db_statement(d, "INSERT OR REPLACE INTO early VALUES(?, ?, ?, ?)");
    sqlite3_bind_int64(q, 1, queue);
    sqlite3_bind_int(q, 2, class_);
    sqlite3_bind_int64(q, 3, (int64_t)url);
    sqlite3_bind_int64(q, 4, links);
    return db_run(d, q);
}

enum status early_store_each(struct db *d, uint32_t queue, uint8_t class_,
                             bool (*visit)(void *ctx, uint64_t url), void *ctx)
{
    sqlite3_stmt *q = db_statement(d, "SELECT url FROM early WHERE queue = ?"
                                      " AND class = ? ORDER BY url");
    enum status st = STATUS_OK;
    bool more = true;

    sqlite3_bind_int64(q, 1, queue);
    sqlite3_bind_int(q, 2, class_);
    while (more && st == STATUS_OK && (st = db_step(d, q)) == STATUS_OK) {
        struct db_row r = db_row(q);
        uint64_t url = db_row_count(&r, 0, DB_ID_MOST);

        st = db_row_check(&r, "early");
        more = st == STATUS_OK && visit(ctx, url);
    }
    return db_end(q, st);
}

enum status early_store_each_queue(struct db *d,
                                   void (*visit)(void *ctx, uint32_t queue,
                                                 uint8_t class_),
                                   void *ctx)
{
    sqlite3_stmt *q = db_statement(d, "SELECT DISTINCT queue, class FROM early"
                                      " WHERE class > 0");
    enum status st = STATUS_OK;

    while (st == STATUS_OK && (st = db_step(d, q)) == STATUS_OK) {
        struct db_row r = db_row(q);
        uint32_t queue = (uint32_t)db_row_count(&r, 0, UINT32_MAX);
        uint8_t class_ = (uint8_t)db_row_count(&r, 1, EARLY_CLASS_MOST);

        st = db_row_check(&r, "early");
        if (st == STATUS_OK)
            visit(ctx, queue, class_);
    }
    return db_end(q, st);
}

/* ---- the calendar ---- */

/*
 * The key of table refresh is (queue, due, url), without a rowid. A table that
 * grows with the crawl has else a key that only rises (schema.c), since a random
 * key costs a page of log and a page of the file. Here that is one page for each
 * page fetched, not for each link found, and less where it would hurt most: with
 * a fixed interval a large host takes its rows from one end of its range and
 * puts them back at the other. A log of dates by time alone would save that
 * page, but needs a second structure by host when many dates are due at once, as
 * after a pause, and a replay after a crash.
 */

#define DATE_COLUMNS "queue, due, url, seq, at, tries, absent, checks, links"

static void bind_key(sqlite3_stmt *q, const struct refresh_row *row)
{
    sqlite3_bind_int64(q, 1, row->queue);
    sqlite3_bind_int64(q, 2, row->due_ms);
    sqlite3_bind_int64(q, 3, (int64_t)row->url);
}

enum status refresh_store_put(struct db *d, const struct refresh_row *row)
{
    sqlite3_stmt *q = db_statement(d, "INSERT INTO refresh(" DATE_COLUMNS ")"
                                      " VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)");

    bind_key(q, row);
    sqlite3_bind_int64(q, 4, (int64_t)row->seq);
    sqlite3_bind_int64(q, 5, row->at_ms);
    sqlite3_bind_int64(q, 6, row->tries);
    sqlite3_bind_int64(q, 7, row->absent);
    sqlite3_bind_int64(q, 8, (int64_t)row->known);
    sqlite3_bind_int64(q, 9, (int64_t)row->links);
    return db_run(d, q);
}

enum status refresh_store_drop(struct db *d, const struct refresh_row *row)
{
    sqlite3_stmt *q = db_statement(d, "DELETE FROM refresh WHERE queue = ?"
                                      " AND due = ? AND url = ?");
    enum status st;

    bind_key(q, row);
    st = db_run(d, q);
    if (st == STATUS_OK && sqlite3_changes(db_handle(d)) != 1)
        st = db_damaged("refresh", (int64_t)row->url, "has another date");
    return st;
}

static enum status take_date(sqlite3_stmt *q, struct refresh_row *out)
{
    struct db_row r = db_row(q);

    *out = (struct refresh_row){
        .queue = (uint32_t)db_row_count(&r, 0, UINT32_MAX),
        .due_ms = db_row_time(&r, 1),
        .url = db_row_count(&r, 2, DB_ID_MOST),
        .seq = db_row_count(&r, 3, DB_ID_MOST),
        .at_ms = db_row_time(&r, 4),
        .tries = (uint32_t)db_row_count(&r, 5, UINT32_MAX),
        .absent = (uint32_t)db_row_count(&r, 6, UINT32_MAX),
        .known = db_row_count(&r, 7, INT64_MAX),
        .links = db_row_count(&r, 8, INT64_MAX),
    };
    return db_row_check(&r, "refresh");
}

enum status refresh_store_each(struct db *d, const struct refresh_row *after,
                               bool (*visit)(void *ctx,
                                             const struct refresh_row *row),
                               void *ctx)
{
    sqlite3_stmt *q = db_statement(d, "SELECT " DATE_COLUMNS " FROM refresh"
                                      " WHERE (queue, due, url) > (?, ?, ?)"
                                      " ORDER BY queue, due, url");
    struct refresh_row row, from = *after;
    bool more = true;
    enum status st = STATUS_OK;

    if (from.url == 0 && from.due_ms == 0)
        from.due_ms = INT64_MIN;
    bind_key(q, &from);
    while (more && st == STATUS_OK && (st = db_step(d, q)) == STATUS_OK) {
        st = take_date(q, &row);
        more = st == STATUS_OK && visit(ctx, &row);
    }
    return db_end(q, st);
}

enum status refresh_store_each_queue(
    struct db *d, void (*visit)(void *ctx, const struct refresh_row *first),
    void *ctx)
{
    sqlite3_stmt *q = db_statement(d, "SELECT " DATE_COLUMNS " FROM refresh"
                                      " WHERE queue > ?"
                                      " ORDER BY queue, due, url LIMIT 1");
    struct refresh_row row = {.queue = 0};
    enum status st = STATUS_OK;

    while (st == STATUS_OK) {
        sqlite3_bind_int64(q, 1, row.queue);
        st = db_step(d, q);
        if (st == STATUS_OK)
            st = take_date(q, &row);
        sqlite3_reset(q);
        if (st == STATUS_OK)
            visit(ctx, &row);
    }
    return st == STATUS_NOT_FOUND ? STATUS_OK : st;
}

/* ---- what a record refers to ---- */

enum status revisit_store_set(struct db *d, uint64_t seq,
                              const struct record_name *to)
{
    sqlite3_stmt *q = db_statement(d, "INSERT INTO revisit VALUES(?, ?, ?)");

    sqlite3_bind_int64(q, 1, (int64_t)seq);
    sqlite3_bind_int64(q, 2, to->at_ms);
    db_bind_text(q, 3, to->url);
    return db_run(d, q);
}

enum status revisit_store_get(struct db *d, uint64_t seq,
                              struct record_name *to, struct buf *text)
{
    sqlite3_stmt *q = db_statement(d, "SELECT fetch, at, url FROM revisit"
                                      " WHERE fetch = ?");
    enum status st;

    buf_clear(text);
    sqlite3_bind_int64(q, 1, (int64_t)seq);
    st = db_step(d, q);
    if (st == STATUS_OK) {
        struct db_row r = db_row(q);

        (void)db_row_count(&r, 0, DB_ID_MOST);
        to->at_ms = db_row_time(&r, 1);
        buf_add_bytes(text, db_column(q, 2));
        to->url = buf_bytes(text);
        st = db_row_check(&r, "revisit");
    }
    if (st == STATUS_OK)
        st = buf_failed(text);
    sqlite3_reset(q);
    return st;
}

/* ---- robots.txt ---- */

#define ROBOTS_BODY_MOST (500 << 10)

enum status robots_store_set(struct db *d, const struct robots_row *row)
{
    sqlite3_stmt *q;

    if (row->body.len > ROBOTS_BODY_MOST)
        return STATUS_LIMIT;
    q = db_statement(d, "INSERT OR REPLACE INTO robots"
                        " VALUES(?, ?, ?, ?, ?, ?)");
    db_bind_text(q, 1, row->origin);
    sqlite3_bind_int64(q, 2, row->fetched_at_ms);
    sqlite3_bind_int64(q, 3, row->expires_at_ms);
    db_bind_number(q, 4, (uint64_t)row->unreachable_since_ms);
    db_bind_number(q, 5, row->http_status);
    db_bind_blob(q, 6, row->body);
    return db_run(d, q);
}

static enum status take_robots(sqlite3_stmt *q, struct robots_row *row,
                               struct buf *text)
{
    struct bytes body = db_column(q, 4), origin = db_column(q, 5);
    struct db_row r = db_row(q);
    enum status st;

    buf_clear(text);
    buf_add_bytes(text, origin);
    buf_add_bytes(text, body);
    st = buf_failed(text);
    if (st != STATUS_OK)
        return st;
    *row = (struct robots_row){
        .origin = bytes_of(buf_str(text), origin.len),
        .fetched_at_ms = db_row_time(&r, 0),
        .expires_at_ms = db_row_time(&r, 1),
        .unreachable_since_ms = db_row_time(&r, 2),
        .http_status = (uint16_t)db_row_count(&r, 3, UINT16_MAX),
        .body = bytes_of(buf_str(text) + origin.len, body.len),
    };
    return db_row_check(&r, "robots");
}

enum status robots_store_get(struct db *d, struct bytes origin,
                             struct robots_row *row, struct buf *text)
{
    sqlite3_stmt *q = db_statement(
        d,
        "SELECT fetched_at, expires_at, unreachable_since, http, body, origin"
        " FROM robots WHERE origin = ?");
    enum status st;

    db_bind_text(q, 1, origin);
    st = db_step(d, q);
    if (st == STATUS_OK)
        st = take_robots(q, row, text);
    sqlite3_reset(q);
    return st;
}
