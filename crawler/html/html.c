/* SPDX-License-Identifier: MIT */
/*
 * html.c - the tokenizer of the HTML standard, section 13.2.5, written as
 * searches.
 *
 * The standard's eighty states go octet by octet. To find links, most of them
 * mean "up to the next ...", so here they are searches: text to the next `<`, a
 * comment to its end, raw text to its end tag. Two consequences of the states
 * that are easily missed:
 *
 *   <!-->  <!--->     are whole comments; --!> ends one, but not <!--!>
 *   <a/href=x>        a slash in a tag is white space unless > follows
 *
 * Any > ends a doctype, also one inside its quotes.
 */
#include "crawler/html/html.h"

#include <stdint.h>
#include <string.h>

#include "base/ascii.h"
#include "base/octet_block.h"

static size_t left(const struct html_reader *r)
{
    return (size_t)(r->end - r->at);
}

/* The first `c` from `from` on, or the page's end. */
static const char *find(const struct html_reader *r, const char *from, char c)
{
    const char *p =
        from < r->end ? memchr(from, c, (size_t)(r->end - from)) : NULL;

    return p != NULL ? p : r->end;
}

void html_begin(struct html_reader *r, struct bytes page)
{
    *r = (struct html_reader){.at = page.len > 0 ? page.at : "",
                              .tag_whole = true};
    r->end = r->at + page.len;
}

void html_switch(struct html_reader *r, enum html_state state,
                 struct bytes name)
{
    r->state = state;
    r->raw_name = name;
}

/* ---- tags ---------------------------------------------------------------- */

enum { OCTET_SPACE = 1, OCTET_SLASH = 2, OCTET_GREATER = 4, OCTET_EQUALS = 8 };

static const unsigned char octet_class[256] = {
    [' '] = OCTET_SPACE,   ['\n'] = OCTET_SPACE, ['\t'] = OCTET_SPACE,
    ['\r'] = OCTET_SPACE,  ['\f'] = OCTET_SPACE, ['/'] = OCTET_SLASH,
    ['>'] = OCTET_GREATER, ['='] = OCTET_EQUALS,
};

/* The first octet of one of the classes, or the page's end. */
static const char *find_class(const struct html_reader *r, const char *p,
                              unsigned classes)
{
    while (p < r->end && !(octet_class[(unsigned char)*p] & classes))
        p++;
    return p;
}

static const char *skip_class(const struct html_reader *r, const char *p,
                              unsigned classes)
{
    while (p < r->end && (octet_class[(unsigned char)*p] & classes))
        p++;
    return p;
}

/* Reads the value after an equals sign and moves r->at past it. False: the
 * closing quote is missing, so the page ends inside the tag. */
static bool read_value(struct html_reader *r, struct bytes *value)
{
    const char *p = skip_class(r, r->at, OCTET_SPACE), *stop;

    if (p < r->end && (*p == '"' || *p == '\'')) {
        stop = find(r, p + 1, *p);
        *value = bytes_of(p + 1, (size_t)(stop - p) - 1);
        r->at = stop < r->end ? stop + 1 : r->end;
        return stop < r->end;
    }
    stop = find_class(r, p, OCTET_SPACE | OCTET_GREATER);
    *value = bytes_of(p, (size_t)(stop - p));
    r->at = stop;
    return true;
}

static bool end_tag_here(struct html_reader *r, bool whole)
{
    r->in_tag = false;
    r->tag_whole = whole;
    return false;
}

bool html_next_attr(struct html_reader *r, struct html_attr *out)
{
    const char *p, *name_end;

    if (!r->in_tag)
        return false;
    p = skip_class(r, r->at, OCTET_SPACE | OCTET_SLASH);
    if (p < r->end && *p == '>') {
        r->self_closing = p > r->at && p[-1] == '/';
        r->at = p + 1;
        return end_tag_here(r, true);
    }
    if (p == r->end) {
        r->at = p;
        return end_tag_here(r, false);
    }
    /* An equals sign in first position belongs to the name. */
    name_end =
        find_class(r, p + 1,
                   OCTET_SPACE | OCTET_SLASH | OCTET_GREATER | OCTET_EQUALS);
    out->name = bytes_of(p, (size_t)(name_end - p));
    out->value = bytes_of(name_end, 0);
    p = skip_class(r, name_end, OCTET_SPACE);
    if (p == r->end || *p != '=') {
        r->at = name_end;
        return true;
    }
    r->at = p + 1;
    return read_value(r, &out->value) || end_tag_here(r, false);
}

bool html_finish_tag(struct html_reader *r)
{
    struct html_attr ignored;

    if (html_tag_ends(r)) { /* as most do */
        r->at++;
        return !end_tag_here(r, true);
    }
    while (html_next_attr(r, &ignored))
        ;
    return r->tag_whole;
}

/* r->at is at the first letter of a name. */
static enum html_token begin_tag(struct html_reader *r, enum html_token token)
{
    const char *stop =
        find_class(r, r->at, OCTET_SPACE | OCTET_SLASH | OCTET_GREATER);

    r->name = bytes_of(r->at, (size_t)(stop - r->at));
    r->at = stop;
    r->in_tag = true;
    r->tag_whole = false;
    r->self_closing = false;
    return token;
}

/* ---- comments and declarations ------------------------------------------- */

/* Reads a comment whose content begins at r->at, after `<!--`. */
static enum html_token read_comment(struct html_reader *r)
{
    const char *begin = r->at, *p = begin, *stop;

    if (left(r) >= 1 && p[0] == '>') {
        r->text = bytes_of(begin, 0);
        r->at = p + 1;
        return HTML_COMMENT;
    }
    if (left(r) >= 2 && p[0] == '-' && p[1] == '>') {
        r->text = bytes_of(begin, 0);
        r->at = p + 2;
        return HTML_COMMENT;
    }
    while ((p = find(r, p, '-')) < r->end) {
        size_t n = (size_t)(r->end - p);

        stop = p;
        if (n == 1 || (n == 2 && p[1] == '-') ||
            (n == 3 && p[1] == '-' && p[2] == '!')) {
            p = r->end; /* the page ends inside the comment's end */
            goto found;
        }
        if (p[1] != '-') {
            p += 2;
            continue;
        }
        if (p[2] == '>') {
            p += 3;
            goto found;
        }
        if (p[2] == '!' && n > 3 && p[3] == '>') {
            p += 4;
            goto found;
        }
        p += 1;
    }
    stop = r->end;
found:
    r->text = bytes_of(begin, (size_t)(stop - begin));
    r->at = p;
    return HTML_COMMENT;
}

/* Reads a token that ends at the next >, from r->at on. */
static enum html_token read_to_greater(struct html_reader *r,
                                       enum html_token token)
{
    const char *stop = find(r, r->at, '>');

    r->text = bytes_of(r->at, (size_t)(stop - r->at));
    r->at = stop < r->end ? stop + 1 : r->end;
    return token;
}

static enum html_token read_cdata(struct html_reader *r)
{
    const char *stop = left(r) >= 3 ? memmem(r->at, left(r), "]]>", 3) : NULL;

    r->text_state = HTML_CDATA;
    r->state = HTML_DATA;
    r->text = bytes_of(r->at, stop != NULL ? (size_t)(stop - r->at) : left(r));
    r->at = stop != NULL ? stop + 3 : r->end;
    return HTML_TEXT;
}

/* r->at is behind `<!`. */
static enum html_token read_declaration(struct html_reader *r)
{
    struct bytes word = bytes_of(r->at, left(r) < 7 ? left(r) : 7);

    if (bytes_starts_with(word, "--")) {
        r->at += 2;
        return read_comment(r);
    }
    if (bytes_equal_nocase(word, bytes_of_str("doctype"))) {
        r->at += 7;
        return read_to_greater(r, HTML_DOCTYPE);
    }
    if (r->in_foreign && bytes_is(word, "[CDATA[")) {
        r->at += 7;
        return read_cdata(r);
    }
    return read_to_greater(r, HTML_COMMENT);
}

/* ---- raw text ------------------------------------------------------------ */

/* `p` is at a `<`: is it the end tag of the raw text's element? */
static bool is_raw_end(const struct html_reader *r, const char *p)
{
    size_t n = r->raw_name.len;

    return n > 0 && (size_t)(r->end - p) > n + 2 && p[1] == '/' &&
           bytes_equal_nocase(bytes_of(p + 2, n), r->raw_name) &&
           (octet_class[(unsigned char)p[n + 2]] &
            (OCTET_SPACE | OCTET_SLASH | OCTET_GREATER));
}

static const char *find_raw_end(const struct html_reader *r)
{
    const char *p = r->at;

    while ((p = find(r, p, '<')) < r->end && !is_raw_end(r, p))
        p++;
    return p;
}

/* `p` is after a `<` or `</`: does the word script follow, and a delimiter? */
static bool is_script_word(const struct html_reader *r, const char *p)
{
    return r->end - p > 6 &&
           bytes_equal_nocase(bytes_of(p, 6), bytes_of_str("script")) &&
           (octet_class[(unsigned char)p[6]] &
            (OCTET_SPACE | OCTET_SLASH | OCTET_GREATER));
}

/* `p` is at a dash. Skips the run of dashes, and if there are two or more, also
 * a `>` after them, which ends the escape. */
static const char *skip_dashes(const struct html_reader *r, const char *p,
                               bool *ends)
{
    const char *begin = p;

    while (p < r->end && *p == '-')
        p++;
    *ends = p - begin >= 2 && p < r->end && *p == '>';
    return *ends ? p + 1 : p;
}

/* Skips the escaped part that begins at `p`, the dashes of its `<!--`. The end
 * tag of the script ends it as well, and *at_end says so. Sections 13.2.5.18 to
 * 13.2.5.31. */
static const char *skip_script_escape(const struct html_reader *r,
                                      const char *p, bool *at_end)
{
    bool twice = false, ends = false;

    while (p < r->end) {
        if (*p == '-') {
            p = skip_dashes(r, p, &ends);
            if (ends)
                return p;
        } else if (*p != '<') {
            p++;
        } else if (!twice && is_raw_end(r, p)) {
            *at_end = true;
            return p;
        } else if (!twice && is_script_word(r, p + 1)) {
            twice = true;
            p += 8;
        } else if (twice && r->end - p > 1 && p[1] == '/' &&
                   is_script_word(r, p + 2)) {
            twice = false;
            p += 9;
        } else {
            p++;
        }
    }
    return p;
}

static const char *find_script_end(const struct html_reader *r)
{
    const char *p = r->at;
    bool at_end = false;

    while ((p = find(r, p, '<')) < r->end && !is_raw_end(r, p)) {
        p++;
        if (r->end - p >= 3 && memcmp(p, "!--", 3) == 0)
            p = skip_script_escape(r, p + 1, &at_end);
        if (at_end)
            break;
    }
    return p;
}

/* Reads the text up to the end tag, if there is text; then the end tag. */
static enum html_token read_raw(struct html_reader *r)
{
    const char *stop = r->end;

    r->text_state = r->state;
    if (r->state == HTML_SCRIPT)
        stop = find_script_end(r);
    else if (r->state != HTML_PLAINTEXT)
        stop = find_raw_end(r);
    if (stop > r->at) {
        r->text = bytes_of(r->at, (size_t)(stop - r->at));
        r->at = stop;
        return HTML_TEXT;
    }
    if (stop == r->end)
        return HTML_PAGE_END;
    r->state = HTML_DATA;
    r->at = stop + 2;
    return begin_tag(r, HTML_END_TAG);
}

/* ---- the data state ------------------------------------------------------ */

static enum html_token take_text(struct html_reader *r, const char *stop)
{
    r->text_state = HTML_DATA;
    r->text = bytes_of(r->at, (size_t)(stop - r->at));
    r->at = stop;
    return HTML_TEXT;
}

/* r->at is at `</`. */
static enum html_token read_end_tag(struct html_reader *r)
{
    if (left(r) == 2)
        return take_text(r, r->end);
    r->at += 2;
    if (ascii_is_letter(*r->at))
        return begin_tag(r, HTML_END_TAG);
    if (*r->at != '>')
        return read_to_greater(r, HTML_COMMENT);
    r->at++; /* `</>` is ignored */
    r->text_state = HTML_DATA;
    r->text = bytes_of(r->at, 0);
    return HTML_TEXT;
}

enum html_token html_next(struct html_reader *r)
{
    const char *p;

    if (r->in_tag && !html_finish_tag(r))
        return HTML_PAGE_END;
    if (r->at == r->end)
        return HTML_PAGE_END;
    if (r->state == HTML_CDATA)
        return read_cdata(r);
    if (r->state != HTML_DATA)
        return read_raw(r);
    if (*r->at != '<')
        return take_text(r, find(r, r->at, '<'));
    if (left(r) == 1)
        return take_text(r, r->end);
    p = r->at + 1;
    if (ascii_is_letter(*p)) {
        r->at = p;
        return begin_tag(r, HTML_START_TAG);
    }
    switch (*p) {
    case '/':
        return read_end_tag(r);
    case '!':
        r->at += 2;
        return read_declaration(r);
    case '?':
        r->at += 1;
        return read_to_greater(r, HTML_COMMENT);
    default:
        return take_text(r, p);
    }
}

/* ---- decodes text of a page ---- */

/*
 * Character references, line ends, zero octets.
 *
 * Named references take the longest name that matches (section 13.2.5.73). The
 * names are sorted by octets, so those with a common prefix are neighbours, and
 * each further octet narrows the range.
 */

#define REPLACEMENT 0xfffd

/* The first of all[low, high) whose octet `at` is not below `c`;
 * their octets before that are equal. */
static size_t first_not_below(const struct html_entity *all, size_t low,
                              size_t high, size_t at, unsigned char c)
{
    while (low < high) {
        size_t mid = low + (high - low) / 2;

        if ((unsigned char)all[mid].name[at] < c)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* Nearly all references. No name goes on behind its semicolon. */
static const struct html_entity usual[] = {{"nbsp;", "\xc2\xa0"},
                                           {"lt;", "<"},
                                           {"gt;", ">"},
                                           {"quot;", "\""},
                                           {"amp;", "&"}};

static const struct html_entity *find_usual(struct bytes s, size_t *len)
{
    for (size_t i = 0; s.len > 0 && i < sizeof usual / sizeof usual[0]; i++) {
        if (s.at[0] != usual[i].name[0])
            continue;
        *len = strlen(usual[i].name);
        if (s.len >= *len && memcmp(s.at, usual[i].name, *len) == 0)
            return &usual[i];
    }
    return NULL;
}

/* The longest name at the beginning of `s`, or NULL. */
static const struct html_entity *find_entity(struct bytes s, size_t *len)
{
    const struct html_entity *all = html_entities(), *found = NULL;
    size_t low = 0, high = HTML_ENTITY_COUNT;

    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.at[i];

        if (c == 0 || c > 'z')
            break;
        low = first_not_below(all, low, high, i, c);
        high = first_not_below(all, low, high, i, (unsigned char)(c + 1));
        if (low == high)
            break;
        if (all[low].name[i + 1] == '\0') {
            found = &all[low];
            *len = i + 1;
        }
    }
    return found;
}

/* Section 13.2.5.80: numbers of the C1 range mean windows-1252 characters. */
static uint32_t repair_number(uint32_t n)
{
    static const uint16_t windows_1252[32] = {
        0x20ac, 0,      0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021,
        0x02c6, 0x2030, 0x0160, 0x2039, 0x0152, 0,      0x017d, 0,
        0,      0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014,
        0x02dc, 0x2122, 0x0161, 0x203a, 0x0153, 0,      0x017e, 0x0178,
    };

    if (n >= 0x80 && n < 0xa0 && windows_1252[n - 0x80] != 0)
        return windows_1252[n - 0x80];
    return n == 0 ? REPLACEMENT : n; /* buf_add_utf8 replaces other bad ones */
}

/* `s` begins after `&#`. Returns the octets used, 0 if it is not a
 * reference. */
static size_t add_number(struct buf *out, struct bytes s)
{
    bool hex = s.len > 0 && (s.at[0] | 0x20) == 'x';
    size_t begin = hex ? 1 : 0, i = begin;
    int base = hex ? 16 : 10, digit;
    uint32_t n = 0;

    while (i < s.len && (digit = ascii_hex(s.at[i])) >= 0 && digit < base) {
        n = n * (uint32_t)base + (uint32_t)digit;
        if (n > 0x10ffff)
            n = 0x110000; /* too large, and stays so */
        i++;
    }
    if (i == begin)
        return 0;
    buf_add_utf8(out, repair_number(n));
    return i < s.len && s.at[i] == ';' ? i + 1 : i;
}

/* `s` begins after `&`. Returns the octets used, 0 if it is not a reference. */
static size_t add_name(struct buf *out, struct bytes s, bool attribute)
{
    size_t len = 0;
    const struct html_entity *e = find_usual(s, &len);

    if (e == NULL)
        e = find_entity(s, &len);
    if (e == NULL)
        return 0;
    if (attribute && e->name[len - 1] != ';' && len < s.len &&
        (s.at[len] == '=' || ascii_is_alnum(s.at[len])))
        return 0;
    buf_add_str(out, e->text);
    return len;
}

static size_t add_reference(struct buf *out, struct bytes s, bool attribute)
{
    size_t used;

    if (s.len > 0 && s.at[0] == '#') {
        used = add_number(out, bytes_of(s.at + 1, s.len - 1));
        return used > 0 ? used + 1 : 0;
    }
    return add_name(out, s, attribute);
}

enum html_text_as html_text_as(enum html_state state)
{
    switch (state) {
    case HTML_DATA:
        return HTML_AS_DATA;
    case HTML_RCDATA:
        return HTML_AS_RCDATA;
    case HTML_CDATA:
        return HTML_AS_CDATA;
    default:
        return HTML_AS_RAW;
    }
}

/* The first octet from raw[i] on that may stand for others; raw.len: none. */
static size_t next_special(struct bytes raw, size_t i)
{
    for (; i < raw.len; i += 16) {
        const char *at = raw.at + i;
        unsigned n = raw.len - i < 16 ? (unsigned)(raw.len - i) : 16;
        uint64_t found = octet_equal(at, n, '&') | octet_equal(at, n, '\r') |
                         octet_equal(at, n, '\0');

        found &= octet_below(n);
        if (found != 0)
            return i + (unsigned)__builtin_ctzll(found);
    }
    return raw.len;
}

bool html_text_is_plain(struct bytes raw)
{
    return next_special(raw, 0) == raw.len;
}

/* Decodes the octet raw[i], which is not plain, and those that belong to it.
 * Returns how many there are. */
static size_t add_special(struct buf *out, struct bytes raw, size_t i,
                          enum html_text_as as)
{
    bool references = as != HTML_AS_RAW && as != HTML_AS_CDATA;
    bool keep_zero = as == HTML_AS_DATA || as == HTML_AS_CDATA;
    size_t used = 0;

    switch (raw.at[i]) {
    case '\r':
        if (i + 1 == raw.len || raw.at[i + 1] != '\n')
            buf_add_char(out, '\n');
        return 1;
    case '\0':
        buf_add_utf8(out, keep_zero ? 0 : REPLACEMENT);
        return 1;
    default:
        if (references)
            used = add_reference(out, bytes_of(raw.at + i + 1, raw.len - i - 1),
                                 as == HTML_AS_ATTRIBUTE);
        if (used == 0)
            buf_add_char(out, '&');
        return 1 + used;
    }
}

void html_text(struct buf *out, struct bytes raw, enum html_text_as as)
{
    for (size_t i = 0; i < raw.len;) {
        size_t special = next_special(raw, i);

        buf_add(out, raw.at + i, special - i);
        i = special;
        if (i < raw.len)
            i += add_special(out, raw, i, as);
    }
}
