/*
 * schedule.h - the moment at which a host may next be asked: pure arithmetic.
 *
 * Delays run from the end of one answer to the next request. All times are
 * nanoseconds; monotonic where they are moments.
 */
#ifndef URLWEIR_FRONTIER_EMBEDDED_SCHEDULE_H
#define URLWEIR_FRONTIER_EMBEDDED_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

struct schedule_options {
    int64_t delay;           /* between two requests to a host */
    bool random_delay;       /* times 0.5 to 1.5 */
    int64_t max_delay;       /* ceiling of what errors make of it */
    int64_t max_crawl_delay; /* ceiling of a Crawl-delay */
    int64_t retry_delay;     /* before the second try; doubles after */
};

/* A random source that a seed replays (xorshift64*). */
struct schedule_random {
    uint64_t state; /* not 0 */
};
/* In [0, 1). */
double schedule_random_next(struct schedule_random *r);

/* The pause after an answer. `own`: the host's own delay (Crawl-delay or set by
 * a person), -1: none; it is never undercut, whatever random_delay says.
 * `errors`: consecutive answers that were 5xx, time-outs or resets; each
 * doubles the pause up to max_delay, so a struggling host is asked less. */
int64_t schedule_pause(const struct schedule_options *o, int64_t own,
                       uint32_t errors, struct schedule_random *r);

/* How long a host that answered 429 or 503 is left alone: Retry-After where
 * given (-1: not), bounded by a day; else 60 s, doubling with each consecutive
 * one (`backoffs`, 1 the first time) to a day, plus up to a quarter. */
int64_t schedule_backoff(int64_t retry_after, uint32_t backoffs,
                         struct schedule_random *r);

#define SCHEDULE_BACKOFF_MOST_MS INT64_C(86400000) /* that day */

/* Of moments that an earlier run wrote down: ns from `wall_ms` to `until_ms`, 0
 * where that is over, never more than `most_ms`. One farther ahead was written
 * before the clock was set back, or by nobody of ours. */
int64_t schedule_left(int64_t until_ms, int64_t wall_ms, int64_t most_ms);
/* As far as a person or another program may put something off; what is farther
 * ahead could not be counted in ns. */
#define SCHEDULE_PUT_OFF_MOST_MS                                               \
    INT64_C(3000000000000) /* some ninety years                                \
                            */

/* Before try number `tries` + 1 of one URL: retry_delay doubling, at most
 * max_delay, times 0.75 to 1.25. */
int64_t schedule_retry(const struct schedule_options *o, uint32_t tries,
                       struct schedule_random *r);

#endif
