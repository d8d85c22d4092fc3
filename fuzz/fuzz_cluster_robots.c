/* SPDX-License-Identifier: MIT */
/*
 * fuzz_cluster_robots.c - any octets are a robots.txt as a cluster has it, or
 * are refused.
 *
 * What was read is no longer than one may be, and is stored and read again
 * alike.
 */
#include <assert.h>
#include <stdint.h>

#include "frontier/cluster_store/cluster_robots.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct buf one, packed, two;

    buf_init(&one, CLUSTER_ROBOTS_BODY_MOST);
    buf_init(&packed, 1 + CLUSTER_ROBOTS_BODY_MOST);
    buf_init(&two, CLUSTER_ROBOTS_BODY_MOST);
    if (cluster_robots_unpack(bytes_of((const char *)data, size), &one)) {
        assert(one.len <= CLUSTER_ROBOTS_BODY_MOST);
        assert(cluster_robots_pack(buf_bytes(&one), &packed));
        assert(cluster_robots_unpack(buf_bytes(&packed), &two));
        assert(bytes_equal(buf_bytes(&one), buf_bytes(&two)));
    }
    buf_fini(&one);
    buf_fini(&packed);
    buf_fini(&two);
    return 0;
}
