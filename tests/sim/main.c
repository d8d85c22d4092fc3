/* SPDX-License-Identifier: MIT */
/*
 * main.c - the simulator: one seed with a trace, or many.
 *
 *     sim SEED             the trace on standard error
 *     sim -n COUNT [FROM [STEP]]  COUNT seeds from FROM on, 1 by default
 *     sim -f COUNT [FROM [STEP]]  the same until one fails
 *
 * Many seeds are played by two processes that share out the numbers; each
 * process runs one life of `urlweir` at a time. See docs/testing.md.
 */
/* Promise (Installing and checks): the eight above hold together, in whole
 * crawls of a simulated web on a simulated machine: settings change, and stops,
 * kills, power cuts, full disks, clocks and threads come in any order. See also
 * `make sim N=10000`, `make sim-faults`. */
/* Promise (Served frontier): counts, order, dates, leases and removal are exact
 * after any sequence of calls, restarts and crashes. */
/* Promise (Politeness): a crawl whose settings changed any number of times,
 * with kills between, has fetched what a new one would, each page once. */
/* Promise (Politeness): a host that a person blocks is not given up, and is
 * unblocked in a stopped crawl too. */
/* Promise (Crashes): a clock that is set back makes no wait longer than a
 * server may ask for. */
/* Promise (Crashes): served URLs: a clock that is set back makes no lease
 * longer, and URLs without a date do not wait. */
#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/sim/life.h"
#include "tests/sim/play.h"
#include "tests/sim/world.h"

#define PLAYERS    2
#define SHOWN_MOST 200 /* seeds that fail */
#define YEAR_MS    INT64_C(31556952000)

/* Shared by the players. */
struct board {
    _Atomic uint64_t next, last;
    uint64_t step;
    _Atomic uint64_t played, acts, requests;
    _Atomic int64_t passed_ms;
    _Atomic unsigned failed;
    bool first_only; /* stop when a seed has failed */
    struct failure {
        uint64_t seed;
        unsigned acts;
        char why[300];
    } failures[SHOWN_MOST];
};

static int play_one(uint64_t seed)
{
    struct play_result r;
    bool good;

    world_trace_fd = dup(STDERR_FILENO);
    play_init(&r);
    play_seed(seed, &r);
    good = r.good;
    if (good)
        printf("seed %" PRIu64 ": good, %u acts, %u requests\n", seed, r.acts,
               r.requests);
    else
        printf("seed %" PRIu64 ": BAD, %u acts\n%s", seed, r.acts,
               buf_str(&r.why));
    play_fini(&r);
    return good ? 0 : 1;
}

/* ---- many ---- */

static void note_failure(struct board *b, uint64_t seed,
                         const struct play_result *r)
{
    unsigned i = atomic_fetch_add(&b->failed, 1);

    if (i >= SHOWN_MOST)
        return;
    b->failures[i].seed = seed;
    b->failures[i].acts = r->acts;
    snprintf(b->failures[i].why, sizeof b->failures[i].why, "%.*s",
             (int)strcspn(buf_str(&r->why), "\n"), buf_str(&r->why));
    printf("seed %" PRIu64 " fails after %u acts: %s\n", seed, r->acts,
           b->failures[i].why);
    fflush(stdout);
}

static void play_many(struct board *b)
{
    struct play_result r;
    uint64_t seed;

    play_init(&r);
    while (!(b->first_only && b->failed > 0) &&
           (seed = atomic_fetch_add(&b->next, b->step)) <= b->last) {
        play_seed(seed, &r);
        atomic_fetch_add(&b->played, 1);
        atomic_fetch_add(&b->acts, r.acts);
        atomic_fetch_add(&b->requests, r.requests);
        atomic_fetch_add(&b->passed_ms, r.passed_ms);
        if (!r.good)
            note_failure(b, seed, &r);
    }
    play_fini(&r);
}

static double seconds_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void sum_up(const struct board *b, double seconds)
{
    const struct failure *shortest = NULL;
    unsigned shown = b->failed < SHOWN_MOST ? b->failed : SHOWN_MOST;

    printf("%" PRIu64 " seeds in %.0f s (%.1f a second): %" PRIu64
           " acts, %" PRIu64 " requests, %.1f years; %u failed\n",
           b->played, seconds, (double)b->played / seconds, b->acts,
           b->requests, (double)b->passed_ms / (double)YEAR_MS, b->failed);
    for (unsigned i = 0; i < shown; i++)
        if (shortest == NULL || b->failures[i].acts < shortest->acts)
            shortest = &b->failures[i];
    points_report();
    if (shortest != NULL)
        printf("the shortest: seed %" PRIu64 ", %u acts: %s\n", shortest->seed,
               shortest->acts, shortest->why);
}

static void start_players(struct board *b, pid_t pids[PLAYERS])
{
    for (unsigned i = 0; i < PLAYERS; i++) {
        fflush(NULL);
        pids[i] = fork();
        if (pids[i] == 0) {
            play_many(b);
            fflush(NULL);
            _exit(0);
        }
        if (pids[i] < 0)
            world_fault("fork: %s", strerror(errno));
    }
}

static int play_from(uint64_t from, uint64_t count, uint64_t step,
                     bool first_only)
{
    struct board *b = mmap(NULL, sizeof *b, PROT_READ | PROT_WRITE,
                           MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    double began = seconds_now();
    pid_t pids[PLAYERS];
    bool broken = false;

    if (b == MAP_FAILED)
        world_fault("no memory to share");
    b->next = from;
    b->first_only = first_only;
    b->step = step;
    b->last = from + (count - 1) * step;
    start_players(b, pids);
    for (unsigned i = 0; i < PLAYERS; i++) {
        int status;

        if (waitpid(pids[i], &status, 0) != pids[i] || status != 0)
            broken = true;
    }
    sum_up(b, seconds_now() - began);
    if (broken)
        printf("a player has ended badly\n");
    return b->failed > 0 || broken;
}

int main(int argc, char **argv)
{
    if (argc == 2 && argv[1][0] != '-') {
        life_prepare();
        return play_one(strtoull(argv[1], NULL, 10));
    }
    if (argc >= 3 && argc <= 5 &&
        (strcmp(argv[1], "-n") == 0 || strcmp(argv[1], "-f") == 0)) {
        life_prepare();
        return play_from(argc > 3 ? strtoull(argv[3], NULL, 10) : 1,
                         strtoull(argv[2], NULL, 10),
                         argc > 4 ? strtoull(argv[4], NULL, 10) : 1,
                         argv[1][1] == 'f');
    }
    fprintf(stderr, "usage: sim SEED | sim -n COUNT [FROM [STEP]] | sim -f "
                    "COUNT [FROM [STEP]]\n");
    return 2;
}
