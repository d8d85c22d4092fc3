/*
 * listener.h - sockets that listen: at HOST:PORT, and at a path.
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

/* ---- a Unix socket that listens at a path ----
 *
 * Only the file's owner may connect, if allowed into the directory: the mode is
 * 0600 from the moment the socket exists. A socket that a killed process left
 * behind is replaced. A path may be longer than the 107 octets of sockaddr_un
 * (unix(7)), its last part not longer than 80.
 *
 * The caller needs a lock, as a crawl's directory has, to keep two processes
 * from opening the same path at once.
 */

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
