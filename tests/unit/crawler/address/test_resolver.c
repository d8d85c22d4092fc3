/* SPDX-License-Identifier: MIT */
/*
 * test_resolver.c - name look-ups that nobody has to wait for.
 *
 * The tests ask no name server: the C library answers numeric names by itself,
 * and names that begin with "stuck" hang (stuck_names.h).
 */
#include "crawler/address/resolver.h"

#include <dirent.h>
#include <malloc.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/unit/asleep.h"
#include "tests/unit/crawler/stuck_names.h"
#include "tests/unit/unit.h"

struct rig {
    struct queue *woken;
    struct resolver *r;
    int64_t now; /* moves only when a test sets it */
};

static struct rig rig(const struct resolver_options *o)
{
    struct rig r = {.woken = queue_new(1, 0)};

    r.r = resolver_new(o, r.woken);
    return r;
}

static void rig_fini(struct rig *r)
{
    resolver_free(r->r);
    queue_free(r->woken);
}

static struct resolver_options options(void)
{
    return (struct resolver_options){.threads = 2,
                                     .most = 8,
                                     .timeout = 2 * NS_PER_S};
}

static void ask(struct rig *r, uint32_t queue, const char *host)
{
    ck_assert(resolver_has_room(r->r));
    resolver_ask(r->r, queue, bytes_of_str(host), r->now);
}

/* Waits until the queue wakes us, and returns the next answer. */
static struct resolver_answer wait_for_answer(struct rig *r)
{
    struct resolver_answer a;
    void *none[1];

    while (!resolver_take(r->r, r->now, &a))
        ck_assert_uint_eq(queue_gather(r->woken, none, 1, 50 * NS_PER_MS, 1, 0),
                          0);
    return a;
}

static void is_at(struct rig *r, const char *host, const char *wanted)
{
    struct resolver_answer a;
    struct buf text;

    ask(r, 7, host);
    a = wait_for_answer(r);
    ck_assert_uint_eq(a.queue, 7);
    buf_init(&text, IP_TEXT);
    if (a.found)
        ip_add(&text, &a.ip);
    ck_assert_msg(bytes_is(buf_bytes(&text), wanted), "%s: %s", host,
                  buf_str(&text));
    buf_fini(&text);
}

TEST(a_host_is_where_the_c_library_says)
{
    struct resolver_options o = options();
    struct rig r = rig(&o);

    is_at(&r, "127.0.0.9", "127.0.0.9");
    is_at(&r, "::ffff:127.0.0.9", "127.0.0.9");
    is_at(&r, "2001:db8::1", "[2001:db8::1]");
    rig_fini(&r);
}

TEST(what_curl_is_told_is_not_asked_and_the_smallest_address_counts)
{
    static const char *const own[] = {
        "a.test:80:192.0.2.9,192.0.2.10,2001:db8::1",
        "a.test:443:192.0.2.8",
        "*:80:192.0.2.1",
        "v6.test:80:[2001:db8::2]",
        "odd.test:80:nonsense",
    };
    struct resolver_options o = options();
    struct rig r;

    o.own = own;
    o.own_count = sizeof own / sizeof *own;
    r = rig(&o);
    is_at(&r, "a.test", "192.0.2.8");
    is_at(&r, "v6.test", "[2001:db8::2]");
    is_at(&r, "other.test", "192.0.2.1");
    is_at(&r, "odd.test", "192.0.2.1");
    rig_fini(&r);
}

TEST(rfc6761_6_3_names_under_localhost_are_the_loopback)
{
    struct resolver_options o = options();
    struct rig r = rig(&o);

    is_at(&r, "localhost", "127.0.0.1");
    is_at(&r, "a.b.localhost", "127.0.0.1");
    rig_fini(&r);
}

TEST(a_stuck_lookup_holds_up_nobody_and_is_answered_in_time)
{
    struct resolver_options o = options();
    struct rig r = rig(&o);

    ask(&r, 1, "stuck.test");
    is_at(&r, "127.0.0.1", "127.0.0.1"); /* by the other thread */
    ask(&r, 2, "stuck-too.test");
    stuck_names_wait(2);
    ask(&r, 3, "127.0.0.1"); /* no thread is left for it */
    r.now += o.timeout;
    ck_assert_uint_eq(wait_for_answer(&r).queue, 1);
    for (int i = 0; i < 2; i++)
        ck_assert(!wait_for_answer(&r).found);
    rig_fini(&r); /* does not wait for them either */
    stuck_names_let_go();
}

/* Of two questions, the one idle thread takes the first, which hangs. */
TEST(a_question_asked_right_behind_a_stuck_one_has_a_thread_of_its_own)
{
    struct resolver_options o = options();
    struct rig r = rig(&o);

    is_at(&r, "127.0.0.1", "127.0.0.1");
    wait_for_others_asleep(); /* its thread is idle */
    ask(&r, 1, "stuck.test");
    is_at(&r, "127.0.0.2", "127.0.0.2");
    rig_fini(&r);
    stuck_names_let_go();
}

TEST(freeing_waits_for_no_lookup)
{
    struct resolver_options o = options();
    struct rig r = rig(&o);

    for (uint32_t i = 0; i < 8; i++)
        ask(&r, i, "stuck.test");
    ck_assert(!resolver_has_room(r.r));
    stuck_names_wait(2);
    rig_fini(&r);
    stuck_names_let_go();
}

TEST(an_entry_is_for_its_host_at_any_port_or_for_all)
{
    static const struct {
        const char *entry, *host;
        bool is;
    } t[] = {
        {"a.example:80:10.0.0.1", "a.example", true},
        {"A.Example:443:10.0.0.1,10.0.0.2", "a.example", true},
        {"*:80:10.0.0.1", "a.example", true},
        {"[::1]:80:10.0.0.1", "[::1]", true},
        {"a.example:80:10.0.0.1", "a.exampl", false},
        {"a.example:80:10.0.0.1", "a.example.org", false},
        {"a.example:80:10.0.0.1", "b.example", false},
        {"[::1]:80:10.0.0.1", "[::", false},
        {"a.example:80:10.0.0.1", "", false},
    };

    for (size_t i = 0; i < sizeof t / sizeof t[0]; i++)
        ck_assert_msg(resolver_entry_is_for(t[i].entry,
                                            bytes_of_str(t[i].host)) == t[i].is,
                      "%s for %s", t[i].entry, t[i].host);
}
