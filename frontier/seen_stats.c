/* SPDX-License-Identifier: MIT */
/*
 * seen_stats.c - stats of a store and its seen check, for monitoring.
 *
 * The store's counters, what was counted since they were written, the filter,
 * commits and checkpoints.
 */
#include <stdio.h>
#include <string.h>

#include "filter/sizing.h"
#include "frontier/seen/seen_store.h"
#include "frontier/stats.h"

/* What was counted since the last commit is not in the store yet. */
static void add_uncommitted(const struct seen_store *s,
                            struct frontier_stats *w)
{
    struct seen_counts c = seen_store_uncounted(s);

    w->in_batch += c.in_batch;
    w->hot += c.hot;
    w->certainly_new += c.filter_new;
    w->maybe_seen += c.filter_maybe - c.false_positives;
    w->false_positives += c.false_positives;
    w->unsure += c.unsure;
}

/* The measured rate, by the exact set. */
static void take_measured(struct frontier_stats *w)
{
    struct seen_filter_stats *to = &w->filter;
    struct sizing_interval i;

    to->asked = w->certainly_new + w->false_positives;
    i = sizing_wilson(w->false_positives, to->asked, SIZING_Z95);
    to->low = i.low;
    to->high = i.high;
    if (to->asked > 0)
        to->measured = (double)w->false_positives / (double)to->asked;
}

/* Call it after add_uncommitted. */
static void take_filter(struct seen_store *b, struct frontier_stats *w)
{
    struct seen_filter_stats *to = &w->filter;
    const struct filter_stats *s = seen_store_filter_stats(b);

    to->overfull = false; /* the store has the value of the last checkpoint */
    if (s == NULL)
        return;
    to->used = true;
    to->overfull = s->overfull;
    snprintf(to->kind, sizeof to->kind, "%s", s->kind);
    /* each URL since those stats is one more key */
    to->keys = s->count + frontier_store_last_id(b->store) - b->filter_stats_at;
    to->bits = s->bits;
    to->bytes = seen_store_filter_memory(b);
    to->segments = s->segments;
    to->rebuilds = s->rebuilds;
    to->fill = s->fill;
    to->groups = s->groups;
    memcpy(to->group_fill, s->group_fill, sizeof to->group_fill);
    to->promised = s->fpr_promised;
    to->predicted = s->fpr_predicted;
    take_measured(w);
}

void frontier_stats_of_seen(struct seen_store *s, struct frontier_stats *out)
{
    seen_store_poll(s);
    frontier_stats_of_store(s->store, out);
    add_uncommitted(s, out);
    take_filter(s, out);
    histogram_add_to(&s->commit_times, &out->commits);
    histogram_add_to(&s->checkpoint_times, &out->checkpoints);
    out->checkpoints_failed = s->checkpoints_failed;
    out->checkpoint_ms = s->manifest.written_at_ms;
    out->saving = s->job != NULL;
}
