/*
 * places.h - limits the connections of a port.
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
#ifndef URLWEIR_SERVICE_PLACES_H
#define URLWEIR_SERVICE_PLACES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/socket.h>

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
