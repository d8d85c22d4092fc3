/* sandbox_impl.h - the parts of the sandbox. Only sandbox*.c and secret.c
 * include this. */
#ifndef URLWEIR_BASE_PROCESS_SANDBOX_IMPL_H
#define URLWEIR_BASE_PROCESS_SANDBOX_IMPL_H

#include "base/process/sandbox.h"

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

/* Returns 0 and the version of the interface in use, or an errno value. */
int sandbox_landlock(const struct sandbox_options *o, int *version);
/* 0, or an errno value. */
int sandbox_seccomp_enter(bool programs);
int sandbox_seccomp_seal(bool unix_sockets);

#endif
