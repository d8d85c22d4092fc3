/* SPDX-License-Identifier: MIT */
/*
 * sitemap_stream.c - reads a sitemap while it arrives.
 *
 * The alternative, to spool the body to disk and read it at its end, would need
 * 50 MiB of disk per transfer and stall the fetcher's other transfers while it
 * is parsed. In parts, at most a report's worth is parsed between two reads of
 * the socket. Parts are separate reports, sent before the sitemap's own, so its
 * entries are in the store before the sitemap is done.
 */

#include "crawler/sitemap_stream.h"

#include <curl/curl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/ascii.h"
#include "base/bytes.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/status.h"
#include "base/thread/queue.h"
#include "crawler/fetch/response.h"
#include "crawler/fetcher.h"
#include "crawler/html/link_values.h"
#include "crawler/html/links.h"
#include "crawler/report.h"
#include "crawler/robots/robots.h"
#include "crawler/sitemap/sitemap.h"
#include "frontier/frontier.h"
#include "frontier/url/url.h"
#include "storage/frontier_store.h"
#include "storage/rows/page_store.h"
#include "storage/rows/side_tables.h"

/*
 * A sitemap entry's values as numbers.
 *
 * sitemaps.org: priority is a fraction from 0.0 to 1.0, lastmod a W3C datetime
 * (www.w3.org/TR/NOTE-datetime: as little as a year), changefreq a word. Feeds
 * write dates by RFC 822 or RFC 3339. A value that cannot be parsed counts as
 * missing; a priority out of bounds is clamped. Any thread.
 *
 * libcurl reads mail dates (curl_getdate knows RFC 822 and RFC 850); we read
 * the W3C form, which it does not know.
 */

#define DATE_MOST        ((size_t)64)
#define DEFAULT_PRIORITY 500

/* ---- dates --------------------------------------------------------------- */

/* Takes `count` digits off the front of *s; -1: they are not there. */
static int take_digits(struct bytes *s, size_t count)
{
    uint64_t n;

    return bytes_take_number(s, count, &n) ? (int)n : -1;
}

static bool take_char(struct bytes *s, char c)
{
    if (s->len == 0 || s->at[0] != c)
        return false;
    *s = bytes_of(s->at + 1, s->len - 1);
    return true;
}

/* Takes `mark` and two digits; returns `none` if the mark is not there. */
static int take_part(struct bytes *s, char mark, int none)
{
    return take_char(s, mark) ? take_digits(s, 2) : none;
}

/* Z, +hh:mm, -hhmm or nothing, in seconds east; false: something else. */
static bool take_zone(struct bytes *s, int *east)
{
    int sign = 1, hours, minutes;

    *east = 0;
    if (s->len == 0 || take_char(s, 'Z') || take_char(s, 'z'))
        return true;
    if (take_char(s, '-'))
        sign = -1;
    else if (!take_char(s, '+'))
        return false;
    hours = take_digits(s, 2);
    (void)take_char(s, ':');
    minutes = s->len > 0 ? take_digits(s, 2) : 0;
    *east = sign * (hours * 3600 + minutes * 60);
    return hours >= 0 && hours <= 23 && minutes >= 0 && minutes <= 59;
}

static bool take_time(struct bytes *s, struct tm *tm, int *millis)
{
    int scale = 100;

    if (!take_char(s, 'T') && !take_char(s, 't') && !take_char(s, ' '))
        return s->len == 0;
    tm->tm_hour = take_digits(s, 2);
    tm->tm_min = take_part(s, ':', -1);
    tm->tm_sec = take_part(s, ':', 0);
    if (take_char(s, '.') || take_char(s, ',')) {
        for (int d; (d = take_digits(s, 1)) >= 0; scale /= 10)
            *millis += d * scale;
    }
    return tm->tm_hour >= 0 && tm->tm_hour <= 24 && tm->tm_min >= 0 &&
           tm->tm_min <= 59 && tm->tm_sec >= 0 && tm->tm_sec <= 60;
}

static int64_t w3c_ms(struct bytes s)
{
    struct tm tm = {.tm_mday = 1};
    int year = take_digits(&s, 4), month, millis = 0, east;

    if (year < 0)
        return HINT_NO_LASTMOD;
    month = take_part(&s, '-', 1);
    tm.tm_mday = take_part(&s, '-', 1);
    if (month < 1 || month > 12 || tm.tm_mday < 1 || tm.tm_mday > 31 ||
        !take_time(&s, &tm, &millis) || !take_zone(&s, &east) || s.len > 0)
        return HINT_NO_LASTMOD;
    tm.tm_year = year - 1900;
    tm.tm_mon = month - 1;
    return ((int64_t)timegm(&tm) - east) * 1000 + millis;
}

int64_t sitemap_date_ms(struct bytes text)
{
    char copy[DATE_MOST + 1];
    int64_t ms;
    time_t at;

    text = bytes_trim(text);
    if (text.len == 0 || text.len > DATE_MOST)
        return HINT_NO_LASTMOD;
    ms = w3c_ms(text);
    if (ms != HINT_NO_LASTMOD)
        return ms;
    memcpy(copy, text.at, text.len);
    copy[text.len] = '\0';
    if (strpbrk(copy, " ,") == NULL) /* curl_getdate takes "2004" for a year */
        return HINT_NO_LASTMOD;
    at = curl_getdate(copy, NULL);
    return at == -1 ? HINT_NO_LASTMOD : (int64_t)at * 1000;
}

/* ---- priority and frequency ---------------------------------------------- */

/* Thousandths of "0.8", "1", ".5" or, as some write it, "0,8". */
static int16_t priority_of(struct bytes s)
{
    unsigned whole = 0, part = 0, scale = 100;
    size_t i = 0, digits = 0;

    for (; i < s.len && ascii_is_digit(s.at[i]); i++, digits++)
        whole = whole < 10 ? whole * 10 + (unsigned)(s.at[i] - '0') : whole;
    if (i < s.len && (s.at[i] == '.' || s.at[i] == ','))
        for (i++; i < s.len && ascii_is_digit(s.at[i]); i++) {
            part += scale * (unsigned)(s.at[i] - '0');
            scale /= 10;
            digits++;
        }
    if (digits == 0 || i < s.len)
        return HINT_NO_PRIORITY;
    return whole > 0 ? 1000 : (int16_t)part;
}

static uint8_t changefreq_of(struct bytes s)
{
    for (unsigned f = CHANGEFREQ_NONE + 1; f < CHANGEFREQ_COUNT_; f++)
        if (bytes_equal_nocase(s, bytes_of_str(
                                      changefreq_name((enum url_changefreq)f))))
            return (uint8_t)f;
    return CHANGEFREQ_NONE;
}

bool sitemap_hint(const struct sitemap_entry *e, struct url_hint *out)
{
    *out = (struct url_hint){
        .lastmod_ms = sitemap_date_ms(e->lastmod),
        .priority = priority_of(e->priority),
        .changefreq = changefreq_of(e->changefreq),
    };
    return out->lastmod_ms != HINT_NO_LASTMOD ||
           out->priority != HINT_NO_PRIORITY ||
           out->changefreq != CHANGEFREQ_NONE;
}

static int priority_or_default(const struct url_hint *h)
{
    return h == NULL || h->priority == HINT_NO_PRIORITY ? DEFAULT_PRIORITY
                                                        : h->priority;
}

static int64_t lastmod_or_none(const struct url_hint *h)
{
    return h == NULL ? HINT_NO_LASTMOD : h->lastmod_ms;
}

int sitemap_hint_order(const struct url_hint *a, const struct url_hint *b)
{
    int pa = priority_or_default(a), pb = priority_or_default(b);
    int64_t la = lastmod_or_none(a), lb = lastmod_or_none(b);

    if (pa != pb)
        return pa > pb ? -1 : 1;
    if (la != lb)
        return la > lb ? -1 : 1;
    return 0;
}

/* ---- the sitemaps that a robots.txt names ---- */

/*
 * sitemaps.org requires absolute URLs; we resolve a relative one against the
 * file. `example.org/sitemap.xml`, which lacks a scheme alone, is told from a
 * path by its first segment: a name with a dot whose last label could be a
 * top-level domain. Sitemaps have depth 1, as if the origin's start page linked
 * to them, and so have their entries: --depth 0 fetches no sitemap.
 */

#define SITEMAP_LINES_MOST 1000 /* of one robots.txt; others are dropped */

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
                                      struct url_item *like)
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
    struct url_item like = {.depth = 1, .kind = LINK_SITEMAP};
    enum outcome_reason no = judge_line(o, robots, u, &like);

    if (no != REASON_NONE)
        outlinks_drop(f, no, u, &like, 0);
    else
        outlinks_add(f, &like);
}

void sitemap_lines_report(const struct fetcher_options *o,
                          const struct url_lease *l, struct bytes origin,
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

/* Does a line name exactly this URL, after `of` has made both canonical? */
static bool sitemap_lines_name(const struct candidate_rules *of,
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

/* ---- whether a sitemap may list another host's URLs ---- */

/*
 * A sitemap that lists thousands of hosts would make us parse as many
 * robots.txt files, so we look at ORIGINS_MOST for each report and take the
 * rest as refusals.
 */

#define CHAIN_MOST   16  /* sitemaps that led to this one */
#define ORIGINS_MOST 256 /* looked up for one report */

struct sifter {
    const struct candidate_rules *of;
    struct frontier *frontier;
    struct url chain[CHAIN_MOST]; /* the sitemap first */
    size_t length;
    struct map *verdicts; /* origin to `yes` or `no` */
    struct buf text;
};

static char trusted, refused;

enum link_kind link_kind_of_entry(enum sitemap_kind kind)
{
    switch (kind) {
    case SITEMAP_SITEMAP:
        return LINK_SITEMAP_PART;
    case SITEMAP_ALTERNATE:
        return LINK_ALTERNATE;
    default:
        return LINK_LISTED;
    }
}

bool sitemap_needs_trust(const struct url *page, const struct sitemap_entry *e)
{
    return (e->kind == SITEMAP_PAGE || e->kind == SITEMAP_SITEMAP) &&
           !url_same_site(page, e->url);
}

/* ---- the sitemaps that led here ------------------------------------------ */

static void find_chain(struct sifter *s, uint64_t id)
{
    struct url_row row;

    while (id != 0 && s->length < CHAIN_MOST &&
           frontier_url(s->frontier, id, &row, &s->text) == STATUS_OK) {
        struct url *u = &s->chain[s->length];

        if (s->length > 0 && !link_is_sitemap(row.kind))
            return;
        url_init(u);
        s->length++;
        if (url_parse(u, row.url, NULL, NULL) != URL_OK)
            return;
        id = row.via;
    }
}

/* ---- asking -------------------------------------------------------------- */

static bool is_on_the_way(const struct sifter *s, const struct url *u)
{
    for (size_t i = 0; i < s->length; i++)
        if (url_same_site(&s->chain[i], u))
            return true;
    return false;
}

static bool is_named(struct sifter *s, struct bytes origin)
{
    struct robots_row row;
    struct robots *rules;
    bool named = false;

    buf_clear(&s->text);
    if (frontier_robots(s->frontier, origin, &row, &s->text) != STATUS_OK ||
        row.http_status < 200 || row.http_status > 299)
        return false;
    rules = robots_parse(row.body, bytes_of_str("*"));
    for (size_t i = 0; !named && i < s->length; i++)
        named =
            sitemap_lines_name(s->of, rules, origin, url_text(&s->chain[i]));
    robots_free(rules);
    return named;
}

/* http and https on their default ports are one site, as in scope.h, and a
 * crawl may have fetched the robots.txt of either. */
static bool is_named_somewhere(struct sifter *s, const struct url *u,
                               struct bytes origin)
{
    char other[300];
    struct bytes host = url_host(u);
    int n;

    if (is_named(s, origin))
        return true;
    if (u->port != (u->https ? 443 : 80) || host.len > 256)
        return false;
    n = snprintf(other, sizeof other, "%s://%.*s", u->https ? "http" : "https",
                 (int)host.len, host.at);
    return is_named(s, bytes_of(other, (size_t)n));
}

static bool may_list(struct sifter *s, struct bytes text)
{
    struct bytes origin = bytes_of(text.at, url_origin_length(text));
    struct url u;
    bool may = false;
    char *known = map_get(s->verdicts, origin);

    if (known != NULL || map_count(s->verdicts) >= ORIGINS_MOST)
        return known == &trusted;
    url_init(&u);
    if (url_parse(&u, text, NULL, NULL) == URL_OK)
        may = is_on_the_way(s, &u) || is_named_somewhere(s, &u, origin);
    url_fini(&u);
    map_put(s->verdicts, origin, may ? &trusted : &refused);
    return may;
}

/* ---- sifting ------------------------------------------------------------- */

/* Moves the items that stay to the front of `items` and returns their number.
 * Appends the others to `drops`. */
static size_t sift(struct sifter *s, struct url_item *items, size_t n,
                   struct url_drop *drops)
{
    size_t kept = 0, dropped = 0;

    for (size_t i = 0; i < n; i++) {
        if (may_list(s, items[i].url))
            items[kept++] = items[i];
        else
            drops[dropped++] = (struct url_drop){.reason = REASON_CROSS_HOST,
                                                 .host = items[i].key,
                                                 .url = items[i].url};
    }
    return kept;
}

static void sift_report(struct sifter *s, struct report *r)
{
    size_t n = r->elsewhere, own = r->done.outlink_count - n, kept;
    struct url_item *items =
        arena_try(r->arena, r->done.outlink_count * sizeof *items);
    struct url_drop *drops =
        arena_try(r->arena, (r->done.drop_count + n) * sizeof *drops);

    if (items == NULL || drops == NULL) {
        r->done.outlink_count =
            own; /* impossible: the arena has twice the room */
        return;
    }
    memcpy(items, r->done.outlinks, r->done.outlink_count * sizeof *items);
    if (r->done.drop_count > 0)
        memcpy(drops, r->done.drops, r->done.drop_count * sizeof *drops);
    kept = sift(s, items + own, n, drops + r->done.drop_count);
    r->done.outlinks = items;
    r->done.outlink_count = own + kept;
    r->done.drops = drops;
    r->done.drop_count += n - kept;
}

void sitemap_trust_sift(struct report *r, const struct candidate_rules *of,
                        struct frontier *e)
{
    struct sifter s = {.of = of, .frontier = e};

    if (r->elsewhere == 0)
        return;
    buf_init(&s.text, (size_t)1 << 20);
    s.verdicts = map_new();
    find_chain(&s, r->id);
    sift_report(&s, r);
    map_free(s.verdicts, NULL);
    for (size_t i = 0; i < s.length; i++)
        url_fini(&s.chain[i]);
    buf_fini(&s.text);
}

/* ---- reads a sitemap while it arrives ---- */

#define PART_ENTRIES ((size_t)1024)
#define PART_TEXT    ((size_t)128 << 10) /* a larger part is sent */
#define PART_MOST    ((size_t)1 << 20)
#define LEVELS_MOST  2 /* of indexes above an index that is followed */

struct sitemap_stream {
    const struct fetcher_options *o;
    struct queue *reports;
    const struct url_lease *lease;
    struct url page;
    struct sitemap_parser *parser; /* NULL: no octets yet */
    enum status status;
    bool nofollow;           /* X-Robots-Tag */
    uint64_t entries, links; /* `links`: with those to other languages */
    /* the current part */
    struct arena *arena;            /* NULL: it is empty */
    struct outlinks own, elsewhere; /* on the sitemap's host; on others */
};

struct sitemap_stream *sitemap_stream_new(const struct fetcher_options *o,
                                          struct queue *reports,
                                          const struct url_lease *l)
{
    struct sitemap_stream *s = xcalloc(1, sizeof *s);

    s->o = o;
    s->reports = reports;
    s->lease = l;
    url_init(&s->page);
    if (url_parse(&s->page, l->url, NULL, NULL) != URL_OK)
        s->status = STATUS_FORMAT; /* only a damaged store has such a row */
    return s;
}

void sitemap_stream_free(struct sitemap_stream *s)
{
    if (s == NULL)
        return;
    sitemap_parser_free(s->parser);
    outlinks_fini(&s->own);
    outlinks_fini(&s->elsewhere);
    arena_free(s->arena);
    url_fini(&s->page);
    free(s);
}

/* ---- parts --------------------------------------------------------------- */

static size_t part_count(const struct sitemap_stream *s)
{
    return s->own.item_count + s->own.drop_count + s->elsewhere.item_count;
}

static void begin_part(struct sitemap_stream *s)
{
    s->arena = arena_new(2 * PART_MOST);
    outlinks_begin(&s->own, s->lease, s->arena, PART_MOST);
    outlinks_begin(&s->elsewhere, s->lease, s->arena, PART_MOST);
}

static int by_hint(const struct url_item *a, const struct url_item *b)
{
    return sitemap_hint_order(a->hint, b->hint);
}

static void send_part(struct sitemap_stream *s)
{
    struct report *r;

    if (s->arena == NULL)
        return;
    r = report_part(s->lease, s->arena);
    r->elsewhere = s->elsewhere.item_count;
    outlinks_sort(&s->own, by_hint);
    outlinks_sort(&s->elsewhere, by_hint);
    outlinks_append(&s->own, &s->elsewhere);
    outlinks_hand_over(&s->own, &r->done);
    s->arena = NULL;
    queue_send(s->reports, r, report_octets(r));
}

/* ---- entries ------------------------------------------------------------- */

/* The depth of the sitemap, but at least 1: its entries are not seeds. */
static uint32_t entry_depth(const struct sitemap_stream *s)
{
    return s->lease->depth > 0 ? s->lease->depth : 1;
}

/* How many indexes are above the one that names the sitemap of `e`. They are
 * counted as redirects are, and with them. */
static uint16_t levels_above(const struct sitemap_stream *s,
                             const struct sitemap_entry *e)
{
    return e->kind == SITEMAP_SITEMAP && s->lease->kind == LINK_SITEMAP_PART
               ? (uint16_t)(s->lease->hops + 1)
               : 0;
}

/* REASON_NONE: *item is filled in. Otherwise the reason to drop the entry. */
static enum outcome_reason judge_entry(const struct sitemap_stream *s,
                                       const struct url *u,
                                       struct url_item *item)
{
    if (item->kind == LINK_ALTERNATE &&
        (s->o->kinds & LINK_BIT(LINK_ALTERNATE)) == 0)
        return REASON_KIND;
    if (s->nofollow && !s->o->follow_nofollow)
        return REASON_NOFOLLOW;
    if (item->hops > LEVELS_MOST)
        return REASON_NESTED_INDEX;
    return candidate_take(&s->o->rules, u, item);
}

static void take_entry(void *ctx, const struct sitemap_entry *e)
{
    struct sitemap_stream *s = ctx;
    struct url_item like = {
        .depth = entry_depth(s),
        .hops = levels_above(s, e),
        .kind = (uint8_t)link_kind_of_entry(e->kind),
    };
    enum outcome_reason no;
    struct url_hint hint;

    s->links++;
    s->entries += e->kind != SITEMAP_ALTERNATE;
    if (s->arena != NULL &&
        (part_count(s) >= PART_ENTRIES || arena_used(s->arena) >= PART_TEXT))
        send_part(s);
    if (s->arena == NULL)
        begin_part(s);
    candidate_form(&s->o->rules, e->url);
    no = judge_entry(s, e->url, &like);
    if (no != REASON_NONE) {
        outlinks_drop(&s->own, no, e->url, &like, 0);
        return;
    }
    if (sitemap_hint(e, &hint))
        like.hint = &hint;
    outlinks_add(sitemap_needs_trust(&s->page, e) ? &s->elsewhere : &s->own,
                 &like);
}

/* ---- octets -------------------------------------------------------------- */

static void take_robots_tag(void *ctx, struct bytes value)
{
    struct sitemap_stream *s = ctx;
    bool noindex = false;

    robots_tag_header(value, bytes_of_str(s->o->product_token), &noindex,
                      &s->nofollow);
}

static void begin(struct sitemap_stream *s, const struct response *a)
{
    const struct sitemap_options so = {
        .base = &s->page,
        .content_type = response_get(a, RESPONSE_CONTENT_TYPE),
        .entries_most = SITEMAP_COUNT_MOST,
        .alternates = true,
    };

    response_each(a, RESPONSE_X_ROBOTS_TAG, take_robots_tag, s);
    s->parser = sitemap_parser_new(&so, take_entry, s);
}

bool sitemap_stream_take(void *stream, const struct response *a,
                         struct bytes octets)
{
    struct sitemap_stream *s = stream;

    if (s->status != STATUS_OK)
        return false;
    if (s->parser == NULL)
        begin(s, a);
    s->status = sitemap_parser_push(s->parser, octets);
    return s->status == STATUS_OK;
}

/* Plain text without any URL is not a list of URLs. */
static bool is_sitemap(const struct sitemap_stream *s)
{
    enum sitemap_format format = sitemap_parser_format(s->parser);

    return format > SITEMAP_TEXT || (format == SITEMAP_TEXT && s->links > 0);
}

struct sitemap_end sitemap_stream_end(struct sitemap_stream *s)
{
    struct sitemap_end end = {.status = s->status};
    enum status st;

    if (s->parser == NULL)
        return end;
    st = sitemap_parser_finish(s->parser);
    send_part(s);
    end.status = end.status == STATUS_OK ? st : end.status;
    end.is_sitemap = is_sitemap(s);
    end.too_many =
        end.status == STATUS_LIMIT && s->entries >= SITEMAP_COUNT_MOST;
    end.links = s->links;
    return end;
}
