/* SPDX-License-Identifier: MIT */
/* test_jsonl_tail.c - where writing to an existing file of lines continues. */
#include "job/jsonl_tail.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mem.h"
#include "tests/unit/unit.h"

#define LINE(seq) "{\"seq\": " #seq ", \"url\": \"http://a/" #seq "\"}\n"

/* The store of these tests has the rows 1, 2, 4 and 5. */
static bool is_ours(void *ctx, uint64_t seq, struct bytes line)
{
    char want[64];

    (void)ctx;
    snprintf(want, sizeof want, "{\"seq\": %llu, \"url\": \"http://a/%llu\"}",
             (unsigned long long)seq, (unsigned long long)seq);
    return seq != 3 && bytes_is(line, want);
}

static enum status tail(const void *content, size_t len, uint64_t *keep,
                        uint64_t *seq)
{
    int fd = memfd_create("lines", 0);
    enum status st;

    ck_assert_int_eq(write(fd, content, len), (ssize_t)len);
    st = jsonl_tail(fd, 5, is_ours, NULL, keep, seq);
    close(fd);
    return st;
}

static void goes_on(const char *kept, const char *cut, size_t cut_len,
                    uint64_t want_seq)
{
    size_t len = strlen(kept);
    char *all = xmalloc(len + cut_len + 1);
    uint64_t keep, seq;

    memcpy(all, kept, len);
    memcpy(all + len, cut, cut_len);
    ck_ok(tail(all, len + cut_len, &keep, &seq));
    ck_assert_uint_eq(keep, len);
    ck_assert_uint_eq(seq, want_seq);
    free(all);
}

static void zeros_refused(const char *content, size_t len)
{
    uint64_t keep, seq;

    ck_assert_int_eq(tail(content, len, &keep, &seq), STATUS_FORMAT);
}

static void refused(const char *content)
{
    zeros_refused(content, strlen(content));
}

TEST(zeros_of_a_power_cut_are_cut_with_all_that_follows)
{
    goes_on(LINE(1), "{\"seq\": 2\0\0\0\0\0\n" LINE(4) LINE(5),
            15 + sizeof(LINE(4) LINE(5)) - 1, 1);
    goes_on(LINE(1) LINE(2), "\0\0\0\n" LINE(5), 4 + sizeof(LINE(5)) - 1, 2);
    goes_on("", "\0\n" LINE(4) "\0\n" LINE(5), 4 + sizeof(LINE(4) LINE(5)) - 1,
            0);
}

/* With the first line its end was lost. */
TEST(a_line_behind_zeros_shows_whose_file_it_is)
{
    goes_on("", "\0\0\0" LINE(2), 3 + sizeof(LINE(2)) - 1, 0);
    goes_on("", "{\"seq\": 1\0" LINE(2) LINE(6),
            10 + sizeof(LINE(2) LINE(6)) - 1, 0);
    zeros_refused("\0\0" LINE(3), 2 + sizeof(LINE(3)) - 1);
    zeros_refused("\0text\n", 6);
}

TEST(lines_the_store_has_lost_are_cut_behind_one_it_has)
{
    goes_on(LINE(4) LINE(5), LINE(6) LINE(7), 2 * strlen(LINE(6)), 5);
    refused(LINE(6) LINE(7));
}

TEST(files_of_others_are_refused)
{
    refused("text\n");
    refused("text");
    refused("\n");
    refused(LINE(1) "text\n");
    refused(LINE(1) "text");
    refused(LINE(1) "\n");
    refused("{\"seq\": 1, \"url\": \"http://b/1\"}\n");
    refused(LINE(3)); /* not a final row */
    refused("{\"seq\": 0, \"url\": \"http://a/0\"}\n");
    refused("{\"seq\": 99999999999999999999999, \"url\": \"\"}\n");
    refused("{\"seq\": x}\n{\"seq\": 1}");
    refused("text\n" LINE(6));
}

TEST(long_lines_and_blocks_are_read_across)
{
    size_t most = 300000;
    char *all = xmalloc(most + 200);
    uint64_t keep, seq;

    for (size_t n = 65480; n < 65600; n++) {
        size_t len = strlen(LINE(1) LINE(4));

        memcpy(all, LINE(1) LINE(4), len);
        memset(all + len, 'x', n);
        memcpy(all + len, "{\"seq\": 5, ", 11);
        ck_ok(tail(all, len + n, &keep, &seq));
        ck_assert_uint_eq(keep, len);
        ck_assert_uint_eq(seq, 4);
    }
    free(all);
}
