/* SPDX-License-Identifier: MIT */
/*
 * secret.c - PR_SET_DUMPABLE and the limit of core files.
 *
 * The limit alone is not enough: it does not apply to a core that the kernel
 * pipes to a program. From then on, files in /proc/PID about memory and
 * descriptors belong to root; a process can still read its own. Not under
 * AddressSanitizer, whose leak check traces the process from another one.
 */
#include "base/process/secret.h"

#include <sys/prctl.h>
#include <sys/resource.h>

#include "base/logger.h"
#include "base/process/sandbox_impl.h"

void secret_held(void)
{
    const struct rlimit none = {0, 0};

    if (SANDBOX_SANITIZED)
        return;
    if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0 ||
        setrlimit(RLIMIT_CORE, &none) != 0)
        log_warn("a core file might hold secrets", "%s", "");
}
