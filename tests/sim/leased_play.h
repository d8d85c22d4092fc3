/*
 * leased_play.h - seeds that play a crawl of which other programs take leases,
 * beside its own fetchers.
 *
 * The programs are threads of the process that runs the crawl, and call it as
 * its control socket would. They write down what they asked and were told, and
 * in the end that is compared with the requests of the crawl's own fetchers:
 * nobody has a URL, or one of its host, while another one has it, nor sooner
 * than the delay allows; a lease lasts until its end, over kills; what was
 * acknowledged is done.
 */
#ifndef URLWEIR_TESTS_SIM_LEASED_PLAY_H
#define URLWEIR_TESTS_SIM_LEASED_PLAY_H

#include <stdbool.h>
#include <stdint.h>

struct play_result;

/* Of those that play a served frontier every fourth does this instead. */
bool leased_is_played(uint64_t seed);
/* In a world with a web; `r` is play_seed's. */
void leased_play(uint64_t seed, struct play_result *r);

#endif
