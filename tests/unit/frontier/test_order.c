/* SPDX-License-Identifier: MIT */
/* test_order.c - scores and classes, part by part. */
#include <string.h>

#include "frontier/order.h"
#include "storage/rows/side_tables.h"
#include "tests/unit/unit.h"

static struct order *make(enum order_mode mode, const char *boost,
                          const char *first)
{
    const struct order_options o = {
        .mode = mode,
        .boost = &boost,
        .boost_count = boost != NULL,
        .first = &first,
        .first_count = first != NULL,
    };
    struct order *made = NULL;
    struct buf why;

    buf_init(&why, 1024);
    ck_ok(order_new(&made, &o, &why));
    buf_fini(&why);
    return made;
}

/* A URL whose path, depth and priority give no points. */
static struct order_facts plain(void)
{
    return (struct order_facts){
        .url = bytes_of_str("http://h.test/a/path/of/some/length"),
        .depth = 3,
        .priority = HINT_NO_PRIORITY,
        .links = 1,
    };
}

TEST(each_part_of_a_score_counts_as_documented)
{
    static const char long_path[] =
        "http://h.test/0123456789012345678901234567890123456789"
        "0123456789012345678901234567890123456789"
        "01234567890123456789012345678901234567890";
    static const char less_long_path[] =
        "http://h.test/0123456789012345678901234567890123456789"
        "0123456789012345678901234567890123456789"
        "0123456789012345678901234567890123456789";
    static const struct {
        uint32_t depth;
        const char *url;
        int16_t priority;
        uint32_t links;
        int sum;
        uint8_t class_;
    } rows[] = {
        {3, NULL, -1, 1, 0, 1},
        {0, NULL, -1, 1, 1, 2},
        {1, NULL, -1, 1, 1, 2},
        {5, NULL, -1, 1, 0, 1},
        {6, NULL, -1, 1, -1, 0},
        {3, "http://h.test/", -1, 1, 1, 2},
        {3, "http://h.test", -1, 1, 1, 2},
        {3, "http://h.test/1234567890123456", -1, 1, 1, 2},
        {3, "http://h.test/12345678901234567", -1, 1, 0, 1},
        {3, less_long_path, -1, 1, 0, 1},
        {3, long_path, -1, 1, -1, 0},
        {3, NULL, 0, 1, -2, 0},
        {3, NULL, 500, 1, 0, 1},
        {3, NULL, 1000, 1, 2, 3},
        {3, NULL, -1, 2, 1, 2},
        {3, NULL, -1, 3, 1, 2},
        {3, NULL, -1, 4, 2, 3},
        {3, NULL, -1, 255, 7, 8},
        {1, "http://h.test/", 1000, UINT32_MAX, 35, 14},
    };
    struct order *o = make(ORDER_BEST, NULL, NULL);

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct order_facts f = plain();
        struct order_score s;

        f.depth = rows[i].depth;
        f.priority = rows[i].priority;
        f.links = rows[i].links;
        if (rows[i].url != NULL)
            f.url = bytes_of_str(rows[i].url);
        s = order_score(o, &f);
        ck_assert_msg(s.sum == rows[i].sum && s.class_ == rows[i].class_,
                      "row %zu: %d, class %d", i, s.sum, s.class_);
        ck_assert_int_eq(s.sum,
                         s.depth + s.path + s.priority + s.links + s.rules);
    }
    order_free(o);
}

TEST(rules_add_up_and_first_is_before_all)
{
    struct order *o = make(ORDER_BEST, "=|some=-3", "/news/");
    struct order_facts f = plain();

    ck_assert_int_eq(order_score(o, &f).rules, -3);
    ck_assert_int_eq(order_score(o, &f).class_, ORDER_LATER);
    f.url = bytes_of_str("http://h.test/news/some/page/x");
    ck_assert_int_eq(order_score(o, &f).class_, ORDER_FIRST);
    f.url = bytes_of_str("http://h.test/other/page/without");
    ck_assert_int_eq(order_score(o, &f).class_, ORDER_IN_TURN);
    order_free(o);
}

TEST(depth_goes_by_the_depth_alone)
{
    struct order *o = make(ORDER_DEPTH, NULL, NULL);
    struct order_facts f = plain();

    f.links = 200;
    for (f.depth = 0; f.depth < 20; f.depth++)
        ck_assert_int_eq(order_score(o, &f).class_,
                         f.depth < 14 ? (int)f.depth + 1 : ORDER_FIRST);
    order_free(o);
    ck_assert_int_eq(order_score(NULL, &f).class_, ORDER_IN_TURN);
}

TEST(a_rule_that_is_none_is_refused)
{
    static const char *const bad[] = {"x", "x=", "x=1y", "x=101", "(=1"};

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const struct order_options o = {ORDER_BEST, &bad[i], 1, NULL, 0};
        struct order *made = NULL;
        struct buf why;

        buf_init(&why, 1024);
        ck_assert_int_eq(order_new(&made, &o, &why), STATUS_FORMAT);
        ck_assert_ptr_nonnull(strstr(buf_str(&why), "--boost '"));
        buf_fini(&why);
    }
}

/* It is kept with the crawl, which compares it at a resume. */
TEST(a_description_has_the_mode_and_every_rule)
{
    static const char *const boost[] = {"/news=3", "/old=-2"};
    static const char *const first[] = {"/urgent", "/next"};
    const struct order_options o = {.mode = ORDER_BEST,
                                    .boost = boost,
                                    .boost_count = 2,
                                    .first = first,
                                    .first_count = 2};
    struct order *made = NULL;
    struct buf text, why;
    unsigned lines = 0;

    buf_init(&why, 1024);
    buf_init(&text, 1024);
    ck_ok(order_new(&made, &o, &why));
    order_describe(made, &text);
    for (size_t i = 0; i < text.len; i++)
        lines += text.at[i] == '\n';
    ck_assert_uint_eq(lines, 4);
    ck_assert_ptr_nonnull(strstr(buf_str(&text), "\nboost /news"));
    ck_assert_ptr_nonnull(strstr(buf_str(&text), "\nboost /old"));
    ck_assert_ptr_nonnull(strstr(buf_str(&text), "\nfirst /urgent"));
    ck_assert_ptr_nonnull(strstr(buf_str(&text), "\nfirst /next"));
    order_free(made);
    buf_fini(&text);
    buf_fini(&why);
}

TEST(orders_are_told_apart_by_their_description)
{
    struct order *a = make(ORDER_BEST, "x=1", NULL);
    struct order *b = make(ORDER_BEST, NULL, "x=1");
    struct buf first, second;

    buf_init(&first, 1024);
    buf_init(&second, 1024);
    order_describe(a, &first);
    order_describe(b, &second);
    ck_assert_str_ne(buf_str(&first), buf_str(&second));
    buf_fini(&first);
    buf_fini(&second);
    order_free(a);
    order_free(b);
}
