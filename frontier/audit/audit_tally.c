/* SPDX-License-Identifier: MIT */
/* audit_tally.c - the steps of an audit's series, while they are counted. */
#include "frontier/audit/audit_tally.h"

#include <stdio.h>

#include "base/mem.h"
#include "filter/sizing.h"

#define FIRST_STEP 1024

void audit_tally_init(struct audit_tally *t, struct audit_series *out,
                      const char *name)
{
    *out = (struct audit_series){.total = {.first = 1, .fill = -1}};
    snprintf(out->name, sizeof out->name, "%s", name);
    *t = (struct audit_tally){.out = out, .next = FIRST_STEP};
    t->now = (struct audit_step){.first = 1, .fill = -1};
}

void audit_tally_count(struct audit_tally *t, uint64_t upto,
                       bool false_positive)
{
    t->now.asked++;
    t->now.upto = upto;
    t->now.false_positives += false_positive;
}

bool audit_tally_is_due(const struct audit_tally *t)
{
    return t->now.upto >= t->next;
}

static void measure(struct audit_step *step)
{
    struct sizing_interval i =
        sizing_wilson(step->false_positives, step->asked, SIZING_Z95);

    step->measured = step->asked > 0
                         ? (double)step->false_positives / (double)step->asked
                         : 0.0;
    step->low = i.low;
    step->high = i.high;
}

void audit_tally_end_step(struct audit_tally *t)
{
    struct audit_series *out = t->out;
    struct audit_step total = t->now; /* with the filter's state */

    if (t->now.asked == 0)
        return;
    measure(&t->now);
    out->steps = xrealloc(out->steps, (out->count + 1) * sizeof *out->steps);
    out->steps[out->count++] = t->now;
    total.first = out->total.first;
    total.asked += out->total.asked;
    total.false_positives += out->total.false_positives;
    out->total = total;
    t->now = (struct audit_step){.first = total.upto + 1, .fill = -1};
    while (t->next <= total.upto)
        t->next *= 2;
}

void audit_tally_finish(struct audit_tally *t)
{
    audit_tally_end_step(t);
    measure(&t->out->total);
}

void audit_step_note(struct audit_step *step, const struct filter *f)
{
    struct filter_stats fs;

    filter_stats(f, &fs);
    step->promised = fs.fpr_promised;
    step->predicted = fs.fpr_predicted;
    step->keys = fs.count;
    step->bits = fs.bits;
    step->fill = fs.fill;
}
