/* SPDX-License-Identifier: MIT */
/*
 * test_store_power.c - what a power cut leaves of the file of runs, and what a
 * reader beside the writer finds in it.
 */
#include <sys/stat.h>

#include "tests/unit/storage/store_model.h"

/* Checkpoints only where a test asks for one. */
static const struct db_options patient = {.checkpoint_bytes = UINT64_C(1)
                                                              << 40};

static void open_patient(struct model *m, const char *path, enum db_mode mode)
{
    ck_ok(db_open(&m->d, path, mode, &patient));
    if (mode == DB_READ)
        ck_ok(db_begin(m->d));
    ck_ok(exact_set_open(&m->set, m->d, &model_set_options));
    ck_ok(frontier_store_open(&m->s, m->d, &model_frontier_options,
                              exact_set_upto(m->set), model_replay, m));
    ck_ok(page_store_open(&m->p, m->d));
}

/* ---- what was not synced is gone ---- */

static char runs_path[128], synced_path[128];

/* Keeps the file of runs as it is now. */
static void keep_synced(int fd)
{
    struct stat of_fd, of_runs;

    if (fstat(fd, &of_fd) == 0 && stat(runs_path, &of_runs) == 0 &&
        of_fd.st_ino == of_runs.st_ino)
        scratch_copy_file(runs_path, synced_path);
}

TIMEOUT(120);

TEST(a_power_cut_that_takes_what_was_not_synced_loses_nothing_committed)
{
    struct scratch dir = scratch_make();
    struct model m, after;
    char *other = run_file_path(dir.other), *runs = run_file_path(dir.db);

    snprintf(runs_path, sizeof runs_path, "%s", runs);
    snprintf(synced_path, sizeof synced_path, "%s/synced", dir.dir);
    model_init(&m, 100, 700, 30);
    model_open(&m, dir.db, DB_CREATE);
    scratch_on_sync = keep_synced;
    for (uint64_t i = 0; i < 60; i++) {
        model_transaction(&m);
        if (i % 7 != 6)
            continue;
        after = m;
        scratch_crash_copy(&dir);
        scratch_copy_file(synced_path, other);
        model_open(&after, dir.other, DB_WRITE);
        model_compare(&after);
        model_close(&after);
    }
    scratch_on_sync = NULL;
    model_close(&m);
    model_free(&m);
    free(other);
    free(runs);
    scratch_remove(&dir);
}

/* ---- an older state comes back ---- */

/* The database as the last checkpoint left it, without its log, still finds all
 * pages that it names. */
TEST(no_page_is_written_again_before_a_checkpoint_has_passed_it)
{
    struct scratch dir = scratch_make();
    struct model m, after;
    uint64_t before = 0, size = 0;
    char log[128];

    snprintf(log, sizeof log, "%s-wal", dir.other);
    model_init(&m, 100, 700, 30);
    open_patient(&m, dir.db, DB_CREATE);
    for (unsigned round = 0; round < 12; round++) {
        uint32_t tx = m.tx;

        ck_ok(db_checkpoint(m.d));
        for (int i = 0; i < 9; i++)
            model_transaction(&m);
        scratch_crash_copy(&dir);
        unlink(log);
        after = m;
        model_rewind(&after, tx);
        open_patient(&after, dir.other, round % 2 == 0 ? DB_READ : DB_WRITE);
        model_compare(&after);
        model_close(&after);
        model_rewind(&m, m.tx); /* they share their arrays */
        before = size;
        size = run_file_size(db_runs(m.d));
    }
    model_compare(&m);
    ck_assert_uint_lt(size - before, size / 4); /* most were written again */
    model_close(&m);
    model_free(&m);
    scratch_remove(&dir);
}

/* ---- a reader beside the writer ---- */

/* It is killed, and a writer that knows nothing of the reader goes on. */
TEST(a_reader_keeps_its_pages_when_the_writer_starts_again)
{
    struct scratch dir = scratch_make();
    struct model m, reader;
    uint32_t tx;

    model_init(&m, 100, 700, 30);
    open_patient(&m, dir.db, DB_CREATE);
    for (int i = 0; i < 20; i++)
        model_transaction(&m);
    tx = m.tx;
    reader = m;
    open_patient(&reader, dir.db, DB_READ);
    for (int i = 0; i < 10; i++)
        model_transaction(&m);
    page_store_close(m.p);
    frontier_store_close(m.s);
    exact_set_close(m.set);
    db_close_as_is(m.d);
    open_patient(&m, dir.db, DB_WRITE);
    for (int i = 0; i < 30; i++) {
        model_transaction(&m);
        ck_ok(db_checkpoint(m.d));
    }
    model_rewind(&reader, tx);
    model_compare(&reader);
    model_close(&reader);
    model_rewind(&m, m.tx);
    model_compare(&m);
    model_close(&m);
    model_free(&m);
    scratch_remove(&dir);
}

/* ---- damage ---- */

TEST(a_file_of_runs_that_is_gone_cut_or_of_another_store_is_damage)
{
    static const char *const hows[] = {"gone", "cut", "empty", "another"};
    struct scratch dir = scratch_make(), second = scratch_make();
    struct db *d = NULL;
    struct model m;

    for (int i = 0; i < 2; i++) {
        model_init(&m, 100, 700, 30);
        model_open(&m, i == 0 ? dir.db : second.db, DB_CREATE);
        for (int k = 0; k < 20; k++)
            model_transaction(&m);
        model_close(&m);
        model_free(&m);
    }
    for (size_t i = 0; i < 4; i++) {
        char *runs = run_file_path(dir.other);
        struct exact_set *s = NULL;

        scratch_copy_file(dir.db, dir.other);
        scratch_copy_runs(i == 3 ? second.db : dir.db, dir.other);
        if (i == 0)
            ck_assert_int_eq(unlink(runs), 0);
        else if (i < 3)
            ck_assert_int_eq(truncate(runs, i == 1 ? 40 * RUN_PAGE : 0), 0);
        d = scratch_open(dir.other, DB_READ);
        ck_ok(exact_set_open(&s, d, &model_set_options));
        ck_assert_msg(exact_set_verify(s) == STATUS_DAMAGED, "%s", hows[i]);
        exact_set_close(s);
        if (i < 3)
            ck_assert_msg(db_verify_runs(d) == STATUS_DAMAGED, "%s", hows[i]);
        db_close(d);
        if (i < 3)
            ck_assert_msg(db_open(&d, dir.other, DB_WRITE, &patient) ==
                              STATUS_DAMAGED,
                          "%s", hows[i]);
        free(runs);
    }
    scratch_remove(&dir);
    scratch_remove(&second);
}
