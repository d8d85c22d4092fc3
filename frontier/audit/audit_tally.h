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
    struct audit_step now; /* the step that is being counted */
    uint64_t next;         /* upto at which it ends */
};

/* *out is zeroed; its steps are then the caller's. */
void audit_tally_init(struct audit_tally *t, struct audit_series *out,
                      const char *name);
/* URL `upto` was asked. */
void audit_tally_count(struct audit_tally *t, uint64_t upto,
                       bool false_positive);
/* Has `now` come to its end? Then fill in how the filter stands, and end it. */
bool audit_tally_is_due(const struct audit_tally *t);
void audit_tally_end_step(struct audit_tally *t);
/* Ends the last step, if it counted anything, and sums up. */
void audit_tally_finish(struct audit_tally *t);

/* How `f` stands, into a step. A filter tells its rate part by part, in
 * milliseconds: once a step, no oftener. */
void audit_step_note(struct audit_step *step, const struct filter *f);

#endif
