/*
 * crawl.h - starts and stops fetchers; the outer loop of a crawl.
 *
 * crawl_start makes the fetcher threads and the frontier thread, which alone
 * touches the frontier until crawl_free. Everything else here may be called from
 * any thread; none of it waits for the network.
 */
#ifndef URLWEIR_CRAWLER_CRAWL_H
#define URLWEIR_CRAWLER_CRAWL_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "crawler/address/resolver.h"
#include "crawler/archive/archive.h"
#include "crawler/fetch/fetch_set.h"
#include "frontier/frontier.h"
#include "frontier/outcome.h"
#include "frontier/stats.h"

/* ---- lets other threads run work on the frontier thread ---- */

/*
 * The frontier thread alone touches frontier and store. Other threads that need
 * them (to add seeds, block a host, lease a URL to another program, or read the
 * queues) post a task. The frontier thread calls `run` between two turns of the
 * crawl's loop, and then `done`; `run` must be short, as all fetchers wait for
 * it. The caller owns a struct crawl_task, except from a successful post until
 * `done`: then the crawl owns it.
 */

struct crawl;

struct crawl_task {
    /* Called on the frontier thread. Its status concerns the task alone, unless
     * the frontier broke. */
    enum status (*run)(struct crawl_task *t, struct frontier *f, int64_t now,
                       int64_t wall_ms);
    /* `run` changes the store, and `done` waits for the commit. Set by the
     * poster or by `run`. */
    bool durable;
    /* Called once, on the frontier thread: t->status is what `run` returned, or
     * why it could not be called or committed (STATUS_CLOSED: the crawl has
     * ended). May free the task and post others. */
    void (*done)(struct crawl_task *t);
    void *ctx; /* for the caller */

    enum status status;
    struct crawl_task *next; /* for the crawl */
    void *waiter;            /* for crawl_perform */
};

/* ---- crawl ---- */

struct crawl;

struct crawl_options {
    const char *dir;         /* on the disk that min_disk watches */
    unsigned threads;        /* fetchers; at least 1 */
    uint32_t conns_per_host; /* over all fetchers; 0: 1 */
    size_t concurrency;      /* most URLs in flight; with `auto`, ever */
    bool auto_concurrency;   /* as memory allows now, limits.h */
    uint64_t limit_pages;    /* 0: no limit; the frontier enforces it too */
    uint64_t quota;          /* octets received, whole crawl; 0: no limit */
    int64_t time_limit;      /* ns of this run; 0: no limit */
    int64_t give_up;    /* ns: stop if everything left waits longer; 0: never */
    uint64_t min_disk;  /* octets to leave free; 0: not watched */
    int64_t checkpoint; /* ns between checkpoints; 0: only at the end */
    bool stay;          /* keep running when nothing is left */
    bool until_idle;    /* do not wait for dates (frontier_counts.dated) */
    bool paused;        /* starts paused, see crawl_pause */
    struct archive *archive;                /* NULL: answers are not recorded */
    const struct resolver_options *resolve; /* NULL: not --queue-key ip */
    struct connection_budget *connections;  /* may be NULL */
    const struct fetcher_options *fetch;    /* outlives the crawl */
};

enum crawl_end {
    CRAWL_RUNNING = 0,
    CRAWL_FINISHED,    /* nothing is left */
    CRAWL_IDLE,        /* what is left is due at a later date */
    CRAWL_LIMIT,       /* --limit */
    CRAWL_TIME,        /* --time */
    CRAWL_QUOTA,       /* --quota */
    CRAWL_DISK,        /* --min-disk */
    CRAWL_FULL,        /* something could not be written: a full disk */
    CRAWL_GAVE_UP,     /* everything left waits longer than --give-up */
    CRAWL_WITHHELD,    /* everything left is over a budget or limit */
    CRAWL_STUCK,       /* fetchers hang, and nothing else gets done */
    CRAWL_INTERRUPTED, /* crawl_stop */
    CRAWL_BROKEN       /* the store failed; see crawl_result.status */
};

/* A host that has URLs left but may not be asked now. */
struct crawl_wait {
    char host[256];
    const char *why; /* static: "retry_after", "connect", "per-host"; or "" */
    uint64_t urls;
    int64_t ns; /* until it may be asked; -1: it did not respond, and is not
                   asked again in this run; INT64_MAX: over a budget */
};
#define CRAWL_WAITS 9

struct crawl_result {
    enum crawl_end end;
    enum status status; /* of the store */
    unsigned stuck;     /* fetchers that hang, see crawl_free */
    /* CRAWL_GAVE_UP: the host that is due first, and the blocked ones. After
     * any end but CRAWL_FINISHED: hosts that did not respond for too long, and
     * those over a budget. The host with the most URLs comes first. */
    struct crawl_wait waits[CRAWL_WAITS];
    size_t wait_count;
    /* Of a crawl that was stopped with URLs left: the host that will take
     * longest; ns: its delay, why: what makes that. urls 0: none. */
    struct crawl_wait longest;
};

/* Nothing is in flight and nothing is due: which host is due first, and
 * when. */
struct crawl_standstill {
    char host[256];       /* "": the crawl does not wait */
    const char *why;      /* static: why that host has to wait; "": its delay */
    unsigned http_status; /* of its last response; 0: no response */
    int64_t ns;           /* until it may be asked */
};

/* The state of a crawl for progress, status and monitors; at most 200 ms old,
 * except `frontier`. */
struct crawl_stats {
    struct frontier_counts counts;
    struct frontier_memory memory; /* held by the frontier a second ago
                                                at most */
    uint64_t active;               /* transfers in flight */
    uint64_t requests;             /* of this run */
    uint64_t wire_bytes;           /* received in this run */
    uint64_t transfers_most;       /* as many may be in flight now */
    uint64_t connections;          /* opened in this run */
    uint64_t connections_open;     /* now, idle ones included */
    uint64_t handshakes, handshakes_resumed; /* with TLS, in this run */
    uint64_t stuck;                          /* fetchers that hang */
    uint64_t bodies;                         /* octets of bodies in memory */
    struct fetch_stats fetches;              /* of this run */
    struct frontier_stats frontier; /* up to a second old, exact at the end */
    double pages_rate, bytes_rate;  /* per second, see base/histogram.h */
    struct crawl_standstill standstill;
    bool draining; /* stopping: finishing transfers in flight */
    bool paused;
};

/* `frontier` belongs to the frontier thread until crawl_free. */
MUST_CHECK enum status crawl_start(struct crawl **out,
                                   struct frontier *frontier,
                                   const struct crawl_options *o);
/* The first call stops leasing and finishes transfers in flight; a second call
 * aborts them. The crawl can be resumed after either. Not async-signal-safe. */
void crawl_stop(struct crawl *c);
/* A paused crawl leases nothing, and does not end because nothing is due. */
void crawl_pause(struct crawl *c, bool pause);
/* Runs a task on the frontier thread, see crawl.h. STATUS_CLOSED: the
 * crawl has ended, and the caller keeps the task. */
MUST_CHECK enum status crawl_post(struct crawl *c, struct crawl_task *task);
/* Like crawl_post, but waits until the task is done and returns its status;
 * does not call t->done. */
MUST_CHECK enum status crawl_perform(struct crawl *c, struct crawl_task *t);
/* Replaces these crawl_options; call it from a task, on the frontier thread. */
struct crawl_limits {
    uint64_t limit_pages, quota;
    int64_t time_limit, give_up;
};
void crawl_set_limits(struct crawl *c, const struct crawl_limits *l);
/* The settings of the fetchers; they also apply to URLs that other programs
 * put. Any thread. */
const struct fetcher_options *crawl_fetching(const struct crawl *c);
void crawl_get_stats(struct crawl *c, struct crawl_stats *out);
/* Waits at most `timeout_ns`. True: the crawl has ended, and has tried to write
 * its last checkpoint. */
bool crawl_wait(struct crawl *c, int64_t timeout_ns,
                struct crawl_result *result);
/* Call it after crawl_wait returned true. The frontier belongs to the caller
 * again. If fetchers hang, their threads still run: then nothing is freed, and
 * the caller must free neither the frontier nor anything else that it gave to the
 * crawl, and must end the process soon. NULL is fine. */
void crawl_free(struct crawl *c);

/* Fills `out` with the latest answers, newest first: acknowledged outcomes, and
 * failed tries that will be repeated. Returns their number. */
#define CRAWL_RECENT 200
struct crawl_answer {
    int64_t at_ms; /* wall clock of the request */
    struct outcome outcome;
    uint32_t elapsed_ms;
    uint64_t bytes;  /* received */
    char url[501];   /* cut after a whole character */
    char title[201]; /* cut likewise; empty: no title */
};
size_t crawl_recent(struct crawl *c, struct crawl_answer *out, size_t most);

/* How the crawl ended, in words: "finished", "reached --limit". */
const char *crawl_end_text(enum crawl_end end);

#endif
