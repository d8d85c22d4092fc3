/* SPDX-License-Identifier: MIT */
/* memory_plan.c - how --memory is divided. */
#include "job/settings/memory_plan.h"

#define MIB        (UINT64_C(1) << 20)
#define LEAST_REST (24 * MIB)
#define LEAST_IDLE (4 * MIB) /* for connections */
#define BODIES     4         /* their part is one in so many */

struct memory_plan memory_plan(uint64_t limit, bool filter)
{
    uint64_t rest = limit / 8 > LEAST_REST ? limit / 8 : LEAST_REST;
    struct memory_plan p = {.limit = limit,
                            .engine = limit - limit / BODIES - rest,
                            .bodies = limit / BODIES,
                            .rest = rest,
                            .connections = LEAST_IDLE};
    const struct seen_store_options o = {.use_filter = filter,
                                         .memory = p.engine};

    p.store = seen_store_shares(&o);
    return p;
}

uint64_t memory_plan_least(uint64_t body)
{
    return body > UINT64_MAX / BODIES ? UINT64_MAX : body * BODIES;
}
