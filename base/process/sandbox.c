/* SPDX-License-Identifier: MIT */
/* sandbox.c - enters the sandbox's parts in turn, and describes what is in
 * effect. */
#include "base/process/sandbox.h"

#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>

#include "base/logger.h"
#include "base/process/sandbox_impl.h"

static char text[160] = "off";

const char *sandbox_text(void)
{
    return text;
}

static void log_state(int landlock, int version, int seccomp)
{
    char first[64], second[64];

    if (landlock == 0)
        snprintf(first, sizeof first, "landlock %d", version);
    else
        snprintf(first, sizeof first, "no landlock (%s)", strerror(landlock));
    if (seccomp == 0)
        snprintf(second, sizeof second, "seccomp");
    else if (SANDBOX_SANITIZED)
        snprintf(second, sizeof second, "no seccomp (AddressSanitizer)");
    else
        snprintf(second, sizeof second, "no seccomp (%s)", strerror(seccomp));
    snprintf(text, sizeof text, "%s, %s", first, second);
}

/* Of a sanitizer's runtime; NULL in other builds. */
void __sanitizer_set_report_path(const char *path) __attribute__((weak));

void sandbox_enter(const struct sandbox_options *o)
{
    int landlock, seccomp, version = 0;

    /* A file that the options name could not be opened when it is needed. */
    if (__sanitizer_set_report_path != NULL)
        __sanitizer_set_report_path("stderr");
    /* Both Landlock and seccomp need it; if it fails, so do they. */
    (void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    landlock = sandbox_landlock(o, &version);
    seccomp = sandbox_seccomp_enter(o->programs);
    log_state(landlock, version, seccomp);
}

void sandbox_seal(bool unix_sockets)
{
    int err = strstr(text, ", seccomp") != NULL
                  ? sandbox_seccomp_seal(unix_sockets)
                  : 0;

    if (err != 0)
        log_warn("sockets can still be listened on", "error=\"%s\"",
                 strerror(err));
}
