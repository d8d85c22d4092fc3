/* SPDX-License-Identifier: MIT */
/* charset.c - finds the standard's encodings by label. */
#include "crawler/charset/charset.h"

#include <stdlib.h>

#include "base/ascii.h"
#include "crawler/charset/charset_tables.h"

#define LABEL_MOST 32 /* the longest label has 19 octets */

static int compare_label(const void *key, const void *entry)
{
    return strcmp(key, ((const struct charset_label *)entry)->label);
}

const struct charset *charset_of_label(struct bytes label)
{
    const struct charset_label *found;
    char lower[LABEL_MOST];

    label = bytes_trim(label);
    if (label.len == 0 || label.len >= sizeof lower)
        return NULL;
    for (size_t i = 0; i < label.len; i++) {
        char c = label.at[i];

        if (c == '\0')
            return NULL;
        lower[i] = ascii_lower(c);
    }
    lower[label.len] = '\0';
    found = bsearch(lower, charset_labels, CHARSET_LABEL_COUNT,
                    sizeof *charset_labels, compare_label);
    return found != NULL ? &charsets[found->charset] : NULL;
}

const char *charset_name(const struct charset *c)
{
    return c->name;
}

const struct charset *charset_utf8(void)
{
    return charset_of_utf8;
}

/* ---- the encoding of a page ---- */

/*
 * The prescan of a page's first 1,024 octets is the HTML standard's (section
 * 13.2.3.2), which is not a parser: it knows comments and attributes but not
 * script or title, so a <meta> inside a script counts. It must stay like that,
 * since browsers do the same. A page that names no encoding there may still do
 * so later in its head: see html_tree.h.
 */

static const struct charset *labelled(const char *label)
{
    return charset_of_label(bytes_of_str(label));
}

/* ---- byte order mark and HTTP -------------------------------------------- */

static const struct charset *of_byte_order_mark(struct bytes body)
{
    if (bytes_starts_with(body, "\xef\xbb\xbf"))
        return charset_utf8();
    if (bytes_starts_with(body, "\xfe\xff"))
        return labelled("utf-16be");
    if (bytes_starts_with(body, "\xff\xfe"))
        return labelled("utf-16le");
    return NULL;
}

/* A quoted value up to its closing quote, or a bare word up to one of `enders`.
 * The end of a header field closes a quotation too (MIME Sniffing Standard,
 * section 4.4; Fetch Standard, "collect an HTTP quoted string"); in a meta
 * element one that is not closed is no value. */
static struct bytes unquote(struct bytes s, const char *enders, bool in_header)
{
    size_t n = 0;

    if (s.len > 0 && (s.at[0] == '"' || s.at[0] == '\'')) {
        const char *end = memchr(s.at + 1, s.at[0], s.len - 1);

        if (end == NULL && in_header && s.at[0] == '"')
            return bytes_skip(s, 1);
        return end != NULL ? bytes_of(s.at + 1, (size_t)(end - s.at) - 1)
                           : bytes_of(s.at, 0);
    }
    while (n < s.len && s.at[n] != '\0' && strchr(enders, s.at[n]) == NULL)
        n++;
    return bytes_of(s.at, n);
}

/* HTML standard, "extracting a character encoding from a meta element"; HTTP
 * values are read by the same steps, as charset= is found in both. */
static const struct charset *of_content(struct bytes content, bool in_header)
{
    static const char word[] = "charset";
    const size_t len = sizeof word - 1;

    for (size_t i = 0; i + len <= content.len; i++) {
        if (!bytes_equal_nocase(bytes_of(content.at + i, len),
                                bytes_of(word, len)))
            continue;
        i = bytes_past_space(content, i + len);
        if (i == content.len || content.at[i] != '=') {
            i--; /* search on from here */
            continue;
        }
        i = bytes_past_space(content, i + 1);
        return charset_of_label(
            unquote(bytes_of(content.at + i, content.len - i), " \t\n\f\r;",
                    in_header));
    }
    return NULL;
}

/* ---- meta ---------------------------------------------------------------- */

struct scan {
    const char *at, *end;
};

static bool scan_over(const struct scan *s)
{
    return s->at >= s->end;
}

/* The "get an attribute" steps. The value is cut out, not lower-cased. False:
 * the tag has no more, or the octets end. */
static bool get_attribute(struct scan *s, struct bytes *name,
                          struct bytes *value)
{
    const char *begin;

    while (!scan_over(s) && (ascii_is_space(*s->at) || *s->at == '/'))
        s->at++;
    if (scan_over(s) || *s->at == '>')
        return false;
    begin = s->at;
    while (!scan_over(s) && !ascii_is_space(*s->at) && *s->at != '/' &&
           *s->at != '>' && (*s->at != '=' || s->at == begin))
        s->at++;
    *name = bytes_of(begin, (size_t)(s->at - begin));
    *value = bytes_of(s->at, 0);
    while (!scan_over(s) && ascii_is_space(*s->at))
        s->at++;
    if (scan_over(s))
        return false;
    if (*s->at != '=')
        return true;
    s->at++;
    while (!scan_over(s) && ascii_is_space(*s->at))
        s->at++;
    if (scan_over(s))
        return false;
    if (*s->at == '"' || *s->at == '\'') {
        const char *end =
            memchr(s->at + 1, *s->at, (size_t)(s->end - s->at) - 1);

        if (end == NULL) {
            s->at = s->end;
            return false;
        }
        *value = bytes_of(s->at + 1, (size_t)(end - s->at) - 1);
        s->at = end + 1;
        return true;
    }
    begin = s->at;
    while (!scan_over(s) && !ascii_is_space(*s->at) && *s->at != '>')
        s->at++;
    *value = bytes_of(begin, (size_t)(s->at - begin));
    return !scan_over(s);
}

/* s->at is after `<meta`. NULL: it names no encoding. */
static const struct charset *of_meta(struct scan *s)
{
    struct bytes name, value;
    const struct charset *c = NULL;
    bool got_pragma = false, seen_equiv = false, seen_content = false,
         seen_charset = false;
    enum { UNKNOWN, YES, NO } need_pragma = UNKNOWN;

    while (get_attribute(s, &name, &value)) {
        if (!seen_equiv &&
            bytes_equal_nocase(name, bytes_of_str("http-equiv"))) {
            seen_equiv = true;
            got_pragma =
                bytes_equal_nocase(value, bytes_of_str("content-type"));
        } else if (!seen_content &&
                   bytes_equal_nocase(name, bytes_of_str("content"))) {
            const struct charset *said = of_content(value, false);

            seen_content = true;
            if (said != NULL && c == NULL && !seen_charset) {
                c = said;
                need_pragma = YES;
            }
        } else if (!seen_charset &&
                   bytes_equal_nocase(name, bytes_of_str("charset"))) {
            seen_charset = true;
            c = charset_of_label(value);
            need_pragma = NO;
        }
    }
    if (scan_over(s) || need_pragma == UNKNOWN ||
        (need_pragma == YES && !got_pragma) || c == NULL)
        return NULL;
    if (c->kind == CHARSET_UTF16LE || c->kind == CHARSET_UTF16BE)
        return charset_utf8();
    if (c->kind == CHARSET_USER_DEFINED)
        return labelled("windows-1252");
    return c;
}

const struct charset *charset_of_meta(struct bytes attributes)
{
    struct scan s = {attributes.at, attributes.at + attributes.len};

    return of_meta(&s);
}

static bool is_letter(char c)
{
    return ascii_lower(c) >= 'a' && ascii_lower(c) <= 'z';
}

static bool scan_has(const struct scan *s, const char *lower_text)
{
    size_t n = strlen(lower_text);

    return (size_t)(s->end - s->at) >= n &&
           bytes_equal_nocase(bytes_of(s->at, n), bytes_of(lower_text, n));
}

/* s->at is at a `<`; moves it to the last octet of that markup. */
static void skip_markup(struct scan *s)
{
    const char *end;
    struct bytes name, value;
    size_t n = (size_t)(s->end - s->at);
    size_t letter = n > 1 && s->at[1] == '/' ? 2 : 1;

    if (scan_has(s, "<!--")) {
        end = memmem(s->at + 2, n - 2, "-->", 3);
        s->at = end != NULL ? end + 2 : s->end;
    } else if (n > letter && is_letter(s->at[letter])) {
        while (!scan_over(s) && !ascii_is_space(*s->at) && *s->at != '>')
            s->at++;
        while (get_attribute(s, &name, &value))
            ;
    } else if (n > 1 && strchr("!/?", s->at[1]) != NULL && s->at[1] != '\0') {
        end = memchr(s->at, '>', n);
        s->at = end != NULL ? end : s->end;
    }
}

static const struct charset *prescan(struct bytes body)
{
    struct scan s = {body.at, body.at + (body.len < CHARSET_PRESCAN_MOST
                                             ? body.len
                                             : CHARSET_PRESCAN_MOST)};

    /* UTF-16 without a byte order mark, recognised by the first octets of the
     * declaration. */
    if (body.len >= 6 && memcmp(body.at, "\0<\0?\0x", 6) == 0)
        return labelled("utf-16be");
    if (body.len >= 6 && memcmp(body.at, "<\0?\0x\0", 6) == 0)
        return labelled("utf-16le");
    while (!scan_over(&s)) {
        const char *next = memchr(s.at, '<', (size_t)(s.end - s.at));

        if (next == NULL)
            return NULL;
        s.at = next;
        if (scan_has(&s, "<meta") && s.end - s.at > 5 &&
            (ascii_is_space(s.at[5]) || s.at[5] == '/')) {
            const struct charset *c;

            s.at += 5;
            c = of_meta(&s);
            if (c != NULL)
                return c;
        } else {
            skip_markup(&s);
        }
        s.at++;
    }
    return NULL;
}

const struct charset *charset_sniff(struct bytes body,
                                    struct bytes content_type)
{
    const struct charset *c = of_byte_order_mark(body);

    if (c == NULL)
        c = of_content(content_type, true);
    if (c == NULL && body.len > 0)
        c = prescan(body);
    return c;
}

/* ---- style sheets -------------------------------------------------------- */

/* CSS Syntax Level 3, section 3.2: these very octets, or nothing. */
static const struct charset *of_at_charset(struct bytes body)
{
    static const char word[] = "@charset \"";
    const size_t begin = sizeof word - 1;
    const struct charset *c;
    const char *end;

    if (!bytes_starts_with(body, word))
        return NULL;
    body.len =
        body.len < CHARSET_PRESCAN_MOST ? body.len : CHARSET_PRESCAN_MOST;
    end = memchr(body.at + begin, '"', body.len - begin);
    if (end == NULL || end + 1 == body.at + body.len || end[1] != ';')
        return NULL;
    c = charset_of_label(
        bytes_of(body.at + begin, (size_t)(end - body.at) - begin));
    return c != NULL &&
                   (c->kind == CHARSET_UTF16LE || c->kind == CHARSET_UTF16BE)
               ? charset_utf8()
               : c;
}

const struct charset *charset_sniff_css(struct bytes body,
                                        struct bytes content_type)
{
    const struct charset *c = of_byte_order_mark(body);

    if (c == NULL)
        c = of_content(content_type, true);
    if (c == NULL)
        c = of_at_charset(body);
    return c != NULL ? c : charset_utf8();
}

/* ---- XML ----------------------------------------------------------------- */

/* The encoding of `<?xml ... encoding="..."?>`, if the encoding is a superset
 * of ASCII, which it is if we can read the declaration. */
static const struct charset *of_xml_declaration(struct bytes body)
{
    struct bytes name, value;
    struct scan s = {body.at, body.at};
    const char *end;

    if (body.len < 6 || memcmp(body.at, "<?xml", 5) != 0 ||
        !ascii_is_space(body.at[5]))
        return NULL;
    end = memchr(body.at, '>',
                 body.len < CHARSET_PRESCAN_MOST ? body.len
                                                 : CHARSET_PRESCAN_MOST);
    if (end == NULL)
        return NULL;
    s.at += 5;
    s.end = end + 1;
    while (get_attribute(&s, &name, &value))
        if (bytes_is(name, "encoding")) {
            const struct charset *c = charset_of_label(value);

            if (c != NULL &&
                (c->kind == CHARSET_UTF16LE || c->kind == CHARSET_UTF16BE))
                return charset_utf8();
            return c;
        }
    return NULL;
}

static const struct charset *of_xml_utf16(struct bytes body)
{
    if (body.len >= 4 && memcmp(body.at, "\0<\0?", 4) == 0)
        return labelled("utf-16be");
    if (body.len >= 4 && memcmp(body.at, "<\0?\0", 4) == 0)
        return labelled("utf-16le");
    return NULL;
}

const struct charset *charset_sniff_xml(struct bytes body,
                                        struct bytes content_type)
{
    const struct charset *c = of_byte_order_mark(body);

    if (c == NULL)
        c = of_content(content_type, true);
    if (c == NULL)
        c = of_xml_utf16(body);
    if (c == NULL)
        c = of_xml_declaration(body);
    return c != NULL ? c : charset_utf8();
}
