/* SPDX-License-Identifier: MIT */
/*
 * crawl.c - the outer loop of a crawl.
 *
 *      fetchers ── reports ──► frontier thread ── assignments ──► fetchers
 *                                 │  ack, release, lease
 *                                 ▼
 *   resolver ◄── hosts, places ── engine ──► store (one transaction a turn)
 *
 * The frontier thread never waits for anything but reports: giving an
 * assignment never blocks, since no fetcher gets more than `concurrency`. So a
 * full report queue holds back the fetchers and nobody else.
 */
#include "crawler/crawl.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/logger.h"
#include "base/mem.h"
#include "crawler/sitemap_trust.h"
#include "crawler/task.h"
#include "crawler/trail.h"
#include "frontier/frontier.h"

#define BATCH          256 /* reports taken at once: one seen check for all */
#define LINKS_MOST     ((size_t)1 << 14) /* and their links, about */
#define LOOK_INTERVAL  (100 * NS_PER_MS)
#define WATCH_INTERVAL NS_PER_S
#define DISK_INTERVAL  NS_PER_S
#define LONGEST_NAP    (200 * NS_PER_MS)

struct crawl {
    struct engine *engine;
    struct crawl_options o;
    struct fetcher **fetchers;
    struct queue *reports;
    struct resolver *resolver; /* NULL: nobody asks for addresses */
    pthread_t thread;

    /* any thread */
    _Atomic int stops;
    _Atomic bool paused;
    struct task_list tasks;

    /* shared, under mtx */
    pthread_mutex_t mtx;
    pthread_cond_t ended_cond;
    struct crawl_sample sample;
    struct crawl_result result;
    struct crawl_answer *recent; /* a ring */
    uint64_t answers;            /* ever put there */
    bool ended;

    /* frontier thread */
    int64_t started, looked, watched, disk_looked, checkpointed;
    struct frontier_watch watch; /* as of `watched` */
    enum crawl_end end; /* why it is stopping; CRAWL_RUNNING: it is not */
    enum status status;
    int stops_done;      /* how far fetchers were told to stop */
    unsigned gone;       /* fetchers that have ended */
    size_t out;          /* URLs with fetchers */
    struct trail *trail; /* NULL: nothing is recorded */
    struct engine_lease *leases;
};

const char *crawl_end_text(enum crawl_end end)
{
    static const char *const texts[] = {
        [CRAWL_RUNNING] = "running",
        [CRAWL_FINISHED] = "finished",
        [CRAWL_LIMIT] = "reached --limit",
        [CRAWL_TIME] = "reached --time",
        [CRAWL_QUOTA] = "reached --quota",
        [CRAWL_DISK] = "the disk is nearly full (--min-disk)",
        [CRAWL_GAVE_UP] = "all that is left waits longer than --give-up",
        [CRAWL_INTERRUPTED] = "interrupted",
        [CRAWL_BROKEN] = "the store failed",
    };

    return texts[end];
}

/* ---- reports ---- */

static void note_failure(struct crawl *c, enum status st)
{
    if (st == STATUS_OK || c->status != STATUS_OK)
        return;
    c->status = st;
    c->end = st == STATUS_FULL ? CRAWL_DISK : CRAWL_BROKEN;
}

static void take_release(struct crawl *c, const struct report *r, int64_t now)
{
    c->out--;
    note_failure(c,
                 c->engine->ops->release(c->engine, r->id, r->not_before,
                                         &r->done.host, now, clock_wall_ms()));
}

static void record(struct crawl *c, struct report *r)
{
    if (c->o.archive != NULL && c->status == STATUS_OK)
        note_failure(c,
                     archive_add(c->o.archive, c->engine, r, clock_wall_ms()));
}

/* As much of `s` as has room, in whole characters of UTF-8. */
static void keep_text(char *to, size_t size, struct bytes s)
{
    size_t n = s.len < size - 1 ? s.len : size - 1;

    while (n > 0 && n < s.len && ((unsigned char)s.at[n] & 0xc0) == 0x80)
        n--;
    if (n > 0)
        memcpy(to, s.at, n);
    to[n] = '\0';
}

static void remember(struct crawl *c, const struct engine_done *d)
{
    struct bytes url = frontier_leased_url(c->engine, d->id);
    struct crawl_answer *a;

    pthread_mutex_lock(&c->mtx);
    a = &c->recent[c->answers++ % CRAWL_RECENT];
    a->at_ms = d->row.at_ms;
    a->outcome = d->outcome;
    a->elapsed_ms = d->row.elapsed_ms;
    a->bytes = d->row.wire_bytes;
    keep_text(a->url, sizeof a->url, url);
    keep_text(a->title, sizeof a->title, d->row.title);
    pthread_mutex_unlock(&c->mtx);
}

size_t crawl_recent(struct crawl *c, struct crawl_answer *out, size_t most)
{
    size_t n = 0;

    pthread_mutex_lock(&c->mtx);
    for (; n < most && n < CRAWL_RECENT && n < c->answers; n++)
        out[n] = c->recent[(c->answers - 1 - n) % CRAWL_RECENT];
    pthread_mutex_unlock(&c->mtx);
    return n;
}

/* What a sitemap says of other hosts. */
static void sift(struct crawl *c, struct report *r)
{
    if (c->status == STATUS_OK)
        sitemap_trust_sift(r, frontier_store_of(c->engine),
                           frontier_pages_of(c->engine));
}

/* A URL that goes back to its queue as its robots.txt was read instead, which
 * named sitemaps. */
static struct engine_done named_by_robots(const struct report *r)
{
    return (struct engine_done){.id = r->id,
                                .partial = true,
                                .found = r->done.found,
                                .found_count = r->done.found_count,
                                .drops = r->done.drops,
                                .drop_count = r->done.drop_count};
}

/* What is acknowledged together: all that came, but where sitemaps pour in
 * no more links than a turn should take. */
struct done_batch {
    struct engine_done at[BATCH];
    size_t count, links;
};

static void ack_batch(struct crawl *c, struct done_batch *b, int64_t now)
{
    if (b->count > 0 && c->status == STATUS_OK)
        note_failure(c, c->engine->ops->ack(c->engine, b->at, b->count, now,
                                            clock_wall_ms()));
    b->count = b->links = 0;
}

static void add_done(struct crawl *c, struct done_batch *b,
                     struct engine_done done, int64_t now)
{
    if (b->links >= LINKS_MOST)
        ack_batch(c, b, now);
    b->at[b->count++] = done;
    b->links += done.found_count;
}

static void take_reports(struct crawl *c, struct report **reports, size_t n)
{
    struct done_batch done;
    int64_t now = clock_mono();

    done.count = done.links = 0;
    for (size_t i = 0; i < n; i++) {
        record(c, reports[i]);
        switch (reports[i]->kind) {
        case REPORT_DONE:
            sift(c, reports[i]);
            remember(c, &reports[i]->done);
            add_done(c, &done, reports[i]->done, now);
            c->out--;
            break;
        case REPORT_PART:
            sift(c, reports[i]);
            add_done(c, &done, reports[i]->done, now);
            break;
        case REPORT_RELEASE:
            if (reports[i]->done.found_count + reports[i]->done.drop_count > 0)
                add_done(c, &done, named_by_robots(reports[i]), now);
            take_release(c, reports[i], now);
            break;
        case REPORT_GONE:
            c->gone++;
            break;
        }
    }
    ack_batch(c, &done, now);
    for (size_t i = 0; i < n; i++)
        report_free(reports[i]);
}

/* ---- leases ---- */

/* How it was found is for the records of its answer alone. */
static struct assignment *assign(struct crawl *c, const struct engine_lease *l)
{
    struct found_by by = {{"", 0}, {"", 0}};

    if (c->trail != NULL)
        note_failure(c, trail_of(c->trail, l, &by));
    return assignment_of(l, &by);
}

/* Rules of the host from an earlier run, so that resuming asks for no
 * robots.txt that is still fresh. */
static void hand_over_robots(struct crawl *c, struct fetcher *f,
                             const struct engine_lease *l)
{
    struct page_store *pages = frontier_pages_of(c->engine);
    size_t len = url_origin_length(l->url);
    struct robots_row row;
    struct buf text;

    if (len == 0 || !frontier_first_lease(c->engine, l->queue))
        return;
    buf_init(&text, (size_t)1 << 20);
    if (page_store_robots(pages, bytes_of(l->url.at, len), &row, &text) ==
        STATUS_OK)
        fetcher_know_robots(f, &row);
    buf_fini(&text);
}

static void lease_once(struct crawl *c)
{
    int64_t now = clock_mono();
    size_t n = 0;
    enum status st;

    st = c->engine->ops->lease(c->engine, c->o.concurrency, now,
                               clock_wall_ms(), c->leases, &n);
    for (size_t i = 0; i < n; i++) {
        const struct engine_lease *l = &c->leases[i];
        struct fetcher *f = c->fetchers[l->queue % c->o.threads];

        hand_over_robots(c, f, l);
        fetcher_give(f, assign(c, l));
    }
    c->out += n;
    note_failure(c, st);
}

/* With --queue-key ip the engine names hosts that are due and stand nowhere.
 * True: some have a place now. */
static bool place_hosts(struct crawl *c)
{
    int64_t now = clock_mono();
    struct resolver_answer a;
    struct bytes host;
    uint32_t queue;
    bool placed = false;

    if (c->resolver == NULL)
        return false;
    while (resolver_has_room(c->resolver) &&
           (queue = frontier_next_unplaced(c->engine, &host)) != 0)
        resolver_ask(c->resolver, queue, host, now);
    while (resolver_take(c->resolver, now, &a)) {
        note_failure(c, frontier_place(c->engine, a.queue,
                                       a.found ? &a.ip : NULL, now));
        placed = true;
    }
    return placed;
}

static void lease_due(struct crawl *c)
{
    if (c->end != CRAWL_RUNNING || atomic_load(&c->paused))
        return;
    do {
        lease_once(c);
    } while (c->status == STATUS_OK && place_hosts(c));
}

/* ---- tasks ---- */

static void publish(struct crawl *c, int64_t now, bool force);

/* Those whose work is committed, or needs not be. */
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

/* Posted work, and, where some of it has to be durable, a commit. */
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
        note_failure(c, c->engine->ops->turn(c->engine, true, clock_mono(),
                                             wall, NULL));
    publish(c, clock_mono(), true); /* who is answered sees what he did */
    end_tasks(c, all, false);
}

/* ---- ends and limits ---- */

static bool disk_is_low(struct crawl *c, int64_t now)
{
    uint64_t left;

    if (c->o.min_disk == 0 || now - c->disk_looked < DISK_INTERVAL)
        return false;
    c->disk_looked = now;
    return file_disk_free(c->o.dir, &left) == STATUS_OK && left < c->o.min_disk;
}

static enum crawl_end nothing_out(struct crawl *c, int64_t now,
                                  const struct engine_stats *s)
{
    struct bytes why = {"", 0};
    int64_t due;

    if (c->o.stay || atomic_load(&c->paused))
        return CRAWL_RUNNING; /* more may come, or it is told to go on */
    if (s->queued == 0)
        return CRAWL_FINISHED;
    if (s->leased > 0) /* lent to other programs, which may bring links */
        return CRAWL_RUNNING;
    due = c->engine->ops->next_due(c->engine, now, &why);
    /* The end of time may be meant either way: nothing is due, or a queue is
     * drained without asking, which is always due. */
    if (c->o.give_up == 0 || due == INT64_MAX || due <= now ||
        due - now <= c->o.give_up)
        return CRAWL_RUNNING;
    c->result.waits_ns = due - now;
    snprintf(c->result.waiting_for, sizeof c->result.waiting_for, "%.*s",
             (int)(why.len < 200 ? why.len : 200), why.at);
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

/* Tell the fetchers to finish, and at a second stop or a broken store to give
 * up. */
static void pass_on_stop(struct crawl *c)
{
    int wanted = atomic_load(&c->stops) > 1 || c->end == CRAWL_BROKEN ? 2 : 1;

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

/* Into the list, most first; what has no room goes to the last, "other". */
static void add_error(void *ctx, const char *name, uint64_t value)
{
    static const char prefix[] = "failed.";
    struct crawl_sample *s = ctx;
    unsigned at;

    if (value == 0 || strncmp(name, prefix, sizeof prefix - 1) != 0)
        return;
    if (s->error_count == CRAWL_ERRORS) {
        struct crawl_count *last = &s->errors[CRAWL_ERRORS - 1];

        last->count += value;
        snprintf(last->name, sizeof last->name, "other");
        return;
    }
    for (at = s->error_count++; at > 0 && s->errors[at - 1].count < value; at--)
        s->errors[at] = s->errors[at - 1];
    s->errors[at].count = value;
    snprintf(s->errors[at].name, sizeof s->errors[at].name, "%s",
             name + sizeof prefix - 1);
}

static void publish(struct crawl *c, int64_t now, bool force)
{
    struct crawl_sample s = {.draining = c->end != CRAWL_RUNNING,
                             .paused = atomic_load(&c->paused)};

    if (!force && now - c->looked < LOOK_INTERVAL)
        return;
    c->looked = now;
    c->engine->ops->stats(c->engine, &s.stats);
    frontier_filter_look(c->engine, &s.filter);
    frontier_store_each_counter(frontier_store_of(c->engine), add_error, &s);
    if (force || now - c->watched >= WATCH_INTERVAL) {
        frontier_watch(c->engine, now, &c->watch);
        c->watched = now;
    }
    s.watch = c->watch;
    for (unsigned i = 0; i < c->o.threads; i++) {
        const struct fetcher_counters *k = fetcher_counters(c->fetchers[i]);

        s.active += atomic_load(&k->active);
        s.requests += atomic_load(&k->requests);
        s.wire_bytes += atomic_load(&k->wire_bytes);
        s.connections += atomic_load(&k->connections);
        fetch_tally_look(fetcher_tally(c->fetchers[i]), &s.tally);
    }
    pthread_mutex_lock(&c->mtx);
    c->sample = s;
    pthread_mutex_unlock(&c->mtx);
}

static void checkpoint_if_due(struct crawl *c, int64_t now)
{
    enum status st;

    if (c->o.checkpoint == 0 || now - c->checkpointed < c->o.checkpoint)
        return;
    st = frontier_checkpoint(c->engine, now, clock_wall_ms());
    if (st == STATUS_AGAIN)
        return;
    c->checkpointed = now;
    note_failure(c, st);
}

static int64_t nap(struct crawl *c, int64_t now)
{
    int64_t due = c->engine->ops->next_due(c->engine, now, NULL);

    if (c->end != CRAWL_RUNNING || atomic_load(&c->paused) ||
        due >= now + LONGEST_NAP)
        return LONGEST_NAP;
    return due <= now ? 0 : due - now;
}

static void frontier_turn_once(struct crawl *c)
{
    struct report *batch[BATCH];
    int64_t now = clock_mono();
    size_t n = queue_receive(c->reports, (void **)batch, BATCH, nap(c, now));

    take_reports(c, batch, n);
    run_tasks(c);
    now = clock_mono();
    if (c->status == STATUS_OK)
        note_failure(c, c->engine->ops->turn(c->engine, false, now,
                                             clock_wall_ms(), NULL));
    if (c->end == CRAWL_RUNNING)
        c->end = why_stop(c, now);
    lease_due(c);
    if (c->status == STATUS_OK)
        checkpoint_if_due(c, now);
    pass_on_stop(c);
    publish(c, now, false);
}

static bool nothing_left(struct crawl *c)
{
    struct engine_stats s;

    c->engine->ops->stats(c->engine, &s);
    return s.queued == 0;
}

static void last_words(struct crawl *c)
{
    int64_t now = clock_mono();

    task_list_close(&c->tasks);
    end_tasks(c, task_list_take(&c->tasks), true);
    if (c->status == STATUS_OK)
        note_failure(c, frontier_checkpoint_now(c->engine,
                                                nothing_left(c) ? "finished"
                                                                : "stopped",
                                                true, now, clock_wall_ms()));
    publish(c, now, true);
    pthread_mutex_lock(&c->mtx);
    c->result.end = c->end;
    c->result.status = c->status;
    c->ended = true;
    pthread_cond_broadcast(&c->ended_cond);
    pthread_mutex_unlock(&c->mtx);
}

static void *frontier_thread(void *arg)
{
    struct crawl *c = arg;

    c->started = c->looked = c->checkpointed = clock_mono();
    while (c->gone < c->o.threads)
        frontier_turn_once(c);
    last_words(c);
    return NULL;
}

/* ---- starting and ending ---- */

enum status crawl_start(struct crawl **out, struct engine *engine,
                        const struct crawl_options *o)
{
    struct crawl *c = xcalloc(1, sizeof *c);
    enum status st = STATUS_OK;
    pthread_condattr_t attr;

    c->engine = engine;
    c->o = *o;
    c->paused = o->paused;
    if (o->archive != NULL)
        c->trail = trail_new(frontier_store_of(engine));
    c->reports = queue_new(o->concurrency + o->threads);
    if (o->resolve != NULL)
        c->resolver = resolver_new(o->resolve, c->reports);
    c->leases = xcalloc(o->concurrency, sizeof *c->leases);
    c->recent = xcalloc(CRAWL_RECENT, sizeof *c->recent);
    c->fetchers = xcalloc(o->threads, sizeof(struct fetcher *));
    task_list_init(&c->tasks);
    pthread_mutex_init(&c->mtx, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&c->ended_cond, &attr);
    pthread_condattr_destroy(&attr);
    for (unsigned i = 0; st == STATUS_OK && i < o->threads; i++)
        st = fetcher_start(&c->fetchers[i], i, o->fetch, o->concurrency,
                           c->reports);
    if (st == STATUS_OK) /* nobody ever sees less than earlier runs had */
        publish(c, clock_mono(), true);
    if (st == STATUS_OK &&
        pthread_create(&c->thread, NULL, frontier_thread, c) != 0)
        st = STATUS_NOMEM;
    if (st != STATUS_OK) {
        log_error("cannot start threads", "threads=%u", o->threads);
        for (unsigned i = 0; i < o->threads; i++)
            if (c->fetchers[i] != NULL)
                fetcher_stop(c->fetchers[i]);
        c->thread = 0;
        crawl_free(c);
        return st;
    }
    *out = c;
    return STATUS_OK;
}

void crawl_stop(struct crawl *c)
{
    atomic_fetch_add(&c->stops, 1);
    queue_wake(c->reports);
}

void crawl_pause(struct crawl *c, bool pause)
{
    atomic_store(&c->paused, pause);
    queue_wake(c->reports);
}

enum status crawl_post(struct crawl *c, struct crawl_task *task)
{
    enum status st = task_list_add(&c->tasks, task);

    if (st == STATUS_OK)
        queue_wake(c->reports);
    return st;
}

void crawl_set_limits(struct crawl *c, const struct crawl_limits *l)
{
    c->o.limit_pages = l->limit_pages;
    c->o.quota = l->quota;
    c->o.time_limit = l->time_limit;
    c->o.give_up = l->give_up;
}

const struct fetcher_options *crawl_fetching(const struct crawl *c)
{
    return c->o.fetch;
}

/* Who waits for a task. */
struct performance {
    pthread_mutex_t mtx;
    pthread_cond_t cond;
    bool done;
};

static void performed(struct crawl_task *t)
{
    struct performance *p = t->waiter;

    pthread_mutex_lock(&p->mtx);
    p->done = true;
    pthread_cond_signal(&p->cond);
    pthread_mutex_unlock(&p->mtx);
}

enum status crawl_perform(struct crawl *c, struct crawl_task *t)
{
    struct performance p = {.done = false};
    enum status st;

    pthread_mutex_init(&p.mtx, NULL);
    pthread_cond_init(&p.cond, NULL);
    /* cppcheck-suppress autoVariables */
    t->waiter = &p; /* until `done`, which is waited for */
    t->done = performed;
    st = crawl_post(c, t);
    pthread_mutex_lock(&p.mtx);
    while (st == STATUS_OK && !p.done)
        pthread_cond_wait(&p.cond, &p.mtx);
    pthread_mutex_unlock(&p.mtx);
    pthread_cond_destroy(&p.cond);
    pthread_mutex_destroy(&p.mtx);
    return st == STATUS_OK ? t->status : st;
}

void crawl_look(struct crawl *c, struct crawl_sample *out)
{
    pthread_mutex_lock(&c->mtx);
    *out = c->sample;
    pthread_mutex_unlock(&c->mtx);
    out->paused = atomic_load(&c->paused); /* who paused it sees it at once */
}

bool crawl_wait(struct crawl *c, int64_t timeout_ns,
                struct crawl_result *result)
{
    int64_t until = clock_mono() + timeout_ns;
    struct timespec t = {.tv_sec = (time_t)(until / NS_PER_S),
                         .tv_nsec = (long)(until % NS_PER_S)};
    bool ended;

    pthread_mutex_lock(&c->mtx);
    while (!c->ended &&
           pthread_cond_timedwait(&c->ended_cond, &c->mtx, &t) == 0)
        ;
    ended = c->ended;
    if (ended)
        *result = c->result;
    pthread_mutex_unlock(&c->mtx);
    return ended;
}

void crawl_free(struct crawl *c)
{
    if (c == NULL)
        return;
    if (c->thread != 0)
        pthread_join(c->thread, NULL);
    for (unsigned i = 0; i < c->o.threads; i++)
        fetcher_free(c->fetchers[i]);
    resolver_free(c->resolver);
    queue_free(c->reports);
    trail_free(c->trail);
    pthread_cond_destroy(&c->ended_cond);
    pthread_mutex_destroy(&c->mtx);
    task_list_fini(&c->tasks);
    free(c->fetchers);
    free(c->leases);
    free(c->recent);
    free(c);
}
