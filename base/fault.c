/* SPDX-License-Identifier: MIT */
/* fault.c - named points at which a test may end the process. */
#include "base/fault.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char kill_at[64];
static _Atomic long passages_left;

void fault_init(void)
{
    const char *spec = getenv("URLWEIR_KILL_AT");
    const char *colon;
    size_t len;

    if (spec == NULL)
        return;
    colon = strchr(spec, ':');
    len = colon != NULL ? (size_t)(colon - spec) : strlen(spec);
    if (len == 0 || len >= sizeof kill_at)
        return;
    atomic_store(&passages_left, colon != NULL ? atol(colon + 1) : 1);
    memcpy(kill_at, spec, len);
}

void fault_point(const char *name)
{
    if (kill_at[0] == '\0' || strcmp(kill_at, name) != 0)
        return;
    if (atomic_fetch_sub(&passages_left, 1) == 1)
        kill(getpid(), SIGKILL);
}
