/*
 * listener.h - sockets that listen: at HOST:PORT, and at a path.
 */
#ifndef URLWEIR_SERVICE_NET_LISTENER_H
#define URLWEIR_SERVICE_NET_LISTENER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/socket.h>

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

/* ---- limits the connections of a port ----
 *
 * A connection counts as a stranger until a caller on it has shown a known
 * token (without tokens: until it has made a call that would need one).
 * Strangers get at most three quarters of the places, and a limited number from
 * one address; past that, the oldest stranger is closed to make room for the
 * newest. Strangers never take the place of a known connection.
 *
 * Known connections get at most three quarters too, so that a new caller finds
 * a place whatever they do: without tokens anybody can be known. Past that, the
 * idle one whose last request is longest ago makes room; if none is idle, the
 * one whose request came first.
 *
 * There is no limit per address for loopback and Unix sockets, since a proxy
 * there may serve many callers. Of an IPv6 address the first 64 bits count.
 *
 * Threads: one at a time; any may read the counts.
 */

/* Why a port closes a connection. */
enum place_end {
    PLACE_FULL,    /* known, closed to make room for another caller */
    PLACE_CROWDED, /* a stranger, closed to make room for another */
    PLACE_ADDRESS, /* a stranger, one of too many from its address */
    PLACE_SLOW,    /* a handshake or a head took too long */
    PLACE_IDLE,    /* no request for too long */
    PLACE_SILENT,  /* no answer to a PING */
    PLACE_FLOOD,   /* frames that only cost us work */
    PLACE_ENDS_
};

/* Part of its owner's struct, zeroed before places_take. */
struct place {
    TAILQ_ENTRY(place) link;
    uint8_t from[16];
    bool shared; /* an address that may serve many callers */
    bool busy;   /* a request of its is being carried out */
    enum { PLACE_NONE, PLACE_STRANGER, PLACE_KNOWN } is;
};

TAILQ_HEAD(place_list, place);

struct places {
    unsigned most, kind_most, address_most;
    unsigned count, stranger_count;
    struct place_list strangers; /* the oldest first */
    struct place_list known;     /* by the last request, the oldest first */
    int64_t warned;
    _Atomic uint64_t ended[PLACE_ENDS_];
};

/* `address_most`: strangers from one address; 0: an eighth of `most`, at least
 * 16. */
void places_init(struct places *p, unsigned most, unsigned address_most);

/* Takes a place for a connection from `from` (NULL: unknown). Returns NULL, or
 * one that lost its place to this one; the caller closes it. That is counted,
 * and logged now and then. */
struct place *places_take(struct places *p, struct place *place,
                          const struct sockaddr *from, int64_t now);
/* Marks a connection as known. No effect if it is known or has no place.
 * Returns as places_take. */
struct place *places_know(struct places *p, struct place *place, int64_t now);
/* A request has come whole, and is carried out until places_rest(). */
void places_use(struct places *p, struct place *place);
void places_rest(struct place *place);
/* Gives the place back. No effect without a place. */
void places_leave(struct places *p, struct place *place);

void places_count(struct places *p, enum place_end why);
uint64_t places_counted(const struct places *p, enum place_end why);
/* The name in metrics, such as "crowded". */
const char *place_end_name(enum place_end why);

#endif
