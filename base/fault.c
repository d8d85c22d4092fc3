/* SPDX-License-Identifier: MIT */
/* fault.c - named points at which a test may kill or block the process. */
#include "base/fault.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

#define NAME_SIZE 64

struct fault {
    char name[NAME_SIZE]; /* empty: none */
    _Atomic long passages_left;
    long ms; /* 0: for ever */
};

static struct fault killer, holder;
static char time_name[NAME_SIZE];
static long time_ms;

/* Returns what follows the name in NAME:REST, or NULL; a name that is too long
 * is ignored. */
static const char *read_name(char name[NAME_SIZE], const char *spec)
{
    size_t len = strcspn(spec, ":");

    memset(name, 0, NAME_SIZE);
    if (len < NAME_SIZE)
        memcpy(name, spec, len);
    return spec[len] == ':' ? spec + len + 1 : NULL;
}

static void read_fault(struct fault *f, const char *variable)
{
    const char *spec = getenv(variable), *rest, *ms;

    if (spec == NULL)
        return;
    rest = read_name(f->name, spec);
    atomic_store(&f->passages_left, rest != NULL ? atol(rest) : 1);
    ms = rest != NULL ? strchr(rest, ':') : NULL;
    f->ms = ms != NULL ? atol(ms + 1) : 0;
}

void fault_init(void)
{
    const char *spec = getenv("URLWEIR_TIME"), *ms;

    read_fault(&killer, "URLWEIR_KILL_AT");
    read_fault(&holder, "URLWEIR_HOLD_AT");
    if (spec == NULL)
        return;
    ms = read_name(time_name, spec);
    time_ms = ms != NULL ? atol(ms) : 0;
}

static bool strikes(struct fault *f, const char *name)
{
    return f->name[0] != '\0' && strcmp(f->name, name) == 0 &&
           atomic_fetch_sub(&f->passages_left, 1) == 1;
}

static void hold(long ms)
{
    int64_t until = ms > 0 ? clock_mono() + ms * NS_PER_MS : INT64_MAX;

    while (clock_mono() < until)
        usleep(10000);
}

void fault_point(const char *name)
{
    if (strikes(&killer, name))
        kill(getpid(), SIGKILL);
    if (strikes(&holder, name))
        hold(holder.ms);
}

int64_t fault_time(const char *name, int64_t usual)
{
    return time_ms > 0 && strcmp(time_name, name) == 0 ? time_ms * NS_PER_MS
                                                       : usual;
}
