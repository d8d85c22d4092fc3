/*
 * http_time.h - times in HTTP header fields.
 *
 * Values are as written in the header, empty if missing. Times are wall-clock
 * milliseconds, durations milliseconds. Any thread.
 */
#ifndef URLWEIR_BASE_HTTP_TIME_H
#define URLWEIR_BASE_HTTP_TIME_H

#include <stdint.h>

#include "base/bytes.h"

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
