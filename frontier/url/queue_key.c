/* SPDX-License-Identifier: MIT */
/* queue_key.c - the queue of a URL. */
#include "frontier/url/queue_key.h"

struct bytes queue_key_of(const struct url *u)
{
    return url_host(u);
}
