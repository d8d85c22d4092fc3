/* SPDX-License-Identifier: MIT */
/* steering.c - the registry that acts of a person go to. */
#include "tests/sim/steering.h"

#include <stddef.h>

static struct crawls *registry;

void steering_begin(struct crawls *c)
{
    registry = c;
}

void steering_end(void)
{
    registry = NULL;
}
