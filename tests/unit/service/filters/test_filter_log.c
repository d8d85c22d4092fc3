/* SPDX-License-Identifier: MIT */
/* test_filter_log.c - what a log of filters gives back, whatever happened. */
#include "service/filters/filter_shelf_impl.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file/file.h"
#include "tests/unit/unit.h"

static char dir[64], path[80];

static void set_up(void)
{
    snprintf(dir, sizeof dir, "/tmp/urlweir-filter-log-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/log", dir);
    ck_assert_ptr_nonnull(freopen("/dev/null", "w", stderr));
}

static void tear_down(void)
{
    ck_ok(file_remove_tree(dir));
}

struct seen {
    uint64_t records, last, sum;
};

static void see(void *ctx, const struct filter_log_record *r)
{
    struct seen *s = ctx;

    ck_assert_uint_gt(r->number, s->last);
    s->last = r->number;
    s->records++;
    for (size_t i = 0; i < r->n; i++)
        s->sum += r->keys[i] * (r->op == FILTER_LOG_ADDED ? 1 : 3) +
                  r->name.len + (unsigned char)r->name.at[0];
}

static enum status reopened(struct seen *s, uint64_t *number)
{
    struct filter_log *l = NULL;
    enum status st;

    *s = (struct seen){.records = 0};
    st = filter_log_open(&l, path, see, s, number);
    filter_log_close(l);
    return st;
}

/* Returns the sum of what was written: `n` records of 0, 1, 2 ... keys. */
static uint64_t write_records(uint64_t n)
{
    static uint64_t keys[FILTER_LOG_KEYS];
    struct filter_log *l = NULL;
    struct seen s = {.records = 0};
    uint64_t number = 0;

    ck_ok(filter_log_open(&l, path, see, &s, &number));
    ck_assert_uint_eq(number, 0);
    for (uint64_t i = 1; i <= n; i++) {
        struct filter_log_record r = {
            .number = i,
            .op = i % 3 == 0 ? FILTER_LOG_REMOVED : FILTER_LOG_ADDED,
            .name =
                bytes_of("abcdefghijklmnopqrst" + i % 11, 1 + i % 11 % 7 % 5),
            .keys = keys,
            .n = i - 1};

        for (uint64_t k = 0; k < r.n; k++)
            keys[k] = i << 32 | k;
        filter_log_append(l, &r);
        see(&s, &r);
        if (i % 4 == 0)
            ck_ok(filter_log_sync(l));
    }
    ck_ok(filter_log_sync(l));
    filter_log_close(l);
    return s.sum;
}

FIXTURE(set_up, tear_down);

TEST(records_come_back_as_they_were_and_a_cleared_log_is_empty)
{
    uint64_t sum = write_records(200), number;
    struct filter_log *l = NULL;
    struct seen s;

    ck_ok(reopened(&s, &number));
    ck_assert_uint_eq(s.records, 200);
    ck_assert_uint_eq(number, 200);
    ck_assert_uint_eq(s.sum, sum);
    s = (struct seen){.records = 0};
    ck_ok(filter_log_open(&l, path, see, &s, &number));
    ck_assert_uint_gt(filter_log_size(l), (uint64_t)200 * 199 / 2 * 8);
    ck_ok(filter_log_clear(l));
    ck_assert_uint_eq(filter_log_size(l), 16);
    filter_log_close(l);
    ck_ok(reopened(&s, &number));
    ck_assert_uint_eq(s.records, 0);
}

/* The last record was never confirmed if it is not whole. */
TEST(a_log_cut_anywhere_gives_what_is_whole)
{
    uint64_t size, number;
    struct seen s;

    write_records(5);
    ck_ok(file_size(path, &size));
    while (size-- > 0) {
        uint64_t was = s.records;

        ck_assert_int_eq(truncate(path, (off_t)size), 0);
        ck_ok(reopened(&s, &number));
        ck_assert_uint_le(s.records, 4);
        ck_assert_uint_eq(number, s.records);
        ck_assert(size > 300 || s.records <= was);
        if (s.records == 0)
            break;
        ck_ok(file_size(path, &size));
    }
    ck_assert_uint_le(size, 16 + 40);
}

/* A flipped bit in a record before others must not pass for the end. */
TEST(each_flipped_bit_is_found_and_costs_one_record)
{
    uint64_t number;
    struct buf b;

    write_records(6);
    buf_init(&b, 1 << 20);
    ck_ok(file_read(path, &b));
    for (size_t bit = 0; bit < b.len * 8; bit++) {
        bool head = bit < 16 * 8, last = bit / 8 >= b.len - 32 - 8 - 40;
        struct seen s;
        enum status st;

        b.at[bit / 8] = (char)(b.at[bit / 8] ^ 1 << bit % 8);
        ck_ok(file_replace(path, buf_bytes(&b)));
        st = reopened(&s, &number);
        if (head)
            ck_assert(st == STATUS_FORMAT || st == STATUS_VERSION ||
                      s.records == 6);
        else
            ck_assert_msg(s.records == 5 &&
                              st == (last ? STATUS_OK : STATUS_DAMAGED),
                          "bit %zu: %llu, %s", bit,
                          (unsigned long long)s.records, status_text(st));
        b.at[bit / 8] = (char)(b.at[bit / 8] ^ 1 << bit % 8);
    }
    buf_fini(&b);
}

TEST(what_is_no_log_is_refused_and_stays_as_it_is)
{
    uint64_t number;
    struct seen s;
    struct buf b;

    ck_ok(file_replace(path, bytes_of_str("0123456789abcdef0123456789")));
    ck_assert_int_eq(reopened(&s, &number), STATUS_FORMAT);
    buf_init(&b, 100);
    ck_ok(file_read(path, &b));
    ck_assert(bytes_is(buf_bytes(&b), "0123456789abcdef0123456789"));
    buf_fini(&b);
}
