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
    ck_ok(link_store_open(&l->s, l->d));
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

    link_store_add(l->s, &row);
}

static void end_page(struct links *l)
{
    ck_ok(link_store_end_page(l->s));
}

TEST(verify_finds_links_of_no_url_and_links_of_a_crawl_that_keeps_none)
{
    static const struct link_row bad[] = {
        {.from = 0, .to = 1, .kind = 2},
        {.from = 1, .to = 0, .kind = 2},
        {.from = 8, .to = 1, .kind = 2},
        {.from = 1, .to = 8, .kind = 2},
        {.from = 1, .to = 1, .kind = 2, .said = {.dropped = {"u", 1}}},
    };
    uint64_t count = 0;

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct links l = make();

        add(&l, 1, 7);
        end_page(&l);
        ck_assert_int_eq(link_store_verify(l.s, 7, &count), STATUS_DAMAGED);
        ck_ok(link_store_note(l.s, true, true));
        ck_ok(link_store_verify(l.s, 7, &count));
        ck_assert_uint_eq(count, 1);
        link_store_add(l.s, &bad[i]);
        end_page(&l);
        add(&l, 7, 1);
        end_page(&l);
        ck_assert_int_eq(link_store_verify(l.s, 7, &count), STATUS_DAMAGED);
        ck_assert_uint_eq(count, 2);
        done(&l);
    }
}

struct page {
    uint64_t n, from;
};

static void nth_of_page(void *ctx, const struct link_row *row)
{
    struct page *p = ctx;

    ck_assert_uint_eq(row->from, p->from);
    ck_assert_uint_eq(row->to, p->from + 20 + p->n);
    ck_assert_uint_eq(row->kind, 2);
    p->n++;
}

static enum status links_of(struct links *l, uint64_t seq, struct page *p)
{
    struct link_range rows;
    enum status st = link_store_page(l->s, seq, &rows);

    p->n = 0;
    return st == STATUS_OK ? link_store_each_in(l->s, &rows, nth_of_page, p)
                           : st;
}

static const struct link_row labelled[] = {
    {.from = 7, .to = 1, .kind = 0, .said = {.text = {"more", 4}}},
    {.from = 7, .to = 2, .kind = 8},
    {.from = 7,
     .kind = 1,
     .said = {.dropped = {"http://far/", 11}, .reason = 22}},
    {.from = 7,
     .to = 3,
     .kind = 0,
     .said = {.rel = {"nofollow", 8}, .text = {"x", 1}}},
};
#define LABELLED (sizeof labelled / sizeof *labelled)

static void add_labelled(struct links *l, const struct link_range *rows)
{
    for (size_t i = 0; i < LABELLED; i++)
        link_store_add(l->s, &labelled[i]);
    end_page(l);
    ck_ok(link_store_set_page(l->s, 9, rows));
    ck_ok(link_store_note(l->s, true, true));
}

/* A row is also a message to others, which must not be too long. */
TEST(what_is_said_of_a_page_has_an_end)
{
    static char text[LINK_TEXT_MOST + 1];
    struct links l = make();
    const struct link_row row = {.from = 1,
                                 .to = 1,
                                 .said.text = bytes_of(text, LINK_TEXT_MOST)};
    unsigned n = 0;

    memset(text, 'x', LINK_TEXT_MOST);
    ck_ok(db_begin(l.d));
    ck_assert(!link_store_is_full(l.s));
    for (; !link_store_is_full(l.s); n++)
        link_store_add(l.s, &row);
    ck_assert_uint_gt(n, 10000);
    ck_assert_uint_lt(n, 11000);
    end_page(&l);
    ck_assert(!link_store_is_full(l.s));
    ck_ok(db_commit(l.d));
    done(&l);
}

TEST(texts_that_cannot_be_are_damage)
{
    static const char *const harms[] = {
        "UPDATE link_list SET said = substr(said, 1, length(said) - 1)",
        "UPDATE link_list SET said = said || x'00'",
        "UPDATE link_list SET said = x'00c901' || said",   /* text of 201 */
        "UPDATE link_list SET said = x'c90100' || said",   /* rel of 201 */
        "UPDATE link_list SET said = x'00008120' || said", /* URL of 4,097 */
        "UPDATE link_list SET said = x'8080808080808080808000'",
        "UPDATE link_list SET said = x'ff'",
        "UPDATE link_list SET said = NULL",
        "UPDATE link_list SET links = '[32,72,1]'",
        "UPDATE link_list SET links = '[32,72,1,96,96]'",
    };

    for (size_t i = 0; i < sizeof harms / sizeof *harms; i++) {
        const struct link_range rows = {1, LABELLED, false};
        struct links l = make();
        uint64_t count = 0;

        add_labelled(&l, &rows);
        ck_ok(db_exec(l.d, harms[i]));
        ck_assert_msg(link_store_verify(l.s, 7, &count) == STATUS_DAMAGED, "%s",
                      harms[i]);
        done(&l);
    }
}

TEST(lists_that_overlap_are_damage)
{
    struct links l = make();
    uint64_t count;

    ck_ok(link_store_note(l.s, true, true));
    for (uint64_t page = 1; page <= 2; page++) {
        add(&l, page, 1);
        add(&l, page, 2);
        end_page(&l);
    }
    ck_ok(link_store_verify(l.s, 7, &count));
    ck_ok(db_exec(l.d, "UPDATE link_list SET first = 2"
                       " WHERE first = 3"));
    ck_assert_int_eq(link_store_verify(l.s, 7, &count), STATUS_DAMAGED);
    done(&l);
}

TEST(no_number_is_given_twice)
{
    struct links l = make();

    for (uint64_t n = 1; n < 30; n += 3) {
        for (uint64_t k = 0; k < 3; k++)
            add(&l, 7, UINT64_C(1) << n);
        end_page(&l);
        ck_assert_uint_eq(link_store_next(l.s), n + 3);
        reopen(&l, DB_WRITE);
        ck_assert_uint_eq(link_store_next(l.s), n + 3);
    }
    done(&l);
}

TEST(a_range_that_cannot_be_is_damage)
{
    static const char *const harms[] = {
        "UPDATE page_links SET count = 4",
        "UPDATE page_links SET first = 0",
        "UPDATE page_links SET first = -1",
        "UPDATE page_links SET count = -1",
        "UPDATE page_links SET count = 2",
        "DELETE FROM link_list",
        "UPDATE link_list SET first = 2",
        "UPDATE link_list SET src = -1",
        "UPDATE link_list SET links = NULL",
        "UPDATE link_list SET links = '[]'",
        "UPDATE link_list SET links = '866,898,930'",
        "UPDATE link_list SET links = '[866,898,930'",
        "UPDATE link_list SET links = '[866,898,930,]'",
        "UPDATE link_list SET links = '[866,,930]'",
        "UPDATE link_list SET links = '[866, 898,930]'",
        "UPDATE link_list SET links = '[866,898,-930]'",
        "UPDATE link_list SET links = '[866,0898,930]'",
        "UPDATE link_list SET links = '[866,898,35184372088832]'",
        "UPDATE link_list SET links = '[866,898,9999999999999999999999]'",
    };

    for (size_t i = 0; i < sizeof harms / sizeof *harms; i++) {
        const struct link_range rows = {1, 3};
        struct links l = make();
        struct page p = {.from = 7};

        for (uint64_t k = 0; k < 3; k++)
            add(&l, 7, 27 + k);
        end_page(&l);
        ck_ok(link_store_set_page(l.s, 9, &rows));
        ck_ok(links_of(&l, 9, &p));
        ck_ok(db_exec(l.d, harms[i]));
        ck_assert_msg(links_of(&l, 9, &p) == STATUS_DAMAGED, "%s", harms[i]);
        done(&l);
    }
}
