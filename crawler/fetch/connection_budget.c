/* SPDX-License-Identifier: MIT */
/* connection_budget.c - memory and descriptors as a number of connections. */
#include "crawler/fetch/connection_budget.h"

#define CONNECTIONS_MOST                                                       \
    UINT64_C(65536) /* of one fetcher: libcurl walks them */

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

long connection_budget_most(const struct connection_budget *b, uint64_t tls,
                            uint64_t plain)
{
    uint64_t cost = CONNECTION_COST_TLS, most;

    if (tls + plain > 0)
        cost = (tls * CONNECTION_COST_TLS + plain * CONNECTION_COST_PLAIN) /
               (tls + plain);
    most = lesser(atomic_load_explicit(&b->spare, memory_order_relaxed) / cost,
                  b->descriptors) /
           b->fetchers;
    most = lesser(most, CONNECTIONS_MOST);
    return most > 0 ? (long)most : 1;
}
