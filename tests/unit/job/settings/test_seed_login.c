/* SPDX-License-Identifier: MIT */

#include "job/settings/seeds.h"
#include "job/settings/settings.h"
#include "tests/unit/unit.h"

/* Promise (Installing and checks): a login in the URL of a seed is used for its
 * origin and is in no URL afterwards; secrets are in no output, log, archive or
 * HTTP response. See also `seed_login/what_may_be_a_login_is_not_shown`,
 * `credentials/a_recorded_request_shows_no_secret`,
 * `credentials/errors_do_not_show_what_was_given`, `tests/cli/secrets.sh`. */
TEST(a_login_is_taken_off_seeds_and_sitemaps)
{
    static const char *const seeds[] = {
        "http://us%65r:p%40s:s@A.example:80/x?y#z", "https://b.example/",
        "https://only@[::1]:8443/"};
    struct crawl_settings s;
    struct buf error;

    settings_init(&s);
    buf_init(&error, 1000);
    for (size_t i = 0; i < 3; i++)
        option_list_add(&s.seeds, bytes_of_str(seeds[i]));
    option_list_add(&s.sitemap_url,
                    bytes_of_str("https://m:n@a.example/map.xml"));
    ck_ok(seed_login_settings(&s, &error));
    ck_assert_str_eq(s.seeds.item[0], "http://a.example/x?y");
    ck_assert_str_eq(s.seeds.item[1], "https://b.example/");
    ck_assert_str_eq(s.seeds.item[2], "https://[::1]:8443/");
    ck_assert_str_eq(s.sitemap_url.item[0], "https://a.example/map.xml");
    ck_assert_uint_eq(s.auth.count, 3);
    ck_assert_str_eq(s.auth.item[0], "http://a.example=user:p@s:s");
    ck_assert_str_eq(s.auth.item[1], "https://[::1]:8443=only:");
    ck_assert_str_eq(s.auth.item[2], "https://a.example=m:n");
    option_list_add(&s.seeds, bytes_of_str("http://a%0ab:c@d.example/"));
    ck_assert_int_eq(seed_login_settings(&s, &error), STATUS_ARG);
    buf_fini(&error);
    settings_fini(&s);
}

TEST(what_may_be_a_login_is_not_shown)
{
    static const struct {
        const char *text, *shown;
    } cases[] = {
        {"http://u:p@h/x@y", "http://***@h/x@y"},
        {"ftp://u:p@q@h", "ftp://***@h"},
        {"u:p@h", "***@h"},
        {"http:\\\\u:p@h\\x", "http:\\\\***@h\\x"},
        {"http://h/?a@b", "http://h/?a@b"},
        {"http://h#a@b", "http://h#a@b"},
        {"", ""},
        {"joe@example.org", "joe@example.org"},
        {"mailto:joe@example.org", "mailto:joe@example.org"},
        {"http://joe@example.org", "http://***@example.org"},
    };
    struct buf out;

    buf_init(&out, 1000);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        buf_clear(&out);
        seed_login_hide(bytes_of_str(cases[i].text), &out);
        ck_assert_str_eq(buf_str(&out), cases[i].shown);
    }
    buf_fini(&out);
}
