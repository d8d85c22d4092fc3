/* SPDX-License-Identifier: MIT */
/* shards_play.c - machines that crawl together, and what befalls them. */
#include "tests/sim/shards_play.h"

#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "frontier/url/host.h"
#include "job/exit_code.h"
#include "tests/sim/brokers.h"
#include "tests/sim/crowd.h"
#include "tests/sim/disk.h"
#include "tests/sim/person.h"
#include "tests/sim/play.h"
#include "tests/sim/scheduler.h"
#include "tests/sim/trouble.h"
#include "tests/sim/truth.h"
#include "tests/sim/world.h"

#define MACHINES  3
#define SHARDS    4
#define DIRS      40
#define ACTS_MOST 14
#define PAUSED_MS 60000 /* until what was leased before is asked for */
#define STARTS    60
#define URL       "kafka://broker/docs"
#define WAITED    (INT64_C(6) * 3600 * NS_PER_S)
#define PATIENCE  (INT64_C(3) * 24 * 3600 * NS_PER_S)
#define WHY_MOST  ((size_t)1 << 20)
#define ROWS_MOST ((size_t)16 << 20)

struct machine {
    unsigned worker; /* its life; 0: none runs */
    char dir[8];     /* "": none yet */
    bool stops;      /* it was asked to */
};

struct play {
    struct play_result *r;
    struct dice d;
    struct sim_act act; /* the crawl as one act, for the truth */
    unsigned shards, dirs, starts;
    struct machine m[MACHINES];
    char shards_text[8];
    struct command {
        unsigned life; /* 0: none runs */
        enum steer_verb verb;
        struct sim_steer *kept; /* for the truth; NULL: it need not know */
    } command;
    bool pause_holds;  /* the answer was that of all shards */
    int64_t paused_ms; /* since then, by an answer; 0: it is not */
    size_t judged;     /* requests */
    bool goes_on;      /* a shard that was read from Kafka in the end */
    bool lacks_rows;   /* of a shard whose owner is lost, and that goes on */
    bool ended;        /* what is asked from now on is not judged */
    bool trouble;      /* something befell a machine or a process */
    bool staggered;    /* shards have not begun at one time */
    int64_t ahead_ms;  /* of the clock, by its jumps */
    int64_t most_ms;   /* that it ever was ahead */
    int last_exit;     /* of a worker that ended by itself; -1: none */
    char dir_of[DIRS * 4][8]; /* of a worker, by its life */
};

bool shards_is_played(uint64_t seed)
{
    return seed % 16 == 0;
}

static void PRINTF_LIKE(2, 3) wrong(struct play *p, const char *fmt, ...)
{
    va_list args;
    char line[1500];

    va_start(args, fmt);
    vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    if (p->r->good)
        buf_addf(&p->r->why, "%s\n", line);
    TELL("wrong: %s", line);
    p->r->good = false;
}

static int64_t passed(void)
{
    return world->passed_ns / NS_PER_MS;
}

/* ---- machines ---- */

static void start(struct play *p, struct machine *m, const struct life_order *o)
{
    struct buf words;

    buf_init(&words, WHY_MOST);
    if (!crowd_any_alive())
        p->act.again_ms = passed();
    m->worker = crowd_start(o);
    /* A stop that is under way reaches who begins meanwhile. */
    m->stops = p->command.life != 0 && p->command.verb == STEER_STOP;
    p->starts++;
    p->r->acts++;
    snprintf(p->dir_of[m->worker], sizeof p->dir_of[0], "%s", m->dir);
    for (unsigned i = 0; i < LIFE_WORDS && o->words[i] != NULL; i++)
        buf_addf(&words, " %s", o->words[i]);
    TELL("process %u: urlweir%s", m->worker, buf_str(&words));
    buf_fini(&words);
}

static void take_new_dir(struct play *p, struct machine *m)
{
    snprintf(m->dir, sizeof m->dir, "w%u", p->dirs++);
}

static void crawl(struct play *p, struct machine *m)
{
    struct life_order o = {.kill_at = 0};
    unsigned n = 0;

    take_new_dir(p, m);
    for (unsigned i = 0; i < p->act.arg_count; i++)
        o.words[n++] =
            strcmp(p->act.args[i], "c0") == 0 ? m->dir : p->act.args[i];
    o.words[n++] = "--cluster";
    o.words[n++] = URL;
    o.words[n++] = "--shards";
    o.words[n++] = p->shards_text;
    start(p, m, &o);
}

static struct machine *one_that_runs(struct play *p)
{
    unsigned first = dice_below(&p->d, MACHINES);

    for (unsigned i = 0; i < MACHINES; i++)
        if (p->m[(first + i) % MACHINES].worker != 0)
            return &p->m[(first + i) % MACHINES];
    return NULL;
}

static bool refreshes(const struct play *p)
{
    return !person_says(&p->act.settings, SET_REFRESH, "off");
}

static bool keeps_warc(const struct play *p)
{
    return person_says(&p->act.settings, SET_WARC, "yes");
}

/* Takes part, as well as it can. */
static void take_part(struct play *p, struct machine *m)
{
    struct life_order o = {.kill_at = 0};
    unsigned n = 0;

    if (!brokers_have("docs.control", "shards")) {
        if (one_that_runs(p) == NULL)
            crawl(p, m);
        return;
    }
    if (m->dir[0] != '\0') {
        o.words[n++] = "resume";
        o.words[n++] = m->dir;
    } else {
        take_new_dir(p, m);
        o.words[n++] = "join";
        o.words[n++] = URL;
        o.words[n++] = "-o";
        o.words[n++] = m->dir;
        if (keeps_warc(p)) /* each worker says so for itself */
            o.words[n++] = "--warc";
    }
    if (refreshes(p))
        o.words[n++] = "--until-idle";
    start(p, m, &o);
}

static struct machine *one_that_rests(struct play *p)
{
    unsigned first = dice_below(&p->d, MACHINES);

    for (unsigned i = 0; i < MACHINES; i++)
        if (p->m[(first + i) % MACHINES].worker == 0)
            return &p->m[(first + i) % MACHINES];
    return NULL;
}

/* A worker has ended. */
static void note_end(struct play *p, struct machine *m)
{
    const struct crowd_member *w = crowd_member(m->worker);

    m->worker = 0;
    if (w->killed)
        return;
    if (w->exit_status == EXIT_DONE || w->exit_status == EXIT_LIMIT ||
        w->exit_status == EXIT_SEEDS)
        p->last_exit = w->exit_status;
    else if (w->exit_status != EXIT_INTERRUPTED || (!m->stops && !w->weary)) {
        if (!p->trouble)
            wrong(p, "a worker ended with %d", w->exit_status);
        m->dir[0] = '\0'; /* there may be nothing to resume */
    }
}

/* ---- commands ---- */

/* The words after the crawl's URL; NULL: none. `steer`: what the truth has to
 * know of it. */
static void give(struct play *p, const char *command,
                 const char *const words[3], struct sim_steer steer, bool kept)
{
    struct life_order o = {
        .words = {command, URL, words[0], words[1],
                  words[0] != NULL && words[1] != NULL ? words[2] : NULL}};
    struct steering *s = &p->act.steering;
    enum steer_verb verb = steer.verb;

    if (p->command.life != 0 || (kept && s->count == STEERS))
        return;
    p->command = (struct command){.verb = verb};
    if (kept) {
        p->command.kept = &s->at[s->count++];
        *p->command.kept = steer;
        p->command.kept->asked_ms = passed();
    }
    if (verb == STEER_UNPAUSE)
        p->paused_ms = 0;
    p->command.life = crowd_start(&o);
    TELL("process %u: urlweir %s %s %s %s", p->command.life, command,
         words[0] != NULL ? words[0] : "", words[1] != NULL ? words[1] : "",
         words[2] != NULL ? words[2] : "");
}

static void give_command(struct play *p, const char *command, const char *word,
                         enum steer_verb verb)
{
    give(p, command, (const char *const[3]){word},
         (struct sim_steer){.verb = verb,
                            .what = verb == STEER_SEED ? word : ""},
         verb == STEER_SEED || verb == STEER_RETRY || verb == STEER_REFRESH);
}

static void throw_host_command(struct play *p)
{
    static const char *const seconds[] = {"1", "3", "8"};
    static const char *const urls[] = {"1", "2", "4"};
    const struct plan *plan = sim_web_plan(world_web);
    const char *host =
        plan->origins[dice_below(&p->d, (unsigned)plan->origin_count)].name;
    unsigned n = dice_below(&p->d, 3);

    switch (dice_below(&p->d, 4)) {
    case 0:
        give(p, "delay", (const char *const[3]){host, seconds[n]},
             (struct sim_steer){.verb = STEER_DELAY,
                                .what = host,
                                .number = 1000 * atoi(seconds[n])},
             true);
        break;
    case 1:
        give(p, "limit", (const char *const[3]){host, urls[n]},
             (struct sim_steer){.verb = STEER_LIMIT,
                                .what = host,
                                .number = atoi(urls[n])},
             true);
        break;
    default:
        give(p, "block", (const char *const[3]){host, "--for", "10m"},
             (struct sim_steer){.verb = STEER_BLOCK,
                                .what = host,
                                .number = 600000},
             true);
    }
}

/* Whoever runs may hear of it at any time from now on, or not. */
static void set_tries(struct play *p)
{
    if (p->command.life != 0)
        return;
    if (!p->act.is_set)
        p->act.set_to = p->act.settings;
    p->act.is_set = true;
    p->act.set_to.choice[SET_TRIES] = 0;
    give_command(p, "set", "tries=3", STEER_SET);
}

static void throw_command(struct play *p)
{
    static const char *const settings[] = {"order=depth", "order=breadth",
                                           "checkpoint=1s", "adaptive=false"};
    const struct plan *plan = sim_web_plan(world_web);
    unsigned n;

    if (!brokers_have("docs.control", "shards"))
        return;
    switch (dice_below(&p->d, 9)) {
    case 7:
    case 8:
        throw_host_command(p);
        break;
    case 0:
        give_command(p, p->paused_ms > 0 ? "unpause" : "pause", NULL,
                     p->paused_ms > 0 ? STEER_UNPAUSE : STEER_PAUSE);
        break;
    case 1:
        n = dice_below(&p->d, 5);
        if (n == 4)
            set_tries(p);
        else
            give_command(p, "set", settings[n], STEER_SET);
        break;
    case 2:
        give_command(p, "retry", NULL, STEER_RETRY);
        break;
    case 3:
        give_command(p, "refresh", NULL, STEER_REFRESH);
        break;
    case 4:
        give_command(p, "stop", NULL, STEER_STOP);
        for (unsigned i = 0; i < MACHINES; i++)
            p->m[i].stops = true;
        break;
    default:
        give_command(
            p, "seed",
            plan->pages[dice_below(&p->d, (unsigned)plan->page_count)].url,
            STEER_SEED);
        p->last_exit = -1; /* there may be more to do */
    }
}

static void note_answer(struct play *p)
{
    const struct crowd_member *c = crowd_member(p->command.life);
    bool done = c->exit_status == EXIT_DONE;

    p->command.life = 0;
    if (p->command.kept != NULL) {
        p->command.kept->said_ms = passed();
        p->command.kept->done = done;
    }
    if (p->command.verb == STEER_PAUSE && !c->killed)
        p->paused_ms = passed(); /* also if one shard has not said so */
    p->pause_holds = p->command.verb == STEER_PAUSE && done;
    if (p->command.verb == STEER_UNPAUSE && !done)
        p->paused_ms = passed(); /* to be said again */
}

/* ---- what must hold while they run ---- */

/* Where a robots.txt redirects to may be any host. */
static bool is_robots_elsewhere(const struct sim_log_entry *e)
{
    return strncmp(e->target, "/robots-of-", 11) == 0;
}

/* A host is asked by the process that has its shard. */
static void judge_requests(struct play *p)
{
    for (; !p->ended && p->judged < world->log.count; p->judged++) {
        const struct sim_log_entry *e = &world->log.at[p->judged];
        struct bytes host = bytes_of_str(e->host);
        unsigned shard = shard_of_host(host, p->shards);
        unsigned owner = brokers_owner((int)shard);

        if (is_robots_elsewhere(e))
            continue;
        if (p->paused_ms > 0 && p->pause_holds &&
            e->passed_ms > p->paused_ms + PAUSED_MS)
            wrong(p, "asked %s%s, and the crawl is paused", e->host, e->target);
        if (owner != crowd_parent(e->life))
            wrong(p,
                  "process %u of worker %u asked %s, whose shard %u process "
                  "%u has",
                  e->life, crowd_parent(e->life), e->host, shard, owner);
    }
}

/* With a limit of depth some shards hear late of their seeds and of others, so
 * that longer ways are found first. */
static void stagger(struct play *p)
{
    if (p->staggered || !brokers_have("docs.control", "shards"))
        return;
    p->staggered = true;
    if (!person_is_default(&p->act.settings, SET_DEPTH))
        for (unsigned n = dice_below(&p->d, p->shards + 1); n > 0; n--)
            brokers_slow("docs.urls", &p->d,
                         dice_between(&p->d, 1, 60000) * NS_PER_MS);
}

static bool turn(struct play *p, int64_t until)
{
    bool more = crowd_turn(until);

    stagger(p);
    judge_requests(p);
    if (crowd_fault() != NULL)
        wrong(p, "%s", crowd_fault());
    for (unsigned i = 0; i < MACHINES; i++)
        if (p->m[i].worker != 0 && crowd_member(p->m[i].worker)->ended)
            note_end(p, &p->m[i]);
    if (p->command.life != 0 && crowd_member(p->command.life)->ended)
        note_answer(p);
    return more && p->r->good;
}

/* ---- what befalls them ---- */

static void throw_order(struct life_order *o, struct dice *d)
{
    *o = (struct life_order){.kill_at = 0};
    switch (dice_below(d, 5)) {
    case 0:
        o->kill_at = dice_nth(d, 12);
        break;
    case 1:
        o->kill_point = points_throw(d);
        break;
    case 2:
        o->faults.fail_at = dice_nth(d, 12);
        break;
    case 3:
        o->faults.full_from = dice_nth(d, 12);
        o->faults.full_to = o->faults.full_from + dice_nth(d, 12);
        break;
    default:
        o->faults.no_memory_at = dice_nth(d, 16);
    }
}

static void kill_machine(struct play *p, struct machine *m, bool with_disk)
{
    TELL("machine %u is lost%s", (unsigned)(m - p->m),
         with_disk ? ", with its disk" : "");
    crowd_kill(m->worker);
    m->worker = 0;
    if (with_disk)
        m->dir[0] = '\0';
}

static void cut_power(struct play *p)
{
    TELL("the power is cut");
    for (unsigned i = 0; i < MACHINES; i++)
        if (p->m[i].worker != 0)
            kill_machine(p, &p->m[i], false);
    disk_power_cut(&p->d);
}

static void kill_a_shard(struct play *p, const struct machine *m)
{
    unsigned life =
        crowd_shard_of(m->worker, (int)dice_below(&p->d, p->shards));

    if (life != 0)
        crowd_kill(life);
}

/* Nobody runs for days, and the brokers clean up. */
static void rest(struct play *p)
{
    int64_t hours = dice_chance(&p->d, 70) ? dice_between(&p->d, 20, 80)
                                           : dice_between(&p->d, 80, 2000);

    for (unsigned i = 0; i < MACHINES; i++)
        if (p->m[i].worker != 0)
            kill_machine(p, &p->m[i], false);
    TELL("%" PRId64 " hours pass", hours);
    scheduler_pause(hours * 3600 * NS_PER_S);
    brokers_compact(&p->d);
}

/* All machines have the same clock. */
static void jump(struct play *p, int64_t ms)
{
    world_jump_clock(ms);
    p->act.faults.jump_ms = ms;
    p->ahead_ms += ms;
    if (p->ahead_ms > p->most_ms)
        p->most_ms = p->ahead_ms;
}

/* What is to come at its date waits for that, though the clock was set back
 * since; a person sees it wait, and sets the clock right. What is so may be what
 * it said before, as such a date may be of that time. */
static void set_clock_right(struct play *p, int64_t since)
{
    if (p->ahead_ms < p->most_ms && world->mono_ns > since + WAITED)
        jump(p, p->most_ms - p->ahead_ms);
}

static void act(struct play *p)
{
    struct machine *m = one_that_runs(p), *rests = one_that_rests(p);
    struct life_order o;

    switch (dice_below(&p->d, 16)) {
    case 0:
    case 1:
    case 2:
        if (rests != NULL)
            take_part(p, rests);
        return;
    case 3:
        if (m != NULL && !m->stops) {
            TELL("machine %u is to stop", (unsigned)(m - p->m));
            crowd_signal(m->worker, SIGTERM);
            m->stops = true;
        }
        return;
    case 4:
        brokers_compact(&p->d);
        brokers_slow("docs.urls", &p->d,
                     dice_between(&p->d, 1, 20000) * NS_PER_MS);
        return;
    case 5:
    case 6:
    case 15:
        throw_command(p);
        return;
    default:
        break;
    }
    p->trouble = true;
    switch (dice_below(&p->d, 8)) {
    case 7:
        jump(p, trouble_jump(&p->d));
        break;
    case 0:
    case 1:
        if (m != NULL)
            kill_machine(p, m, dice_chance(&p->d, 50));
        break;
    case 2:
        if (m != NULL)
            kill_a_shard(p, m);
        break;
    case 3:
        if (m != NULL) {
            int64_t ms = dice_chance(&p->d, 30)
                             ? dice_between(&p->d, 100, 8000)
                             : dice_between(&p->d, 8000, 90000);

            TELL("machine %u stands still for %" PRId64 " ms",
                 (unsigned)(m - p->m), ms);
            crowd_stop(m->worker, ms * NS_PER_MS);
        }
        break;
    case 4: {
        int64_t ms = dice_chance(&p->d, 60) ? dice_between(&p->d, 100, 8000)
                                            : dice_between(&p->d, 8000, 90000);

        TELL("the brokers are silent for %" PRId64 " ms", ms);
        brokers_silence(ms * NS_PER_MS, dice_chance(&p->d, 50));
        break;
    }
    case 5:
        if (dice_chance(&p->d, 30))
            rest(p);
        else if (dice_chance(&p->d, 30))
            cut_power(p);
        else
            brokers_lose_commits(dice_chance(&p->d, 50) ? 0 : 10);
        break;
    default:
        throw_order(&o, &p->d);
        crowd_befall(&o);
        if (m != NULL && dice_chance(&p->d, 60))
            kill_a_shard(p, m);
    }
}

static void play_acts(struct play *p)
{
    for (unsigned n = dice_below(&p->d, ACTS_MOST + 1); n > 0 && p->r->good;
         n--) {
        int64_t until = world->mono_ns +
                        NS_PER_MS * (dice_chance(&p->d, 80)
                                         ? dice_between(&p->d, 1, 4000)
                                         : dice_between(&p->d, 1000, 30000));

        while (turn(p, until) && p->last_exit < 0 && crowd_any_alive())
            continue;
        if (p->last_exit >= 0)
            return;
        if (world->mono_ns < until)
            scheduler_pause(until - world->mono_ns);
        act(p);
    }
}

/* Until a run has ended by itself. */
static void play_to_the_end(struct play *p)
{
    int64_t since = world->mono_ns, until = since + PATIENCE;

    brokers_lose_commits(0);
    crowd_befall(&(struct life_order){.kill_at = 0});
    while (p->r->good && (p->last_exit < 0 || crowd_any_alive())) {
        if (p->paused_ms > 0 && one_that_runs(p) != NULL &&
            passed() > p->paused_ms + 15000)
            give_command(p, "unpause", NULL, STEER_UNPAUSE);
        if (one_that_runs(p) == NULL && p->last_exit < 0 &&
            p->starts++ < STARTS)
            take_part(p, one_that_rests(p));
        set_clock_right(p, since);
        if (!turn(p, until))
            break;
    }
    if (world->mono_ns >= until)
        wrong(p, "it does not end");
    else if (p->r->good && p->last_exit < 0)
        wrong(p, "it is not done after %u starts", p->starts);
}

/* ---- in the end ---- */

static int run_alone(struct play *p, const char *const *words, struct buf *out)
{
    struct life_order o = {.kill_at = 0};
    unsigned life;

    for (unsigned i = 0; words[i] != NULL; i++)
        o.words[i] = words[i];
    life = crowd_start(&o);
    while (!crowd_member(life)->ended && turn(p, SCHEDULER_NEVER))
        continue;
    while (!crowd_member(life)->ended)
        (void)crowd_turn(SCHEDULER_NEVER);
    crowd_output(life, out);
    return crowd_member(life)->exit_status;
}

/* Has it only records that are on other machines? */
static bool lacks_records(const struct play *p, const char *said)
{
    const char *bad = strstr(said, "BAD ");

    return keeps_warc(p) && bad != NULL &&
           strncmp(bad, "BAD  warc: ", 11) == 0 &&
           strstr(bad + 1, "BAD ") == NULL;
}

/* The rows of a shard's directory, which has to be whole. */
static void read_rows(struct play *p, const char *dir, struct buf *rows)
{
    int status;

    buf_clear(rows);
    status = run_alone(p, (const char *const[]){"verify", dir, NULL}, rows);
    if (status != EXIT_DONE &&
        (status != EXIT_DAMAGED || !lacks_records(p, buf_str(rows))))
        wrong(p, "verify %s: %d: %s", dir, status, buf_str(rows));
    buf_clear(rows);
    status =
        run_alone(p,
                  (const char *const[]){"export", dir, "--what", "urls", NULL},
                  rows);
    if (status != EXIT_DONE)
        wrong(p, "export %s: %d", dir, status);
}

/* The last owner of a shard, or NULL. */
static const struct crowd_member *owner_of(unsigned shard)
{
    char id[16];

    snprintf(id, sizeof id, "docs.%u", shard);
    return brokers_last_taker(id) == 0 ? NULL
                                       : crowd_member(brokers_last_taker(id));
}

/* The directory of the last owner; false: it did not come to its end. */
static bool dir_of_owner(const struct play *p, unsigned shard, char dir[32])
{
    const struct crowd_member *last = owner_of(shard);

    if (last == NULL)
        return false;
    snprintf(dir, 32, "%s/shards/%u", p->dir_of[last->parent], shard);
    return last->clean &&
           (last->exit_status == EXIT_DONE || last->exit_status == EXIT_SEEDS ||
            last->exit_status == EXIT_LIMIT ||
            last->exit_status == EXIT_INTERRUPTED);
}

/* Has a shard read from Kafka into `dir`, a worker's. False: it goes on with
 * what the crawl gave up, and is not what it was. */
static bool restore(struct play *p, const char *dir, unsigned shard)
{
    int fd = memfd_create("owned", MFD_CLOEXEC);
    int64_t for_ever = INT64_MAX;
    struct life_order o = {.words = {"shard", dir, NULL, p->shards_text}};
    const struct crowd_member *c, *owner = owner_of(shard);
    /* Of dates some may just have come. */
    bool gave_up = refreshes(p) || p->last_exit == EXIT_LIMIT ||
                   (owner != NULL && owner->exit_status == EXIT_LIMIT);
    size_t before = world->log.count;
    char number[12], descriptor[12];

    if (write(fd, &for_ever, sizeof for_ever) != sizeof for_ever)
        world_fault("memfd");
    snprintf(number, sizeof number, "%u", shard);
    snprintf(descriptor, sizeof descriptor, "%d", fd);
    o.words[2] = number;
    o.words[4] = descriptor;
    if (refreshes(p))
        o.words[5] = "until-idle=true";
    p->ended = true;
    c = crowd_member(crowd_start(&o));
    while (!c->ended && world->log.count == before && turn(p, SCHEDULER_NEVER))
        continue;
    close(fd);
    world->log.count = before;
    if (!c->ended || c->exit_status == EXIT_LIMIT) {
        crowd_kill(c->life);
        if (!gave_up)
            wrong(p, "shard %u, read from Kafka, goes on", shard);
        p->goes_on = true;
        return false;
    }
    if (c->exit_status != EXIT_DONE && c->exit_status != EXIT_SEEDS)
        wrong(p, "shard %u, read from Kafka, ended with %d", shard,
              c->exit_status);
    return true;
}

/* Adds the rows of a shard, as Kafka and its last owner have them. */
static void add_rows(struct play *p, unsigned shard, const char *new_dir,
                     struct buf *all)
{
    struct buf owned, restored;
    char dir[32];
    bool has_owned = dir_of_owner(p, shard, dir);

    buf_init(&owned, ROWS_MOST);
    buf_init(&restored, ROWS_MOST);
    if (has_owned)
        read_rows(p, dir, &owned);
    if (!p->r->good || (has_owned && dice_chance(&p->d, 60))) {
        /* it is a finding already, or not looked at */
    } else if (!p->goes_on && p->paused_ms == 0 && restore(p, new_dir, shard)) {
        snprintf(dir, sizeof dir, "%s/shards/%u", new_dir, shard);
        read_rows(p, dir, &restored);
        if (has_owned && !bytes_equal(buf_bytes(&owned), buf_bytes(&restored)))
            wrong(p,
                  "shard %u has other rows when it is read from Kafka:\n%s\n%s",
                  shard, buf_str(&owned), buf_str(&restored));
    } else if (!has_owned) {
        p->lacks_rows = true;
    }
    buf_add_bytes(all, buf_bytes(restored.len > 0 ? &restored : &owned));
    buf_fini(&owned);
    buf_fini(&restored);
}

/* A worker that comes when all is done; its directory. */
static const char *join_late(struct play *p)
{
    struct machine *m = &p->m[0];

    m->dir[0] = '\0';
    take_part(p, m);
    while (p->r->good && m->worker != 0)
        (void)turn(p, SCHEDULER_NEVER);
    return m->dir;
}

/* The WARC files of all that had a shard. Who lost it may have left a part of a
 * record. */
static void take_warc(struct play *p, struct sim_act *run)
{
    char path[64], owned[32];
    struct buf all;

    buf_init(&all, ROWS_MOST);
    for (unsigned n = 0; n < p->shards; n++) {
        if (!dir_of_owner(p, n, owned))
            owned[0] = '\0';
        for (unsigned i = 0; i < p->dirs; i++) {
            snprintf(path, sizeof path, "w%u/shards/%u", i, n);
            bool whole = strcmp(path, owned) != 0;

            snprintf(path, sizeof path, DISK_ROOT "/w%u/shards/%u/warc", i, n);
            play_add_warc(path, whole, &all);
        }
    }
    run->warc = buf_take(&all, &run->warc_len);
}

static void judge_end(struct play *p)
{
    struct sim_act acts[2] = {p->act, {.kind = ACT_EXPORT_URLS, .earlier = -1}};
    const char *dir;
    struct buf all;
    size_t len;

    buf_init(&all, ROWS_MOST);
    brokers_silence(0, false);
    dir = join_late(p);
    /* The worker ends what has no more pages left, not the shard. */
    p->goes_on = !person_is_default(&p->act.settings, SET_LIMIT) ||
                 !person_is_default(&p->act.settings, SET_QUOTA);
    for (unsigned n = 0; p->r->good && n < p->shards; n++)
        add_rows(p, n, dir, &all);
    acts[0].exit_status = p->last_exit;
    acts[1].settings = p->act.settings;
    acts[1].out = buf_take(&all, &len);
    if (keeps_warc(p))
        take_warc(p, &acts[0]);
    if (p->r->good)
        p->r->good =
            truth_judge(sim_web_plan(world_web), acts, p->lacks_rows ? 1 : 2,
                        &world->log, &p->r->why);
    free(acts[1].out);
    free(acts[0].warc);
}

void shards_play(uint64_t seed, struct play_result *r)
{
    struct play *p = calloc(1, sizeof *p);
    struct person *person = person_new(seed, sim_web_plan(world_web));

    p->r = r;
    p->d = dice_of(seed, "shards");
    p->shards = 2 + dice_below(&p->d, SHARDS - 1);
    snprintf(p->shards_text, sizeof p->shards_text, "%u", p->shards);
    p->last_exit = -1;
    r->acts = 0;
    r->good = true;
    brokers_begin();
    crowd_begin(dice_of(seed, "crowd"));
    person_cluster(person, &p->act);
    p->act.shards = p->shards;
    p->act.began_at_ms = world_web_ms();
    crawl(p, &p->m[0]);
    for (unsigned n = dice_below(&p->d, MACHINES); n > 0; n--)
        if (dice_chance(&p->d, 50)) {
            int64_t until =
                world->mono_ns + dice_between(&p->d, 100, 3000) * NS_PER_MS;

            while (turn(p, until))
                continue;
            if (r->good)
                take_part(p, one_that_rests(p));
        }
    play_acts(p);
    play_to_the_end(p);
    p->act.ended_ms = world->passed_ns / NS_PER_MS;
    if (r->good)
        judge_end(p);
    crowd_end();
    r->requests = (unsigned)world->log.count;
    r->passed_ms = world->passed_ns / NS_PER_MS;
    person_free(person);
    free(p);
}
