/* SPDX-License-Identifier: MIT */
/*
 * sitemap_lines.c - the sitemaps that a robots.txt names.
 *
 * sitemaps.org requires absolute URLs; we resolve a relative one against the
 * file. `example.org/sitemap.xml`, which lacks a scheme alone, is told from a
 * path by its first segment: a name with a dot whose last label could be a
 * top-level domain. Sitemaps have depth 1, as if the origin's start page linked
 * to them, and so have their entries: --depth 0 fetches no sitemap.
 */
#include "crawler/sitemap_lines.h"

#include "base/ascii.h"
#include "crawler/html/links.h"
#include "crawler/outlinks.h"
#include "crawler/report.h"

/* For the texts of a robots.txt of at most ROBOTS_READ_MOST. */
#define LINES_MEMORY (2 * ROBOTS_READ_MOST)

static bool is_label_char(char c)
{
    return ascii_is_alnum(c) || c == '-' || c == '_' || c == '.' ||
           (unsigned char)c >= 0x80;
}

static bool begins_with_host(struct bytes s)
{
    size_t n = 0, top = 0;

    for (; n < s.len && is_label_char(s.at[n]); n++)
        top = s.at[n] == '.'                        ? 1
              : top > 0 && !ascii_is_digit(s.at[n]) ? top + 1
                                                    : top;
    return top > 2 && n < s.len && (s.at[n] == '/' || s.at[n] == ':');
}

/* The URL of line `i`; the caller frees it with url_fini. */
static bool line_url(const struct candidate_rules *of,
                     const struct robots *rules, size_t i,
                     const struct url *robots, struct url *out)
{
    struct bytes text = robots_sitemap(rules, i);
    struct buf whole;
    bool ok;

    if (!begins_with_host(text))
        return candidate_read(of, out, text, robots) == URL_OK;
    buf_init(&whole, URL_LENGTH_CEILING);
    buf_add_str(&whole, "//");
    buf_add_bytes(&whole, text);
    ok = buf_failed(&whole) == STATUS_OK &&
         candidate_read(of, out, buf_bytes(&whole), robots) == URL_OK;
    buf_fini(&whole);
    return ok;
}

static bool robots_url(struct bytes origin, struct url *out)
{
    struct buf text;
    bool ok;

    buf_init(&text, URL_LENGTH_CEILING);
    buf_add_bytes(&text, origin);
    buf_add_str(&text, "/robots.txt");
    ok = url_canonical(out, buf_bytes(&text), NULL, NULL) == URL_OK;
    buf_fini(&text);
    return ok;
}

/* `robots`: the URL of the file. */
static enum outcome_reason judge_line(const struct fetcher_options *o,
                                      const struct url *robots,
                                      const struct url *u,
                                      struct engine_item *like)
{
    if (!o->find_sitemaps)
        return REASON_KIND;
    if (!scope_has_host(o->rules.scope, robots))
        return REASON_SCOPE;
    return candidate_take(&o->rules, u, like);
}

static void add_line(const struct fetcher_options *o, struct outlinks *f,
                     const struct url *robots, const struct url *u)
{
    struct engine_item like = {.depth = 1, .kind = LINK_SITEMAP};
    enum outcome_reason no = judge_line(o, robots, u, &like);

    if (no != REASON_NONE)
        outlinks_drop(f, no, u, &like, 0);
    else
        outlinks_add(f, &like);
}

void sitemap_lines_report(const struct fetcher_options *o,
                          const struct engine_lease *l, struct bytes origin,
                          const struct robots *rules, struct report *r)
{
    size_t count = rules != NULL ? robots_sitemap_count(rules) : 0;
    struct arena *arena = count > 0 ? report_arena(r) : NULL;
    struct url robots, u;
    struct outlinks f = {0};

    if (count == 0)
        return;
    url_init(&robots);
    url_init(&u);
    outlinks_begin(&f, l, arena, arena_used(arena) + LINES_MEMORY);
    if (robots_url(origin, &robots)) {
        for (size_t i = 0; i < count && i < SITEMAP_LINES_MOST; i++) {
            if (line_url(&o->rules, rules, i, &robots, &u))
                add_line(o, &f, &robots, &u);
        }
        if (count > SITEMAP_LINES_MOST)
            outlinks_overflow(&f);
    }
    outlinks_hand_over(&f, &r->done);
    outlinks_fini(&f);
    url_fini(&u);
    url_fini(&robots);
}

bool sitemap_lines_name(const struct candidate_rules *of,
                        const struct robots *rules, struct bytes origin,
                        struct bytes url)
{
    size_t count = robots_sitemap_count(rules);
    struct url robots, u;
    bool named = false;

    url_init(&robots);
    url_init(&u);
    if (robots_url(origin, &robots))
        for (size_t i = 0; !named && i < count; i++)
            named = line_url(of, rules, i, &robots, &u) &&
                    bytes_equal(url_text(&u), url);
    url_fini(&u);
    url_fini(&robots);
    return named;
}
