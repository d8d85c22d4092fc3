/*
 * clock.h - monotonic and wall time, their text, and times in HTTP headers.
 *
 * Only outer loops read the clock; decisions take `now` as an argument, so a
 * test can pass any time.
 */
#ifndef URLWEIR_BASE_CLOCK_H
#define URLWEIR_BASE_CLOCK_H

#include <stdint.h>

#include "base/bytes.h"
#include "base/status.h"

#define NS_PER_S  INT64_C(1000000000)
#define NS_PER_MS INT64_C(1000000)
#define NS_PER_US INT64_C(1000)

/* Nanoseconds since some fixed moment; never goes back. */
int64_t clock_mono(void);
/* The same, but it also counts while the machine sleeps. */
int64_t clock_boot(void);
/* Milliseconds since 1970-01-01 UTC. */
int64_t clock_wall_ms(void);
/* CPU time of this process, user and system, in nanoseconds. */
int64_t clock_cpu(void);

/* The earlier and the later of two times of one clock. */
static inline int64_t clock_earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}
static inline int64_t clock_later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

#define CLOCK_ISO_SIZE 25 /* "2026-01-31T23:59:59.123Z" and a zero byte */
/* ISO 8601 in UTC, with milliseconds. */
void clock_iso(char out[CLOCK_ISO_SIZE], int64_t wall_ms);

/* HTTP-date in any of its three forms (RFC 9110 section 5.6.7), as wall ms. As
 * servers send them, the year of the second may have four digits, and the first
 * two may end in UT, UTC or an offset, such as +0000.
 * STATUS_FORMAT: not a date. */
MUST_CHECK enum status clock_parse_http_date(struct bytes s, int64_t *wall_ms);

/* A date-time of RFC 3339 section 5.6, as wall ms: with Z or an offset, such as
 * +01:00. What is finer than a millisecond is dropped; a leap second is the
 * second after it. A moment that has another year in UTC than 0000 to 9999 is
 * the nearest that clock_iso can write. STATUS_FORMAT: not such a time, or none
 * that exists. */
MUST_CHECK enum status clock_parse_iso(struct bytes s, int64_t *wall_ms);

/* ---- times in HTTP header fields ----
 *
 * Values are as written in the header, empty if missing. Times are wall-clock
 * milliseconds, durations milliseconds. Any thread.
 */

#define HTTP_TIME_DAY_MS INT64_C(86400000)

/* Retry-After (RFC 9110 section 10.2.3), seconds or a date: how long to wait
 * from `now_ms` on, at most a day, 0 for a date in the past; -1: missing, or
 * neither of the two. */
int64_t http_retry_after_ms(struct bytes value, int64_t now_ms);

/* How long a response received at `now_ms` stays fresh (RFC 9111 section
 * 4.2.1): max-age, else Expires minus Date; 0 if it must not be reused without
 * revalidation (no-store, no-cache, an Expires in the past or unreadable); -1
 * if the header does not say. */
int64_t http_fresh_for_ms(struct bytes cache_control, struct bytes expires,
                          struct bytes date, int64_t now_ms);

#endif
