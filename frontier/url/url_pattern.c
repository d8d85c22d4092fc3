/* SPDX-License-Identifier: MIT */
/* url_pattern.c - regular expressions over URLs (PCRE2). */
#include "frontier/url/url_pattern.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "base/mem.h"

#define MATCH_LIMIT 100000
#define HEAP_LIMIT  4096 /* KiB, of one match */

struct url_pattern {
    pcre2_code *code;
    pcre2_match_context *limits;
};

enum status url_pattern_new(struct url_pattern **out, struct bytes expression,
                            struct buf *why)
{
    struct url_pattern *p;
    int code;
    PCRE2_SIZE where;
    pcre2_code *compiled =
        pcre2_compile((PCRE2_SPTR)expression.at, expression.len, 0, &code,
                      &where, NULL);

    if (compiled == NULL) {
        PCRE2_UCHAR text[128];

        pcre2_get_error_message(code, text, sizeof text);
        buf_addf(why, "%s at character %zu", (const char *)text,
                 (size_t)where + 1);
        if (bytes_starts_with(expression, "*"))
            buf_add_str(why, "; it is a regular expression, no glob: \\.html$ "
                             "is what *.html would be");
        return STATUS_FORMAT;
    }
    (void)pcre2_jit_compile(compiled, PCRE2_JIT_COMPLETE);
    p = xcalloc(1, sizeof *p);
    p->code = compiled;
    p->limits = pcre2_match_context_create(NULL);
    if (p->limits == NULL) {
        url_pattern_free(p);
        return STATUS_NOMEM;
    }
    pcre2_set_match_limit(p->limits, MATCH_LIMIT);
    pcre2_set_heap_limit(p->limits, HEAP_LIMIT);
    *out = p;
    return STATUS_OK;
}

void url_pattern_free(struct url_pattern *p)
{
    if (p == NULL)
        return;
    pcre2_code_free(p->code);
    pcre2_match_context_free(p->limits);
    free(p);
}

bool url_pattern_matches(const struct url_pattern *p, struct bytes text)
{
    pcre2_match_data *data = pcre2_match_data_create(1, NULL);
    bool matches =
        data != NULL && pcre2_match(p->code, (PCRE2_SPTR)text.at, text.len, 0,
                                    0, data, p->limits) >= 0;

    pcre2_match_data_free(data);
    return matches;
}

/* Does this error say that the replacement is at fault, and not the match? */
static bool is_about_replacement(int error)
{
    return error == PCRE2_ERROR_BADREPLACEMENT ||
           error == PCRE2_ERROR_BADREPESCAPE ||
           error == PCRE2_ERROR_REPMISSINGBRACE ||
           error == PCRE2_ERROR_BADSUBSTITUTION ||
           error == PCRE2_ERROR_NOSUBSTRING ||
           error == PCRE2_ERROR_NOUNIQUESUBSTRING;
}

/* Writes `text` to `out`, of `size` octets, with every match replaced, and its
 * length to *len. `with` is as in pcre2_substitute(3), with
 * PCRE2_SUBSTITUTE_EXTENDED: $1, ${name}, \L; a group that is unset is empty.
 * *changed: something matched; otherwise `out` is unspecified.
 * STATUS_FORMAT: `with` is not valid. STATUS_LIMIT: no room. */
static enum status url_pattern_replace(const struct url_pattern *p,
                                       struct bytes text, struct bytes with,
                                       char *out, size_t size, size_t *len,
                                       bool *changed)
{
    PCRE2_SIZE room = size;
    int n =
        pcre2_substitute(p->code, (PCRE2_SPTR)text.at, text.len, 0,
                         PCRE2_SUBSTITUTE_GLOBAL | PCRE2_SUBSTITUTE_EXTENDED |
                             PCRE2_SUBSTITUTE_UNSET_EMPTY,
                         NULL, p->limits, (PCRE2_SPTR)with.at, with.len,
                         (PCRE2_UCHAR *)out, &room);

    *changed = n > 0;
    *len = room;
    if (n == PCRE2_ERROR_NOMEMORY)
        return STATUS_LIMIT;
    return is_about_replacement(n) ? STATUS_FORMAT : STATUS_OK;
}

/* ---- a user's rules that rewrite URLs (--rewrite FILE) ---- */

/*
 * Whether rules come to rest on every URL cannot be decided in general, so
 * url_form.c applies them until nothing changes, and tries them on samples
 * first. A sample is the plain reading of an expression: literals as they
 * stand, the first member of a class, the first alternative, every repeat once.
 */

struct rule {
    struct url_pattern *pattern;
    struct bytes expression, with; /* in `text` */
    size_t line;
};

struct url_rewrite {
    char *text;
    struct rule *rules;
    size_t count;
};

/* ---- reading ---- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static struct bytes next_word(struct bytes *rest)
{
    size_t n = 0;
    struct bytes word;

    *rest = bytes_skip_space(*rest);
    while (n < rest->len && !is_blank(rest->at[n]))
        n++;
    word = bytes_of(rest->at, n);
    *rest = bytes_skip(*rest, n);
    return word;
}

/* A replacement is checked by a pattern that also matches the empty text, with
 * the same groups. */
static enum status check_replacement(const struct rule *r, struct buf *why)
{
    struct url_pattern *p = NULL;
    struct buf either, ignored;
    char out[64];
    size_t len;
    bool changed;
    enum status st = STATUS_OK;

    buf_init(&either, URL_REWRITE_CEILING + 16);
    buf_init(&ignored, 1024);
    buf_add_bytes(&either, r->expression);
    buf_add_str(&either, "|");
    if (url_pattern_new(&p, buf_bytes(&either), &ignored) == STATUS_OK &&
        url_pattern_replace(p, bytes_of_str(""), r->with, out, sizeof out, &len,
                            &changed) == STATUS_FORMAT) {
        buf_addf(why,
                 "'%.*s' is no replacement for it, see pcre2_substitute(3)",
                 (int)r->with.len, r->with.at);
        st = STATUS_FORMAT;
    }
    url_pattern_free(p);
    buf_fini(&ignored);
    buf_fini(&either);
    return st;
}

static enum status read_rule(struct url_rewrite *w, struct bytes line,
                             size_t number, struct buf *why)
{
    struct rule *r = &w->rules[w->count];
    enum status st;

    if (w->count == URL_REWRITE_RULES) {
        buf_addf(why, "more than %d rules", URL_REWRITE_RULES);
        return STATUS_LIMIT;
    }
    *r = (struct rule){.line = number};
    r->expression = next_word(&line);
    r->with = next_word(&line);
    if (bytes_skip_space(line).len > 0) {
        buf_add_str(why, "a rule is EXPRESSION [REPLACEMENT], without blanks "
                         "in either");
        return STATUS_FORMAT;
    }
    st = url_pattern_new(&r->pattern, r->expression, why);
    if (st == STATUS_OK) {
        w->count++;
        st = check_replacement(r, why);
    }
    return st;
}

static enum status read_rules(struct url_rewrite *w, struct bytes text,
                              struct buf *why)
{
    enum status st = STATUS_OK;

    for (size_t number = 1; st == STATUS_OK && text.len > 0; number++) {
        const char *lf = memchr(text.at, '\n', text.len);
        size_t len = lf != NULL ? (size_t)(lf - text.at) : text.len;
        struct bytes line = bytes_trim(bytes_of(text.at, len));
        size_t was = why->len;

        text = bytes_skip(text, lf != NULL ? len + 1 : len);
        if (line.len == 0 || line.at[0] == '#')
            continue;
        buf_addf(why, "%zu: ", number);
        st = read_rule(w, line, number, why);
        if (st == STATUS_OK)
            buf_truncate(why, was);
    }
    return st;
}

enum status url_rewrite_new(struct url_rewrite **out, struct bytes text,
                            struct buf *why)
{
    struct url_rewrite *w;
    enum status st;

    if (text.len > URL_REWRITE_CEILING) {
        buf_addf(why, "more than %zu octets", URL_REWRITE_CEILING);
        return STATUS_LIMIT;
    }
    w = xcalloc(1, sizeof *w);
    w->text = xstrndup(text.at, text.len);
    w->rules = xcalloc(URL_REWRITE_RULES, sizeof *w->rules);
    st = read_rules(w, bytes_of(w->text, text.len), why);
    if (st != STATUS_OK) {
        url_rewrite_free(w);
        return st;
    }
    *out = w;
    return STATUS_OK;
}

void url_rewrite_free(struct url_rewrite *w)
{
    if (w == NULL)
        return;
    for (size_t i = 0; i < w->count; i++)
        url_pattern_free(w->rules[i].pattern);
    free(w->rules);
    free(w->text);
    free(w);
}

size_t url_rewrite_count(const struct url_rewrite *w)
{
    return w->count;
}

size_t url_rewrite_line(const struct url_rewrite *w, size_t i)
{
    return w->rules[i].line;
}

/* ---- applying ---- */

bool url_rewrite_apply(const struct url_rewrite *w, struct buf *url)
{
    char out[URL_REWRITE_LENGTH + 1];

    for (size_t i = 0; i < w->count; i++) {
        const struct rule *r = &w->rules[i];
        size_t len;
        bool changed;

        if (url_pattern_replace(r->pattern, buf_bytes(url), r->with, out,
                                sizeof out, &len, &changed) != STATUS_OK)
            return false;
        if (changed) {
            buf_clear(url);
            buf_add(url, out, len);
        }
    }
    return true;
}

/* ---- samples ---- */

/* Skips a class "[...]", in which a "]" that comes first is a member, and adds
 * a member: the first one, or x if what it has is not said plainly. */
static size_t sample_class(struct bytes e, size_t i, struct buf *out)
{
    size_t first = i + 1;
    bool plain = first < e.len && ascii_is_alnum(e.at[first]);

    buf_add_char(out, plain ? e.at[first] : 'x');
    for (i = first; i < e.len && (e.at[i] != ']' || i == first); i++)
        if (e.at[i] == '\\')
            i++;
    return i + 1;
}

static size_t sample_escape(struct bytes e, size_t i, struct buf *out)
{
    char c = i + 1 < e.len ? e.at[i + 1] : '\0';

    if (c == 'd')
        buf_add_char(out, '1');
    else if (c == 'w' || c == 'S' || c == 'D')
        buf_add_char(out, 'x');
    else if (c != '\0' && !ascii_is_alnum(c))
        buf_add_char(out, c);
    return i + 2;
}

/* Skips to the parenthesis that ends this alternative's group. */
static size_t skip_alternatives(struct bytes e, size_t i)
{
    size_t depth = 0;

    for (; i < e.len; i++) {
        if (e.at[i] == '\\')
            i++;
        else if (e.at[i] == '(')
            depth++;
        else if (e.at[i] == ')' && depth-- == 0)
            break;
    }
    return i;
}

/* Skips "(?:", "(?<name>", "(?i)"; a lookahead is read as a group. */
static size_t skip_group_head(struct bytes e, size_t i)
{
    i++;
    if (i >= e.len || e.at[i] != '?')
        return i;
    while (i < e.len && e.at[i] != ':' && e.at[i] != '>' && e.at[i] != ')' &&
           e.at[i] != '=' && e.at[i] != '!')
        i++;
    return i < e.len && e.at[i] != ')' ? i + 1 : i;
}

static size_t skip_repeat(struct bytes e, size_t i)
{
    while (i < e.len && e.at[i] != '}')
        i++;
    return i + 1;
}

static void sample(struct bytes e, struct buf *out)
{
    for (size_t i = 0; i < e.len;) {
        switch (e.at[i]) {
        case '[':
            i = sample_class(e, i, out);
            break;
        case '\\':
            i = sample_escape(e, i, out);
            break;
        case '(':
            i = skip_group_head(e, i);
            break;
        case '|':
            i = skip_alternatives(e, i + 1);
            break;
        case '{':
            i = skip_repeat(e, i);
            break;
        case '.':
            buf_add_char(out, 'x');
            i++;
            break;
        default:
            if (strchr("^$)*+?", e.at[i]) == NULL)
                buf_add_char(out, e.at[i]);
            i++;
        }
    }
}

/* Adds what the expression stands for, after a host unless it has one. */
static void add_sample(const struct rule *r, const char *before, unsigned times,
                       const char *after, struct buf *out)
{
    struct buf one;

    buf_init(&one, URL_REWRITE_CEILING);
    sample(r->expression, &one);
    if (bytes_starts_with(buf_bytes(&one), "//"))
        buf_add_str(out, "http:");
    else if (!bytes_starts_with(buf_bytes(&one), "http"))
        buf_add_str(out, before);
    while (times-- > 0)
        buf_add_bytes(out, buf_bytes(&one));
    buf_add_str(out, after);
    buf_fini(&one);
}

bool url_rewrite_sample(const struct url_rewrite *w, size_t i, unsigned n,
                        struct buf *out)
{
    static const struct {
        const char *before;
        unsigned times;
        const char *after;
    } ways[] = {{"http://h.example/", 1, ""},
                {"http://h.example", 1, ""},
                {"http://h.example/p?", 1, ""},
                {"http://h.example/p?a=1&", 1, ""},
                {"http://h.example/", 1, "h.example/p"},
                {"http://h.example/", 2, ""},
                {"http://h.example", 3, ""},
                {"http://h.example/p?a=1&", 2, "&b=1"}};

    buf_clear(out);
    if (n >= sizeof ways / sizeof *ways)
        return false;
    add_sample(&w->rules[i], ways[n].before, ways[n].times, ways[n].after, out);
    return true;
}
