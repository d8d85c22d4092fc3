/*
 * shards_play.h - seeds that play a crawl in shards, on up to three machines.
 *
 * Workers of `urlweir crawl --cluster` and the processes of their shards run at
 * once (crowd.h) over Kafka in memory (brokers.h). Machines join and leave, are
 * killed, lose their disks, stand still; brokers are silent, and do not say what
 * they did. The truth is that of one machine: the requests and rows of all
 * shards together are judged as those of one crawl (truth.h). And no process may
 * ask a host whose shard another one may have, and a shard that is read from
 * Kafka alone has the rows that its last owner had.
 */
#ifndef URLWEIR_TESTS_SIM_SHARDS_PLAY_H
#define URLWEIR_TESTS_SIM_SHARDS_PLAY_H

#include <stdbool.h>
#include <stdint.h>

struct play_result;

bool shards_is_played(uint64_t seed);
/* In a world with a web; `r` is play_seed's. */
void shards_play(uint64_t seed, struct play_result *r);

#endif
