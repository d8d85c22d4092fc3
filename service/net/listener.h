/*
 * listener.h - a socket that listens at HOST:PORT.
 */
#ifndef URLWEIR_SERVICE_NET_LISTENER_H
#define URLWEIR_SERVICE_NET_LISTENER_H

#include "base/status.h"

#define LISTENER_ADDRESS_SIZE 64

/* A socket that does not block, the caller's to close, and its address in
 * numbers, "127.0.0.1:7071", the port as it was found for 0. What is wrong is
 * logged. STATUS_ARG: no such address; STATUS_BUSY: it is taken; STATUS_IO. */
MUST_CHECK enum status listener_open(const char *listen_at, int *fd,
                                     char address[LISTENER_ADDRESS_SIZE]);

#endif
