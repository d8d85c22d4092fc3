/* SPDX-License-Identifier: MIT */
/* test_trap_store.c - the evidence of the trap rules, as it is stored. */
#include "storage/rows/trap_store.h"

#include "tests/unit/storage/step_fault.h"

static struct scratch at;
static struct db *d;
static struct trap_store *s;

static void start(void)
{
    at = scratch_make();
    d = scratch_open(at.db, DB_CREATE);
    ck_ok(trap_store_open(&s, d));
}

static void end(void)
{
    trap_store_close(s);
    trap_store_close(NULL);
    db_close(d);
    scratch_remove(&at);
}

static char longest[TRAP_TAGS_MOST * TRAP_TAG_SIZE];

/* Row i has the id i + 1. */
static struct trap_row nth(unsigned i)
{
    static const char *const texts[] = {"a.test", "", "b.test/{n}"};

    memset(longest, 'x', sizeof longest);
    return (struct trap_row){
        .id = i + 1,
        .rule = i == 2 ? UINT8_MAX : (uint8_t)i,
        .owner =
            i == 2 ? bytes_of(longest, TRAP_TEXT_MOST) : bytes_of_str(texts[i]),
        .form = i == 2 ? bytes_of(longest, TRAP_TEXT_MOST)
                       : bytes_of_str(texts[2 - i]),
        .pages = i * 10,
        .score = i == 2 ? (uint64_t)TRAP_SCORE_MOST : i * 100,
        .body = i == 2 ? UINT64_MAX : i,
        .tags = bytes_of(longest, i == 2 ? sizeof longest : i * TRAP_TAG_SIZE),
    };
}

static void visit(void *ctx, const struct trap_row *row)
{
    unsigned *seen = ctx;
    struct trap_row want;

    ck_assert_uint_ge(row->id, 1);
    ck_assert_uint_le(row->id, 3);
    ck_assert_uint_eq(*seen >> row->id, 0); /* in order */
    want = nth((unsigned)row->id - 1);
    *seen |= 1U << row->id;
    ck_assert_uint_eq(row->rule, want.rule);
    ck_assert(bytes_equal(row->owner, want.owner));
    ck_assert(bytes_equal(row->form, want.form));
    ck_assert_uint_eq(row->pages, want.pages);
    ck_assert_uint_eq(row->score, want.score);
    ck_assert_uint_eq(row->body, want.body);
    ck_assert(bytes_equal(row->tags, want.tags));
}

static unsigned ids(void)
{
    unsigned seen = 0;

    ck_ok(trap_store_each(s, visit, &seen));
    return seen;
}

static void set_all(void)
{
    for (unsigned i = 3; i-- > 0;) {
        struct trap_row row = nth(i), other = row;

        other.form = bytes_of_str("another");
        other.tags = bytes_of(longest, 8);
        other.pages = other.score = other.body = 5;
        ck_ok(trap_store_set(s, &other));
        ck_ok(trap_store_set(s, &row)); /* newer */
    }
}

FIXTURE(start, end);

static void any(void *ctx, const struct trap_row *row)
{
    (void)ctx, (void)row;
}

TEST(rows_that_cannot_be_are_damage)
{
    static const char *const harms[] = {
        "id = -1",
        "rule = 256",
        "rule = -1",
        "pages = -1",
        "score = -1",
        "score = 281474976710657",
        "body = 'x'",
        "tags = zeroblob(3)",
        "tags = zeroblob(1025)",
        "tags = zeroblob(1028)",
        "owner = printf('%.*c', 513, 'x')",
        "form = printf('%.*c', 513, 'x')",
    };
    char sql[100];

    set_all();
    for (size_t i = 0; i < sizeof harms / sizeof *harms; i++) {
        ck_ok(db_begin(d));
        snprintf(sql, sizeof sql, "UPDATE trap SET %s WHERE id = 1", harms[i]);
        ck_ok(db_exec(d, sql));
        ck_assert_msg(trap_store_each(s, any, NULL) == STATUS_DAMAGED, "%s",
                      sql);
        db_rollback(d);
    }
    ck_assert_uint_eq(ids(), 1 << 1 | 1 << 2 | 1 << 3);
}
