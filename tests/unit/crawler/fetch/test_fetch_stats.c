/* SPDX-License-Identifier: MIT */
/* A fetcher's stats, compared with what it was asked for. */

#include "crawler/fetch/fetch_set.h"
#include "tests/unit/crawler/fetcher_rig.h"
#include "tests/unit/unit.h"

static struct fetch_stats look(struct rig *r)
{
    struct fetch_stats s = {.ends = {0}};

    fetch_stats_add(fetcher_fetch_counters(r->fetcher), &s);
    return s;
}

static uint64_t ended(const struct fetch_stats *s, const char *name)
{
    for (unsigned i = 0; i < FETCH_STATS_ENDS; i++)
        if (strcmp(fetch_stats_end_name(i), name) == 0)
            return s->ends[i];
    ck_abort_msg("no end is called %s", name);
}

TEST(each_request_is_counted_by_its_end_and_its_status)
{
    struct route routes[] = {
        {.path = "/ok", .response = "HTTP/1.1 200 OK\r\n" EMPTY},
        {.path = "/gone", .response = "HTTP/1.1 410 Gone\r\n" EMPTY},
        {.path = "/odd", .response = "HTTP/1.1 999 What\r\n" EMPTY},
        {.path = "/nonsense", .response = "nonsense\r\n\r\n"},
    };
    struct fetch_stats s;
    struct rig r;

    rig_init(&r, routes, 4);
    rig_start(&r);
    for (int i = 0; i < 4; i++)
        report_free(rig_ask(&r, routes[i].path));
    report_free(rig_ask_url(&r, "http://127.0.0.1:2/"));
    report_free(rig_ask_url(&r, "http://127.0.0.1:1/"));
    s = look(&r);
    ck_assert_uint_eq(ended(&s, "answered"), 3);
    ck_assert_uint_eq(ended(&s, "protocol"), 1);
    ck_assert_uint_eq(ended(&s, "connect"), 1);
    ck_assert_uint_eq(ended(&s, "port"), 1);
    ck_assert_uint_eq(s.classes[2], 1);
    ck_assert_uint_eq(s.classes[4], 1);
    ck_assert_uint_eq(s.classes[9], 1);
    ck_assert_uint_eq(s.classes[0], 3);
    ck_assert_uint_eq(histogram_count(&s.response), 3);
    ck_assert_uint_eq(histogram_count(&s.first_byte), 3);
    ck_assert_uint_ge(s.response.sum, s.first_byte.sum);
    ck_assert_uint_eq(histogram_count(&s.robots), 0);
    ck_assert_uint_ge(histogram_count(&s.connect), 1);
    ck_assert_uint_le(histogram_count(&s.connect), 4);
    rig_fini(&r);
}

Suite *suite_fetch_stats(void);
