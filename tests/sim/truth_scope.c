/* SPDX-License-Identifier: MIT */
/* truth_scope.c - what settings permit, said as plainly as the manual has it.
 */
#include <regex.h>
#include <stdio.h>
#include <string.h>

#include "tests/sim/truth_impl.h"

#define BIT(kind) (UINT32_C(1) << (kind))
#define ASSETS                                                                 \
    (BIT(PLAN_IMG) | BIT(PLAN_CSS) | BIT(PLAN_SCRIPT) | BIT(PLAN_MEDIA) |      \
     BIT(PLAN_SRCSET))

static bool lists(const char *list, const char *word)
{
    size_t len = strlen(word);

    for (const char *at = list; at != NULL && *at != '\0';) {
        if (strncmp(at, word, len) == 0 && (at[len] == ',' || at[len] == '\0'))
            return true;
        at = strchr(at, ',');
        if (at != NULL)
            at++;
    }
    return false;
}

uint32_t truth_kinds(const struct person_settings *s)
{
    uint32_t kinds = 0;

    for (unsigned k = 0; k < PLAN_LINK_KINDS; k++) {
        const char *name = plan_link_kind_name((enum plan_link_kind)k);
        bool asset = (ASSETS & BIT(k)) && !person_says(s, SET_ASSETS, "off");

        if ((lists(person_value(s, SET_FOLLOW), name) || asset) &&
            !lists(person_value(s, SET_IGNORE), name))
            kinds |= BIT(k);
    }
    if (!person_says(s, SET_SITEMAP, "off"))
        kinds |= BIT(PLAN_SITEMAP) | BIT(PLAN_FEED);
    return kinds;
}

const char *truth_url(const struct truth *t, unsigned node)
{
    static char text[PLAN_URL];
    unsigned m = node - PLAN_PAGES;

    if (node < PLAN_PAGES)
        return t->plan->pages[node].url;
    snprintf(text, sizeof text, "%s/cal?m=%u",
             t->plan->origins[m / TRUTH_MONTHS].prefix, m % TRUTH_MONTHS);
    return text;
}

int truth_origin(const struct truth *t, unsigned node)
{
    return node < PLAN_PAGES ? t->plan->pages[node].origin
                             : (int)((node - PLAN_PAGES) / TRUTH_MONTHS);
}

const char *truth_target(const struct truth *t, unsigned node)
{
    return truth_url(t, node) +
           strlen(t->plan->origins[truth_origin(t, node)].prefix);
}

/* The expressions of the settings mean the same to POSIX and PCRE2. */
static bool is_found(const char *regex, const char *url)
{
    regex_t r;
    bool found;

    if (regcomp(&r, regex, REG_EXTENDED | REG_NOSUB) != 0)
        return false;
    found = regexec(&r, url, 0, NULL, 0) == 0;
    regfree(&r);
    return found;
}

/* http and https on their usual ports are one. */
static bool is_same_host(const struct plan_origin *a,
                         const struct plan_origin *b)
{
    bool usual_a = a->port == 80 || a->port == 443;
    bool usual_b = b->port == 80 || b->port == 443;

    return strcmp(a->name, b->name) == 0 &&
           (a->port == b->port || (usual_a && usual_b));
}

/* The path up to its last slash. */
static size_t directory(const char *target)
{
    size_t end = strcspn(target, "?");

    while (end > 0 && target[end - 1] != '/')
        end--;
    return end;
}

static bool is_of_seed(const struct truth *t, const char *scope, unsigned seed,
                       unsigned node)
{
    const struct plan_origin *a = &t->plan->origins[truth_origin(t, seed)];
    const struct plan_origin *b = &t->plan->origins[truth_origin(t, node)];
    char of_seed[PLAN_URL];

    if (strcmp(scope, "domain") == 0)
        return a->domain == b->domain;
    if (strcmp(scope, "host") == 0)
        return is_same_host(a, b);
    if (strcmp(scope, "prefix") != 0)
        return false;
    snprintf(of_seed, sizeof of_seed, "%s", truth_target(t, seed));
    return is_same_host(a, b) &&
           strncmp(of_seed, truth_target(t, node), directory(of_seed)) == 0;
}

static bool is_in_place(const struct truth *t, const struct truth_crawl *c,
                        const char *scope, bool surely, unsigned node)
{
    if (strcmp(scope, "any") == 0 || c->nodes[node].given ||
        (c->nodes[node].seed && !surely))
        return true;
    for (unsigned i = 0; i < t->plan->page_count; i++)
        if ((surely ? c->nodes[i].given : c->nodes[i].seed) &&
            is_of_seed(t, scope, i, node))
            return true;
    return false;
}

bool truth_in_scope(const struct truth *t, const struct truth_crawl *c,
                    const struct person_settings *s, unsigned node)
{
    const struct truth_node *n = &c->nodes[node];
    const char *include = person_value(s, SET_INCLUDE);
    const char *exclude = person_value(s, SET_EXCLUDE);
    const char *url = truth_url(t, node);
    bool asset = n->as_asset && person_says(s, SET_ASSETS, "all");

    /* Whoever gives a seed is not asked whether it belongs to the crawl. */
    if (n->perhaps_given)
        return true;
    return (exclude[0] == '\0' || !is_found(exclude, url)) &&
           (n->as_list || asset || include[0] == '\0' ||
            is_found(include, url)) &&
           strlen(url) <= (size_t)person_number(s, SET_MAX_URL_LEN) &&
           (n->as_list || asset ||
            is_in_place(t, c, person_value(s, SET_SCOPE), false, node));
}

bool truth_surely_in_scope(const struct truth *t, const struct truth_crawl *c,
                           const struct person_settings *s, unsigned node,
                           bool placed)
{
    const char *include = person_value(s, SET_INCLUDE);
    const char *exclude = person_value(s, SET_EXCLUDE);
    const char *url = truth_url(t, node);

    return (exclude[0] == '\0' || !is_found(exclude, url)) &&
           (include[0] == '\0' || is_found(include, url)) &&
           strlen(url) <= (size_t)person_number(s, SET_MAX_URL_LEN) &&
           (placed ||
            is_in_place(t, c, person_value(s, SET_SCOPE), true, node));
}

/* A name that one of its origins has lost, all of them have. */
bool truth_had_outage(const struct truth *t, const struct truth_crawl *c,
                      int origin, bool of_tls)
{
    const struct plan_origin *o = &t->plan->origins[origin], *k;
    int64_t end_ms =
        c->run->began_at_ms + (c->run->ended_ms - c->run->began_ms);

    for (k = t->plan->origins; k < t->plan->origins + t->plan->origin_count;
         k++)
        for (unsigned i = 0; i < k->outage_count; i++) {
            const struct plan_outage *w = &k->outages[i];
            bool counts = k == o ? !of_tls || w->fate == SIM_BAD_TLS
                                 : !of_tls && w->fate == SIM_NO_NAME &&
                                       strcmp(k->name, o->name) == 0;

            if (counts && w->from_ms <= end_ms && w->to_ms >= c->made_at_ms)
                return true;
        }
    return false;
}
