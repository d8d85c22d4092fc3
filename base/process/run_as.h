/*
 * run_as.h - root becomes another user, or root with few rights.
 *
 * Call these before any other thread is started.
 */
#ifndef URLWEIR_BASE_PROCESS_RUN_AS_H
#define URLWEIR_BASE_PROCESS_RUN_AS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/process/sandbox.h"
#include "base/status.h"

#define RUN_AS_NAME 64

struct run_as {
    uid_t uid;
    gid_t gid;
    bool known; /* has a passwd entry, and so perhaps more groups */
    char name[RUN_AS_NAME];
};

/* The user with this name or number. STATUS_NOT_FOUND. */
MUST_CHECK enum status run_as_named(struct run_as *out, const char *name);
/* The user with this number; `gid` is its group if the system has no entry for
 * it. */
void run_as_numbered(struct run_as *out, uid_t uid, gid_t gid);

/* Could that user access these paths in the given ways? False: `culprit` is the
 * first that it could not. In a directory to be written, entries are checked
 * too, three levels deep; a missing path needs a writable directory. A child
 * process that becomes the user does the checks. */
MUST_CHECK bool run_as_can_use(const struct run_as *who,
                               const struct sandbox_path *paths, size_t count,
                               char *culprit, size_t size);

/* Becomes that user for good. `low_ports`: may still listen on ports below
 * 1024. On failure the process has changed little or nothing, and should
 * end. */
MUST_CHECK enum status run_as_become(const struct run_as *who, bool low_ports);

/* Root stays root, but keeps only the capability to access files of any owner
 * and, with `low_ports`, to listen on ports below 1024. If that is not
 * possible, nothing changes. */
void run_as_root_with_little(bool low_ports);

#endif
