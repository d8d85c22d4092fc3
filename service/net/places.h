/*
 * places.h - limits the connections of a port.
 *
 * A connection counts as a stranger until a caller on it has shown a known
 * token (without tokens: until it has made a call that would need one).
 * Strangers get at most three quarters of the places, and a limited number from
 * one address; past that, the oldest stranger is closed to make room for the
 * newest. Known connections keep their places; only when they have all of them
 * is a new connection refused.
 *
 * There is no limit per address for loopback and Unix sockets, since a proxy
 * there may serve many callers. Of an IPv6 address the first 64 bits count.
 *
 * Threads: one at a time; any may read the counts.
 */
#ifndef URLWEIR_SERVICE_PLACES_H
#define URLWEIR_SERVICE_PLACES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/socket.h>

/* Why a port closes a connection. */
enum place_end {
    PLACE_FULL,    /* refused: known callers have all places */
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
    TAILQ_ENTRY(place) strangers;
    uint8_t from[16];
    bool shared; /* an address that may serve many callers */
    enum { PLACE_NONE, PLACE_STRANGER, PLACE_KNOWN } is;
};

TAILQ_HEAD(place_list, place);

struct places {
    unsigned most, strangers_most, address_most;
    unsigned count, stranger_count;
    struct place_list strangers; /* the oldest first */
    int64_t warned;
    _Atomic uint64_t ended[PLACE_ENDS_];
};

/* `address_most`: strangers from one address; 0: an eighth of `most`, at least
 * 16. */
void places_init(struct places *p, unsigned most, unsigned address_most);

/* Takes a place for a connection from `from` (NULL: unknown). False: there is
 * none. *gone: NULL, or a stranger that lost its place to this one; the caller
 * closes it. Both cases are counted, and logged now and then. */
bool places_take(struct places *p, struct place *place,
                 const struct sockaddr *from, int64_t now, struct place **gone);
/* Marks a connection as known. No effect if it is known or has no place. */
void places_know(struct places *p, struct place *place);
/* Gives the place back. No effect without a place. */
void places_leave(struct places *p, struct place *place);

void places_count(struct places *p, enum place_end why);
uint64_t places_counted(const struct places *p, enum place_end why);
/* The name in metrics, such as "crowded". */
const char *place_end_name(enum place_end why);

#endif
