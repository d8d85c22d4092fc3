/*
 * redis_reply.h - commands to a Redis server and its replies, without sockets.
 *
 * hiredis parses the protocol (RESP 2). A server's octets are hostile: a reply
 * has at most REDIS_REPLY_MOST octets and REDIS_ELEMENTS_MOST elements, all its
 * arrays together; the caller checks its shape. Any thread.
 */
#ifndef URLWEIR_FILTER_REDIS_REDIS_REPLY_H
#define URLWEIR_FILTER_REDIS_REDIS_REPLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hiredis/hiredis.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/status.h"

#define REDIS_REPLY_MOST    ((size_t)8 << 20)
#define REDIS_ELEMENTS_MOST 65536
#define REDIS_RUN_ID_SIZE   41 /* 40 hexadecimal digits and a zero byte */

/* Append one command. */
void redis_command_write(struct buf *out, const struct bytes *words, size_t n);

/* A bounded reader: redis_reader_init() sets it up, redisReaderFeed() takes
 * octets, redis_reader_next() gives replies. */
struct redis_reader {
    redisReader *r;
    redisReplyObjectFunctions makers; /* hiredis's own, except for arrays */
    size_t elements;                  /* of the reply being read */
    size_t elements_most;             /* of one reply */
};
void redis_reader_init(struct redis_reader *r);
void redis_reader_fini(struct redis_reader *r);
/* The next whole reply, for freeReplyObject(). STATUS_AGAIN: not whole yet.
 * STATUS_FORMAT: not in the protocol, or too long; no more can be read. */
MUST_CHECK enum status redis_reader_next(struct redis_reader *r,
                                         redisReply **out);

/* What an error reply means, by its first words:
 * STATUS_AGAIN      NOSCRIPT: the script must be loaded
 * STATUS_CLOSED     not now: loading, busy, cluster down, a key half moved
 * STATUS_FULL       at its `maxmemory`
 * STATUS_BUSY       a replica, or it does not take writes
 * STATUS_NOT_FOUND  MOVED, ASK: another server has the key
 * STATUS_ARG        anything else: no rights, a key of another type, ... */
enum status redis_error_status(struct bytes text);
/* The server of a Redis Cluster that has a key. */
struct redis_spot {
    struct bytes host; /* empty: where the server is that says so */
    uint16_t port;
};
/* Read "MOVED 3999 127.0.0.1:6381" or "ASK ..."; the host points into `text`.
 * STATUS_FORMAT. */
MUST_CHECK enum status redis_redirect_read(struct bytes text, bool *ask,
                                           struct redis_spot *out);
/* Copy a server's text as one line: printable characters only, cut. */
void redis_error_keep(struct bytes text, char *out, size_t size);

/* What a server says of itself. */
struct redis_info {
    char run_id[REDIS_RUN_ID_SIZE]; /* "": it did not say, or not a valid one */
    bool loading;                   /* its data: answers INFO, nothing else */
    bool may_evict; /* maxmemory with a policy other than noeviction */
    bool is_logged; /* keeps an append-only log */
};
/* Read the text of INFO; what it does not name is zero. */
void redis_info_read(struct redis_info *out, struct bytes text);

#endif
