/*
 * call.h - a call of another program on a frontier, as a C struct.
 *
 * A call is a struct that the transport (gRPC, HTTP) fills in and submits to
 * the router (router.h). The thread that owns the frontier writes the answer
 * into the same struct and then calls `done`. Each call means what the
 * URLFrontier API says, as its reference service reads it, without that
 * service's defects (docs/decisions/service-store.md); docs/decisions/leases.md
 * lists how a crawl of our own differs. No protobuf and no sockets in here.
 *
 * Durable: if a call changes something, its `done` is called only after the
 * commit with the change was synced; by then the URLs that a GET hands out are
 * leased on disk. A frontier carries out calls in the order in which they were
 * submitted (a long LIST or COUNT is split and continues between others).
 *
 * Threads: a struct frontier_call belongs to the transport, but from a submit
 * that returned STATUS_OK until `done` the frontier owns it and all that it
 * points to.
 *
 * Text: crawl IDs, keys and URLs are plain bytes; a transport that answers in
 * protobuf strings or JSON must refuse any that are not UTF-8.
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

/* The way a call came in, for counting. */
enum frontier_via {
    FRONTIER_VIA_SELF = 0, /* this program, on its own account */
    FRONTIER_VIA_GRPC,
    FRONTIER_VIA_HTTP,
    FRONTIER_VIAS_ /* how many there are */
};

/* ---- arguments and results ---- */

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

/* One URL to put. The transport keeps track of its ID. */
struct frontier_item {
    enum frontier_item_kind kind;
    struct bytes crawl; /* blank: DEFAULT */
    struct bytes key;   /* empty: taken from the URL */
    struct bytes url;
    /* Verbatim from the wire: the encoded entries of field 3 of URLInfo, tags
     * included, one after the other, so it parses as a URLInfo message with
     * metadata only. It is not examined here and is handed out unchanged. At
     * most 8 MiB, like the URL: an item with more is SKIPPED. */
    struct bytes metadata;
    uint64_t refetch_s;    /* seconds since 1970; 0: KNOWN: never again,
                              DISCOVERED: at once, in order of arrival */
    enum frontier_ack ack; /* out */
};

/* One URL handed out, or listed. The bytes live in the call's memory. */
struct frontier_url {
    struct bytes crawl, key, url;
    struct bytes metadata; /* as put; empty when completed */
    uint64_t refetch_s;    /* 0: completed; GET: when it was due */
    uint64_t created_s;    /* first put */
    uint64_t lease;        /* GET: for FRONTIER_SETTLE; else 0 */
};

struct frontier_put {
    struct frontier_item *items; /* 1 to FRONTIER_PUT_MOST */
    size_t n;
};
#define FRONTIER_PUT_MOST 16384

struct frontier_get {
    bool any_crawl; /* AnyCrawlID was set, or the oneof was not; otherwise
                       in.crawl is used as it came: "" has its own meaning */
    uint32_t max_urls_per_queue, max_queues; /* 0: no limit */
    uint32_t delay_requestable_s;            /* 0: 30 */
};

struct frontier_list {
    uint32_t start, size; /* LIST_URLS; size 0: FRONTIER_LIST_SIZE */
    bool filtered, ignore_case;
    struct bytes filter; /* substring of the URL, if `filtered` */
};

struct frontier_list_queues {
    uint32_t start, size; /* size 0: FRONTIER_LIST_SIZE */
    bool include_inactive;
};
#define FRONTIER_LIST_SIZE 100

/* The new value for BLOCK_QUEUE, SET_DELAY and SET_LIMIT. */
struct frontier_setting {
    uint64_t value; /* BLOCK: until, seconds since 1970; SET_DELAY: seconds;
                       SET_LIMIT: completed URLs */
    uint16_t ms;    /* SET_DELAY: plus so many milliseconds */
    bool standard;  /* SET_DELAY: back to the default, ignore both */
};

struct frontier_settle {
    uint64_t lease; /* from frontier_url.lease */
    enum url_settle how;
    uint64_t refetch_s;    /* ACK, like a KNOWN item; 0: completed */
    bool keep_metadata;    /* ACK: do not replace it */
    struct bytes metadata; /* ACK, when not kept */
    uint32_t seconds;      /* FAIL: due again after so many; EXTEND: leased for
                              so many from now */
};

/* ---- a call ---- */

struct frontier_call {
    enum frontier_verb verb;
    enum frontier_via via;
    /* One more than the shard that another process of a cluster has sent the
     * call to: it is carried out there, or not at all. 0: by its names. */
    uint32_t shard;
    struct {
        struct bytes crawl; /* blank: DEFAULT */
        struct bytes key;   /* one of its queues; empty: all of them. URL_STATUS
                               then takes it from the URL, and SET_DELAY sets
                               the default of all crawls */
        union {
            struct frontier_put put; /* each item names its crawl and key */
            struct frontier_get get;
            struct bytes url;          /* URL_STATUS */
            struct frontier_list list; /* LIST_URLS, COUNT_URLS */
            uint32_t days;             /* PURGE_URLS: keep the last so many */
            struct frontier_list_queues queues;
            struct frontier_setting
                setting;        /* BLOCK_QUEUE, SET_DELAY, _LIMIT */
            bool active;        /* SET_ACTIVE */
            uint32_t log_level; /* SET_LOG_LEVEL: 0 trace to 4 error */
            struct frontier_settle settle;
        };
    } in;

    /* Called on the frontier thread, once for each submit that returned
     * STATUS_OK. It must be quick: it only hands the call back, for example
     * through an eventfd. */
    void (*done)(struct frontier_call *call);
    void *ctx; /* belongs to the transport */

    /* ---- the answer, valid once `done` is called ---- */

    /* STATUS_NOT_FOUND: URL_STATUS knows no such URL; SET_LIMIT no such queue;
     *   SETTLE no such lease, or it has expired. (Where the API ignores unknown
     *   names, the call returns STATUS_OK and an empty answer.)
     * STATUS_LIMIT: the names asked for take more than 64 MiB.
     * STATUS_ARG: no key can be derived (URL_STATUS).
     * STATUS_IO, _FULL, _DAMAGED: the store failed and every later call fails
     *   too; every item of a PUT is FRONTIER_ACK_FAIL.
     * STATUS_CLOSED: the service stopped before it carried out the call.
     * STATUS_REFUSED: a crawl of our own, or a stopped one, cannot do this;
     *   `why` gives the reason. */
    enum status status;
    const char *why;           /* STATUS_REFUSED: the reason; static */
    struct bytes crawl_id;     /* the crawl's name: blank became DEFAULT */
    struct frontier_url *urls; /* GET, LIST_URLS; URL_STATUS: one */
    size_t url_count;
    struct bytes *names; /* LIST_QUEUES, LIST_CRAWLS, LIST_NODES */
    size_t name_count;
    uint64_t number; /* COUNT_URLS, PURGE_URLS, DELETE_*: how many URLs;
                        LIST_URLS, LIST_QUEUES: how many were passed, those
                        before `start` and those in the answer */
    bool flag;       /* GET_ACTIVE */
    struct url_counts counts; /* STATS */
    struct url_facts facts;   /* URL_STATUS */
    /* GET, LIST_URLS: this is only a part of the answer. Submit the same call
     * again for the next one, which frees the bytes of this part. Parts bound
     * the memory used and the time that others wait. A part of a GET is leased
     * only when it is asked for. */
    bool more;

    /* ---- private to the service: zero before the first submit ---- */
    struct arena *memory;
    struct frontier_call *next;
    int64_t submitted; /* monotonic */
    struct {
        uint64_t place, done, turn;
        uint32_t queue;
    } cursor;
    bool under_way; /* the answer is still being built */
    void *joint;    /* state of an answer that comes from several places */
    void (*joint_free)(void *joint);
};

/* Clears all but verb, done and ctx; `via` may be set afterwards. */
void frontier_call_init(struct frontier_call *call, enum frontier_verb verb,
                        void (*done)(struct frontier_call *call), void *ctx);
/* Frees the memory of the answer. Not between submit and done. */
void frontier_call_fini(struct frontier_call *call);

/* ---- the answer of a call, built by call.c and the router ----
 *
 * Everything lives in the call's memory, which has a ceiling; at the ceiling
 * the call's status becomes STATUS_LIMIT. One thread at a time.
 */

#define ANSWER_PART_URLS 1000 /* at most, in one part of an answer */

/* Resets the answer to STATUS_OK and empty; frees the part before it. */
void answer_begin(struct frontier_call *call);
struct bytes answer_keep(struct frontier_call *call, struct bytes b);
/* Room for `most` elements; NULL if there is no room. */
void *answer_room(struct frontier_call *call, size_t most, size_t size);
void answer_name(void *call, struct bytes name);
/* Is the part large enough to be sent? */
bool answer_is_full(const struct frontier_call *call);
/* Ends the call with STATUS_REFUSED. `why` is for people and static. */
void answer_refuse(struct frontier_call *call, const char *why);
/* Fails the call with `st` and discards its answer so far. */
void answer_fail(struct frontier_call *call, enum status st);

/* Seconds on the wire to ms, capped at about ten thousand years. */
int64_t wire_ms(uint64_t seconds);

#endif
