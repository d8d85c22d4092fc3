/*
 * redis_connection.h - one connection to a Redis server, through hiredis.
 *
 * Connects when it is asked for something, says who we are, sends scripts by
 * their digest and loads them where the server does not know them. When the
 * server is out of reach, tries are spaced: 100 ms, doubling to 30 s, half of
 * it at random, so that many crawlers do not come back all at once.
 *
 * The server's bytes are hostile: an answer is at most LINK_ANSWER_MOST octets
 * and LINK_ELEMENTS_MOST elements, and has `timeout_ms` of its own to come
 * whole. Whoever reads one checks its shape.
 *
 * A connection cannot outlive its server, so a server that was restarted, and
 * may have forgotten what it had not saved, shows by its run ID at the next
 * connection.
 *
 * One thread. The clock is asked here: waiting for a server is all this does.
 */
#ifndef URLWEIR_FILTER_REDIS_REDIS_CONNECTION_H
#define URLWEIR_FILTER_REDIS_REDIS_CONNECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hiredis/hiredis.h>

#include "base/bytes.h"
#include "base/status.h"
#include "filter/redis/redis_url.h"

#define LINK_ANSWER_MOST   ((size_t)4 << 20)
#define LINK_ELEMENTS_MOST 1024
#define LINK_RUN_ID_SIZE   41 /* 40 hexadecimal digits and a zero byte */

struct redis_connection;

/* `patience_ms`: how long a call goes on trying; 0: one try, and none while
 * waiting for the next is not over. */
struct redis_connection *redis_connection_new(const struct redis_place *place,
                                              int64_t patience_ms);
void redis_connection_free(struct redis_connection *l); /* NULL is fine */

int64_t redis_connection_patience(const struct redis_connection *l); /* ns */

/* Connect unless it is. STATUS_CLOSED: the server is out of reach, or not
 * ready (loading, too many clients); STATUS_ARG: it is there and refuses us
 * (password, database, rights). */
MUST_CHECK enum status redis_connection_ready(struct redis_connection *l);
/* Would a call try to connect now? */
bool redis_connection_is_due(const struct redis_connection *l);
bool redis_connection_is_open(const struct redis_connection *l);
/* Close it, so that the next call connects anew after a wait. */
void redis_connection_lose(struct redis_connection *l);

/* A script: `text` and `name` are static; it has a place in every link. */
struct redis_script {
    unsigned number; /* below LINK_SCRIPTS, one for each */
    const char *name, *text;
};
#define LINK_SCRIPTS 12

/* Run one. The answer is the caller's to freeReplyObject(), and is no error.
 * STATUS_CLOSED: the connection was lost, or the server is not ready: whether
 * the script ran is not known. The others mean that it did not:
 * STATUS_FULL: the server is at its `maxmemory`; STATUS_BUSY: it is a replica,
 * or does not take writes; STATUS_ARG: no rights, or a key that is no string;
 * STATUS_FORMAT: the answer is none. */
MUST_CHECK enum status redis_connection_run(struct redis_connection *l,
                                            const struct redis_script *s,
                                            const struct bytes *keys,
                                            size_t nkeys,
                                            const struct bytes *args,
                                            size_t nargs, redisReply **out);
/* The same in two halves, so that several can be under way; each send is
 * answered in order. Between them nothing else is called. A script that the
 * server has forgotten answers STATUS_AGAIN, and is loaded by its next run. */
MUST_CHECK enum status redis_connection_send(struct redis_connection *l,
                                             const struct redis_script *s,
                                             const struct bytes *keys,
                                             size_t nkeys,
                                             const struct bytes *args,
                                             size_t nargs);
MUST_CHECK enum status redis_connection_receive(struct redis_connection *l,
                                                redisReply **out);

/* Let a reader make no array longer than LINK_ELEMENTS_MOST: each link's does;
 * here for fuzzing. `makers` lives as long as the reader. */
void redis_connection_bound(redisReader *r, redisReplyObjectFunctions *makers);

/* Of the server last connected to; "" before the first. */
const char *redis_connection_run_id(const struct redis_connection *l);
/* The last failure in words, without secrets; "" before the first. */
const char *redis_connection_error(const struct redis_connection *l);
/* What the server said of itself when it was connected to: may it throw keys
 * away (maxmemory with a policy other than noeviction), does it keep a log? */
bool redis_connection_may_evict(const struct redis_connection *l);
bool redis_connection_is_logged(const struct redis_connection *l);

#endif
