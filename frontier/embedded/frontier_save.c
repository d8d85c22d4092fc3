/* SPDX-License-Identifier: MIT */
/*
 * frontier_save.c - filter file and manifest, beside the crawl.
 *
 *   1. commit; what is committed now is what the checkpoint is about
 *   2. filter.ckpt   written beside the live filter; bits that later URLs set
 *                    meanwhile are harmless
 *   3. WAL           into frontier.db, so that even a lost WAL leaves a store
 *                    that the manifest agrees with
 *   4. manifest      last: it promises what the first three made true
 *
 * A crash between any two leaves an older filter file, which is brought up to
 * date from the store, or an older manifest, which the store may be ahead of.
 */
#include <assert.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fault.h"
#include "base/logger.h"
#include "base/mem.h"
#include "filter/checkpoint.h"
#include "frontier/embedded/frontier_impl.h"

struct save_job {
    struct frontier *f; /* only what never changes, and the filter */
    struct manifest manifest;
    struct checkpoint_id id;
    char *filter_path, *manifest_path;
    pthread_t thread;
    enum status st;
    int64_t took; /* ns */
    _Atomic bool done;
};

static void save(struct save_job *job)
{
    enum status st = STATUS_OK;
    int64_t began = clock_mono();

    fault_point("checkpoint-begin");
    if (job->f->filter != NULL && !job->f->filter_is_remote)
        st = checkpoint_save(job->filter_path, job->f->filter, &job->id);
    fault_point("checkpoint-filter-saved");
    if (st == STATUS_OK)
        st = db_checkpoint(job->f->db);
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

static void job_free(struct save_job *job)
{
    if (job == NULL)
        return;
    free(job->filter_path);
    free(job->manifest_path);
    free(job);
}

/* Takes the job's outcome over; it has ended. */
static enum status finish(struct frontier *f)
{
    struct save_job *job = f->job;
    enum status st = job->st;

    if (st == STATUS_OK) {
        f->manifest = job->manifest;
        histogram_note(&f->checkpoint_times, job->took);
    } else {
        f->checkpoints_failed++;
    }
    f->job = NULL;
    job_free(job);
    return st;
}

enum status frontier_save_wait(struct frontier *f)
{
    if (f->job == NULL)
        return STATUS_OK;
    pthread_join(f->job->thread, NULL);
    return finish(f);
}

void frontier_save_poll(struct frontier *f)
{
    if (f->job == NULL || !atomic_load(&f->job->done))
        return;
    if (frontier_save_wait(f) != STATUS_OK)
        log_warn("checkpoint failed; the store is safe, a restart takes longer",
                 "dir=%s", f->dir);
}

/* Commits, and describes what is committed. */
static enum status prepare(struct frontier *f, const char *state, bool clean,
                           int64_t now, int64_t wall_ms, struct save_job **out)
{
    struct save_job *job;
    struct buf id;
    char generation[24];
    enum status st = frontier_touch(f, now);

    snprintf(generation, sizeof generation, "%llu",
             (unsigned long long)f->generation + 1);
    if (st == STATUS_OK)
        st = frontier_store_set_meta(f->store, "generation",
                                     bytes_of_str(generation));
    if (st == STATUS_OK)
        st = frontier_store_set_meta(f->store, "state", bytes_of_str(state));
    if (st == STATUS_OK)
        st = frontier_mark_filter(f);
    if (st == STATUS_OK)
        st = f->engine.ops->turn(&f->engine, true, now, wall_ms, NULL);
    if (st != STATUS_OK)
        return frontier_broke(f, st);
    f->generation++;
    job = xcalloc(1, sizeof *job);
    job->f = f;
    job->filter_path = frontier_path(f, "filter.ckpt");
    job->manifest_path = frontier_path(f, "manifest");
    job->id =
        (struct checkpoint_id){.seed_print = checkpoint_seed_print(&f->key),
                               .generation = f->generation,
                               .covers = frontier_store_last_id(f->store)};
    job->manifest = (struct manifest){
        .generation = f->generation,
        .urls = frontier_store_last_id(f->store),
        .fetches = page_store_last_seq(f->pages),
        .written_at_ms = wall_ms,
        .clean = clean,
    };
    snprintf(job->manifest.state, sizeof job->manifest.state, "%s", state);
    buf_init(&id, 64);
    st = frontier_store_meta(f->store, "store_id", &id);
    snprintf(job->manifest.store_id, sizeof job->manifest.store_id, "%s",
             buf_str(&id));
    buf_fini(&id);
    if (st != STATUS_OK) {
        job_free(job);
        return st;
    }
    *out = job;
    return STATUS_OK;
}

enum status frontier_checkpoint(struct engine *e, int64_t now, int64_t wall_ms)
{
    struct frontier *f = (struct frontier *)e;
    struct save_job *job = NULL;
    enum status st;

    frontier_save_poll(f);
    if (f->job != NULL)
        return STATUS_AGAIN;
    st = prepare(f, "running", false, now, wall_ms, &job);
    if (st != STATUS_OK)
        return st;
    assert(job != NULL);
    f->job = job;
    if (pthread_create(&job->thread, NULL, save_thread, job) != 0) {
        /* No thread to be had: do it here. */
        save(job);
        return finish(f);
    }
    return STATUS_OK;
}

enum status frontier_checkpoint_now(struct engine *e, const char *state,
                                    bool clean, int64_t now, int64_t wall_ms)
{
    struct frontier *f = (struct frontier *)e;
    struct save_job *job = NULL;
    enum status st;

    if (frontier_save_wait(f) != STATUS_OK)
        log_warn("checkpoint failed; writing another", "dir=%s", f->dir);
    st = prepare(f, state, clean, now, wall_ms, &job);
    if (st != STATUS_OK)
        return st;
    assert(job != NULL);
    f->job = job;
    save(job);
    return finish(f);
}
