/* SPDX-License-Identifier: MIT */
/*
 * hint_store.c - what sitemaps say about the URLs they list.
 *
 * Hints have their own table, keyed by the URL's id: url rows are never
 * changed, and most URLs have no hint. Ids of new URLs rise, so their rows are
 * appended; only a hint for an older URL touches a page elsewhere.
 */
#include "storage/rows/hint_store.h"

#include <stdlib.h>

#include "base/mem.h"
#include "storage/db/db_row.h"

struct hint_store {
    struct db *d;
    sqlite3_stmt *set, *get, *any;
};

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

enum status hint_store_open(struct hint_store **out, struct db *d)
{
    struct hint_store *s = xcalloc(1, sizeof *s);
    enum status st;

    s->d = d;
    st = db_prepare(d, &s->set,
                    "INSERT OR REPLACE INTO hint VALUES(?, ?, ?, ?)");
    if (st == STATUS_OK)
        st = db_prepare(d, &s->get,
                        "SELECT priority, lastmod, changefreq FROM hint"
                        " WHERE url = ?");
    if (st == STATUS_OK)
        st = db_prepare(d, &s->any, "SELECT 1 FROM hint LIMIT 1");
    if (st != STATUS_OK) {
        hint_store_close(s);
        return st;
    }
    *out = s;
    return STATUS_OK;
}

void hint_store_close(struct hint_store *s)
{
    if (s == NULL)
        return;
    sqlite3_finalize(s->set);
    sqlite3_finalize(s->get);
    sqlite3_finalize(s->any);
    free(s);
}

enum status hint_store_set(struct hint_store *s, uint64_t url,
                           const struct url_hint *hint)
{
    sqlite3_bind_int64(s->set, 1, (int64_t)url);
    if (hint->priority != HINT_NO_PRIORITY)
        sqlite3_bind_int(s->set, 2, hint->priority);
    if (hint->lastmod_ms != HINT_NO_LASTMOD)
        sqlite3_bind_int64(s->set, 3, hint->lastmod_ms);
    if (hint->changefreq != CHANGEFREQ_NONE)
        sqlite3_bind_int(s->set, 4, hint->changefreq);
    return db_run(s->d, s->set);
}

static bool is_null(sqlite3_stmt *q, int column)
{
    return sqlite3_column_type(q, column) == SQLITE_NULL;
}

static enum status take_row(sqlite3_stmt *q, struct url_hint *hint)
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

enum status hint_store_get(struct hint_store *s, uint64_t url,
                           struct url_hint *hint)
{
    sqlite3_stmt *q = s->get;
    enum status st;

    sqlite3_bind_int64(q, 1, (int64_t)url);
    st = db_step(s->d, q);
    if (st == STATUS_OK)
        st = take_row(q, hint);
    sqlite3_reset(q);
    return st;
}

enum status hint_store_any(struct hint_store *s, bool *any)
{
    enum status st = db_step(s->d, s->any);

    sqlite3_reset(s->any);
    if (st != STATUS_OK && st != STATUS_NOT_FOUND)
        return st;
    *any = st == STATUS_OK;
    return STATUS_OK;
}
