/* SPDX-License-Identifier: MIT */
/* What a directory holds, recognised by marks that only our programs make. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file/file.h"
#include "job/dir_kind.h"
#include "tests/unit/unit.h"

static char dir[64];
static struct buf culprit;

static void setup(void)
{
    snprintf(dir, sizeof dir, "/tmp/urlweir-dir-kind-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(dir));
    buf_init(&culprit, 1024);
}

static void teardown(void)
{
    ck_ok(file_remove_tree(dir));
    buf_fini(&culprit);
}

static void put(const char *name, const char *octets, size_t len)
{
    char path[256];

    snprintf(path, sizeof path, "%s/%s", dir, name);
    ck_ok(file_replace(path, bytes_of(octets, len)));
}

static void put_text(const char *name, const char *text)
{
    put(name, text, strlen(text));
}

static enum dir_kind kind(void)
{
    buf_clear(&culprit);
    return dir_kind_of(dir, &culprit);
}

/* Writes the start of an SQLite file with this application id. */
static void put_database(const char *name, const char *id)
{
    char octets[100] = "SQLite format 3";

    memcpy(octets + 68, id, 4);
    put(name, octets, sizeof octets);
}

FIXTURE(setup, teardown);

TEST(what_is_missing_or_empty_is_free)
{
    ck_assert_int_eq(kind(), DIR_FREE);
    ck_assert_int_eq(dir_kind_of("/nonexistent/urlweir", &culprit), DIR_FREE);
    ck_assert_int_eq(dir_kind_of("/dev/null", &culprit), DIR_FREE);
}

TEST(what_a_start_leaves_that_was_cut_short_is_free)
{
    put_text("lock", "4711 crawl\n");
    put_text("dedupe.lock", "");
    put_text("urlweir-settings.yaml.tmp", "dep");
    put_text("urlweir-secrets.yaml", "cookie: x\n");
    put_text("manifest.tmp", "x");
    put_text("filter.ckpt.tmp", "x");
    put_text("frontier.db.new", "");
    put_text("frontier.db.new-journal", "x");
    put_text("dedupe.db.new", "");
    ck_assert_int_eq(kind(), DIR_FREE);
}

TEST(what_is_put_there_for_a_start_is_free)
{
    char path[256];

    snprintf(path, sizeof path, "%s/lost+found", dir);
    ck_assert_int_eq(mkdir(path, 0700), 0);
    snprintf(path, sizeof path, "%s/warc", dir);
    ck_assert_int_eq(symlink("/tmp", path), 0);
    snprintf(path, sizeof path, "%s/crawls", dir);
    ck_assert_int_eq(mkdir(path, 0700), 0);
    ck_assert_int_eq(kind(), DIR_FREE);
    snprintf(path, sizeof path, "%s/crawls/news", dir);
    ck_assert_int_eq(mkdir(path, 0700), 0);
    ck_assert_int_eq(kind(), DIR_OTHER);
    ck_assert_str_eq(buf_str(&culprit), "crawls");
    put_text("crawls/news/urlweir-settings.yaml", "");
    ck_assert_int_eq(kind(), DIR_FREE);
    snprintf(path, sizeof path, "%s/warc", dir);
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(mkdir(path, 0700), 0);
    ck_assert_int_eq(kind(), DIR_OTHER);
}

TEST(any_other_file_is_not_ours_and_is_named)
{
    static const char *const names[] = {"index.html",  ".profile",
                                        "lock",        "manifest",
                                        "crawl.yaml",  "dedupe.manifest",
                                        "frontier.db", "filter.ckpt"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[256];

        put_text(names[i], "somebody's");
        ck_assert_int_eq(kind(), DIR_OTHER);
        ck_assert_str_eq(buf_str(&culprit), names[i]);
        snprintf(path, sizeof path, "%s/%s", dir, names[i]);
        unlink(path);
    }
}

TEST(a_pipe_or_a_link_with_our_name_is_not_followed)
{
    char path[256];

    snprintf(path, sizeof path, "%s/manifest", dir);
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    snprintf(path, sizeof path, "%s/lock", dir);
    ck_assert_int_eq(symlink("/dev/null", path), 0);
    ck_assert_int_eq(kind(), DIR_OTHER);
}

TEST(a_crawl_is_told_by_its_settings)
{
    put_text("urlweir-settings.yaml", "");
    ck_assert_int_eq(kind(), DIR_CRAWL);
}

TEST(a_database_is_told_by_its_application_id)
{
    put_database("frontier.db", "mine");
    ck_assert_int_eq(kind(), DIR_OTHER);
    put_database("frontier.db", "urlw");
    ck_assert_int_eq(kind(), DIR_STORE);
    put_database("dedupe.db", "urld");
    ck_assert_int_eq(kind(), DIR_SET);
}

TEST(a_manifest_is_told_by_its_first_word)
{
    put_text("manifest", "urlweir-manifest 1\n");
    ck_assert_int_eq(kind(), DIR_STORE);
    put_text("dedupe.manifest", "urlweir-manifest 1\n");
    ck_assert_int_eq(kind(), DIR_SET);
}

TEST(each_command_takes_what_is_free_or_its_own)
{
    struct buf why;

    buf_init(&why, 65536);
    for (enum dir_kind wanted = DIR_CRAWL; wanted <= DIR_SET; wanted++)
        ck_assert(dir_kind_fits(dir, wanted, &why));
    put_database("frontier.db", "urlw");
    ck_assert(dir_kind_fits(dir, DIR_STORE, &why));
    ck_assert(dir_kind_fits(dir, DIR_CRAWL, &why)); /* and now it says more */
    ck_assert_uint_eq(why.len, 0);
    ck_assert(!dir_kind_fits(dir, DIR_SET, &why));
    put_text("urlweir-settings.yaml", "");
    ck_assert(dir_kind_fits(dir, DIR_CRAWL, &why));
    ck_assert(!dir_kind_fits(dir, DIR_STORE, &why));
    ck_assert(!dir_kind_fits(dir, DIR_SET, &why));
    buf_fini(&why);
}

/* The id of the service is the mark; without it they are somebody's files. */
TEST(shards_of_a_service_are_told_by_its_id)
{
    char path[256];
    struct buf why;

    snprintf(path, sizeof path, "%s/shards", dir);
    ck_ok(file_make_dir(path));
    ck_assert_int_eq(kind(), DIR_FREE);
    put_text(DIR_SHARDS_NAME, "0123456789abcdef");
    ck_assert_int_eq(kind(), DIR_OTHER);
    put_text(DIR_SHARDS_NAME, "0123456789abcdef0123456789abcdef");
    ck_assert_int_eq(kind(), DIR_SHARDS);
    buf_init(&why, 65536);
    ck_assert(dir_kind_fits(dir, DIR_SHARDS, &why));
    ck_assert(!dir_kind_fits(dir, DIR_STORE, &why));
    ck_assert(!dir_kind_fits(dir, DIR_CRAWL, &why));
    buf_fini(&why);
}

TEST(a_hostile_name_is_printed_without_commands_to_a_terminal)
{
    struct buf why;

    buf_init(&why, 65536);
    put_text("\033[2J", "x");
    ck_assert(!dir_kind_fits(dir, DIR_CRAWL, &why));
    ck_assert_ptr_null(strchr(buf_str(&why), '\033'));
    buf_fini(&why);
}
