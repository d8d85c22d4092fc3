/*
 * redis_url.h - where a Bloom filter in Redis is, and how it is laid out.
 *
 *   redis://[[USER]:PASSWORD@]HOST[:PORT][/DB][?SETTING[&SETTING...]]
 *   redis+unix://[[USER]:PASSWORD@]/PATH[?SETTING[&SETTING...]]
 *
 *   key=NAME      the string's name [urlweir:filter]
 *   db=N          database, where the path cannot say it [0]
 *   layout=blocked|plain        [blocked]
 *   bits=N, k=N   geometry, when made; and of a bitmap of others, which cannot
 *                 tell it. Without: as the wanted capacity and rate ask
 *   hash=double|salted          of a plain layout
 *   ttl=TIME      the filter ends that long after it was made: 90, 15m, 7d
 *   timeout=TIME  the longest wait for one answer [2s]
 *   retry=TIME    how long `urlweir filter` waits for a server that is away, or
 *                 is loading its data [5s]; a crawl goes on without it
 *
 * docs/formats/redis-filter.md says more. Values may hold %XX escapes. TLS
 * (rediss://) is refused with what to do instead. Pure, any thread.
 */
#ifndef URLWEIR_FILTER_REDIS_REDIS_URL_H
#define URLWEIR_FILTER_REDIS_REDIS_URL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/status.h"

enum redis_layout { REDIS_BLOCKED, REDIS_PLAIN };
enum redis_hash { REDIS_DOUBLE, REDIS_SALTED };

/* SETBIT and BITFIELD take offsets below 2^32: a string of 512 MiB. */
#define REDIS_MOST_BITS (UINT64_C(1) << 32)
#define REDIS_MOST_K    64

struct redis_place {
    bool is_unix;
    char host[256]; /* name or address; no brackets */
    char path[108]; /* of the socket, as struct sockaddr_un takes it */
    uint16_t port;
    char user[128], password[512]; /* empty: none */
    unsigned db;
    char key[256];
    enum redis_layout layout;
    enum redis_hash hash;
    uint64_t bits; /* 0: not said */
    unsigned k;    /* 0: not said */
    int64_t ttl_ms, timeout_ms, retry_ms;
};

/* Is it meant to be one: does it begin with a scheme of ours? */
bool redis_url_is_one(const char *text);
/* STATUS_FORMAT: `error` gains what is wrong and what was expected. */
MUST_CHECK enum status redis_url_parse(struct redis_place *out,
                                       const char *text, struct buf *error);
/* For people and logs: no user, no password. */
void redis_url_show(const struct redis_place *p, struct buf *out);

#endif
