/* SPDX-License-Identifier: MIT */

#include "base/clock.h"
#include "service/grpc/grpc_text.h"
#include "tests/unit/unit.h"

static void encodes(struct bytes plain, const char *wanted)
{
    struct buf b;

    buf_init(&b, 1000);
    grpc_percent_encode(&b, plain);
    ck_assert_str_eq(buf_str(&b), wanted);
    buf_fini(&b);
}

TEST(grpc_message_is_percent_encoded_outside_printable_ascii)
{
    encodes(bytes_of_str("no such URL"), "no such URL");
    encodes(bytes_of_str("100%"), "100%25");
    encodes(bytes_of_str("a\nb\x7f"), "a%0Ab%7F");
    encodes(bytes_of_str("\xc3\xa9"), "%C3%A9");
    encodes(bytes_of("\0", 1), "%00");
    encodes(bytes_of_str(""), "");
}

static int64_t timeout(const char *text)
{
    int64_t ns = -1;

    return grpc_parse_timeout(bytes_of_str(text), &ns) ? ns : -1;
}

TEST(grpc_timeout_is_eight_digits_at_most_and_a_unit)
{
    ck_assert_int_eq(timeout("1H"), 3600 * NS_PER_S);
    ck_assert_int_eq(timeout("2M"), 120 * NS_PER_S);
    ck_assert_int_eq(timeout("3S"), 3 * NS_PER_S);
    ck_assert_int_eq(timeout("4m"), 4 * NS_PER_MS);
    ck_assert_int_eq(timeout("5u"), 5000);
    ck_assert_int_eq(timeout("00000006n"), 6);
    ck_assert_int_eq(timeout("0S"), 0);
    ck_assert_int_eq(timeout("99999999H"), 3 * 365 * 86400 * NS_PER_S);
    ck_assert_int_eq(timeout("123456789n"), -1);
    ck_assert_int_eq(timeout("S"), -1);
    ck_assert_int_eq(timeout("1"), -1);
    ck_assert_int_eq(timeout(""), -1);
    ck_assert_int_eq(timeout("1s"), -1);
    ck_assert_int_eq(timeout("-1S"), -1);
    ck_assert_int_eq(timeout("1 S"), -1);
}

TEST(content_types_of_grpc_are_known_and_no_others)
{
    static const char *const ours[] = {"application/grpc",
                                       "application/grpc+proto",
                                       "Application/GRPC",
                                       "application/grpc;charset=utf-8",
                                       "application/grpc+proto ; x=y"};
    static const char *const others[] = {"",
                                         "application/grp",
                                         "application/json",
                                         "application/grpc-web",
                                         "application/grpc+json",
                                         "application/grpcx",
                                         "text/plain"};

    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        ck_assert_msg(grpc_content_type(bytes_of_str(ours[i])), "%s", ours[i]);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        ck_assert_msg(!grpc_content_type(bytes_of_str(others[i])), "%s",
                      others[i]);
    ck_assert(!grpc_content_type(bytes_of(NULL, 0)));
}
