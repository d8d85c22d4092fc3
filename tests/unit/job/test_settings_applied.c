/* SPDX-License-Identifier: MIT */
/* The settings in force when a store was last written, and what follows from
 * them. */
#include <check.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file/file.h"
#include "base/mem.h"
#include "frontier/embedded/frontier.h"
#include "job/settings/settings.h"
#include "job/settings_applied.h"

static char dir[64];
static struct crawl_settings s;
static struct crawl_setup c;
static struct engine *e;

static void set(const char *name, const char *value)
{
    struct buf error;

    buf_init(&error, 1000);
    ck_assert_int_eq(option_set(&crawl_options, settings_index(name), &s,
                                bytes_of_str(value), OPTION_FROM_LINE, &error),
                     STATUS_OK);
    buf_fini(&error);
}

static void make_setup(void)
{
    struct buf why;

    buf_init(&why, 1000);
    ck_assert_int_eq(crawl_setup_make(&c, &s, &why), STATUS_OK);
    buf_fini(&why);
}

static void setup(void)
{
    snprintf(dir, sizeof dir, "/tmp/urlweir-applied-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(dir));
    settings_init(&s);
    s.output = xstrdup(dir);
    make_setup();
    ck_assert_int_eq(frontier_create(&e, dir, &c.frontier, clock_wall_ms()),
                     STATUS_OK);
}

static void reopen(void)
{
    e->ops->close(e);
    crawl_setup_fini(&c);
    make_setup();
    ck_assert_int_eq(frontier_open(&e, dir, &c.frontier, clock_mono(),
                                   clock_wall_ms()),
                     STATUS_OK);
}

static void teardown(void)
{
    e->ops->close(e);
    crawl_setup_fini(&c);
    settings_fini(&s);
    ck_assert_int_eq(file_remove_tree(dir), STATUS_OK);
}

static bool rechecks(void)
{
    bool recheck;

    ck_assert_int_eq(settings_note(e, &s, c.form, &recheck), STATUS_OK);
    return recheck;
}

static bool was_known(struct crawl_settings *was)
{
    bool known;

    ck_assert_int_eq(settings_applied(e, &s, was, &known), STATUS_OK);
    return known;
}

START_TEST(what_was_in_force_is_read_back_with_the_secrets_of_now)
{
    struct crawl_settings was;

    set("delay", "3s");
    set("cookie", "old=1");
    ck_assert_int_eq(settings_note_first(e, &s, c.form), STATUS_OK);
    reopen();
    set("delay", "5s");
    set("exclude", "/x");
    set("cookie", "new=2");
    ck_assert(was_known(&was));
    ck_assert_int_eq(was.delay_ms, 3000);
    ck_assert_uint_eq(was.exclude.count, 0);
    ck_assert_str_eq(was.cookie, "new=2");
    settings_fini(&was);
}
END_TEST

START_TEST(no_secret_is_noted)
{
    struct buf text;

    set("cookie", "secret=1");
    ck_assert_int_eq(settings_note_first(e, &s, c.form), STATUS_OK);
    buf_init(&text, (size_t)1 << 20);
    ck_assert_int_eq(e->ops->meta(e, "settings", &text), STATUS_OK);
    ck_assert_ptr_nonnull(strstr(buf_str(&text), "delay: 1s"));
    ck_assert_ptr_null(strstr(buf_str(&text), "secret"));
    buf_fini(&text);
}
END_TEST

START_TEST(a_scope_that_ever_changed_is_asked_again_for_good)
{
    ck_assert_int_eq(settings_note_first(e, &s, c.form), STATUS_OK);
    set("delay", "5s");
    ck_assert(!rechecks());
    set("depth", "3");
    ck_assert(rechecks());
    reopen();
    ck_assert(rechecks()); /* although nothing has changed since */
}
END_TEST

START_TEST(each_option_of_the_scope_is_noticed)
{
    static const char *const change[][2] = {{"scope", "any"},
                                            {"depth", "3"},
                                            {"include", "a"},
                                            {"exclude", "b"},
                                            {"max-url-len", "99"}};

    ck_assert_int_eq(settings_note_first(e, &s, c.form), STATUS_OK);
    set(change[_i][0], change[_i][1]);
    ck_assert(rechecks());
}
END_TEST

START_TEST(
    a_store_without_a_note_or_with_one_that_cannot_be_read_is_asked_again)
{
    struct crawl_settings was;

    ck_assert(!was_known(&was));
    ck_assert(!settings_differ(&was, &s));
    settings_fini(&was);
    ck_assert_int_eq(e->ops->set_meta(e, "settings",
                                      bytes_of_str("of-later: 3\n")),
                     STATUS_OK);
    ck_assert(!was_known(&was));
    settings_fini(&was);
    ck_assert(rechecks());
    ck_assert(was_known(&was)); /* and now it has one */
    settings_fini(&was);
}
END_TEST

START_TEST(another_form_of_urls_is_noticed_and_what_is_queued_is_asked_again)
{
    static const char *const change[][2] = {{"drop-params", "sid"},
                                            {"drop-tracking", "true"},
                                            {"drop-empty-params", "true"},
                                            {"sort-query", "true"}};

    ck_assert_int_eq(settings_note_first(e, &s, c.form), STATUS_OK);
    ck_assert(!rechecks());
    set(change[_i][0], change[_i][1]);
    reopen();
    ck_assert(rechecks());
}
END_TEST

static void write_rules(const char *path, const char *text)
{
    ck_assert_int_eq(file_replace(path, bytes_of_str(text)), STATUS_OK);
}

/* The settings name the file; what it says is noted. */
START_TEST(a_changed_file_of_rules_is_another_form)
{
    char path[128];

    snprintf(path, sizeof path, "%s/rules", dir);
    write_rules(path, "/a/ /b/\n");
    set("rewrite", path);
    reopen();
    ck_assert_int_eq(settings_note_first(e, &s, c.form), STATUS_OK);
    reopen();
    ck_assert(!rechecks());
    write_rules(path, "/a/ /c/\n");
    reopen();
    ck_assert(rechecks());
}
END_TEST

/* A release that knew only --drop-params noted no form. */
START_TEST(a_store_without_a_form_has_that_of_its_settings)
{
    struct buf text;

    set("drop-params", "sid");
    reopen();
    buf_init(&text, 1 << 20);
    settings_to_yaml(&s, &text);
    ck_assert_int_eq(e->ops->set_meta(e, "settings", buf_bytes(&text)),
                     STATUS_OK);
    buf_fini(&text);
    ck_assert(!rechecks());
}
END_TEST

Suite *suite_settings_applied(void)
{
    Suite *suite = suite_create("settings_applied");
    TCase *t = tcase_create("settings_applied");

    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, what_was_in_force_is_read_back_with_the_secrets_of_now);
    tcase_add_test(t, no_secret_is_noted);
    tcase_add_test(t, a_scope_that_ever_changed_is_asked_again_for_good);
    tcase_add_loop_test(t, each_option_of_the_scope_is_noticed, 0, 5);
    tcase_add_test(
        t,
        a_store_without_a_note_or_with_one_that_cannot_be_read_is_asked_again);
    tcase_add_loop_test(
        t, another_form_of_urls_is_noticed_and_what_is_queued_is_asked_again, 0,
        4);
    tcase_add_test(t, a_changed_file_of_rules_is_another_form);
    tcase_add_test(t, a_store_without_a_form_has_that_of_its_settings);
    suite_add_tcase(suite, t);
    return suite;
}
