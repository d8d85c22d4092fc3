/*
 * call_answer.h - builds the answer of a call, for call_execute.c, the router
 * and any code that ends a call without them.
 *
 * Everything lives in the call's memory, which has a ceiling; at the ceiling
 * the call's status becomes STATUS_LIMIT. One thread at a time.
 */
#ifndef URLWEIR_SERVICE_CALLS_CALL_ANSWER_H
#define URLWEIR_SERVICE_CALLS_CALL_ANSWER_H

#include <stdbool.h>

#include "service/calls/call.h"

#define ANSWER_PART_URLS 1000 /* at most, in one part of an answer */

/* Resets the answer to STATUS_OK and empty; frees the part before it. */
void answer_begin(struct frontier_call *call);
struct bytes answer_keep(struct frontier_call *call, struct bytes b);
/* Room for `most` elements; NULL if there is no room. */
void *answer_room(struct frontier_call *call, size_t most, size_t size);
void answer_name(void *call, struct bytes name);
/* Is the part large enough to be sent? */
bool answer_is_full(const struct frontier_call *call);
/* Ends the call with STATUS_REFUSED. `why` is for people and static. */
void answer_refuse(struct frontier_call *call, const char *why);
/* Fails the call with `st` and discards its answer so far. */
void answer_fail(struct frontier_call *call, enum status st);

/* Seconds on the wire to ms, capped at about ten thousand years. */
int64_t wire_ms(uint64_t seconds);
uint64_t wire_seconds(int64_t ms);
/* The end of a block until second t is t + 1; 0 lifts the block. */
int64_t wire_end_of_block(uint64_t until_s);

#endif
