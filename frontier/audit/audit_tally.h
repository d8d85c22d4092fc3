/*
 * audit_tally.h - the steps of an audit's series, while they are counted.
 *
 * Steps end at powers of two from 1,024 on, which is where a crawl notes the
 * state of its filter. One thread.
 */
#ifndef URLWEIR_FRONTIER_AUDIT_AUDIT_TALLY_H
#define URLWEIR_FRONTIER_AUDIT_AUDIT_TALLY_H

#include <stdbool.h>
#include <stdint.h>

#include "filter/filter.h"
#include "frontier/audit/audit.h"

struct audit_tally {
    struct audit_series *out;
    struct audit_step now; /* the current step */
    uint64_t next;         /* upto at which it ends */
};

/* *out is zeroed; its steps are then the caller's. */
void audit_tally_init(struct audit_tally *t, struct audit_series *out,
                      const char *name);
/* Counts URL number `upto`. */
void audit_tally_count(struct audit_tally *t, uint64_t upto,
                       bool false_positive);
/* Has `now` come to its end? Then the caller fills in the filter's state and
 * ends the step. */
bool audit_tally_is_due(const struct audit_tally *t);
void audit_tally_end_step(struct audit_tally *t);
/* Ends the last step, if it counted anything, and sums up. */
void audit_tally_finish(struct audit_tally *t);

/* Stores the state of `f` in a step. Computing a filter's stats takes
 * milliseconds: do it once a step, not more. */
void audit_step_note(struct audit_step *step, const struct filter *f);

#endif
