/* SPDX-License-Identifier: MIT */
/*
 * lent.c - what is out with other programs, from lease to end of hold.
 *
 *            lent_lease                     lent_say: final
 *   queued ─────────────► lent (a lease ──────────────────────► done
 *      ▲                  with a hold)
 *      └──────────────────────┘
 *        lent_say: not final; the hold is over
 *
 * A lent URL is a lease of the engine as any other, so its host is busy and all
 * counts are right by themselves; the hold beside it says until when. The log
 * has a row for each hold and for each change of its end; of the rows of one
 * URL the last one counts, and none where the URL is done.
 *
 * After a restart a lent URL is among those that its queue reads from the
 * store, as everything is that is not done. It is passed over there
 * (lent_is_elsewhere), and goes among those to be tried again only if its queue
 * is past it, so that it stands in one place at most.
 */
#include "frontier/lent.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "frontier/frontier_impl.h"
#include "storage/item_log.h"

#define SWEEP_FROM   4096 /* rows of the log that are not worth a sweep */
#define SWEEP_STEP   256
#define LISTS_MOST   16  /* of one queue that are passed over, a visit */
#define VISIT_DRAINS 256 /* URLs settled without asking, a visit */
#define NUMBER_MASK  ((UINT64_C(1) << LENT_NUMBER_BITS) - 1)

struct lent {
    struct item_log *log;
    struct heap until;     /* of struct lent_hold */
    struct map *by_number; /* of struct lent_hold */
};

struct lent_hold {
    struct heap_item until; /* first; monotonic */
    uint64_t number, id;
    int64_t at_ms;
    uint64_t seq; /* of the row that counts */
};

static struct bytes key_of(const uint64_t *number)
{
    return bytes_of(number, sizeof *number);
}

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* ---- life ---- */

enum status lent_open(struct frontier *f)
{
    struct lent *l;
    enum status st;

    if (f->lent != NULL)
        return STATUS_OK;
    l = xcalloc(1, sizeof *l);
    heap_init(&l->until);
    l->by_number = map_new();
    st = item_log_open(&l->log, f->db);
    if (st != STATUS_OK) {
        lent_free(l);
        return st;
    }
    f->lent = l;
    return STATUS_OK;
}

void lent_free(struct lent *l)
{
    if (l == NULL)
        return;
    heap_fini(&l->until);
    map_free(l->by_number, free);
    item_log_close(l->log);
    free(l);
}

size_t lent_count(const struct lent *l)
{
    return l != NULL ? heap_count(&l->until) : 0;
}

bool lent_is_elsewhere(const struct frontier *f, uint64_t id)
{
    return f->lent != NULL && (frontier_store_is_done(f->store, id) ||
                               lease_find(f->leases, id) != NULL);
}

/* ---- holds ---- */

static uint64_t number_of(const struct frontier *f, uint64_t id, int64_t at_ms)
{
    const uint64_t both[2] = {id, (uint64_t)at_ms};
    uint64_t number =
        digest_bytes(&f->key, bytes_of(both, sizeof both)).lo & NUMBER_MASK;

    return number != 0 ? number : 1;
}

/* `r` is held from now on; no two holds have one number, though the moment be a
 * millisecond off. */
static struct lent_hold *hold_begin(struct frontier *f, struct lease_record *r,
                                    int64_t at_ms, int64_t until)
{
    struct lent *l = f->lent;
    struct lent_hold *h = xcalloc(1, sizeof *h);

    h->id = r->lease.id;
    h->at_ms = at_ms;
    while (h->number = number_of(f, h->id, h->at_ms),
           map_get(l->by_number, key_of(&h->number)) != NULL)
        h->at_ms++;
    (void)map_put(l->by_number, key_of(&h->number), h);
    heap_push(&l->until, &h->until, until);
    r->hold = h;
    return h;
}

void lent_end_hold(struct frontier *f, struct lease_record *r)
{
    struct lent_hold *h = r->hold;

    if (h == NULL)
        return;
    heap_remove(&f->lent->until, &h->until);
    (void)map_remove(f->lent->by_number, key_of(&h->number));
    free(h);
    r->hold = NULL;
}

/* The URL is in its queue again, due at `due`; its host as if its answer had
 * ended just now. */
static void come_back(struct frontier *f, struct lease_record *r, int64_t due,
                      int64_t now)
{
    struct host_queue *h = r->host;
    uint64_t id = r->lease.id;

    lent_end_hold(f, r);
    machine_give_back(h);
    lease_end(f->leases, r);
    if (!host_queue_is_to_come(h, id))
        host_queue_retry(h, id, due);
    h->next_due = later(h->next_due, now + frontier_pause(f, h));
    if (h->machine != NULL)
        h->machine->next_due = later(h->machine->next_due, h->next_due);
    frontier_reschedule(f, h);
}

void lent_tick(struct frontier *f, int64_t now)
{
    struct heap_item *top;

    while ((top = heap_top(&f->lent->until)) != NULL && top->key <= now) {
        const struct lent_hold *h = (struct lent_hold *)(void *)top;

        come_back(f, lease_find(f->leases, h->id), now, now);
    }
}

static struct lent_hold *find(struct frontier *f, uint64_t number, int64_t now)
{
    if (f->lent == NULL)
        return NULL;
    lent_tick(f, now);
    return map_get(f->lent->by_number, key_of(&number));
}

uint64_t lent_find(struct engine *e, uint64_t number, int64_t now)
{
    const struct lent_hold *h = find((struct frontier *)e, number, now);

    return h != NULL ? h->id : 0;
}

static int64_t bounded(int64_t hold)
{
    return hold < LENT_HOLD_MOST ? hold : LENT_HOLD_MOST;
}

enum status lent_extend(struct engine *e, uint64_t number, int64_t hold,
                        int64_t now, int64_t wall_ms)
{
    struct frontier *f = (struct frontier *)e;
    struct lent_hold *h = find(f, number, now);
    enum status st;

    if (h == NULL)
        return STATUS_NOT_FOUND;
    hold = bounded(hold);
    st = frontier_touch(f, now);
    if (st == STATUS_OK)
        st = item_log_lease(f->lent->log, h->id, h->at_ms,
                            later(h->at_ms, wall_ms + hold / NS_PER_MS),
                            &h->seq);
    if (st == STATUS_OK)
        heap_move(&f->lent->until, &h->until, now + hold);
    return st == STATUS_OK ? STATUS_OK : frontier_broke(f, st);
}

/* ---- lending ---- */

struct lending {
    struct frontier *f;
    const struct lent_ask *ask;
    int64_t now, wall_ms;
    struct lent_url *out;
    size_t *n, most;
};

static bool may_go(const struct lending *l, const struct host_queue *h)
{
    const struct machine *m = h->machine;

    if (h->place.place == 0 || h->place.key > l->now)
        return false;
    return m == NULL || (m->leased < l->f->o.conns_per_host &&
                         m->next_due <= l->now && m->blocked_until <= l->now);
}

static enum status lend(struct lending *l, struct lease_record *r)
{
    struct frontier *f = l->f;
    int64_t hold = bounded(l->ask->hold);
    struct lent_hold *h;
    enum status st = lent_open(f);

    if (st == STATUS_OK)
        st = frontier_touch(f, l->now);
    if (st != STATUS_OK)
        return st;
    h = hold_begin(f, r, l->wall_ms, l->now + hold);
    frontier_store_add(f->store, "lent", 1);
    l->out[(*l->n)++] = (struct lent_url){r->lease, h->number};
    return item_log_lease(f->lent->log, h->id, h->at_ms,
                          later(h->at_ms, l->wall_ms + hold / NS_PER_MS),
                          &h->seq);
}

/* A lease that shall not have been. */
static void undo(struct frontier *f, struct lease_record *r,
                 const struct host_queue *before, int64_t machine_due)
{
    struct host_queue *h = r->host;

    machine_give_back(h);
    lease_end(f->leases, r);
    h->run = before->run;
    h->next_due = before->next_due;
    if (h->machine != NULL)
        h->machine->next_due = machine_due;
}

/* *list: the id of a list of URLs that came first; else 0. */
static enum status lend_one(struct lending *l, struct host_queue *h,
                            uint64_t *list)
{
    const struct host_queue before = *h;
    int64_t machine_due = h->machine != NULL ? h->machine->next_due : 0;
    struct lease_record *r = NULL;
    enum status st = frontier_lease_from(l->f, h, l->now, l->wall_ms, &r);

    *list = 0;
    if (st != STATUS_OK || r == NULL)
        return st;
    if ((l->f->o.listings >> r->lease.kind & 1) == 0)
        return lend(l, r);
    *list = r->lease.id;
    undo(l->f, r, &before, machine_due);
    return STATUS_OK;
}

/* All that the queue gives; lists of URLs stand first in it afterwards. */
static enum status visit(struct lending *l, struct host_queue *h)
{
    uint64_t lists[LISTS_MOST], list;
    size_t before = *l->n, list_count = 0;
    unsigned looked = 0;
    enum status st = STATUS_OK;

    while (st == STATUS_OK && may_go(l, h) && *l->n < l->most &&
           list_count < LISTS_MOST && looked++ < VISIT_DRAINS &&
           (l->ask->most_urls == 0 || *l->n - before < l->ask->most_urls)) {
        st = lend_one(l, h, &list);
        if (list != 0)
            lists[list_count++] = list;
        frontier_unschedule(l->f, h);
        frontier_reschedule(l->f, h);
    }
    for (size_t i = 0; i < list_count; i++)
        host_queue_retry(h, lists[i], 0);
    return st;
}

static struct host_queue *queue_asked(struct frontier *f,
                                      const struct lent_ask *a)
{
    uint32_t queue = frontier_store_find_queue(f->store, f->o.crawl, a->key);

    return queue != 0 && frontier_store_pending(f->store, queue) > 0
               ? frontier_host(f, queue)
               : NULL;
}

/* The next queue that is due; NULL: there is none. */
static struct host_queue *next_queue(const struct lending *l)
{
    int64_t due;
    struct host_queue *h = frontier_first_host(l->f, &due);

    return h != NULL && due <= l->now ? h : NULL;
}

/* Queues in turn, each once: one that was visited is out of the schedule until
 * all have been. */
static enum status visit_all(struct lending *l)
{
    const uint32_t most =
        l->ask->most_queues > 0 ? l->ask->most_queues : UINT32_MAX;
    struct host_queue *h, *seen = NULL;
    uint32_t served = 0;
    enum status st = STATUS_OK;

    while (st == STATUS_OK && served < most && *l->n < l->most &&
           (h = next_queue(l)) != NULL) {
        size_t before = *l->n;

        if (frontier_stands_nowhere(l->f, h)) {
            st = frontier_find_place(l->f, h);
            continue;
        }
        st = visit(l, h);
        served += *l->n > before;
        frontier_unschedule(l->f, h);
        h->after = seen;
        seen = h;
    }
    while (seen != NULL) {
        h = seen;
        seen = h->after;
        h->after = NULL;
        frontier_reschedule(l->f, h);
    }
    return st;
}

enum status lent_lease(struct engine *e, const struct lent_ask *a, int64_t now,
                       int64_t wall_ms, struct lent_url *out, size_t *n)
{
    struct frontier *f = (struct frontier *)e;
    struct lending l = {.f = f,
                        .ask = a,
                        .now = now,
                        .wall_ms = wall_ms,
                        .out = out,
                        .n = n,
                        .most = frontier_pages_left(f, a->most)};
    struct host_queue *h;
    enum status st = STATUS_OK;

    *n = 0;
    if (f->broken)
        return db_error(f->db);
    if (f->lent != NULL)
        lent_tick(f, now);
    if (!a->one_queue)
        st = visit_all(&l);
    else if ((h = queue_asked(f, a)) != NULL) {
        if (frontier_stands_nowhere(f, h) && !h->set_aside)
            st = frontier_find_place(f, h);
        if (st == STATUS_OK && !h->set_aside) {
            frontier_reschedule(f, h);
            st = visit(&l, h);
            frontier_reschedule(f, h);
        }
    }
    return st == STATUS_OK ? STATUS_OK : frontier_broke(f, st);
}

/* ---- what another program says ---- */

/* A URL that stands in its queue is taken out, as if it had been leased. */
static enum status take(struct frontier *f, uint64_t id,
                        struct lease_record **out)
{
    struct tries_entry *t = map_get(f->tries, bytes_of(&id, sizeof id));
    struct url_row row;
    struct bytes crawl, key;
    struct host_queue *h;
    enum status st = frontier_store_get(f->store, id, &row, &f->text);

    if (st != STATUS_OK)
        return st;
    frontier_store_queue_name(f->store, row.queue, &crawl, &key);
    h = frontier_host(f, row.queue);
    *out = lease_add(f->leases, h, &row, key, t != NULL ? t->tries : 0);
    machine_lease(h);
    return STATUS_OK;
}

static struct outcome outcome_of(uint16_t http)
{
    if (http >= 400)
        return (struct outcome){OUTCOME_FAILED, REASON_HTTP, http};
    if (http >= 300 && http != 304)
        return (struct outcome){OUTCOME_REDIRECT, REASON_LENT, http};
    return (struct outcome){OUTCOME_FETCHED, REASON_LENT, http};
}

static enum status finish(struct frontier *f, uint64_t id,
                          const struct lent_word *w, int64_t now,
                          int64_t wall_ms)
{
    struct lease_record *r = lease_find(f->leases, id);
    bool asked = r != NULL;
    struct engine_done done = {
        .id = id,
        .outcome = outcome_of(w->http_status),
        .row = {.at_ms = wall_ms,
                .http_status = w->http_status,
                .detail = bytes_of_str("fetched by another program")},
        .host = {.ended = asked ? now : 0,
                 .crawl_delay_ms = -2,
                 .retry_after_ms = -1,
                 .slow_down =
                     asked && (w->http_status == 429 || w->http_status == 503)},
    };
    enum status st = STATUS_OK;

    if (!asked) {
        st = take(f, id, &r);
        if (st == STATUS_OK)
            (void)host_queue_drop_retry(r->host, id);
    }
    return st == STATUS_OK ? frontier_ack(&f->engine, &done, 1, now, wall_ms)
                           : st;
}

/* Not before `due`; a restart remembers it where that is not at once. */
static enum status wait_until(struct frontier *f, uint64_t id, int64_t due,
                              int64_t now, int64_t wall_ms)
{
    struct tries_entry *t = map_get(f->tries, bytes_of(&id, sizeof id));

    if (t == NULL && due <= now)
        return STATUS_OK;
    if (t == NULL) {
        t = xcalloc(1, sizeof *t);
        (void)map_put(f->tries, bytes_of(&id, sizeof id), t);
    }
    t->due = due;
    return frontier_store_postpone(f->store, id, t->tries,
                                   wall_ms + (due - now) / NS_PER_MS);
}

static enum status postpone(struct frontier *f, uint64_t id, int64_t due_ms,
                            int64_t now, int64_t wall_ms)
{
    struct lease_record *r = lease_find(f->leases, id);
    int64_t due = due_ms > wall_ms ? now + (due_ms - wall_ms) * NS_PER_MS : now;
    struct url_row row;
    struct host_queue *h;
    uint64_t seq;
    enum status st = wait_until(f, id, due, now, wall_ms);

    if (st == STATUS_OK && r != NULL) {
        st = item_log_lease(f->lent->log, id, wall_ms, wall_ms, &seq);
        come_back(f, r, due, now);
        return st;
    }
    if (st == STATUS_OK)
        st = frontier_store_get(f->store, id, &row, &f->text);
    if (st != STATUS_OK)
        return st;
    h = frontier_host(f, row.queue);
    if (host_queue_drop_retry(h, id))
        host_queue_retry(h, id, due);
    frontier_reschedule(f, h);
    return STATUS_OK;
}

enum status lent_say(struct engine *e, uint64_t id, const struct lent_word *w,
                     int64_t now, int64_t wall_ms, enum lent_said *said)
{
    struct frontier *f = (struct frontier *)e;
    const struct lease_record *r;
    enum status st = lent_open(f);

    if (st == STATUS_OK)
        st = frontier_touch(f, now);
    if (st != STATUS_OK)
        return frontier_broke(f, st);
    lent_tick(f, now);
    r = lease_find(f->leases, id);
    *said = LENT_TAKEN;
    if (frontier_store_is_done(f->store, id))
        *said = LENT_WAS_DONE;
    else if (r != NULL && r->hold == NULL)
        *said = LENT_OURS;
    if (*said != LENT_TAKEN)
        return STATUS_OK;
    st = w->final ? finish(f, id, w, now, wall_ms)
                  : postpone(f, id, w->due_ms, now, wall_ms);
    return st == STATUS_OK ? STATUS_OK : frontier_broke(f, st);
}

enum status lent_discover(struct engine *e, const struct engine_item *items,
                          size_t n, const struct engine_drop *drops,
                          size_t drop_count, int64_t now, int64_t wall_ms,
                          uint64_t *ids)
{
    struct frontier *f = (struct frontier *)e;
    const struct engine_done dropped = {.drops = drops,
                                        .drop_count = drop_count};
    struct admission *list = xcalloc(n + 1, sizeof *list);
    uint64_t repeats = 0;
    enum status st = frontier_touch(f, now);

    for (size_t i = 0; i < n; i++)
        list[i] = (struct admission){.item = &items[i]};
    if (st == STATUS_OK && n > 0)
        st = frontier_admit(f, f->o.crawl, list, n, false, wall_ms);
    for (size_t i = 0; st == STATUS_OK && i < n; i++) {
        ids[i] = list[i].fresh ? list[i].id : 0;
        repeats += !list[i].fresh && !list[i].blocked;
    }
    if (st == STATUS_OK) {
        frontier_count_drops(f, &dropped, wall_ms);
        frontier_store_add(f->store, "links", n + drop_count);
        frontier_store_add(f->store, "duplicates", repeats);
    }
    free(list);
    return st == STATUS_OK ? STATUS_OK : frontier_broke(f, st);
}

/* ---- people's delays ---- */

enum status lent_set_delay(struct frontier *f, struct host_queue *h)
{
    const struct item_queue_row row = {
        .delay_ms = h->set_delay >= 0 ? h->set_delay / NS_PER_MS : -1};
    enum status st = lent_open(f);

    return st == STATUS_OK ? item_log_set_queue(f->lent->log, h->queue, &row)
                           : st;
}

/* ---- restart and upkeep ---- */

struct restart {
    struct frontier *f;
    struct map *rows; /* of struct item_lease by id: the last of each URL */
    int64_t now, wall_ms;
    enum status st;
};

static void find_row(void *ctx, const struct item_lease *e)
{
    struct restart *r = ctx;
    struct item_lease *found = xcalloc(1, sizeof *found);

    *found = *e;
    free(map_put(r->rows, bytes_of(&e->url, sizeof e->url), found));
}

static bool take_row(void *ctx, struct bytes key, void *value)
{
    struct restart *r = ctx;
    const struct item_lease *e = value;
    struct lease_record *lease = NULL;

    (void)key;
    if (e->until_ms <= r->wall_ms ||
        frontier_store_is_done(r->f->store, e->url))
        return true;
    r->st = take(r->f, e->url, &lease);
    if (r->st == STATUS_OK)
        hold_begin(r->f, lease, e->at_ms,
                   r->now + (e->until_ms - r->wall_ms) * NS_PER_MS)
            ->seq = e->seq;
    return r->st == STATUS_OK;
}

static void take_delay(void *ctx, uint32_t queue,
                       const struct item_queue_row *row)
{
    struct frontier *f = ctx;

    if (row->delay_ms >= 0 && queue <= frontier_store_queue_count(f->store))
        frontier_host(f, queue)->set_delay = row->delay_ms * NS_PER_MS;
}

enum status lent_restore(struct frontier *f, int64_t now, int64_t wall_ms)
{
    struct restart r = {.f = f, .now = now, .wall_ms = wall_ms};
    int64_t any = 0;
    enum status st;

    if (f->o.put_urls)
        return STATUS_OK;
    st = db_number(f->db,
                   "SELECT EXISTS(SELECT 1 FROM item_lease)"
                   " + EXISTS(SELECT 1 FROM item_queue)",
                   &any);
    if (st == STATUS_OK && any > 0)
        st = lent_open(f);
    if (st != STATUS_OK || any == 0)
        return st;
    r.rows = map_new();
    st = item_log_each_lease(f->lent->log, find_row, &r);
    if (st == STATUS_OK)
        map_each(r.rows, take_row, &r);
    map_free(r.rows, free);
    if (st == STATUS_OK)
        st = r.st;
    return st == STATUS_OK ? item_log_each_queue(f->lent->log, take_delay, f)
                           : st;
}

static bool lease_counts(void *ctx, const struct item_lease *e)
{
    const struct frontier *f = ctx;
    const struct lease_record *r = lease_find(f->leases, e->url);

    return r != NULL && r->hold != NULL && r->hold->seq == e->seq;
}

static void lease_moved(void *ctx, uint64_t url, uint64_t seq)
{
    const struct frontier *f = ctx;

    lease_find(f->leases, url)->hold->seq = seq;
}

enum status lent_step(struct frontier *f)
{
    const struct item_log_keep keep = {.lease = lease_counts,
                                       .lease_moved = lease_moved,
                                       .ctx = f};
    struct item_log *log = f->lent->log;
    struct item_log_counts c = item_log_counts(log);

    if (c.leases <= 2 * lent_count(f->lent) + SWEEP_FROM)
        return STATUS_OK;
    return item_log_sweep_leases(log, 2 * c.new_leases + SWEEP_STEP, &keep);
}

/* ---- asking ---- */

enum status lent_identify(struct engine *e, struct bytes key, struct bytes url,
                          uint64_t *id)
{
    struct frontier *f = (struct frontier *)e;
    uint32_t queue = frontier_store_find_queue(f->store, f->o.crawl, key);
    struct url_row row;
    struct digest d;
    enum status st = STATUS_OK;

    for (uint8_t salt = 0; st == STATUS_OK && salt <= URL_ROW_SALT_MOST;
         salt++) {
        d = digest_url_salted(&f->key, f->o.crawl, key, url, salt);
        st = exact_set_find(f->exact, &d, 1, id);
        if (st != STATUS_OK || *id == 0 || !f->o.compare_text)
            return st;
        st = frontier_store_get(f->store, *id, &row, &f->text);
        if (st == STATUS_OK && row.queue == queue && bytes_equal(row.url, url))
            return STATUS_OK;
    }
    *id = 0;
    return st;
}

void lent_look(struct engine *e, uint64_t id, int64_t now,
               struct lent_facts *out)
{
    struct frontier *f = (struct frontier *)e;
    const struct lease_record *r = lease_find(f->leases, id);
    const struct tries_entry *t = map_get(f->tries, bytes_of(&id, sizeof id));

    *out = (struct lent_facts){.done = frontier_store_is_done(f->store, id),
                               .out = r != NULL};
    if (r != NULL && r->hold != NULL && r->hold->until.key > now) {
        out->held_for = r->hold->until.key - now;
        out->number = r->hold->number;
    }
    if (t != NULL && t->due > now)
        out->due_for = t->due - now;
}

void lent_look_queue(struct engine *e, uint32_t queue, int64_t now,
                     struct lent_queue *out)
{
    struct frontier *f = (struct frontier *)e;
    const struct host_queue *h = queue < f->host_room ? f->hosts[queue] : NULL;
    struct host_queue none = {.own_delay = -1, .set_delay = -1};

    *out =
        (struct lent_queue){.pending = frontier_store_pending(f->store, queue)};
    if (h == NULL)
        h = &none;
    out->out = h->leased;
    if (h->blocked_until > now)
        out->blocked_for = h->blocked_until - now;
    out->delay = later(h->set_delay >= 0 ? h->set_delay : f->o.schedule.delay,
                       h->own_delay);
}
