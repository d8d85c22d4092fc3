/* SPDX-License-Identifier: MIT */
/*
 * test_store_faults.c - makes each SQLite statement fail once; the very call
 * that ran it must say so: a status lost on its way up would mean a missing
 * row, or a row that reads as absent.
 */
/* Promise (Crashes): the call that runs a failing SQLite statement returns the
 * error: no row is mistaken for absent or for written. See also
 * `frontier_faults`, `served_faults`. */
#include "base/mem.h"
#include "storage/rows/link_store.h"
#include "storage/rows/served_log.h"
#include "storage/rows/side_tables.h"
#include "tests/unit/storage/step_fault.h"

/* The model's calls report through step_fault.h, too. */
#undef SAME
#define SAME(a, b) step_fault_told((long long)(a), (long long)(b), #a)

#include "tests/unit/storage/store_model.h"

/* Everything that a crawl and a service keep in one database. */
struct whole {
    struct scratch dir;
    struct model m; /* database, exact set, store, pages */
    struct link_store *links;
    struct served_log *served;
    enum db_mode mode;
};

static void open_whole(struct whole *w, const char *path)
{
    TELLS(db_open(&w->m.d, path, w->mode, &model_db_options));
    if (w->mode == DB_READ)
        TELLS(db_begin(w->m.d));
    TELLS(exact_set_open(&w->m.set, w->m.d, &model_set_options));
    TELLS(frontier_store_open(&w->m.s, w->m.d, &model_frontier_options,
                              exact_set_upto(w->m.set), model_replay, &w->m));
    TELLS(page_store_open(&w->m.p, w->m.d));
    TELLS(link_store_open(&w->links, w->m.d));
    TELLS(served_log_open(&w->served, w->m.d));
    TELLS(page_store_watch_bodies(w->m.p, 1 << 20));
}

static void close_whole(struct whole *w)
{
    served_log_close(w->served);
    link_store_close(w->links);
    page_store_close(w->m.p);
    frontier_store_close(w->m.s);
    exact_set_close(w->m.set);
    db_close_as_is(w->m.d);
    w->served = NULL;
    w->links = NULL;
    w->m.p = NULL;
    w->m.s = NULL;
    w->m.set = NULL;
    w->m.d = NULL;
}

/* ---- the tasks ---- */

static void open_it(void *whole)
{
    struct whole *w = whole;
    open_whole(w, w->dir.other);
}

static void read_it(void *whole)
{
    struct whole *w = whole;
    w->mode = DB_READ;
    open_whole(w, w->dir.other);
}

static void crawl_it(void *whole)
{
    struct whole *w = whole;
    model_transaction(&w->m);
}

static void note_facts(void *whole)
{
    struct whole *w = whole;
    const struct queue_state state = {.delay_ms = 5, .reason = "retry_after"};
    const struct filter_step step = {.upto = 7, .promised = 0.01};

    TELLS(db_begin(w->m.d));
    TELLS(frontier_store_set_queue_state(w->m.s, 1, &state));
    TELLS(frontier_store_set_place(w->m.s, 1, bytes_of_str("192.0.2.1")));
    TELLS(frontier_store_set_meta(w->m.s, "fact", bytes_of_str("5")));
    TELLS(frontier_store_postpone(w->m.s, w->m.n, 0, 5));
    TELLS(frontier_store_set_tries(w->m.s, w->m.n, 0, 0));
    TELLS(frontier_store_add_step(w->m.s, &step));
    frontier_store_add(w->m.s, "a new one", 1);
    frontier_store_add(w->m.s, "transactions", 1);
    frontier_store_drop(w->m.s, "depth", bytes_of_str("new.example"),
                        bytes_of_str("http://new.example/"), 1, 0);
    TELLS(frontier_store_step(w->m.s));
    TELLS(db_commit(w->m.d));
}

/* Finishes the oldest queued URL: its row has not been read for long. */
static void finish_one(void *whole)
{
    struct whole *w = whole;
    uint64_t id = 1;

    while (frontier_store_is_done(w->m.s, id))
        id++;
    TELLS(db_begin(w->m.d));
    TELLS(frontier_store_set_tries(w->m.s, id, 2, 5));
    TELLS(frontier_store_done(w->m.s, id, 1));
    TELLS(db_commit(w->m.d));
}

static void visit_try(void *ctx, uint64_t id, uint32_t tries, int64_t due_ms)
{
    (void)ctx, (void)id, (void)tries, (void)due_ms;
}

static void visit_state(void *ctx, uint32_t queue, const struct queue_state *s)
{
    (void)ctx, (void)queue, (void)s;
}

static void visit_place(void *ctx, uint32_t queue, struct bytes address)
{
    (void)ctx, (void)queue, (void)address;
}

static void visit_drop(void *ctx, const struct drop_row *row)
{
    (void)ctx, (void)row;
}

static void visit_step(void *ctx, const struct filter_step *step)
{
    (void)ctx, (void)step;
}

static void visit_url(void *ctx, const struct url_row *row)
{
    (void)ctx, (void)row;
}

static void visit_digest(void *ctx, struct digest digest, uint64_t id)
{
    (void)ctx, (void)digest, (void)id;
}

/* The caller keeps `text` and gets it back even after a fault. */
static void read_facts(struct whole *w, struct buf *text)
{
    struct frontier_store *s = w->m.s;
    struct digest digests[] = {scratch_digest(1), scratch_digest(w->m.n / 2)};
    struct url_row row;
    int64_t ms = 0;
    uint64_t id = 0, ids[2];

    TELLS(frontier_store_each_tries(s, visit_try, NULL));
    TELLS(frontier_store_each_queue_state(s, visit_state, NULL));
    TELLS(frontier_store_each_place(s, visit_place, NULL));
    TELLS(frontier_store_each_drop(s, true, visit_drop, NULL));
    TELLS(frontier_store_each_drop(s, false, visit_drop, NULL));
    TELLS(frontier_store_each_step(s, visit_step, NULL));
    TELLS(frontier_store_each(s, 1, w->m.n, visit_url, NULL));
    TELLS(frontier_store_place(s, 1, text));
    TELLS(frontier_store_meta_time(s, "fact", &ms));
    TELLS(frontier_store_get(s, 3, &row, text));
    TELLS(frontier_store_get_url(s, 4, text, &ms));
    TELLS(frontier_store_last_before(s, INT64_MAX, &id));
    TELLS(exact_set_find(w->m.set, digests, 2, ids));
    TELLS(exact_set_each(w->m.set, 0, UINT64_MAX, visit_digest, NULL));
    TELLS(exact_set_check_upto(w->m.set, w->m.n));
}

static struct buf text;

static void read_facts_of_it(void *whole)
{
    struct whole *w = whole;
    read_facts(w, &text);
}

static void verify_it(void *whole)
{
    struct whole *w = whole;
    uint64_t count = 0;

    TELLS(db_verify(w->m.d));
    TELLS(frontier_store_verify(w->m.s));
    TELLS(exact_set_verify(w->m.set));
    TELLS(page_store_verify_bodies(w->m.p, &count));
    TELLS(link_store_verify(w->links, w->m.n, &count));
    TELLS(served_log_verify(w->m.d, &count));
}

static bool visit_fetch(void *ctx, const struct fetch_row *row)
{
    (void)ctx, (void)row;
    return true;
}

static void keep_pages(void *whole)
{
    struct whole *w = whole;
    const struct robots_row robots = {.origin = bytes_of_str("http://a.test"),
                                      .body = bytes_of_str("User-agent: *")};
    struct fetch_row row = {.url = 1,
                            .final = true,
                            .status = 1,
                            .mime = bytes_of_str("text/x-new"),
                            .body_digest = {5, 6}};
    struct robots_row got;
    struct first_body first;
    uint64_t seq = 0;

    TELLS(db_begin(w->m.d));
    TELLS(page_store_add(w->m.p, &row, &seq));
    TELLS(page_store_add(w->m.p, &row, &seq));
    TELLS(robots_store_set(w->m.d, &robots));
    TELLS(page_store_step(w->m.p));
    TELLS(db_commit(w->m.d));
    TELLS(page_store_first_with_body(w->m.p, row.body_digest, &first));
    TELLS(robots_store_get(w->m.d, robots.origin, &got, &text));
    TELLS(page_store_each(w->m.p, 0, visit_fetch, NULL));
    TELLS(page_store_each_of(w->m.p, 1, visit_fetch, NULL));
}

static bool visit_link(void *ctx, const struct link_row *row)
{
    (void)ctx, (void)row;
    return true;
}

static void keep_links(void *whole)
{
    struct whole *w = whole;
    const struct link_row row = {.from = 1, .to = 2, .kind = 3};
    const struct url_hint hint = {.lastmod_ms = 5, .priority = 500};
    struct url_hint got;
    uint64_t count = 0;
    bool any = false;

    TELLS(db_begin(w->m.d));
    TELLS(link_store_note(w->links, true, true));
    link_store_add(w->links, &row);
    TELLS(link_store_end_page(w->links));
    TELLS(hint_store_set(w->m.d, 2, &hint));
    TELLS(db_commit(w->m.d));
    TELLS(link_store_each(w->links, visit_link, NULL));
    TELLS(link_store_seen_again(w->links, 2, 1, &count));
    TELLS(hint_store_get(w->m.d, 2, &got));
    TELLS(hint_store_any(w->m.d, &any));
}

static bool no_update(void *ctx, const struct served_update_row *u)
{
    (void)ctx;
    return u->url % 2 == 0;
}

static bool no_lease(void *ctx, const struct served_lease_row *e)
{
    (void)ctx;
    return e->url % 2 == 0;
}

static void moved(void *ctx, uint64_t url, uint64_t seq)
{
    (void)ctx, (void)url, (void)seq;
}

static void visit_served_url(void *ctx, uint64_t id, uint32_t origin,
                             int64_t at_ms)
{
    (void)ctx, (void)id, (void)origin, (void)at_ms;
}

static void visit_update(void *ctx, const struct served_update_row *u)
{
    (void)ctx, (void)u;
}

static void visit_lease(void *ctx, const struct served_lease_row *e)
{
    (void)ctx, (void)e;
}

static void visit_served_queue(void *ctx, uint32_t queue,
                               const struct served_queue_row *row)
{
    (void)ctx, (void)queue, (void)row;
}

static void keep_served(void *whole)
{
    struct whole *w = whole;
    const struct served_log_keep keep = {.update = no_update,
                                         .update_moved = moved,
                                         .lease = no_lease,
                                         .lease_moved = moved};
    const struct served_queue_row row = {.delay_ms = 5, .completed_most = 7};
    uint64_t seq = 0, n = 0;

    TELLS(db_begin(w->m.d));
    for (uint64_t url = 1; url < 4; url++) {
        TELLS(served_log_update(w->served, url, 5, bytes_of_str("a=b"), &seq));
        TELLS(served_log_lease(w->served, url, 5, 9, &n));
    }
    TELLS(served_log_metadata(w->served, seq, &text));
    TELLS(served_log_set_queue(w->served, 1, &row));
    TELLS(served_log_add_removed(w->served, 1, 2));
    TELLS(served_log_removed(w->served, 1, &n));
    TELLS(served_log_each_url(w->served, visit_served_url, NULL));
    TELLS(served_log_each_update(w->served, visit_update, NULL));
    TELLS(served_log_each_lease(w->served, visit_lease, NULL));
    TELLS(served_log_each_queue(w->served, visit_served_queue, NULL));
    TELLS(served_log_sweep_updates(w->served, 3, &keep));
    TELLS(served_log_sweep_leases(w->served, 3, &keep));
    TELLS(db_commit(w->m.d));
}

/* ---- each of their statements fails in turn ---- */

static const struct work {
    const char *name;
    void (*run)(void *whole);
    bool opens; /* by itself */
} works[] = {
    {"open", open_it, true},       {"read", read_it, true},
    {"crawl", crawl_it, false},    {"note", note_facts, false},
    {"finish", finish_one, false}, {"ask", read_facts_of_it, false},
    {"verify", verify_it, false},  {"pages", keep_pages, false},
    {"links", keep_links, false},  {"served", keep_served, false},
};

static void make_store(struct whole *w)
{
    w->mode = DB_CREATE;
    open_whole(w, w->dir.db);
    for (int i = 0; i < 30; i++)
        model_transaction(&w->m);
    note_facts(w);
    keep_pages(w);
    keep_links(w);
    TELLS(db_checkpoint(w->m.d)); /* so that the file alone holds everything */
    close_whole(w);
}

/* Returns false if the work ends before its n-th statement. */
static bool fails_at(struct whole *w, const struct work *work, uint64_t n)
{
    char log[128];
    unsigned descriptors = scratch_descriptors();
    bool failed;

    scratch_copy_file(w->dir.db, w->dir.other);
    snprintf(log, sizeof log, "%s-wal", w->dir.other);
    unlink(log);
    w->mode = DB_WRITE;
    model_rewind(&w->m, 30);
    if (!work->opens)
        open_whole(w, w->dir.other);
    failed = step_fault_at(n, work->run, w);
    close_whole(w);
    ck_assert_uint_eq(scratch_descriptors(), descriptors);
    return failed;
}

TIMEOUT(120);

TEST_EACH(a_statement_that_fails_is_told_by_the_call_that_ran_it, works)
{
    const struct work *work = &works[_i];
    struct whole w = {.dir = scratch_make()};
    uint64_t n = 1;

    buf_init(&text, 1 << 20);
    model_init(&w.m, 40, 60, 6);
    make_store(&w);
    while (fails_at(&w, work, n))
        n++;
    ck_assert_msg(n > 4, "%s runs %llu statements", work->name,
                  (unsigned long long)n);
    buf_fini(&text);
    model_free(&w.m);
    scratch_remove(&w.dir);
}
