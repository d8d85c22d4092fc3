/*
 * queue_key.h - the politeness key of a URL: host, registrable domain or IP.
 *
 * URLs of one key are asked one after the other. The scheme and the port are
 * part of no key: https and http of a host are one machine to be polite to.
 */
#ifndef URLWEIR_FRONTIER_QUEUE_KEY_H
#define URLWEIR_FRONTIER_QUEUE_KEY_H

#include "base/bytes.h"
#include "frontier/url.h"

/* QUEUE_KEY_IP: a URL's key is its host, which does not depend on name servers;
 * that hosts of one address are asked one after the other is the schedule's
 * business (machine.h). */
enum queue_key_mode { QUEUE_KEY_HOST, QUEUE_KEY_DOMAIN, QUEUE_KEY_IP };

/* Borrowed from `u`, which is canonical. */
struct bytes queue_key_of(enum queue_key_mode mode, const struct url *u);

#endif
