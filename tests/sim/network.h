/*
 * network.h - the web as a process reaches it: libcurl's calls, and sockets.
 *
 * network.c stands in for libcurl: its multi_socket interface, as far as
 * crawler/ uses it. A transfer asks the web of the seed for its response as its
 * request goes out, and hands on what has come by now whenever its socket is
 * ready, which sockets.c tells at the moments that the response names. HTTP/1.1
 * alone, connections are kept, nothing is ever on a wire.
 */
#ifndef URLWEIR_TESTS_SIM_NETWORK_H
#define URLWEIR_TESTS_SIM_NETWORK_H

#include <stdbool.h>
#include <stdint.h>

#include "tests/sim/dice.h"

/* At the start of a life. */
void network_begin(struct dice dice);

/* What sockets.c keeps of one. */
struct sim_socket {
    int64_t readable_at; /* of the monotonic clock, SCHEDULER_NEVER */
    int64_t writable_at;
    bool shut;
};

struct sim_socket *socket_of(int fd);

#endif
