/* SPDX-License-Identifier: MIT */
/* test_origins.c - the prefixes of URLs, stored once for each queue. */
#include "storage/index/origins.h"

#include "tests/unit/storage/scratch.h"

#define QUEUES 50
#define MANY   3000 /* more than the lines of the smallest cache */

static struct scratch dir;
static struct db *d;
static struct origins *o;

static void open_origins(void)
{
    ck_ok(origins_open(&o, d, QUEUES, 0));
}

static void begin(void)
{
    scratch_quiet();
    dir = scratch_make();
    d = scratch_open(dir.db, DB_CREATE);
    open_origins();
}

static void end(void)
{
    origins_close(o);
    db_close(d);
    scratch_remove(&dir);
}

static uint32_t number(uint32_t queue, const char *prefix)
{
    uint32_t n = 0;

    ck_ok(origins_number(o, queue, bytes_of_str(prefix), &n));
    return n;
}

static void expect(uint32_t origin, const char *prefix)
{
    struct buf text;

    buf_init(&text, 4096);
    buf_add_char(&text, '<');
    ck_ok(origins_prefix(o, origin, &text));
    ck_assert_str_eq(buf_str(&text) + 1, prefix);
    buf_fini(&text);
}

FIXTURE(begin, end);

/* Prefixes of 59 octets are cached, longer ones read; both come back, also when
 * none, some or all were gathered before. */
TEST(prefixes_of_any_length_and_number_come_back)
{
    static const uint64_t most[] = {0, MANY * 4 + 1, MANY * 20, UINT64_MAX};
    char text[128];

    ck_ok(db_begin(d));
    for (uint32_t i = 0; i < MANY; i++) {
        snprintf(text, sizeof text, "http://%0*u.test", (int)(1 + i % 80), i);
        ck_assert_uint_eq(number(1 + i % QUEUES, text), i + 1);
    }
    ck_ok(db_commit(d));
    for (int round = 0; round < 4; round++) {
        ck_ok(origins_gather(o, most[round]));
        for (uint32_t i = 0; i < MANY; i++) {
            snprintf(text, sizeof text, "http://%0*u.test", (int)(1 + i % 80),
                     i);
            expect(i + 1, text);
            expect(i + 1, text);
            ck_assert_uint_eq(origins_queue(o, i + 1), 1 + i % QUEUES);
            ck_assert_uint_eq(number(1 + i % QUEUES, text), i + 1);
        }
        (void)number(1, "http://after.test");
        expect(MANY + 1, "http://after.test");
        ck_assert_uint_eq(origins_count(o), MANY + 1);
        if (round % 2 == 0)
            origins_let_go(o);
        expect(1, "http://0.test");
        origins_close(o);
        open_origins();
    }
}

TEST(an_origin_that_does_not_exist_is_damage)
{
    struct buf text;

    buf_init(&text, 100);
    (void)number(1, "http://a.test");
    ck_assert_int_eq(origins_prefix(o, 0, &text), STATUS_DAMAGED);
    ck_assert_int_eq(origins_prefix(o, 2, &text), STATUS_DAMAGED);
    ck_assert_int_eq(origins_prefix(o, 1025, &text), STATUS_DAMAGED);
    ck_assert_uint_eq(text.len, 0);
    buf_fini(&text);
}

TEST(rows_that_cannot_be_are_damage)
{
    static const struct {
        const char *sql;
        bool damage;
    } all[] = {
        {"INSERT INTO origin VALUES(1, 1, 'a'), (2, 1, 'b')", false},
        {"INSERT INTO origin VALUES(1, 50, 'a')", false},
        {"INSERT INTO origin VALUES(1, 51, 'a')", true},
        {"INSERT INTO origin VALUES(1, 0, 'a')", true},
        {"INSERT INTO origin VALUES(1, -1, 'a')", true},
        {"INSERT INTO origin VALUES(2, 1, 'a')", true},
        {"INSERT INTO origin VALUES(0, 1, 'a')", true},
        {"INSERT INTO origin VALUES(1, 1, 'a'), (3, 1, 'b')", true},
        {"INSERT INTO origin VALUES(1, 1, 'a'), (2, 1, 'a')", true},
        {"INSERT INTO origin VALUES(1, 1, 'a'), (2, 2, 'a')", false},
    };

    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct origins *other = NULL;

        ck_ok(db_exec(d, "DELETE FROM origin"));
        ck_ok(db_exec(d, all[i].sql));
        ck_assert_int_eq(origins_open(&other, d, QUEUES, 0),
                         all[i].damage ? STATUS_DAMAGED : STATUS_OK);
        origins_close(other);
    }
}

/* Memory for the cache is clamped, and an origin costs little. */
TEST(its_memory_is_bounded)
{
    struct origins *small = NULL, *large = NULL;
    uint64_t before = origins_memory(o);
    char text[64];

    ck_ok(origins_open(&small, d, QUEUES, 1000));
    ck_ok(origins_open(&large, d, QUEUES, UINT64_MAX));
    ck_assert_uint_eq(origins_memory(small), before);
    ck_assert_uint_ge(before, 64 << 10);
    ck_assert_uint_le(before, 68 << 10);
    ck_assert_uint_ge(origins_memory(large), 4 << 20);
    ck_assert_uint_le(origins_memory(large), (4 << 20) + (4 << 10));
    origins_close(small);
    origins_close(large);
    ck_ok(origins_open(&large, d, QUEUES, 1 << 20));
    ck_assert_uint_ge(origins_memory(large), 1 << 20);
    ck_assert_uint_le(origins_memory(large), (1 << 20) + (4 << 10));
    origins_close(large);
    ck_ok(db_begin(d));
    for (uint32_t i = 0; i < MANY; i++) {
        snprintf(text, sizeof text, "http://%u.test", i);
        (void)number(1, text);
    }
    ck_ok(db_commit(d));
    ck_assert_uint_ge(origins_memory(o) - before, 21 * MANY);
    ck_assert_uint_le(origins_memory(o) - before, 40 * MANY);
}
