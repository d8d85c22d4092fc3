/*
 * soup.h - random URL-like text, for tests of properties that hold for any
 * input.
 *
 * It joins pieces that drive the parser from state to state, with an arbitrary
 * octet now and then. The seed is fixed, so a failure repeats.
 */
#ifndef URLWEIR_TESTS_FRONTIER_URL_SOUP_H
#define URLWEIR_TESTS_FRONTIER_URL_SOUP_H

#include <stdint.h>
#include <string.h>

static uint64_t soup_seed = 88172645463325252u;

static inline uint64_t soup_random(void) /* xorshift64 */
{
    soup_seed ^= soup_seed << 13;
    soup_seed ^= soup_seed >> 7;
    soup_seed ^= soup_seed << 17;
    return soup_seed;
}

static inline size_t soup_add(char *s, size_t at, const char *piece)
{
    memcpy(s + at, piece, strlen(piece));
    return at + strlen(piece);
}

/* Writes at most `room` (at least 100) octets to `s`; returns how many. */
static inline size_t soup(char *s, size_t room)
{
    static const char *const pieces[] = {
        "http:",    "https:",  "HTTP:",    "ftp:",
        "/",        "//",      "\\",       "///",
        "?",        "#",       ":",        "@",
        "h",        "Exa.COM", "%41",      "%2e",
        "%2E%2E",   ".",       "..",       "...",
        "a",        "b",       "%",        "%2",
        "%zz",      "%25",     "%2541",    "%%36%31",
        "80",       "0x7f",    "1.2.3.4",  "[",
        "]",        "::1",     "[::1]",    " ",
        "\t",       "\n",      "'",        "\"",
        "<",        "|",       "^",        "~",
        "_",        "-",       "+",        "&",
        "=",        ";",       "\xc3\xa9", "\xff",
        "\xe2\x82", "xn--",    "\x01",     "\xef\xbd\x8e",
        "\xc2\xad", "\x7f",    "{",        "http://h/",
        "u:p@",     "%32",     "%%32e",    "/%%32e%%32e",
        "..",       "%2f",     "%2F",      "%c3%a9",
        "%7e",      "%",
    };
    size_t n = 0, count = 1 + soup_random() % 12;

    if (soup_random() % 4 != 0)
        n = soup_add(s, n, soup_random() % 2 ? "http://h" : "http://");
    while (count-- > 0 && n + 20 < room) {
        if (soup_random() % 8 == 0)
            s[n++] = (char)soup_random();
        else
            n = soup_add(
                s, n, pieces[soup_random() % (sizeof pieces / sizeof *pieces)]);
    }
    return n;
}

#endif
