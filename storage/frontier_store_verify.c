/* SPDX-License-Identifier: MIT */
/*
 * frontier_store_verify.c - checks that URLs, queues and done bits agree.
 *
 * Each URL that is not done must be in one segment or in the tail, under the
 * queue of its row. A table of queues by id would take four octets per URL.
 * Instead, verify mixes each (id, queue) pair to 64 bits, sums them once over
 * the url rows and once over the queues, and compares the two sums. A bit for
 * each id finds ids that occur twice.
 */
#include <stdlib.h>
#include <string.h>

#include "base/logger.h"
#include "base/mem.h"
#include "storage/db/db_row.h"
#include "storage/db/schema.h"
#include "storage/frontier_store_impl.h"

struct check {
    struct frontier_store *s;
    unsigned char *seen; /* a bit for each id: it is in a segment */
    uint64_t url_sum, queue_sum;
    uint64_t *pending; /* [i]: of queue i + 1, counted from the rows */
    uint64_t last_id;  /* of rows read so far */
    uint64_t rated;    /* dates of URLs whose rate of change is known */
    enum status st;
};

static void bad(struct check *c, uint64_t id, const char *why)
{
    if (c->st != STATUS_OK)
        return;
    log_error("store is damaged", "id=%llu reason=\"%s\"",
              (unsigned long long)id, why);
    c->st = STATUS_DAMAGED;
}

/* Spreads a pair over 64 bits (the finalizer of MurmurHash3). */
static uint64_t mixed(uint64_t id, uint32_t queue)
{
    uint64_t h = id * UINT64_C(0x9e3779b97f4a7c15) + queue;

    h = (h ^ h >> 33) * UINT64_C(0xff51afd7ed558ccd);
    h = (h ^ h >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    return h ^ h >> 33;
}

static void see_id(struct check *c, uint32_t queue, uint64_t id)
{
    unsigned char bit = (unsigned char)(1 << (id & 7));

    if (id > c->s->last_id) {
        bad(c, id, "queued, but there is no such url");
        return;
    }
    if ((c->seen[id >> 3] & bit) != 0)
        bad(c, id, "stands twice in the queues");
    c->seen[id >> 3] |= bit;
    if (!done_bits_has(c->s->done, id))
        c->queue_sum += mixed(id, queue);
}

static void see_queued(void *ctx, uint32_t queue, const uint64_t *ids,
                       uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        see_id(ctx, queue, ids[i]);
}

static void see_row(void *ctx, const struct url_row *row)
{
    struct check *c = ctx;

    if (row->id != c->last_id + 1)
        bad(c, row->id, "ids have a gap");
    c->last_id = row->id;
    if (row->kind == URL_KIND_SERVED || done_bits_has(c->s->done, row->id))
        return;
    c->pending[row->queue - 1]++;
    c->url_sum += mixed(row->id, row->queue);
    if (row->id > segments_upto(c->s->segments))
        see_id(c, segments_waiting_queue(c->s->segments, row->id), row->id);
}

static void check_pending(struct check *c)
{
    uint64_t all = 0;

    for (uint32_t q = 1; q <= queue_names_count(c->s->names); q++) {
        if (c->pending[q - 1] != frontier_store_pending(c->s, q)) {
            log_error("store is damaged",
                      "queue=%u reason=\"holds %llu urls, %llu were counted\"",
                      q, (unsigned long long)c->pending[q - 1],
                      (unsigned long long)frontier_store_pending(c->s, q));
            c->st = STATUS_DAMAGED;
            return;
        }
        all += c->pending[q - 1];
    }
    if (all != c->s->pending_all)
        bad(c, 0, "pending urls do not add up");
}

static void see_tries(void *ctx, uint64_t id, uint32_t tries, int64_t due_ms)
{
    struct check *c = ctx;

    (void)tries, (void)due_ms;
    if (id == 0 || id > c->s->last_id || done_bits_has(c->s->done, id))
        bad(c, id, "is to be tried again, but is not queued");
}

static void check_date(struct check *c, sqlite3_stmt *q)
{
    struct db_row r = db_row(q);
    uint64_t id = db_row_count(&r, 0, c->s->last_id);
    uint64_t queue = db_row_count(&r, 1, UINT32_MAX);
    uint32_t origin = (uint32_t)db_row_count(&r, 2, UINT32_MAX);
    bool fetched = db_row_flag(&r, 3);
    bool rated = (db_row_count(&r, 4, INT64_MAX) & UINT32_MAX) != 0;
    unsigned char bit = (unsigned char)(1 << (id & 7));

    if (c->st == STATUS_OK)
        c->st = db_row_check(&r, "refresh");
    if (c->st != STATUS_OK)
        return;
    if (!done_bits_has(c->s->done, id) || !fetched)
        bad(c, id, "has a date, but no outcome before it");
    if (frontier_store_origin_queue(c->s, origin) != queue)
        bad(c, id, "has a date under another queue");
    if ((c->seen[id >> 3] & bit) != 0)
        bad(c, id, "has two dates");
    c->seen[id >> 3] |= bit;
    c->rated += rated;
}

/* The dates at which done URLs are fetched again (rows/side_tables.h). */
static enum status check_dates(struct check *c)
{
    sqlite3_stmt *q = NULL;
    uint64_t n = 0;
    enum status st = db_prepare(
        c->s->d, &q,
        "SELECT r.url, r.queue, u.origin, ifnull(f.final, 0), r.checks"
        " FROM refresh r LEFT JOIN url u ON u.id = r.url LEFT JOIN"
        " fetch f ON f.seq = r.seq AND f.url = r.url");

    memset(c->seen, 0, c->s->last_id / 8 + 1);
    for (; st == STATUS_OK && (st = db_step(c->s->d, q)) == STATUS_OK; n++)
        check_date(c, q);
    sqlite3_finalize(q);
    if (n != frontier_store_counter(c->s, "dated"))
        bad(c, 0, "dates are not as many as were counted");
    if (c->rated != frontier_store_counter(c->s, "refresh_rated"))
        bad(c, 0, "known rates of change are not as many as were counted");
    return st == STATUS_NOT_FOUND ? c->st : st;
}

static enum status check_all(struct check *c)
{
    struct frontier_store *s = c->s;
    enum status st = segments_verify(s->segments, see_queued, c);

    if (st == STATUS_OK)
        st = frontier_store_each(s, 1, DB_ID_MOST, see_row, c);
    if (st == STATUS_OK)
        st = done_bits_verify(s->done, s->last_id);
    if (st == STATUS_OK)
        st = frontier_store_each_tries(s, see_tries, c);
    if (st != STATUS_OK)
        return st;
    if (c->last_id != s->last_id)
        bad(c, s->last_id, "rows are missing at the end");
    if (c->url_sum != c->queue_sum)
        bad(c, 0, "queues do not hold what the url rows say");
    if (c->st == STATUS_OK)
        check_pending(c);
    return c->st == STATUS_OK ? check_dates(c) : c->st;
}

enum status frontier_store_verify(struct frontier_store *s)
{
    struct check c = {.s = s};
    enum status st = STATUS_NOMEM;

    c.seen = try_calloc(s->last_id / 8 + 1, 1);
    c.pending = try_calloc(queue_names_count(s->names), sizeof *c.pending);
    if (c.seen != NULL && c.pending != NULL)
        st = check_all(&c);
    free(c.seen);
    free(c.pending);
    return st;
}
