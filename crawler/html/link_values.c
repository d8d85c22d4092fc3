/* SPDX-License-Identifier: MIT */
/*
 * link_values.c - srcset, refresh and rel, read octet by octet in the
 * standard's steps, since each has corner cases that a split at commas or
 * semicolons gets wrong (a comma inside a URL, parentheses in a descriptor, a
 * quote that never ends).
 */
#include "crawler/html/link_values.h"

#include <stdint.h>

#include "base/ascii.h"

static size_t skip_digits(struct bytes s, size_t i)
{
    while (i < s.len && ascii_is_digit(s.at[i]))
        i++;
    return i;
}

/* ---- srcset -------------------------------------------------------------- */

struct candidate {
    bool width, density, height, error;
};

/* One or more digits and nothing else? *zero: all of them are 0. */
static bool is_whole_number(struct bytes s, bool *zero)
{
    *zero = true;
    for (size_t i = 0; i < s.len; i++)
        *zero = *zero && s.at[i] == '0';
    return s.len > 0 && skip_digits(s, 0) == s.len;
}

/* A valid floating-point number? *below: it is less than zero. */
static bool is_number(struct bytes s, bool *below)
{
    size_t i = s.len > 0 && s.at[0] == '-' ? 1 : 0, begin = i, dot, e;
    bool nonzero = false;

    *below = false;
    i = skip_digits(s, i);
    if (i < s.len && s.at[i] == '.') {
        dot = i;
        i = skip_digits(s, i + 1);
        if (i == dot + 1)
            return false;
    }
    if (i == begin)
        return false;
    for (size_t k = begin; k < i; k++)
        nonzero = nonzero || (s.at[k] != '0' && s.at[k] != '.');
    if (i < s.len && (s.at[i] | 0x20) == 'e') {
        i++;
        if (i < s.len && (s.at[i] == '-' || s.at[i] == '+'))
            i++;
        e = i;
        i = skip_digits(s, i);
        if (i == e)
            return false;
    }
    *below = begin > 0 && nonzero;
    return i == s.len;
}

static void take_descriptor(struct candidate *c, struct bytes d)
{
    struct bytes number;
    bool zero = false, below = false;

    if (d.len == 0)
        return;
    number = bytes_of(d.at, d.len - 1);
    switch (d.at[d.len - 1]) {
    case 'w':
        c->error = c->error || !is_whole_number(number, &zero) || zero ||
                   c->width || c->density;
        c->width = true;
        break;
    case 'x':
        c->error = c->error || !is_number(number, &below) || below ||
                   c->width || c->density || c->height;
        c->density = true;
        break;
    case 'h':
        c->error = c->error || !is_whole_number(number, &zero) || zero ||
                   c->height || c->density;
        c->height = true;
        break;
    default:
        c->error = true;
    }
}

/* Reads descriptors from s[i] on, up to the comma that ends the candidate.
 * Returns where the next one begins. */
static size_t read_descriptors(struct bytes s, size_t i, struct candidate *c)
{
    size_t begin = i;
    bool in_parens = false;

    for (; i < s.len; i++) {
        char ch = s.at[i];

        if (in_parens) {
            in_parens = ch != ')';
        } else if (ch == '(') {
            in_parens = true;
        } else if (ch == ',' || ascii_is_space(ch)) {
            take_descriptor(c, bytes_of(s.at + begin, i - begin));
            begin = i + 1;
            if (ch == ',')
                break;
        }
    }
    if (i == s.len && begin < i)
        take_descriptor(c, bytes_of(s.at + begin, i - begin));
    c->error = c->error || (c->height && !c->width);
    return i < s.len ? i + 1 : i;
}

bool srcset_next(struct bytes *rest, struct bytes *url)
{
    struct bytes s = *rest;
    size_t i = 0, begin;

    for (;;) {
        struct candidate c = {false, false, false, false};

        while (i < s.len && (ascii_is_space(s.at[i]) || s.at[i] == ','))
            i++;
        if (i == s.len)
            return false;
        begin = i;
        while (i < s.len && !ascii_is_space(s.at[i]))
            i++;
        *url = bytes_of(s.at + begin, i - begin);
        if (s.at[i - 1] == ',') {
            while (url->at[url->len - 1] == ',')
                url->len--;
        } else {
            i = read_descriptors(s, i, &c);
        }
        if (!c.error) {
            *rest = bytes_skip(s, i);
            return true;
        }
    }
}

/* ---- meta refresh -------------------------------------------------------- */

/* The index after `url =` if that is at s[i], else i. */
static size_t skip_url_word(struct bytes s, size_t i)
{
    size_t k = i + 3;

    if (s.len - i < 3 ||
        !bytes_equal_nocase(bytes_of(s.at + i, 3), bytes_of_str("url")))
        return i;
    k = bytes_past_space(s, k);
    if (k == s.len || s.at[k] != '=')
        return i;
    return bytes_past_space(s, k + 1);
}

bool refresh_url(struct bytes content, struct bytes *url)
{
    struct bytes s = content;
    size_t i = bytes_past_space(s, 0), begin = i, word;

    i = skip_digits(s, i);
    if (i == begin && (i == s.len || s.at[i] != '.'))
        return false;
    while (i < s.len && (ascii_is_digit(s.at[i]) || s.at[i] == '.'))
        i++;
    if (i == s.len ||
        (s.at[i] != ';' && s.at[i] != ',' && !ascii_is_space(s.at[i])))
        return false;
    i = bytes_past_space(s, i);
    if (i < s.len && (s.at[i] == ';' || s.at[i] == ','))
        i = bytes_past_space(s, i + 1);
    if (i == s.len)
        return false;
    word = skip_url_word(s, i);
    /* If it only begins like the word, it is the URL. */
    if (word == i && (s.at[i] | 0x20) == 'u') {
        *url = bytes_skip(s, i);
        return true;
    }
    i = word;
    if (i < s.len && (s.at[i] == '"' || s.at[i] == '\'')) {
        const char *end;

        *url = bytes_skip(s, i + 1);
        end = memchr(url->at, s.at[i], url->len);
        if (end != NULL)
            url->len = (size_t)(end - url->at);
        return true;
    }
    *url = bytes_skip(s, i);
    return true;
}

/* ---- words --------------------------------------------------------------- */

bool word_next(struct bytes *rest, struct bytes *word)
{
    struct bytes s = *rest;
    size_t i = bytes_past_space(s, 0), begin = i;

    if (i == s.len)
        return false;
    while (i < s.len && !ascii_is_space(s.at[i]))
        i++;
    *word = bytes_of(s.at + begin, i - begin);
    *rest = bytes_skip(s, i);
    return true;
}

bool words_have(struct bytes words, const char *word)
{
    struct bytes w;

    while (word_next(&words, &w))
        if (bytes_equal_nocase(w, bytes_of_str(word)))
            return true;
    return false;
}

struct bytes media_essence(struct bytes content_type)
{
    const char *end = content_type.len > 0
                          ? memchr(content_type.at, ';', content_type.len)
                          : NULL;

    if (end != NULL)
        content_type.len = (size_t)(end - content_type.at);
    return bytes_trim(content_type);
}

bool media_is_feed(struct bytes content_type)
{
    struct bytes s = media_essence(content_type);
    const char *slash = s.len > 0 ? memchr(s.at, '/', s.len) : NULL;

    if (slash == NULL)
        return false;
    s = bytes_skip(s, (size_t)(slash - s.at) + 1);
    return bytes_equal_nocase(s, bytes_of_str("rss+xml")) ||
           bytes_equal_nocase(s, bytes_of_str("atom+xml")) ||
           bytes_equal_nocase(s, bytes_of_str("feed+json"));
}
