/*
 * run_as.h - root becomes another user, or root with few rights.
 *
 * One thread, before any other is started.
 */
#ifndef URLWEIR_BASE_RUN_AS_H
#define URLWEIR_BASE_RUN_AS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/sandbox.h"
#include "base/status.h"

#define RUN_AS_NAME 64

struct run_as {
    uid_t uid;
    gid_t gid;
    bool known; /* has an entry, and with it more groups */
    char name[RUN_AS_NAME];
};

/* The user with this name or number. STATUS_NOT_FOUND. */
MUST_CHECK enum status run_as_named(struct run_as *out, const char *name);
/* The user with this number, and this group where the system has no entry. */
void run_as_numbered(struct run_as *out, uid_t uid, gid_t gid);

/* Could that user use these paths as they are to be used? False: `culprit` is
 * the first that it could not. Of a directory that is to be written the entries
 * are looked at too, three levels deep; what is missing needs a directory that
 * can be written. Asked by a child process that becomes the user. */
MUST_CHECK bool run_as_can_use(const struct run_as *who,
                               const struct sandbox_path *paths, size_t count,
                               char *culprit, size_t size);

/* For good. `low_ports`: it may still listen on ports below 1024. Not
 * STATUS_OK: the process is as it was, or as good as that; it should end. */
MUST_CHECK enum status run_as_become(const struct run_as *who, bool low_ports);

/* Root stays root, and has no capabilities but that of files, whoever owns
 * them, and, with `low_ports`, of ports below 1024. Where that cannot be, all
 * stays as it was. */
void run_as_root_with_little(bool low_ports);

#endif
