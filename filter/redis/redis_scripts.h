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
 * No command makes, counts or frees more than 1 MiB at once, so that the server
 * does not stand still for its other clients.
 *
 * KEYS   1 the bits, 2 the record, 3 bits being rebuilt, 4 a batch's answer; of
 *        open, begin, age, renew and grow, room that this client has grown;
 *        5 and more, of check 3 and more: older generations, youngest first
 * answers
 *   LOST   there is no such filter any more
 *   STALE  its geometry changed, or a rebuild began or ended: read the record
 *   AGE    a new generation must begin first: see `age`
 *   GROW   KEYS[4] must have the full length first: see `grow`
 *   NONE, TAKEN, FOREIGN, GONE   see each
 */
#ifndef URLWEIR_FILTER_REDIS_REDIS_SCRIPTS_H
#define URLWEIR_FILTER_REDIS_REDIS_SCRIPTS_H

#include "filter/redis/redis_connection.h"

/* ARGV: mode open|renew|make|new|again, bits, ttl in ms, generations, then
 * field, value... of a new record. Gives the record as HGETALL does; NONE:
 * nothing is there; FOREIGN: bits without a record; TAKEN: something else is
 * there and must not be touched. `again` is `make` by a caller that knows that
 * bits without a record are the remains of a filter; `renew` gives a record
 * without bits, too. */
extern const struct redis_script redis_script_open;
/* ARGV: epoch, generation, batch ID or "", k, offsets, offsets for the bits
 * being rebuilt or "", their k. Gives {batches, keys, bits set, "0110..."}: 1
 * for each key that was new. A batch ID seen before gets the same answer as
 * then. */
extern const struct redis_script redis_script_add;
/* ARGV: epoch, generation, k, offsets. Gives {"0110..."}: 1 for each key whose
 * bits are all set. */
extern const struct redis_script redis_script_check;
/* ARGV: epoch, token, bits, then field, value... Gives the record. */
extern const struct redis_script redis_script_begin;
/* ARGV: epoch, token, k, offsets. Gives {1}; GONE: another rebuild began. */
extern const struct redis_script redis_script_fill;
/* ARGV: epoch, token; of swap also "1" if the new bits may have far fewer keys.
 * Gives the record; GONE; SMALL: they have less than half of the old keys. */
extern const struct redis_script redis_script_swap;
extern const struct redis_script redis_script_abort;
/* ARGV: epoch. Gives {record, ms to live or -1}. */
extern const struct redis_script redis_script_info;
extern const struct redis_script redis_script_drop;
/* Make KEYS[4] longer by one piece. ARGV: its last octet then. Gives {1}. What
 * is not used within ten minutes goes. */
extern const struct redis_script redis_script_grow;
/* ARGV: epoch, first and last octet, negative ones from the end. Gives {bits
 * set there, octets in all}. */
extern const struct redis_script redis_script_count;
/* ARGV: epoch, generation. If it is due, make a new generation and drop those
 * that are over. Gives the record. */
extern const struct redis_script redis_script_age;
/* ARGV: epoch, generation, ms to live from now on. Gives the record. */
extern const struct redis_script redis_script_ttl;
/* ARGV: a new epoch. Begin a filter anew whose time is over, unless somebody
 * has. Gives the record. */
extern const struct redis_script redis_script_renew;

#endif
