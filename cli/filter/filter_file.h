/*
 * filter_file.h - a filter in a file, for the `filter` commands.
 *
 * The file contains the seed of its hash, so only `create` takes one. A file is
 * locked from reading to replacing if it is changed, so that two commands wait
 * for each other.
 */
#ifndef URLWEIR_CLI_FILTER_FILTER_FILE_H
#define URLWEIR_CLI_FILTER_FILTER_FILE_H

#include <stdbool.h>

#include "base/digest.h"
#include "filter/checkpoint.h"
#include "filter/filter.h"

struct filter_file {
    const char *command; /* for messages: "filter add" */
    const char *path;
    struct filter *filter;
    struct checkpoint_info info;
    struct digest_key key;
    int lock; /* descriptor, -1: none */
};

/* Makes an empty filter, not yet on disk; `seed` NULL: the default. */
bool filter_file_new(struct filter_file *f, const char *command,
                     const char *path, const struct filter_options *o,
                     const char *seed, int *code);
/* Reads the file; `change`: locks it too. On false *code is the exit status,
 * the reason was printed, and there is nothing to close. */
bool filter_file_open(struct filter_file *f, const char *command,
                      const char *path, bool change, int *code);
/* Replaces the file whole; returns an exit status. */
int filter_file_save(struct filter_file *f);
void filter_file_close(struct filter_file *f);
/* EXIT_DAMAGED, with its reason printed, if parts were lost; else EXIT_DONE. */
int filter_file_verdict(const struct filter_file *f);

#endif
