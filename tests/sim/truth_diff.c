/* SPDX-License-Identifier: MIT */
/*
 * truth_diff.c - what `diff` says of two crawls, against what they have met.
 *
 * Only of pages that both crawls have asked for once, and read whole and as HTML,
 * is anything demanded: they have changed if, and only if, they say something else.
 */
#include <stdio.h>
#include <string.h>

#include "tests/sim/truth_impl.h"

/* Were pages to be asked for again that have been read? The log does not have
 * requests that nobody received. */
static bool was_asked_again(const struct truth *t, unsigned dir)
{
    for (size_t i = 0; i < t->act_count; i++)
        if (t->acts[i].dir == dir && (person_did(&t->acts[i], ACT_REFRESH) ||
                                      person_did(&t->acts[i], ACT_RETRY)))
            return true;
    return false;
}

/* The state of a page that a crawl has read last; NULL: it is not sure. */
static const struct plan_state *read_last(const struct truth *t,
                                          const struct truth_crawl *c,
                                          unsigned node)
{
    const struct truth_node *n = &c->nodes[node];
    struct plan_sight s;

    if (c->run == NULL || n->last == NULL || n->asked != 1 ||
        n->last != n->last_whole || n->last->status != 200 ||
        (c->run->exit_status != 0 && c->run->exit_status != 5) ||
        !person_says(&c->run->settings, SET_REFRESH, "off") ||
        was_asked_again(t, c->run->dir))
        return NULL;
    (void)truth_node_of(t, n->last, &s);
    return s.state != NULL && s.state->form == FORM_HTML &&
                   s.state->size == 0 && !s.state->noindex
               ? s.state
               : NULL;
}

static bool follows(const char *out, const char *at, const char *text)
{
    size_t len = strlen(text);

    return (size_t)(at - out) >= len && strncmp(at - len, text, len) == 0;
}

/* The line of `url` among those of a kind, NULL: none. */
static const char *line_of(const char *out, const char *kind, const char *url)
{
    size_t len = strlen(url);
    char before[60];

    snprintf(before, sizeof before, "{\"kind\": \"%s\", \"url\": \"", kind);
    for (const char *at = out; (at = strstr(at, url)) != NULL; at++)
        if (at[len] == '"' && follows(out, at, before))
            return at;
    return NULL;
}

/* Does the line say that body or text is another one? */
static bool says_content(const char *line)
{
    const char *what = line != NULL ? strstr(line, "\"what\": \"") : NULL;
    size_t end = line != NULL ? strcspn(line, "\n") : 0;

    if (what == NULL || (size_t)(what - line) > end)
        return false;
    what += strlen("\"what\": \"");
    end = strcspn(what, "\"");
    for (size_t i = 0; i + 4 <= end; i++)
        if (strncmp(what + i, "body", 4) == 0 ||
            strncmp(what + i, "text", 4) == 0)
            return true;
    return false;
}

void truth_judge_diff(struct truth *t, const struct sim_act *a)
{
    for (unsigned i = 0; i < t->plan->page_count; i++) {
        const struct plan_state *old = read_last(t, t->crawls[0], i);
        const struct plan_state *new = read_last(t, t->crawls[1], i);
        const char *url = truth_url(t, i);
        bool differs;

        if (old == NULL || new == NULL)
            continue;
        differs = says_content(line_of(a->out, "changed", url));
        if (old->text != new->text && !differs)
            truth_say(t, "diff does not say that %s has changed", url);
        if (old == new &&differs)
            truth_say(t, "diff says that %s has changed", url);
        if (line_of(a->out, "new", url) != NULL ||
            line_of(a->out, "gone", url) != NULL)
            truth_say(t, "diff says that %s is in one crawl only", url);
    }
}
