/* SPDX-License-Identifier: MIT */
/* life.c - forks a process, watches it, and keeps what it printed. */
#include "tests/sim/life.h"

#include <errno.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/sim/disk.h"
#include "tests/sim/files.h"
#include "tests/sim/memory.h"
#include "tests/sim/network.h"
#include "tests/sim/reader.h"
#include "tests/sim/scheduler.h"
#include "tests/sim/threads.h"
#include "tests/sim/vfs.h"
#include "tests/sim/world.h"

#define FAULTY_STATUS 250
#define READERS_FROM                                                           \
    1000000 /* their numbers, after that of the other process */
#define STEPS_MOST   UINT64_C(20000000)
#define STEPS_SECOND 300000 /* of one second; more are a loop that spins */
#define SECONDS_MOST 60 /* of the processor, for what hangs without a step */
#define SHOWN_MOST   ((size_t)1 << 22)

int urlweir_main(int argc, char **argv);

#define WHY_MOST 1000
static char *faulty_why; /* shared with the child */
static uint64_t kill_at;
static int64_t second; /* of simulated time, and the steps before it */
static uint64_t second_began;
static struct dice chance;
static const struct life_order *order;

void life_result_init(struct life_result *r)
{
    *r = (struct life_result){0};
    buf_init(&r->out, SHOWN_MOST);
    buf_init(&r->err, SHOWN_MOST);
    buf_init(&r->why, SHOWN_MOST);
}

void life_result_fini(struct life_result *r)
{
    buf_fini(&r->out);
    buf_fini(&r->err);
    buf_fini(&r->why);
}

/* ---- within the life ---- */

void life_kill(const char *when)
{
    TELL("killed at step %llu, a %s", (unsigned long long)world->steps, when);
    kill(getpid(), SIGKILL);
}

void life_step(const char *what)
{
    if (reader_is_self())
        return; /* its turns are counted with those of the other process */
    world->steps++;
    if (world->steps == kill_at)
        life_kill(what);
    if (world->steps == order->faults.pause_at) {
        TELL("stopped for %lld s", (long long)order->faults.pause_ms / 1000);
        scheduler_pause(order->faults.pause_ms * NS_PER_MS);
    }
    if (world->steps == LIFE_PATIENT)
        threads_signal(SIGTERM);
    if (world->passed_ns / NS_PER_S != second) {
        second = world->passed_ns / NS_PER_S;
        second_began = world->steps;
    }
    if (world->steps - second_began > STEPS_SECOND)
        life_end_badly("it spins");
    if (world->steps > STEPS_MOST)
        life_end_badly("it goes on for ever");
}

_Noreturn void life_end_badly(const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    vsnprintf(faulty_why, WHY_MOST, fmt, args);
    va_end(args);
    TELL("faulty: %s", faulty_why);
    if (reader_is_self())
        reader_end(FAULTY_STATUS, faulty_why);
    _exit(FAULTY_STATUS);
}

unsigned life_number(void)
{
    return world->life + (reader_is_self() ? READERS_FROM : 0);
}

uint64_t life_random(void)
{
    return dice_next(&chance);
}

/* Threads that the simulator adds to the process. */

static void *send_signals(void *arg)
{
    int64_t begun = world->mono_ns;

    (void)arg;
    for (unsigned i = 0; i < order->signal_count; i++) {
        const struct life_signal *s = &order->signals[i];
        int64_t at = begun + s->after_ms * NS_PER_MS;

        if (at > world->mono_ns)
            scheduler_sleep(at - world->mono_ns);
        TELL("signal %d", s->number);
        threads_signal(s->number);
    }
    return NULL;
}

static void *kill_it(void *arg)
{
    (void)arg;
    scheduler_sleep(order->kill_after_ms * NS_PER_MS);
    TELL("killed after %llu steps", (unsigned long long)world->steps);
    kill(getpid(), SIGKILL);
    return NULL;
}

static void *jump_clock(void *arg)
{
    (void)arg;
    scheduler_sleep(order->faults.jump_after_ms * NS_PER_MS);
    world_jump_clock(order->faults.jump_ms);
    return NULL;
}

static void add_thread(void *(*run)(void *), void *arg, const char *name)
{
    unsigned n = scheduler_spawn(run, arg);

    scheduler_name(n, name);
    scheduler_detach(n);
}

static int call_main(const char *const *words)
{
    char *argv[LIFE_WORDS + 1];
    int argc = 0, status;

    argv[argc++] = strdup("urlweir");
    while (words[argc - 1] != NULL) {
        argv[argc] = strdup(words[argc - 1]);
        argc++;
    }
    argv[argc] = NULL;
    status = urlweir_main(argc, argv);
    fflush(NULL);
    return status;
}

/* What it prints is kept with the errors of the other process. */
_Noreturn static void live_as_reader(struct dice dice)
{
    const struct itimerval limit = {.it_value.tv_sec = SECONDS_MOST};

    dup2(STDERR_FILENO, STDOUT_FILENO);
    chance = dice_of(dice_next(&dice), "chance of the reader");
    sqlite3_randomness(0, NULL);
    scheduler_begin(dice_of(dice_next(&dice), "turns of the reader"));
    setitimer(ITIMER_PROF, &limit, NULL);
    reader_end(call_main(order->reader.words), NULL);
}

_Noreturn static void live(struct dice dice)
{
    const struct itimerval limit = {.it_value.tv_sec = SECONDS_MOST};
    int status;

    if (order->reader.words[0] != NULL && reader_fork(&order->reader))
        live_as_reader(dice);
    chance = dice_of(dice_next(&dice), "chance");
    kill_at = order->kill_at;
    points_begin(order->kill_point);
    second_began = 0;
    sqlite3_randomness(0, NULL); /* begins anew, from our VFS */
    scheduler_begin(dice_of(dice_next(&dice), "turns"));
    network_begin(dice_of(dice_next(&dice), "network"));
    if (order->signal_count > 0)
        add_thread(send_signals, NULL, "signals");
    if (order->kill_after_ms > 0)
        add_thread(kill_it, NULL, "kill");
    if (order->faults.jump_ms != 0)
        add_thread(jump_clock, NULL, "jump");
    if (order->steer != NULL)
        add_thread(order->steer, order->steer_arg, "person");
    if (order->reader.words[0] != NULL)
        add_thread(reader_thread, NULL, "reader");
    setitimer(ITIMER_PROF, &limit, NULL);
    memory_begin(order->faults.no_memory_at);
    status = call_main(order->words);
    reader_stop();
    _exit(status);
}

_Noreturn void life_live(const struct life_order *o, struct dice dice,
                         char *why)
{
    order = o;
    faulty_why = why;
    live(dice);
}

/* ---- around it ---- */

void life_prepare(void)
{
    points_prepare();
    memory_register();
    vfs_register();
}

static void read_back(int fd, struct buf *out)
{
    char chunk[65536];
    ssize_t n;
    off_t at = 0;

    while ((n = pread(fd, chunk, sizeof chunk, at)) > 0) {
        buf_add(out, chunk, (size_t)n);
        at += n;
    }
    close(fd);
}

static void judge(int status, struct life_result *r)
{
    if (WIFEXITED(status) && WEXITSTATUS(status) != FAULTY_STATUS &&
        WEXITSTATUS(status) != 99) {
        r->end = LIFE_EXITED;
        r->status = WEXITSTATUS(status);
    } else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) {
        r->end = LIFE_KILLED;
    } else {
        r->end = LIFE_FAULTY;
        if (WIFSIGNALED(status))
            buf_addf(&r->why, "it ended by signal %d (%s)", WTERMSIG(status),
                     strsignal(WTERMSIG(status)));
        else
            buf_add_str(&r->why, faulty_why[0] != '\0'
                                     ? faulty_why
                                     : "a sanitizer ended it");
    }
}

void life_run(const struct life_order *o, struct dice dice,
              struct life_result *r)
{
    int out = memfd_create("stdout", MFD_CLOEXEC);
    int err = memfd_create("stderr", MFD_CLOEXEC), status = 0;
    struct disk *d = world->disk;
    bool reads = o->reader.words[0] != NULL;
    pid_t pid;

    if (out < 0 || err < 0)
        world_fault("memfd_create: %s", strerror(errno));
    world->life++;
    world->steps = 0;
    d->ops = d->failed = d->refused = 0;
    d->fail_at = o->faults.fail_at;
    d->full_from = o->faults.full_from;
    d->full_to = o->faults.full_to;
    world->allocations = 0;
    world->no_memory = false;
    faulty_why = world_get(WHY_MOST);
    order = o;
    if (reads)
        reader_prepare();
    fflush(NULL);
    pid = fork();
    if (pid == 0) {
        dup2(out, STDOUT_FILENO);
        dup2(err, STDERR_FILENO);
        live(dice);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        world_fault("fork: %s", strerror(errno));
    r->reader = reads ? reader_finish() : -1;
    read_back(out, &r->out);
    read_back(err, &r->err);
    judge(status, r);
    world_put(faulty_why, WHY_MOST);
    r->steps = world->steps;
    r->disk_ops = d->ops;
    r->disk_failed = d->failed;
    r->disk_refused = d->refused;
    r->allocations = world->allocations;
    r->no_memory = world->no_memory;
    d->fail_at = d->full_from = d->full_to = 0;
    disk_process_ended();
}
