/*
 * points.h - the named points of the program (base/fault.h) at which a life may
 * be killed.
 *
 * A point between two steps of a commit is one of thousands of steps of a life,
 * so a kill at a random step seldom meets it. A person orders kills at points
 * too.
 */
#ifndef URLWEIR_TESTS_SIM_POINTS_H
#define URLWEIR_TESTS_SIM_POINTS_H

#include <stdint.h>

#include "tests/sim/dice.h"

struct kill_point {
    const char *name; /* NULL: none */
    unsigned passage; /* which one, from 1 */
};

/* Called once, before the first life. */
void points_prepare(void);
struct kill_point points_throw(struct dice *);
struct kill_point points_throw_served(struct dice *);
/* A life begins. */
void points_begin(struct kill_point);
/* Prints at how many points lives were killed, and at which none was. */
void points_report(void);

#endif
