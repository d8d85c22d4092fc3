/*
 * frontier_calls.h - requests of people and other programs to a frontier.
 *
 * The arguments and results of those calls of frontier.h that come from outside a
 * crawl: external leases, the removal of URLs, the retry of failed ones, the
 * import of another crawler's state, and lists of hosts.
 *
 * An external lease takes a URL from the same queue and schedule that our own
 * fetchers use: while it lasts the URL's host is busy, and the host's delay
 * runs from its end. It ends when the other program reports the URL's outcome,
 * or at its deadline; then the URL is back in its queue. It survives a restart,
 * so no other program gets the URL until it ends. Lists of URLs, such as
 * sitemaps, are not leased: a program that did not read them would lose what
 * they list. The other program must obey robots.txt itself.
 *
 * A removed URL gets a final outcome: skipped, "removed". If it is leased at
 * that moment, to our fetchers or another program, the fetch is finished but
 * not retried. Removed URLs stay known: no link, seed or put brings one back.
 * URLs found later are new as usual; the state of politeness is kept.
 *
 * What another crawler knew of a URL can be imported: it waits here too, or is
 * done with an outcome of its own, REASON_IMPORTED, and is not fetched. Such an
 * outcome is no page of this crawl: it counts for no limit and no budget, and
 * is no evidence of a trap. A URL that is done already stays as it is, so an
 * import may be repeated.
 *
 * A failed URL that is queued again gets a new row with fresh tries, and its
 * old outcome is taken back from the counters; the old tries stay in its
 * history.
 */
#ifndef URLWEIR_FRONTIER_FRONTIER_CALLS_H
#define URLWEIR_FRONTIER_FRONTIER_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "frontier/outcome.h"
#include "storage/rows/side_tables.h"

/* ---- external leases ---- */

/* A lease has a number of this many bits, never 0, made with the crawl's
 * secret: it stays the same after a restart, and is never reused. */
#define EXTERNAL_NUMBER_BITS 47

struct external_request {
    bool one_queue;
    struct bytes key;   /* of one_queue */
    uint32_t most_urls; /* of a queue, within its politeness; 0: as many as that
                           allows */
    uint32_t most_queues; /* 0: no limit */
    size_t most;          /* in all */
    int64_t length;       /* ns; at most EXTERNAL_LEASE_MOST */
};
#define EXTERNAL_LEASE_MOST_MS INT64_C(86400000)
#define EXTERNAL_LEASE_MOST    (EXTERNAL_LEASE_MOST_MS * 1000000)

struct external_report {
    bool final;           /* it was fetched, or will not be */
    int64_t due_ms;       /* else: back to its queue, due then; wall clock */
    uint16_t http_status; /* 0: not given */
};

enum external_result {
    EXTERNAL_SETTLED,
    EXTERNAL_WAS_DONE, /* it stays done */
    EXTERNAL_OURS      /* one of our fetchers has it, and its result counts */
};

struct external_facts {
    bool done;
    bool leased;     /* to one of our fetchers or another program */
    int64_t ends_in; /* ns; 0: not leased to another program */
    uint64_t number; /* 0: not leased to another program */
    int64_t
        due_for; /* ns until its own due time; 0: it only waits for its turn */
};
/* State and settings of one of the store's queues. */
struct external_queue {
    uint64_t pending; /* URLs not done */
    uint32_t leased;
    int64_t blocked_for; /* ns; 0: not blocked */
    int64_t delay;       /* ns */
    uint32_t limit;      /* limit of done URLs, set by a person; 0: none */
};

/* What speaks against a URL (frontier_blame). */
enum blame {
    BLAME_DIED, /* an earlier process ended while it read a response for it */
    BLAME_STUCK /* that process is known to have hung over it */
};

/* ---- removal, in steps between which the crawl goes on ---- */

struct removal {
    uint64_t gone; /* URLs removed so far */
    /* private */
    uint32_t queue, last_queue; /* current queue, and last one */
    uint64_t after, upto;       /* ids done, and to be done */
};

/* ---- failed URLs that are tried again, in steps as well ---- */

struct failed_retry {
    struct bytes host; /* queue key; empty: of all hosts */
    /* "http_503", "timeout", and of URLs that did not fail "robots", "removed"
     * and others; none: those that failed, whatever the reason was */
    const char *const *reasons;
    size_t reason_count;
    uint64_t queued; /* URLs queued again so far */
    /* its own */
    uint64_t before;     /* fetches from this one on were looked at */
    uint64_t ids;        /* URLs that there were at the first step */
    unsigned char *seen; /* a bit for each: met; NULL at the end. A caller that
                            does not go on until then frees it. */
};

/* ---- done URLs that are to be fetched again, in steps as well ---- */

/* How far a pass over all done URLs has come, first over those with a date. */
struct refresh_walk {
    bool begun, searched, second; /* parts that have begun, or are over */
    uint64_t searched_upto;       /* for lost records */
    struct refresh_row at;
    uint64_t below;      /* fetch rows before this one are still to come */
    unsigned char *seen; /* a bit for each id up to `ids` */
    uint64_t ids;
};

struct page_record; /* storage/rows/page_store.h */

struct refresh_request {
    struct bytes host; /* queue key; empty: of all hosts */
    bool (*wants)(const void *ctx, struct bytes url); /* NULL: every URL */
    const void *ctx;
    /* Only URLs whose last fetch has lost its record; rows no longer name one
     * that is lost. NULL: that does not matter. */
    bool (*is_lost)(void *records, const struct page_record *r);
    void *records;
    bool now;       /* else not sooner than refresh_rules.min_ms after its last
                       fetch */
    uint64_t dated; /* URLs that got a date, or an earlier one, so far */
    struct refresh_walk walk; /* its own; the caller frees walk.seen */
};

/* ---- the state of another crawler ---- */

/* What it knew of one URL. Bytes are borrowed during the call. */
struct import_fact {
    struct outcome outcome; /* OUTCOME_QUEUED: it waits */
    int64_t at_ms;          /* when it was fetched, wall clock; 0: not known */
    struct bytes detail;    /* explanation: tool, file, line */
    /* All of its last fetch, from another crawl of ours, in place of the two
     * above; NULL: no more is known. */
    const struct fetch_row *row;
};
enum import_answer {
    IMPORT_NEW,     /* admitted, and done if the fact says so */
    IMPORT_SETTLED, /* it waited here, and is done now */
    IMPORT_KNOWN,   /* nothing has changed */
    IMPORT_DROPPED  /* it is on the blocklist; counted */
};

/* ---- hosts ---- */

enum host_order {
    HOSTS_BIGGEST, /* most URLs left first */
    HOSTS_SLOWEST, /* slowest answers first; only hosts that answered */
    HOSTS_BLOCKED  /* only blocked or dead ones, most URLs left first */
};
enum host_state {
    HOST_READY,
    HOST_BUSY,    /* as many URLs are leased as allowed */
    HOST_WAITING, /* for its delay */
    HOST_BLOCKED,
    HOST_DEAD /* given up for this run */
};
struct host_report {
    struct bytes host; /* lives as long as `f` */
    enum host_state state;
    const char *why; /* static: why it is blocked or dead, or the budget
                        that it is over (budget.h); or "" */
    bool over_budget;
    uint16_t http_status; /* of its last response in this run; 0: none */
    uint64_t queued;      /* URLs not done */
    uint64_t fetched;     /* responses in this run, as far as remembered */
    uint32_t requests;    /* of this run that were sent, as far as remembered */
    uint32_t connections; /* that were opened for them */
    uint32_t handshakes;  /* with TLS, of these */
    uint32_t failures;    /* in a row */
    uint32_t latency_us;  /* moving average of response times; 0: none yet */
    int64_t delay;        /* current ns between two requests */
    const char *delay_why; /* of schedule_why, or "operator" */
    int64_t crawl_delay;   /* of its robots.txt, ns; -1: none */
    int64_t set_delay;     /* by a person, ns; -1: none */
    uint32_t limit;        /* most URLs done, by a person; 0: none */
    int64_t due; /* when it may be asked; INT64_MAX: not before a lease ends */
};

#endif
