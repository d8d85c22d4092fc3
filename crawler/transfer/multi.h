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
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/status.h"
#include "crawler/address/guard.h"
#include "crawler/transfer/in_hand.h"
#include "crawler/transfer/limits.h"

/* ---- TLS sessions of a crawl, resumed by later connections ---- */

/*
 * A resumed handshake (RFC 8446, 2.2; RFC 5077) sends and checks no
 * certificates. libcurl keeps few sessions (5 in an easy handle, or 8 in a
 * share handle, up to 8.11; 25 since), and before 8.12 they go with the handle.
 * So this cache stands in for libcurl's: it has the latest session of each
 * origin, up to a number of octets, and forgets those that were used longest
 * ago. All fetchers of a crawl share it.
 *
 * A session is as good as the handshake it stems from: OpenSSL does not check
 * the chain of certificates again, and libcurl checks the host name only. So a
 * cache belongs to one crawl, whose settings for TLS do not change, and a
 * session is used only for the origin that it was made with, with the same
 * client certificate or none. There is no cache behind a proxy, whose own
 * handshake could not be told from that of the origin.
 *
 * Threads: any.
 */

#define TLS_SESSION_MOST ((size_t)16 << 10) /* octets of one session */

struct tls_sessions;

/* `bytes`: room for sessions with their keys. */
struct tls_sessions *tls_sessions_new(uint64_t bytes);
void tls_sessions_free(struct tls_sessions *s); /* NULL is fine */

/* Keeps a session in place of the key's older one. One that is longer than
 * TLS_SESSION_MOST, or than the room, is dropped. */
void tls_sessions_put(struct tls_sessions *s, struct bytes key,
                      struct bytes session);
/* Moves the key's session into `out`: it should be used once (RFC 8446, C.4).
 * False: there is none. */
bool tls_sessions_take(struct tls_sessions *s, struct bytes key,
                       struct buf *out);

/* ---- makes libcurl's connections resume TLS sessions ---- */

/*
 * Works through CURLOPT_SSL_CTX_FUNCTION, with libcurl over the OpenSSL that
 * this program is linked with; with another TLS library nothing is resumed.
 */

/* What the connections of one easy handle need; the owner keeps it as long as
 * its handle. */
struct tls_resume {
    struct tls_sessions *sessions;    /* NULL: none is kept; outlives all */
    struct connection_counts *counts; /* of handshakes; outlives all */
    const char *client;               /* the client certificate, or NULL */
};

/* Call it once for each easy handle. `r->client` may change before each
 * transfer. */
void tls_resume_adopt(CURL *easy, struct tls_resume *r);

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
