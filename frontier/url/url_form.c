/* SPDX-License-Identifier: MIT */
/* url_form.c - the form that a crawl gives its URLs. */
#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "base/mem.h"
#include "frontier/url/url_form.h"
#include "frontier/url/url_text.h"

/* ---- regular expressions over URLs (PCRE2) ---- */

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

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

static size_t url_rewrite_count(const struct url_rewrite *w)
{
    return w->count;
}

/* The line of rule `i`, for messages. */
static size_t url_rewrite_line(const struct url_rewrite *w, size_t i)
{
    return w->rules[i].line;
}

/* ---- applying ---- */

/* Applies all rules once to the text in `url`. False: the result would be too
 * long, and `url` is unspecified. */
static bool url_rewrite_apply(const struct url_rewrite *w, struct buf *url)
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

static void url_params_drop(struct url *u, const struct url_params_drop *d);

/* ---- session and tracking parameters by name (--drop-tracking) ---- */

/*
 * The list is sorted octet by octet, so that a name is found by halving. A name
 * of the list is never the beginning of another that ends in a star.
 */

static const char *const tracking_names[] = {
    "_branch_match_id",
    "_ga",
    "_gl",
    "_hsenc",
    "_hsmi",
    "_openstat",
    "aspsessionid*",
    "cftoken",
    "dclid",
    "fb_action_ids",
    "fb_action_types",
    "fbclid",
    "gad_source",
    "gbraid",
    "gclid",
    "gclsrc",
    "hsa_*",
    "hsctatracking",
    "igsh",
    "igshid",
    "jsessionid",
    "li_fat_id",
    "mc_cid",
    "mc_eid",
    "mkt_tok",
    "ml_subscriber",
    "ml_subscriber_hash",
    "msclkid",
    "mtm_*",
    "oly_anon_id",
    "oly_enc_id",
    "phpsessid",
    "piwik_*",
    "pk_campaign",
    "pk_kwd",
    "pk_medium",
    "pk_source",
    "rb_clickid",
    "srsltid",
    "ttclid",
    "twclid",
    "utm_*",
    "vero_conv",
    "vero_id",
    "wbraid",
    "wickedid",
    "yclid",
    "ysclid",
};
#define NAMES (sizeof tracking_names / sizeof *tracking_names)

/* Compares a name with one of the list, as strcmp does; 0: it is that one. */
static int compare(struct bytes name, const char *listed)
{
    for (size_t i = 0;; i++) {
        int c = i < name.len ? (unsigned char)ascii_lower(name.at[i]) : 0;

        if (listed[i] == '*' || (c == 0 && listed[i] == '\0'))
            return 0;
        if (c != (unsigned char)listed[i])
            return c - (unsigned char)listed[i];
    }
}

bool url_tracking_has(struct bytes name)
{
    size_t low = 0, high = NAMES;

    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = compare(name, tracking_names[middle]);

        if (order == 0)
            return true;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return false;
}

static bool begins_session(const char *at, size_t len)
{
    static const char word[] = ";jsessionid=";

    return len >= sizeof word - 1 &&
           bytes_equal_nocase(bytes_of(at, sizeof word - 1),
                              bytes_of_str(word));
}

/* Removes path parameters of Java sessions, `;jsessionid=...` up to the next
 * slash or semicolon, from the `len` octets of a path at `at`, in place.
 * Returns the new length; dot segments may have come out. */
static size_t url_tracking_strip_path(char *at, size_t len)
{
    size_t to = 0, from = 0;

    if (memchr(at, ';', len) == NULL)
        return len;
    while (from < len) {
        if (at[from] == ';' && begins_session(at + from, len - from))
            do
                from++;
            while (from < len && at[from] != '/' && at[from] != ';');
        else
            at[to++] = at[from++];
    }
    return to;
}

/* ---- leave parameters out of a query, and sort those that stay ---- */

/*
 * Dropping works in place, moving the parameters that stay to the front, so the
 * common URL, which has no query or nothing to drop, costs one scan.
 */

static bool is_named(struct bytes name, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t len = strlen(names[i]);

        if (len > 0 && names[i][len - 1] == '*'
                ? name.len >= len - 1 && memcmp(name.at, names[i], len - 1) == 0
                : bytes_is(name, names[i]))
            return true;
    }
    return false;
}

static bool goes(const struct url_params_drop *d, struct bytes param)
{
    struct bytes name = bytes_of(param.at, url_find(param, '='));

    return (d->empty && (param.len == 0 || name.len + 1 == param.len)) ||
           is_named(name, d->names, d->count) ||
           (d->tracking && url_tracking_has(name));
}

static struct bytes first_param(struct bytes query)
{
    return bytes_of(query.at, url_find(query, '&'));
}

static void url_params_drop(struct url *u, const struct url_params_drop *d)
{
    char *text = u->text.at;
    size_t end = u->text.len, from = u->query_at + 1, to = from;
    bool first = true;

    if ((d->count == 0 && !d->tracking && !d->empty) || u->query_at >= end)
        return;
    while (from <= end) {
        struct bytes param = first_param(bytes_of(text + from, end - from));

        if (!goes(d, param)) {
            if (!first)
                text[to++] = '&';
            first = false;
            memmove(text + to, param.at, param.len);
            to += param.len;
        }
        from += param.len + 1;
    }
    buf_truncate(&u->text, to == u->query_at + 1 ? u->query_at : to);
}

/* ---- sorting ---- */

struct param {
    struct bytes text;
    size_t name_len;
};

static int by_name(const void *a, const void *b)
{
    const struct param *x = a, *y = b;
    size_t least = x->name_len < y->name_len ? x->name_len : y->name_len;
    int order = least > 0 ? memcmp(x->text.at, y->text.at, least) : 0;

    if (order == 0)
        order = (x->name_len > y->name_len) - (x->name_len < y->name_len);
    if (order == 0) /* as they stood: both point into one text */
        order = (x->text.at > y->text.at) - (x->text.at < y->text.at);
    return order;
}

/* Splits `query` into at most URL_PARAMS_SORTED parameters; 0: it has more.
 * *sorted: they are in order already. */
static size_t split(struct bytes query, struct param *list, bool *sorted)
{
    size_t n = 0;

    *sorted = true;
    for (size_t at = 0; at <= query.len; n++) {
        struct param *p = &list[n];

        if (n == URL_PARAMS_SORTED)
            return 0;
        p->text = first_param(bytes_skip(query, at));
        p->name_len = url_find(p->text, '=');
        *sorted &= n == 0 || by_name(p - 1, p) <= 0;
        at += p->text.len + 1;
    }
    return n;
}

static void url_params_sort(struct url *u)
{
    struct bytes query;
    struct param *list;
    bool sorted;
    size_t n;

    if (u->query_at >= u->text.len)
        return;
    query = bytes_skip(url_text(u), u->query_at + 1);
    if (memchr(query.at, '&', query.len) == NULL)
        return;
    list = xcalloc(URL_PARAMS_SORTED, sizeof *list);
    n = split(query, list, &sorted);
    if (n > 0 && !sorted) {
        struct buf to;

        buf_init(&to, query.len);
        qsort(list, n, sizeof *list, by_name);
        for (size_t i = 0; i < n; i++) {
            if (i > 0)
                buf_add_char(&to, '&');
            buf_add_bytes(&to, list[i].text);
        }
        memcpy(u->text.at + u->query_at + 1, buf_str(&to), query.len);
        buf_fini(&to);
    }
    free(list);
}

/* ---- url form ---- */

/* Incremented whenever a URL may lose other parameters than before: crawls
 * store it with the other rules for their URLs. */
#define URL_TRACKING_VERSION 1

#define URL_FORM_ROUNDS      8

#define RULES_HEAD           "rewrite:\n"
#define TEXT_CEILING         ((size_t)16 << 20)

struct url_form {
    struct url_params_drop drop;
    char **names; /* owned, what drop.names is */
    bool sort;
    struct url_rewrite *rewrite; /* NULL: none */
    struct buf text;             /* url_form_text */
};

/* ---- applying ---- */

/* Reads the text of `u` again, from `text`. */
static bool read_again(struct url *u, struct bytes text)
{
    return url_canonical(u, text, NULL, NULL) == URL_OK;
}

/* Only path parameters can bring out dot segments; then the URL is read again.
 */
static void strip_path(struct url *u)
{
    size_t len = u->query_at - u->path_at;
    char *path = u->text.at + u->path_at;
    size_t left = url_tracking_strip_path(path, len);
    struct buf text;

    if (left == len)
        return;
    buf_init(&text, u->text.len);
    buf_add(&text, u->text.at, u->path_at + left);
    buf_add(&text, u->text.at + u->query_at, u->text.len - u->query_at);
    (void)read_again(u, buf_bytes(&text)); /* it can only be shorter */
    buf_fini(&text);
}

static void arrange(const struct url_form *f, struct url *u)
{
    if (f->drop.tracking)
        strip_path(u);
    url_params_drop(u, &f->drop);
    if (f->sort)
        url_params_sort(u);
}

enum ending { RESTS, RESTLESS, NO_URL };

/* Leaves the form of `u` in `u`, if the rules come to rest; otherwise it is
 * unspecified. */
static enum ending rewrite(const struct url_form *f, struct url *u)
{
    struct buf text;
    bool rests = false, is_one = true, is_short = true;

    buf_init(&text, URL_REWRITE_LENGTH + 1);
    for (unsigned i = 0; i < URL_FORM_ROUNDS && !rests; i++) {
        buf_clear(&text);
        buf_add_bytes(&text, url_text(u));
        is_short = buf_failed(&text) == STATUS_OK &&
                   url_rewrite_apply(f->rewrite, &text);
        rests = is_short && bytes_equal(buf_bytes(&text), url_text(u));
        is_one = !is_short || rests || read_again(u, buf_bytes(&text));
        if (!is_short || !is_one)
            break;
        arrange(f, u);
    }
    buf_fini(&text);
    return rests ? RESTS : is_one ? RESTLESS : NO_URL;
}

static enum ending apply(const struct url_form *f, struct url *u)
{
    struct buf before;
    enum ending end;

    arrange(f, u);
    if (f->rewrite == NULL || u->text.len > URL_REWRITE_LENGTH)
        return RESTS;
    buf_init(&before, URL_REWRITE_LENGTH + 1);
    buf_add_bytes(&before, url_text(u));
    end = rewrite(f, u);
    if (end != RESTS)
        (void)read_again(u, buf_bytes(&before)); /* a canonical URL */
    buf_fini(&before);
    return end;
}

void url_form_apply(const struct url_form *f, struct url *u)
{
    if (f != NULL)
        (void)apply(f, u);
}

/* ---- making ---- */

static bool rests_on(const struct url_form *f, struct bytes sample)
{
    struct url u;
    bool rests;

    url_init(&u);
    rests = url_canonical(&u, sample, NULL, NULL) != URL_OK ||
            apply(f, &u) != RESTLESS;
    url_fini(&u);
    return rests;
}

static enum status try_samples(const struct url_form *f, struct buf *why)
{
    struct buf url;
    enum status st = STATUS_OK;

    buf_init(&url, 4 * URL_REWRITE_LENGTH);
    for (size_t i = 0; st == STATUS_OK && i < url_rewrite_count(f->rewrite);
         i++)
        for (unsigned n = 0;
             st == STATUS_OK && url_rewrite_sample(f->rewrite, i, n, &url); n++)
            if (!rests_on(f, buf_bytes(&url))) {
                buf_addf(why,
                         "%zu: on %.200s the rules do not come to rest: "
                         "applied to their own result, they change it again "
                         "and again",
                         url_rewrite_line(f->rewrite, i), buf_str(&url));
                st = STATUS_FORMAT;
            }
    buf_fini(&url);
    return st;
}

static void copy_names(struct url_form *f, const struct url_params_drop *d)
{
    f->names = xcalloc(d->count + 1, sizeof *f->names);
    for (size_t i = 0; i < d->count; i++)
        f->names[i] = xstrdup(d->names[i]);
    f->drop = *d;
    f->drop.names = (const char *const *)f->names;
}

static void write_text(const struct url_form_options *o, struct buf *out)
{
    buf_addf(out, "canonical form: %d\n", URL_CANONICAL_FORM);
    for (size_t i = 0; i < o->drop.count; i++)
        buf_addf(out, "drop: %s\n", o->drop.names[i]);
    if (o->drop.tracking)
        buf_addf(out, "drop tracking: list %d\n", URL_TRACKING_VERSION);
    if (o->drop.empty)
        buf_add_str(out, "drop empty\n");
    if (o->sort)
        buf_add_str(out, "sort\n");
    if (o->rewrite.len > 0) {
        buf_add_str(out, RULES_HEAD);
        buf_add_bytes(out, o->rewrite);
    }
}

enum status url_form_new(struct url_form **out,
                         const struct url_form_options *o, struct buf *why)
{
    struct url_form *f = xcalloc(1, sizeof *f);
    enum status st = STATUS_OK;

    buf_init(&f->text, TEXT_CEILING);
    write_text(o, &f->text);
    copy_names(f, &o->drop);
    f->sort = o->sort;
    if (o->rewrite.len > 0)
        st = url_rewrite_new(&f->rewrite, o->rewrite, why);
    if (st == STATUS_OK && f->rewrite != NULL)
        st = try_samples(f, why);
    if (st != STATUS_OK) {
        url_form_free(f);
        return st;
    }
    *out = f;
    return STATUS_OK;
}

void url_form_free(struct url_form *f)
{
    if (f == NULL)
        return;
    for (size_t i = 0; i < f->drop.count; i++)
        free(f->names[i]);
    free(f->names);
    url_rewrite_free(f->rewrite);
    buf_fini(&f->text);
    free(f);
}

/* ---- as text ---- */

struct bytes url_form_text(const struct url_form *f)
{
    return buf_bytes(&f->text);
}

struct bytes url_form_rules(struct bytes text)
{
    while (text.len > 0 && !bytes_starts_with(text, RULES_HEAD)) {
        const char *lf = memchr(text.at, '\n', text.len);

        text = bytes_skip(text,
                          lf != NULL ? (size_t)(lf - text.at) + 1 : text.len);
    }
    return bytes_skip(text, text.len > 0 ? sizeof RULES_HEAD - 1 : 0);
}
