/* SPDX-License-Identifier: MIT */
/* test_sitemap_hint.c - dates, priorities and frequencies of sitemaps. */
#include "crawler/sitemap_stream.h"
#include "tests/unit/unit.h"

#define SECOND INT64_C(1000)

TEST(w3c_datetime_from_a_year_to_a_fraction_of_a_second)
{
    static const struct {
        const char *text;
        int64_t ms;
    } cases[] = {
        {"1970", 0},
        {"1997-07", 867715200 * SECOND},
        {"1997-07-16", 869011200 * SECOND},
        {"1997-07-16T19:20+01:00", 869077200 * SECOND},
        {"1997-07-16T19:20:30+01:00", 869077230 * SECOND},
        {"1997-07-16T19:20:30.45+01:00", 869077230450},
        {"1997-07-16T19:20:30Z", 869080830 * SECOND},
        {"1997-07-16T19:20:30-0030", 869082630 * SECOND},
        {"1997-07-16 19:20:30", 869080830 * SECOND},
        {" 1997-07-16\n", 869011200 * SECOND},
        {"1969-12-31T23:59:59Z", -1 * SECOND},
        /* dates as in mail */
        {"Sun, 06 Nov 1994 08:49:37 GMT", 784111777 * SECOND},
        {"Sunday, 06-Nov-94 08:49:37 GMT", 784111777 * SECOND},
        {"Mon, 25 Dec 2023 10:00:00 +0100", 1703494800 * SECOND},
        /* no date */
        {"", HINT_NO_LASTMOD},
        {"yesterday", HINT_NO_LASTMOD},
        {"97-07-16", HINT_NO_LASTMOD},
        {"1997-13-01", HINT_NO_LASTMOD},
        {"1997-00-01", HINT_NO_LASTMOD},
        {"1997-07-32", HINT_NO_LASTMOD},
        {"1997-07-16T25:00Z", HINT_NO_LASTMOD},
        {"1997-07-16T19:20:30+1:00", HINT_NO_LASTMOD},
        {"1997-07-16T19:20:30Zx", HINT_NO_LASTMOD},
        {"20240101", HINT_NO_LASTMOD},
        {"1704067200", HINT_NO_LASTMOD},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        ck_assert_msg(sitemap_date_ms(bytes_of_str(cases[i].text)) ==
                          cases[i].ms,
                      "\"%s\" is %lld", cases[i].text,
                      (long long)sitemap_date_ms(bytes_of_str(cases[i].text)));
}

static struct url_hint hint_of(const char *priority, const char *changefreq)
{
    const struct sitemap_entry e = {.priority = bytes_of_str(priority),
                                    .changefreq = bytes_of_str(changefreq)};
    struct url_hint h;

    (void)sitemap_hint(&e, &h);
    return h;
}

TEST(sitemaps_org_priority_is_a_fraction_up_to_one)
{
    static const struct {
        const char *text;
        int16_t thousandths;
    } cases[] = {
        {"0.8", 800}, {"1.0", 1000},         {"1", 1000},      {"0", 0},
        {".5", 500},  {"0,3", 300},          {"0.12345", 123}, {"7", 1000},
        {"", -1},     {"high", -1},          {"-0.5", -1},     {"0.5x", -1},
        {".", -1},    {"99999999999", 1000},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        ck_assert_msg(hint_of(cases[i].text, "").priority ==
                          cases[i].thousandths,
                      "\"%s\"", cases[i].text);
}

TEST(sitemaps_org_changefreq_is_one_of_seven_words)
{
    ck_assert_int_eq(hint_of("", "always").changefreq, CHANGEFREQ_ALWAYS);
    ck_assert_int_eq(hint_of("", "NEVER").changefreq, CHANGEFREQ_NEVER);
    ck_assert_int_eq(hint_of("", "often").changefreq, CHANGEFREQ_NONE);
}

TEST(who_says_nothing_gives_no_hint)
{
    const struct sitemap_entry e = {.lastmod = bytes_of_str("soon"),
                                    .changefreq = bytes_of_str("often")};
    struct url_hint h;

    ck_assert(!sitemap_hint(&e, &h));
}

TEST(order_is_by_priority_then_by_age)
{
    const struct url_hint low = {.priority = 400, .lastmod_ms = 9},
                          middle = {.priority = 500,
                                    .lastmod_ms = HINT_NO_LASTMOD},
                          none = {.priority = HINT_NO_PRIORITY,
                                  .lastmod_ms = 5};

    ck_assert_int_gt(sitemap_hint_order(&low, NULL), 0);
    ck_assert_int_lt(sitemap_hint_order(NULL, &low), 0);
    ck_assert_int_eq(sitemap_hint_order(&middle, NULL), 0);
    ck_assert_int_lt(sitemap_hint_order(&none, &middle), 0);
}
