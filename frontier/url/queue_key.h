/*
 * queue_key.h - the queue of a URL, and what politeness makes of queues.
 *
 * A queue is a host's, whatever politeness goes by: what a host says of itself,
 * whether it is dead, and its URLs' digests concern no other host. Which
 * queues are asked one after the other is the schedule's business
 * (politeness_group.h). The scheme and the port are part of no key: https and
 * http of a host are one machine to be polite to.
 */
#ifndef URLWEIR_FRONTIER_URL_QUEUE_KEY_H
#define URLWEIR_FRONTIER_URL_QUEUE_KEY_H

#include "base/bytes.h"
#include "frontier/url/url.h"

/* Asked one after the other: URLs of a host, of all hosts of a registrable
 * domain, or of all hosts of a network address. */
enum queue_key_mode { QUEUE_KEY_HOST, QUEUE_KEY_DOMAIN, QUEUE_KEY_IP };

/* Borrowed from `u`, which is canonical. */
struct bytes queue_key_of(const struct url *u);

#endif
