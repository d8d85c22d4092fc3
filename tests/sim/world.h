/*
 * world.h - what outlives the processes of a simulation.
 *
 * Each life of `urlweir` is a process of its own, forked from the simulator,
 * and may be killed at any step. What a kill leaves as it is stands in memory
 * that all of them share: the time, the disk, the web's counts, the log of
 * requests. world_get() takes from that memory, and all of it is given back
 * when the next seed begins.
 */
#ifndef URLWEIR_TESTS_SIM_WORLD_H
#define URLWEIR_TESTS_SIM_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "tests/sim/dice.h"
#include "tests/sim/sim_log.h"
#include "tests/sim/web.h"

struct disk;

struct world {
    uint64_t seed;
    int64_t mono_ns, wall_ns; /* now */
    int64_t passed_ns;        /* since the simulation began */
    unsigned life;            /* the number of the process that runs, from 1 */
    int64_t jumped_ms;    /* by which the wall clock has jumped, either way */
    uint64_t steps;       /* of the life that runs, or ran last */
    uint64_t allocations; /* the same */
    bool no_memory;       /* one of these failed */
    struct sim_log log;
    struct disk *disk;
    unsigned char web_counts[SIM_WEB_SHARED];
};

/* At the same address in all processes. */
extern struct world *world;
/* What a process asks, which its parent has set up and no other process
 * shares. */
extern struct sim_web *world_web;

/* Begins the world of a seed, and forgets that of the one before. */
void world_begin(uint64_t seed);

/* The time of the web, which no jump of the process's clock changes. */
int64_t world_web_ms(void);
/* Moves the wall clock alone. */
void world_jump_clock(int64_t ms);

/* Memory that outlives the process, zeroed. There is enough, or the simulation
 * ends. */
void *world_get(size_t size);
/* The same, not zeroed: a page that nobody writes costs nothing then. */
void *world_room(size_t size);
void world_put(void *p, size_t size);
/* Other room, at least as much, for something of `used` octets that had `from`:
 * what was there is moved. */
void *world_grow(void *p, size_t used, size_t from, size_t to);
char *world_strdup(const char *s);

/* ---- the trace: what happens, a line each, if it was asked for ---- */

extern int world_trace_fd; /* -1: no trace */
void world_tell(const char *fmt, ...) PRINTF_LIKE(1, 2);
#define TELL(...)                                                              \
    do {                                                                       \
        if (world_trace_fd >= 0)                                               \
            world_tell(__VA_ARGS__);                                           \
    } while (0)

/* Ends the process: the simulator itself is at fault, or lacks something that
 * this seed asks for. */
_Noreturn void world_fault(const char *fmt, ...) PRINTF_LIKE(1, 2);

#endif
