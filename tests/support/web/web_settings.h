/*
 * web_settings.h - the command line of the test web, for all its commands.
 */
#ifndef URLWEIR_TESTS_SUPPORT_WEB_WEB_SETTINGS_H
#define URLWEIR_TESTS_SUPPORT_WEB_WEB_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>

#include "tests/support/web/check.h"
#include "tests/support/web/web.h"

struct settings {
    struct spec spec;
    const char *log;
    double latency_ms, max_time;
    bool stdin_guard;
    struct check_options check;
    size_t ignores;
};

/* Sets defaults, then the options in argv; argv[0] is the command's name.
 * *rest: the index of the first argument that is not an option. The settings
 * point into argv. False: an error was printed on stderr. */
bool settings_parse(int argc, char **argv, struct settings *s, int *rest);

#endif
