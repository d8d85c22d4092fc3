/* SPDX-License-Identifier: MIT */
/*
 * truth_rows.c - what urlweir says of its URLs, against what was seen of them.
 *
 * After the last run each URL that was asked for has one row of `export`, whose
 * outcome is that of its last response, and the counters of `status` are the
 * sums of the rows.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/truth_impl.h"

struct row {
    char url[PLAN_URL], status[16], reason[32], redirect_to[PLAN_URL];
    char met_at[16], kind[20];
    long http_status, depth;
};

/* The value of a key of a flat object, without its quotes; "" if it is missing
 * or null. The rows of a simulation have nothing to escape. */
void truth_field(const char *line, const char *key, char *out, size_t size)
{
    char quoted[40];
    const char *at;
    size_t len;

    snprintf(quoted, sizeof quoted, "\"%s\":", key);
    at = strstr(line, quoted);
    out[0] = '\0';
    if (at == NULL)
        return;
    at += strlen(quoted);
    at += strspn(at, " ");
    if (strncmp(at, "null", 4) == 0)
        return;
    len = *at == '"' ? strcspn(++at, "\"") : strcspn(at, ",}\n");
    if (len >= size)
        len = size - 1;
    memcpy(out, at, len);
    out[len] = '\0';
}

long truth_number(const char *line, const char *key)
{
    char text[32];

    truth_field(line, key, text, sizeof text);
    return text[0] == '\0' ? -1 : strtol(text, NULL, 10);
}

static void read_row(const char *line, struct row *r)
{
    truth_field(line, "url", r->url, sizeof r->url);
    truth_field(line, "status", r->status, sizeof r->status);
    truth_field(line, "reason", r->reason, sizeof r->reason);
    truth_field(line, "redirect_to", r->redirect_to, sizeof r->redirect_to);
    truth_field(line, "met_at", r->met_at, sizeof r->met_at);
    truth_field(line, "kind", r->kind, sizeof r->kind);
    r->http_status = truth_number(line, "http_status");
    r->depth = truth_number(line, "depth");
}

static bool is(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

/* ---- a row --------------------------------------------------------------- */

static void say_row(struct truth *t, const struct row *r,
                    const struct truth_node *n, const char *what)
{
    truth_say(t, "%s is %s %s (%ld), %s: its last request had %u%s", r->url,
              r->status, r->reason, r->http_status, what,
              n->last != NULL ? n->last->status : 0,
              n->last == NULL                 ? ", there was none"
              : n->last->end == SIM_LOG_WHOLE ? ""
                                              : ", and broke off");
}

/* With --cookies those of the seeds' sites open it; a page behind it may lead
 * to itself all the same. */
static void judge_wall(struct truth *t, const struct truth_crawl *c,
                       const struct row *r, int origin, const char *own_to)
{
    if (!is(r->reason, "redirect_loop") || is(r->redirect_to, own_to) ||
        !person_says(&c->run->settings, SET_COOKIES, "yes"))
        return;
    for (unsigned i = 0; i < t->plan->page_count; i++)
        if (c->nodes[i].given && t->plan->pages[i].origin == origin) {
            truth_say(t, "%s is a loop, with cookies", r->url);
            return;
        }
}

static void judge_redirect(struct truth *t, const struct truth_crawl *c,
                           const struct row *r, const struct truth_node *n)
{
    struct plan_sight s;
    struct plan_found to = {.url = ""};

    (void)truth_node_of(t, n->last, &s);
    if (s.state != NULL && s.state->form == FORM_REDIRECT)
        (void)plan_links(t->plan, &s, &to, 1);
    if (truth_by_wall(t, n->last))
        judge_wall(t, c, r, s.origin, to.url);
    else if (to.url[0] != '\0' && !is(r->redirect_to, to.url))
        truth_say(t, "%s leads to %s, said to be %s", r->url, to.url,
                  r->redirect_to);
}

/* A page that is asked again keeps its outcome until all tries are over, and a
 * run may end before. */
static bool may_be_older(const struct truth *t, const struct truth_crawl *c,
                         const struct truth_node *n)
{
    bool again = !person_says(&c->run->settings, SET_REFRESH, "off");

    for (size_t i = 0; i < t->act_count; i++)
        again = again || person_did(&t->acts[i], ACT_REFRESH);
    return again && (n->last != n->last_whole || n->last->status >= 400);
}

/* As it was asked for last, by the settings of then. */
static void judge_noindex(struct truth *t, const struct row *r,
                          const struct truth_node *n)
{
    const struct sim_act *a = &t->acts[n->last_act];
    struct plan_sight s;

    if (n->last != n->last_whole || n->last->status != 200)
        return;
    (void)truth_node_of(t, n->last, &s);
    if (s.state != NULL && s.state->form == FORM_HTML && s.state->noindex &&
        person_says(&a->settings, SET_NOINDEX, "skip") && !n->as_list)
        say_row(t, r, n, "and says noindex");
}

static bool was_unreachable(const struct truth *t, const struct truth_crawl *c,
                            int origin)
{
    const struct truth_robots *b = &c->robots[origin];

    return b->ever_unreachable || b->redirected ||
           truth_had_outage(t, c, origin, false);
}

/* No more than one request is lost in each kill, and none is saved. */
static void judge_tries(struct truth *t, const struct truth_crawl *c,
                        const struct row *r, const struct truth_node *n)
{
    int64_t least = INT64_MAX;

    for (size_t i = n->tried_since; i < t->act_count; i++)
        if (t->acts[i].dir == c->run->dir && t->acts + i <= c->run &&
            person_number(&t->acts[i].settings, SET_TRIES) < least)
            least = person_number(&t->acts[i].settings, SET_TRIES);
    /* A robots.txt in vain is a try of the URL it was asked for. */
    if (n->tries < least &&
        !was_unreachable(t, c,
                         plan_origin_of(t->plan, n->last->scheme, n->last->host,
                                        n->last->port)))
        truth_say(t, "%s is failed %s after %u of %ld tries", r->url, r->reason,
                  n->tries, (long)least);
}

/* Its last two responses had the same octets, and were read alike. */
static void judge_unchanged(struct truth *t, const struct row *r,
                            const struct truth_node *n)
{
    const struct sim_act *a = &t->acts[n->before_act];
    struct plan_sight before, last;

    if (n->before == NULL || n->last != n->last_full || n->as_list ||
        truth_may_be_lost(a, n->before))
        return;
    for (size_t i = n->before_act; i <= n->full_act; i++)
        if (t->acts[i].dir == a->dir &&
            (t->acts[i].fault_hit || person_did(&t->acts[i], ACT_RETRY) ||
             truth_reads_again(&a->settings, &t->acts[i].settings)))
            return;
    (void)truth_node_of(t, n->before, &before);
    (void)truth_node_of(t, n->last, &last);
    if (before.state != NULL && before.state == last.state &&
        before.state->form == FORM_HTML && before.state->size == 0)
        say_row(t, r, n, "and has not changed");
}

static void judge_fetched(struct truth *t, const struct truth_crawl *c,
                          const struct row *r, const struct truth_node *n)
{
    const struct sim_log_entry *e = n->last;
    bool plain = is(r->reason, "") || is(r->reason, "unchanged") ||
                 is(r->reason, "link_count");

    if (e != NULL && (may_be_older(t, c, n) ||
                      truth_may_be_lost(truth_act_of_life(t, e->life), e)))
        return;
    if (e == NULL || (plain && e->end != SIM_LOG_WHOLE) ||
        r->http_status != (long)e->status)
        say_row(t, r, n, "which cannot be");
    else if (is(r->reason, "") && e->status != 200)
        say_row(t, r, n, "which was no page");
    else if (is(r->reason, ""))
        judge_unchanged(t, r, n);
    judge_noindex(t, r, n);
}

static void judge_failed(struct truth *t, const struct truth_crawl *c,
                         const struct row *r, const struct truth_node *n)
{
    const struct sim_log_entry *e = n->last;

    if ((e != NULL && may_be_older(t, c, n)) || !is(r->met_at, "") ||
        is(r->reason, "stuck"))
        return;
    /* The log does not have requests that nobody received. */
    if (is(r->reason, "dns") || is(r->reason, "connect") ||
        is(r->reason, "tls"))
        return;
    if (e == NULL)
        say_row(t, r, n, "but was never asked");
    else if (strncmp(r->reason, "http_5", 6) == 0 || is(r->reason, "reset"))
        judge_tries(t, c, r, n);
    if (e == NULL)
        return;
    if (strncmp(r->reason, "http_", 5) == 0
            ? strtol(r->reason + 5, NULL, 10) != (long)e->status ||
                  e->end == SIM_LOG_UNDER_WAY
            : e->end == SIM_LOG_WHOLE)
        say_row(t, r, n, "which is another failure");
}

static void judge_denied(struct truth *t, const struct truth_crawl *c,
                         const struct row *r, unsigned node)
{
    int origin = truth_origin(t, node);
    const struct truth_robots *b = &c->robots[origin];
    bool could = was_unreachable(t, c, origin);

    for (unsigned i = 0; i < b->count; i++)
        could = could || !plan_robots_allow(b->all[i], truth_target(t, node));
    if (!could)
        truth_say(t, "%s is denied %s, by no robots.txt", r->url, r->reason);
}

static void judge_skipped(struct truth *t, const struct row *r, unsigned node,
                          const struct truth_node *n)
{
    const struct plan_origin *o = &t->plan->origins[truth_origin(t, node)];

    if ((is(r->reason, "address") && !o->is_private) ||
        (is(r->reason, "port") && !o->bad_port) ||
        ((is(r->reason, "mime") || is(r->reason, "noindex")) &&
         n->last == NULL))
        say_row(t, r, n, "for no reason");
}

/* A link of the row's kind has led there, or a redirect from one. */
static void judge_kind(struct truth *t, const struct truth_crawl *c,
                       const struct row *r, unsigned node)
{
    unsigned kind = 0;

    while (kind < PLAN_LINK_KINDS &&
           !is(r->kind, plan_link_kind_name((enum plan_link_kind)kind)))
        kind++;
    for (size_t i = 0; i < c->edge_count; i++)
        if (c->edges[i].to == node &&
            (c->edges[i].kind == kind || c->edges[i].redirect ||
             c->edges[i].entry))
            return;
    if (kind < PLAN_LINK_KINDS && !c->nodes[node].as_list)
        truth_say(t, "%s has kind %s, and there is no such link", r->url,
                  r->kind);
}

static void judge_row(struct truth *t, const struct truth_crawl *c,
                      const struct row *r, unsigned node)
{
    const struct truth_node *n = &c->nodes[node];
    bool done = c->run->exit_status == 0 || c->run->exit_status == 5;

    if (r->depth < n->depth)
        truth_say(t, "%s has depth %ld, and is %d from a seed", r->url,
                  r->depth, n->depth);
    judge_kind(t, c, r, node);
    if (!done)
        return;
    if (is(r->status, "queued"))
        say_row(t, r, n, "and the crawl has ended");
    else if (is(r->status, "fetched"))
        judge_fetched(t, c, r, n);
    else if (is(r->status, "failed"))
        judge_failed(t, c, r, n);
    else if (is(r->status, "denied"))
        judge_denied(t, c, r, node);
    else if (is(r->status, "skipped"))
        judge_skipped(t, r, node, n);
    else if (is(r->status, "redirect")) {
        if (n->last != NULL && may_be_older(t, c, n))
            return;
        if (n->last == NULL || n->last->status / 100 != 3)
            say_row(t, r, n, "which cannot be");
        else
            judge_redirect(t, c, r, n);
    }
}

static int node_of_url(const struct truth *t, const char *url)
{
    for (unsigned i = 0; i < t->plan->page_count; i++)
        if (is(t->plan->pages[i].url, url))
            return (int)i;
    return -1;
}

void truth_judge_rows(struct truth *t, const struct sim_act *a)
{
    struct truth_crawl *c = t->crawls[a->dir];
    bool has_row[PLAN_PAGES] = {false};

    for (const char *at = a->out; *at != '\0';) {
        size_t len = strcspn(at, "\n");
        struct row r;
        int node;

        if (len > 0 && len < 4000) {
            char line[4001];

            memcpy(line, at, len);
            line[len] = '\0';
            read_row(line, &r);
            node = node_of_url(t, r.url);
            if (node >= 0 && has_row[node])
                truth_say(t, "%s has two rows", r.url);
            if (node >= 0) {
                has_row[node] = c->nodes[node].had_row = true;
                judge_row(t, c, &r, (unsigned)node);
            }
        }
        at += len + (at[len] == '\n');
    }
    /* A kill may take a URL with the page that showed it, which need not be asked
     * again by the settings of now. */
    for (unsigned i = 0; i < t->plan->page_count; i++)
        if (c->nodes[i].asked > 0 && !has_row[i] && c->run->exit_status != 2 &&
            (c->nodes[i].had_row ||
             !truth_may_be_lost(&t->acts[c->nodes[i].last_asked_act],
                                c->nodes[i].last)))
            truth_say(t, "%s was asked for, and is forgotten", truth_url(t, i));
}
