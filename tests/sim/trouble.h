/*
 * trouble.h - what befalls the machine of a seed while an act runs.
 */
#ifndef URLWEIR_TESTS_SIM_TROUBLE_H
#define URLWEIR_TESTS_SIM_TROUBLE_H

#include "tests/sim/dice.h"
#include "tests/sim/person.h"

/* In so many percent of all acts an operation of the disk fails, or the disk is
 * full for a while, or there is no memory. */
void trouble_failure(struct sim_act *, struct dice *, unsigned percent);
/* The clock jumps, before the act or meanwhile, or the process is stopped for a
 * while: no failure, and none may come of it. */
void trouble_clock(struct sim_act *, struct dice *);
/* By how many ms a clock jumps: an hour to weeks, either way. */
int64_t trouble_jump(struct dice *);
/* A short act is killed or cut off at a step, or mostly not. */
void trouble_cut(struct sim_act *, struct dice *);

/* For people, after the words of the act. */
void trouble_describe(const struct sim_act *, struct buf *out);

#endif
