/* SPDX-License-Identifier: MIT */
/* memory.c - malloc and its like, of which the nth returns NULL. */
#include "tests/sim/memory.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stdlib.h>

#include "tests/sim/world.h"

static bool counts;
static uint64_t fails_at;
static sqlite3_mem_methods of_sqlite; /* its own */

void memory_begin(uint64_t nth)
{
    counts = true;
    fails_at = nth;
}

static bool fails(void)
{
    if (!counts || ++world->allocations != fails_at)
        return false;
    TELL("no memory");
    world->no_memory = true;
    return true;
}

void *sim_malloc(size_t size)
{
    return fails() ? NULL : malloc(size);
}

void *sim_calloc(size_t count, size_t size)
{
    return fails() ? NULL : calloc(count, size);
}

void *sim_realloc(void *p, size_t size)
{
    return fails() ? NULL : realloc(p, size);
}

static void *sqlite_malloc(int size)
{
    return fails() ? NULL : of_sqlite.xMalloc(size);
}

static void *sqlite_realloc(void *p, int size)
{
    return fails() ? NULL : of_sqlite.xRealloc(p, size);
}

void memory_register(void)
{
    sqlite3_mem_methods ours;

    if (sqlite3_config(SQLITE_CONFIG_GETMALLOC, &of_sqlite) != SQLITE_OK)
        world_fault("SQLite does not tell how it allocates");
    ours = of_sqlite;
    ours.xMalloc = sqlite_malloc;
    ours.xRealloc = sqlite_realloc;
    if (sqlite3_config(SQLITE_CONFIG_MALLOC, &ours) != SQLITE_OK)
        world_fault("SQLite does not take our memory");
}
