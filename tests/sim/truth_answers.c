/* SPDX-License-Identifier: MIT */
/*
 * truth_answers.c - what the commands say agrees with each other, and with what
 * was read.
 *
 * Sums hold at any moment, also after a kill. In the end status, export, explain
 * and audit tell of one crawl, titles are those of the pages as they were read,
 * and pages with the same octets or words are said to be the same.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/truth_impl.h"

static bool is(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

/* ---- sums ---------------------------------------------------------------- */

void truth_judge_sums(struct truth *t, const struct sim_act *status)
{
    const char *s = status->out;
    long urls = truth_number(s, "urls");
    long done = truth_number(s, "fetched") + truth_number(s, "redirects") +
                truth_number(s, "failed") + truth_number(s, "denied") +
                truth_number(s, "skipped");
    long first = truth_number(s, "given") + truth_number(s, "links") +
                 truth_number(s, "returned") - truth_number(s, "duplicates") -
                 truth_number(s, "dropped");
    long stood = truth_number(s, "pages") + truth_number(s, "sitemaps") +
                 truth_number(s, "checked");
    long read = truth_number(s, "fetched") + truth_number(s, "http_errors");

    if (urls != done + truth_number(s, "queued"))
        truth_say(t, "of %ld URLs %ld are done, and %ld queued", urls, done,
                  truth_number(s, "queued"));
    if (urls != first)
        truth_say(t, "%ld URLs, of which %ld are first links", urls, first);
    if (stood != read)
        truth_say(t, "%ld pages and sitemaps, and %ld had a response", stood,
                  read);
}

/* A run that was killed while it asked for something is no clean end, and a run
 * that was not killed is one. */
void truth_judge_state(struct truth *t, size_t status)
{
    const struct sim_act *s = &t->acts[status], *run = NULL;
    bool asked = false;
    char state[20];

    for (size_t i = 0; i < status; i++) {
        if (t->acts[i].dir != s->dir || t->acts[i].kind >= ACT_STATUS)
            continue;
        run = &t->acts[i]; /* or another that writes */
    }
    if (run == NULL || run->fault_hit || s->fault_hit ||
        run->end == END_STOP_TWICE ||
        (run->kind != ACT_CRAWL && run->kind != ACT_RESUME))
        return;
    for (size_t i = 0; i < t->log->count; i++)
        asked = asked || (t->log->at[i].life == run->life &&
                          t->log->at[i].ended_ms == 0);
    truth_field(s->out, "state", state, sizeof state);
    if (run->exit_status < 0
            ? asked && !is(state, "interrupted")
            : run->exit_status != 2 && is(state, "interrupted"))
        truth_say(t, "status says %s after a run that %s", state,
                  run->exit_status < 0 ? "was killed" : "has ended");
}

static long count_of(const char *text, const char *part)
{
    long n = 0;

    for (const char *at = text; (at = strstr(at, part)) != NULL; at++)
        n++;
    return n;
}

void truth_judge_status(struct truth *t, const struct sim_act *status,
                        const struct sim_act *rows)
{
    static const struct {
        const char *counter, *status;
    } sums[] = {{"queued", "queued"},      {"fetched", "fetched"},
                {"redirects", "redirect"}, {"failed", "failed"},
                {"denied", "denied"},      {"skipped", "skipped"}};
    char key[40];

    for (size_t i = 0; i < sizeof sums / sizeof sums[0]; i++) {
        long count, said = truth_number(status->out, sums[i].counter);

        snprintf(key, sizeof key, "\"status\": \"%s\"", sums[i].status);
        count = count_of(rows->out, key);
        if (said != count)
            truth_say(t, "status says %ld %s, and export has %ld", said,
                      sums[i].counter, count);
    }
}

void truth_judge_drops(struct truth *t, const struct sim_act *drops,
                       const struct sim_act *status)
{
    long sum = 0, said = truth_number(status->out, "dropped");

    for (const char *at = drops->out; (at = strstr(at, "\"count\":")) != NULL;
         at++)
        sum += strtol(at + strlen("\"count\":"), NULL, 10);
    if (sum != said)
        truth_say(t, "status says %ld dropped, and export has %ld", said, sum);
}

void truth_judge_audit(struct truth *t, const struct sim_act *audit,
                       const struct sim_act *status)
{
    long fetched = truth_number(audit->out, "fetched");

    if (truth_number(audit->out, "false_negatives") != 0 ||
        truth_number(audit->out, "missing") != 0)
        truth_say(t, "audit: %ld false negatives, %ld missing",
                  truth_number(audit->out, "false_negatives"),
                  truth_number(audit->out, "missing"));
    if (fetched != truth_number(status->out, "fetched"))
        truth_say(t, "audit says %ld fetched, and status %ld", fetched,
                  truth_number(status->out, "fetched"));
}

/* ---- seeds and the exit status ------------------------------------------- */

/* 5, and only 5, says that a seed has failed. A seed fails with the page that
 * it redirects to, too. */
void truth_judge_seeds(struct truth *t, const struct sim_act *run,
                       const struct sim_act *rows, const struct sim_act *status)
{
    long said = truth_number(status->out, "seeds_failed");
    long failed = 0, bad = count_of(rows->out, "\"status\": \"failed\"") +
                           count_of(rows->out, "\"status\": \"denied\"") +
                           count_of(rows->out, "\"status\": \"skipped\"") +
                           count_of(rows->out, "\"reason\": \"redirect_l");

    for (const char *at = rows->out; *at != '\0';) {
        size_t len = strcspn(at, "\n");
        char line[2000], state[16], seed[8];

        snprintf(line, sizeof line, "%.*s", (int)len, at);
        truth_field(line, "status", state, sizeof state);
        truth_field(line, "seed", seed, sizeof seed);
        failed +=
            is(seed, "true") && (is(state, "failed") || is(state, "denied"));
        at += len + (at[len] == '\n');
    }
    if (said < failed || (said > 0 && bad == 0))
        truth_say(t, "%ld seeds have failed, and status says %ld", failed,
                  said);
    if ((run->exit_status == 0 || run->exit_status == 5) &&
        (run->exit_status == 5) != (said > 0))
        truth_say(t, "exit status %d, with %ld seeds that failed",
                  run->exit_status, said);
}

/* ---- explain ------------------------------------------------------------- */

/* What stands behind a word at the beginning of a line; "" if no line has it. */
static void line_value(const char *out, const char *word, char *value,
                       size_t size)
{
    char begin[40];
    const char *at;

    snprintf(begin, sizeof begin, "\n  %s ", word);
    at = strstr(out, begin);
    value[0] = '\0';
    if (at == NULL)
        return;
    at += strlen(begin);
    at += strspn(at, " ");
    snprintf(value, size, "%.*s", (int)strcspn(at, "\n"), at);
}

void truth_judge_explain(struct truth *t, const struct sim_act *explain,
                         const struct sim_act *rows)
{
    const char *url = explain->args[2];
    char key[PLAN_URL + 20], row[16] = "", reason[40] = "", said[40], why[40];
    const char *at;

    snprintf(key, sizeof key, "\"url\": \"%s\"", url);
    at = strstr(rows->out, key);
    if (at != NULL) {
        truth_field(at, "status", row, sizeof row);
        truth_field(at, "reason", reason, sizeof reason);
    }
    line_value(explain->out, "status", said, sizeof said);
    line_value(explain->out, "reason", why, sizeof why);
    if (at != NULL ? !is(said, row) || !is(why, reason)
                   : !is(said, "not admitted") && said[0] != '\0')
        truth_say(t, "explain says that %s is %s %s, and export %s %s", url,
                  said, why, row, reason);
}

/* ---- pages --------------------------------------------------------------- */

struct seen {
    const struct plan_state *state;
    const struct sim_log_entry *entry;
    bool compared; /* for being near another */
    char same_as[8], near[8];
};

/* Asked for once, and read whole, as a page. */
static const struct plan_state *read_once(const struct truth *t,
                                          const struct truth_crawl *c,
                                          unsigned page)
{
    const struct truth_node *n = &c->nodes[page];
    struct plan_sight s;

    if (n->asked != 1 || n->last != n->last_whole || n->last->status != 200 ||
        truth_may_be_lost(&t->acts[n->last_act], n->last))
        return NULL;
    (void)truth_node_of(t, n->last, &s);
    return s.state != NULL && s.state->form == FORM_HTML && s.state->size == 0
               ? s.state
               : NULL;
}

static void judge_title(struct truth *t, const char *url, const char *row,
                        const struct plan_state *s)
{
    char title[40], right[40];

    truth_field(row, "title", title, sizeof title);
    snprintf(right, sizeof right, "Text %u", s->text);
    if (!is(title, right))
        truth_say(t, "%s has the title '%s', and not '%s'", url, title, right);
}

static bool has_twin(const struct truth *t, const struct plan_state *s,
                     unsigned page)
{
    for (unsigned i = 0; i < t->plan->page_count; i++)
        for (unsigned k = 0; i != page && k < t->plan->pages[i].state_count;
             k++)
            if (t->plan->pages[i].states[k].body == s->body)
                return true;
    return false;
}

/* A page that is as it was has the title that it had. (It may have been no page
 * then: some servers say 304 of what has changed.) */
static void judge_title_of_304(struct truth *t, const struct truth_node *n,
                               const char *url, const char *row)
{
    char title[40], mime[40];
    struct plan_sight s;

    if (n->last != n->last_whole || n->last == NULL || n->last->status != 304)
        return;
    (void)truth_node_of(t, n->last, &s);
    truth_field(row, "title", title, sizeof title);
    truth_field(row, "mime", mime, sizeof mime);
    if (s.state != NULL && s.state->form == FORM_HTML && title[0] == '\0' &&
        is(mime, "text/html") && !n->as_list)
        truth_say(t, "%s has lost its title by a 304", url);
}

/* The first of some with one body is that which was stored first, and these
 * may be two whose requests were under way at once. */
static void judge_same(struct truth *t, const struct seen *seen, unsigned page)
{
    const struct seen *a = &seen[page];
    bool body = false, text = false, unsure = false;

    for (unsigned i = 0; i < t->plan->page_count; i++) {
        const struct seen *b = &seen[i];

        if (i == page || b->state == NULL)
            continue;
        if (b->state->text != a->state->text)
            continue;
        if (b->entry->ended_ms + 2000 > a->entry->passed_ms)
            unsure = true;
        else if (b->state->body == a->state->body)
            body = true;
        else
            text = text || b->compared;
    }
    if (a->same_as[0] != '\0' && !has_twin(t, a->state, page))
        truth_say(t, "%s is said to have the body of another page",
                  truth_url(t, page));
    if (unsure)
        return;
    if (body && a->same_as[0] == '\0')
        truth_say(t, "%s is not said to have the body of another page",
                  truth_url(t, page));
    if (a->compared && text && !body && a->near[0] == '\0')
        truth_say(t, "%s is not said to be near another page",
                  truth_url(t, page));
}

void truth_judge_pages(struct truth *t, const struct sim_act *pages)
{
    const struct truth_crawl *c = t->crawls[pages->dir];
    struct seen *seen = calloc(PLAN_PAGES, sizeof *seen);
    bool all = true;

    for (unsigned i = 0; i < t->plan->page_count; i++) {
        char key[PLAN_URL + 20];
        const char *row;

        all = all && c->nodes[i].asked <= 1;
        snprintf(key, sizeof key, "{\"url\": \"%s\"", truth_url(t, i));
        row = strstr(pages->out, key);
        if (row == NULL)
            continue;
        seen[i].state = read_once(t, c, i);
        seen[i].entry = c->nodes[i].last;
        seen[i].compared = seen[i].state != NULL &&
                           person_says(&t->acts[c->nodes[i].last_act].settings,
                                       SET_NEAR_DUP, "report");
        truth_field(row, "same_as", seen[i].same_as, sizeof seen[i].same_as);
        truth_field(row, "near_dup_of", seen[i].near, sizeof seen[i].near);
        judge_title_of_304(t, &c->nodes[i], truth_url(t, i), row);
        if (seen[i].state != NULL)
            judge_title(t, truth_url(t, i), row, seen[i].state);
    }
    for (unsigned i = 0; all && i < t->plan->page_count; i++)
        if (seen[i].state != NULL)
            judge_same(t, seen, i);
    free(seen);
}
