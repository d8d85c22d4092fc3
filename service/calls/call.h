/*
 * call.h - a call of another program on a frontier, as a C struct.
 *
 * A call is a struct that the transport (gRPC, HTTP) fills in and submits to
 * the router (router.h); the thread that owns the frontier it is about answers
 * into the same struct and says so by `done`. The meaning of each call is that
 * of the URLFrontier API, in its reference service's reading, less its defects
 * (docs/decisions/service-store.md); where a crawl of our own differs is in
 * docs/decisions/leases.md. There is no protobuf and no socket in here.
 *
 * Durable: `done` of whatever changes something is called after the commit that
 * holds it was synced, never before; URLs that a GET hands out are leased on
 * disk by then. Calls on one frontier are carried out in the order in which
 * they were submitted (a LIST or COUNT that reads much goes on between others).
 *
 * Threads: a struct frontier_call belongs to the transport, but from a submit
 * that said STATUS_OK until `done` it is the frontier's, and so is what it
 * points to.
 *
 * Text: crawl IDs, keys and URLs are taken as bytes; a transport that answers
 * in protobuf strings or JSON refuses what is not UTF-8 before it gets here.
 */
#ifndef URLWEIR_SERVICE_CALLS_CALL_H
#define URLWEIR_SERVICE_CALLS_CALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "base/status.h"
#include "frontier/url_view.h"

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
    bool any_crawl; /* AnyCrawlID was set, or the oneof was not; else in.crawl,
                       as it came: "" has a meaning of its own */
    uint32_t max_urls_per_queue, max_queues; /* 0: no limit */
    uint32_t delay_requestable_s;            /* 0: 30 */
};

struct frontier_list {
    uint32_t start, size; /* of LIST_URLS; size 0: 100 */
    bool filtered, ignore_case;
    struct bytes filter; /* substring of the URL, where `filtered` */
};

struct frontier_list_queues {
    uint32_t start, size; /* size 0: 100 */
    bool include_inactive;
};

/* What BLOCK_QUEUE, SET_DELAY and SET_LIMIT set. */
struct frontier_setting {
    uint64_t value; /* BLOCK: until, seconds since 1970; SET_DELAY: seconds;
                       SET_LIMIT: completed URLs */
    uint16_t ms;    /* SET_DELAY: and so many milliseconds */
    bool standard;  /* SET_DELAY: neither, but what holds for all */
};

struct frontier_settle {
    uint64_t lease; /* from frontier_url.lease */
    enum url_settle how;
    uint64_t refetch_s;    /* ACK, as a known update; 0: completed */
    bool keep_metadata;    /* ACK: what it has stays */
    struct bytes metadata; /* ACK, when not kept */
    uint32_t seconds;      /* FAIL: due again after so many; EXTEND: leased for
                              so many from now on */
};

/* ---- a call ---- */

struct frontier_call {
    enum frontier_verb verb;
    enum frontier_via via;
    struct {
        struct bytes crawl; /* blank: DEFAULT */
        struct bytes key;   /* a queue of it; empty: all, but for URL_STATUS,
                               where it is taken from the URL, and SET_DELAY,
                               where it is the default of all crawls */
        union {
            struct frontier_put put; /* each item names its crawl and key */
            struct frontier_get get;
            struct bytes url;          /* URL_STATUS */
            struct frontier_list list; /* LIST_URLS, COUNT_URLS */
            uint32_t days;             /* PURGE_URLS: keep those of so many */
            struct frontier_list_queues queues;
            struct frontier_setting
                setting;        /* BLOCK_QUEUE, SET_DELAY, _LIMIT */
            bool active;        /* SET_ACTIVE */
            uint32_t log_level; /* SET_LOG_LEVEL: 0 trace to 4 error */
            struct frontier_settle settle;
        };
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
    struct url_counts counts; /* STATS */
    struct url_facts facts;   /* URL_STATUS */
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
    bool under_way;           /* a part of the answer is being put together */
    struct router_get *joint; /* the router's, of a GET of several crawls */
    void (*joint_free)(struct router_get *joint);
};

/* All zero but for verb, done and ctx; `via` may be set after it. */
void frontier_call_init(struct frontier_call *call, enum frontier_verb verb,
                        void (*done)(struct frontier_call *call), void *ctx);
/* Frees what answers are made of. Not between submit and done. */
void frontier_call_fini(struct frontier_call *call);

#endif
