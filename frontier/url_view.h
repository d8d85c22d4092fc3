/*
 * url_view.h - URLs and queues as other programs see them and ask for them.
 *
 * Types that both frontiers share: served URLs, which other programs put
 * (frontier/served), and a crawl of our own (frontier/crawl). Times are the
 * wall clock in milliseconds. Any thread.
 */
#ifndef URLWEIR_FRONTIER_URL_VIEW_H
#define URLWEIR_FRONTIER_URL_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"

enum url_state {
    URL_STATE_NONE,    /* not a served URL */
    URL_STATE_REMOVED, /* its row is still there */
    URL_STATE_QUEUED,  /* waits for its date or its turn */
    URL_STATE_LEASED,
    URL_STATE_COMPLETED
};
/* "queued"; static. */
const char *url_state_name(enum url_state s);

/* ---- one URL ---- */

struct url_view {
    struct bytes crawl, key, url, metadata; /* during the visit */
    int64_t due_ms, created_ms;             /* due 0: completed */
    uint64_t lease;                         /* 0: not leased */
};
/* False: this one was the last. */
typedef bool (*url_visit)(void *ctx, const struct url_view *view);

/* A URL that a program puts. */
struct url_put {
    bool known; /* else discovered: no effect if it exists */
    struct bytes crawl, key, url, metadata;
    int64_t due_ms; /* known: 0: completed; discovered: 0: due now, in turn */
    bool fresh;     /* out: it was new */
};

/* What explain shows besides the URL itself. */
struct url_facts {
    enum url_state state; /* queued, leased or completed */
    int64_t due_ms, created_ms;
    int64_t leased_until_ms; /* 0: not leased to another program */
    /* of its queue */
    int64_t blocked_until_ms; /* 0: not blocked */
    int64_t served_ms;        /* last time it was; 0: never, or unknown */
    int64_t delay_ms;         /* in force */
    uint32_t limit;           /* of completed URLs; 0: none */
};

/* ---- requests ---- */

/* URLs to lease. */
struct url_ask {
    bool any_crawl;
    struct bytes crawl; /* else */
    bool one_queue;
    struct bytes key;   /* of one_queue */
    uint32_t most_urls; /* of a queue; 0: no limit. Queues with this many leased
                           URLs are skipped */
    uint32_t most_queues; /* 0: no limit */
    int64_t lease_ms;
    /* Where to go on after a visit ended a call; all zero at first. */
    int64_t turn;
    uint32_t queues, queue, urls;
};

/* URLs to list or count, in order of queues or of arrival. */
struct url_list {
    struct bytes crawl, key;    /* empty key: all queues of the crawl */
    bool filtered, ignore_case; /* of ASCII letters */
    struct bytes filter;        /* a substring of the URL */
    uint64_t skip, most;        /* matches to skip, to list; most 0: no limit */
    uint64_t budget;            /* most URLs checked in one call */
    /* Where to go on; all zero at first. */
    uint32_t queue;
    uint64_t id, passed; /* passed: matches so far */
};
/* Does the URL contain the filter's text? True without a filter. */
bool url_list_matches(const struct url_list *l, struct bytes url);
/* Have all requested URLs been passed? */
bool url_list_is_full(const struct url_list *l);

/* How the holder of a lease settles its URL. */
enum url_settle {
    URL_SETTLE_ACK,   /* completed, or due again later */
    URL_SETTLE_FAIL,  /* given back */
    URL_SETTLE_EXTEND /* leased for longer */
};

/* ---- counts ---- */

struct url_counts {
    uint64_t active; /* not completed; leased and future ones included */
    uint64_t leased, completed;
    uint64_t queues, active_queues;
};

/*
 * The life of a URL: what it is, and what an event makes of it.
 *
 * One table for all URLs: those of our own crawls (frontier/crawl) and those
 * that other programs put (frontier/served). Each keeps the state in a form of
 * its own, asks here what comes next, and does that.
 *
 *   queued   waits for its turn; nobody has done it yet
 *   leased   is with a fetcher, or with another program
 *   done     waits for nothing
 *   due      waits for its date, and then for its turn
 *   again    leased at its date
 *   gone     waits for nothing: its page was missing too often
 *
 *               queued   leased   done     due      again    gone
 *   lease       leased   -        -        again    -        -
 *   give back   -        queued   -        -        due      -
 *   retry       -        queued   -        -        due      -
 *   end         done     done     done     done     done     -
 *   date        due      due      due      due      due      -
 *   miss        -        -        -        -        gone     -
 *   ask         -        -        due      due      -        due
 *   undate      -        -        -        done     -        -
 *
 * The guards are with the parts that know what they ask for: has its turn or
 * date come (schedule.h, served_queue.c), is the outcome final
 * (frontier_settle.c), which event is that (refresh_rule.h). Any thread.
 */
enum url_life {
    LIFE_NONE, /* after an event: none of these, the URL stays as it is */
    LIFE_QUEUED,
    LIFE_LEASED,
    LIFE_DONE,
    LIFE_DUE,
    LIFE_AGAIN,
    LIFE_GONE,
    LIFE_STATES_
};

enum life_event {
    LIFE_LEASE,     /* its turn has come, and its date if it has one */
    LIFE_GIVE_BACK, /* the lease ended without an outcome */
    LIFE_RETRY,     /* an outcome that is not final */
    LIFE_END,       /* a final one, or what a program says, without a date */
    LIFE_DATE,      /* the same with a date */
    LIFE_MISS,      /* a final one: its page was missing once too often */
    LIFE_ASK,       /* a setting, a sitemap or a person gives it a date */
    LIFE_UNDATE,    /* a setting takes its date away */
    LIFE_EVENTS_
};

enum url_life url_life_after(enum url_life is, enum life_event event);

#endif
