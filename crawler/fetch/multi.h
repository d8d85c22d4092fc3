/*
 * multi.h - a curl multi handle driven by epoll, and the sockets under it.
 *
 * Runs transfers whose sockets are ready and no others. Every connection is
 * opened here: the guard is asked about its resolved address and the limit of
 * connections per address is kept, also with idle connections, which are
 * closed when somebody else needs their place. One thread owns a multi;
 * multi_wake may be called by any.
 */
#ifndef URLWEIR_CRAWLER_FETCH_MULTI_H
#define URLWEIR_CRAWLER_FETCH_MULTI_H

#include <curl/curl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "crawler/fetch/connection_budget.h"
#include "crawler/fetch/guard.h"
#include "crawler/fetch/in_hand.h"
#include "crawler/fetch/ip_limit.h"

struct multi;

struct multi_options {
    const struct guard *guard; /* NULL: every address may be asked */
    struct ip_limit *ip_limit; /* NULL: no limit */
    /* Connections kept for later requests; NULL: as many as libcurl keeps. */
    const struct connection_budget *connections;
    _Atomic uint64_t *opened;     /* counts connections; may be NULL */
    struct in_hand_slot *in_hand; /* says whose bytes curl reads; may be NULL */
};

/* One easy handle, and what its last transfer met. The owner zeroes it, sets
 * `easy`, and keeps it until the multi is freed; the rest is the multi's. */
struct transfer {
    uint32_t magic;
    CURL *easy;
    struct multi *multi;
    uint64_t id;    /* of its URL, for in_hand; the owner sets it */
    bool tls;       /* its URL is https; the owner sets it */
    bool busy;      /* between multi_start and its end */
    int fd;         /* the socket it used last */
    bool connected; /* curl waited to read from one */
    bool permitted; /* the guard let an address through */
    bool refused;   /* the guard refused one */
    bool crowded;   /* the limit per address refused one */
};

/* STATUS_IO: the system refused what it needs. */
MUST_CHECK enum status multi_new(struct multi **out,
                                 const struct multi_options *o);
/* No transfer is busy. Frees the connections; easy handles that were adopted
 * are cleaned up by their owner, before or after. NULL is fine. */
void multi_free(struct multi *m);

/* Once for each easy handle: its sockets are the multi's from now on, and its
 * CURLOPT_PRIVATE is `t`. */
void multi_adopt(struct multi *m, struct transfer *t);

/* Begin a transfer, its options set. It is sent in the next turn. */
void multi_start(struct multi *m, struct transfer *t);
/* Give up a transfer that is busy. Not from within a curl callback. */
void multi_abort(struct multi *m, struct transfer *t);

/* curl calls back, or is called, for this transfer: its URL is the one in hand
 * until the fetcher drops it. */
void multi_take_in_hand(struct transfer *t, enum in_hand_doing doing);

/* Wait for something to do, `until` (monotonic) at the latest, and do it. */
void multi_turn(struct multi *m, int64_t until);
/* A transfer that has ended, no longer busy, and how; NULL: no more. */
struct transfer *multi_next_ended(struct multi *m, CURLcode *code);

/* Make multi_turn return soon, or its next call at once. Any thread. */
void multi_wake(struct multi *m);

#endif
