/* SPDX-License-Identifier: MIT */
/*
 * crawl_turn.c - the frontier thread: one turn after the other, to its end.
 *
 * A turn takes reports, runs posted tasks, lets the engine commit, leases, and
 * checks whether to stop.
 */
#include <stdio.h>

#include "base/clock.h"
#include "base/file/file.h"
#include "crawler/crawl_impl.h"

#define DISK_INTERVAL NS_PER_S
#define LONGEST_NAP   (200 * NS_PER_MS)

/* ---- tasks ---- */

/* Ends tasks whose work is committed or need not be. */
static void end_tasks(struct crawl *c, struct crawl_task *all, bool closed)
{
    for (struct crawl_task *t = all, *next; t != NULL; t = next) {
        next = t->next;
        if (closed)
            t->status = STATUS_CLOSED;
        else if (t->status == STATUS_OK && t->durable)
            t->status = c->status;
        t->done(t);
    }
}

/* Runs posted tasks, and commits if one has to be durable. */
static void run_tasks(struct crawl *c)
{
    struct crawl_task *all = task_list_take(&c->tasks);
    int64_t now = clock_mono(), wall = clock_wall_ms();
    bool commit = false;

    if (all == NULL)
        return;
    for (struct crawl_task *t = all; t != NULL; t = t->next) {
        t->status = c->status != STATUS_OK ? c->status
                                           : t->run(t, c->engine, now, wall);
        commit |= t->durable;
    }
    if (commit && c->status == STATUS_OK)
        crawl_note_failure(c, c->engine->ops->turn(c->engine, true,
                                                   clock_mono(), wall, NULL));
    crawl_publish(c, clock_mono(), true); /* for posters that look next */
    end_tasks(c, all, false);
}

/* ---- ends and limits ---- */

static bool disk_is_low(struct crawl *c, int64_t now)
{
    uint64_t left;

    if (c->o.min_disk == 0 || now - c->disk_checked < DISK_INTERVAL)
        return false;
    c->disk_checked = now;
    return file_disk_free(c->o.dir, &left) == STATUS_OK && left < c->o.min_disk;
}

/* Only URLs with dates are left. */
static bool waits_for_dates(const struct crawl *c, const struct engine_stats *s)
{
    return s->dated > 0 && (!c->o.until_idle || c->o.stay);
}

static enum crawl_end nothing_out(struct crawl *c, int64_t now,
                                  const struct engine_stats *s)
{
    struct bytes why = {"", 0};
    int64_t due;

    if (atomic_load(&c->paused))
        return CRAWL_RUNNING; /* until it is resumed */
    if (s->rejudging)
        return CRAWL_RUNNING;
    if (s->queued == 0 && s->dated == 0)
        return c->o.stay ? CRAWL_RUNNING : CRAWL_FINISHED;
    if (s->dates_given_up && !c->o.stay &&
        s->queued == s->withheld + s->given_up)
        return CRAWL_GAVE_UP;
    if (waits_for_dates(c, s))
        return CRAWL_RUNNING;
    if (s->queued == 0 && s->due == 0 && !s->retrying)
        return s->due_given_up ? CRAWL_GAVE_UP : CRAWL_IDLE;
    if (s->leased > 0) /* other programs have leases and may add links */
        return CRAWL_RUNNING;
    if (s->blocked > 0) /* by a person, who may unblock them */
        return CRAWL_RUNNING;
    if (s->queued > 0 && s->queued == s->withheld + s->given_up) {
        if (s->given_up > 0)
            return CRAWL_GAVE_UP;
        /* a service may get other limits */
        return c->o.stay ? CRAWL_RUNNING : CRAWL_WITHHELD;
    }
    due = c->engine->ops->next_due(c->engine, now, &why);
    /* INT64_MAX is ambiguous: either nothing is due, or a queue is drained
     * without requests, which is always due. */
    if (c->o.give_up == 0 || due == INT64_MAX || due <= now ||
        due - now <= c->o.give_up)
        return CRAWL_RUNNING;
    if (why.len > 0)
        crawl_note_wait(c, why, "", 0, due - now);
    return CRAWL_GAVE_UP;
}

static enum crawl_end why_stop(struct crawl *c, int64_t now)
{
    struct engine_stats s;

    if (atomic_load(&c->stops) > 0)
        return CRAWL_INTERRUPTED;
    if (c->o.time_limit > 0 && now - c->started >= c->o.time_limit)
        return CRAWL_TIME;
    if (disk_is_low(c, now))
        return CRAWL_DISK;
    c->engine->ops->stats(c->engine, &s);
    if (c->o.quota > 0 && s.bytes >= c->o.quota)
        return CRAWL_QUOTA;
    if (c->o.limit_pages > 0 && s.pages >= c->o.limit_pages)
        return CRAWL_LIMIT;
    return c->out == 0 ? nothing_out(c, now, &s) : CRAWL_RUNNING;
}

/* Tells the fetchers to finish, or to abort: at a second stop, if the store is
 * broken, or if they make no progress. */
static void pass_on_stop(struct crawl *c)
{
    bool at_once = atomic_load(&c->stops) > 1 || c->end == CRAWL_BROKEN ||
                   c->end == CRAWL_STUCK;
    int wanted = at_once ? 2 : 1;

    if (c->end == CRAWL_RUNNING || c->stops_done >= wanted)
        return;
    for (unsigned i = 0; i < c->o.threads; i++) {
        if (wanted == 2)
            fetcher_stop(c->fetchers[i]);
        else
            fetcher_drain(c->fetchers[i]);
    }
    c->stops_done = wanted;
}

/* ---- the loop ---- */

static void checkpoint_if_due(struct crawl *c, int64_t now)
{
    enum status st;

    if (c->o.checkpoint == 0 || now - c->checkpointed < c->o.checkpoint)
        return;
    st = c->engine->ops->checkpoint(c->engine, now, clock_wall_ms());
    if (st == STATUS_AGAIN)
        return;
    c->checkpointed = now;
    crawl_note_failure(c, st);
}

static int64_t nap(struct crawl *c, int64_t now)
{
    int64_t due = c->engine->ops->next_due(c->engine, now, NULL);

    if (c->end != CRAWL_RUNNING || atomic_load(&c->paused) ||
        c->out >= c->in_force || due >= now + LONGEST_NAP)
        return LONGEST_NAP;
    return due <= now ? 0 : due - now;
}

/* Waits for reports, or until a host is due; returns how many there are. */
static size_t gather(struct crawl *c, struct report *batch[CRAWL_BATCH])
{
    int64_t now = clock_mono();
    struct turn_wait w =
        turn_pace_wait(&c->pace, c->out, CRAWL_BATCH, nap(c, now), now);

    return queue_gather(c->reports, (void **)batch, CRAWL_BATCH, w.first,
                        w.enough, w.more);
}

static void frontier_turn_once(struct crawl *c)
{
    struct report *batch[CRAWL_BATCH];
    size_t n = gather(c, batch);
    int64_t now;

    crawl_take_reports(c, batch, n);
    run_tasks(c);
    now = clock_mono();
    if (c->status == STATUS_OK)
        crawl_note_failure(c, c->engine->ops->turn(c->engine, false, now,
                                                   clock_wall_ms(), NULL));
    if (c->end == CRAWL_RUNNING)
        c->end = why_stop(c, now);
    crawl_look_for_stuck(c, now);
    crawl_lease_due(c);
    if (c->status == STATUS_OK)
        checkpoint_if_due(c, now);
    pass_on_stop(c);
    crawl_publish(c, now, false);
}

static bool nothing_left(struct crawl *c)
{
    struct engine_stats s;

    c->engine->ops->stats(c->engine, &s);
    return s.queued == 0 && s.dated == 0 && !s.rejudging;
}

static void last_words(struct crawl *c)
{
    int64_t now = clock_mono();

    if (watchdog_stuck(c->watchdog) > 0 && c->status == STATUS_OK)
        c->end = CRAWL_STUCK;
    crawl_note_waits(c, now);
    task_list_close(&c->tasks);
    end_tasks(c, task_list_take(&c->tasks), true);
    if (c->status == STATUS_OK)
        crawl_note_failure(c, c->engine->ops->checkpoint_now(
                                  c->engine,
                                  nothing_left(c) ? "finished" : "stopped",
                                  true, now, clock_wall_ms()));
    crawl_publish(c, now, true);
    pthread_mutex_lock(&c->mtx);
    c->result.end = c->end;
    c->result.stuck = watchdog_stuck(c->watchdog);
    c->result.status = c->status;
    c->ended = true;
    pthread_cond_broadcast(&c->ended_cond);
    pthread_mutex_unlock(&c->mtx);
}

void *crawl_frontier_thread(void *arg)
{
    struct crawl *c = arg;

    c->started = c->published = c->checkpointed = clock_mono();
    while (c->gone + watchdog_stuck(c->watchdog) < c->o.threads)
        frontier_turn_once(c);
    last_words(c);
    return NULL;
}
