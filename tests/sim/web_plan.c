/* SPDX-License-Identifier: MIT */
/*
 * web_plan.c - what stands where in the web of a seed, and when.
 *
 * Most of a web is plain, since a crawl that meets nothing but trouble gets
 * nowhere: two origins in three have no outage, three pages in five never
 * change. What happens has two paces: some of it in the first minutes, while a
 * first crawl runs, the rest on some day of the next weeks, between the acts of
 * a person.
 */
#include "tests/sim/web_plan.h"

#include <stdio.h>
#include <string.h>

#include "tests/sim/dice.h"

#define MINUTE INT64_C(60000)
#define HOUR   (60 * MINUTE)
#define DAY    (24 * HOUR)

static const char *const kind_names[PLAN_LINK_KINDS] = {
    [PLAN_A] = "a",
    [PLAN_AREA] = "area",
    [PLAN_IFRAME] = "iframe",
    [PLAN_LINK] = "link",
    [PLAN_CANONICAL] = "canonical",
    [PLAN_ALTERNATE] = "alternate",
    [PLAN_FEED] = "feed",
    [PLAN_SITEMAP] = "sitemap",
    [PLAN_META_REFRESH] = "meta-refresh",
    [PLAN_IMG] = "img",
    [PLAN_CSS] = "css",
    [PLAN_SCRIPT] = "script",
    [PLAN_MEDIA] = "media",
    [PLAN_SRCSET] = "srcset",
    [PLAN_HEADER] = "header",
};

const char *plan_link_kind_name(enum plan_link_kind k)
{
    return kind_names[k];
}

/* In the first five minutes, or on one of the next forty days. */
static int64_t some_moment(struct dice *d)
{
    return SIM_START_MS + (dice_chance(d, 50)
                               ? dice_between(d, 2000, 5 * MINUTE)
                               : dice_between(d, 10 * MINUTE, 40 * DAY));
}

/* ---- origins ------------------------------------------------------------- */

static const struct {
    const char *name, *scheme, *address;
    unsigned port, domain;
    bool is_private, bad_port;
} places[] = {
    {"www.one.example", "http", "93.184.10.1", 80, 0, false, false},
    {"docs.one.example", "http", "93.184.10.2", 80, 0, false, false},
    {"two.example", "https", "93.184.10.3", 443, 1, false, false},
    {"www.one.example", "https", "93.184.10.1", 443, 0, false, false},
    {"shop.three.example", "http", "93.184.10.2", 80, 2, false, false},
    {"www.one.example", "http", "93.184.10.1", 8080, 0, false, false},
    {"inside.one.example", "http", "10.0.0.7", 80, 0, true, false},
    {"xn--bcher-kva.example", "https", "93.184.10.4", 443, 3, false, false},
    {"two.example", "http", "93.184.10.3", 6000, 1, false, true},
    {"four.example", "http", "93.184.10.5", 80, 4, false, false},
};

static void make_outages(struct plan_origin *o, bool first, struct dice *d)
{
    static const enum sim_fate fates[] = {SIM_ANSWERS, SIM_ANSWERS,
                                          SIM_ANSWERS, SIM_REFUSED,
                                          SIM_SILENT,  SIM_MUTE,
                                          SIM_RESET,   SIM_NO_NAME,
                                          SIM_BAD_TLS};

    o->outage_count = 0;
    if (!dice_chance(d, first ? 20 : 35))
        return;
    o->outage_count = (uint8_t)(1 + dice_below(d, PLAN_OUTAGES));
    for (unsigned i = 0; i < o->outage_count; i++) {
        struct plan_outage *w = &o->outages[i];

        *w = (struct plan_outage){
            .from_ms = dice_chance(d, 20) ? SIM_START_MS : some_moment(d),
            .fate = fates[dice_below(d, 9)],
            .status = dice_chance(d, 70) ? 503 : 429,
            .retry_after_s =
                dice_chance(d, 50) ? (int32_t)dice_between(d, 1, 400) : -1,
            .as_date = dice_chance(d, 40),
        };
        w->to_ms =
            w->from_ms + (dice_chance(d, 60) ? dice_between(d, 1000, 4 * MINUTE)
                                             : dice_between(d, HOUR, 35 * DAY));
        if (w->fate == SIM_BAD_TLS && strcmp(o->scheme, "https") != 0)
            w->fate = SIM_REFUSED;
    }
}

static void make_origin(struct plan *p, size_t i, struct dice *d)
{
    struct plan_origin *o = &p->origins[i];
    bool usual = strcmp(places[i].scheme, "http") == 0 ? places[i].port == 80
                                                       : places[i].port == 443;

    *o = (struct plan_origin){
        .scheme = places[i].scheme,
        .port = (uint16_t)places[i].port,
        .domain = (uint8_t)places[i].domain,
        .address = places[i].address,
        .is_private = places[i].is_private,
        .bad_port = places[i].bad_port,
        .first_ms = (int32_t)(dice_chance(d, 80) ? dice_between(d, 1, 60)
                                                 : dice_between(d, 100, 3000)),
        .ms_per_kib =
            (int32_t)(dice_chance(d, 85) ? 0 : dice_between(d, 1, 40)),
        .limit = (uint16_t)(dice_chance(d, 12) ? dice_between(d, 4, 30) : 0),
        .limit_retry_s =
            (int32_t)(dice_chance(d, 60) ? dice_between(d, 1, 90) : -1),
        .wall = dice_chance(d, 7),
        .months = (uint16_t)(dice_chance(d, 92)   ? 0
                             : dice_chance(d, 75) ? 25
                                                  : 300),
    };
    snprintf(o->name, sizeof o->name, "%s", places[i].name);
    if (usual)
        snprintf(o->prefix, sizeof o->prefix, "%s://%s", places[i].scheme,
                 places[i].name);
    else
        snprintf(o->prefix, sizeof o->prefix, "%s://%s:%u", places[i].scheme,
                 places[i].name, places[i].port);
    make_outages(o, i == 0, d);
}

/* ---- robots.txt ---------------------------------------------------------- */

static void make_rule(struct plan_rule *r, struct dice *d)
{
    static const char *const patterns[] = {"/d1/",   "/d2/",     "/d3/",
                                           "/d1/p",  "/*.html$", "/*?",
                                           "/cal",   "/d2/p1",   "/d*/p2",
                                           "/d3/*/", "/d1/p3$",  "/*s"};

    r->allow = dice_chance(d, 35);
    snprintf(r->path, sizeof r->path, "%s",
             dice_chance(d, 4) ? "/" : patterns[dice_below(d, 12)]);
}

static void make_robots_form(struct plan *p, struct plan_robots *r, int origin,
                             struct dice *d)
{
    static const uint16_t statuses[] = {404, 404, 404, 404, 403,
                                        410, 500, 503, 429};
    unsigned form = dice_below(d, 100);

    r->form = ROBOTS_RULES;
    if (form < 25) {
        r->form = ROBOTS_STATUS;
        r->status = statuses[dice_below(d, 9)];
    } else if (form < 33) {
        r->form = ROBOTS_REDIRECT;
        r->redirect_origin =
            (uint8_t)(dice_chance(d, 60)
                          ? (unsigned)origin
                          : dice_below(d, (unsigned)p->origin_count));
        if (p->origins[r->redirect_origin].is_private ||
            p->origins[r->redirect_origin].bad_port)
            r->redirect_origin = (uint8_t)origin;
    } else if (form < 35)
        r->form = ROBOTS_RESET;
    else if (form < 36)
        r->form = ROBOTS_MUTE;
}

/* The rules are made for every form: a redirect leads to a file that has
 * them. */
static void make_robots(struct plan *p, int origin, struct dice *d)
{
    struct plan_origin *o = &p->origins[origin];
    int64_t from = 0;

    o->robots_count = (uint8_t)(dice_chance(d, 70) ? 1 : 2 + dice_below(d, 2));
    for (unsigned i = 0; i < o->robots_count; i++) {
        struct plan_robots *r = &o->robots[i];

        *r = (struct plan_robots){.from_ms = from,
                                  .crawl_delay_ms = -1,
                                  .max_age_s = -1};
        make_robots_form(p, r, origin, d);
        r->rule_count = (uint8_t)(dice_chance(d, 50) ? 0 : dice_below(d, 5));
        for (unsigned k = 0; k < r->rule_count; k++)
            make_rule(&r->rules[k], d);
        r->by_name = dice_chance(d, 30);
        if (dice_chance(d, 20))
            r->crawl_delay_ms = (int32_t)dice_between(d, 1, 9) *
                                (dice_chance(d, 20) ? 100 : 1000);
        if (dice_chance(d, 15))
            r->max_age_s = (int32_t)dice_between(d, 0, 2 * 24 * 3600);
        from = some_moment(d);
        if (i > 0 && from <= r->from_ms)
            from = r->from_ms + HOUR;
    }
}

/* ---- pages --------------------------------------------------------------- */

static void set_url(const struct plan *p, struct plan_page *g)
{
    char url[PLAN_URL];

    snprintf(url, sizeof url, "%s%s", p->origins[g->origin].prefix, g->target);
    memcpy(g->url, url, sizeof url);
}

static void name_page(struct plan *p, size_t i, struct dice *d)
{
    static const struct {
        const char *before, *after; /* the number of the page */
    } shapes[] = {{"p", ""},
                  {"p", ""},
                  {"p", ".html"},
                  {"p", "/"},
                  {"?id=", ""},
                  {"caf%E9/p", ""},
                  {"%C3%BC-p", ""},
                  {"s/a%20b/p", ""},
                  {"P", ";v=1?a=1&b="},
                  {"/p", "?q=%26x"},
                  {"a-name-of-some-length-for-a-page/p", ""}};
    unsigned shape;
    struct plan_page *g = &p->pages[i];

    g->dir = (uint8_t)dice_below(d, 4);
    if (i == 0) {
        g->origin = 0;
        g->dir = 0;
        snprintf(g->target, sizeof g->target, "/");
    } else {
        g->origin = (uint8_t)(dice_chance(d, 55)
                                  ? 0
                                  : dice_below(d, (unsigned)p->origin_count));
        shape = dice_below(d, 11);
        snprintf(g->target, sizeof g->target, "/d%u/%s%zu%s", (unsigned)g->dir,
                 shapes[shape].before, i, shapes[shape].after);
    }
    set_url(p, g);
}

static enum plan_form some_form(struct dice *d)
{
    unsigned n = dice_below(d, 100);

    return n < 60   ? FORM_HTML
           : n < 72 ? FORM_REDIRECT
           : n < 80 ? FORM_STATUS
           : n < 83 ? FORM_PLAIN
           : n < 86 ? FORM_IMAGE
           : n < 88 ? FORM_SHEET
           : n < 90 ? FORM_PDF
           : n < 92 ? FORM_RESET
           : n < 93 ? FORM_CUT
           : n < 94 ? FORM_MUTE
                    : FORM_HTML;
}

static enum plan_link_kind some_kind(struct dice *d)
{
    return dice_chance(d, 65)
               ? PLAN_A
               : (enum plan_link_kind)dice_below(d, PLAN_LINK_KINDS);
}

static void add_link(struct plan *p, struct plan_state *s, size_t to,
                     enum plan_link_kind kind, struct dice *d)
{
    bool may_nofollow = kind == PLAN_A || kind == PLAN_AREA;

    if (p->link_count == PLAN_LINKS)
        return;
    for (unsigned i = 0; i < s->link_count; i++)
        if (p->links[s->first_link + i].kind == kind &&
            (kind == PLAN_META_REFRESH || kind == PLAN_CANONICAL))
            kind = PLAN_A;
    p->links[p->link_count++] =
        (struct plan_link){.to = (uint16_t)to,
                           .kind = (uint8_t)kind,
                           .spelling = (uint8_t)dice_below(d, 6),
                           .nofollow = may_nofollow && dice_chance(d, 6)};
    s->link_count++;
}

/* Lists name lists with their own kinds of links only, pages rarely. */
static size_t some_target(const struct plan *p, enum plan_link_kind kind,
                          struct dice *d)
{
    bool list = kind == PLAN_SITEMAP || kind == PLAN_FEED;
    size_t to = dice_below(d, (unsigned)p->page_count);

    for (unsigned k = 0; k < 60 && p->pages[to].is_list != list; k++)
        to = dice_below(d, (unsigned)p->page_count);
    return to;
}

static void make_links(struct plan *p, size_t page, struct plan_state *s,
                       struct dice *d)
{
    bool first = page == 0;
    unsigned n = first ? 6 + dice_below(d, 6) : dice_below(d, 9);

    s->first_link = (uint16_t)p->link_count;
    s->link_count = 0;
    if (s->form == FORM_REDIRECT) {
        add_link(p, s, some_target(p, PLAN_A, d), PLAN_A, d);
        return;
    }
    if (s->form == FORM_STATUS || s->form == FORM_RESET ||
        s->form == FORM_MUTE || s->form == FORM_IMAGE || s->form == FORM_PDF ||
        s->form == FORM_SHEET)
        return;
    for (unsigned k = 0; k < n; k++) {
        enum plan_link_kind kind = some_kind(d);
        bool list = s->form == FORM_SITEMAP || s->form == FORM_FEED;

        if (s->form == FORM_INDEX)
            kind = PLAN_SITEMAP;
        else if (list || (first && k < 4))
            kind = PLAN_A;
        add_link(p, s, some_target(p, kind, d), kind, d);
    }
}

static void make_state(struct plan *p, size_t page, struct plan_state *s,
                       enum plan_form form, struct dice *d)
{
    static const uint16_t statuses[] = {404, 404, 404, 410, 403, 500, 503, 429};

    s->form = (uint8_t)form;
    s->status = form == FORM_STATUS ? statuses[dice_below(d, 8)]
                : form == FORM_REDIRECT
                    ? (uint16_t[]){301, 302, 303, 307, 308}[dice_below(d, 5)]
                    : 200;
    s->size = dice_chance(d, 8) ? (uint32_t)dice_between(d, 3000, 150000) : 0;
    s->noindex = form == FORM_HTML && dice_chance(d, 6);
    s->nofollow = form == FORM_HTML && page > 0 && dice_chance(d, 5);
    s->in_header = dice_chance(d, 50);
    make_links(p, page, s, d);
}

/* A page may be the twin of an earlier one of its origin: the same octets at
 * another URL; or nearly. */
static void make_twin(struct plan *p, size_t page, struct dice *d)
{
    struct plan_page *g = &p->pages[page];
    size_t of = dice_below(d, (unsigned)page + 1);
    const struct plan_state *s = &p->pages[of].states[0];

    if (of == page || p->pages[of].origin != g->origin ||
        s->form != FORM_HTML || of == 0)
        return;
    g->states[0] = *s;
    g->states[0].from_ms = 0;
    g->latin = p->pages[of].latin;
    if (dice_chance(d, 50))
        g->states[0].body += 500000; /* another octet, and the same text */
}

static void make_page(struct plan *p, size_t page, struct dice *d)
{
    struct plan_page *g = &p->pages[page];
    int64_t from = 0;

    g->validators = (uint8_t)dice_below(d, 6);
    g->coding = dice_chance(d, 15)  ? CODING_GZIP
                : dice_chance(d, 4) ? CODING_FALSE
                                    : CODING_NONE;
    g->latin = dice_chance(d, 12);
    g->state_count = (uint8_t)(dice_chance(d, 60) ? 1 : 2 + dice_below(d, 2));
    for (unsigned i = 0; i < g->state_count; i++) {
        struct plan_state *s = &g->states[i];
        enum plan_form form = page == 0 ? FORM_HTML : some_form(d);

        if (g->is_list && (i == 0 || dice_chance(d, 70)))
            form = g->states[0].form; /* as make_lists() has set it */
        *s = (struct plan_state){.from_ms = from};
        make_state(p, page, s, form, d);
        s->body = s->text = (uint32_t)(page * PLAN_STATES + i + 1);
        /* Another octet in a comment, the same text and links. */
        if (i > 0 && form == FORM_HTML && s[-1].form == FORM_HTML &&
            dice_chance(d, 30)) {
            s->text = s[-1].text;
            s->first_link = s[-1].first_link;
            s->link_count = s[-1].link_count;
        }
        from = some_moment(d);
        if (from <= s->from_ms)
            from = s->from_ms + HOUR;
    }
    if (!g->is_list && dice_chance(d, 10))
        make_twin(p, page, d);
    /* It appears on a day of its own; before, there is nothing. */
    if (page > 0 && dice_chance(d, 8))
        g->states[0].from_ms =
            g->state_count == 1 ? some_moment(d) : g->states[1].from_ms - HOUR;
}

/* The last pages of a web are its lists. */
static void make_lists(struct plan *p, struct dice *d)
{
    size_t n = dice_chance(d, 60) ? 1 + dice_below(d, 4) : 0;

    for (size_t i = p->page_count - n; i < p->page_count; i++) {
        struct plan_page *g = &p->pages[i];
        enum plan_form form = dice_chance(d, 60)   ? FORM_SITEMAP
                              : dice_chance(d, 50) ? FORM_INDEX
                                                   : FORM_FEED;

        g->is_list = true;
        g->states[0].form = (uint8_t)form;
        snprintf(g->target, sizeof g->target,
                 i + 1 == p->page_count && dice_chance(d, 60) ? "/sitemap.xml"
                                                              : "/list-%zu.xml",
                 i);
        if (i + 1 == p->page_count && dice_chance(d, 70))
            g->origin = 0;
        set_url(p, g);
    }
}

static void name_sitemaps(struct plan *p, struct dice *d)
{
    for (size_t i = 0; i < p->origin_count; i++)
        for (unsigned k = 0; k < p->origins[i].robots_count; k++) {
            struct plan_robots *r = &p->origins[i].robots[k];
            size_t page = some_target(p, PLAN_SITEMAP, d);

            if (p->pages[page].is_list && dice_chance(d, 50) &&
                p->pages[page].states[0].form != FORM_FEED)
                r->sitemaps[r->sitemap_count++] = (uint16_t)page;
        }
}

void plan_make(struct plan *p, uint64_t seed)
{
    struct dice d = dice_of(seed, "web");

    memset(p, 0, sizeof *p);
    p->seed = seed;
    p->origin_count = 1 + dice_below(&d, PLAN_ORIGINS);
    p->page_count =
        10 + (dice_chance(&d, 70) ? dice_below(&d, 25) : dice_below(&d, 71));
    for (size_t i = 0; i < p->origin_count; i++)
        make_origin(p, i, &d);
    for (size_t i = 0; i < p->origin_count; i++)
        make_robots(p, (int)i, &d);
    for (size_t i = 0; i < p->page_count; i++)
        name_page(p, i, &d);
    make_lists(p, &d);
    for (size_t i = 0; i < p->page_count; i++)
        make_page(p, i, &d);
    name_sitemaps(p, &d);
}

/* ---- what stands where --------------------------------------------------- */

int plan_origin_of(const struct plan *p, const char *scheme, const char *host,
                   unsigned port)
{
    for (size_t i = 0; i < p->origin_count; i++) {
        const struct plan_origin *o = &p->origins[i];

        if (strcmp(o->scheme, scheme) == 0 && strcmp(o->name, host) == 0 &&
            o->port == port)
            return (int)i;
    }
    return -1;
}

const struct plan_outage *plan_outage_at(const struct plan_origin *o,
                                         int64_t at_ms)
{
    for (unsigned i = 0; i < o->outage_count; i++)
        if (at_ms >= o->outages[i].from_ms && at_ms < o->outages[i].to_ms)
            return &o->outages[i];
    return NULL;
}

const struct plan_robots *plan_robots_at(const struct plan_origin *o,
                                         int64_t at_ms)
{
    unsigned i = o->robots_count;

    while (i > 1 && o->robots[i - 1].from_ms > at_ms)
        i--;
    return i > 0 ? &o->robots[i - 1] : NULL;
}

static const struct plan_state *state_at(const struct plan_page *g,
                                         int64_t at_ms)
{
    unsigned i = g->state_count;

    while (i > 0 && g->states[i - 1].from_ms > at_ms)
        i--;
    return i > 0 ? &g->states[i - 1] : NULL;
}

int64_t plan_changed_ms(const struct plan_state *s)
{
    return s->from_ms > 0 ? s->from_ms / 1000 * 1000 : SIM_START_MS - 100 * DAY;
}

struct plan_sight plan_look(const struct plan *p, int origin,
                            const char *target, int64_t at_ms)
{
    struct plan_sight s = {.what = PLAN_NOTHING, .origin = origin, .page = -1};
    const struct plan_origin *o = origin >= 0 ? &p->origins[origin] : NULL;
    char end;

    if (o == NULL)
        return s;
    if (strcmp(target, "/robots.txt") == 0) {
        s.what = PLAN_ROBOTS_TXT;
        s.robots = plan_robots_at(o, at_ms);
        s.robots_of = origin;
        return s;
    }
    if (strlen(target) < 20 &&
        sscanf(target, "/robots-of-%d.tx%c", &s.robots_of, &end) == 2 &&
        s.robots_of >= 0 && s.robots_of < (int)p->origin_count) {
        s.what = PLAN_ROBOTS_TXT;
        s.robots = plan_robots_at(&p->origins[s.robots_of], at_ms);
        return s;
    }
    if (strlen(target) < 16 &&
        sscanf(target, "/cal?m=%u%c", &s.month, &end) == 1 &&
        s.month < o->months) {
        s.what = PLAN_CALENDAR;
        return s;
    }
    for (size_t i = 0; i < p->page_count; i++)
        if (p->pages[i].origin == origin &&
            strcmp(p->pages[i].target, target) == 0) {
            s.what = PLAN_PAGE;
            s.page = (int)i;
            s.state = state_at(&p->pages[i], at_ms);
            return s;
        }
    return s;
}

/* One page in three of a calendar's origin leads into it, and each month on. */
static void add_month(const struct plan *p, int origin, unsigned month,
                      struct plan_found *f)
{
    *f = (struct plan_found){.kind = PLAN_A, .page = -1};
    snprintf(f->url, sizeof f->url, "%s/cal?m=%u", p->origins[origin].prefix,
             month);
}

static void add_page(const struct plan *p, size_t page, struct plan_found *f)
{
    *f = (struct plan_found){.kind = PLAN_A, .page = (int)page};
    snprintf(f->url, sizeof f->url, "%s", p->pages[page].url);
}

bool plan_is_in_head(const struct plan_found *f)
{
    return !f->redirect && !f->entry &&
           (f->kind == PLAN_HEADER ||
            (f->kind == PLAN_META_REFRESH && f->spelling % 2 == 1));
}

size_t plan_links(const struct plan *p, const struct plan_sight *s,
                  struct plan_found *out, size_t room)
{
    size_t n = 0;

    if (s->what == PLAN_CALENDAR && room >= 3) {
        if (s->month + 1 < p->origins[s->origin].months)
            add_month(p, s->origin, s->month + 1, &out[n++]);
        if (s->month > 0)
            add_month(p, s->origin, s->month - 1, &out[n++]);
        add_page(p,
                 dice_mix(p->seed + (uint64_t)s->origin * 1000 + s->month) %
                     p->page_count,
                 &out[n++]);
    }
    if (s->what != PLAN_PAGE || s->state == NULL)
        return n;
    for (unsigned i = 0; i < s->state->link_count && n < room; i++) {
        const struct plan_link *l = &p->links[s->state->first_link + i];
        struct plan_found *f = &out[n++];
        enum plan_form form = (enum plan_form)s->state->form;

        add_page(p, l->to, f);
        f->kind = (enum plan_link_kind)l->kind;
        f->spelling = l->spelling;
        f->nofollow = l->nofollow && form != FORM_REDIRECT &&
                      form != FORM_SITEMAP && form != FORM_INDEX &&
                      form != FORM_FEED;
        f->redirect = form == FORM_REDIRECT;
        f->entry =
            form == FORM_SITEMAP || form == FORM_INDEX || form == FORM_FEED;
    }
    if (s->state->form == FORM_HTML && p->origins[s->origin].months > 0 &&
        s->state->text % 3 == 1 && n < room)
        add_month(p, s->origin, 0, &out[n++]);
    return n;
}

/* ---- rules --------------------------------------------------------------- */

static bool matches(const char *pattern, const char *s)
{
    for (; *pattern != '\0'; pattern++, s++) {
        if (*pattern == '*') {
            for (; *s != '\0'; s++)
                if (matches(pattern + 1, s))
                    return true;
            return matches(pattern + 1, s);
        }
        if (*pattern == '$' && pattern[1] == '\0')
            return *s == '\0';
        if (*pattern != *s)
            return false;
    }
    return true;
}

bool plan_robots_allow(const struct plan_robots *r, const char *target)
{
    size_t longest = 0;
    bool allow = true;

    for (unsigned i = 0; i < r->rule_count; i++) {
        size_t len = strlen(r->rules[i].path);

        if (len < longest || !matches(r->rules[i].path, target))
            continue;
        allow = r->rules[i].allow || (len == longest && allow);
        longest = len;
    }
    return allow || strcmp(target, "/robots.txt") == 0;
}
