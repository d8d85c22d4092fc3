/*
 * dir_kind.h - checks what a directory holds before we write to it.
 *
 * A crawl, a service, shards of a service, and the set of `urlweir dedupe` each
 * need their own directory: missing, empty, or made by them before. Any other is refused, so
 * that we do not replace anybody's files or mix them with ours. Only names and
 * the first octets of files are read, so even a hostile directory can be
 * checked before the process gives up its rights. One thread.
 */
#ifndef URLWEIR_JOB_DIR_KIND_H
#define URLWEIR_JOB_DIR_KIND_H

#include <stdbool.h>

#include "base/buf.h"

enum dir_kind {
    DIR_FREE,   /* missing, empty, or left by an interrupted start */
    DIR_CRAWL,  /* a crawl: has settings */
    DIR_STORE,  /* a service; or a crawl whose settings were lost */
    DIR_SET,    /* of `urlweir dedupe --state` */
    DIR_SHARDS, /* shards of a service in a cluster */
    DIR_OTHER   /* files that are not ours */
};

/* For DIR_OTHER, appends the name of a file that is not ours to `culprit`. A
 * path that is not a directory, or cannot be read, is DIR_FREE: using it gives
 * a better message. */
enum dir_kind dir_kind_of(const char *dir, struct buf *culprit);

/* DIR/shards/service names the service whose shards are there. */
#define DIR_SHARDS_NAME "shards/service"

/* May a command that makes a directory of kind `wanted` (DIR_CRAWL, DIR_STORE,
 * DIR_SET, DIR_SHARDS) use `dir`? False: `why` says what `dir` holds and what to do. True
 * for a directory of that kind too: the caller checks whether it can start
 * there. */
bool dir_kind_fits(const char *dir, enum dir_kind wanted, struct buf *why);
/* Like dir_kind_fits, but `command` prints the reason on stderr. */
bool dir_kind_check(const char *dir, enum dir_kind wanted, const char *command);

#endif
