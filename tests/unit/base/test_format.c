/* SPDX-License-Identifier: MIT */
#include <jansson.h>

#include "base/format.h"
#include "tests/unit/unit.h"

static struct buf b;

static void setup(void)
{
    buf_init(&b, 100000);
}

static void teardown(void)
{
    buf_fini(&b);
}

static void is(const char *want)
{
    ck_assert_str_eq(buf_str(&b), want);
    buf_clear(&b);
}

FIXTURE(setup, teardown);

TEST(writes_sizes_in_powers_of_1024)
{
    format_size(&b, 0);
    is("0 B");
    format_size(&b, 1023);
    is("1023 B");
    format_size(&b, 1024);
    is("1.0 KiB");
    format_size(&b, 1536 * 1024);
    is("1.5 MiB");
    format_size(&b, (UINT64_C(1) << 20) - 1); /* not 1024.0 KiB */
    is("1.0 MiB");
    format_size(&b, 300 << 20);
    is("300 MiB");
    format_size(&b, UINT64_MAX);
    is("16.0 EiB");
}

TEST(writes_durations_in_two_units)
{
    format_duration(&b, -5);
    is("0s");
    format_duration(&b, 850);
    is("850ms");
    format_duration(&b, 12399);
    is("12.3s");
    format_duration(&b, 59999);
    is("59.9s");
    format_duration(&b, 60000);
    is("1m00s");
    format_duration(&b, 3723000);
    is("1h02m");
    format_duration(&b, INT64_C(187200000));
    is("2d04h");
    format_seconds(&b, 12045);
    is("12.045");
}

TEST(writes_rates_with_three_digits_or_so)
{
    format_rate(&b, 0);
    is("0");
    format_rate(&b, 0.123);
    is("0.12");
    format_rate(&b, 9.72);
    is("9.7");
    format_rate(&b, 98.4);
    is("98");
    format_rate(&b, 12345.6);
    is("12,346");
    format_rate(&b, 0.0 / 0.0);
    is("0");
}

TEST(rfc8259_7_a_string_escapes_what_must_be)
{
    format_json(&b, bytes_of("a\"\\/\b\f\n\r\t\x01\x7f\0z", 13));
    is("\"a\\\"\\\\/\\b\\f\\n\\r\\t\\u0001\\u007f\\u0000z\"");
    format_json(&b, bytes_of_str("\xe2\x82\xac \xf0\x9f\x98\x80"));
    is("\"\xe2\x82\xac \xf0\x9f\x98\x80\"");
    format_json(&b, bytes_of_str("\xc2\x9b[2J")); /* C1: CSI in one octet */
    is("\"\\u009b[2J\"");
    format_json(&b, bytes_of_str("a\xff\xc3z\xed\xa0\x80"));
    is("\"a\xef\xbf\xbd\xef\xbf\xbdz\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
}

/* Another JSON parser must accept any octets as a string. */
TEST(jansson_reads_what_we_write)
{
    uint32_t random = 1;

    for (int round = 0; round < 2000; round++) {
        char text[12];
        json_t *j;

        for (size_t i = 0; i < sizeof text; i++) {
            random = random * 1664525 + 1013904223;
            text[i] = (char)(random >> 24);
        }
        format_json(&b, bytes_of(text, sizeof text));
        j = json_loads(buf_str(&b), JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
        ck_assert_msg(j != NULL, "%s", buf_str(&b));
        json_decref(j);
        buf_clear(&b);
    }
}

TEST(rfc4180_2_fields_are_quoted_where_they_must_be)
{
    format_csv(&b, bytes_of_str("plain text"));
    is("plain text");
    format_csv(&b, bytes_of_str("a,b"));
    is("\"a,b\"");
    format_csv(&b, bytes_of_str("say \"hi\""));
    is("\"say \"\"hi\"\"\"");
    format_csv(&b, bytes_of_str("two\nlines"));
    is("\"two\nlines\"");
    format_csv(&b, bytes_of("", 0));
    is("");
}

TEST(nothing_a_stranger_wrote_reaches_the_terminal_as_a_command)
{
    format_terminal(&b, bytes_of_str("http://a/\x1b[31m\r\n\x7f"));
    is("http://a/\\x1b[31m\\x0d\\x0a\\x7f");
    format_terminal(&b, bytes_of_str("\xc2\x9b"
                                     "2J \xc3\xa9"));
    is("\\xc2\\x9b2J \xc3\xa9");
    format_terminal(&b, bytes_of_str("a\xe2\x80\xae"
                                     "b\xe2\x81\xa6\xd8\x9c"));
    is("a\\xe2\\x80\\xaeb\\xe2\\x81\\xa6\\xd8\\x9c");
    format_terminal(&b, bytes_of_str("\xff\xe2\x80"));
    is("\\xff\\xe2\\x80");
}

/* Promise (Audit, progress and figures): the audit as one page has the numbers
 * of --json; nothing from the web is markup, it has no script, and loads
 * nothing; it is readable on a desktop, on a telephone, in the dark and on
 * paper. See also `tests/cli/audit-page.sh`, `plot`,
 * `tests/interop/audit_page.py`. */
/* HTML, 13.2.5: in text only & and < start something else, in a quoted value &
 * and the quote. */
TEST(nothing_a_stranger_wrote_is_markup)
{
    format_html(&b, bytes_of_str("a<script>&amp;\"'"));
    is("a&lt;script&gt;&amp;amp;&quot;&#39;");
    format_html(&b, bytes_of_str("\xc3\xa9\xe2\x80\xae\xff\n"));
    is("\xc3\xa9\\xe2\\x80\\xae\\xff\\x0a");
    format_html(&b, bytes_of("<\0>", 3));
    is("&lt;\\x00&gt;");
}
