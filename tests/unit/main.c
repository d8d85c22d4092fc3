/* SPDX-License-Identifier: MIT */
/*
 * main.c - collects the suites; CK_RUN_SUITE names one to run it alone.
 *
 * Nothing a test writes has to outlive the machine, and some commit thousands
 * of times: a disk that is slow to flush would only make them late. So flushing
 * is left out, here for all libraries of the process.
 */
#include <check.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/storage/scratch.h"

bool scratch_no_sync;
atomic_uint scratch_syncs, scratch_dir_syncs;
void (*scratch_on_sync)(int fd);

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
    if (scratch_on_sync != NULL && !S_ISDIR(s.st_mode))
        scratch_on_sync(fd);
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

#define SUITE(name) Suite *suite_##name(void);
#include "suites.inc"
#undef SUITE

static Suite *(*const suites[])(void) = {
#define SUITE(name) suite_##name,
#include "suites.inc"
#undef SUITE
};

int main(void)
{
    const char *only = getenv("CK_RUN_SUITE");
    SRunner *r = srunner_create(NULL);
    int run, failed;

    if (only != NULL && only[0] == '\0')
        unsetenv("CK_RUN_SUITE");
    for (size_t i = 0; i < sizeof suites / sizeof *suites; i++)
        srunner_add_suite(r, suites[i]());
    srunner_run_all(r, CK_ENV);
    run = srunner_ntests_run(r);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    printf("unit: %d passed, %d failed\n", run - failed, failed);
    if (run == 0)
        fprintf(stderr, "unit: no suite %s\n", only != NULL ? only : "");
    return failed == 0 && run > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
