/*
 * multi.h - a curl multi handle driven by epoll, and the sockets under it.
 *
 * Handles only transfers whose sockets are ready. Every connection is opened
 * here, after the guard has checked its resolved address; the limit of
 * connections per address includes idle ones, which are closed when others need
 * their place. Where the budget of connections is spent, the one whose host is
 * asked last is closed first. One thread owns a multi; multi_wake may be called
 * by any.
 */
#ifndef URLWEIR_CRAWLER_TRANSFER_MULTI_H
#define URLWEIR_CRAWLER_TRANSFER_MULTI_H

#include <assert.h>
#include <curl/curl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "crawler/address/guard.h"
#include "crawler/transfer/in_hand.h"
#include "crawler/transfer/limits.h"

/* Before 8.1.0 an easy handle that is used again keeps a pointer to the last
 * header line of its previous response, which is freed; a response that begins
 * with a folded line writes through it. Such a handle can be used for one
 * transfer only.
 */
bool curl_faults_header_dangles(void);

/* One log line that names the library and the faults we work around, if any.
 * Call it after curl_global_init. */
void curl_faults_log(void);

struct multi;

struct multi_options {
    const struct guard *guard; /* NULL: every address is allowed */
    struct ip_limit *ip_limit; /* NULL: no limit */
    /* Connections kept for later requests; NULL: as many as libcurl keeps. */
    const struct connection_budget *connections;
    struct connection_counts *counts; /* NULL: nobody reads them */
    struct in_hand_slot *in_hand;     /* notes curl reads from; may be NULL */
};

/* One easy handle, and facts about its last transfer. The owner zeroes it, sets
 * `easy`, and keeps it until the multi is freed; the multi sets the rest. */
struct transfer {
    uint32_t magic;
    CURL *easy;
    struct multi *multi;
    uint64_t id;   /* of its URL, for in_hand; the owner sets it */
    int64_t pause; /* from its end until its host is asked again, ns; INT64_MAX:
                      not that is known; the owner sets it */
    bool tls;      /* its URL is https; the owner sets it */
    bool busy;     /* between multi_start and its end */
    int fd;        /* the socket it used last */
    bool connected; /* curl waited to read from one */
    bool permitted; /* the guard let an address through */
    bool refused;   /* the guard refused one */
    bool crowded;   /* the limit per address refused one */
    bool doomed;    /* its connection ends with it */
};

/* STATUS_IO: the system refused a resource. */
MUST_CHECK enum status multi_new(struct multi **out,
                                 const struct multi_options *o);
/* Call it when no transfer is busy. Frees the connections; the owner cleans up
 * adopted easy handles, before or after. NULL is fine. */
void multi_free(struct multi *m);

/* Call it once for each easy handle: the multi takes over its sockets, and its
 * CURLOPT_PRIVATE becomes `t`. */
void multi_adopt(struct multi *m, struct transfer *t);

/* Begins a transfer whose options are set. It is sent in the next turn. */
void multi_start(struct multi *m, struct transfer *t);
/* Aborts a busy transfer. Not from within a curl callback. */
void multi_abort(struct multi *m, struct transfer *t);

/* curl works on this transfer: records its URL as the current one, until the
 * fetcher drops it. */
void multi_take_in_hand(struct transfer *t, enum in_hand_doing doing);

/* Waits for something to do, until `until` (monotonic) at the latest, and does
 * it. */
void multi_turn(struct multi *m, int64_t until);
/* Were there more ready sockets than one turn handles? */
bool multi_is_behind(const struct multi *m);
/* The next transfer that has ended, and its code; NULL: no more. */
struct transfer *multi_next_ended(struct multi *m, CURLcode *code);

/* Make multi_turn return soon, or its next call at once. Any thread. */
void multi_wake(struct multi *m);

#endif
