/* SPDX-License-Identifier: MIT */
/*
 * fuzz_cluster_item.c - any octets are an item of a cluster, or the state of a
 * host there, or are refused.
 *
 * What was read is written and read again alike.
 */
#include <assert.h>
#include <stdint.h>

#include "frontier/cluster/cluster_reach.h"
#include "frontier/cluster_store/cluster_item.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_reach(struct bytes octets)
{
    struct external_reach one, two;
    struct buf text;

    if (!cluster_reach_read(&one, octets))
        return;
    buf_init(&text, 64);
    cluster_reach_write(&one, &text);
    assert(cluster_reach_read(&two, buf_bytes(&text)));
    assert(one.answered == two.answered && one.given_up == two.given_up &&
           one.failures == two.failures && one.silent_for == two.silent_for &&
           one.reason == two.reason);
    buf_fini(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cluster_item one, two;
    const struct bytes host = bytes_of_str("h.example");
    struct buf text, url, again;

    read_reach(bytes_of((const char *)data, size));
    buf_init(&text, size + 64);
    buf_init(&url, size + 64);
    buf_init(&again, size + 64);
    if (cluster_item_read(&one, bytes_of((const char *)data, size), host,
                          &url) == STATUS_OK) {
        cluster_item_write(&one, host, &text);
        assert(cluster_item_read(&two, buf_bytes(&text), host, &again) ==
               STATUS_OK);
        assert(one.depth == two.depth && one.hops == two.hops &&
               one.kind == two.kind && one.places == two.places &&
               one.seed == two.seed && bytes_equal(one.url, two.url));
    }
    buf_fini(&text);
    buf_fini(&url);
    buf_fini(&again);
    return 0;
}
