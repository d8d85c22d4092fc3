/* SPDX-License-Identifier: MIT */
/* test_seen_store.c - what the store promises to a frontier built on it. */
/* Promise (The service): the store under both frontiers opens, commits and
 * writes checkpoints as one. See also `make sim`. */
#include "frontier/seen/seen_store.h"

#include "storage/db/schema.h"
#include "tests/unit/storage/step_fault.h"

#define WALL INT64_C(1700000000000)

static const struct seen_store_options options = {.use_filter = true,
                                                  .fpr = 0.01,
                                                  .memory = (uint64_t)16 << 20};

static struct seen_store *make(const struct scratch *at)
{
    struct seen_store *s = NULL;

    ck_ok(seen_store_create(&s, at->dir, &options, WALL));
    return s;
}

static struct seen_store *open_again(const struct scratch *at)
{
    struct seen_store *s = NULL;

    ck_ok(seen_store_open(&s, at->dir, &options));
    return s;
}

static struct digest digest_of(const struct seen_store *s, unsigned n,
                               char url[32])
{
    snprintf(url, 32, "http://h/%u", n);
    return digest_url(&s->key, bytes_of_str("c"), bytes_of_str("h"),
                      bytes_of_str(url));
}

static enum seen_answer ask(struct seen_store *s, unsigned n)
{
    enum seen_answer a = SEEN_NEW;
    char url[32];
    struct digest d = digest_of(s, n, url);

    ck_ok(seen_check(s->seen, &d, 1, &a));
    return a;
}

/* Admits the nth URL, a new one. */
static void admit(struct seen_store *s, unsigned n)
{
    char url[32];
    struct digest d = digest_of(s, n, url);
    struct url_row row = {.url = bytes_of_str(url),
                          .kind = URL_KIND_SERVED,
                          .found_at_ms = WALL};
    uint64_t id = 0;

    ck_ok(seen_store_touch(s));
    ck_assert_int_ne(ask(s, n), SEEN_BEFORE);
    ck_ok(frontier_store_queue(s->store, bytes_of_str("c"), bytes_of_str("h"),
                               &row.queue));
    ck_ok(frontier_store_admit(s->store, &row, &id));
    ck_ok(seen_store_admit(s, &d, 1, id));
}

TIMEOUT(120);

static unsigned steps;
static uint64_t last_step;

static void count_step(void *ctx, const struct filter_step *step)
{
    (void)ctx;
    steps++;
    last_step = step->upto;
}

/* One note each time the number of URLs doubles, also across a restart. */
TEST(the_filter_is_noted_at_each_doubling)
{
    struct scratch at = scratch_make();
    struct seen_store *s = make(&at);

    for (unsigned n = 0; n < 3000; n++)
        admit(s, n);
    ck_ok(seen_store_commit(s));
    seen_store_close(s);
    s = open_again(&at);
    for (unsigned n = 3000; n < 5000; n++)
        admit(s, n);
    ck_ok(seen_store_commit(s));
    steps = 0;
    ck_ok(frontier_store_each_step(s->store, count_step, NULL));
    SAME(steps, 3); /* 1,024, 2,048 and 4,096 */
    SAME(last_step, 4096);
    seen_store_close(s);
    scratch_remove(&at);
}

/* After a failed write the store only allows closing, and says so itself. */
TEST(a_broken_store_takes_no_more_changes)
{
    struct scratch at = scratch_make();
    struct seen_store *s = make(&at);

    ck_ok(seen_store_broke(s, STATUS_OK));
    ck_assert(!s->broken);
    scratch_quiet();
    scratch_no_sync = true;
    admit(s, 1);
    ck_assert_int_ne(seen_store_commit(s), STATUS_OK);
    scratch_no_sync = false;
    ck_assert(s->broken);
    ck_assert_int_ne(seen_store_touch(s), STATUS_OK);
    seen_store_close(s);
    scratch_remove(&at);
}

static void poll_until_written(struct seen_store *s)
{
    for (int i = 0; s->job != NULL; i++) {
        seen_store_poll(s);
        ck_assert_int_lt(i, 60000);
        usleep(1000);
    }
}

/* The store is safe; the next one is written as if nothing had happened. */
TEST(a_checkpoint_that_fails_is_told_and_counted)
{
    const struct seen_store_checkpoint later = {"running", false, false},
                                       now = {"stopped", true, true};
    struct scratch at = scratch_make();
    struct seen_store *s = make(&at);
    uint64_t generation = s->manifest.generation;

    scratch_quiet();
    for (unsigned i = 0; i < 2; i++) {
        const struct seen_store_checkpoint *c = i == 0 ? &later : &now;
        enum status st;

        admit(s, 1 + i);
        ck_ok(seen_store_prepare(s, c));
        ck_ok(seen_store_commit(s));
        scratch_no_sync = true;
        st = seen_store_save(s, c, WALL + i);
        ck_assert_int_eq(st == STATUS_OK, i == 0);
        poll_until_written(s);
        scratch_no_sync = false;
        SAME(s->checkpoints_failed, i + 1);
        SAME(s->manifest.generation, generation);
    }
    ck_ok(seen_store_prepare(s, &now));
    ck_ok(seen_store_commit(s));
    ck_ok(seen_store_save(s, &now, WALL));
    SAME(s->manifest.generation, generation + 3);
    SAME(s->checkpoints_failed, 2);
    seen_store_close(s);
    scratch_remove(&at);
}

static void stop(struct seen_store *s)
{
    const struct seen_store_checkpoint c = {"stopped", true, true};

    ck_ok(seen_store_prepare(s, &c));
    ck_ok(seen_store_commit(s));
    ck_ok(seen_store_save(s, &c, WALL));
    seen_store_close(s);
}

static void path_in(const struct scratch *at, const char *name, char path[128])
{
    snprintf(path, 128, "%s/%s", at->dir, name);
}

/* An older copy of the database was put back, and with it ids will be given
 * again: a filter that covers them would miss the URLs that get them. */
TEST(a_filter_file_ahead_of_its_store_is_removed_and_made_anew)
{
    static const char *const names[] = {"frontier.db", "manifest"};
    struct scratch at = scratch_make(), older = scratch_make();
    struct seen_store *s = make(&at);
    char from[128], to[128];

    for (unsigned n = 0; n < 100; n++)
        admit(s, n);
    stop(s);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        path_in(&at, names[i], from);
        path_in(&older, names[i], to);
        scratch_copy_file(from, to);
    }
    s = open_again(&at);
    for (unsigned n = 100; n < 300; n++)
        admit(s, n);
    stop(s);
    path_in(&at, "filter.ckpt", from);
    path_in(&older, "filter.ckpt", to);
    scratch_copy_file(from, to);
    s = open_again(&older);
    ck_assert_int_ne(access(to, F_OK), 0);
    ck_assert_uint_eq(seen_store_filter_stats(s)->count, 100);
    for (unsigned n = 0; n < 100; n++)
        SAME(ask(s, n), SEEN_BEFORE);
    for (unsigned n = 500; n < 800; n++)
        admit(s, n);
    stop(s);
    s = open_again(&older);
    ck_assert_uint_eq(seen_store_filter_stats(s)->count, 400);
    seen_store_close(s);
    scratch_remove(&at);
    scratch_remove(&older);
}

static void flip_every(const char *path, long from, long to, long step)
{
    FILE *f = fopen(path, "r+b");

    ck_assert_ptr_nonnull(f);
    for (long at = from; at < to; at += step) {
        int octet;

        ck_assert_int_eq(fseek(f, at, SEEK_SET), 0);
        octet = fgetc(f);
        ck_assert_int_eq(fseek(f, at, SEEK_SET), 0);
        ck_assert_int_eq(fputc(octet ^ 1, f), octet ^ 1);
    }
    ck_assert_int_eq(fclose(f), 0);
}

/* What is damaged is made from the exact set, whose newest digests were in
 * memory only when the process was killed. */
TEST(a_damaged_filter_file_has_what_the_exact_set_had_in_memory)
{
    struct scratch at = scratch_make();
    struct seen_store *s = make(&at);
    struct stat file;
    char path[128];

    for (unsigned n = 0; n < 1000; n++)
        admit(s, n);
    stop(s);
    path_in(&at, "filter.ckpt", path);
    ck_assert_int_eq(stat(path, &file), 0);
    flip_every(path, file.st_size / 4, file.st_size / 2, 64);
    s = open_again(&at);
    for (unsigned n = 0; n < 1000; n++)
        SAME(ask(s, n), SEEN_BEFORE);
    ck_assert_uint_eq(seen_store_filter_stats(s)->count, 1000);
    seen_store_close(s);
    scratch_remove(&at);
}

/* The filter that the store has after it is opened with these settings. */
static struct filter_stats filter_with(const struct scratch *at,
                                       const char *kind, double fpr,
                                       uint64_t expect)
{
    struct seen_store_options o = options;
    struct seen_store *s = NULL;
    struct filter_stats stats;

    o.filter_kind = kind;
    o.fpr = fpr;
    o.expect = expect;
    ck_ok(seen_store_open(&s, at->dir, &o));
    for (unsigned n = 0; n < 1000; n++)
        SAME(ask(s, n), SEEN_BEFORE);
    stats = *seen_store_filter_stats(s);
    ck_assert_str_eq(stats.kind, kind);
    ck_assert_double_eq(stats.fpr_promised, fpr);
    stop(s);
    return stats;
}

/* A whole number of blocks is a few keys more. */
static void is_made_for(const struct scratch *at, double fpr, uint64_t expect,
                        uint64_t keys)
{
    uint64_t capacity = filter_with(at, "bloom", fpr, expect).capacity;

    ck_assert_uint_ge(capacity, keys);
    ck_assert_uint_lt(capacity, keys + 100);
}

/* One of another kind or rate is made from the exact set; so is one of another
 * size, for kinds that cannot grow, if a size is asked for. */
TEST(a_filter_file_of_other_settings_is_made_anew)
{
    struct scratch at = scratch_make();
    struct seen_store *s = make(&at);

    for (unsigned n = 0; n < 1000; n++)
        admit(s, n);
    stop(s);
    (void)filter_with(&at, "scalable", 0.001, 0);
    (void)filter_with(&at, "scalable", 0.01, 5000000);
    is_made_for(&at, 0.01, 30000, 30000);
    is_made_for(&at, 0.01, 30000, 30000);
    is_made_for(&at, 0.01, 0, 30000);
    is_made_for(&at, 0.02, 0, 1001);
    is_made_for(&at, 0.02, 5000, 5000);
    /* its first layer is for many keys, as it has them for good */
    ck_assert_uint_gt(filter_with(&at, "stacked", 0.01, 0).bits,
                      (uint64_t)16384 * 10);
    scratch_remove(&at);
}

/* It gets its keys from the exact set, as a larger table needs them all. */
TEST(a_filter_that_grows_keeps_what_was_seen)
{
    struct seen_store_options o = options;
    struct scratch at = scratch_make();
    struct seen_store *s = NULL;

    o.filter_kind = "cuckoo";
    ck_ok(seen_store_create(&s, at.dir, &o, WALL));
    for (unsigned n = 0; n < 40000; n++) {
        admit(s, n);
        if (n % 10000 == 9999)
            ck_ok(seen_store_commit(s));
    }
    for (unsigned n = 0; n < 40000; n++)
        SAME(ask(s, n), SEEN_BEFORE);
    seen_store_close(s);
    scratch_remove(&at);
}

static uint64_t overfull(const struct scratch *at,
                         const struct seen_store_options *o)
{
    const struct seen_store_checkpoint c = {"stopped", true, true};
    struct seen_store *s = NULL;
    uint64_t n;

    ck_ok(seen_store_open(&s, at->dir, o));
    ck_ok(seen_store_prepare(s, &c));
    ck_ok(seen_store_commit(s));
    ck_ok(seen_store_save(s, &c, WALL));
    n = frontier_store_counter(s->store, "filter_overfull");
    seen_store_close(s);
    return n;
}

/* Whoever reads the store while no crawl runs learns it too. */
TEST(a_filter_that_is_too_full_is_noted_until_a_larger_one_is_made)
{
    struct seen_store_options o = options;
    struct scratch at = scratch_make();
    struct seen_store *s = make(&at);

    scratch_quiet();
    for (unsigned n = 0; n < 6000; n++)
        admit(s, n);
    ck_ok(seen_store_commit(s));
    seen_store_close(s);
    o.filter_kind = "counting"; /* which has room for the fewest in its least */
    o.fpr = 1e-9;
    o.expect = 50;
    SAME(overfull(&at, &o), 1);
    SAME(overfull(&at, &o), 1);
    o.expect = 20000;
    SAME(overfull(&at, &o), 0);
    SAME(overfull(&at, &o), 0);
    scratch_remove(&at);
}

/* ---- each statement fails in turn ---- */

static struct seen_store *faulty;
static struct seen_store_options faulty_options;

/* Opens the store, without the filter's file if `bare`, and writes a
 * checkpoint. */
static void open_and_save(const struct scratch *at, bool bare)
{
    const struct seen_store_checkpoint c = {"stopped", true, true};
    char path[128];

    snprintf(path, sizeof path, "%s/filter.ckpt", at->dir);
    if (bare)
        unlink(path);
    TELLS(seen_store_open(&faulty, at->dir, &faulty_options));
    TELLS(seen_store_touch(faulty));
    TELLS(seen_store_prepare(faulty, &c));
    TELLS(seen_store_commit(faulty));
    TELLS(seen_store_save(faulty, &c, WALL));
}

static void with_filter(void *at)
{
    open_and_save(at, false);
}

static void without_filter(void *at)
{
    open_and_save(at, true);
}

/* Nobody listens there, which is no failure of the store. */
static void with_redis(void *at)
{
    faulty_options.filter_kind = "redis";
    faulty_options.expect = 100;
    faulty_options.redis = "redis://127.0.0.1:1/";
    open_and_save(at, false);
}

TEST(a_statement_that_fails_is_told_and_the_store_opens_again)
{
    void (*const works[])(void *) = {with_filter, without_filter, with_redis};

    scratch_quiet();
    faulty_options = options;
    for (size_t i = 0; i < sizeof works / sizeof *works; i++) {
        const struct seen_store_checkpoint c = {"stopped", true, true};
        struct scratch at = scratch_make();
        struct seen_store *s = make(&at);
        uint64_t n = 0;

        for (unsigned k = 0; k < 20; k++)
            admit(s, k);
        ck_ok(seen_store_prepare(s, &c));
        /* so that a filter is made from pages, and not from memory */
        ck_ok(exact_set_merge(s->exact, EXACT_SET_PARTS));
        ck_ok(seen_store_commit(s));
        ck_ok(seen_store_save(s, &c, WALL));
        seen_store_close(s);
        do {
            seen_store_close(faulty);
            faulty = NULL;
            s = open_again(&at);
            for (unsigned k = 0; k < 20; k++)
                SAME(ask(s, k), SEEN_BEFORE);
            seen_store_close(s);
        } while (step_fault_at(++n, works[i], &at));
        ck_assert_uint_gt(n, 20);
        seen_store_close(faulty);
        faulty = NULL;
        scratch_remove(&at);
    }
}
