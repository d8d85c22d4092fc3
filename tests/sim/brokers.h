/*
 * brokers.h - Kafka, as far as base/kafka uses it.
 *
 * Stands in for librdkafka and its brokers, below kafka.h, kafka.h and
 * kafka.h. The log is in memory that all processes share, and keeps
 * Kafka's rules: a message stands in its partition as soon as it is sent, and
 * readers see it once its transaction is committed and all that stand before it
 * are decided; who takes a transactional id fences the producer before, and ends
 * what that left open; the brokers abort a transaction after its time; a commit
 * reaches each partition at a moment of its own; compaction removes what a later
 * message of the key replaces, and what deletes one, after a day. Members that
 * are silent lose their partitions.
 *
 * Brokers may be silent for a while, and then some of what was asked of them has
 * been done and some has not.
 */
#ifndef URLWEIR_TESTS_SIM_BROKERS_H
#define URLWEIR_TESTS_SIM_BROKERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "tests/sim/dice.h"

void brokers_begin(void);
/* None answers from now on, for so long; `fades`: what is under way just then is
 * done or not, and its producer never learns which. */
void brokers_silence(int64_t ns, bool fades);
/* One partition of the topic, by chance, brings its readers nothing for so
 * long: its broker is slow. */
void brokers_slow(const char *topic, struct dice *, int64_t ns);
/* Compacts what is compacted, up to some message. */
void brokers_compact(struct dice *);
/* The process that has the partition of the group's topic; 0: none. */
unsigned brokers_owner(int partition);
/* The process that took the transactional id last; 0: none. */
unsigned brokers_last_taker(const char *id);
/* Is there a committed message of that key? */
bool brokers_have(const char *topic, const char *key);
/* Of so many hundred commits one ends so that its producer does not know how. */
void brokers_lose_commits(unsigned percent);

#endif
