/* SPDX-License-Identifier: MIT */
/*
 * seen_store.c - changes of a store, their commit, and its stats.
 *
 * Computing a filter's stats goes through all segments and takes milliseconds.
 * So they are computed again each time the store has grown by a 64th, and are
 * that old in between.
 */
#include "frontier/seen/seen_store.h"

#include "base/clock.h"
#include "base/fault.h"
#include "base/mem.h"
#include "frontier/seen/seen_store_impl.h"

enum status seen_store_broke(struct seen_store *s, enum status st)
{
    if (st == STATUS_NOMEM)
        mem_out(0);
    if (st != STATUS_OK && !s->broken) {
        s->broken = true;
        if (s->db != NULL && db_broken(s->db))
            st = db_error(s->db);
    }
    return st;
}

enum status seen_store_touch(struct seen_store *s)
{
    enum status st;

    if (s->broken)
        return db_error(s->db);
    if (s->in_txn)
        return STATUS_OK;
    st = seen_store_begin_run(s);
    if (st == STATUS_OK)
        st = db_begin(s->db);
    if (st != STATUS_OK)
        return seen_store_broke(s, st);
    s->in_txn = true;
    return STATUS_OK;
}

/* ---- admission ---- */

/* Notes the filter's state where audit's growth steps end: at powers of two,
 * from 1,024 on. */
static enum status note_step(struct seen_store *s, uint64_t urls)
{
    struct seen_counts c = seen_counts(s->seen);
    struct filter_step step = {.upto = urls,
                               .keys = urls,
                               .asked = c.filter_new + c.filter_maybe,
                               .maybe = c.filter_maybe,
                               .false_positives = c.false_positives};

    while (s->next_step <= urls)
        s->next_step *= 2;
    if (s->filter != NULL) {
        struct filter_stats fs;

        filter_stats(s->filter, &fs);
        step.keys = fs.count;
        step.bits = fs.bits;
        step.promised = fs.fpr_promised;
        step.predicted = fs.fpr_predicted;
    }
    return frontier_store_add_step(s->store, &step);
}

enum status seen_store_admit(struct seen_store *s, const struct digest *digests,
                             size_t n, uint64_t first_id)
{
    uint64_t last = first_id + n - 1;
    enum status st = seen_admit(s->seen, digests, n, first_id);

    s->admitted += n;
    return st == STATUS_OK && last >= s->next_step ? note_step(s, last) : st;
}

void seen_store_replace(struct seen_store *s, struct digest digest, uint64_t id)
{
    exact_set_replace(s->exact, digest, id);
    s->admitted++;
}

/* ---- commit ---- */

struct seen_counts seen_store_uncounted(const struct seen_store *s)
{
    struct seen_counts c = seen_counts(s->seen);

    c.asked -= s->counted.asked;
    c.in_batch -= s->counted.in_batch;
    c.hot -= s->counted.hot;
    c.filter_new -= s->counted.filter_new;
    c.filter_maybe -= s->counted.filter_maybe;
    c.false_positives -= s->counted.false_positives;
    c.unsure -= s->counted.unsure;
    return c;
}

/* Adds what the seen check has counted since the last commit to the store's
 * counters. */
static void store_counts(struct seen_store *s)
{
    struct seen_counts c = seen_store_uncounted(s);

    frontier_store_add(s->store, "filter_new", c.filter_new);
    frontier_store_add(s->store, "filter_maybe", c.filter_maybe);
    frontier_store_add(s->store, "false_positives", c.false_positives);
    frontier_store_add(s->store, "answered_in_batch", c.in_batch);
    frontier_store_add(s->store, "answered_hot", c.hot);
    frontier_store_add(s->store, "filter_unsure", c.unsure);
    s->counted = seen_counts(s->seen);
}

enum status seen_store_commit(struct seen_store *s)
{
    int64_t began;
    enum status st;

    if (!s->in_txn)
        return STATUS_OK;
    began = clock_mono(); /* for the stats; no decision depends on it */
    fault_point("turn-before-commit");
    store_counts(s);
    st = exact_set_step(s->exact, s->admitted);
    if (st == STATUS_OK)
        st = frontier_store_step(s->store);
    if (st == STATUS_OK && s->o.before_commit != NULL)
        st = s->o.before_commit(s->o.before_commit_ctx);
    if (st == STATUS_OK)
        st = db_commit(s->db);
    if (st != STATUS_OK)
        return seen_store_broke(s, st);
    fault_point("turn-after-commit");
    s->in_txn = false;
    s->admitted = 0;
    s->commits++;
    if (frontier_store_last_id(s->store) >= s->next_fit)
        seen_store_fit_hot(s);
    histogram_note(&s->commit_times, clock_mono() - began);
    return STATUS_OK;
}

/* ---- stats ---- */

const struct filter_stats *seen_store_filter_stats(struct seen_store *s)
{
    uint64_t urls = frontier_store_last_id(s->store);
    uint64_t at = s->filter_stats_at;

    if (s->filter == NULL)
        return NULL;
    if (at == UINT64_MAX || urls - at > at / 64 + 1024) {
        filter_stats(s->filter, &s->filter_stats);
        s->filter_stats_at = urls;
    }
    return &s->filter_stats;
}

uint64_t seen_store_filter_memory(struct seen_store *s)
{
    const struct filter_stats *stats =
        s->filter_is_remote ? NULL : seen_store_filter_stats(s);

    return stats != NULL ? (stats->bits + stats->key_bits) / 8 : 0;
}

struct engine_memory seen_store_memory(struct seen_store *s)
{
    struct engine_memory m = {.filter = seen_store_filter_memory(s),
                              .hot = seen_memory(s->seen),
                              .exact = exact_set_stats(s->exact).memory +
                                       page_store_memory(s->pages),
                              .database = db_memory(s->db),
                              .queues = frontier_store_memory(s->store)};

    m.all = m.filter + m.hot + m.exact + m.database + m.queues;
    return m;
}
