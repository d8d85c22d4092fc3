/* SPDX-License-Identifier: MIT */
/*
 * truth_limits.c - --limit, --per-host, --per-domain, --quota and --time.
 *
 * A page counts when its response was read, once, in whatever run that was; what
 * is under way may still come when a limit is reached, but no request follows.
 * And every run ends.
 */
#include <inttypes.h>
#include <string.h>

#include "frontier/url/host.h"
#include "tests/sim/truth_impl.h"

/* A response is counted so long after its end. */
#define COUNTED_MS 1000
/* From a lease of a shard to its request. */
#define LEASED_MS 2000
/* No run has a reason to last so long. */
#define LONG_MS (INT64_C(2) * 24 * 3600 * 1000)

static bool has_budgets(const struct person_settings *s)
{
    return !person_is_default(s, SET_PER_HOST) ||
           !person_is_default(s, SET_PER_DOMAIN);
}

/* Surely read, and as a page: no list, nothing that a setting skips. */
static bool is_counted(const struct truth *t, const struct truth_crawl *c,
                       const struct truth_node *n,
                       const struct sim_log_entry *e)
{
    struct plan_sight s;

    (void)truth_node_of(t, e, &s);
    return e->end == SIM_LOG_WHOLE && e->status == 200 && s.state != NULL &&
           (s.state->form == FORM_HTML || s.state->form == FORM_PLAIN) &&
           !n->as_list && !truth_may_be_lost(c->run, e) &&
           person_is_default(&c->run->settings, SET_MIME) &&
           (!s.state->noindex ||
            person_says(&c->run->settings, SET_NOINDEX, "report"));
}

/* What is asked at its date does not count for a budget, and that may be the
 * first request for a URL that was denied or whose host did not respond. */
static bool may_be_refreshed(const struct truth *t, const struct truth_crawl *c,
                             unsigned node)
{
    for (size_t i = 0; i <= c->run_number; i++)
        if (t->acts[i].dir == c->run->dir &&
            (person_did(&t->acts[i], ACT_REFRESH) ||
             !person_says(&t->acts[i].settings, SET_REFRESH, "off")))
            return truth_has_excuse(t, c, node);
    return false;
}

void truth_note_page(const struct truth *t, struct truth_crawl *c,
                     unsigned node, const struct sim_log_entry *e)
{
    struct truth_node *n = &c->nodes[node];
    bool fails = e->end == SIM_LOG_WHOLE
                     ? e->status >= 500
                     : e->fate == SIM_RESET && e->end == SIM_LOG_FAILED;

    if (n->tries++ == 0)
        n->tried_since = c->run_number;
    if (e->end == SIM_LOG_WHOLE && e->status < 429)
        n->tries = 0;
    if (fails && !truth_may_be_lost(c->run, e)) {
        if (n->failures++ == 0)
            n->failed_since = c->run_number;
    } else if (e->end == SIM_LOG_WHOLE)
        n->failures = 0;
    if (e->end == SIM_LOG_WHOLE && (e->status == 404 || e->status == 410)) {
        if (n->missing++ == 0)
            n->missing_since = c->run_number;
    } else
        n->missing = 0;
    if (!n->counts && is_counted(t, c, n, e)) {
        n->counts = true;
        n->budgeted = has_budgets(&c->run->settings) && n->asked == 1 &&
                      !may_be_refreshed(t, c, node);
        n->counted_ms = e->ended_ms;
    }
}

/* Octets of bodies that were surely stored in a run, by a moment of it. */
static int64_t octets(const struct truth *t, const struct sim_act *run,
                      int64_t by_ms)
{
    int64_t sum = 0;

    for (size_t i = 0; i < t->log->count; i++) {
        const struct sim_log_entry *e = &t->log->at[i];
        struct plan_sight s;

        if ((e->life == run->life || run->shards > 0) &&
            e->end == SIM_LOG_WHOLE && e->ended_ms + COUNTED_MS <= by_ms &&
            !truth_may_be_lost(run, e) && truth_node_of(t, e, &s) >= 0)
            sum += (int64_t)e->octets;
    }
    return sum;
}

/* What was counted by now, at this host or domain, or everywhere. */
static int64_t pages(const struct truth *t, const struct truth_crawl *c,
                     const struct sim_log_entry *e, int origin, bool domain)
{
    int64_t count = 0;

    for (unsigned i = 0; i < TRUTH_NODES; i++) {
        const struct plan_origin *a, *b;

        /* What is to be read again counts when that is done. */
        if (!c->nodes[i].counts ||
            c->nodes[i].counted_ms + COUNTED_MS > e->passed_ms ||
            truth_reads_again(&t->acts[c->nodes[i].last_act].settings,
                              &c->run->settings))
            continue;
        if (origin >= 0) {
            if (!c->nodes[i].budgeted)
                continue;
            a = &t->plan->origins[origin];
            b = &t->plan->origins[truth_origin(t, i)];
            if (domain ? a->domain != b->domain : strcmp(a->name, b->name) != 0)
                continue;
        }
        count++;
    }
    return count;
}

static void judge_pages(struct truth *t, const struct truth_crawl *c,
                        const struct sim_log_entry *e, enum person_setting k,
                        const char *name, int origin, bool domain)
{
    int64_t most = person_number(&c->run->settings, k), had;

    if (most <= 0)
        return;
    had = pages(t, c, e, origin, domain);
    if (had >= most)
        truth_say(t, "asked %s%s after %" PRId64 " pages, with --%s %" PRId64,
                  e->host, e->target, had, name, most);
}

void truth_judge_limits(struct truth *t, const struct truth_crawl *c,
                        unsigned node, const struct sim_log_entry *e)
{
    const struct person_settings *s = &c->run->settings;
    const struct truth_node *n = &c->nodes[node];
    int64_t quota = person_number(s, SET_QUOTA);

    /* Neither lists count, nor what is fetched again. */
    if (n->as_list || n->asked > 0)
        return;
    judge_pages(t, c, e, SET_LIMIT, "limit", -1, false);
    if (person_says(s, SET_QUEUE_KEY, "host") &&
        !may_be_refreshed(t, c, node)) {
        judge_pages(t, c, e, SET_PER_HOST, "per-host", truth_origin(t, node),
                    false);
        judge_pages(t, c, e, SET_PER_DOMAIN, "per-domain",
                    truth_origin(t, node), true);
    }
    if (quota > 0 && c->run->shards == 0 &&
        c->octets + octets(t, c->run, e->passed_ms) > quota)
        truth_say(t, "asked %s%s after %" PRId64 " octets, with --quota",
                  e->host, e->target,
                  c->octets + octets(t, c->run, e->passed_ms));
}

/* Not one page more than the largest limit so far, whatever was under way. */
static void judge_sum(struct truth *t, struct truth_crawl *c,
                      const struct sim_act *run)
{
    int64_t most = person_number(&run->settings, SET_LIMIT), sum = 0;

    if (most < 0 || c->limit == INT64_MAX) {
        c->limit = INT64_MAX;
        return;
    }
    if (most > c->limit)
        c->limit = most;
    for (unsigned i = 0; i < TRUTH_NODES; i++)
        sum += c->nodes[i].counts &&
               !truth_reads_again(&t->acts[c->nodes[i].last_act].settings,
                                  &run->settings);
    if (sum > c->limit)
        truth_say(t, "%" PRId64 " pages, with --limit %" PRId64, sum, c->limit);
}

static uint32_t shard_of(const struct sim_log_entry *e, unsigned shards)
{
    return shard_of_host(bytes_of_str(e->host), shards);
}

/* When a page was to be asked for: before the robots.txt that it needed. */
static int64_t decided_ms(const struct truth *t, size_t nth)
{
    int64_t ms = t->log->at[nth].passed_ms;
    struct plan_sight s;

    for (size_t i = nth; i > 0; i--) {
        const struct sim_log_entry *e = &t->log->at[i - 1];

        if (strcmp(e->host, t->log->at[nth].host) != 0)
            continue;
        if (truth_node_of(t, e, &s) != -1)
            break;
        ms = e->passed_ms;
    }
    return ms;
}

/* Octets that a shard had surely stored when it last decided to ask for a
 * page. */
static int64_t octets_of_shard(const struct truth *t, const struct sim_act *run,
                               uint32_t shard)
{
    int64_t sum = 0, last_ms = 0;
    struct plan_sight s;

    for (size_t i = 0; i < t->log->count; i++)
        if (shard_of(&t->log->at[i], run->shards) == shard &&
            truth_node_of(t, &t->log->at[i], &s) >= 0 &&
            decided_ms(t, i) > last_ms)
            last_ms = decided_ms(t, i);
    for (size_t i = 0; i < t->log->count; i++) {
        const struct sim_log_entry *e = &t->log->at[i];

        if (shard_of(e, run->shards) == shard && e->end == SIM_LOG_WHOLE &&
            e->ended_ms + COUNTED_MS + LEASED_MS <= last_ms &&
            !truth_may_be_lost(run, e) && truth_node_of(t, e, &s) >= 0)
            sum += (int64_t)e->octets;
    }
    return sum;
}

/* Each shard asks only for what is within its part, and all parts together are
 * the quota at most. */
static void judge_shards(struct truth *t, const struct sim_act *run)
{
    int64_t quota = person_number(&run->settings, SET_QUOTA), sum = 0;

    for (uint32_t i = 0; i < run->shards; i++)
        sum += octets_of_shard(t, run, i);
    if (quota > 0 && sum > quota)
        truth_say(t,
                  "shards asked for more after %" PRId64
                  " octets, with --quota %" PRId64,
                  sum, quota);
}

void truth_judge_run(struct truth *t, struct truth_crawl *c,
                     const struct sim_act *run)
{
    int64_t most = person_number(&run->settings, SET_TIME);
    /* A simulated thread that was idle for long may wake late, by an eighth;
     * three wait for each other. */
    int64_t slack = person_number(&run->settings, SET_TIMEOUT) +
                    INT64_C(15000) + run->faults.pause_ms + most / 2;

    if (most > 0 && run->exit_status >= 0 &&
        run->ended_ms - run->began_ms > most + slack)
        truth_say(t, "a run of --time %s took %" PRId64 " s",
                  person_value(&run->settings, SET_TIME),
                  (run->ended_ms - run->began_ms) / 1000);
    /* What a person has blocked waits for the wall clock. */
    if (run->end == END_BY_ITSELF && run->exit_status == 4 &&
        run->jumped_ms == 0 && run->faults.jump_ms == 0 &&
        run->ended_ms - run->began_ms > LONG_MS)
        truth_say(t, "a run has not ended after %d days",
                  (int)((run->ended_ms - run->began_ms) / (24 * 3600 * 1000)));
    judge_sum(t, c, run);
    judge_shards(t, run);
    if (run->end == END_BY_ITSELF)
        truth_judge_due(t, c);
    c->octets += octets(t, run, run->ended_ms + COUNTED_MS);
}
