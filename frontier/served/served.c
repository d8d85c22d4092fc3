/* SPDX-License-Identifier: MIT */
/*
 * served.c - served URLs: their store, from the start to the end.
 *
 * It reads in this order: removals (rows of queues), then every other URL (in
 * order of arrival, so each chain is in order), the latest lease of each, and
 * the updates, which may have ended it. Counters, heaps and round robins are
 * computed from that. One read transaction spares SQLite locking the file for
 * each row.
 *
 * A store is made in several steps (database, first manifest), and a kill
 * between them leaves something that looks damaged. So the last step sets a
 * mark, the same that tells whether a crawl's seeds are stored, and nothing is
 * acknowledged before that; a store with no mark and an empty manifest is made
 * anew.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/logger.h"
#include "base/mem.h"
#include "frontier/reader.h"
#include "frontier/served/served_impl.h"

#define SWEEP_FROM 4096

/* Half of the URLs that crawlers put exist already, anywhere in the set, so the
 * cost of a put depends on how many of the set's pages are in memory: 2.6 us of
 * CPU with all of them, 4 us with a third. (A crawl's duplicates are links of
 * its own pages: the hot cache knows most.) With 256 MiB it is enough for 4.6
 * million URLs; unused memory is not touched. */
#define EXACT_SHARE 24
/* Queues are served side by side, each in order of arrival, so the rows leased
 * between two rows of one page cover a stretch of `url`: with 2.5 million URLs
 * on 10,000 hosts some 30 MB. With 16 MiB every sixth leased URL read a page
 * again. */
#define DB_SHARE 8
/* Enough for links that many pages of a site repeat; more did not make puts
 * cheaper, for the reason above. */
#define HOT_SHARE 1

static void take_queue(void *ctx, uint32_t number,
                       const struct served_queue_row *row)
{
    struct served *t = ctx;
    struct served_queue *q;

    if (number == 0 || number > frontier_store_queue_count(t->base->store))
        return; /* verify reports it */
    q = served_queue(t, number);
    q->removed_upto = row->removed_upto;
    q->gone = row->gone;
    q->delay_ms = row->delay_ms;
    q->blocked_until_ms = row->blocked_until_ms;
    q->limit = row->completed_most;
    q->served_ms = row->served_ms;
}

static void take_url(void *ctx, uint64_t id, uint32_t origin, int64_t at_ms)
{
    struct served *t = ctx;
    uint32_t number = frontier_store_origin_queue(t->base->store, origin);
    struct served_queue *q;
    struct served_url *i;

    if (number == 0 || number > frontier_store_queue_count(t->base->store) ||
        id > SERVED_ID_MOST || id > frontier_store_last_id(t->base->store))
        return; /* verify reports it */
    if (at_ms > t->last_at_ms)
        t->last_at_ms = at_ms;
    q = served_queue(t, number);
    if (id <= q->removed_upto) {
        t->removed = true;
        if (!t->reading)
            return;
    }
    i = served_make_room(t, (uint32_t)id);
    *i = (struct served_url){.due_ms = at_ms,
                             .queue = number,
                             .life = LIFE_QUEUED,
                             .flags = SERVED_LANE};
    if (id <= q->removed_upto)
        return;
    if (!t->reading) /* else verify asks what the row says */
        q->gone = false;
    served_append(t, q, (uint32_t)id);
}

/* ---- leases ---- */

static void take_lease(void *ctx, const struct served_lease_row *e)
{
    struct served *t = ctx;
    uint32_t id = (uint32_t)e->url;
    struct served_queue *q;
    struct served_lease *h;
    int64_t until; /* at most its length: the clock may have been set back */

    if (!served_url_exists(t, e->url))
        return;
    q = t->queues[served_url_at(t, id)->queue];
    if (e->at_ms > q->served_ms)
        q->served_ms = e->at_ms;
    h = served_lease_of(t, id);
    if (h != NULL) /* a later lease replaces it */
        served_lease_end(t, h, LIFE_GIVE_BACK);
    until = clock_earlier(e->until_ms, t->now + (e->until_ms - e->at_ms));
    if (until <= t->now)
        return;
    h = served_lease_begin(t, id, e->at_ms, until, e->seq);
    h->length_ms = e->until_ms - e->at_ms;
}

/* ---- updates ---- */

/* Updates are not in order of URLs; only the URL is touched here, so that an
 * update costs one cache line. The lease of a leased URL is newer than its
 * updates, or they end it. */
static void take_update(void *ctx, const struct served_update_row *u)
{
    struct served *t = ctx;
    uint32_t id = (uint32_t)u->url;
    struct served_url *i;

    if (u->url / SERVED_CHUNK >= t->chunk_count ||
        served_url_at(t, id)->queue == 0)
        return;
    i = served_url_at(t, id);
    served_url_set_seq(i, u->seq);
    if ((i->flags & SERVED_LEASED) != 0 &&
        served_lease_of(t, id)->seq < u->since)
        served_lease_end(t, served_lease_of(t, id), LIFE_GIVE_BACK);
    if ((i->life == LIFE_QUEUED || i->life == LIFE_LEASED) &&
        u->due_ms == i->due_ms)
        return; /* only metadata; the URL is as it was put */
    i->due_ms = u->due_ms;
    i->flags &= SERVED_LEASED;
    i->life =
        (uint8_t)url_life_after(i->life, u->due_ms == 0 ? LIFE_END : LIFE_DATE);
    if (i->flags != 0 && i->life == LIFE_DUE)
        i->life = (uint8_t)url_life_after(i->life, LIFE_LEASE);
}

/* ---- counters, heaps, round robins ---- */

static int by_last_served(const void *a, const void *b)
{
    const struct served_queue *x = *(struct served_queue *const *)a;
    const struct served_queue *y = *(struct served_queue *const *)b;

    if (x->served_ms != y->served_ms)
        return x->served_ms < y->served_ms ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

static void add_counts(struct url_counts *c, const struct served_queue *q)
{
    c->active += q->active;
    c->completed += q->completed;
    c->active_queues += q->active > 0;
}

static void take_item(struct served *t, const struct served_url *i, uint32_t id)
{
    struct served_queue *q = t->queues[i->queue];

    if (i->life == LIFE_DONE && (i->flags & SERVED_LEASED) != 0)
        served_lease_end(t, served_lease_of(t, id), LIFE_END);
    if (i->life == LIFE_DONE)
        q->completed++;
    else
        q->active++;
    if (served_url_seq(i) != 0) {
        q->logged++;
        t->logged++;
    }
    if (i->flags == 0 && i->life != LIFE_DONE)
        served_wait(t, q, id);
}

static void take_items(struct served *t)
{
    for (uint32_t c = 0; c < t->chunk_count; c++) {
        for (uint32_t k = 0; k < SERVED_CHUNK; k++) {
            const struct served_url *i = &t->chunks[c]->urls[k];

            if (served_url_exists(t, (uint64_t)c * SERVED_CHUNK + k))
                take_item(t, i, c * SERVED_CHUNK + k);
        }
    }
}

static void set_turns(struct served *t)
{
    struct served_queue **order =
        xcalloc(t->queue_room + 1, sizeof(struct served_queue *));
    size_t n = 0;

    for (uint32_t i = 0; i < t->queue_room; i++) {
        struct served_queue *q = t->queues[i];

        if (q != NULL && (q->head != 0 || !q->gone))
            order[n++] = q;
    }
    for (size_t i = 0; i < n; i++) {
        served_queue_appear(t, order[i]);
        add_counts(&served_crawl_of(t, order[i])->counts, order[i]);
        add_counts(&t->counts, order[i]);
    }
    qsort(order, n, sizeof(struct served_queue *), by_last_served);
    for (size_t i = 0; i < n; i++) {
        t->turn++;
        order[i]->turn = t->turn;
    }
    free(order);
}

static enum status read_settings(struct served *t)
{
    int64_t active = 1;
    enum status st = frontier_store_meta_time(t->base->store, "item_delay_ms",
                                              &t->default_delay_ms);

    if (st == STATUS_OK)
        st = frontier_store_meta_time(t->base->store, "items_active", &active);
    t->active = active != 0;
    return st;
}

static enum status read_store(struct served *t)
{
    enum status st = served_log_open(&t->log, t->base->db);

    if (st == STATUS_OK)
        st = read_settings(t);
    if (st == STATUS_OK)
        st = served_log_each_queue(t->log, take_queue, t);
    if (st == STATUS_OK)
        st = served_log_each_url(t->log, take_url, t);
    if (st == STATUS_OK)
        st = served_log_each_lease(t->log, take_lease, t);
    if (st == STATUS_OK)
        st = served_log_each_update(t->log, take_update, t);
    if (st != STATUS_OK)
        return st;
    take_items(t);
    set_turns(t);
    if (!t->reading)
        served_place_all(t);
    return STATUS_OK;
}

static enum status read_all(struct served *t)
{
    enum status st = db_begin(t->base->db);

    if (st != STATUS_OK)
        return st;
    st = read_store(t);
    db_rollback(t->base->db);
    db_forget_pages(t->base->db);
    return st;
}

static struct served *alloc(int64_t now)
{
    struct served *t = xcalloc(1, sizeof *t);

    t->now = now;
    t->default_delay_ms = DEFAULT_DELAY_MS;
    t->crawl_of = map_new();
    t->leases = served_leases_new();
    heap_init(&t->waiting);
    heap_init(&t->until);
    buf_init(&t->metadata, SERVED_BYTES_MOST);
    buf_init(&t->text, SERVED_BYTES_MOST);
    return t;
}

enum status served_read_store(struct served **out, struct seen_store *base,
                              int64_t now)
{
    struct served *t = alloc(now);
    enum status st;

    t->reading = true;
    t->base = base;
    st = read_store(t);
    if (st == STATUS_OK)
        *out = t;
    else
        served_close(t);
    return st;
}

/* ---- the store, opened or made ---- */

/* The database last: by it the directory is known as ours, and a power cut may
 * keep a part of this. */
static void remove_unbegun(const char *dir)
{
    static const char *const names[] = {"manifest",        "manifest.tmp",
                                        "frontier.db-wal", "frontier.db-shm",
                                        "filter.ckpt",     "filter.ckpt.tmp",
                                        "frontier.db"};

    if (!reader_is_unbegun(dir))
        return;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[4096];

        snprintf(path, sizeof path, "%s/%s", dir, names[i]);
        (void)unlink(path);
    }
}

/* Writes the mark into the database file itself, so that it cannot be lost with
 * the log. */
static enum status mark_begun(struct served *t)
{
    enum status st = served_touch(t);

    if (st == STATUS_OK)
        st = frontier_store_set_meta(t->base->store, "seeds_complete",
                                     bytes_of_str("1"));
    if (st == STATUS_OK)
        st = served_commit(t);
    return st == STATUS_OK ? served_checkpoint(t, true, t->now) : st;
}

enum status served_open(struct served **out, const char *dir,
                        const struct served_options *o, int64_t now)
{
    const struct seen_store_options so = {.use_filter = true,
                                          .fpr = o->fpr,
                                          .memory = o->memory,
                                          .exact_share = EXACT_SHARE,
                                          .db_share = DB_SHARE,
                                          .hot_share = HOT_SHARE,
                                          .follower = o->follower};
    struct served *t = alloc(now);
    int64_t mark = 0;
    enum status st;

    t->is_shard = o->follower != NULL;
    t->shard = o->shard;
    t->sweep_from = o->sweep_from > 0 ? o->sweep_from : SWEEP_FROM;
    if (o->follower == NULL) /* else it was restored, maybe without the mark */
        remove_unbegun(dir);
    st = seen_store_open(&t->base, dir, &so);
    if (st == STATUS_NOT_FOUND)
        st = seen_store_create(&t->base, dir, &so, now);
    if (st == STATUS_OK)
        st = read_all(t);
    if (st == STATUS_OK)
        st = frontier_store_meta_time(t->base->store, "seeds_complete", &mark);
    if (st == STATUS_OK && mark == 0)
        st = mark_begun(t);
    if (st != STATUS_OK) {
        served_close(t);
        return st;
    }
    *out = t;
    return STATUS_OK;
}

static void free_crawl(struct served_crawl *c)
{
    round_robin_fini(&c->robin);
    free(c->queues);
    free(c);
}

void served_close(struct served *t)
{
    if (t == NULL)
        return;
    for (uint32_t i = 0; i < t->queue_room; i++) {
        if (t->queues[i] != NULL) {
            due_heap_fini(&t->queues[i]->back);
            due_heap_fini(&t->queues[i]->due);
        }
        free(t->queues[i]);
    }
    for (uint32_t i = 0; i < t->crawl_count; i++)
        free_crawl(t->crawls[i]);
    for (uint32_t i = 0; i < t->chunk_count; i++)
        free(t->chunks[i]);
    served_leases_free(t->leases);
    map_free(t->crawl_of, NULL);
    round_robin_fini(&t->robin);
    heap_fini(&t->waiting);
    heap_fini(&t->until);
    served_log_close(t->log);
    free(t->chunks);
    free(t->queues);
    free(t->crawls);
    free(t->dirty);
    free(t->digests);
    free(t->fresh);
    free(t->asked);
    free(t->answers);
    free(t->heard);
    free(t->ids);
    free(t->found);
    free(t->open);
    buf_fini(&t->metadata);
    buf_fini(&t->text);
    if (!t->reading)
        seen_store_close(t->base);
    free(t);
}

/*
 * Commit, upkeep and checkpoints.
 *
 * A log is swept when more than half of its rows no longer count, a few rows
 * for each one appended, so that no commit takes much longer than another and a
 * log has at most twice the rows that count.
 */
#define SWEEP_MOST 4096

static enum status write_queues(struct served *t)
{
    enum status st = STATUS_OK;

    for (uint32_t i = 0; i < t->dirty_count && st == STATUS_OK; i++) {
        struct served_queue *q = t->queues[t->dirty[i]];
        struct served_queue_row row = {
            .removed_upto = q->removed_upto,
            .gone = q->gone,
            .delay_ms = q->delay_ms,
            .blocked_until_ms = q->blocked_until_ms,
            .completed_most = q->limit,
            .served_ms = q->served_ms,
        };

        q->dirty = false;
        st = served_log_set_queue(t->log, q->number, &row);
    }
    t->dirty_count = 0;
    return st;
}

/* ---- rows that still count ---- */

static bool update_counts(void *ctx, const struct served_update_row *u)
{
    struct served *t = ctx;

    return served_url_exists(t, u->url) &&
           served_url_seq(served_url_at(t, (uint32_t)u->url)) == u->seq;
}

static void update_moved(void *ctx, uint64_t url, uint64_t seq)
{
    served_url_set_seq(served_url_at(ctx, (uint32_t)url), seq);
}

/* An ended lease may be the only record of when its queue was served. */
static bool lease_counts(void *ctx, const struct served_lease_row *e)
{
    struct served *t = ctx;
    const struct served_lease *h;
    struct served_queue *q;

    if (!served_url_exists(t, e->url))
        return false;
    h = served_lease_of(t, (uint32_t)e->url);
    if (h != NULL && h->seq == e->seq)
        return true;
    q = t->queues[served_url_at(t, (uint32_t)e->url)->queue];
    if (q->served_ms == e->at_ms)
        served_queue_dirty(t, q);
    return false;
}

static void lease_moved(void *ctx, uint64_t url, uint64_t seq)
{
    served_lease_of(ctx, (uint32_t)url)->seq = seq;
}

static uint64_t sweep_rows(uint64_t appended)
{
    uint64_t rows = 2 * appended + 64;

    return rows < SWEEP_MOST ? rows : SWEEP_MOST;
}

static enum status sweep(struct served *t)
{
    const struct served_log_keep keep = {update_counts, update_moved,
                                         lease_counts, lease_moved, t};
    struct served_log_counts c = served_log_counts(t->log);
    enum status st = STATUS_OK;

    if (c.updates > 2 * t->logged + t->sweep_from)
        st = served_log_sweep_updates(t->log, sweep_rows(c.new_updates), &keep);
    if (st == STATUS_OK &&
        c.leases > 2 * served_leases_count(t->leases) + t->sweep_from)
        st = served_log_sweep_leases(t->log, sweep_rows(c.new_leases), &keep);
    return st;
}

static enum status write_changes(struct served *t)
{
    enum status st = served_touch(t);

    if (st == STATUS_OK)
        st = sweep(t);
    if (st == STATUS_OK)
        st = write_queues(t);
    return st;
}

enum status served_commit(struct served *t)
{
    enum status st;

    if (!t->changed)
        return STATUS_OK;
    seen_store_poll(t->base);
    st = write_changes(t);
    if (st == STATUS_OK)
        st = seen_store_commit(t->base);
    if (st != STATUS_OK)
        return seen_store_broke(t->base, st);
    t->changed = false;
    return STATUS_OK;
}

static enum status checkpoint(struct served *t,
                              const struct seen_store_checkpoint *c,
                              int64_t now)
{
    enum status st = served_commit(t);

    if (st == STATUS_OK)
        st = seen_store_prepare(t->base, c);
    if (st == STATUS_OK)
        st = seen_store_commit(t->base);
    return st == STATUS_OK ? seen_store_save(t->base, c, now) : st;
}

enum status served_checkpoint(struct served *t, bool wait, int64_t now)
{
    const struct seen_store_checkpoint c = {.state = "running", .wait = wait};

    return checkpoint(t, &c, now);
}

enum status served_stop(struct served *t, int64_t now)
{
    const struct seen_store_checkpoint c = {"stopped", true, true};

    return checkpoint(t, &c, now);
}

bool served_dirty(const struct served *t)
{
    return t->changed;
}

uint64_t served_memory(const struct served *t)
{
    uint64_t bytes = seen_store_memory(t->base).all + sizeof *t +
                     (uint64_t)t->chunk_count * sizeof(struct served_chunk) +
                     served_leases_memory(t->leases) + t->room * 64;

    for (uint32_t i = 0; i < t->queue_room; i++) {
        const struct served_queue *q = t->queues[i];

        if (q != NULL)
            bytes += sizeof *q + ((uint64_t)q->back.cap + q->due.cap) *
                                     sizeof *q->due.entries;
    }
    return bytes;
}

uint64_t served_rows(const struct served *t)
{
    return frontier_store_last_id(t->base->store);
}

void served_get_stats(struct served *t, struct frontier_stats *out)
{
    frontier_stats_of_seen(t->base, out);
}

/*
 * How many served URLs have a date, and are past it.
 *
 * A counter of overdue URLs would need each date in some order of time, over
 * all queues, and a queue's removal, one number now, would have to take out
 * each of its URLs. So passes over the URLs in memory count, some at a time, in
 * the order they lie there: 24 octets a URL.
 */
static void count(const struct served *t, uint32_t id, struct served_dates *to)
{
    const struct served_url *i = served_url_at(t, id);

    if ((i->life != LIFE_DUE && i->life != LIFE_AGAIN) ||
        !served_url_exists(t, id))
        return;
    to->dated++;
    if (t->now - i->due_ms < SERVED_OVERDUE_MS)
        return;
    if (to->overdue == 0 || i->due_ms < to->oldest_ms)
        to->oldest_ms = i->due_ms;
    to->overdue++;
}

void served_count_dates(struct served *t, uint32_t most, int64_t now)
{
    uint64_t end = (uint64_t)t->chunk_count * SERVED_CHUNK;
    uint64_t rows = frontier_store_last_id(t->base->store) + 1;

    if (end > rows)
        end = rows;
    served_tick(t, now);
    for (; most > 0 && t->dates_at < end; most--)
        count(t, t->dates_at++, &t->dates_so_far);
    if (t->dates_at < end)
        return;
    t->dates = t->dates_so_far;
    t->dates_so_far = (struct served_dates){0};
    t->dates_at = 0;
}

struct served_dates served_dates(const struct served *t)
{
    return t->dates;
}

bool served_dates_go_on(const struct served *t)
{
    return t->dates_at > 0 || t->dates.dated > 0;
}
