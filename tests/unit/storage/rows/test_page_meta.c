/* SPDX-License-Identifier: MIT */
/* test_page_meta.c - what a page says of itself, packed. */

#include <string.h>

#include "storage/rows/page_store.h"
#include "tests/unit/storage/scratch.h"
#include "tests/unit/unit.h"

static void comes_back(const struct page_meta *in, const struct page_meta *want)
{
    struct page_meta out;
    struct buf packed;

    buf_init(&packed, PAGE_META_MOST);
    page_meta_put(&packed, in);
    ck_ok(buf_failed(&packed));
    ck_assert(page_meta_get(buf_bytes(&packed), &out));
    ck_assert(bytes_equal(out.description, want->description));
    ck_assert(bytes_equal(out.h1, want->h1));
    ck_assert(bytes_equal(out.robots, want->robots));
    ck_assert(bytes_equal(out.canonical, want->canonical));
    ck_assert(out.is_html == want->is_html);
    ck_assert_uint_eq(out.hreflang, want->hreflang);
    ck_assert_uint_eq(out.words, want->words);
    for (size_t n = 0; n < packed.len; n++) /* a part of it is nothing */
        ck_assert(!page_meta_get(bytes_of(packed.at, n), &out) ||
                  (!out.is_html && want->is_html));
    buf_add_char(&packed, '\0');
    ck_assert(!page_meta_get(buf_bytes(&packed), &out) || !want->is_html);
    buf_fini(&packed);
}

TEST(texts_are_cut_and_a_long_url_is_none)
{
    static char text[PAGE_CANONICAL_MOST + 1];
    const struct bytes all = bytes_of(text, sizeof text);
    const struct page_meta in = {all, all, all, all, true, 1, 2},
                           want = {bytes_of(text, PAGE_DESCRIPTION_MOST),
                                   bytes_of(text, PAGE_H1_MOST),
                                   bytes_of(text, PAGE_ROBOTS_MOST),
                                   bytes_of(NULL, 0),
                                   true,
                                   1,
                                   2};

    memset(text, 'x', sizeof text);
    comes_back(&in, &want);
}

static bool visit(void *ctx, const struct fetch_row *row)
{
    (void)ctx;
    (void)row;
    return true;
}

TEST(what_nobody_wrote_is_damage)
{
    static const char *const damaged[] = {
        "x'61'",               /* it ends in a text */
        "x'8404'",             /* a description above its bound */
        "x'00000000'||x'01'",  /* words are missing */
        "x'0000000001020300'", /* more behind them */
        "x'ffffffffffffffffffff'"};

    for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++) {
        struct scratch dir = scratch_make();
        struct db *d = scratch_open(dir.db, DB_CREATE);
        struct page_store *s = NULL;
        char sql[200];

        snprintf(sql, sizeof sql,
                 "INSERT INTO fetch(seq, url, final, status, tries, at, meta)"
                 " VALUES(1, 1, 1, 1, 1, 9, %s)",
                 damaged[i]);
        ck_ok(page_store_open(&s, d));
        ck_ok(db_exec(d, sql));
        ck_assert_msg(page_store_each(s, 0, visit, NULL) == STATUS_DAMAGED,
                      "%s", damaged[i]);
        page_store_close(s);
        db_close(d);
        scratch_remove(&dir);
    }
}
