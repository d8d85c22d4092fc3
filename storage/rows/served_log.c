/* SPDX-License-Identifier: MIT */
/*
 * served_log.c - appends to the two logs, reads and sweeps them.
 *
 *   item_update   old ──────────────────────────► new
 *                 │ dead: dropped     ▲
 *                 └ still counts: ────┘ appended again, `since` kept
 *
 * The alternative was a table with a row for each URL, updated in place. Its
 * key is the URL's id, and updates come in the order in which pages were
 * fetched, so nearly each would write a page of its own (4 KB of log, 4 KB of
 * file; see the exact set for figures). Here a commit writes the changes and
 * little more. The price is at most twice the live rows on disk, and a sweep.
 *
 * `since` matters for leases: an update that came after a lease ends it; one
 * that a sweep has moved behind it does not.
 */
#include "storage/rows/served_log.h"

#include <stdlib.h>

#include "base/fault.h"
#include "base/mem.h"
#include "storage/db/db_row.h"
#include "storage/db/schema.h"

#define MOST_METADATA ((size_t)16 << 20)

struct served_log {
    struct db *d;
    uint64_t last_seq;
    struct served_log_counts counts;
    struct buf metadata; /* of a row being moved */
};

static enum status find_last_seq(struct served_log *l)
{
    int64_t updates = 0, leases = 0;
    enum status st =
        db_number(l->d, "SELECT ifnull(max(seq), 0) FROM item_update",
                  &updates);

    if (st == STATUS_OK)
        st = db_number(l->d, "SELECT ifnull(max(seq), 0) FROM item_lease",
                       &leases);
    if (updates < leases)
        updates = leases;
    if (st == STATUS_OK && (updates < 0 || updates > (int64_t)SERVED_SEQ_MOST))
        st = db_damaged("item_update", updates, "seq out of bounds");
    l->last_seq = (uint64_t)updates;
    return st;
}

enum status served_log_open(struct served_log **out, struct db *d)
{
    struct served_log *l = xcalloc(1, sizeof *l);
    enum status st;

    l->d = d;
    buf_init(&l->metadata, MOST_METADATA);
    st = find_last_seq(l);
    if (st != STATUS_OK) {
        served_log_close(l);
        return st;
    }
    *out = l;
    return STATUS_OK;
}

void served_log_close(struct served_log *l)
{
    if (l == NULL)
        return;
    buf_fini(&l->metadata);
    free(l);
}

/* ---- appending ---- */

/* The seq of the next row to append. */
static enum status next_seq(struct served_log *l, uint64_t *seq)
{
    if (l->last_seq == SERVED_SEQ_MOST)
        return STATUS_LIMIT;
    *seq = ++l->last_seq;
    return STATUS_OK;
}

static enum status add_update(struct served_log *l,
                              const struct served_update_row *u)
{
    sqlite3_stmt *q =
        db_statement(l->d, "INSERT INTO item_update VALUES(?, ?, ?,"
                           " nullif(?, 0), ?)");
    enum status st;

    sqlite3_bind_int64(q, 1, (int64_t)u->seq);
    sqlite3_bind_int64(q, 2, (int64_t)u->url);
    sqlite3_bind_int64(q, 3, u->due_ms);
    sqlite3_bind_int64(q, 4, u->since == u->seq ? 0 : (int64_t)u->since);
    db_bind_blob(q, 5, u->metadata);
    st = db_run(l->d, q);
    if (st == STATUS_OK)
        l->counts.updates++;
    return st;
}

enum status served_log_update(struct served_log *l, uint64_t url,
                              int64_t due_ms, struct bytes metadata,
                              uint64_t *seq)
{
    struct served_update_row u = {.url = url,
                                  .due_ms = due_ms,
                                  .metadata = metadata};
    enum status st = next_seq(l, seq);

    if (st != STATUS_OK)
        return st;
    u.seq = u.since = *seq;
    l->counts.new_updates++;
    return add_update(l, &u);
}

static enum status add_lease(struct served_log *l,
                             const struct served_lease_row *e)
{
    sqlite3_stmt *q =
        db_statement(l->d, "INSERT INTO item_lease VALUES(?, ?, ?, ?)");
    enum status st;

    sqlite3_bind_int64(q, 1, (int64_t)e->seq);
    sqlite3_bind_int64(q, 2, (int64_t)e->url);
    sqlite3_bind_int64(q, 3, e->at_ms);
    sqlite3_bind_int64(q, 4, e->until_ms);
    st = db_run(l->d, q);
    if (st == STATUS_OK)
        l->counts.leases++;
    return st;
}

enum status served_log_lease(struct served_log *l, uint64_t url, int64_t at_ms,
                             int64_t until_ms, uint64_t *seq)
{
    struct served_lease_row e = {0, url, at_ms, until_ms};
    enum status st = next_seq(l, seq);

    if (st != STATUS_OK)
        return st;
    e.seq = *seq;
    l->counts.new_leases++;
    return add_lease(l, &e);
}

enum status served_log_set_queue(struct served_log *l, uint32_t queue,
                                 const struct served_queue_row *row)
{
    sqlite3_stmt *q =
        db_statement(l->d, "INSERT INTO item_queue"
                           " VALUES(?, ?, ?, ?, ?, ?, ?, ?, 0)"
                           " ON CONFLICT(queue) DO UPDATE SET"
                           " removed = excluded.removed, gone = excluded.gone,"
                           " delay = excluded.delay,"
                           " blocked_until = excluded.blocked_until,"
                           " completed_most = excluded.completed_most,"
                           " served = excluded.served,"
                           " completed = excluded.completed");

    sqlite3_bind_int64(q, 1, queue);
    sqlite3_bind_int64(q, 2, (int64_t)row->removed_upto);
    sqlite3_bind_int(q, 3, row->gone);
    sqlite3_bind_int64(q, 4, row->delay_ms);
    sqlite3_bind_int64(q, 5, row->blocked_until_ms);
    sqlite3_bind_int64(q, 6, row->completed_most);
    sqlite3_bind_int64(q, 7, row->served_ms);
    sqlite3_bind_int64(q, 8, (int64_t)row->completed);
    return db_run(l->d, q);
}

enum status served_log_add_removed(struct served_log *l, uint32_t queue,
                                   uint64_t n)
{
    sqlite3_stmt *q =
        db_statement(l->d, "UPDATE item_queue"
                           " SET removed_count = removed_count + ?"
                           " WHERE queue = ?");

    sqlite3_bind_int64(q, 1, (int64_t)n);
    sqlite3_bind_int64(q, 2, queue);
    return db_run(l->d, q);
}

/* ---- reading ---- */

enum status served_log_removed(struct served_log *l, uint32_t queue,
                               uint64_t *n)
{
    sqlite3_stmt *q = db_statement(l->d, "SELECT removed_count FROM item_queue"
                                         " WHERE queue = ?");
    enum status st;

    sqlite3_bind_int64(q, 1, queue);
    st = db_step(l->d, q);
    *n = 0;
    if (st == STATUS_OK) {
        struct db_row r = db_row(q);

        *n = db_row_count(&r, 0, DB_TOTAL_MOST);
        st = db_row_check(&r, "item_queue");
    }
    sqlite3_reset(q);
    return st == STATUS_NOT_FOUND ? STATUS_OK : st;
}

static enum status take_update(sqlite3_stmt *row, struct served_update_row *u)
{
    struct db_row r = db_row(row);

    *u = (struct served_update_row){.seq = db_row_count(&r, 0, SERVED_SEQ_MOST),
                                    .url = db_row_count(&r, 1, DB_ID_MOST),
                                    .due_ms = db_row_time(&r, 2),
                                    .since =
                                        db_row_count(&r, 3, SERVED_SEQ_MOST)};
    if (u->since == 0)
        u->since = u->seq;
    return db_row_check(&r, "item_update");
}

static enum status take_lease(sqlite3_stmt *row, struct served_lease_row *e)
{
    struct db_row r = db_row(row);

    *e = (struct served_lease_row){db_row_count(&r, 0, SERVED_SEQ_MOST),
                                   db_row_count(&r, 1, DB_ID_MOST),
                                   db_row_time(&r, 2), db_row_time(&r, 3)};
    return db_row_check(&r, "item_lease");
}

enum status served_log_metadata(struct served_log *l, uint64_t seq,
                                struct buf *out)
{
    sqlite3_stmt *q = db_statement(l->d, "SELECT metadata FROM item_update"
                                         " WHERE seq = ?");
    enum status st;

    sqlite3_bind_int64(q, 1, (int64_t)seq);
    st = db_step(l->d, q);
    if (st == STATUS_OK) {
        buf_add_bytes(out, db_column(q, 0));
        st = buf_failed(out);
    } else if (st == STATUS_NOT_FOUND) {
        st = db_damaged("item_update", (int64_t)seq, "is missing");
    }
    sqlite3_reset(q);
    return st;
}

enum status served_log_each_url(struct served_log *l,
                                void (*visit)(void *ctx, uint64_t id,
                                              uint32_t origin, int64_t at_ms),
                                void *ctx)
{
    sqlite3_stmt *q = NULL;
    enum status st = db_prepare(l->d, &q,
                                "SELECT id, origin, at FROM url"
                                " WHERE kind = ? ORDER BY id");

    if (st == STATUS_OK)
        sqlite3_bind_int(q, 1, URL_KIND_SERVED);
    while (st == STATUS_OK && (st = db_step(l->d, q)) == STATUS_OK) {
        struct db_row r = db_row(q);
        uint64_t id = db_row_count(&r, 0, DB_ID_MOST);
        uint32_t origin = (uint32_t)db_row_count(&r, 1, UINT32_MAX);
        int64_t at_ms = db_row_time(&r, 2);

        st = db_row_check(&r, "url");
        if (st == STATUS_OK)
            visit(ctx, id, origin, at_ms);
    }
    sqlite3_finalize(q);
    return st == STATUS_NOT_FOUND ? STATUS_OK : st;
}

enum status served_log_each_update(
    struct served_log *l,
    void (*visit)(void *ctx, const struct served_update_row *u), void *ctx)
{
    sqlite3_stmt *q = NULL;
    enum status st = db_prepare(l->d, &q,
                                "SELECT seq, url, due, since"
                                " FROM item_update ORDER BY seq");

    l->counts.updates = 0;
    while (st == STATUS_OK && (st = db_step(l->d, q)) == STATUS_OK) {
        struct served_update_row u;

        l->counts.updates++;
        st = take_update(q, &u);
        if (st == STATUS_OK)
            visit(ctx, &u);
    }
    sqlite3_finalize(q);
    return st == STATUS_NOT_FOUND ? STATUS_OK : st;
}

enum status served_log_each_lease(
    struct served_log *l,
    void (*visit)(void *ctx, const struct served_lease_row *e), void *ctx)
{
    sqlite3_stmt *q = NULL;
    enum status st = db_prepare(l->d, &q,
                                "SELECT seq, url, at, until"
                                " FROM item_lease ORDER BY seq");

    l->counts.leases = 0;
    while (st == STATUS_OK && (st = db_step(l->d, q)) == STATUS_OK) {
        struct served_lease_row e;

        l->counts.leases++;
        st = take_lease(q, &e);
        if (st == STATUS_OK)
            visit(ctx, &e);
    }
    sqlite3_finalize(q);
    return st == STATUS_NOT_FOUND ? STATUS_OK : st;
}

/* `last`: the last id in the store. A removed_upto beyond it would remove URLs
 * that are put later. */
static enum status take_queue(sqlite3_stmt *q, uint64_t last, uint32_t *queue,
                              struct served_queue_row *row)
{
    struct db_row r = db_row(q);

    *queue = (uint32_t)db_row_number(&r, 0, 1, UINT32_MAX);
    *row = (struct served_queue_row){
        .removed_upto = db_row_count(&r, 1, last),
        .gone = db_row_flag(&r, 2),
        .delay_ms = db_row_number(&r, 3, -1, DB_TIME_MOST),
        .blocked_until_ms = db_row_time(&r, 4),
        .completed_most = (uint32_t)db_row_count(&r, 5, UINT32_MAX),
        .served_ms = db_row_time(&r, 6),
        .completed = db_row_count(&r, 7, DB_TOTAL_MOST),
    };
    return db_row_check(&r, "item_queue");
}

enum status served_log_each_queue(
    struct served_log *l,
    void (*visit)(void *ctx, uint32_t queue,
                  const struct served_queue_row *row),
    void *ctx)
{
    sqlite3_stmt *q = NULL;
    int64_t last = 0;
    enum status st =
        db_number(l->d, "SELECT ifnull(max(id), 0) FROM url", &last);

    if (st == STATUS_OK)
        st = db_prepare(l->d, &q, "SELECT * FROM item_queue ORDER BY queue");
    while (st == STATUS_OK && (st = db_step(l->d, q)) == STATUS_OK) {
        struct served_queue_row row;
        uint32_t queue;

        st = take_queue(q, (uint64_t)last, &queue, &row);
        if (st == STATUS_OK)
            visit(ctx, queue, &row);
    }
    sqlite3_finalize(q);
    return st == STATUS_NOT_FOUND ? STATUS_OK : st;
}

struct served_log_counts served_log_counts(const struct served_log *l)
{
    return l->counts;
}

/* ---- sweeping ---- */

static enum status drop(struct served_log *l, const char *sql, uint64_t upto)
{
    sqlite3_stmt *q = db_statement(l->d, sql);

    sqlite3_bind_int64(q, 1, (int64_t)upto);
    return db_run(l->d, q);
}

/* Binds `statement` to step through the `most` oldest of `rows` rows; it never
 * reaches those that are appended meanwhile. */
static void begin_oldest(sqlite3_stmt *statement, uint64_t most, uint64_t rows)
{
    sqlite3_bind_int64(statement, 1, (int64_t)(most < rows ? most : rows));
}

/* Appends the current row again, with its metadata copied to l->metadata: the
 * original would be invalid after the first change to its page. */
static enum status move_update(struct served_log *l, sqlite3_stmt *q,
                               struct served_update_row *u)
{
    enum status st;

    buf_clear(&l->metadata);
    buf_add_bytes(&l->metadata, db_column(q, 4));
    u->metadata = buf_bytes(&l->metadata);
    st = buf_failed(&l->metadata);
    if (st == STATUS_OK)
        st = next_seq(l, &u->seq);
    return st == STATUS_OK ? add_update(l, u) : st;
}

enum status served_log_sweep_updates(struct served_log *l, uint64_t most,
                                     const struct served_log_keep *keep)
{
    sqlite3_stmt *next =
        db_statement(l->d, "SELECT seq, url, due, since, metadata"
                           " FROM item_update ORDER BY seq LIMIT ?");
    uint64_t upto = 0, looked = 0;
    struct served_update_row u;
    enum status st;

    begin_oldest(next, most, l->counts.updates);
    while ((st = db_step(l->d, next)) == STATUS_OK) {
        st = take_update(next, &u);
        if (st != STATUS_OK)
            break;
        looked++;
        upto = u.seq;
        if (!keep->update(keep->ctx, &u))
            continue;
        st = move_update(l, next, &u);
        if (st != STATUS_OK)
            break;
        keep->update_moved(keep->ctx, u.url, u.seq);
    }
    sqlite3_reset(next);
    fault_point("item-sweep");
    l->counts.new_updates = 0;
    if (st != STATUS_NOT_FOUND)
        return st;
    l->counts.updates -= looked;
    return looked > 0 ? drop(l, "DELETE FROM item_update WHERE seq <= ?", upto)
                      : STATUS_OK;
}

enum status served_log_sweep_leases(struct served_log *l, uint64_t most,
                                    const struct served_log_keep *keep)
{
    sqlite3_stmt *next =
        db_statement(l->d, "SELECT seq, url, at, until FROM item_lease"
                           " ORDER BY seq LIMIT ?");
    uint64_t upto = 0, looked = 0;
    struct served_lease_row e;
    enum status st;

    begin_oldest(next, most, l->counts.leases);
    while ((st = db_step(l->d, next)) == STATUS_OK) {
        st = take_lease(next, &e);
        if (st != STATUS_OK)
            break;
        looked++;
        upto = e.seq;
        if (!keep->lease(keep->ctx, &e))
            continue;
        st = next_seq(l, &e.seq);
        if (st == STATUS_OK)
            st = add_lease(l, &e);
        if (st != STATUS_OK)
            break;
        keep->lease_moved(keep->ctx, e.url, e.seq);
    }
    sqlite3_reset(next);
    l->counts.new_leases = 0;
    if (st != STATUS_NOT_FOUND)
        return st;
    l->counts.leases -= looked;
    return looked > 0 ? drop(l, "DELETE FROM item_lease WHERE seq <= ?", upto)
                      : STATUS_OK;
}

/*
 * Checks that the logs of put URLs agree with the url
 * rows.
 *
 * No counters are stored, so it compares none.
 */

#define OTHER_URLS(log, than)                                                  \
    "SELECT l.seq FROM " log " l LEFT JOIN url u ON u.id = l.url"              \
    " WHERE u." than " LIMIT 1"

_Static_assert(URL_KIND_SERVED == 28, "as it stands in the queries");

/* Fails if `sql`, which selects rows that cannot be right, finds one. */
static enum status expect_none(struct db *d, const char *sql, const char *table,
                               const char *why)
{
    int64_t row = 0;
    enum status st = db_number(d, sql, &row);

    if (st == STATUS_NOT_FOUND)
        return STATUS_OK;
    return st == STATUS_OK ? db_damaged(table, row, why) : st;
}

enum status served_log_verify(struct db *d, uint64_t *urls)
{
    static const struct {
        const char *sql, *table, *why;
    } checks[] = {
        {OTHER_URLS("item_update", "kind IS NOT 28"), "item_update",
         "of a URL that was not put"},
        {OTHER_URLS("item_lease", "id IS NULL"), "item_lease", "of no URL"},
        {"SELECT seq FROM item_update WHERE since >= seq OR due < 0 LIMIT 1",
         "item_update", "since or due cannot be"},
        {"SELECT seq FROM item_lease WHERE until < at LIMIT 1", "item_lease",
         "ends before it begins"},
        {"SELECT l.seq FROM item_lease l JOIN item_update u USING (seq)"
         " LIMIT 1",
         "item_lease", "seq stands in both logs"},
        {"SELECT i.queue FROM item_queue i LEFT JOIN queue q ON q.id = i.queue"
         " WHERE q.id IS NULL OR i.removed > (SELECT max(id) FROM url)"
         " LIMIT 1",
         "item_queue", "of no queue, or ahead of the URLs"},
        {"SELECT queue FROM item_queue WHERE removed < 0 OR delay < -1"
         " OR blocked_until < 0 OR completed_most < 0 OR served < 0"
         " OR completed < 0 OR removed_count < 0"
         " OR gone NOT IN (0, 1) LIMIT 1",
         "item_queue", "a setting cannot be"},
        /* in a crawl with its own fetchers, the id of any URL */
        {"SELECT i.queue FROM item_queue i LEFT JOIN url u ON u.id = i.removed"
         " LEFT JOIN origin o ON o.id = u.origin WHERE i.removed > 0"
         " AND (SELECT kind FROM url LIMIT 1) = 28"
         " AND (u.kind IS NOT 28 OR o.queue IS NOT i.queue) LIMIT 1",
         "item_queue", "removed up to a URL that is not its own"},
    };
    int64_t n = 0;
    enum status st =
        db_number(d, "SELECT count(*) FROM url WHERE kind = 28", &n);

    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        if (st == STATUS_OK)
            st = expect_none(d, checks[i].sql, checks[i].table, checks[i].why);
    }
    *urls = (uint64_t)n;
    return st;
}
