/*
 * sandbox.h - what this process can no longer do, whatever takes it over.
 *
 * sandbox_enter() gives rights up for good, for this thread and those it
 * starts: Landlock leaves the named paths alone to be read or written, seccomp
 * refuses system calls that no part of the program needs (sandbox_seccomp.c has
 * the list), and no_new_privs keeps set-user-ID programs from giving rights
 * back. Each wall stands where the kernel has it; a process in a container
 * without the right for one goes on without it, and sandbox_text() says so.
 *
 * It is no wall against what the process does within its rights: it may write
 * all of the named paths and connect to any address. See docs/security.md.
 *
 * Threads: sandbox_enter before any other thread is started; sandbox_seal and
 * sandbox_text from any.
 */
#ifndef URLWEIR_BASE_SANDBOX_H
#define URLWEIR_BASE_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>

enum sandbox_use {
    SANDBOX_READ,   /* a file, or a directory and all below it */
    SANDBOX_WRITE,  /* also made, renamed and removed, but for links */
    SANDBOX_PROGRAM /* read and executed */
};

struct sandbox_path {
    const char *path;
    enum sandbox_use use;
};

struct sandbox_options {
    /* Beside what every process needs to read: libraries, certificates, the
     * resolver's files, /proc. Paths that do not exist are left out. */
    const struct sandbox_path *paths;
    size_t path_count;
    bool programs; /* it starts other programs: SANDBOX_PROGRAM alone */
};

/* At most once in a process. */
void sandbox_enter(const struct sandbox_options *o);

/* After sandbox_enter, when all sockets listen: no socket listens any more and,
 * unless `unix_sockets`, none of the Unix family is made. For all threads. */
void sandbox_seal(bool unix_sockets);

/* "landlock 7, seccomp", "no landlock (Operation not permitted), seccomp", or
 * "off" before sandbox_enter. */
const char *sandbox_text(void);

#endif
