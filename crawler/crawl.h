/*
 * crawl.h - starts and stops fetchers; the outer loop of a crawl.
 *
 * crawl_start makes the fetcher threads and the frontier thread, which alone
 * touches the engine until crawl_free. Everything else here may be called from
 * any thread; none of it waits for the network.
 */
#ifndef URLWEIR_CRAWLER_CRAWL_H
#define URLWEIR_CRAWLER_CRAWL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "crawler/archive/archive.h"
#include "crawler/crawl_task.h"
#include "crawler/fetch/fetch_stats.h"
#include "crawler/fetch/resolver.h"
#include "crawler/fetcher.h"
#include "frontier/engine.h"
#include "frontier/outcome.h"
#include "frontier/stats.h"

struct crawl;

struct crawl_options {
    const char *dir;      /* whose disk is watched */
    unsigned threads;     /* fetchers; at least 1 */
    size_t concurrency;   /* URLs in flight in all */
    uint64_t limit_pages; /* 0: none; the engine enforces it as well */
    uint64_t quota;       /* octets received, whole crawl; 0: none */
    int64_t time_limit;   /* ns of this run; 0: none */
    int64_t give_up;      /* ns: stop when all that is left waits longer; 0:
                             never */
    uint64_t min_disk;    /* octets that stay free; 0: not watched */
    int64_t checkpoint;   /* ns between two checkpoints; 0: only at the end */
    bool stay;            /* goes on when nothing is left, as more may be put */
    bool paused;          /* begins so, see crawl_pause */
    struct archive *archive;                /* NULL: answers are not recorded */
    const struct resolver_options *resolve; /* NULL: the engine does not go by
                                               address */
    struct connection_budget *connections;  /* told what the engine uses; may be
                                               NULL */
    const struct fetcher_options *fetch;    /* outlives the crawl */
};

enum crawl_end {
    CRAWL_RUNNING = 0,
    CRAWL_FINISHED,    /* nothing is left */
    CRAWL_LIMIT,       /* --limit */
    CRAWL_TIME,        /* --time */
    CRAWL_QUOTA,       /* --quota */
    CRAWL_DISK,        /* --min-disk, or a full disk */
    CRAWL_GAVE_UP,     /* everything left waits longer than --give-up */
    CRAWL_WITHHELD,    /* everything left is beyond the limit of its queue */
    CRAWL_STUCK,       /* fetchers do not come back, and nothing else is done */
    CRAWL_INTERRUPTED, /* crawl_stop */
    CRAWL_BROKEN       /* the store failed; see crawl_result.status */
};

/* A host that has URLs left and cannot be asked now. */
struct crawl_wait {
    char host[256];
    const char *why; /* static: "retry_after", "connect"; or "" */
    uint64_t urls;
    int64_t ns; /* until it may be asked; -1: it did not respond, and is not
                   asked again in this run */
};
#define CRAWL_WAITS 9

struct crawl_result {
    enum crawl_end end;
    enum status status; /* of the store */
    unsigned stuck;     /* fetchers that did not come back, see crawl_free */
    /* CRAWL_GAVE_UP: the host that is due first, and those that are blocked.
     * After any end but CRAWL_FINISHED: those that did not respond for too
     * long. Most URLs first. */
    struct crawl_wait waits[CRAWL_WAITS];
    size_t wait_count;
};

/* Nothing is under way and nothing is due: what comes first, and when. */
struct crawl_standstill {
    char host[256];  /* "": it does not stand still */
    const char *why; /* static: why that host is left alone; "": its delay */
    unsigned http_status; /* of its last response; 0: none */
    int64_t ns;           /* until it may be asked */
};

/* The state of a crawl for progress, status and monitors; at most 200 ms old,
 * but for `frontier`. */
struct crawl_stats {
    struct engine_stats engine;
    uint64_t active;                /* transfers under way */
    uint64_t requests;              /* of this run */
    uint64_t wire_bytes;            /* received in this run */
    uint64_t connections;           /* opened in this run */
    uint64_t stuck;                 /* fetchers that do not come back */
    struct fetch_stats fetches;     /* of this run */
    struct frontier_stats frontier; /* at most a second old; at the end new */
    double pages_rate, bytes_rate;  /* a second, see crawl_rates.h */
    struct crawl_standstill standstill;
    bool draining; /* stopping: finishing what is under way */
    bool paused;
};

/* `engine` is handed to the frontier thread until crawl_free. */
MUST_CHECK enum status crawl_start(struct crawl **out, struct engine *engine,
                                   const struct crawl_options *o);
/* First call: lease nothing more, finish what is under way. A second call:
 * give up what is under way. Both resumable. Async-signal-unsafe. */
void crawl_stop(struct crawl *c);
/* Leases nothing meanwhile, and does not end for want of something to lease. */
void crawl_pause(struct crawl *c, bool pause);
/* Has work done on the frontier thread, see crawl_task.h. STATUS_CLOSED: it has
 * ended, the task is still the caller's. */
MUST_CHECK enum status crawl_post(struct crawl *c, struct crawl_task *task);
/* The same, and waits until it is done; t->done is not called. The task's
 * status. */
MUST_CHECK enum status crawl_perform(struct crawl *c, struct crawl_task *t);
/* Other limits, as in crawl_options; on the frontier thread, from a task. */
struct crawl_limits {
    uint64_t limit_pages, quota;
    int64_t time_limit, give_up;
};
void crawl_set_limits(struct crawl *c, const struct crawl_limits *l);
/* The settings of its fetchers; they also apply to URLs put by other programs.
 * Any thread. */
const struct fetcher_options *crawl_fetching(const struct crawl *c);
void crawl_get_stats(struct crawl *c, struct crawl_stats *out);
/* Waits at most `timeout_ns`. True: it has ended; the last checkpoint, if it
 * could be written, is. */
bool crawl_wait(struct crawl *c, int64_t timeout_ns,
                struct crawl_result *result);
/* After crawl_wait said so. The engine is the caller's again. If fetchers were
 * stuck, their threads are still there: then nothing is freed, and the caller
 * frees neither the engine nor anything else that the crawl was given, and ends
 * the process soon. NULL is fine. */
void crawl_free(struct crawl *c);

/* The latest answers, newest first: the URLs whose last word, or a try that is
 * to be repeated, was acknowledged. How many there were for `out`. */
#define CRAWL_RECENT 200
struct crawl_answer {
    int64_t at_ms; /* wall clock of the request */
    struct outcome outcome;
    uint32_t elapsed_ms;
    uint64_t bytes;  /* received */
    char url[501];   /* cut there, where a character ends */
    char title[201]; /* so is this; empty: none */
};
size_t crawl_recent(struct crawl *c, struct crawl_answer *out, size_t most);

/* How it ended, for people: "finished", "reached --limit". */
const char *crawl_end_text(enum crawl_end end);

#endif
