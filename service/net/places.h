/*
 * places.h - the connections that a port has room for, and who may have them.
 *
 * A connection is a stranger's until a caller on it has shown a token that is
 * known (where there are tokens; else until it has made a call that would need
 * one). Strangers may have three quarters of the places, and a number of them
 * from one address; if that is not enough, the oldest stranger makes room for
 * the newest. Those who are known keep their places, and only when they have
 * all of them is a new connection refused.
 *
 * Addresses of loopback and Unix sockets are not limited one by one: a proxy
 * there speaks for many. Of IPv6 addresses the first 64 bits count.
 *
 * One thread at a time; what was counted may be read by any.
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
    PLACE_FULL,    /* as it came: all places are taken by known callers */
    PLACE_CROWDED, /* a stranger's, to make room for another */
    PLACE_ADDRESS, /* a stranger's, one of too many from its address */
    PLACE_SLOW,    /* a handshake or a head took too long */
    PLACE_IDLE,    /* nothing was asked for too long */
    PLACE_SILENT,  /* no sign of life */
    PLACE_FLOOD,   /* frames that cost work and say nothing */
    PLACE_ENDS_
};

/* Part of its owner's struct, zeroed before places_take. */
struct place {
    TAILQ_ENTRY(place) strangers;
    uint8_t from[16];
    bool shared; /* an address that speaks for many */
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

/* A place for a connection from `from`, NULL: nobody knows. False: there is
 * none. *gone: NULL, or a stranger that has lost its place for this, to be
 * closed by the caller. Both are counted, and said in the log now and then. */
bool places_take(struct places *p, struct place *place,
                 const struct sockaddr *from, int64_t now, struct place **gone);
/* Once it is known; again has no effect, nor has it on one without a place. */
void places_know(struct places *p, struct place *place);
/* One without a place is fine. */
void places_leave(struct places *p, struct place *place);

void places_count(struct places *p, enum place_end why);
uint64_t places_counted(const struct places *p, enum place_end why);
/* "crowded", as metrics have it. */
const char *place_end_name(enum place_end why);

#endif
