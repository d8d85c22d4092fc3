/* SPDX-License-Identifier: MIT */
/*
 * robots_line.c - one line of a robots.txt.
 *
 * RFC 9309 section 2.2.4 lets a crawler be lenient with misspelt records, and
 * Google's parser shows which ones are worth it. We search for names at the
 * start of the line, not before the first colon: in `sitemap http://a/` that
 * colon belongs to the URL.
 */
#include "crawler/robots/robots_line.h"

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

bool robots_line_next(struct bytes *rest, struct robots_line *l)
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
