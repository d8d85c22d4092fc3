/* SPDX-License-Identifier: MIT */
/*
 * frontier_store_facts.c - the frontier's data besides URLs: the state of
 * queues, small facts, counters, drops, the filter's steps.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/logger.h"
#include "storage/db/db_row.h"
#include "storage/frontier_store_impl.h"

/* ---- the state of queues ---- */

enum status frontier_store_set_queue_state(struct frontier_store *s,
                                           uint32_t queue,
                                           const struct queue_state *state)
{
    sqlite3_stmt *q;

    if (queue == 0 || queue > queue_names_count(s->names))
        return STATUS_ARG;
    q = db_statement(s->d, "INSERT OR REPLACE INTO queue_state"
                           " VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)");
    sqlite3_bind_int64(q, 1, queue);
    sqlite3_bind_int64(q, 2, state->blocked_until_ms);
    sqlite3_bind_int64(q, 3, state->delay_ms);
    sqlite3_bind_int64(q, 4, state->backoffs);
    sqlite3_bind_int64(q, 5, state->failures);
    sqlite3_bind_int64(q, 6, (int64_t)state->fetched);
    sqlite3_bind_text(q, 7, state->reason, -1, SQLITE_STATIC);
    sqlite3_bind_int64(q, 8, (int64_t)state->octets);
    if (state->linked)
        db_bind_blob(q, 9, bytes_of(state->sources, sizeof state->sources));
    return db_run(s->d, q);
}

static enum status take_state(sqlite3_stmt *q, struct queue_state *state)
{
    struct bytes reason = db_column(q, 6), sources = db_column(q, 8);
    struct db_row r = db_row(q);

    *state = (struct queue_state){
        .blocked_until_ms = db_row_time(&r, 1),
        .delay_ms = db_row_number(&r, 2, -1, DB_TIME_MOST),
        .backoffs = (uint32_t)db_row_count(&r, 3, INT32_MAX),
        .failures = (uint32_t)db_row_count(&r, 4, INT32_MAX),
        .fetched = db_row_count(&r, 5, DB_TOTAL_MOST),
        .octets = db_row_count(&r, 7, DB_TOTAL_MOST),
    };
    snprintf(state->reason, sizeof state->reason, "%.*s",
             (int)(reason.len < sizeof state->reason ? reason.len
                                                     : sizeof state->reason),
             reason.at != NULL ? reason.at : "");
    state->linked = sources.len == sizeof state->sources;
    if (state->linked)
        memcpy(state->sources, sources.at, sources.len);
    return db_row_check(&r, "queue_state");
}

enum status frontier_store_each_queue_state(
    struct frontier_store *s,
    void (*visit)(void *ctx, uint32_t queue, const struct queue_state *state),
    void *ctx)
{
    sqlite3_stmt *q = NULL;
    struct queue_state state;
    enum status st = db_prepare(s->d, &q,
                                "SELECT queue, blocked_until, delay, backoffs,"
                                " failures, fetched, reason, octets, sources"
                                " FROM queue_state"
                                " ORDER BY queue");

    while (st == STATUS_OK && (st = db_step(s->d, q)) == STATUS_OK) {
        int64_t queue = sqlite3_column_int64(q, 0);

        if (queue < 1 || queue > (int64_t)queue_names_count(s->names))
            continue; /* verify reports it */
        st = take_state(q, &state);
        if (st == STATUS_OK)
            visit(ctx, (uint32_t)queue, &state);
    }
    sqlite3_finalize(q);
    return st == STATUS_NOT_FOUND ? STATUS_OK : st;
}

/* ---- addresses of hosts ---- */

/* Called once per host and run, so preparing a statement each time is cheap. */
enum status frontier_store_place(struct frontier_store *s, uint32_t queue,
                                 struct buf *out)
{
    sqlite3_stmt *q = NULL;
    enum status st =
        db_prepare(s->d, &q, "SELECT address FROM place WHERE queue = ?");

    if (st == STATUS_OK) {
        sqlite3_bind_int64(q, 1, queue);
        st = db_step(s->d, q);
    }
    if (st == STATUS_OK)
        buf_add_bytes(out, db_column(q, 0));
    sqlite3_finalize(q);
    return st;
}

enum status frontier_store_each_place(struct frontier_store *s,
                                      void (*visit)(void *ctx, uint32_t queue,
                                                    struct bytes address),
                                      void *ctx)
{
    sqlite3_stmt *q = NULL;
    enum status st = db_prepare(s->d, &q, "SELECT queue, address FROM place");

    while (st == STATUS_OK && (st = db_step(s->d, q)) == STATUS_OK) {
        int64_t queue = sqlite3_column_int64(q, 0);

        if (queue >= 1 && queue <= (int64_t)queue_names_count(s->names))
            visit(ctx, (uint32_t)queue, db_column(q, 1));
    }
    sqlite3_finalize(q);
    return st == STATUS_NOT_FOUND ? STATUS_OK : st;
}

enum status frontier_store_set_place(struct frontier_store *s, uint32_t queue,
                                     struct bytes address)
{
    sqlite3_stmt *q = NULL;
    enum status st =
        db_prepare(s->d, &q, "INSERT OR REPLACE INTO place VALUES(?, ?)");

    if (st == STATUS_OK) {
        sqlite3_bind_int64(q, 1, queue);
        db_bind_text(q, 2, address);
        st = db_run(s->d, q);
    }
    sqlite3_finalize(q);
    return st;
}

/* ---- small facts ---- */

enum status frontier_store_meta(struct frontier_store *s, const char *name,
                                struct buf *out)
{
    sqlite3_stmt *q =
        db_statement(s->d, "SELECT value FROM meta WHERE name = ?");
    enum status st;

    sqlite3_bind_text(q, 1, name, -1, SQLITE_STATIC);
    st = db_step(s->d, q);
    if (st == STATUS_OK) {
        const void *at = sqlite3_column_blob(q, 0);

        buf_add(out, at, (size_t)sqlite3_column_bytes(q, 0));
        st = buf_failed(out);
    }
    sqlite3_reset(q);
    return st;
}

enum status frontier_store_meta_time(struct frontier_store *s, const char *name,
                                     int64_t *ms)
{
    struct buf text;
    int64_t n = 0;
    char *end;
    enum status st;

    buf_init(&text, 64);
    st = frontier_store_meta(s, name, &text);
    if (st == STATUS_OK) {
        errno = 0;
        n = strtoll(buf_str(&text), &end, 10);
        if (errno != 0 || end == buf_str(&text) || *end != '\0' || n < 0 ||
            n > DB_TIME_MOST)
            st = STATUS_LIMIT;
    }
    buf_fini(&text);
    if (st == STATUS_LIMIT) {
        log_error("store is damaged", "table=meta name=%s", name);
        return STATUS_DAMAGED;
    }
    if (st == STATUS_OK)
        *ms = n;
    return st == STATUS_NOT_FOUND ? STATUS_OK : st;
}

enum status frontier_store_set_meta(struct frontier_store *s, const char *name,
                                    struct bytes value)
{
    sqlite3_stmt *q =
        db_statement(s->d, "INSERT OR REPLACE INTO meta VALUES(?, ?)");

    sqlite3_bind_text(q, 1, name, -1, SQLITE_STATIC);
    db_bind_text(q, 2, value);
    return db_run(s->d, q);
}

uint64_t frontier_store_counter(const struct frontier_store *s,
                                const char *name)
{
    return counters_get(s->counters, name);
}

void frontier_store_add(struct frontier_store *s, const char *name, uint64_t by)
{
    counters_add(s->counters, name, by);
}

void frontier_store_each_counter(const struct frontier_store *s,
                                 void (*visit)(void *ctx, const char *name,
                                               uint64_t value),
                                 void *ctx)
{
    counters_each(s->counters, visit, ctx);
}

void frontier_store_drop(struct frontier_store *s, const char *reason,
                         struct bytes host, struct bytes url, uint64_t via,
                         int64_t at_ms)
{
    drops_add(s->drops, reason, host, url, via, at_ms);
}

/* ---- the filter's steps ---- */

enum status frontier_store_add_step(struct frontier_store *s,
                                    const struct filter_step *step)
{
    sqlite3_stmt *q = db_statement(s->d, "INSERT INTO filter_step VALUES"
                                         "(NULL, ?, ?, ?, ?, ?, ?, ?, ?)");

    sqlite3_bind_int64(q, 1, (int64_t)step->upto);
    sqlite3_bind_int64(q, 2, (int64_t)step->keys);
    sqlite3_bind_int64(q, 3, (int64_t)step->bits);
    sqlite3_bind_double(q, 4, step->promised);
    sqlite3_bind_double(q, 5, step->predicted);
    sqlite3_bind_int64(q, 6, (int64_t)step->asked);
    sqlite3_bind_int64(q, 7, (int64_t)step->maybe);
    sqlite3_bind_int64(q, 8, (int64_t)step->false_positives);
    return db_run(s->d, q);
}

enum status frontier_store_each_step(
    struct frontier_store *s,
    void (*visit)(void *ctx, const struct filter_step *step), void *ctx)
{
    sqlite3_stmt *q = NULL;
    enum status st = db_prepare(s->d, &q,
                                "SELECT upto, keys, bits, promised, predicted,"
                                " asked, maybe, false_positives"
                                " FROM filter_step ORDER BY id");

    while (st == STATUS_OK && (st = db_step(s->d, q)) == STATUS_OK) {
        struct db_row r = db_row(q);
        struct filter_step step = {
            .upto = db_row_count(&r, 0, DB_ID_MOST),
            .keys = db_row_count(&r, 1, DB_TOTAL_MOST),
            .bits = db_row_count(&r, 2, DB_TOTAL_MOST),
            .promised = db_row_real(&r, 3, 1),
            .predicted = db_row_real(&r, 4, 1),
            .asked = db_row_count(&r, 5, DB_TOTAL_MOST),
            .maybe = db_row_count(&r, 6, DB_TOTAL_MOST),
            .false_positives = db_row_count(&r, 7, DB_TOTAL_MOST),
        };

        st = db_row_check(&r, "filter_step");
        if (st == STATUS_OK)
            visit(ctx, &step);
    }
    sqlite3_finalize(q);
    return st == STATUS_NOT_FOUND ? STATUS_OK : st;
}

static struct bytes text_at(sqlite3_stmt *q, int column)
{
    const void *at = sqlite3_column_blob(q, column);

    return bytes_of(at != NULL ? at : "",
                    (size_t)sqlite3_column_bytes(q, column));
}

enum status frontier_store_each_drop(struct frontier_store *s, bool examples,
                                     void (*visit)(void *ctx,
                                                   const struct drop_row *row),
                                     void *ctx)
{
    sqlite3_stmt *q = NULL;
    enum status st = db_prepare(
        s->d, &q,
        examples ? "SELECT r.name, e.host, 0, e.url, e.via, e.at"
                   " FROM drop_example e JOIN drop_reason r ON r.id = e.reason"
                   " ORDER BY e.at, e.id"
                 : "SELECT r.name, k.host, k.count, NULL, 0, 0"
                   " FROM drop_count k JOIN drop_reason r ON r.id = k.reason"
                   " ORDER BY k.count DESC, k.id");

    while (st == STATUS_OK && (st = db_step(s->d, q)) == STATUS_OK) {
        struct db_row r = db_row(q);
        struct drop_row row = {
            .reason = text_at(q, 0),
            .host = text_at(q, 1),
            .count = db_row_count(&r, 2, DB_TOTAL_MOST),
            .url = text_at(q, 3),
            .via = db_row_count(&r, 4, DB_ID_MOST),
            .at_ms = db_row_time(&r, 5),
        };

        st = db_row_check(&r, examples ? "drop_example" : "drop_count");
        if (st == STATUS_OK)
            visit(ctx, &row);
    }
    sqlite3_finalize(q);
    return st == STATUS_NOT_FOUND ? STATUS_OK : st;
}
