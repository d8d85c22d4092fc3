/* SPDX-License-Identifier: MIT */
/* clock.c - monotonic and wall time, their text, and times in HTTP headers. */
#include "base/clock.h"

#include <stdbool.h>
#include <string.h>
#include <time.h>

#include "base/ascii.h"

static int64_t ns_of(clockid_t id)
{
    struct timespec t;

    clock_gettime(id, &t);
    return (int64_t)t.tv_sec * NS_PER_S + t.tv_nsec;
}

int64_t clock_mono(void)
{
    return ns_of(CLOCK_MONOTONIC);
}

int64_t clock_boot(void)
{
    return ns_of(CLOCK_BOOTTIME);
}

int64_t clock_wall_ms(void)
{
    return ns_of(CLOCK_REALTIME) / NS_PER_MS;
}

int64_t clock_cpu(void)
{
    return ns_of(CLOCK_PROCESS_CPUTIME_ID);
}

#define FIRST_MS INT64_C(-62167219200000) /* 0000-01-01T00:00:00Z */
#define LAST_MS  INT64_C(253402300799000) /* 9999-12-31T23:59:59Z */

/* Writes the last `digits` digits of `n`, and `end`; returns where that ends.
 * With snprintf the text of a moment takes six times as long. */
static char *clock_add_number(char *to, unsigned n, unsigned digits, char end)
{
    for (unsigned i = digits; i-- > 0; n /= 10)
        to[i] = (char)('0' + n % 10);
    to[digits] = end;
    return to + digits + 1;
}

/* The nearest moment that can be written. */
static int64_t to_writable(int64_t ms)
{
    return ms < FIRST_MS ? FIRST_MS : ms > LAST_MS ? LAST_MS : ms;
}

void clock_iso(char out[CLOCK_ISO_SIZE], int64_t wall_ms)
{
    int64_t at = to_writable(wall_ms);
    time_t s = (time_t)(at / 1000);
    int ms = (int)(at % 1000);
    struct tm tm = {0};

    if (ms < 0) {
        ms += 1000;
        s--;
    }
    (void)gmtime_r(&s, &tm);
    out = clock_add_number(out, (unsigned)(tm.tm_year + 1900), 4, '-');
    out = clock_add_number(out, (unsigned)tm.tm_mon + 1, 2, '-');
    out = clock_add_number(out, (unsigned)tm.tm_mday, 2, 'T');
    out = clock_add_number(out, (unsigned)tm.tm_hour, 2, ':');
    out = clock_add_number(out, (unsigned)tm.tm_min, 2, ':');
    out = clock_add_number(out, (unsigned)tm.tm_sec, 2, '.');
    out = clock_add_number(out, (unsigned)ms, 3, 'Z');
    *out = '\0';
}

/* Reads `text` by two formats of strptime, one after the other. */
static bool read_date(const char *text, const char *form, const char *zone,
                      int64_t *wall_ms)
{
    struct tm tm = {0};
    const char *end = strptime(text, form, &tm);
    long east;

    if (end != NULL)
        end = strptime(end, zone, &tm);
    if (end == NULL || *end != '\0')
        return false;
    east = tm.tm_gmtoff; /* timegm takes it for 0 */
    *wall_ms = ((int64_t)timegm(&tm) - east) * 1000;
    return true;
}

enum status clock_parse_http_date(struct bytes s, int64_t *wall_ms)
{
    /* IMF-fixdate, RFC 850, and the dates of cookies, which are the second with
     * the year of the first; asctime has no zone. The weekday is read and not
     * checked. */
    static const char *const forms[] = {"%a, %d %b %Y %H:%M:%S",
                                        "%A, %d-%b-%y %H:%M:%S",
                                        "%A, %d-%b-%Y %H:%M:%S"};
    static const char *const zones[] = {" GMT", " UTC", " UT", " %z"};
    char text[64];

    s = bytes_trim(s);
    if (s.len == 0 || s.len >= sizeof text)
        return STATUS_FORMAT;
    memcpy(text, s.at, s.len);
    text[s.len] = '\0';
    if (read_date(text, "%a %b %d %H:%M:%S %Y", "", wall_ms))
        return STATUS_OK;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        for (size_t j = 0; j < sizeof zones / sizeof *zones; j++)
            if (read_date(text, forms[i], zones[j], wall_ms))
                return STATUS_OK;
    return STATUS_FORMAT;
}

/* ---- RFC 3339 ---- */

/* Takes `digits` digits and then `end`, a letter in either case, off the front
 * of *s; '\0': nothing. -1: they are not there. */
static int clock_take_number(struct bytes *s, size_t digits, char end)
{
    struct bytes rest = *s;
    uint64_t n;

    if (!bytes_take_number(&rest, digits, &n))
        return -1;
    if (end != '\0' &&
        (rest.len == 0 || ascii_lower(rest.at[0]) != ascii_lower(end)))
        return -1;
    *s = bytes_skip(rest, end != '\0');
    return (int)n;
}

/* Takes a fraction of a second, if there is one. */
static bool take_fraction(struct bytes *s, int *ms)
{
    int scale = 100, digit;

    *ms = 0;
    if (s->len == 0 || s->at[0] != '.')
        return true;
    *s = bytes_of(s->at + 1, s->len - 1);
    if ((digit = clock_take_number(s, 1, '\0')) < 0)
        return false;
    for (; digit >= 0; digit = clock_take_number(s, 1, '\0')) {
        *ms += digit * scale;
        scale /= 10;
    }
    return true;
}

/* Takes Z or an offset, as seconds east of UTC. */
static bool take_offset(struct bytes *s, int *east)
{
    int hours, minutes;
    char sign;

    if (s->len == 0)
        return false;
    sign = s->at[0];
    *s = bytes_of(s->at + 1, s->len - 1);
    *east = 0;
    if (sign == 'Z' || sign == 'z')
        return true;
    if (sign != '+' && sign != '-')
        return false;
    hours = clock_take_number(s, 2, ':');
    minutes = clock_take_number(s, 2, '\0');
    *east = (sign == '+' ? 60 : -60) * (hours * 60 + minutes);
    return hours >= 0 && hours <= 23 && minutes >= 0 && minutes <= 59;
}

enum status clock_parse_iso(struct bytes s, int64_t *wall_ms)
{
    struct tm tm = {0}, back;
    int year, month, east, ms;
    int64_t at;

    if ((year = clock_take_number(&s, 4, '-')) < 0 ||
        (month = clock_take_number(&s, 2, '-')) < 0 ||
        (tm.tm_mday = clock_take_number(&s, 2, 'T')) < 0 ||
        (tm.tm_hour = clock_take_number(&s, 2, ':')) < 0 ||
        (tm.tm_min = clock_take_number(&s, 2, ':')) < 0 ||
        (tm.tm_sec = clock_take_number(&s, 2, '\0')) < 0 || tm.tm_sec > 60 ||
        !take_fraction(&s, &ms) || !take_offset(&s, &east) || s.len > 0)
        return STATUS_FORMAT;
    tm.tm_year = year - 1900;
    tm.tm_mon = month - 1;
    back = tm;
    back.tm_sec = 0; /* the rest must be as timegm would write it */
    at = (int64_t)timegm(&back) - east + tm.tm_sec;
    if (back.tm_mon != tm.tm_mon || back.tm_mday != tm.tm_mday ||
        back.tm_hour != tm.tm_hour || back.tm_min != tm.tm_min ||
        (tm.tm_sec == 60 && at % 86400 != 0))
        return STATUS_FORMAT;
    *wall_ms = to_writable(at * 1000 + ms);
    return STATUS_OK;
}

/* ---- times in HTTP header fields ---- */

/* RFC 9111 section 1.2.2: larger values count as this one. */
#define SECONDS_MOST INT64_C(2147483648)

/* delta-seconds: digits and nothing else; -1: not a number. */
static int64_t clock_read_seconds(struct bytes s)
{
    uint64_t n;

    if (!bytes_take_number(&s, 0, &n) || s.len > 0)
        return -1;
    return n < SECONDS_MOST ? (int64_t)n : SECONDS_MOST;
}

int64_t http_retry_after_ms(struct bytes value, int64_t now_ms)
{
    int64_t seconds, wait, at;

    value = bytes_trim(value);
    seconds = clock_read_seconds(value);
    if (seconds >= 0)
        wait = seconds * 1000;
    else if (clock_parse_http_date(value, &at) == STATUS_OK)
        wait = at > now_ms ? at - now_ms : 0;
    else
        return -1;
    return wait < HTTP_TIME_DAY_MS ? wait : HTTP_TIME_DAY_MS;
}

/* Cuts the next directive off *rest: name, and value without quotes. */
static bool next_directive(struct bytes *rest, struct bytes *name,
                           struct bytes *value)
{
    struct bytes item = *rest;
    const char *comma, *equals;

    if (rest->len == 0)
        return false;
    comma = memchr(rest->at, ',', rest->len);
    if (comma != NULL)
        item.len = (size_t)(comma - rest->at);
    *rest = comma != NULL ? bytes_of(comma + 1, rest->len - item.len - 1)
                          : bytes_of(NULL, 0);
    equals = item.len > 0 ? memchr(item.at, '=', item.len) : NULL;
    *name = item;
    *value = bytes_of(NULL, 0);
    if (equals != NULL) {
        name->len = (size_t)(equals - item.at);
        *value = bytes_trim(bytes_of(equals + 1, item.len - name->len - 1));
        if (value->len >= 2 && value->at[0] == '"' &&
            value->at[value->len - 1] == '"')
            *value = bytes_of(value->at + 1, value->len - 2);
    }
    *name = bytes_trim(*name);
    return true;
}

/* Seconds according to Cache-Control; -1: it does not say. */
static int64_t cache_control_seconds(struct bytes cache_control)
{
    struct bytes name, value;
    int64_t max_age = -1;

    while (next_directive(&cache_control, &name, &value)) {
        if (bytes_equal_nocase(name, bytes_of_str("no-store")) ||
            bytes_equal_nocase(name, bytes_of_str("no-cache")))
            return 0;
        if (max_age < 0 && bytes_equal_nocase(name, bytes_of_str("max-age")))
            max_age = clock_read_seconds(value);
    }
    return max_age;
}

int64_t http_fresh_for_ms(struct bytes cache_control, struct bytes expires,
                          struct bytes date, int64_t now_ms)
{
    int64_t seconds = cache_control_seconds(cache_control);
    int64_t from, until;

    if (seconds >= 0)
        return seconds * 1000;
    if (bytes_trim(expires).len == 0)
        return -1;
    if (clock_parse_http_date(expires, &until) != STATUS_OK)
        return 0;
    if (clock_parse_http_date(date, &from) != STATUS_OK)
        from = now_ms;
    return until > from ? until - from : 0;
}
