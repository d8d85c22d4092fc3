/*
 * crawl_balance.h - which fetcher gets a URL.
 *
 * A host has --conns-per-host connections, shared out among the fetchers. One
 * connection belongs to one fetcher for as long as the crawl runs, so that it
 * is used again and no other is opened beside it. With several, each fetcher
 * has an even share of them, and a URL goes to the fetcher with the least to do
 * that has one free. But until a first URL of the host is done, and after each
 * that a fetcher gives back, one fetcher alone gets them: it may be reading
 * robots.txt, which others then need not ask for.
 *
 * A new queue goes to the fetcher with the least to do. Past a few thousand
 * that is left to chance, queue modulo fetchers, so memory is bounded.
 *
 * Belongs to the frontier thread.
 */
#ifndef URLWEIR_CRAWLER_CRAWL_BALANCE_H
#define URLWEIR_CRAWLER_CRAWL_BALANCE_H

#include <stdbool.h>
#include <stdint.h>

struct crawl_balance;

/* Both are at least 1. */
struct crawl_balance *crawl_balance_new(unsigned fetchers,
                                        uint32_t conns_per_host);
void crawl_balance_free(struct crawl_balance *b); /* NULL is fine */

/* The most transfers from one host that a fetcher may begin. */
uint32_t crawl_balance_share(unsigned fetchers, uint32_t conns_per_host);

/* The fetcher for the next URL of `queue`, which it has from now on. `first`:
 * it is the queue's first in this run. *fresh: the fetcher may not know the
 * host's robots.txt. */
unsigned crawl_balance_give(struct crawl_balance *b, uint32_t queue, bool first,
                            bool *fresh);

enum crawl_balance_end {
    CRAWL_BALANCE_DONE,
    CRAWL_BALANCE_RELEASED,  /* by the fetcher: it may be leased again */
    CRAWL_BALANCE_TAKEN_BACK /* the fetcher has not begun it */
};
/* The fetcher no longer has the URL. */
void crawl_balance_ended(struct crawl_balance *b, uint32_t queue,
                         unsigned fetcher, enum crawl_balance_end how);

/* A fetcher that hangs gets no URLs, unless all hang. */
void crawl_balance_hangs(struct crawl_balance *b, unsigned fetcher, bool hangs);

#endif
