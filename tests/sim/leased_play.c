/* SPDX-License-Identifier: MIT */
/* leased_play.c - programs that work on a crawl, and what they may be given. */
#include "tests/sim/leased_play.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "frontier/reader.h"
#include "job/exit_code.h"
#include "job/registry/crawls.h"
#include "service/calls/call_crawl.h"
#include "tests/sim/life.h"
#include "tests/sim/person.h"
#include "tests/sim/play.h"
#include "tests/sim/scheduler.h"
#include "tests/sim/steering.h"
#include "tests/sim/trouble.h"
#include "tests/sim/web_plan.h"
#include "tests/sim/world.h"

#define PROGRAMS  3
#define LENT_MOST 600
#define SEEDS     40
#define RUNS_MOST 12
#define DELAY_MS  2000
#define SLACK_MS  1000 /* by which clocks of programs and crawl may differ */
#define MINUTE    INT64_C(60000)
#define HOUR      (60 * MINUTE)

/* A lease as a program knows it; times are passed_ms of the log. */
struct lent {
    const char *url;
    uint64_t number;
    unsigned life;
    int64_t asked, said;
    int64_t until; /* at least */
    int64_t gone;  /* at the latest, unless it is extended */
    /* Its end by an answer. */
    int64_t end_asked, end_said; /* 0: not yet */
    bool done;                   /* it was acknowledged, and that was told */
};

struct leased_world {
    struct lent lent[LENT_MOST];
    unsigned count;
    bool told;  /* a call was answered: the crawl has begun */
    bool kills; /* this life is to be killed, perhaps upon an answer */
    char why[400];
};

static struct leased_world *w; /* in memory that outlives the process */

bool leased_is_played(uint64_t seed)
{
    return seed % 16 == 15;
}

static int64_t passed(void)
{
    return world->passed_ns / NS_PER_MS;
}

static void wrong(const struct lent *l, const char *what)
{
    if (w->why[0] == '\0')
        snprintf(w->why, sizeof w->why, "%s, lent at %" PRId64 ": %s", l->url,
                 l->said, what);
}

/* ---- a program ---- */

struct asking {
    struct frontier_call call;
    int64_t asked, said;
    bool over;
};

static void answered(struct frontier_call *c)
{
    struct asking *a = c->ctx;

    a->said = passed();
    a->over = true;
    w->told = w->told || c->status == STATUS_OK;
    scheduler_wake(a, true);
}

/* False: there is no crawl to ask, or it has failed. */
static bool ask(struct asking *a)
{
    struct crawls *registry = steering_enter();
    enum status st = STATUS_CLOSED;

    a->asked = passed();
    if (registry != NULL) {
        st = call_crawl_submit(registry, bytes_of_str(CRAWL_ID), &a->call);
        while (st == STATUS_OK && !a->over)
            (void)scheduler_wait(a, SCHEDULER_NEVER);
        steering_leave();
    }
    TELL("a program is told: %s, %s, %zu URLs", status_text(st),
         status_text(a->call.status), a->call.url_count);
    return st == STATUS_OK &&
           (a->call.status == STATUS_OK || a->call.status == STATUS_NOT_FOUND);
}

static struct asking *asking_new(enum frontier_verb verb)
{
    struct asking *a = calloc(1, sizeof *a);

    frontier_call_init(&a->call, verb, answered, a);
    a->call.in.crawl = bytes_of_str(CRAWL_ID);
    return a;
}

static void asking_free(struct asking *a)
{
    frontier_call_fini(&a->call);
    free(a);
}

static char *keep(struct bytes text)
{
    char *copy = world_get(text.len + 1);

    memcpy(copy, text.at, text.len);
    return copy;
}

static bool get(struct dice *d)
{
    static const uint32_t seconds[] = {5, 20, 60, 600, 7200};
    struct asking *a = asking_new(FRONTIER_GET);
    uint32_t length = seconds[dice_below(d, 5)];
    bool good;

    a->call.in.get =
        (struct frontier_get){.max_queues = dice_below(d, 4),
                              .max_urls_per_queue = dice_below(d, 3),
                              .delay_requestable_s = length};
    good = ask(a);
    for (size_t i = 0; good && i < a->call.url_count; i++) {
        struct lent *l = &w->lent[w->count];

        if (w->count == LENT_MOST)
            world_fault("too many leases");
        *l = (struct lent){.url = keep(a->call.urls[i].url),
                           .number = a->call.urls[i].lease,
                           .life = life_number(),
                           .asked = a->asked,
                           .said = a->said,
                           .until = a->asked + (int64_t)length * 1000,
                           .gone = a->said + (int64_t)length * 1000};
        TELL("lent until %" PRId64 ": %s", l->until, l->url);
        w->count++;
    }
    asking_free(a);
    return good;
}

/* One that it has, or had. */
static struct lent *one_of_mine(struct dice *d)
{
    return w->count > 0 ? &w->lent[w->count - 1 -
                                   dice_below(d, w->count < 12 ? w->count : 12)]
                        : NULL;
}

static void judge_settle(struct lent *l, const struct asking *a,
                         enum url_settle how, int64_t length_ms)
{
    bool found = a->call.status == STATUS_OK;

    if (!found && l->end_asked == 0 && a->said < l->until - SLACK_MS)
        wrong(l, "its lease is gone before its end");
    if (found && l->end_said > 0)
        wrong(l, "its lease is settled a second time");
    if (found && l->end_asked == 0 && a->asked > l->gone + SLACK_MS)
        wrong(l, "its lease is settled after its end");
    if (!found)
        return;
    if (how == URL_SETTLE_EXTEND) {
        l->until = a->asked + length_ms;
        l->gone = a->said + length_ms;
        return;
    }
    l->end_said = a->said;
    l->done = how == URL_SETTLE_ACK;
}

static bool settle(struct dice *d)
{
    static const enum url_settle hows[] = {URL_SETTLE_ACK, URL_SETTLE_ACK,
                                           URL_SETTLE_FAIL, URL_SETTLE_EXTEND};
    enum url_settle how = hows[dice_below(d, 4)];
    struct lent *l = one_of_mine(d);
    struct asking *a;
    uint32_t length = 1 + dice_below(d, 100);
    bool good;

    if (l == NULL || (l->end_asked != 0 && !dice_chance(d, 10)))
        return true;
    a = asking_new(FRONTIER_SETTLE);
    a->call.in.settle = (struct frontier_settle){.lease = l->number,
                                                 .how = how,
                                                 .seconds = length};
    TELL("settle %d: %s", (int)how, l->url);
    if (how != URL_SETTLE_EXTEND && l->end_asked == 0)
        l->end_asked = passed();
    else if (l->until > passed() + (int64_t)length * 1000)
        l->until = passed(); /* it may end sooner from now on */
    good = ask(a);
    if (good)
        judge_settle(l, a, how, (int64_t)length * 1000);
    asking_free(a);
    return good;
}

static void steer(enum crawls_verb verb)
{
    struct crawls *registry = steering_enter();
    struct crawls_call c = {.verb = verb, .crawl = bytes_of_str(CRAWL_ID)};

    if (registry == NULL)
        return;
    (void)crawls_perform(registry, &c);
    json_decref(c.out);
    steering_leave();
}

static void *run_program(void *arg)
{
    struct dice d = dice_of(life_random(), "program");
    unsigned calls = 3 + dice_below(&d, 60);
    int64_t most = dice_chance(&d, 80) ? 3000 : MINUTE;
    bool never = dice_chance(&d, 15); /* answers */

    (void)arg;
    while (calls-- > 0) {
        scheduler_sleep(dice_between(&d, 1, most) * NS_PER_MS);
        if (dice_chance(&d, 5)) { /* which stops the crawl's own fetchers */
            steer(CRAWLS_PAUSE);
            scheduler_sleep(dice_between(&d, 1, MINUTE) * NS_PER_MS);
            steer(CRAWLS_UNPAUSE);
        } else if ((never || dice_chance(&d, 40) ? get(&d) : settle(&d)) &&
                   w->kills && dice_chance(&d, 4)) {
            life_kill("word to a program");
        }
    }
    return NULL;
}

static void *run_programs(void *arg)
{
    for (unsigned i = 0; i < PROGRAMS - 1; i++)
        scheduler_detach(scheduler_spawn(run_program, NULL));
    return run_program(arg);
}

/* ---- what must be ---- */

/* Is it one queue? */
static bool same_host(const char *a, const char *b)
{
    const char *x = strstr(a, "://") + 3, *y = strstr(b, "://") + 3;
    size_t n = strcspn(x, ":/");

    return n == strcspn(y, ":/") && strncmp(x, y, n) == 0;
}

/* When it may have ended, at the earliest. */
static int64_t end_of(const struct lent *l)
{
    return l->end_asked != 0 && l->end_asked < l->until ? l->end_asked
                                                        : l->until;
}

static void judge_pair(const struct lent *a, const struct lent *b)
{
    int64_t free_at = end_of(a);

    if (!same_host(a->url, b->url))
        return;
    if (strcmp(a->url, b->url) == 0 && a->done)
        wrong(b, "it was done already");
    else if (b->said < free_at - SLACK_MS)
        wrong(b, "its host was lent to somebody else");
    else if (b->life == a->life && b->said < free_at + DELAY_MS - SLACK_MS)
        wrong(b, "it is too early for its host");
}

static void judge_request(const struct lent *l, const struct sim_log_entry *e)
{
    char url[600], port[16] = "";

    if ((strcmp(e->scheme, "http") == 0 ? 80u : 443u) != e->port)
        snprintf(port, sizeof port, ":%u", e->port);
    snprintf(url, sizeof url, "%s://%s%s%s", e->scheme, e->host, port,
             e->target);
    if (!same_host(url, l->url))
        return;
    if (e->passed_ms > l->said && strcmp(url, l->url) == 0 && l->done &&
        e->passed_ms > l->end_said)
        wrong(l, "it was done, and is asked for");
    else if (e->passed_ms > l->said && e->passed_ms < end_of(l) - SLACK_MS)
        wrong(l, "its host is asked while it is lent");
    else if (e->passed_ms > l->said && e->life == l->life &&
             e->passed_ms > end_of(l) &&
             e->passed_ms < end_of(l) + DELAY_MS - SLACK_MS)
        wrong(l, "its host is asked too early after it");
    else if (e->life == l->life && e->passed_ms < l->asked &&
             (e->ended_ms == 0 || e->ended_ms > l->said))
        wrong(l, "its host is asked by a fetcher just then");
}

static void judge_all(void)
{
    for (unsigned b = 0; b < w->count; b++) {
        for (unsigned a = 0; a < b; a++)
            judge_pair(&w->lent[a], &w->lent[b]);
        for (size_t i = 0; i < world->log.count; i++)
            judge_request(&w->lent[b], &world->log.at[i]);
    }
}

/* No URL waits, once a run has ended by itself. */
static void judge_rows(const struct sim_act *a)
{
    for (const char *at = a->out; a->out != NULL && *at != '\0';) {
        size_t len = strcspn(at, "\n");
        json_t *row = json_loadb(at, len, 0, NULL);
        const char *state = json_string_value(json_object_get(row, "status"));
        const char *url = json_string_value(json_object_get(row, "url"));

        if (state == NULL || strcmp(state, "queued") == 0 ||
            strcmp(state, "leased") == 0)
            snprintf(w->why, sizeof w->why, "%s is %s in the end",
                     url != NULL ? url : "?", state != NULL ? state : "?");
        json_decref(row);
        at += len + (at[len] == '\n');
    }
}

/* ---- acts ---- */

static void say(struct sim_act *a, const char *word)
{
    a->args[a->arg_count++] = word;
}

/* URLs of hosts without troubles of their own, most of which are not there. */
static void say_seeds(struct sim_act *a, const struct plan *p)
{
    unsigned first = a->arg_count;

    for (size_t i = 0; i < p->origin_count; i++) {
        const struct plan_origin *o = &p->origins[i];

        if (o->outage_count > 0 || o->limit > 0 || o->is_private ||
            o->bad_port || o->wall)
            continue;
        for (unsigned n = 0; n < 8 && a->arg_count < first + SEEDS; n++) {
            char *url = world_get(sizeof o->prefix + 8);

            snprintf(url, sizeof o->prefix + 8, "%s/x%u", o->prefix, n);
            say(a, url);
        }
    }
    for (size_t i = 0; i < p->page_count && a->arg_count < first + 5; i++)
        say(a, p->pages[i].url);
}

static void run(struct sim_act *a, struct dice *d, const struct plan *p,
                bool resume, bool last)
{
    static const char *const settings[] = {
        "--depth", "0",         "--robots", "off",          "--sitemap",
        "off",     "--tries",   "1",        "--delay",      "2s",
        "--traps", "off",       "--scope",  "any",          "--near-dup",
        "off",     "--give-up", "10s",      "--concurrency"};

    *a = (struct sim_act){.kind = resume ? ACT_RESUME : ACT_CRAWL,
                          .end = END_BY_ITSELF,
                          .last = last,
                          .others = last ? NULL : run_programs};
    say(a, resume ? "resume" : "crawl");
    if (resume) {
        say(a, "c0");
    } else {
        say(a, "-o");
        say(a, "c0");
        for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
            say(a, settings[i]);
        say(a, dice_chance(d, 50) ? "1" : "2");
        say_seeds(a, p);
    }
    a->wait_ms = dice_between(d, 1, dice_chance(d, 70) ? 3000 : HOUR);
    w->kills = false;
    if (last)
        return;
    a->end = dice_chance(d, 30)   ? END_STOP
             : dice_chance(d, 50) ? END_KILL
                                  : END_POWER_CUT;
    a->end_after_ms = dice_between(d, 100, MINUTE);
    w->kills = a->end != END_STOP;
    if (w->kills && dice_chance(d, 30))
        a->end_at_point = points_throw(d);
    trouble_failure(a, d, 10);
}

static bool play_one(struct sim_act *a, struct dice *d, struct play_result *r)
{
    bool good = play_act(a, d, &r->why);

    r->acts++;
    if (good && a->kind == ACT_EXPORT_URLS && a->exit_status == 0)
        judge_rows(a);
    if (good && a->kind == ACT_VERIFY && a->exit_status != 0)
        snprintf(w->why, sizeof w->why, "verify: %d", a->exit_status);
    if (w->why[0] != '\0')
        buf_addf(&r->why, "%s\n", w->why);
    free(a->out);
    return good && w->why[0] == '\0';
}

static void question(struct sim_act *a, enum act_kind kind)
{
    *a = (struct sim_act){.kind = kind, .end = END_BY_ITSELF};
    say(a, kind == ACT_VERIFY ? "verify" : "export");
    say(a, "c0");
}

void leased_play(uint64_t seed, struct play_result *r)
{
    struct dice d = dice_of(seed, "leased"), acts = dice_of(seed, "acts");
    const struct plan *plan = sim_web_plan(world_web);
    unsigned lives = 2 + dice_below(&d, 5);
    bool ended = false;
    struct sim_act a;

    w = world_get(sizeof *w);
    r->acts = 0;
    r->good = true;
    for (unsigned n = 1; r->good && !ended && n <= RUNS_MOST; n++) {
        run(&a, &d, plan, w->told, n >= lives && w->told);
        r->good = play_one(&a, &acts, r);
        ended = a.last &&
                (a.exit_status == EXIT_DONE || a.exit_status == EXIT_SEEDS);
        if (a.last && a.exit_status == EXIT_LIMIT)
            break; /* a host is out of reach */
        /* what was begun without a word of it */
        w->told = w->told || a.exit_status == EXIT_USAGE;
    }
    judge_all();
    question(&a, ACT_VERIFY);
    r->good = r->good && play_one(&a, &acts, r);
    question(&a, ACT_EXPORT_URLS);
    r->good = r->good && (!ended || play_one(&a, &acts, r));
    r->requests = (unsigned)world->log.count;
    r->passed_ms = passed();
}
