/* SPDX-License-Identifier: MIT */
/*
 * stuck_end.c - end a process when one of its fetchers does not come back.
 *
 * exit(3) would run destructors of libraries that the fetcher's thread may be
 * using.
 */
#include "cli/run/stuck_end.h"

#include <stdio.h>
#include <unistd.h>

void stuck_end(int code)
{
    fflush(stdout);
    fflush(stderr);
    _exit(code);
}
