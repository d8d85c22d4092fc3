/*
 * crawl_impl.h - the inside of a crawl, shared by its files.
 *
 *   crawl.c          starts and stops it; the frontier thread, one turn after the
 *                    other; fetchers that do not come back
 *   crawl_balance.c  which fetcher gets a URL
 *   crawl_stats.c    stats for progress and monitors
 */
#ifndef URLWEIR_CRAWLER_CRAWL_IMPL_H
#define URLWEIR_CRAWLER_CRAWL_IMPL_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/clock.h"
#include "crawler/crawl.h"
#include "crawler/crawl_balance.h"
#include "crawler/transfer/in_hand.h"
#include "frontier/frontier.h"

#define CRAWL_BATCH 256 /* reports per batch: one seen check for all */

/* Posted tasks in order; any thread. */
struct task_list {
    pthread_mutex_t mtx;
    struct crawl_task *first, **end;
    bool closed;
};

/* ---- how long a turn waits ---- */

/* Zeroed: no URL was leased yet. */
struct turn_pace {
    int64_t hurried; /* when the last URL of a hurried host was leased */
};

/* A URL was leased whose host may be asked again `pause` ns after its
 * response. */
void turn_pace_leased(struct turn_pace *p, int64_t pause, int64_t now);

/* What queue_gather is told, times in ns. */
struct turn_wait {
    int64_t first; /* for the first report */
    size_t enough; /* reports that begin a turn at once; 0: any */
    int64_t more;  /* after the first, until there are enough */
};

/* `out` URLs are with fetchers, of which at most `most` reports make a turn; a
 * host is due in `until_due`, 0 or later. */
struct turn_wait turn_pace_wait(const struct turn_pace *p, size_t out,
                                size_t most, int64_t until_due, int64_t now);

/* ---- the crawl ---- */

struct crawl {
    struct frontier *frontier;
    struct crawl_options o;
    struct fetcher **fetchers;
    struct crawl_balance *balance;
    struct queue *reports;
    struct resolver *resolver; /* NULL: addresses are not needed */
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
    uint64_t answers;            /* ever put into the ring */
    bool ended;

    /* frontier thread */
    int64_t started, published, disk_checked, checkpointed;
    int64_t frontier_at;           /* when its stats were taken; 0: not yet */
    struct frontier_memory memory; /* then */
    uint64_t frontier_queued;      /* URLs that were queued then */
    struct frontier_stats frontier_stats; /* as of then */
    struct frontier_counts counted;       /* for the rates, as of `rated_at` */
    int64_t rated_at;                     /* 0: not yet */
    double pages_rate, bytes_rate;
    struct crawl_standstill standstill;
    int64_t asked_why_at; /* when ask_why ran last; 0: not yet */
    enum crawl_end end;   /* why it is stopping, or CRAWL_RUNNING */
    enum status status;
    int stops_done; /* stops that fetchers were told of */
    unsigned gone;  /* fetchers that have ended */
    struct turn_pace pace;
    size_t out;       /* URLs with fetchers */
    size_t in_force;  /* the most of them now */
    uint64_t charged; /* octets of transfers, taken from the pool of bodies */
    struct watchdog *watchdog;
    int64_t watched_at;        /* its last check, monotonic */
    int64_t watched_time;      /* the same check by the watchdog's clock */
    int64_t got_on;            /* by that clock: last progress, or a hang */
    struct hop_path *hop_path; /* NULL: answers are not recorded */
    struct url_lease *leases;
};

/* ---- on the frontier thread ---- */

/* Publishes the stats if they are old or `force` is set. The frontier's are taken
 * once a second, and also when the last URL is done and at the end. */
void crawl_publish(struct crawl *c, int64_t now, bool force);
/* Keeps the answer for crawl_recent. */
void crawl_remember(struct crawl *c, const struct url_done *d);
/* Sets the outcome of the nth remembered answer (from 0) if it is still
 * kept. */
void crawl_set_outcome(struct crawl *c, uint64_t nth, struct outcome o);

#endif
