/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "base/buf.h"
#include "tests/unit/unit.h"

TEST(refuses_to_grow_past_its_ceiling)
{
    struct buf b;

    buf_init(&b, 5);
    buf_add_str(&b, "abcde");
    ck_ok(buf_failed(&b));
    buf_add_char(&b, 'f');
    ck_assert_int_eq(buf_failed(&b), STATUS_LIMIT);
    ck_assert_str_eq(buf_str(&b), "abcde");
    buf_clear(&b);
    ck_ok(buf_failed(&b));
    buf_fini(&b);
}

TEST(writes_utf8_and_replaces_surrogates)
{
    struct buf b;

    buf_init(&b, 100);
    buf_add_utf8(&b, 0x41);
    buf_add_utf8(&b, 0xe9);
    buf_add_utf8(&b, 0x20ac);
    buf_add_utf8(&b, 0x1f600);
    buf_add_utf8(&b, 0xd800);
    ck_assert_str_eq(buf_str(&b), "A\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"
                                  "\xef\xbf\xbd");
    buf_fini(&b);
}
