/*
 * schedule.h - when a host may next be asked: pure arithmetic.
 *
 * Delays run from the end of one answer to the next request. All times are
 * nanoseconds; points in time are monotonic.
 */
#ifndef URLWEIR_FRONTIER_CRAWL_SCHEDULE_H
#define URLWEIR_FRONTIER_CRAWL_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

struct schedule_options {
    int64_t delay;           /* between two requests to a host */
    bool random_delay;       /* times 0.5 to 1.5 */
    bool adaptive;           /* a slow host is asked less, see schedule_pause */
    int64_t max_delay;       /* ceiling of all that grows */
    int64_t max_crawl_delay; /* ceiling of a Crawl-delay */
    int64_t retry_delay;     /* before the second try; doubles after */
    int64_t give_up;         /* a host that does not respond is waited for so
                                long; 0: without end */
};

/* A random source that repeats for one seed (xorshift64*). */
struct schedule_random {
    uint64_t state; /* not 0 */
};

/* How many different URLs of a host must fail in a row before it is slowed
 * down. If one URL in ten fails at random, five in a row fail once in 100,000
 * runs; a host that is down gets five requests at its usual delay.
 */
#define SCHEDULE_FAILURES 5

/* The gap between two requests is at least this multiple of the host's response
 * time. So a host spends at most a third of one connection's time on us, and
 * the default delay of a second applies to hosts that respond within half a
 * second. (Heritrix's delay-factor is 5, with a default delay of three.) */
#define SCHEDULE_LATENCY_FACTOR 2

/* What is known of a host. */
struct schedule_host {
    int64_t own; /* its own delay (Crawl-delay), -1: none; a pause is never
                    shorter, even with random_delay */
    uint32_t failures; /* different URLs in a row that failed with 5xx, a
                          time-out or a reset */
    int64_t latency;   /* moving average of its response times; 0: unknown */
};

/* The pause after an answer. With `adaptive` it is longer for slow hosts,
 * unless there is no delay at all. From SCHEDULE_FAILURES on each failure
 * doubles it (or retry_delay, if there is no delay). Both up to max_delay. */
int64_t schedule_pause(const struct schedule_options *o,
                       const struct schedule_host *h,
                       struct schedule_random *r);

/* What makes schedule_pause as long as it is, apart from random_delay: "delay",
 * "crawl_delay", "max_crawl_delay" (a Crawl-delay that was cut to it),
 * "adaptive" or "failures". */
const char *schedule_why(const struct schedule_options *o,
                         const struct schedule_host *h);

/* Is a host with this many failures in a row slowed down? */
bool schedule_slows(uint32_t failures);

/* How long a host that answered 429 or 503, or that sent Retry-After, is
 * blocked: Retry-After if given (-1: not), at most a day; else 60 s, doubling
 * with each consecutive one (`backoffs`, 1 the first time), bounded by
 * max_delay, less up to a quarter. */
int64_t schedule_backoff(const struct schedule_options *o, int64_t retry_after,
                         uint32_t backoffs, struct schedule_random *r);

/* After how long a host that does not respond is asked again, after `failures`
 * failures in a row: retry_delay, doubling up to max_delay, plus up to a
 * quarter within that. */
int64_t schedule_silence(const struct schedule_options *o, uint32_t failures,
                         struct schedule_random *r);

#define SCHEDULE_BACKOFF_MOST_MS INT64_C(86400000) /* that day */

/* For times that an earlier run stored: ns from `wall_ms` to `until_ms`, 0 if
 * that is over, at most `most_ms`. A time farther ahead was written before the
 * clock was set back, or not by us. */
int64_t schedule_left(int64_t until_ms, int64_t wall_ms, int64_t most_ms);
/* How far ahead a person or another program may postpone something; a longer
 * time would not fit in ns. */
#define SCHEDULE_PUT_OFF_MOST_MS INT64_C(3000000000000) /* some ninety years */

/* The pause before try number `tries` + 1 of a URL: retry_delay doubling, times
 * 0.75 to 1.25, at most max_delay. */
int64_t schedule_retry(const struct schedule_options *o, uint32_t tries,
                       struct schedule_random *r);

#endif
