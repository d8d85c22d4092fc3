/* SPDX-License-Identifier: MIT */
/* test_trap_table.c - what makes a family a trap, and what clears it. */
#include "frontier/traps/trap_table.h"

#include <check.h>
#include <stdio.h>

#include "frontier/traps/trap_families.h"
#include "tests/unit/storage/scratch.h"

#define HOST "h.example"

struct rig {
    struct scratch dir;
    struct db *db;
    struct trap_store *store;
    struct trap_table *t;
    struct trap_options o;
    struct digest_key key;
    unsigned found; /* traps, as they were told */
    enum trap_rule rule;
    uint64_t next; /* a body that no page had */
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
    ck_assert_int_eq(trap_store_open(&g->store, g->db), STATUS_OK);
    ck_assert_int_eq(trap_table_open(&g->t, g->store, &g->o), STATUS_OK);
}

static void setup(struct rig *g)
{
    *g = (struct rig){.dir = scratch_make(),
                      .o = {.memory = 1 << 20, .found = found, .ctx = g}};
    for (unsigned r = 0; r < TRAP_RULES_; r++)
        g->o.threshold[r] = 10;
    g->o.key = &g->key;
    open_table(g);
}

static void close_table(struct rig *g)
{
    trap_table_close(g->t);
    trap_store_close(g->store);
    db_close(g->db);
}

static void teardown(struct rig *g)
{
    close_table(g);
    scratch_remove(&g->dir);
}

static void flush(struct rig *g)
{
    ck_assert_int_eq(db_begin(g->db), STATUS_OK);
    ck_assert_int_eq(trap_table_flush(g->t), STATUS_OK);
    ck_assert_int_eq(db_commit(g->db), STATUS_OK);
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
    char from_url[256], to_url[256];
    struct trap_link link = {bytes_of_str(host), {0}};
    struct trap_page p = {.host = bytes_of_str(host),
                          .url = url_of(from_url, sizeof from_url, host, path),
                          .text = text << 32,
                          .known_body = body != 0};

    g->next++;
    p.body = (struct digest){body != 0 ? body : g->next << 32, 1};
    if (text == 0)
        p.text = (g->next + 1000000) << 32;
    if (to != NULL) {
        link.url = url_of(to_url, sizeof to_url, host, to);
        p.fresh = &link;
        p.fresh_count = 1;
    }
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

START_TEST(pages_that_lead_to_more_of_the_same_with_known_texts_make_a_trap)
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
END_TEST

START_TEST(a_page_that_leads_elsewhere_clears_the_family)
{
    struct rig g;

    setup(&g);
    for (unsigned i = 0; i < 20; i++) {
        months(&g, 9, 1);
        page(&g, "/cal?m=1", "/event/red", 1);
    }
    ck_assert_uint_eq(g.found, 0);
    ck_assert_uint_lt(trap_table_memory(g.t), 300);
    teardown(&g);
}
END_TEST

START_TEST(a_leaf_with_a_new_text_clears_it_and_one_with_a_known_text_does_not)
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
END_TEST

START_TEST(pages_with_new_texts_count_a_thirty_second)
{
    struct rig g;

    setup(&g);
    months(&g, 319, 0);
    ck_assert_uint_eq(g.found, 0);
    months(&g, 1, 0);
    ck_assert_uint_eq(g.found, 1);
    teardown(&g);
}
END_TEST

START_TEST(texts_that_come_round_are_known)
{
    struct rig g;

    setup(&g);
    for (unsigned i = 0; i < 400 && g.found == 0; i++)
        page(&g, "/cal?m=1", "/cal?m=2", 1 + i % 168);
    ck_assert_uint_eq(g.found, 1);
    teardown(&g);
}
END_TEST

START_TEST(leaves_alone_are_never_a_trap_unless_their_body_is_one)
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
END_TEST

START_TEST(another_body_begins_anew)
{
    struct rig g;

    setup(&g);
    for (unsigned i = 0; i < 100; i++)
        page_on(&g, HOST, "/mirror/a", NULL, 1, 1 + i / 9);
    ck_assert_uint_eq(g.found, 0);
    teardown(&g);
}
END_TEST

START_TEST(one_body_that_leads_ever_on_is_a_spiral)
{
    struct rig g;
    struct trap_view v;

    setup(&g);
    for (unsigned i = 0; i < 10; i++) {
        char path[64];

        snprintf(path, sizeof path, "/%c/x", 'a' + i);
        page_on(&g, HOST, path, "/elsewhere", 1, 5);
    }
    ck_assert_uint_eq(g.found, 1);
    ck_assert_uint_eq(g.rule, TRAP_SPIRAL);
    ck_assert(trap_table_has_body(g.t, bytes_of_str(HOST),
                                  (struct digest){5, 1}, &v));
    ck_assert(!trap_table_has_body(g.t, bytes_of_str(HOST),
                                   (struct digest){6, 1}, &v));
    ck_assert(!trap_table_has_body(g.t, bytes_of_str("other.example"),
                                   (struct digest){5, 1}, &v));
    teardown(&g);
}
END_TEST

static bool is_new_trap(struct rig *g, const char *host, const char *path,
                        bool known_host)
{
    char url[256];
    struct trap_view v;

    return trap_table_has_new(g->t, bytes_of_str(host),
                              url_of(url, sizeof url, host, path), known_host,
                              &v);
}

START_TEST(of_each_page_one_more_spelling_is_let_in)
{
    struct rig g;

    setup(&g);
    page(&g, "/x?a=1&b=2", NULL, 0);
    for (unsigned i = 0; i < 10; i++)
        page_on(&g, HOST, "/x?b=2&a=1", NULL, 1, 7 + i);
    ck_assert_uint_eq(g.found, 1);
    ck_assert_uint_eq(g.rule, TRAP_ORDER);
    ck_assert(!is_new_trap(&g, HOST, "/x?a=3&b=4", true));
    ck_assert(is_new_trap(&g, HOST, "/x?b=4&a=3", true));
    ck_assert(!is_new_trap(&g, HOST, "/x?b=3&a=4", true)); /* another page */
    ck_assert(!is_trap(&g, "/x?b=4&a=3"));                 /* it was queued */
    for (unsigned i = 0; i < 5000; i++) {
        char path[64];

        snprintf(path, sizeof path, "/x?a=%u&b=1", 1000 + i);
        ck_assert(!is_new_trap(&g, HOST, path, true));
        snprintf(path, sizeof path, "/x?b=1&a=%u", 1000 + i);
        ck_assert(is_new_trap(&g, HOST, path, true));
    }
    teardown(&g);
}
END_TEST

/* Under IDs of sessions the same text is the same page again; under another
 * spelling only the same body is, as texts without their numbers may be those
 * of another page. */
START_TEST(a_spelling_is_told_by_its_body_and_a_session_also_by_its_text)
{
    static const struct {
        const char *before, *behind;
        uint64_t text, body;
        unsigned found;
    } all[] = {
        {"/x?sid=", "1234567890abcdef12345678", 0, 0, 0},
        {"/x?sid=", "1234567890abcdef12345678", 1, 0, 1},
        {"/x?b=", "&a=1", 1, 0, 0},
        {"/x?b=", "&a=1", 0, 7, 1},
    };

    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct rig g;

        setup(&g);
        g.o.threshold[TRAP_SAME_BODY] = 0;
        close_table(&g);
        open_table(&g);
        for (unsigned k = 0; k < 12; k++) {
            char path[100];

            snprintf(path, sizeof path, "%s%08x%s", all[i].before, k + 2,
                     all[i].behind);
            page_on(&g, HOST, path, NULL, all[i].text,
                    all[i].body > 0 ? all[i].body + k : 0);
        }
        ck_assert_msg(g.found == all[i].found, "%zu: %u found", i, g.found);
        teardown(&g);
    }
}
END_TEST

/* The place of a text is that of the page that had it. */
START_TEST(a_family_knows_its_latest_texts)
{
    struct trap_owner *o;
    struct trap_family *f;
    struct rig g;

    setup(&g);
    o = trap_owner_make(g.t, bytes_of_str(HOST));
    f = trap_family_make(g.t, o, TRAP_COUNTER, bytes_of_str("form"));
    ck_assert(!trap_family_has_text(NULL, 1));
    for (uint32_t i = 0; i < TRAP_TAGS_MOST + 40; i++) {
        f->pages = i;
        ck_assert(!trap_family_has_text(f, 1000 + i));
        trap_family_add_text(g.t, f, 1000 + i);
        ck_assert(trap_family_has_text(f, 1000 + i));
    }
    for (uint32_t i = 0; i < TRAP_TAGS_MOST + 40; i++)
        ck_assert_int_eq(trap_family_has_text(f, 1000 + i), i >= 40);
    teardown(&g);
}
END_TEST

START_TEST(a_domain_that_mints_hosts_loses_only_new_ones)
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
END_TEST

START_TEST(a_rule_that_is_off_says_nothing)
{
    struct rig g;

    setup(&g);
    close_table(&g);
    g.o.threshold[TRAP_COUNTER] = 0;
    open_table(&g);
    months(&g, 1000, 1);
    ck_assert_uint_eq(g.found, 0);
    teardown(&g);
}
END_TEST

START_TEST(evidence_outlives_a_restart_at_any_page)
{
    for (unsigned stop = 0; stop < 11; stop++) {
        struct rig g;

        setup(&g);
        months(&g, stop, 1);
        flush(&g);
        close_table(&g);
        open_table(&g);
        months(&g, 11 - stop, 1);
        /* fewer than four pages are not stored */
        ck_assert_uint_eq(g.found, stop >= 4 || stop == 0);
        flush(&g);
        close_table(&g);
        open_table(&g);
        ck_assert(trap_table_any(g.t) == (stop >= 4 || stop == 0));
        teardown(&g);
    }
}
END_TEST

START_TEST(a_cleared_family_leaves_the_disk)
{
    struct rig g;
    int64_t rows = -1;

    setup(&g);
    months(&g, 9, 1);
    flush(&g);
    page(&g, "/cal?m=1", "/event/red", 1);
    flush(&g);
    ck_assert_int_eq(db_number(g.db, "SELECT count(*) FROM trap", &rows),
                     STATUS_OK);
    ck_assert_int_eq(rows, 0);
    teardown(&g);
}
END_TEST

START_TEST(a_higher_threshold_frees_and_a_lower_one_holds)
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
END_TEST

START_TEST(thresholds_may_change_while_it_is_open)
{
    struct rig g;

    setup(&g);
    months(&g, 15, 1);
    ck_assert_uint_eq(g.found, 1);
    g.o.threshold[TRAP_COUNTER] = 20;
    trap_table_set(g.t, g.o.threshold);
    ck_assert(!is_trap(&g, "/cal?m=7") && !trap_table_any(g.t));
    g.o.threshold[TRAP_COUNTER] = 5;
    trap_table_set(g.t, g.o.threshold);
    ck_assert(is_trap(&g, "/cal?m=7") && trap_table_any(g.t));
    ck_assert_uint_eq(g.found, 2);
    trap_table_set(g.t, g.o.threshold); /* nothing new is told */
    ck_assert_uint_eq(g.found, 2);
    g.o.threshold[TRAP_COUNTER] = 0;
    trap_table_set(g.t, g.o.threshold);
    ck_assert(!is_trap(&g, "/cal?m=7"));
    teardown(&g);
}
END_TEST

START_TEST(memory_is_bounded_and_traps_stay)
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
END_TEST

/* With as many texts as there is room for, before and behind. */
START_TEST(after_a_restart_it_takes_as_much_memory_as_before)
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
    ck_assert_uint_eq(trap_table_memory(g.t), full);
    teardown(&g);
}
END_TEST

START_TEST(a_row_that_makes_no_sense_is_damage)
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
        ck_assert_int_eq(db_exec(g.db, bad[i]), STATUS_OK);
        ck_assert_int_eq(trap_table_open(&t, g.store, &g.o), STATUS_DAMAGED);
        teardown(&g);
    }
}
END_TEST

Suite *suite_trap_table(void)
{
    Suite *s = suite_create("trap_table");
    TCase *t = tcase_create("trap_table");

    tcase_add_test(
        t, pages_that_lead_to_more_of_the_same_with_known_texts_make_a_trap);
    tcase_add_test(t, a_page_that_leads_elsewhere_clears_the_family);
    tcase_add_test(
        t, a_leaf_with_a_new_text_clears_it_and_one_with_a_known_text_does_not);
    tcase_add_test(t, pages_with_new_texts_count_a_thirty_second);
    tcase_add_test(t, texts_that_come_round_are_known);
    tcase_add_test(t, leaves_alone_are_never_a_trap_unless_their_body_is_one);
    tcase_add_test(t, another_body_begins_anew);
    tcase_add_test(t, one_body_that_leads_ever_on_is_a_spiral);
    tcase_add_test(t, of_each_page_one_more_spelling_is_let_in);
    tcase_add_test(
        t, a_spelling_is_told_by_its_body_and_a_session_also_by_its_text);
    tcase_add_test(t, a_family_knows_its_latest_texts);
    tcase_add_test(t, a_domain_that_mints_hosts_loses_only_new_ones);
    tcase_add_test(t, a_rule_that_is_off_says_nothing);
    tcase_add_test(t, evidence_outlives_a_restart_at_any_page);
    tcase_add_test(t, a_cleared_family_leaves_the_disk);
    tcase_add_test(t, a_higher_threshold_frees_and_a_lower_one_holds);
    tcase_add_test(t, thresholds_may_change_while_it_is_open);
    tcase_add_test(t, memory_is_bounded_and_traps_stay);
    tcase_add_test(t, after_a_restart_it_takes_as_much_memory_as_before);
    tcase_add_test(t, a_row_that_makes_no_sense_is_damage);
    suite_add_tcase(s, t);
    return s;
}
