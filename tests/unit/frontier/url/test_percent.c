/* SPDX-License-Identifier: MIT */
/*
 * test_percent.c - the table of octet classes against the text of the URL
 * Standard, where each set extends the one before.
 */
#include <string.h>

#include "frontier/url/url_text.h"
#include "tests/unit/unit.h"

static void check_set(unsigned set, const char *members)
{
    for (int c = 0; c < 256; c++) {
        bool want = c < 0x20 || c > 0x7e || strchr(members, c) != NULL;

        ck_assert_msg(!(octet_classes[c] & set) == !want, "octet %02x", c);
    }
}

/* Query set: C0 control set and space " # < >; special-query: and '. Path:
 * query set and ? ^ ` { }. Userinfo: path set and / : ; = @ [ to ] |. */
TEST(url_1_3_the_sets_are_those_of_the_standard)
{
    check_set(OCTET_QUERY, " \"#<>'");
    check_set(OCTET_PATH, " \"#<>?^`{}");
    check_set(OCTET_USERINFO, " \"#<>?^`{}/:;=@[\\]|");
}

TEST(url_3_1_forbidden_domain_code_points)
{
    for (int c = 0; c < 128; c++) {
        bool want = c < 0x20 || c == 0x7f || strchr(" #%/:<>?@[\\]^|", c);

        ck_assert_msg(!(octet_classes[c] & OCTET_DOMAIN) == !want, "octet %02x",
                      c);
    }
}

TEST(rfc3986_2_3_unreserved)
{
    for (int c = 0; c < 256; c++) {
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        bool want = letter || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
                    c == '_' || c == '~';

        ck_assert_msg(!(octet_classes[c] & OCTET_UNRESERVED) == !want,
                      "octet %02x", c);
        ck_assert(!(octet_classes[c] & OCTET_UPPER) == !(c >= 'A' && c <= 'Z'));
        ck_assert(!(octet_classes[c] & OCTET_HIGH) == !(c > 127));
        ck_assert(!(octet_classes[c] & OCTET_MARK) == !(c == '%' || c == '\\'));
    }
}

TEST(encoding_takes_each_octet_of_its_set_as_it_is)
{
    struct buf b;

    buf_init(&b, 1000);
    percent_encode(&b, bytes_of_str("a \xc3\xa9\xff/"), OCTET_PATH);
    ck_assert_str_eq(buf_str(&b), "a%20%C3%A9%FF/");
    buf_clear(&b);
    percent_encode(&b, bytes_of_str("a \xe9\xff'"), OCTET_QUERY);
    ck_assert_str_eq(buf_str(&b), "a%20%E9%FF%27");
    buf_fini(&b);
}

TEST(decoding_leaves_what_is_no_escape)
{
    struct buf b;

    buf_init(&b, 1000);
    percent_decode(&b, bytes_of_str("%41%4g%%42%4%e9%c"));
    ck_assert_str_eq(buf_str(&b), "A%4g%B%4\xe9%c");
    buf_clear(&b);
    percent_decode(&b, bytes_of_str("%00"));
    ck_assert_uint_eq(b.len, 1);
    buf_fini(&b);
}
