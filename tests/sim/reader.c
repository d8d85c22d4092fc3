/* SPDX-License-Identifier: MIT */
/* reader.c - turns of two processes, by two semaphores. */
#include "tests/sim/reader.h"

#include <errno.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/sim/scheduler.h"
#include "tests/sim/vfs.h"
#include "tests/sim/world.h"

#define LOOK_NS (100 * NS_PER_MS) /* of real time, for one that has died */

/* Shared by both, and the process that started them. */
struct turns {
    sem_t reader, other;
    pid_t pid; /* of the reader; 0: it has been waited for */
    int64_t until;
    bool over;
    int status;
    char why[1000];
};

static struct turns *turns;
static bool is_self;
static const struct life_reader *order;

void reader_prepare(void)
{
    turns = world_get(sizeof *turns);
    if (sem_init(&turns->reader, 1, 0) != 0 ||
        sem_init(&turns->other, 1, 0) != 0 ||
        prctl(PR_SET_CHILD_SUBREAPER, 1) != 0)
        world_fault("no semaphores");
}

bool reader_is_self(void)
{
    return is_self;
}

void reader_stop(void)
{
    if (turns == NULL || turns->pid == 0)
        return;
    kill(turns->pid, SIGKILL);
    waitpid(turns->pid, NULL, 0);
    turns->pid = 0;
}

int reader_finish(void)
{
    int status = turns->over ? turns->status : -1;

    reader_stop(); /* it is ours now if the other process was killed */
    world_put(turns, sizeof *turns);
    turns = NULL;
    return status;
}

static void wait_for_turn(void)
{
    while (sem_wait(&turns->reader) != 0)
        continue;
}

bool reader_fork(const struct life_reader *o)
{
    pid_t pid = fork();

    order = o;
    if (pid < 0)
        world_fault("fork");
    if (pid > 0) {
        turns->pid = pid;
        return false;
    }
    is_self = true;
    wait_for_turn();
    return true;
}

void reader_give_turn(int64_t until)
{
    turns->until = until;
    sem_post(&turns->other);
    wait_for_turn();
}

_Noreturn void reader_end(int status, const char *why)
{
    turns->status = status;
    turns->over = true;
    snprintf(turns->why, sizeof turns->why, "%s", why != NULL ? why : "");
    vfs_let_go();
    sem_post(&turns->other);
    _exit(0);
}

/* False: it has died. */
static bool give_reader_turn(void)
{
    struct timespec t;

    sem_post(&turns->reader);
    for (;;) {
        clock_gettime(CLOCK_REALTIME, &t);
        t.tv_nsec += LOOK_NS;
        t.tv_sec += t.tv_nsec / NS_PER_S;
        t.tv_nsec %= NS_PER_S;
        if (sem_timedwait(&turns->other, &t) == 0)
            return true;
        if (errno == ETIMEDOUT && waitpid(turns->pid, NULL, WNOHANG) != 0) {
            turns->pid = 0;
            return sem_trywait(&turns->other) == 0;
        }
    }
}

void *reader_thread(void *arg)
{
    (void)arg;
    scheduler_sleep(order->after_ms * NS_PER_MS);
    TELL("meanwhile: %s %s", order->words[0], order->words[1]);
    for (;;) {
        if (!give_reader_turn())
            life_end_badly("a reader has crashed: %s", order->words[0]);
        if (turns->over)
            break;
        scheduler_sleep(
            turns->until > world->mono_ns ? turns->until - world->mono_ns : 0);
    }
    TELL("%s: exit status %d", order->words[0], turns->status);
    if (turns->why[0] != '\0')
        life_end_badly("%s: %s", order->words[0], turns->why);
    return NULL;
}
