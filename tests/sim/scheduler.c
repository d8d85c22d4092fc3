/* SPDX-License-Identifier: MIT */
/*
 * scheduler.c - coroutines, and a clock that moves when all of them wait.
 *
 * Each step is counted (life_step): a life may be killed at any, and one that
 * takes too many hangs.
 */
#include "tests/sim/scheduler.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "tests/sim/crowd.h"
#include "tests/sim/life.h"
#include "tests/sim/reader.h"
#include "tests/sim/world.h"

#define THREADS    256
#define STACK      ((size_t)1 << 20)
#define LOOK_NS    INT64_C(700)         /* that a look at a clock takes */
#define PATIENCE   INT64_C(60000000000) /* before sleeps grow */
#define SLEEP_MOST INT64_C(3600000000000)

enum state { FREE, RUNS, WAITS, ENDED };

struct coroutine {
    enum state state;
    unsigned generation;
    ucontext_t context;
    void *stack;
    void *(*run)(void *);
    void *arg, *result;
    const void *object; /* waited for */
    int64_t deadline;
    bool woken, detached;
    int64_t idle_since; /* when there was something to do for it last */
    int saved_errno;
    char name[16];
};

static struct coroutine all[THREADS];
static unsigned top, current; /* all[1] to all[top] have been used */
static struct dice dice;

static void move_clock(int64_t ns)
{
    world->mono_ns += ns;
    world->wall_ns += ns;
    world->passed_ns += ns;
}

int64_t scheduler_mono(void)
{
    move_clock(LOOK_NS);
    return world->mono_ns;
}

int64_t scheduler_wall(void)
{
    move_clock(LOOK_NS);
    return world->wall_ns;
}

/* The time that a process is stopped for is not one of idleness. */
void scheduler_pause(int64_t ns)
{
    for (unsigned i = 1; i <= top; i++)
        all[i].idle_since += ns;
    move_clock(ns);
}

void scheduler_begin(struct dice d)
{
    dice = d;
    top = current = 1;
    all[1].state = RUNS;
    all[1].idle_since = world->mono_ns;
    snprintf(all[1].name, sizeof all[1].name, "main");
}

/* ---- switching ---- */

_Noreturn static void deadlock(void)
{
    char text[1500];
    int n = 0;

    for (unsigned i = 1; i <= top && n < 1400; i++)
        if (all[i].state == WAITS)
            n +=
                snprintf(text + n, sizeof text - (size_t)n, " %s", all[i].name);
    life_end_badly("all threads wait for ever:%s", text);
}

static void switch_to(unsigned next)
{
    struct coroutine *from = &all[current], *to = &all[next];

    if (next == current)
        return;
    from->saved_errno = errno;
    current = next;
    swapcontext(&from->context, &to->context);
    errno = all[current].saved_errno;
}

/* The first that times out; 0: none ever does. */
static unsigned first_to_time_out(void)
{
    unsigned best = 0;

    for (unsigned i = 1; i <= top; i++)
        if (all[i].state == WAITS && all[i].deadline != SCHEDULER_NEVER &&
            (best == 0 || all[i].deadline < all[best].deadline))
            best = i;
    return best;
}

static void time_out_those_due(void)
{
    for (unsigned i = 1; i <= top; i++)
        if (all[i].state == WAITS && all[i].deadline <= world->mono_ns) {
            all[i].state = RUNS;
            all[i].woken = false;
        }
}

static unsigned one_that_runs(void)
{
    unsigned count = 0, nth;

    for (unsigned i = 1; i <= top; i++)
        count += all[i].state == RUNS;
    if (count == 0)
        return 0;
    nth = count > 1 ? dice_below(&dice, count) : 0;
    for (unsigned i = 1; i <= top; i++)
        if (all[i].state == RUNS && nth-- == 0)
            return i;
    return 0;
}

static void give_up_processor(void)
{
    unsigned next;

    life_step("step");
    if (reader_is_self() && dice_below(&dice, 4) == 0)
        reader_give_turn(world->mono_ns);
    if (crowd_is_self() && dice_below(&dice, 16) == 0)
        crowd_give_turn(world->mono_ns);
    time_out_those_due();
    while ((next = one_that_runs()) == 0) {
        unsigned first = first_to_time_out();

        if (first == 0)
            deadlock();
        if (crowd_is_self())
            crowd_give_turn(all[first].deadline);
        else if (reader_is_self())
            reader_give_turn(all[first].deadline);
        else if (all[first].deadline > world->mono_ns)
            move_clock(all[first].deadline - world->mono_ns);
        time_out_those_due();
    }
    switch_to(next);
}

/* ---- threads ---- */

static void run_coroutine(void)
{
    struct coroutine *c = &all[current];

    errno = 0;
    c->result = c->run(c->arg);
    c->state = c->detached ? FREE : ENDED;
    scheduler_wake(c, true);
    give_up_processor();
    world_fault("a thread that has ended runs");
}

unsigned scheduler_spawn(void *(*run)(void *), void *arg)
{
    struct coroutine *c;
    unsigned i = 2;

    while (i < THREADS && all[i].state != FREE)
        i++;
    if (i == THREADS)
        world_fault("too many threads");
    if (i > top)
        top = i;
    c = &all[i];
    if (c->stack == NULL) {
        c->stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (c->stack == MAP_FAILED || mprotect(c->stack, 4096, PROT_NONE) != 0)
            world_fault("no memory for a stack");
    }
    getcontext(&c->context);
    c->context.uc_stack.ss_sp = c->stack;
    c->context.uc_stack.ss_size = STACK;
    c->context.uc_link = NULL;
    makecontext(&c->context, run_coroutine, 0);
    c->run = run;
    c->arg = arg;
    c->state = RUNS;
    c->detached = false;
    c->idle_since = world->mono_ns;
    snprintf(c->name, sizeof c->name, "thread %u", i);
    return i;
}

unsigned scheduler_self(void)
{
    return current;
}

void *scheduler_join(unsigned number)
{
    struct coroutine *c = &all[number];

    while (c->state != ENDED)
        (void)scheduler_wait(c, SCHEDULER_NEVER);
    c->state = FREE;
    return c->result;
}

void scheduler_detach(unsigned number)
{
    struct coroutine *c = &all[number];

    if (c->state == ENDED)
        c->state = FREE;
    else
        c->detached = true;
}

void scheduler_name(unsigned number, const char *name)
{
    snprintf(all[number].name, sizeof all[number].name, "%s", name);
}

/* ---- waiting ---- */

/* One that has had nothing to do for a minute may wake late, by an eighth of
 * the time that it has been idle for. */
static int64_t later(const struct coroutine *c, int64_t deadline)
{
    int64_t idle = world->mono_ns - c->idle_since, least = idle / 8;

    if (deadline == SCHEDULER_NEVER || deadline <= world->mono_ns ||
        idle < PATIENCE)
        return deadline;
    if (least > SLEEP_MOST)
        least = SLEEP_MOST;
    return deadline - world->mono_ns < least ? world->mono_ns + least
                                             : deadline;
}

bool scheduler_wait(const void *object, int64_t deadline)
{
    struct coroutine *c = &all[current];

    c->object = object;
    c->deadline = deadline;
    c->woken = false;
    c->state = WAITS;
    give_up_processor();
    return c->woken;
}

bool scheduler_idle(const void *object, int64_t deadline)
{
    struct coroutine *c = &all[current];
    bool woken = scheduler_wait(object, later(c, deadline));

    if (woken)
        scheduler_busy();
    return woken;
}

void scheduler_busy(void)
{
    all[current].idle_since = world->mono_ns;
}

void scheduler_wake(const void *object, bool every)
{
    unsigned count = 0, nth;

    for (unsigned i = 1; i <= top; i++)
        count += all[i].state == WAITS && all[i].object == object;
    if (count == 0)
        return;
    nth = every || count == 1 ? 0 : dice_below(&dice, count);
    for (unsigned i = 1; i <= top; i++)
        if (all[i].state == WAITS && all[i].object == object &&
            (every || nth-- == 0)) {
            all[i].state = RUNS;
            all[i].woken = true;
            if (!every)
                return;
        }
}

void scheduler_pass(void)
{
    if (dice_below(&dice, 8) == 0) {
        move_clock(dice_below(&dice, 20000));
        give_up_processor();
    }
}

void scheduler_sleep(int64_t ns)
{
    (void)scheduler_wait(&all[current].state, world->mono_ns + ns);
}

void scheduler_doze(int64_t ns)
{
    (void)scheduler_idle(&all[current].state, world->mono_ns + ns);
}
