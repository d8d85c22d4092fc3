/* SPDX-License-Identifier: MIT */
/* test_page_change.c - when two fetches brought the same page. */
#include "storage/rows/page_store.h"
#include "tests/unit/unit.h"

static struct fetch_row page(uint64_t text, uint64_t body, uint8_t flags)
{
    return (struct fetch_row){.text_digest = {text, text},
                              .body_print = body,
                              .body_bytes = 100,
                              .flags = flags};
}

TEST(a_page_has_changed_by_what_was_asked_for)
{
    struct fetch_row a = page(1, 1, 0), markup = page(1, 2, 0),
                     text = page(2, 2, 0);

    ck_assert(page_same_content(&a, &markup, CHANGED_BY_TEXT));
    ck_assert(!page_same_content(&a, &markup, CHANGED_BY_BODY));
    ck_assert(!page_same_content(&a, &text, CHANGED_BY_TEXT));
    ck_assert(!page_same_content(&a, &text, CHANGED_BY_WORDS));
}

/* A digest without numbers says nothing of one with them. */
TEST(digests_of_two_kinds_are_not_compared)
{
    struct fetch_row a = page(1, 7, 0), b = page(2, 7, FETCH_ROW_NO_NUMBERS);

    ck_assert(!page_texts_compare(&a, &b));
    ck_assert(page_same_content(&a, &b, CHANGED_BY_TEXT));
    b.body_print = 8;
    ck_assert(!page_same_content(&a, &b, CHANGED_BY_TEXT));
}

TEST(rows_of_an_older_format_go_by_their_length)
{
    struct fetch_row a = page(0, 0, 0), b = page(1, 1, 0);

    ck_assert(page_same_content(&a, &b, CHANGED_BY_TEXT));
    b.body_bytes = 101;
    ck_assert(!page_same_content(&a, &b, CHANGED_BY_TEXT));
}
