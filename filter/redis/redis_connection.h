/*
 * redis_connection.h - a Redis server that runs scripts for a caller who waits.
 *
 * Connects on the first request, sends scripts by their digest, and loads those
 * that the server does not know. While the server is out of reach, tries are
 * spaced: 100 ms, doubling to 30 s, half of it random, so that many crawlers do
 * not come back all at once.
 *
 * The server's bytes are hostile: an answer is bounded by
 * filter/redis/redis_reply.h, and must arrive whole within `timeout_ms`. The
 * caller checks its shape.
 *
 * A connection cannot outlive its server. A server that was restarted, and may
 * have forgotten what it had not saved, has another run ID at the next
 * connection.
 *
 * Threads: one. This module reads the clock itself, since all it does is wait
 * for a server.
 */
#ifndef URLWEIR_FILTER_REDIS_REDIS_CONNECTION_H
#define URLWEIR_FILTER_REDIS_REDIS_CONNECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/status.h"
#include "filter/redis/redis_place.h"
#include "filter/redis/redis_reply.h"

struct redis_connection;

/* A Lua script; its texts are static. */
struct redis_script {
    unsigned number; /* of all scripts, from 0 */
    const char *name, *text;
};

/* `patience_ms`: how long a call goes on trying; 0: one try, or none while a
 * back-off runs. */
struct redis_connection *redis_connection_new(const struct redis_place *place,
                                              int64_t patience_ms);
void redis_connection_free(struct redis_connection *l); /* NULL is fine */

int64_t redis_connection_patience(const struct redis_connection *l); /* ns */

/* Connect unless connected. STATUS_CLOSED: the server is out of reach, or not
 * ready (loading, too many clients); STATUS_ARG: it refuses us (password,
 * database, rights). */
MUST_CHECK enum status redis_connection_ready(struct redis_connection *l);
/* Would a call try to connect now? */
bool redis_connection_is_due(const struct redis_connection *l);
bool redis_connection_is_open(const struct redis_connection *l);
/* Close the connection; the next call connects anew after a wait. */
void redis_connection_lose(struct redis_connection *l);

/* Numbers of scripts are below this; a connection remembers by its number
 * whether a script is loaded. */
#define LINK_SCRIPTS 14

/* Run a script. The caller frees the answer with freeReplyObject(); it is never
 * an error reply. STATUS_CLOSED: the connection was lost, or the server is not
 * ready: whether the script ran is not known. The others mean that it did not:
 * STATUS_FULL: the server is at its `maxmemory`; STATUS_BUSY: it is a replica,
 * or does not take writes; STATUS_ARG: no rights, or a key that is not a
 * string, or keys of different slots of a cluster; STATUS_FORMAT: the answer is
 * not valid. */
MUST_CHECK enum status redis_connection_run(struct redis_connection *l,
                                            const struct redis_script *s,
                                            const struct bytes *keys,
                                            size_t nkeys,
                                            const struct bytes *args,
                                            size_t nargs, redisReply **out);
/* redis_connection_run() in two halves, so that several scripts can be under
 * way; answers arrive in the order of sending. Call nothing else between the
 * halves. A script that the server has forgotten answers STATUS_AGAIN, and is
 * loaded by its next run. */
MUST_CHECK enum status redis_connection_send(struct redis_connection *l,
                                             const struct redis_script *s,
                                             const struct bytes *keys,
                                             size_t nkeys,
                                             const struct bytes *args,
                                             size_t nargs);
MUST_CHECK enum status redis_connection_receive(struct redis_connection *l,
                                                redisReply **out);

/* Run ID of the server last connected to; "" before the first. */
const char *redis_connection_run_id(const struct redis_connection *l);
/* The last failure in words, without secrets; "" before the first. */
const char *redis_connection_error(const struct redis_connection *l);
/* What the server said of itself at the last connection: may it evict keys
 * (maxmemory with a policy other than noeviction), does it keep an append-only
 * log? */
bool redis_connection_may_evict(const struct redis_connection *l);
bool redis_connection_is_logged(const struct redis_connection *l);

#endif
