/*
 * resolver.h - the addresses of hosts, looked up without waiting for them.
 *
 * The C library's resolver (getaddrinfo, as libcurl's), in a few threads made
 * as they are needed. Of several addresses the first by ip_before counts, so
 * hosts that share all of them share that one. What curl is told to resolve
 * otherwise, and names under localhost (RFC 6761 section 6.3), are answered
 * without asking.
 *
 * A lookup that takes longer than the time-out is answered with none; its
 * thread ends by itself, after the resolver if need be. One thread asks and
 * takes answers.
 */
#ifndef URLWEIR_CRAWLER_FETCH_RESOLVER_H
#define URLWEIR_CRAWLER_FETCH_RESOLVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/queue.h"
#include "frontier/url/ip.h"

struct resolver;

struct resolver_options {
    unsigned threads;       /* lookups at once; at least 1 */
    size_t most;            /* hosts under way at once; at least 1 */
    int64_t timeout;        /* ns, from the question to its answer */
    const char *const *own; /* HOST:PORT:ADDR[,ADDR], as curl takes them; of a
                               host all ports count */
    size_t own_count;
};

struct resolver_answer {
    uint32_t queue; /* as it was asked */
    bool found;
    struct ip ip;
};

/* `woken` is told of each answer. Options' strings are borrowed. */
struct resolver *resolver_new(const struct resolver_options *o,
                              struct queue *woken);
/* Waits for no lookup. NULL is fine. */
void resolver_free(struct resolver *r);

bool resolver_has_room(const struct resolver *r);
/* There is room. `queue` is handed back with the answer. */
void resolver_ask(struct resolver *r, uint32_t queue, struct bytes host,
                  int64_t now);
/* False: no answer is there yet. */
bool resolver_take(struct resolver *r, int64_t now,
                   struct resolver_answer *out);

#endif
