/*
 * engine_calls.h - what people and other programs ask of an engine.
 *
 * The arguments and results of those calls of engine.h that come from outside a
 * crawl: external leases, the removal of URLs, and lists of hosts.
 *
 * An external lease takes a URL from the queue and by the schedule that our own
 * fetchers go by: while it lasts the URL's host is busy, and the host's delay
 * runs from the moment at which the lease ends. It ends when the other program
 * reports what became of the URL, or at its deadline: then the URL stands in
 * its queue again. It outlives a restart, so nobody else gets the URL until it
 * ends. Lists of URLs, as sitemaps are, are not leased: a program that did not
 * read them would lose what they list. robots.txt is for the other program to
 * obey.
 *
 * A URL that is removed gets its last word: skipped, "removed". One that is
 * leased at that moment, to our fetchers or another program, is finished there
 * and not tried again. All of them stay known: no link, seed or put brings one
 * back. What is found later is new, as ever; politeness forgets nothing.
 */
#ifndef URLWEIR_FRONTIER_ENGINE_CALLS_H
#define URLWEIR_FRONTIER_ENGINE_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"

/* ---- external leases ---- */

/* A lease is known by a number of so many bits, never 0, drawn with the crawl's
 * secret: it is the same after a restart, and that of no earlier lease. */
#define EXTERNAL_NUMBER_BITS 47

struct external_request {
    bool one_queue;
    struct bytes key;     /* of one_queue */
    uint32_t most_urls;   /* of a queue, never more than its politeness allows;
                             0: as many as that */
    uint32_t most_queues; /* 0: no limit */
    size_t most;          /* in all */
    int64_t length; /* ns; EXTERNAL_LEASE_MOST at most, longer ones are cut */
};
#define EXTERNAL_LEASE_MOST_MS INT64_C(86400000)
#define EXTERNAL_LEASE_MOST    (EXTERNAL_LEASE_MOST_MS * 1000000)

struct external_report {
    bool final;           /* it was fetched, or is not to be */
    int64_t due_ms;       /* else: back to its queue, due then; wall clock */
    uint16_t http_status; /* 0: not said */
};

enum external_result {
    EXTERNAL_SETTLED,
    EXTERNAL_WAS_DONE, /* and stays so */
    EXTERNAL_OURS      /* one of our fetchers has it; its result will count */
};

struct external_facts {
    bool done;
    bool leased;     /* to one of our fetchers or another program */
    int64_t ends_in; /* ns; 0: not leased to another program */
    uint64_t number; /* 0: not leased to another program */
    int64_t due_for; /* ns until its time comes, as far as that is its own; 0:
                        when its turn comes */
};
/* Of a queue: may be asked again in so many ns, and how long it is kept out of
 * turn. `queue` is one of the store's. */
struct external_queue {
    uint64_t pending; /* URLs not done */
    uint32_t leased;
    int64_t blocked_for; /* ns; 0: not blocked */
    int64_t delay;       /* ns */
    uint32_t limit;      /* most of its URLs done, by a person; 0: none */
};

/* ---- removal, in steps between which the crawl goes on ---- */

struct removal {
    uint64_t gone; /* URLs removed so far */
    /* its own */
    uint32_t queue, last_queue; /* where it is, and where it ends */
    uint64_t after, upto;       /* ids: looked at, and to be looked at */
};

/* ---- hosts ---- */

enum engine_host_order {
    ENGINE_HOSTS_BIGGEST, /* most URLs left first */
    ENGINE_HOSTS_SLOWEST, /* those that answer last; answered ones alone */
    ENGINE_HOSTS_BLOCKED  /* blocked or dead alone, most URLs left first */
};
enum engine_host_state {
    ENGINE_HOST_READY,
    ENGINE_HOST_BUSY,    /* as many URLs are out as may be */
    ENGINE_HOST_WAITING, /* its delay */
    ENGINE_HOST_BLOCKED,
    ENGINE_HOST_DEAD /* given up for this run */
};
struct engine_host_row {
    struct bytes host; /* lives as long as `e` */
    enum engine_host_state state;
    const char *why;     /* static: why it is blocked or dead; or "" */
    uint64_t queued;     /* URLs not done */
    uint64_t fetched;    /* answers in this run, as far as it is remembered */
    uint32_t failures;   /* in a row */
    uint32_t latency_us; /* moving mean of its answers' times; 0: none yet */
    int64_t delay;       /* ns between two requests, as it stands */
    uint32_t limit;      /* most URLs done, by a person; 0: none */
    int64_t due;         /* moment at which it may be asked; INT64_MAX: not
                            before something comes back */
};

#endif
