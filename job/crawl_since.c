/* SPDX-License-Identifier: MIT */
/*
 * crawl_since.c - the earlier crawl of --since.
 *
 * Links of an unchanged page are those that the earlier crawl took by its
 * rules, so they are used only if the rules that drop links are the same. What
 * decides which links are read at all is part of the crawl's identity.
 */
#include "job/crawl_since.h"

#include <unistd.h>

#include "base/logger.h"
#include "config/config.h"
#include "frontier/past_crawl.h"
#include "job/settings/settings.h"
#include "job/settings_applied.h"

/* of the engine's memory, one is for the earlier crawl */
#define MEMORY_PARTS 8

/* The settings by which links of a page are taken or not, whatever the crawl
 * has seen. */
static const char *const rules[] = {
    "scope",         "include",           "exclude",    "max-url-len",
    "assets",        "check-external",    "robots",     "drop-params",
    "drop-tracking", "drop-empty-params", "sort-query", "queue-key",
};

/* The name of a rule that differs, or NULL. */
static const char *other_rule(const struct crawl_settings *was,
                              const struct crawl_settings *s)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (!option_equal(&crawl_options.spec[settings_index(rules[i])], was,
                          s))
            return rules[i];
    /* What is in the file now need not be what was in it then. */
    return was->rewrite != NULL || s->rewrite != NULL ? "rewrite" : NULL;
}

/* Why its links may not be used; NULL: they may. */
static const char *why_no_links(struct past_crawl *p,
                                const struct crawl_settings *s)
{
    struct crawl_settings was;
    const char *no = NULL;
    struct buf text;
    enum status st;

    if (!past_crawl_has_links(p))
        return "it has no links (--record links)";
    buf_init(&text, CONFIG_CEILING);
    st = past_crawl_meta(p, "scope_changed", &text);
    if (st == STATUS_OK)
        no = "its scope was changed while it ran";
    else if (past_crawl_meta(p, "settings", &text) != STATUS_OK)
        no = "its settings are not known";
    if (no == NULL) {
        if (!settings_of_note(buf_bytes(&text), s, &was))
            no = "its settings are not known";
        else
            no = other_rule(&was, s);
        settings_fini(&was);
    }
    buf_fini(&text);
    return no;
}

/* Is there a store of this crawl already? */
static bool is_resumed(const struct crawl_settings *s)
{
    char path[4096];
    int n = snprintf(path, sizeof path, "%s/manifest", s->output);

    return n > 0 && (size_t)n < sizeof path && access(path, F_OK) == 0;
}

static void use(struct crawl_setup *c, const struct crawl_settings *s)
{
    struct frontier_options *o = &c->frontier;
    const uint64_t urls = past_crawl_urls(c->past);
    const char *no = why_no_links(c->past, s);

    past_crawl_set_links(c->past, no == NULL);
    o->past = c->past;
    o->store.digest_seed = past_crawl_seed(c->past);
    if (o->store.expect < urls + urls / 8)
        o->store.expect = urls + urls / 8;
    if (past_crawl_is_of_another(c->past))
        log_warn("all pages are asked for in full: the earlier crawl had "
                 "another user agent, or read other things of a page (such as "
                 "follow, assets, sitemap, record meta, near-dup, changed-by, "
                 "noindex, mime)",
                 "since=%s", s->since);
    else if (no != NULL)
        log_warn("pages with links are asked for in full: the links that the "
                 "earlier crawl has cannot be used",
                 "since=%s reason=\"%s\"", s->since, no);
}

enum status crawl_since_open(struct crawl_setup *c,
                             const struct crawl_settings *s, struct buf *why)
{
    uint64_t memory = c->frontier.store.memory / MEMORY_PARTS;
    enum status st;

    if (s->since == NULL)
        return STATUS_OK;
    st = past_crawl_open(&c->past, s->since, memory, why);
    if (st == STATUS_OK)
        st = past_crawl_set_identity(c->past, c->frontier.identity);
    if (st == STATUS_OK) {
        c->frontier.store.memory -= memory;
        use(c, s);
        return STATUS_OK;
    }
    if (why->len == 0)
        buf_add_str(why, status_text(st));
    if (!is_resumed(s))
        return STATUS_ARG;
    log_warn("the earlier crawl cannot be read: what is left is asked for in "
             "full",
             "since=%s reason=\"%s\"", s->since, buf_str(why));
    buf_clear(why);
    return STATUS_OK;
}
