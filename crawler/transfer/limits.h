/*
 * limits.h - what all fetchers share: memory for bodies in flight, the octets
 * received a second, and how many connections a crawl may keep open, in all and
 * to each address.
 *
 * Fetchers reserve memory before they buffer; when the pool is empty, the
 * transfer is paused (back-pressure on the sender) until others give back. One
 * transfer at a time may overdraw by one body, so that paused transfers cannot
 * wait for each other for ever.
 *
 * An idle connection to a host that is soon asked again saves a handshake: over
 * TLS that is most of the cost of a small page. So a crawl keeps as many as
 * memory and file descriptors allow. They use the part of --memory that the
 * frontier does not use yet, and shrink as the frontier grows.
 *
 * The same memory bounds the transfers of --concurrency auto: each needs a
 * connection, a handle of libcurl and a body. What their connections need
 * beyond the memory that the frontier leaves is charged to the pool of bodies.
 *
 * Threads: connection_budget_update on one, the rest on any.
 */
#ifndef URLWEIR_CRAWLER_TRANSFER_LIMITS_H
#define URLWEIR_CRAWLER_TRANSFER_LIMITS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- memory for bodies in flight ---- */

struct body_pool;

struct body_pool *body_pool_new(uint64_t bytes);
void body_pool_free(struct body_pool *p); /* NULL is fine */

/* True: `bytes` are reserved for `owner` (any address that names the transfer).
 * False: wait and try again. */
bool body_pool_take(struct body_pool *p, const void *owner, uint64_t bytes);
/* Counts `bytes` that exist already, and never refuses: for records that
 * replace a body whose reservation is given back at once, and that are larger
 * only by their heads; and for transfers that need more than their memory. */
void body_pool_hold(struct body_pool *p, uint64_t bytes);
/* Gives back everything that `owner` has: `bytes` in total. */
void body_pool_give(struct body_pool *p, const void *owner, uint64_t bytes);
uint64_t body_pool_used(struct body_pool *p);
uint64_t body_pool_size(const struct body_pool *p);

/* ---- limits the octets received a second, over all fetchers ---- */

/*
 * A bucket that holds one second's worth. Received octets are always spent,
 * since they cannot be sent back; a transfer that wants more waits until the
 * bucket is level again. So the total over any time is within the limit plus
 * that second's worth and what one turn of the fetchers reads. Thread-safe.
 */

struct rate_limit;

/* `rate` in octets a second, 0: no limit. The bucket is full. */
struct rate_limit *rate_limit_new(uint64_t rate);
void rate_limit_free(struct rate_limit *l); /* NULL is fine */

/* Changes the rate from `now` (monotonic) on. An overdraft keeps its size in
 * octets, and is forgiven if there is no limit any more; if there was none
 * before, the bucket starts empty. */
void rate_limit_set(struct rate_limit *l, uint64_t rate, int64_t now);
uint64_t rate_limit_rate(const struct rate_limit *l);

/* Limits each transfer too, to `each` octets a second from its start; 0: no
 * limit, as at first. Transfers of a host that come one after the other are
 * then within the limit together. */
void rate_limit_set_each(struct rate_limit *l, uint64_t each);
uint64_t rate_limit_each(const struct rate_limit *l);
/* When a transfer that began at `began` may have received so many octets;
 * INT64_MIN: at once. */
int64_t rate_limit_each_at(const struct rate_limit *l, uint64_t octets,
                           int64_t began);

/* Spends received octets, and returns the time from which on they and all
 * before them are within the limit. A caller that waits until then may go on,
 * whatever others spend meanwhile. */
int64_t rate_limit_spend(struct rate_limit *l, uint64_t octets, int64_t now);
/* The same time for all octets so far; earlier than the one returned to a
 * spender if the rate was raised since. */
int64_t rate_limit_level_at(struct rate_limit *l);

/* ---- how many connections a crawl may keep open ---- */

/* User-space octets of a connection, measured with libcurl 7.88 and OpenSSL
 * 3.0; with TLS this includes keys, buffers and an HTTP/2 session. */
#define CONNECTION_COST_TLS   ((uint64_t)84 << 10)
#define CONNECTION_COST_PLAIN ((uint64_t)8 << 10)

/* Connections of one fetcher, which writes them; any thread reads. */
struct connection_counts {
    _Atomic uint64_t opened;        /* in all */
    _Atomic uint64_t tls, plain;    /* open now, with TLS and without */
    _Atomic uint64_t full, resumed; /* TLS handshakes that succeeded */
};

struct connection_budget {
    uint64_t shared;        /* octets for frontier and connections together */
    uint64_t least;         /* octets that connections always have */
    uint64_t descriptors;   /* descriptors that connections may use */
    unsigned fetchers;      /* which share it evenly */
    _Atomic uint64_t spare; /* current octets for connections */
};

/* `descriptors`: the limit of the process; half of it is for connections. */
void connection_budget_init(struct connection_budget *b, uint64_t shared,
                            uint64_t least, uint64_t descriptors,
                            unsigned fetchers);
/* The frontier now uses `used` octets. */
void connection_budget_update(struct connection_budget *b, uint64_t used);
/* How many connections one fetcher may keep if the mixture stays as it is:
 * `tls` of its open ones are with TLS, `plain` without. At least 1. */
long connection_budget_most(const struct connection_budget *b, uint64_t tls,
                            uint64_t plain);
/* How many transfers may be under way at once, in all fetchers, with the same
 * mixture. `bodies`: octets of the body pool, half of which they may use. */
size_t connection_budget_transfers(const struct connection_budget *b,
                                   uint64_t tls, uint64_t plain,
                                   uint64_t bodies);
/* Octets that `active` transfers need beyond those that the frontier leaves. */
uint64_t connection_budget_excess(const struct connection_budget *b,
                                  uint64_t tls, uint64_t plain,
                                  uint64_t active);

/* ---- limits the connections to each address, over all fetchers ---- */

/*
 * Idle connections kept for the next request count too, since the machine at
 * that address sees them. A refused caller leaves a wish, and fetchers close
 * idle connections to addresses with wishes, so that idle connections to one
 * host cannot lock out another host at the same address. Thread-safe. Addresses
 * are their octets, 4 or 16.
 */

struct ip_limit;

/* `most` >= 1. */
struct ip_limit *ip_limit_new(uint32_t most);
/* Changes `most`; connections above a lower limit stay until they are
 * closed. */
void ip_limit_set(struct ip_limit *l, uint32_t most);
void ip_limit_free(struct ip_limit *l); /* NULL is fine */

/* False: the limit is reached; a wish is noted. */
bool ip_limit_take(struct ip_limit *l, const void *address, unsigned len);
void ip_limit_give(struct ip_limit *l, const void *address, unsigned len);

/* For the owner of an idle connection: true if there is a wish for its place,
 * which is then granted; the caller must close the connection. */
bool ip_limit_yield(struct ip_limit *l, const void *address, unsigned len);
/* Is there any wish, so that owners should call ip_limit_yield? */
bool ip_limit_is_wished(const struct ip_limit *l);

#endif
