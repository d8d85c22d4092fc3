/*
 * dir_kind.h - what a directory holds, asked before anything is written there.
 *
 * A crawl, a service and the set of `urlweir dedupe` each take a directory of
 * their own: one that is missing or empty, or one that they made before. Any
 * other is refused, so that nobody's files are mixed with ours or replaced.
 * Only names and the first octets of files are read, so a hostile directory may
 * be looked at before the process gives up its rights. One thread.
 */
#ifndef URLWEIR_JOB_DIR_KIND_H
#define URLWEIR_JOB_DIR_KIND_H

#include <stdbool.h>

#include "base/buf.h"

enum dir_kind {
    DIR_FREE,  /* missing, empty, or left by a start that was cut short */
    DIR_CRAWL, /* a crawl: its settings are there */
    DIR_STORE, /* a service; or a crawl whose settings were lost */
    DIR_SET,   /* what `urlweir dedupe --state` keeps */
    DIR_OTHER  /* files that are not ours */
};

/* `culprit` gains the name of a file that is not ours, of DIR_OTHER. A path
 * that is no directory, or cannot be read, is DIR_FREE: using it fails with the
 * better message. */
enum dir_kind dir_kind_of(const char *dir, struct buf *culprit);

/* May a command that makes a directory of kind `wanted` (DIR_CRAWL, DIR_STORE,
 * DIR_SET) use `dir`? False: `why` says what is there and what to do. A
 * directory of the wanted kind may be used: whether there is something to
 * begin, the caller finds out. */
bool dir_kind_fits(const char *dir, enum dir_kind wanted, struct buf *why);
/* The same, `why` said on stderr as by `command`. */
bool dir_kind_check(const char *dir, enum dir_kind wanted, const char *command);

#endif
