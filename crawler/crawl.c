/* SPDX-License-Identifier: MIT */
/*
 * crawl.c - the outer loop of a crawl.
 *
 *      fetchers ── reports ──► frontier thread ── assignments ──► fetchers
 *                                 │  ack, release, lease
 *                                 ▼
 *   resolver ◄── hosts, places ── engine ──► store (one transaction a turn)
 *
 * The frontier thread waits only for reports: giving an assignment never
 * blocks, since no fetcher gets more than `concurrency`. So a full report queue
 * blocks only the fetchers.
 */
#include "crawler/crawl.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/logger.h"
#include "base/mem.h"
#include "base/thread/cond.h"
#include "base/thread/latch.h"
#include "crawler/crawl_impl.h"

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

enum status crawl_start(struct crawl **out, struct engine *engine,
                        const struct crawl_options *o)
{
    struct crawl *c = xcalloc(1, sizeof *c);
    enum status st = STATUS_OK;

    c->engine = engine;
    c->o = *o;
    c->paused = o->paused;
    if (o->archive != NULL)
        c->hop_path = hop_path_new(engine);
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
