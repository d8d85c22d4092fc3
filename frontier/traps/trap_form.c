/* SPDX-License-Identifier: MIT */
/*
 * trap_form.c - which family of URLs a URL belongs to, under each trap rule.
 *
 * What counts as a number is a word that holds a digit: 7, 2024, 3rd, c0ffee.
 * So a form stands for dates and identifiers in any notation. Consecutive
 * segments that come to the same form are written once: /1/2/3 and /1/2/3/4
 * are of one family, or an endless tree of numbers would have endless families.
 *
 * Which segment repeats, or how a path grows, differs from page to page of a
 * trap; so these two rules put all such URLs below one first segment together.
 */
#include "frontier/traps/trap_form.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "frontier/url/host.h"
#include "frontier/url/url_form.h"

#define REPEATS_LEAST  3   /* of one segment in a path */
#define SEGMENTS_LEAST 16  /* of a path that has grown */
#define PARAMS_LEAST   16  /* of such a query */
#define LENGTH_LEAST   768 /* octets of path and query, the same */
#define SEGMENTS_MOST  256 /* looked at */
#define CONTINUES_MOST 2   /* segments of a filter: red, or color/red */
#define PARAMS_MOST    64  /* the same */

static const struct {
    const char *name;
    uint32_t threshold;
} rules[TRAP_RULES_] = {
    [TRAP_COUNTER] = {"counter", 200},
    [TRAP_REPEAT] = {"repeat", 20},
    [TRAP_GROWTH] = {"growth", 20},
    [TRAP_SAME_BODY] = {"same-body", 200},
    [TRAP_SPIRAL] = {"spiral", 50},
    [TRAP_ORDER] = {"order", 20},
    [TRAP_SESSION] = {"session", 20},
    [TRAP_SUBDOMAIN] = {"subdomain", 50},
    [TRAP_COMBINATION] = {"combination", 200},
};

const char *trap_rule_name(enum trap_rule r)
{
    return (unsigned)r < TRAP_RULES_ ? rules[r].name : "unknown";
}

bool trap_rule_find(struct bytes name, enum trap_rule *out)
{
    for (unsigned r = 0; r < TRAP_RULES_; r++) {
        *out = (enum trap_rule)r;
        if (bytes_is(name, rules[r].name))
            return true;
    }
    return false;
}

uint32_t trap_rule_default(enum trap_rule r)
{
    return rules[r].threshold;
}

bool trap_form_equal(const struct trap_form *a, const struct trap_form *b)
{
    return a->len == b->len && memcmp(a->at, b->at, a->len) == 0 &&
           bytes_equal(a->owner, b->owner);
}

/* ---- parts of a URL ---- */

struct target {
    struct bytes path, query; /* the query with its question mark, or empty */
};

/* Of a canonical URL: the path begins at the first slash behind "://". */
static struct target target_of(struct bytes url)
{
    const char *at = memmem(url.at, url.len, "://", 3), *end = url.at + url.len;
    const char *slash, *mark;

    at = at != NULL ? at + 3 : url.at;
    slash = memchr(at, '/', (size_t)(end - at));
    if (slash == NULL)
        slash = end;
    mark = memchr(slash, '?', (size_t)(end - slash));
    if (mark == NULL)
        mark = end;
    return (struct target){bytes_of(slash, (size_t)(mark - slash)),
                           bytes_of(mark, (size_t)(end - mark))};
}

/* The next segment of *path, which begins with a slash; the slash goes too. */
static bool next_segment(struct bytes *path, struct bytes *out)
{
    const char *end;

    if (path->len == 0)
        return false;
    *path = bytes_skip(*path, 1);
    end = memchr(path->at, '/', path->len);
    *out =
        bytes_of(path->at, end != NULL ? (size_t)(end - path->at) : path->len);
    *path = bytes_skip(*path, out->len);
    return true;
}

static void add(struct trap_form *f, const char *at, size_t len)
{
    size_t room = TRAP_FORM_MOST - f->len;

    if (len > room)
        len = room;
    if (len == 0)
        return;
    memcpy(f->at + f->len, at, len);
    f->len += len;
}

/* ---- numbers ---- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* The word at the front of `s`, which is not empty; *number: it holds a digit.
 * An escaped octet is a letter of some other script. */
static size_t word_length(struct bytes s, bool *number)
{
    size_t i = 0;

    *number = false;
    while (i < s.len) {
        if (s.at[i] == '%' && i + 2 < s.len)
            i += 2;
        else if (is_digit(s.at[i]))
            *number = true;
        else if (!is_letter(s.at[i]))
            break;
        i++;
    }
    return i;
}

/* A minus of a number goes with it: the year before 0 is -1. */
static void drop_sign(struct trap_form *f, size_t begin)
{
    if (f->len > begin && f->at[f->len - 1] == '-' &&
        (f->len - 1 == begin || f->at[f->len - 2] == '='))
        f->len--;
}

/* Adds `s` with an N for each number. True: there was one. */
static bool add_masked(struct trap_form *f, struct bytes s)
{
    size_t begin = f->len;
    bool any = false;

    while (s.len > 0) {
        bool number;
        size_t len = word_length(s, &number);

        if (number) {
            drop_sign(f, begin);
            add(f, "N", 1);
            any = true;
        } else {
            len = len > 0 ? len : 1;
            add(f, s.at, len);
        }
        s = bytes_skip(s, len);
    }
    return any;
}

static bool add_masked_path(struct trap_form *f, struct bytes path)
{
    struct bytes segment;
    size_t last = SIZE_MAX; /* where the masked segment before begins */
    bool any = false;

    while (next_segment(&path, &segment)) {
        size_t begin = f->len, len;
        bool masked;

        add(f, "/", 1);
        masked = add_masked(f, segment);
        len = f->len - begin;
        any |= masked;
        if (masked && last != SIZE_MAX && begin - last == len &&
            memcmp(f->at + last, f->at + begin, len) == 0)
            f->len = begin;
        else
            last = masked ? begin : SIZE_MAX;
    }
    return any;
}

static bool form_counter(const struct target *t, struct trap_form *out)
{
    bool any = add_masked_path(out, t->path);

    return add_masked(out, t->query) || any;
}

/* ---- segments and parameters ---- */

/* The path behind its first segment. */
static struct bytes below_first(const struct target *t, struct bytes *first)
{
    struct bytes path = t->path;

    *first = bytes_of("", 0);
    (void)next_segment(&path, first);
    return path;
}

static void add_first_segment(const struct target *t, struct trap_form *out)
{
    struct bytes first;

    (void)below_first(t, &first);
    add(out, "/", 1);
    add(out, first.at, first.len);
    add(out, "/...", 4);
}

/* Dates such as /2011/11/11 repeat numbers without any harm. */
static bool is_number(struct bytes segment)
{
    for (size_t i = 0; i < segment.len; i++)
        if (!is_digit(segment.at[i]))
            return false;
    return true;
}

static bool form_repeat(const struct target *t, struct trap_form *out)
{
    struct bytes path = t->path, seen[SEGMENTS_MOST], segment;
    size_t n = 0;

    while (n < SEGMENTS_MOST && next_segment(&path, &segment)) {
        unsigned times = 1;

        if (is_number(segment)) /* or empty */
            continue;
        for (size_t i = 0; i < n; i++)
            times += bytes_equal(seen[i], segment);
        if (times >= REPEATS_LEAST) {
            add_first_segment(t, out);
            return true;
        }
        seen[n++] = segment;
    }
    return false;
}

static size_t count_octet(struct bytes s, char c)
{
    size_t n = 0;

    for (size_t i = 0; i < s.len; i++)
        n += s.at[i] == c;
    return n;
}

static bool form_growth(const struct target *t, struct trap_form *out)
{
    if (count_octet(t->path, '/') < SEGMENTS_LEAST &&
        count_octet(t->query, '&') + 1 < PARAMS_LEAST &&
        t->path.len + t->query.len < LENGTH_LEAST)
        return false;
    add_first_segment(t, out);
    return true;
}

/* Directory and names of parameters: what is left out tells the URLs of one
 * script, or of one directory, apart. */
static bool form_same_body(const struct target *t, struct trap_form *out)
{
    struct bytes query = t->query;
    size_t dir = t->path.len;

    while (dir > 0 && t->path.at[dir - 1] != '/')
        dir--;
    if (query.len > 0)
        (void)add_masked_path(out, t->path);
    else
        (void)add_masked_path(out, bytes_of(t->path.at, dir));
    if (query.len == 0) {
        add(out, "*", 1);
        return true;
    }
    while (query.len > 0) {
        size_t name = 1, len;

        while (name < query.len && query.at[name] != '=' &&
               query.at[name] != '&')
            name++;
        for (len = name; len < query.len && query.at[len] != '&'; len++)
            ;
        add(out, query.at, name);
        if (name < len)
            add(out, "=*", 2);
        query = bytes_skip(query, len);
    }
    return true;
}

/* ---- spellings ---- */

struct params {
    struct bytes at[PARAMS_MOST]; /* name=value */
    size_t count;
};

/* False: there are too many. */
static bool split_query(struct bytes query, struct params *out)
{
    out->count = 0;
    while (query.len > 0) {
        const char *end;
        size_t len;

        query = bytes_skip(query, 1); /* the question mark, or & */
        end = memchr(query.at, '&', query.len);
        len = end != NULL ? (size_t)(end - query.at) : query.len;
        if (out->count == PARAMS_MOST)
            return false;
        out->at[out->count++] = bytes_of(query.at, len);
        query = bytes_skip(query, len);
    }
    return true;
}

static struct bytes param_name(struct bytes param)
{
    const char *eq = memchr(param.at, '=', param.len);

    return bytes_of(param.at, eq != NULL ? (size_t)(eq - param.at) : param.len);
}

static int by_text(const void *a, const void *b)
{
    const struct bytes *x = a, *y = b;
    size_t len = x->len < y->len ? x->len : y->len;
    int order = memcmp(x->at, y->at, len);

    return order != 0 ? order : (x->len > y->len) - (x->len < y->len);
}

static bool is_session(struct bytes param)
{
    static const char *const names[] = {"sid", "session", "sess"};
    struct bytes name = param_name(param);
    struct bytes value = bytes_skip(param, name.len);

    if (value.len < 2)
        return false;
    if (url_tracking_has(name))
        return true;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (bytes_equal_nocase(name, bytes_of_str(names[i])))
            return true;
    return false;
}

/* Takes the parameters that hold a session out. True: there were some. */
static bool drop_sessions(struct params *p)
{
    size_t left = 0, count = p->count;

    for (size_t i = 0; i < count; i++)
        if (!is_session(p->at[i]))
            p->at[left++] = p->at[i];
    p->count = left;
    return left < count;
}

/* The path, and the names of the parameters without regard to their order. */
static void add_names(struct trap_form *out, const struct target *t,
                      struct params *p)
{
    (void)add_masked_path(out, t->path);
    qsort(p->at, p->count, sizeof *p->at, by_text);
    for (size_t i = 0; i < p->count; i++) {
        struct bytes name = param_name(p->at[i]);

        add(out, i == 0 ? "?" : "&", 1);
        add(out, name.at, name.len);
    }
}

static bool form_session(const struct target *t, struct trap_form *out)
{
    struct params p;

    if (!split_query(t->query, &p) || !drop_sessions(&p))
        return false;
    add_names(out, t, &p);
    return true;
}

/* ---- parts ---- */

/* Behind a part of a value: a comma, a bar, a plus or a space, as they are or
 * escaped. */
static size_t separator_length(struct bytes s)
{
    static const char *const escaped[] = {"%2C", "%7C", "%20"};

    if (s.at[0] == ',' || s.at[0] == '|' || s.at[0] == '+')
        return 1;
    for (size_t i = 0; i < sizeof escaped / sizeof *escaped; i++)
        if (s.len >= 3 && memcmp(s.at, escaped[i], 3) == 0)
            return 3;
    return 0;
}

/* The next part of the value *s, which goes with its separator. False: there is
 * none that is not empty. */
static bool next_part(struct bytes *s, struct bytes *out)
{
    size_t len = 0, separator = 0;

    do {
        *s = bytes_skip(*s, len + separator);
        separator = 0;
        for (len = 0; len < s->len; len++) {
            separator = separator_length(bytes_skip(*s, len));
            if (separator > 0)
                break;
        }
    } while (len == 0 && s->len > 0);
    *out = bytes_of(s->at, len);
    *s = bytes_skip(*s, len + separator);
    return len > 0;
}

/* Of a name without the numbers in its brackets. */
static uint64_t hash_name(struct bytes name)
{
    char at[128];
    size_t len = 0;
    bool inside = false;

    if (name.len > sizeof at)
        return XXH3_64bits(name.at, name.len);
    for (size_t i = 0; i < name.len; i++) {
        bool escaped =
            i + 2 < name.len && name.at[i] == '%' && name.at[i + 1] == '5';

        if (name.at[i] == '[' || (escaped && name.at[i + 2] == 'B'))
            inside = true;
        if (escaped) {
            memcpy(at + len, name.at + i, 3);
            len += 3;
            i += 2;
        } else if (!inside || !is_digit(name.at[i])) {
            at[len++] = name.at[i];
        }
    }
    return XXH3_64bits(at, len);
}

static int by_number(const void *a, const void *b)
{
    uint64_t x, y;

    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

/* Sorts, and keeps each once. */
static size_t sort_parts(uint64_t *at, size_t n)
{
    size_t left = 0;

    qsort(at, n, sizeof *at, by_number);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || at[i] != at[left - 1])
            at[left++] = at[i];
    return left;
}

/* Segments, which may be filters, of `path`. */
static size_t find_segments(struct bytes path, uint64_t out[TRAP_PARTS_MOST],
                            size_t *parts)
{
    struct bytes segment;
    size_t n = 0;

    *parts = 0;
    while (next_segment(&path, &segment)) {
        if (n == TRAP_PARTS_MOST)
            return 0;
        if (segment.len > 0)
            out[n++] = XXH3_64bits(segment.at, segment.len);
    }
    *parts = n;
    return sort_parts(out, n);
}

/* Sets *parts to how many there are with those that stand there twice. */
static size_t find_parts(const struct target *t, bool sessions,
                         uint64_t out[TRAP_PARTS_MOST], size_t *parts)
{
    struct params p;
    struct bytes first;
    size_t n = 0;

    if (t->query.len == 0)
        return find_segments(below_first(t, &first), out, parts);
    *parts = 0;
    if (!split_query(t->query, &p))
        return 0;
    if (!sessions)
        (void)drop_sessions(&p);
    for (size_t i = 0; i < p.count; i++) {
        struct bytes name = param_name(p.at[i]);
        struct bytes values = bytes_skip(p.at[i], name.len), value;
        uint64_t hash = hash_name(name);

        values = bytes_skip(values, values.len > 0 ? 1 : 0);
        do {
            (void)next_part(&values, &value);
            if (n == TRAP_PARTS_MOST)
                return 0;
            out[n++] = XXH3_64bits_withSeed(value.at, value.len, hash);
        } while (values.len > 0);
    }
    *parts = n;
    return sort_parts(out, n);
}

size_t trap_parts(struct bytes url, bool root, uint64_t out[TRAP_PARTS_MOST])
{
    const struct target t = target_of(url);
    size_t parts;

    return root ? find_segments(t.path, out, &parts)
                : find_parts(&t, true, out, &parts);
}

/* Where that begins which trap_parts() takes apart. */
static const char *parts_begin(const struct target *t, bool root)
{
    struct bytes first;

    if (t->query.len > 0)
        return t->query.at;
    return root ? t->path.at : below_first(t, &first).at;
}

uint64_t trap_spelling(enum trap_rule r, struct bytes url, bool root)
{
    const struct target t = target_of(url);
    uint64_t at[TRAP_PARTS_MOST];
    size_t parts;
    size_t n = root ? find_segments(t.path, at, &parts)
                    : find_parts(&t, r != TRAP_SESSION, at, &parts);
    size_t before = (size_t)(parts_begin(&t, root) - url.at);
    uint64_t seed =
        XXH3_64bits_withSeed(url.at, before, (uint64_t)r + (root ? 256 : 0));

    return XXH3_64bits_withSeed(at, n * sizeof *at, seed);
}

uint32_t trap_first(struct bytes url)
{
    const struct target t = target_of(url);
    struct bytes first;

    (void)below_first(&t, &first);
    return (uint32_t)XXH3_64bits(first.at, first.len);
}

/* All queries of two parts or more of one path; all paths of two segments or
 * more below one first segment. */
static bool form_order(const struct target *t, struct trap_form *out)
{
    uint64_t at[TRAP_PARTS_MOST];
    size_t parts;

    (void)find_parts(t, true, at, &parts);
    if (parts < 2)
        return false;
    if (t->query.len == 0) {
        add_first_segment(t, out);
        return true;
    }
    (void)add_masked_path(out, t->path);
    add(out, "?...", 4);
    return true;
}

static const char root_form[] = "/...";

bool trap_form_is_root(struct bytes form)
{
    return bytes_is(form, root_form);
}

bool trap_form_root(struct bytes host, struct bytes url, struct trap_form *out)
{
    const struct target t = target_of(url);
    struct bytes first, below = below_first(&t, &first);

    if (t.query.len > 0 || first.len == 0 || below.len < 2)
        return false;
    out->owner = host;
    out->len = 0;
    add(out, root_form, sizeof root_form - 1);
    return true;
}

/* ---- hosts ---- */

/* A host below a registrable domain; www is one that people made. */
static bool form_subdomain(struct bytes host, struct trap_form *out)
{
    out->owner = host_registrable(host);
    if (out->owner.len >= host.len ||
        bytes_is(bytes_of(host.at, host.len - out->owner.len), "www."))
        return false;
    add(out, "*.", 2);
    add(out, out->owner.at, out->owner.len);
    return true;
}

/* ---- filters in a path ---- */

bool trap_is_path(struct bytes url)
{
    return memchr(url.at, '?', url.len) == NULL;
}

bool trap_continues(struct bytes url, struct bytes below)
{
    struct bytes rest;

    if (!trap_is_path(url) || !trap_is_path(below))
        return false;
    while (url.len > 0 && url.at[url.len - 1] == '/')
        url.len--;
    if (below.len < url.len + 2 || memcmp(below.at, url.at, url.len) != 0 ||
        below.at[url.len] != '/')
        return false;
    rest = bytes_skip(below, url.len + 1);
    if (rest.at[rest.len - 1] == '/')
        rest.len--;
    return rest.len > 0 && count_octet(rest, '/') < CONTINUES_MOST;
}

bool trap_form(enum trap_rule r, struct bytes host, struct bytes url,
               struct trap_form *out)
{
    const struct target t = target_of(url);

    out->owner = host;
    out->len = 0;
    switch (r) {
    case TRAP_COUNTER:
        return form_counter(&t, out);
    case TRAP_REPEAT:
        return form_repeat(&t, out);
    case TRAP_GROWTH:
        return form_growth(&t, out);
    case TRAP_SAME_BODY:
        return form_same_body(&t, out);
    case TRAP_ORDER:
    case TRAP_COMBINATION:
        return form_order(&t, out);
    case TRAP_SESSION:
        return form_session(&t, out);
    case TRAP_SUBDOMAIN:
        return form_subdomain(host, out);
    default:
        return false;
    }
}
