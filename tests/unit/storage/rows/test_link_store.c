/* SPDX-License-Identifier: MIT */
/* test_link_store.c - the link graph, and how much of it was recorded. */
#include "storage/rows/link_store.h"

#include "tests/unit/storage/scratch.h"

struct links {
    struct scratch dir;
    struct db *d;
    struct link_store *s;
};

static void reopen(struct links *l, enum db_mode mode)
{
    link_store_close(l->s);
    db_close(l->d);
    l->d = scratch_open(l->dir.db, mode);
    ck_assert_int_eq(link_store_open(&l->s, l->d), STATUS_OK);
}

static struct links make(void)
{
    struct links l = {.dir = scratch_make()};

    reopen(&l, DB_CREATE);
    return l;
}

static void done(struct links *l)
{
    link_store_close(l->s);
    db_close(l->d);
    scratch_remove(&l->dir);
}

static void add(struct links *l, uint64_t from, uint64_t to)
{
    const struct link_row row = {.from = from, .to = to, .kind = 2};

    ck_assert_int_eq(link_store_add(l->s, &row), STATUS_OK);
}

/* What each run records, and what is known afterwards, also to the next
 * process. */
START_TEST(how_much_was_recorded_is_remembered_from_run_to_run)
{
    static const struct {
        bool keeps;
        enum link_record after;
    } runs[][3] = {
        {{true, LINK_RECORD_ALL},
         {true, LINK_RECORD_ALL},
         {false, LINK_RECORD_PART}},
        {{true, LINK_RECORD_ALL},
         {false, LINK_RECORD_PART},
         {true, LINK_RECORD_PART}},
        {{false, LINK_RECORD_NONE},
         {false, LINK_RECORD_NONE},
         {true, LINK_RECORD_PART}},
        {{false, LINK_RECORD_NONE},
         {true, LINK_RECORD_PART},
         {false, LINK_RECORD_PART}},
    };

    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        struct links l = make();

        ck_assert_int_eq(link_store_recorded(l.s), LINK_RECORD_NONE);
        for (int run = 0; run < 3; run++) {
            ck_assert_int_eq(link_store_note(l.s, runs[i][run].keeps, run == 0),
                             STATUS_OK);
            ck_assert_int_eq(link_store_recorded(l.s), runs[i][run].after);
            reopen(&l, DB_WRITE);
            ck_assert_int_eq(link_store_recorded(l.s), runs[i][run].after);
        }
        done(&l);
    }
}
END_TEST

struct seen {
    uint64_t count, stop_at;
};

static bool nth(void *ctx, const struct link_row *row)
{
    struct seen *s = ctx;

    ck_assert_uint_eq(row->from, 10 + s->count);
    ck_assert_uint_eq(row->to, 20 + s->count % 2);
    ck_assert_uint_eq(row->kind, 2);
    return ++s->count < s->stop_at;
}

START_TEST(links_come_back_in_order_until_the_reader_has_enough)
{
    struct links l = make();

    for (uint64_t i = 0; i < 5; i++)
        add(&l, 10 + i, 20 + i % 2);
    for (uint64_t most = 1; most <= 6; most++) {
        struct seen s = {.stop_at = most};

        ck_assert_int_eq(link_store_each(l.s, nth, &s), STATUS_OK);
        ck_assert_uint_eq(s.count, most < 5 ? most : 5);
    }
    done(&l);
}
END_TEST

START_TEST(links_besides_the_first_are_counted)
{
    struct links l = make();
    uint64_t count = 99;

    ck_assert_int_eq(link_store_seen_again(l.s, 5, 1, &count), STATUS_OK);
    ck_assert_uint_eq(count, 0);
    add(&l, 1, 5);
    add(&l, 2, 5);
    add(&l, 2, 6);
    add(&l, 3, 5);
    ck_assert_int_eq(link_store_seen_again(l.s, 5, 1, &count), STATUS_OK);
    ck_assert_uint_eq(count, 2);
    /* The seed was on no page when it was first seen. */
    ck_assert_int_eq(link_store_seen_again(l.s, 5, 0, &count), STATUS_OK);
    ck_assert_uint_eq(count, 3);
    ck_assert_int_eq(link_store_seen_again(l.s, 7, 1, &count), STATUS_OK);
    ck_assert_uint_eq(count, 0);
    done(&l);
}
END_TEST

START_TEST(verify_finds_links_of_no_url_and_links_of_a_crawl_that_keeps_none)
{
    static const struct link_row bad[] = {{0, 1, 2},
                                          {1, 0, 2},
                                          {8, 1, 2},
                                          {1, 8, 2}};
    uint64_t count = 0;

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct links l = make();

        add(&l, 1, 7);
        ck_assert_int_eq(link_store_verify(l.s, 7, &count), STATUS_DAMAGED);
        ck_assert_int_eq(link_store_note(l.s, true, true), STATUS_OK);
        ck_assert_int_eq(link_store_verify(l.s, 7, &count), STATUS_OK);
        ck_assert_uint_eq(count, 1);
        ck_assert_int_eq(link_store_add(l.s, &bad[i]), STATUS_OK);
        add(&l, 7, 1);
        ck_assert_int_eq(link_store_verify(l.s, 7, &count), STATUS_DAMAGED);
        ck_assert_uint_eq(count, 2);
        done(&l);
    }
}
END_TEST

Suite *suite_link_store(void)
{
    Suite *s = suite_create("link_store");
    TCase *t = tcase_create("link_store");

    tcase_add_test(t, how_much_was_recorded_is_remembered_from_run_to_run);
    tcase_add_test(t, links_come_back_in_order_until_the_reader_has_enough);
    tcase_add_test(t, links_besides_the_first_are_counted);
    tcase_add_test(
        t, verify_finds_links_of_no_url_and_links_of_a_crawl_that_keeps_none);
    suite_add_tcase(s, t);
    return s;
}
