/* SPDX-License-Identifier: MIT */

#include "base/clock.h"
#include "frontier/crawl/schedule.h"
#include "tests/unit/unit.h"

#define S NS_PER_S

static const struct schedule_options defaults = {
    .delay = S,
    .adaptive = true,
    .max_delay = 30 * S,
    .max_crawl_delay = 300 * S,
    .retry_delay = S,
};

/* The pause after a response, in ms, and what makes it grow. */
static const struct {
    int64_t delay_ms;
    struct schedule_host host;
    int64_t pause_ms;
} pauses[] = {
    /* the delay, unless the host asks for more */
    {1000, {.own = -1}, 1000},
    {1000, {.own = 5 * S}, 5000},
    {1000, {.own = 0}, 1000},
    {1000, {.own = 3600 * S}, 300000}, /* --max-crawl-delay */
    /* twice the response time, within max_delay */
    {1000, {.own = -1, .latency = S / 4}, 1000},
    {1000, {.own = -1, .latency = S / 2}, 1000},
    {1000, {.own = -1, .latency = 2 * S}, 4000},
    {1000, {.own = 60 * S, .latency = 2 * S}, 60000},
    {1000, {.own = -1, .latency = 20 * S}, 30000},
    {1000, {.own = -1, .latency = INT64_MAX}, 30000},
    {1, {.own = -1, .latency = S}, 2000},
    {0, {.own = -1, .latency = S}, 0}, /* a delay of 0 stays 0 */
    /* failures of different URLs in a row: up to four change nothing */
    {1000, {.own = -1, .failures = 1}, 1000},
    {1000, {.own = -1, .failures = 4}, 1000},
    {1000, {.own = -1, .failures = 5}, 2000},
    {1000, {.own = -1, .failures = 6}, 4000},
    {1000, {.own = -1, .failures = 9}, 30000},
    {1000, {.own = -1, .failures = UINT32_MAX}, 30000},
    {1000, {.own = 60 * S, .failures = 9}, 60000},
    {1000, {.own = -1, .failures = 5, .latency = 2 * S}, 8000},
    {0, {.own = -1, .failures = 4}, 0},
    {0, {.own = -1, .failures = 5}, 2000}, /* starts at --retry-delay */
};

/* Which rule makes the pause. */
static const struct {
    int64_t delay_ms;
    struct schedule_host host;
    const char *why;
} rules[] = {
    {1000, {.own = -1}, "delay"},
    {0, {.own = -1}, "delay"},
    {1000, {.own = S}, "delay"},
    {1000, {.own = 5 * S}, "crawl_delay"},
    {1000, {.own = 300 * S}, "crawl_delay"},
    {1000, {.own = 301 * S}, "max_crawl_delay"},
    {1000, {.own = -1, .latency = S / 2}, "delay"},
    {1000, {.own = -1, .latency = 2 * S}, "adaptive"},
    {1000, {.own = 60 * S, .latency = 2 * S}, "crawl_delay"},
    {0, {.own = -1, .latency = 2 * S}, "delay"},
    {1000, {.own = -1, .failures = 4}, "delay"},
    {1000, {.own = -1, .failures = 5}, "failures"},
    {1000, {.own = 60 * S, .failures = 9}, "crawl_delay"},
};

/* Promise (Commands and options): status, export, HTTP and summary agree on
 * each host's queue, what it waits for, its delay and the rule that makes it,
 * and exports have the outcomes of its URLs; a Crawl-delay that is cut is
 * marked; its connections, TLS handshakes and responses over kept connections
 * are those that the server saw, whether it keeps them for long, for a moment,
 * for one response or until GOAWAY. See also
 * `http_pages/a_host_has_the_columns_of_its_view`, `tests/cli/hosts.sh`,
 * `tests/cli/keep-alive.sh`, `tests/cli/export.sh`. */
TEST_EACH(the_rule_behind_a_pause_is_named, rules)
{
    struct schedule_options o = defaults;

    o.delay = rules[_i].delay_ms * NS_PER_MS;
    ck_assert_str_eq(schedule_why(&o, &rules[_i].host), rules[_i].why);
}

/* Promise (Politeness): a URL that fails delays itself, and its host only when
 * five different ones in a row fail, until one succeeds; nothing but
 * Retry-After passes --max-delay. See also `make sim`. */
TEST_EACH(the_pause_grows_as_the_table_says, pauses)
{
    struct schedule_options o = defaults;
    struct schedule_random r = {1};

    o.delay = pauses[_i].delay_ms * NS_PER_MS;
    ck_assert_int_eq(schedule_pause(&o, &pauses[_i].host, &r),
                     pauses[_i].pause_ms * NS_PER_MS);
}

TEST(random_delay_stays_within_half_and_one_and_a_half)
{
    const struct schedule_host plain = {.own = -1}, own = {.own = 2 * S};
    struct schedule_options o = defaults;
    struct schedule_random r = {42};
    int64_t least = INT64_MAX, most = 0;

    o.random_delay = true;
    for (int i = 0; i < 10000; i++) {
        int64_t p = schedule_pause(&o, &plain, &r);

        least = p < least ? p : least;
        most = p > most ? p : most;
        ck_assert_int_ge(schedule_pause(&o, &own, &r), 2 * S);
    }
    ck_assert_int_ge(least, S / 2);
    ck_assert_int_lt(least, S * 51 / 100);
    ck_assert_int_lt(most, S * 3 / 2);
    ck_assert_int_gt(most, S * 149 / 100);
}

/* After 429 without Retry-After: a minute, doubling, never past max_delay. */
TEST(back_off_is_bounded_by_max_delay)
{
    struct schedule_options o = defaults;
    struct schedule_random r = {7};

    for (int i = 0; i < 100; i++) {
        for (uint32_t n = 1; n < 50; n += 7) {
            int64_t pause = schedule_backoff(&o, -1, n, &r);

            ck_assert_int_gt(pause, 30 * S * 3 / 4 - 1);
            ck_assert_int_le(pause, 30 * S);
        }
    }
    o.max_delay = 600 * S;
    for (int i = 0; i < 100; i++) {
        ck_assert_int_ge(schedule_backoff(&o, -1, 1, &r), 45 * S);
        ck_assert_int_le(schedule_backoff(&o, -1, 1, &r), 60 * S);
        ck_assert_int_ge(schedule_backoff(&o, -1, 3, &r), 180 * S);
        ck_assert_int_le(schedule_backoff(&o, -1, 40, &r), 600 * S);
    }
}

TEST(retry_after_alone_is_longer_than_max_delay_up_to_a_day)
{
    struct schedule_random r = {7};

    ck_assert_int_eq(schedule_backoff(&defaults, 3 * S, 9, &r), 3 * S);
    ck_assert_int_eq(schedule_backoff(&defaults, 0, 1, &r), 0);
    ck_assert_int_eq(schedule_backoff(&defaults, 7200 * S, 1, &r), 7200 * S);
    ck_assert_int_eq(schedule_backoff(&defaults, INT64_MAX, 1, &r), 86400 * S);
}

/* Otherwise the crawler would never wait for any host. */
/* The clock may have been set back meanwhile. */
TEST(what_is_left_of_a_stored_wait_is_bounded)
{
    ck_assert_int_eq(schedule_left(999, 1000, 50), 0);
    ck_assert_int_eq(schedule_left(1000, 1000, 50), 0);
    ck_assert_int_eq(schedule_left(1001, 1000, 50), NS_PER_MS);
    ck_assert_int_eq(schedule_left(1049, 1000, 50), 49 * NS_PER_MS);
    ck_assert_int_eq(schedule_left(9000, 1000, 50), 50 * NS_PER_MS);
}
