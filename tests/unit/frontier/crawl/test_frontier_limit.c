/* SPDX-License-Identifier: MIT */
/* Limits that people set for single queues. */
#include "tests/unit/frontier/frontier_rig.h"

static const struct outcome fetched = {OUTCOME_FETCHED, REASON_NONE, 200};

static void put(struct rig *r, const char *host, int n)
{
    for (int i = 0; i < n; i++) {
        char url[64];

        snprintf(url, sizeof url, "http://%s/%d", host, i);
        ck_assert_int_eq(rig_put(r, rig_item(r, url)), PUT_NEW);
    }
}

static void limit(struct rig *r, uint32_t queue, uint32_t most, uint64_t done)
{
    ck_ok(frontier_limit_queue(r->e, queue, most, done, r->now));
    rig_commit(r);
}

static size_t lease(struct rig *r, size_t most, struct url_lease *out)
{
    size_t n = 0;

    r->now += NS_PER_S;
    ck_ok(frontier_lease(r->e, most, r->now, RIG_WALL, out, &n));
    return n;
}

static void end(struct rig *r)
{
    rig_stop(r);
    rig_verify(r);
    rig_fini(r);
}

TEST(no_more_go_out_than_may_be_done_to_whomever)
{
    const struct external_request ask = {.most = 100, .length = 60 * NS_PER_S};
    struct rig r;
    struct url_lease own[100];
    struct external_url leased[100];
    enum external_result said;
    size_t n = 0;

    rig_init(&r);
    rig_create(&r);
    put(&r, "a.test", 20);
    put(&r, "b.test", 3);
    limit(&r, 1, 5, 0);
    ck_assert_uint_eq(lease(&r, 3, own), 3);
    ck_ok(external_grant(r.e, &ask, r.now, RIG_WALL, leased, &n));
    ck_assert_uint_eq(n, 5); /* three of them of b.test */
    ck_assert_uint_eq(rig_stats(&r).leased, 8);
    ck_assert_uint_eq(lease(&r, 100, own + 3), 0);
    for (size_t i = 0; i < 3; i++)
        rig_ack(&r, own[i].id, fetched, NULL, 0);
    for (size_t i = 0; i < n; i++)
        ck_ok(external_settle(r.e, leased[i].lease.id,
                              &(struct external_report){.final = true,
                                                        .http_status = 404},
                              r.now, RIG_WALL, &said));
    ck_assert_uint_eq(lease(&r, 100, own), 0);
    ck_assert_uint_eq(rig_stats(&r).queued, 15);
    ck_assert_uint_eq(rig_stats(&r).withheld, 15);
    ck_assert_int_eq(frontier_next_due(r.e, r.now, NULL), INT64_MAX);
    end(&r);
}
