/* SPDX-License-Identifier: MIT */
/* queue_key.c - the queue of a URL. */
#include "frontier/url/queue_key.h"

#include <xxhash.h>

#include "frontier/url/host.h"

struct bytes queue_key_of(const struct url *u)
{
    return url_host(u);
}

/* ---- which shard of a crawl on many machines a URL belongs to ---- */

uint32_t shard_of_host(struct bytes host, uint32_t count)
{
    struct bytes domain = host_registrable(host);

    return count < 2 ? 0
                     : (uint32_t)(XXH3_64bits(domain.at, domain.len) % count);
}
