/* SPDX-License-Identifier: MIT */
/* test_page_store.c - fetch rows, string table, bodies and robots files. */
#include "storage/rows/page_store.h"

#include "base/mem.h"
#include "storage/db/string_table.h"
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

static struct fetch_row full_row(void)
{
    return (struct fetch_row){
        .url = 77,
        .at_ms = 1767225600123,
        .elapsed_ms = 250,
        .status = 3,
        .reason = 8,
        .final = true,
        .tries = 3,
        .http_status = 404,
        .wire_bytes = UINT64_C(5000000000),
        .body_bytes = 12345,
        .body_digest = {UINT64_MAX, 1},
        .redirect_to = 99,
        .flags = FETCH_ROW_AT_ROBOTS | FETCH_ROW_NOINDEX,
        .links = 60,
        .mime = bytes_of_str("text/html"),
        .charset = bytes_of_str("utf-8"),
        .title = bytes_of_str("A title with \xc3\xa9 and \" and '"),
        .lang = bytes_of_str("fr"),
        .ip = bytes_of_str("2001:db8::1"),
        .detail = bytes_of_str("Disallow: /x"),
        .etag = bytes_of_str("\"abc\""),
        .last_modified = bytes_of_str("Sun, 06 Nov 1994 08:49:37 GMT"),
        .warc_file = bytes_of_str("warc/urlweir-00001.warc.gz"),
        .warc_offset = UINT64_C(1) << 33,
        .warc_length = 4242,
        .first_byte_ms = 120,
        .simhash = UINT64_MAX - 5,
        .text_digest = {8, UINT64_MAX},
        .body_print = UINT64_MAX - 6,
        .meta = bytes_of("\1d\1h\0\0\2\7", 8),
    };
}

static void same_row(const struct fetch_row *a, const struct fetch_row *b)
{
    ck_assert_uint_eq(a->url, b->url);
    ck_assert_int_eq(a->at_ms, b->at_ms);
    ck_assert_uint_eq(a->elapsed_ms, b->elapsed_ms);
    ck_assert_uint_eq(a->status, b->status);
    ck_assert_uint_eq(a->reason, b->reason);
    ck_assert_int_eq(a->final, b->final);
    ck_assert_uint_eq(a->tries, b->tries);
    ck_assert_uint_eq(a->http_status, b->http_status);
    ck_assert_uint_eq(a->wire_bytes, b->wire_bytes);
    ck_assert_uint_eq(a->body_bytes, b->body_bytes);
    ck_assert(digest_equal(a->body_digest, b->body_digest));
    ck_assert_uint_eq(a->redirect_to, b->redirect_to);
    ck_assert(bytes_equal(a->redirect_url, b->redirect_url));
    ck_assert_uint_eq(a->flags, b->flags);
    ck_assert_uint_eq(a->links, b->links);
    ck_assert(bytes_equal(a->mime, b->mime));
    ck_assert(bytes_equal(a->charset, b->charset));
    ck_assert(bytes_equal(a->title, b->title));
    ck_assert(bytes_equal(a->lang, b->lang));
    ck_assert(bytes_equal(a->ip, b->ip));
    ck_assert(bytes_equal(a->detail, b->detail));
    ck_assert(bytes_equal(a->etag, b->etag));
    ck_assert(bytes_equal(a->last_modified, b->last_modified));
    ck_assert(bytes_equal(a->warc_file, b->warc_file));
    ck_assert_uint_eq(a->warc_offset, b->warc_offset);
    ck_assert_uint_eq(a->warc_length, b->warc_length);
    ck_assert_uint_eq(a->first_byte_ms, b->first_byte_ms);
    ck_assert_uint_eq(a->simhash, b->simhash);
    ck_assert(digest_equal(a->text_digest, b->text_digest));
    ck_assert_uint_eq(a->body_print, b->body_print);
}

struct seen {
    struct fetch_row expected[3];
    uint64_t seq, most;
};

static bool compare_row(void *ctx, const struct fetch_row *row)
{
    struct seen *s = ctx;

    ck_assert_uint_eq(row->seq, ++s->seq);
    same_row(row, &s->expected[row->seq - 1]);
    return s->seq < s->most;
}

TEST(a_row_comes_back_as_it_went_in)
{
    struct pages p = make();
    struct fetch_row empty = {.url = 5};
    struct fetch_row rows[3] = {full_row(), empty, full_row()};
    uint64_t seq = 0;

    rows[2].final = false;
    rows[2].url = 78;
    for (int i = 0; i < 3; i++) {
        ck_ok(page_store_add(p.s, &rows[i], &seq));
        ck_assert_uint_eq(seq, (uint64_t)i + 1);
    }
    for (int pass = 0; pass < 2; pass++) {
        struct seen all = {{rows[0], rows[1], rows[2]}, 0, 3};
        struct seen later = {{rows[0], rows[1], rows[2]}, 1, 2};
        struct seen one = {{rows[0], rows[1], rows[2]}, 2, 3};

        ck_ok(page_store_each(p.s, 0, compare_row, &all));
        ck_assert_uint_eq(all.seq, 3);
        ck_ok(page_store_each(p.s, 1, compare_row, &later));
        ck_assert_uint_eq(later.seq, 2); /* the callback stopped it */
        ck_ok(page_store_each_of(p.s, 78, compare_row, &one));
        ck_assert_uint_eq(one.seq, 3);
        ck_assert_uint_eq(page_store_last_seq(p.s), 3);
        reopen(&p, DB_READ);
    }
    done(&p);
}

static bool count_words(void *ctx, const struct fetch_row *row)
{
    char mime[32];

    snprintf(mime, sizeof mime, "x/%llu", (unsigned long long)row->url);
    ck_assert(bytes_is(row->mime, mime));
    ++*(uint64_t *)ctx;
    return true;
}

/* Other people choose MIME types: past the ceiling, the row itself holds the
 * text. */
TEST(words_without_end_do_not_grow_the_table_without_end)
{
    struct pages p = make();
    uint64_t n = STRING_TABLE_MOST + 100, seq, seen = 0;
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
    ck_assert_int_eq(words, STRING_TABLE_MOST);
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

TEST(who_does_not_watch_bodies_is_told_of_none)
{
    struct pages p = make();

    ck_assert_uint_eq(add_body(&p, scratch_digest(1)), 0);
    ck_assert_uint_eq(add_body(&p, scratch_digest(1)), 0);
    ck_assert_uint_eq(first_of(&p, scratch_digest(1)), 0);
    done(&p);
}

TEST(a_robots_file_is_kept_whole_and_replaced)
{
    struct pages p = make();
    static char body[500 << 10], longer[(500 << 10) + 1];
    struct robots_row in = {
        .origin = bytes_of_str("https://a.example:8443"),
        .fetched_at_ms = 5,
        .expires_at_ms = 86400005,
        .http_status = 200,
        .body = bytes_of(body, sizeof body),
    };
    struct robots_row out;
    struct buf text;

    buf_init(&text, 1 << 20);
    for (size_t i = 0; i < sizeof body; i++)
        body[i] = (char)i;
    ck_assert_int_eq(page_store_robots(p.s, in.origin, &out, &text),
                     STATUS_NOT_FOUND);
    ck_ok(page_store_set_robots(p.s, &in));
    reopen(&p, DB_WRITE);
    ck_ok(page_store_robots(p.s, in.origin, &out, &text));
    ck_assert(bytes_equal(out.origin, in.origin));
    ck_assert(bytes_equal(out.body, in.body));
    ck_assert_int_eq(out.fetched_at_ms, 5);
    ck_assert_int_eq(out.expires_at_ms, 86400005);
    ck_assert_int_eq(out.unreachable_since_ms, 0);
    ck_assert_uint_eq(out.http_status, 200);
    in.body = bytes_of("", 0);
    in.http_status = 0;
    in.unreachable_since_ms = 7;
    ck_ok(page_store_set_robots(p.s, &in));
    ck_ok(page_store_robots(p.s, in.origin, &out, &text));
    ck_assert_uint_eq(out.body.len, 0);
    ck_assert_uint_eq(out.http_status, 0);
    ck_assert_int_eq(out.unreachable_since_ms, 7);
    in.body = bytes_of(longer, sizeof longer);
    ck_assert_int_eq(page_store_set_robots(p.s, &in), STATUS_LIMIT);
    buf_fini(&text);
    done(&p);
}

/* Where the target of a redirect has no row, its URL is kept. */
TEST(the_target_of_a_redirect_is_a_row_or_a_url)
{
    struct pages p = make();
    struct fetch_row row = {.url = 1, .final = true, .redirect_to = 99};
    struct buf url;
    uint64_t seq, id = 7;

    buf_init(&url, 4096);
    buf_add_str(&url, "before");
    ck_ok(page_store_add(p.s, &row, &seq));
    row.redirect_to = 0;
    ck_ok(page_store_add(p.s, &row, &seq));
    row.redirect_url = bytes_of_str("http://b.test/");
    ck_ok(page_store_add(p.s, &row, &seq));
    ck_ok(page_store_redirect(p.s, 1, &id, &url));
    ck_assert_uint_eq(id, 99);
    ck_assert_uint_eq(url.len, 0);
    ck_ok(page_store_redirect(p.s, 3, &id, &url));
    ck_assert_uint_eq(id, 0);
    ck_assert_str_eq(buf_str(&url), "http://b.test/");
    ck_ok(page_store_redirect(p.s, 2, &id, &url));
    ck_assert_uint_eq(id, 0);
    ck_assert_uint_eq(url.len, 0);
    ck_assert_int_eq(page_store_redirect(p.s, 4, &id, &url), STATUS_NOT_FOUND);
    ck_ok(db_exec(p.d, "UPDATE fetch SET redirect = -1"));
    ck_assert_int_eq(page_store_redirect(p.s, 1, &id, &url), STATUS_DAMAGED);
    buf_fini(&url);
    done(&p);
}

struct finals {
    uint64_t seq[8];
    size_t n;
};

/* Of row i of nine the URL is 100 + i; every third is not final. */
static void take_final(void *ctx, const struct final_fetch *row)
{
    struct finals *f = ctx;

    ck_assert_uint_lt(f->n, 8);
    ck_assert_uint_eq(row->url, 100 + row->seq);
    ck_assert_uint_eq(row->status, row->seq % 4);
    ck_assert_uint_eq(row->reason, 40 + row->seq);
    ck_assert_uint_eq(row->http_status, 200 + row->seq);
    ck_assert_int_eq(row->at_ms, 1000 + (int64_t)row->seq);
    f->seq[f->n++] = row->seq;
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

TEST(final_rows_come_from_the_latest_on)
{
    static const struct {
        uint64_t before;
        size_t most, n;
        uint64_t first, last;
    } all[] = {
        {10, 8, 6, 8, 1}, {8, 8, 5, 7, 1}, {10, 2, 2, 8, 7},
        {9, 1, 1, 8, 8},  {2, 8, 1, 1, 1}, {1, 8, 0, 0, 0},
    };
    struct pages p = make();
    struct finals f;

    add_nine(&p);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        f.n = 0;
        ck_ok(page_store_finals_before(p.s, all[i].before, all[i].most,
                                       take_final, &f));
        ck_assert_uint_eq(f.n, all[i].n);
        if (f.n > 0) {
            ck_assert_uint_eq(f.seq[0], all[i].first);
            ck_assert_uint_eq(f.seq[f.n - 1], all[i].last);
        }
    }
    ck_assert_uint_eq(page_store_url_of(p.s, 4), 104);
    ck_assert_uint_eq(page_store_url_of(p.s, 10), 0);
    f.n = 0;
    ck_ok(db_exec(p.d, "UPDATE fetch SET http = -1 WHERE seq = 7"));
    ck_assert_int_eq(page_store_finals_before(p.s, 10, 8, take_final, &f),
                     STATUS_DAMAGED);
    ck_assert_uint_eq(f.n, 1); /* the one before it */
    done(&p);
}

TEST(of_a_past_row_comes_what_tells_a_change)
{
    struct fetch_row row = full_row(), past;
    struct pages p = make();
    uint64_t seq = 0;

    ck_ok(page_store_add(p.s, &row, &seq));
    ck_assert_int_eq(page_store_past(p.s, 2, &past), STATUS_NOT_FOUND);
    ck_ok(page_store_past(p.s, 1, &past));
    ck_assert_uint_eq(past.url, row.url);
    ck_assert_uint_eq(past.status, row.status);
    ck_assert_uint_eq(past.reason, row.reason);
    ck_assert_uint_eq(past.http_status, row.http_status);
    ck_assert_uint_eq(past.body_bytes, row.body_bytes);
    ck_assert_uint_eq(past.flags, row.flags);
    ck_assert(digest_equal(past.text_digest, row.text_digest));
    ck_assert_uint_eq(past.body_print, row.body_print);
    ck_assert_uint_eq(past.redirect_to, row.redirect_to);
    row.redirect_to = 0;
    row.redirect_url = bytes_of_str("http://elsewhere.test/");
    ck_ok(page_store_add(p.s, &row, &seq));
    ck_ok(page_store_past(p.s, 2, &past));
    ck_assert_uint_eq(past.redirect_to, 0);
    done(&p);
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
