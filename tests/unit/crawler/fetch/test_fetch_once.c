/* SPDX-License-Identifier: MIT */
/* One lease is one request, whatever curl would repeat by itself. */

#include "tests/unit/crawler/fetcher_rig.h"
#include "tests/unit/unit.h"

#define KEPT "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 0"

/* Promise (Fetching): keep-alive and HTTP/2 over TLS work; untrusted
 * certificates are refused. See also `tests/cli/tls.sh`. */
/* RFC 9110 section 9.2.2 lets a client repeat a GET by itself when a kept
 * connection was closed without a response, and curl does. */
TEST(ours_a_kept_connection_that_dies_is_another_try_not_another_request)
{
    struct route routes[] = {
        {.path = "/page", .response = KEPT "\r\n\r\n"},
        {.path = "/dies", .response = "", .after = CLOSE},
    };
    struct rig r;
    struct report *p;

    rig_init(&r, routes, 2);
    rig_start(&r);
    report_free(rig_ask(&r, "/page"));
    p = rig_ask(&r, "/dies");
    assert_outcome(p, OUTCOME_FAILED, REASON_RESET);
    ck_assert(p->done.transient);
    ck_assert_uint_eq(p->done.host.ended != 0, 1);
    assert_bytes(p->done.row.detail,
                 "the connection was closed without a response");
    report_free(p);
    ck_assert_uint_eq(routes[1].asked, 1);

    p = rig_ask(&r, "/dies"); /* without a kept connection: as before */
    assert_outcome(p, OUTCOME_FAILED, REASON_RESET);
    report_free(p);
    ck_assert_uint_eq(routes[1].asked, 2);

    p = rig_ask(&r, "/page"); /* and the handle still works */
    assert_outcome(p, OUTCOME_FETCHED, REASON_NONE);
    report_free(p);
    rig_fini(&r);
}
