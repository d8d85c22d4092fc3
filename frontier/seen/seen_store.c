/* SPDX-License-Identifier: MIT */
/*
 * seen_store.c - changes of a store, their commit, and its stats.
 *
 * Computing a filter's stats goes through all segments and takes milliseconds.
 * So they are computed again each time the store has grown by a 64th, and are
 * that old in between.
 */
#include "frontier/seen/seen_store.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fault.h"
#include "base/logger.h"
#include "base/mem.h"
#include "filter/checkpoint.h"
#include "frontier/seen/seen_store_impl.h"

/*
 * Filter file and manifest, beside the database.
 *
 *   1. commit; the checkpoint describes this commit
 *   2. filter.ckpt   written beside the live filter; bits that later URLs set
 *                    meanwhile are harmless
 *   3. WAL           into frontier.db, so that even a lost WAL leaves a store
 *                    that the manifest agrees with
 *   4. manifest      last: it states what the first three made true
 *
 * A crash between any two leaves an older filter file, which is brought up to
 * date from the store, or an older manifest; the store may be ahead of it.
 */

#define LAG_LEAST UINT64_C(500000)

struct seen_store_job {
    struct seen_store *s; /* only what never changes, and the filter */
    struct manifest manifest;
    struct checkpoint_id id;
    char *filter_path, *manifest_path;
    pthread_t thread;
    enum status st;
    int64_t took; /* ns */
    _Atomic bool done;
};

static void save(struct seen_store_job *job)
{
    enum status st = STATUS_OK;
    int64_t began = clock_mono();

    fault_point("checkpoint-begin");
    if (job->s->filter != NULL && !job->s->filter_is_remote)
        st = checkpoint_save(job->filter_path, job->s->filter, &job->id);
    fault_point("checkpoint-filter-saved");
    if (st == STATUS_OK)
        st = db_checkpoint(job->s->db);
    fault_point("checkpoint-wal-moved");
    if (st == STATUS_OK)
        st = manifest_save(job->manifest_path, &job->manifest);
    fault_point("checkpoint-end");
    job->st = st;
    job->took = clock_mono() - began;
    atomic_store(&job->done, true);
}

static void *save_thread(void *arg)
{
    save(arg);
    return NULL;
}

static void job_free(struct seen_store_job *job)
{
    if (job == NULL)
        return;
    free(job->filter_path);
    free(job->manifest_path);
    free(job);
}

enum status seen_store_begin_run(struct seen_store *s)
{
    struct manifest m = s->manifest;
    char *path;
    enum status st;

    if (!m.clean)
        return STATUS_OK;
    m.clean = false;
    snprintf(m.state, sizeof m.state, "running");
    path = seen_store_path(s, "manifest");
    st = manifest_save(path, &m);
    if (st == STATUS_OK)
        s->manifest = m;
    free(path);
    return st;
}

/* Takes over the outcome of a job that has ended. */
static enum status finish(struct seen_store *s)
{
    struct seen_store_job *job = s->job;
    enum status st = job->st;

    if (st == STATUS_OK) {
        s->manifest = job->manifest;
        histogram_note(&s->checkpoint_times, job->took);
    } else {
        s->checkpoints_failed++;
    }
    s->job = NULL;
    job_free(job);
    return st;
}

enum status seen_store_save_wait(struct seen_store *s)
{
    if (s->job == NULL)
        return STATUS_OK;
    pthread_join(s->job->thread, NULL);
    return finish(s);
}

void seen_store_poll(struct seen_store *s)
{
    if (s->job == NULL || !atomic_load(&s->job->done))
        return;
    if (seen_store_save_wait(s) != STATUS_OK)
        log_warn("checkpoint failed; the store is safe, a restart takes longer",
                 "dir=%s", s->dir);
}

/* 100 octets for each URL are what the filter's file may cost. */
static uint64_t filter_lag(const struct seen_store *s)
{
    uint64_t lag = s->o.memory / 4 / 100;

    if (s->o.filter_lag > 0)
        return s->o.filter_lag;
    return lag > LAG_LEAST ? lag : LAG_LEAST;
}

bool seen_store_is_due(const struct seen_store *s)
{
    return s->filter != NULL && !s->filter_is_remote && s->job == NULL &&
           frontier_store_last_id(s->store) - s->saved_upto >= filter_lag(s);
}

enum status seen_store_prepare(struct seen_store *s,
                               const struct seen_store_checkpoint *c)
{
    char generation[24];
    enum status st;

    if (!c->wait) {
        seen_store_poll(s);
        if (s->job != NULL)
            return STATUS_AGAIN;
    } else if (seen_store_save_wait(s) != STATUS_OK) {
        log_warn("checkpoint failed; writing another", "dir=%s", s->dir);
    }
    s->saved_upto = frontier_store_last_id(s->store);
    st = seen_store_touch(s);
    snprintf(generation, sizeof generation, "%llu",
             (unsigned long long)s->generation + 1);
    if (st == STATUS_OK)
        st = frontier_store_set_meta(s->store, "generation",
                                     bytes_of_str(generation));
    if (st == STATUS_OK)
        st = frontier_store_set_meta(s->store, "state", bytes_of_str(c->state));
    if (st == STATUS_OK)
        st = seen_store_mark_filter(s);
    return st == STATUS_OK ? STATUS_OK : seen_store_broke(s, st);
}

/* Makes a job that describes the committed state. */
static struct seen_store_job *describe(struct seen_store *s,
                                       const struct seen_store_checkpoint *c,
                                       struct bytes store_id, int64_t wall_ms)
{
    struct seen_store_job *job = xcalloc(1, sizeof *job);

    job->s = s;
    job->filter_path = seen_store_path(s, "filter.ckpt");
    job->manifest_path = seen_store_path(s, "manifest");
    job->id =
        (struct checkpoint_id){.seed_print = checkpoint_seed_print(&s->key),
                               .generation = s->generation,
                               .covers = frontier_store_last_id(s->store)};
    job->manifest = (struct manifest){
        .generation = s->generation,
        .urls = frontier_store_last_id(s->store),
        .fetches = page_store_last_seq(s->pages),
        .written_at_ms = wall_ms,
        .clean = c->clean,
    };
    snprintf(job->manifest.state, sizeof job->manifest.state, "%s", c->state);
    snprintf(job->manifest.store_id, sizeof job->manifest.store_id, "%.*s",
             (int)store_id.len, store_id.at);
    return job;
}

enum status seen_store_save(struct seen_store *s,
                            const struct seen_store_checkpoint *c,
                            int64_t wall_ms)
{
    struct buf id;
    enum status st;

    s->generation++;
    buf_init(&id, 64);
    st = frontier_store_meta(s->store, "store_id", &id);
    if (st == STATUS_OK)
        s->job = describe(s, c, buf_bytes(&id), wall_ms);
    buf_fini(&id);
    if (st != STATUS_OK)
        return st;
    if (!c->wait &&
        pthread_create(&s->job->thread, NULL, save_thread, s->job) == 0)
        return STATUS_OK;
    save(s->job); /* done here if no thread can be started */
    return finish(s);
}

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

struct frontier_memory seen_store_memory(struct seen_store *s)
{
    struct frontier_memory m = {.filter = seen_store_filter_memory(s),
                                .hot = seen_memory(s->seen),
                                .exact = exact_set_stats(s->exact).memory +
                                         page_store_memory(s->pages),
                                .database = db_memory(s->db),
                                .queues = frontier_store_memory(s->store)};

    m.all = m.filter + m.hot + m.exact + m.database + m.queues;
    return m;
}
