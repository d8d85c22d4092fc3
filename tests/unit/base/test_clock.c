/* SPDX-License-Identifier: MIT */
#include <check.h>

#include "base/clock.h"

START_TEST(rfc9110_5_6_7_reads_all_three_date_forms)
{
    static const char *const forms[] = {"Sun, 06 Nov 1994 08:49:37 GMT",
                                        "Sunday, 06-Nov-94 08:49:37 GMT",
                                        "Sun Nov  6 08:49:37 1994"};

    for (int i = 0; i < 3; i++) {
        int64_t ms = 0;

        ck_assert_int_eq(clock_parse_http_date(bytes_of_str(forms[i]), &ms),
                         STATUS_OK);
        ck_assert_int_eq(ms, INT64_C(784111777000));
    }
}
END_TEST

START_TEST(ours_servers_write_the_zone_in_other_ways)
{
    static const char *const forms[] = {"Sun, 06 Nov 1994 08:49:37 UTC",
                                        "Sun, 06 Nov 1994 08:49:37 +0000",
                                        "Sun, 06 Nov 1994 08:49:37 -0000",
                                        "Sun, 06 Nov 1994 10:19:37 +0130"};

    for (int i = 0; i < 4; i++) {
        int64_t ms = 0;

        ck_assert_int_eq(clock_parse_http_date(bytes_of_str(forms[i]), &ms),
                         STATUS_OK);
        ck_assert_int_eq(ms, INT64_C(784111777000));
    }
}
END_TEST

START_TEST(refuses_what_is_no_date)
{
    static const char *const bad[] = {"", "120", "tomorrow",
                                      "Sun, 06 Nov 1994 08:49:37 GMT and more",
                                      "Sun, 66 Nov 1994 08:49:37 GMT"};

    for (int i = 0; i < 5; i++) {
        int64_t ms = 7;

        ck_assert_int_eq(clock_parse_http_date(bytes_of_str(bad[i]), &ms),
                         STATUS_FORMAT);
        ck_assert_int_eq(ms, 7);
    }
}
END_TEST

START_TEST(writes_iso_8601_with_milliseconds)
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
END_TEST

Suite *suite_clock(void)
{
    Suite *s = suite_create("clock");
    TCase *t = tcase_create("clock");

    tcase_add_test(t, rfc9110_5_6_7_reads_all_three_date_forms);
    tcase_add_test(t, ours_servers_write_the_zone_in_other_ways);
    tcase_add_test(t, refuses_what_is_no_date);
    tcase_add_test(t, writes_iso_8601_with_milliseconds);
    suite_add_tcase(s, t);
    return s;
}
