/* SPDX-License-Identifier: MIT */
/* A fetcher: a page and everything reported of it, connections, the end. */

#include "tests/unit/crawler/fetcher_rig.h"
#include "tests/unit/unit.h"

TEST(a_page_is_fetched_with_all_that_is_told_of_it)
{
    struct route route = {
        .path = "/dir/page?q=1",
        .response = "HTTP/1.1 200 OK\r\nContent-Type: Text/HTML; charset=utf-8"
                    "\r\nETag: \"v1\"\r\nLast-Modified: Sat, 01 Jan 2000 "
                    "00:00:00 GMT\r\nContent-Language: de\r\n"
                    "Cache-Control: public, max-age=7200\r\n"
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
    ck_assert_uint_eq(row->wire_bytes, strlen(route.response));
    ck_assert(digest_equal(
        row->body_digest,
        digest_bytes(&r.key, bytes_of_str(strstr(route.response, "<html")))));
    ck_assert_uint_eq(row->links, 3);
    ck_assert_uint_eq(p->done.outlink_count, 2);
    assert_bytes(p->done.outlinks[0].url, rig_url(&r, "127.0.0.1", "/a"));
    assert_bytes(p->done.outlinks[1].url, rig_url(&r, "127.0.0.1", "/dir/b"));
    assert_bytes(p->done.outlinks[0].key, "127.0.0.1");
    ck_assert_uint_eq(p->done.outlinks[0].depth, 2);
    ck_assert_uint_eq(p->done.outlinks[0].kind, LINK_A);
    ck_assert(digest_equal(p->done.outlinks[0].digest,
                           digest_url(&r.key, bytes_of_str("test"),
                                      p->done.outlinks[0].key,
                                      p->done.outlinks[0].url)));
    ck_assert_int_eq(p->done.fresh_ms, 7200000);
    ck_assert(!p->done.transient);
    ck_assert_int_gt(p->done.host.ended, 0);
    ck_assert(!p->done.host.robots_read);
    ck_assert_int_eq(p->done.host.retry_after_ms, -1);
    report_free(p);
    ck_assert_ptr_nonnull(strstr(r.server.head, "User-Agent: urlweir/0"));
    ck_assert_ptr_nonnull(strstr(r.server.head, "GET /dir/page?q=1 HTTP/1.1"));
    rig_fini(&r);
}

/* ---- connections --------------------------------------------------------- */

TEST(conns_per_host_are_used_at_once)
{
    struct route route = {"/", OK_HTML EMPTY, .held = true};
    struct rig r;

    rig_init(&r, &route, 1);
    r.o.conns_per_host = 3;
    rig_start(&r);
    for (int i = 0; i < 9; i++)
        rig_give(&r, rig_url(&r, "127.0.0.1", "/"));
    tiny_wait_asked(&r.server, &route, 3);
    tiny_let_go(&r.server, &route);
    for (int i = 0; i < 9; i++)
        report_free(rig_receive(&r));
    ck_assert_uint_eq(r.server.open_most, 3);
    rig_fini(&r);
}

/* Promise (Politeness): a host has one connection, and an address a bounded
 * number. See also `ip_limit/agrees_with_a_plain_model`. */
/* Sixteen names share an address that allows four connections: idle connections
 * make way, and URLs that find no place go back. */
TEST(an_address_has_no_more_connections_than_allowed)
{
    enum { HOSTS = 16, ROUNDS = 4 };
    struct route route = {"/", OK_HTML EMPTY, .delay_ms = 2};
    static int host_of[1000000];
    int left[HOSTS], to_go = HOSTS * ROUNDS;
    int64_t given[HOSTS];
    struct rig r;
    char host[32];

    rig_init(&r, &route, 1);
    rig_resolve_all(&r);
    r.o.ip_limit = ip_limit_new(4);
    rig_start(&r);
    for (int i = 0; i < HOSTS; i++) {
        left[i] = ROUNDS;
        given[i] = clock_mono();
        snprintf(host, sizeof host, "h%d.test", i);
        host_of[rig_give(&r, rig_url(&r, host, "/"))] = i;
    }
    while (to_go > 0) {
        struct report *p = rig_receive(&r);
        int h = host_of[p->id];

        if (p->kind == REPORT_RELEASE) {
            ck_assert_int_gt(p->not_before, given[h]);
            ck_assert_int_eq(p->done.host.ended, 0);
            usleep(500);
        } else {
            assert_outcome(p, OUTCOME_FETCHED, REASON_NONE);
            left[h]--;
            to_go--;
        }
        report_free(p);
        if (left[h] == 0)
            continue;
        ck_assert_uint_lt(r.next_id + 1, COUNT(host_of));
        given[h] = clock_mono();
        snprintf(host, sizeof host, "h%d.test", h);
        host_of[rig_give(&r, rig_url(&r, host, "/"))] = h;
    }
    ck_assert_uint_le(r.server.open_most, 4);
    ck_assert_uint_eq(r.server.requests, HOSTS * ROUNDS);
    rig_fini(&r);
}

/* ---- the end ------------------------------------------------------------- */

/* Promise (Cluster): a crawl whose shards are in Kafka fetches each page once
 * and asks each host from one process at a time with its delay, while workers
 * join, leave, are killed, lose their disks and stand still; a lost shard's
 * rows come back whole, also if their reader is killed; URLs that were read are
 * deleted. See also `make sim`, `make check-cluster T="alone join leave
 * kill_worker kill_restore lose_worker lose_all kill_often pause_worker
 * kill_shard"`, `changelog`, `kafka_reader`, `kafka_member`, `cluster_control`,
 * `shard_message`, `shard`. */
/* A worker of many machines that is stopped for a while may have lost the host
 * of a URL that waits for its turn. */
TEST(a_url_is_given_back_once_its_process_may_not_ask)
{
    struct route route = {"/", OK_HTML EMPTY, .held = true};
    _Atomic int64_t until = INT64_MAX;
    struct rig r;
    struct report *p;

    rig_init(&r, &route, 1);
    r.o.may_ask_until = &until;
    rig_start(&r);
    rig_give(&r, rig_url(&r, "127.0.0.1", "/"));
    rig_give(&r, rig_url(&r, "127.0.0.1", "/"));
    tiny_wait_asked(&r.server, &route, 1);
    atomic_store(&until, clock_boot());
    tiny_let_go(&r.server, &route);
    p = rig_receive(&r);
    assert_outcome(p, OUTCOME_FETCHED, REASON_NONE);
    report_free(p);
    p = rig_receive(&r);
    ck_assert_int_eq(p->kind, REPORT_RELEASE);
    report_free(p);
    ck_assert_uint_eq(route.asked, 1);
    rig_fini(&r);
}
