/* SPDX-License-Identifier: MIT */
/*
 * world.c - memory that the processes of a simulation share.
 *
 * One mapping, made before the first fork and so at the same address in all
 * processes. Blocks are powers of two, with a list of free ones for each; only
 * one process runs at a time, and none is killed while it changes the lists.
 */
#include "tests/sim/world.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define SIZE    ((size_t)2 << 30) /* of addresses; memory as it is used */
#define CLASSES 32
#define LEAST   ((size_t)32)

struct arena {
    struct world world;
    size_t used; /* octets from the beginning */
    void *free_blocks[CLASSES];
};

struct world *world;
struct sim_web *world_web;
int world_trace_fd = -1;

static struct arena *arena;

void world_begin(uint64_t seed)
{
    if (arena == NULL) {
        arena = mmap(NULL, SIZE, PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (arena == MAP_FAILED) {
            arena = NULL;
            world_fault("no memory to share");
        }
        arena->used = 0;
    }
    /* What was given out is zeroed now, not by each world_get() anew. */
    memset(arena, 0, arena->used > sizeof *arena ? arena->used : sizeof *arena);
    arena->used = (sizeof *arena + 4095) & ~(size_t)4095;
    world = &arena->world;
    world->seed = seed;
    world->wall_ns = SIM_START_MS * INT64_C(1000000);
    world->mono_ns = INT64_C(1000000000000); /* the machine is up for a while */
}

int64_t world_web_ms(void)
{
    return SIM_START_MS + world->passed_ns / 1000000;
}

void world_jump_clock(int64_t ms)
{
    TELL("the clock jumps by %lld s", (long long)ms / 1000);
    world->wall_ns += ms * 1000000;
    world->jumped_ms += ms < 0 ? -ms : ms;
}

static unsigned class_of(size_t size)
{
    unsigned c = 0;

    while ((LEAST << c) < size)
        c++;
    return c;
}

void *world_room(size_t size)
{
    unsigned c = class_of(size);
    size_t whole = LEAST << c;
    void *p = arena->free_blocks[c];

    if (p != NULL) {
        memcpy(&arena->free_blocks[c], p, sizeof p);
        return p;
    }
    if (SIZE - arena->used < whole)
        world_fault("the shared memory is used up");
    p = (char *)arena + arena->used;
    arena->used += whole;
    return p;
}

void *world_get(size_t size)
{
    return memset(world_room(size), 0, size);
}

void world_put(void *p, size_t size)
{
    unsigned c = class_of(size);

    if (p == NULL)
        return;
    memcpy(p, &arena->free_blocks[c], sizeof p);
    arena->free_blocks[c] = p;
}

void *world_grow(void *p, size_t used, size_t from, size_t to)
{
    void *at = world_get(to);

    if (used > 0)
        memcpy(at, p, used);
    world_put(p, from);
    return at;
}

char *world_strdup(const char *s)
{
    size_t size = strlen(s) + 1;
    char *copy = world_get(size);

    memcpy(copy, s, size);
    return copy;
}

static void PRINTF_LIKE(2, 0) say(int fd, const char *fmt, va_list args)
{
    char line[2000];
    int64_t ms = world != NULL ? world->passed_ns / 1000000 : 0;
    int n = snprintf(line, sizeof line, "%9lld.%03d  ", (long long)ms / 1000,
                     (int)(ms % 1000));

    n += vsnprintf(line + n, sizeof line - (size_t)n - 1, fmt, args);
    if ((size_t)n > sizeof line - 2)
        n = (int)sizeof line - 2;
    line[n++] = '\n';
    if (write(fd, line, (size_t)n) != n)
        return; /* nobody reads it */
}

void world_tell(const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    say(world_trace_fd, fmt, args);
    va_end(args);
}

_Noreturn void world_fault(const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    say(world_trace_fd >= 0 ? world_trace_fd : STDERR_FILENO, fmt, args);
    va_end(args);
    abort();
}
