/*
 * socket_file.h - a Unix socket that listens at a path.
 *
 * Whoever may enter the directory and owns the file may connect: its mode is
 * 0600 from the moment it is there. One that a process left behind when it was
 * killed, and at which nobody answers, is replaced. A path may be longer than
 * the 107 octets of sockaddr_un (unix(7)), its last part not longer than 80.
 *
 * Two processes that open the same path at the same moment are kept apart by a
 * lock of the caller's: a crawl's directory has one.
 */
#ifndef URLWEIR_SERVICE_NET_SOCKET_FILE_H
#define URLWEIR_SERVICE_NET_SOCKET_FILE_H

#include "base/status.h"

struct socket_file;

/* What is wrong is logged. STATUS_ARG: no path for a socket; STATUS_BUSY:
 * somebody answers there; STATUS_EXISTS: it is no socket; STATUS_NOT_FOUND: no
 * such directory; STATUS_IO. */
MUST_CHECK enum status socket_file_open(struct socket_file **out,
                                        const char *path);
/* Listens, does not block; it stays the file's. */
int socket_file_fd(const struct socket_file *s);
/* Removes it, if it is still the one that was made. NULL is fine. */
void socket_file_close(struct socket_file *s);

/* Connects to the one at `path`; `*fd` blocks, the caller closes it.
 * STATUS_NOT_FOUND: it is not there; STATUS_CLOSED: nobody answers;
 * STATUS_ARG, STATUS_IO. */
MUST_CHECK enum status socket_file_connect(const char *path, int *fd);

#endif
