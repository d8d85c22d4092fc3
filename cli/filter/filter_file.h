/*
 * filter_file.h - a filter in a file, and keys from a stream, for the `filter`
 * commands.
 *
 * The file contains the seed of its hash, so only `create` takes one. A file is
 * locked from reading to replacing if it is changed, so that two commands wait
 * for each other.
 */
#ifndef URLWEIR_CLI_FILTER_FILTER_FILE_H
#define URLWEIR_CLI_FILTER_FILTER_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/digest.h"
#include "base/status.h"
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

/* ---- keys from a stream, in batches ----
 *
 * One key a line, ended only by LF; or, in binary, each key after its length in
 * four octets, little-endian. A batch is what one read returned, so a program
 * that writes a key and waits for its answer gets it.
 *
 * URLs instead of keys: the lines are a list as all lists of URLs are
 * (base/file/line_input.h), with comments, and their canonical forms are keys.
 *
 * Keys may be of a name, a user or tenant: equal keys of different names are
 * different keys of the filter, which so holds as many small filters as there
 * are names, without a header for each.
 */

#define FILTER_KEY_CEILING ((size_t)16 << 20)
#define FILTER_KEY_BATCH   1024

struct filter_keys_form {
    bool binary;
    bool named;       /* each line is a name, a tab and a key */
    const char *name; /* all are of this name; NULL: of none */
    bool urls;        /* neither binary nor named */
};

/* What became of a list of URLs beside its keys. */
struct filter_keys_report {
    uint64_t refused; /* lines that are no URLs */
    uint64_t first;   /* the number of the first of them */
    const char *why;  /* why it is none; static */
    char error[512];  /* why the list cannot be read: "stdin: ..."; or "" */
};

struct filter_keys {
    const struct bytes *text;
    const struct bytes *given; /* the same, or the line of a URL */
    const uint64_t *key;
    size_t n; /* at most FILTER_KEY_BATCH */
};

/* Keys from stdin. STATUS_IO: reading failed, errno says why; STATUS_LIMIT: a
 * key is longer than FILTER_KEY_CEILING; STATUS_FORMAT: the stream ends inside
 * a binary key; STATUS_ARG: a line has no tab. With report->error set: a list
 * of URLs cannot be read to its end. Keys before that were visited. */
MUST_CHECK enum status filter_keys_each(
    const struct filter_keys_form *form, const struct digest_key *k,
    void (*visit)(void *ctx, const struct filter_keys *keys), void *ctx,
    struct filter_keys_report *report);

#endif
