/*
 * ip_limit.h - limits the connections to each address, over all fetchers.
 *
 * Idle connections kept for the next request count too, since the machine at
 * that address sees them. A refused caller leaves a wish, and fetchers close
 * idle connections to addresses with wishes, so that idle connections to one
 * host cannot lock out another host at the same address. Thread-safe. Addresses
 * are their octets, 4 or 16.
 */
#ifndef URLWEIR_CRAWLER_ADDRESS_IP_LIMIT_H
#define URLWEIR_CRAWLER_ADDRESS_IP_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

struct ip_limit;

/* `most` >= 1. */
struct ip_limit *ip_limit_new(uint32_t most);
/* Changes `most`; connections above a lower limit stay until they are
 * closed. */
void ip_limit_set(struct ip_limit *l, uint32_t most);
void ip_limit_free(struct ip_limit *l); /* NULL is fine */

/* False: the limit is reached; a wish is noted. */
bool ip_limit_take(struct ip_limit *l, const void *address, unsigned len);
void ip_limit_give(struct ip_limit *l, const void *address, unsigned len);

/* For the owner of an idle connection: true if there is a wish for its place,
 * which is then granted; the caller must close the connection. */
bool ip_limit_yield(struct ip_limit *l, const void *address, unsigned len);
/* Is there any wish, so that owners should call ip_limit_yield? */
bool ip_limit_is_wished(const struct ip_limit *l);

#endif
