/*
 * memory_plan.h - how --memory is divided.
 *
 * Five eighths for the engine (filter, hot cache, exact set, SQLite's cache,
 * queues), a quarter for bodies in flight; the rest, an eighth but at least 24
 * MiB, is for code, stacks and parsers. Connections use what the engine does
 * not use yet (connection_budget.h).
 */
#ifndef URLWEIR_JOB_SETTINGS_MEMORY_PLAN_H
#define URLWEIR_JOB_SETTINGS_MEMORY_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "frontier/seen/seen_store.h"

/* Octets. */
struct memory_plan {
    uint64_t limit; /* all of it */
    uint64_t engine, bodies, rest;
    uint64_t connections;           /* that they have in any case */
    struct seen_store_shares store; /* of the engine's part */
};

/* `filter`: is one used? */
struct memory_plan memory_plan(uint64_t limit, bool filter);

/* The least --memory with which a body of `body` octets can be read. */
uint64_t memory_plan_least(uint64_t body);

#endif
