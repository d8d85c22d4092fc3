/* SPDX-License-Identifier: MIT */
/*
 * truth_replay.c - the log of requests against what was known and permitted.
 *
 * For each request there must be a reason: a seed, or a response before it that
 * has shown the URL, by a link of a kind that is or was followed. And nothing
 * may stand against it: the settings of the run, its robots.txt as it was read
 * last, an address or a port that is not to be asked.
 *
 * What is known here is as much as can be: responses that broke off count as if
 * they had been read, so a request for what only they have shown is no finding.
 */
#include <string.h>

#include "tests/sim/truth_impl.h"

#define MINUTE_MS INT64_C(60000)
#define DAY_MS    (24 * 60 * MINUTE_MS)
#define BIT(kind) (UINT32_C(1) << (kind))
#define ASSETS                                                                 \
    (BIT(PLAN_IMG) | BIT(PLAN_CSS) | BIT(PLAN_SCRIPT) | BIT(PLAN_MEDIA) |      \
     BIT(PLAN_SRCSET) | BIT(PLAN_IFRAME)) /* what a page is shown with */

int truth_node_of(const struct truth *t, const struct sim_log_entry *e,
                  struct plan_sight *out)
{
    int origin = plan_origin_of(t->plan, e->scheme, e->host, e->port);

    *out = plan_look(t->plan, origin, e->target, e->at_ms);
    if (out->what == PLAN_ROBOTS_TXT)
        return -1;
    if (out->what == PLAN_PAGE)
        return out->page;
    if (out->what == PLAN_CALENDAR && out->month < TRUTH_MONTHS)
        return PLAN_PAGES + origin * TRUTH_MONTHS + (int)out->month;
    return -2;
}

/* ---- what is known ------------------------------------------------------- */

/* What leads on from a node that is nearer now is nearer, too. */
static void spread(struct truth_crawl *c)
{
    bool changed = true;

    while (changed) {
        changed = false;
        for (size_t i = 0; i < c->edge_count; i++) {
            const struct truth_edge *e = &c->edges[i];
            const struct truth_node *a = &c->nodes[e->from];
            struct truth_node *b = &c->nodes[e->to];
            int depth = a->depth + (e->redirect || e->entry ? 0 : 1);
            bool asset =
                (ASSETS & BIT(e->kind)) != 0 || (e->redirect && a->as_asset);
            bool seed = e->redirect && a->seed;
            bool list = e->redirect && a->as_list;
            int hops = e->redirect ? a->hops + 1 : 0;

            if (a->depth == TRUTH_FAR || (c->kinds & BIT(e->kind)) == 0)
                continue;
            if (depth >= b->depth && (!asset || b->as_asset) &&
                (!seed || b->seed) && (!list || b->as_list) && hops >= b->hops)
                continue;
            if (depth < b->depth)
                b->depth = depth;
            if (hops < b->hops)
                b->hops = hops;
            b->as_asset = b->as_asset || asset;
            b->seed = b->seed || seed;
            b->as_list = b->as_list || list;
            changed = true;
        }
    }
}

static void add_edge(struct truth_crawl *c, unsigned from, unsigned to,
                     const struct plan_found *f)
{
    struct truth_edge e = {(uint16_t)from, (uint16_t)to, (uint8_t)f->kind,
                           f->redirect, f->entry};

    /* Where a redirect leads is followed whatever the kinds. */
    if (f->redirect || f->entry)
        e.kind = PLAN_LINK_KINDS;
    for (size_t i = 0; i < c->edge_count; i++)
        if (memcmp(&c->edges[i], &e, sizeof e) == 0)
            return;
    if (c->edge_count < TRUTH_EDGES)
        c->edges[c->edge_count++] = e;
}

static int node_of_found(const struct truth *t, const struct plan_found *f)
{
    for (int i = 0; i < (int)t->plan->origin_count; i++) {
        struct plan_sight s;
        size_t len = strlen(t->plan->origins[i].prefix);

        if (f->page >= 0)
            return f->page;
        if (strncmp(f->url, t->plan->origins[i].prefix, len) != 0 ||
            f->url[len] != '/')
            continue;
        s = plan_look(t->plan, i, f->url + len, SIM_START_MS);
        if (s.what == PLAN_CALENDAR && s.month < TRUTH_MONTHS)
            return PLAN_PAGES + i * TRUTH_MONTHS + (int)s.month;
    }
    return -1;
}

/* A 304 has its head alone, and the nofollow of a page in its body does not
 * hold for that. */
static void show_links(struct truth *t, struct truth_crawl *c, unsigned node,
                       const struct plan_sight *s, unsigned status)
{
    struct plan_found links[PLAN_FOUND];
    size_t count = plan_links(t->plan, s, links, PLAN_FOUND);
    bool nofollow =
        s->state != NULL && s->state->nofollow && s->state->form == FORM_HTML;

    if (nofollow && (status != 304 || s->state->in_header))
        return;
    for (size_t i = 0; i < count; i++) {
        int to = node_of_found(t, &links[i]);

        if (to >= 0 && !links[i].nofollow &&
            (!nofollow || plan_is_in_head(&links[i]))) {
            c->nodes[to].entry = c->nodes[to].entry || links[i].entry;
            add_edge(c, node, (unsigned)to, &links[i]);
            if (links[i].kind == PLAN_SITEMAP || links[i].kind == PLAN_FEED ||
                (s->state != NULL && s->state->form == FORM_INDEX))
                c->nodes[to].as_list = true;
        }
    }
}

/* A 304 shows what the page had when it was read, here or in the earlier
 * crawl. */
static void show_links_of_before(struct truth *t, struct truth_crawl *c,
                                 unsigned node)
{
    struct truth_crawl *old = t->crawls[0];

    if (c == old)
        return;
    for (size_t i = 0; i < old->edge_count; i++)
        if (old->edges[i].from == node && c->edge_count < TRUTH_EDGES)
            c->edges[c->edge_count++] = old->edges[i];
}

/* `surely`: it is stored, and not just may be. */
static void give_seed(struct truth *t, struct truth_crawl *c, const char *url,
                      bool surely)
{
    /* With --sitemap only it stands in for the seed. */
    int guess =
        c->run != NULL && person_says(&c->run->settings, SET_SITEMAP, "only")
            ? 0
            : 1;

    for (unsigned i = 0; i < t->plan->page_count; i++)
        if (strcmp(t->plan->pages[i].url, url) == 0) {
            if (!c->nodes[i].seed && c->nodes[i].depth < TRUTH_FAR)
                c->nodes[i].known_before = true;
            c->nodes[i].seed = true;
            c->nodes[i].given = c->nodes[i].given || surely;
            c->nodes[i].perhaps_given = true;
            c->nodes[i].depth = c->nodes[i].hops = 0;
        }
    /* The sitemap that is guessed at its host. */
    for (unsigned i = 0; i < t->plan->page_count; i++)
        for (unsigned k = 0; k < t->plan->page_count; k++)
            if (c->nodes[k].seed &&
                t->plan->pages[k].origin == t->plan->pages[i].origin &&
                strcmp(t->plan->pages[i].target, "/sitemap.xml") == 0) {
                c->nodes[i].as_list = true;
                c->nodes[i].hops = 0;
                if (c->nodes[i].depth > guess)
                    c->nodes[i].depth = guess;
            }
}

/* ---- robots.txt ---------------------------------------------------------- */

static void read_robots(struct truth_crawl *c, const struct sim_log_entry *e,
                        const struct plan_sight *s)
{
    struct truth_robots *r = &c->robots[s->robots_of];
    bool first = strcmp(e->target, "/robots.txt") == 0;

    if (r->unreachable_since_ms == 0)
        r->unreachable_since_ms = e->at_ms;
    if (first && r->redirected) /* its hop did not come */
        r->ever_unreachable = true;
    r->tried_ms = e->passed_ms;
    r->tried_jumped_ms = e->jumped_ms;
    if (e->end != SIM_LOG_WHOLE) {
        r->say = e->status == 200 ? ROBOTS_UNSURE : ROBOTS_UNREACHABLE;
        r->ever_unreachable = true;
    } else if (first && e->status / 100 == 3) {
        r->redirected = true; /* and its hop comes next */
        r->say = ROBOTS_UNREACHABLE;
    } else if (e->status == 200) {
        r->say = ROBOTS_SAY_RULES;
        r->redirected = r->once_allowed = false;
        r->before = r->rules;
        r->rules = s->robots;
        if (r->count < 16)
            r->all[r->count++] = s->robots;
        for (unsigned i = 0; i < s->robots->sitemap_count; i++) {
            struct truth_node *n = &c->nodes[s->robots->sitemaps[i]];

            n->as_list = true;
            n->hops = 0;
            if (n->depth > 1)
                n->depth = 1;
        }
    } else if (e->status == 429 || e->status >= 500) {
        r->say = ROBOTS_UNREACHABLE;
        r->ever_unreachable = true;
    } else {
        r->say = ROBOTS_ALLOW_ALL;
        r->once_allowed = true;
    }
    if (r->say == ROBOTS_SAY_RULES || r->say == ROBOTS_ALLOW_ALL)
        r->unreachable_since_ms = 0;
}

/* From when on the origin may have been out of reach: the log does not have
 * requests that nobody received. */
static int64_t unreachable_since(const struct truth *t,
                                 const struct truth_crawl *c, int origin)
{
    int64_t since = c->robots[origin].unreachable_since_ms;

    for (size_t k = 0; k < t->plan->origin_count; k++) {
        const struct plan_origin *o = &t->plan->origins[k];
        bool of_name = strcmp(o->name, t->plan->origins[origin].name) == 0;

        for (unsigned i = 0; i < o->outage_count; i++)
            if (((int)k == origin
                     ? o->outages[i].fate != SIM_ANSWERS
                     : of_name && o->outages[i].fate == SIM_NO_NAME) &&
                o->outages[i].from_ms < since)
                since = o->outages[i].from_ms;
    }
    return since > c->made_at_ms ? since : c->made_at_ms;
}

/* An older copy that allows all is as good as one with rules; and after 30 days
 * without a response nobody waits for one. */
static bool may_ask_anyway(const struct truth *t, const struct truth_crawl *c,
                           const struct sim_log_entry *e, int origin)
{
    const struct truth_robots *r = &c->robots[origin];

    return r->once_allowed ||
           e->at_ms - unreachable_since(t, c, origin) + e->jumped_ms >=
               30 * DAY_MS;
}

/* It is renewed after a day; what came of that is not in the log if nobody could
 * be asked. */
static void judge_age(struct truth *t, const struct truth_crawl *c,
                      const struct sim_log_entry *e, int origin)
{
    const struct truth_robots *r = &c->robots[origin];

    if (e->passed_ms > r->tried_ms + DAY_MS + MINUTE_MS &&
        e->jumped_ms == r->tried_jumped_ms &&
        !truth_had_outage(t, c, origin, false))
        truth_say(t, "asked %s%s by a robots.txt that is %d hours old",
                  t->plan->origins[origin].prefix, e->target,
                  (int)((e->passed_ms - r->tried_ms) / (DAY_MS / 24)));
}

static void judge_robots(struct truth *t, const struct truth_crawl *c,
                         const struct sim_log_entry *e, int origin)
{
    const struct truth_robots *r = &c->robots[origin];
    bool several = !person_says(&c->run->settings, SET_CONNS_PER_HOST, "1");
    bool out_of_reach =
        r->say == ROBOTS_UNREACHABLE ||
        (r->say == ROBOTS_NOT_ASKED && truth_had_outage(t, c, origin, false));

    if (!person_says(&c->run->settings, SET_ROBOTS, "obey") ||
        r->say == ROBOTS_UNSURE ||
        (out_of_reach && may_ask_anyway(t, c, e, origin)))
        return;
    if (r->say == ROBOTS_SAY_RULES || r->say == ROBOTS_ALLOW_ALL)
        judge_age(t, c, e, origin);
    if (r->say == ROBOTS_NOT_ASKED)
        truth_say(t, "asked %s%s before its robots.txt",
                  t->plan->origins[origin].prefix, e->target);
    else if ((r->say == ROBOTS_SAY_RULES ||
              (r->say == ROBOTS_UNREACHABLE && r->rules != NULL)) &&
             !plan_robots_allow(r->rules, e->target) &&
             !(several && r->before != NULL &&
               plan_robots_allow(r->before, e->target)))
        truth_say(t, "asked %s%s, which its robots.txt denies",
                  t->plan->origins[origin].prefix, e->target);
    else if (r->say == ROBOTS_UNREACHABLE && r->rules == NULL && !several)
        truth_say(t, "asked %s%s, whose robots.txt was unreachable",
                  t->plan->origins[origin].prefix, e->target);
}

/* ---- a request ----------------------------------------------------------- */

static bool permits(const struct truth *t, const struct truth_crawl *c,
                    const struct person_settings *s, int node)
{
    int64_t depth = person_number(s, SET_DEPTH);
    const struct truth_node *n = &c->nodes[node];

    return truth_in_scope(t, c, s, (unsigned)node) &&
           (depth < 0 || n->depth <= depth ||
            (n->as_asset && person_says(s, SET_ASSETS, "all")));
}

static void judge_permission(struct truth *t, const struct truth_crawl *c,
                             unsigned node, const struct person_settings *s)
{
    const struct truth_node *n = &c->nodes[node];
    const char *url = truth_url(t, node);
    int64_t depth = person_number(s, SET_DEPTH);
    bool asset = n->as_asset && person_says(s, SET_ASSETS, "all");

    if (n->depth == TRUTH_FAR)
        truth_say(t, "asked %s, which nothing had shown", url);
    else if (!truth_in_scope(t, c, s, node))
        truth_say(t, "asked %s, which is out of scope", url);
    else if (depth >= 0 && n->depth > depth && !asset)
        truth_say(t, "asked %s, whose depth is %d", url, n->depth);
    else if (n->hops > c->redirects_most)
        truth_say(t, "asked %s, after %d redirects", url, n->hops);
}

static void note_request(const struct truth *t, struct truth_crawl *c,
                         unsigned node, const struct sim_log_entry *e)
{
    struct truth_node *n = &c->nodes[node];

    n->asked++;
    n->last = e;
    n->last_asked_act = c->run_number;
    if (e->end == SIM_LOG_WHOLE) {
        n->last_whole = e;
        n->last_act = c->run_number;
    }
    if (e->end == SIM_LOG_WHOLE && e->status == 200) {
        n->before = n->last_full;
        n->before_act = n->full_act;
        n->last_full = e;
        n->full_act = c->run_number;
    }
    truth_note_page(t, c, node, e);
}

static void replay_request(struct truth *t, struct truth_crawl *c,
                           const struct sim_log_entry *e)
{
    struct plan_sight s;
    int node = truth_node_of(t, e, &s);
    const struct plan_origin *o =
        s.origin >= 0 ? &t->plan->origins[s.origin] : NULL;
    const struct person_settings *set = &c->run->settings;

    if (o == NULL) {
        truth_say(t, "asked %s://%s:%u%s, on no host of this web", e->scheme,
                  e->host, e->port, e->target);
        return;
    }
    if (o->is_private && person_says(set, SET_ALLOW_PRIVATE, "no"))
        truth_say(t, "asked %s%s, at a private address", o->prefix, e->target);
    if (o->bad_port && person_is_default(set, SET_ALLOW_PORT))
        truth_say(t, "asked %s%s, at a port that is blocked", o->prefix,
                  e->target);
    truth_judge_pace(t, c, e, &s);
    if (node == -1) {
        read_robots(c, e, &s);
        return;
    }
    if (node < 0) {
        if (strcmp(e->target, "/sitemap.xml") != 0 && s.what != PLAN_CALENDAR)
            truth_say(t, "asked %s%s, which nothing had shown", o->prefix,
                      e->target);
        return;
    }
    /* Either will do if they have changed meanwhile. */
    judge_permission(t, c, (unsigned)node,
                     c->run->is_set && permits(t, c, &c->run->set_to, node)
                         ? &c->run->set_to
                         : set);
    judge_robots(t, c, e, s.origin);
    truth_judge_again(t, c, (unsigned)node, e);
    truth_judge_limits(t, c, (unsigned)node, e);
    note_request(t, c, (unsigned)node, e);
    if (e->status == 304) {
        show_links_of_before(t, c, (unsigned)node);
        show_links(t, c, (unsigned)node, &s, 304);
    } else if (e->status >= 200 && e->status < 400)
        show_links(t, c, (unsigned)node, &s, e->status);
    spread(c);
}

/* ---- an act -------------------------------------------------------------- */

static void forget(struct truth_crawl *c)
{
    memset(c, 0, sizeof *c);
    for (unsigned i = 0; i < TRUTH_NODES; i++)
        c->nodes[i].depth = c->nodes[i].hops = TRUTH_FAR;
}

static bool is_run(const struct sim_act *a)
{
    return a->kind == ACT_CRAWL || a->kind == ACT_RESUME;
}

static void give_seeds(struct truth *t, struct truth_crawl *c,
                       const struct sim_act *a, bool surely)
{
    for (unsigned i = 0; i < a->seed_count && a->exit_status != 1; i++)
        give_seed(t, c, a->seeds[i], surely);
}

/* A run that ended so had all seeds in its store. */
static bool is_begun(const struct sim_act *a)
{
    return a->exit_status == 0 || (a->exit_status >= 3 && a->exit_status <= 5);
}

/* Seeds that are given while it runs count from its beginning on, but not as the
 * nearest way to their pages. */
static void give_steered(struct truth *t, struct truth_crawl *c,
                         const struct sim_act *a)
{
    for (unsigned i = 0; i < a->steering.count; i++) {
        const struct sim_steer *s = &a->steering.at[i];

        if (s->verb == STEER_SEED && s->asked_ms > 0) {
            give_seed(t, c, s->what, s->done);
            for (unsigned k = 0; k < t->plan->page_count; k++)
                if (strcmp(t->plan->pages[k].url, s->what) == 0)
                    c->nodes[k].known_before = true;
        }
    }
}

/* Takes what was done to hosts before request `e`, NULL: at all, from number
 * *next on. */
static void steer(struct truth *t, struct truth_crawl *c,
                  const struct sim_log_entry *e, unsigned *next)
{
    for (; *next < c->run->steering.count; ++*next) {
        const struct sim_steer *s = &c->run->steering.at[*next];

        if (e != NULL && s->asked_ms > e->passed_ms)
            return;
        if (s->asked_ms > 0 &&
            (s->verb == STEER_BLOCK || s->verb == STEER_DELAY ||
             s->verb == STEER_LIMIT))
            truth_steer_host(t, c, s);
    }
}

/* It is made only if nothing of an earlier one is there. */
static bool was_made(const struct truth *t, const struct sim_act *a)
{
    if (a->exit_status != 2)
        return true;
    for (size_t i = 0; i < t->log->count; i++)
        if (t->log->at[i].life == a->life)
            return true; /* and failed later */
    return false;
}

void truth_replay_act(struct truth *t, size_t number)
{
    const struct sim_act *a = &t->acts[number];
    struct truth_crawl *c = t->crawls[a->dir];
    unsigned steered = 0;

    if (a->kind == ACT_CRAWL && was_made(t, a)) {
        if (c->is_kept)
            truth_say(t, "crawl c%u is gone", a->dir);
        forget(c);
        c->made_by = a;
        c->made_at_ms = a->began_at_ms;
    }
    if (is_run(a))
        c->run = a;
    give_seeds(t, c, a, a->kind == ACT_SEED && a->exit_status == 0);
    if (is_run(a) && c->made_by != NULL && is_begun(a))
        give_seeds(t, c, c->made_by, true);
    if (a->kind == ACT_BLOCK)
        truth_block(t, c, a);
    if (!is_run(a))
        return;
    c->run = a;
    c->run_number = number;
    give_steered(t, c, a);
    /* Redirects and entries (kind PLAN_LINK_KINDS) always count. */
    c->kinds |= truth_kinds(&a->settings) | BIT(PLAN_LINK_KINDS);
    if (person_number(&a->settings, SET_MAX_REDIRECTS) > c->redirects_most)
        c->redirects_most = (int)person_number(&a->settings, SET_MAX_REDIRECTS);
    c->was_deep = c->was_deep || person_is_default(&a->settings, SET_DEPTH);
    spread(c);
    c->is_kept = c->is_kept || (is_begun(a) && !a->fault_hit);
    for (size_t i = 0; i < t->log->count; i++)
        if (t->log->at[i].life == a->life || a->shards > 0) {
            steer(t, c, &t->log->at[i], &steered);
            replay_request(t, c, &t->log->at[i]);
            c->is_kept = c->is_kept || !truth_may_be_lost(a, &t->log->at[i]);
        }
    steer(t, c, NULL, &steered);
    for (unsigned i = 0; i < t->plan->origin_count; i++)
        if (c->robots[i].redirected)
            c->robots[i].ever_unreachable = true;
    truth_judge_run(t, c, a);
}
