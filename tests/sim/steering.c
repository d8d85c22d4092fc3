/* SPDX-License-Identifier: MIT */
/* steering.c - a person's calls to the registry of a process. */
#include "tests/sim/steering.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "frontier/reader.h"
#include "job/registry/crawls.h"
#include "service/calls/call_crawl.h"
#include "tests/sim/crowd.h"
#include "tests/sim/scheduler.h"
#include "tests/sim/web_plan.h"
#include "tests/sim/world.h"

static struct crawls *registry;
static unsigned calls; /* that run */

void steering_begin(struct crawls *c)
{
    registry = c;
}

void steering_end(void)
{
    registry = NULL;
    while (calls > 0)
        (void)scheduler_wait(&calls, SCHEDULER_NEVER);
}

struct crawls *steering_enter(void)
{
    calls += registry != NULL;
    return registry;
}

void steering_leave(void)
{
    calls--;
    scheduler_wake(&calls, true);
}

/* ---- calls ---- */

static bool is_taken(const json_t *out)
{
    const char *said = json_string_value(
        json_object_get(json_array_get(json_object_get(out, "results"), 0),
                        "status"));

    return said != NULL && strcmp(said, "failed") != 0;
}

/* `in` is taken over. */
static bool ask_registry(struct sim_steer *s, enum crawls_verb verb, json_t *in)
{
    struct crawls_call c = {.verb = verb,
                            .crawl = bytes_of_str(CRAWL_ID),
                            .in = in};
    enum status st = crawls_perform(registry, &c);
    bool done = st == STATUS_OK && (s->verb != STEER_SEED || is_taken(c.out));

    TELL("said: %s %s", status_text(st), c.why);
    json_decref(c.out);
    json_decref(in);
    return done;
}

static void tell_done(struct frontier_call *c)
{
    *(bool *)c->ctx = true;
    scheduler_wake(c->ctx, true);
}

/* About a host. `counts`: of FRONTIER_STATS, else NULL. */
static enum status call_frontier(enum frontier_verb verb, const char *host,
                                 struct frontier_setting value,
                                 struct url_counts *counts)
{
    struct frontier_call c;
    bool over = false;
    enum status st;

    frontier_call_init(&c, verb, tell_done, &over);
    c.in.key = bytes_of_str(host);
    if (counts == NULL)
        c.in.setting = value;
    st = call_crawl_submit(registry, bytes_of_str(CRAWL_ID), &c);
    while (st == STATUS_OK && !over)
        (void)scheduler_wait(&over, SCHEDULER_NEVER);
    if (st == STATUS_OK)
        st = c.status;
    if (counts != NULL)
        *counts = c.counts;
    frontier_call_fini(&c);
    return st;
}

static bool ask_frontier(const struct sim_steer *s, enum frontier_verb verb,
                         struct frontier_setting value)
{
    enum status st = call_frontier(verb, s->what, value, NULL);

    TELL("said: %s", status_text(st));
    return st == STATUS_OK;
}

static bool ask(struct sim_steer *s)
{
    uint64_t wall_s = (uint64_t)(world->wall_ns / NS_PER_S);
    uint64_t ms = (uint64_t)s->number;

    switch (s->verb) {
    case STEER_PAUSE:
        return ask_registry(s, CRAWLS_PAUSE, NULL);
    case STEER_UNPAUSE:
        return ask_registry(s, CRAWLS_UNPAUSE, NULL);
    case STEER_STOP:
        return ask_registry(s, CRAWLS_STOP, NULL);
    case STEER_SEED:
        return ask_registry(s, CRAWLS_SEED,
                            json_pack("{s:[s]}", "urls", s->what));
    case STEER_SET:
        return ask_registry(s, CRAWLS_SET_SETTINGS,
                            json_pack("{s:s}", s->what, s->value));
    case STEER_RETRY:
        return ask_registry(s, CRAWLS_RETRY,
                            s->what[0] != '\0'
                                ? json_pack("{s:[s]}", "reasons", s->what)
                                : json_object());
    case STEER_REFRESH:
        return ask_registry(s, CRAWLS_REFRESH,
                            json_pack("{s:b}", "now", (int)s->number));
    case STEER_BLOCK:
        return ask_frontier(s, FRONTIER_BLOCK_QUEUE,
                            (struct frontier_setting){.value =
                                                          wall_s + ms / 1000});
    case STEER_DELAY:
        return ask_frontier(s, FRONTIER_SET_DELAY,
                            (struct frontier_setting){.value = ms / 1000});
    case STEER_LIMIT:
        return ask_frontier(s, FRONTIER_SET_LIMIT,
                            (struct frontier_setting){.value = ms});
    }
    return false;
}

/* A setting of a host, as the handlers of service/http read it. */
static enum status set_host(json_t *in, enum frontier_verb verb)
{
    const char *host = json_string_value(json_object_get(in, "key"));
    const char *until = json_string_value(json_object_get(in, "until"));
    json_t *seconds = json_object_get(in, "delay_seconds");
    uint64_t delay_ms = (uint64_t)(json_number_value(seconds) * 1000 + 0.5);
    struct frontier_setting value = {.standard = json_is_null(seconds)};
    int64_t at = 0;

    if (until != NULL && clock_parse_iso(bytes_of_str(until), &at) != STATUS_OK)
        return STATUS_ARG;
    if (verb == FRONTIER_BLOCK_QUEUE) {
        value.value = (uint64_t)at / 1000;
    } else if (verb == FRONTIER_SET_DELAY) {
        value.value = delay_ms / 1000;
        value.ms = (uint16_t)(delay_ms % 1000);
    } else {
        value.value =
            (uint64_t)json_integer_value(json_object_get(in, "limit"));
    }
    return call_frontier(verb, host, value, NULL);
}

static enum status count_host(const char *url, json_t **out)
{
    const char *host = strstr(url, "key=");
    struct url_counts n = {0};
    enum status st = call_frontier(FRONTIER_STATS, host + strlen("key="),
                                   (struct frontier_setting){0}, &n);

    if (st == STATUS_OK)
        *out = json_pack("{s:I}", "queues", (json_int_t)n.queues);
    return st;
}

/* STATUS_NOT_FOUND: it is not about a host. */
static enum status answer_for_host(const struct crowd_request *r, json_t *in,
                                   json_t **out)
{
    static const struct {
        const char *end;
        enum frontier_verb verb;
    } verbs[] = {{"/v1/queues/block", FRONTIER_BLOCK_QUEUE},
                 {"/v1/queues/delay", FRONTIER_SET_DELAY},
                 {"/v1/queues/limit", FRONTIER_SET_LIMIT}};

    if (strstr(r->url, "/v1/stats?") != NULL)
        return count_host(r->url, out);
    for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++)
        if (bytes_ends_with(bytes_of_str(r->url), verbs[i].end)) {
            enum status st = set_host(in, verbs[i].verb);

            if (st == STATUS_OK)
                *out = json_object();
            return st;
        }
    return STATUS_NOT_FOUND;
}

static bool is_about_host(const struct crowd_request *r)
{
    return strstr(r->url, "/v1/stats?") != NULL ||
           strstr(r->url, "/v1/queues/") != NULL;
}

void steering_answer(struct crowd_request *r)
{
    static const struct {
        const char *end;
        enum crawls_verb verb;
    } verbs[] = {{"/pause", CRAWLS_PAUSE},
                 {"/unpause", CRAWLS_UNPAUSE},
                 {"/seeds", CRAWLS_SEED},
                 {"/settings", CRAWLS_SET_SETTINGS},
                 {"/refresh", CRAWLS_REFRESH},
                 {"/retry", CRAWLS_RETRY}};
    /* A GET of the crawl asks whether it is there. */
    struct crawls_call c = {.crawl = bytes_of_str(CRAWL_ID),
                            .verb = CRAWLS_SETTINGS};
    enum status st = STATUS_CLOSED;
    char *text;

    for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++)
        if (bytes_ends_with(bytes_of_str(r->url), verbs[i].end))
            c.verb = verbs[i].verb;
    c.in = json_loads(r->body, 0, NULL);
    if (steering_enter() != NULL) {
        st = is_about_host(r) ? answer_for_host(r, c.in, &c.out)
                              : crawls_perform(registry, &c);
        steering_leave();
    }
    TELL("%s %s %s: %s %s", r->method, r->url, r->body, status_text(st), c.why);
    if (st != STATUS_OK)
        c.out = json_pack("{s:s}", "detail", c.why);
    text = json_dumps(c.out, JSON_COMPACT);
    r->status = st == STATUS_OK       ? 200
                : st == STATUS_ARG    ? 400
                : st == STATUS_BUSY   ? 409
                : st == STATUS_CLOSED ? 503
                                      : 404;
    r->answer = world_strdup(text != NULL ? text : "{}");
    free(text);
    json_decref(c.out);
    json_decref(c.in);
}

static void describe(const struct sim_steer *s, struct buf *out)
{
    static const char *const names[] = {
        [STEER_PAUSE] = "pause",     [STEER_UNPAUSE] = "unpause",
        [STEER_STOP] = "stop",       [STEER_SEED] = "seed",
        [STEER_SET] = "set",         [STEER_RETRY] = "retry",
        [STEER_REFRESH] = "refresh", [STEER_BLOCK] = "block",
        [STEER_DELAY] = "delay",     [STEER_LIMIT] = "limit"};

    buf_add_str(out, names[s->verb]);
    if (s->what != NULL)
        buf_addf(out, " %s", s->what);
    if (s->value != NULL)
        buf_addf(out, "=%s", s->value);
    if (s->number != 0)
        buf_addf(out, " %" PRId64, s->number);
}

static void tell(const struct sim_steer *s)
{
    struct buf words;

    buf_init(&words, 1000);
    describe(s, &words);
    TELL("%s", buf_str(&words));
    buf_fini(&words);
}

void *steering_thread(void *arg)
{
    struct steering *all = arg;
    int64_t begun = world->mono_ns;

    for (unsigned i = 0; i < all->count; i++) {
        struct sim_steer *s = &all->at[i];
        int64_t at = begun + s->after_ms * NS_PER_MS;

        if (at > world->mono_ns)
            scheduler_sleep(at - world->mono_ns);
        if (steering_enter() == NULL) /* it has not begun, or has ended */
            continue;
        tell(s);
        s->asked_ms = world->passed_ns / NS_PER_MS;
        s->done = ask(s);
        s->said_ms = world->passed_ns / NS_PER_MS;
        steering_leave();
    }
    return NULL;
}

void steering_describe(const struct steering *all, struct buf *out)
{
    for (unsigned i = 0; i < all->count; i++) {
        buf_add_str(out, "  [");
        describe(&all->at[i], out);
        buf_addf(out, " after %" PRId64 " ms]", all->at[i].after_ms);
    }
}

/* ---- what a person does ---- */

bool steering_add(struct steering *all, const struct sim_steer *s)
{
    unsigned i = all->count;

    if (i == STEERS)
        return false;
    for (; i > 0 && all->at[i - 1].after_ms > s->after_ms; i--)
        all->at[i] = all->at[i - 1];
    all->at[i] = *s;
    all->count++;
    return true;
}

static int64_t throw_moment(struct dice *d)
{
    return dice_chance(d, 50) ? dice_between(d, 10, 3000)
                              : dice_between(d, 10, 60000);
}

static const char *throw_host(const struct plan *p, struct dice *d)
{
    return p->origins[dice_below(d, (unsigned)p->origin_count)].name;
}

static void throw_one(struct sim_steer *s, const struct plan *p, struct dice *d)
{
    static const enum steer_verb verbs[] = {STEER_SEED,  STEER_SEED,
                                            STEER_RETRY, STEER_REFRESH,
                                            STEER_BLOCK, STEER_DELAY,
                                            STEER_LIMIT};
    static const char *const reasons[] = {
        "http_404", "http_503", "timeout", "robots", "robots_unreachable", ""};

    *s = (struct sim_steer){.verb = verbs[dice_below(d, 7)],
                            .after_ms = throw_moment(d)};
    switch (s->verb) {
    case STEER_SEED:
        s->what = p->pages[dice_below(d, (unsigned)p->page_count)].url;
        break;
    case STEER_RETRY:
        s->what = reasons[dice_below(d, 6)];
        break;
    case STEER_REFRESH:
        s->number = dice_chance(d, 60);
        break;
    case STEER_BLOCK:
        s->what = throw_host(p, d);
        s->number = 600000;
        break;
    case STEER_DELAY:
        s->what = throw_host(p, d);
        s->number = 1000 * dice_between(d, 1, 8);
        break;
    case STEER_LIMIT:
        s->what = throw_host(p, d);
        s->number = dice_between(d, 0, 4);
        break;
    default:
        break;
    }
}

void steering_throw(struct steering *all, const struct plan *p, struct dice *d)
{
    struct sim_steer s = {.verb = STEER_PAUSE};

    if (dice_chance(d, 15)) {
        s.after_ms = throw_moment(d);
        (void)steering_add(all, &s);
        s.verb = STEER_UNPAUSE;
        s.after_ms += dice_between(d, 1, 60000);
        (void)steering_add(all, &s);
    }
    if (dice_chance(d, 20))
        for (unsigned n = 1 + dice_below(d, 2); n > 0; n--) {
            throw_one(&s, p, d);
            (void)steering_add(all, &s);
        }
}
