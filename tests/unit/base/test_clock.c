/* SPDX-License-Identifier: MIT */

#include "base/clock.h"
#include "tests/unit/unit.h"

TEST(rfc9110_5_6_7_reads_all_three_date_forms)
{
    static const char *const forms[] = {"Sun, 06 Nov 1994 08:49:37 GMT",
                                        "Sunday, 06-Nov-94 08:49:37 GMT",
                                        "Sun Nov  6 08:49:37 1994"};

    for (int i = 0; i < 3; i++) {
        int64_t ms = 0;

        ck_ok(clock_parse_http_date(bytes_of_str(forms[i]), &ms));
        ck_assert_int_eq(ms, INT64_C(784111777000));
    }
}

TEST(ours_servers_write_dates_in_other_ways)
{
    static const char *const forms[] = {
        "Sun, 06 Nov 1994 08:49:37 UTC",   "Sun, 06 Nov 1994 08:49:37 +0000",
        "Sun, 06 Nov 1994 08:49:37 -0000", "Sun, 06 Nov 1994 10:19:37 +0130",
        "Sun, 06 Nov 1994 08:49:37 UT",    "Sun, 06-Nov-1994 08:49:37 GMT",
        "Sun, 06-Nov-1994 08:49:37 UTC",   "Sun, 06-Nov-94 08:49:37 UT",
        "Sunday, 06-Nov-94 10:19:37 +0130"};

    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        int64_t ms = 0;

        ck_ok(clock_parse_http_date(bytes_of_str(forms[i]), &ms));
        ck_assert_int_eq(ms, INT64_C(784111777000));
    }
}

TEST(refuses_what_is_no_date)
{
    static const char *const bad[] = {"",
                                      "120",
                                      "tomorrow",
                                      "Sun, 06 Nov 1994 08:49:37 GMT and more",
                                      "Sun, 66 Nov 1994 08:49:37 GMT",
                                      "1994-11-06 08:49:37",
                                      "Sun, 06 Nov 1994 08:49:37 Mars"};

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        int64_t ms = 7;

        ck_assert_int_eq(clock_parse_http_date(bytes_of_str(bad[i]), &ms),
                         STATUS_FORMAT);
        ck_assert_int_eq(ms, 7);
    }
}

/* Promise (The service): times in requests may have an offset, and a number
 * that equals an integer is one. See also
 * `http_text/numbers_that_equal_an_integer_are_integers`,
 * `tests/cli/serve-http.sh`, `tests/cli/steer-client.sh`. */
/* date -u -d TEXT +%s */
TEST(rfc3339_5_6_reads_a_time_with_its_offset)
{
    static const struct {
        const char *text;
        int64_t ms;
    } times[] = {
        {"1985-04-12T23:20:50.52Z", 482196050520},
        {"1996-12-19T16:39:57-08:00", 851042397000},
        {"1996-12-20t00:39:57z", 851042397000},
        {"1990-12-31T23:59:60Z", 662688000000},
        {"1990-12-31T15:59:60-08:00", 662688000000},
        {"1937-01-01T12:00:27.87+00:20", -1041337172130},
        {"1970-01-01T00:00:00-00:00", 0},
        {"2026-11-21T12:00:00.12345678901234567890123456789Z", 1795262400123},
        {"9999-12-31T23:59:59Z", 253402300799000},
        /* what could not be written as UTC */
        {"9999-12-31T23:59:60Z", 253402300799000},
        {"9999-12-31T23:59:59-23:59", 253402300799000},
        {"0000-01-01T00:00:00+23:59", -62167219200000},
    };

    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        int64_t ms = 7;

        ck_assert_msg(clock_parse_iso(bytes_of_str(times[i].text), &ms) ==
                          STATUS_OK,
                      "%s", times[i].text);
        ck_assert_int_eq(ms, times[i].ms);
    }
}

TEST(rfc3339_5_6_refuses_what_is_no_time)
{
    static const char *const bad[] = {
        "",
        "2026-11-21",
        "2026-11-21T12:00Z",
        "2026-11-21T12:00:00",
        "2026-11-21 12:00:00Z",
        "2026-11-21T12:00:00+",
        "2026-11-21T12:00:00+01",
        "2026-11-21T12:00:00+0100",
        "2026-11-21T12:00:00+24:00",
        "2026-11-21T12:00:00+01:60",
        "2026-11-21T12:00:00+01:00Z",
        "2026-11-21T12:00:00 +01:00",
        "2026-11-21T12:00:00.Z",
        "2026-11-21T12:00:60Z",
        "2026-11-21T23:59:61Z",
        "2026-11-21T24:00:00Z",
        "2026-02-29T00:00:00Z",
        "2026-00-01T00:00:00Z",
        "2026-01-00T00:00:00Z",
        "+026-01-01T00:00:00Z",
    };

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        int64_t ms = 7;

        ck_assert_msg(clock_parse_iso(bytes_of_str(bad[i]), &ms) ==
                          STATUS_FORMAT,
                      "%s", bad[i]);
        ck_assert_int_eq(ms, 7);
    }
    ck_assert_int_eq(clock_parse_iso(bytes_of("2026-01-01T00:00:00Z\0", 21),
                                     &(int64_t){0}),
                     STATUS_FORMAT);
}

TEST(writes_iso_8601_with_milliseconds)
{
    char out[CLOCK_ISO_SIZE];

    clock_iso(out, INT64_C(784111777042));
    ck_assert_str_eq(out, "1994-11-06T08:49:37.042Z");
    clock_iso(out, -1);
    ck_assert_str_eq(out, "1969-12-31T23:59:59.999Z");
    clock_iso(out, INT64_MAX); /* stops at the end of 9999 */
    ck_assert_str_eq(out, "9999-12-31T23:59:59.000Z");
    clock_iso(out, INT64_MIN);
    ck_assert_str_eq(out, "0000-01-01T00:00:00.000Z");
}

/* ---- times in HTTP header fields ---- */

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
