/* SPDX-License-Identifier: MIT */
/* connection_budget.c - memory and descriptors as a number of connections. */
#include "crawler/transfer/connection_budget.h"

#define TRANSFERS_LEAST 64
/* of one fetcher: libcurl walks them */
#define CONNECTIONS_MOST UINT64_C(65536)

void connection_budget_init(struct connection_budget *b, uint64_t shared,
                            uint64_t least, uint64_t descriptors,
                            unsigned fetchers)
{
    b->shared = shared;
    b->least = least;
    b->descriptors = descriptors / 2;
    b->fetchers = fetchers;
    connection_budget_update(b, 0);
}

void connection_budget_update(struct connection_budget *b, uint64_t used)
{
    uint64_t spare = used < b->shared ? b->shared - used : 0;

    if (spare < b->least)
        spare = b->least;
    atomic_store_explicit(&b->spare, spare, memory_order_relaxed);
}

static uint64_t lesser(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Before the first one, each counts as the expensive kind. */
static uint64_t mean_cost(uint64_t tls, uint64_t plain)
{
    if (tls + plain == 0)
        return CONNECTION_COST_TLS;
    return (tls * CONNECTION_COST_TLS + plain * CONNECTION_COST_PLAIN) /
           (tls + plain);
}

static uint64_t spare_now(const struct connection_budget *b)
{
    return atomic_load_explicit(&b->spare, memory_order_relaxed);
}

long connection_budget_most(const struct connection_budget *b, uint64_t tls,
                            uint64_t plain)
{
    uint64_t most =
        lesser(spare_now(b) / mean_cost(tls, plain), b->descriptors) /
        b->fetchers;

    most = lesser(most, CONNECTIONS_MOST);
    return most > 0 ? (long)most : 1;
}

size_t connection_budget_transfers(const struct connection_budget *b,
                                   uint64_t tls, uint64_t plain,
                                   uint64_t bodies)
{
    uint64_t cost = mean_cost(tls, plain) + TRANSFER_COST;
    uint64_t most = lesser((spare_now(b) + bodies / 2) / cost, b->descriptors);

    return most > TRANSFERS_LEAST ? (size_t)most : TRANSFERS_LEAST;
}

uint64_t connection_budget_excess(const struct connection_budget *b,
                                  uint64_t tls, uint64_t plain, uint64_t active)
{
    uint64_t need = active * (mean_cost(tls, plain) + TRANSFER_COST);
    uint64_t spare = spare_now(b);

    return need > spare ? need - spare : 0;
}
