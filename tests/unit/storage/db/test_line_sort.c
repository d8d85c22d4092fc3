/* SPDX-License-Identifier: MIT */
/* test_line_sort.c - sorts more lines than fit into memory. */
#include "storage/db/line_sort.h"

#include <stdlib.h>

#include "tests/unit/storage/scratch.h"

static enum status add_to_text(void *ctx, struct bytes line)
{
    buf_add_bytes(ctx, line);
    return STATUS_OK;
}

static void add(struct line_sort *s, const char *line)
{
    ck_ok(line_sort_add(s, bytes_of_str(line)));
}

/* The lines that come out, each with its LF. */
static void expect(struct line_sort *s, const char *lines)
{
    struct buf text;

    buf_init(&text, 1 << 20);
    ck_ok(line_sort_each(s, add_to_text, &text));
    ck_assert_str_eq(buf_str(&text), lines);
    buf_fini(&text);
    line_sort_free(s);
}

FIXTURE(scratch_quiet, NULL);

TEST(a_sorted_file_is_merged_with_or_without_its_last_lf)
{
    struct scratch dir = scratch_make();
    char path[128];

    snprintf(path, sizeof path, "%s/sorted", dir.dir);
    for (int cut = 0; cut < 2; cut++) {
        struct line_sort *s = line_sort_new(dir.dir, 100);
        FILE *f = fopen(path, "we");

        fputs(cut ? "a\nc\ne" : "a\nc\ne\n", f);
        fclose(f);
        add(s, "b");
        add(s, "f");
        add(s, "c");
        ck_ok(line_sort_add_sorted(s, path));
        ck_ok(line_sort_add_sorted(s, "/nowhere"));
        expect(s, "a\nb\nc\nc\ne\nf\n");
    }
    scratch_remove(&dir);
}

TEST(what_cannot_be_read_or_written_is_told)
{
    struct scratch dir = scratch_make();
    struct line_sort *s = line_sort_new("/nowhere", 1);
    struct buf text;

    buf_init(&text, 1024);
    ck_assert_int_ne(line_sort_add(s, bytes_of_str("a")), STATUS_OK);
    line_sort_free(s);
    s = line_sort_new("/nowhere", 100);
    add(s, "a");
    ck_assert_int_ne(line_sort_each(s, add_to_text, &text), STATUS_OK);
    line_sort_free(s);
    s = line_sort_new(dir.dir, 100);
    add(s, "a");
    ck_assert_int_ne(line_sort_add_sorted(s, "/dev/null/x"), STATUS_OK);
    ck_ok(line_sort_add_sorted(s, dir.dir));
    ck_assert_int_ne(line_sort_each(s, add_to_text, &text), STATUS_OK);
    ck_assert_uint_eq(text.len, 0);
    line_sort_free(s);
    buf_fini(&text);
    scratch_remove(&dir);
}

/* Files of a few octets: a full disk is met at the first run. */
TEST(a_full_disk_is_told)
{
    struct scratch dir = scratch_make();
    struct line_sort *s = line_sort_new(dir.dir, 1000);
    enum status st = STATUS_OK;

    scratch_limit_files(100);
    for (int i = 0; st == STATUS_OK && i < 1000; i++)
        st = line_sort_add(s, bytes_of_str("a line"));
    ck_assert_int_ne(st, STATUS_OK);
    line_sort_free(s);
    scratch_remove(&dir);
}

#define LINES 5000

struct order {
    char last[32];
    uint64_t count, sum;
};

static enum status check_order(void *ctx, struct bytes line)
{
    struct order *o = ctx;
    char text[32];

    snprintf(text, sizeof text, "%.*s", (int)line.len - 1, line.at);
    ck_assert_int_le(strcmp(o->last, text), 0);
    memcpy(o->last, text, sizeof text);
    o->count++;
    o->sum += strtoull(text, NULL, 10);
    return STATUS_OK;
}

/* More lines than the array of lines begins with, in many runs and in one. */
TEST(many_lines_come_out_complete_and_in_order)
{
    static const size_t memories[] = {1000, 1 << 20};

    for (size_t i = 0; i < 2; i++) {
        struct scratch dir = scratch_make();
        struct line_sort *s = line_sort_new(dir.dir, memories[i]);
        struct order o = {.count = 0};
        uint64_t random = 5, sum = 0;

        for (int k = 0; k < LINES; k++) {
            uint64_t v = scratch_below(&random, 100000);
            char text[32];

            snprintf(text, sizeof text, "%llu", (unsigned long long)v);
            add(s, text);
            sum += v;
        }
        ck_ok(line_sort_each(s, check_order, &o));
        ck_assert_uint_eq(o.count, LINES);
        ck_assert_uint_eq(o.sum, sum);
        line_sort_free(s);
        scratch_remove(&dir);
    }
}
