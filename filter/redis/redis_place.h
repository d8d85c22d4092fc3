/*
 * redis_place.h - where a Bloom filter in Redis is, and how it is laid out.
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
#ifndef URLWEIR_FILTER_REDIS_REDIS_PLACE_H
#define URLWEIR_FILTER_REDIS_REDIS_PLACE_H

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

/* ---- which bits of the string belong to a key ---- */

/*
 * Offsets are Redis's own: bit 0 is the highest of octet 0 (SETBIT). Pure.
 */

/* Keys as digests or as texts; only the plain layout takes texts. */
struct redis_keys {
    const uint64_t *digest; /* NULL: use text */
    const struct bytes *text;
};

struct redis_geometry {
    enum redis_layout layout;
    enum redis_hash hash;
    unsigned k;
    uint64_t bits;
};

/* Is the geometry possible? For records that others may have written. */
bool redis_geometry_is_valid(const struct redis_geometry *g);
/* Choose the best geometry for `expect` keys at `fpr`, of the layout given;
 * bits and k that are not 0 are kept. STATUS_LIMIT: `g->bits` says how many it
 * takes, which is more than 2^32, or more than the bits given: with those the
 * filter would be overfull at `expect`. */
MUST_CHECK enum status redis_geometry_fit(struct redis_geometry *g,
                                          uint64_t expect, double fpr);
/* False-positive rate after `count` keys. */
double redis_geometry_rate(const struct redis_geometry *g, uint64_t count);
/* The same as it stands, with so many bits set. Keys that are called "maybe"
 * are not counted as new, so a count of keys says less and less as a filter
 * fills; its bits always tell. */
double redis_geometry_rate_now(const struct redis_geometry *g, uint64_t set);
/* Is a rate at least twice the promised one? */
bool redis_rate_is_overfull(double rate, double promised);

/* The k offsets of key i. */
void redis_bits_of(const struct redis_geometry *g, struct redis_keys keys,
                   size_t i, uint32_t *offsets);
/* The offsets of keys first .. first + n - 1 one after the other, each as four
 * octets, highest first, as the scripts take them. */
void redis_bits_pack(const struct redis_geometry *g, struct redis_keys keys,
                     size_t first, size_t n, struct buf *out);

/* ---- MurmurHash3, the hash that Bloom filters in Redis are made with ----
 *
 * The 128-bit variant for 64-bit machines (Austin Appleby, MurmurHash3_x64_128,
 * 2011, placed in the public domain), the same numbers on any machine. Use it
 * only to read and write bitmaps that other programs share. Our own keys are
 * digests of base/digest.h, since this hash has no secret that would keep
 * strangers from making keys that collide.
 */

struct murmur3 {
    uint64_t h1, h2; /* other libraries call h1 Sum64 or hash64()[0] */
};

struct murmur3 murmur3_of(struct bytes b, uint32_t seed);

#endif
