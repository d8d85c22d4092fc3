/* SPDX-License-Identifier: MIT */
/* test_conditions.c - which validators are sent back, and which are not. */
#include "crawler/fetch/response.h"

#include "tests/unit/crawler/fetcher_rig.h"
#include "tests/unit/unit.h"

/* Sun, 06 Nov 1994 08:49:37 GMT */
#define DATE    "Sun, 06 Nov 1994 08:49:37 GMT"
#define DATE_MS INT64_C(784111777000)

static struct url_last last_of(const char *etag, const char *date,
                               int64_t at_ms)
{
    return (struct url_last){.seq = 1,
                             .at_ms = at_ms,
                             .etag = bytes_of_str(etag),
                             .last_modified = bytes_of_str(date)};
}

static struct conditions conditions_for(const char *etag, const char *date,
                                        int64_t at_ms)
{
    const struct url_last last = last_of(etag, date, at_ms);

    return conditions_of(&last);
}

TEST(rfc9110_8_8_3_only_entity_tags_are_sent_back)
{
    static const char *const good[] = {"\"\"", "\"a\"", "W/\"a\"",
                                       "\"a,\\b\xe4!\"", "W/\"\""};
    static const char *const bad[] = {
        "",          "a",   "*",           "\"",      "W/a",
        "w/\"a\"",   "\"a", "\"a\"b\"",    "\"a b\"", "\"a\r\nX: y\"",
        "\"a\x7f\"", "W/",  "\"a\", \"b\""};

    for (size_t i = 0; i < COUNT(good); i++)
        assert_bytes(conditions_for(good[i], "", DATE_MS).if_none_match,
                     good[i]);
    for (size_t i = 0; i < COUNT(bad); i++) {
        struct conditions c = conditions_for(bad[i], "", DATE_MS);

        ck_assert_msg(!conditions_any(&c), "%s", bad[i]);
    }
}

TEST(rfc9110_8_8_2_2_a_date_counts_a_second_after_it)
{
    struct conditions c = conditions_for("", DATE, DATE_MS + 1000);

    assert_bytes(c.if_modified_since, DATE);
    ck_assert_uint_eq(c.if_none_match.len, 0);
    c = conditions_for("", DATE, DATE_MS + 999);
    ck_assert(!conditions_any(&c));
    c = conditions_for("", DATE, DATE_MS - 86400000);
    ck_assert(!conditions_any(&c));
    c = conditions_for("", "yesterday", DATE_MS + 86400000);
    ck_assert(!conditions_any(&c));
    c = conditions_for("", DATE "\r\nX: y", DATE_MS + 86400000);
    ck_assert(!conditions_any(&c));
}

TEST(rfc9110_8_8_4_both_validators_are_sent)
{
    struct conditions c = conditions_for("W/\"1\"", DATE, DATE_MS + 5000);

    assert_bytes(c.if_none_match, "W/\"1\"");
    assert_bytes(c.if_modified_since, DATE);
}

TEST(without_a_last_response_there_are_none)
{
    struct url_last last = last_of("\"1\"", DATE, DATE_MS + 5000);
    struct conditions c;

    last.seq = 0;
    c = conditions_of(&last);
    ck_assert(!conditions_any(&c));
}

/* Asks for a path of which this is known; `head` gets the request. */
static struct report *ask_again(struct rig *r, const char *path,
                                const struct url_last *last)
{
    (void)rig_give_lease(r, (struct url_lease){.depth = 1, .last = *last},
                         rig_url(r, "127.0.0.1", path));
    return rig_receive(r);
}

TEST(a_304_to_a_request_with_conditions_is_unchanged)
{
    struct route route = {.path = "/",
                          .response =
                              "HTTP/1.1 304 Not\r\nETag: \"2\"\r\n\r\n"};
    const struct url_last last = last_of("\"1\"", DATE, DATE_MS + 5000);
    const struct url_last none = {.seq = 0};
    struct report *p;
    struct rig r;

    rig_init(&r, &route, 1);
    rig_start(&r);
    p = ask_again(&r, "/", &last);
    assert_outcome(p, OUTCOME_FETCHED, REASON_UNCHANGED);
    ck_assert_uint_eq(p->done.outcome.http_status, 304);
    assert_bytes(p->done.row.etag, "\"2\"");
    ck_assert_ptr_nonnull(strstr(r.server.head, "If-None-Match: \"1\"\r\n"));
    ck_assert_ptr_nonnull(
        strstr(r.server.head, "If-Modified-Since: " DATE "\r\n"));
    report_free(p);
    /* The next one has none, though it uses the same handle: its 304 lies. */
    p = ask_again(&r, "/", &none);
    ck_assert_ptr_null(strstr(r.server.head, "If-"));
    assert_outcome(p, OUTCOME_FAILED, REASON_HTTP);
    ck_assert(!p->done.transient);
    report_free(p);
    rig_fini(&r);
}

TEST(a_200_with_the_same_body_is_unchanged_too)
{
    struct route routes[] = {
        {.path = "/same",
         .response = OK_HTML "Content-Length: 12\r\n\r\n<a href=x>x\n"},
        {.path = "/cut",
         .response = OK_HTML "Content-Length: 99\r\n\r\n<a href=x>x\n",
         .after = CLOSE},
    };
    struct url_last last = last_of("\"1\"", "", DATE_MS);
    struct report *p;
    struct rig r;

    rig_init(&r, routes, COUNT(routes));
    rig_start(&r);
    last.body_digest = digest_bytes(&r.key, bytes_of_str("<a href=x>x\n"));
    p = ask_again(&r, "/same", &last);
    assert_outcome(p, OUTCOME_FETCHED, REASON_UNCHANGED);
    ck_assert_uint_eq(p->done.outcome.http_status, 200);
    ck_assert_uint_eq(p->done.outlink_count, 1); /* its links count as ever */
    report_free(p);
    last.body_digest.lo ^= 1;
    p = ask_again(&r, "/same", &last);
    assert_outcome(p, OUTCOME_FETCHED, REASON_NONE);
    report_free(p);
    last.body_digest.lo ^= 1;
    p = ask_again(&r, "/cut", &last);
    ck_assert_int_ne(p->done.outcome.reason, REASON_UNCHANGED);
    report_free(p);
    rig_fini(&r);
}
