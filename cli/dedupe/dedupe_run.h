/*
 * dedupe_run.h - runs `urlweir dedupe`, once its options are parsed: from the
 * first line to the summary, with signals and errors.
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
    const char *dir; /* NULL: the set is not stored */
    uint64_t memory;
    unsigned threads;
    bool raw;
    bool canonical;    /* print canonical forms */
    bool keep_invalid; /* print lines that are not a URL */
    bool verify;
    bool json, quiet;
};

/* Prints errors on stderr. Ends the process by SIGPIPE, as other filters do,
 * when nobody reads its output. */
enum exit_code dedupe_run(const struct dedupe_command *c);

#endif
