/* SPDX-License-Identifier: MIT */
/*
 * frontier_stats.c - what a monitor is told of the engine.
 *
 * The store's counters, what was counted since they were written, and the
 * state of the engine: filter, hosts, commits and checkpoints.
 */
#include "frontier/stats.h"

#include <stdio.h>
#include <string.h>

#include "filter/sizing.h"
#include "frontier/embedded/frontier_impl.h"

#define HOSTS_LOOKED_AT                                                        \
    20000 /* of a census, at once: some two milliseconds                       \
           */

/* ---- seen check and filter ---- */

/* What was counted since the last commit is not in the store yet. */
static void add_uncommitted(const struct frontier *f, struct frontier_stats *w)
{
    struct seen_counts c = seen_counts(f->seen);
    const struct seen_counts *done = &f->counted;
    uint64_t wrong = c.false_positives - done->false_positives;

    w->in_batch += c.in_batch - done->in_batch;
    w->hot += c.hot - done->hot;
    w->certainly_new += c.filter_new - done->filter_new;
    w->maybe_seen += c.filter_maybe - done->filter_maybe - wrong;
    w->false_positives += wrong;
    w->unsure += c.unsure - done->unsure;
}

/* A filter tells its rate segment by segment, which takes milliseconds. So that
 * is asked anew each time the crawl has grown by a 64th. */
static const struct filter_stats *frontier_filter_stats(struct frontier *f)
{
    uint64_t urls = frontier_store_last_id(f->store);
    uint64_t at = f->filter_stats_at;

    if (at == UINT64_MAX || urls - at > at / 64 + 1024) {
        filter_stats(f->filter, &f->filter_stats);
        f->filter_stats_at = urls;
    }
    return &f->filter_stats;
}

uint64_t frontier_filter_memory(struct frontier *f)
{
    const struct filter_stats *s;

    if (f->filter == NULL || f->filter_is_remote)
        return 0;
    s = frontier_filter_stats(f);
    return (s->bits + s->key_bits) / 8;
}

/* What it did, as the exact set found out. */
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

/* After add_uncommitted. */
static void take_filter(struct frontier *f, struct frontier_stats *w)
{
    struct seen_filter_stats *to = &w->filter;
    const struct filter_stats *s;

    to->overfull = false; /* the store's word is that of the last checkpoint */
    if (f->filter == NULL)
        return;
    s = frontier_filter_stats(f);
    to->used = true;
    to->overfull = s->overfull;
    snprintf(to->kind, sizeof to->kind, "%s", s->kind);
    /* every URL since it was asked is one more key */
    to->keys = s->count + frontier_store_last_id(f->store) - f->filter_stats_at;
    to->bits = s->bits;
    to->bytes = frontier_filter_memory(f);
    to->segments = s->segments;
    to->rebuilds = s->rebuilds;
    to->fill = s->fill;
    to->groups = s->groups;
    memcpy(to->group_fill, s->group_fill, sizeof to->group_fill);
    to->promised = s->fpr_promised;
    to->predicted = s->fpr_predicted;
    take_measured(w);
}

/* ---- hosts ---- */

static bool is_ready(const struct host_queue *h, int64_t now)
{
    return h->place.place != 0 && h->place.key <= now &&
           (h->group == NULL ||
            (h->group->place.place != 0 && h->group->place.key <= now));
}

static void count_host(struct host_stats *c, const struct host_queue *h,
                       int64_t now)
{
    c->ready += is_ready(h, now);
    c->blocked += h->blocked_until > now;
    c->dead += h->dead.status != OUTCOME_QUEUED;
}

/* Goes on with the lap; at its end its counts are those to be shown. */
static void take_census(struct frontier *f, int64_t now)
{
    struct frontier_census *c = &f->census;

    for (unsigned i = 0; i < HOSTS_LOOKED_AT && c->at < f->host_room; i++) {
        const struct host_queue *h = f->hosts[c->at++];

        if (h != NULL)
            count_host(&c->counting, h, now);
    }
    if (c->at < f->host_room)
        return;
    c->last = c->counting;
    c->counting = (struct host_stats){0};
    c->at = 0;
}

/* ---- the whole ---- */

void frontier_get_stats(struct engine *e, int64_t now,
                        struct frontier_stats *out)
{
    struct frontier *f = (struct frontier *)e;

    frontier_save_poll(f);
    frontier_stats_of_store(f->store, out);
    add_uncommitted(f, out);
    take_filter(f, out);
    take_census(f, now);
    out->hosts = f->census.last;
    histogram_add_to(&f->commit_times, &out->commits);
    histogram_add_to(&f->checkpoint_times, &out->checkpoints);
    out->checkpoints_failed = f->checkpoints_failed;
    out->checkpoint_ms = f->manifest.written_at_ms;
    out->saving = f->job != NULL;
}
