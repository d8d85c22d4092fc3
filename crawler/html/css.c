/* SPDX-License-Identifier: MIT */
/*
 * css.c - the tokens of CSS that matter for links.
 *
 * Strings and names are unescaped only where they can be a link or introduce
 * one: url(, src(, image-set( and @import. Everything else is skipped by the
 * same rules, so that text in a comment or a string is not taken for a link.
 */
#include "crawler/html/css.h"

#include <stdbool.h>
#include <stdint.h>

#include "base/ascii.h"

#define NAME_MOST 32 /* no name we need is longer */

struct css {
    const char *at, *end;
    struct buf *text; /* the string or url last read */
    bool import;      /* behind @import, before its string */
    bool mere_name;   /* in @namespace: its url() is only a name */
    unsigned taking;  /* parentheses open since src( or image-set( */
    void (*visit)(void *ctx, struct bytes url);
    void *ctx;
};

static char peek(const struct css *c, size_t ahead)
{
    return (size_t)(c->end - c->at) > ahead ? c->at[ahead] : '\0';
}

static bool is_newline(char ch)
{
    return ch == '\n' || ch == '\r' || ch == '\f';
}

static bool is_name_octet(char ch)
{
    return ascii_is_alnum(ch) || ch == '-' || ch == '_' ||
           (unsigned char)ch >= 0x80;
}

static void skip_space(struct css *c)
{
    while (c->at < c->end && ascii_is_space(*c->at))
        c->at++;
}

static void found(struct css *c)
{
    if (!c->text->failed && !c->mere_name)
        c->visit(c->ctx, buf_bytes(c->text));
}

/* c->at is at a backslash that begins an escape (section 4.3.7). */
static void read_escape(struct css *c, struct buf *out)
{
    uint32_t u = 0;
    int digits = 0;

    c->at++;
    if (c->at == c->end) {
        buf_add_utf8(out, 0xfffd);
        return;
    }
    if (ascii_hex(*c->at) < 0) {
        buf_add_char(out, *c->at++); /* the rest of a UTF-8 sequence follows */
        return;
    }
    for (; c->at < c->end && digits < 6 && ascii_hex(*c->at) >= 0; digits++)
        u = u << 4 | (uint32_t)ascii_hex(*c->at++);
    if (peek(c, 0) == '\r' && peek(c, 1) == '\n')
        c->at += 2;
    else if (c->at < c->end && ascii_is_space(*c->at))
        c->at++;
    buf_add_utf8(out, u != 0 ? u : 0xfffd);
}

/* c->at is behind the opening quote. False: a newline made it a bad string;
 * c->at is at that newline. */
static bool read_string(struct css *c, char quote)
{
    buf_clear(c->text);
    while (c->at < c->end && *c->at != quote) {
        if (is_newline(*c->at))
            return false;
        if (*c->at != '\\') {
            buf_add_char(c->text, *c->at++);
        } else if (c->end - c->at == 1) {
            c->at++; /* a backslash at the end means nothing */
        } else if (is_newline(c->at[1])) {
            c->at += c->at[1] == '\r' && peek(c, 2) == '\n' ? 3 : 2;
        } else {
            read_escape(c, c->text);
        }
    }
    if (c->at < c->end)
        c->at++;
    return true;
}

/* Section 4.3.14: up to the parenthesis that ends a bad url. */
static void skip_bad_url(struct css *c)
{
    for (; c->at < c->end && *c->at != ')'; c->at++)
        if (*c->at == '\\' && c->end - c->at > 1)
            c->at++;
    if (c->at < c->end)
        c->at++;
}

/* Section 4.3.6: an unquoted url; c->at is behind `url(` and white space. */
static void read_bare_url(struct css *c)
{
    buf_clear(c->text);
    while (c->at < c->end && *c->at != ')') {
        unsigned char ch = (unsigned char)*c->at;

        if (ascii_is_space(*c->at)) {
            skip_space(c);
            if (c->at < c->end && *c->at != ')') {
                skip_bad_url(c);
                return;
            }
        } else if (ch == '"' || ch == '\'' || ch == '(' || ch < 0x20 ||
                   ch == 0x7f || (ch == '\\' && (is_newline(peek(c, 1))))) {
            skip_bad_url(c);
            return;
        } else if (ch == '\\') {
            read_escape(c, c->text);
        } else {
            buf_add_char(c->text, *c->at++);
        }
    }
    if (c->at < c->end)
        c->at++;
    found(c);
}

static void skip_comment(struct css *c)
{
    const char *end = memmem(c->at + 2, (size_t)(c->end - c->at) - 2, "*/", 2);

    c->at = end != NULL ? end + 2 : c->end;
}

/* A name from c->at on, unescaped and lower-cased into `name`; a longer name is
 * skipped and gives "". */
static void read_name(struct css *c, char name[NAME_MOST])
{
    size_t n = 0;

    while (c->at < c->end) {
        char ch = *c->at;

        if (is_name_octet(ch)) {
            c->at++;
        } else if (ch == '\\' && !is_newline(peek(c, 1))) {
            char octets[8];
            struct buf one = {octets, 0, sizeof octets, sizeof octets - 1,
                              false};

            read_escape(c, &one);
            ch = one.len == 1 ? octets[0] : '\x80';
        } else {
            break;
        }
        if (n < NAME_MOST - 1)
            name[n] = ascii_lower(ch);
        n++;
    }
    name[n < NAME_MOST ? n : 0] = '\0';
}

/* url( with a quoted string is a function with that argument. */
static void read_url(struct css *c)
{
    skip_space(c);
    if (peek(c, 0) != '"' && peek(c, 0) != '\'') {
        read_bare_url(c);
        return;
    }
    c->at++;
    if (read_string(c, c->at[-1]))
        found(c);
}

static void read_ident(struct css *c)
{
    char name[NAME_MOST];

    read_name(c, name);
    c->import = false;
    if (peek(c, 0) != '(' || c->at == c->end)
        return;
    c->at++;
    if (strcmp(name, "url") == 0) {
        read_url(c);
    } else if (strcmp(name, "src") == 0 || strcmp(name, "image-set") == 0 ||
               strcmp(name, "-webkit-image-set") == 0) {
        c->taking++;
    } else if (c->taking > 0) {
        c->taking++;
    }
}

static void read_at_word(struct css *c)
{
    char name[NAME_MOST];

    c->at++;
    read_name(c, name);
    c->import = strcmp(name, "import") == 0;
    c->mere_name = strcmp(name, "namespace") == 0;
}

/* One octet that is a token by itself. */
static void read_delimiter(struct css *c)
{
    char ch = *c->at++;

    if (ch == '(' && c->taking > 0)
        c->taking++;
    else if (ch == ')' && c->taking > 0)
        c->taking--;
    else if (ch == ';' || ch == '{' || ch == '}')
        c->mere_name = false;
    if (!ascii_is_space(ch))
        c->import = false;
}

static void read_token(struct css *c)
{
    char name[NAME_MOST], ch = *c->at;

    if (ch == '/' && peek(c, 1) == '*') {
        skip_comment(c);
    } else if (ch == '"' || ch == '\'') {
        c->at++;
        if (read_string(c, ch) && (c->import || c->taking == 1))
            found(c);
        c->import = false;
    } else if (ch == '@') {
        read_at_word(c);
    } else if (ch == '#') {
        c->at++;
        read_name(c, name);
    } else if (is_name_octet(ch) || (ch == '\\' && !is_newline(peek(c, 1)))) {
        read_ident(c);
    } else if (ch == '<' && peek(c, 1) == '!' && peek(c, 2) == '-' &&
               peek(c, 3) == '-') {
        c->at += 4; /* an HTML comment does not hide the sheet */
    } else {
        read_delimiter(c);
    }
}

void css_links(struct bytes css, struct buf *scratch,
               void (*visit)(void *ctx, struct bytes url), void *ctx)
{
    struct css c = {.at = css.at,
                    .end = css.len > 0 ? css.at + css.len : css.at,
                    .text = scratch,
                    .visit = visit,
                    .ctx = ctx};

    while (c.at < c.end)
        read_token(&c);
}
