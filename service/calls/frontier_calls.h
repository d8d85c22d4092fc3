/*
 * frontier_calls.h - the frontier's calls for other programs, as C structs.
 *
 * What the gRPC and the HTTP side know of the frontier: a call is a struct that
 * the transport fills in and hands over; the frontier thread (the only one that
 * touches the store) answers into the same struct and says so by `done`. The
 * meaning of each call is that of the URLFrontier API, in its reference
 * service's reading, less its defects (docs/decisions/service-store.md). There
 * is no protobuf and no socket in here.
 *
 * Durable: `done` of whatever changes something is called after the commit that
 * holds it was synced, never before; URLs that a GET hands out are leased on
 * disk by then. Calls are carried out in the order in which they were submitted
 * (a LIST or COUNT that reads much goes on between others). Puts that wait
 * together pass the seen check together and share one commit.
 *
 * Threads: submit and stop from any thread; everything else as its line says.
 * A struct frontier_call belongs to the transport, but from a submit that said
 * STATUS_OK until `done` it is the frontier's, and so is what it points to.
 *
 * Text: crawl IDs, keys and URLs are taken as bytes; a transport that answers
 * in protobuf strings or JSON refuses what is not UTF-8 before it gets here.
 */
#ifndef URLWEIR_SERVICE_CALLS_FRONTIER_CALLS_H
#define URLWEIR_SERVICE_CALLS_FRONTIER_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "base/histogram.h"
#include "base/status.h"
#include "frontier/watch.h"

struct frontier_service;

enum frontier_verb {
    FRONTIER_PUT,           /* PutURLs, PutDiscovered */
    FRONTIER_GET,           /* GetURLs */
    FRONTIER_URL_STATUS,    /* GetURLStatus, explain */
    FRONTIER_LIST_URLS,     /* ListURLs */
    FRONTIER_COUNT_URLS,    /* CountURLs */
    FRONTIER_PURGE_URLS,    /* PurgeURLs */
    FRONTIER_LIST_QUEUES,   /* ListQueues */
    FRONTIER_DELETE_QUEUE,  /* DeleteQueue */
    FRONTIER_BLOCK_QUEUE,   /* BlockQueueUntil */
    FRONTIER_SET_DELAY,     /* SetDelay */
    FRONTIER_SET_LIMIT,     /* SetCrawlLimit */
    FRONTIER_STATS,         /* GetStats */
    FRONTIER_LIST_CRAWLS,   /* ListCrawls */
    FRONTIER_DELETE_CRAWL,  /* DeleteCrawl */
    FRONTIER_SET_ACTIVE,    /* SetActive */
    FRONTIER_GET_ACTIVE,    /* GetActive */
    FRONTIER_SET_LOG_LEVEL, /* SetLogLevel */
    FRONTIER_LIST_NODES,    /* ListNodes */
    FRONTIER_SETTLE,        /* ack, fail, extend of one lease (JSON API) */
    FRONTIER_VERBS_         /* how many there are */
};

/* "put", "get", "url_status" ...; static. */
const char *frontier_verb_name(enum frontier_verb v);

/* Who made a call, for counting. */
enum frontier_via {
    FRONTIER_VIA_SELF = 0, /* this program, on its own account */
    FRONTIER_VIA_GRPC,
    FRONTIER_VIA_HTTP,
    FRONTIER_VIAS_ /* how many there are */
};

/* ---- what goes in and out ---- */

enum frontier_item_kind {
    FRONTIER_ITEM_NEITHER = 0, /* no member of the oneof was set */
    FRONTIER_ITEM_DISCOVERED,
    FRONTIER_ITEM_KNOWN
};

/* The numbers of AckMessage.Status. */
enum frontier_ack {
    FRONTIER_ACK_OK = 0,
    FRONTIER_ACK_SKIPPED = 1,
    FRONTIER_ACK_FAIL = 2,
    FRONTIER_ACKS_ /* how many there are */
};

/* One URL to put. Its ID is the transport's own affair. */
struct frontier_item {
    enum frontier_item_kind kind;
    struct bytes crawl; /* blank: DEFAULT */
    struct bytes key;   /* empty: taken from the URL */
    struct bytes url;
    /* Verbatim, as it stands on the wire: the encoded entries of field 3 of
     * URLInfo, tags included, one after the other. So it is a URLInfo message
     * that has nothing but metadata, and can be parsed as one. Never looked at
     * here, and handed out as it came in. At most 8 MiB, as the URL: an item
     * with more is SKIPPED. */
    struct bytes metadata;
    uint64_t refetch_s;    /* of KNOWN: seconds since 1970, 0: never again */
    enum frontier_ack ack; /* out */
};

/* One URL handed out, or listed. The bytes live in the call's memory. */
struct frontier_url {
    struct bytes crawl, key, url;
    struct bytes metadata; /* as it was put; empty when completed */
    uint64_t refetch_s;    /* 0: completed; of GET: when it was due */
    uint64_t created_s;    /* first put */
    uint64_t lease;        /* of GET: for FRONTIER_SETTLE; else 0 */
};

struct frontier_put {
    struct frontier_item *items; /* 1 to FRONTIER_PUT_MOST */
    size_t n;
};
#define FRONTIER_PUT_MOST 16384

struct frontier_get {
    bool any_crawl;     /* AnyCrawlID was set, or the oneof was not */
    struct bytes crawl; /* else, as it came: "" has a meaning of its own */
    struct bytes key;
    uint32_t max_urls_per_queue, max_queues; /* 0: no limit */
    uint32_t delay_requestable_s;            /* 0: 30 */
};

/* One URL of one queue. */
struct frontier_url_status {
    struct bytes crawl, key, url; /* empty key: taken from the URL */
};

enum frontier_url_state {
    FRONTIER_URL_QUEUED, /* to be served at due_ms, or when its turn comes */
    FRONTIER_URL_HELD,   /* handed out */
    FRONTIER_URL_COMPLETED
};

/* Out: what explain says beside the URL itself. Wall clock in milliseconds. */
struct frontier_url_facts {
    enum frontier_url_state state;
    int64_t due_ms, created_ms;
    int64_t held_until_ms; /* 0: not held */
    /* of its queue */
    int64_t blocked_until_ms; /* 0: not blocked */
    int64_t served_ms;        /* last time it was, 0: never */
    int64_t delay_ms;         /* in force */
    uint32_t limit;           /* 0: none */
};

struct frontier_list_urls {
    struct bytes crawl, key; /* empty key: all queues of the crawl */
    uint32_t start, size;    /* size 0: 100 */
    bool filtered, ignore_case;
    struct bytes filter; /* substring of the URL, where `filtered` */
};

struct frontier_count_urls {
    struct bytes crawl, key; /* empty key: all queues of the crawl */
    bool filtered, ignore_case;
    struct bytes filter;
};

struct frontier_purge {
    struct bytes crawl, key; /* empty key: all queues of the crawl */
    uint32_t days;
};

struct frontier_list_queues {
    struct bytes crawl;
    uint32_t start, size; /* size 0: 100 */
    bool include_inactive;
};

/* DELETE_QUEUE, STATS, and with a value BLOCK_QUEUE, SET_DELAY, SET_LIMIT. */
struct frontier_queue_call {
    struct bytes crawl, key;
    uint64_t value; /* BLOCK: until, seconds since 1970; SET_DELAY: seconds;
                       SET_LIMIT: completed URLs */
    uint16_t ms;    /* SET_DELAY: and so many milliseconds */
    bool standard;  /* SET_DELAY: neither, but what holds for all */
};

/* Out: GetStats. */
struct frontier_counts {
    uint64_t size;       /* not completed; held and future ones included */
    uint64_t in_process; /* held now */
    uint64_t completed;
    uint64_t queues, active_queues;
};

enum frontier_settle_how {
    FRONTIER_SETTLE_ACK,   /* as a known update: refetch_s, metadata */
    FRONTIER_SETTLE_FAIL,  /* given back: due again after `seconds` */
    FRONTIER_SETTLE_EXTEND /* held `seconds` from now on */
};

struct frontier_settle {
    uint64_t lease; /* from frontier_url.lease */
    enum frontier_settle_how how;
    uint64_t refetch_s;    /* ACK; 0: completed */
    bool keep_metadata;    /* ACK: what it has stays */
    struct bytes metadata; /* ACK, when not kept */
    uint32_t seconds;      /* FAIL, EXTEND */
};

/* ---- a call ---- */

struct frontier_call {
    enum frontier_verb verb;
    enum frontier_via via;
    union {
        struct frontier_put put;
        struct frontier_get get;
        struct frontier_url_status url;
        struct frontier_list_urls list;
        struct frontier_count_urls count;
        struct frontier_purge purge;
        struct frontier_list_queues queues;
        struct frontier_queue_call queue;
        struct bytes crawl; /* DELETE_CRAWL */
        bool active;        /* SET_ACTIVE */
        uint32_t log_level; /* SET_LOG_LEVEL: 0 trace to 4 error */
        struct frontier_settle settle;
    } in;

    /* On the frontier thread, once for each submit that said STATUS_OK, and
     * soon over: it hands the call back, by an eventfd say. */
    void (*done)(struct frontier_call *call);
    void *ctx; /* the transport's */

    /* ---- the answer, valid from `done` on ---- */

    /* STATUS_NOT_FOUND: URL_STATUS knows no such URL; SET_LIMIT no such queue;
     *   SETTLE no such lease, or it has run out. (Where the API wants unknown
     *   names to be nothing, they are STATUS_OK and nothing.)
     * STATUS_LIMIT: the names asked for take more than 64 MiB.
     * STATUS_ARG: no key can be derived (URL_STATUS).
     * STATUS_IO, _FULL, _DAMAGED: the store failed; nothing is to be had any
     *   more, every item of a PUT is FRONTIER_ACK_FAIL.
     * STATUS_CLOSED: the service stopped before it was carried out.
     * STATUS_REFUSED: not what can be done with a crawl of our own, or with one
     *   that is stopped; `why` says it. */
    enum status status;
    const char *why;           /* of STATUS_REFUSED, for people; static */
    struct bytes crawl_id;     /* as it is called: blank became DEFAULT */
    struct frontier_url *urls; /* GET, LIST_URLS; URL_STATUS: one */
    size_t url_count;
    struct bytes *names; /* LIST_QUEUES, LIST_CRAWLS, LIST_NODES */
    size_t name_count;
    uint64_t number; /* COUNT_URLS, PURGE_URLS, DELETE_*: how many URLs */
    bool flag;       /* GET_ACTIVE */
    struct frontier_counts counts;   /* STATS */
    struct frontier_url_facts facts; /* URL_STATUS */
    /* GET, LIST_URLS: this is a part of the answer; the rest comes when the
     * same call is submitted again, which keeps memory and the wait of others
     * bounded. A part of a GET that is not asked for is not leased. The bytes
     * of the part before are gone then. */
    bool more;

    /* ---- the service's own: zero before the first submit ---- */
    struct arena *memory;
    struct frontier_call *next;
    int64_t submitted; /* monotonic */
    struct {
        uint64_t place, done, turn;
        uint32_t queue;
    } cursor;
    struct hub_get *joint; /* the hub's, of a GET of several crawls */
    void (*joint_free)(struct hub_get *joint);
};

/* All zero but for verb, done and ctx; `via` may be set after it. */
void frontier_call_init(struct frontier_call *call, enum frontier_verb verb,
                        void (*done)(struct frontier_call *call), void *ctx);
/* Frees what answers are made of. Not between submit and done. */
void frontier_call_fini(struct frontier_call *call);

/* ---- the service ---- */

struct frontier_service_options {
    const char *dir;       /* there, and locked by the caller */
    uint64_t memory;       /* bytes the engine may hold; 0: 256 MiB */
    size_t most_waiting;   /* items in calls that wait; 0: 65,536 */
    double fpr;            /* of the filter before the exact set; 0: 0.001 */
    int64_t checkpoint_ms; /* between two checkpoints; 0: 60,000 */
    struct bytes node;     /* own "host:port", for LIST_NODES; copied */
    int64_t (*wall_ms)(void *ctx); /* the clock; NULL: the system's */
    void *wall_ctx;
    /* Called on the frontier thread when there is room again after a submit
     * that said STATUS_AGAIN; hands over, no more. May be NULL. */
    void (*room)(void *ctx);
    void *room_ctx;
};

/* Opens the store in o->dir, made when there is none, and starts the frontier
 * thread. STATUS_DAMAGED, STATUS_VERSION, STATUS_IO as frontier_open. */
MUST_CHECK enum status frontier_service_open(
    struct frontier_service **out, const struct frontier_service_options *o);

/* STATUS_OK: `done` will be called. STATUS_AGAIN: too much waits, nothing was
 * taken; `room` is called when it is worth trying again. STATUS_CLOSED: the
 * service is stopping. STATUS_ARG: a PUT of no items or too many. Never blocks,
 * and may be called from inside `done`. */
MUST_CHECK enum status frontier_service_submit(struct frontier_service *s,
                                               struct frontier_call *call);

/* What a page of metrics shows; a sample, from any thread. */
struct frontier_service_sample {
    uint64_t waiting; /* items */
    uint64_t calls, puts, gets_urls;
    struct frontier_counts all; /* of all crawls */
    uint64_t crawls, urls;      /* rows ever, removed ones included */
    uint64_t memory;            /* bytes the engine holds */
    bool active, broken;
};
void frontier_service_sample(struct frontier_service *s,
                             struct frontier_service_sample *out);

/* The rest of such a page: calls by transport and verb, how long each took from
 * its submit to `done`, the commit included; what was answered to items; how
 * the engine does, as of a second ago at most, under load or idle. Any thread,
 * which waits for nobody. */
struct frontier_service_watch {
    struct histogram_sample calls[FRONTIER_VIAS_][FRONTIER_VERBS_];
    uint64_t acks[FRONTIER_ACKS_]; /* of items put */
    struct frontier_watch engine;  /* of it: seen check, filter, commits,
                                      checkpoints */
};
void frontier_service_watch(struct frontier_service *s,
                            struct frontier_service_watch *out);

/* Takes no more calls, carries out what waits, writes a checkpoint, ends the
 * thread and frees the service; the status of the checkpoint. NULL is fine. */
enum status frontier_service_close(struct frontier_service *s);

#endif
