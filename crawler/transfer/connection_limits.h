/*
 * connection_limits.h - how many connections a crawl may keep open, in all and
 * to each address.
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
#ifndef URLWEIR_CRAWLER_TRANSFER_CONNECTION_LIMITS_H
#define URLWEIR_CRAWLER_TRANSFER_CONNECTION_LIMITS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
