/*
 * filter_file.h - a filter in a file, for the `filter` commands.
 *
 * The seed of its hash stands in the file, so that no command but `create`
 * needs to be told. A file that is changed is locked from reading to
 * replacing, so that of two commands one waits for the other.
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

/* An empty filter, not yet on disk; `seed` NULL: the one all files have. */
bool filter_file_new(struct filter_file *f, const char *command,
                     const char *path, const struct filter_options *o,
                     const char *seed, int *code);
/* Read it; `change`: and lock it. On false *code is the exit status, the
 * reason was said, and there is nothing to close. */
bool filter_file_open(struct filter_file *f, const char *command,
                      const char *path, bool change, int *code);
/* Replace the file whole; an exit status. */
int filter_file_save(struct filter_file *f);
/* The seed that files of `text` have; NULL: of none. DIGEST_SEED_SIZE octets.
 */
void filter_file_seed(unsigned char *seed, const char *text);
void filter_file_close(struct filter_file *f);
/* EXIT_DAMAGED with its reason said where parts were lost, else EXIT_DONE. */
int filter_file_verdict(const struct filter_file *f);

#endif
