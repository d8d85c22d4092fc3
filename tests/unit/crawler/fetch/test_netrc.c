/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "crawler/fetch/credentials.h"
#include "tests/unit/unit.h"

static char seen[2000];

static void note(void *ctx, struct bytes machine, struct bytes login,
                 struct bytes password)
{
    (void)ctx;
    snprintf(seen + strlen(seen), sizeof seen - strlen(seen), "%.*s,%.*s,%.*s;",
             (int)machine.len, machine.at, (int)login.len, login.at,
             (int)password.len, password.at);
}

static const char *read_text(const char *text)
{
    struct buf error;

    seen[0] = '\0';
    buf_init(&error, 1000);
    if (netrc_read(bytes_of_str(text), note, NULL, &error) != STATUS_OK)
        snprintf(seen, sizeof seen, "%s", buf_str(&error));
    buf_fini(&error);
    return seen;
}

TEST(machines_with_logins_are_visited_in_order)
{
    ck_assert_str_eq(read_text(""), "");
    ck_assert_str_eq(read_text("machine a login b password c"), "a,b,c;");
    ck_assert_str_eq(read_text("# x\nmachine a\n\tlogin b # y\n\tpassword #c\n"
                               "machine d password e account f\n"
                               "machine g\r\ndefault login h password i\r\n"),
                     "a,b,#c;d,,e;,h,i;");
    ck_assert_str_eq(read_text("machine a login \"b c\" password "
                               "\"d\\\"e\\\\f\""),
                     "a,b c,d\"e\\f;");
    ck_assert_str_eq(read_text("macdef init\nmachine not\n this\n\n"
                               "machine a login b password c\n"),
                     "a,b,c;");
}

TEST(what_is_no_netrc_file_is_refused_with_its_line)
{
    ck_assert_str_eq(read_text("machine a\nlogin b\npasword c\n"),
                     "line 3: not one of the words machine, default, login, "
                     "password, account and macdef");
    ck_assert_str_eq(read_text("\nlogin b"),
                     "line 2: nothing but machine, default or macdef may be "
                     "first");
    ck_assert_str_eq(read_text("machine a login"),
                     "line 1: a word has no value");
    ck_assert_str_eq(read_text("machine a login \"b"),
                     "line 1: a quote is not closed");
    ck_assert_str_eq(read_text("machine a login \"b\\n\""),
                     "line 1: a value holds a control character");
}

TEST(quotes_escapes_and_hashes_stand_for_what_curl_takes_them_for)
{
    ck_assert_str_eq(read_text("machine a login \"\" password \"#b\""),
                     "a,,#b;");
    ck_assert_str_eq(read_text("machine a login \"x\"password y"), "a,x,y;");
    ck_assert_str_eq(read_text("machine a password #b#c #d\nlogin e"),
                     "a,e,#b#c;");
    ck_assert_str_eq(read_text("machine a password \n #b\n c login d"),
                     "a,d,c;");
    ck_assert_str_eq(read_text("machine a\vlogin\fb\rpassword\tc"), "a,b,c;");
    ck_assert_str_eq(read_text("machine a login \"\\x\\\\\""), "a,x\\,;");
    ck_assert_str_eq(read_text("#"), "");
    ck_assert_str_eq(read_text("# machine a login b"), "");
    ck_assert_str_eq(read_text("machine a login b\x7f"),
                     "line 1: a value holds a control character");
    ck_assert_str_eq(read_text("machine a login \"\\t\""),
                     "line 1: a value holds a control character");
    ck_assert_str_eq(read_text("machine a login \"\\r\""),
                     "line 1: a value holds a control character");
    ck_assert_str_eq(read_text("machine a login b\x1f"),
                     "line 1: a value holds a control character");
    ck_assert_str_eq(read_text("machine a login b\xc3\xa9"), "a,b\xc3\xa9,;");
    ck_assert_str_eq(read_text("machine a login \"b\\"),
                     "line 1: a quote is not closed");
}
