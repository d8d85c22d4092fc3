/*
 * warc.h - the WARC files of a crawl: append, rotate, sync, repair.
 *
 * Records go to DIR/warc/PREFIX-TIME-SERIAL-HOST.warc.gz, which carries the
 * suffix `.open` while it is written. A file begins with its warcinfo record; a
 * new one is begun when the next records would pass the size asked for, so a
 * file is larger only if a single append is.
 *
 * What was appended is durable after warc_sync, which the owner calls before it
 * commits the rows that name it. A crash leaves an `.open` file: warc_open
 * truncates it after its last whole record and drops the suffix. It may hold
 * records that no row names; to readers they are one more fetch of the same
 * page.
 *
 * Owned by the frontier thread. After an append or sync that failed every
 * later one fails; warc_close still leaves whole records only.
 */
#ifndef URLWEIR_STORAGE_WARC_WARC_H
#define URLWEIR_STORAGE_WARC_WARC_H

#include <stdint.h>

#include "base/bytes.h"
#include "base/status.h"

struct warc;

struct warc_options {
    const char *dir;        /* the crawl's; DIR/warc is made */
    const char *prefix;     /* of file names */
    const char *host;       /* in file names and warcinfo; NULL: this machine */
    uint64_t size_most;     /* of a file */
    const char *user_agent; /* for warcinfo */
    const char *robots;     /* for warcinfo: "obey" */
};

/* Strings are copied. STATUS_IO, STATUS_FULL, with a log line. */
MUST_CHECK enum status warc_open(struct warc **out,
                                 const struct warc_options *o);
/* Finishes what a crash has left in DIR/warc, for a run that writes none;
 * `dir` is the crawl's. */
MUST_CHECK enum status warc_finish_left(const char *dir);
/* Syncs, and drops the suffix of the file being written. NULL is fine. */
MUST_CHECK enum status warc_close(struct warc *w);

/* Begins another file if `octets` more would make this one too large. After
 * this and after warc_open, warc_info_id is the id of the warcinfo record in
 * the file that the next append goes to, if that append is no longer than
 * `octets`. */
MUST_CHECK enum status warc_make_room(struct warc *w, uint64_t octets,
                                      int64_t wall_ms);
const char *warc_info_id(const struct warc *w);
/* Appends whole gzip members, which stay together in one file. *file, as fetch
 * rows name it ("warc/NAME.warc.gz"), lives until warc_close; *offset is where
 * they begin. */
MUST_CHECK enum status warc_append(struct warc *w, struct bytes members,
                                   int64_t wall_ms, struct bytes *file,
                                   uint64_t *offset);
/* After this, all that was appended survives a power cut. */
MUST_CHECK enum status warc_sync(struct warc *w);

/* Truncates `path` after its last whole record; *size is the new size. Damage
 * that is followed by whole records is kept, and logged. */
MUST_CHECK enum status warc_mend(const char *path, uint64_t *size);

/* Opens the file that a fetch row names, finished or not. -1: there is no such
 * file. */
int warc_open_named(const char *dir, struct bytes file);

#endif
