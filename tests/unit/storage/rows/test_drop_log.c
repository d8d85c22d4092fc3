/* SPDX-License-Identifier: MIT */
/* test_drop_log.c - dropped URLs, as stored in blobs. */
/* Promise (Politeness): the log of drops is packed and bounded, and refused if
 * it is damaged. */
#include "storage/rows/drop_log.h"

#include <stdio.h>

#include "tests/unit/storage/step_fault.h"

#define DROPS 3000

static struct kept_drop nth(uint64_t i, char *text, size_t size)
{
    uint64_t state = i * 2 + 1;
    uint64_t r = scratch_random(&state);
    struct kept_drop k = {.reason = (uint8_t)(1 + r % 40)};

    if (r % 7 == 0) {
        k.id = 1 + r % 100000;
        k.reason_of_row = (uint8_t)(r % 40);
        k.text = bytes_of_str(r % 2 != 0 ? "text/plain" : "");
        return k;
    }
    snprintf(text, size, "http://h%d.example/%0*d", (int)(r % 5),
             1 + (int)(r % 90), (int)(r % 1000));
    k.text = bytes_of_str(text);
    k.via = i / 20;
    k.depth = (uint32_t)(i / 20 % 9);
    k.hops = r % 11 == 0 ? 3 : 0;
    k.kind = (uint8_t)(r % 29);
    k.place = r % 13 == 0 ? r << r % 40 : 0;
    k.on_its_level = r % 3 == 0;
    k.sent = r % 5 == 0;
    return k;
}

static struct drop_log *fill(struct db *d, uint64_t n)
{
    struct drop_log *l = NULL;
    char text[128];

    ck_ok(drop_log_open(&l, d));
    for (uint64_t i = 0; i < n; i++) {
        const struct kept_drop k = nth(i, text, sizeof text);

        ck_ok(drop_log_add(l, &k));
    }
    ck_ok(drop_log_flush(l));
    return l;
}

/* Cut anywhere, or with any octet changed, they are read or refused; nothing
 * reads beyond their end. */
TEST(damaged_entries_are_read_within_their_bounds_or_refused)
{
    struct scratch dir = scratch_make();
    struct db *d = scratch_open(dir.db, DB_CREATE);
    struct drop_log *l = fill(d, 30);
    char sql[256];
    int refused = 0;

    for (int i = 1; i < 400; i++) {
        struct drop_block b;
        enum status st;

        snprintf(sql, sizeof sql,
                 "CREATE TEMP TABLE IF NOT EXISTS was AS SELECT entries FROM"
                 " kept_drop; UPDATE kept_drop SET entries = "
                 "substr((SELECT entries FROM was), 1, %d) || x'%02x%02x'",
                 i, i * 37 % 256, i * 11 % 256);
        ck_ok(db_exec(d, sql));
        st = drop_log_next(l, 0, UINT64_MAX, &b);
        ck_assert(st == STATUS_OK || st == STATUS_DAMAGED);
        refused += st == STATUS_DAMAGED;
    }
    ck_assert_int_gt(refused, 100);
    drop_log_close(l);
    db_close(d);
    scratch_remove(&dir);
}

/* Known answers to the format in drop_log.c. */
TEST(its_octets_are_as_documented)
{
    const struct kept_drop all[] = {
        {.via = 5,
         .depth = 2,
         .kind = 3,
         .reason = 7,
         .text = bytes_of_str("http://a/b")},
        {.via = 5,
         .depth = 2,
         .kind = 4,
         .reason = 8,
         .hops = 1,
         .place = 9,
         .on_its_level = true,
         .sent = true,
         .text = bytes_of_str("http://a/c")},
        {.id = 6, .reason = 8, .reason_of_row = 9},
        {.via = 5,
         .depth = 300,
         .kind = 0,
         .reason = 63,
         .text = bytes_of_str("http://b/")},
        {.id = 200,
         .reason = 8,
         .reason_of_row = 9,
         .place = 1,
         .text = bytes_of_str("http")},
    };
    static const char octets[] = "320703050200"
                                 "0a687474703a2f2f612f62" /* all of it */
                                 "ec0804"
                                 "0109"
                                 "090163"   /* same page, shares 9 */
                                 "01080609" /* a row */
                                 "303f00"
                                 "ac02"
                                 "0702622f" /* 300 is ac 02 */
                                 "2508c80109"
                                 "01"
                                 "0400"; /* a row with a place */
    struct scratch dir = scratch_make();
    struct db *d = scratch_open(dir.db, DB_CREATE);
    struct drop_log *l = NULL;
    char sql[512];
    int64_t same = 0, reasons = 0;

    ck_ok(drop_log_open(&l, d));
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        ck_ok(drop_log_add(l, &all[i]));
    ck_ok(drop_log_flush(l));
    snprintf(sql, sizeof sql,
             "SELECT count(*) FROM kept_drop WHERE seq = 1 AND count = 5"
             " AND entries = x'%s'",
             octets);
    ck_ok(db_number(d, sql, &same));
    ck_assert_int_eq(same, 1);
    ck_ok(db_number(d, "SELECT reasons FROM kept_drop", &reasons));
    ck_assert_uint_eq((uint64_t)reasons,
                      UINT64_C(1) << 7 | UINT64_C(1) << 8 | UINT64_C(1) << 63);
    drop_log_close(l);
    db_close(d);
    scratch_remove(&dir);
}

static int64_t number(struct db *d, const char *sql)
{
    int64_t n = -1;

    ck_ok(db_number(d, sql, &n));
    return n;
}

static void expect_sums(struct drop_log *l, struct db *d)
{
    ck_assert_uint_eq(drop_log_last(l),
                      (uint64_t)number(d, "SELECT max(seq) FROM kept_drop"));
    ck_assert_uint_eq(drop_log_count(l),
                      (uint64_t)number(d, "SELECT sum(count) FROM kept_drop"));
    ck_assert_uint_eq(
        drop_log_bytes(l),
        (uint64_t)number(d, "SELECT sum(length(entries)) FROM kept_drop"));
}

/* What is not flushed yet counts; a block that is rewritten counts anew. */
TEST(it_counts_what_its_blocks_hold)
{
    struct scratch dir = scratch_make();
    struct db *d = scratch_open(dir.db, DB_CREATE);
    struct drop_log *l = fill(d, 1000);
    struct drop_block b = {.number = 0};
    struct kept_drop one = {.reason = 63,
                            .text = bytes_of_str("http://last.example/")};
    uint64_t count = drop_log_count(l), bytes = drop_log_bytes(l);

    ck_assert_uint_gt(drop_log_last(l), 1);
    expect_sums(l, d);
    ck_assert_uint_eq(drop_log_reasons(l) >> 63, 0);
    ck_ok(drop_log_add(l, &one));
    ck_assert_uint_eq(drop_log_count(l), count + 1);
    ck_assert_uint_gt(drop_log_bytes(l), bytes + 20);
    ck_assert_uint_lt(drop_log_bytes(l), bytes + 40);
    ck_assert_uint_eq(drop_log_reasons(l) >> 63, 1);
    ck_ok(drop_log_flush(l));
    ck_ok(drop_log_flush(l)); /* nothing is new */
    expect_sums(l, d);
    ck_assert_uint_eq(drop_log_reasons(l) >> 63, 1);
    ck_ok(drop_log_next(l, 0, UINT64_MAX, &b));
    ck_ok(drop_log_rewrite(l, b.number, b.at, b.count / 2));
    expect_sums(l, d);
    ck_ok(drop_log_next(l, 1, UINT64_MAX, &b));
    ck_assert_uint_eq(b.number, 2);
    ck_ok(drop_log_rewrite(l, b.number, b.at, 0));
    expect_sums(l, d);
    ck_assert_int_eq(number(d, "SELECT count(*) FROM kept_drop WHERE seq = 2"),
                     0);
    count = drop_log_count(l);
    bytes = drop_log_bytes(l);
    drop_log_close(l);
    ck_ok(drop_log_open(&l, d));
    ck_assert_uint_eq(drop_log_count(l), count);
    ck_assert_uint_eq(drop_log_bytes(l), bytes);
    ck_assert_uint_eq(drop_log_reasons(l) >> 63, 1);
    expect_sums(l, d);
    drop_log_close(l);
    db_close(d);
    scratch_remove(&dir);
}

TEST(blocks_that_cannot_be_are_damage)
{
    static const struct {
        const char *sql;
        bool opens;
    } all[] = {
        {"UPDATE kept_drop SET count = count + 1", true},
        {"UPDATE kept_drop SET count = -1", false},
        {"UPDATE kept_drop SET seq = -seq", false},
        {"UPDATE kept_drop SET entries = x'' WHERE seq = 1", true},
        /* another reason than there are, an id, no text, a length */
        {"UPDATE kept_drop SET count = 1, entries = x'20400001013f'", true},
        {"UPDATE kept_drop SET count = 1, entries = x'010100'", true},
        {"UPDATE kept_drop SET count = 1, entries = x'000100'", true},
        {"UPDATE kept_drop SET count = 1, entries = x'2001000001'", true},
        {"UPDATE kept_drop SET count = 1, entries = x'200100013f3f'", true},
    };

    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct scratch dir = scratch_make();
        struct db *d = scratch_open(dir.db, DB_CREATE);
        struct drop_log *l = fill(d, 10);
        enum status st;

        drop_log_close(l);
        l = NULL;
        ck_ok(db_exec(d, all[i].sql));
        st = drop_log_open(&l, d);
        ck_assert_int_eq(st, all[i].opens ? STATUS_OK : STATUS_DAMAGED);
        if (st == STATUS_OK)
            ck_assert_msg(drop_log_verify(l) == STATUS_DAMAGED, "%s",
                          all[i].sql);
        drop_log_close(l);
        db_close(d);
        scratch_remove(&dir);
    }
}
