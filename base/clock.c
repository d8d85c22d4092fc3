/* SPDX-License-Identifier: MIT */
/* clock.c - monotonic and wall time, and their text. */
#include "base/clock.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

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

void clock_iso(char out[CLOCK_ISO_SIZE], int64_t wall_ms)
{
    int64_t at = wall_ms < FIRST_MS  ? FIRST_MS
                 : wall_ms > LAST_MS ? LAST_MS
                                     : wall_ms;
    time_t s = (time_t)(at / 1000);
    int ms = (int)(at % 1000);
    struct tm tm = {0};

    if (ms < 0) {
        ms += 1000;
        s--;
    }
    (void)gmtime_r(&s, &tm);
    snprintf(out, CLOCK_ISO_SIZE, "%04u-%02u-%02uT%02u:%02u:%02u.%03uZ",
             (unsigned)(tm.tm_year + 1900) % 10000U,
             (unsigned)(tm.tm_mon + 1) % 100U, (unsigned)tm.tm_mday % 100U,
             (unsigned)tm.tm_hour % 100U, (unsigned)tm.tm_min % 100U,
             (unsigned)tm.tm_sec % 100U, (unsigned)ms % 1000U);
}

enum status clock_parse_http_date(struct bytes s, int64_t *wall_ms)
{
    /* IMF-fixdate, RFC 850, asctime, and what servers send in place of the
     * first. The weekday is read and not checked. */
    static const char *const forms[] = {
        "%a, %d %b %Y %H:%M:%S GMT", "%A, %d-%b-%y %H:%M:%S GMT",
        "%a %b %d %H:%M:%S %Y",      "%a, %d %b %Y %H:%M:%S UTC",
        "%a, %d %b %Y %H:%M:%S %z",
    };
    char text[64];

    s = bytes_trim(s);
    if (s.len == 0 || s.len >= sizeof text)
        return STATUS_FORMAT;
    memcpy(text, s.at, s.len);
    text[s.len] = '\0';
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        struct tm tm = {0};
        const char *end = strptime(text, forms[i], &tm);

        if (end != NULL && *end == '\0') {
            long east = tm.tm_gmtoff; /* timegm takes it for 0 */

            *wall_ms = ((int64_t)timegm(&tm) - east) * 1000;
            return STATUS_OK;
        }
    }
    return STATUS_FORMAT;
}
