/*
 * filter_keys.h - keys from a stream, in batches, for the `filter` commands.
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
#ifndef URLWEIR_CLI_FILTER_FILTER_KEYS_H
#define URLWEIR_CLI_FILTER_FILTER_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/digest.h"
#include "base/status.h"

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
