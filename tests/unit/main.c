/* SPDX-License-Identifier: MIT */
/*
 * main.c - runs the tests, which registered themselves; CK_RUN_SUITE names a
 * suite to run it alone.
 *
 * Nothing a test writes has to outlive the machine, and some commit thousands
 * of times: a disk that is slow to flush would only make them late. So flushing
 * is left out, here for all libraries of the process.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/storage/scratch.h"
#include "tests/unit/unit.h"

bool scratch_no_sync;
atomic_uint scratch_syncs, scratch_dir_syncs;

/* Fails where there is no such descriptor. */
int fsync(int fd)
{
    struct stat s;

    if (scratch_no_sync) {
        errno = EIO;
        return -1;
    }
    if (fstat(fd, &s) != 0)
        return -1;
    (void)atomic_fetch_add(S_ISDIR(s.st_mode) ? &scratch_dir_syncs
                                              : &scratch_syncs,
                           1);
    return 0;
}

int fdatasync(int fd)
{
    return fsync(fd);
}

_Thread_local uint64_t scratch_steps_left;
_Thread_local bool scratch_step_failed;
static _Thread_local bool inside; /* SQLite's own steps are not ours to fail */

static bool step_fails(void)
{
    if (inside || scratch_steps_left == 0 || --scratch_steps_left > 0)
        return false;
    scratch_step_failed = true;
    return true;
}

/* Of a scan the first row and the second: the others are read by the same
 * code, and a test would fail thousands of times to learn nothing. */
int sqlite3_step(sqlite3_stmt *s)
{
    static int (*real)(sqlite3_stmt *);
    static _Thread_local sqlite3_stmt *scan;
    static _Thread_local uint64_t rows;
    bool was = inside;
    int rc;

    if (real == NULL)
        *(void **)&real = dlsym(RTLD_NEXT, "sqlite3_step");
    if (s != scan)
        rows = 0;
    if (rows < 2 && step_fails())
        return SQLITE_IOERR;
    inside = true;
    rc = real(s);
    inside = was;
    scan = rc == SQLITE_ROW ? s : NULL;
    rows++;
    return rc;
}

int sqlite3_prepare_v3(sqlite3 *h, const char *sql, int len, unsigned flags,
                       sqlite3_stmt **out, const char **tail)
{
    static int (*real)(sqlite3 *, const char *, int, unsigned, sqlite3_stmt **,
                       const char **);

    if (real == NULL)
        *(void **)&real = dlsym(RTLD_NEXT, "sqlite3_prepare_v3");
    if (step_fails()) {
        *out = NULL;
        return SQLITE_IOERR;
    }
    return real(h, sql, len, flags, out, tail);
}

int sqlite3_exec(sqlite3 *h, const char *sql, sqlite3_callback row, void *ctx,
                 char **why)
{
    static int (*real)(sqlite3 *, const char *, sqlite3_callback, void *,
                       char **);
    bool was = inside;
    int rc;

    if (real == NULL)
        *(void **)&real = dlsym(RTLD_NEXT, "sqlite3_exec");
    /* Nobody waits for what a ROLLBACK says. */
    if (strcmp(sql, "ROLLBACK") != 0 && step_fails())
        return SQLITE_IOERR;
    inside = true;
    rc = real(h, sql, row, ctx, why);
    inside = was;
    return rc;
}

static _Thread_local unsigned reopened; /* since the last blob was opened */

int sqlite3_blob_open(sqlite3 *h, const char *db, const char *table,
                      const char *column, sqlite3_int64 row, int writes,
                      sqlite3_blob **out)
{
    static int (*real)(sqlite3 *, const char *, const char *, const char *,
                       sqlite3_int64, int, sqlite3_blob **);
    bool was = inside;
    int rc;

    if (real == NULL)
        *(void **)&real = dlsym(RTLD_NEXT, "sqlite3_blob_open");
    reopened = 0;
    if (step_fails()) {
        *out = NULL;
        return SQLITE_IOERR;
    }
    inside = true;
    rc = real(h, db, table, column, row, writes, out);
    inside = was;
    return rc;
}

/* As of a scan, the first one of a handle. */
int sqlite3_blob_reopen(sqlite3_blob *b, sqlite3_int64 row)
{
    static int (*real)(sqlite3_blob *, sqlite3_int64);
    bool was = inside;
    int rc;

    if (real == NULL)
        *(void **)&real = dlsym(RTLD_NEXT, "sqlite3_blob_reopen");
    if (reopened++ == 0 && step_fails())
        return SQLITE_IOERR;
    inside = true;
    rc = real(b, row);
    inside = was;
    return rc;
}

/* SQLite keeps a connection open, and its file locked, for as long as one of
 * its statements is left: who closes has to have ended them all. */
int sqlite3_close(sqlite3 *h)
{
    static int (*real)(sqlite3 *);
    int rc;

    if (real == NULL)
        *(void **)&real = dlsym(RTLD_NEXT, "sqlite3_close");
    rc = real(h);
    if (rc != SQLITE_OK) {
        fprintf(stderr, "sqlite3_close: %s\n", sqlite3_errstr(rc));
        abort();
    }
    return rc;
}

static struct unit_line *lines;
static size_t line_count;

void unit_add(struct unit_line *line)
{
    line->next = lines;
    lines = line;
    line_count++;
}

static int by_place(const void *a, const void *b)
{
    const struct unit_line *x = *(struct unit_line *const *)a;
    const struct unit_line *y = *(struct unit_line *const *)b;
    int files = strcmp(x->file, y->file);

    return files != 0 ? files : x->line - y->line;
}

/* tests/unit/base/test_map.c is the suite map. Check keeps the name by its
 * address. */
static Suite *suite_of(struct unit_line *first)
{
    const char *name = strrchr(first->file, '/') + sizeof "/test_" - 1;

    snprintf(first->suite, sizeof first->suite, "%.*s",
             (int)(strlen(name) - (sizeof ".c" - 1)), name);
    return suite_create(first->suite);
}

static TCase *case_of(Suite *s, const struct unit_line *fixture, double timeout)
{
    TCase *t = tcase_create("all");

    if (fixture != NULL)
        tcase_add_checked_fixture(t, fixture->setup, fixture->teardown);
    if (timeout > 0)
        tcase_set_timeout(t, timeout);
    suite_add_tcase(s, t);
    return t;
}

static void add_suites(SRunner *r)
{
    struct unit_line **all = calloc(line_count, sizeof *all), *fixture = NULL;
    Suite *s = NULL;
    TCase *t = NULL;
    double timeout = 0;
    size_t n = 0;

    for (struct unit_line *line = lines; line != NULL; line = line->next)
        all[n++] = line;
    qsort(all, n, sizeof *all, by_place);
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || strcmp(all[i]->file, all[i - 1]->file) != 0) {
            s = suite_of(all[i]);
            srunner_add_suite(r, s);
            t = NULL;
            fixture = NULL;
            timeout = 0;
        }
        if (all[i]->test != NULL) {
            if (t == NULL)
                t = case_of(s, fixture, timeout);
            tcase_add_loop_test(t, all[i]->test, all[i]->from, all[i]->to);
            continue;
        }
        t = NULL;
        if (all[i]->timeout < 0)
            fixture = all[i]->setup != NULL ? all[i] : NULL;
        else
            timeout = all[i]->timeout;
    }
    free(all);
}

int main(void)
{
    const char *only = getenv("CK_RUN_SUITE");
    SRunner *r = srunner_create(NULL);
    int run, failed;

    if (only != NULL && only[0] == '\0')
        unsetenv("CK_RUN_SUITE");
    add_suites(r);
    srunner_run_all(r, CK_ENV);
    run = srunner_ntests_run(r);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    printf("unit: %d passed, %d failed\n", run - failed, failed);
    if (run == 0)
        fprintf(stderr, "unit: no suite %s\n", only != NULL ? only : "");
    return failed == 0 && run > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
