/*
 * sandbox.h - gives up rights, in case an attacker takes over the process.
 *
 * sandbox_enter() gives up rights for good, for this thread and those it
 * starts: with Landlock only the named paths can be read or written, seccomp
 * refuses system calls that no part of the program needs (sandbox.c has
 * the list), and no_new_privs keeps set-user-ID programs from regaining rights.
 * Each part is used if the kernel has it; where a container forbids one, the
 * process goes on without it, and sandbox_text() says so.
 *
 * It does not limit what the process does within its rights: it may write all
 * of the named paths and connect to any address. See docs/security.md.
 *
 * Threads: sandbox_enter before any other thread is started; sandbox_seal and
 * sandbox_text from any.
 */
#ifndef URLWEIR_BASE_PROCESS_SANDBOX_H
#define URLWEIR_BASE_PROCESS_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/status.h"

/* AddressSanitizer's leak check traces its own process from another, and its
 * reports start a program: seccomp would end both. */
#if defined(__SANITIZE_ADDRESS__)
#define SANDBOX_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANDBOX_SANITIZED 1
#endif
#endif

#ifndef SANDBOX_SANITIZED
#define SANDBOX_SANITIZED 0
#endif

enum sandbox_use {
    SANDBOX_READ,   /* a file, or a directory and all below it */
    SANDBOX_WRITE,  /* also made, renamed, removed; no links made */
    SANDBOX_PROGRAM /* read and executed */
};

struct sandbox_path {
    const char *path;
    enum sandbox_use use;
};

struct sandbox_options {
    /* Added to what every process needs to read: libraries, certificates, the
     * resolver's files, /proc. Paths that do not exist are ignored. */
    const struct sandbox_path *paths;
    size_t path_count;
    bool programs; /* may start programs, only SANDBOX_PROGRAM ones */
};

/* At most once in a process. */
void sandbox_enter(const struct sandbox_options *o);

/* Call it after sandbox_enter, when all sockets listen: from then on no further
 * socket can listen and, unless `unix_sockets`, no Unix socket can be made.
 * Applies to all threads. */
void sandbox_seal(bool unix_sockets);

/* "landlock 7, seccomp", "no landlock (Operation not permitted), seccomp", or
 * "off" before sandbox_enter. */
const char *sandbox_text(void);

/* ---- a process that holds a secret leaves no copy of its memory ----
 *
 * Code that reads a token, a TLS key, an authorising header or cookie, or a
 * proxy's password calls secret_held(). Any thread.
 */

/* From now on no core is dumped, and other processes of the same user neither
 * trace this one nor read its memory. Idempotent, and for good. */
void secret_held(void);

#endif
