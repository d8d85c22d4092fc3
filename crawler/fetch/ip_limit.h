/*
 * ip_limit.h - how many connections each address has, over all fetchers.
 *
 * Idle connections kept for the next request count too: the limit is what the
 * machine at that address sees. So that idle connections to one host cannot
 * lock another host of the same address out, whoever was refused leaves a
 * wish, and fetchers close idle connections where there is one.
 * Thread-safe. Addresses are their octets, 4 or 16.
 */
#ifndef URLWEIR_CRAWLER_FETCH_IP_LIMIT_H
#define URLWEIR_CRAWLER_FETCH_IP_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

struct ip_limit;

/* `most` >= 1. */
struct ip_limit *ip_limit_new(uint32_t most);
/* Another `most`; connections above a lower one stay until they are given. */
void ip_limit_set(struct ip_limit *l, uint32_t most);
void ip_limit_free(struct ip_limit *l); /* NULL is fine */

/* False: as many as allowed are open; the wish for one is noted. */
bool ip_limit_take(struct ip_limit *l, const void *address, unsigned len);
void ip_limit_give(struct ip_limit *l, const void *address, unsigned len);

/* For the holder of an idle connection: true if somebody wishes for its place,
 * which is then given; the caller closes the connection. */
bool ip_limit_yield(struct ip_limit *l, const void *address, unsigned len);
/* Is there any wish, so that holders should look? */
bool ip_limit_is_wished(const struct ip_limit *l);

#endif
