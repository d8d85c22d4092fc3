/*
 * journal.h - every arrival at the server, one line each.
 *
 *   start_ns end_ns conn host method status path octets end
 *
 * separated by TABs. The times are CLOCK_MONOTONIC: `start` when the request's
 * head was complete, `end` just before the last octet was handed to the
 * kernel, or when the connection was gone. `status` is 0 where no status line
 * was sent. `end` is "done", or "cut" if the client left before the answer's
 * end.
 */
#ifndef URLWEIR_TESTS_SUPPORT_WEB_JOURNAL_H
#define URLWEIR_TESTS_SUPPORT_WEB_JOURNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/status.h"

struct arrival {
    int64_t start, end;
    uint64_t conn;
    struct bytes address, method, path;
    int status;
    uint64_t octets;
    bool done;
};

struct journal;

/* Appends to `path`; NULL writes nowhere. */
MUST_CHECK enum status journal_open(struct journal **out, const char *path);
void journal_close(struct journal *j); /* flushes; NULL is fine */

void journal_add(struct journal *j, const struct arrival *a);
/* Writes to the file now. Write errors are printed once, on stderr. */
void journal_flush(struct journal *j);

/* Read one line, without its LF; the parts point into it. False: not one of our
 * lines, or truncated. */
bool journal_parse(struct bytes line, struct arrival *out);

#endif
