/*
 * served_play.h - seeds that play a served frontier: `urlweir serve` with the
 * clients of served_clients.h, and questions about its directory.
 */
#ifndef URLWEIR_TESTS_SIM_SERVED_PLAY_H
#define URLWEIR_TESTS_SIM_SERVED_PLAY_H

#include <stdbool.h>
#include <stdint.h>

struct play_result;

/* Every fourth does. */
bool served_is_played(uint64_t seed);
/* In a world that has begun; `r` is play_seed's. */
void served_play(uint64_t seed, struct play_result *r);

#endif
