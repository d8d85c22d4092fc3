/*
 * redis_scripts.h - the Lua scripts that a Redis server runs for a shared Bloom
 * filter; private to filter/.
 *
 * A script runs alone on the server, so each is one step that others see whole
 * or not at all. All but `open` and `drop` begin by asking whether the filter
 * is still the one the caller knows: its epoch, a random word in the record
 * that stands beside the bits, and the length of the bits themselves. So a
 * filter that was flushed, evicted or expired can never pass for an empty one.
 *
 * KEYS   1 the bits, 2 the record, 3 bits being rebuilt, 4 a batch's answer
 * answers
 *   LOST   there is no such filter any more
 *   STALE  its geometry changed, or a rebuild began or ended: read the record
 *   NONE, TAKEN, FOREIGN, GONE   see each
 */
#ifndef URLWEIR_FILTER_REDIS_REDIS_SCRIPTS_H
#define URLWEIR_FILTER_REDIS_REDIS_SCRIPTS_H

#include "filter/redis/redis_connection.h"

/* ARGV: mode open|make|new|again, bits, ttl in ms, then field, value... of a
 * new record. Gives the record as HGETALL does; NONE: nothing is there;
 * FOREIGN: bits without a record; TAKEN: something else is there and must not
 * be touched. `again` is `make` by a caller that knows that bits without a
 * record are the remains of a filter. */
extern const struct redis_script redis_script_open;
/* ARGV: epoch, generation, batch ID or "", k, offsets, offsets for the bits
 * being rebuilt or "", their k. Gives {batches, keys, "0110..."}: 1 for each
 * key that was new. A batch ID seen before gets the same answer as then. */
extern const struct redis_script redis_script_add;
/* ARGV: epoch, generation, k, offsets. Gives {"0110..."}: 1 for each key whose
 * bits are all set. */
extern const struct redis_script redis_script_check;
/* ARGV: epoch, token, bits, then field, value... Gives the record. */
extern const struct redis_script redis_script_begin;
/* ARGV: epoch, token, k, offsets. Gives {1}; GONE: another rebuild began. */
extern const struct redis_script redis_script_fill;
/* ARGV: epoch, token. Gives the record; GONE. */
extern const struct redis_script redis_script_swap;
extern const struct redis_script redis_script_abort;
/* ARGV: epoch. Gives {record, ms to live or -1, bits set}. */
extern const struct redis_script redis_script_info;
extern const struct redis_script redis_script_drop;

#endif
