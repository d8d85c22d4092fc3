/* SPDX-License-Identifier: MIT */
/* test_history.c - which fetches stay, against a model that knows them all. */
/* Promise (Commands and options): --keep-history N keeps the last N fetches of
 * each page, the newest whole one, and those that they refer to, with their
 * links; weeks of refreshes take no more disk and memory than the first one;
 * kills, restarts and another N may come at any time; rows that --jsonl has not
 * written yet stay. See also `exact_set`, `map`, `make sim`. */
#include "storage/rows/history.h"

#include <string.h>

#include "base/mem.h"
#include "storage/index/whole_index.h"
#include "tests/unit/storage/scratch.h"
#include "tests/unit/unit.h"

#define URLS  40
#define ROWS  6000
#define PRINT UINT64_C(0x0f1e2d3c4b5a6978)

/* What was added, whatever became of it. */
struct added {
    uint64_t url, same, near, body, link;
    bool final, whole;
};

static struct {
    struct scratch dir;
    struct db *d;
    struct page_store *pages;
    struct link_store *links;
    struct history *history;
    struct added rows[ROWS + 1];
    uint64_t n, random;
} w;

static uint64_t below(uint64_t most)
{
    w.random = w.random * 6364136223846793005u + 1442695040888963407u;
    return (w.random >> 33) % most;
}

static void open_all(enum db_mode mode)
{
    w.d = scratch_open(w.dir.db, mode);
    ck_ok(page_store_open(&w.pages, w.d));
    ck_ok(page_store_watch_bodies(w.pages, 1 << 20));
    ck_ok(page_store_watch_near(w.pages, 1 << 20));
    ck_ok(page_store_watch_last(w.pages, 1 << 20));
    ck_ok(link_store_open(&w.links, w.d));
    ck_ok(history_open(&w.history, w.d, w.pages, w.links, 16 << 20));
}

static void close_all(void)
{
    history_close(w.history);
    link_store_close(w.links);
    page_store_close(w.pages);
    db_close(w.d);
}

static void setup(void)
{
    memset(&w, 0, sizeof w);
    w.random = 42;
    w.dir = scratch_make();
    open_all(DB_CREATE);
}

static void teardown(void)
{
    close_all();
    scratch_remove(&w.dir);
}

static void add_links(uint64_t seq, const struct added *a)
{
    struct link_range rows = {link_store_next(w.links), 1 + a->link % 3,
                              a->link % 2 == 1};
    const struct link_row l = {a->url, a->link % URLS + 1, 0};

    for (uint64_t i = 0; i < rows.count; i++)
        link_store_add(w.links, &l);
    ck_ok(link_store_end_page(w.links));
    ck_ok(link_store_set_page(w.links, seq, &rows));
}

/* The links of a 304 are those of the fetch before it. */
static void share_links(uint64_t seq, uint64_t from)
{
    struct link_range rows;

    ck_ok(link_store_page(w.links, from, &rows));
    ck_ok(link_store_set_page(w.links, seq, &rows));
}

static void take_last(void *ctx, const struct fetch_row *row)
{
    *(struct fetch_row *)ctx = *row;
}

/* A page, the same page by a 304 or a 200, a failure, or a try. */
static void add_row(void)
{
    struct fetch_row row = {.url = below(URLS) + 1, .at_ms = 1, .final = true};
    struct fetch_row last = {.seq = 0};
    struct added *a = &w.rows[w.n + 1];
    const uint64_t kind = below(10);
    uint64_t seq;
    enum status st = page_store_last(w.pages, row.url, take_last, &last);

    ck_assert(st == STATUS_OK || st == STATUS_NOT_FOUND);
    row.status = kind < 7 ? WHOLE_STATUS : 3;
    row.final = kind != 9;
    row.reason = last.seq != 0 && kind < 4 ? WHOLE_UNCHANGED : 0;
    a->link = below(1000);
    if (row.reason != 0) {
        row.body_digest = last.body_digest;
        row.simhash = last.simhash;
        a->link = w.rows[last.seq].link;
    } else if (kind < 7) {
        row.body_digest.hi = row.body_digest.lo = below(500) + 1;
        row.simhash = PRINT ^ UINT64_C(1) << row.body_digest.hi % 20 ^
                      UINT64_C(1) << (20 + row.body_digest.hi / 20 % 20);
    }
    ck_ok(page_store_add(w.pages, &row, &seq));
    history_add(w.history, &row);
    ck_assert_uint_eq(seq, ++w.n);
    *a = (struct added){row.url,
                        row.same_as,
                        row.near_dup_of,
                        row.body_digest.hi,
                        a->link,
                        row.final,
                        whole_index_takes(row.final, row.status, row.reason)};
    if (row.reason != 0)
        share_links(seq, last.seq);
    else if (kind < 7)
        add_links(seq, a);
    ck_ok(page_store_step(w.pages));
}

/* ---- what there is ---- */

static bool stays[ROWS + 1];
static uint64_t same_of[ROWS + 1], near_of[ROWS + 1];

static bool note_row(void *ctx, const struct fetch_row *row)
{
    (void)ctx;
    stays[row->seq] = true;
    same_of[row->seq] = row->same_as;
    near_of[row->seq] = row->near_dup_of;
    return true;
}

static void read_rows(void)
{
    memset(stays, 0, sizeof stays);
    ck_ok(page_store_each(w.pages, 0, note_row, NULL));
}

/* Is it one of those that must stay, whatever names it? */
static bool must_stay(uint64_t seq, unsigned keep)
{
    const struct added *a = &w.rows[seq];
    unsigned later = 0;
    bool whole_later = false;

    for (uint64_t i = seq + 1; i <= w.n; i++)
        if (w.rows[i].url == a->url) {
            later += w.rows[i].final;
            whole_later |= w.rows[i].whole;
        }
    return (a->final ? later < keep : later <= keep) ||
           (a->whole && !whole_later);
}

static void same_link(void *ctx, const struct link_row *row)
{
    const struct added *a = ctx;

    ck_assert_uint_eq(row->from, a->url);
    ck_assert_uint_eq(row->to, a->link % URLS + 1);
}

static void links_are_there(uint64_t seq)
{
    struct added *a = &w.rows[seq];
    struct link_range rows;

    ck_ok(link_store_page(w.links, seq, &rows));
    ck_assert_uint_eq(rows.count, 1 + a->link % 3);
    ck_assert_int_eq(rows.partial, a->link % 2);
    ck_ok(link_store_each_in(w.links, &rows, same_link, a));
}

/* Returns how many rows there are. */
static uint64_t check_rows(unsigned keep)
{
    uint64_t there = 0, count;

    read_rows();
    for (uint64_t seq = 1; seq <= w.n; seq++) {
        if (must_stay(seq, keep)) {
            ck_assert_msg(stays[seq], "row %llu is lost",
                          (unsigned long long)seq);
            if (w.rows[seq].whole)
                links_are_there(seq);
        }
        there += stays[seq];
        if (!stays[seq])
            continue;
        ck_assert(same_of[seq] == w.rows[seq].same);
        ck_assert(same_of[seq] == 0 || stays[same_of[seq]]);
        ck_assert(near_of[seq] == 0 || stays[near_of[seq]]);
    }
    ck_ok(page_store_verify_bodies(w.pages, &count));
    ck_ok(page_store_verify_near(w.pages, &count));
    ck_ok(page_store_verify_last(w.pages, URLS));
    return there;
}

static uint64_t pass(unsigned keep, size_t step)
{
    uint64_t removed = 0;

    ck_ok(history_begin(w.history, keep, URLS, UINT64_MAX));
    while (history_is_running(w.history))
        ck_ok(history_step(w.history, step, &removed));
    return removed;
}

FIXTURE(setup, teardown);

/* Rows are added between the steps, the store is closed in the middle of passes
 * (a crash does no more), and `keep` changes. */
TEST(passes_agree_with_a_model_over_restarts)
{
    unsigned keep = 3, least = 3;
    uint64_t removed = 0;

    while (w.n < ROWS) {
        ck_ok(db_begin(w.d));
        for (uint64_t i = below(40); i > 0 && w.n < ROWS; i--)
            add_row();
        if (history_is_running(w.history))
            ck_ok(history_step(w.history, 1 + below(150), &removed));
        else if (below(4) == 0)
            ck_ok(history_begin(w.history, keep, URLS, UINT64_MAX));
        ck_ok(db_commit(w.d));
        if (below(25) == 0) {
            keep = 1 + (unsigned)below(4);
            least = keep < least ? keep : least;
            close_all();
            open_all(DB_WRITE);
        }
        if (below(20) == 0)
            (void)check_rows(least);
    }
    ck_assert_uint_gt(removed, ROWS / 2);
    (void)check_rows(least);
}

/* Without memory for the names more rows stay, and none too few. */
TEST(too_little_memory_keeps_more)
{
    ck_ok(db_begin(w.d));
    while (w.n < 500)
        add_row();
    mem_fail_after(1);
    (void)pass(1, 50);
    mem_fail_after(0);
    (void)check_rows(1);
    ck_ok(db_commit(w.d));
}
