/* SPDX-License-Identifier: MIT */
/* The settings in force when a store was last written, and what follows from
 * them. */
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file/file.h"
#include "base/mem.h"
#include "frontier/crawl/frontier_open.h"
#include "job/seed_sink.h"
#include "job/settings/settings.h"
#include "job/settings_applied.h"
#include "tests/unit/unit.h"

static char dir[64];
static struct crawl_settings s;
static struct crawl_setup c;
static struct frontier *e;

static void set(const char *name, const char *value)
{
    struct buf error;

    buf_init(&error, 1000);
    ck_ok(option_set(&crawl_options, settings_index(name), &s,
                     bytes_of_str(value), OPTION_FROM_LINE, &error));
    buf_fini(&error);
}

static void make_setup(void)
{
    struct buf why;

    buf_init(&why, 1000);
    ck_ok(crawl_setup_make(&c, &s, &why));
    buf_fini(&why);
}

static void setup(void)
{
    snprintf(dir, sizeof dir, "/tmp/urlweir-applied-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(dir));
    settings_init(&s);
    s.output = xstrdup(dir);
    make_setup();
    ck_ok(frontier_create(&e, dir, &c.frontier, clock_wall_ms()));
}

static void reopen(void)
{
    frontier_close(e);
    crawl_setup_fini(&c);
    make_setup();
    ck_ok(frontier_open(&e, dir, &c.frontier, clock_mono(), clock_wall_ms()));
}

static void teardown(void)
{
    frontier_close(e);
    crawl_setup_fini(&c);
    settings_fini(&s);
    ck_ok(file_remove_tree(dir));
}

static bool rechecks(void)
{
    bool recheck;

    ck_ok(settings_note(e, &s, c.form, &recheck));
    return recheck;
}

static bool was_known(struct crawl_settings *was)
{
    bool known;

    ck_ok(settings_applied(e, &s, was, &known));
    return known;
}

FIXTURE(setup, teardown);

TEST(no_secret_is_noted)
{
    struct buf text;

    set("cookie", "secret=1");
    ck_ok(settings_note_first(e, &s, c.form));
    buf_init(&text, (size_t)1 << 20);
    ck_ok(frontier_meta(e, "settings", &text));
    ck_assert_ptr_nonnull(strstr(buf_str(&text), "delay: 1s"));
    ck_assert_ptr_null(strstr(buf_str(&text), "secret"));
    buf_fini(&text);
}

TEST(a_scope_that_ever_changed_is_asked_again_for_good)
{
    ck_ok(settings_note_first(e, &s, c.form));
    set("delay", "5s");
    ck_assert(!rechecks());
    set("depth", "3");
    ck_assert(rechecks());
    reopen();
    ck_assert(rechecks()); /* although nothing has changed since */
}

TEST_LOOP(each_option_of_the_scope_is_noticed, 0, 5)
{
    static const char *const change[][2] = {{"scope", "any"},
                                            {"depth", "3"},
                                            {"include", "a"},
                                            {"exclude", "b"},
                                            {"max-url-len", "99"}};

    ck_ok(settings_note_first(e, &s, c.form));
    set(change[_i][0], change[_i][1]);
    ck_assert(rechecks());
}

TEST(a_store_without_a_note_or_with_one_that_cannot_be_read_is_asked_again)
{
    struct crawl_settings was;

    ck_assert(!was_known(&was));
    ck_assert(!settings_differ(&was, &s));
    settings_fini(&was);
    ck_ok(frontier_set_meta(e, "settings", bytes_of_str("of-later: 3\n")));
    ck_assert(!was_known(&was));
    settings_fini(&was);
    ck_assert(rechecks());
    ck_assert(was_known(&was)); /* and now it has one */
    settings_fini(&was);
}

static void write_rules(const char *path, const char *text)
{
    ck_ok(file_replace(path, bytes_of_str(text)));
}

/* The settings name the file; what it says is noted. */
TEST(a_changed_file_of_rules_is_another_form)
{
    char path[128];

    snprintf(path, sizeof path, "%s/rules", dir);
    write_rules(path, "/a/ /b/\n");
    set("rewrite", path);
    reopen();
    ck_ok(settings_note_first(e, &s, c.form));
    reopen();
    ck_assert(!rechecks());
    write_rules(path, "/a/ /c/\n");
    reopen();
    ck_assert(rechecks());
}

static bool has_in_scope(const char *url)
{
    bool in;
    struct url u;

    url_init(&u);
    ck_assert_int_eq(url_parse(&u, bytes_of_str(url), NULL, NULL), URL_OK);
    in = scope_check(c.scope, &u, 1).in;
    url_fini(&u);
    return in;
}

/* Not even if there is no room for drops. The sitemap at the top of the host
 * stands in for the seed. */
TEST_LOOP(a_seed_that_is_not_fetched_opens_its_directory_again, 0, 2)
{
    set("sitemap", "only");
    set("scope", "prefix");
    set("keep-dropped", _i == 0 ? "1M" : "0");
    option_list_add(&s.seeds, bytes_of_str("https://a.example/d1/p.html"));
    reopen();
    ck_ok(seed_sink_all(e, &c, &s));
    ck_ok(settings_note_first(e, &s, c.form));
    ck_ok(frontier_turn(e, true, clock_mono(), clock_wall_ms(), NULL));
    ck_assert(has_in_scope("https://a.example/d1/q.html"));
    ck_assert(!has_in_scope("https://a.example/d2/q.html"));
    reopen();
    ck_ok(crawl_setup_reopen(e, &c, &s));
    ck_assert(has_in_scope("https://a.example/d1/q.html"));
    ck_assert(!has_in_scope("https://a.example/d2/q.html"));
}
