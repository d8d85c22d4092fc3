/* SPDX-License-Identifier: MIT */
/*
 * A name server that does not answer. The resolver is the C library's, which
 * libcurl calls in threads of its own; the test replaces it for names that
 * begin with "stuck", for names under "invalid", which no name server should be
 * asked for, and for names that begin with "local", which are this machine.
 */
#include "tests/unit/crawler/stuck_names.h"

#include <dlfcn.h>
#include <netdb.h>
#include <stdatomic.h>

#include "tests/unit/crawler/fetcher_rig.h"
#include "tests/unit/unit.h"

static atomic_uint stuck;
static atomic_bool let_go;
static atomic_uint looked_up; /* names that begin with "local" */

/* RFC 6761 section 6.4; some real name servers give them an address. */
static bool is_invalid(const char *name)
{
    static const char tail[] = ".invalid";
    size_t len = strlen(name), n = sizeof tail - 1;

    return len > n && strcmp(name + len - n, tail) == 0;
}

int getaddrinfo(const char *restrict name, const char *restrict service,
                const struct addrinfo *restrict hints,
                struct addrinfo **restrict out)
{
    static int (*real)(const char *, const char *, const struct addrinfo *,
                       struct addrinfo **);

    if (name != NULL && strncmp(name, "stuck", 5) == 0) {
        atomic_fetch_add(&stuck, 1);
        while (!atomic_load(&let_go))
            usleep(1000);
        atomic_fetch_sub(&stuck, 1);
        return EAI_AGAIN;
    }
    if (name != NULL && is_invalid(name))
        return EAI_NONAME;
    if (name != NULL && strncmp(name, "local", 5) == 0) {
        atomic_fetch_add(&looked_up, 1);
        name = "127.0.0.1";
    }
    *(void **)&real = dlsym(RTLD_NEXT, "getaddrinfo");
    return real(name, service, hints, out);
}

void stuck_names_wait(unsigned n)
{
    while (atomic_load(&stuck) < n)
        usleep(1000);
}

void stuck_names_let_go(void)
{
    atomic_store(&let_go, true);
    while (atomic_load(&stuck) > 0)
        usleep(1000);
    usleep(50 * 1000); /* gives their threads time to finish */
    atomic_store(&let_go, false);
}

TEST(a_stuck_name_server_holds_up_no_other_transfer)
{
    struct route route = {"/", OK_HTML "Content-Length: 0\r\n\r\n"};
    struct rig r;
    struct report *p;
    uint64_t first;

    rig_init(&r, &route, 1);
    rig_start(&r);
    first = rig_give(&r, "http://stuck.test/");
    stuck_names_wait(1);
    for (int i = 0; i < 20; i++) {
        p = rig_ask(&r, "/");
        assert_outcome(p, OUTCOME_FETCHED, REASON_NONE);
        report_free(p);
    }
    fetcher_stop(r.fetcher);
    p = rig_receive(&r);
    ck_assert_uint_eq(p->id, first);
    ck_assert_int_eq(p->kind, REPORT_RELEASE);
    report_free(p);
    rig_fini(&r);
    stuck_names_let_go();
}

/* Promise (Fetching): the result of a name lookup is kept for a minute. */
/* The connection ends with each response, the answer of the name server does
 * not: it is good for a minute, also after another name's. */
TEST(a_name_is_looked_up_once_for_many_connections)
{
    struct route route = {"/", OK_HTML "Connection: close\r\n" EMPTY};
    struct rig r;
    struct report *p;
    char url[2][64];

    rig_init(&r, &route, 1);
    rig_start(&r);
    snprintf(url[0], sizeof url[0], "http://local-a.test:%u/", r.server.port);
    snprintf(url[1], sizeof url[1], "http://local-b.test:%u/", r.server.port);
    atomic_store(&looked_up, 0);
    for (int i = 0; i < 12; i++) {
        p = rig_ask_url(&r, url[i % 2]);
        assert_outcome(p, OUTCOME_FETCHED, REASON_NONE);
        ck_assert_uint_eq(p->done.host.connections, 1);
        report_free(p);
        usleep(100 * 1000); /* past a second, when old answers are removed */
    }
    ck_assert_uint_eq(atomic_load(&looked_up), 2);
    rig_fini(&r);
}

TEST(a_lookup_that_takes_too_long_fails_while_it_still_hangs)
{
    struct rig r;
    struct report *p;

    rig_init(&r, NULL, 0);
    r.o.connect_timeout_ms = 200;
    rig_start(&r);
    p = rig_ask_url(&r, "http://stuck.test/");
    assert_outcome(p, OUTCOME_FAILED, REASON_DNS);
    ck_assert(p->done.transient && p->done.host.unreachable);
    report_free(p);
    rig_fini(&r);
    stuck_names_let_go();
}

TEST(stopping_waits_for_no_name_server)
{
    struct rig r;
    struct report *p;

    rig_init(&r, NULL, 0);
    rig_start(&r);
    (void)rig_give(&r, "http://stuck.test/");
    stuck_names_wait(1);
    fetcher_stop(r.fetcher);
    p = rig_receive(&r);
    ck_assert_int_eq(p->kind, REPORT_RELEASE);
    report_free(p);
    rig_fini(&r);
    stuck_names_let_go();
}
