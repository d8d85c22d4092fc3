/* SPDX-License-Identifier: MIT */
/*
 * sitemap_hint.c - a sitemap entry's values as numbers.
 *
 * libcurl reads mail dates (curl_getdate knows RFC 822 and RFC 850); we read
 * the W3C form, which it does not know.
 */
#include "crawler/sitemap/sitemap_hint.h"

#include <curl/curl.h>
#include <stdlib.h>
#include <time.h>

#include "base/ascii.h"

#define DATE_MOST        ((size_t)64)
#define DEFAULT_PRIORITY 500

/* ---- dates --------------------------------------------------------------- */

/* Takes `count` digits off the front of *s; -1: they are not there. */
static int take_digits(struct bytes *s, size_t count)
{
    uint64_t n;

    return bytes_take_number(s, count, &n) ? (int)n : -1;
}

static bool take_char(struct bytes *s, char c)
{
    if (s->len == 0 || s->at[0] != c)
        return false;
    *s = bytes_of(s->at + 1, s->len - 1);
    return true;
}

/* Takes `mark` and two digits; returns `none` if the mark is not there. */
static int take_part(struct bytes *s, char mark, int none)
{
    return take_char(s, mark) ? take_digits(s, 2) : none;
}

/* Z, +hh:mm, -hhmm or nothing, in seconds east; false: something else. */
static bool take_zone(struct bytes *s, int *east)
{
    int sign = 1, hours, minutes;

    *east = 0;
    if (s->len == 0 || take_char(s, 'Z') || take_char(s, 'z'))
        return true;
    if (take_char(s, '-'))
        sign = -1;
    else if (!take_char(s, '+'))
        return false;
    hours = take_digits(s, 2);
    (void)take_char(s, ':');
    minutes = s->len > 0 ? take_digits(s, 2) : 0;
    *east = sign * (hours * 3600 + minutes * 60);
    return hours >= 0 && hours <= 23 && minutes >= 0 && minutes <= 59;
}

static bool take_time(struct bytes *s, struct tm *tm, int *millis)
{
    int scale = 100;

    if (!take_char(s, 'T') && !take_char(s, 't') && !take_char(s, ' '))
        return s->len == 0;
    tm->tm_hour = take_digits(s, 2);
    tm->tm_min = take_part(s, ':', -1);
    tm->tm_sec = take_part(s, ':', 0);
    if (take_char(s, '.') || take_char(s, ',')) {
        for (int d; (d = take_digits(s, 1)) >= 0; scale /= 10)
            *millis += d * scale;
    }
    return tm->tm_hour >= 0 && tm->tm_hour <= 24 && tm->tm_min >= 0 &&
           tm->tm_min <= 59 && tm->tm_sec >= 0 && tm->tm_sec <= 60;
}

static int64_t w3c_ms(struct bytes s)
{
    struct tm tm = {.tm_mday = 1};
    int year = take_digits(&s, 4), month, millis = 0, east;

    if (year < 0)
        return HINT_NO_LASTMOD;
    month = take_part(&s, '-', 1);
    tm.tm_mday = take_part(&s, '-', 1);
    if (month < 1 || month > 12 || tm.tm_mday < 1 || tm.tm_mday > 31 ||
        !take_time(&s, &tm, &millis) || !take_zone(&s, &east) || s.len > 0)
        return HINT_NO_LASTMOD;
    tm.tm_year = year - 1900;
    tm.tm_mon = month - 1;
    return ((int64_t)timegm(&tm) - east) * 1000 + millis;
}

int64_t sitemap_date_ms(struct bytes text)
{
    char copy[DATE_MOST + 1];
    int64_t ms;
    time_t at;

    text = bytes_trim(text);
    if (text.len == 0 || text.len > DATE_MOST)
        return HINT_NO_LASTMOD;
    ms = w3c_ms(text);
    if (ms != HINT_NO_LASTMOD)
        return ms;
    memcpy(copy, text.at, text.len);
    copy[text.len] = '\0';
    if (strpbrk(copy, " ,") == NULL) /* curl_getdate takes "2004" for a year */
        return HINT_NO_LASTMOD;
    at = curl_getdate(copy, NULL);
    return at == -1 ? HINT_NO_LASTMOD : (int64_t)at * 1000;
}

/* ---- priority and frequency ---------------------------------------------- */

/* Thousandths of "0.8", "1", ".5" or, as some write it, "0,8". */
static int16_t priority_of(struct bytes s)
{
    unsigned whole = 0, part = 0, scale = 100;
    size_t i = 0, digits = 0;

    for (; i < s.len && ascii_is_digit(s.at[i]); i++, digits++)
        whole = whole < 10 ? whole * 10 + (unsigned)(s.at[i] - '0') : whole;
    if (i < s.len && (s.at[i] == '.' || s.at[i] == ','))
        for (i++; i < s.len && ascii_is_digit(s.at[i]); i++) {
            part += scale * (unsigned)(s.at[i] - '0');
            scale /= 10;
            digits++;
        }
    if (digits == 0 || i < s.len)
        return HINT_NO_PRIORITY;
    return whole > 0 ? 1000 : (int16_t)part;
}

static uint8_t changefreq_of(struct bytes s)
{
    for (unsigned f = CHANGEFREQ_NONE + 1; f < CHANGEFREQ_COUNT_; f++)
        if (bytes_equal_nocase(s, bytes_of_str(
                                      changefreq_name((enum url_changefreq)f))))
            return (uint8_t)f;
    return CHANGEFREQ_NONE;
}

bool sitemap_hint(const struct sitemap_entry *e, struct url_hint *out)
{
    *out = (struct url_hint){
        .lastmod_ms = sitemap_date_ms(e->lastmod),
        .priority = priority_of(e->priority),
        .changefreq = changefreq_of(e->changefreq),
    };
    return out->lastmod_ms != HINT_NO_LASTMOD ||
           out->priority != HINT_NO_PRIORITY ||
           out->changefreq != CHANGEFREQ_NONE;
}

static int priority_or_default(const struct url_hint *h)
{
    return h == NULL || h->priority == HINT_NO_PRIORITY ? DEFAULT_PRIORITY
                                                        : h->priority;
}

static int64_t lastmod_or_none(const struct url_hint *h)
{
    return h == NULL ? HINT_NO_LASTMOD : h->lastmod_ms;
}

int sitemap_hint_order(const struct url_hint *a, const struct url_hint *b)
{
    int pa = priority_or_default(a), pb = priority_or_default(b);
    int64_t la = lastmod_or_none(a), lb = lastmod_or_none(b);

    if (pa != pb)
        return pa > pb ? -1 : 1;
    if (la != lb)
        return la > lb ? -1 : 1;
    return 0;
}
