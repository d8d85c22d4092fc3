/* SPDX-License-Identifier: MIT */
/*
 * surt.c - sort-friendly form of a URL, for scope and for order.
 *
 * A reader finds WARC records by its own key, so this follows pywb's key,
 * oddities included, rather than a better SURT; tests/interop compares the two
 * over thousands of URLs. Each part is first appended to the result and then
 * changed in place.
 */
#include "frontier/url/surt.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "base/mem.h"
#include "frontier/url/url_text.h"

/* ---- session identifiers that a SURT leaves out ---- */

/*
 * Removes each of these once, searching from the end:
 *
 *   path   /(s(24 alnum)...)/ and then /(24 alnum)/ before a name in .aspx
 *   query  jsessionid=32, phpsessid=32, sid=32, aspsessionid8=24,
 *          cfid=...&cftoken=...; each up to an & that goes too, or to the end
 *
 * Hand-written rather than regular expressions: each pattern is tried from
 * right to left, and a try reads no more than its own text.
 */

/* Returns how many octets matched from the start on, 0 for none. */
typedef size_t (*matcher)(const char *at, size_t len);

static bool is_letter(char c)
{
    return c >= 'a' && c <= 'z';
}

static bool is_alnum(char c)
{
    return is_letter(c) || ascii_is_digit(c);
}

static size_t match_word(const char *at, size_t len, const char *word)
{
    size_t n = strlen(word);

    return len >= n && memcmp(at, word, n) == 0 ? n : 0;
}

/* Are the first `n` octets all of one kind? */
static bool match_run(const char *at, size_t len, size_t n, bool (*kind)(char))
{
    if (len < n)
        return false;
    for (size_t i = 0; i < n; i++)
        if (!kind(at[i]))
            return false;
    return true;
}

static void cut(char *at, size_t *len, size_t from, size_t n)
{
    memmove(at + from, at + from + n, *len - from - n);
    *len -= n;
}

/* ---- path ------------------------------------------------------------- */

/* (24 alnum) */
static size_t match_parenthesis(const char *at, size_t len)
{
    return len >= 26 && at[0] == '(' && at[25] == ')' &&
                   match_run(at + 1, 24, 24, is_alnum)
               ? 26
               : 0;
}

/* (24 alnum)/ */
static size_t match_plain_segment(const char *at, size_t len)
{
    size_t n = match_parenthesis(at, len);

    return n > 0 && n < len && at[n] == '/' ? n + 1 : 0;
}

/* A letter and a parenthesis, repeated, in parentheses: (s(24 alnum))/ */
static size_t match_lettered_segment(const char *at, size_t len)
{
    size_t i = 1, n;

    if (len == 0 || at[0] != '(')
        return 0;
    while (i + 1 < len && is_letter(at[i]) &&
           (n = match_parenthesis(at + i + 1, len - i - 1)) > 0)
        i += n + 1;
    return i > 1 && i + 1 < len && at[i] == ')' && at[i + 1] == '/' ? i + 2 : 0;
}

/* Removes a segment only if a name in .aspx follows: at least one character
 * before the dot, and no question mark in between. */
static size_t strip_segment(char *at, size_t len, matcher match)
{
    size_t aspx = 0; /* the last .aspx that i can reach */

    for (size_t i = len; i-- > 1;) {
        size_t n;

        if (at[i] == '?')
            aspx = 0;
        else if (aspx == 0 && match_word(at + i, len - i, ".aspx") > 0)
            aspx = i;
        else if (aspx > 0 && at[i] == '(' && at[i - 1] == '/' &&
                 (n = match(at + i, len - i)) > 0 && i + n < aspx) {
            cut(at, &len, i, n);
            break;
        }
    }
    return len;
}

size_t surt_strip_path_session(char *at, size_t len)
{
    if (memmem(at, len, ".aspx", 5) == NULL)
        return len;
    len = strip_segment(at, len, match_lettered_segment);
    return strip_segment(at, len, match_plain_segment);
}

/* ---- query ------------------------------------------------------------ */

static size_t match_id32(const char *at, size_t len, const char *word)
{
    size_t n = match_word(at, len, word);

    return n > 0 && match_run(at + n, len - n, 32, is_alnum) ? n + 32 : 0;
}

static size_t match_jsessionid(const char *at, size_t len)
{
    return match_id32(at, len, "jsessionid=");
}

static size_t match_phpsessid(const char *at, size_t len)
{
    return match_id32(at, len, "phpsessid=");
}

static size_t match_sid(const char *at, size_t len)
{
    return match_id32(at, len, "sid=");
}

static size_t match_aspsessionid(const char *at, size_t len)
{
    size_t n = match_word(at, len, "aspsessionid");

    return n > 0 && len - n >= 33 && match_run(at + n, 8, 8, is_letter) &&
                   at[n + 8] == '=' && match_run(at + n + 9, 24, 24, is_letter)
               ? n + 33
               : 0;
}

static size_t strip_parameter(char *at, size_t len, char first, matcher match)
{
    for (size_t i = len; i-- > 0;) {
        size_t n = at[i] == first ? match(at + i, len - i) : 0;

        if (n > 0 && (i + n == len || at[i + n] == '&')) {
            cut(at, &len, i, i + n == len ? n : n + 1);
            break;
        }
    }
    return len;
}

/* cfid=...&cftoken=..., values not empty. The search begins at the ampersand,
 * since the first value may hold many a "cfid=". */
static size_t match_cfid(const char *at, size_t *from, size_t ampersand,
                         size_t len)
{
    size_t end =
        ampersand + match_word(at + ampersand, len - ampersand, "&cftoken=");
    size_t i = ampersand;

    if (end == ampersand || end == len || at[end] == '&')
        return 0;
    while (end < len && at[end] != '&')
        end++;
    while (i-- > 0 && at[i] != '&') {
        if (match_word(at + i, ampersand - 1 - i, "cfid=") > 0) {
            *from = i;
            return end - i;
        }
    }
    return 0;
}

static size_t strip_cfid(char *at, size_t len)
{
    size_t from = 0;

    for (size_t i = len; i-- > 0;) {
        size_t n = at[i] == '&' ? match_cfid(at, &from, i, len) : 0;

        if (n > 0) {
            cut(at, &len, from, from + n == len ? n : n + 1);
            break;
        }
    }
    return len;
}

size_t surt_strip_query_session(char *at, size_t len)
{
    if (memmem(at, len, "id", 2) == NULL)
        return len;
    len = strip_parameter(at, len, 'j', match_jsessionid);
    len = strip_parameter(at, len, 'p', match_phpsessid);
    len = strip_parameter(at, len, 's', match_sid);
    len = strip_parameter(at, len, 'a', match_aspsessionid);
    return strip_cfid(at, len);
}

/* ---- sort-friendly form of a URL, for scope and for order ---- */

/* ---- host ------------------------------------------------------------- */

static struct bytes trim_dots(struct bytes host)
{
    while (host.len > 0 && host.at[0] == '.') {
        host.at++;
        host.len--;
    }
    while (host.len > 0 && host.at[host.len - 1] == '.')
        host.len--;
    return host;
}

/* www. and www with a number, once. What follows may begin with a dot. */
static struct bytes drop_www(struct bytes host)
{
    size_t n = 3;

    if (!bytes_starts_with(host, "www"))
        return host;
    while (n < host.len && ascii_is_digit(host.at[n]))
        n++;
    if (n == host.len || host.at[n] != '.')
        return host;
    return bytes_skip(host, n + 1);
}

/* Each pair of dots becomes one, from left to right, so three leave two. */
static void halve_dots(struct bytes host, struct buf *out)
{
    for (size_t i = 0; i < host.len; i++) {
        buf_add_char(out, host.at[i]);
        if (host.at[i] == '.' && i + 1 < host.len && host.at[i + 1] == '.')
            i++;
    }
}

/* Appends the labels from the last to the first. */
static void add_reversed(struct buf *out, struct bytes host)
{
    const char *dot;

    while ((dot = memrchr(host.at, '.', host.len)) != NULL) {
        size_t from = (size_t)(dot - host.at);

        buf_add_bytes(out, bytes_skip(host, from + 1));
        buf_add_char(out, ',');
        host.len = from;
    }
    buf_add_bytes(out, host);
}

/* False: a host of dots alone has no labels. */
static bool add_labels(struct buf *out, struct bytes host)
{
    struct buf halved;
    struct bytes bare = host;

    buf_init(&halved, host.len + 1);
    if (memmem(host.at, host.len, "..", 2) != NULL) {
        halve_dots(host, &halved);
        bare = buf_bytes(&halved);
    }
    bare = trim_dots(bare);
    if (bare.len > 0)
        add_reversed(out, drop_www(bare));
    buf_fini(&halved);
    return bare.len > 0;
}

/* Without labels, pywb's key begins with the scheme and has no port. It ignores
 * port 0. */
static void add_host(struct buf *out, const struct url *u)
{
    struct bytes host = url_host(u);

    if (host.at[0] == '[') {
        add_labels(out, bytes_of(host.at + 1, host.len - 2));
    } else if (!add_labels(out, host)) {
        buf_add_str(out, u->https ? "https:" : "http:");
        return;
    }
    if (u->port != 0)
        buf_add(out, host.at + host.len, u->path_at - u->host_at - host.len);
    buf_add_char(out, ')');
}

/* ---- escapes and case ------------------------------------------------- */

/* Decodes %XX from `from` to the end, again and again until none is left. */
static void unescape(struct buf *b, size_t from)
{
    size_t end = from;

    if (b->len == from || memchr(b->at + from, '%', b->len - from) == NULL)
        return;
    for (size_t i = from; i < b->len; i++) {
        b->at[end++] = b->at[i];
        while (end - from >= 3 && b->at[end - 3] == '%') {
            int high = ascii_hex(b->at[end - 2]);
            int low = ascii_hex(b->at[end - 1]);

            if (high < 0 || low < 0)
                break;
            end -= 2;
            b->at[end - 1] = (char)(high << 4 | low);
        }
    }
    buf_truncate(b, end);
}

static bool must_escape(char c)
{
    return (unsigned char)c <= ' ' || (unsigned char)c >= 0x7f || c == '#' ||
           c == '%';
}

/* Escapes octets that must be, with lower-case digits, and lower-cases the
 * rest. */
static void escape_and_lower(struct buf *b, size_t from)
{
    size_t more = 0, to;

    for (size_t i = from; i < b->len; i++) {
        if (must_escape(b->at[i]))
            more += 2;
        else if (octet_class(b->at[i]) & OCTET_UPPER)
            b->at[i] = (char)(b->at[i] | 0x20);
    }
    if (more == 0 || buf_room(b, more) == NULL)
        return;
    to = b->len + more;
    for (size_t i = b->len;
         i-- > from;) { /* backwards: nothing is overwritten */
        unsigned char c = (unsigned char)b->at[i];

        if (!must_escape(b->at[i])) {
            b->at[--to] = b->at[i];
            continue;
        }
        b->at[--to] = "0123456789abcdef"[c & 15];
        b->at[--to] = "0123456789abcdef"[c >> 4];
        b->at[--to] = '%';
    }
    buf_grew(b, more);
}

/* ---- path ------------------------------------------------------------- */

static bool segment_is(const char *at, size_t len, const char *what)
{
    return bytes_is(bytes_of(at, len), what);
}

/* The end of a path without its last segment, which ends at `end`. */
static size_t pop_segment(const char *at, size_t from, size_t end)
{
    const char *slash = memrchr(at + from, '/', end - from);

    return slash == NULL ? end : (size_t)(slash - at);
}

/* A "/.." removes the segment before it. That may be empty (so this comes
 * before drop_empty_segments()) or another "/..", which stays if there is
 * nothing to remove. */
static void remove_dots(struct buf *b, size_t from)
{
    size_t end = from, next;
    char *at = b->at;

    for (size_t i = from; i < b->len; i = next) { /* at a slash */
        size_t n, kept = end;

        next = i + 1;
        while (next < b->len && at[next] != '/')
            next++;
        n = next - i;
        if (segment_is(at + i, n, "/."))
            continue;
        if (segment_is(at + i, n, "/.."))
            kept = pop_segment(at, from, end);
        if (kept < end) {
            end = kept;
        } else {
            memmove(at + end, at + i, n);
            end += n;
        }
    }
    buf_truncate(b, end);
}

/* Only a path that is nothing but slashes keeps its last one. */
static void drop_empty_segments(struct buf *b, size_t from)
{
    size_t end = from;
    char *at = b->at;

    for (size_t i = from; i < b->len; i++)
        if (at[i] != '/' || (i + 1 < b->len && at[i + 1] != '/'))
            at[end++] = at[i];
    buf_truncate(b, end);
    if (end == from)
        buf_add_char(b, '/');
}

static void add_path(struct buf *out, const struct url *u)
{
    size_t from = out->len;

    buf_add_bytes(out, url_path(u));
    if (out->len == from)
        return; /* `out` reached its ceiling */
    unescape(out, from);
    remove_dots(out, from);
    drop_empty_segments(out, from);
    escape_and_lower(out, from);
    buf_truncate(out, from + surt_strip_path_session(out->at + from,
                                                     out->len - from));
}

/* ---- query ------------------------------------------------------------ */

struct parameter {
    struct bytes all, name;
};

static int compare(struct bytes a, struct bytes b)
{
    int c = memcmp(a.at, b.at, a.len < b.len ? a.len : b.len);

    return c != 0 ? c : (a.len > b.len) - (a.len < b.len);
}

/* By name, then by value; no value comes before an empty one. */
static int compare_parameters(const void *a, const void *b)
{
    const struct parameter *p = a, *q = b;
    int c = compare(p->name, q->name);

    return c != 0 ? c : compare(p->all, q->all);
}

static size_t count_ampersands(struct bytes in)
{
    size_t n = 0;

    for (size_t i = 0; i < in.len; i++)
        n += in.at[i] == '&';
    return n;
}

static struct parameter next_parameter(struct bytes *in)
{
    const char *end = memchr(in->at, '&', in->len), *equals;
    struct parameter p;

    p.all = bytes_of(in->at, end == NULL ? in->len : (size_t)(end - in->at));
    equals = memchr(p.all.at, '=', p.all.len);
    p.name = bytes_of(p.all.at,
                      equals == NULL ? p.all.len : (size_t)(equals - p.all.at));
    if (end != NULL)
        *in = bytes_of(end + 1, in->len - p.all.len - 1);
    return p;
}

/* Sorts with a copy, since the parameters are written back to the same
 * place. */
static void sort_query(struct buf *b, size_t from)
{
    struct bytes query = bytes_of(b->at + from, b->len - from);
    size_t len = query.len, n = count_ampersands(query) + 1;
    struct parameter *all = NULL;
    char *copy = NULL;

    if (n == 1)
        return;
    all = try_calloc(n, sizeof *all);
    copy = try_malloc(len);
    if (all == NULL || copy == NULL) {
        b->failed = true;
        goto out;
    }
    memcpy(copy, query.at, len);
    query.at = copy;
    for (size_t i = 0; i < n; i++)
        all[i] = next_parameter(&query);
    qsort(all, n, sizeof *all, compare_parameters);
    buf_truncate(b, from);
    for (size_t i = 0; i < n; i++) {
        if (i > 0)
            buf_add_char(b, '&');
        buf_add_bytes(b, all[i].all);
    }
out:
    free(copy);
    free(all);
}

static void add_query(struct buf *out, const struct url *u)
{
    size_t from = out->len + 1;

    if (u->query_at == u->text.len)
        return;
    buf_add(out, u->text.at + u->query_at, u->text.len - u->query_at);
    if (out->len < from)
        return; /* `out` reached its ceiling */
    unescape(out, from);
    escape_and_lower(out, from);
    buf_truncate(out, from + surt_strip_query_session(out->at + from,
                                                      out->len - from));
    sort_query(out, from);
    if (out->len == from) /* held only a session ID */
        buf_truncate(out, from - 1);
}

void surt_of(const struct url *u, struct buf *out)
{
    add_host(out, u);
    add_path(out, u);
    add_query(out, u);
}
