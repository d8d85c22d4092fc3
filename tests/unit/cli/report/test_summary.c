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
    .engine = {.pages = 12345,
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

TEST(a_resumed_crawl_tells_its_own_share)
{
    static const struct engine_stats before = {.pages = 12345 - 246};
    struct crawl_stats c = crawl;
    struct summary s = whole;

    s.crawl = &c;
    s.end = CRAWL_FINISHED;
    s.code = EXIT_SEEDS;
    s.before = &before;
    c.engine.seeds_failed = 1;
    c.engine.queued = 0;
    print(&s);
    ck_assert_ptr_nonnull(
        strstr(text, "finished, but some seeds could not be fetched\n"));
    ck_assert_ptr_nonnull(
        strstr(text, "12,345   246 of them in this run, 2.0 a second, 1,024 "));
    ck_assert_ptr_nonnull(strstr(text, "in 2m03s\n  1 of 3 seeds failed\n"
                                       "exit status 5; to see what failed: "
                                       "urlweir export docs --what errors\n"));
    ck_assert_ptr_null(strstr(text, "queued"));
    free(text);
}

/* A page that is no page any more takes one off the pages. */
TEST(a_resumed_crawl_tells_what_it_fetched_again)
{
    static const struct engine_stats before = {.pages = 61,
                                               .refreshed = 122,
                                               .changed = 7};
    struct crawl_stats c = {.engine = {.pages = 60,
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
    struct crawl_stats c = {.engine = {.queued = 1, .urls = 1, .seeds = 1},
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
    c.engine.fetched = 1;
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
        .engine = {.failed = 2, .urls = 2, .seeds = 2, .seeds_failed = 2},
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

/* This is the first thing to go wrong when people crawl their own machine. */
TEST(a_seed_at_a_private_address_names_the_option_that_allows_it)
{
    static const struct crawl_stats c = {
        .engine = {.skipped = 2, .urls = 2, .seeds = 1, .seeds_failed = 1},
        .frontier.done[OUTCOME_SKIPPED][REASON_ADDRESS] = 2};

    print_failed_seeds(&c);
    ck_assert_ptr_nonnull(
        strstr(text, "  1 of 1 seeds failed\n"
                     "  address: not fetched, since it is a private or special "
                     "one; --allow-private allows it\n"
                     "exit status 5; to see what failed: "
                     "urlweir export d --what errors\n"));
    free(text);
}

TEST(a_seed_at_a_blocked_port_names_the_option_that_allows_it)
{
    static const struct crawl_stats c = {
        .engine = {.skipped = 1, .urls = 1, .seeds = 1, .seeds_failed = 1},
        .frontier.done[OUTCOME_SKIPPED][REASON_PORT] = 1};

    print_failed_seeds(&c);
    ck_assert_ptr_nonnull(strstr(text, "  port: not fetched, since browsers "
                                       "block it; --allow-port allows it\n"));
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

TEST(a_stopped_crawl_names_the_host_that_will_take_longest)
{
    static const struct crawl_wait slow = {"a.example", "crawl_delay", 1203,
                                           300 * NS_PER_S};
    struct summary s = whole;

    s.end = CRAWL_TIME;
    s.longest = &slow;
    print(&s);
    ck_assert_ptr_nonnull(
        strstr(text, "  a.example will take longest: 1,203 URLs, one each "
                     "5m00s (crawl_delay)\n"));
    free(text);
}

TEST(of_many_reasons_the_rarest_are_summed_up)
{
    struct crawl_stats c = crawl;
    struct summary s = whole;
    static const char *const names[] = {"a", "b", "c", "d", "e", "f",
                                        "g", "h", "i", "j", "k", "l"};

    for (size_t i = 0; i < 12; i++)
        snprintf(c.frontier.failures[i].why, sizeof c.frontier.failures[i].why,
                 "%s", names[i]);
    for (size_t i = 0; i < 12; i++)
        c.frontier.failures[i].count = i + 1;
    c.frontier.failure_count = 12;
    s.crawl = &c;
    print(&s);
    ck_assert_ptr_nonnull(
        strstr(text, "l 12, k 11, j 10, i 9, h 8, g 7, f 6, e 5, other 10\n"));
    free(text);
}

TEST(the_next_command_can_be_pasted)
{
    struct summary s = whole;

    s.dir = "it's my crawl";
    s.end = CRAWL_INTERRUPTED;
    s.code = EXIT_INTERRUPTED;
    print(&s);
    ck_assert_ptr_nonnull(strstr(
        text, "exit status 4; to go on: urlweir resume 'it'\\''s my crawl'\n"));
    free(text);
    s.end = CRAWL_BROKEN;
    s.code = EXIT_DAMAGED;
    s.dir = "-x";
    print(&s);
    ck_assert_ptr_nonnull(
        strstr(text, "to see what is wrong: urlweir verify ./-x\n"));
    free(text);
}

TEST(an_empty_crawl_is_told_without_dividing_by_zero)
{
    static const struct crawl_stats c;
    static const struct summary s = {.dir = "d",
                                     .end = CRAWL_FINISHED,
                                     .crawl = &c};

    print(&s);
    ck_assert_str_eq(
        text,
        "finished: every URL in scope was fetched, or has a reason why not\n"
        "  pages                   0\n"
        "  links                   0   0 seen before\n"
        "  unique URLs             0\n"
        "  received              0 B   in 0s\n"
        "exit status 0; to list the pages: urlweir export "
        "d\n");
    free(text);
}
