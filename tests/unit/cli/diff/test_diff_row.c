/* SPDX-License-Identifier: MIT */
/* test_diff_row.c - a difference as a line, and back. */
#include "cli/diff/diff_join.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

#define EVERY_OCTET "\001\t\n\r %\x7f\x80\xff<>\"'%2520 end"

static const struct fetch_row state = {
    .status = 1,
    .reason = 200,
    .http_status = 65535,
    .at_ms = INT64_C(1700000000123),
    .body_bytes = UINT64_MAX,
    .body_print = 0xfedcba9876543210,
    .text_digest = {1, UINT64_MAX},
    .flags = 255,
    .simhash = 7,
};

static void expect_state(const struct fetch_row *a, const struct fetch_row *b)
{
    ck_assert_uint_eq(a->status, b->status);
    ck_assert_uint_eq(a->reason, b->reason);
    ck_assert_uint_eq(a->http_status, b->http_status);
    ck_assert_int_eq(a->at_ms, b->at_ms);
    ck_assert_uint_eq(a->body_bytes, b->body_bytes);
    ck_assert_uint_eq(a->body_print, b->body_print);
    ck_assert(digest_equal(a->text_digest, b->text_digest));
    ck_assert_uint_eq(a->flags, b->flags);
    ck_assert_uint_eq(a->simhash, b->simhash);
    ck_assert(bytes_equal(a->title, b->title));
    ck_assert(bytes_equal(a->redirect_url, b->redirect_url));
}

TEST(a_row_comes_back_as_it_was)
{
    struct diff_row row = {.kind = DIFF_MOVED,
                           .by = DIFF_BY_TEXT,
                           .what = 63,
                           .url = bytes_of_str("http://a/"),
                           .to = bytes_of_str("http://b/"),
                           .has_before = true,
                           .before = state,
                           .links_added = 3,
                           .links_removed = UINT64_MAX,
                           .added = bytes_of_str("http://a/1 http://a/2")},
                    back;
    struct buf line, text;

    row.before.title = bytes_of_str(EVERY_OCTET);
    row.before.redirect_url = bytes_of_str("http://c/%20");
    buf_init(&line, DIFF_LINE_MOST);
    buf_init(&text, DIFF_LINE_MOST);
    for (int both = 0; both < 2; both++) {
        row.has_after = both == 1;
        row.after = state;
        row.after.title = bytes_of_str("%");
        buf_clear(&line);
        diff_row_put(&line, &row);
        ck_assert_ptr_null(memchr(line.at, '\n', line.len));
        ck_ok(diff_row_get(&back, buf_bytes(&line), &text));
        ck_assert_int_eq(back.kind, row.kind);
        ck_assert_int_eq(back.by, row.by);
        ck_assert_uint_eq(back.what, row.what);
        ck_assert(bytes_equal(back.url, row.url));
        ck_assert(bytes_equal(back.to, row.to));
        ck_assert(bytes_equal(back.added, row.added));
        ck_assert_uint_eq(back.removed.len, 0);
        ck_assert_uint_eq(back.links_added, row.links_added);
        ck_assert_uint_eq(back.links_removed, row.links_removed);
        expect_state(&back.before, &row.before);
        ck_assert(back.has_after == row.has_after);
        if (back.has_after)
            expect_state(&back.after, &row.after);
    }
    buf_fini(&line);
    buf_fini(&text);
}

/* A file on disk may be cut or overwritten. */
TEST(a_line_cut_anywhere_is_read_within_its_bounds)
{
    struct diff_row row = {.url = bytes_of_str("http://a/"),
                           .has_before = true,
                           .before = state,
                           .has_after = true,
                           .after = state};
    struct buf line, text;

    row.after.title = bytes_of_str(EVERY_OCTET);
    buf_init(&line, DIFF_LINE_MOST);
    buf_init(&text, DIFF_LINE_MOST);
    diff_row_put(&line, &row);
    for (size_t n = 0; n <= line.len; n++) {
        char *copy = malloc(n + 1); /* so that a sanitizer sees its end */

        memcpy(copy, line.at, n);
        (void)!diff_row_get(&row, bytes_of(copy, n), &text);
        free(copy);
    }
    buf_fini(&line);
    buf_fini(&text);
}
