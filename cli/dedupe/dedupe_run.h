/*
 * dedupe_run.h - `urlweir dedupe`, once its options are understood: from the
 * first line read to the summary, with signals and all that may go wrong.
 */
#ifndef URLWEIR_CLI_DEDUPE_DEDUPE_RUN_H
#define URLWEIR_CLI_DEDUPE_DEDUPE_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/command.h"

struct dedupe_command {
    const char *const *files;
    size_t file_count;
    const char *dir; /* NULL: the set is not kept */
    uint64_t memory;
    unsigned threads;
    bool raw;
    bool canonical;    /* print canonical forms */
    bool keep_invalid; /* print lines that are no URL */
    bool verify;
    bool json, quiet;
};

/* Says on stderr what went wrong. Ends the process by SIGPIPE, as other filters
 * end, when nobody reads what it writes. */
enum exit_code dedupe_run(const struct dedupe_command *c);

#endif
