/*
 * call_answer.h - putting the answer of a call together, for call_execute.c,
 * the router and whoever ends a call without it.
 *
 * Everything lives in the call's memory, which has a ceiling; where it is
 * reached the call's status becomes STATUS_LIMIT. One thread at a time.
 */
#ifndef URLWEIR_SERVICE_CALLS_CALL_ANSWER_H
#define URLWEIR_SERVICE_CALLS_CALL_ANSWER_H

#include <stdbool.h>

#include "service/calls/call.h"

#define ANSWER_PART_URLS  1000              /* of one part of an answer */
#define ANSWER_PART_BYTES ((size_t)1 << 20) /* after which it is given */

/* STATUS_OK and nothing; what the part before pointed to is gone. */
void answer_begin(struct frontier_call *call);
struct bytes answer_keep(struct frontier_call *call, struct bytes b);
/* Room for `most` elements; NULL: there is none. */
void *answer_room(struct frontier_call *call, size_t most, size_t size);
void answer_name(void *call, struct bytes name);
/* Is the part so large that it is to be given? */
bool answer_is_full(const struct frontier_call *call);
/* There is no answer but this, which people may read; `why` is static. */
void answer_refuse(struct frontier_call *call, const char *why);
/* Nothing that it said of itself is to be relied upon. */
void answer_fail(struct frontier_call *call, enum status st);

/* Seconds on the wire, at most some ten thousand years. */
int64_t wire_ms(uint64_t seconds);
uint64_t wire_seconds(int64_t ms);
/* A block until second t serves again at t + 1; 0: it is lifted. */
int64_t wire_end_of_block(uint64_t until_s);

#endif
