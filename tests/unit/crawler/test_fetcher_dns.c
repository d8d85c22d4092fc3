/* SPDX-License-Identifier: MIT */
/*
 * A name server that does not answer. The resolver is the C library's, in
 * threads of libcurl's; here it is replaced for names that begin with "stuck".
 */
#include <check.h>
#include <dlfcn.h>
#include <netdb.h>

#include "tests/unit/crawler/fetcher_rig.h"

#define OK_HTML "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"

int getaddrinfo(const char *restrict name, const char *restrict service,
                const struct addrinfo *restrict hints,
                struct addrinfo **restrict out)
{
    static int (*real)(const char *, const char *, const struct addrinfo *,
                       struct addrinfo **);

    if (name != NULL && strncmp(name, "stuck", 5) == 0) {
        usleep(1500 * 1000);
        return EAI_AGAIN;
    }
    *(void **)&real = dlsym(RTLD_NEXT, "getaddrinfo");
    return real(name, service, hints, out);
}

START_TEST(a_stuck_name_server_holds_up_no_other_transfer)
{
    struct route route = {"/", OK_HTML "Content-Length: 0\r\n\r\n"};
    int64_t before = clock_mono();
    struct rig r;
    struct report *p;
    uint64_t stuck;

    rig_init(&r, &route, 1);
    r.o.connect_timeout_ms = 300;
    rig_start(&r);
    stuck = rig_give(&r, "http://stuck.test/");
    for (int i = 0; i < 20; i++) {
        p = rig_ask(&r, "/");
        assert_outcome(p, OUTCOME_FETCHED, REASON_NONE);
        report_free(p);
    }
    ck_assert_int_lt(clock_mono() - before, 250 * NS_PER_MS);
    p = rig_receive(&r);
    ck_assert_uint_eq(p->id, stuck);
    assert_outcome(p, OUTCOME_FAILED, REASON_DNS);
    ck_assert(p->done.transient && p->done.host.unreachable);
    ck_assert_int_lt(clock_mono() - before, 800 * NS_PER_MS);
    report_free(p);
    rig_fini(&r);
    usleep(1600 * 1000); /* curl's thread ends by itself */
}
END_TEST

START_TEST(stopping_waits_for_no_name_server)
{
    int64_t before;
    struct rig r;
    struct report *p;

    rig_init(&r, NULL, 0);
    rig_start(&r);
    (void)rig_give(&r, "http://stuck.test/");
    usleep(100 * 1000);
    before = clock_mono();
    fetcher_stop(r.fetcher);
    p = rig_receive(&r);
    ck_assert_int_eq(p->kind, REPORT_RELEASE);
    ck_assert_int_lt(clock_mono() - before, 300 * NS_PER_MS);
    report_free(p);
    rig_fini(&r);
    ck_assert_int_lt(clock_mono() - before, 500 * NS_PER_MS);
    usleep(1600 * 1000);
}
END_TEST

Suite *suite_fetcher_dns(void)
{
    Suite *s = suite_create("fetcher_dns");
    TCase *t = tcase_create("fetcher_dns");

    tcase_set_timeout(t, 30);
    tcase_add_test(t, a_stuck_name_server_holds_up_no_other_transfer);
    tcase_add_test(t, stopping_waits_for_no_name_server);
    suite_add_tcase(s, t);
    return s;
}
