/* SPDX-License-Identifier: MIT */
/*
 * cluster_engine.c - opening, turns, commits, the end of the crawl.
 *
 * What is acknowledged to the cluster is on our disk, and its links are in the
 * cluster. So a commit waits for puts, and acknowledgements for a commit:
 *
 *   ack ──► links put ──► replies ──► commit ──► acknowledged to the cluster
 *
 * A commit is due COMMIT after the first of its pages, or later while there is
 * enough else to do, as it has its price; it waits WAIT_MOST in one turn, and
 * longer only if it is forced.
 *
 * The crawl is over when two counts in a row find as many URLs done as were
 * seen, and the same number: then it was over between them.
 */
#include "frontier/cluster/cluster_engine.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/logger.h"
#include "base/mem.h"
#include "frontier/cluster/cluster_engine_impl.h"

#define COMMIT       (50 * NS_PER_MS)
#define COMMIT_BUSY  (200 * NS_PER_MS)
#define WAIT_MOST    (20 * NS_PER_MS)
#define WAIT_ENDS    (10 * NS_PER_S) /* at a stop */
#define COUNT_EVERY  (10 * NS_PER_S)
#define COUNT_SOON   (500 * NS_PER_MS) /* when nothing is left here */
#define IDLE         (200 * NS_PER_MS) /* it was so for that long */
#define REMOVE_STEP  1000
#define PARK_STEP    1000
#define PARKED_LEAST (INT64_C(365) * 24 * 3600 * NS_PER_S)
#define POLL         (3 * NS_PER_MS)  /* of replies that are awaited */
#define POLL_MOST    (24 * NS_PER_MS) /* the same, of slow ones */
#define POLL_IDLE    (20 * NS_PER_MS) /* of the cluster, while nothing is */
#define LOOK_LEAST   (1 * NS_PER_MS)

void cluster_engine_fail(struct cluster_engine *e, enum status st)
{
    struct redis_cluster_stats s;

    if (st == STATUS_OK || e->failed != STATUS_OK)
        return;
    cluster_store_get_stats(e->store, &s);
    log_error("the cluster is of no use; resume goes on when it is again",
              "why=\"%s\" last=\"%s\"", status_text(st), s.trouble);
    e->failed = STATUS_CLOSED;
}

void cluster_engine_wait(struct cluster_engine *e, bool puts, bool acks,
                         int64_t patience)
{
    int64_t now = clock_mono(), end = now + patience;

    if (puts)
        cluster_links_send(e);
    while (e->failed == STATUS_OK && now < end &&
           ((puts && e->puts > 0) || (acks && e->acks > 0))) {
        cluster_store_turn(e->store, end - now);
        now = clock_mono();
    }
}

/* ---- the end of the crawl ---- */

static bool is_idle(const struct cluster_engine *e)
{
    return e->held + e->endings + e->acks + e->puts == 0;
}

/* What is parked here was fetched by others. */
static enum status remove_parked(struct cluster_engine *e)
{
    struct engine *own = e->own;
    struct removal r;
    bool over = false;
    enum status st =
        own->ops->removal_begin(own, bytes_of("", 0), INT64_MAX, &r);

    while (st == STATUS_OK && !over)
        st = own->ops->removal_step(own, &r, REMOVE_STEP, e->now, e->wall_ms,
                                    &over);
    if (st == STATUS_OK)
        e->over = true;
    return st;
}

static void counted(void *ctx, enum status st, const struct cluster_counts *c)
{
    struct cluster_engine *e = ctx;
    bool done = st == STATUS_OK && c->seen == c->done && is_idle(e);

    e->counting = false;
    if (st != STATUS_OK)
        return;
    if (done && e->done && c->seen == e->counts.seen)
        cluster_engine_fail(e, remove_parked(e));
    e->done = done;
    e->counted = true;
    e->counts = *c;
}

static void count(struct cluster_engine *e)
{
    int64_t every;

    if (!is_idle(e))
        e->busy_at = e->now;
    every = e->now - e->busy_at >= IDLE ? COUNT_SOON : COUNT_EVERY;
    if (e->over || e->counting || e->now - e->counted_at < every)
        return;
    e->counting = true;
    e->counted_at = e->now;
    cluster_store_count(e->store, counted, e);
}

/* ---- turns ---- */

/* Looking for replies costs a turn of the crawl, so the longer none comes the
 * rarer we look: on a busy machine they take a while. */
static void pace(struct cluster_engine *e)
{
    struct redis_cluster_stats s;
    size_t pending = cluster_store_pending(e->store);

    cluster_store_get_stats(e->store, &s);
    if (pending == 0 || s.calls - pending != e->replies)
        e->poll = POLL;
    else
        e->poll = clock_earlier(e->poll + POLL, POLL_MOST);
    e->replies = s.calls - pending;
}

static enum status tend(struct cluster_engine *e, int64_t now, int64_t wall_ms)
{
    enum status st = STATUS_OK;

    e->now = now;
    e->wall_ms = wall_ms;
    cluster_store_turn(e->store, 0);
    pace(e);
    if (now >= e->next_tend) {
        st = cluster_held_tend(e);
        e->next_tend = now + e->o.lease / 64;
    }
    cluster_links_tend(e);
    cluster_places_tend(e, false);
    cluster_present_tend(e);
    cluster_budget_tend(e);
    count(e);
    return e->failed != STATUS_OK ? e->failed : st;
}

static bool should_commit(const struct cluster_engine *e, bool force)
{
    int64_t wait = e->held < e->o.in_flight / 2 ? COMMIT : COMMIT_BUSY;

    return e->endings > 0 && (force || e->endings >= CLUSTER_COMMIT_MOST ||
                              e->now - e->ending_since >= wait);
}

enum status cluster_turn(struct engine *engine, bool force, int64_t now,
                         int64_t wall_ms, uint64_t *durable)
{
    struct cluster_engine *e = (struct cluster_engine *)engine;
    enum status st = tend(e, now, wall_ms);
    bool commit = should_commit(e, force);
    uint64_t committed = 0;

    if (durable != NULL)
        *durable = 0;
    if (st != STATUS_OK)
        return st;
    if (e->puts > 0 && (force || commit))
        cluster_engine_wait(e, true, false, force ? INT64_MAX / 2 : WAIT_MOST);
    if (e->failed != STATUS_OK || e->puts > 0)
        return e->failed;
    cluster_share_tell(e);
    st = e->own->ops->turn(e->own, force || commit, now, wall_ms, &committed);
    if (durable != NULL)
        *durable = committed;
    if (st == STATUS_OK && (force || commit || committed > 0)) {
        cluster_budget_committed(e);
        cluster_held_send(e);
    }
    return st;
}

/* While something is under way, or leased here: replies, and shards that have
 * something due. */
static int64_t next_work(const struct cluster_engine *e, int64_t now)
{
    if (e->counting || cluster_store_pending(e->store) > 0)
        return now + e->poll;
    return clock_earlier(now + POLL_IDLE,
                         clock_later(cluster_store_next_look(e->store),
                                     now + LOOK_LEAST));
}

/* What waits for a lease of another worker to end may be over at any time. When
 * nothing is left in the cluster, a count says that the crawl is over. What is
 * parked here waits for neither. */
int64_t cluster_next_due(struct engine *engine, int64_t now, struct bytes *why)
{
    struct cluster_engine *e = (struct cluster_engine *)engine;
    struct bytes host = {"", 0};
    int64_t own = e->own->ops->next_due(e->own, now, &host),
            due = cluster_store_next_due(e->store);

    if (cluster_budget_room(e) == 0) /* what is due here waits, too */
        own = clock_later(own, now + POLL_IDLE);
    if (!is_idle(e) || e->counting || cluster_store_pending(e->store) > 0)
        due = next_work(e, now);
    else if (due < now + e->o.lease + NS_PER_S ||
             (due == INT64_MAX && !e->over))
        due = now + POLL_IDLE;
    if (why != NULL)
        *why = own < due ? host : bytes_of("", 0);
    return clock_earlier(own, due);
}

/* ---- checkpoints, the end ---- */

enum status cluster_checkpoint(struct engine *engine, int64_t now,
                               int64_t wall_ms)
{
    struct cluster_engine *e = (struct cluster_engine *)engine;

    if (e->failed != STATUS_OK)
        return e->failed;
    e->now = now;
    e->wall_ms = wall_ms;
    return e->puts > 0 ? STATUS_AGAIN
                       : e->own->ops->checkpoint(e->own, now, wall_ms);
}

/* Others may go on at once with what no fetcher of ours has. */
enum status cluster_checkpoint_now(struct engine *engine, const char *state,
                                   bool clean, int64_t now, int64_t wall_ms)
{
    struct cluster_engine *e = (struct cluster_engine *)engine;
    enum status st;

    e->now = now;
    e->wall_ms = wall_ms;
    cluster_intake_want(e, 0, 0);
    cluster_engine_wait(e, true, false, INT64_MAX / 2);
    if (e->failed == STATUS_OK)
        cluster_share_tell(e);
    /* Claims under way may still bring leases, which go back, too. */
    for (int64_t end = clock_mono() + WAIT_ENDS;
         e->failed == STATUS_OK && cluster_store_pending(e->store) > 0 &&
         clock_mono() < end;)
        cluster_store_turn(e->store, POLL);
    st = e->failed != STATUS_OK ? e->failed : cluster_held_give_back(e);
    if (st == STATUS_OK)
        st = e->own->ops->checkpoint_now(e->own, state, clean, now, wall_ms);
    if (st != STATUS_OK)
        return st;
    cluster_budget_committed(e);
    cluster_held_send(e);
    cluster_engine_wait(e, false, true, WAIT_ENDS);
    if (e->acks > 0)
        log_warn("the cluster has not heard of all that was done; some pages "
                 "will be fetched again",
                 "urls=%zu", e->acks);
    return STATUS_OK;
}

void cluster_close(struct engine *engine)
{
    struct cluster_engine *e = (struct cluster_engine *)engine;

    if (e == NULL)
        return;
    if (e->failed == STATUS_OK)
        cluster_budget_end(e);
    cluster_present_end(e);
    e->failed = STATUS_CLOSED; /* what still ends is of no interest */
    cluster_store_close(e->store);
    cluster_held_free_all(e);
    map_free(e->by_id, NULL);
    cluster_links_free(e);
    cluster_share_free(e);
    e->own->ops->close(e->own);
    free(e);
}

void cluster_engine_get_stats(struct engine *engine, struct engine_stats *out)
{
    struct cluster_engine *e = (struct cluster_engine *)engine;
    uint64_t left = e->counted ? e->counts.seen - e->counts.done : 0;

    e->own->ops->stats(e->own, out);
    out->limit_reached = cluster_budget_is_spent(e);
    out->given_up = 0; /* others may ask these hosts by now */
    if (!e->over)
        out->queued = left > e->held ? left : e->held + 1;
}

/* ---- opening ---- */

struct parking {
    struct cluster_engine *e;
    uint64_t ids[PARK_STEP];
    size_t count;
};

static void note_queued(void *ctx, const struct url_row *row)
{
    struct parking *p = ctx;
    struct engine *own = p->e->own;
    struct external_facts facts;

    own->ops->external_get_facts(own, row->id, p->e->now, &facts);
    if (!facts.done && facts.due_for < PARKED_LEAST)
        p->ids[p->count++] = row->id;
}

/* Leases of an earlier run may be over, and others at work on their URLs. */
static enum status park_all(struct cluster_engine *e)
{
    struct parking *p = xcalloc(1, sizeof *p);
    struct engine_stats s;
    enum status st = STATUS_OK;

    p->e = e;
    e->own->ops->stats(e->own, &s);
    for (uint64_t at = 1; st == STATUS_OK && s.queued > 0 && at <= s.urls;
         at += PARK_STEP) {
        p->count = 0;
        st = e->own->ops->each_url(e->own, at, at + PARK_STEP - 1, note_queued,
                                   p);
        for (size_t i = 0; st == STATUS_OK && i < p->count; i++)
            st = cluster_park(e, p->ids[i]);
    }
    free(p);
    return st;
}

/* Limits of hosts from before the directory was a worker's are in the
 * cluster. */
static enum status forget_limits(struct cluster_engine *e)
{
    struct engine_stats s;
    enum status st = STATUS_OK;

    e->own->ops->stats(e->own, &s);
    for (uint32_t i = 1; st == STATUS_OK && i <= s.queues; i++) {
        struct external_queue q;

        e->own->ops->external_get_queue(e->own, i, e->now, &q);
        if (q.limit > 0)
            st = e->own->ops->limit_queue(e->own, i, 0, 0, e->now);
    }
    return st;
}

enum status cluster_engine_open(struct engine **out,
                                const struct cluster_engine_options *o,
                                int64_t now, int64_t wall_ms)
{
    struct cluster_engine *e = xcalloc(1, sizeof *e);
    enum status st;

    e->engine = (struct engine){&cluster_engine_ops, "cluster", NULL};
    e->o = *o;
    e->own = o->own;
    e->store = o->store;
    e->by_id = map_new();
    e->robots = map_new();
    e->poll = POLL;
    e->now = now;
    e->wall_ms = wall_ms;
    cluster_present_begin(e);
    cluster_budget_begin(e, o->limit_pages);
    st = park_all(e);
    if (st == STATUS_OK)
        st = forget_limits(e);
    if (st == STATUS_OK)
        st = e->own->ops->turn(e->own, true, now, wall_ms, NULL);
    if (st == STATUS_OK)
        st = cluster_places_read_all(e);
    cluster_store_ask_again(e->store);
    if (st != STATUS_OK) {
        cluster_close(&e->engine);
        return st;
    }
    *out = &e->engine;
    return STATUS_OK;
}
