/* SPDX-License-Identifier: MIT */
/*
 * truth_pace.c - no host is asked twice at once, or too early.
 *
 * From the end of one response of a host, or of whatever --queue-key makes one,
 * to the next request to it at least --delay passes, or the Crawl-delay of its
 * robots.txt if that is longer, over stops, kills and power cuts. After a
 * Retry-After, and while a person has blocked it, nothing is asked at all.
 */
#include <inttypes.h>
#include <string.h>

#include "tests/sim/truth_impl.h"

/* Clocks are read some steps before what they date. */
#define SLACK_MS 3
/* What was leased before a host was blocked may be asked for yet. */
#define LEASED_MS 60000
/* A response that ends so long after a delay was set counts with that. */
#define SET_MS 1000

/* The first origin that shares a queue with this one. Which hosts share an
 * address is known only once they were looked up, so with --queue-key ip each
 * is held to its own delay alone. */
static int pace_key(const struct truth *t, const struct person_settings *s,
                    int origin)
{
    const struct plan_origin *a = &t->plan->origins[origin];

    for (int i = 0; i < origin; i++) {
        const struct plan_origin *b = &t->plan->origins[i];

        if (person_says(s, SET_QUEUE_KEY, "domain")
                ? a->domain == b->domain
                : strcmp(a->name, b->name) == 0)
            return i;
    }
    return origin;
}

const struct sim_act *truth_act_of_life(const struct truth *t, unsigned life)
{
    for (size_t i = 0; i < t->act_count; i++)
        if (t->acts[i].life == life || t->acts[i].shards > 0)
            return &t->acts[i];
    return NULL;
}

static int64_t end_of(const struct truth *t, const struct sim_log_entry *e)
{
    return e->let_go_ms > 0 && (e->ended_ms == 0 || e->ended_ms > e->let_go_ms)
               ? e->let_go_ms
           : e->ended_ms > 0 ? e->ended_ms
                             : truth_act_of_life(t, e->life)->ended_ms;
}

/* The least of what the robots.txt of the key's origins say now. */
static int64_t crawl_delay(const struct truth *t, const struct truth_crawl *c,
                           int key)
{
    const struct person_settings *s = &c->run->settings;
    int64_t most = person_number(s, SET_MAX_CRAWL_DELAY), least = INT64_MAX;

    if (!person_says(s, SET_ROBOTS, "obey"))
        return 0;
    for (int i = 0; i < (int)t->plan->origin_count; i++) {
        const struct truth_robots *r = &c->robots[i];
        int64_t delay = r->say == ROBOTS_SAY_RULES && r->count == 1
                            ? r->rules->crawl_delay_ms
                            : 0;

        if (pace_key(t, s, i) == key && r->say != ROBOTS_NOT_ASKED &&
            delay < least)
            least = delay;
    }
    return least == INT64_MAX ? 0 : least < most ? least : most;
}

/* One that was asked for another one's robots.txt alone. */
static bool has_no_rules(const struct truth *t, const struct truth_crawl *c,
                         const struct sim_log_entry *e)
{
    int origin = plan_origin_of(t->plan, e->scheme, e->host, e->port);

    return origin >= 0 && c->robots[origin].say == ROBOTS_NOT_ASKED;
}

/* Before request `e`. What a robots.txt says that was read last before a kill is
 * not known to the next process. */
static int64_t least_delay(const struct truth *t, const struct truth_crawl *c,
                           int key, const struct sim_log_entry *e)
{
    const struct person_settings *s = &c->run->settings;
    const struct sim_log_entry *last = c->pace[key].last;
    bool lost = last->life != e->life &&
                truth_may_be_lost(truth_act_of_life(t, last->life), last);
    int64_t delay = person_number(s, SET_DELAY);
    int64_t by_robots =
        lost || has_no_rules(t, c, last) ? 0 : crawl_delay(t, c, key);

    if (by_robots > delay)
        delay = by_robots;
    if (c->pace[key].own_delay_ms > 0 && c->pace[key].own_delay_ms < delay)
        delay = c->pace[key].own_delay_ms;
    return person_says(s, SET_RANDOM_DELAY, "yes") ? delay / 2 : delay;
}

/* By how much a process that goes by dates may be early: the next one does not
 * know what its clock has done. */
static int64_t may_be_early(const struct sim_log_entry *a,
                            const struct sim_log_entry *b)
{
    return a->life == b->life ? 0 : b->jumped_ms - a->jumped_ms;
}

static bool reached(const struct sim_log_entry *e)
{
    return e->status > 0 || e->fate == SIM_MUTE || e->fate == SIM_RESET ||
           e->fate == SIM_CUT;
}

/* What the response says of when to come again; -1: nothing. */
static int64_t retry_after_s(const struct truth *t,
                             const struct sim_log_entry *e,
                             const struct plan_sight *s)
{
    const struct plan_origin *o = &t->plan->origins[s->origin];
    const struct plan_outage *w = plan_outage_at(o, e->at_ms);

    if (w != NULL)
        return w->retry_after_s;
    return e->status == 429 && o->limit > 0 ? o->limit_retry_s : -1;
}

/* By its own state, or since its host has had enough? */
static bool may_be_either(const struct truth *t, const struct sim_log_entry *e,
                          const struct plan_sight *s)
{
    if (e->status != 429 || t->plan->origins[s->origin].limit == 0)
        return false;
    return s->state != NULL
               ? s->state->form == FORM_STATUS && s->state->status == 429
               : s->what == PLAN_ROBOTS_TXT;
}

/* How long the host is left alone after a response; 0: it is not sure. Without
 * a Retry-After that is a minute, or --max-delay, less a quarter by chance. */
static int64_t rest_ms(const struct truth *t, const struct truth_crawl *c,
                       const struct sim_log_entry *e,
                       const struct plan_sight *s)
{
    const struct plan_outage *w =
        plan_outage_at(&t->plan->origins[s->origin], e->at_ms);
    int64_t told = retry_after_s(t, e, s);
    int64_t most = person_number(&c->run->settings, SET_MAX_DELAY);

    if (e->end != SIM_LOG_WHOLE || (e->status != 429 && e->status < 500) ||
        may_be_either(t, e, s))
        return 0;
    if (told > 0 && (w == NULL || w->fate == SIM_ANSWERS))
        /* A date is told as of when the request came, in whole seconds. */
        return 1000 * told -
               (w != NULL && w->as_date
                    ? 1000 + end_of(t, e) - e->passed_ms + e->jumped_ms
                    : 0);
    return told < 0 && s->what == PLAN_PAGE &&
                   (e->status == 429 || e->status == 503)
               ? (most < 60000 ? most : 60000) * 3 / 4
               : 0;
}

static int64_t set_delay(const struct truth_crawl *c,
                         const struct truth_pace *p)
{
    return person_says(&c->run->settings, SET_RANDOM_DELAY, "yes")
               ? p->set_delay_ms / 2
               : p->set_delay_ms;
}

void truth_judge_pace(struct truth *t, struct truth_crawl *c,
                      const struct sim_log_entry *e, const struct plan_sight *s)
{
    const char *host = t->plan->origins[s->origin].name;
    int key = pace_key(t, &c->run->settings, s->origin);
    struct truth_pace *p = &c->pace[key];
    bool alone = person_says(&c->run->settings, SET_CONNS_PER_HOST, "1");
    int64_t at = e->passed_ms + SLACK_MS;
    const struct sim_act *told;

    /* Nobody of another shard knows when a host may be asked. */
    if (!reached(e) || (c->run->shards > 0 && s->what == PLAN_ROBOTS_TXT &&
                        strcmp(e->target, "/robots.txt") != 0))
        return;
    if (alone && p->last != NULL &&
        at + may_be_early(p->last, e) <
            end_of(t, p->last) + least_delay(t, c, key, e))
        truth_say(t,
                  "asked %s%s %" PRId64 " ms after the end of %s, not %" PRId64,
                  host, e->target, e->passed_ms - end_of(t, p->last),
                  p->last->target, least_delay(t, c, key, e));
    if (alone && p->set_delay_ms > 0 && p->last != NULL &&
        end_of(t, p->last) > p->set_delay_at + SET_MS &&
        at + may_be_early(p->last, e) < end_of(t, p->last) + set_delay(c, p))
        truth_say(t,
                  "asked %s%s %" PRId64
                  " ms after %s, and a person wants %" PRId64,
                  host, e->target, e->passed_ms - end_of(t, p->last),
                  p->last->target, p->set_delay_ms);
    told = p->not_before > 0 ? truth_act_of_life(t, p->told_in) : NULL;
    if (alone && told != NULL &&
        at + (p->told_in == e->life ? 0 : e->jumped_ms - p->told_jumped_ms) <
            p->not_before &&
        (p->told_in == e->life || !truth_may_be_lost(told, p->told)))
        truth_say(t, "asked %s%s %" PRId64 " ms before its back-off was over",
                  host, e->target, p->not_before - e->passed_ms);
    if (e->passed_ms > p->blocked_from &&
        at + e->jumped_ms - p->blocked_jumped_ms < p->blocked_until)
        truth_say(t, "asked %s%s, which a person has blocked", host, e->target);
    p->last = e;
    if (rest_ms(t, c, e, s) > 0) {
        p->told = e;
        p->not_before = end_of(t, e) + rest_ms(t, c, e, s);
        p->told_in = e->life;
        p->told_jumped_ms = e->jumped_ms;
    }
}

void truth_block(struct truth *t, struct truth_crawl *c,
                 const struct sim_act *a)
{
    for (int i = 0; i < (int)t->plan->origin_count; i++) {
        if (strcmp(t->plan->origins[i].name, a->reason) != 0)
            continue;
        c->blocked[i] = true;
        /* The name is that of a queue; the act ends with status 0 if there is
         * one of that name. */
        if (a->exit_status == 0 && c->run != NULL &&
            person_says(&c->run->settings, SET_QUEUE_KEY, "host")) {
            struct truth_pace *p = &c->pace[pace_key(t, &c->run->settings, i)];

            p->blocked_from = a->began_ms;
            p->blocked_until = a->began_ms + a->block_ms;
            p->blocked_jumped_ms = a->jumped_ms;
        }
    }
}

void truth_steer_host(struct truth *t, struct truth_crawl *c,
                      const struct sim_steer *s)
{
    for (int i = 0; i < (int)t->plan->origin_count; i++) {
        struct truth_pace *p = &c->pace[pace_key(t, &c->run->settings, i)];

        if (strcmp(t->plan->origins[i].name, s->what) != 0)
            continue;
        if (s->verb == STEER_DELAY &&
            (p->own_delay_ms == 0 || s->number < p->own_delay_ms))
            p->own_delay_ms = s->number;
        if (s->verb == STEER_DELAY) {
            p->set_delay_ms = s->done && p->last != NULL ? s->number : 0;
            p->set_delay_at = s->said_ms;
        }
        if (s->verb == STEER_BLOCK || s->verb == STEER_LIMIT)
            c->blocked[i] = true;
        /* One that was asked has a queue, and there is one of that name. */
        if (s->verb == STEER_BLOCK && s->done && p->last != NULL &&
            person_says(&c->run->settings, SET_QUEUE_KEY, "host")) {
            p->blocked_from = s->said_ms + LEASED_MS;
            p->blocked_until = s->said_ms + s->number - 1000;
            p->blocked_jumped_ms = p->last->jumped_ms;
        }
    }
}
