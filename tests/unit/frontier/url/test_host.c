/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include <unicode/uchar.h>

#include "base/mem.h"
#include "frontier/url/host.h"
#include "tests/unit/guarded.h"
#include "tests/unit/unit.h"

/* Returns the ASCII form of `domain`, or NULL; the caller frees it. */
static char *to_ascii(const char *domain)
{
    struct bytes text = guarded(bytes_of_str(domain));
    struct buf b;
    char *s = NULL;

    buf_init(&b, 4096);
    buf_add_str(&b, "before:");
    if (host_to_ascii(text, &b))
        s = xstrdup(buf_str(&b) + strlen("before:"));
    buf_fini(&b);
    guarded_free(text);
    return s;
}

static void check_ascii(const char *domain, const char *want)
{
    char *got = to_ascii(domain);

    ck_assert_pstr_eq(got, want);
    free(got);
}

TEST(uts46_maps_to_lower_case_and_punycode)
{
    check_ascii("EXAMPLE.com", "example.com");
    check_ascii("b\xc3\xbc"
                "cher.de",
                "xn--bcher-kva.de");
    check_ascii("B\xc3\x9c"
                "CHER.de",
                "xn--bcher-kva.de");
    check_ascii("fa\xc3\x9f.de", "xn--fa-hia.de"); /* not transitional */
    check_ascii("\xe4\xbe\x8b\xe3\x81\x88.jp", "xn--r8jz45g.jp");
    check_ascii("a\xe3\x80\x82"
                "b",
                "a.b"); /* ideographic full stop */
    check_ascii("a\xc2\xad"
                "b",
                "ab"); /* soft hyphen is ignored */
}

/* Mappings newer than the Unicode 15.0 of Debian 12's ICU. */
TEST(uts46_mappings_of_later_versions_hold)
{
    check_ascii("FA\xe1\xba\x9e.de", "xn--fa-hia.de");
    check_ascii("\xd3\x80.com", "xn--s5a.com");
    check_ascii("\xe2\x86\x83.com", "xn--r5g.com");
    check_ascii("\xf0\xaf\xa1\xa8.com", "xn--snl.com");
    /* These code points are newer themselves. */
    check_ascii("\xea\x9f\x9c.com", "xn--dia.com");
    check_ascii("\xf0\x9c\xb3\x96\xf0\x9c\xb3\xb1.com", "a1.com");
    check_ascii("look\xe1\xa0\x8eout.net", "lookout.net");
    check_ascii("\xe1\x82\xa0.ge", "xn--rkj.ge"); /* Georgian capital */
}

/* The URL Standard allows them as soon as Unicode has them. */
TEST(ours_letters_newer_than_icu_are_known_in_ascii_only)
{
    static const struct {
        const char *name, *ascii;
        UVersionInfo since;
    } all[] = {
        {"\xf0\xae\xaf\xb0.com", "xn--8g0n.com", {15, 1}}, /* U+2EBF0 */
        {"\xe1\xb2\x8a.com", "xn--d4f.com", {16, 0}},      /* U+1C8A */
    };
    UVersionInfo unicode;

    u_getUnicodeVersion(unicode);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        bool known = memcmp(unicode, all[i].since, 2) >= 0;

        check_ascii(all[i].name, known ? all[i].ascii : NULL);
        check_ascii(all[i].ascii, all[i].ascii);
    }
}

TEST(uts46_hyphens_and_lengths_are_not_checked)
{
    char label[200];

    memset(label, 'a', sizeof label - 1);
    label[sizeof label - 1] = '\0';
    check_ascii(label, label);
    check_ascii("-a-.b--c", "-a-.b--c");
    check_ascii("-\xc3\xa9-", "xn-----bja");
    check_ascii("\xc3\xa9..a.", "xn--9ca..a.");
}

/* The URL Standard does not check the Punycode of an all-ASCII name, but it
 * does when another label of the name is not ASCII. */
TEST(url_3_3_punycode_is_checked_only_beside_other_scripts)
{
    check_ascii("xn--a", "xn--a");
    check_ascii("XN--ls8h=", "xn--ls8h=");
    check_ascii("xn--a.\xc3\xa9", NULL);
}

TEST(uts46_what_is_not_allowed_is_refused)
{
    check_ascii("", NULL);
    check_ascii("a b", NULL);
    check_ascii("a%b", NULL);
    check_ascii("\xc2\xad", NULL);
    check_ascii("a\xef\xbc\x8f"
                "b",
                NULL);                 /* full-width slash */
    check_ascii("\xef\xbf\xbd", NULL); /* replacement character */
    check_ascii("\xe2\x80\x8d", NULL); /* joiner with no context */
    check_ascii("\xd7\x90"
                "a",
                NULL); /* bidi: rule 1 to 6 */
    check_ascii("\xcc\x81"
                "a",
                NULL); /* begins with a mark */
    check_ascii("\xff", NULL);
}

TEST(addresses_are_told_from_names)
{
    struct bytes nothing = guarded(bytes_of_str(""));

    ck_assert(host_is_address(bytes_of_str("1.2.3.4")));
    ck_assert(host_is_address(bytes_of_str("[::1]")));
    ck_assert(!host_is_address(bytes_of_str("example.com")));
    ck_assert(!host_is_address(bytes_of_str("1.2.3.4.com")));
    ck_assert(!host_is_address(bytes_of_str("a1")));
    ck_assert(!host_is_address(bytes_of_str("..")));
    ck_assert(!host_is_address(nothing));
    guarded_free(nothing);
}

static void check_registrable(const char *host, const char *want)
{
    struct bytes h = bytes_of_str(host), got = host_registrable(h);

    ck_assert_msg(bytes_is(got, want), "%s: %.*s", host, (int)got.len, got.at);
    ck_assert(got.at >= h.at && got.at + got.len == h.at + h.len);
}

/* Promise (URLs): scope: host, domain, prefix, seed, any; include and
 * exclude. See also `scope`, `tests/cli/limits.sh`. */
TEST(psl_the_registrable_domain_is_one_label_more_than_the_suffix)
{
    check_registrable("a.b.example.co.uk", "example.co.uk");
    check_registrable("example.com", "example.com");
    check_registrable("www.example.com", "example.com");
    check_registrable("x.user.github.io", "user.github.io");
    check_registrable("a.www.ck", "www.ck"); /* exception of *.ck */
    check_registrable("b.c.foo.ck", "c.foo.ck");
    check_registrable("www.xn--55qx5d.cn", "www.xn--55qx5d.cn");
}

TEST(ours_a_suffix_or_an_address_is_its_own_domain)
{
    char label[400];

    check_registrable("co.uk", "co.uk");
    check_registrable("localhost", "localhost");
    check_registrable("127.0.0.1", "127.0.0.1");
    check_registrable("[::1]", "[::1]");
    check_registrable("..", "..");
    memset(label, 'a', sizeof label - 1);
    memcpy(label + 300, ".b.com", 7);
    check_registrable(label, label); /* longer than any valid name */
}
