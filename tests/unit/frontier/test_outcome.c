/* SPDX-License-Identifier: MIT */
/* test_outcome.c - the outcomes of a URL: their names and their rules. */
#include <stdlib.h>

#include "frontier/outcome.h"
#include "tests/unit/unit.h"

TEST(every_number_has_a_word_of_its_own)
{
    for (enum outcome_reason a = 0; a < REASON_COUNT_; a++) {
        ck_assert_str_ne(outcome_reason_name(a), "unknown");
        for (enum outcome_reason b = 0; b < a; b++)
            ck_assert_str_ne(outcome_reason_name(a), outcome_reason_name(b));
    }
    for (enum outcome_status a = 0; a < OUTCOME_STATUS_COUNT_; a++) {
        ck_assert_str_ne(outcome_status_name(a), "unknown");
        for (enum outcome_status b = 0; b < a; b++)
            ck_assert_str_ne(outcome_status_name(a), outcome_status_name(b));
    }
    ck_assert_str_eq(outcome_reason_name(REASON_COUNT_), "unknown");
    ck_assert_str_eq(outcome_status_name(OUTCOME_STATUS_COUNT_), "unknown");
}

TEST(an_http_error_is_shown_with_its_number)
{
    char text[24];

    outcome_reason_text((struct outcome){OUTCOME_FAILED, REASON_HTTP, 404},
                        text, sizeof text);
    ck_assert_str_eq(text, "http_404");
    outcome_reason_text((struct outcome){OUTCOME_FAILED, REASON_TIMEOUT, 0},
                        text, sizeof text);
    ck_assert_str_eq(text, "timeout");
    outcome_reason_text((struct outcome){OUTCOME_FETCHED, REASON_NONE, 200},
                        text, sizeof text);
    ck_assert_str_eq(text, "");
}

/* The table of outcomes, one row each: does it count for --limit, does it fail
 * a seed? */
static const struct {
    struct outcome o;
    bool counts, fails;
} rules[] = {
    {{OUTCOME_QUEUED, REASON_NONE, 0}, false, false},
    {{OUTCOME_FETCHED, REASON_NONE, 200}, true, false},
    {{OUTCOME_FETCHED, REASON_NONE, 304}, true, false},
    {{OUTCOME_FETCHED, REASON_TRUNCATED_LENGTH, 200}, true, false},
    {{OUTCOME_FETCHED, REASON_TRUNCATED_TIME, 200}, true, false},
    {{OUTCOME_FETCHED, REASON_BAD_ENCODING, 200}, true, false},
    {{OUTCOME_REDIRECT, REASON_NONE, 301}, false, false},
    {{OUTCOME_REDIRECT, REASON_REDIRECT_SCOPE, 301}, false, false},
    {{OUTCOME_REDIRECT, REASON_REDIRECT_LIMIT, 301}, false, true},
    {{OUTCOME_REDIRECT, REASON_REDIRECT_LOOP, 301}, false, true},
    {{OUTCOME_FAILED, REASON_HTTP, 404}, true, true},
    {{OUTCOME_FAILED, REASON_HTTP, 503}, true, true},
    {{OUTCOME_FAILED, REASON_DNS, 0}, false, true},
    {{OUTCOME_FAILED, REASON_CONNECT, 0}, false, true},
    {{OUTCOME_FAILED, REASON_TLS, 0}, false, true},
    {{OUTCOME_FAILED, REASON_TIMEOUT, 0}, false, true},
    {{OUTCOME_FAILED, REASON_RESET, 0}, false, true},
    {{OUTCOME_FAILED, REASON_PROTOCOL, 0}, false, true},
    {{OUTCOME_DENIED, REASON_ROBOTS, 0}, false, true},
    {{OUTCOME_DENIED, REASON_ROBOTS_UNREACHABLE, 0}, false, true},
    {{OUTCOME_SKIPPED, REASON_ADDRESS, 0}, false, true},
    {{OUTCOME_SKIPPED, REASON_MIME, 200}, false, true},
    {{OUTCOME_SKIPPED, REASON_TRAP, 0}, false, true},
    {{OUTCOME_SKIPPED, REASON_NOINDEX, 200}, false, true},
    {{OUTCOME_SKIPPED, REASON_NO_SITEMAP, 404}, false, false},
    {{OUTCOME_SKIPPED, REASON_REMOVED, 0}, false, false},
    {{OUTCOME_FAILED, REASON_STUCK, 0}, false, true},
    {{OUTCOME_SKIPPED, REASON_PORT, 0}, false, true},
    {{OUTCOME_FETCHED, REASON_LINK_COUNT, 200}, true, false},
    {{OUTCOME_FETCHED, REASON_CHECKED, 200}, false, false},
};

/* Promise (Commands and options): each exit status is what the manual says.
 * See also `tests/cli/signals.sh`, `tests/cli/damaged-store.sh`,
 * `tests/cli/stuck.sh`, `tests/cli/options.sh`, `tests/cli/progress.sh`,
 * `tests/cli/seeds.sh`,
 * `frontier_disk/a_store_behind_its_manifest_is_refused`,
 * `tests/cli/limits.sh`. */
TEST(limits_and_seeds_go_by_the_table_of_outcomes)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        ck_assert_int_eq(outcome_counts_as_page(rules[i].o), rules[i].counts);
        ck_assert_int_eq(outcome_fails_seed(rules[i].o), rules[i].fails);
    }
}

/* A guessed sitemap that is not there is no error of its host, and a page that
 * asks not to be indexed has not changed either if it is answered by 304. */
TEST(errors_and_unchanged_pages_are_told_by_their_reasons)
{
    ck_assert(!outcome_is_error(
        (struct outcome){OUTCOME_SKIPPED, REASON_NO_SITEMAP, 404}));
    ck_assert(
        outcome_is_error((struct outcome){OUTCOME_SKIPPED, REASON_SCOPE, 0}));
    ck_assert(
        outcome_is_error((struct outcome){OUTCOME_DENIED, REASON_ROBOTS, 0}));
    ck_assert(outcome_is_not_modified(
        (struct outcome){OUTCOME_FETCHED, REASON_UNCHANGED, 304}));
    ck_assert(outcome_is_not_modified(
        (struct outcome){OUTCOME_SKIPPED, REASON_NOINDEX, 304}));
    ck_assert(!outcome_is_not_modified(
        (struct outcome){OUTCOME_SKIPPED, REASON_NOINDEX, 200}));
    ck_assert(!outcome_is_not_modified(
        (struct outcome){OUTCOME_FETCHED, REASON_UNCHANGED, 200}));
}

TEST(a_reason_is_known_by_the_text_that_shows_it)
{
    static const char *const not [] = {
        "",          "http",     "http_",    "http_40",  "http_4040",
        "http_4x4",  "unknown",  "Timeout",  "timeout ", "time",
        "https_404", "http_ 40", "http_-40",
    };

    for (unsigned r = REASON_NONE + 1; r < REASON_COUNT_; r++) {
        char text[24];

        outcome_reason_text((struct outcome){OUTCOME_FAILED,
                                             (enum outcome_reason)r, 503},
                            text, sizeof text);
        ck_assert_msg(outcome_reason_is(text) !=
                          outcome_reason_drops_only((enum outcome_reason)r),
                      "%s", text);
    }
    ck_assert(outcome_reason_is("http_000"));
    ck_assert(outcome_reason_is("http_999"));
    for (size_t i = 0; i < sizeof not / sizeof *not ; i++)
        ck_assert_msg(!outcome_reason_is(not [i]), "%s", not [i]);
}
