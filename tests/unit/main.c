/* SPDX-License-Identifier: MIT */
/* main.c - collects the suites; CK_RUN_SUITE names one to run it alone. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>

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
