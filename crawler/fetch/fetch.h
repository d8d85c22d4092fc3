/*
 * fetch.h - one transfer: options, limits, result.
 *
 * A fetch is a curl easy handle, which is reused unless a fault of the libcurl
 * in use forbids that. It follows no redirect, requests no URL and connects to
 * no address that the guard refuses, and keeps no more of a body than its
 * order, the body pool and the rate limit allow: if one of them has nothing
 * left, the transfer waits and its time limit is suspended. fetch_set.h handles
 * turns and deadlines. Threads: one owns a fetch.
 */
#ifndef URLWEIR_CRAWLER_FETCH_FETCH_H
#define URLWEIR_CRAWLER_FETCH_FETCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/heap.h"
#include "crawler/address/guard.h"
#include "crawler/fetch/coding.h"
#include "crawler/fetch/cookie_jar.h"
#include "crawler/fetch/credentials.h"
#include "crawler/fetch/response.h"
#include "crawler/transfer/in_hand.h"
#include "crawler/transfer/limits.h"
#include "crawler/transfer/multi.h"
#include "frontier/candidate.h"
#include "frontier/frontier.h"

/* How a URL was found, for records: the URL of the page that has it, and a
 * letter for each step from a seed (archive.h). Both may be empty.
 */
struct found_by {
    struct bytes via, path;
};

/* The last owner frees it with assignment_free. Its bytes point into it. */
struct assignment {
    struct url_lease lease;
    struct found_by found_by;
    char text[];
};
/* `by` may be NULL. */
struct assignment *assignment_of(const struct url_lease *lease,
                                 const struct found_by *by);
static inline struct assignment *assignment_new(const struct url_lease *lease)
{
    return assignment_of(lease, NULL);
}
void assignment_free(struct assignment *a);

enum fetch_end {
    FETCH_ANSWERED, /* the response came, or as much of it as we need */
    /* a page whose body was cut */
    FETCH_CUT_LENGTH,
    FETCH_CUT_TIME,
    FETCH_CUT_ENCODING,
    FETCH_MIME, /* of an unwanted type; given up after the head */
    /* nothing is known about the URL */
    FETCH_ADDRESS, /* the guard refused its host, or every address */
    FETCH_PORT,    /* the guard refused its port */
    FETCH_CROWDED, /* too many connections to the address; retry later */
    FETCH_STARVED, /* no memory for the body; retry later */
    FETCH_STOPPED, /* given up by fetch_set_abort */
    /* no response */
    FETCH_DNS,
    FETCH_CONNECT,
    FETCH_TLS,
    FETCH_TIMEOUT,
    FETCH_RESET,
    FETCH_PROTOCOL
};

/* What is asked for. A body that is not wanted is cut at once, unless it is so
 * short that reading it is cheaper than another connection. */
enum fetch_want { FETCH_BODY, FETCH_NO_BODY, FETCH_HEAD /* by HEAD */ };

struct fetch_order {
    uint64_t id;        /* of the leased URL; 0: unknown */
    const char *url;    /* copied */
    int64_t pause;      /* until its host is asked again, as in transfer */
    uint64_t body_most; /* most decoded octets kept of a page's body; other
                           bodies are not kept */
    /* Copied; NULL: the request has none. */
    const struct conditions *conditions;
    enum fetch_want want;
    bool keep_all;    /* also keep bodies of other responses */
    bool filter_mime; /* apply the options' list of types */
    /* Gets a page's body as it arrives, decoded, of any length; false: it has
     * enough, and the response ends as FETCH_CUT_LENGTH. At most body_most
     * octets are kept then, and only if it is labelled as HTML or keep_all is
     * set. NULL: the body is kept. */
    bool (*take)(void *ctx, const struct response *a, struct bytes octets);
    void *take_ctx;
    uint64_t take_memory; /* memory of `take`, charged to the pool */
};

/* Why the rest of a body is missing, independent of `end`. */
enum fetch_cut { FETCH_WHOLE, FETCH_TOO_LONG, FETCH_TOO_LATE, FETCH_GONE };

/* Lives until the fetch is used again. */
struct fetch_result {
    enum fetch_end end;
    enum fetch_want want;            /* as ordered */
    bool transient;                  /* a retry may succeed */
    const struct response *response; /* status 0: there was none */
    struct bytes body;
    enum fetch_cut cut;
    struct bytes request; /* its head as sent, without secrets; empty unless
                             options ask for records */
    bool http2, decoded;  /* content encodings were removed from the body */
    bool unknown_coding;  /* an unknown coding was ignored */
    bool mislabelled;    /* the body was not in its coding, and is as it came */
    uint64_t body_bytes; /* decoded, including those not kept */
    uint64_t wire_bytes; /* head and body as received */
    int64_t started, ended, started_wall_ms;
    int64_t first_byte_ns; /* from `started` to the first octet */
    int64_t connect_ns; /* until a new connection was open; -1: it used an open
                           one, or got none */
    uint32_t connections; /* that were opened for it; 0: it used an open one, or
                             got none */
    bool handshake;       /* with TLS, and that was agreed upon */
    const char *ip;       /* of the server that answered, or "" */
    const char *error;    /* error text, or "" */
};

/* What a paused fetch waits for; curl keeps a piece of its body. */
enum fetch_wait {
    FETCH_GOES_ON,
    FETCH_WAITS_MEMORY,
    FETCH_WAITS_RATE,
    FETCH_WAITS_TURN /* it has decoded much at once: other transfers and
                        deadlines come first */
};

/* Fetches of one set that have waited since it looked last, in that order. */
struct fetch_waiters {
    struct fetch *first, *last;
};

struct fetch {
    struct transfer transfer; /* first: a fetch is its transfer */
    /* for the fetch set */
    struct heap_item due; /* its deadline */
    struct fetch *next_free;
    void *ctx; /* the owner's */
    enum fetch_wait waits;
    int64_t waits_since;
    struct fetch_waiters *waiters; /* NULL: nobody looks */
    struct fetch *next_waiter;
    bool is_waiter;  /* is in that list */
    bool held_back;  /* by another stream of its connection, which is paused */
    int64_t paid_at; /* when its received octets are within the rate limit */
    bool has_waited; /* the piece that is offered next has waited until then */
    uint64_t offered, passed; /* octets of its body: with the last piece that
                                 libcurl offered; of those that were taken */
    /* for fetch.c */
    struct tls_resume tls;
    const struct fetcher_options *o;
    struct fetcher_counters *counters;
    bool once; /* its easy handle may not be used again (multi.h) */
    struct fetch_order order;
    struct response response;
    struct buf body;
    struct buf request;
    uint64_t reserved; /* octets of the body pool */
    bool sent;         /* the request has gone out */
    bool keep, decided;
    bool page;             /* a 2xx response, or a 3xx that is no redirect */
    bool streamed;         /* goes to order.take */
    struct coding *coding; /* decodes the body; NULL: no coding */
    bool unknown_coding;   /* an unknown coding was ignored */
    bool mislabelled;      /* the decoders refused the body's first octets */
    struct buf raw;        /* octets they read before they wrote any */
    struct bytes again;    /* of `raw`: to be read once more, without them */
    bool past_first;       /* curl's first piece of the body was read */
    uint64_t decoding;     /* octets of the body pool that decoders hold */
    size_t taken;          /* octets read of curl's current piece */
    const char *why;       /* the coding failed; static */
    bool broken;           /* curl could not resume it after a pause */
    enum fetch_end end;    /* once decided */
    uint64_t body_bytes, counted; /* wire octets that are in the counters */
    enum guard_verdict verdict;   /* on its URL */
    int64_t started, started_wall_ms;
    bool in_jar;          /* it uses the cookie jar */
    struct buf lent;      /* the cookies that its handle was given */
    unsigned cookies_set; /* Set-Cookie fields that came */
    CURLU *url;           /* of its request, in parts */
    struct curl_slist *resolve;
    struct curl_slist *headers; /* of this request alone; NULL: those of its
                                   origin */
    char error[CURL_ERROR_SIZE];
};

/* NULL: curl is out of memory. */
struct fetch *fetch_new(const struct fetcher_options *o,
                        struct fetcher_counters *counters, struct multi *m);
void fetch_free(struct fetch *f); /* NULL is fine; not during a transfer */
/* Call it before each fetch_start: makes a new easy handle if needed. False:
 * curl is out of memory. */
MUST_CHECK bool fetch_has_handle(struct fetch *f);

/* Every request begins here, after a check by the guard. False: the guard
 * refuses its URL; there is no transfer, and the caller must only call
 * fetch_finish. */
MUST_CHECK bool fetch_start(struct fetch *f, const struct fetch_order *order,
                            int64_t now, int64_t wall_ms);
/* Appends a fetch that is not in the list. */
void fetch_waiters_add(struct fetch_waiters *w, struct fetch *f);
/* Can a waiting fetch go on now? */
bool fetch_may_go_on(struct fetch *f, int64_t now);
/* Resumes a waiting fetch, which may wait again at once. False: curl failed,
 * and the transfer must be ended with CURLE_WRITE_ERROR. */
bool fetch_go_on(struct fetch *f);
/* Is it an HTTP/2 stream whose response has begun? */
bool fetch_is_stream(const struct fetch *f);
/* Are both active on one connection? */
bool fetch_share_connection(const struct fetch *a, const struct fetch *b);
/* Ends a transfer that curl is done with. CURLE_OPERATION_TIMEDOUT also means
 * that the set's own deadline has passed; CURLE_ABORTED_BY_CALLBACK that it was
 * stopped. */
void fetch_finish(struct fetch *f, CURLcode code, int64_t now,
                  struct fetch_result *out);
/* Frees memory; the result is no longer valid. */
void fetch_clear(struct fetch *f);

struct archive; /* crawler/archive/archive.h */

enum robots_policy { ROBOTS_OBEY, ROBOTS_REPORT, ROBOTS_OFF };

/* Shared by all fetchers of a crawl, and outlives them; read-only unless marked
 * otherwise. Strings are borrowed. */
struct fetcher_options {
    /* identity */
    const char *user_agent;          /* the whole header value */
    const char *product_token;       /* of it, for robots.txt: "urlweir" */
    struct credentials *credentials; /* thread-safe; NULL: none */
    struct cookie_jar *jar;          /* thread-safe; NULL: cookies are off */
    const char *cert, *key; /* client certificate for origins of seeds, and its
                               key if not in the same file; PEM; NULL: none */
    const char *ca;         /* PEM file of authorities; NULL: the system's */
    const char *proxy;      /* NULL: none, even if in the environment */
    bool guards_proxy;      /* it, too, must be at an address that the guard
                               permits: a client of the service named it */
    bool insecure;          /* no TLS verification */
    const char *const *resolve; /* HOST:PORT:ADDR, as curl takes them */
    size_t resolve_count;
    /* limits */
    int64_t timeout_ms, connect_timeout_ms; /* whole response; connecting */
    uint64_t max_body;                      /* decoded octets */
    uint32_t max_redirects;
    uint32_t conns_per_host; /* most transfers of a queue at once by one
                                fetcher; 0: 1 */
    int64_t retry_delay_ms;
    uint32_t tries; /* of one URL, in all */
    /* policy */
    enum robots_policy robots;
    bool skip_noindex;         /* pages with noindex do not count as pages */
    bool follow_nofollow;      /* follow links marked nofollow */
    bool take_simhash;         /* fingerprints of the texts of pages */
    bool text_without_numbers; /* digests of texts leave numbers out */
    bool find_sitemaps;        /* fetch sitemaps that robots.txt names */
    uint32_t kinds;            /* LINK_BIT set of kinds to follow */
    const char *const *mime;   /* accepted types, "text/html", "image/x" or
                                  "text/" for all of a family; none: all */
    size_t mime_count;
    uint64_t links_most;     /* most different links of a page; 0: all */
    bool check;              /* of a URL, ask only whether it is there */
    bool check_external;     /* of those that `rules.scope` checks */
    bool record_links;       /* send every link in scope, with repeats */
    bool record_meta;        /* reports carry row.meta */
    bool tag_texts;          /* reports carry url_done.text */
    bool warc;               /* reports carry records; all bodies are kept */
    struct archive *archive; /* where records go; NULL: not known yet */
    /* shared objects */
    const struct guard *guard;
    struct body_pool *bodies;  /* thread-safe */
    struct ip_limit *ip_limit; /* thread-safe; NULL: no limit */
    const struct connection_budget *connections; /* thread-safe; NULL: none */
    struct tls_sessions *tls_sessions; /* thread-safe; NULL: none are kept */
    struct rate_limit *rate;           /* thread-safe; NULL: no limit */
    /* Until when this process may send requests at all, CLOCK_BOOTTIME in ns.
     * NULL: for ever. */
    const _Atomic int64_t *may_ask_until;
    struct candidate_rules rules;
};

struct fetcher_counters {        /* written by the fetcher, read by any */
    _Atomic uint64_t active;     /* active transfers */
    _Atomic uint64_t requests;   /* sent, robots.txt and retries included */
    _Atomic uint64_t wire_bytes; /* received so far, unfinished ones included */
    struct connection_counts connections;
};

/* ---- the inside, for fetch.c and fetch_body.c only ---- */

/* libcurl takes no more cookies of a response than these 50, and then, until
 * the handle's next request, none that we give it either. */
#define FETCH_COOKIES_MOST 50

/* ---- fetch_body.c: curl's callbacks, memory ---- */

/* Octets of a body that decoders may read before they show that it is not in
 * their coding. */
#define FETCH_RAW_MOST ((size_t)16 << 10)

/* Reserves the next step, for a fetch that found the pool empty. */
bool fetch_reserve_more(struct fetch *f);
void fetch_give_back(struct fetch *f);
/* It waits from now on; the set that it belongs to will see that. */
void fetch_wait(struct fetch *f, enum fetch_wait why);
/* Are its received octets within the rate limit? */
bool fetch_is_within_rate(const struct fetch *f, int64_t now);
/* Brings f->counted, the fetcher's counter and the rate limit up to date. */
void fetch_count_wire(struct fetch *f);

/* Callbacks: CURLOPT_HEADERFUNCTION, _WRITEFUNCTION, _PREREQFUNCTION,
 * _DEBUGFUNCTION; their data is the fetch. */
size_t fetch_on_head(char *at, size_t size, size_t count, void *ctx);
size_t fetch_on_body(char *at, size_t size, size_t count, void *ctx);
int fetch_on_send(void *ctx, char *ip, char *local_ip, int port,
                  int local_port);
int fetch_on_debug(CURL *easy, curl_infotype type, char *at, size_t size,
                   void *ctx);

/* ---- fetch.c: the meaning of curl's codes ---- */

enum fetch_end fetch_end_of(struct fetch *f, CURLcode code);
enum fetch_cut fetch_cut_of(const struct fetch *f, CURLcode code);
bool fetch_is_transient(enum fetch_end end, CURLcode code);
/* The error text, or "". */
const char *fetch_words_for(const struct fetch *f, enum fetch_end end,
                            CURLcode code);

#endif
