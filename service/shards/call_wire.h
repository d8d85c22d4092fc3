/*
 * call_wire.h - calls and their answers as JSON, between the processes of a
 * cluster.
 *
 *   POST /v1/shards/N    an array of calls; the answer is as long an array
 *
 * docs/formats/shard-calls.md describes them. Octets of metadata come back as
 * they were. What is read comes from outside: it is bounded, and refused if it
 * is not valid. Any thread.
 */
#ifndef URLWEIR_SERVICE_SHARDS_CALL_WIRE_H
#define URLWEIR_SERVICE_SHARDS_CALL_WIRE_H

#include <jansson.h>

#include "base/arena.h"
#include "base/buf.h"
#include "service/calls/call.h"

#define CALL_WIRE_MOST  ((size_t)32 << 20) /* octets of a body */
#define CALL_WIRE_CALLS 64                 /* in a body */
/* Octets of an item, as clients may send them; a row of it fits in a message of
 * Kafka (KAFKA_MESSAGE_MOST). */
#define CALL_WIRE_ITEM_MOST ((size_t)4 << 20)

/* ---- calls ---- */

/* Appends a call with what it asks for. */
void call_wire_ask(struct buf *out, const struct frontier_call *call);
/* A body of calls as an array of 1 to CALL_WIRE_CALLS objects, or NULL. */
json_t *call_wire_asks(struct bytes body);
/* The items of all puts together. */
size_t call_wire_items(const json_t *asks);
/* Reads one call into a zeroed `call`, which points into `ask`, `a` and *items.
 * *items goes on to the first item that is not used. STATUS_FORMAT;
 * STATUS_LIMIT: `a` is full. */
MUST_CHECK enum status call_wire_read_ask(const json_t *ask,
                                          struct frontier_call *call,
                                          struct frontier_item **items,
                                          struct arena *a);

/* ---- answers ---- */

/* Appends the answer of a call that is done. STATUS_BUSY says that this process
 * does not have the shard; any failure of the frontier is STATUS_CLOSED to
 * others. */
void call_wire_answer(struct buf *out, const struct frontier_call *call);
/* Reads the answers of `n` calls into them. STATUS_FORMAT: the body is not
 * valid, and no call can be relied on; STATUS_LIMIT as in call.h. */
MUST_CHECK enum status call_wire_read_answers(
    struct bytes body, struct frontier_call *const *calls, size_t n);

#endif
