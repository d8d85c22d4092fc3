/* SPDX-License-Identifier: MIT */
/*
 * fuzz_cluster_item.c - any octets are an item of a cluster or are refused.
 *
 * An item that was read is written and read again alike.
 */
#include <assert.h>
#include <stdint.h>

#include "frontier/cluster/cluster_item.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cluster_item one, two;
    struct buf text;

    if (cluster_item_read(&one, bytes_of((const char *)data, size)) !=
        STATUS_OK)
        return 0;
    buf_init(&text, size + 64);
    cluster_item_write(&one, &text);
    assert(cluster_item_read(&two, buf_bytes(&text)) == STATUS_OK);
    assert(one.depth == two.depth && one.hops == two.hops &&
           one.kind == two.kind && one.places == two.places &&
           one.seed == two.seed && bytes_equal(one.url, two.url));
    buf_fini(&text);
    return 0;
}
