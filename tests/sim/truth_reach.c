/* SPDX-License-Identifier: MIT */
/*
 * truth_reach.c - what must have been asked for when the last run has ended.
 *
 * A crawl that was changed any number of times has in the end what a new one
 * with its last settings would have. So from the seeds on, over the links of
 * each page as it was read last, every URL that these settings let in must have
 * been asked for, or there is an excuse: a robots.txt that denied it at any
 * time, or a host in trouble. There is no excuse for not knowing it.
 */
#include <string.h>

#include "tests/sim/truth_impl.h"

#define BIT(kind) (UINT32_C(1) << (kind))

/* Do settings leave open how far a crawl comes? */
static bool is_bounded(const struct person_settings *s)
{
    return !person_is_default(s, SET_LIMIT) ||
           !person_is_default(s, SET_PER_HOST) ||
           !person_is_default(s, SET_PER_DOMAIN) ||
           !person_is_default(s, SET_QUOTA) ||
           !person_is_default(s, SET_TIME) ||
           person_says(s, SET_SITEMAP, "only");
}

/* A page whose text others have as well may count as a repeat. */
static bool has_twin(const struct truth *t, unsigned node,
                     const struct plan_state *s)
{
    for (unsigned i = 0; i < t->plan->page_count; i++)
        for (unsigned k = 0; k < t->plan->pages[i].state_count; k++)
            if (i != node && t->plan->pages[i].states[k].text == s->text)
                return true;
    return false;
}

/* Redirects on the longest way by which redirects may lead here; a circle has
 * many. */
static int most_hops(const struct truth *t, unsigned node, int depth)
{
    int most = 0;

    if (depth > 8)
        return 100;
    for (unsigned i = 0; i < t->plan->page_count; i++)
        for (unsigned k = 0; k < t->plan->pages[i].state_count; k++) {
            const struct plan_state *s = &t->plan->pages[i].states[k];

            if (s->form == FORM_REDIRECT && s->link_count == 1 &&
                t->plan->links[s->first_link].to == node) {
                int hops = 1 + most_hops(t, i, depth + 1);

                most = hops > most ? hops : most;
            }
        }
    return most;
}

/* Are kinds of links followed now that its last response was not read for? */
static bool lacks_kinds(const struct truth *t, const struct truth_crawl *c,
                        unsigned node)
{
    const struct truth_node *n = &c->nodes[node];

    return (truth_kinds(&c->run->settings) &
            ~truth_kinds(&t->acts[n->last_act].settings)) != 0;
}

static bool may_read_list(const struct truth *, const struct truth_crawl *,
                          unsigned node);

static bool brought(const struct truth_node *n)
{
    return n->last->status == 200 || n->last->status == 304;
}

/* Is all of a page known that has changed? Some servers have validators that
 * stay when a page changes, but what stands in the head of a 304 is new. */
static bool hides_its_body(const struct truth *t, unsigned node,
                           const struct truth_node *n)
{
    return n->last->status == 304 &&
           t->plan->pages[node].validators == VALIDATORS_STUCK;
}

/* What a kill took with a response comes with the next one, as do the links of
 * kinds that are followed only now, unless the page may not be asked for any
 * more. With --refresh it is not read anew for these kinds, as it will be
 * anyway. */
static bool lacks_links(const struct truth *t, const struct truth_crawl *c,
                        unsigned node)
{
    const struct truth_node *n = &c->nodes[node];
    bool kinds = lacks_kinds(t, c, node);
    bool lost = truth_may_be_lost(&t->acts[n->last_act], n->last_whole);

    return (kinds && !person_says(&c->run->settings, SET_REFRESH, "off")) ||
           ((kinds || lost) && truth_has_excuse(t, c, node));
}

/* Are the links of `node` surely known, as they stand at its last response? */
static bool shows_links(const struct truth *t, const struct truth_crawl *c,
                        unsigned node, struct plan_sight *s)
{
    const struct person_settings *set = &c->run->settings;
    const struct truth_node *n = &c->nodes[node];
    bool skips = person_says(set, SET_DUP_CONTENT, "skip") ||
                 person_says(set, SET_NEAR_DUP, "skip");

    if (n->last_whole == NULL || n->last != n->last_whole ||
        node >= PLAN_PAGES || lacks_links(t, c, node))
        return false;
    (void)truth_node_of(t, n->last, s);
    if (s->state == NULL)
        return false;
    if (s->state->form == FORM_REDIRECT)
        return n->last->status / 100 == 3 && n->last->status != 304 &&
               !truth_by_wall(t, n->last) &&
               most_hops(t, node, 0) < person_number(set, SET_MAX_REDIRECTS);
    if (s->state->form == FORM_SITEMAP || s->state->form == FORM_FEED)
        return brought(n) && may_read_list(t, c, node);
    return s->state->form == FORM_HTML && brought(n) &&
           !n->as_list && /* else it is no list, and read no further */
           !s->state->nofollow &&
           s->state->link_count + 8 < person_number(set, SET_MAX_LINKS) &&
           !(skips && has_twin(t, node, s->state));
}

static bool denied_once(const struct truth_robots *r, const char *target)
{
    if (r->ever_unreachable || r->redirected || r->say == ROBOTS_UNSURE)
        return true;
    for (unsigned i = 0; i < r->count; i++)
        if (!plan_robots_allow(r->all[i], target))
            return true;
    return false;
}

bool truth_has_excuse(const struct truth *t, const struct truth_crawl *c,
                      unsigned node)
{
    const struct person_settings *s = &c->run->settings;
    int origin = truth_origin(t, node);
    const struct plan_origin *o = &t->plan->origins[origin];
    bool group = !person_says(s, SET_QUEUE_KEY, "host");
    bool obeys = person_says(s, SET_ROBOTS, "obey");
    bool unreachable = false, outage = false, tls = false;
    unsigned origins = 0;

    if ((o->is_private && person_says(s, SET_ALLOW_PRIVATE, "no")) ||
        (o->bad_port && person_is_default(s, SET_ALLOW_PORT)))
        return true;
    for (unsigned i = 0; i < t->plan->origin_count; i++)
        if (group || strcmp(t->plan->origins[i].name, o->name) == 0) {
            unreachable |= obeys && c->robots[i].ever_unreachable;
            outage |= truth_had_outage(t, c, (int)i, false);
            tls |= truth_had_outage(t, c, (int)i, true);
            origins++;
        }
    /* The URLs of a host that does not respond stay queued, unless it responds
     * at another of its origins, or is not to be trusted. */
    if (unreachable || tls || (outage && origins > 1))
        return true;
    return obeys && denied_once(&c->robots[origin], truth_target(t, node));
}

static void judge_node(struct truth *t, struct truth_crawl *c, unsigned node)
{
    c->nodes[node].must = true;
    /* With 3 it has left what it would have had to wait for. */
    if (c->nodes[node].asked == 0 && c->run->exit_status != 3 &&
        !truth_has_excuse(t, c, node))
        truth_say(t, "never asked %s", truth_url(t, node));
}

/* ---- sitemaps and feeds -------------------------------------------------- */

static bool reads_lists(const struct person_settings *s)
{
    return person_says(s, SET_SITEMAP, "auto") &&
           person_is_default(s, SET_FOLLOW) &&
           person_is_default(s, SET_IGNORE) &&
           person_is_default(s, SET_DEPTH) &&
           !person_says(s, SET_SCOPE, "seed");
}

/* A list that a page links to as to another page may be read as one. */
static bool is_list_alone(const struct truth *t, const struct truth_crawl *c,
                          unsigned node)
{
    if (!t->plan->pages[node].is_list || c->nodes[node].perhaps_given)
        return false;
    for (size_t i = 0; i < c->edge_count; i++)
        if (c->edges[i].to == node && c->edges[i].kind != PLAN_SITEMAP &&
            c->edges[i].kind != PLAN_FEED)
            return false;
    return true;
}

static bool is_linked_as_feed(const struct truth_crawl *c, unsigned node)
{
    for (size_t i = 0; i < c->edge_count; i++)
        if (c->edges[i].to == node && c->edges[i].kind == PLAN_FEED)
            return true;
    return false;
}

/* A robots.txt may name a list anywhere but behind --exclude. --mime is about
 * pages, and a feed is one. */
static bool may_read_list(const struct truth *t, const struct truth_crawl *c,
                          unsigned node)
{
    const struct person_settings *s = &c->run->settings;

    return reads_lists(s) && is_list_alone(t, c, node) &&
           (person_is_default(s, SET_MIME) || !is_linked_as_feed(c, node)) &&
           person_is_default(s, SET_EXCLUDE) &&
           person_is_default(s, SET_MAX_URL_LEN);
}

/* The lists of a seed's origin: those of its robots.txt, and the guess. */
static void begin_with_lists(const struct truth *t, const struct truth_crawl *c,
                             int *depth)
{
    for (unsigned i = 0; i < t->plan->page_count; i++) {
        int origin = t->plan->pages[i].origin;
        const struct truth_robots *r = &c->robots[origin];

        if (!c->nodes[i].given)
            continue;
        for (unsigned k = 0; k < t->plan->page_count; k++)
            if (t->plan->pages[k].origin == origin &&
                strcmp(t->plan->pages[k].target, "/sitemap.xml") == 0 &&
                may_read_list(t, c, k))
                depth[k] = 1;
        for (unsigned k = 0;
             r->say == ROBOTS_SAY_RULES && k < r->rules->sitemap_count; k++)
            if (may_read_list(t, c, r->rules->sitemaps[k]))
                depth[r->rules->sitemaps[k]] = 1;
    }
}

static bool steps_into_list(const struct truth *t, const struct truth_crawl *c,
                            const struct plan_found *f)
{
    return (f->kind == PLAN_SITEMAP || f->kind == PLAN_FEED) && !f->entry &&
           !f->redirect && may_read_list(t, c, (unsigned)f->page) &&
           truth_surely_in_scope(t, c, &c->run->settings, (unsigned)f->page,
                                 false);
}

/* An entry counts at the origin of its list; at others a robots.txt would have
 * to say so. */
static bool steps_out_of_list(const struct truth *t,
                              const struct truth_crawl *c, unsigned from,
                              const struct plan_found *f)
{
    return f->entry && f->kind == PLAN_A &&
           t->plan->pages[from].origin == t->plan->pages[f->page].origin &&
           !t->plan->pages[f->page].is_list &&
           truth_surely_in_scope(t, c, &c->run->settings, (unsigned)f->page,
                                 false);
}

/* Takes one step along a link; true if something is nearer now. */
static bool step(const struct truth *t, const struct truth_crawl *c, int *depth,
                 unsigned from, const struct plan_found *f)
{
    const struct person_settings *s = &c->run->settings;
    int64_t most = person_number(s, SET_DEPTH);
    int to = depth[from] + (f->redirect || f->entry ? 0 : 1);

    if (f->page >= 0 && !f->nofollow && depth[f->page] > to &&
        (steps_into_list(t, c, f) || steps_out_of_list(t, c, from, f))) {
        depth[f->page] = to;
        return true;
    }
    if (f->page < 0 || f->nofollow || f->entry || depth[f->page] <= to ||
        f->kind == PLAN_SITEMAP || f->kind == PLAN_FEED ||
        (!f->redirect && (truth_kinds(s) & BIT(f->kind)) == 0) ||
        t->plan->pages[f->page].is_list || (most >= 0 && to > most) ||
        !truth_surely_in_scope(t, c, s, (unsigned)f->page,
                               f->redirect &&
                                   !person_says(s, SET_SCOPE, "seed") &&
                                   c->nodes[from].given &&
                                   !c->nodes[from].known_before))
        return false;
    depth[f->page] = to;
    return true;
}

static bool step_all(const struct truth *t, const struct truth_crawl *c,
                     int *depth)
{
    bool changed = false;

    for (unsigned i = 0; i < t->plan->page_count; i++) {
        struct plan_found links[PLAN_FOUND];
        struct plan_sight s;
        size_t count;

        if (depth[i] == TRUTH_FAR || !shows_links(t, c, i, &s))
            continue;
        count = plan_links(t->plan, &s, links, PLAN_FOUND);
        for (size_t k = 0; k < count; k++)
            changed |= (!hides_its_body(t, i, &c->nodes[i]) ||
                        plan_is_in_head(&links[k])) &&
                       step(t, c, depth, i, &links[k]);
    }
    return changed;
}

void truth_judge_reach(struct truth *t, unsigned dir)
{
    struct truth_crawl *c = t->crawls[dir];
    const struct person_settings *s = &c->run->settings;
    int depth[PLAN_PAGES];

    if (is_bounded(s) || (!person_is_default(s, SET_DEPTH) && c->was_deep))
        return;
    for (unsigned i = 0; i < PLAN_PAGES; i++)
        depth[i] = i < t->plan->page_count && c->nodes[i].given &&
                           truth_surely_in_scope(t, c, s, i, false)
                       ? 0
                       : TRUTH_FAR;
    begin_with_lists(t, c, depth);
    while (step_all(t, c, depth))
        continue;
    for (unsigned i = 0; i < t->plan->page_count; i++)
        if (depth[i] < TRUTH_FAR)
            judge_node(t, c, i);
}
