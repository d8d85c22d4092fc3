/*
 * bare_loop.h - the least that can be called fetching: a curl multi loop over
 * known URLs, in a child process whose CPU time the kernel counts.
 *
 * epoll and curl_multi_socket_action, 64 transfers at once, bodies thrown away
 * or each put through libxml2's SAX parser as a whole. No frontier, no seen check, no store, no robots.txt. With a delay it
 * keeps the pace that a crawler owes its hosts, and a connection to each.
 */
#ifndef URLWEIR_BENCH_BARE_LOOP_H
#define URLWEIR_BENCH_BARE_LOOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/support/whole_crawl.h"

struct bare_loop {
    char **urls;
    size_t count;
    bool parse;    /* each body through libxml2, its links counted */
    bool insecure; /* any certificate will do */
    size_t hosts;  /* with delay_ns: URL i and URL i + hosts are of one host */
    int64_t delay_ns; /* from the end of a response to the host's next request;
                         0: as fast as it goes */
};

/* Fetches all of `urls`. *connections, unless NULL: how many it opened. The
 * status of the cost is not 0 if a transfer failed. */
struct crawl_cost bare_loop_measure(const struct bare_loop *b,
                                    uint64_t *connections);

#endif
