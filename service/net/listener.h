/*
 * listener.h - a socket that listens at HOST:PORT.
 */
#ifndef URLWEIR_SERVICE_NET_LISTENER_H
#define URLWEIR_SERVICE_NET_LISTENER_H

#include "base/status.h"

#define LISTENER_ADDRESS_SIZE 64

/* Opens a non-blocking socket, which the caller closes, and gives its numeric
 * address, "127.0.0.1:7071", with the real port if 0 was asked for. Errors are
 * logged. STATUS_ARG: no such address; STATUS_BUSY: it is in use; STATUS_IO. */
MUST_CHECK enum status listener_open(const char *listen_at, int *fd,
                                     char address[LISTENER_ADDRESS_SIZE]);

#endif
