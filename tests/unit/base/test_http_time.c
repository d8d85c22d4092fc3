/* SPDX-License-Identifier: MIT */

#include "base/http_time.h"
#include "tests/unit/unit.h"

#define NOW INT64_C(784111777000) /* Sun, 06 Nov 1994 08:49:37 GMT */

static int64_t retry_after(const char *value)
{
    return http_retry_after_ms(bytes_of_str(value), NOW);
}

/* Promise (Politeness): Retry-After is obeyed as seconds or a date, within
 * bounds; 429 and 503 cause a back-off. See also
 * `fetcher_responses/retry_after_is_taken_from_429_and_5xx_only`,
 * `schedule/retry_after_alone_is_longer_than_max_delay_up_to_a_day`,
 * `schedule/back_off_is_bounded_by_max_delay`, `make sim`. */
TEST(rfc9110_10_2_3_retry_after_is_seconds_or_a_date)
{
    ck_assert_int_eq(retry_after("0"), 0);
    ck_assert_int_eq(retry_after("120"), 120000);
    ck_assert_int_eq(retry_after(" 7\t"), 7000);
    ck_assert_int_eq(retry_after("Sun, 06 Nov 1994 08:50:07 GMT"), 30000);
    ck_assert_int_eq(retry_after("Sunday, 06-Nov-94 08:50:07 GMT"), 30000);
    ck_assert_int_eq(retry_after("Sun Nov  6 08:50:07 1994"), 30000);
}

TEST(ours_retry_after_lies_between_now_and_a_day)
{
    ck_assert_int_eq(retry_after("86401"), HTTP_TIME_DAY_MS);
    ck_assert_int_eq(retry_after("99999999999999999999999"), HTTP_TIME_DAY_MS);
    ck_assert_int_eq(retry_after("Fri, 06 Nov 2099 08:49:37 GMT"),
                     HTTP_TIME_DAY_MS);
    ck_assert_int_eq(retry_after("Sun, 06 Nov 1994 08:49:30 GMT"), 0);
}

TEST(retry_after_that_is_neither_says_nothing)
{
    ck_assert_int_eq(retry_after(""), -1);
    ck_assert_int_eq(retry_after("soon"), -1);
    ck_assert_int_eq(retry_after("-5"), -1);
    ck_assert_int_eq(retry_after("1.5"), -1);
    ck_assert_int_eq(retry_after("12 34"), -1);
}

static int64_t fresh(const char *cache_control, const char *expires,
                     const char *date)
{
    return http_fresh_for_ms(bytes_of_str(cache_control), bytes_of_str(expires),
                             bytes_of_str(date), NOW);
}

TEST(rfc9111_4_2_1_max_age_comes_before_expires)
{
    ck_assert_int_eq(fresh("max-age=60", "", ""), 60000);
    ck_assert_int_eq(fresh("public, Max-Age = \"60\"", "", ""), 60000);
    ck_assert_int_eq(fresh("max-age=60", "Sun, 06 Nov 1994 09:49:37 GMT", ""),
                     60000);
    ck_assert_int_eq(fresh("private,,max-age=5,max-age=9", "", ""), 5000);
    ck_assert_int_eq(fresh("s-maxage=60", "", ""), -1);
    ck_assert_int_eq(fresh("max-age=x", "", ""), -1);
    ck_assert_int_eq(fresh("", "", ""), -1);
}

TEST(rfc9111_4_2_1_expires_is_counted_from_date)
{
    ck_assert_int_eq(fresh("", "Sun, 06 Nov 1994 09:49:37 GMT", ""), 3600000);
    ck_assert_int_eq(fresh("", "Sun, 06 Nov 1994 09:49:37 GMT",
                           "Sun, 06 Nov 1994 09:49:07 GMT"),
                     30000);
    ck_assert_int_eq(fresh("", "Sun, 06 Nov 1994 08:00:00 GMT", ""), 0);
}

TEST(rfc9111_5_an_answer_not_to_be_reused_is_fresh_for_nothing)
{
    ck_assert_int_eq(fresh("no-store, max-age=60", "", ""), 0);
    ck_assert_int_eq(fresh("max-age=60, no-cache", "", ""), 0);
    ck_assert_int_eq(fresh("max-age=0", "", ""), 0);
    ck_assert_int_eq(fresh("", "0", ""), 0);
    ck_assert_int_eq(fresh("", "-1", ""), 0);
}
