/*
 * redis_url.h - where a Bloom filter in Redis is, and how it is laid out.
 *
 *   redis://[[USER]:PASSWORD@][HOST[:PORT]][/DB][?SETTING[&SETTING...]]
 *   rediss://...   the same over TLS
 *   redis+unix://[[USER]:PASSWORD@]/PATH[?SETTING[&SETTING...]]
 *
 *   key=NAME      the string's name [urlweir:filter]
 *   db=N          database, if the path cannot give it [0]
 *   layout=blocked|plain        [blocked, or that of the filter's record]
 *   bits=N, k=N   geometry, for a filter that is made and for another program's
 *                 bitmap; default: from the wanted capacity and rate
 *   hash=double|double32|salted for the plain layout
 *   ttl=TIME      the filter expires this long after it was made: 90, 15m, 7d
 *   timeout=TIME  the longest wait for one answer [2s]
 *   retry=TIME    how long `urlweir filter` waits for a server that is away, or
 *                 is loading its data [5s]; a crawl goes on without it
 *
 * docs/formats/redis-filter.md says more. Values may hold %XX escapes. Pure,
 * any thread.
 */
#ifndef URLWEIR_FILTER_REDIS_REDIS_URL_H
#define URLWEIR_FILTER_REDIS_REDIS_URL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/status.h"

/* Where a Redis server is and how to sign in there. */
struct redis_address {
    bool is_unix, tls;
    char host[256]; /* name or address, without brackets */
    char path[108]; /* of the socket, as struct sockaddr_un takes it */
    uint16_t port;
    char user[128], password[512]; /* empty: none */
    unsigned db;
};

/* Is it meant as a Redis URL: does it begin with one of its schemes? */
bool redis_address_is_url(const char *text);

enum redis_layout { REDIS_BLOCKED, REDIS_PLAIN };
enum redis_hash { REDIS_DOUBLE, REDIS_SALTED, REDIS_DOUBLE32, REDIS_HASHES_ };

/* "double", "salted", "double32", as in a URL and in the record; static. */
const char *redis_hash_name(enum redis_hash h);
/* False: there is none of that name. */
bool redis_hash_named(struct bytes name, enum redis_hash *out);

/* SETBIT and BITFIELD take offsets below 2^32, so a string of 512 MiB at
 * most. */
#define REDIS_MOST_BITS (UINT64_C(1) << 32)
#define REDIS_MOST_K    64

struct redis_place {
    struct redis_address at;
    char key[256];
    enum redis_layout layout; /* of one that is made, unless it is given */
    enum redis_hash hash;
    bool layout_given, hash_given;
    uint64_t bits; /* 0: not given */
    unsigned k;    /* 0: not given */
    int64_t ttl_ms, timeout_ms, retry_ms;
};

/* STATUS_FORMAT: `error` gets a sentence on what is wrong and what was
 * expected. */
MUST_CHECK enum status redis_url_parse(struct redis_place *out,
                                       const char *text, struct buf *error);
/* Append the URL without user and password, for people and logs. */
void redis_url_show(const struct redis_place *p, struct buf *out);

#endif
