/* SPDX-License-Identifier: MIT */
/*
 * truth_again.c - how often a URL is asked for, and how soon again.
 *
 * What was read to its end and cannot fail is asked for once, unless a person
 * asks for more, or a setting reads more of it. What fails for a while has
 * --tries requests, over stops and kills. With --refresh a page comes again when
 * it is due, not before, and with the validators that it had.
 */
#include <inttypes.h>

#include "tests/sim/truth_impl.h"

#define BIT(kind) (UINT32_C(1) << (kind))
#define MINUTE_MS INT64_C(60000)
/* A response that ended so long before a kill is stored. */
#define KEPT_MS 2000

bool truth_may_be_lost(const struct sim_act *a, const struct sim_log_entry *e)
{
    return e->let_go_ms > 0 || a->fault_hit ||
           (a->exit_status < 0 &&
            (e->ended_ms == 0 ||
             e->ended_ms + KEPT_MS + a->faults.pause_ms > a->ended_ms));
}

/* Statuses after which nobody asks again by himself. */
static bool is_final_status(unsigned status)
{
    return status == 200 || (status >= 301 && status <= 303) || status == 307 ||
           status == 308 || status == 404 || status == 410 || status == 403;
}

bool truth_reads_again(const struct person_settings *a,
                       const struct person_settings *b)
{
    static const enum person_setting harmless[] = {
        SET_DEPTH,       SET_SCOPE,       SET_INCLUDE,         SET_EXCLUDE,
        SET_ORDER,       SET_LIMIT,       SET_PER_HOST,        SET_PER_DOMAIN,
        SET_QUOTA,       SET_TIME,        SET_DELAY,           SET_RANDOM_DELAY,
        SET_ADAPTIVE,    SET_MAX_DELAY,   SET_MAX_CRAWL_DELAY, SET_TRIES,
        SET_RETRY_DELAY, SET_GIVE_UP,     SET_FILTER,          SET_CHECKPOINT,
        SET_THREADS,     SET_MAX_URL_LEN, SET_MEMORY,          SET_WARC,
        SET_JSONL};

    for (unsigned k = 0; k < PERSON_SETTINGS; k++) {
        bool is_harmless = false;

        for (size_t i = 0; i < sizeof harmless / sizeof harmless[0]; i++)
            is_harmless = is_harmless || harmless[i] == k;
        if (!is_harmless && a->choice[k] != b->choice[k])
            return true;
    }
    return false;
}

/* May what was read in act n->last_act be read again in the run of now? */
static bool may_repeat(const struct truth *t, const struct truth_crawl *c,
                       const struct truth_node *n)
{
    const struct sim_act *first = &t->acts[n->last_act];
    bool failed = n->last_whole->status >= 400;

    if (truth_may_be_lost(first, n->last_whole) &&
        (n->last_act != c->run_number || first->shards > 0))
        return true;
    for (size_t i = n->last_act; i <= c->run_number; i++) {
        const struct sim_act *a = &t->acts[i];

        if (a->dir != c->run->dir)
            continue;
        if (person_did(a, ACT_REFRESH) ||
            (person_did(a, ACT_RETRY) && failed) ||
            !person_says(&a->settings, SET_REFRESH, "off") ||
            (i > n->last_act &&
             truth_reads_again(&first->settings, &a->settings)))
            return true;
        if (i < c->run_number && a->fault_hit)
            return true;
    }
    return false;
}

bool truth_by_wall(const struct truth *t, const struct sim_log_entry *e)
{
    int origin = plan_origin_of(t->plan, e->scheme, e->host, e->port);

    return origin >= 0 && t->plan->origins[origin].wall &&
           e->status == PLAN_WALL_STATUS;
}

static void judge_repeat(struct truth *t, const struct truth_crawl *c,
                         unsigned node)
{
    const struct truth_node *n = &c->nodes[node];

    if (n->last_whole == NULL || !is_final_status(n->last_whole->status) ||
        truth_by_wall(t, n->last_whole) || may_repeat(t, c, n))
        return;
    truth_say(t, "asked %s again, which had %u", truth_url(t, node),
              n->last_whole->status);
}

/* ---- tries --------------------------------------------------------------- */

/* Each kill may take what one request has told. */
static void judge_tries(struct truth *t, const struct truth_crawl *c,
                        unsigned node)
{
    const struct truth_node *n = &c->nodes[node];
    int64_t most = 0;
    unsigned lost = 0;

    if (n->failures == 0)
        return;
    for (size_t i = n->failed_since; i <= c->run_number; i++) {
        const struct sim_act *a = &t->acts[i];

        if (a->dir != c->run->dir)
            continue;
        if (person_did(a, ACT_RETRY) || person_did(a, ACT_REFRESH) ||
            a->fault_hit || !person_says(&a->settings, SET_REFRESH, "off") ||
            truth_reads_again(&t->acts[n->failed_since].settings, &a->settings))
            return;
        if (person_number(&a->settings, SET_TRIES) > most)
            most = person_number(&a->settings, SET_TRIES);
        if (a->is_set && person_number(&a->set_to, SET_TRIES) > most)
            most = person_number(&a->set_to, SET_TRIES);
        lost += a->exit_status < 0;
    }
    if ((int64_t)n->failures >= most + lost)
        truth_say(t, "asked %s, which had failed %u times", truth_url(t, node),
                  n->failures);
}

/* A host with an error of one URL goes on with others meanwhile. */
static void judge_wait(struct truth *t, const struct truth_crawl *c,
                       unsigned node, const struct sim_log_entry *e)
{
    const struct sim_log_entry *last = c->nodes[node].last;
    int64_t wait = person_number(&c->run->settings, SET_RETRY_DELAY);

    if (last != NULL && last->life == e->life && last->status == 500 &&
        last->end == SIM_LOG_WHOLE && e->passed_ms < last->ended_ms + wait / 2)
        truth_say(t, "tried %s again after %" PRId64 " ms", truth_url(t, node),
                  e->passed_ms - last->ended_ms);
}

/* ---- refreshes ----------------------------------------------------------- */

/* How long a page is left alone at least after it was read; 0: it is not known. */
static int64_t least_interval(const struct truth *t,
                              const struct truth_crawl *c,
                              const struct truth_node *n)
{
    const struct person_settings *s = &t->acts[n->last_act].settings;
    int64_t fixed = person_number(s, SET_REFRESH);
    int64_t least = person_number(s, SET_REFRESH_MIN);

    for (size_t i = n->last_act; i <= c->run_number; i++) {
        const struct sim_act *a = &t->acts[i];

        if (a->dir == c->run->dir &&
            (person_did(a, ACT_REFRESH) || person_did(a, ACT_RETRY) ||
             a->fault_hit ||
             a->settings.choice[SET_REFRESH] != s->choice[SET_REFRESH] ||
             a->settings.choice[SET_REFRESH_MIN] !=
                 s->choice[SET_REFRESH_MIN] ||
             truth_reads_again(s, &a->settings)))
            return 0;
    }
    if (person_says(s, SET_REFRESH, "off"))
        return 0;
    /* The date of an entry makes a page due; lists come once a day. */
    if (fixed > 0 && !n->entry && !n->as_list)
        return fixed;
    return fixed > 0 && fixed < least ? fixed : least;
}

/* Dates are by the wall clock, which may have jumped. */
static void judge_date(struct truth *t, const struct truth_crawl *c,
                       unsigned node, const struct sim_log_entry *e)
{
    const struct truth_node *n = &c->nodes[node];
    int64_t least;

    if (n->last_whole == NULL || n->last != n->last_whole ||
        n->last->jumped_ms != e->jumped_ms ||
        (n->last->status != 200 && n->last->status != 304) ||
        truth_may_be_lost(&t->acts[n->last_act], n->last))
        return;
    least = least_interval(t, c, n);
    if (e->passed_ms + 1000 < n->last->passed_ms + least)
        truth_say(t, "asked %s again after %" PRId64 " s, not %" PRId64,
                  truth_url(t, node),
                  (e->passed_ms - n->last->passed_ms) / 1000, least / 1000);
}

/* A page that said 304 had validators, which go with the next request, too; but
 * what is recorded from now on is asked for in full once. */
static void judge_conditions(struct truth *t, const struct truth_crawl *c,
                             unsigned node, const struct sim_log_entry *e)
{
    const struct truth_node *n = &c->nodes[node];

    if (n->last == NULL || n->last->status != 304 || e->conditional ||
        n->last->end != SIM_LOG_WHOLE || n->entry || n->as_list ||
        truth_may_be_lost(&t->acts[n->last_act], n->last))
        return;
    for (size_t i = n->last_act; i <= c->run_number; i++)
        if (t->acts[i].dir == c->run->dir &&
            (person_did(&t->acts[i], ACT_RETRY) || t->acts[i].fault_hit ||
             t->acts[i].settings.choice[SET_WARC] !=
                 t->acts[n->last_act].settings.choice[SET_WARC] ||
             truth_reads_again(&t->acts[n->last_act].settings,
                               &t->acts[i].settings)))
            return;
    truth_say(t, "asked %s in full, which had 304", truth_url(t, node));
}

/* Links of these kinds stand in the body of a page alone. */
#define IN_BODY                                                                \
    (BIT(PLAN_A) | BIT(PLAN_AREA) | BIT(PLAN_IFRAME) | BIT(PLAN_IMG) |         \
     BIT(PLAN_CSS) | BIT(PLAN_SCRIPT) | BIT(PLAN_MEDIA) | BIT(PLAN_SRCSET))

/* With --sitemap only no links of pages are. */
static uint32_t kinds_read(const struct person_settings *s)
{
    return person_says(s, SET_SITEMAP, "only") ? 0 : truth_kinds(s);
}

static uint32_t kinds_in(const struct truth *t, const struct sim_log_entry *e)
{
    struct plan_found links[PLAN_FOUND];
    struct plan_sight s;
    uint32_t kinds = 0;
    size_t count;

    (void)truth_node_of(t, e, &s);
    count = plan_links(t->plan, &s, links, PLAN_FOUND);
    for (size_t i = 0; i < count; i++)
        kinds |= BIT(links[i].kind);
    return kinds & IN_BODY;
}

/* Was it read last as a list, in the earlier crawl, and linked to as nothing
 * else? */
static bool was_list_before(const struct truth *t,
                            const struct truth_crawl *old, unsigned node)
{
    const struct truth_node *n = &old->nodes[node];
    struct plan_sight s;

    if (n->last == NULL || n->last != n->last_full || !n->as_list ||
        n->perhaps_given)
        return false;
    for (size_t i = 0; i < old->edge_count; i++)
        if (old->edges[i].to == node && old->edges[i].kind != PLAN_SITEMAP)
            return false;
    (void)truth_node_of(t, n->last, &s);
    return s.state != NULL && s.state->link_count > 0 &&
           (s.state->form == FORM_SITEMAP || s.state->form == FORM_INDEX);
}

/* What was read with fewer kinds of links, and in an earlier crawl each list, is
 * asked for in full. */
static void judge_full(struct truth *t, const struct truth_crawl *c,
                       unsigned node, const struct sim_log_entry *e)
{
    const struct truth_crawl *old = t->crawls[0];
    const struct truth_node *n = &c->nodes[node];
    bool first = n->asked == 0 && c != old;

    if (!e->conditional || (n->asked == 0 && c == old))
        return;
    if (first)
        n = &old->nodes[node];
    if (n->last_full != NULL &&
        (kinds_in(t, n->last_full) & kinds_read(&c->run->settings) &
         ~kinds_read(&t->acts[n->full_act].settings)) != 0)
        truth_say(t, "asked %s with conditions, and reads more of it now",
                  truth_url(t, node));
    if (first && was_list_before(t, old, node))
        truth_say(t, "asked %s with conditions, a list", truth_url(t, node));
}

/* Missing three times in a row is gone, unless a person asks. */
static void judge_gone(struct truth *t, const struct truth_crawl *c,
                       unsigned node)
{
    const struct truth_node *n = &c->nodes[node];

    if (n->missing < 3)
        return;
    for (size_t i = n->missing_since; i <= c->run_number; i++) {
        const struct sim_act *a = &t->acts[i];

        if (a->dir == c->run->dir &&
            (person_did(a, ACT_RETRY) || person_did(a, ACT_REFRESH) ||
             a->fault_hit || a->exit_status < 0 ||
             truth_reads_again(&t->acts[n->missing_since].settings,
                               &a->settings)))
            return;
    }
    truth_say(t, "asked %s, which is gone", truth_url(t, node));
}

void truth_judge_again(struct truth *t, const struct truth_crawl *c,
                       unsigned node, const struct sim_log_entry *e)
{
    judge_repeat(t, c, node);
    judge_tries(t, c, node);
    judge_wait(t, c, node, e);
    judge_date(t, c, node, e);
    judge_gone(t, c, node);
    judge_conditions(t, c, node, e);
    judge_full(t, c, node, e);
}

/* The date of a page that a setting keeps out when it comes is an interval later,
 * and so perhaps not over yet once the setting is wide again. */
static bool was_kept_out(const struct truth *t, const struct truth_crawl *c,
                         const struct truth_node *n)
{
    static const enum person_setting by[] = {SET_SCOPE,   SET_INCLUDE,
                                             SET_EXCLUDE, SET_MAX_URL_LEN,
                                             SET_DEPTH,   SET_TRAPS};

    for (size_t i = n->last_act; i <= c->run_number; i++)
        for (size_t k = 0; k < sizeof by / sizeof by[0]; k++) {
            const struct sim_act *a = &t->acts[i];
            uint8_t was = t->acts[n->last_act].settings.choice[by[k]];

            if (a->dir == c->run->dir &&
                (a->settings.choice[by[k]] != was ||
                 (a->is_set && a->set_to.choice[by[k]] != was)))
                return true;
        }
    return false;
}

/* When the last run began, by the web's clock: of shards, when all that ran
 * before had ended. */
static int64_t began_at_ms(const struct sim_act *run)
{
    return run->began_at_ms +
           (run->shards > 0 ? run->again_ms - run->began_ms : 0);
}

static bool was_asked_since(const struct truth_crawl *c,
                            const struct truth_node *n)
{
    return c->run->shards > 0 ? n->last->passed_ms >= c->run->again_ms
                              : n->last_asked_act == c->run_number;
}

void truth_judge_due(struct truth *t, const struct truth_crawl *c)
{
    const struct person_settings *s = &c->run->settings;
    int64_t interval = person_number(s, SET_REFRESH);

    if (interval <= 0 || (c->run->exit_status != 0 && c->run->exit_status != 5))
        return;
    for (unsigned i = 0; i < t->plan->page_count; i++) {
        const struct truth_node *n = &c->nodes[i];
        struct plan_sight s2;

        if (c->blocked[truth_origin(t, i)] || n->last == NULL ||
            n->last != n->last_whole || n->last->status != 200 ||
            was_asked_since(c, n) || n->last->jumped_ms != c->run->jumped_ms ||
            c->run->faults.jump_ms != 0)
            continue;
        (void)truth_node_of(t, n->last, &s2);
        if (s2.state != NULL && s2.state->form == FORM_HTML &&
            !s2.state->noindex && s2.state->size == 0 &&
            person_is_default(s, SET_MIME) &&
            n->last->at_ms + interval + MINUTE_MS < began_at_ms(c->run) &&
            truth_surely_in_scope(t, c, s, i, false) &&
            !was_kept_out(t, c, n) && person_is_default(s, SET_DEPTH) &&
            !truth_has_excuse(t, c, i))
            truth_say(t, "%s was due, and not asked again", truth_url(t, i));
    }
}
