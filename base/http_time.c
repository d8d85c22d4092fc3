/* SPDX-License-Identifier: MIT */
/* http_time.c - times in HTTP header fields. */
#include "base/http_time.h"

#include <stdbool.h>

#include "base/clock.h"

/* RFC 9111 section 1.2.2: larger values count as this one. */
#define SECONDS_MOST INT64_C(2147483648)

/* delta-seconds: digits and nothing else; -1: not a number. */
static int64_t read_seconds(struct bytes s)
{
    int64_t n = 0;

    if (s.len == 0)
        return -1;
    for (size_t i = 0; i < s.len; i++) {
        if (s.at[i] < '0' || s.at[i] > '9')
            return -1;
        if (n < SECONDS_MOST)
            n = n * 10 + (s.at[i] - '0');
    }
    return n < SECONDS_MOST ? n : SECONDS_MOST;
}

int64_t http_retry_after_ms(struct bytes value, int64_t now_ms)
{
    int64_t seconds, wait, at;

    value = bytes_trim(value);
    seconds = read_seconds(value);
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
            max_age = read_seconds(value);
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
