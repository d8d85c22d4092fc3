/*
 * http_time.h - what HTTP header fields say about time.
 *
 * Values come as they stood in the header, empty where there was none. Moments
 * are wall-clock milliseconds, durations milliseconds. Any thread.
 */
#ifndef URLWEIR_BASE_HTTP_TIME_H
#define URLWEIR_BASE_HTTP_TIME_H

#include <stdint.h>

#include "base/bytes.h"

#define HTTP_TIME_DAY_MS INT64_C(86400000)

/* Retry-After (RFC 9110 section 10.2.3), seconds or a date: how long to wait
 * from `now_ms` on, at most a day, 0 for a date gone by; -1: none, or it is
 * neither. */
int64_t http_retry_after_ms(struct bytes value, int64_t now_ms);

/* How long an answer that came at `now_ms` stays fresh (RFC 9111 section
 * 4.2.1): max-age, else Expires less Date; 0 where it may not be used again
 * without asking (no-store, no-cache, an Expires gone by or unreadable); -1
 * where nothing is said. */
int64_t http_fresh_for_ms(struct bytes cache_control, struct bytes expires,
                          struct bytes date, int64_t now_ms);

#endif
