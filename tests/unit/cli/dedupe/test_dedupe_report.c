/* SPDX-License-Identifier: MIT */
#include <jansson.h>

#include "base/clock.h"
#include "cli/dedupe/dedupe_report.h"
#include "tests/unit/cli/capture.h"
#include "tests/unit/unit.h"

static const struct dedupe_progress sample = {
    .elapsed_ms = 12300,
    .lines = 12345678,
    .unique = 2345678,
    .duplicates = 9999990,
    .invalid = 10,
    .bytes = 500,
    .size = 1000,
};
static struct buf b;

static void setup(void)
{
    buf_init(&b, 10000);
}

static void teardown(void)
{
    buf_fini(&b);
}

FIXTURE(setup, teardown);

TEST(a_wide_bar_tells_all)
{
    dedupe_report_bar(&b, &sample, 1003713, 200);
    ck_assert_str_eq(buf_str(&b),
                     "12,345,678 lines  1,003,713/s  50% read  2,345,678 "
                     "unique  81% duplicates  10 invalid  12.3s");
}

TEST(where_no_terminal_is_a_line_comes_every_ten_seconds)
{
    static struct capture c;
    struct dedupe_report *r;
    const char *at;
    int lines = 0;

    capture_start(&c, STDERR_FILENO);
    r = dedupe_report_new(0);
    for (int64_t now = 0; now <= 35 * NS_PER_S; now += NS_PER_S)
        dedupe_report_update(r, &sample, now);
    dedupe_report_free(r);
    at = capture_end(&c);
    while ((at = strstr(at, "urlweir: progress:")) != NULL) {
        lines++;
        at++;
    }
    ck_assert_int_eq(lines, 3);
}

TEST(the_summary_says_what_was_kept_where_it_was)
{
    struct dedupe_summary s = {.all = sample,
                               .known = 3000000,
                               .known_before = 654322,
                               .memory = 40 << 20,
                               .disk = 3 << 19};

    dedupe_summary_text(&b, &s);
    ck_assert_str_eq(buf_str(&b),
                     "urlweir dedupe: finished\n"
                     "  lines           12,345,678   in 12.3s, 1,003,714 a "
                     "second\n"
                     "  unique           2,345,678\n"
                     "  duplicates       9,999,990   81.0 %\n"
                     "  invalid                 10\n"
                     "  memory     40.0 MiB, disk 1.5 MiB\n");
    s.dir = "seen";
    s.interrupted = true;
    buf_clear(&b);
    dedupe_summary_text(&b, &s);
    ck_assert_ptr_nonnull(strstr(buf_str(&b), "dedupe: interrupted\n"));
    ck_assert_ptr_nonnull(strstr(buf_str(&b),
                                 "2,345,678   known before: 654,322, now: "
                                 "3,000,000\n"));
}
