/*
 * crawl_impl.h - the inside of a crawl, shared by its files.
 *
 *   crawl.c          starts and stops it; what other threads may ask
 *   crawl_blame.c    URLs that an earlier process had in hand at its end
 *   crawl_turn.c     the frontier thread: one turn after the other, to its end
 *   crawl_reports.c  what fetchers tell, to the engine
 *   crawl_leases.c   what the engine hands out, to the fetchers
 *   crawl_stuck.c    fetchers that do not come back
 *   crawl_stats.c    stats for progress and monitors
 */
#ifndef URLWEIR_CRAWLER_CRAWL_IMPL_H
#define URLWEIR_CRAWLER_CRAWL_IMPL_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/clock.h"
#include "crawler/crawl.h"
#include "crawler/crawl_task.h"
#include "crawler/fetch/in_hand.h"
#include "crawler/fetch/watchdog.h"
#include "crawler/hop_path.h"
#include "frontier/engine.h"

#define CRAWL_BATCH 256 /* reports taken at once: one seen check for all */

struct crawl {
    struct engine *engine;
    struct crawl_options o;
    struct fetcher **fetchers;
    struct queue *reports;
    struct resolver *resolver; /* NULL: nobody asks for addresses */
    struct in_hand *in_hand;
    pthread_t thread;

    /* any thread */
    _Atomic int stops;
    _Atomic bool paused;
    struct task_list tasks;

    /* shared, under mtx */
    pthread_mutex_t mtx;
    pthread_cond_t ended_cond;
    struct crawl_stats stats;
    struct crawl_result result;
    struct crawl_answer *recent; /* a ring */
    uint64_t answers;            /* ever put there */
    bool ended;

    /* frontier thread */
    int64_t started, published, disk_checked, checkpointed;
    int64_t engine_at;              /* when its stats were taken; 0: not yet */
    uint64_t engine_queued;         /* URLs that were queued then */
    struct frontier_stats frontier; /* as of then */
    struct engine_stats counted;    /* for the rates, as of `rated_at` */
    int64_t rated_at;               /* 0: not yet */
    double pages_rate, bytes_rate;
    struct crawl_standstill standstill;
    int64_t asked_why_at; /* of its host; 0: not yet */
    enum crawl_end end;   /* why it is stopping; CRAWL_RUNNING: it is not */
    enum status status;
    int stops_done; /* how far fetchers were told to stop */
    unsigned gone;  /* fetchers that have ended */
    size_t out;     /* URLs with fetchers */
    struct watchdog *watchdog;
    int64_t watched_at;   /* its last round, monotonic */
    int64_t watched_time; /* and by its own clock */
    int64_t got_on;       /* by that clock: a URL was done, or one got stuck */
    struct hop_path *hop_path; /* NULL: nothing is recorded */
    struct engine_lease *leases;
};

/* Before other threads exist: counts a try of each URL that an earlier process
 * had in hand, durably, and opens c->in_hand. */
MUST_CHECK enum status crawl_blame_left(struct crawl *c);

/* How long a fetcher may take with one step, in ns. */
int64_t crawl_patience(void);

/* ---- on the frontier thread ---- */

/* The thread; ctx: struct crawl. */
void *crawl_frontier_thread(void *crawl);
/* What the store said; what is not STATUS_OK ends the crawl. */
void crawl_note_failure(struct crawl *c, enum status st);
/* Acknowledges, releases, records; frees them. */
void crawl_take_reports(struct crawl *c, struct report **reports, size_t n);
/* Hands out what is due, unless it is stopping or paused. */
void crawl_lease_due(struct crawl *c);
/* Publishes the stats if they are old or `force` is set. Those of the engine
 * are a second old at most, and made anew sooner only when the last URL is done
 * and at the end. */
void crawl_publish(struct crawl *c, int64_t now, bool force);
/* The fetcher to which the URLs of this queue go. */
struct fetcher *crawl_fetcher_of(const struct crawl *c, uint32_t queue);
/* Looks after fetchers that do not come back, and ends the crawl if they are
 * all that is left. */
void crawl_look_for_stuck(struct crawl *c, int64_t now);
/* A report is a sign of life. */
void crawl_heard_of(struct crawl *c, const struct report *r);
/* ---- of crawl_waits.c ---- */

/* At the end: hosts that have URLs left, in c->result. */
void crawl_note_waits(struct crawl *c, int64_t now);
void crawl_note_wait(struct crawl *c, struct bytes host, const char *why,
                     uint64_t urls, int64_t ns);

/* For crawl_recent. */
void crawl_remember(struct crawl *c, const struct engine_done *d);
/* Of the nth that was remembered, from 0, if it still is. */
void crawl_set_outcome(struct crawl *c, uint64_t nth, struct outcome o);

#endif
