/* SPDX-License-Identifier: MIT */
/*
 * stored_stats.c - stats of a crawl from the store's counters.
 *
 * Outcomes of URLs are read from the store's named counters ("failed.http_404"
 * and the like), which are in memory and over all runs, so nothing is counted
 * twice. Only this file knows the names under which the store keeps the
 * counters that are shown.
 */
#include <stdio.h>
#include <string.h>

#include "filter/sizing.h"
#include "frontier/seen/seen_store.h"
#include "frontier/stats.h"
#include "storage/frontier_store.h"

/*
 * Stats of a store and its seen check, for monitoring.
 *
 * The store's counters, what was counted since they were written, the filter,
 * commits and checkpoints.
 */

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

/* "STATUS" counts all URLs of a status, "STATUS.REASON" those with a reason;
 * the difference has no reason. */
static void add_done(struct frontier_stats *w, enum outcome_status s,
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

/* Inserts into the list, most first; reasons without room go to the last entry,
 * "other". */
static void add_failure(struct frontier_stats *w, const char *why,
                        uint64_t value)
{
    struct failure_stats *all = w->failures;
    unsigned at;

    if (value == 0)
        return;
    if (w->failure_count == STATS_FAILURES) {
        all[STATS_FAILURES - 1].count += value;
        snprintf(all[STATS_FAILURES - 1].why, sizeof all->why, "other");
        return;
    }
    for (at = w->failure_count++; at > 0 && all[at - 1].count < value; at--)
        all[at] = all[at - 1];
    all[at].count = value;
    snprintf(all[at].why, sizeof all->why, "%s", why);
}

static void take_counter(void *ctx, const char *name, uint64_t value)
{
    struct frontier_stats *w = ctx;
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

/* ---- the whole ---- */

void frontier_counts_of_store(const struct frontier_store *s,
                              struct frontier_counts *out)
{
    *out = (struct frontier_counts){
        .urls =
            frontier_store_last_id(s) - frontier_store_counter(s, "readmitted"),
        .queued = frontier_store_pending_all(s),
        .withheld = frontier_store_counter(s, "over_budget"),
        .removed = frontier_store_counter(s, "skipped.removed"),
        .queues = frontier_store_queue_count(s),
        .pages = frontier_store_counter(s, "pages"),
        .fetched = frontier_store_counter(s, "fetched"),
        .checked = frontier_store_counter(s, "fetched.checked"),
        .redirects = frontier_store_counter(s, "redirect"),
        .failed = frontier_store_counter(s, "failed"),
        .denied = frontier_store_counter(s, "denied"),
        .skipped = frontier_store_counter(s, "skipped"),
        .sitemaps = frontier_store_counter(s, "sitemaps"),
        .http_errors = frontier_store_counter(s, "http_errors"),
        .given = frontier_store_counter(s, "given"),
        .returned = frontier_store_counter(s, "returned"),
        .links = frontier_store_counter(s, "links"),
        .duplicates = frontier_store_counter(s, "duplicates"),
        .dropped = frontier_store_counter(s, "dropped"),
        .drops_kept = frontier_store_counter(s, "drops_kept"),
        .drops_lost = frontier_store_counter(s, "drops_lost"),
        .bytes = frontier_store_counter(s, "bytes"),
        .dated = frontier_store_counter(s, "dated"),
        .rated = frontier_store_counter(s, "refresh_rated"),
        .fresh = frontier_store_counter(s, "refresh_fresh") / 1000000,
        .refreshed = frontier_store_counter(s, "refreshed"),
        .changed = frontier_store_counter(s, "refreshed_changed"),
        .gone = frontier_store_counter(s, "gone"),
        .history_removed = frontier_store_counter(s, "history_removed"),
        .seeds = frontier_store_counter(s, "seeds"),
        .seeds_failed = frontier_store_counter(s, "seeds_failed"),
    };
}

void frontier_stats_of_store(const struct frontier_store *s,
                             struct frontier_stats *out)
{
    memset(out, 0, sizeof *out);
    frontier_store_each_counter(s, take_counter, out);
    out->retries = frontier_store_counter(s, "retries");
    out->same_content = frontier_store_counter(s, "same_content");
    out->traps = frontier_store_counter(s, "traps");
    out->near_dup = frontier_store_counter(s, "near_dup");
    out->blocklist_false_positives =
        frontier_store_counter(s, "blocklist_false_positives");
    out->blocklist_unsure = frontier_store_counter(s, "blocklist_unsure");
    out->digest_collisions = frontier_store_counter(s, "digest_collisions");
    out->in_batch = frontier_store_counter(s, "answered_in_batch");
    out->hot = frontier_store_counter(s, "answered_hot");
    out->certainly_new = frontier_store_counter(s, "filter_new");
    out->false_positives = frontier_store_counter(s, "false_positives");
    out->maybe_seen =
        frontier_store_counter(s, "filter_maybe") - out->false_positives;
    out->unsure = frontier_store_counter(s, "filter_unsure");
    out->filter.overfull = frontier_store_counter(s, "filter_overfull") != 0;
}
