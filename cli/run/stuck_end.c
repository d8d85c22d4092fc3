/* SPDX-License-Identifier: MIT */
/*
 * stuck_end.c - the end of a process one of whose fetchers does not come back.
 *
 * exit(3) would run the destructors of libraries in which that thread may be.
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
