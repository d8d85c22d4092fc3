/* SPDX-License-Identifier: MIT */
/*
 * test_frontier_store.c - the store against a plain model (store_model.h), and
 * cases that a run does not reach.
 */
#include "storage/frontier_store.h"

#include "base/mem.h"
#include "tests/unit/storage/store_model.h"

TIMEOUT(120);

/* Promise (Seen check and store): the store agrees with a plain model. */
TEST(agrees_with_a_plain_model_over_random_operations)
{
    struct scratch dir = scratch_make();
    struct model m;
    uint64_t rounds = scratch_size(60, 600);

    model_init(&m, 300, 1200, 40);
    model_open(&m, dir.db, DB_CREATE);
    for (uint64_t i = 0; i < rounds; i++)
        model_transaction(&m);
    model_compare(&m);
    model_close(&m);
    model_open(&m, dir.db, DB_WRITE);
    model_compare(&m);
    model_close(&m);
    model_free(&m);
    scratch_remove(&dir);
}

TEST(the_last_one_found_before_a_moment_is_found)
{
    static const struct {
        int64_t before;
        uint64_t last;
    } cases[] = {{0, 0},   {100, 0}, {101, 3},       {110, 3},
                 {111, 5}, {200, 5}, {INT64_MAX, 5}, {INT64_MIN, 0}};
    static const int64_t found[] = {100, 100, 100, 110, 110};
    struct scratch dir = scratch_make();
    struct model m;
    uint64_t last = 9;

    model_init(&m, 1, 1, 0);
    model_open(&m, dir.db, DB_CREATE);
    SAME(frontier_store_last_before(m.s, 1, &last), STATUS_OK);
    SAME(last, 0);
    ck_ok(db_begin(m.d));
    for (size_t i = 0; i < sizeof found / sizeof *found; i++) {
        struct url_row row = {.url = bytes_of_str("http://x.example/"),
                              .found_at_ms = found[i]};
        uint64_t id = 0;

        SAME(frontier_store_queue(m.s, bytes_of_str("c"), bytes_of_str("k"),
                                  &row.queue),
             STATUS_OK);
        SAME(frontier_store_admit(m.s, &row, &id), STATUS_OK);
    }
    ck_ok(db_commit(m.d));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        SAME(frontier_store_last_before(m.s, cases[i].before, &last),
             STATUS_OK);
        SAME(last, cases[i].last);
    }
    model_close(&m);
    model_free(&m);
    scratch_remove(&dir);
}

static void finish(struct model *m, uint64_t id)
{
    struct fetch_row row = {.url = id, .final = true};
    uint64_t seq = 0;

    ck_ok(page_store_add(m->p, &row, &seq));
    ck_ok(frontier_store_done(m->s, id, seq));
}

/* Makes a file with room for that many rows, nearly all of it a hole. */
static void make_room_for(const char *db, uint64_t rows)
{
    uint32_t pages = (uint32_t)(rows / (4096 / 8) + 1);
    const unsigned char field[4] = {(unsigned char)(pages >> 24),
                                    (unsigned char)(pages >> 16),
                                    (unsigned char)(pages >> 8),
                                    (unsigned char)pages};
    int fd = open(db, O_WRONLY);

    /* sqlite.org/fileformat.html, 1.3.8: the size, in pages */
    ck_assert_int_eq(pwrite(fd, field, 4, 28), 4);
    ck_assert_int_eq(ftruncate(fd, (off_t)pages * 4096), 0);
    ck_assert_int_eq(close(fd), 0);
}

/* Ids have five octets: nothing may be cut off past 2^32. A segment that claims
 * all ids before it takes the store there. */
TEST(ids_go_on_past_two_to_the_power_of_32)
{
    const uint64_t first = (UINT64_C(1) << 32) - 700;
    struct scratch dir = scratch_make();
    struct model m;
    uint64_t want = first, after = 0, ids[64];
    char sql[160];
    size_t n = 1;

    model_init(&m, 1, 1, 0);
    model_open(&m, dir.db, DB_CREATE);
    model_close(&m);
    snprintf(sql, sizeof sql,
             "INSERT INTO qmeta VALUES(1, 9, 1, %llu, 0, x'');"
             "INSERT INTO url(id) VALUES(%llu);",
             (unsigned long long)(first - 1), (unsigned long long)(first - 1));
    scratch_sql(dir.db, sql);
    make_room_for(dir.db, first + 10000);
    model_open_with(&m, dir.db, DB_WRITE, NULL);
    ck_assert_uint_eq(frontier_store_last_id(m.s), first - 1);
    for (int i = 0; i < 14; i++) {
        ck_ok(db_begin(m.d));
        for (int k = 0; k < 130; k++) {
            struct url_row row = {.url = bytes_of_str("http://x.example/y")};
            uint64_t id = 0;

            SAME(frontier_store_queue(m.s, bytes_of_str(""), bytes_of_str("x"),
                                      &row.queue),
                 STATUS_OK);
            SAME(frontier_store_admit(m.s, &row, &id), STATUS_OK);
            if (id % 10 == 0)
                finish(&m, id);
        }
        ck_ok(frontier_store_step(m.s));
        ck_ok(db_commit(m.d));
    }
    model_close(&m);
    model_open_with(&m, dir.db, DB_WRITE, NULL);
    while (n > 0) {
        SAME(frontier_store_refill(m.s, 1, after, ids, 64, &n), STATUS_OK);
        for (size_t i = 0; i < n; i++, want++) {
            want += want % 10 == 0;
            SAME(ids[i], want);
            ck_assert(!frontier_store_is_done(m.s, ids[i]));
            after = ids[i];
        }
    }
    ck_assert_uint_eq(want + (want % 10 == 0), first + 14 * 130);
    model_close(&m);
    model_free(&m);
    scratch_remove(&dir);
}

TEST(splits_urls_of_any_shape_and_puts_them_together_again)
{
    static const char *const urls[] = {
        "http://a.example/",
        "https://a.example:8443/x/y?z=/",
        "http://[::1]/",
        "http://a.example",
        "mailto:x@a.example",
        "",
        "/",
        "://",
        ":///",
        "a://b/c://d/e",
        "not a url at all",
        ("http://this-is-a-host-name-that-is-longer-than-a-line-of-the-cache"
         ".example.org/path"),
    };
    enum { N = sizeof urls / sizeof *urls };
    struct scratch dir = scratch_make();
    struct model m;
    struct url_row row = {0};
    struct buf text;
    uint64_t id = 0;

    buf_init(&text, 4096);
    model_init(&m, 1, 1, 0);
    model_open(&m, dir.db, DB_CREATE);
    ck_ok(db_begin(m.d));
    SAME(frontier_store_queue(m.s, bytes_of_str(""), bytes_of_str(""),
                              &row.queue),
         STATUS_OK);
    for (int i = 0; i < N; i++) {
        row.url = bytes_of_str(urls[i]);
        SAME(frontier_store_admit(m.s, &row, &id), STATUS_OK);
    }
    ck_ok(db_commit(m.d));
    for (int pass = 0; pass < 3; pass++) {
        for (uint64_t i = 0; i < N; i++) {
            ck_ok(frontier_store_get(m.s, i + 1, &row, &text));
            ck_assert_msg(bytes_is(row.url, urls[i]), "%s", urls[i]);
        }
        if (pass == 0) {
            model_close(&m);
            model_open(&m, dir.db, DB_WRITE);
        }
    }
    model_close(&m);
    model_free(&m);
    buf_fini(&text);
    scratch_remove(&dir);
}

TEST(refuses_what_cannot_be)
{
    struct scratch dir = scratch_make();
    struct model m;
    struct url_row row = {.queue = 1, .url = bytes_of_str("http://x.example/")};
    uint64_t id = 0, ids[4];
    size_t n = 0;

    model_init(&m, 10, 100, 1);
    model_open(&m, dir.db, DB_CREATE);
    SAME(frontier_store_admit(m.s, &row, &id), STATUS_ARG);
    SAME(frontier_store_refill(m.s, 1, 0, ids, 4, &n), STATUS_ARG);
    ck_assert_int_eq(frontier_store_done(m.s, 1, 1), STATUS_NOT_FOUND);
    model_transaction(&m);
    ck_assert_int_eq(frontier_store_done(m.s, m.n + 1, 1), STATUS_NOT_FOUND);
    ck_assert_int_eq(frontier_store_done(m.s, 0, 1), STATUS_NOT_FOUND);
    model_close(&m);
    model_free(&m);
    scratch_remove(&dir);
}

/* ---- damage ---- */

struct harm {
    const char *sql;
    bool at_open; /* opening already finds it */
};

static const struct harm harms[] = {
    {"UPDATE queue SET key = 'host9.example'", true},
    {"DELETE FROM queue WHERE id = 2", true},
    {"DELETE FROM origin WHERE id = 3", true},
    {"UPDATE origin SET queue = 999999 WHERE id = 1", true},
    {"DELETE FROM url WHERE id > 100", true},
    {"DELETE FROM url WHERE id = (SELECT max(id) - 1 FROM url)", true},
    {"UPDATE url SET origin = 77777 WHERE id = 50", false},
    {"DELETE FROM url WHERE id = 50", false},
    {"DELETE FROM qseg WHERE id = (SELECT max(id) FROM qseg)", true},
    {"UPDATE qseg SET ids = x'ffffffffffffffffffffffff'", true},
    {"UPDATE qseg SET ids = x'010101'", true},
    {"UPDATE qseg SET ids = zeroblob(5000)", true},
    {"INSERT INTO qseg VALUES(1 << 62, x'01')", true},
    {"UPDATE qseg SET ids = substr(ids, 1, length(ids) - 1)", true},
    {"UPDATE qmeta SET last = last + 1", true},
    {"UPDATE qmeta SET first = first + 1", true},
    {"UPDATE qmeta SET ids = ids + 1", true},
    {"UPDATE qmeta SET fences = x'01'", true},
    {"DELETE FROM qmeta WHERE first = 1", true},
    {"UPDATE status SET done = x'00'", true},
    {"UPDATE status SET done = zeroblob(4000)", false},
    {"UPDATE fetch SET url = 0", true},
    {"DELETE FROM fetch WHERE final = 1 AND seq = (SELECT min(seq) FROM fetch"
     " WHERE final = 1)",
     false},
    {"INSERT INTO retry VALUES(99999999, 1, 0)", false},
    {"INSERT INTO retry VALUES(0, 1, 0)", false},
    {"INSERT INTO retry SELECT url, 1, 0 FROM fetch WHERE final LIMIT 1",
     false},
    /* a queued URL in another queue */
    {"UPDATE url SET origin = (SELECT o.id FROM origin o WHERE o.queue !="
     " (SELECT queue FROM origin WHERE id = url.origin) LIMIT 1) WHERE id ="
     " (SELECT min(id) FROM url WHERE id NOT IN (SELECT url FROM fetch WHERE"
     " final))",
     false},
    {"UPDATE drop_count SET id = id + 5", true},
    {"UPDATE word SET id = id + 5", true},
    {"UPDATE word SET text = ''", true},
    {"UPDATE seenpart SET fences = x'00' WHERE part = 5", true},
    {"UPDATE seenpart SET count = count + 500", true},
    {"UPDATE seenpart SET part = 5000 WHERE part = 5", true},
    {"DROP TABLE status", true},
};

static enum status open_and_verify(struct model *m, const char *path,
                                   bool *opened)
{
    enum status st = db_open(&m->d, path, DB_READ, &model_db_options);

    *opened = false;
    if (st == STATUS_OK)
        st = exact_set_open(&m->set, m->d, &model_set_options);
    if (st == STATUS_OK)
        st = frontier_store_open(&m->s, m->d, &model_frontier_options,
                                 exact_set_upto(m->set), model_replay, m);
    if (st == STATUS_OK)
        st = page_store_open(&m->p, m->d);
    *opened = st == STATUS_OK;
    if (st == STATUS_OK)
        st = exact_set_verify(m->set);
    if (st == STATUS_OK)
        st = frontier_store_verify(m->s);
    model_close(m);
    m->set = NULL;
    m->s = NULL;
    m->p = NULL;
    return st;
}

TEST(damage_is_found_by_opening_or_by_verify)
{
    struct scratch dir = scratch_make();
    struct model m;
    bool opened;

    model_init(&m, 50, 300, 20);
    model_open(&m, dir.db, DB_CREATE);
    for (int i = 0; i < 30; i++)
        model_transaction(&m);
    model_close(&m);
    for (size_t i = 0; i < sizeof harms / sizeof *harms; i++) {
        struct model sick = {0};

        scratch_copy_file(dir.db, dir.other);
        scratch_sql(dir.other, harms[i].sql);
        ck_assert_msg(open_and_verify(&sick, dir.other, &opened) ==
                          STATUS_DAMAGED,
                      "not found: %s", harms[i].sql);
        ck_assert_msg(opened != harms[i].at_open, "%s at open: %s",
                      opened ? "not found" : "found", harms[i].sql);
    }
    model_free(&m);
    scratch_remove(&dir);
}

TEST(verify_without_memory_says_so)
{
    struct scratch dir = scratch_make();
    struct model m;

    model_init(&m, 10, 100, 5);
    model_open(&m, dir.db, DB_CREATE);
    model_transaction(&m);
    for (uint64_t nth = 1; nth <= 3; nth++) {
        mem_fail_after(nth);
        ck_assert_int_eq(frontier_store_verify(m.s), STATUS_NOMEM);
    }
    mem_fail_after(0);
    ck_ok(frontier_store_verify(m.s));
    model_close(&m);
    model_free(&m);
    scratch_remove(&dir);
}
