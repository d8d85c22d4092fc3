/* SPDX-License-Identifier: MIT */
/* shard.c - which shard of a crawl on many machines a URL belongs to. */
#include "frontier/url/shard.h"

#include <xxhash.h>

#include "frontier/url/host.h"

uint32_t shard_of_host(struct bytes host, uint32_t count)
{
    struct bytes domain = host_registrable(host);

    return count < 2 ? 0
                     : (uint32_t)(XXH3_64bits(domain.at, domain.len) % count);
}
