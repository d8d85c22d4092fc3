/* SPDX-License-Identifier: MIT */
/* test_scope.c - each mode, each rule, and which rule is named. */
#include "frontier/scope.h"
#include "tests/unit/unit.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct scope *scope_of(enum scope_mode mode)
{
    const struct scope_options o = {.mode = mode,
                                    .depth = -1,
                                    .max_url_length = 2048};
    struct scope *s = NULL;

    ck_ok(scope_new(&s, &o, NULL));
    return s;
}

static void parse(struct url *u, const char *text)
{
    url_init(u);
    ck_assert_int_eq(url_canonical(u, bytes_of_str(text), NULL, NULL), URL_OK);
}

static void seed(struct scope *s, const char *text)
{
    struct url u;

    parse(&u, text);
    scope_add_seed(s, &u);
    url_fini(&u);
}

static struct scope_verdict ask(struct scope *s, const char *text,
                                uint32_t depth)
{
    struct scope_verdict v;
    struct url u;

    parse(&u, text);
    v = scope_check(s, &u, depth);
    url_fini(&u);
    ck_assert_ptr_nonnull(v.rule);
    ck_assert_int_eq(v.in, v.reason == REASON_NONE);
    return v;
}

static void is_in(struct scope *s, const char *text)
{
    struct scope_verdict v = ask(s, text, 1);

    ck_assert_msg(v.in, "%s is out by %s", text, v.rule);
}

static void is_out(struct scope *s, const char *text)
{
    struct scope_verdict v = ask(s, text, 1);

    ck_assert_msg(!v.in, "%s is in by %s", text, v.rule);
    ck_assert_int_eq(v.reason, REASON_SCOPE);
}

/* ---- modes ---- */

TEST(http_and_https_on_their_own_ports_are_one_place)
{
    struct scope *s = scope_of(SCOPE_HOST);

    seed(s, "http://a.example/");
    is_in(s, "https://a.example/");
    is_in(s, "https://a.example:443/");
    is_out(s, "http://a.example:443/");
    is_out(s, "https://a.example:80/");
    seed(s, "https://b.example/");
    is_in(s, "http://b.example:80/");
    is_out(s, "http://b.example:8080/");
    scope_free(s);
}

#define LISTING  3 /* kinds, as any could be */
#define EMBEDDED 5

static struct scope_verdict ask_kind(struct scope *s, const char *text,
                                     uint32_t depth, unsigned kind)
{
    struct scope_verdict v;
    struct url u;

    parse(&u, text);
    v = scope_check_kind(s, &u, depth, kind);
    url_fini(&u);
    return v;
}

static struct scope_verdict ask_listing(struct scope *s, const char *text,
                                        uint32_t depth)
{
    return ask_kind(s, text, depth, LISTING);
}

/* Promise (Links): a crawl finds sitemaps, reads them in bounded memory, and
 * believes them about their own hosts only. See also `tests/cli/sitemaps.sh`,
 * `sitemap_stream`, `sitemap_trust`, `sitemap_hint`, `make sim`. */
TEST(a_list_of_urls_may_stand_anywhere_but_where_it_is_excluded)
{
    const char *include = "/articles/", *exclude = "secret";
    struct scope_options o = {.mode = SCOPE_PREFIX,
                              .depth = 1,
                              .max_url_length = 60,
                              .include = &include,
                              .include_count = 1,
                              .exclude = &exclude,
                              .exclude_count = 1,
                              .listings = 1U << LISTING};
    struct scope *s = NULL;

    ck_ok(scope_new(&s, &o, NULL));
    seed(s, "http://a.example/articles/");
    ck_assert(ask_listing(s, "http://cdn.example/s.xml", 1).in);
    ck_assert_int_eq(ask_listing(s, "http://a.example/s.xml", 2).reason,
                     REASON_DEPTH);
    ck_assert_int_eq(ask_listing(s, "http://a.example/secret.xml", 1).reason,
                     REASON_EXCLUDE);
    ck_assert_int_eq(ask_listing(s,
                                 "http://a.example/articles/articles/articles/"
                                 "articles/articles/s.xml",
                                 1)
                         .reason,
                     REASON_URL_LENGTH);
    scope_free(s);
    s = scope_of(SCOPE_SEED);
    ck_assert_int_eq(ask_listing(s, "http://a.example/s.xml", 1).reason,
                     REASON_SCOPE);
    scope_free(s);
}

static bool has_host(struct scope *s, const char *text)
{
    struct url u;
    bool has;

    parse(&u, text);
    has = scope_has_host(s, &u);
    url_fini(&u);
    return has;
}

#define CHECKED 7

static bool only_checked(struct scope *s, const char *text, uint32_t depth,
                         unsigned kind)
{
    struct url u;
    bool yes;

    parse(&u, text);
    yes = scope_checks(s, &u, depth, kind);
    url_fini(&u);
    return yes;
}

/* Promise (Links): with --check-external a crawl checks targets of links out of
 * scope in the same way, each once, one hop, at any depth, also from a resume
 * on; a host that does not respond is a result, and holds up no page; these
 * URLs are not in pages and archives; one that comes into scope later is
 * fetched. See also `tests/cli/check-external.sh`, `tests/cli/guides.sh`. */
TEST(what_is_outside_is_checked_at_any_depth_but_where_it_is_excluded)
{
    const char *include = "/articles/", *exclude = "secret";
    struct scope_options o = {.mode = SCOPE_HOST,
                              .depth = 1,
                              .max_url_length = 30,
                              .include = &include,
                              .include_count = 1,
                              .exclude = &exclude,
                              .exclude_count = 1,
                              .checked = 1U << CHECKED};
    struct scope *s = NULL;

    ck_ok(scope_new(&s, &o, NULL));
    seed(s, "http://a.example/articles/");
    ck_assert(scope_has_checks(s));
    ck_assert(ask_kind(s, "http://b.example/", 9, CHECKED).in);
    ck_assert(only_checked(s, "http://b.example/", 9, CHECKED));
    ck_assert(!only_checked(s, "http://b.example/", 0, CHECKED)); /* a seed */
    ck_assert_int_eq(ask_kind(s, "http://b.example/", 1, 0).reason,
                     REASON_SCOPE);
    ck_assert(!only_checked(s, "http://b.example/", 1, 0));
    ck_assert_int_eq(ask_kind(s, "http://b.example/secret", 1, CHECKED).reason,
                     REASON_EXCLUDE);
    ck_assert_int_eq(
        ask_kind(s, "http://b.example/12345678901234", 1, CHECKED).reason,
        REASON_URL_LENGTH);
    /* What is in is judged as ever. */
    ck_assert(ask_kind(s, "http://a.example/articles/1", 1, CHECKED).in);
    ck_assert(!only_checked(s, "http://a.example/articles/1", 1, CHECKED));
    ck_assert_int_eq(ask_kind(s, "http://a.example/", 1, CHECKED).reason,
                     REASON_INCLUDE);
    ck_assert_int_eq(
        ask_kind(s, "http://a.example/articles/", 2, CHECKED).reason,
        REASON_DEPTH);
    scope_free(s);
    s = scope_of(SCOPE_ANY);
    ck_assert(!scope_has_checks(s));
    ck_assert(!only_checked(s, "http://b.example/", 1, CHECKED));
    scope_free(s);
}

TEST(a_host_is_in_scope_when_some_of_its_urls_are)
{
    struct scope *s = scope_of(SCOPE_PREFIX);

    seed(s, "http://a.example/docs/");
    ck_assert(has_host(s, "https://a.example/robots.txt"));
    ck_assert(!has_host(s, "http://a.example:81/"));
    ck_assert(!has_host(s, "http://b.example/docs/"));
    scope_free(s);
    s = scope_of(SCOPE_ANY);
    ck_assert(has_host(s, "http://b.example/"));
    scope_free(s);
    s = scope_of(SCOPE_SEED);
    seed(s, "http://a.example/");
    ck_assert(!has_host(s, "http://a.example/"));
    scope_free(s);
}

TEST(scope_domain_is_the_registrable_domain)
{
    struct scope *s = scope_of(SCOPE_DOMAIN);

    seed(s, "http://www.example.co.uk/");
    is_in(s, "https://cdn.example.co.uk:8443/x");
    is_in(s, "http://example.co.uk/");
    is_out(s, "http://other.co.uk/");
    is_out(s, "http://co.uk/");
    scope_free(s);
}

TEST(scope_prefix_is_the_directory_of_the_seed)
{
    struct scope *s = scope_of(SCOPE_PREFIX);

    seed(s, "http://a.example/docs/v1/index.html?q=/x/");
    seed(s, "http://b.example/docs/");
    seed(s, "http://c.example/");
    is_in(s, "http://a.example/docs/v1/");
    is_in(s, "https://a.example/docs/v1/deep/er?x");
    is_out(s, "http://a.example/docs/v1"); /* a file in another directory */
    is_out(s, "http://a.example/docs/v10/");
    is_out(s, "http://a.example/docs/");
    is_out(s, "http://a.example/?/docs/v1/");
    is_in(s, "http://b.example/docs/x");
    is_out(s, "http://b.example/docs");
    is_in(s, "http://c.example/anything");
    is_out(s, "http://d.example/docs/v1/");
    seed(s, "http://a.example/blog/");
    is_in(s, "http://a.example/blog/1");
    is_in(s, "http://a.example/docs/v1/1");
    scope_free(s);
}

/* ---- limits and expressions ---- */

TEST(an_expression_that_does_not_compile_is_named_with_its_place)
{
    static const char *const bad[] = {"fine", "a(b"};
    const struct scope_options o = {.mode = SCOPE_ANY,
                                    .depth = -1,
                                    .max_url_length = 2048,
                                    .exclude = bad,
                                    .exclude_count = 2};
    struct scope *s = NULL;
    struct buf error;

    buf_init(&error, 1024);
    ck_assert_int_eq(scope_new(&s, &o, &error), STATUS_FORMAT);
    ck_assert_ptr_null(s);
    ck_assert_ptr_nonnull(strstr(buf_str(&error), "--exclude 'a(b'"));
    ck_assert_ptr_nonnull(strstr(buf_str(&error), "character 4"));
    buf_fini(&error);
}

/* Thirty a's would take 2^30 steps; the bound stops the match at once, and an
 * undecided match counts as no match. */
TEST(ours_an_expression_that_explodes_is_cut_short_and_does_not_match)
{
    static const char *const slow[] = {"(a+)+[b-z]!"};
    const struct scope_options o = {.mode = SCOPE_ANY,
                                    .depth = -1,
                                    .max_url_length = 2048,
                                    .exclude = slow,
                                    .exclude_count = 1};
    struct scope *s = NULL;

    ck_ok(scope_new(&s, &o, NULL));
    ck_assert(
        ask(s, "http://x.example/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", 1)
            .in);
    ck_assert(!ask(s, "http://x.example/aab!", 1).in);
    scope_free(s);
}

/* ---- changed settings ---- */

static struct scope *scope_excluding(enum scope_mode mode, const char *re)
{
    const struct scope_options o = {.mode = mode,
                                    .depth = -1,
                                    .max_url_length = 2048,
                                    .exclude = &re,
                                    .exclude_count = 1};
    struct scope *s = NULL;

    ck_ok(scope_new(&s, &o, NULL));
    return s;
}

static void *ask_for_ever(void *arg)
{
    struct scope *s = arg;

    for (int i = 0; i < 20000; i++)
        is_in(s, "http://www.a.example/");
    return NULL;
}

TEST(terms_change_while_others_ask)
{
    struct scope *s = scope_of(SCOPE_HOST);
    pthread_t asker;

    seed(s, "http://www.a.example/");
    ck_assert_int_eq(pthread_create(&asker, NULL, ask_for_ever, s), 0);
    for (int i = 0; i < 300; i++) {
        struct scope *next =
            scope_excluding(i % 2 == 0 ? SCOPE_DOMAIN : SCOPE_HOST, "/nothing");

        seed(next, "http://www.a.example/");
        scope_become(s, next);
    }
    pthread_join(asker, NULL);
    scope_free(s);
}
