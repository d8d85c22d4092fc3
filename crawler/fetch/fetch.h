/*
 * fetch.h - one transfer: options, limits, result.
 *
 * A fetch is a curl easy handle, which is used again and again unless a fault
 * of the libcurl in use forbids that. It follows no
 * redirect, asks for no URL and no address the guard refuses, and holds no more
 * of a body than its order, the body pool and the rate limit allow: where one
 * of them has nothing left the transfer waits and its time stands still. Whose
 * turn it is and when time runs out is fetch_set.h's business. One thread owns
 * a fetch.
 */
#ifndef URLWEIR_CRAWLER_FETCH_FETCH_H
#define URLWEIR_CRAWLER_FETCH_FETCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/heap.h"
#include "crawler/fetch/coding.h"
#include "crawler/fetch/fetch_options.h"
#include "crawler/fetch/guard.h"
#include "crawler/fetch/multi.h"
#include "crawler/fetch/response.h"

enum fetch_end {
    FETCH_ANSWERED, /* the response came, or as much of it as matters */
    /* a 2xx answer whose body is what had come until then */
    FETCH_CUT_LENGTH,
    FETCH_CUT_TIME,
    FETCH_CUT_ENCODING,
    FETCH_MIME, /* of a type nobody asked for; given up at the head */
    /* nothing is known of the URL */
    FETCH_ADDRESS, /* the guard refused its host, or every address */
    FETCH_PORT,    /* the guard refused its port */
    FETCH_CROWDED, /* too many connections to the address; ask again later */
    FETCH_STARVED, /* no memory for the body; ask again later */
    FETCH_STOPPED, /* given up by fetch_set_abort */
    /* no response */
    FETCH_DNS,
    FETCH_CONNECT,
    FETCH_TLS,
    FETCH_TIMEOUT,
    FETCH_RESET,
    FETCH_PROTOCOL
};

struct fetch_order {
    uint64_t id;        /* of the URL that is leased for it; 0: unknown */
    const char *url;    /* copied */
    uint64_t body_most; /* decoded octets of a 2xx body that are kept; of other
                           bodies none are */
    bool keep_all;      /* bodies of other answers are kept as well */
    bool filter_mime;   /* the options' list of types holds */
    /* Takes a 2xx body as it comes, decoded, whatever its length; false: it
     * has enough, and the response ends as FETCH_CUT_LENGTH. Of the body no
     * more is kept then than body_most, and nothing unless it says that it is
     * HTML or keep_all. NULL: the body is kept. */
    bool (*take)(void *ctx, const struct response *a, struct bytes octets);
    void *take_ctx;
    uint64_t take_memory; /* what it may need meanwhile, out of the pool */
};

/* What kept the rest of a body from us, whatever `end` says. */
enum fetch_cut { FETCH_WHOLE, FETCH_TOO_LONG, FETCH_TOO_LATE, FETCH_GONE };

/* Lives until the fetch is used again. */
struct fetch_result {
    enum fetch_end end;
    bool transient;                  /* another try may end better */
    const struct response *response; /* status 0: there was none */
    struct bytes body;
    enum fetch_cut cut;
    struct bytes request; /* its head as sent, but without secrets; empty unless
                             options ask for records */
    bool http2, decoded;  /* content encodings were taken off the body */
    bool unknown_coding;  /* one that nobody knows was passed over */
    uint64_t body_bytes;  /* decoded, also those not kept */
    uint64_t wire_bytes;  /* head and body as received */
    int64_t started, ended, started_wall_ms;
    int64_t first_byte_ns; /* from `started` to the response's first octet */
    int64_t connect_ns;    /* to its connection's being open; -1: it used one
                              that was, or got none */
    const char *ip;        /* that answered, or "" */
    const char *error;     /* what went wrong in words, or "" */
};

/* What a fetch waits for, with a piece of its body that curl keeps. */
enum fetch_wait {
    FETCH_GOES_ON,
    FETCH_WAITS_MEMORY,
    FETCH_WAITS_RATE,
    FETCH_WAITS_TURN /* it has decoded much at once: others come first, and
                        deadlines are looked at */
};

struct fetch {
    struct transfer transfer; /* first: a fetch is its transfer */
    /* for the fetch set */
    struct heap_item due; /* the moment its time runs out */
    struct fetch *next_free;
    void *ctx; /* whose fetch it is */
    enum fetch_wait waits;
    int64_t waits_since;
    bool held_back;  /* by another stream of its connection, which waits */
    int64_t paid_at; /* when what it received is within the rate limit */
    /* for fetch.c */
    const struct fetcher_options *o;
    struct fetcher_counters *counters;
    bool once; /* its easy handle may not be used again (curl_faults.h) */
    struct fetch_order order;
    struct response response;
    struct buf body;
    struct buf request;
    uint64_t reserved; /* octets of the body pool */
    bool sent;         /* the request has gone out */
    bool keep, decided;
    bool streamed;         /* goes to order.take */
    struct coding *coding; /* what takes codings off the body; NULL: none */
    bool unknown_coding;   /* one that nobody knows was passed over */
    bool past_first;       /* curl's first piece of the body was taken */
    uint64_t decoding;     /* octets of the body pool that decoders hold */
    size_t taken;          /* octets of curl's present piece that were */
    const char *why;       /* the coding failed; static */
    bool broken;           /* curl refused to go on with it after a pause */
    enum fetch_end end;    /* once decided */
    uint64_t body_bytes, counted; /* of wire octets, in the counters */
    enum guard_verdict verdict;   /* of its URL */
    int64_t started, started_wall_ms;
    bool in_jar; /* it takes part in the cookie jar */
    struct curl_slist *resolve;
    char error[CURL_ERROR_SIZE];
};

/* NULL: curl is out of memory. */
struct fetch *fetch_new(const struct fetcher_options *o,
                        struct fetcher_counters *counters, struct multi *m);
void fetch_free(struct fetch *f); /* NULL is fine; not while under way */
/* Before each fetch_start: its easy handle is there, made anew if need be.
 * False: curl is out of memory. */
MUST_CHECK bool fetch_has_handle(struct fetch *f);

/* Every request begins here, and is judged first. False: the guard refuses its
 * URL; the transfer is not under way, and only fetch_finish is left to call. */
MUST_CHECK bool fetch_start(struct fetch *f, const struct fetch_order *order,
                            int64_t now, int64_t wall_ms);
/* Is there now what a fetch waits for? */
bool fetch_may_go_on(struct fetch *f, int64_t now);
/* Takes up one that waits; it may come to wait for something else at once.
 * False: that brought out an error and the transfer must be given up with
 * CURLE_WRITE_ERROR. */
bool fetch_go_on(struct fetch *f);
/* It is a stream of HTTP/2, and its response has begun. */
bool fetch_is_stream(const struct fetch *f);
/* Both are under way, on one connection. */
bool fetch_share_connection(const struct fetch *a, const struct fetch *b);
/* The transfer is no longer under way. CURLE_OPERATION_TIMEDOUT also says that
 * the set's own deadline has passed; CURLE_ABORTED_BY_CALLBACK that it was
 * stopped. */
void fetch_finish(struct fetch *f, CURLcode code, int64_t now,
                  struct fetch_result *out);
/* Gives memory back; the result is gone. */
void fetch_clear(struct fetch *f);

#endif
