/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "crawler/fetch/credentials.h"
#include "tests/unit/cli/capture.h"
#include "tests/unit/unit.h"

static struct credentials *c;
static char got[4096];

static void make(const struct credentials_options *o)
{
    struct buf error;

    buf_init(&error, 4096);
    ck_assert_msg(credentials_new(&c, o, &error) == STATUS_OK, "%s",
                  buf_str(&error));
    buf_fini(&error);
}

static void add_seed(const char *text)
{
    struct url u;

    url_init(&u);
    ck_assert_int_eq(url_canonical(&u, bytes_of_str(text), NULL, NULL), URL_OK);
    credentials_add_seed(c, &u);
    url_fini(&u);
}

/* Returns "line|line|Cookie" as sent in a request to this origin. */
static const char *carried(const char *origin)
{
    const struct credential_set *set = credentials_for(c, bytes_of_str(origin));

    got[0] = '\0';
    for (const struct curl_slist *l = set->headers; l != NULL; l = l->next)
        snprintf(got + strlen(got), sizeof got - strlen(got), "%s|", l->data);
    if (set->cookie != NULL)
        snprintf(got + strlen(got), sizeof got - strlen(got), "%s",
                 set->cookie);
    return got;
}

/* Promise (Installing and checks): headers, cookies, logins, tokens and client
 * certificates go only to the origins they are bound to, by default those of
 * the seeds, wherever links and redirects lead; robots.txt and sitemaps are no
 * exception. See also `credentials/what_is_bound_more_closely_wins`,
 * `credentials/a_netrc_login_is_sent_by_https_and_to_seeds`,
 * `tests/cli/secrets.sh`. */
TEST(headers_and_the_cookie_go_to_the_origins_of_seeds)
{
    static const char *const headers[] = {"X-A: 1", "X-B: 2"};

    make(&(struct credentials_options){.headers = headers,
                                       .header_count = 2,
                                       .cookie = "k=v"});
    ck_assert_str_eq(carried("https://a.example"), "");
    add_seed("https://A.example:443/x");
    ck_assert_str_eq(carried("https://a.example"), "X-A: 1|X-B: 2|k=v");
    ck_assert(credentials_for(c, bytes_of_str("https://a.example"))->of_seed);
    /* RFC 6454: another scheme, port or host is another origin. */
    ck_assert_str_eq(carried("http://a.example"), "");
    ck_assert_str_eq(carried("https://a.example:8443"), "");
    ck_assert_str_eq(carried("https://www.a.example"), "");
    ck_assert_str_eq(carried(""), "");
    credentials_free(c);
}

TEST(what_is_bound_more_closely_wins)
{
    static const char *const headers[] = {"Authorization: seeds", "X-A: seeds"};
    static const char *const bound[] = {"*=X-A: all", "*=X-B: all",
                                        "b.example=x-a: b",
                                        "b.example=Cookie: of=b"};
    static const char *const basic[] = {"a.example=u:old", "a.example=u:p"};
    static const char *const bearer[] = {"http://b.example:8080=t"};

    make(&(struct credentials_options){
        .headers = headers,
        .header_count = 2,
        .cookie = "k=v",
        .bound = bound,
        .bound_count = 4,
        .basic = basic,
        .basic_count = 2,
        .bearer = bearer,
        .bearer_count = 1,
        .netrc = bytes_of_str("machine a.example login n password n\n"
                              "machine c.example login c password c\n"
                              "default login d password d")});
    ck_assert_str_eq(carried("https://other.example"), "X-A: all|X-B: all|");
    /* RFC 7617 section 2: base64 of "u:p" */
    ck_assert_str_eq(carried("https://a.example"),
                     "Authorization: Basic dTpw|X-A: all|X-B: all|");
    ck_assert_str_eq(carried("https://b.example"), "x-a: b|X-B: all|of=b");
    ck_assert_str_eq(carried("http://b.example:8080"),
                     "Authorization: Bearer t|X-A: all|X-B: all|");
    add_seed("https://b.example/");
    ck_assert_str_eq(carried("https://b.example"),
                     "x-a: b|Authorization: Basic ZDpk|X-B: all|of=b");
    add_seed("http://e.example/");
    ck_assert_str_eq(carried("http://e.example"),
                     "Authorization: Basic ZDpk|X-A: seeds|X-B: all|k=v");
    credentials_free(c);
}

TEST(a_netrc_login_is_sent_by_https_and_to_seeds)
{
    make(&(struct credentials_options){
        .netrc = bytes_of_str("machine c.example login c password c\n")});
    ck_assert_str_eq(carried("https://c.example"),
                     "Authorization: Basic Yzpj|");
    ck_assert_str_eq(carried("http://c.example"), "");
    ck_assert_str_eq(carried("https://c.example:8443"), "");
    ck_assert_str_eq(carried("https://d.c.example"), "");
    add_seed("http://c.example:8080/");
    ck_assert_str_eq(carried("http://c.example:8080"),
                     "Authorization: Basic Yzpj|");
    credentials_free(c);
}

TEST(an_origin_is_a_host_or_a_url_without_path)
{
    static const struct {
        const char *text, *origin, *rest;
    } good[] = {
        {"A.example=x", "https://a.example", "x"},
        {"a.example:443=x", "https://a.example", "x"},
        {"a.example:8443=x=y", "https://a.example:8443", "x=y"},
        {"http://a.example=x", "http://a.example", "x"},
        {"http://a.example:80/=x", "http://a.example", "x"},
        {"https://[::1]:8443=u:p", "https://[::1]:8443", "u:p"},
        {"[::1]=u:p", "https://[::1]", "u:p"},
        {"*=X: y", "*", "X: y"},
    };
    static const char *const bad[] = {"",
                                      "x",
                                      "=x",
                                      "a.example",
                                      "a.example=",
                                      "a/b=x",
                                      "a?b=x",
                                      "ftp://a=x",
                                      "u@a=x",
                                      "http://=x",
                                      "https://a b=x",
                                      "http://a/b=x"};
    struct buf origin;
    const char *rest;

    buf_init(&origin, 1000);
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        buf_clear(&origin);
        ck_assert_msg(credentials_split(good[i].text, &origin, &rest), "%s",
                      good[i].text);
        ck_assert_str_eq(buf_str(&origin), good[i].origin);
        ck_assert_str_eq(rest, good[i].rest);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_msg(!credentials_split(bad[i], &origin, &rest), "%s", bad[i]);
    buf_fini(&origin);
}

TEST(errors_do_not_show_what_was_given)
{
    static const char *const basic[] = {"s3cret"};
    struct buf error;

    buf_init(&error, 4096);
    ck_assert_int_eq(credentials_new(&c,
                                     &(struct credentials_options){
                                         .basic = basic, .basic_count = 1},
                                     &error),
                     STATUS_ARG);
    ck_assert_int_eq(credentials_new(&c,
                                     &(struct credentials_options){
                                         .netrc =
                                             bytes_of_str("machine a s3cret")},
                                     &error),
                     STATUS_ARG);
    ck_assert_uint_gt(error.len, 0);
    ck_assert_ptr_null(strstr(buf_str(&error), "s3cret"));
    buf_fini(&error);
}

TEST(a_recorded_request_shows_no_secret)
{
    static const char *const headers[] = {"X-Secret: 1"};
    static const char *const bound[] = {"a.example=X-Other: 2", "*=X-All: 3"};
    struct buf out;

    make(&(struct credentials_options){.headers = headers,
                                       .header_count = 1,
                                       .bound = bound,
                                       .bound_count = 2});
    buf_init(&out, 4096);
    credentials_redact(c,
                       bytes_of_str("GET /x-secret: HTTP/1.1\r\n"
                                    "Host: a.example\r\nx-secret: 1\r\n"
                                    "X-OTHER:2\r\nX-All: 3\r\nCookie: a=b\r\n"
                                    "authorization: Basic x\r\n"
                                    "Proxy-Authorization: y\r\n\r\n"),
                       &out);
    ck_assert_str_eq(buf_str(&out),
                     "GET /x-secret: HTTP/1.1\r\n"
                     "Host: a.example\r\nx-secret: redacted\r\n"
                     "X-OTHER: redacted\r\nX-All: 3\r\nCookie: redacted\r\n"
                     "authorization: redacted\r\n"
                     "Proxy-Authorization: redacted\r\n\r\n");
    buf_fini(&out);
    credentials_free(c);
}

static enum status try_new(const struct credentials_options *o,
                           struct buf *error)
{
    enum status st;

    buf_clear(error);
    st = credentials_new(&c, o, error);
    if (st == STATUS_OK)
        credentials_free(c);
    return st;
}

/* Whatever else is given, and however right it is. */
TEST(one_wrong_secret_is_enough_to_refuse_all)
{
    static const char *const wrong[] = {"no origin"};
    static const char *const bound[] = {"a.example=X-A: 1"};
    static const char *const basic[] = {"a.example=u:p"};
    static const char *const bearer[] = {"a.example=t"};
    static const struct bytes good_netrc = {"machine a login b", 17};
    static const struct bytes bad_netrc = {"nonsense", 8};
    static const char *const texts[] = {"", "a header bound to an origin is",
                                        "a login is", "a token is",
                                        "line 1: nothing but machine"};
    struct buf error;

    buf_init(&error, 4096);
    for (int i = 0; i < 5; i++) {
        const struct credentials_options o = {.bound = i == 1 ? wrong : bound,
                                              .bound_count = 1,
                                              .basic = i == 2 ? wrong : basic,
                                              .basic_count = 1,
                                              .bearer = i == 3 ? wrong : bearer,
                                              .bearer_count = 1,
                                              .netrc = i == 4 ? bad_netrc
                                                              : good_netrc};

        ck_assert_int_eq(try_new(&o, &error), i == 0 ? STATUS_OK : STATUS_ARG);
        ck_assert_msg(bytes_starts_with(buf_bytes(&error), texts[i]), "%s",
                      buf_str(&error));
    }
    buf_fini(&error);
}

/* RFC 4648 section 10, and a length that base64 has to fill up. */
TEST(rfc7617_2_logins_are_base64_of_any_length)
{
    static const char *const basic[] = {"a.example=f:", "b.example=:fo",
                                        "c.example=foo:",
                                        "d.example=a:b=c:d e"};
    static const char *const origins[] = {"https://a.example",
                                          "https://b.example",
                                          "https://c.example",
                                          "https://d.example"};
    static const char *const want[] = {"Authorization: Basic Zjo=|",
                                       "Authorization: Basic OmZv|",
                                       "Authorization: Basic Zm9vOg==|",
                                       "Authorization: Basic YTpiPWM6ZCBl|"};

    make(&(struct credentials_options){.basic = basic, .basic_count = 4});
    for (int i = 0; i < 4; i++)
        ck_assert_str_eq(carried(origins[i]), want[i]);
    credentials_free(c);
}

static const char *warned(const char *from, const char *to)
{
    static struct capture said;

    capture_start(&said, STDERR_FILENO);
    credentials_note_redirect(c, bytes_of_str(from), bytes_of_str(to));
    return capture_end(&said);
}

TEST(a_seed_whose_redirect_loses_its_secrets_is_warned_of_once)
{
    static const char *const bound[] = {"named.example=X: 1"};
    static const char *const headers[] = {"X-A: 1"};

    make(&(struct credentials_options){.cookie = "k=v",
                                       .bound = bound,
                                       .bound_count = 1});
    ck_assert_str_eq(warned("http://a.example", "https://a.example"), "");
    add_seed("http://a.example/");
    add_seed("http://b.example/");
    ck_assert_str_eq(warned("http://a.example", "http://a.example"), "");
    ck_assert_str_eq(warned("http://a.example", "http://b.example"), "");
    ck_assert_str_eq(warned("http://a.example", "https://named.example"), "");
    ck_assert_str_eq(warned("https://c.example", "http://d.example"), "");
    ck_assert_ptr_nonnull(
        strstr(warned("http://a.example", "https://a.example"),
               "from=http://a.example "
               "to=https://a.example "));
    ck_assert_str_eq(warned("http://a.example", "https://a.example"), "");
    credentials_free(c);

    make(&(struct credentials_options){.bound = bound, .bound_count = 1});
    add_seed("http://a.example/");
    ck_assert_str_eq(warned("http://a.example", "https://a.example"), "");
    credentials_free(c);

    make(&(struct credentials_options){.headers = headers, .header_count = 1});
    add_seed("http://a.example/");
    ck_assert_str_ne(warned("http://a.example", "https://a.example"), "");
    credentials_free(c);
}
