/* SPDX-License-Identifier: MIT */
/* test_frontier_import.c - URLs as another crawler had them. */
#include "tests/unit/frontier/frontier_rig.h"

static const struct import_fact waits = {.outcome = {OUTCOME_QUEUED, 0, 0}};
static const struct import_fact done = {.outcome = {OUTCOME_FETCHED,
                                                    REASON_IMPORTED, 200},
                                        .at_ms = 1234567};
static const struct import_fact gone = {
    .outcome = {OUTCOME_FAILED, REASON_IMPORTED, 404}};
static const struct import_fact known = {
    .outcome = {OUTCOME_SKIPPED, REASON_IMPORTED, 0}};

static enum import_answer import(struct rig *r, const char *url,
                                 struct import_fact fact)
{
    struct url_item item = rig_item(r, url);
    enum import_answer answer;

    item.kind = LINK_IMPORT;
    item.depth = 1;
    fact.detail = bytes_of_str("of a test");
    ck_ok(frontier_import(r->e, &item, &fact, 1, r->now, rig_wall(r), &answer));
    return answer;
}

static size_t lease_all(struct rig *r, struct url_lease *out)
{
    size_t n = 0;

    ck_ok(frontier_lease(r->e, 10, r->now, rig_wall(r), out, &n));
    return n;
}

TEST(what_was_done_is_not_leased_and_what_waited_is)
{
    struct rig r;
    struct url_lease out[10];
    struct frontier_counts s;

    rig_init(&r);
    rig_create(&r);
    ck_assert_int_eq(import(&r, "http://a.test/1", done), IMPORT_NEW);
    ck_assert_int_eq(import(&r, "http://a.test/2", waits), IMPORT_NEW);
    ck_assert_int_eq(import(&r, "http://a.test/3", gone), IMPORT_NEW);
    ck_assert_int_eq(import(&r, "http://a.test/4", known), IMPORT_NEW);
    rig_turn(&r);
    ck_assert_uint_eq(lease_all(&r, out), 1);
    ck_assert(bytes_is(out[0].url, "http://a.test/2"));
    s = rig_stats(&r);
    ck_assert_uint_eq(s.urls, 4);
    ck_assert_uint_eq(s.fetched, 1);
    ck_assert_uint_eq(s.failed, 1);
    ck_assert_uint_eq(s.skipped, 1);
    ck_assert_uint_eq(s.pages, 0); /* --limit counts none of them */
    ck_assert_uint_eq(s.seeds_failed, 0);
    rig_crash(&r);
    ck_assert_uint_eq(rig_stats(&r).queued, 1);
    ck_assert_int_eq(rig_put(&r, rig_item(&r, "http://a.test/1")), PUT_SEEN);
    rig_stop(&r);
    (void)rig_verify_dir(r.at.dir);
    rig_fini(&r);
}

TEST(one_call_may_have_a_url_several_times)
{
    struct rig r;
    struct url_item items[3];
    struct import_fact facts[3] = {waits, known, done};
    enum import_answer answers[3];

    rig_init(&r);
    rig_create(&r);
    for (size_t i = 0; i < 3; i++)
        items[i] = rig_item(&r, "http://a.test/1");
    ck_ok(frontier_import(r.e, items, facts, 3, r.now, rig_wall(&r), answers));
    ck_assert_int_eq(answers[0], IMPORT_NEW);
    ck_assert_int_eq(answers[1], IMPORT_SETTLED);
    ck_assert_int_eq(answers[2], IMPORT_KNOWN);
    ck_assert_uint_eq(rig_stats(&r).skipped, 1);
    rig_turn(&r);
    rig_fini(&r);
}
