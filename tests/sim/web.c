/* SPDX-License-Identifier: MIT */
/*
 * web.c - the responses of the web of a seed.
 *
 * The plan says what stands at a URL; this makes octets of it: HTML with links
 * of every kind in every spelling, lists, robots.txt, redirects, errors. The
 * order of what decides is that of a real host: is there a name, a connection,
 * a certificate; does the host answer at all; has it had enough of us; and only
 * then what stands at the path.
 */
#include "tests/sim/web.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <zlib.h>

#include "base/mem.h"
#include "tests/sim/dice.h"
#include "tests/sim/web_plan.h"

#define BODY_MOST (1 << 20)

/* Requests to each origin in the minute that runs. */
struct counts {
    int64_t minute[PLAN_ORIGINS];
    uint32_t requests[PLAN_ORIGINS];
};
_Static_assert(sizeof(struct counts) <= SIM_WEB_SHARED, "room for counts");

struct sim_web {
    struct plan plan;
    struct counts *counts, own;
};

struct sim_web *sim_web_new(uint64_t seed)
{
    struct sim_web *w = xcalloc(1, sizeof *w);

    plan_make(&w->plan, seed);
    w->counts = &w->own;
    return w;
}

void sim_web_free(struct sim_web *w)
{
    free(w);
}

void sim_web_share(struct sim_web *w, void *memory)
{
    w->counts = memory;
}

const struct plan *sim_web_plan(const struct sim_web *w)
{
    return &w->plan;
}

void sim_answer_init(struct sim_answer *a)
{
    memset(a, 0, sizeof *a);
    buf_init(&a->headers, 64 * 1024);
    buf_init(&a->body, BODY_MOST);
}

void sim_answer_fini(struct sim_answer *a)
{
    buf_fini(&a->headers);
    buf_fini(&a->body);
}

/* ---- links in their spellings -------------------------------------------- */

/* What a page may write for "ü" and a host in ASCII, in its own encoding. */
enum spelled_in { IN_HEAD, IN_UTF8, IN_LATIN };
static const struct {
    const char *form, *text[3];
} native[] = {{"%C3%BC", {"%C3%BC", "\xc3\xbc", "\xfc"}},
              {"xn--bcher-kva",
               {"xn--bcher-kva",
                "b\xc3\xbc"
                "cher",
                "b\xfc"
                "cher"}}};

static void add_replaced(struct buf *b, const char *s, const char *old,
                         const char *new)
{
    const char *at = strstr(s, old);

    if (at == NULL) {
        buf_add_str(b, s);
        return;
    }
    buf_add(b, s, (size_t)(at - s));
    buf_add_str(b, new);
    buf_add_str(b, at + strlen(old));
}

/* "HTTP://WWW.ONE.EXAMPLE:80/d1/%70..." */
static void spell_loudly(const struct plan_origin *o, const char *target,
                         struct buf *b)
{
    for (const char *s = o->prefix; *s != '\0'; s++)
        buf_add_char(b, *s >= 'a' && *s <= 'z' ? (char)(*s - 32) : *s);
    if (o->port == (strcmp(o->scheme, "http") == 0 ? 80 : 443))
        buf_addf(b, ":%u", o->port);
    add_replaced(b, target, "/p", "/%70");
}

/* The same URL in one of six spellings. */
static void spell(const struct plan *p, const struct plan_found *f, int from,
                  enum spelled_in in, struct buf *b)
{
    const struct plan_page *g = f->page >= 0 ? &p->pages[f->page] : NULL;

    if (g == NULL)
        buf_add_str(b, f->url);
    else if (f->spelling == 1 && g->origin == from)
        buf_add_str(b, g->target);
    else if (f->spelling == 2)
        buf_addf(b, "%s#part-%d", g->url, f->page);
    else if (f->spelling == 3)
        spell_loudly(&p->origins[g->origin], g->target, b);
    else if (f->spelling == 4)
        buf_addf(b, "%s/zz/..%s", p->origins[g->origin].prefix, g->target);
    else if (f->spelling == 5 && in != IN_HEAD)
        add_replaced(b, g->url, native[f->page % 2].form,
                     native[f->page % 2].text[in]);
    else if (f->spelling == 5)
        add_replaced(b, g->url, "%E9", "\xe9");
    else
        buf_add_str(b, g->url);
}

static void add_escaped(struct buf *b, const struct buf *text)
{
    for (size_t i = 0; i < text->len; i++) {
        if (text->at[i] == '&')
            buf_add_str(b, "&amp;");
        else
            buf_add_char(b, text->at[i]);
    }
}

static const struct {
    const char *before, *after;
} tags[PLAN_LINK_KINDS] = {
    [PLAN_A] = {"<a href=\"", "\">more</a>\n"},
    [PLAN_AREA] = {"<map><area href='", "'></map>\n"},
    [PLAN_IFRAME] = {"<iframe src=\"", "\"></iframe>\n"},
    [PLAN_LINK] = {"<link rel=next href=\"", "\">\n"},
    [PLAN_CANONICAL] = {"<link rel=\"canonical\" href=\"", "\">\n"},
    [PLAN_ALTERNATE] = {"<link rel=alternate hreflang=de href=\"", "\">\n"},
    [PLAN_FEED] = {"<link rel=alternate type=application/rss+xml href=\"",
                   "\">\n"},
    [PLAN_SITEMAP] = {"<link rel=sitemap href=\"", "\">\n"},
    [PLAN_META_REFRESH] = {"<meta http-equiv=refresh content=\"9; url=",
                           "\">\n"},
    [PLAN_IMG] = {"<img alt='' src=\"", "\">\n"},
    [PLAN_CSS] = {"<link rel=stylesheet href=\"", "\">\n"},
    [PLAN_SCRIPT] = {"<script src=\"", "\"></script>\n"},
    [PLAN_MEDIA] = {"<video src=\"", "\"></video>\n"},
    [PLAN_SRCSET] = {"<img alt='' srcset=\"", " 2x\">\n"},
};

static void add_tag(const struct plan *p, const struct plan_found *f, int from,
                    enum spelled_in in, struct buf *b)
{
    struct buf url;

    if (plan_is_in_head(f))
        return;
    buf_init(&url, 1000);
    spell(p, f, from, in, &url);
    buf_add_str(b, tags[f->kind].before);
    add_escaped(b, &url);
    if (f->nofollow)
        buf_addf(b, "%c rel=\"nofollow\" x=%c", tags[f->kind].after[0],
                 tags[f->kind].after[0]);
    buf_add_str(b, tags[f->kind].after);
    buf_fini(&url);
}

/* ---- bodies -------------------------------------------------------------- */

/* The words of a text, some seventy, then one that tells bodies of the text
 * apart if `body` is not its own. */
static void add_words(struct buf *b, uint32_t text)
{
    static const char *const syllables[] = {"ka",  "lo",  "mi",  "ren",
                                            "sta", "u",   "vor", "di",
                                            "ne",  "pel", "to",  "ga"};
    struct dice d = dice_of(text, "words");

    for (unsigned i = 0; i < 70; i++) {
        for (unsigned k = 1 + dice_below(&d, 4); k > 0; k--)
            buf_add_str(b, syllables[dice_below(&d, 12)]);
        buf_add_char(b, i % 12 == 11 ? '\n' : ' ');
    }
}

static void pad(struct buf *b, size_t size)
{
    buf_add_str(b, "<!-- ");
    while (b->len < size)
        buf_add_str(b, "and so on for a long time, ");
    buf_add_str(b, "-->\n");
}

/* Links stand before everything that a limit to the length may cut off. */
static void make_html(const struct plan *p, const struct plan_sight *s,
                      const struct plan_found *links, size_t count,
                      struct buf *b)
{
    const struct plan_state *t = s->state;
    enum spelled_in in =
        s->page >= 0 && p->pages[s->page].latin ? IN_LATIN : IN_UTF8;

    buf_addf(b, "<!doctype html>\n<html><head><title>Text %u</title>\n",
             t->text);
    if ((t->noindex || t->nofollow) && !t->in_header)
        buf_addf(b, "<meta name=%s content=\"%s%s\">\n",
                 t->text % 2 == 0 ? "robots" : "urlweir",
                 t->noindex ? "noindex," : "", t->nofollow ? "nofollow" : "");
    for (size_t i = 0; i < count; i++)
        if (tags[links[i].kind].before != NULL &&
            (strncmp(tags[links[i].kind].before, "<link", 5) == 0 ||
             strncmp(tags[links[i].kind].before, "<meta", 5) == 0))
            add_tag(p, &links[i], s->origin, in, b);
    buf_add_str(b, "</head><body>\n");
    for (size_t i = 0; i < count; i++)
        if (tags[links[i].kind].before != NULL &&
            strncmp(tags[links[i].kind].before, "<link", 5) != 0 &&
            strncmp(tags[links[i].kind].before, "<meta", 5) != 0)
            add_tag(p, &links[i], s->origin, in, b);
    buf_add_str(b, "<a href=\"mailto:x@one.example\">mail</a>"
                   "<a href=\"\">here</a><a href=\"http://[bad/\">bad</a>\n"
                   "<!-- <a href=\"/never/asked-for\">no</a> -->\n<p>");
    add_words(b, t->text);
    buf_addf(b, "</p><!-- body %u -->\n", t->body);
    if (t->size > b->len)
        pad(b, t->size);
    buf_add_str(b, "</body></html>\n");
}

static void add_date(struct buf *b, int64_t ms)
{
    time_t s = (time_t)(ms / 1000);
    struct tm tm;
    char text[64];

    gmtime_r(&s, &tm);
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &tm);
    buf_add_str(b, text);
}

/* lastmod is that of the page's state; one list in four says that all has
 * changed just now. */
static void make_list(const struct plan *p, const struct plan_sight *s,
                      const struct plan_found *links, size_t count,
                      int64_t at_ms, struct buf *b)
{
    enum plan_form form = (enum plan_form)s->state->form;
    bool lies = s->page % 4 == 1;

    buf_add_str(b, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    buf_add_str(b, form == FORM_FEED
                       ? "<rss version=\"2.0\"><channel><title>News</title>\n"
                   : form == FORM_INDEX
                       ? "<sitemapindex xmlns=\"http://www.sitemaps.org/"
                         "schemas/sitemap/0.9\">\n"
                       : "<urlset xmlns=\"http://www.sitemaps.org/schemas/"
                         "sitemap/0.9\">\n");
    for (size_t i = 0; i < count; i++) {
        const struct plan_page *g =
            links[i].page >= 0 ? &p->pages[links[i].page] : NULL;
        struct plan_sight there =
            g == NULL ? (struct plan_sight){0}
                      : plan_look(p, g->origin, g->target, at_ms);
        struct buf url;

        buf_init(&url, 1000);
        buf_add_str(&url, links[i].url);
        buf_add_str(b, form == FORM_FEED    ? "<item><link>"
                       : form == FORM_INDEX ? "<sitemap><loc>"
                                            : "<url><loc>");
        add_escaped(b, &url);
        buf_fini(&url);
        buf_add_str(b, form == FORM_FEED ? "</link>" : "</loc>");
        if (form != FORM_FEED && there.state != NULL && i % 3 != 2) {
            buf_add_str(b, "<lastmod>");
            add_date(b, lies ? at_ms : plan_changed_ms(there.state));
            buf_add_str(b, "</lastmod>");
        }
        buf_add_str(b, form == FORM_FEED    ? "</item>\n"
                       : form == FORM_INDEX ? "</sitemap>\n"
                                            : "</url>\n");
    }
    buf_addf(b, "<!-- body %u -->\n", s->state->body);
    buf_add_str(b, form == FORM_FEED    ? "</channel></rss>\n"
                   : form == FORM_INDEX ? "</sitemapindex>\n"
                                        : "</urlset>\n");
}

static void make_robots_txt(const struct plan *p, const struct plan_robots *r,
                            struct buf *b)
{
    buf_add_str(b, "# rules\nUser-agent: otherbot\nDisallow: /\n\n");
    if (r->by_name)
        buf_add_str(b, "User-agent: *\nDisallow: /\n\nUser-agent: urlweir\n");
    else
        buf_add_str(b, "User-agent: *\n");
    if (r->crawl_delay_ms >= 0)
        buf_addf(b, "Crawl-delay: %d.%d\n", r->crawl_delay_ms / 1000,
                 r->crawl_delay_ms % 1000 / 100);
    if (r->rule_count == 0)
        buf_add_str(b, "Disallow:\n");
    for (unsigned i = 0; i < r->rule_count; i++)
        buf_addf(b, "%s: %s\n", r->rules[i].allow ? "Allow" : "Disallow",
                 r->rules[i].path);
    for (unsigned i = 0; i < r->sitemap_count; i++)
        buf_addf(b, "Sitemap: %s\n", p->pages[r->sitemaps[i]].url);
}

/* ---- heads --------------------------------------------------------------- */

static const char *header_of(const struct sim_request *q, const char *name)
{
    size_t len = strlen(name);

    for (size_t i = 0; i < q->header_count; i++)
        if (strncasecmp(q->headers[i], name, len) == 0 &&
            q->headers[i][len] == ':')
            return q->headers[i] + len + 1 +
                   strspn(q->headers[i] + len + 1, " ");
    return NULL;
}

static void http_date(int64_t ms, char *out, size_t size)
{
    time_t s = (time_t)(ms / 1000);
    struct tm tm;

    gmtime_r(&s, &tm);
    strftime(out, size, "%a, %d %b %Y %H:%M:%S GMT", &tm);
}

/* Says ETag and Last-Modified; true if the request has one of them. */
static bool add_validators(const struct plan_page *g,
                           const struct plan_state *s,
                           const struct sim_request *q, struct sim_answer *a)
{
    const char *match = header_of(q, "If-None-Match");
    const char *since = header_of(q, "If-Modified-Since");
    char tag[64] = "", date[64] = "";

    if (g->validators == VALIDATORS_ETAG || g->validators == VALIDATORS_BOTH)
        snprintf(tag, sizeof tag, "%s\"b%u\"", s->body % 3 == 0 ? "W/" : "",
                 s->body);
    else if (g->validators == VALIDATORS_STUCK)
        snprintf(tag, sizeof tag, "\"always\"");
    else if (g->validators == VALIDATORS_ALWAYS_NEW)
        snprintf(tag, sizeof tag, "\"t%" PRId64 "\"", q->at_ms);
    if (g->validators == VALIDATORS_DATE || g->validators == VALIDATORS_BOTH)
        http_date(plan_changed_ms(s), date, sizeof date);
    if (tag[0] != '\0')
        buf_addf(&a->headers, "ETag: %s\r\n", tag);
    if (date[0] != '\0')
        buf_addf(&a->headers, "Last-Modified: %s\r\n", date);
    if (match != NULL)
        return tag[0] != '\0' && strstr(match, tag) != NULL;
    return since != NULL && date[0] != '\0' && strcmp(since, date) == 0;
}

static void add_retry_after(struct sim_answer *a, int32_t seconds, bool as_date,
                            int64_t at_ms)
{
    char date[64];

    if (seconds < 0)
        return;
    http_date(at_ms + 1000 * (int64_t)seconds, date, sizeof date);
    if (as_date)
        buf_addf(&a->headers, "Retry-After: %s\r\n", date);
    else
        buf_addf(&a->headers, "Retry-After: %d\r\n", seconds);
}

static void say_error(struct sim_answer *a, unsigned status)
{
    a->status = status;
    buf_add_str(&a->headers, "Content-Type: text/html\r\n");
    buf_addf(&a->body, "<title>%u</title><p>This is error %u.\n", status,
             status);
}

/* ---- responses ----------------------------------------------------------- */

static void answer_robots(const struct plan *p, const struct plan_sight *s,
                          const char *target, struct sim_answer *a)
{
    const struct plan_robots *r = s->robots;
    bool first = strcmp(target, "/robots.txt") == 0;

    if (first && r->form == ROBOTS_STATUS) {
        say_error(a, r->status);
        return;
    }
    if (first && r->form == ROBOTS_REDIRECT) {
        say_error(a, 302);
        buf_addf(&a->headers, "Location: %s/robots-of-%d.txt\r\n",
                 p->origins[r->redirect_origin].prefix, s->origin);
        return;
    }
    a->status = 200;
    buf_add_str(&a->headers, "Content-Type: text/plain\r\n");
    if (r->max_age_s >= 0)
        buf_addf(&a->headers, "Cache-Control: max-age=%d\r\n", r->max_age_s);
    make_robots_txt(p, r, &a->body);
    if (first && r->form == ROBOTS_RESET) {
        a->fate = SIM_RESET;
        a->cut_at = a->body.len / 4;
    } else if (first && r->form == ROBOTS_MUTE)
        a->fate = SIM_MUTE;
}

static const char *type_of(enum plan_form f, bool latin)
{
    return f == FORM_PLAIN                        ? "text/plain"
           : f == FORM_IMAGE                      ? "image/png"
           : f == FORM_SHEET                      ? "text/css"
           : f == FORM_PDF                        ? "application/pdf"
           : f == FORM_SITEMAP || f == FORM_INDEX ? "application/xml"
           : f == FORM_FEED                       ? "application/rss+xml"
           : latin ? "text/html; charset=iso-8859-1"
                   : "text/html; charset=utf-8";
}

static void add_link_headers(const struct plan *p, const struct plan_sight *s,
                             const struct plan_found *links, size_t count,
                             struct sim_answer *a)
{
    for (size_t i = 0; i < count; i++)
        if (plan_is_in_head(&links[i])) {
            bool refresh = links[i].kind == PLAN_META_REFRESH;

            buf_add_str(&a->headers, refresh ? "Refresh: 3; url=" : "Link: <");
            spell(p, &links[i], s->origin, IN_HEAD, &a->headers);
            buf_add_str(&a->headers, refresh ? "\r\n" : ">; rel=\"next\"\r\n");
        }
}

static void answer_redirect(const struct plan *p, const struct plan_sight *s,
                            const struct plan_found *to, struct sim_answer *a)
{
    say_error(a, s->state->status);
    buf_add_str(&a->headers, "Location: ");
    spell(p, to, s->origin, IN_HEAD, &a->headers);
    buf_add_str(&a->headers, "\r\n");
}

static void make_other_body(const struct plan_state *t, struct buf *b)
{
    if (t->form == FORM_SHEET)
        buf_addf(b, "p { margin: %upx }\n", t->body);
    else if (t->form == FORM_IMAGE)
        buf_addf(b, "\x89PNG\r\n\x1a\n%u", t->body);
    else if (t->form == FORM_PDF)
        buf_addf(b, "%%PDF-1.7\n%% %u\n", t->body);
    else {
        buf_addf(b,
                 "Plain text %u, which links to nothing:\n"
                 "see http://www.one.example/never/asked-for\n",
                 t->body);
        add_words(b, t->text);
    }
    while (b->len < t->size)
        buf_add_str(b, "and so on for a long time, ");
}

static void add_coding(enum plan_coding coding, struct sim_answer *a)
{
    z_stream z = {.next_in = (unsigned char *)a->body.at,
                  .avail_in = (uInt)a->body.len};
    unsigned char *packed;
    size_t room;

    if (coding == CODING_NONE)
        return;
    buf_add_str(&a->headers, "Content-Encoding: gzip\r\n");
    if (coding == CODING_FALSE)
        return;
    if (deflateInit2(&z, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        abort();
    room = deflateBound(&z, z.avail_in);
    packed = xmalloc(room);
    z.next_out = packed;
    z.avail_out = (uInt)room;
    if (deflate(&z, Z_FINISH) != Z_STREAM_END)
        abort();
    buf_clear(&a->body);
    buf_add(&a->body, packed, room - z.avail_out);
    deflateEnd(&z);
    free(packed);
}

static void answer_page(const struct plan *p, const struct plan_sight *s,
                        const struct sim_request *q, struct sim_answer *a)
{
    const struct plan_state *t = s->state;
    enum plan_form form = (enum plan_form)t->form;
    struct plan_found links[PLAN_FOUND];
    size_t count = plan_links(p, s, links, PLAN_FOUND);

    if (form == FORM_STATUS) {
        say_error(a, t->status);
        return;
    }
    if (form == FORM_REDIRECT && count == 1) {
        answer_redirect(p, s, &links[0], a);
        return;
    }
    a->status = 200;
    buf_addf(&a->headers, "Content-Type: %s\r\n",
             type_of(form, p->pages[s->page].latin));
    if ((t->noindex || t->nofollow) && t->in_header)
        buf_addf(&a->headers, "X-Robots-Tag: %s%s\r\n",
                 t->noindex ? "noindex," : "", t->nofollow ? "nofollow" : "");
    add_link_headers(p, s, links, count, a);
    if (add_validators(&p->pages[s->page], t, q, a)) {
        a->status = 304;
        return;
    }
    if (form == FORM_SITEMAP || form == FORM_INDEX || form == FORM_FEED)
        make_list(p, s, links, count, q->at_ms, &a->body);
    else if (form == FORM_HTML || form == FORM_RESET || form == FORM_CUT ||
             form == FORM_MUTE || form == FORM_REDIRECT)
        make_html(p, s, links, count, &a->body);
    else
        make_other_body(t, &a->body);
    if (form == FORM_HTML)
        add_coding((enum plan_coding)p->pages[s->page].coding, a);
    a->fate = form == FORM_RESET  ? SIM_RESET
              : form == FORM_CUT  ? SIM_CUT
              : form == FORM_MUTE ? SIM_MUTE
                                  : SIM_ANSWERS;
    a->cut_at = a->body.len * 3 / 4;
}

static void answer_calendar(const struct plan *p, const struct plan_sight *s,
                            struct sim_answer *a)
{
    /* All months have the same words, and other numbers. */
    struct plan_state t = {.form = FORM_HTML,
                           .text = 1000000,
                           .body = 1000000 + s->month};
    struct plan_sight as_page = *s;
    struct plan_found links[PLAN_FOUND];
    size_t count = plan_links(p, s, links, PLAN_FOUND);

    as_page.state = &t;
    a->status = 200;
    buf_add_str(&a->headers, "Content-Type: text/html; charset=utf-8\r\n");
    make_html(p, &as_page, links, count, &a->body);
}

/* More than `limit` requests since the minute began? */
static bool has_had_enough(struct sim_web *w, int origin, int64_t at_ms)
{
    const struct plan_origin *o = &w->plan.origins[origin];
    struct counts *c = w->counts;

    if (o->limit == 0)
        return false;
    if (c->minute[origin] != at_ms / 60000) {
        c->minute[origin] = at_ms / 60000;
        c->requests[origin] = 0;
    }
    return ++c->requests[origin] > o->limit;
}

/* True: the bad hour of an origin is all that there is to say. */
static bool answer_outage(const struct plan_outage *outage, int64_t at_ms,
                          struct sim_answer *a)
{
    if (outage == NULL)
        return false;
    a->fate = outage->fate;
    if (outage->fate == SIM_ANSWERS) {
        say_error(a, outage->status);
        add_retry_after(a, outage->retry_after_s, outage->as_date, at_ms);
    } else if (outage->fate == SIM_RESET) {
        say_error(a, 200);
        a->cut_at = 0;
    }
    return true;
}

/* ---- a wall of cookies ---- */

static bool has_passed(const struct sim_request *q)
{
    const char *cookie = header_of(q, "Cookie");

    return cookie != NULL && strstr(cookie, "wall=open") != NULL;
}

static void answer_by_wall(const struct plan_origin *o,
                           const struct sim_request *q, struct sim_answer *a)
{
    say_error(a, PLAN_WALL_STATUS);
    buf_addf(&a->headers, "Location: %s%s\r\nSet-Cookie: wall=open; Path=/\r\n",
             o->prefix, q->target);
}

static void answer_in_order(struct sim_web *w, const struct sim_request *q,
                            int origin, struct sim_answer *a)
{
    const struct plan *p = &w->plan;
    const struct plan_origin *o = &p->origins[origin];
    struct plan_sight s = plan_look(p, origin, q->target, q->at_ms);

    a->first_ms = o->first_ms;
    a->ms_per_kib = o->ms_per_kib;
    if (answer_outage(plan_outage_at(o, q->at_ms), q->at_ms, a))
        return;
    if (has_had_enough(w, origin, q->at_ms)) {
        say_error(a, 429);
        add_retry_after(a, o->limit_retry_s, false, q->at_ms);
    } else if (o->wall && s.what != PLAN_ROBOTS_TXT && !has_passed(q))
        answer_by_wall(o, q, a);
    else if (s.what == PLAN_ROBOTS_TXT)
        answer_robots(p, &s, q->target, a);
    else if (s.what == PLAN_CALENDAR)
        answer_calendar(p, &s, a);
    else if (s.what == PLAN_PAGE && s.state != NULL)
        answer_page(p, &s, q, a);
    else
        say_error(a, 404);
}

void sim_web_answer(struct sim_web *w, const struct sim_request *q,
                    struct sim_answer *a)
{
    int origin = plan_origin_of(&w->plan, q->scheme, q->host, q->port);

    buf_clear(&a->headers);
    buf_clear(&a->body);
    a->fate = SIM_ANSWERS;
    a->status = 0;
    a->first_ms = a->ms_per_kib = 0;
    a->cut_at = 0;
    a->address = sim_web_address(w, q->host, q->at_ms);
    if (a->address == NULL)
        a->fate = SIM_NO_NAME;
    else if (origin >= 0)
        answer_in_order(w, q, origin, a);
    else
        a->fate = SIM_REFUSED;
    if (a->status != 304)
        buf_addf(&a->headers, "Content-Length: %zu\r\n", a->body.len);
    if (strcmp(q->method, "HEAD") == 0 || a->status == 304)
        buf_clear(&a->body);
}

/* If one origin of a name has lost it, so have the others. */
const char *sim_web_address(struct sim_web *w, const char *host, int64_t at_ms)
{
    const char *address = NULL;

    for (size_t i = 0; i < w->plan.origin_count; i++) {
        const struct plan_origin *o = &w->plan.origins[i];
        const struct plan_outage *outage = plan_outage_at(o, at_ms);

        if (strcmp(o->name, host) != 0)
            continue;
        if (outage != NULL && outage->fate == SIM_NO_NAME)
            return NULL;
        address = o->address;
    }
    return address;
}
