/* SPDX-License-Identifier: MIT */
/*
 * test_store_crash.c - killed at each step of a commit, of a merge and of a
 * checkpoint, the store holds exactly the committed transactions, and continues
 * to the same end as a store that was never killed.
 */
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "base/fault.h"
#include "tests/unit/storage/store_model.h"

#define TRANSACTIONS 26

static void run_until_killed(struct model *m, const char *path,
                             const char *kill_at, uint32_t *committed)
{
    setenv("URLWEIR_KILL_AT", kill_at, 1);
    fault_init();
    model_open(m, path, DB_CREATE);
    while (m->tx < TRANSACTIONS) {
        model_transaction(m);
        *committed = m->tx;
    }
    model_close(m);
    _exit(0);
}

/* Returns how many transactions the store holds; -1: there is no store. */
static int64_t transactions_in(const char *path)
{
    int64_t n = 0;
    struct db *d = NULL;
    enum status st = db_open(&d, path, DB_READ, &model_db_options);

    if (st == STATUS_NOT_FOUND)
        return -1;
    ck_ok(st);
    st = db_number(d, "SELECT value FROM counter WHERE name = 'transactions'",
                   &n);
    ck_assert(st == STATUS_OK || st == STATUS_NOT_FOUND);
    db_close(d);
    return n;
}

/* Once all merges are complete, every row belongs to one of them. */
static void expect_no_left_over(struct model *m)
{
    int64_t segments = 0, named = 0;

    for (int i = 0; i < 150; i++) {
        SAME(db_begin(m->d), STATUS_OK);
        SAME(frontier_store_step(m->s), STATUS_OK);
        SAME(db_commit(m->d), STATUS_OK);
    }
    ck_ok(db_number(m->d,
                    "SELECT count(DISTINCT id >> 24)"
                    " FROM qseg",
                    &segments));
    ck_ok(db_number(m->d,
                    "SELECT count(*) FROM qmeta"
                    " WHERE ids > 0",
                    &named));
    ck_assert_int_eq(segments, named);
}

/* Returns true if the process was killed, so it passed the point that often. */
static bool kill_and_go_on(struct model *m, const char *kill_at)
{
    struct scratch dir = scratch_make();
    uint32_t *committed = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
                               MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int status = 0;
    int64_t holds;
    pid_t child;

    ck_assert(committed != MAP_FAILED);
    model_rewind(m, 0);
    child = fork();
    if (child == 0)
        run_until_killed(m, dir.db, kill_at, committed);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_msg(WIFSIGNALED(status) ? WTERMSIG(status) == SIGKILL
                                      : WEXITSTATUS(status) == 0,
                  "%s: status %d", kill_at, status);
    holds = transactions_in(dir.db);
    ck_assert_msg(holds == *committed || holds == *committed + 1 ||
                      (holds == -1 && *committed == 0),
                  "%s: committed %u, holds %lld", kill_at, *committed,
                  (long long)holds);
    model_rewind(m, holds > 0 ? (uint32_t)holds : 0);
    model_open(m, dir.db, holds < 0 ? DB_CREATE : DB_WRITE);
    model_compare(m);
    while (m->tx < TRANSACTIONS)
        model_transaction(m);
    expect_no_left_over(m);
    model_compare(m);
    model_close(m);
    munmap(committed, 4096);
    scratch_remove(&dir);
    return WIFSIGNALED(status);
}

static void reference_run(struct model *m)
{
    struct scratch dir = scratch_make();

    model_init(m, 1500, 700, 30);
    model_open(m, dir.db, DB_CREATE);
    while (m->tx < TRANSACTIONS)
        model_transaction(m);
    model_compare(m);
    model_close(m);
    scratch_remove(&dir);
}

/* Kills at the n-th passage, for a few n; `most` is the number of runs. */
static void kill_at_passages(struct model *m, const char *name, int most)
{
    char kill_at[64];
    int killed = 0;

    for (int n = 1, i = 0; i < most; i++, n = n * 12 + 1) {
        snprintf(kill_at, sizeof kill_at, "%s:%d", name, n);
        if (!kill_and_go_on(m, kill_at))
            break;
        killed++;
    }
    ck_assert_msg(killed > 0, "%s was never passed", name);
}

TIMEOUT(300);

static const char *const points[] = {STORAGE_FAULT_POINTS};

/* Promise 1: No URL is lost: each admitted URL is fetched or has a reason,
 * across kills, power cuts, a full disk and a damaged filter. A page and its
 * links are committed together. See also `make sim`,
 * `db/a_full_disk_is_said_once_and_is_final_until_reopened`,
 * `tests/cli/damaged-filter.sh`, `tests/cli/full-disk.sh`,
 * `file/the_name_of_a_directory_is_synced`, `tests/cli/in-hand.sh`,
 * `tests/cli/stuck.sh`. */
/* Promise (Crashes): a crawl that is killed at any step of a commit, a merge
 * or a checkpoint loses nothing. See also `make sim`. */
TEST_EACH(a_kill_at_any_point_loses_nothing_committed_and_keeps_nothing_else,
          points)
{
    struct model m;

    reference_run(&m);
    kill_at_passages(&m, points[_i], (int)scratch_size(2, 4));
    model_free(&m);
}

/* ---- a reader beside the writer ---- */

/* Checkpoints only where the test asks for one. */
static void open_patient(struct model *m, const char *path, enum db_mode mode)
{
    const struct db_options o = {.checkpoint_bytes = UINT64_C(1) << 40};

    ck_ok(db_open(&m->d, path, mode, &o));
    if (mode == DB_READ)
        ck_ok(db_begin(m->d));
    ck_ok(exact_set_open(&m->set, m->d, &model_set_options));
    ck_ok(frontier_store_open(&m->s, m->d, &model_frontier_options,
                              exact_set_upto(m->set), model_replay, m));
    ck_ok(page_store_open(&m->p, m->d));
}

/* The writer is killed, and another one that knows nothing of the reader goes
 * on. */
TEST(a_reader_keeps_its_rows_when_the_writer_starts_again)
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
