/*
 * cluster_reach.h - what workers tell each other of a host: the state that is
 * kept with its last acknowledgement.
 *
 * An octet of flags: 1 the host has responded, 2 it was given up. Then, if it
 * does not respond, enum outcome_reason, an octet, and varints
 * (storage/db/packed.h): failures, and for how long, ms, the pause included.
 * Empty: nothing is known. No time of day is in it, as two clocks differ.
 *
 * Pure, any thread.
 */
#ifndef URLWEIR_FRONTIER_CLUSTER_CLUSTER_REACH_H
#define URLWEIR_FRONTIER_CLUSTER_CLUSTER_REACH_H

#include "base/buf.h"
#include "base/bytes.h"
#include "frontier/engine_calls.h"

void cluster_reach_write(const struct external_reach *r, struct buf *out);
/* False: it is not valid, and *out says that nothing is known. */
bool cluster_reach_read(struct external_reach *out, struct bytes text);

#endif
