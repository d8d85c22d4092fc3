/*
 * redis_link.h - one connection to a Redis server: signs in, learns what the
 * server is, sends commands and gives their replies in order, without waiting.
 *
 * It connects once; its owner makes another one when it is lost. A server that
 * was restarted, and may have forgotten what it had not saved, has another run
 * ID. Threads: one.
 */
#ifndef URLWEIR_FILTER_REDIS_REDIS_LINK_H
#define URLWEIR_FILTER_REDIS_REDIS_LINK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/bytes.h"
#include "base/status.h"
#include "filter/redis/redis_reply.h"
#include "filter/redis/redis_url.h"

struct redis_link;

struct redis_link *redis_link_new(const struct redis_address *a);
void redis_link_free(struct redis_link *l); /* NULL is fine */

/* Do what can be done now. STATUS_OK; STATUS_CLOSED: the connection is lost, or
 * the server is not ready (loading, too many clients); another status of
 * redis_error_status(): it refuses us (password, database, rights). After an
 * error only error() and free() are of use. */
MUST_CHECK enum status redis_link_turn(struct redis_link *l);
/* Signed in, and the server has said what it is? */
bool redis_link_is_ready(const struct redis_link *l);
const struct redis_info *redis_link_info(const struct redis_link *l);

/* Send one command, once it is ready; any number may be under way. */
void redis_link_send(struct redis_link *l, const struct bytes *words, size_t n);
/* The next reply, an error reply too, for freeReplyObject(). STATUS_AGAIN: not
 * there yet. STATUS_CLOSED: it is not in the protocol, or too long. */
MUST_CHECK enum status redis_link_next(struct redis_link *l, redisReply **out);

/* For poll(2); fd -1: turn first. */
int redis_link_fd(const struct redis_link *l);
short redis_link_events(const struct redis_link *l);
/* The last failure in words, without secrets; "" before the first. */
const char *redis_link_error(const struct redis_link *l);

#endif
