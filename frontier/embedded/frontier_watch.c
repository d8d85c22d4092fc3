/* SPDX-License-Identifier: MIT */
/*
 * frontier_watch.c - what a monitor is told of the engine.
 *
 * What became of URLs is read off the store's named counters ("failed.http_404"
 * and the like), which are in memory and over all runs: nothing is counted a
 * second time for a monitor's sake.
 */
#include "frontier/watch.h"

#include <stdio.h>
#include <string.h>

#include "filter/sizing.h"
#include "frontier/embedded/frontier_impl.h"

#define HOSTS_LOOKED_AT                                                        \
    20000 /* of a census, at once: some two milliseconds                       \
           */

/* ---- outcomes ---- */

static bool is_status(struct bytes name, enum outcome_status *out)
{
    for (unsigned s = 0; s < OUTCOME_STATUS_COUNT_; s++) {
        *out = (enum outcome_status)s;
        if (bytes_equal(name, bytes_of_str(outcome_status_name(*out))))
            return true;
    }
    return false;
}

static bool is_reason(struct bytes name, enum outcome_reason *out)
{
    for (unsigned r = REASON_NONE + 1; r < REASON_COUNT_; r++) {
        *out = (enum outcome_reason)r;
        if (bytes_equal(name, bytes_of_str(outcome_reason_name(*out))))
            return true;
    }
    return false;
}

/* "http_404": the 4. */
static bool is_http(struct bytes name, unsigned *digit)
{
    if (name.len != 8 || memcmp(name.at, "http_", 5) != 0 || name.at[5] < '0' ||
        name.at[5] > '9')
        return false;
    *digit = (unsigned)(name.at[5] - '0');
    return true;
}

/* "STATUS" counts all of a status, "STATUS.REASON" those with a reason: what
 * is left of the first has none. */
static void add_done(struct frontier_watch *w, enum outcome_status s,
                     struct bytes reason, uint64_t value)
{
    enum outcome_reason r = REASON_HTTP;
    unsigned digit;

    if (is_http(reason, &digit))
        w->done_http[s][digit] += value;
    else if (!is_reason(reason, &r))
        return;
    w->done[s][r] += value;
    w->done[s][REASON_NONE] -= value;
}

/* Into the list, most first; what has no room goes to the last, "other". */
static void add_failure(struct frontier_watch *w, const char *why,
                        uint64_t value)
{
    struct watch_failure *all = w->failures;
    unsigned at;

    if (value == 0)
        return;
    if (w->failure_count == WATCH_FAILURES) {
        all[WATCH_FAILURES - 1].count += value;
        snprintf(all[WATCH_FAILURES - 1].why, sizeof all->why, "other");
        return;
    }
    for (at = w->failure_count++; at > 0 && all[at - 1].count < value; at--)
        all[at] = all[at - 1];
    all[at].count = value;
    snprintf(all[at].why, sizeof all->why, "%s", why);
}

static void take_counter(void *ctx, const char *name, uint64_t value)
{
    struct frontier_watch *w = ctx;
    struct bytes all = bytes_of_str(name);
    const char *dot = strchr(name, '.');
    struct bytes first =
        dot != NULL ? bytes_of(name, (size_t)(dot - name)) : all;
    struct bytes reason = bytes_of_str(dot != NULL ? dot + 1 : "");
    enum outcome_status s;
    enum outcome_reason r;

    if (is_status(first, &s) && dot == NULL) {
        w->done[s][REASON_NONE] += value;
    } else if (is_status(first, &s)) {
        add_done(w, s, reason, value);
        if (s == OUTCOME_FAILED)
            add_failure(w, dot + 1, value);
    } else if (bytes_is(first, "dropped") && is_reason(reason, &r)) {
        w->dropped[r] = value;
    }
}

/* ---- seen check and filter ---- */

static void take_seen(const struct frontier *f, struct frontier_watch *w)
{
    struct seen_counts c = seen_counts(f->seen);
    uint64_t maybe;

    /* The store has what was counted up to the last commit. */
    w->in_batch = frontier_store_counter(f->store, "answered_in_batch") +
                  c.in_batch - f->counted.in_batch;
    w->hot = frontier_store_counter(f->store, "answered_hot") + c.hot -
             f->counted.hot;
    w->certainly_new = frontier_store_counter(f->store, "filter_new") +
                       c.filter_new - f->counted.filter_new;
    w->false_positives = frontier_store_counter(f->store, "false_positives") +
                         c.false_positives - f->counted.false_positives;
    maybe = frontier_store_counter(f->store, "filter_maybe") + c.filter_maybe -
            f->counted.filter_maybe;
    w->maybe_seen = maybe - w->false_positives;
    w->unsure = frontier_store_counter(f->store, "filter_unsure") + c.unsure -
                f->counted.unsure;
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
static void take_measured(struct frontier_watch *w)
{
    struct watch_filter *to = &w->filter;
    struct sizing_interval i;

    to->asked = w->certainly_new + w->false_positives;
    i = sizing_wilson(w->false_positives, to->asked, SIZING_Z95);
    to->low = i.low;
    to->high = i.high;
    if (to->asked > 0)
        to->measured = (double)w->false_positives / (double)to->asked;
}

/* After take_seen. */
static void take_filter(struct frontier *f, struct frontier_watch *w)
{
    struct watch_filter *to = &w->filter;
    const struct filter_stats *s;

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

static void count_host(struct watch_hosts *c, const struct host_queue *h,
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
    c->counting = (struct watch_hosts){0};
    c->at = 0;
}

/* ---- the whole ---- */

void frontier_watch(struct engine *e, int64_t now, struct frontier_watch *out)
{
    struct frontier *f = (struct frontier *)e;

    frontier_save_poll(f);
    memset(out, 0, sizeof *out);
    frontier_store_each_counter(f->store, take_counter, out);
    out->retries = frontier_store_counter(f->store, "retries");
    take_seen(f, out);
    take_filter(f, out);
    take_census(f, now);
    out->hosts = f->census.last;
    histogram_look(&f->commit_times, &out->commits);
    histogram_look(&f->checkpoint_times, &out->checkpoints);
    out->checkpoints_failed = f->checkpoints_failed;
    out->checkpoint_ms = f->manifest.written_at_ms;
    out->saving = f->job != NULL;
}
