/* SPDX-License-Identifier: MIT */
/*
 * main.c - collects the suites; CK_RUN_SUITE names one to run it alone.
 *
 * Nothing a test writes has to outlive the machine, and some commit thousands
 * of times: a disk that is slow to flush would only make them late. So flushing
 * is left out, here for all libraries of the process.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/unit/storage/scratch.h"

bool scratch_no_sync;

/* Fails where there is no such descriptor. */
int fsync(int fd)
{
    if (scratch_no_sync) {
        errno = EIO;
        return -1;
    }
    return fcntl(fd, F_GETFD) < 0 ? -1 : 0;
}

int fdatasync(int fd)
{
    return fsync(fd);
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
