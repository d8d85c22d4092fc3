/* SPDX-License-Identifier: MIT */
/* test_url_form.c - the form of URLs, with rules that rewrite them. */
#include <stdio.h>
#include <string.h>

#include "frontier/url/url_form.h"
#include "tests/unit/storage/scratch.h"
#include "tests/unit/unit.h"

static struct url_form *form_of(const struct url_form_options *o)
{
    struct url_form *f = NULL;
    struct buf why;

    buf_init(&why, 4096);
    ck_assert_msg(url_form_new(&f, o, &why) == STATUS_OK, "%s", buf_str(&why));
    buf_fini(&why);
    return f;
}

static struct url_form *rules(const char *text)
{
    const struct url_form_options o = {.rewrite = bytes_of_str(text)};

    return form_of(&o);
}

/* Checks the form of `in`, and that it is a canonical URL and its own form. */
static void gives(const struct url_form *f, const char *in, const char *want)
{
    struct url u, again;

    url_init(&u);
    url_init(&again);
    ck_assert_int_eq(url_canonical(&u, bytes_of_str(in), NULL, NULL), URL_OK);
    url_form_apply(f, &u);
    if (want != NULL)
        ck_assert_str_eq(buf_str(&u.text), want);
    ck_assert_int_eq(url_canonical(&again, url_text(&u), NULL, NULL), URL_OK);
    ck_assert_str_eq(buf_str(&again.text), buf_str(&u.text));
    ck_assert_uint_eq(again.query_at, u.query_at);
    url_form_apply(f, &again);
    ck_assert_str_eq(buf_str(&again.text), buf_str(&u.text));
    url_fini(&u);
    url_fini(&again);
}

static void becomes(const char *text, const char *in, const char *want)
{
    struct url_form *f = rules(text);

    gives(f, in, want);
    url_form_free(f);
}

static void is_refused(const char *text, const char *says)
{
    const struct url_form_options o = {.rewrite = bytes_of_str(text)};
    struct url_form *f = NULL;
    struct buf why;

    buf_init(&why, 4096);
    ck_assert_msg(url_form_new(&f, &o, &why) != STATUS_OK, "%s", text);
    ck_assert_msg(strstr(buf_str(&why), says) != NULL, "%s", buf_str(&why));
    ck_assert_ptr_null(f);
    buf_fini(&why);
}

TIMEOUT(600);

TEST(ours_nothing_is_on_by_default)
{
    const struct url_form_options none = {.sort = false};
    struct url_form *f = form_of(&none);

    gives(NULL, "http://h/a;jsessionid=1?utm_source=x&b=&a",
          "http://h/a;jsessionid=1?utm_source=x&b=&a");
    gives(f, "http://h/a;jsessionid=1?utm_source=x&b=&a",
          "http://h/a;jsessionid=1?utm_source=x&b=&a");
    url_form_free(f);
}

TEST(parameters_go_before_they_are_sorted)
{
    static const char *const names[] = {"sid"};
    const struct url_form_options o = {
        .drop = {.names = names, .count = 1, .tracking = true, .empty = true},
        .sort = true};
    struct url_form *f = form_of(&o);

    gives(f, "http://h/p?z=1&sid=2&a=&gclid=3&b=4", "http://h/p?b=4&z=1");
    gives(f, "http://h/p?sid=2", "http://h/p");
    url_form_free(f);
}

/* What each option does to a URL; the rest of it stays as it is. */
static const char *const sid_and_utm[] = {"sid", "utm_*"};
static const struct {
    struct url_form_options o;
    const char *in, *want;
} options[] = {
#define DROP .o.drop = {.names = sid_and_utm, .count = 2}
    {DROP, .in = "http://h/p?b=2&sid=77&a=1", .want = "http://h/p?b=2&a=1"},
    {DROP, .in = "http://h/p?b=2&sid", .want = "http://h/p?b=2"},
    {DROP, .in = "http://h/p?utm_source=x&utm_=&utm=1&q=a=b",
     .want = "http://h/p?utm=1&q=a=b"},
    {DROP, .in = "http://h/p?sid&utm_a=1&sid=2", .want = "http://h/p"},
    {DROP, .in = "http://h/sid?SID=1&asid=2&sidx=3",
     .want = "http://h/sid?SID=1&asid=2&sidx=3"},
    {DROP, .in = "http://h/p?&&b=2&sid=3&", .want = "http://h/p?&&b=2&"},
#define EMPTY .o.drop.empty = true
    {EMPTY,
     .in = "http://h/p?a=&print&b=1&&c=", .want = "http://h/p?print&b=1"},
    {EMPTY, .in = "http://h/p?&", .want = "http://h/p"},
    {EMPTY, .in = "http://h/p?==", .want = "http://h/p?=="},
/* https://url.spec.whatwg.org/#dom-urlsearchparams-sort */
#define SORT .o.sort = true
    {SORT, .in = "http://h/p?a=2&a=1&A", .want = "http://h/p?A&a=2&a=1"},
    {SORT, .in = "http://h/p?ab=1&a=2&&a", .want = "http://h/p?&a=2&a&ab=1"},
    {SORT, .in = "http://h/p?b&", .want = "http://h/p?&b"},
#define TRACKING .o.drop.tracking = true
    /* Each name of the list, a star as any end, case ignored. */
    {TRACKING,
     .in = "http://h/p?"
           "_BRANCH_MATCH_ID&_ga&_gl&_hsenc&_hsmi&_OPENSTAT&"
           "aspsessionidx1&cftoken&dclid&fb_action_ids&FB_ACTION_TYPES&"
           "fbclid&gad_source&gbraid&gclid&GCLSRC&hsa_x1&hsctatracking&"
           "igsh&igshid&JSESSIONID&li_fat_id&mc_cid&mc_eid&mkt_tok&"
           "ML_SUBSCRIBER&ml_subscriber_hash&msclkid&mtm_x1&oly_anon_id&"
           "OLY_ENC_ID&phpsessid&piwik_x1&pk_campaign&pk_kwd&PK_MEDIUM&"
           "pk_source&rb_clickid&srsltid&ttclid&TWCLID&utm_x1&vero_conv&"
           "vero_id&wbraid&WICKEDID&yclid&ysclid",
     .want = "http://h/p"},
    {TRACKING,
     .in = "http://h/p?id&sid&ref&source&utm&gcl&gclid2&page&q&session&"
           "token&cid&campaign",
     .want =
         "http://h/p?id&sid&ref&source&utm&gcl&gclid2&page&q&session&token&cid&"
         "campaign"},
    {TRACKING, .in = "http://h/a;jsessionid=1F/b", .want = "http://h/a/b"},
    {TRACKING, .in = "http://h/a;v=1;JSESSIONID=2;w=3",
     .want = "http://h/a;v=1;w=3"},
    {TRACKING, .in = "http://h/;jsessionid=;jsessionid=2", .want = "http://h/"},
    {TRACKING, .in = "http://h/a;xjsessionid=1;jsessionid",
     .want = "http://h/a;xjsessionid=1;jsessionid"},
};

TEST_EACH(an_option_changes_what_it_names_alone, options)
{
    struct url_form *f = form_of(&options[_i].o);

    gives(f, options[_i].in, options[_i].want);
    url_form_free(f);
}

TEST(a_query_of_too_many_parameters_is_not_sorted)
{
    const struct url_form_options o = {.sort = true};
    struct url_form *f = form_of(&o);

    for (int n = URL_PARAMS_SORTED; n <= URL_PARAMS_SORTED + 1; n++) {
        struct url u;
        struct buf url;

        buf_init(&url, 100000);
        buf_add_str(&url, "http://h/?z=1");
        for (int i = 1; i < n; i++)
            buf_add_str(&url, "&a");
        url_init(&u);
        ck_assert_int_eq(url_canonical(&u, buf_bytes(&url), NULL, NULL),
                         URL_OK);
        url_form_apply(f, &u);
        ck_assert_int_eq(bytes_ends_with(url_text(&u), "&z=1"),
                         n == URL_PARAMS_SORTED);
        ck_assert_uint_eq(url_text(&u).len, url.len);
        url_fini(&u);
        buf_fini(&url);
    }
    url_form_free(f);
}

TEST(dot_segments_that_a_session_hid_are_removed)
{
    const struct url_form_options o = {.drop = {.tracking = true}};
    struct url_form *f = form_of(&o);

    gives(f, "http://h/a/..;jsessionid=1/b?q=1", "http://h/b?q=1");
    gives(f, "http://h/a/%2e;jsessionid=1", "http://h/a/");
    url_form_free(f);
}

TEST(rules_apply_in_order_and_to_every_match)
{
    becomes("^http://www\\. http://\n", "http://www.h.example/",
            "http://h.example/");
    becomes("# a comment\n\n  /a/  /b/ \r\n/b/ /c/", "http://h/a/x/a/",
            "http://h/c/x/c/");
    becomes("[?&]page=1$", "http://h/list?page=1", "http://h/list");
    becomes("^(http://[^/]+)(.*)$ $1\\L$2", "http://h/A/B", "http://h/a/b");
    becomes("/(?<y>\\d{4})-(\\d\\d)/ /${y}/$2/", "http://h/2024-05/x",
            "http://h/2024/05/x");
    becomes("^http: https:", "http://h:8080/", "https://h:8080/");
}

TEST(rules_apply_to_their_own_result_until_nothing_changes)
{
    becomes("/session/[^/]+/ /", "http://h/session/1/session/2/session/3/x",
            "http://h/x");
    becomes("/x /../", "http://h/a/x/b", NULL); /* read again as a URL */
}

TEST(what_rules_give_gets_the_other_rules_too)
{
    static const char *const names[] = {"sid"};
    const struct url_form_options o = {
        .drop = {.names = names, .count = 1},
        .sort = true,
        .rewrite = bytes_of_str("/view/(\\d+) /view?id=$1&sid=0&a=1")};
    struct url_form *f = form_of(&o);

    gives(f, "http://h/view/7", "http://h/view?a=1&id=7");
    url_form_free(f);
}

TEST(a_url_that_is_none_after_a_rule_keeps_its_form)
{
    becomes("^http://old\\.example/.*", "http://old.example/x",
            "http://old.example/x");
    becomes("^http: ftp:", "http://h/", "http://h/");
}

TEST(rules_that_do_not_come_to_rest_are_refused_with_their_line)
{
    is_refused("/a /a/a", "1: on http://h.example//a ");
    is_refused("\n# x\n([0-9])$ ${1}0", "3: on ");
    is_refused("^(http://[^/]+)/(.*)$ $1/new/$2", "1: on ");
    is_refused("(?:p|q)[0-9]+ n${0}", "do not come to rest");
    is_refused("/b/ /a/x/\n/a/ /b/y/", "do not come to rest");
}

/* A rule that no sample finds: its URLs keep their form. */
TEST(a_url_on_which_rules_never_rest_keeps_its_form)
{
    struct url_form *f = rules("(?<=/n)([a-f]{2})(?=/zz) $1$1");

    gives(f, "http://h/nab/zz", NULL);
    gives(f, "http://h/other", "http://h/other");
    url_form_free(f);
}

/* The URLs on which rules are tried before they are taken: a rule has to match
 * what is made from it. */
TEST(a_rule_matches_the_sample_that_is_made_from_it)
{
    static const struct {
        const char *rule, *sample;
    } all[] = {
        {"/a[bc]d", "http://h.example//abd"},
        {"/[^/]+/\\d{2,}/x", "http://h.example//x/1/x"},
        {"/[\\]a]/e", "http://h.example//x/e"},
        {"/[]a]/e", "http://h.example//x/e"},
        {"/(?:one|two)/(?<n>p|q(r|s)t)/u", "http://h.example//one/p/u"},
        {"a(?i)b\\.c\\w\\S.$", "http://h.example/ab.cxxx"},
        {"(x\\)|y)z", "http://h.example/x)z"},
        {"^http://old/.*", "http://old/x"},
        {"^//cdn/", "http://cdn/"},
    };

    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct url_rewrite *w = NULL;
        struct buf why, sample;

        buf_init(&why, 4096);
        buf_init(&sample, 4096);
        ck_ok(url_rewrite_new(&w, bytes_of_str(all[i].rule), &why));
        ck_assert(url_rewrite_sample(w, 0, 0, &sample));
        ck_assert_str_eq(buf_str(&sample), all[i].sample);
        url_rewrite_free(w);
        buf_fini(&sample);
        buf_fini(&why);
    }
}

/* Without the compiler of PCRE2, which has bounds of its own. */
TEST(a_rule_that_takes_too_much_memory_does_not_match)
{
    struct url_form *f = rules("(*NO_JIT)^http://h/(?:(a)|(b)|(c)|(d)|(e)|(f)|"
                               "(g)|(i)|(j)|(k)|(l)|(m)|(n)|(o)|(p)|(q)|(r)|"
                               "(s)|(t)|(u)|(v)|(w)|(x)|(y)|(z))*$ http://i/");
    char url[8000];

    gives(f, "http://h/aza", "http://i/");
    memset(url, 'z', sizeof url);
    memcpy(url, "http://h/", 9);
    url[sizeof url - 1] = '\0';
    gives(f, url, url);
    url_form_free(f);
}

TEST(what_cannot_be_read_is_refused_with_its_line)
{
    is_refused("(a", "1: missing");
    is_refused("x\ny z w", "2: a rule is");
    is_refused("a $2", "1: '$2' is no replacement");
    is_refused("a ${b", "1: '${b' is no replacement");
    is_refused("^http://h/(?:a)(b)? $9", "is no replacement");
}

TEST(rules_are_bounded)
{
    struct buf text;
    struct url_form_options o = {.sort = false};
    struct url_form *f = NULL;
    struct buf why;

    buf_init(&text, (size_t)1 << 20);
    buf_init(&why, 4096);
    for (int i = 0; i <= URL_REWRITE_RULES; i++)
        buf_addf(&text, "/a%d/ /b/\n", i);
    o.rewrite = buf_bytes(&text);
    ck_assert_int_eq(url_form_new(&f, &o, &why), STATUS_LIMIT);
    buf_clear(&text);
    for (size_t i = 0; i <= URL_REWRITE_CEILING; i++)
        buf_add_char(&text, '#');
    o.rewrite = buf_bytes(&text);
    ck_assert_int_eq(url_form_new(&f, &o, &why), STATUS_LIMIT);
    buf_fini(&why);
    buf_fini(&text);
}

TEST(a_url_longer_than_rules_take_stays_as_it_is)
{
    struct url_form *f = rules("/x/ /y/");
    struct buf text;
    struct url u;

    buf_init(&text, 4 * URL_REWRITE_LENGTH);
    url_init(&u);
    buf_add_str(&text, "http://h/x/");
    while (text.len <= URL_REWRITE_LENGTH)
        buf_add_char(&text, 'a');
    ck_assert_int_eq(url_canonical(&u, buf_bytes(&text), NULL, NULL), URL_OK);
    url_form_apply(f, &u);
    ck_assert(bytes_equal(url_text(&u), buf_bytes(&text)));
    buf_truncate(&text, URL_REWRITE_LENGTH);
    ck_assert_int_eq(url_canonical(&u, buf_bytes(&text), NULL, NULL), URL_OK);
    url_form_apply(f, &u);
    ck_assert(bytes_starts_with(url_text(&u), "http://h/y/"));
    url_fini(&u);
    buf_fini(&text);
    url_form_free(f);
}

/* Promise (Commands and options): canonicalising twice changes nothing,
 * whatever the rules. See also `make fuzz T=rewrite`. */
/* Random rules over a small alphabet, so that they meet their own results. */
TEST(the_form_of_a_form_is_that_form)
{
    static const char *const parts[] = {"/a",   "a",   "b/",         "/",
                                        "?a=1", "&b",  "(.)",        "\\.\\./",
                                        "[ab]", "/b$", "^http://h/", "a+",
                                        "..",   "%2e"};
    static const char *const with[] = {"",     "/",         "a",  "b",
                                       "/a/b", "$0",        "?",  "&b=2&a",
                                       "../",  "http://h/", "%2E"};
    static const char *const pieces[] = {"/a",      "b/", "/..;jsessionid=1/",
                                         "?b=1&a&", "a=", "%2e/"};
    uint64_t dice = 7;
    const uint64_t rounds = scratch_size(2000, 100000);
    unsigned kept = 0;

    for (uint64_t n = 0; n < rounds; n++) {
        struct url_form_options o = {.drop = {.tracking = n % 2 == 0,
                                              .empty = n % 3 == 0},
                                     .sort = n % 5 < 2};
        struct url_form *f = NULL;
        char text[256] = "", url[256] = "http://h/";
        struct buf why;

        for (uint64_t i = scratch_random(&dice) % 3; i < 3; i++) {
            for (uint64_t k = scratch_random(&dice) % 2; k < 2; k++)
                strcat(text, parts[scratch_random(&dice) %
                                   (sizeof parts / sizeof *parts)]);
            strcat(strcat(text, " "),
                   with[scratch_random(&dice) % (sizeof with / sizeof *with)]);
            strcat(text, "\n");
        }
        o.rewrite = bytes_of_str(text);
        buf_init(&why, 4096);
        if (url_form_new(&f, &o, &why) == STATUS_OK) {
            kept++;
            for (unsigned i = 0; i < 10; i++) {
                url[9] = '\0';
                for (uint64_t k = scratch_random(&dice) % 8; k < 8; k++)
                    strcat(url, pieces[scratch_random(&dice) %
                                       (sizeof pieces / sizeof *pieces)]);
                gives(f, url, NULL);
            }
        }
        url_form_free(f);
        buf_fini(&why);
    }
    ck_assert_uint_gt(kept, rounds / 10);
}

TEST(the_text_tells_forms_apart_and_holds_the_rules)
{
    static const char *const names[] = {"sid"};
    struct url_form_options o[] = {{.sort = false},
                                   {.sort = true},
                                   {.drop = {.tracking = true}},
                                   {.drop = {.empty = true}},
                                   {.drop = {.names = names, .count = 1}},
                                   {.rewrite = bytes_of_str("/a/ /b/\n")}};
    const size_t n = sizeof o / sizeof *o;
    struct url_form *f[6];

    for (size_t i = 0; i < n; i++) {
        f[i] = form_of(&o[i]);
        for (size_t k = 0; k < i; k++)
            ck_assert(!bytes_equal(url_form_text(f[i]), url_form_text(f[k])));
        ck_assert(bytes_equal(url_form_rules(url_form_text(f[i])),
                              bytes_of_str(i == 5 ? "/a/ /b/\n" : "")));
    }
    for (size_t i = 0; i < n; i++)
        url_form_free(f[i]);
}
