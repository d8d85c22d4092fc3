/*
 * truth.h - what must have come of a simulation.
 *
 * A plain model of what urlweir promises. It knows the plan of the web, the
 * acts of the person and the requests that were made, and nothing of how
 * urlweir works. Where the outcome depends on an order that is free, it demands
 * only what holds in every order: it must never be wrong itself.
 */
#ifndef URLWEIR_TESTS_SIM_TRUTH_H
#define URLWEIR_TESTS_SIM_TRUTH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "tests/sim/person.h"
#include "tests/sim/sim_log.h"
#include "tests/sim/web_plan.h"

/* True if all is as it must be; else writes what is not to `why`, a line each,
 * those that explain most first. `acts` are those of the person, in order, with
 * what came of them. */
bool truth_judge(const struct plan *, const struct sim_act *acts, size_t count,
                 const struct sim_log *, struct buf *why);

/* How many octets of a WARC file are whole records. */
size_t truth_whole_records(const char *at, size_t len);

#endif
