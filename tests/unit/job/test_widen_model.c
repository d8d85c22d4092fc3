/* SPDX-License-Identifier: MIT */
/*
 * test_widen_model.c - a crawl whose settings change at random, against a plain
 * model of what a new crawl would fetch.
 *
 * Webs of two dozen pages on three hosts, crawled by the program's engine,
 * settings and link finder, without sockets: the test responds to leases
 * itself, in random order, so that a detour often finds a URL first. A run ends
 * with a kill in the middle (nothing is committed), or when nothing is left.
 * After the last change, every page of the model must have been read, none of
 * them twice, but for pages with links of kinds that are followed only now.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/file/file.h"
#include "base/mem.h"
#include "crawler/link_finder.h"
#include "frontier/embedded/frontier.h"
#include "frontier/reader.h"
#include "job/settings/settings.h"
#include "job/settings_applied.h"
#include "tests/unit/storage/scratch.h"
#include "tests/unit/unit.h"

#define PAGES   24
#define LINKS   6
#define OUT     8 /* leases at once */
#define CHANGES 5
#define FAR     1000000

/* ---- the web ------------------------------------------------------------- */

/* What may keep a page from being read, each by a setting of its own. */
enum gate { NO_GATE, PRIVATE, PORT, ROBOTS, NOINDEX, SLOW, UNTRUSTED, GATES };

struct page {
    int host, dir;
    bool is_long, is_text, is_big, redirects;
    enum gate gate;
    int links[LINKS], link_count;
    enum link_kind kinds[LINKS]; /* of them */
    int twin;                    /* the page whose body it has, or itself */
    char url[128];
};

static struct page web[PAGES];
static uint64_t dice;

static unsigned below(unsigned n)
{
    return (unsigned)(scratch_random(&dice) % n);
}

/* Of the kinds of links, MEDIA is one that is not looked for unless it is
 * followed. */
#define KINDS 5
static const struct {
    enum link_kind kind;
    const char *tag;
} tags[KINDS] = {{LINK_A, "<a href=\"%s\">x</a>"},
                 {LINK_IFRAME, "<iframe src=\"%s\"></iframe>"},
                 {LINK_IMG, "<img src=\"%s\">"},
                 {LINK_CSS, "<link rel=stylesheet href=\"%s\">"},
                 {LINK_MEDIA, "<video src=\"%s\"></video>"}};

static void make_page(int i)
{
    static const char *const hosts[] = {"a.x.example", "b.x.example",
                                        "c.y.example"};
    struct page *p = &web[i];

    *p =
        (struct page){.host = i == 0 ? 0 : (int)(below(6) / 2 * (below(3) > 0)),
                      .dir = i == 0 ? 0 : (int)below(3),
                      .is_long = i > 0 && below(5) == 0,
                      .is_text = i > 0 && below(6) == 0,
                      .is_big = i > 0 && below(4) == 0,
                      .redirects = i > 0 && below(7) == 0};
    snprintf(p->url, sizeof p->url, "http://%s/d%d/%sp%d", hosts[p->host],
             p->dir, p->is_long ? "a-name-of-some-length/" : "", i);
    p->gate = below(3) == 0 ? (enum gate)below(GATES) : NO_GATE;
    p->twin = i > 0 && below(8) == 0 ? (int)below((unsigned)i) : i;
    p->link_count = i == 0 ? LINKS : (int)below(LINKS + 1);
    if (p->redirects)
        p->link_count = 1;
    if (p->is_text && !p->redirects)
        p->link_count = 0;
    for (int k = 0; k < p->link_count; k++) {
        p->links[k] = (int)below(PAGES);
        p->kinds[k] = p->redirects    ? LINK_REDIRECT
                      : below(4) == 0 ? tags[below(KINDS)].kind
                                      : LINK_A;
    }
}

static int page_of(struct bytes url)
{
    size_t at = url.len;
    int page = 0;

    while (at > 0 && url.at[at - 1] != 'p')
        at--;
    for (; at < url.len; at++)
        page = 10 * page + (url.at[at] - '0');
    return page;
}

/* ---- settings ------------------------------------------------------------ */

struct rules {
    int depth; /* -1: none */
    const char *scope, *include, *exclude, *mime, *max_body;
    int url_length, max_links, per_host; /* 0: none */
    bool checks;                         /* --check-external */
    bool closed[GATES];
    const char *follow, *ignore, *assets;
    int max_redirects;
    bool skips_twins;
    /* from these */
    uint32_t kinds;
};

static const char usual[] = "a,area,iframe,link,canonical,alternate,"
                            "meta-refresh,sitemap,feed";

static struct rules any_rules(void)
{
    static const char *const scopes[] = {"seed",   "host", "host", "prefix",
                                         "domain", "any",  "any"};
    static const char *const follow[] = {usual, usual, "a", "a,img,css",
                                         "iframe,media"};
    struct rules r = {
        .depth = below(6) == 0 ? -1 : (int)below(7),
        .scope = scopes[below(7)],
        .include = below(4) == 0 ? "/d[02]/" : "",
        .exclude = below(4) == 0 ? "/d1/" : "",
        .mime = below(4) == 0 ? "text/html" : "",
        .max_body = below(4) == 0 ? "1K" : "1M",
        .url_length = below(4) == 0 ? 40 : 2048,
        .max_links = below(4) == 0 ? 1 + (int)below(3) : 0,
        .per_host = below(4) == 0 ? 1 + (int)below(4) : 0,
        .checks = below(3) == 0,
        .follow = follow[below(5)],
        .ignore = below(5) == 0   ? "iframe"
                  : below(8) == 0 ? "a"
                                  : "",
        .assets = below(3) == 0 ? "same-scope" : "off",
        .max_redirects = below(4) == 0 ? (int)below(2) : 5,
        .skips_twins = below(4) == 0,
    };

    for (int g = NO_GATE + 1; g < GATES; g++)
        r.closed[g] = below(3) == 0;
    return r;
}

static void set(struct crawl_settings *s, const char *name, const char *value)
{
    struct buf error;

    buf_init(&error, 1000);
    ck_assert_msg(option_set(&crawl_options, settings_index(name), s,
                             bytes_of_str(value), OPTION_FROM_LINE,
                             &error) == STATUS_OK,
                  "%s: %s", name, buf_str(&error));
    buf_fini(&error);
}

static void set_list(struct crawl_settings *s, struct option_list *l,
                     const char *name, const char *value)
{
    option_list_free(l);
    memset(l, 0, sizeof *l);
    if (value[0] != '\0')
        set(s, name, value);
}

static void set_number(struct crawl_settings *s, const char *name, int n,
                       int none)
{
    char text[32];

    snprintf(text, sizeof text, "%d", n);
    set(s, name, n == none ? "none" : text);
}

static void to_settings(struct rules *r, struct crawl_settings *s)
{
    const bool *closed = r->closed;

    set_number(s, "depth", r->depth, -1);
    set(s, "scope", r->scope);
    set_list(s, &s->include, "include", r->include);
    set_list(s, &s->exclude, "exclude", r->exclude);
    set_list(s, &s->mime, "mime", r->mime);
    set(s, "max-body", r->max_body);
    set_number(s, "max-url-len", r->url_length, 0);
    set_number(s, "max-links", r->max_links, 0);
    set_number(s, "per-host", r->per_host, 0);
    set(s, "check-external", r->checks ? "true" : "false");
    set(s, "allow-private", closed[PRIVATE] ? "false" : "true");
    set_list(s, &s->allow_port, "allow-port", closed[PORT] ? "" : "25");
    set(s, "robots", closed[ROBOTS] ? "obey" : "off");
    set(s, "noindex", closed[NOINDEX] ? "skip" : "report");
    set(s, "timeout", closed[SLOW] ? "1s" : "20s");
    set(s, "insecure", closed[UNTRUSTED] ? "false" : "true");
    set_list(s, &s->follow, "follow", r->follow);
    set_list(s, &s->ignore, "ignore", r->ignore);
    set(s, "assets", r->assets);
    set_number(s, "max-redirects", r->max_redirects, -1);
    set(s, "dup-content", r->skips_twins ? "skip" : "report");
    set(s, "near-dup", r->skips_twins ? "skip" : "report");
    r->kinds = settings_link_kinds(s);
}

/* ---- the model ----------------------------------------------------------- */

static bool is_cut(const struct rules *r, const struct page *p)
{
    return p->is_big && !p->redirects && strcmp(r->max_body, "1K") == 0;
}

static bool is_refused(const struct rules *r, const struct page *p)
{
    return p->is_text && !p->redirects && r->mime[0] != '\0';
}

/* In none of the places of the scope? */
static bool is_outside(const struct rules *r, const struct page *p)
{
    if (strcmp(r->scope, "any") == 0 || p == web)
        return false;
    if (strcmp(r->scope, "seed") == 0)
        return true;
    if (strcmp(r->scope, "domain") == 0 ? p->host == 2 : p->host != 0)
        return true;
    return strcmp(r->scope, "prefix") == 0 && p->dir != 0;
}

static bool is_closed(const struct rules *r, const struct page *p)
{
    return r->closed[p->gate] && !(p->gate == NOINDEX && p->redirects);
}

/* Counts the links considered: all, or those of the half that was read. */
static int links_read(const struct rules *r, const struct page *p)
{
    if (is_refused(r, p) || (is_outside(r, p) && !p->redirects) ||
        (is_closed(r, p) && p->gate != NOINDEX))
        return 0;
    return is_cut(r, p) ? p->link_count / 2 : p->link_count;
}

static bool in_scope(const struct rules *r, const struct page *p)
{
    bool checked = r->checks && is_outside(r, p);

    return (checked ||
            (!is_outside(r, p) && !(r->include[0] != '\0' && p->dir == 1))) &&
           !(r->exclude[0] != '\0' && p->dir == 1) &&
           strlen(p->url) <= (size_t)r->url_length;
}

static bool relax(const struct rules *r, int *far, int from, int to, int step)
{
    if (far[to] <= far[from] + step || !in_scope(r, &web[to]) ||
        (r->depth >= 0 && far[from] + step > r->depth &&
         !is_outside(r, &web[to])))
        return false;
    far[to] = far[from] + step;
    return true;
}

static bool relax_page(const struct rules *r, int *far, int from)
{
    const struct page *p = &web[from];
    bool seen[PAGES] = {false}, changed = false;
    int different = 0;

    if (far[from] == FAR)
        return false;
    for (int k = 0; k < links_read(r, p); k++) {
        if (seen[p->links[k]] || !(r->kinds & LINK_BIT(p->kinds[k])))
            continue;
        seen[p->links[k]] = true;
        if (r->max_links > 0 && ++different > r->max_links && !p->redirects)
            break;
        changed |= relax(r, far, from, p->links[k], p->redirects ? 0 : 1);
    }
    return changed;
}

/* far[i] < FAR: a new crawl with these rules fetches page i. */
static void model(const struct rules *r, int *far)
{
    bool changed = true;

    for (int i = 0; i < PAGES; i++)
        far[i] = FAR;
    if (in_scope(r, &web[0]))
        far[0] = 0;
    while (changed) {
        changed = false;
        for (int i = 0; i < PAGES; i++)
            changed |= relax_page(r, far, i);
    }
}

/* ---- the crawl ----------------------------------------------------------- */

struct sim {
    char dir[64];
    struct crawl_settings s;
    struct crawl_setup c;
    struct rules rules;
    struct engine *e;
    struct link_finder *finder;
    int64_t now;
    int whole[PAGES], some[PAGES]; /* times read, as committed */
    int whole_now[PAGES], some_now[PAGES];
    uint32_t kinds[PAGES]; /* that were followed when it was read last */
    int again[PAGES];      /* times that it had to be read again for others */
    bool forgets;          /* planted fault: judges no drop again */
};

static void open_setup(struct sim *m)
{
    struct buf why;

    buf_init(&why, 1000);
    ck_ok(crawl_setup_make(&m->c, &m->s, &why));
    buf_fini(&why);
}

static void put_seed(struct sim *m)
{
    struct engine_item item = {.depth = 0, .kind = LINK_SEED, .seed = true};
    struct url u;

    url_init(&u);
    ck_assert_int_eq(candidate_read(&m->c.fetch.rules, &u,
                                    bytes_of_str(web[0].url), NULL),
                     URL_OK);
    scope_add_seed(m->c.scope, &u);
    if (candidate_take(&m->c.fetch.rules, &u, &item) == REASON_NONE)
        ck_ok(
            m->e->ops->put(m->e, bytes_of_str(CRAWL_ID), 0, &item, 1, 1, NULL));
    url_fini(&u);
}

static void begin(struct sim *m, bool first)
{
    open_setup(m);
    ck_ok(first ? frontier_create(&m->e, m->dir, &m->c.frontier, 1)
                : frontier_open(&m->e, m->dir, &m->c.frontier, m->now, 1));
    m->c.fetch.rules.digest_key = m->e->ops->digest_key(m->e);
    m->finder = link_finder_new(&m->c.fetch);
    if (first) {
        put_seed(m);
        ck_ok(settings_note_first(m->e, &m->s, m->c.form));
        ck_ok(m->e->ops->turn(m->e, true, m->now, 1, NULL));
        return;
    }
    if (m->forgets)
        ck_ok(settings_note_first(m->e, &m->s, m->c.form));
    ck_ok(settings_put_in_force(m->e, &m->c, &m->s));
}

/* Ends the run; what was not committed is lost. */
static void end(struct sim *m)
{
    link_finder_free(m->finder);
    m->e->ops->close(m->e);
    crawl_setup_fini(&m->c);
    memset(m->whole_now, 0, sizeof m->whole_now);
    memset(m->some_now, 0, sizeof m->some_now);
}

static void turn(struct sim *m, bool commit)
{
    ck_ok(m->e->ops->turn(m->e, commit, m->now, 1, NULL));
    if (!commit)
        return;
    for (int i = 0; i < PAGES; i++) {
        m->whole[i] += m->whole_now[i];
        m->some[i] += m->some_now[i];
        m->whole_now[i] = m->some_now[i] = 0;
    }
}

static void set_outcome(struct engine_done *d, enum outcome_status status,
                        enum outcome_reason reason)
{
    d->outcome = (struct outcome){status, reason, 200};
    d->row.status = (uint8_t)status;
    d->row.reason = (uint8_t)reason;
}

static void add_tag(struct buf *body, enum link_kind kind, const char *url)
{
    for (int t = 0; t < KINDS; t++)
        if (tags[t].kind == kind) {
            const char *at = strstr(tags[t].tag, "%s");

            buf_add(body, tags[t].tag, (size_t)(at - tags[t].tag));
            buf_add_str(body, url);
            buf_add_str(body, at + 2);
        }
}

static void read_links(struct sim *m, const struct page *p,
                       struct engine_done *d)
{
    struct page_info info = {0};
    struct buf body;

    buf_init(&body, 8192);
    for (int k = 0; k < links_read(&m->rules, p); k++)
        add_tag(&body, p->kinds[k], web[p->links[k]].url);
    if (!p->is_text)
        link_finder_html(m->finder, buf_bytes(&body),
                         bytes_of_str("text/html; charset=utf-8"), &info);
    buf_fini(&body);
    d->row.body_digest = scratch_digest((uint64_t)p->twin + 1);
    d->row.simhash = d->row.body_digest.lo | 1;
    set_outcome(d, OUTCOME_FETCHED,
                is_cut(&m->rules, p)             ? REASON_TRUNCATED_LENGTH
                : link_finder_is_full(m->finder) ? REASON_LINK_COUNT
                                                 : REASON_NONE);
    if (is_closed(&m->rules, p))
        set_outcome(d, OUTCOME_SKIPPED, REASON_NOINDEX);
}

static void refuse(struct engine_done *d, enum gate gate)
{
    static const struct outcome outcomes[GATES] = {
        [PRIVATE] = {OUTCOME_SKIPPED, REASON_ADDRESS, 0},
        [PORT] = {OUTCOME_SKIPPED, REASON_PORT, 0},
        [ROBOTS] = {OUTCOME_DENIED, REASON_ROBOTS, 0},
        [SLOW] = {OUTCOME_FAILED, REASON_TIMEOUT, 0},
        [UNTRUSTED] = {OUTCOME_FAILED, REASON_TLS, 0}};

    set_outcome(d, outcomes[gate].status, outcomes[gate].reason);
}

static bool is_check(struct sim *m, const struct engine_lease *l)
{
    struct url u;
    bool yes;

    url_init(&u);
    yes = url_parse(&u, l->url, NULL, NULL) == URL_OK && !l->seed &&
          scope_checks(m->c.scope, &u, l->depth, l->kind);
    url_fini(&u);
    return yes;
}

/* Reports this lease as a fetcher would. */
static void answer(struct sim *m, const struct engine_lease *l)
{
    const int i = page_of(l->url);
    const struct page *p = &web[i];
    struct arena *arena = arena_new((size_t)1 << 20);
    struct bytes target;
    struct engine_done d = {
        .id = l->id,
        .row = {.at_ms = 1,
                .http_status = 200,
                .mime = bytes_of_str(p->is_text ? "text/plain" : "text/html")},
        .host = {.ended = m->now, .crawl_delay_ms = -2, .retry_after_ms = -1}};

    ck_assert(link_finder_begin(m->finder, l, arena, (size_t)1 << 19));
    if (is_closed(&m->rules, p) && p->gate != NOINDEX)
        refuse(&d, p->gate);
    else if (p->redirects)
        set_outcome(&d, OUTCOME_REDIRECT,
                    link_finder_redirect(m->finder,
                                         bytes_of_str(web[p->links[0]].url),
                                         &target, &d.anew));
    else if (is_check(m, l))
        set_outcome(&d, OUTCOME_FETCHED, REASON_CHECKED);
    else if (is_refused(&m->rules, p))
        set_outcome(&d, OUTCOME_SKIPPED, REASON_MIME);
    else
        read_links(m, p, &d);
    if (is_cut(&m->rules, p) || is_refused(&m->rules, p) ||
        is_closed(&m->rules, p) || (is_check(m, l) && !p->redirects) ||
        d.outcome.reason == REASON_REDIRECT_LIMIT)
        m->some_now[i]++;
    else
        m->whole_now[i]++;
    m->kinds[i] = m->rules.kinds;
    (void)link_finder_end(m->finder, &d);
    ck_ok(m->e->ops->ack(m->e, &d, 1, m->now, 1));
    arena_free(arena);
}

/* Runs until nothing is left, or for `most` responses. */
static void run(struct sim *m, int most)
{
    struct engine_lease out[OUT];
    size_t n = 0, got;

    for (int idle = 0; most > 0 && idle < 1000;) {
        struct engine_stats stats;

        m->now += NS_PER_MS;
        ck_ok(m->e->ops->lease(m->e, OUT - n, m->now, 1, out + n, &got));
        n += got;
        if (n > 0) {
            size_t k = below((unsigned)n);

            answer(m, &out[k]);
            out[k] = out[--n];
            most--;
        }
        turn(m, below(4) == 0);
        m->e->ops->stats(m->e, &stats);
        if (n == 0 && stats.queued == stats.withheld && !stats.rejudging) {
            turn(m, true);
            return;
        }
        idle = n > 0 ? 0 : idle + 1;
        ck_assert_msg(idle < 1000, "it stands still: %d queued",
                      (int)stats.queued);
    }
}

/* ---- one sequence -------------------------------------------------------- */

static void sim_init(struct sim *m, uint64_t seed, bool forgets)
{
    const char *fast = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";

    memset(m, 0, sizeof *m);
    dice = seed;
    for (int i = 0; i < PAGES; i++)
        make_page(i);
    snprintf(m->dir, sizeof m->dir, "%s/urlweir-widen-XXXXXX", fast);
    ck_assert_ptr_nonnull(mkdtemp(m->dir));
    settings_init(&m->s);
    free(m->s.output);
    m->s.output = xstrdup(m->dir);
    set(&m->s, "delay", "0");
    set(&m->s, "filter", "none");
    set(&m->s, "memory", "96M");
    set(&m->s, "conns-per-host", "4");
    set(&m->s, "traps", "off");
    set(&m->s, "tries", "1");
    m->now = NS_PER_S;
    m->forgets = forgets;
}

static void sim_fini(struct sim *m)
{
    settings_fini(&m->s);
    ck_ok(file_remove_tree(m->dir));
}

/* Returns the first page that is missing or was read twice; -1: none. */
static int first_wrong(const struct sim *m, const char **why)
{
    int far[PAGES];

    model(&m->rules, far);
    for (int i = 0; i < PAGES; i++) {
        bool less =
            is_cut(&m->rules, &web[i]) || is_refused(&m->rules, &web[i]) ||
            is_closed(&m->rules, &web[i]) || is_outside(&m->rules, &web[i]);

        *why = "is missing";
        if (far[i] < FAR && m->whole[i] + (less ? m->some[i] : 0) == 0)
            return i;
        *why = "was read twice";
        if (m->whole[i] > 1 + m->again[i])
            return i;
    }
    return -1;
}

/* Which pages were read, and have links of kinds that are followed now but were
 * not then? */
static void note_kinds(struct sim *m)
{
    for (int i = 0; i < PAGES; i++) {
        uint32_t has = LINK_SET_ALL & ~LINK_SET_BASIC;

        for (int k = 0; k < web[i].link_count; k++)
            has |= LINK_BIT(web[i].kinds[k]);
        if (m->whole[i] > 0 && !web[i].is_text && !web[i].redirects &&
            (has & m->rules.kinds & ~m->kinds[i]) != 0)
            m->again[i]++;
    }
}

/* Makes changes, each with runs and kills; the last run goes to its end. */
static int play(struct sim *m, const char **why)
{
    int changes = 1 + (int)below(CHANGES);

    for (int i = 0; i <= changes; i++) {
        m->rules = any_rules();
        if (i == 0 && m->rules.depth < 0)
            m->rules.depth = 2; /* otherwise paths are kept from the limit on */
        if (i == changes) { /* without those whose pages are not determined */
            m->rules.per_host = 0;
            m->rules.max_redirects = 50;
            m->rules.skips_twins = false;
        }
        to_settings(&m->rules, &m->s);
        note_kinds(m);
        for (unsigned kills = below(3); kills > 0; kills--) {
            begin(m, i == 0 && m->e == NULL);
            run(m, (int)below(12));
            end(m);
        }
        begin(m, i == 0 && m->e == NULL);
        run(m, i < changes && below(3) == 0 ? (int)below(12) : FAR);
        end(m);
    }
    return first_wrong(m, why);
}

static int play_seed(uint64_t seed, bool forgets, const char **why)
{
    struct sim m;
    int wrong;

    sim_init(&m, seed, forgets);
    wrong = play(&m, why);
    sim_fini(&m);
    return wrong;
}

TIMEOUT(1200);

TEST(ours_a_changed_crawl_fetches_what_a_new_one_would_and_nothing_twice)
{
    const uint64_t sequences = scratch_size(40, 1000);
    const char *why = "", *seed = getenv("SEED");
    const uint64_t from = seed != NULL ? strtoull(seed, NULL, 10) : 1;

    for (uint64_t i = from; i < from + sequences; i++) {
        int wrong = play_seed(i, false, &why);

        ck_assert_msg(wrong < 0, "SEED=%llu: page %d %s: %s",
                      (unsigned long long)i, wrong,
                      web[wrong > 0 ? wrong : 0].url, why);
    }
}

TEST(the_comparison_tells_when_drops_are_forgotten)
{
    const char *why = "";
    int differences = 0;

    for (uint64_t i = 1; i <= 20; i++)
        differences += play_seed(i, true, &why) >= 0;
    ck_assert_int_gt(differences, 0);
}
