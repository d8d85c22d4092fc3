/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "base/clock.h"
#include "cli/report/summary.h"
#include "tests/unit/unit.h"

static char *text;
static size_t text_len;

static void print(const struct summary *s)
{
    FILE *to = open_memstream(&text, &text_len);

    summary_print(to, s);
    fclose(to);
}

static const struct crawl_stats crawl = {
    .counts = {.pages = 12345,
               .fetched = 12325,
               .redirects = 120,
               .failed = 30,
               .denied = 12,
               .queued = 4512,
               .links = 741234,
               .urls = 17019,
               .duplicates = 724215,
               .dropped = 9122,
               .bytes = 118 << 20,
               .seeds = 3},
    .frontier = {.same_content = 1024,
                 .false_positives = 7,
                 .failures = {{"http_404", 20}, {"tls", 7}, {"dns", 3}},
                 .failure_count = 3,
                 .done[OUTCOME_FETCHED][REASON_UNCHANGED] = 2100,
                 .done[OUTCOME_DENIED][REASON_ROBOTS] = 12},
};

static const struct summary whole = {
    .dir = "docs",
    .end = CRAWL_LIMIT,
    .code = EXIT_LIMIT,
    .elapsed_ms = 123000,
    .crawl = &crawl,
};

TEST(tells_what_happened_and_what_comes_next)
{
    print(&whole);
    ck_assert_str_eq(
        text,
        "stopped by --limit\n"
        "  pages              12,345   100 a second, 1,024 with a body seen "
        "before\n"
        "  fetched            12,325   2,100 unchanged\n"
        "  redirects             120\n"
        "  failed                 30   http_404 20, tls 7, dns 3\n"
        "  denied                 12   robots 12\n"
        "  queued              4,512   not fetched yet\n"
        "  links             741,234   724,215 seen before, 9,122 out of scope "
        "or over a limit\n"
        "  unique URLs        17,019   7 of which a Bloom filter alone would "
        "have lost\n"
        "  received          118 MiB   in 2m03s\n"
        "exit status 3; to go on: urlweir resume docs --limit none\n");
    free(text);
}

/* Promise (Commands and options): summary, status, progress and the
 * dashboard tell what a run fetched again, how much of that changed, and at
 * what rate; the dashboard also has dates, overdue and up-to-date pages. See
 * also `progress/rates_follow_the_last_ten_seconds`,
 * `tests/interop/dashboard.py`. */
/* A page that is no page any more takes one off the pages. */
TEST(a_resumed_crawl_tells_what_it_fetched_again)
{
    static const struct frontier_counts before = {.pages = 61,
                                                  .refreshed = 122,
                                                  .changed = 7};
    struct crawl_stats c = {.counts = {.pages = 60,
                                       .fetched = 60,
                                       .refreshed = 183,
                                       .changed = 9,
                                       .gone = 1}};
    struct summary s = whole;

    s.crawl = &c;
    s.end = CRAWL_IDLE;
    s.elapsed_ms = 10000;
    print(&s);
    ck_assert_ptr_nonnull(
        strstr(text,
               "60   243 fetches in this run, 24 a second\n"
               "  refreshed             183   9 changed; 1 gone for good\n"));
    free(text);
    s.before = &before;
    print(&s);
    ck_assert_ptr_nonnull(
        strstr(text,
               "60   60 fetches in this run, 6.0 a second\n"
               "  refreshed             183   9 changed; in this run 61, 2 "
               "changed; 1 gone for good\n"));
    free(text);
}

/* The seed's name has a typing error, and the person has seen enough. */
TEST(a_host_that_never_responded_is_named_with_what_to_do)
{
    struct crawl_stats c = {.counts = {.queued = 1, .urls = 1, .seeds = 1},
                            .standstill = {.host = "exmple.org", .why = "dns"}};
    struct summary s = {.dir = "d",
                        .end = CRAWL_INTERRUPTED,
                        .code = EXIT_INTERRUPTED,
                        .crawl = &c};

    print(&s);
    ck_assert_ptr_nonnull(
        strstr(text, "  exmple.org does not respond (dns): the name does not "
                     "resolve; is it spelled right?\n"));
    free(text);
    c.counts.fetched = 1;
    print(&s);
    ck_assert_ptr_null(strstr(text, "exmple.org"));
    free(text);
}

/* Of a crawl that ended so. */
static void print_failed_seeds(const struct crawl_stats *c)
{
    const struct summary s = {.dir = "d",
                              .end = CRAWL_FINISHED,
                              .code = EXIT_SEEDS,
                              .crawl = c};

    print(&s);
}

TEST(failed_seeds_come_with_what_to_do_about_each_cause)
{
    static const struct crawl_stats c = {
        .counts = {.failed = 2, .urls = 2, .seeds = 2, .seeds_failed = 2},
        .frontier = {.failures = {{"http_401", 1}, {"tls", 1}},
                     .failure_count = 2}};

    print_failed_seeds(&c);
    ck_assert_ptr_nonnull(
        strstr(text, "  tls: the certificate is not trusted"));
    ck_assert_ptr_nonnull(strstr(text, "--cacert FILE"));
    ck_assert_ptr_nonnull(strstr(text, "  http_401: it asks for a login; "
                                       "--auth ORIGIN=USER:PASSWORD"));
    free(text);
}

TEST(giving_up_names_the_hosts)
{
    static const struct crawl_wait waits[] = {{"a.example", "retry_after", 12,
                                               86400 * NS_PER_S},
                                              {"b\x1b[2J", "", 0,
                                               3600 * NS_PER_S},
                                              {"c", "connect", 1, -1},
                                              {"d", "dns", 1200, -1},
                                              {"e", "per-host", 9, INT64_MAX},
                                              {"f", "", 0, 1},
                                              {"g", "", 0, 1},
                                              {"h", "", 0, 1},
                                              {"i", "", 0, 1}};
    struct summary s = whole;

    s.end = CRAWL_GAVE_UP;
    s.waits = waits;
    s.wait_count = 9;
    print(&s);
    ck_assert_ptr_nonnull(
        strstr(text, "  a.example waits 1d00h (retry_after), 12 URLs\n"
                     "  b\\x1b[2J waits 1h00m\n"
                     "  c did not respond (connect), 1 URL stays queued\n"
                     "  d did not respond (dns), 1,200 URLs stay queued\n"
                     "  e is over a budget (per-host), 9 URLs stay queued\n"));
    ck_assert_ptr_nonnull(
        strstr(text, "  and more hosts: urlweir status docs --hosts\n"));
    ck_assert_ptr_null(strstr(text, "  i waits"));
    ck_assert_ptr_nonnull(strstr(text, "to go on: urlweir resume docs\n"));
    free(text);
}
