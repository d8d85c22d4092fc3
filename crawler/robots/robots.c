/* SPDX-License-Identifier: MIT */
/*
 * robots.c - robots.txt parse and match (RFC 9309).
 *
 * The file is read twice: first only to learn whether any group names our
 * agent, then to collect the rules of that agent, or of `*`. So no other rules
 * are stored. Rules are sorted by weight, and the first that matches decides.
 *
 * Reading is a small state machine over lines. A run of user-agent lines opens
 * a group, rules close the run, and the next user-agent line opens another:
 *
 *     line         what it does
 *     user-agent   after a rule: a new group begins; if it names us, we
 *                  are in the group
 *     allow,       in our group: store the rule; in any: the run is over
 *     disallow
 *     crawl-delay  the group's delay; the run goes on
 *     sitemap      stored, in any group; the run goes on
 *     others       nothing
 */

#include "crawler/robots/robots.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "base/buf.h"
#include "base/bytes.h"
#include "base/mem.h"
#include "crawler/charset/charset.h"
#include "frontier/url/url_text.h"

/* ---- parses one line of a robots.txt, in any spelling ---- */

/*
 * RFC 9309 section 2.2.4 lets a crawler be lenient with misspelt records, and
 * Google's parser shows which ones are worth it. We search for names at the
 * start of the line, not before the first colon: in `sitemap http://a/` that
 * colon belongs to the URL.
 */

enum robots_directive {
    ROBOTS_LINE_OTHER, /* a comment, an empty line, or an unknown record */
    ROBOTS_LINE_AGENT,
    ROBOTS_LINE_ALLOW,
    ROBOTS_LINE_DISALLOW,
    ROBOTS_LINE_SITEMAP,
    ROBOTS_LINE_DELAY
};

struct robots_line {
    enum robots_directive directive;
    struct bytes whole; /* trimmed, with its comment */
    struct bytes value; /* trimmed, without it; empty if ROBOTS_LINE_OTHER */
};

/* Spellings found on the web; a space matches any blanks. Each may end in s or
 * ed: user-agents, disallowed. */
static const struct {
    const char *name;
    enum robots_directive directive;
} spellings[] = {
    {"user-agent", ROBOTS_LINE_AGENT},   {"useragent", ROBOTS_LINE_AGENT},
    {"user agent", ROBOTS_LINE_AGENT},   {"user_agent", ROBOTS_LINE_AGENT},
    {"useg-agent", ROBOTS_LINE_AGENT},   {"desallow", ROBOTS_LINE_DISALLOW},
    {"allow", ROBOTS_LINE_ALLOW},        {"disallow", ROBOTS_LINE_DISALLOW},
    {"dissallow", ROBOTS_LINE_DISALLOW}, {"dissalow", ROBOTS_LINE_DISALLOW},
    {"disalow", ROBOTS_LINE_DISALLOW},   {"diasllow", ROBOTS_LINE_DISALLOW},
    {"disallaw", ROBOTS_LINE_DISALLOW},  {"dis allow", ROBOTS_LINE_DISALLOW},
    {"sitemap", ROBOTS_LINE_SITEMAP},    {"site-map", ROBOTS_LINE_SITEMAP},
    {"site map", ROBOTS_LINE_SITEMAP},   {"crawl-delay", ROBOTS_LINE_DELAY},
    {"crawldelay", ROBOTS_LINE_DELAY},   {"crawl delay", ROBOTS_LINE_DELAY},
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

bool robots_is_line_end(char c)
{
    return c == '\n' || c == '\r';
}

static struct bytes skip_blanks(struct bytes s)
{
    while (s.len > 0 && is_blank(s.at[0]))
        s = bytes_skip(s, 1);
    return s;
}

static bool skip_letters(struct bytes *s, const char *letters)
{
    size_t n = strlen(letters);

    if (s->len < n ||
        !bytes_equal_nocase(bytes_of(s->at, n), bytes_of(letters, n)))
        return false;
    *s = bytes_skip(*s, n);
    return true;
}

/* Moves *s past `name`; false: *s begins with something else. */
static bool skip_name(struct bytes *s, const char *name)
{
    struct bytes at = *s;

    for (; *name != '\0'; name++) {
        const char letter[2] = {*name, '\0'};

        if (*name == ' ') {
            if (at.len == 0 || !is_blank(at.at[0]))
                return false;
            at = skip_blanks(at);
        } else if (!skip_letters(&at, letter)) {
            return false;
        }
    }
    *s = at;
    return true;
}

/* Is `s`, which follows a name, a colon and a value, or blanks and one word? */
static bool value_follows(struct bytes s, struct bytes *value)
{
    struct bytes rest = skip_blanks(s);

    if (rest.len > 0 && rest.at[0] == ':') {
        *value = bytes_trim(bytes_skip(rest, 1));
        return true;
    }
    if (rest.len == s.len || rest.len == 0)
        return false;
    for (size_t i = 0; i < rest.len; i++)
        if (is_blank(rest.at[i]))
            return false;
    *value = rest;
    return true;
}

static void read_directive(struct robots_line *l, struct bytes text)
{
    l->directive = ROBOTS_LINE_OTHER;
    l->value = bytes_of(NULL, 0);
    for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++) {
        struct bytes s = text;

        if (!skip_name(&s, spellings[i].name))
            continue;
        if (!skip_letters(&s, "s"))
            skip_letters(&s, "ed");
        if (value_follows(s, &l->value)) {
            l->directive = spellings[i].directive;
            return;
        }
    }
}

/* Cuts the next line off *rest; false: there is none. */
static bool robots_line_next(struct bytes *rest, struct robots_line *l)
{
    struct bytes text;
    const char *hash;
    size_t n = 0;

    if (rest->len == 0)
        return false;
    while (n < rest->len && !robots_is_line_end(rest->at[n]))
        n++;
    l->whole = bytes_trim(bytes_of(rest->at, n));
    *rest = bytes_skip(*rest, n < rest->len ? n + 1 : n);
    text = l->whole;
    hash = text.len > 0 ? memchr(text.at, '#', text.len) : NULL;
    if (hash != NULL)
        text = bytes_trim(bytes_of(text.at, (size_t)(hash - text.at)));
    read_directive(l, text);
    return true;
}

/* ---- paths and path patterns of robots.txt, and their match ---- */

/*
 * A pattern is cut at its stars into runs of plain octets. The first run must
 * match at the start of the path, the last at its end if there is a `$`, and
 * each run between is matched at the first place it occurs: a later place could
 * only leave less for the following runs, so nothing is tried twice. memmem()
 * is linear (two-way), and so is the whole. A matcher that goes back to the
 * last star is not: `*aaaab` on a long run of a's makes it quadratic.
 */

/* RFC 3986 section 2.3. */
static bool is_unreserved(unsigned char c)
{
    return ascii_is_alnum((char)c) || c == '-' || c == '.' || c == '_' ||
           c == '~';
}

/* RFC 3986 section 2.2, without the two that are special in a pattern. */
static bool is_reserved(unsigned char c)
{
    return c != '\0' && strchr(":/?#[]@!&'()+,;=", c) != NULL;
}

static void add_encoded(struct buf *out, unsigned char c)
{
    static const char hex[] = "0123456789ABCDEF";
    const char three[3] = {'%', hex[c >> 4], hex[c & 15]};

    buf_add(out, three, sizeof three);
}

/* Appends the unit that starts at s.at[i]; returns how many octets it read. */
static size_t add_unit(struct buf *out, struct bytes s, size_t i)
{
    unsigned char c = (unsigned char)s.at[i];

    if (c == '%' && s.len - i >= 3 && ascii_hex(s.at[i + 1]) >= 0 &&
        ascii_hex(s.at[i + 2]) >= 0) {
        c = (unsigned char)(ascii_hex(s.at[i + 1]) * 16 +
                            ascii_hex(s.at[i + 2]));
        if (is_unreserved(c))
            buf_add_char(out, (char)c);
        else
            add_encoded(out, c);
        return 3;
    }
    if (c == '%' || is_unreserved(c) || is_reserved(c))
        buf_add_char(out, (char)c);
    else
        add_encoded(out, c);
    return 1;
}

/* Appends the path and query of a URL as they are compared: %XX of unreserved
 * octets decoded, once; every other %XX in capitals; octets that are neither
 * reserved nor unreserved in RFC 3986 (non-ASCII, space, `|` ...) as %XX, and
 * also `*` and `$`, which would be special in a pattern. */
static void robots_path_normalise(struct bytes path, struct buf *out)
{
    for (size_t i = 0; i < path.len;)
        i += add_unit(out, path, i);
}

/* As above, for a pattern, where each `*` and a final `$` keep their meaning.
 * Writes at most three octets for one. */
static void robots_pattern_normalise(struct bytes pattern, struct buf *out)
{
    bool in_query = false;

    for (size_t i = 0; i < pattern.len;) {
        char c = pattern.at[i];

        if (c == '?')
            in_query = true;
        if (c == '*' || (c == '$' && i + 1 == pattern.len)) {
            buf_add_char(out, c);
            i++;
        } else if (c == '\'' && in_query) {
            /* As the URL Standard's parser writes it in a query. */
            add_encoded(out, '\'');
            i++;
        } else {
            i += add_unit(out, pattern, i);
        }
    }
}

/* Cuts the run before the next star off *rest, with the star; *last: there was
 * no further star. */
static struct bytes next_run(struct bytes *rest, bool *last)
{
    const char *star = rest->len > 0 ? memchr(rest->at, '*', rest->len) : NULL;
    struct bytes run = *rest;

    *last = star == NULL;
    if (star != NULL) {
        run.len = (size_t)(star - rest->at);
        *rest = bytes_of(star + 1, rest->len - run.len - 1);
    }
    return run;
}

static bool begins_with(struct bytes s, struct bytes run)
{
    return s.len >= run.len && bytes_equal(bytes_of(s.at, run.len), run);
}

static bool ends_with(struct bytes s, struct bytes run)
{
    return s.len >= run.len &&
           bytes_equal(bytes_of(s.at + (s.len - run.len), run.len), run);
}

/* Moves *s past the first occurrence of `run`. */
static bool skip_past(struct bytes *s, struct bytes run)
{
    const char *found;

    if (run.len == 0)
        return true;
    found = s->len > 0 ? memmem(s->at, s->len, run.at, run.len) : NULL;
    if (found == NULL)
        return false;
    found += run.len;
    *s = bytes_of(found, s->len - (size_t)(found - s->at));
    return true;
}

bool robots_pattern_matches(struct bytes pattern, struct bytes path)
{
    bool to_end = pattern.len > 0 && pattern.at[pattern.len - 1] == '$';
    bool last = false;
    struct bytes run;

    if (to_end)
        pattern.len--;
    run = next_run(&pattern, &last);
    if (!begins_with(path, run))
        return false;
    path = bytes_of(path.at + run.len, path.len - run.len);
    if (last)
        return !to_end || path.len == 0;
    for (;;) {
        run = next_run(&pattern, &last);
        if (last && to_end)
            return ends_with(path, run);
        if (!skip_past(&path, run))
            return false;
        if (last)
            return true;
    }
}

/* ---- robots.txt parse and match (RFC 9309) ---- */

#define DELAY_MOST 1e9 /* seconds; a longer Crawl-delay is cut to it */
/* Patterns grow threefold at most, and the lines are stored too. */
#define TEXT_MOST (ROBOTS_READ_MOST * 4 + 1)

struct span {
    uint32_t at, len; /* in robots.text */
};

struct rule {
    struct span pattern; /* normalised; its length is the rule's weight */
    struct span line;    /* as written in the file, trimmed */
    uint32_t order;
    bool allow;
};

struct robots {
    struct buf text;
    struct rule *rules;
    size_t rule_count, rule_cap;
    struct span *sitemaps;
    size_t sitemap_count, sitemap_cap;
    double delay;
    bool group, ended_group; /* for the agent; and another one follows */
};

/* ---- agents ---------------------------------------------------------------*/

/* The product token at the start of `s` (RFC 9309 section 2.2.1). */
static struct bytes product_token(struct bytes s)
{
    size_t n = 0;

    while (n < s.len &&
           (ascii_is_letter(s.at[n]) || s.at[n] == '-' || s.at[n] == '_'))
        n++;
    return bytes_of(s.at, n);
}

/* Does `value` name the agent `token`, or all agents if `token` is empty? */
static bool names_agent(struct bytes value, struct bytes token)
{
    if (token.len > 0)
        return bytes_equal_nocase(product_token(value), token);
    return value.len > 0 && value.at[0] == '*' &&
           (value.len == 1 || value.at[1] == ' ' || value.at[1] == '\t');
}

static bool any_group_names(struct bytes body, struct bytes token)
{
    struct robots_line l;

    while (robots_line_next(&body, &l))
        if (l.directive == ROBOTS_LINE_AGENT && names_agent(l.value, token))
            return true;
    return false;
}

/* ---- collecting -----------------------------------------------------------*/

/* Where we are in the file. */
struct reader {
    struct robots *r;
    struct bytes token; /* empty: the group of all agents */
    bool ours;          /* the current group names us */
    bool rules_seen;    /* the run of user-agent lines is over */
    double run_delay;   /* the last Crawl-delay of the group; < 0: none */
    double our_delay;   /* the delay that applies to us */
    bool delay_behind;  /* it came after the line that names us */
};

static struct span keep(struct robots *r, struct bytes s)
{
    struct span kept = {.at = (uint32_t)r->text.len, .len = (uint32_t)s.len};

    buf_add_bytes(&r->text, s);
    return kept;
}

static struct bytes kept(const struct robots *r, struct span s)
{
    return bytes_of(buf_str(&r->text) + s.at, s.len);
}

static void *room_for_one(void *items, size_t count, size_t *cap, size_t size)
{
    if (count < *cap)
        return items;
    *cap = *cap > 0 ? *cap * 2 : 8;
    return xrealloc(items, *cap * size);
}

static bool robots_begins_with(struct bytes s, const char *prefix)
{
    size_t n = strlen(prefix);

    return s.len >= n &&
           bytes_equal_nocase(bytes_of(s.at, n), bytes_of(prefix, n));
}

static bool begins_url(struct bytes s)
{
    return robots_begins_with(s, "http://") ||
           robots_begins_with(s, "https://") || robots_begins_with(s, "<") ||
           robots_begins_with(s, "\"");
}

/* Does a URL in the value of a Sitemap line end at `i`? *next is where the
 * blanks and commas there end. A comma may be part of a URL, and a blank stands
 * for %20 in some. */
static bool sitemap_ends(struct bytes value, size_t i, size_t *next)
{
    bool comma = false, blank = false;

    for (*next = i; *next < value.len; (*next)++) {
        if (is_blank(value.at[*next]))
            blank = true;
        else if (value.at[*next] == ',')
            comma = true;
        else
            break;
    }
    return *next == value.len || (comma && blank) ||
           (*next > i && begins_url(bytes_skip(value, *next)));
}

static bool is_quote(char c)
{
    return c == '"' || c == '\'';
}

/* Without the signs in which texts enclose a URL. */
static struct bytes disclosed(struct bytes s)
{
    while (s.len > 0 && (s.at[0] == '<' || is_quote(s.at[0])))
        s = bytes_skip(s, 1);
    while (s.len > 0 && (s.at[s.len - 1] == '>' || is_quote(s.at[s.len - 1])))
        s.len--;
    return bytes_trim(s);
}

static void add_sitemap(struct robots *r, struct bytes value)
{
    value = disclosed(value);
    if (value.len == 0)
        return;
    r->sitemaps = room_for_one(r->sitemaps, r->sitemap_count, &r->sitemap_cap,
                               sizeof *r->sitemaps);
    r->sitemaps[r->sitemap_count++] = keep(r, value);
}

/* A line should name one URL, and some name several. */
static void add_sitemaps(struct robots *r, struct bytes value)
{
    while (value.len > 0) {
        size_t n = 0, next = 0;

        while (!sitemap_ends(value, n, &next))
            n = next > n ? next : n + 1;
        add_sitemap(r, bytes_of(value.at, n));
        value = bytes_skip(value, next);
    }
}

static void add_rule(struct robots *r, const struct robots_line *l)
{
    struct rule rule = {.allow = l->directive == ROBOTS_LINE_ALLOW,
                        .order = (uint32_t)r->rule_count};

    if (l->value.len == 0 || (l->value.at[0] != '/' && l->value.at[0] != '*'))
        return; /* matches nothing */
    rule.line = keep(r, l->whole);
    rule.pattern.at = (uint32_t)r->text.len;
    robots_pattern_normalise(l->value, &r->text);
    rule.pattern.len = (uint32_t)(r->text.len - rule.pattern.at);
    r->rules =
        room_for_one(r->rules, r->rule_count, &r->rule_cap, sizeof *r->rules);
    r->rules[r->rule_count++] = rule;
}

/* Reads the number that `s` begins with, seconds with an optional fraction:
 * `1s`, `1,5` and `10 seconds` are found on the web. */
static bool read_seconds(struct bytes s, double *out)
{
    double value = 0, unit = 1;
    bool digits = false, point = false;

    for (size_t i = 0; i < s.len; i++) {
        if (s.at[i] == '.' && !point) {
            point = true;
        } else if (ascii_is_digit(s.at[i])) {
            digits = true;
            if (point)
                value += (s.at[i] - '0') * (unit /= 10);
            else if (value < DELAY_MOST)
                value = value * 10 + (s.at[i] - '0');
        } else {
            break;
        }
    }
    *out = value < DELAY_MOST ? value : DELAY_MOST;
    return digits;
}

static void end_group(struct reader *g)
{
    if (g->ours && g->our_delay > g->r->delay)
        g->r->delay = g->our_delay;
    g->ours = g->rules_seen = g->delay_behind = false;
    g->run_delay = -1;
}

static void on_agent(struct reader *g, struct bytes value)
{
    if (g->rules_seen) {
        g->r->ended_group |= g->ours;
        end_group(g);
    }
    if (!g->ours && names_agent(value, g->token)) {
        g->ours = g->r->group = true;
        g->our_delay = g->run_delay;
    }
}

static void on_delay(struct reader *g, struct bytes value)
{
    double seconds;

    if (!read_seconds(value, &seconds))
        return;
    g->run_delay = seconds;
    if (g->ours && !g->delay_behind) {
        g->our_delay = seconds;
        g->delay_behind = true;
    }
}

static void collect(struct robots *r, struct bytes body, struct bytes token)
{
    struct reader g = {.r = r, .token = token, .run_delay = -1};
    struct robots_line l;

    while (robots_line_next(&body, &l)) {
        switch (l.directive) {
        case ROBOTS_LINE_AGENT:
            on_agent(&g, l.value);
            break;
        case ROBOTS_LINE_ALLOW:
        case ROBOTS_LINE_DISALLOW:
            g.rules_seen = true;
            if (g.ours)
                add_rule(r, &l);
            break;
        case ROBOTS_LINE_SITEMAP:
            add_sitemaps(r, l.value);
            break;
        case ROBOTS_LINE_DELAY:
            on_delay(&g, l.value);
            break;
        case ROBOTS_LINE_OTHER:
            break;
        }
    }
    end_group(&g);
}

/* Heaviest first; rules of equal weight: Allow first. */
static int compare_rules(const void *left, const void *right)
{
    const struct rule *a = left, *b = right;

    if (a->pattern.len != b->pattern.len)
        return a->pattern.len > b->pattern.len ? -1 : 1;
    if (a->allow != b->allow)
        return a->allow ? -1 : 1;
    return a->order < b->order ? -1 : 1;
}

/* A truncated byte order mark is dropped too, as Google's parser does. */
struct bytes robots_readable(struct bytes body)
{
    static const char mark[] = "\xef\xbb\xbf";

    if (body.len > ROBOTS_READ_MOST) {
        size_t n = ROBOTS_READ_MOST;

        if (!robots_is_line_end(body.at[n]))
            while (n > 0 && !robots_is_line_end(body.at[n - 1]))
                n--;
        body.len = n;
    }
    for (size_t i = 0; i < 3 && body.len > 0 && body.at[0] == mark[i]; i++)
        body = bytes_of(body.at + 1, body.len - 1);
    return body;
}

struct robots *robots_allow_all(void)
{
    struct robots *r = xcalloc(1, sizeof *r);

    buf_init(&r->text, TEXT_MOST);
    r->delay = -1;
    return r;
}

/* A file that begins with the byte order mark of UTF-16, in UTF-8; `room` holds
 * it. Any other file is read as it is. Rules are ASCII, which UTF-16 writes
 * with zero octets: without them only the mark is wrong, and is dropped. */
static struct bytes without_utf16(struct bytes body, struct buf *room)
{
    bool little = bytes_starts_with(body, "\xff\xfe");
    struct bytes out = body;

    if (!little && !bytes_starts_with(body, "\xfe\xff"))
        return body;
    if (memchr(body.at, '\0', body.len) == NULL)
        return bytes_skip(body, 2);
    /* At the ceiling it is cut, as is a file that is too long. */
    (void)!charset_decode(charset_of_label(
                              bytes_of_str(little ? "utf-16le" : "utf-16be")),
                          body, room, &out);
    return out;
}

struct robots *robots_parse(struct bytes body, struct bytes agent)
{
    struct robots *r = robots_allow_all();
    struct bytes token = product_token(bytes_trim(agent));
    struct buf room;

    buf_init(&room, 2 * ROBOTS_READ_MOST);
    body = robots_readable(without_utf16(body, &room));
    if (!any_group_names(body, token))
        token.len = 0;
    collect(r, body, token);
    if (r->rule_count > 1)
        qsort(r->rules, r->rule_count, sizeof *r->rules, compare_rules);
    assert(buf_failed(&r->text) == STATUS_OK);
    buf_fini(&room);
    return r;
}

void robots_free(struct robots *r)
{
    if (r == NULL)
        return;
    buf_fini(&r->text);
    free(r->rules);
    free(r->sitemaps);
    free(r);
}

/* ---- asking ---------------------------------------------------------------*/

/* RFC 9309 section 2.2.2: /robots.txt is implicitly allowed. */
static bool is_robots_txt(struct bytes path)
{
    return bytes_is(path, "/robots.txt") || bytes_is(path, "/robots.txt?");
}

static const struct rule *deciding_rule(const struct robots *r,
                                        struct bytes path)
{
    for (size_t i = 0; i < r->rule_count; i++)
        if (robots_pattern_matches(kept(r, r->rules[i].pattern), path))
            return &r->rules[i];
    return NULL;
}

bool robots_allows(const struct robots *r, struct bytes path_query,
                   struct bytes *line)
{
    const struct rule *rule = NULL;
    struct buf path;
    bool allowed = true;

    if (line != NULL)
        *line = bytes_of(NULL, 0);
    if (r->rule_count == 0)
        return true;
    buf_init(&path, path_query.len * 3 + 1); /* it grows threefold at most */
    robots_path_normalise(path_query, &path);
    assert(buf_failed(&path) == STATUS_OK);
    if (!is_robots_txt(buf_bytes(&path)))
        rule = deciding_rule(r, buf_bytes(&path));
    if (rule != NULL) {
        allowed = rule->allow;
        if (line != NULL)
            *line = kept(r, rule->line);
    }
    buf_fini(&path);
    return allowed;
}

double robots_crawl_delay(const struct robots *r)
{
    return r->delay;
}

bool robots_has_group(const struct robots *r, bool cut)
{
    return cut ? r->ended_group : r->group;
}

size_t robots_size(const struct robots *r)
{
    return sizeof *r + r->text.cap + r->rule_cap * sizeof *r->rules +
           r->sitemap_cap * sizeof *r->sitemaps;
}

size_t robots_sitemap_count(const struct robots *r)
{
    return r->sitemap_count;
}

struct bytes robots_sitemap(const struct robots *r, size_t i)
{
    return kept(r, r->sitemaps[i]);
}

/*
 * X-Robots-Tag and the content of <meta name=robots>.
 *
 * No standard describes them; this follows the documentation of the search
 * engines that made them (developers.google.com, "Robots meta tag,
 * data-nosnippet, and X-Robots-Tag"). noindex, nofollow and none are
 * understood, in upper or lower case; other directives (all, noarchive,
 * max-snippet:-1, unavailable_after: DATE) do not concern a crawler. Several
 * values add up: the functions only ever set a bool to true, so one pair can
 * collect all headers and metas of a page. Any thread.
 *
 * The trap is the colon: `urlweir: noindex` names an agent, but
 * `unavailable_after: 25 Jun 2030 15:00:00 GMT` and `max-snippet:20` are
 * directives. So we know the directives that take a value by name, and only a
 * product token can be an agent.
 */

static bool is_separator(char c)
{
    return c == ',' || c == ';' || c == ' ' || c == '\t' || c == '\n' ||
           c == '\r' || c == '\f';
}

static bool is_word(struct bytes a, const char *word)
{
    return bytes_equal_nocase(a, bytes_of_str(word));
}

void robots_tag_directives(struct bytes content, bool *noindex, bool *nofollow)
{
    size_t i = 0;

    while (i < content.len) {
        struct bytes word = bytes_of(content.at + i, 0);

        while (i < content.len && !is_separator(content.at[i])) {
            word.len++;
            i++;
        }
        i++;
        if (is_word(word, "noindex") || is_word(word, "none"))
            *noindex = true;
        if (is_word(word, "nofollow") || is_word(word, "none"))
            *nofollow = true;
    }
}

static bool takes_value(struct bytes name)
{
    return is_word(name, "unavailable_after") || is_word(name, "max-snippet") ||
           is_word(name, "max-image-preview") ||
           is_word(name, "max-video-preview");
}

static bool is_product_token(struct bytes s)
{
    for (size_t i = 0; i < s.len; i++) {
        char c = s.at[i];

        if (!ascii_is_letter(c) && c != '-' && c != '_')
            return false;
    }
    return s.len > 0;
}

/* Cuts `agent:` off the front of *item, if it is there. */
static bool cut_agent(struct bytes *item, struct bytes *agent)
{
    const char *colon = item->len > 0 ? memchr(item->at, ':', item->len) : NULL;
    struct bytes name;

    if (colon == NULL)
        return false;
    name = bytes_trim(bytes_of(item->at, (size_t)(colon - item->at)));
    if (takes_value(name) || (!is_product_token(name) && !bytes_is(name, "*")))
        return false;
    *agent = name;
    *item = bytes_of(colon + 1, item->len - (size_t)(colon + 1 - item->at));
    return true;
}

void robots_tag_header(struct bytes value, struct bytes agent, bool *noindex,
                       bool *nofollow)
{
    bool for_us = true;

    while (value.len > 0) {
        const char *comma = memchr(value.at, ',', value.len);
        struct bytes item = value, named;

        if (comma != NULL)
            item.len = (size_t)(comma - value.at);
        value = comma != NULL ? bytes_of(comma + 1, value.len - item.len - 1)
                              : bytes_of(NULL, 0);
        if (cut_agent(&item, &named))
            for_us = bytes_is(named, "*") || is_word(named, "robots") ||
                     bytes_equal_nocase(named, agent);
        if (for_us)
            robots_tag_directives(item, noindex, nofollow);
    }
}
