/*
 * connection_budget.h - how many connections a crawl may keep open.
 *
 * An idle connection to a host that is soon asked again saves a handshake: over
 * TLS that is most of the cost of a small page. So a crawl keeps as many as
 * memory and file descriptors allow. They use the part of --memory that the
 * engine does not use yet, and shrink as the engine grows.
 *
 * The same memory bounds the transfers of --concurrency auto: each needs a
 * connection, a handle of libcurl and a body. What their connections need
 * beyond the memory that the engine leaves is charged to the pool of bodies.
 *
 * Threads: connection_budget_update on one, the rest on any.
 */
#ifndef URLWEIR_CRAWLER_TRANSFER_CONNECTION_BUDGET_H
#define URLWEIR_CRAWLER_TRANSFER_CONNECTION_BUDGET_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* User-space octets of a connection, measured with libcurl 7.88 and OpenSSL
 * 3.0; with TLS this includes keys, buffers and an HTTP/2 session. */
#define CONNECTION_COST_TLS   ((uint64_t)84 << 10)
#define CONNECTION_COST_PLAIN ((uint64_t)8 << 10)

/* Of a transfer, beside its connection and its body: libcurl's handle and read
 * buffer, the task, the response's head. */
#define TRANSFER_COST ((uint64_t)28 << 10)

/* Connections of one fetcher, which writes them; any thread reads. */
struct connection_counts {
    _Atomic uint64_t opened;        /* in all */
    _Atomic uint64_t tls, plain;    /* open now, with TLS and without */
    _Atomic uint64_t full, resumed; /* TLS handshakes that succeeded */
};

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
/* How many transfers may be under way at once, in all fetchers, with the same
 * mixture. `bodies`: octets of the body pool, half of which they may use. */
size_t connection_budget_transfers(const struct connection_budget *b,
                                   uint64_t tls, uint64_t plain,
                                   uint64_t bodies);
/* Octets that `active` transfers need beyond those that the engine leaves. */
uint64_t connection_budget_excess(const struct connection_budget *b,
                                  uint64_t tls, uint64_t plain,
                                  uint64_t active);

#endif
