/* SPDX-License-Identifier: MIT */
/*
 * format.c - numbers, sizes and times for people; JSON, CSV and terminal text
 * for untrusted bytes.
 *
 * Bidirectional controls count as dangerous on a terminal: with them a URL can
 * be shown as another one (Unicode Technical Report 36, section 2.7).
 */
#include "base/format.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>

void format_count(struct buf *out, uint64_t n)
{
    char digits[24];
    int len = snprintf(digits, sizeof digits, "%" PRIu64, n);

    for (int i = 0; i < len; i++) {
        if (i > 0 && (len - i) % 3 == 0)
            buf_add_char(out, ',');
        buf_add_char(out, digits[i]);
    }
}

void format_size(struct buf *out, uint64_t bytes)
{
    static const char *const units[] = {"B",   "KiB", "MiB", "GiB",
                                        "TiB", "PiB", "EiB"};
    double n = (double)bytes;
    size_t unit = 0;

    while (n >= 1023.95 && unit < 6) { /* would print as 1024.0 */
        n /= 1024;
        unit++;
    }
    if (unit == 0 || n >= 99.95)
        buf_addf(out, "%.0f %s", n, units[unit]);
    else
        buf_addf(out, "%.1f %s", n, units[unit]);
}

void format_duration(struct buf *out, int64_t ms)
{
    int64_t s = ms / 1000;

    if (ms <= 0)
        buf_add_str(out, "0s");
    else if (ms < 1000)
        buf_addf(out, "%" PRId64 "ms", ms);
    else if (s < 60)
        buf_addf(out, "%" PRId64 ".%" PRId64 "s", s, ms % 1000 / 100);
    else if (s < 3600)
        buf_addf(out, "%" PRId64 "m%02" PRId64 "s", s / 60, s % 60);
    else if (s < 86400)
        buf_addf(out, "%" PRId64 "h%02" PRId64 "m", s / 3600, s % 3600 / 60);
    else
        buf_addf(out, "%" PRId64 "d%02" PRId64 "h", s / 86400,
                 s % 86400 / 3600);
}

void format_rate(struct buf *out, double n)
{
    if (!(n > 0))
        buf_add_char(out, '0');
    else if (n < 0.995)
        buf_addf(out, "%.2f", n);
    else if (n < 9.95)
        buf_addf(out, "%.1f", n);
    else if (n < 1e18)
        format_count(out, (uint64_t)(n + 0.5));
    else
        buf_addf(out, "%.3g", n);
}

/* Moves the text of `b`, which ends with this. */
static const char *move_to(char room[FORMAT_ROOM], struct buf *b)
{
    snprintf(room, FORMAT_ROOM, "%s", buf_str(b));
    buf_fini(b);
    return room;
}

const char *format_count_in(char room[FORMAT_ROOM], uint64_t n)
{
    struct buf b;

    buf_init(&b, FORMAT_ROOM);
    format_count(&b, n);
    return move_to(room, &b);
}

const char *format_size_in(char room[FORMAT_ROOM], uint64_t bytes)
{
    struct buf b;

    buf_init(&b, FORMAT_ROOM);
    format_size(&b, bytes);
    return move_to(room, &b);
}

const char *format_duration_in(char room[FORMAT_ROOM], int64_t ms)
{
    struct buf b;

    buf_init(&b, FORMAT_ROOM);
    format_duration(&b, ms);
    return move_to(room, &b);
}

const char *format_rate_in(char room[FORMAT_ROOM], double n)
{
    struct buf b;

    buf_init(&b, FORMAT_ROOM);
    format_rate(&b, n);
    return move_to(room, &b);
}

void format_seconds(struct buf *out, int64_t ms)
{
    if (ms < 0)
        ms = 0;
    buf_addf(out, "%" PRId64 ".%03" PRId64, ms / 1000, ms % 1000);
}

/* C1 is two octets in UTF-8: 0xc2 0x80 to 0xc2 0x9f. */
static bool is_c1(struct bytes s)
{
    return s.len >= 2 && (unsigned char)s.at[0] == 0xc2 &&
           (unsigned char)s.at[1] >= 0x80 && (unsigned char)s.at[1] < 0xa0;
}

static void add_json_control(struct buf *out, unsigned c)
{
    static const char names[] = {
        ['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f', ['\r'] = 'r'};

    if (c < sizeof names && names[c] != 0)
        buf_addf(out, "\\%c", names[c]);
    else
        buf_addf(out, "\\u%04x", c);
}

void format_json(struct buf *out, struct bytes s)
{
    buf_add_char(out, '"');
    while (s.len > 0) {
        size_t n = bytes_utf8_length(s);
        unsigned char c = (unsigned char)s.at[0];

        if (n == 0)
            buf_add_str(out, "\xef\xbf\xbd");
        else if (c < 0x20 || c == 0x7f)
            add_json_control(out, c);
        else if (is_c1(s))
            add_json_control(out, (unsigned char)s.at[1]);
        else if (c == '"' || c == '\\')
            buf_addf(out, "\\%c", c);
        else
            buf_add(out, s.at, n);
        n += n == 0;
        s = bytes_of(s.at + n, s.len - n);
    }
    buf_add_char(out, '"');
}

void format_csv(struct buf *out, struct bytes s)
{
    bool quote = false;

    for (size_t i = 0; i < s.len; i++)
        quote |= strchr(",\"\r\n", s.at[i]) != NULL && s.at[i] != '\0';
    if (!quote) {
        buf_add_bytes(out, s);
        return;
    }
    buf_add_char(out, '"');
    for (size_t i = 0; i < s.len; i++) {
        if (s.at[i] == '"')
            buf_add_char(out, '"');
        buf_add_char(out, s.at[i]);
    }
    buf_add_char(out, '"');
}

/* U+061C, U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069. */
static bool is_direction(struct bytes s)
{
    const unsigned char *p = (const unsigned char *)s.at;

    if (s.len >= 2 && p[0] == 0xd8 && p[1] == 0x9c)
        return true;
    if (s.len < 3 || p[0] != 0xe2)
        return false;
    if (p[1] == 0x80)
        return p[2] == 0x8e || p[2] == 0x8f || (p[2] >= 0xaa && p[2] <= 0xae);
    return p[1] == 0x81 && p[2] >= 0xa6 && p[2] <= 0xa9;
}

void format_terminal(struct buf *out, struct bytes s)
{
    while (s.len > 0) {
        size_t n = bytes_utf8_length(s);
        unsigned char c = (unsigned char)s.at[0];
        bool bad =
            n == 0 || c < 0x20 || c == 0x7f || is_c1(s) || is_direction(s);

        n += n == 0;
        for (size_t i = 0; bad && i < n; i++)
            buf_addf(out, "\\x%02x", (unsigned char)s.at[i]);
        if (!bad)
            buf_add(out, s.at, n);
        s = bytes_of(s.at + n, s.len - n);
    }
}

/* The entity for an octet that is special in HTML, or NULL. */
static const char *html_entity(struct bytes s)
{
    switch (s.at[0]) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return NULL;
    }
}

void format_html(struct buf *out, struct bytes s)
{
    while (s.len > 0) {
        size_t n = bytes_utf8_length(s);
        const char *entity = html_entity(s);

        n += n == 0;
        if (entity != NULL)
            buf_add_str(out, entity);
        else
            format_terminal(out, bytes_of(s.at, n));
        s = bytes_of(s.at + n, s.len - n);
    }
}
