/* SPDX-License-Identifier: MIT */
/*
 * test_audit.c - the measured miss rate, against counts made here.
 *
 * The tests set flags of a crawl's rows by hand, so that the expected figures
 * can be worked out on paper.
 */
#include "frontier/audit/audit.h"

#include <math.h>

#include "filter/filter.h"
#include "tests/unit/frontier/frontier_rig.h"

#define URLS 5000

static void sql(struct rig *r, const char *text)
{
    scratch_sql(r->at.db, text);
}

static void audit(struct rig *r, struct audit *a, const struct audit_options *o)
{
    struct reader reader;

    ck_ok(reader_open(&reader, r->at.dir));
    ck_ok(audit_crawl(a, &reader, o));
    reader_close(&reader);
}

/* Admits URLS URLs in order of their number, fetches none, stops cleanly. */
static void fill(struct rig *r)
{
    rig_init(r);
    rig_create(r);
    for (unsigned i = 1; i <= URLS; i++) {
        char url[64];

        snprintf(url, sizeof url, "http://h%u.test/%u", i % 7, i);
        ck_assert_int_eq(rig_put(r, rig_item(r, url)), PUT_NEW);
    }
    rig_stop(r);
}

TEST(growth_steps_end_at_powers_of_two_and_count_what_the_rows_say)
{
    static const struct audit_options none = {.what_if_count = 0};
    static const uint64_t ends[] = {1024, 2048, 4096, URLS};
    static const uint64_t wrong[] = {2, 1, 0, 3};
    struct rig r;
    struct audit a;

    fill(&r);
    sql(&r, "UPDATE url SET flags = flags | 2 WHERE id IN"
            " (1, 1024, 1025, 4097, 4999, 5000)");
    audit(&r, &a, &none);
    ck_assert_uint_eq(a.crawl.count, 4);
    for (size_t i = 0; i < 4; i++) {
        uint64_t first = i > 0 ? ends[i - 1] + 1 : 1;

        ck_assert_uint_eq(a.crawl.steps[i].first, first);
        ck_assert_uint_eq(a.crawl.steps[i].upto, ends[i]);
        ck_assert_uint_eq(a.crawl.steps[i].asked, ends[i] - first + 1);
        ck_assert_uint_eq(a.crawl.steps[i].false_positives, wrong[i]);
        ck_assert_double_eq(a.crawl.steps[i].promised, 0.01);
    }
    ck_assert_uint_eq(a.crawl.total.asked, URLS);
    ck_assert_uint_eq(a.crawl.total.false_positives, 6);
    ck_assert_uint_eq(a.exact_count, URLS);
    ck_assert_uint_eq(a.filter_covers, URLS);
    ck_assert(a.filter_checked);
    ck_assert_uint_eq(a.false_negatives, 0);
    ck_assert_uint_eq(a.missing, 0);
    audit_fini(&a);
    rig_fini(&r);
}

/* New URLs, repeats soon after, and after a restart, when nobody remembers them
 * but the filter and the exact set. */
TEST(each_question_is_counted_under_its_answer)
{
    static const struct audit_options none = {.what_if_count = 0};
    struct rig r;
    struct audit a;

    rig_init(&r);
    rig_create(&r);
    for (unsigned i = 0; i < 300; i++) {
        char url[64];

        snprintf(url, sizeof url, "http://h.test/%u", i % 100);
        ck_assert_int_eq(rig_put(&r, rig_item(&r, url)) == PUT_NEW, i < 100);
        if (i == 199) {
            rig_stop(&r);
            rig_reopen(&r);
        }
    }
    rig_stop(&r);
    audit(&r, &a, &none);
    ck_assert_uint_eq(a.answers.repeats, 100);
    ck_assert_uint_eq(a.answers.known, 100);
    ck_assert_uint_eq(a.answers.fresh + a.answers.false_positives, 100);
    audit_fini(&a);
    rig_fini(&r);
}

/* 6 of 5000, z = 1.96, by Wilson's formula:
 * (0.0012 + 3.8415/10000 -+ 1.96 sqrt(0.0012*0.9988/5000 + 3.8415/10^8))
 * / (1 + 3.8415/5000) = 0.000550 and 0.002616. */
TEST(the_interval_is_wilsons)
{
    static const struct audit_options none = {.what_if_count = 0};
    struct rig r;
    struct audit a;

    fill(&r);
    sql(&r, "UPDATE url SET flags = flags | 2 WHERE id <= 6");
    audit(&r, &a, &none);
    ck_assert_double_eq_tol(a.crawl.total.measured, 0.0012, 1e-12);
    ck_assert_double_eq_tol(a.crawl.total.low, 0.000550, 1e-6);
    ck_assert_double_eq_tol(a.crawl.total.high, 0.002616, 1e-6);
    ck_assert_double_eq(a.crawl.steps[1].measured, 0.0);
    ck_assert_double_eq(a.crawl.steps[1].low, 0.0);
    audit_fini(&a);
    rig_fini(&r);
}

struct replay {
    struct filter *filter;
    struct reader *reader;
    uint64_t false_positives;
};

static void ask(void *ctx, const struct url_row *row)
{
    struct replay *p = ctx;
    uint64_t key = reader_digest(p->reader, row).hi;

    p->false_positives += filter_check_one(p->filter, key);
    ck_ok(filter_add(p->filter, &key, 1, NULL));
}

/* Promise (Audit, progress and figures): the audit has the measured rate, its
 * Wilson interval, false negatives, and what a Bloom-only crawler would have
 * lost. See also `tests/cli/audit.sh`,
 * `audit/each_url_that_would_have_been_lost_is_named_in_order`,
 * `audit/a_key_that_the_filter_lacks_is_a_false_negative`,
 * `sizing/wilson_interval_has_its_textbook_value`, `make demo`. */
/* A filter is at least 4096 blocks large, so it takes many keys to make it err
 * often enough. */
TEST(what_if_says_what_a_replay_one_by_one_says)
{
    static const double rates[] = {0.5, 0.01};
    static const struct audit_options o = {.what_if = rates,
                                           .what_if_count = 2};
    const uint64_t n = 150000;
    struct filter_options fo = {.kind = "scalable", .expect = 1, .fpr = 0.5};
    struct reader reader;
    struct replay p = {.reader = &reader};
    struct rig r;
    struct audit a;

    rig_init(&r);
    r.o.store.fpr = 0.5;
    rig_create(&r);
    for (uint64_t i = 0; i < n; i++) {
        char url[64];
        struct url_item item;

        snprintf(url, sizeof url, "http://h.test/%d", (int)i);
        item = rig_item(&r, url);
        SAME(frontier_put(r.e, 0, &item, 1, RIG_WALL, NULL), STATUS_OK);
        if (i % 10000 == 0)
            rig_commit(&r);
    }
    rig_stop(&r);
    audit(&r, &a, &o);
    ck_ok(reader_open(&reader, r.at.dir));
    ck_ok(filter_new(&p.filter, &fo));
    ck_ok(frontier_store_each(reader.store, 1, n, ask, &p));
    ck_assert_uint_gt(p.false_positives, 0);
    ck_assert_uint_eq(a.what_if_count, 2);
    ck_assert_uint_eq(a.what_if[0].total.false_positives, p.false_positives);
    ck_assert_uint_eq(a.what_if[0].total.asked, n);
    ck_assert_uint_lt(a.what_if[1].total.false_positives, p.false_positives);
    /* the crawl itself used this filter */
    ck_assert_uint_gt(a.crawl.total.false_positives, 0);
    ck_assert_double_le(a.crawl.total.low, 0.5);
    filter_free(p.filter);
    reader_close(&reader);
    audit_fini(&a);
    rig_fini(&r);
}

/* After a row's text is changed, its digest differs from the one that went into
 * the filter. */
TEST(a_key_that_the_filter_lacks_is_a_false_negative)
{
    static const struct audit_options none = {.what_if_count = 0};
    struct rig r;
    struct audit a;

    fill(&r);
    sql(&r, "UPDATE url SET path = '/changed' WHERE id = 77");
    audit(&r, &a, &none);
    ck_assert_uint_eq(a.false_negatives, 1);
    audit_fini(&a);
    rig_fini(&r);
}

struct names {
    char text[256];
};

static void note_lost(void *ctx, const struct url_row *row)
{
    struct names *n = ctx;
    size_t len = strlen(n->text);

    snprintf(n->text + len, sizeof n->text - len, "%.*s ", (int)row->url.len,
             row->url.at);
}

TEST(each_url_that_would_have_been_lost_is_named_in_order)
{
    struct names names = {""};
    const struct audit_options o = {.lost = note_lost, .ctx = &names};
    struct rig r;
    struct audit a;

    fill(&r);
    sql(&r, "UPDATE url SET flags = flags | 2 WHERE id IN (9, 3, 4500)");
    audit(&r, &a, &o);
    ck_assert_str_eq(names.text, "http://h3.test/3 http://h2.test/9 "
                                 "http://h6.test/4500 ");
    audit_fini(&a);
    rig_fini(&r);
}

TEST(pages_are_what_was_fetched_in_the_end)
{
    static const struct outcome ends[] = {
        {OUTCOME_FETCHED, REASON_NONE, 200},
        {OUTCOME_FAILED, REASON_HTTP, 404},
        {OUTCOME_DENIED, REASON_ROBOTS, 0},
        {OUTCOME_FETCHED, REASON_NONE, 200},
    };
    static const struct audit_options none = {.what_if_count = 0};
    struct rig r;
    struct audit a;

    rig_init(&r);
    rig_create(&r);
    for (int i = 0; i < 6; i++) { /* two stay queued */
        char url[64];

        snprintf(url, sizeof url, "http://h.test/%d", i);
        rig_seed(&r, url);
    }
    for (int i = 0; i < 4; i++)
        rig_ack(&r, rig_lease(&r), ends[i], NULL, 0);
    rig_stop(&r);
    audit(&r, &a, &none);
    ck_assert_uint_eq(a.fetched, 2);
    ck_assert_uint_eq(a.found_through_lost, 0);
    audit_fini(&a);
    sql(&r, "UPDATE url SET flags = flags | 2 WHERE id IN (1, 2, 3)");
    audit(&r, &a, &none);
    ck_assert_uint_eq(a.fetched, 2);
    ck_assert_uint_eq(a.found_through_lost, 1);
    audit_fini(&a);
    rig_fini(&r);
}

/*
 * The whole web is fetched; ids follow the order of discovery:
 *
 *     seed 1 --> 2, 3        2 --> 4, 5       3 --> 5
 *     4 --> 6                6 --> 7, 2       7 --> 1
 *
 * If 2 is lost, so is 4, which only 2 links to, and with it 6 and 7; 5 was
 * first found on 2, but 3 links to it as well.
 */
static void make_web(struct rig *r, bool record)
{
    static const char *const url[] = {NULL,
                                      "http://w.test/1",
                                      "http://w.test/2",
                                      "http://w.test/3",
                                      "http://w.test/4",
                                      "http://w.test/5",
                                      "http://w.test/6",
                                      "http://w.test/7"};
    static const unsigned links[][2] = {{0, 0}, {2, 3}, {4, 5}, {5, 0},
                                        {6, 0}, {0, 0}, {7, 2}, {1, 0}};

    rig_init(r);
    r->o.record_links = record;
    rig_create(r);
    rig_seed(r, url[1]);
    for (uint64_t page = 1; page <= 7; page++) {
        struct url_item found[2];
        size_t n = 0;
        uint64_t id = rig_lease(r);

        ck_assert_uint_eq(id, page);
        for (size_t k = 0; k < 2; k++)
            if (links[page][k] != 0)
                found[n++] = rig_item(r, url[links[page][k]]);
        rig_ack(r, id, (struct outcome){OUTCOME_FETCHED, REASON_NONE, 200},
                found, n);
    }
    ck_assert_uint_eq(rig_lease(r), 0);
    rig_stop(r);
    sql(r, "UPDATE url SET flags = flags | 2 WHERE id = 2");
}

TEST(with_the_link_graph_pages_only_reached_through_lost_ones_are_exact)
{
    static const struct audit_options none = {.what_if_count = 0};
    struct rig r;
    struct audit a;

    make_web(&r, true);
    audit(&r, &a, &none);
    ck_assert_uint_eq(a.fetched, 7);
    ck_assert(a.links_recorded);
    ck_assert_uint_eq(a.only_through_lost, 4);  /* 2, 4, 6, 7 */
    ck_assert_uint_eq(a.found_through_lost, 5); /* and 5 */
    audit_fini(&a);
    rig_fini(&r);
}

TEST(without_the_link_graph_only_the_bound_is_given)
{
    static const struct audit_options none = {.what_if_count = 0};
    struct rig r;
    struct audit a;

    make_web(&r, false);
    audit(&r, &a, &none);
    ck_assert(!a.links_recorded);
    ck_assert_uint_eq(a.found_through_lost, 5);
    audit_fini(&a);
    rig_fini(&r);
}

/* The path to a page may be recorded after the links that leave it: 3 -> 2
 * comes before 1 -> 3, when nothing yet shows that 3 can be reached. */
TEST(a_way_that_stands_in_the_wrong_order_is_found_by_another_pass)
{
    static const struct link_row rows[] = {{3, 4, LINK_A},
                                           {2, 3, LINK_A},
                                           {1, 2, LINK_A},
                                           {4, 5, LINK_A},
                                           {1, 99, LINK_A}};
    struct rig r;
    struct reader reader;
    struct id_bits without, reached;

    rig_init(&r);
    rig_create(&r);
    rig_seed(&r, "http://w.test/");
    rig_stop(&r);
    for (size_t i = 0; i < 5; i++) {
        char text[128];

        snprintf(text, sizeof text,
                 "INSERT INTO link_list VALUES(%d, %d, '[%d]', NULL)",
                 (int)i + 1, (int)rows[i].from, (int)rows[i].to * 32);
        sql(&r, text);
    }
    ck_ok(reader_open(&reader, r.at.dir));
    ck_ok(id_bits_init(&without, 5));
    ck_ok(id_bits_init(&reached, 5));
    id_bits_add(&reached, 1);
    id_bits_add(&without, 5);
    ck_ok(reachability_without(reader.links, &without, &reached));
    for (uint64_t id = 1; id <= 4; id++)
        ck_assert(id_bits_has(&reached, id));
    ck_assert(!id_bits_has(&reached, 5));
    ck_assert(!id_bits_has(&reached, 6)); /* past the end: not in the set */
    id_bits_fini(&without);
    id_bits_fini(&reached);
    reader_close(&reader);
    rig_fini(&r);
}

TEST(a_list_counts_each_url_once_and_has_no_false_negative)
{
    static const double rates[] = {0.001};
    static const struct audit_options o = {.what_if = rates,
                                           .what_if_count = 1};
    struct audit_list *l = NULL;
    struct audit a;
    uint64_t fresh_count = 0, lost_count = 0;

    ck_ok(audit_list_new(&l, 0.5, &o));
    for (unsigned i = 0; i < 40000; i++) {
        char url[64];
        bool fresh, lost;

        snprintf(url, sizeof url, "http://list.test/%u", i / 2);
        SAME(audit_list_add(l, bytes_of_str(url), &fresh, &lost), STATUS_OK);
        SAME(fresh, i % 2 == 0);
        fresh_count += fresh;
        lost_count += lost;
    }
    ck_ok(audit_list_finish(l, &a));
    ck_assert_uint_eq(a.answers.repeats, 20000);
    ck_assert_uint_eq(a.answers.fresh + a.answers.false_positives, 20000);
    ck_assert_uint_eq(a.crawl.total.asked, fresh_count);
    ck_assert_uint_eq(a.crawl.total.false_positives, lost_count);
    ck_assert_uint_eq(a.exact_count, 20000);
    ck_assert_uint_eq(a.false_negatives, 0);
    ck_assert_uint_eq(a.what_if[0].total.asked, 20000);
    ck_assert_uint_eq(a.what_if[0].count, 6);
    for (unsigned i = 0; i < 6; i++)
        ck_assert_uint_eq(a.what_if[0].steps[i].upto,
                          i < 5 ? 1024u << i : 20000);
    audit_fini(&a);
    audit_list_free(l);
}
