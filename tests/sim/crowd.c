/* SPDX-License-Identifier: MIT */
/* crowd.c - turns of many processes, by two pipes each. */
#include "tests/sim/crowd.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/sim/disk.h"
#include "tests/sim/scheduler.h"
#include "tests/sim/steering.h"
#include "tests/sim/threads.h"
#include "tests/sim/world.h"

#define FIRST_PID 4000 /* as in threads.c */
#define KEPT_MS   2000 /* a response that ended so long before a kill is stored */
#define FAULTY    250

struct body {
    struct crowd_member seen;
    struct life_order order;
    char *words[LIFE_WORDS];
    pid_t pid;        /* of the system; 0: not forked yet, or over */
    int to, from;     /* the simulator's ends of the pipes */
    int out, err;     /* what it printed */
    int64_t until;    /* nothing to do before */
    int64_t still;    /* it is stopped until then */
    unsigned signals; /* bits, not yet seen by it */
    bool doomed, waited;
    int64_t stalled_ms;
    struct crowd_request asked; /* by another process; method NULL: nothing */
    bool answered;
    pid_t owned_by; /* whose descriptor `owned_fd` it is given; 0: none */
    int owned_fd;
    char why[1000]; /* it is a finding */
    /* what is counted for each process alone */
    uint64_t steps, allocations;
    bool no_memory;
    uint64_t ops, failed, refused;
};

struct crowd {
    struct body all[CROWD_MOST];
    unsigned count; /* lives are numbered from 1 */
    struct life_order next;
    char fault[1200];
};

static struct crowd *crowd;
static struct dice dice;
static struct body *self; /* in a process */
static int turn_in, turn_out;
static cpu_set_t anywhere;

static struct body *body_of(unsigned life)
{
    return life > 0 && life <= crowd->count ? &crowd->all[life - 1] : NULL;
}

void crowd_begin(struct dice d)
{
    cpu_set_t here;

    dice = d;
    crowd = world_get(sizeof *crowd);
    signal(SIGPIPE, SIG_IGN);
    /* One runs at a time, so a turn is handed on faster where it is. */
    CPU_ZERO(&here);
    CPU_SET((unsigned)sched_getcpu(), &here);
    sched_getaffinity(0, sizeof anywhere, &anywhere);
    sched_setaffinity(0, sizeof here, &here);
}

const struct crowd_member *crowd_member(unsigned life)
{
    return &body_of(life)->seen;
}

const char *crowd_fault(void)
{
    return crowd->fault[0] != '\0' ? crowd->fault : NULL;
}

unsigned crowd_parent(unsigned life)
{
    return crowd != NULL && body_of(life) != NULL ? body_of(life)->seen.parent
                                                  : 0;
}

bool crowd_any_alive(void)
{
    for (unsigned i = 0; i < crowd->count; i++)
        if (!crowd->all[i].seen.ended)
            return true;
    return false;
}

unsigned crowd_shard_of(unsigned parent, int shard)
{
    for (unsigned i = crowd->count; i > 0; i--)
        if (crowd->all[i - 1].seen.parent == parent &&
            crowd->all[i - 1].seen.shard == shard &&
            !crowd->all[i - 1].seen.ended)
            return i;
    return 0;
}

/* ---- starting ---- */

static struct body *body_new(const struct life_order *o)
{
    struct body *b = &crowd->all[crowd->count];

    if (crowd->count == CROWD_MOST)
        world_fault("too many processes");
    b->seen.life = ++crowd->count;
    b->seen.shard = -1;
    b->order = *o;
    for (unsigned i = 0; i < LIFE_WORDS && o->words[i] != NULL; i++)
        b->order.words[i] = b->words[i] = world_strdup(o->words[i]);
    b->until = world->mono_ns;
    return b;
}

unsigned crowd_start(const struct life_order *o)
{
    return body_new(o)->seen.life;
}

_Noreturn static void live(struct body *b, struct dice d, int in, int out)
{
    char path[64];

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    self = b;
    turn_in = in;
    turn_out = out;
    dup2(b->out, STDOUT_FILENO);
    dup2(b->err, STDERR_FILENO);
    if (b->owned_by != 0) {
        snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)b->owned_by,
                 b->owned_fd);
        snprintf(path, sizeof path, "%d", open(path, O_RDWR | O_CLOEXEC));
        b->order.words[4] = world_strdup(path);
    }
    crowd_give_turn(world->mono_ns);
    life_live(&b->order, d, b->why);
}

static void fork_it(struct body *b)
{
    struct dice d = dice_of(dice_next(&dice), "life");
    int in[2], out[2];
    pid_t pid;

    b->err = memfd_create("stderr", MFD_CLOEXEC);
    b->out = memfd_create("stdout", MFD_CLOEXEC);
    if (b->err < 0 || b->out < 0 || pipe2(in, O_CLOEXEC) != 0 ||
        pipe2(out, O_CLOEXEC) != 0)
        world_fault("no pipes");
    fflush(NULL);
    pid = fork();
    if (pid < 0)
        world_fault("fork");
    if (pid == 0) {
        close(out[0]);
        live(b, d, in[0], out[1]);
    }
    b->pid = pid;
    close(in[0]);
    close(out[1]);
    b->to = in[1];
    b->from = out[0];
    if (read(b->from, &(char){0}, 1) != 1)
        world_fault("a process does not begin");
}

/* ---- ends ---- */

/* What a process that ends had under way, or had received just now, may be lost
 * with it, and its connections end. */
static void let_go(struct body *b)
{
    int64_t now = world->passed_ns / NS_PER_MS;
    int64_t by = b->stalled_ms > 0 ? b->stalled_ms : now;

    for (size_t i = 0; i < world->log.count; i++) {
        struct sim_log_entry *e = &world->log.at[i];

        if (e->life != b->seen.life || e->let_go_ms > 0 ||
            (e->ended_ms > 0 && e->ended_ms + KEPT_MS <= by))
            continue;
        e->let_go_ms = now;
    }
}

/* True: it says why it ended, other than by a person's wish. */
static bool tell_output(struct body *b)
{
    char text[65536];
    ssize_t n = pread(b->err, text, sizeof text - 1, 0);
    bool trouble;

    close(b->err);
    text[n > 0 ? n : 0] = '\0';
    trouble = strstr(text, "cannot") != NULL || strstr(text, "taken") != NULL;
    for (char *at = text; world_trace_fd >= 0 && *at != '\0';) {
        size_t len = strcspn(at, "\n");

        if (memmem(at, len, "so far", 6) == NULL)
            TELL("  %u| %.*s", b->seen.life, (int)len, at);
        at += len + (at[len] == '\n');
    }
    return trouble;
}

static void note_fault(const struct body *b, const char *what)
{
    if (crowd->fault[0] == '\0')
        snprintf(crowd->fault, sizeof crowd->fault, "%s %s %s: %s",
                 b->order.words[0], b->order.words[1],
                 b->order.words[2] != NULL ? b->order.words[2] : "", what);
}

static void note_end(struct body *b)
{
    char text[80];
    int status = 0;
    bool trouble;

    if (waitpid(b->pid, &status, 0) != b->pid)
        world_fault("waitpid");
    close(b->to);
    close(b->from);
    b->pid = 0;
    b->seen.ended = true;
    b->seen.killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    b->seen.exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    b->seen.weary |= b->steps >= LIFE_PATIENT;
    if (b->seen.weary && b->seen.parent > 0)
        body_of(b->seen.parent)->seen.weary = true;
    trouble = tell_output(b);
    b->seen.clean = !b->seen.killed && !trouble && b->failed == 0 &&
                    b->refused == 0 && !b->no_memory;
    if (b->seen.killed)
        TELL("process %u is killed", b->seen.life);
    else
        TELL("process %u ends with %d", b->seen.life, b->seen.exit_status);
    if (WIFSIGNALED(status) && !b->seen.killed) {
        snprintf(text, sizeof text, "it ended by signal %d", WTERMSIG(status));
        note_fault(b, text);
    } else if (b->seen.exit_status == FAULTY || b->seen.exit_status == 99) {
        note_fault(b, b->why[0] != '\0' ? b->why : "a sanitizer ended it");
    }
    if (!b->seen.clean)
        let_go(b);
    disk_life_ended(b->seen.life);
    for (unsigned i = 0; i < crowd->count; i++)
        if (crowd->all[i].seen.parent == b->seen.life &&
            !crowd->all[i].seen.ended)
            crowd_kill(i + 1);
}

void crowd_kill(unsigned life)
{
    struct body *b = body_of(life);

    if (b->seen.ended)
        return;
    if (b->pid == 0) { /* it has not begun */
        b->seen.ended = b->seen.killed = true;
        b->seen.exit_status = -1;
        return;
    }
    kill(b->pid, SIGKILL);
    note_end(b);
}

void crowd_end(void)
{
    for (unsigned i = 1; i <= crowd->count; i++)
        crowd_kill(i);
    for (unsigned i = 0; i < crowd->count; i++)
        close(crowd->all[i].out);
    sched_setaffinity(0, sizeof anywhere, &anywhere);
    world->life = crowd->count;
    crowd = NULL;
}

void crowd_output(unsigned life, struct buf *out)
{
    char chunk[4096];
    ssize_t n;

    for (off_t at = 0;
         (n = pread(body_of(life)->out, chunk, sizeof chunk, at)) > 0; at += n)
        buf_add(out, chunk, (size_t)n);
}

void crowd_befall(const struct life_order *o)
{
    crowd->next = *o;
}

void crowd_signal(unsigned life, int number)
{
    struct body *b = body_of(life);

    b->signals |= 1u << number;
    b->until = world->mono_ns;
}

void crowd_stop(unsigned life, int64_t ns)
{
    for (unsigned i = 0; i < crowd->count; i++) {
        struct body *b = &crowd->all[i];

        if (b->seen.ended || (i + 1 != life && b->seen.parent != life))
            continue;
        b->still = world->mono_ns + ns;
        let_go(b);
    }
}

/* ---- turns ---- */

static void exchange(struct body *b, bool in)
{
    struct disk *d = world->disk;

#define PART(one, other)                                                       \
    do {                                                                       \
        if (in)                                                                \
            (one) = (other);                                                   \
        else                                                                   \
            (other) = (one);                                                   \
    } while (0)
    PART(world->steps, b->steps);
    PART(world->allocations, b->allocations);
    PART(world->no_memory, b->no_memory);
    PART(d->ops, b->ops);
    PART(d->failed, b->failed);
    PART(d->refused, b->refused);
#undef PART
    d->fail_at = in ? b->order.faults.fail_at : 0;
    d->full_from = in ? b->order.faults.full_from : 0;
    d->full_to = in ? b->order.faults.full_to : 0;
    world->life = in ? b->seen.life : 0;
}

static void give_turn(struct body *b)
{
    char c = 0;

    exchange(b, true);
    if (write(b->to, &c, 1) != 1 || read(b->from, &c, 1) != 1) {
        exchange(b, false);
        note_end(b);
    } else {
        exchange(b, false);
    }
    for (unsigned i = 0; i < crowd->count; i++) {
        b = &crowd->all[i];
        if (b->doomed && !b->seen.ended)
            crowd_kill(i + 1);
    }
}

static int64_t due(const struct body *b)
{
    return b->seen.ended         ? SCHEDULER_NEVER
           : b->until > b->still ? b->until
                                 : b->still;
}

bool crowd_turn(int64_t until)
{
    int64_t first = SCHEDULER_NEVER;
    unsigned count = 0, nth;

    for (unsigned i = 0; i < crowd->count; i++) {
        struct body *b = &crowd->all[i];

        if (!b->seen.ended && b->pid == 0)
            fork_it(b);
        count += due(b) <= world->mono_ns;
        if (due(b) < first)
            first = due(b);
    }
    if (count == 0) {
        int64_t to = first < until ? first : until;

        if (to == SCHEDULER_NEVER)
            world_fault("nobody has anything to do");
        if (to > world->mono_ns)
            scheduler_pause(to - world->mono_ns);
        return to < until;
    }
    nth = dice_below(&dice, count);
    for (unsigned i = 0; i < crowd->count; i++)
        if (due(&crowd->all[i]) <= world->mono_ns && nth-- == 0) {
            give_turn(&crowd->all[i]);
            break;
        }
    return world->mono_ns < until;
}

/* ---- within a process ---- */

bool crowd_is_self(void)
{
    return self != NULL;
}

void crowd_give_turn(int64_t until)
{
    char c = 0;

    self->until = until;
    if (write(turn_out, &c, 1) != 1 || read(turn_in, &c, 1) != 1)
        _exit(0); /* the simulator has ended */
    for (int n = 1; self->signals != 0 && n < 32; n++)
        if ((self->signals & 1u << n) != 0) {
            self->signals &= ~(1u << n);
            threads_signal(n);
        }
    if (self->asked.method != NULL && !self->answered)
        scheduler_wake(&self->asked, true);
}

void crowd_stalls(int64_t since_ms)
{
    if (self != NULL)
        self->stalled_ms = since_ms;
}

/* ---- DIR/control ---- */

/* A thread of each shard's process. */
static void *answer(void *arg)
{
    struct body *b = self;

    for (;;) {
        while (b->asked.method == NULL || b->answered)
            (void)scheduler_wait(&b->asked, SCHEDULER_NEVER);
        steering_answer(&b->asked);
        b->answered = true;
    }
    return arg;
}

static struct body *process_at(const char *socket)
{
    char path[100];

    for (unsigned i = 0; i < crowd->count; i++) {
        struct body *b = &crowd->all[i];

        snprintf(path, sizeof path, "%s/shards/%d/control", b->order.words[1],
                 b->seen.shard);
        if (b->seen.shard >= 0 && !b->seen.ended && strcmp(path, socket) == 0)
            return b;
    }
    return NULL;
}

bool crowd_ask(const char *socket, struct crowd_request *r)
{
    struct body *b = process_at(socket);

    if (b == NULL || b->asked.method != NULL)
        return false;
    b->answered = false;
    b->asked = (struct crowd_request){.method = world_strdup(r->method),
                                      .url = world_strdup(r->url),
                                      .body = world_strdup(r->body)};
    b->until = world->mono_ns;
    while (!b->answered && !b->seen.ended)
        scheduler_sleep(20 * NS_PER_MS);
    r->status = b->asked.status;
    r->answer = b->asked.answer;
    b->asked.method = NULL;
    return b->answered;
}

/* ---- calls on processes ---- */

static int dup_from;

int sim_posix_spawn_file_actions_adddup2(posix_spawn_file_actions_t *f,
                                         int from, int to)
{
    dup_from = from;
    return posix_spawn_file_actions_adddup2(f, from, to);
}

int sim_posix_spawn(pid_t *pid, const char *path,
                    const posix_spawn_file_actions_t *files,
                    const posix_spawnattr_t *attr, char *const argv[],
                    char *const env[])
{
    struct life_order o = crowd->next;
    struct body *b;

    crowd->next = (struct life_order){.kill_at = 0};

    (void)path, (void)files, (void)attr, (void)env;
    memset(o.words, 0, sizeof o.words);
    for (unsigned i = 0; argv[i + 1] != NULL; i++)
        o.words[i] = argv[i + 1];
    b = body_new(&o);
    b->seen.parent = self->seen.life;
    b->seen.shard = atoi(o.words[2]);
    b->owned_by = self->pid;
    b->owned_fd = dup_from;
    b->order.steer = answer;
    *pid = (pid_t)(FIRST_PID + b->seen.life);
    TELL("process %u starts: shard %d of %s", b->seen.life, b->seen.shard,
         o.words[1]);
    return 0;
}

pid_t sim_waitpid(pid_t pid, int *status, int options)
{
    (void)options;
    for (unsigned i = 0; i < crowd->count; i++) {
        struct body *b = &crowd->all[i];

        if (b->seen.parent != self->seen.life || !b->seen.ended || b->waited ||
            (pid > 0 && pid != (pid_t)(FIRST_PID + b->seen.life)))
            continue;
        b->waited = true;
        *status = b->seen.exit_status < 0 ? SIGKILL : b->seen.exit_status << 8;
        return (pid_t)(FIRST_PID + b->seen.life);
    }
    return 0;
}

int sim_kill(pid_t pid, int number)
{
    struct body *b = body_of((unsigned)pid - FIRST_PID);

    if (b == NULL || b->seen.ended)
        return 0;
    if (number == SIGKILL)
        b->doomed = true;
    else
        crowd_signal(b->seen.life, number);
    return 0;
}
