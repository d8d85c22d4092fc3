/*
 * queue_key.h - the queue of a URL, and what politeness makes of queues.
 *
 * Every host has its own queue in every mode of politeness: its robots.txt,
 * whether it is dead, and the digests of its URLs concern no other host. The
 * schedule (politeness_group.h) decides which queues take turns. Scheme and
 * port are not part of the key: http and https of a host are one machine to be
 * polite to.
 */
#ifndef URLWEIR_FRONTIER_URL_QUEUE_KEY_H
#define URLWEIR_FRONTIER_URL_QUEUE_KEY_H

#include "base/bytes.h"
#include "frontier/url/url.h"

/* What politeness treats as one: a host, all hosts of a registrable domain, or
 * all hosts of a network address. */
enum queue_key_mode { QUEUE_KEY_HOST, QUEUE_KEY_DOMAIN, QUEUE_KEY_IP };

/* Borrowed from `u`, which is canonical. */
struct bytes queue_key_of(const struct url *u);

#endif
