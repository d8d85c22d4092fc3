/* SPDX-License-Identifier: MIT */
/*
 * netrc.c - the logins of a .netrc file.
 *
 * We do not use libcurl's reader (CURLOPT_NETRC): it opens the file for each
 * request, sends `default` to every host of a crawl, and ignores scheme and
 * port.
 */
#include "crawler/fetch/netrc.h"

#include <string.h>

#include "base/ascii.h"

#define VALUE_MOST ((size_t)4096)

struct netrc_scan {
    struct bytes left;
    size_t line;
    struct buf token;
    const char *wrong; /* NULL: nothing yet */
};

struct netrc_entry {
    struct buf machine, login, password;
    bool begun;
};

static void fail(struct netrc_scan *s, const char *what)
{
    if (s->wrong == NULL)
        s->wrong = what;
}

static char step(struct netrc_scan *s)
{
    char c = s->left.at[0];

    s->line += c == '\n';
    s->left = bytes_of(s->left.at + 1, s->left.len - 1);
    return c;
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static void skip_line(struct netrc_scan *s)
{
    while (s->left.len > 0 && step(s) != '\n')
        continue;
}

/* A macro ends at an empty line. */
static void skip_macro(struct netrc_scan *s)
{
    skip_line(s);
    while (s->left.len > 0 && s->left.at[0] != '\n' && s->left.at[0] != '\r')
        skip_line(s);
}

static char unescaped(char c)
{
    switch (c) {
    case 'n':
        return '\n';
    case 'r':
        return '\r';
    case 't':
        return '\t';
    default:
        return c;
    }
}

static void read_quoted(struct netrc_scan *s)
{
    (void)step(s);
    while (s->left.len > 0 && s->left.at[0] != '"') {
        char c = step(s);

        if (c == '\\' && s->left.len > 0)
            c = unescaped(step(s));
        buf_add_char(&s->token, c);
    }
    if (s->left.len == 0)
        fail(s, "a quote is not closed");
    else
        (void)step(s);
}

/* Reads the next token into s->token. False: there is none. */
static bool next_token(struct netrc_scan *s)
{
    buf_clear(&s->token);
    for (;;) {
        while (s->left.len > 0 && is_space(s->left.at[0]))
            (void)step(s);
        if (s->left.len == 0 || s->left.at[0] != '#')
            break;
        skip_line(s);
    }
    if (s->left.len == 0)
        return false;
    if (s->left.at[0] == '"')
        read_quoted(s);
    else
        while (s->left.len > 0 && !is_space(s->left.at[0]))
            buf_add_char(&s->token, step(s));
    if (buf_failed(&s->token) != STATUS_OK)
        fail(s, "a value is too long");
    return s->wrong == NULL;
}

static bool is_control(char c)
{
    return (unsigned char)c < 0x20 || c == 0x7f;
}

/* Reads the value after a keyword. Passwords may begin with #. */
static void read_value(struct netrc_scan *s, struct buf *out)
{
    while (s->left.len > 0 && is_space(s->left.at[0]) && s->left.at[0] != '\n')
        (void)step(s);
    buf_clear(&s->token);
    buf_clear(out);
    if (s->left.len > 0 && s->left.at[0] == '#')
        while (s->left.len > 0 && !is_space(s->left.at[0]))
            buf_add_char(&s->token, step(s));
    else if (!next_token(s))
        fail(s, "a word has no value");
    for (size_t i = 0; i < s->token.len; i++)
        if (is_control(buf_str(&s->token)[i]))
            fail(s, "a value holds a control character");
    buf_add_bytes(out, buf_bytes(&s->token));
}

static void end_entry(struct netrc_entry *e, netrc_visit visit, void *ctx)
{
    if (e->begun && (e->login.len > 0 || e->password.len > 0))
        visit(ctx, buf_bytes(&e->machine), buf_bytes(&e->login),
              buf_bytes(&e->password));
    e->begun = false;
    buf_clear(&e->machine);
    buf_clear(&e->login);
    buf_clear(&e->password);
}

static void read_word(struct netrc_scan *s, struct netrc_entry *e,
                      netrc_visit visit, void *ctx)
{
    struct bytes word = buf_bytes(&s->token);
    struct buf other;

    buf_init(&other, VALUE_MOST);
    if (bytes_is(word, "machine")) {
        end_entry(e, visit, ctx);
        e->begun = true;
        read_value(s, &e->machine);
    } else if (bytes_is(word, "default")) {
        end_entry(e, visit, ctx);
        e->begun = true;
    } else if (bytes_is(word, "macdef")) {
        skip_macro(s);
    } else if (bytes_is(word, "account")) {
        read_value(s, &other);
    } else if (bytes_is(word, "login") && e->begun) {
        read_value(s, &e->login);
    } else if (bytes_is(word, "password") && e->begun) {
        read_value(s, &e->password);
    } else {
        fail(s, e->begun ? "not one of the words machine, default, login, "
                           "password, account and macdef"
                         : "nothing but machine, default or macdef may be "
                           "first");
    }
    buf_fini(&other);
}

enum status netrc_read(struct bytes text, netrc_visit visit, void *ctx,
                       struct buf *error)
{
    struct netrc_scan s = {.left = text, .line = 1};
    struct netrc_entry e = {.begun = false};

    buf_init(&s.token, VALUE_MOST);
    buf_init(&e.machine, VALUE_MOST);
    buf_init(&e.login, VALUE_MOST);
    buf_init(&e.password, VALUE_MOST);
    while (s.wrong == NULL && next_token(&s))
        read_word(&s, &e, visit, ctx);
    if (s.wrong == NULL)
        end_entry(&e, visit, ctx);
    else
        buf_addf(error, "line %zu: %s", s.line, s.wrong);
    buf_fini(&s.token);
    buf_fini(&e.machine);
    buf_fini(&e.login);
    buf_fini(&e.password);
    return s.wrong == NULL ? STATUS_OK : STATUS_FORMAT;
}
