/* SPDX-License-Identifier: MIT */
#include <check.h>

#include "tests/unit/crawler/fetcher_rig.h"

#define OK_HTML       "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
#define COUNT(routes) (sizeof(routes) / sizeof *(routes))

/* Ask one route with the options as they are by default. */
static struct report *ask_route(struct rig *r, struct route *route)
{
    rig_init(r, route, 1);
    rig_start(r);
    return rig_ask(r, route->path);
}

START_TEST(a_page_is_fetched_with_all_that_is_told_of_it)
{
    struct route route = {
        .path = "/dir/page?q=1",
        .answer = "HTTP/1.1 200 OK\r\nContent-Type: Text/HTML; charset=utf-8"
                  "\r\nETag: \"v1\"\r\nLast-Modified: Sat, 01 Jan 2000 "
                  "00:00:00 GMT\r\nContent-Language: de\r\n"
                  "Content-Length: 87\r\n\r\n"
                  "<html lang=en><title> A  page </title>"
                  "<a href=/a>a</a><a href=b>b</a><a href=/a#x>c</a>"};
    struct rig r;
    struct report *p = ask_route(&r, &route);
    const struct fetch_row *row = &p->done.row;

    assert_outcome(p, OUTCOME_FETCHED, REASON_NONE);
    ck_assert_uint_eq(p->done.outcome.http_status, 200);
    ck_assert_uint_eq(row->http_status, 200);
    assert_bytes(row->mime, "text/html");
    assert_bytes(row->etag, "\"v1\"");
    assert_bytes(row->last_modified, "Sat, 01 Jan 2000 00:00:00 GMT");
    assert_bytes(row->title, "A page");
    assert_bytes(row->lang, "en");
    assert_bytes(row->ip, "127.0.0.1");
    ck_assert_uint_eq(row->body_bytes, 87);
    ck_assert_uint_eq(row->wire_bytes, strlen(route.answer));
    ck_assert(digest_equal(
        row->body_digest,
        digest_bytes(&r.key, bytes_of_str(strstr(route.answer, "<html")))));
    ck_assert_uint_eq(row->links, 3);
    ck_assert_uint_eq(p->done.found_count, 2);
    assert_bytes(p->done.found[0].url, rig_url(&r, "127.0.0.1", "/a"));
    assert_bytes(p->done.found[1].url, rig_url(&r, "127.0.0.1", "/dir/b"));
    assert_bytes(p->done.found[0].key, "127.0.0.1");
    ck_assert_uint_eq(p->done.found[0].depth, 2);
    ck_assert_uint_eq(p->done.found[0].kind, LINK_A);
    ck_assert(
        digest_equal(p->done.found[0].digest,
                     digest_url(&r.key, bytes_of_str("test"),
                                p->done.found[0].key, p->done.found[0].url)));
    ck_assert(!p->done.transient);
    ck_assert_int_gt(p->done.host.ended, 0);
    ck_assert_int_eq(p->done.host.crawl_delay_ms, -2);
    ck_assert_int_eq(p->done.host.retry_after_ms, -1);
    report_free(p);
    ck_assert_ptr_nonnull(strstr(r.server.head, "User-Agent: urlweir/0"));
    ck_assert_ptr_nonnull(strstr(r.server.head, "GET /dir/page?q=1 HTTP/1.1"));
    rig_fini(&r);
}
END_TEST

Suite *suite_fetcher(void)
{
    Suite *s = suite_create("fetcher");
    TCase *t = tcase_create("fetcher");

    tcase_set_timeout(t, 30);
    tcase_add_test(t, a_page_is_fetched_with_all_that_is_told_of_it);
    suite_add_tcase(s, t);
    return s;
}
