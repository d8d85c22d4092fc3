/* SPDX-License-Identifier: MIT */
/* test_blocklist.c - the filter and exact file that keep URLs out. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file/file.h"
#include "base/logger.h"
#include "base/mem.h"
#include "filter/checkpoint.h"
#include "frontier/seen/blocklist.h"
#include "tests/unit/unit.h"

static char dir[64], list[96], kept[96], filter_path[96];
static struct buf why;

static void start(void)
{
    logger_set_level(LOG_LEVEL_ERROR);
    snprintf(dir, sizeof dir, "/tmp/urlweir-block.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(dir));
    snprintf(list, sizeof list, "%s/list", dir);
    snprintf(kept, sizeof kept, "%s/kept", dir);
    snprintf(filter_path, sizeof filter_path, "%s/filter", dir);
    buf_init(&why, 4096);
}

static void end(void)
{
    buf_fini(&why);
    unlink(list);
    unlink(kept);
    unlink(filter_path);
    rmdir(dir);
}

static struct bytes nth_url(char *room, size_t size, uint64_t n)
{
    int len = snprintf(room, size, "http://h%llu.example/p/%llu",
                       (unsigned long long)(n % 97), (unsigned long long)n);

    return bytes_of(room, (size_t)len);
}

/* Writes every `step`th URL below `n`, in no particular order. */
static void write_list(uint64_t n, uint64_t step)
{
    FILE *f = fopen(list, "w");
    char room[100];

    for (uint64_t i = 0; i < n / step; i++) {
        uint64_t at = i * 7919 % (n / step) * step;
        struct bytes u = nth_url(room, sizeof room, at);

        fprintf(f, "%.*s\n", (int)u.len, u.at);
    }
    fclose(f);
}

FIXTURE(start, end);

TEST(an_exact_list_agrees_with_the_lines_it_was_made_of)
{
    static const uint64_t sizes[] = {1, 2, 3, 1000, 50000};

    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        struct block_exact *b = NULL;
        uint64_t n = sizes[k] * 3;
        char room[100];

        write_list(n, 3);
        ck_ok(block_exact_open(&b, list, kept, &why));
        ck_assert_uint_eq(block_exact_count(b), sizes[k]);
        for (uint64_t i = 0; i < n + 3; i++) {
            bool has;

            ck_ok(block_exact_has(b, nth_url(room, sizeof room, i), &has));
            ck_assert_int_eq(has, i % 3 == 0 && i < n);
        }
        block_exact_close(b);
    }
}

TEST(lines_are_canonicalised_once_each)
{
    static const char text[] = "\xef\xbb\xbfHTTP://A.example:80/x/../y\n\n"
                               "http://a.example/y\r\n"
                               "# a comment\n"
                               "  http://b.example/%7e  # another\n"
                               "http://c.example/\xe9\r\n"
                               "http://last.example/";
    static const char *const urls[] = {"http://a.example/y",
                                       "http://b.example/~",
                                       "http://c.example/%E9",
                                       "http://last.example/"};
    struct block_exact *b = NULL;
    bool has;

    ck_ok(file_replace(list, bytes_of_str(text)));
    ck_ok(block_exact_open(&b, list, kept, &why));
    ck_assert_uint_eq(block_exact_count(b), 4);
    for (size_t i = 0; i < 4; i++) {
        ck_ok(block_exact_has(b, bytes_of_str(urls[i]), &has));
        ck_assert_msg(has, "%s", urls[i]);
    }
    block_exact_close(b);
}

/* It would block less than it was meant to, without a word. */
TEST(a_list_that_may_not_say_all_is_refused)
{
    static const struct {
        const char *text, *why;
        size_t len;
    } lists[] = {
        {"", "/list: it holds no URL", 0},
        {"# none\n \n", "/list: it holds no URL", 9},
        {"http://a/\nb.example/x\n",
         "/list: line 2: 'b.example/x' is not an http(s) URL (relative)", 22},
        {"ftp://a/", "/list: line 1: 'ftp://a/' is not an http(s) URL (scheme)",
         8},
        {"\x1f\x8b\x08\0\0\0\0\0\0\x03", "/list: its gzip data is cut short",
         10},
    };
    struct block_exact *b = NULL;

    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        buf_clear(&why);
        ck_ok(file_replace(list, bytes_of(lists[i].text, lists[i].len)));
        ck_assert_int_eq(block_exact_open(&b, list, kept, &why), STATUS_FORMAT);
        ck_assert_msg(strstr(buf_str(&why), lists[i].why) != NULL, "%s",
                      buf_str(&why));
        ck_assert_ptr_null(b);
    }
}

/* A file with any flipped bit or any other length is made again from the list,
 * never trusted. */
TEST(what_was_kept_and_is_damaged_is_made_again)
{
    struct block_exact *b = NULL;
    struct buf whole;
    bool has;

    buf_init(&whole, 1 << 20);
    write_list(90, 3);
    ck_ok(block_exact_open(&b, list, kept, &why));
    block_exact_close(b);
    ck_ok(file_read(kept, &whole));
    for (size_t i = 0; i < whole.len; i++) {
        char room[100];

        whole.at[i] ^= 4;
        ck_ok(file_replace(kept, i % 2 == 0 ? buf_bytes(&whole)
                                            : bytes_of(whole.at, i)));
        whole.at[i] ^= 4;
        ck_ok(block_exact_open(&b, list, kept, &why));
        ck_ok(block_exact_has(b, nth_url(room, sizeof room, 42), &has));
        ck_assert(has);
        ck_assert_uint_eq(block_exact_count(b), 30);
        block_exact_close(b);
    }
    buf_fini(&whole);
}

static bool blocks(const char *text, int64_t changed_at, const char *url)
{
    const struct timespec times[2] = {{.tv_nsec = UTIME_OMIT},
                                      {.tv_sec = changed_at}};
    struct block_exact *b = NULL;
    bool has;

    ck_ok(file_replace(list, bytes_of_str(text)));
    ck_assert_int_eq(utimensat(AT_FDCWD, list, times, 0), 0);
    ck_ok(block_exact_open(&b, list, kept, &why));
    ck_ok(block_exact_has(b, bytes_of_str(url), &has));
    block_exact_close(b);
    return has;
}

TEST(a_list_has_changed_if_its_size_or_its_time_has)
{
    ck_assert(blocks("http://h/1\n", 1000, "http://h/1"));
    ck_assert(!blocks("http://h/2\n", 1001, "http://h/1"));
    ck_assert(blocks("http://h/33\n", 1001, "http://h/33"));
    ck_assert(!blocks("http://h/44\n", 1001, "http://h/44")); /* as before */
    ck_assert(blocks("http://h/44\n", 999, "http://h/44"));
}

TEST(a_list_that_cannot_be_read_is_an_error_and_no_empty_one)
{
    struct block_exact *b = NULL;

    ck_assert_int_eq(block_exact_open(&b, dir, kept, &why), STATUS_IO);
    ck_assert_ptr_null(b);
}

TEST(a_list_that_changed_is_read_again_and_one_that_did_not_is_not)
{
    struct block_exact *b = NULL;
    struct stat before, after;

    write_list(300, 3);
    ck_ok(block_exact_open(&b, list, kept, &why));
    block_exact_close(b);
    ck_assert_int_eq(stat(kept, &before), 0);
    ck_ok(block_exact_open(&b, list, kept, &why));
    block_exact_close(b);
    ck_assert_int_eq(stat(kept, &after), 0);
    ck_assert_uint_eq(before.st_ino, after.st_ino);
    write_list(600, 3);
    ck_ok(block_exact_open(&b, list, kept, &why));
    ck_assert_uint_eq(block_exact_count(b), 200);
    block_exact_close(b);
    unlink(list);
    logger_set_level(LOG_LEVEL_ERROR);
    b = NULL;
    ck_assert_int_eq(block_exact_open(&b, list, kept, &why), STATUS_NOT_FOUND);
    ck_assert_ptr_null(b);
}

/* ---- with a filter ---- */

static void write_filter_of(uint64_t n, uint64_t step, double fpr,
                            bool open_seed, enum checkpoint_keys are)
{
    struct filter_options o = {.kind = "bloom", .expect = n + 1, .fpr = fpr};
    struct checkpoint_id id = {.has_seed = open_seed, .keys = are};
    struct digest_key key;
    struct filter *f = NULL;
    char room[100];

    digest_key_init(&key, id.seed);
    id.seed_print = checkpoint_seed_print(&key);
    ck_ok(filter_new(&f, &o));
    for (uint64_t i = 0; i < n; i += step) {
        uint64_t k = digest_bytes(&key, nth_url(room, sizeof room, i)).hi;

        ck_ok(filter_add(f, &k, 1, NULL));
    }
    ck_ok(checkpoint_save(filter_path, f, &id));
    filter_free(f);
}

static void write_filter(uint64_t n, uint64_t step, double fpr, bool open_seed)
{
    write_filter_of(n, step, fpr, open_seed, CHECKPOINT_KEYS_URLS);
}

/* Counts how many of the first n URLs are blocked; every third must be. */
static uint64_t count_blocked(struct blocklist *b, uint64_t n)
{
    static char room[3000][100];
    static struct bytes urls[3000];
    static bool blocked[3000];
    uint64_t got = 0;

    for (uint64_t i = 0; i < n; i++)
        urls[i] = nth_url(room[i], sizeof room[i], i);
    ck_ok(blocklist_check(b, urls, n, blocked));
    for (uint64_t i = 0; i < n; i++) {
        ck_assert(blocked[i] || i % 3 != 0);
        got += blocked[i];
    }
    return got;
}

TEST(a_filter_alone_blocks_its_false_positives_and_a_list_lets_them_in)
{
    struct blocklist_options o = {.filter = filter_path, .kept = kept};
    struct blocklist *b = NULL;
    struct blocklist_counts c;
    struct buf error;
    uint64_t got;

    buf_init(&error, 1000);
    write_filter(3000, 3, 0.5, true);
    write_list(3000, 3);
    ck_ok(blocklist_open(&b, &o, &error));
    got = count_blocked(b, 3000);
    ck_assert_uint_gt(got, 1020);
    ck_assert_double_gt(blocklist_size(b).rate, 0.01);
    ck_assert_uint_eq(blocklist_size(b).exact_keys, 0);
    blocklist_close(b);

    o.exact = list;
    ck_ok(blocklist_open(&b, &o, &error));
    ck_assert_uint_eq(count_blocked(b, 3000), 1000);
    c = blocklist_counts(b);
    ck_assert_uint_eq(c.asked, 3000);
    ck_assert_uint_eq(c.blocked, 1000);
    ck_assert_uint_eq(c.false_positives, got - 1000);
    ck_assert_uint_eq(blocklist_size(b).exact_keys, 1000);
    blocklist_close(b);
    buf_fini(&error);
}

/* Promise (Seen check and store): a blocklist that is empty, cut short, or
 * not of canonical URLs stops a crawl before it fetches anything; if the
 * kind of its keys is unknown, the crawl says so. See also
 * `blocklist/a_list_that_may_not_say_all_is_refused`,
 * `tests/cli/blocklist.sh`. */
/* A guard that blocks nothing must not look like one that works. */
TEST(a_filter_that_would_block_nothing_is_refused)
{
    static const struct {
        uint64_t keys;
        enum checkpoint_keys are;
        enum status want;
        const char *why;
    } cases[] = {
        {0, CHECKPOINT_KEYS_URLS, STATUS_FORMAT, "/filter: it is empty"},
        {3, CHECKPOINT_KEYS_OTHER, STATUS_FORMAT,
         "/filter: its keys are not canonical URLs"},
        {3, CHECKPOINT_KEYS_UNKNOWN, STATUS_OK, ""}, /* and a warning */
        {3, CHECKPOINT_KEYS_URLS, STATUS_OK, ""},
    };
    struct blocklist_options o = {.filter = filter_path, .kept = kept};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct blocklist *b = NULL;

        buf_clear(&why);
        write_filter_of(cases[i].keys, 1, 0.01, true, cases[i].are);
        ck_assert_int_eq(blocklist_open(&b, &o, &why), cases[i].want);
        ck_assert_ptr_nonnull(strstr(buf_str(&why), cases[i].why));
        ck_assert((b == NULL) == (cases[i].want != STATUS_OK));
        blocklist_close(b);
    }
}

TEST(what_cannot_be_a_blocklist_is_refused_with_a_sentence)
{
    struct blocklist_options o = {.filter = filter_path, .kept = kept};
    static const char *const wrong[] = {"redis://:", "redis://h?k=5",
                                        "redis+unix:///nowhere?timeout=1s"};
    struct blocklist *b = NULL;
    struct buf error;

    buf_init(&error, 1000);
    ck_assert_int_eq(blocklist_open(&b, &o, &error), STATUS_NOT_FOUND);
    ck_assert_uint_gt(error.len, 0);
    write_filter(10, 1, 0.01, false);
    buf_clear(&error);
    ck_assert_int_eq(blocklist_open(&b, &o, &error), STATUS_ARG);
    ck_assert_ptr_nonnull(strstr(buf_str(&error), "secret"));
    for (size_t i = 0; i < 3; i++) {
        o.filter = wrong[i];
        buf_clear(&error);
        ck_assert_int_ne(blocklist_open(&b, &o, &error), STATUS_OK);
        ck_assert_uint_gt(error.len, 0);
    }
    ck_assert_ptr_null(b);
    buf_fini(&error);
}
