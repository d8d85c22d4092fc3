/* SPDX-License-Identifier: MIT */
/*
 * test_warc_faults.c - WARC files that cannot be made, synced or finished, and
 * what becomes of them when the crawl is opened again.
 */
#include <fcntl.h>
#include <sys/stat.h>

#include "base/file/file.h"
#include "storage/warc/warc.h"
#include "tests/unit/storage/scratch.h"

#define DATE INT64_C(1769903999123) /* 2026-01-31T23:59:59.123Z */
#define NAME "warc/t-20260131235959123-00001-here.warc.gz"

/* Not compressed: to a file a record is octets. */
#define RECORD "WARC/1.1 or whatever a caller made\r\n"

static struct scratch at;
static struct warc *w;
static struct bytes file;
static uint64_t offset;

static void reopen(const char *host, uint64_t size_most)
{
    const struct warc_options o = {.dir = at.dir,
                                   .prefix = "t",
                                   .host = host,
                                   .size_most = size_most};

    ck_ok(warc_open(&w, &o));
}

static void start(void)
{
    at = scratch_make();
    reopen("here", 1 << 20);
}

static void end(void)
{
    struct scratch inner;

    snprintf(inner.dir, sizeof inner.dir, "%.57s/warc", at.dir);
    scratch_remove(&inner);
    scratch_remove(&at);
}

static enum status append(void)
{
    return warc_append(w, bytes_of_str(RECORD), DATE, &file, &offset);
}

static bool exists(const char *name, const char *suffix)
{
    char path[300];

    snprintf(path, sizeof path, "%s/%s%s", at.dir, name, suffix);
    return access(path, F_OK) == 0;
}

FIXTURE(start, end);

TEST(a_file_that_cannot_be_made_is_told_each_time)
{
    char dir[128];

    snprintf(dir, sizeof dir, "%s/warc", at.dir);
    ck_assert_int_eq(rmdir(dir), 0);
    ck_assert_int_eq(append(), STATUS_NOT_FOUND);
    ck_assert_int_eq(mkdir(dir, 0700), 0); /* too late */
    ck_assert_int_eq(append(), STATUS_NOT_FOUND);
    ck_assert_int_eq(warc_sync(w), STATUS_NOT_FOUND);
    ck_assert_int_eq(warc_close(w), STATUS_NOT_FOUND);
    ck_assert(!exists(NAME, ""));
    ck_assert(!exists(NAME, ".open"));
}

/* A daemon may have closed its standard input, so that 0 is a file. */
TEST(a_file_may_have_any_descriptor)
{
    struct bytes first;

    ck_ok(warc_close(w));
    reopen("here", 10); /* a record a file */
    close(STDIN_FILENO);
    ck_ok(append());
    first = file;
    ck_assert_int_eq(fcntl(STDIN_FILENO, F_GETFD), FD_CLOEXEC);
    ck_ok(append());
    ck_assert(!bytes_equal(first, file));
    ck_assert(exists(NAME, "")); /* finished */
    ck_ok(warc_sync(w));
    ck_ok(warc_close(w));
    ck_assert_int_eq(fcntl(STDIN_FILENO, F_GETFD), -1);
}

/* A record larger than a file is alone in one: none is left without. */
TEST(a_file_is_not_left_empty_for_a_record_that_is_too_large)
{
    ck_ok(warc_close(w));
    reopen("here", 10);
    ck_ok(warc_make_room(w, 100, DATE));
    ck_ok(warc_make_room(w, 1000, DATE));
    ck_ok(append());
    ck_assert(bytes_is(file, NAME));
    ck_ok(append());
    ck_assert(!bytes_is(file, NAME));
    ck_ok(warc_close(w));
}

static void fails_to_sync(enum status (*call)(struct warc *))
{
    scratch_no_sync = true;
    ck_assert_int_eq(call(w), STATUS_IO);
    scratch_no_sync = false;
}

/* The file keeps its suffix and a note beside it: the next start reads it from
 * the disk again, and finds no whole record here. */
TEST(a_file_that_cannot_be_synced_is_read_again_by_the_next_start)
{
    char path[300];

    ck_ok(append());
    fails_to_sync(warc_sync);
    ck_assert_int_eq(append(), STATUS_IO);
    ck_assert_int_eq(warc_sync(w), STATUS_IO);
    snprintf(path, sizeof path, "%s/" NAME ".open", at.dir);
    ck_assert(unsynced_is_noted(path));
    fails_to_sync(warc_close);
    ck_assert(exists(NAME, ".open"));
    ck_assert(!exists(NAME, ""));
    reopen("here", 1 << 20);
    ck_assert(!unsynced_is_noted(path));
    ck_assert(!exists(NAME, ".open"));
    ck_ok(warc_close(w));
}

TEST(a_file_that_cannot_be_synced_at_its_end_keeps_its_suffix)
{
    ck_ok(append());
    fails_to_sync(warc_close);
    ck_assert(exists(NAME, ".open"));
    ck_assert(!exists(NAME, ""));
}

/* As when the next file is begun. */
TEST(a_file_that_cannot_be_finished_ends_all_writing)
{
    ck_ok(warc_close(w));
    reopen("here", 10);
    ck_ok(append());
    scratch_no_sync = true;
    ck_assert_int_eq(append(), STATUS_IO);
    scratch_no_sync = false;
    ck_assert_int_eq(append(), STATUS_IO);
    ck_assert_int_eq(warc_close(w), STATUS_IO);
}

TEST(without_a_name_the_machines_is_taken)
{
    char host[65], *found;

    ck_ok(warc_close(w));
    ck_assert_int_eq(gethostname(host, sizeof host), 0);
    for (char *p = host; *p != '\0'; p++)
        if (strchr("/ _", *p) != NULL)
            *p = '_';
    reopen(NULL, 1 << 20);
    ck_ok(append());
    found = strstr(file.at, "-00001-");
    ck_assert_ptr_nonnull(found);
    ck_assert_int_eq(strncmp(found + 7, host, strlen(host)), 0);
    ck_assert_str_eq(found + 7 + strlen(host), ".warc.gz");
    ck_ok(warc_close(w));
}

/* Octets of a file are counted before they are on the disk, too. */
TEST(a_record_stands_where_it_was_said_to)
{
    uint64_t before;

    ck_ok(append());
    before = offset;
    ck_ok(append());
    ck_assert_uint_eq(offset - before, strlen(RECORD));
    ck_ok(warc_sync(w));
    ck_ok(append());
    ck_assert_uint_eq(offset - before, 2 * strlen(RECORD));
    ck_ok(warc_close(w));
}
