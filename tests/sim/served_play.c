/* SPDX-License-Identifier: MIT */
/* served_play.c - the acts of a seed that plays a served frontier. */
#include "tests/sim/served_play.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "tests/sim/person.h"
#include "tests/sim/play.h"
#include "tests/sim/served_clients.h"
#include "tests/sim/trouble.h"
#include "tests/sim/world.h"

#define SECOND INT64_C(1000)
#define MINUTE (60 * SECOND)
#define HOUR   (60 * MINUTE)
#define DAY    (24 * HOUR)

bool served_is_played(uint64_t seed)
{
    return seed % 4 == 3;
}

static void say(struct sim_act *a, const char *word)
{
    a->args[a->arg_count++] = word;
}

static int64_t throw_while(struct dice *d)
{
    static const int64_t most[] = {SECOND, MINUTE, HOUR, DAY, 20 * DAY};

    return dice_between(d, 1, most[dice_below(d, 5)]);
}

/* ---- questions about the directory ---- */

static void ask(struct sim_act *a, enum act_kind kind)
{
    *a = (struct sim_act){.kind = kind, .end = END_BY_ITSELF};
    say(a, kind == ACT_VERIFY   ? "verify"
           : kind == ACT_STATUS ? "status"
                                : "export");
    say(a, "s");
    if (kind == ACT_STATUS)
        say(a, "--json");
}

static bool is_number(const json_t *all, const char *name, uint64_t want,
                      struct buf *why)
{
    uint64_t is = (uint64_t)json_integer_value(json_object_get(all, name));

    if (is != want)
        buf_addf(why, "status: %s is %" PRIu64 ", not %" PRIu64 "\n", name, is,
                 want);
    return is == want;
}

/* As the frontier is, unless calls are open. */
static bool judge_status(const struct sim_act *a, struct buf *why)
{
    const struct plain *m = served_clients_know();
    json_t *all = json_loadb(a->out, a->out_len, 0, NULL);
    struct url_counts c = {0};
    uint64_t waiting =
                 (uint64_t)json_integer_value(json_object_get(all, "queued")),
             leased =
                 (uint64_t)json_integer_value(json_object_get(all, "leased"));
    bool good = true;

    for (unsigned i = 0; m != NULL && i < SERVED_CRAWLS; i++) {
        struct url_counts one = plain_counts(m, i, SERVED_KEYS);

        c.active += one.active;
        c.completed += one.completed;
        c.queues += one.queues;
    }
    if (m != NULL)
        good = is_number(all, "completed", c.completed, why) &&
               is_number(all, "queue_count", c.queues, why);
    if (m != NULL && waiting + leased != c.active) {
        buf_addf(why, "status: %" PRIu64 " wait, not %" PRIu64 "\n",
                 waiting + leased, c.active);
        good = false;
    }
    json_decref(all);
    return good;
}

static struct bytes text_of(const json_t *row, const char *name)
{
    return bytes_of_str(json_string_value(json_object_get(row, name)));
}

static bool is_moment(const json_t *row, const char *name, int64_t ms)
{
    const char *told = json_string_value(json_object_get(row, name));
    char text[CLOCK_ISO_SIZE];

    clock_iso(text, ms);
    return ms == 0 ? told == NULL : told != NULL && strcmp(told, text) == 0;
}

static bool judge_row(const struct plain *m, const json_t *row)
{
    const struct frontier_url seen = {.crawl = text_of(row, "crawl"),
                                      .key = text_of(row, "key"),
                                      .url = text_of(row, "url")};
    struct served_place at;
    const struct plain_url *u;

    if (!served_place_of(&seen, &at))
        return false;
    u = &m->queues[at.crawl][at.key].urls[at.url];
    return u->there && is_moment(row, "due_at", u->due) &&
           is_moment(row, "created_at", u->created) &&
           bytes_is(text_of(row, "state"), "completed") == (u->due == 0) &&
           (json_object_size(json_object_get(row, "metadata")) > 0) ==
               (u->meta != 0);
}

/* A line for each URL there is. */
static bool judge_export(const struct sim_act *a, struct buf *why)
{
    const struct plain *m = served_clients_know();
    uint64_t rows = 0, want = 0;
    const char *at = a->out;

    for (unsigned i = 0; m != NULL && i < SERVED_CRAWLS; i++) {
        struct url_counts c = plain_counts(m, i, SERVED_KEYS);

        want += c.active + c.completed;
    }
    for (; m != NULL && *at != '\0'; rows++) {
        size_t len = strcspn(at, "\n");
        json_t *row = json_loadb(at, len, 0, NULL);
        bool good = judge_row(m, row);

        json_decref(row);
        if (!good) {
            buf_addf(why, "export: not so: %.*s\n", (int)len, at);
            return false;
        }
        at += len + (at[len] == '\n');
    }
    if (rows != want)
        buf_addf(why, "export: %" PRIu64 " URLs, not %" PRIu64 "\n", rows,
                 want);
    return rows == want;
}

static bool judge_answer(const struct sim_act *a, struct buf *why)
{
    if (a->exit_status < 0 || a->fault_hit || !served_clients_have_begun())
        return true;
    if (a->exit_status == 0)
        return a->kind == ACT_STATUS        ? judge_status(a, why)
               : a->kind == ACT_EXPORT_URLS ? judge_export(a, why)
                                            : true;
    buf_addf(why, "%s: exit status %d\n%.*s", a->args[0], a->exit_status,
             (int)a->out_len, a->out);
    return false;
}

/* ---- a life of the service ---- */

static void throw_end(struct sim_act *a, struct dice *d)
{
    static const enum act_end ends[] = {END_STOP,       END_STOP,
                                        END_STOP,       END_STOP,
                                        END_STOP_TWICE, END_KILL,
                                        END_KILL,       END_POWER_CUT,
                                        END_POWER_CUT};

    a->end = ends[dice_below(d, 9)];
    a->end_after_ms = throw_while(d);
    if (a->end != END_KILL && a->end != END_POWER_CUT)
        return;
    if (dice_chance(d, 40))
        a->end_at_step = dice_nth(d, 15);
    else if (dice_chance(d, 60))
        a->end_at_point = points_throw_served(d);
}

static void throw_reader(struct sim_act *a, struct dice *d)
{
    static const char *const questions[][4] = {{"status", "s", "--json"},
                                               {"verify", "s"},
                                               {"export", "s", "--what",
                                                "queues"},
                                               {"export", "s"},
                                               {"explain", "s",
                                                "http://a.example/2"}};
    unsigned which = dice_below(d, 5);

    if (!dice_chance(d, 20))
        return;
    a->reader.after_ms = dice_between(d, 1, 20 * SECOND);
    for (unsigned i = 0; i < 4; i++)
        a->reader.words[i] = questions[which][i];
}

/* A start reads its filter, 8,192 operations of the disk; most failures are to
 * come later. */
static void throw_failure(struct sim_act *a, struct dice *d)
{
    struct life_faults *f = &a->faults;
    uint64_t later = dice_chance(d, 60) ? 8300 + dice_nth(d, 10) : 0;

    trouble_failure(a, d, 15);
    if (f->fail_at > 0 && later > 0)
        f->fail_at = later;
    if (f->full_from > 0 && later > 0) {
        f->full_to += later - f->full_from;
        f->full_from = later;
    }
}

/* In some seeds the clock is set back time and again while clients wait. */
static void throw_jump(struct sim_act *a, struct dice *d)
{
    if (!dice_chance(d, 60))
        return;
    a->faults.jump_after_ms = dice_between(d, 10, 20 * MINUTE);
    a->faults.jump_ms =
        -dice_between(d, SECOND, dice_chance(d, 50) ? HOUR : DAY);
}

static void serve(struct sim_act *a, struct dice *d, struct served_use *use,
                  bool last)
{
    static const char *const checkpoints[] = {"100ms", "2s", "60s", "1h"};
    *use =
        (struct served_use){.clients = 1 + dice_below(d, SERVED_CLIENTS),
                            .calls = 5 + dice_below(d, dice_chance(d, 20) ? 150
                                                                          : 40),
                            .pause_ms = throw_while(d),
                            .big = use->big,
                            .swept = use->swept,
                            .jumps = use->jumps};

    *a = (struct sim_act){.kind = ACT_CRAWL, .last = last, .end = END_STOP};
    say(a, "serve");
    say(a, "s");
    say(a, "--http");
    say(a, "none");
    if (dice_chance(d, 60)) {
        say(a, "--checkpoint");
        say(a, checkpoints[dice_below(d, 4)]);
    }
    if (dice_chance(d, 30)) {
        say(a, "--memory");
        say(a, "16M");
    }
    a->wait_ms = dice_chance(d, 50) ? dice_between(d, 0, 2000) : throw_while(d);
    if (use->pause_ms * use->calls > 60 * DAY)
        use->pause_ms = 60 * DAY / use->calls;
    a->end_after_ms = 2 * use->calls * use->pause_ms;
    if (!last) {
        throw_end(a, d);
        throw_reader(a, d);
        if ((a->end == END_KILL || a->end == END_POWER_CUT) &&
            dice_chance(d, 40))
            use->kill_at = (unsigned)dice_nth(d, 7);
        throw_failure(a, d);
        trouble_clock(a, d);
        if (use->jumps)
            throw_jump(a, d);
    }
    served_clients_use(use);
}

/* Answers with success, or a fault befell it. */
static bool judge_life(const struct sim_act *a, struct buf *why)
{
    if (a->exit_status <= 0 || a->fault_hit)
        return true;
    buf_addf(why, "serve: exit status %d\n", a->exit_status);
    return false;
}

static bool play_one(struct sim_act *a, struct dice *d, struct play_result *r)
{
    bool good = play_act(a, d, &r->why) &&
                (a->kind == ACT_CRAWL ? judge_life(a, &r->why)
                                      : judge_answer(a, &r->why));

    r->acts++;
    free(a->out);
    return good;
}

void served_play(uint64_t seed, struct play_result *r)
{
    static const enum act_kind questions[] = {ACT_STATUS, ACT_EXPORT_URLS,
                                              ACT_VERIFY};
    struct dice d = dice_of(seed, "served"), acts = dice_of(seed, "acts");
    unsigned lives = 2 + dice_below(&d, 7);
    struct served_use use = {.big = dice_chance(&d, 12),
                             .swept = dice_chance(&d, 30),
                             .jumps = dice_chance(&d, 15)};
    struct sim_act a;

    r->acts = 0;
    r->good = true;
    served_clients_prepare();
    for (unsigned n = 1; r->good && n <= lives; n++) {
        serve(&a, &d, &use, n == lives);
        r->good = play_one(&a, &acts, r);
        for (unsigned i = 0; i < 3; i++)
            if (r->good && (n == lives || dice_chance(&d, 20))) {
                ask(&a, questions[i]);
                r->good = play_one(&a, &acts, r);
            }
    }
    r->requests = 0;
    r->passed_ms = world->passed_ns / NS_PER_MS;
}
