/* SPDX-License-Identifier: MIT */
/*
 * crawl.c - the outer loop of a crawl.
 *
 *      fetchers ── reports ──► frontier thread ── assignments ──► fetchers
 *                                 │  ack, release, lease
 *                                 ▼
 *   resolver ◄── hosts, places ── frontier ──► store (one transaction a turn)
 *
 * The frontier thread waits only for reports: giving an assignment never
 * blocks, since no fetcher gets more than `concurrency`. So a full report queue
 * blocks only the fetchers.
 */
#include "crawler/crawl.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/fault.h"
#include "base/logger.h"
#include "base/mem.h"
#include "base/thread/cond.h"
#include "crawler/crawl_impl.h"
#include "crawler/fetcher.h"

/* ---- lets other threads run work on the frontier thread ---- */

/*
 * A list is enough, without a bound: the posters are few (a request, a
 * command), and each waits for its own task.
 */

void task_list_init(struct task_list *l)
{
    pthread_mutex_init(&l->mtx, NULL);
    l->first = NULL;
    l->end = &l->first;
    l->closed = false;
}

void task_list_fini(struct task_list *l)
{
    pthread_mutex_destroy(&l->mtx);
}

enum status task_list_add(struct task_list *l, struct crawl_task *t)
{
    enum status st = STATUS_OK;

    t->next = NULL;
    t->status = STATUS_OK;
    pthread_mutex_lock(&l->mtx);
    if (l->closed) {
        st = STATUS_CLOSED;
    } else {
        *l->end = t;
        l->end = &t->next;
    }
    pthread_mutex_unlock(&l->mtx);
    return st;
}

struct crawl_task *task_list_take(struct task_list *l)
{
    struct crawl_task *all;

    pthread_mutex_lock(&l->mtx);
    all = l->first;
    l->first = NULL;
    l->end = &l->first;
    pthread_mutex_unlock(&l->mtx);
    return all;
}

void task_list_close(struct task_list *l)
{
    pthread_mutex_lock(&l->mtx);
    l->closed = true;
    pthread_mutex_unlock(&l->mtx);
}

/* ---- starts and stops fetchers; the outer loop of a crawl ---- */

/*
 * Works around fetchers that hang.
 *
 * A parser or decoder that hangs on a response cannot be interrupted: its
 * thread may hold any lock or half-made object. So the crawl continues without
 * it. Other fetchers get its queues, the next start fails its URL
 * (crawl_turn.c), and the crawl ends when the others have ended or make no
 * more progress. Its other URLs stay leased until then, as only its thread may
 * touch them. They may be all that is left, or hold what others wait for (a
 * host, an address, memory for bodies), which is why only finished work counts
 * as progress.
 *
 * A thread that recovers after all finds everything unchanged.
 */

#define PATIENCE       (30 * NS_PER_S) /* for one step of a fetcher */
#define STATS_INTERVAL (100 * NS_PER_MS)

/* How long one step of a fetcher may take, in ns. */
static int64_t crawl_patience(void)
{
    return fault_time("stuck", PATIENCE);
}

/* ---- the queues of a fetcher that hangs ---- */

static void hand_on(struct crawl *c, unsigned from)
{
    struct assignment **all =
        xcalloc(c->o.concurrency, sizeof(struct assignment *));
    size_t n = fetcher_take_back(c->fetchers[from], all);

    for (size_t i = 0; i < n; i++) {
        crawl_balance_ended(c->balance, all[i]->lease.queue, from,
                            CRAWL_BALANCE_TAKEN_BACK);
        crawl_assign(c, all[i], false);
    }
    free(all);
}

/* ---- one fetcher ---- */

static void got_stuck(struct crawl *c, unsigned i, uint64_t id, uint64_t steps)
{
    struct in_hand_slot *slot = in_hand_slot(c->in_hand, i);
    struct bytes url = frontier_leased_url(c->frontier, id);
    int64_t waited = watchdog_waited(c->watchdog, i);
    char since[CLOCK_ISO_SIZE];

    clock_iso(since, clock_wall_ms() - waited / NS_PER_MS);
    in_hand_mark_stuck(c->in_hand, i, steps);
    log_error(
        "a fetcher is stuck on a URL, which fails as `stuck` at the next start",
        "fetcher=%u since=%s seconds=%lld doing=\"%s\" others=%u url=%.*s", i,
        since, (long long)(waited / NS_PER_S),
        in_hand_doing_text((enum in_hand_doing)atomic_load(&slot->doing)),
        c->o.threads - watchdog_stuck(c->watchdog), (int)url.len, url.at);
    crawl_balance_hangs(c->balance, i, true);
    hand_on(c, i);
    c->got_on = c->watched_time;
}

static void look_at(struct crawl *c, unsigned i)
{
    struct in_hand_slot *slot = in_hand_slot(c->in_hand, i);
    uint64_t id = atomic_load(&slot->id), steps = atomic_load(&slot->steps);

    switch (watchdog_check(c->watchdog, i, id, steps)) {
    case WATCHDOG_NOTHING:
        break;
    case WATCHDOG_STUCK:
        got_stuck(c, i, id, steps);
        break;
    case WATCHDOG_BACK:
        crawl_balance_hangs(c->balance, i, false);
        log_warn("a fetcher is no longer stuck; its URL has not failed",
                 "fetcher=%u", i);
        break;
    }
}

/* ---- all of them ---- */

static void end_without_them(struct crawl *c)
{
    bool alone = c->gone + watchdog_stuck(c->watchdog) >= c->o.threads;

    if (atomic_load(&c->paused) && c->end == CRAWL_RUNNING)
        c->got_on = c->watched_time;
    if (alone && c->end == CRAWL_RUNNING)
        c->end = CRAWL_STUCK;
    else if (c->watched_time - c->got_on >= 2 * crawl_patience() &&
             c->end != CRAWL_BROKEN)
        c->end = CRAWL_STUCK;
}

void crawl_look_for_stuck(struct crawl *c, int64_t now)
{
    /* A fetcher that hung and has ended must not be counted twice. */
    if (watchdog_stuck(c->watchdog) == 0 &&
        now - c->watched_at < STATS_INTERVAL)
        return;
    c->watched_at = now;
    c->watched_time = watchdog_round(c->watchdog, now);
    for (unsigned i = 0; i < c->o.threads; i++)
        look_at(c, i);
    if (watchdog_stuck(c->watchdog) > 0)
        end_without_them(c);
}

void crawl_heard_of(struct crawl *c, const struct report *r)
{
    if (r->kind == REPORT_PART)
        watchdog_heard_of(c->watchdog, r->id);
    else if (r->kind == REPORT_DONE)
        c->got_on = c->watched_time;
}

#define REPORTS_WAIT 128

const char *crawl_end_text(enum crawl_end end)
{
    static const char *const texts[] = {
        [CRAWL_RUNNING] = "running",
        [CRAWL_FINISHED] = "finished",
        [CRAWL_IDLE] = "no URL is due before a later date",
        [CRAWL_LIMIT] = "reached --limit",
        [CRAWL_TIME] = "reached --time",
        [CRAWL_QUOTA] = "reached --quota",
        [CRAWL_DISK] = "the disk is nearly full (--min-disk)",
        [CRAWL_FULL] = "the disk is full",
        [CRAWL_GAVE_UP] = "everything that is left waits longer than --give-up",
        [CRAWL_WITHHELD] = "the rest is over a budget or limit of its host",
        [CRAWL_STUCK] = "a fetcher is stuck",
        [CRAWL_INTERRUPTED] = "interrupted",
        [CRAWL_BROKEN] = "the store failed",
    };

    return texts[end];
}

/* ---- starting and ending ---- */

/* Reports hold what pages revealed, so few may wait, however many transfers
 * there are; and of large ones, as parts of sitemaps are, even fewer. */
#define REPORT_OCTETS_WAIT ((size_t)4 << 20)

static size_t report_room(const struct crawl_options *o)
{
    return (o->concurrency < REPORTS_WAIT ? o->concurrency : REPORTS_WAIT) +
           o->threads;
}

enum status crawl_start(struct crawl **out, struct frontier *frontier,
                        const struct crawl_options *o)
{
    struct crawl *c = xcalloc(1, sizeof *c);
    enum status st = STATUS_OK;

    c->frontier = frontier;
    c->o = *o;
    c->paused = o->paused;
    if (o->archive != NULL)
        c->hop_path = hop_path_new(frontier);
    c->in_force = o->concurrency;
    c->reports = queue_new(report_room(o), REPORT_OCTETS_WAIT);
    if (o->resolve != NULL)
        c->resolver = resolver_new(o->resolve, c->reports);
    c->leases = xcalloc(o->concurrency, sizeof *c->leases);
    c->recent = xcalloc(CRAWL_RECENT, sizeof *c->recent);
    c->fetchers = xcalloc(o->threads, sizeof(struct fetcher *));
    c->balance =
        crawl_balance_new(o->threads,
                          o->conns_per_host > 0 ? o->conns_per_host : 1);
    task_list_init(&c->tasks);
    pthread_mutex_init(&c->mtx, NULL);
    cond_init(&c->ended_cond);
    c->watchdog = watchdog_new(o->threads, crawl_patience());
    st = crawl_blame_left(c);
    if (st != STATUS_OK) { /* the store has said why */
        crawl_free(c);
        return st;
    }
    for (unsigned i = 0; st == STATUS_OK && i < o->threads; i++)
        st = fetcher_start(&c->fetchers[i], i, o->fetch, o->concurrency,
                           c->reports, in_hand_slot(c->in_hand, i));
    if (st == STATUS_OK) /* the first stats include earlier runs */
        crawl_publish(c, clock_mono(), true);
    if (st == STATUS_OK &&
        pthread_create(&c->thread, NULL, crawl_frontier_thread, c) != 0)
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

static void performed(struct crawl_task *t)
{
    latch_open(t->waiter);
}

enum status crawl_perform(struct crawl *c, struct crawl_task *t)
{
    struct latch done;
    enum status st;

    latch_init(&done);
    /* cppcheck-suppress autoVariables */
    t->waiter = &done; /* lives until it opens, which we wait for */
    t->done = performed;
    st = crawl_post(c, t);
    if (st == STATUS_OK) {
        latch_wait(&done);
        st = t->status;
    }
    latch_fini(&done);
    return st;
}

bool crawl_wait(struct crawl *c, int64_t timeout_ns,
                struct crawl_result *result)
{
    int64_t until = clock_mono() + timeout_ns;
    bool ended;

    pthread_mutex_lock(&c->mtx);
    while (!c->ended && cond_wait_until(&c->ended_cond, &c->mtx, until))
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
    if (watchdog_stuck(c->watchdog) > 0)
        return; /* their threads may use any part of it */
    for (unsigned i = 0; i < c->o.threads; i++)
        fetcher_free(c->fetchers[i]);
    in_hand_close(c->in_hand);
    watchdog_free(c->watchdog);
    resolver_free(c->resolver);
    queue_free(c->reports);
    hop_path_free(c->hop_path);
    pthread_cond_destroy(&c->ended_cond);
    pthread_mutex_destroy(&c->mtx);
    task_list_fini(&c->tasks);
    crawl_balance_free(c->balance);
    free(c->fetchers);
    free(c->leases);
    free(c->recent);
    free(c);
}
