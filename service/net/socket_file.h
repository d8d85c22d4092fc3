/*
 * socket_file.h - a Unix socket that listens at a path.
 *
 * Only the file's owner may connect, if allowed into the directory: the mode is
 * 0600 from the moment the socket exists. A socket that a killed process left
 * behind is replaced. A path may be longer than the 107 octets of sockaddr_un
 * (unix(7)), its last part not longer than 80.
 *
 * The caller needs a lock, as a crawl's directory has, to keep two processes
 * from opening the same path at once.
 */
#ifndef URLWEIR_SERVICE_NET_SOCKET_FILE_H
#define URLWEIR_SERVICE_NET_SOCKET_FILE_H

#include "base/status.h"

struct socket_file;

/* Errors are logged. STATUS_ARG: not a path for a socket; STATUS_BUSY: another
 * process listens there; STATUS_EXISTS: there is a file that is not a socket;
 * STATUS_NOT_FOUND: no such directory; STATUS_IO. */
MUST_CHECK enum status socket_file_open(struct socket_file **out,
                                        const char *path);
/* The listening descriptor, non-blocking and still owned by the socket file. */
int socket_file_fd(const struct socket_file *s);
/* Removes the socket, if it is still the one we made. NULL is fine. */
void socket_file_close(struct socket_file *s);

/* Connects to the socket at `path`; `*fd` blocks, and the caller closes it.
 * STATUS_NOT_FOUND: there is none; STATUS_CLOSED: no process listens;
 * STATUS_ARG, STATUS_IO. */
MUST_CHECK enum status socket_file_connect(const char *path, int *fd);

#endif
