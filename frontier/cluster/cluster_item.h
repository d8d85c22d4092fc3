/*
 * cluster_item.h - a URL on its way through the cluster: what one worker puts
 * and another one leases.
 *
 * Version 1, an octet; flags, an octet: 1 seed; kind, an octet; then varints
 * (storage/db/packed.h): depth, hops, places; then the URL. Pure, any thread.
 */
#ifndef URLWEIR_FRONTIER_CLUSTER_CLUSTER_ITEM_H
#define URLWEIR_FRONTIER_CLUSTER_CLUSTER_ITEM_H

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

void cluster_item_write(const struct cluster_item *item, struct buf *out);
/* The URL points into `text`. STATUS_FORMAT: not an item; STATUS_VERSION: of a
 * newer release. */
MUST_CHECK enum status cluster_item_read(struct cluster_item *out,
                                         struct bytes text);
/* Reads an item of `host` and says whether it is a URL as we put it: canonical,
 * of a kind below `kinds`. */
bool cluster_item_is_valid(struct cluster_item *out, struct bytes text,
                           struct bytes host, unsigned kinds);

#endif
