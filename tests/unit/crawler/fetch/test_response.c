/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "crawler/fetch/response.h"
#include "tests/unit/unit.h"

/* Feeds `head` line by line; false as soon as a line is refused. */
static bool feed(struct response *a, const char *head)
{
    while (*head != '\0') {
        const char *end = strchr(head, '\n');
        size_t len = end != NULL ? (size_t)(end - head) + 1 : strlen(head);

        if (!response_line(a, bytes_of(head, len)))
            return false;
        head += len;
    }
    return true;
}

#define assert_field(a, field, text)                                           \
    do {                                                                       \
        struct bytes v_ = response_get((a), (field));                          \
        ck_assert_msg(bytes_is(v_, text), "\"%.*s\" is not \"%s\"",            \
                      (int)v_.len, v_.at, text);                               \
    } while (0)

TEST(fields_are_found_by_name_in_any_case_without_white_space)
{
    struct response a;

    response_init(&a);
    ck_assert(feed(&a, "HTTP/1.1 301 Moved Permanently\r\n"
                       "LOCATION: \t/there \r\n"
                       "content-type:text/html;charset=utf-8\r\n"
                       "X-Other: x\r\nETag:\r\nX-Locations: no\r\n\r\n"));
    ck_assert(a.complete);
    ck_assert_uint_eq(a.status, 301);
    assert_field(&a, RESPONSE_LOCATION, "/there");
    assert_field(&a, RESPONSE_CONTENT_TYPE, "text/html;charset=utf-8");
    assert_field(&a, RESPONSE_ETAG, "");
    assert_field(&a, RESPONSE_REFRESH, "");
    response_fini(&a);
}

/* Fetch Standard, "extract a MIME type", and its examples. */
TEST(fetch_3_3_the_last_of_several_types_counts)
{
    static const struct {
        const char *fields, *type;
    } t[] = {
        {"Content-Type: text/plain\r\nContent-Type: text/html;charset=gbk\r\n",
         "text/html;charset=gbk"},
        {"Content-Type: text/html;charset=gbk, text/plain\r\n", "text/plain"},
        {"Content-Type: text/html;charset=gbk\r\nContent-Type: TEXT/HTML\r\n",
         "text/html;charset=gbk"},
        {"Content-Type: text/html;charset=gbk\r\n"
         "Content-Type: text/html;x=\",a/b\"\r\n",
         "text/html;charset=gbk"},
        {"Content-Type: text/html;charset=gbk;x=\"a,b/c\"\r\n",
         "text/html;charset=gbk;x=\"a,b/c\""},
        {"Content-Type: text/html\r\nContent-Type: cannot-parse\r\n",
         "text/html"},
        {"Content-Type: text/html\r\nContent-Type:\r\n", "text/html"},
        {"Content-Type: text/html\r\nContent-Type: */*\r\n", "text/html"},
        {"Content-Type: nothing; charset=gbk\r\n", "nothing; charset=gbk"},
        {"Content-Type: a/b\r\nX: y\r\nContent-Type: c/d\r\n", "c/d"},
    };

    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct response a;

        response_init(&a);
        ck_assert(feed(&a, "HTTP/1.1 200 OK\r\n"));
        ck_assert(feed(&a, t[i].fields));
        assert_field(&a, RESPONSE_CONTENT_TYPE, t[i].type);
        response_fini(&a);
    }
}

TEST(rfc9110_15_2_interim_answers_are_passed_over)
{
    struct response a;

    response_init(&a);
    ck_assert(feed(&a, "HTTP/1.1 103 Early Hints\r\nLink: <early>\r\n\r\n"));
    ck_assert(!a.complete);
    ck_assert(feed(&a, "HTTP/1.1 200 OK\r\nETag: x\r\n\r\n"));
    ck_assert(a.complete);
    ck_assert_uint_eq(a.status, 200);
    assert_field(&a, RESPONSE_LINK, "");
    assert_field(&a, RESPONSE_ETAG, "x");
    response_fini(&a);
}

TEST(rfc9110_6_5_1_trailers_change_nothing)
{
    struct response a;

    response_init(&a);
    ck_assert(feed(&a, "HTTP/1.1 200 OK\r\n\r\nLocation: /x\r\n\r\n"));
    assert_field(&a, RESPONSE_LOCATION, "");
    ck_assert_uint_eq(a.status, 200);
    response_fini(&a);
}

TEST(rfc9112_5_2_folded_lines_are_joined_with_a_space)
{
    struct response a;

    response_init(&a);
    ck_assert(feed(&a, "HTTP/1.1 200 OK\r\nLink: <a>,\r\n \t<b>\r\n\t,<c>\r\n"
                       "Etag: x\r\n\r\n"));
    assert_field(&a, RESPONSE_LINK, "<a>, <b> ,<c>");
    assert_field(&a, RESPONSE_ETAG, "x");
    response_fini(&a);
}

TEST(rfc9112_4_what_is_no_status_line_is_refused)
{
    static const char *const bad[] = {
        "HTTP/1.1 \r\n",       "HTTP/1.1 20 OK\r\n", "HTTP/1.1 2000 OK\r\n",
        "HTTP/1.1 2x0 OK\r\n", "HTTP/1.1\r\n",       "HTTP/1.1 099 No\r\n",
        "Location: /x\r\n",
    };

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct response a;

        response_init(&a);
        ck_assert_msg(!feed(&a, bad[i]), "%s", bad[i]);
        response_fini(&a);
    }
}

TEST(all_heads_of_a_transfer_together_are_bounded)
{
    struct response a;
    size_t n = 0;

    response_init(&a);
    while (feed(&a, "HTTP/1.1 100 Continue\r\n\r\n"))
        n++;
    ck_assert_uint_eq(n,
                      RESPONSE_MOST / strlen("HTTP/1.1 100 Continue\r\n\r\n"));
    response_clear(&a);
    ck_assert(feed(&a, "HTTP/1.1 200 OK\r\n\r\n"));
    ck_assert_uint_eq(a.received, 19);
    response_fini(&a);
}
