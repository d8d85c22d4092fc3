/* SPDX-License-Identifier: MIT */
/* test_trap_table.c - what makes a family a trap, and what clears it. */
#include "frontier/traps/trap_table.h"

#include <stdio.h>

#include "tests/unit/storage/scratch.h"
#include "tests/unit/unit.h"

#define HOST "h.example"

struct rig {
    struct scratch dir;
    struct db *db;
    struct trap_table *t;
    struct trap_options o;
    unsigned found; /* traps, as they were told */
    enum trap_rule rule;
    uint64_t next;  /* a body that no page had */
    uint32_t piece; /* of the text of each page; 0: none */
    bool own_out;   /* texts are without the page's own words */
};

static void found(void *ctx, const struct trap_view *v)
{
    struct rig *g = ctx;

    g->found++;
    g->rule = v->rule;
    ck_assert(v->form.len > 0);
}

static void open_table(struct rig *g)
{
    g->db = scratch_open(g->dir.db, g->db == NULL ? DB_CREATE : DB_WRITE);
    ck_ok(trap_table_open(&g->t, g->db, &g->o));
}

static void setup(struct rig *g)
{
    *g = (struct rig){.dir = scratch_make(),
                      .o = {.memory = 1 << 20, .found = found, .ctx = g},
                      .own_out = true};
    for (unsigned r = 0; r < TRAP_RULES_; r++)
        g->o.threshold[r] = 10;
    open_table(g);
}

static void close_table(struct rig *g)
{
    trap_table_close(g->t);
    db_close(g->db);
}

static void teardown(struct rig *g)
{
    close_table(g);
    scratch_remove(&g->dir);
}

static void flush(struct rig *g)
{
    ck_ok(db_begin(g->db));
    ck_ok(trap_table_flush(g->t));
    ck_ok(db_commit(g->db));
}

static struct bytes url_of(char *out, size_t size, const char *host,
                           const char *path)
{
    snprintf(out, size, "http://%s%s", host, path);
    return bytes_of_str(out);
}

/* The page `path` of `host` leads to `to`, which is new, unless that is NULL.
 * text 0: a new one. body 0: the same. */
static void page_on(struct rig *g, const char *host, const char *path,
                    const char *to, uint64_t text, uint64_t body)
{
    struct trap_text said = {.tag = text << 32, .without_own = g->own_out};
    char from_url[256], to_url[256];
    struct trap_link link = {bytes_of_str(host), {0}};
    struct trap_page p = {.host = bytes_of_str(host),
                          .url = url_of(from_url, sizeof from_url, host, path),
                          .text = &said,
                          .known_body = body != 0};

    g->next++;
    p.body = (struct digest){body != 0 ? body : g->next << 32, 1};
    if (text == 0)
        said.tag = (g->next + 1000000) << 32;
    if (to != NULL) {
        link.url = url_of(to_url, sizeof to_url, host, to);
        p.fresh = &link;
        p.fresh_count = 1;
    }
    if (g->piece != 0)
        said.piece[said.pieces++] = g->piece;
    trap_table_page(g->t, &p);
}

static void page(struct rig *g, const char *path, const char *to, uint64_t text)
{
    page_on(g, HOST, path, to, text, 0);
}

/* n pages of a calendar, each with this text, or a new one (0). */
static void months(struct rig *g, unsigned n, uint64_t text)
{
    for (unsigned i = 0; i < n; i++)
        page(g, "/cal?m=1", "/cal?m=2", text);
}

static bool is_trap(struct rig *g, const char *path)
{
    char url[256];
    struct trap_view v;

    return trap_table_has(g->t, bytes_of_str(HOST),
                          url_of(url, sizeof url, HOST, path), &v);
}

TEST(pages_that_lead_to_more_of_the_same_with_known_texts_make_a_trap)
{
    struct rig g;

    setup(&g);
    months(&g, 10, 1); /* the first one's text is new */
    ck_assert_uint_eq(g.found, 0);
    ck_assert(!trap_table_any(g.t));
    months(&g, 1, 1);
    ck_assert_uint_eq(g.found, 1);
    ck_assert_uint_eq(g.rule, TRAP_COUNTER);
    ck_assert(is_trap(&g, "/cal?m=77"));
    ck_assert(!is_trap(&g, "/cal"));
    ck_assert(!is_trap(&g, "/cal?n=77"));
    months(&g, 5, 1);
    ck_assert_uint_eq(g.found, 1); /* told once */
    teardown(&g);
}

TEST(a_page_that_leads_elsewhere_clears_the_family)
{
    struct rig g;

    setup(&g);
    for (unsigned i = 0; i < 20; i++) {
        months(&g, 9, 1);
        page(&g, "/cal?m=1", "/event/red", 1);
    }
    ck_assert_uint_eq(g.found, 0);
    ck_assert(!trap_table_any(g.t));
    teardown(&g);
}

TEST(a_leaf_with_a_new_text_clears_it_and_one_with_a_known_text_does_not)
{
    struct rig g;

    setup(&g);
    months(&g, 9, 1);
    page(&g, "/cal?m=1", NULL, 0);
    months(&g, 9, 1);
    ck_assert_uint_eq(g.found, 0);
    page(&g, "/cal?m=1", NULL, 1);
    months(&g, 2, 1);
    ck_assert_uint_eq(g.found, 1);
    teardown(&g);
}

TEST(pages_with_new_texts_count_a_thirty_second)
{
    struct rig g;

    setup(&g);
    months(&g, 319, 0);
    ck_assert_uint_eq(g.found, 0);
    months(&g, 1, 0);
    ck_assert_uint_eq(g.found, 1);
    teardown(&g);
}

TEST(leaves_alone_are_never_a_trap_unless_their_body_is_one)
{
    struct rig g;

    setup(&g);
    for (unsigned i = 0; i < 1000; i++)
        page(&g, "/thread/1", NULL, 1); /* numbers differ, bodies do */
    ck_assert_uint_eq(g.found, 0);
    for (unsigned i = 0; i < 10; i++)
        page_on(&g, HOST, "/thread/1", NULL, 1, 5);
    ck_assert_uint_eq(g.found, 1);
    ck_assert_uint_eq(g.rule, TRAP_SAME_BODY);
    ck_assert(is_trap(&g, "/thread/9"));
    teardown(&g);
}

TEST(one_body_in_directory_below_directory_is_a_spiral)
{
    struct rig g;
    struct trap_view v;
    char path[256] = "/a/";

    setup(&g);
    for (unsigned i = 0; i < 20; i++) { /* side by side: an archive */
        char month[64];

        snprintf(month, sizeof month, "/%c/x", 'a' + (char)i);
        page_on(&g, HOST, month, "/elsewhere", 1, 5);
    }
    page_on(&g, HOST, "/a/", "/elsewhere", 1, 6);
    ck_assert_uint_eq(g.found, 0);
    for (unsigned i = 0; i < 10; i++) {
        snprintf(path + strlen(path), 8, "%c/", 'b' + (char)i);
        page_on(&g, HOST, path, "/elsewhere", 1, 6);
    }
    ck_assert_uint_eq(g.found, 1);
    ck_assert_uint_eq(g.rule, TRAP_SPIRAL);
    ck_assert(trap_table_has_spiral(g.t, bytes_of_str(HOST), &v));
    ck_assert(!trap_table_has_spiral(g.t, bytes_of_str("other.example"), &v));
    ck_assert(trap_table_has_body(g.t, bytes_of_str(HOST),
                                  (struct digest){6, 1}, &v));
    ck_assert(!trap_table_has_body(g.t, bytes_of_str(HOST),
                                   (struct digest){5, 1}, &v));
    ck_assert(!trap_table_has_body(g.t, bytes_of_str("other.example"),
                                   (struct digest){6, 1}, &v));
    teardown(&g);
}

/* Their bodies may differ in the addresses of what they lead to. */
TEST(a_body_that_leads_to_new_urls_is_no_sign_of_one_body)
{
    struct rig g;

    setup(&g);
    for (unsigned i = 0; i < 100; i++)
        page_on(&g, HOST, "/months/1", "/elsewhere", 0, 5);
    ck_assert_uint_eq(g.found, 0);
    for (unsigned i = 0; i < 10; i++)
        page_on(&g, HOST, "/months/1", NULL, 0, 5);
    ck_assert_uint_eq(g.found, 1);
    ck_assert_uint_eq(g.rule, TRAP_SAME_BODY);
    teardown(&g);
}

/* Months lead to days, and days to months; each page that does counts as many
 * 32nds as it has such links, and one. */
TEST(two_families_that_lead_to_each_other_are_told_late)
{
    struct rig g;
    unsigned n = 0;

    setup(&g);
    for (; g.found == 0 && n < 1000; n++) {
        page(&g, "/cal?m=1", "/cal?d=1", 1);
        page(&g, "/cal?d=1", "/cal?m=1", 2);
    }
    ck_assert_uint_ge(n, 16 + 20);
    ck_assert_uint_le(n, 16 + 25);
    teardown(&g);
    setup(&g);
    for (n = 0; n < 1000; n++) { /* the days of an archive */
        page(&g, "/cal?m=1", "/cal?d=1", 1);
        page(&g, "/cal?d=1", NULL, 0);
    }
    ck_assert_uint_eq(g.found, 0);
    teardown(&g);
}

static bool is_new_trap(struct rig *g, const char *host, const char *path,
                        bool known_host)
{
    char url[256];
    struct trap_view v;

    return trap_table_has_new(g->t, bytes_of_str(host),
                              url_of(url, sizeof url, host, path), known_host,
                              &v);
}

/* Of the page of each `n`, both orders, with one text, or two. */
static void both_orders(struct rig *g, unsigned from, unsigned to, bool same)
{
    for (unsigned n = from; n < to; n++) {
        char path[64];

        snprintf(path, sizeof path, "/x?a=%u&b=2", n);
        page_on(g, HOST, path, NULL, 100 + n, 0);
        snprintf(path, sizeof path, "/x?b=2&a=%u", n);
        page_on(g, HOST, path, NULL, 100 + n + !same, 0);
    }
}

TEST(orders_that_change_nothing_are_a_trap_and_others_are_none)
{
    struct rig g;

    setup(&g);
    both_orders(&g, 0, 9, true);
    both_orders(&g, 9, 10, false);
    both_orders(&g, 10, 19, true);
    ck_assert_uint_eq(g.found, 0);
    both_orders(&g, 20, 21, true);
    ck_assert_uint_eq(g.found, 1);
    ck_assert_uint_eq(g.rule, TRAP_ORDER);
    teardown(&g);
}

TEST(a_session_is_told_by_the_page_without_it)
{
    struct rig g;

    setup(&g);
    for (unsigned n = 0; n < 11; n++) {
        char path[64];

        snprintf(path, sizeof path, "/x?p=%c&sid=%08x", 'a' + (char)(n % 2), n);
        page(&g, path, NULL, 1 + n % 2);
    }
    ck_assert_uint_eq(g.found, 0); /* two pages of 11 were new */
    page(&g, "/x?p=a&sid=99", NULL, 1);
    ck_assert_uint_eq(g.found, 1);
    ck_assert_uint_eq(g.rule, TRAP_SESSION);
    ck_assert(is_new_trap(&g, HOST, "/x?p=b&sid=100", true));
    ck_assert(!is_new_trap(&g, HOST, "/x?p=c&sid=100", true));
    teardown(&g);
}

/* A page of n filters out of a few, which leads to one more. */
static void combine(struct rig *g, unsigned n)
{
    char from[128], to[160];

    snprintf(from, sizeof from, "/f?%c&%c&%c", 'a' + (char)(n % 4),
             'a' + (char)(n / 4 % 4), 'a' + (char)(n / 16 % 4));
    snprintf(to, sizeof to, "%s&e", from);
    page(g, from, to, 1);
}

TEST(combinations_that_show_nothing_new_are_a_trap)
{
    struct rig g;
    unsigned n = 0;

    setup(&g);
    g.piece = 77;
    for (; g.found < 1 && n < 100; n++)
        combine(&g, n);
    ck_assert_uint_eq(g.rule, TRAP_ORDER);
    for (; g.found < 2 && n < 100; n++)
        combine(&g, n);
    ck_assert_uint_eq(g.rule, TRAP_COMBINATION);
    ck_assert_uint_lt(n, 50);
    ck_assert(is_trap(&g, "/f?x&y"));
    ck_assert(!is_trap(&g, "/f?x"));
    ck_assert(!is_trap(&g, "/g?x&y"));
    teardown(&g);
}

/* A page of filters that are segments, which leads to one more, or to `to`. */
static void click(struct rig *g, unsigned n, const char *to)
{
    char from[64], more[80];

    snprintf(from, sizeof from, "/f/%c/%c/%c", 'a' + (char)(n % 4),
             'a' + (char)(n / 4 % 4), 'a' + (char)(n / 16 % 4));
    snprintf(more, sizeof more, "%s/e/", from);
    page(g, from, to != NULL ? to : more, 1);
}

/* The same from the root on, where a host has its other pages too: those that
 * are filters are known by pages with another one at their front. */
TEST(filters_that_begin_at_the_root_are_one_trap)
{
    struct rig g;
    char from[64], more[80];
    struct trap_view v = {0};

    setup(&g);
    g.piece = 77;
    page(&g, "/docs/use", "/docs/use/more", 5);
    page(&g, "/docs/more/use", "/docs/more/use/a", 6);
    for (unsigned n = 0; n < 64 && v.rule != TRAP_COMBINATION; n++) {
        snprintf(from, sizeof from, "/%c/%c", 'a' + (char)(n % 8),
                 'a' + (char)((n + 1 + n / 8) % 8));
        snprintf(more, sizeof more, "%s/e/", from);
        page(&g, from, more, 1);
        (void)trap_table_explain(g.t, bytes_of_str(HOST),
                                 bytes_of_str("http://" HOST "/a/b"), &v);
    }
    ck_assert_uint_eq(v.rule, TRAP_COMBINATION);
    ck_assert_uint_eq(g.found, 2); /* not one for each first segment */
    ck_assert(bytes_is(v.form, "/..."));
    ck_assert(is_trap(&g, "/h/g/f/e"));
    ck_assert(!is_trap(&g, "/a"));
    ck_assert(!is_trap(&g, "/a/b?page=2"));
    ck_assert(!is_trap(&g, "/docs/use/more"));
    ck_assert(!is_trap(&g, "/docs/a"));
    ck_assert(!is_trap(&g, "/a/product"));
    teardown(&g);
}

TEST(paths_in_another_order_are_pages_if_their_texts_differ)
{
    struct rig g;

    setup(&g);
    g.piece = 77;
    for (unsigned n = 0; n < 200; n++) {
        char from[64], more[80];

        snprintf(from, sizeof from, "/%c/%c", 'a' + (char)(n % 10),
                 'a' + (char)((n + 1 + n / 10) % 10));
        snprintf(more, sizeof more, "%s/e/", from);
        page(&g, from, more, 100 + n);
    }
    ck_assert_uint_eq(g.found, 0);
    ck_assert(!is_trap(&g, "/a/b"));
    teardown(&g);
}

/* Without links that continue their paths, or with a new one that leads
 * elsewhere, or with other texts in another order, they are pages. */
TEST(segments_that_are_no_filters_tell_pages_apart)
{
    for (unsigned what = 0; what < 3; what++) {
        struct rig g;

        setup(&g);
        g.own_out = what != 0;
        g.o.threshold[TRAP_COUNTER] = g.o.threshold[TRAP_SAME_BODY] = 0;
        trap_table_set(g.t, g.o.threshold);
        g.piece = 77;
        for (unsigned n = 0; n < 64; n++) {
            char url[64];

            click(&g, n, what == 1 ? "/f/product/x" : NULL);
            snprintf(url, sizeof url, "/f/%c/%c", 'a' + (char)(n % 4),
                     'a' + (char)(n / 4 % 4));
            if (what == 2)
                page(&g, url, NULL, n % 16 + 5);
        }
        ck_assert_msg(!is_trap(&g, "/f/a/b/c/d"), "%u", what);
        ck_assert_msg(what == 1 || g.found == 0, "%u", what);
        teardown(&g);
    }
}

/* Any of a new text, a new parameter and a link that leads elsewhere is. */
TEST(combinations_that_show_something_are_none)
{
    for (unsigned what = 0; what < 4; what++) {
        struct rig g;

        setup(&g);
        if (what == 3)
            g.o.threshold[TRAP_ORDER] = 0;
        trap_table_set(g.t, g.o.threshold);
        g.piece = 77;
        for (unsigned n = 0; n < 300; n++) {
            char path[32];

            combine(&g, n % 64);
            if (n % 9 != 0)
                continue;
            snprintf(path, sizeof path, "/f?a&p=%u", n);
            g.piece = what == 0 ? 100 + n : 77;
            page(&g, what == 1 ? path : "/f?a&b",
                 what == 2 ? "/product/x" : NULL, 1);
            g.piece = 77;
        }
        ck_assert_msg(!is_trap(&g, "/f?x&y"), "%u", what);
        teardown(&g);
    }
}

TEST(a_family_is_explained_by_every_rule_that_has_a_form)
{
    struct trap_view v;
    struct rig g;

    setup(&g);
    both_orders(&g, 0, 10, true);
    ck_assert(trap_table_explain(g.t, bytes_of_str(HOST),
                                 bytes_of_str("http://" HOST "/x?c&d"), &v));
    ck_assert_uint_eq(v.rule, TRAP_ORDER);
    ck_assert(!trap_table_explain(g.t, bytes_of_str(HOST),
                                  bytes_of_str("http://" HOST "/y?c&d"), &v));
    teardown(&g);
}

TEST(a_domain_that_mints_hosts_loses_only_new_ones)
{
    struct rig g;

    setup(&g);
    for (unsigned i = 0; i < 11; i++)
        page_on(&g, "a.farm.example", "/1", "/2", 1, 0);
    /* on one host it is a counter as well */
    ck_assert_uint_eq(g.found, 2);
    ck_assert(is_new_trap(&g, "b.farm.example", "/", false));
    ck_assert(!is_new_trap(&g, "b.farm.example", "/", true));
    ck_assert(!is_new_trap(&g, "www.farm.example", "/", false));
    ck_assert(!is_new_trap(&g, "b.other.example", "/", false));
    teardown(&g);
}

TEST(a_higher_threshold_frees_and_a_lower_one_holds)
{
    struct rig g;

    setup(&g);
    months(&g, 15, 1);
    flush(&g);
    close_table(&g);
    g.o.threshold[TRAP_COUNTER] = 20;
    open_table(&g);
    ck_assert(!is_trap(&g, "/cal?m=7"));
    close_table(&g);
    g.o.threshold[TRAP_COUNTER] = 5;
    open_table(&g);
    ck_assert(is_trap(&g, "/cal?m=7"));
    teardown(&g);
}

TEST(memory_is_bounded_and_traps_stay)
{
    struct rig g;

    setup(&g);
    months(&g, 11, 1);
    for (unsigned h = 0; h < 3000; h++)
        for (unsigned i = 0; i < 3; i++) {
            char host[32], from[64], to[80];

            snprintf(host, sizeof host, "h%u.example", h % 1000);
            snprintf(from, sizeof from, "/a%c%c%c/1", 'a' + (char)(h % 26),
                     'a' + (char)(h / 26 % 26), 'a' + (char)i % 3);
            snprintf(to, sizeof to, "%s1", from);
            page_on(&g, host, from, to, 0, 0);
        }
    for (unsigned i = 0; i < 1000; i++) { /* many families of one host */
        char from[64], to[80];

        snprintf(from, sizeof from, "/b%c%c/1", 'a' + (char)(i % 26),
                 'a' + (char)(i / 26));
        snprintf(to, sizeof to, "%s1", from);
        page(&g, from, to, 0);
    }
    ck_assert_uint_le(trap_table_memory(g.t), g.o.memory + 4096);
    ck_assert(is_trap(&g, "/cal?m=7"));
    teardown(&g);
}

/* With as many texts as there is room for, before and behind. */
TEST(after_a_restart_it_takes_no_more_memory_than_before)
{
    struct rig g;
    uint64_t empty, full;

    setup(&g);
    empty = trap_table_memory(g.t);
    months(&g, TRAP_TAGS_MOST, 0);
    months(&g, 20, 1);
    flush(&g);
    full = trap_table_memory(g.t);
    ck_assert_uint_gt(full, empty + TRAP_TAGS_MOST * 4);
    close_table(&g);
    open_table(&g);
    ck_assert_uint_le(trap_table_memory(g.t), full);
    ck_assert_uint_gt(trap_table_memory(g.t), empty + TRAP_TAGS_MOST * 4);
    teardown(&g);
}

TEST(a_row_that_makes_no_sense_is_damage)
{
    static const char *const bad[] = {
        "UPDATE trap SET pages = -1",
        "UPDATE trap SET score = -1",
        "UPDATE trap SET tags = x'001122'",
        "UPDATE trap SET tags = zeroblob(4000)",
        "UPDATE trap SET rule = 300",
        "UPDATE trap SET form = hex(zeroblob(1000))"};

    scratch_quiet();
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct rig g;
        struct trap_table *t = NULL;

        setup(&g);
        months(&g, 9, 1);
        flush(&g);
        ck_ok(db_exec(g.db, bad[i]));
        ck_assert_int_eq(trap_table_open(&t, g.db, &g.o), STATUS_DAMAGED);
        teardown(&g);
    }
}
