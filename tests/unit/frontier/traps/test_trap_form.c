/* SPDX-License-Identifier: MIT */
/* test_trap_form.c - which family a URL belongs to. */
#include "frontier/traps/trap_form.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

#define HOST "h.example"

/* `want` NULL: the rule has nothing to say. */
static void has_form(enum trap_rule r, const char *path, const char *want)
{
    char url[4096];
    struct trap_form f;

    strcpy(url, "http://" HOST);
    strcat(url, path);
    if (!trap_form(r, bytes_of_str(HOST), bytes_of_str(url), &f)) {
        ck_assert_msg(want == NULL, "no form of %s", path);
        return;
    }
    ck_assert_msg(want != NULL && bytes_is(bytes_of(f.at, f.len), want),
                  "%s is %.*s, not %s", path, (int)f.len, f.at,
                  want != NULL ? want : "-");
    ck_assert(bytes_is(f.owner, HOST));
}

TEST(numbers_are_words_that_hold_a_digit)
{
    has_form(TRAP_COUNTER, "/", NULL);
    has_form(TRAP_COUNTER, "/a/b?c=d", NULL);
    has_form(TRAP_COUNTER, "/cal?year=2024&month=6", "/cal?year=N&month=N");
    has_form(TRAP_COUNTER, "/cal?year=-1&month=12", "/cal?year=N&month=N");
    has_form(TRAP_COUNTER, "/a-2024-06-01.html", "/a-N-N-N.html");
    has_form(TRAP_COUNTER, "/s/c0ffee42/x", "/s/N/x");
    has_form(TRAP_COUNTER, "/v1/3rd/x", "/N/x");
    has_form(TRAP_COUNTER, "/%C3%A4b/7", "/%C3%A4b/N");
}

TEST(a_tree_of_numbers_is_one_family_at_any_depth)
{
    has_form(TRAP_COUNTER, "/1", "/N");
    has_form(TRAP_COUNTER, "/1/22/333/4444", "/N");
    has_form(TRAP_COUNTER, "/a/1-2/3-4/x", "/a/N-N/x");
    has_form(TRAP_COUNTER, "/a/b/a/1", "/a/b/a/N");
}

TEST(a_segment_repeats_when_it_stands_three_times)
{
    has_form(TRAP_REPEAT, "/files/a/files/b/", NULL);
    has_form(TRAP_REPEAT, "/x/files/a/files/b/files/", "/x/...");
    has_form(TRAP_REPEAT, "/a/a/a", "/a/...");
    has_form(TRAP_REPEAT, "/2011/11/11/11", NULL); /* a date */
    has_form(TRAP_REPEAT, "/a////b", NULL);
}

TEST(growth_is_of_segments_parameters_or_octets)
{
    char path[1024] = "/r";

    has_form(TRAP_GROWTH, "/r/2/3/4/5/6/7/8/9/10/11/12/13/14/15", NULL);
    has_form(TRAP_GROWTH, "/r/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16", "/r/...");
    has_form(TRAP_GROWTH, "/r?1&2&3&4&5&6&7&8&9&10&11&12&13&14&15", NULL);
    has_form(TRAP_GROWTH, "/r?1&2&3&4&5&6&7&8&9&10&11&12&13&14&15&16",
             "/r/...");
    memset(path + 2, 'x', 765);
    has_form(TRAP_GROWTH, path, NULL);
    path[2] = '/';
    path[767] = 'x';
    has_form(TRAP_GROWTH, path, "/r/...");
}

TEST(a_pattern_is_a_directory_or_a_script_with_its_parameters)
{
    has_form(TRAP_SAME_BODY, "/", "/*");
    has_form(TRAP_SAME_BODY, "/tag/red", "/tag/*");
    has_form(TRAP_SAME_BODY, "/item/7/blue", "/item/N/*");
    has_form(TRAP_SAME_BODY, "/show?a=1&b=2&c", "/show?a=*&b=*&c");
}

TEST(a_long_form_is_cut_and_still_one_form)
{
    char path[2048] = "/";
    struct trap_form f;
    char url[4096] = "http://" HOST;

    memset(path + 1, 'a', 1500);
    strcat(path, "/1");
    strcat(url, path);
    ck_assert(
        trap_form(TRAP_COUNTER, bytes_of_str(HOST), bytes_of_str(url), &f));
    ck_assert_uint_eq(f.len, TRAP_FORM_MOST);
}

static void are_spellings(enum trap_rule r, const char *a, const char *b,
                          bool same)
{
    ck_assert_msg((trap_spelling(r, bytes_of_str(a), false) ==
                   trap_spelling(r, bytes_of_str(b), false)) == same,
                  "%s and %s", a, b);
}

TEST(spellings_have_their_parts_in_common_in_any_order_and_number)
{
    static const struct {
        const char *a, *b;
        bool same;
    } all[] = {
        {"http://h/a?x=1&y=2", "http://h/a?y=2&x=1", true},
        {"http://h/a?x=1&y=2", "http://h/a?y=1&x=2", false},
        {"http://h/a?x=1&y=2", "http://h/b?x=1&y=2", false},
        {"http://h/a?x=1&y=2&x=1", "http://h/a?y=2&x=1", true},
        {"http://h/a?x=1,2", "http://h/a?x=2%2C1", true},
        {"http://h/a?x=1,2", "http://h/a?x=1&x=2", true},
        {"http://h/a?x=red+blue", "http://h/a?x=blue%20red,", true},
        {"http://h/a?x=1|2", "http://h/a?x=1|3", false},
        {"http://h/a?f[0]=a&f[1]=b", "http://h/a?f[0]=b&f[1]=a", true},
        {"http://h/a?f%5B0%5D=a&f%5B1%5D=b", "http://h/a?f%5B0%5D=b&f%5B1%5D=a",
         true},
        {"http://h/a?x1=a&x2=b", "http://h/a?x1=b&x2=a", false},
        {"http://h/a?x&y", "http://h/a?y&x&&", false}, /* an empty one too */
        {"http://h/a?x&y", "http://h/a?y&x", true},
        {"http://h/a/x/y", "http://h/a/y/x/", true},
        {"http://h/a/x/y", "http://h/a/y/x/y", true},
        {"http://h/a/x/y", "http://h/b/y/x", false},
        {"http://h/a/x/y", "http://h/a/x/y?z&x", false},
    };

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        are_spellings(TRAP_ORDER, all[i].a, all[i].b, all[i].same);
    are_spellings(TRAP_SESSION, "http://h/a?x=1&sid=2", "http://h/a?sid=9&x=1",
                  true);
    are_spellings(TRAP_SESSION, "http://h/a?x=1&sid=2", "http://h/b?x=1&sid=2",
                  false);
}

TEST(a_space_of_combinations_has_two_parts_or_more)
{
    has_form(TRAP_ORDER, "/a?x=1", NULL);
    has_form(TRAP_ORDER, "/a/7?y=1&x=2", "/a/N?...");
    has_form(TRAP_ORDER, "/a?x=1&x=1", "/a?...");
    has_form(TRAP_COMBINATION, "/a?x=red,blue", "/a?...");
    has_form(TRAP_COMBINATION, "/a?x=red,", NULL);
    has_form(TRAP_COMBINATION, "/a", NULL);
    has_form(TRAP_COMBINATION, "/a/x", NULL);
    has_form(TRAP_COMBINATION, "/a/x/", NULL);
    has_form(TRAP_COMBINATION, "/a/x/y", "/a/...");
    has_form(TRAP_SESSION, "/a?x=1", NULL);
    has_form(TRAP_SESSION, "/a?x=1&sid=77", "/a?x");
    has_form(TRAP_SESSION, "/a?PHPSESSID=abc", "/a");
}

TEST(a_path_is_continued_by_a_segment_or_two)
{
    static const struct {
        const char *url, *below;
        bool does;
    } all[] = {
        {"http://h/a", "http://h/a/b", true},
        {"http://h/a/", "http://h/a/b/", true},
        {"http://h/a/", "http://h/a/b/c/", true},
        {"http://h/a/", "http://h/a/b/c/d", false},
        {"http://h/a", "http://h/a/", false},
        {"http://h/a", "http://h/a", false},
        {"http://h/a", "http://h/ab/c", false},
        {"http://h/a", "http://h/b/c", false},
        {"http://h/a", "http://h/a/b?c", false},
        {"http://h/a?b", "http://h/a?b/c", false},
        {"http://h/", "http://h/a", true},
    };

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        ck_assert_msg(trap_continues(bytes_of_str(all[i].url),
                                     bytes_of_str(all[i].below)) == all[i].does,
                      "%s %s", all[i].url, all[i].below);
}

TEST(a_query_of_too_many_parts_has_none)
{
    char url[1024] = "http://h/a?x=0";
    uint64_t parts[TRAP_PARTS_MOST];

    ck_assert_uint_eq(trap_parts(bytes_of_str("http://h/a"), false, parts), 0);
    for (unsigned i = 1; i < TRAP_PARTS_MOST; i++)
        snprintf(url + strlen(url), 8, ",%u", i);
    ck_assert_uint_eq(trap_parts(bytes_of_str(url), false, parts),
                      TRAP_PARTS_MOST);
    for (unsigned i = 1; i < TRAP_PARTS_MOST; i++)
        ck_assert_uint_lt(parts[i - 1], parts[i]);
    strcat(url, ",99");
    ck_assert_uint_eq(trap_parts(bytes_of_str(url), false, parts), 0);
}

TEST(hosts_of_a_domain_are_one_family_but_for_www_and_itself)
{
    static const struct {
        const char *host, *owner;
    } hosts[] = {{"a.farm.example", "farm.example"},
                 {"a.b.farm.example", "farm.example"},
                 {"www.farm.example", NULL},
                 {"farm.example", NULL},
                 {"127.0.0.1", NULL}};

    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++) {
        struct trap_form f;
        bool has = trap_form(TRAP_SUBDOMAIN, bytes_of_str(hosts[i].host),
                             bytes_of_str("http://x/"), &f);

        ck_assert(has == (hosts[i].owner != NULL));
        ck_assert(!has || bytes_is(f.owner, hosts[i].owner));
    }
}

TEST(rules_have_names_and_thresholds)
{
    for (unsigned r = 0; r < TRAP_RULES_; r++) {
        enum trap_rule found;

        ck_assert(
            trap_rule_find(bytes_of_str(trap_rule_name((enum trap_rule)r)),
                           &found));
        ck_assert_uint_eq(found, r);
        ck_assert_uint_gt(trap_rule_default((enum trap_rule)r), 0);
    }
}
