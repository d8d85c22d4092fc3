/*
 * resolver.h - looks up addresses of hosts without blocking.
 *
 * The C library's resolver (getaddrinfo, as libcurl's), in a few threads made
 * as they are needed. Of several addresses the first by ip_before counts, so
 * hosts that share all of them share that one. Hosts with an address set for
 * curl (--resolve), and names under localhost (RFC 6761 section 6.3), are
 * answered without a look-up.
 *
 * A look-up that takes longer than the time-out gives no address; its thread
 * ends by itself, perhaps after the resolver. Threads: one asks and takes
 * answers.
 */
#ifndef URLWEIR_CRAWLER_ADDRESS_RESOLVER_H
#define URLWEIR_CRAWLER_ADDRESS_RESOLVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/thread/queue.h"
#include "frontier/url/host.h"

struct resolver;

struct resolver_options {
    unsigned threads; /* lookups at once; at least 1 */
    size_t most;      /* most hosts looked up at once; at least 1 */
    int64_t timeout;  /* ns, from the question to its answer */
    const char *const
        *own; /* HOST:PORT:ADDR[,ADDR], as for curl; the port is ignored */
    size_t own_count;
};

struct resolver_answer {
    uint32_t queue; /* as it was asked */
    bool found;
    struct ip ip;
};

/* Wakes `woken` at each answer. Options' strings are borrowed. */
struct resolver *resolver_new(const struct resolver_options *o,
                              struct queue *woken);
/* Does not wait for look-ups. NULL is fine. */
void resolver_free(struct resolver *r);

bool resolver_has_room(const struct resolver *r);
/* Call it only if there is room. The answer has `queue` again. */
void resolver_ask(struct resolver *r, uint32_t queue, struct bytes host,
                  int64_t now);
/* False: no answer is there yet. */
bool resolver_take(struct resolver *r, int64_t now,
                   struct resolver_answer *out);

/* Is HOST:PORT:ADDR[,ADDR], as --resolve takes it, for this host, at whatever
 * port, or for "*"? IPv6 addresses are in brackets in both. */
bool resolver_entry_is_for(const char *entry, struct bytes host);

#endif
