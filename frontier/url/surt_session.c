/* SPDX-License-Identifier: MIT */
/*
 * surt_session.c - session identifiers that a SURT leaves out.
 *
 * Removes each of these once, searching from the end:
 *
 *   path   /(s(24 alnum)...)/ and then /(24 alnum)/ before a name in .aspx
 *   query  jsessionid=32, phpsessid=32, sid=32, aspsessionid8=24,
 *          cfid=...&cftoken=...; each up to an & that goes too, or to the end
 *
 * Hand-written rather than regular expressions: each pattern is tried from
 * right to left, and a try reads no more than its own text.
 */
#include "frontier/url/surt_session.h"

#include <stdbool.h>
#include <string.h>

#include "base/ascii.h"

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
