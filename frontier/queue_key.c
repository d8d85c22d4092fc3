/* SPDX-License-Identifier: MIT */
/* queue_key.c - the politeness key of a URL. */
#include "frontier/queue_key.h"

#include "frontier/host.h"

struct bytes queue_key_of(enum queue_key_mode mode, const struct url *u)
{
    struct bytes host = url_host(u);

    return mode == QUEUE_KEY_DOMAIN ? host_registrable(host) : host;
}
