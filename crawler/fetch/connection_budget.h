/*
 * connection_budget.h - how many connections a crawl may keep open.
 *
 * An idle connection to a host that is soon asked again saves a handshake: over
 * TLS that is most of the cost of a small page. So a crawl keeps as many as
 * memory and file descriptors allow. They use the part of --memory that the
 * engine does not use yet, and shrink as the engine grows.
 *
 * Threads: connection_budget_update on one, the rest on any.
 */
#ifndef URLWEIR_CRAWLER_FETCH_CONNECTION_BUDGET_H
#define URLWEIR_CRAWLER_FETCH_CONNECTION_BUDGET_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* User-space octets of a connection, measured with libcurl 7.88 and OpenSSL
 * 3.0; with TLS this includes keys, buffers and an HTTP/2 session. */
#define CONNECTION_COST_TLS   ((uint64_t)84 << 10)
#define CONNECTION_COST_PLAIN ((uint64_t)8 << 10)

struct connection_budget {
    uint64_t shared;        /* octets for engine and connections together */
    uint64_t least;         /* octets that connections always have */
    uint64_t descriptors;   /* descriptors that connections may use */
    unsigned fetchers;      /* which share it evenly */
    _Atomic uint64_t spare; /* current octets for connections */
};

/* `descriptors`: the limit of the process; half of it is for connections. */
void connection_budget_init(struct connection_budget *b, uint64_t shared,
                            uint64_t least, uint64_t descriptors,
                            unsigned fetchers);
/* The engine now uses `used` octets. */
void connection_budget_update(struct connection_budget *b, uint64_t used);
/* How many connections one fetcher may keep if the mixture stays as it is:
 * `tls` of its open ones are with TLS, `plain` without. At least 1. */
long connection_budget_most(const struct connection_budget *b, uint64_t tls,
                            uint64_t plain);

#endif
