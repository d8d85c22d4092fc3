/* SPDX-License-Identifier: MIT */
/*
 * seen_store.c - changes of a store, their commit, and its stats.
 *
 * Computing a filter's stats goes through all segments and takes milliseconds.
 * So they are computed again each time the store has grown by a 64th, and are
 * that old in between.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/clock.h"
#include "base/fault.h"
#include "base/file/file.h"
#include "base/logger.h"
#include "base/mem.h"
#include "filter/checkpoint.h"
#include "frontier/seen/seen.h"
#include "frontier/seen/seen_store.h"

/* ---- the secret that digests of a crawl are made with ---- */

enum status row_digest_read_key(struct digest_key *out,
                                struct frontier_store *store, const char *dir)
{
    struct buf seed;
    enum status st;

    buf_init(&seed, DIGEST_SEED_SIZE);
    st = frontier_store_meta(store, "digest_seed", &seed);
    if (st == STATUS_OK && seed.len == DIGEST_SEED_SIZE) {
        digest_key_init(out, (const unsigned char *)seed.at);
    } else if (st == STATUS_OK || st == STATUS_NOT_FOUND) {
        log_error("the store has no digest seed", "dir=%s", dir);
        st = STATUS_DAMAGED;
    }
    buf_fini(&seed);
    return st;
}

/*
 * A new store, or one found on disk.
 *
 * Opening goes from what is certain to what can be derived: the manifest says
 * what the store must hold at least; the store gives the exact set, whose
 * newest part is replayed from the url rows; the filter file is used if it
 * verifies and is not ahead of the store, and is brought up to date in the same
 * pass over the rows; otherwise the filter is filled from the exact set.
 */
#define FIRST_STEP 1024 /* audit's first growth step */
#define MIB        ((uint64_t)1 << 20)

/* 64ths of memory for hot cache and filter together. The filter takes what its
 * keys need, a quarter at most, and the hot cache the rest: a link that it
 * knows costs a tenth of one that reads a page of the exact set. */
#define HOT_AND_FILTER 42
#define HOT_MOST       (16384 * MIB)
#define HOT_KEPT       2  /* a part in so many is its own whatever hosts take */
#define HOT_PER_URL    32 /* octets; a digest has 11, and sets fill unevenly */
#define DELTA_OCTETS   36 /* of a digest in memory until its part is merged */
#define DELTA_MOST     (64 * MIB) /* replayed at a start: 2 s for each 64 MiB */

char *seen_store_path(const struct seen_store *s, const char *name)
{
    size_t size = strlen(s->dir) + strlen(name) + 2;
    char *path = xmalloc(size);

    snprintf(path, size, "%s/%s", s->dir, name);
    return path;
}

static uint64_t share_of(const struct seen_store_options *o,
                         unsigned parts_of_64, uint64_t least, uint64_t most)
{
    uint64_t bytes = o->memory / 64 * parts_of_64;

    return bytes < least ? least : bytes > most ? most : bytes;
}

uint64_t seen_store_share(const struct seen_store *s, unsigned parts_of_64,
                          uint64_t least, uint64_t most)
{
    return share_of(&s->o, parts_of_64, least, most);
}

struct seen_store_shares seen_store_shares(const struct seen_store_options *o)
{
    unsigned exact = o->exact_share > 0 ? o->exact_share : 1;
    unsigned db = o->db_share > 0 ? o->db_share : 4;
    unsigned hot = o->hot_share > 0 ? o->hot_share + 16 : HOT_AND_FILTER;

    struct seen_store_shares share = {
        .filter = o->use_filter ? o->memory / 4 : 0,
        .hot = share_of(o, hot, HOT_LEAST, HOT_MOST),
        .exact = share_of(o, exact, 1 * MIB, 2048 * MIB),
        .delta = share_of(o, 4, 1 * MIB, DELTA_MOST),
        .database = share_of(o, db, 2 * MIB, db * 16 * MIB)};
    uint64_t used = share.hot + share.exact + share.delta + share.database;

    share.queues = used < o->memory ? o->memory - used : 0;
    return share;
}

static enum status open_parts(struct seen_store *s, enum db_mode mode)
{
    char *path = seen_store_path(s, "frontier.db");
    const struct seen_store_shares share = seen_store_shares(&s->o);
    struct db_options dbo = {.cache_bytes = share.database,
                             .checkpoint_bytes = 16 * MIB,
                             .follower = s->o.follower};
    struct exact_set_options eo = {.block_cache_bytes = share.exact,
                                   .delta_most = share.delta / DELTA_OCTETS};
    struct frontier_store_options so = {
        .memory_bytes = seen_store_share(s, 8, 1 * MIB, 2048 * MIB)};
    enum status st = db_open(&s->db, path, mode, &dbo);

    free(path);
    if (st == STATUS_OK && mode == DB_CREATE) {
        st = db_begin(s->db);
        s->in_txn = st == STATUS_OK;
    }
    if (st == STATUS_OK)
        st = exact_set_open(&s->exact, s->db, &eo);
    if (st == STATUS_OK)
        st = page_store_open(&s->pages, s->db);
    if (st == STATUS_OK)
        st = frontier_store_open(&s->store, s->db, &so, 0, NULL, NULL);
    return st;
}

static uint64_t less(uint64_t octets, uint64_t by, uint64_t least)
{
    return octets > by + least ? octets - by : least;
}

/* Gives the hot cache what the number of URLs and the filter leave it.
 *
 * Growing by half at a time, it is moved as a whole seldom enough to cost
 * nothing that can be measured. */
static void seen_store_fit_hot(struct seen_store *s)
{
    uint64_t urls = frontier_store_last_id(s->store);
    uint64_t most = seen_store_shares(&s->o).hot;
    uint64_t filter = seen_store_filter_memory(s);
    uint64_t want = urls * HOT_PER_URL, now = seen_hot_memory(s->seen);

    s->next_fit = urls + urls / 64 + 1024;
    most = less(most, filter, HOT_LEAST);
    most = less(most, s->beyond,
                most / HOT_KEPT > HOT_LEAST ? most / HOT_KEPT : HOT_LEAST);
    if (want < HOT_LEAST)
        want = HOT_LEAST;
    if (want > most)
        want = most;
    if (now > most || want > now + now / 2)
        seen_resize(s->seen, now > most ? most - most / 16 : want);
}

void seen_store_note_queues(struct seen_store *s, uint64_t octets)
{
    uint64_t part = seen_store_shares(&s->o).queues;
    uint64_t beyond = octets > part ? octets - part : 0;

    if (beyond == s->beyond)
        return;
    s->beyond = beyond;
    seen_store_fit_hot(s);
}

static enum status start_seen(struct seen_store *s)
{
    enum status st = seen_store_bring_up(s);

    if (st == STATUS_OK)
        st = seen_new(&s->seen, s->filter, s->exact,
                      seen_store_shares(&s->o).hot);
    if (st != STATUS_OK)
        return st;
    seen_resize(s->seen, 0); /* it grows with the crawl */
    seen_store_fit_hot(s);
    return STATUS_OK;
}

static enum status make_secret(struct seen_store *s)
{
    unsigned char seed[DIGEST_SEED_SIZE];

    if (s->o.digest_seed != NULL)
        memcpy(seed, s->o.digest_seed, sizeof seed);
    else if (getrandom(seed, sizeof seed, 0) != (ssize_t)sizeof seed)
        return STATUS_IO;
    digest_key_init(&s->key, seed);
    return frontier_store_set_meta(s->store, "digest_seed",
                                   bytes_of(seed, sizeof seed));
}

static struct seen_store *alloc(const char *dir,
                                const struct seen_store_options *o)
{
    struct seen_store *s = xcalloc(1, sizeof *s);

    s->o = *o;
    s->dir = xstrdup(dir);
    s->next_step = FIRST_STEP;
    s->filter_stats_at = UINT64_MAX;
    return s;
}

static enum status first_checkpoint(struct seen_store *s, int64_t wall_ms)
{
    const struct seen_store_checkpoint c = {.state = "new", .wait = true};
    enum status st = seen_store_prepare(s, &c);

    if (st == STATUS_OK)
        st = seen_store_commit(s);
    return st == STATUS_OK ? seen_store_save(s, &c, wall_ms) : st;
}

enum status seen_store_create(struct seen_store **out, const char *dir,
                              const struct seen_store_options *o,
                              int64_t wall_ms)
{
    struct seen_store *s = alloc(dir, o);
    enum status st = open_parts(s, DB_CREATE);

    if (st == STATUS_OK)
        st = make_secret(s);
    if (st == STATUS_OK)
        st = start_seen(s);
    if (st == STATUS_OK)
        st = first_checkpoint(s, wall_ms);
    if (st != STATUS_OK) {
        seen_store_close(s);
        return st;
    }
    *out = s;
    return STATUS_OK;
}

/* ---- an existing store ---- */

static enum status read_manifest(struct seen_store *s)
{
    char *path = seen_store_path(s, "manifest");
    char *db = seen_store_path(s, "frontier.db");
    uint64_t size;
    bool have_db = file_size(db, &size) == STATUS_OK;
    enum status st = manifest_load(path, &s->manifest);

    if (st == STATUS_NOT_FOUND && have_db) {
        log_error("the manifest is missing",
                  "path=%s hint=\"`urlweir verify DIR --repair` writes it anew "
                  "from the store\"",
                  path);
        st = STATUS_DAMAGED;
    } else if (st == STATUS_OK && !have_db) {
        log_error("the store is missing",
                  "path=%s manifest_urls=%llu hint=\"restore frontier.db from "
                  "a copy, or start a new crawl in another directory\"",
                  db, (unsigned long long)s->manifest.urls);
        st = STATUS_DAMAGED;
    } else if (st == STATUS_FORMAT) {
        st = STATUS_DAMAGED;
    }
    free(db);
    free(path);
    return st;
}

/* The store may be ahead of the manifest, never behind it. */
static enum status compare_with_manifest(struct seen_store *s)
{
    const struct manifest *m = &s->manifest;
    uint64_t urls = frontier_store_last_id(s->store);
    uint64_t fetches = page_store_last_seq(s->pages);
    struct buf id;
    enum status st;

    buf_init(&id, 64);
    st = frontier_store_meta(s->store, "store_id", &id);
    if (st == STATUS_OK && !bytes_is(buf_bytes(&id), m->store_id)) {
        log_error("store and manifest are of different crawls", "dir=%s",
                  s->dir);
        st = STATUS_DAMAGED;
    }
    buf_fini(&id);
    if (st == STATUS_OK && (urls < m->urls || fetches < m->fetches)) {
        log_error("the store is behind its manifest",
                  "dir=%s urls=%llu manifest_urls=%llu fetches=%llu "
                  "manifest_fetches=%llu hint=\"restore frontier.db and "
                  "frontier.db-wal, or accept the loss with `urlweir verify "
                  "DIR --repair`: what is missing is fetched again\"",
                  s->dir, (unsigned long long)urls, (unsigned long long)m->urls,
                  (unsigned long long)fetches, (unsigned long long)m->fetches);
        st = STATUS_DAMAGED;
    }
    return st;
}

/* What changed here alone would be lost, or contradict what is elsewhere. */
static enum status refuse_without_follower(struct seen_store *s)
{
    struct buf note;
    enum status st;

    if (s->o.follower != NULL)
        return STATUS_OK;
    buf_init(&note, 4096);
    st = frontier_store_meta(s->store, SEEN_STORE_FOLLOWED, &note);
    buf_fini(&note);
    return st == STATUS_OK          ? STATUS_REFUSED
           : st == STATUS_NOT_FOUND ? STATUS_OK
                                    : st;
}

static void find_next_step(struct seen_store *s)
{
    while (s->next_step <= frontier_store_last_id(s->store))
        s->next_step *= 2;
}

static enum status restore(struct seen_store *s)
{
    enum status st = row_digest_read_key(&s->key, s->store, s->dir);
    uint64_t last = frontier_store_last_id(s->store);

    if (st == STATUS_OK)
        st = refuse_without_follower(s);
    if (st == STATUS_OK)
        st = compare_with_manifest(s);
    if (st == STATUS_OK)
        st = exact_set_check_upto(s->exact, last);
    if (st == STATUS_OK)
        st = start_seen(s);
    if (st == STATUS_OK)
        find_next_step(s);
    return st;
}

enum status seen_store_open(struct seen_store **out, const char *dir,
                            const struct seen_store_options *o)
{
    struct seen_store *s = alloc(dir, o);
    enum status st = read_manifest(s);

    if (st == STATUS_OK) {
        s->generation = s->manifest.generation;
        s->found = s->manifest;
        st = open_parts(s, DB_WRITE);
    }
    if (st == STATUS_OK)
        st = restore(s);
    if (st != STATUS_OK) {
        seen_store_close(s);
        return st;
    }
    *out = s;
    return STATUS_OK;
}

static enum status seen_store_save_wait(struct seen_store *s);

void seen_store_close(struct seen_store *s)
{
    if (s == NULL)
        return;
    if (seen_store_save_wait(s) != STATUS_OK)
        log_warn("the last checkpoint did not succeed", "dir=%s", s->dir);
    if (s->in_txn)
        db_rollback(s->db);
    seen_free(s->seen);
    filter_free(s->filter);
    exact_set_close(s->exact);
    page_store_close(s->pages);
    frontier_store_close(s->store);
    db_close(s->db);
    free(s->dir);
    free(s);
}

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

/* Waits for a checkpoint in progress and returns its status. */
static enum status seen_store_save_wait(struct seen_store *s)
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
