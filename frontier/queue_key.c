/* SPDX-License-Identifier: MIT */
/* queue_key.c - the queue of a URL. */
#include "frontier/queue_key.h"

struct bytes queue_key_of(enum queue_key_mode mode, const struct url *u)
{
    (void)mode;
    return url_host(u);
}
