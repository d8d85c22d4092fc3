/* SPDX-License-Identifier: MIT */
/*
 * play.c - runs the acts of a seed's person, and has them judged.
 *
 * What a process may never do, whatever the person did, is judged here: crash,
 * hang, or end with a status that says that the store is damaged when nothing
 * but kills, power cuts and full disks befell it. The rest is truth.h's.
 */
#include "tests/sim/play.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "job/exit_code.h"
#include "tests/sim/disk.h"
#include "tests/sim/leased_play.h"
#include "tests/sim/life.h"
#include "tests/sim/person.h"
#include "tests/sim/served_play.h"
#include "tests/sim/shards_play.h"
#include "tests/sim/steering.h"
#include "tests/sim/truth.h"
#include "tests/sim/world.h"

#define ACTS_MOST 100
/* A person does not watch a crawl for longer, say one that waits for a host
 * which is out of reach for months. */
#define PATIENCE_MS (INT64_C(3) * 24 * 3600 * 1000)
#define WHY_MOST    ((size_t)1 << 20)

void play_init(struct play_result *r)
{
    *r = (struct play_result){0};
    buf_init(&r->why, WHY_MOST);
}

void play_fini(struct play_result *r)
{
    buf_fini(&r->why);
}

/* ---- an act ---- */

static void pass_time(int64_t ms)
{
    world->wall_ns += ms * NS_PER_MS;
    world->mono_ns += ms * NS_PER_MS;
    world->passed_ns += ms * NS_PER_MS;
}

static bool is_stopped_by_steering(const struct sim_act *a)
{
    for (unsigned i = 0; i < a->steering.count; i++)
        if (a->steering.at[i].verb == STEER_STOP)
            return true;
    return false;
}

static void order_end(const struct sim_act *a, struct life_order *o)
{
    o->signals[0] = (struct life_signal){PATIENCE_MS, SIGTERM};
    o->signal_count = 1;
    switch (a->end) {
    case END_BY_ITSELF:
        break;
    case END_STOP_TWICE:
        o->signals[1] = (struct life_signal){a->end_after_ms + 1000, SIGTERM};
        o->signals[0] = (struct life_signal){a->end_after_ms, SIGTERM};
        o->signal_count = 2;
        break;
    case END_STOP:
        if (!is_stopped_by_steering(a))
            o->signals[0] = (struct life_signal){a->end_after_ms, SIGTERM};
        break;
    case END_KILL:
    case END_POWER_CUT:
        o->kill_at = a->end_at_step;
        o->kill_point = a->end_at_point;
        if (a->end_at_step == 0 && a->end_at_point.name == NULL)
            o->kill_after_ms = a->end_after_ms;
        break;
    }
}

/* ---- files ---- */

static struct inode *file_at(const char *path)
{
    struct inode *parent, *i;
    char name[256];

    return disk_find(path, &parent, name, &i) == 0 ? i : NULL;
}

static void add_content(struct buf *to, const struct inode *i)
{
    buf_add(to, i->now.at, i->now.len);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct disk_name *)a)->name,
                  ((const struct disk_name *)b)->name);
}

void play_add_warc(const char *path, bool whole, struct buf *all)
{
    const struct inode *dir = file_at(path);
    size_t count = dir != NULL ? dir->entries.count : 0;
    struct disk_name *names = calloc(count + 1, sizeof *names);

    for (size_t i = 0; i < count; i++)
        names[i] = dir->entries.at[i];
    qsort(names, count, sizeof *names, by_name);
    for (size_t i = 0; i < count; i++) {
        const struct disk_octets *o = &names[i].of->now;

        if (strstr(names[i].name, ".warc.gz") != NULL)
            buf_add(all, o->at,
                    whole ? truth_whole_records(o->at, o->len) : o->len);
    }
    free(names);
}

/* What the last run leaves beside its store. */
static void note_files(struct sim_act *a)
{
    const struct inode *lines =
        file_at(a->dir == 0 ? DISK_ROOT "/" PERSON_LINES "0"
                            : DISK_ROOT "/" PERSON_LINES "1");
    const char *warc =
        a->dir == 0 ? DISK_ROOT "/c0/warc" : DISK_ROOT "/c1/warc";
    struct buf text;
    size_t len;

    if (lines != NULL) {
        buf_init(&text, WHY_MOST * 64);
        add_content(&text, lines);
        a->lines = buf_take(&text, &len);
    }
    if (file_at(warc) != NULL) {
        buf_init(&text, WHY_MOST * 64);
        play_add_warc(warc, false, &text);
        a->warc = buf_take(&text, &a->warc_len);
    }
}

static void note_result(struct sim_act *a, struct life_result *r)
{
    a->ended_ms = world->passed_ns / NS_PER_MS;
    a->exit_status = r->end == LIFE_EXITED ? r->status : -1;
    a->fault_hit = r->disk_failed > 0 || r->disk_refused > 0 || r->no_memory;
    a->out = buf_take(&r->out, &a->out_len);
    if (a->last)
        note_files(a);
}

static void tell_lines(const char *at, const char *mark)
{
    for (unsigned n = 0; world_trace_fd >= 0 && *at != '\0' && n < 60; n++) {
        size_t len = strcspn(at, "\n");

        TELL("  %s %.*s", mark, (int)len, at);
        at += len + (at[len] == '\n');
    }
}

static void tell_output(const struct sim_act *a, const struct life_result *r)
{
    tell_lines(buf_str(&r->err), "|");
    tell_lines(a->out, ">");
    if (r->end == LIFE_EXITED)
        TELL("exit status %d after %llu steps, %llu operations of the disk, "
             "%llu allocations",
             r->status, (unsigned long long)r->steps,
             (unsigned long long)r->disk_ops,
             (unsigned long long)r->allocations);
}

static bool is_never_right(const struct sim_act *a, const struct life_result *r,
                           struct buf *why)
{
    bool wrong = r->end == LIFE_FAULTY;

    if (wrong)
        buf_addf(why, "%s\n", buf_str(&r->why));
    if (r->end == LIFE_EXITED && r->status == EXIT_DAMAGED && !a->fault_hit) {
        buf_add_str(why, "damage without a failure of the disk\n");
        wrong = true;
    }
    if (r->end == LIFE_EXITED && r->status != EXIT_DONE && a->fault_hit &&
        r->err.len == 0) {
        buf_add_str(why, "a fault ended it, and it did not say so\n");
        wrong = true;
    }
    if (!a->fault_hit && (r->reader == EXIT_USAGE || r->reader > EXIT_LIMIT)) {
        buf_addf(why, "%s meanwhile: exit status %d\n", a->reader.words[0],
                 r->reader);
        wrong = true;
    }
    if (wrong) {
        struct buf words;

        buf_init(&words, WHY_MOST);
        person_describe(a, &words);
        buf_addf(why, "  in: %s\n%s", buf_str(&words), buf_str(&r->err));
        buf_fini(&words);
    }
    return wrong;
}

bool play_act(struct sim_act *a, struct dice *d, struct buf *why)
{
    struct life_order o = {.faults = a->faults, .reader = a->reader};
    struct steering *shared = world_get(sizeof *shared);
    struct life_result r;
    struct buf words;
    bool good;

    pass_time(a->wait_ms);
    if (a->jump_ms != 0)
        world_jump_clock(a->jump_ms);
    for (unsigned i = 0; i < a->arg_count; i++)
        o.words[i] = a->args[i];
    order_end(a, &o);
    *shared = a->steering;
    o.steer = shared->count > 0 ? steering_thread : a->others;
    o.steer_arg = shared;
    buf_init(&words, WHY_MOST);
    person_describe(a, &words);
    TELL("%s", buf_str(&words));
    buf_fini(&words);
    a->life = world->life + 1;
    a->began_ms = world->passed_ns / NS_PER_MS;
    a->began_at_ms = world_web_ms();
    a->jumped_ms = world->jumped_ms;
    life_result_init(&r);
    life_run(&o, dice_of(dice_next(d), "life"), &r);
    if (r.end == LIFE_KILLED && a->end == END_POWER_CUT) {
        TELL("the power is cut");
        disk_power_cut(d);
    }
    a->steering = *shared;
    world_put(shared, sizeof *shared);
    note_result(a, &r);
    tell_output(a, &r);
    good = !is_never_right(a, &r, why);
    life_result_fini(&r);
    return good;
}

/* ---- the seed ---- */

void play_seed(uint64_t seed, struct play_result *r)
{
    struct sim_act *acts = calloc(ACTS_MOST, sizeof *acts);
    const struct plan *plan;
    struct person *person;
    struct dice d = dice_of(seed, "play");

    buf_clear(&r->why);
    world_begin(seed);
    disk_begin();
    if (served_is_played(seed) && !leased_is_played(seed)) {
        free(acts);
        served_play(seed, r);
        return;
    }
    world_web = sim_web_new(seed);
    sim_web_share(world_web, world->web_counts);
    if (leased_is_played(seed)) {
        free(acts);
        leased_play(seed, r);
        sim_web_free(world_web);
        return;
    }
    if (shards_is_played(seed)) {
        free(acts);
        shards_play(seed, r);
        sim_web_free(world_web);
        return;
    }
    plan = sim_web_plan(world_web);
    person = person_new(seed, plan);
    r->acts = 0;
    r->good = true;
    while (r->good && r->acts < ACTS_MOST &&
           person_next(person, r->acts > 0 ? &acts[r->acts - 1] : NULL,
                       &acts[r->acts]))
        r->good = play_act(&acts[r->acts++], &d, &r->why);
    if (r->good)
        r->good = truth_judge(plan, acts, r->acts, &world->log, &r->why);
    r->requests = (unsigned)world->log.count;
    r->passed_ms = world->passed_ns / NS_PER_MS;
    for (unsigned i = 0; i < r->acts; i++) {
        free(acts[i].out);
        free(acts[i].lines);
        free(acts[i].warc);
    }
    free(acts);
    person_free(person);
    sim_web_free(world_web);
}
