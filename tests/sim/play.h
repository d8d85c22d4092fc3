/*
 * play.h - one seed, from its first act to the verdict.
 */
#ifndef URLWEIR_TESTS_SIM_PLAY_H
#define URLWEIR_TESTS_SIM_PLAY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

struct play_result {
    bool good;
    unsigned acts, requests;
    int64_t passed_ms; /* of simulated time */
    struct buf why;    /* if it is not good; lines */
};

/* `r` is initialised by play_init, and may be used for many seeds. */
void play_init(struct play_result *);
void play_fini(struct play_result *);
void play_seed(uint64_t seed, struct play_result *);

/* ---- for the kinds of seeds ---- */

struct sim_act;
struct dice;
/* Runs one act, and says in it what came of it. False: it is a finding, and
 * `why` has it. */
bool play_act(struct sim_act *, struct dice *, struct buf *why);

struct buf;
/* Adds the WARC files of a directory, in order of their names; of those that end
 * in a part of a record `whole`: all but that. */
void play_add_warc(const char *dir, bool whole, struct buf *all);

#endif
