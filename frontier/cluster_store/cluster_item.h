/*
 * cluster_item.h - a URL on its way through the cluster: what one worker puts
 * and another one leases.
 *
 * Version, an octet; flags, an octet: 1 seed, 2 https; kind, an octet; then
 * varints (storage/db/packed.h): depth, hops, places; then the URL: in version
 * 2 without its scheme and its host, which its queue is named by, in version 1
 * as a whole. Pure, any thread.
 */
#ifndef URLWEIR_FRONTIER_CLUSTER_STORE_CLUSTER_ITEM_H
#define URLWEIR_FRONTIER_CLUSTER_STORE_CLUSTER_ITEM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/status.h"

struct cluster_item {
    uint32_t depth;
    uint16_t hops;
    uint8_t kind; /* enum link_kind */
    bool seed;
    uint64_t places; /* as many opened the scope when it was found in scope; who
                        fetches it has to know them */
    struct bytes url; /* canonical */
};

/* For the queue of `host`. */
void cluster_item_write(const struct cluster_item *item, struct bytes host,
                        struct buf *out);
/* An item of the queue of `host`. The URL points into `text`, or into `url`,
 * whose content is replaced. STATUS_FORMAT: not an item; STATUS_VERSION: of a
 * newer release. */
MUST_CHECK enum status cluster_item_read(struct cluster_item *out,
                                         struct bytes text, struct bytes host,
                                         struct buf *url);
/* Reads an item and says whether it is a URL as we put it: canonical, of a kind
 * below `kinds`. */
bool cluster_item_is_valid(struct cluster_item *out, struct bytes text,
                           struct bytes host, unsigned kinds, struct buf *url);
/* What of a URL of `host` an item has in version 2. */
struct bytes cluster_item_rest(struct bytes url, struct bytes host);

#endif
