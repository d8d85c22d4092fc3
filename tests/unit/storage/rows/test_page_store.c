/* SPDX-License-Identifier: MIT */
/* test_page_store.c - fetch rows, string table, bodies and robots files. */
#include "storage/rows/page_store.h"

#include "base/mem.h"
#include "tests/unit/storage/scratch.h"

struct pages {
    struct scratch dir;
    struct db *d;
    struct page_store *s;
};

static void reopen(struct pages *p, enum db_mode mode)
{
    page_store_close(p->s);
    db_close(p->d);
    p->d = scratch_open(p->dir.db, mode);
    ck_ok(page_store_open(&p->s, p->d));
}

static struct pages make(void)
{
    struct pages p = {.dir = scratch_make()};

    reopen(&p, DB_CREATE);
    return p;
}

static void done(struct pages *p)
{
    page_store_close(p->s);
    db_close(p->d);
    scratch_remove(&p->dir);
}

static bool count_words(void *ctx, const struct fetch_row *row)
{
    char mime[32];

    snprintf(mime, sizeof mime, "x/%llu", (unsigned long long)row->url);
    ck_assert(bytes_is(row->mime, mime));
    ++*(uint64_t *)ctx;
    return true;
}

#define WORDS_MOST 32768 /* in table word */

/* Other people choose MIME types: past the ceiling, the row itself holds the
 * text. */
TEST(words_without_end_do_not_grow_the_table_without_end)
{
    struct pages p = make();
    uint64_t n = WORDS_MOST + 100, seq, seen = 0;
    int64_t words = 0;

    ck_ok(db_begin(p.d));
    for (uint64_t i = 1; i <= n; i++) {
        char mime[32];
        struct fetch_row row = {.url = i};

        snprintf(mime, sizeof mime, "x/%llu", (unsigned long long)i);
        row.mime = bytes_of_str(mime);
        SAME(page_store_add(p.s, &row, &seq), STATUS_OK);
    }
    ck_ok(db_commit(p.d));
    reopen(&p, DB_WRITE);
    ck_ok(page_store_each(p.s, 0, count_words, &seen));
    ck_assert_uint_eq(seen, n);
    ck_ok(db_number(p.d, "SELECT count(*) FROM word", &words));
    ck_assert_int_eq(words, WORDS_MOST);
    done(&p);
}

/* ---- records that are lost ---- */

#define LOST "warc/lost.warc.gz"

static bool is_lost(void *ctx, const struct page_record *r)
{
    ++*(unsigned *)ctx;
    return bytes_is(r->file, LOST) || r->of_lost;
}

/* Five rows: without a record, lost, referring to that, here, here. */
TEST(a_lost_record_is_told_from_none_and_from_one_that_is_here)
{
    static const char *const files[] = {"", LOST, "warc/a", "warc/b", "warc/b"};
    const bool lost[] = {false, true, true, false, false};
    struct pages p = make();
    uint64_t seq, upto = 0;
    unsigned judged = 0;
    bool over = false, yes;

    ck_ok(page_store_watch_bodies(p.s, UINT64_C(1) << 18));
    ck_ok(db_begin(p.d));
    for (uint64_t i = 0; i < 5; i++) {
        struct fetch_row row = {.url = i + 1,
                                .warc_file = bytes_of_str(files[i]),
                                .warc_length = i > 0 ? 9 : 0,
                                .body_digest = {1, i == 2 ? 2 : i + 1}};

        ck_ok(page_store_add(p.s, &row, &seq));
    }
    while (!over)
        ck_ok(page_store_lose_records(p.s, &upto, 2, is_lost, &judged, &over));
    ck_assert_uint_eq(judged, 4);
    upto = 0;
    ck_ok(page_store_lose_records(p.s, &upto, 9, is_lost, &judged, &over));
    ck_assert_uint_eq(judged, 6); /* those that are here */
    ck_ok(db_commit(p.d));
    for (uint64_t i = 0; i < 5; i++) {
        ck_ok(page_store_is_lost(p.s, i + 1, &yes));
        ck_assert(yes == lost[i]);
    }
    done(&p);
}

/* ---- bodies ---- */

#define MEMORY (UINT64_C(1) << 18)

static void watch(struct pages *p)
{
    ck_ok(page_store_watch_bodies(p->s, MEMORY));
}

static uint64_t first_of(struct pages *p, struct digest d)
{
    struct first_body first;

    SAME(page_store_first_with_body(p->s, d, &first), STATUS_OK);
    if (first.seq != 0) {
        SAME(first.url, first.seq * 10);
        SAME(page_store_url_of(p->s, first.seq), first.seq * 10);
    }
    return first.seq;
}

static uint64_t add_body(struct pages *p, struct digest d)
{
    struct fetch_row row = {.url = (page_store_last_seq(p->s) + 1) * 10,
                            .body_digest = d};
    uint64_t seq;

    SAME(page_store_add(p->s, &row, &seq), STATUS_OK);
    return row.same_as;
}

/* Promise (Archives): a known body is found at any size, and marked; its links
 * are followed or not, as asked. See also `tests/cli/dup-content.sh`,
 * `page_store/an_index_of_bodies_that_lies_is_found`. */
/* A rollback is forgotten, a commit is not, no matter how much of it had been
 * merged into pages. */
TEST(bodies_are_known_as_a_plain_table_knows_them)
{
    enum { BODIES = 15000, ROUNDS = 300 };
    uint64_t *first = xcalloc(BODIES, sizeof *first), count = 0, seed = 7;
    uint64_t *saved = xcalloc(BODIES, sizeof *saved);
    struct pages p = make();
    int64_t pages = 0;

    watch(&p);
    for (int round = 0; round < ROUNDS; round++) {
        bool keep = round % 7 != 3;

        memcpy(saved, first, BODIES * sizeof *first);
        ck_ok(db_begin(p.d));
        for (int i = 0; i < 200; i++) {
            uint64_t k;

            seed = seed * UINT64_C(6364136223846793005) + 1;
            k = (seed >> 33) % BODIES;
            SAME(add_body(&p, scratch_digest(k)), first[k]);
            if (first[k] == 0)
                first[k] = page_store_last_seq(p.s);
        }
        ck_ok(page_store_step(p.s));
        if (keep) {
            ck_ok(db_commit(p.d));
        } else {
            db_rollback(p.d);
            memcpy(first, saved, BODIES * sizeof *first);
        }
        if (!keep || round % 50 == 0) {
            reopen(&p, DB_WRITE);
            watch(&p);
        }
    }
    for (uint64_t k = 0; k < BODIES; k++) {
        SAME(first_of(&p, scratch_digest(k)), first[k]);
        count += first[k] != 0;
    }
    SAME(first_of(&p, (struct digest){0, 0}), 0);
    ck_assert_uint_gt(page_store_memory(p.s), 0);
    ck_assert_uint_lt(page_store_memory(p.s), 4 << 20);
    /* what stands there is not read from the rows at the next start */
    ck_ok(db_number(p.d, "SELECT sum(count) FROM bodypart", &pages));
    ck_assert_int_gt(pages, 0);
    ck_ok(page_store_verify_bodies(p.s, &seed));
    ck_assert_uint_eq(seed, count);
    free(first);
    free(saved);
    done(&p);
}

TEST(an_index_of_bodies_that_lies_is_found)
{
    struct pages p = make();
    uint64_t count = 0;

    scratch_quiet();
    watch(&p);
    for (uint64_t i = 0; i < 20; i++)
        ck_assert_uint_eq(add_body(&p, scratch_digest(i % 10)),
                          i < 10 ? 0 : i - 9);
    ck_ok(page_store_verify_bodies(p.s, &count));
    ck_assert_uint_eq(count, 10);
    ck_ok(db_exec(p.d, "UPDATE fetch SET same = 3 WHERE seq = 15"));
    ck_assert_int_eq(page_store_verify_bodies(p.s, &count), STATUS_DAMAGED);
    done(&p);
}

static uint64_t add_text(struct pages *p, uint64_t print, uint64_t body)
{
    struct fetch_row row = {.url = (page_store_last_seq(p->s) + 1) * 10,
                            .status = 1,
                            .simhash = print,
                            .body_digest = scratch_digest(body)};
    uint64_t seq;

    SAME(page_store_add(p->s, &row, &seq), STATUS_OK);
    return row.near_dup_of;
}

/* Also those of rows from before it was asked for, and after a restart. */
TEST(nearly_the_same_texts_name_the_first_of_them)
{
    enum { TEXTS = 50 };
    struct pages p = make();
    struct first_body first;
    uint64_t seed = 3, prints[TEXTS], count = 0;

    for (int i = 0; i < TEXTS; i++) {
        prints[i] = scratch_random(&seed);
        ck_assert_uint_eq(add_text(&p, prints[i], (uint64_t)i), 0);
    }
    for (int round = 0; round < 2; round++) {
        uint64_t memory[3];

        watch(&p);
        memory[0] = page_store_memory(p.s);
        ck_ok(page_store_watch_near(p.s, MEMORY));
        memory[1] = page_store_memory(p.s);
        ck_ok(page_store_watch_last(p.s, MEMORY));
        memory[2] = page_store_memory(p.s);
        ck_assert_uint_gt(memory[0], 0);
        ck_assert_uint_gt(memory[1], memory[0]);
        ck_assert_uint_gt(memory[2], memory[1]);
        for (int i = 0; i < TEXTS; i++) {
            uint64_t body = (uint64_t)(1000 * (round + 1) + i);

            SAME(add_text(&p, prints[i] ^ 7, body), (uint64_t)i + 1);
            SAME(add_text(&p, prints[i] ^ 7, body), 0); /* its body is known */
        }
        ck_ok(page_store_first_near(p.s, prints[5] ^ 3, &first));
        SAME(first.seq, 6);
        SAME(first.url, 60);
        SAME(first.status, 1);
        ck_ok(page_store_first_near(p.s, ~prints[5], &first));
        SAME(first.seq, 0);
        ck_ok(page_store_step(p.s));
        reopen(&p, DB_WRITE);
    }
    ck_ok(page_store_verify_near(p.s, &count));
    ck_assert_uint_ge(count, TEXTS);
    done(&p);
}

TEST(an_index_of_texts_that_lies_is_found)
{
    static const char *const lies[] = {
        "UPDATE fetch SET near = NULL WHERE seq = 2",
        "UPDATE fetch SET near = 3 WHERE seq = 2",
        "UPDATE fetch SET near = 1 WHERE seq = 3",
        "UPDATE fetch SET near = -1 WHERE seq = 2",
    };

    scratch_quiet();
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        struct pages p = make();
        uint64_t count = 0;

        ck_ok(page_store_watch_near(p.s, MEMORY));
        ck_assert_uint_eq(add_text(&p, 0xff00, 1), 0);
        ck_assert_uint_eq(add_text(&p, 0xff01, 2), 1);
        ck_assert_uint_eq(add_text(&p, 0xabcdef12345, 3), 0);
        ck_ok(page_store_verify_near(p.s, &count));
        ck_ok(db_exec(p.d, lies[i]));
        ck_assert_msg(page_store_verify_near(p.s, &count) == STATUS_DAMAGED,
                      "%s", lies[i]);
        done(&p);
    }
}

TEST(bodies_that_share_half_a_digest_are_two)
{
    struct pages p = make();
    struct digest a = {1, 42}, b = {2, 42};

    watch(&p);
    ck_assert_uint_eq(add_body(&p, a), 0);
    ck_assert_uint_eq(first_of(&p, b), 0);
    ck_assert_uint_eq(add_body(&p, b), 0);
    ck_assert_uint_eq(first_of(&p, a), 1);
    ck_assert_uint_eq(first_of(&p, b), 2);
    done(&p);
}

static void add_nine(struct pages *p)
{
    for (uint64_t i = 1; i <= 9; i++) {
        struct fetch_row row = {.url = 100 + i,
                                .final = i % 3 != 0,
                                .status = (uint8_t)(i % 4),
                                .reason = (uint8_t)(40 + i),
                                .http_status = (uint16_t)(200 + i),
                                .at_ms = 1000 + (int64_t)i};
        uint64_t seq = 0;

        ck_ok(page_store_add(p->s, &row, &seq));
        ck_assert_uint_eq(seq, i);
    }
}

TEST(a_row_past_the_last_number_is_damage)
{
    struct pages p = make();
    struct page_store *s = NULL;

    add_nine(&p);
    page_store_close(p.s);
    p.s = NULL;
    ck_ok(db_exec(p.d, "UPDATE fetch SET seq = 1 << 62"
                       " WHERE seq = 9"));
    ck_assert_int_eq(page_store_open(&s, p.d), STATUS_DAMAGED);
    ck_ok(db_exec(p.d, "DELETE FROM fetch; INSERT INTO fetch(seq)"
                       " VALUES(-1)"));
    ck_assert_int_eq(page_store_open(&s, p.d), STATUS_DAMAGED);
    ck_assert_ptr_null(s);
    done(&p);
}
