/*
 * listen_address.h - an address to listen at, as users write it:
 * "127.0.0.1:7071", "[::1]:0", "name:port".
 *
 * Any thread.
 */
#ifndef URLWEIR_BASE_LISTEN_ADDRESS_H
#define URLWEIR_BASE_LISTEN_ADDRESS_H

#include <stdbool.h>

#include "base/bytes.h"
#include "base/status.h"

/* Splits "host:port" and "[v6]:port", without the brackets. False: the text is
 * neither, or the port is not a number up to 65535. */
bool listen_address_split(struct bytes text, struct bytes *host,
                          struct bytes *port);

/* Are all addresses of the host loopback addresses? Asks the resolver.
 * STATUS_ARG: it has no address. */
MUST_CHECK enum status listen_address_is_loopback(const char *listen_at,
                                                  bool *loopback);

#endif
