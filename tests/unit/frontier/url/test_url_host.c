/* SPDX-License-Identifier: MIT */
/*
 * test_url_host.c - hosts against the URL Standard's section 3.5. The web
 * platform's toascii.json runs in `make check-shared`.
 */
#include <string.h>

#include "frontier/url/url.h"
#include "tests/unit/frontier/url/url_cases.h"
#include "tests/unit/unit.h"

FIXTURE(setup, teardown);

TEST(url_3_5_a_host_in_any_spelling_is_one_host)
{
    static const struct known table[] = {
        {"http://EXAMPLE.com/", "http://example.com/"},
        {"http://ex%41mple.com/", "http://example.com/"},
        {"http://b\xc3\xbc"
         "cher.example/",
         "http://xn--bcher-kva.example/"},
        {"http://B%C3%9Ccher.example/", "http://xn--bcher-kva.example/"},
        {"http://\xef\xbd\x85xample.com/", "http://example.com/"},
        {"http://exa\xc2\xadmple.com/", "http://example.com/"},
        {"http://a\xe3\x80\x82"
         "b/",
         "http://a.b/"},
        {"http://a_b.c-/", "http://a_b.c-/"},
        {"http://a..b./", "http://a..b./"},
        {"http://xn--not-punycode!/", "http://xn--not-punycode!/"},
    };

    CHECK_ALL(table, NULL);
}

TEST(url_3_5_numbers_are_ipv4_addresses)
{
    static const struct known table[] = {
        {"http://127.0.0.1/", "http://127.0.0.1/"},
        {"http://127.0.0.1./", "http://127.0.0.1/"},
        {"http://0x7f.1/", "http://127.0.0.1/"},
        {"http://0x7F000001/", "http://127.0.0.1/"},
        {"http://2130706433/", "http://127.0.0.1/"},
        {"http://017700000001/", "http://127.0.0.1/"},
        {"http://127.0x1/", "http://127.0.0.1/"},
        {"http://1.2.772/", "http://1.2.3.4/"},
        {"http://4294967295/", "http://255.255.255.255/"},
        {"http://0x/", "http://0.0.0.0/"},
        {"http://\xef\xbc\x91.2.3.4/", "http://1.2.3.4/"},
        {"http://1.2.3.4../", "http://1.2.3.4../"},
        {"http://1.2.3.four/", "http://1.2.3.four/"},
        {"http://0xg/", "http://0xg/"},
    };
    static const struct refused refused[] = {
        {"http://256.0.0.1/", URL_HOST_IPV4},
        {"http://1.2.3.256/", URL_HOST_IPV4},
        {"http://4294967296/", URL_HOST_IPV4},
        {"http://18446744073709551617/", URL_HOST_IPV4},
        {"http://1.2.3.4.5/", URL_HOST_IPV4},
        {"http://1.2.65536/", URL_HOST_IPV4},
        {"http://09/", URL_HOST_IPV4},
        {"http://1..2/", URL_HOST_IPV4},
        {"http://foo.0x4/", URL_HOST_IPV4},
        {"http://foo.09./", URL_HOST_IPV4},
    };

    CHECK_ALL(table, NULL);
    REFUSES(refused);
}

TEST(url_3_5_brackets_hold_ipv6_addresses)
{
    static const struct known table[] = {
        {"http://[::]/", "http://[::]/"},
        {"http://[::1]:80/", "http://[::1]/"},
        {"http://[2001:DB8:0:0:1:0:0:1]/", "http://[2001:db8::1:0:0:1]/"},
        {"http://[1:0:0:2:0:0:0:3]/", "http://[1:0:0:2::3]/"},
        {"http://[0:1:2:3:4:5:6:7]/", "http://[0:1:2:3:4:5:6:7]/"},
        {"http://[1:2:3:4:5:6:7::]/", "http://[1:2:3:4:5:6:7:0]/"},
        {"http://[::2:3:4:5:6:7:8]/", "http://[0:2:3:4:5:6:7:8]/"},
        {"http://[::ffff:1.2.3.4]/", "http://[::ffff:102:304]/"},
        {"http://[1:2:3:4:5:6:1.2.3.4]/", "http://[1:2:3:4:5:6:102:304]/"},
        {"http://[0001::]/", "http://[1::]/"},
    };
    static const struct refused refused[] = {
        {"http://[]/", URL_HOST_IPV6},
        {"http://[/", URL_HOST_IPV6},
        {"http://[::1/", URL_HOST_IPV6},
        {"http://[:]/", URL_HOST_IPV6},
        {"http://[:1]/", URL_HOST_IPV6},
        {"http://[1:]/", URL_HOST_IPV6},
        {"http://[1:2:3:4:5:6:7]/", URL_HOST_IPV6},
        {"http://[1:2:3:4:5:6:7:8:9]/", URL_HOST_IPV6},
        {"http://[1:2:3:4:5:6:7:8::]/", URL_HOST_IPV6},
        {"http://[::1::]/", URL_HOST_IPV6},
        {"http://[:::]/", URL_HOST_IPV6},
        {"http://[::12345]/", URL_HOST_IPV6},
        {"http://[::g]/", URL_HOST_IPV6},
        {"http://[::1%25eth0]/", URL_HOST_IPV6},
        {"http://[::1.2.3]/", URL_HOST_IPV6},
        {"http://[::1.2.3.4.5]/", URL_HOST_IPV6},
        {"http://[::1.2.3.04]/", URL_HOST_IPV6},
        {"http://[::1.2.3.256]/", URL_HOST_IPV6},
        {"http://[1:2:3:4:5:6:7:1.2.3.4]/", URL_HOST_IPV6},
        {"http://[::.1.2.3]/", URL_HOST_IPV6},
        {"http://[::1]x/", URL_HOST_IPV6},
        {"http://x[::1]/", URL_HOST},
    };

    CHECK_ALL(table, NULL);
    REFUSES(refused);
}

TEST(url_3_5_forbidden_code_points_make_no_host)
{
    static const char forbidden[] = "\x01\x1f <>^|%\x7f";
    static const struct refused refused[] = {
        {"http://", URL_HOST},
        {"http:///", URL_HOST},
        {"http://?q", URL_HOST},
        {"http://:80/", URL_HOST},
        {"http://u@/", URL_HOST},
        {"http://a%00b/", URL_HOST},
        {"http://a%2fb/", URL_HOST},
        {"http://%/", URL_HOST},
        {"http://%C2%AD/", URL_HOST_IDNA},
        {"http://\xff/", URL_HOST_IDNA},
        {"http://a\xef\xbc\x85"
         "41/",
         URL_HOST_IDNA},
        {"http://\xe2\x80\x8d/", URL_HOST_IDNA},
    };

    for (const char *c = forbidden; *c != '\0'; c++) {
        char in[] = "http://a?b/";

        in[8] = *c;
        ck_assert_msg(parse(in, NULL) == URL_HOST, "octet %02x", *c);
    }
    REFUSES(refused);
}
