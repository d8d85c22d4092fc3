/* SPDX-License-Identifier: MIT */
/*
 * frontier_open.c - a new crawl, or one found on disk.
 *
 * Opening goes from what is certain to what can be derived: the manifest says
 * what the store must hold at least; the store gives the exact set, whose
 * newest part is replayed from the url rows; the filter file is taken if it
 * verifies and does not run ahead of the store, and is brought up to date from
 * the same rows; else it is filled from the exact set. Politeness comes last:
 * after a crash nobody knows which hosts had just been asked, so every one
 * with work left waits out its delay once.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/logger.h"
#include "base/mem.h"
#include "frontier/embedded/frontier_impl.h"
#include "frontier/seen/row_digest.h"

#define FIRST_STEP 1024 /* audit's first growth step */

/* How --memory is shared out; what is left is for bodies and the rest. */
static uint64_t share(const struct frontier *f, unsigned parts_of_64,
                      uint64_t least, uint64_t most)
{
    uint64_t bytes = f->o.memory / 64 * parts_of_64;

    return bytes < least ? least : bytes > most ? most : bytes;
}

#define MIB ((uint64_t)1 << 20)
/* A URL as the store hands it out: other programs put longer ones than we
 * crawl (URL_LENGTH_CEILING), and what was put must be read. */
#define TEXT_MOST ((size_t)16 << 20)

char *frontier_path(const struct frontier *f, const char *name)
{
    size_t size = strlen(f->dir) + strlen(name) + 2;
    char *path = xmalloc(size);

    snprintf(path, size, "%s/%s", f->dir, name);
    return path;
}

static struct frontier *frontier_alloc(const char *dir,
                                       const struct frontier_options *o)
{
    struct frontier *f = xcalloc(1, sizeof *f);

    f->engine.ops = &frontier_ops;
    f->engine.name = "embedded";
    f->o = *o;
    f->dir = xstrdup(dir);
    f->random.state = o->random_seed;
    if (f->random.state == 0 &&
        getrandom(&f->random.state, sizeof f->random.state, 0) < 0)
        f->random.state = 1;
    f->next_step = FIRST_STEP;
    f->filter_stats_at = UINT64_MAX;
    heap_init(&f->due);
    heap_init(&f->groups_due);
    f->groups = o->group != QUEUE_KEY_HOST ? politeness_groups_new() : NULL;
    f->aside_end = &f->aside;
    f->leases = lease_table_new();
    f->tries = map_new();
    buf_init(&f->text, TEXT_MOST);
    return f;
}

static void replay_row(void *ctx, const struct url_row *row)
{
    struct frontier *f = ctx;

    row_to_exact_set(f->exact, &f->key, f->store, row);
}

static enum status open_parts(struct frontier *f, enum db_mode mode)
{
    char *path = frontier_path(f, "frontier.db");
    unsigned db = f->o.db_share > 0 ? f->o.db_share : 4;
    struct db_options dbo = {.cache_bytes =
                                 share(f, db, 2 * MIB, db * 16 * MIB),
                             .checkpoint_bytes = 16 * MIB};
    unsigned exact = f->o.exact_share > 0 ? f->o.exact_share : 8;
    struct exact_set_options eo = {.page_cache_bytes =
                                       share(f, exact, 1 * MIB, 2048 * MIB)};
    struct frontier_store_options so = {.memory_bytes =
                                            share(f, 8, 1 * MIB, 2048 * MIB)};
    enum status st = db_open(&f->db, path, mode, &dbo);

    free(path);
    if (st == STATUS_OK && mode == DB_CREATE) {
        st = db_begin(f->db);
        f->in_txn = st == STATUS_OK;
    }
    if (st == STATUS_OK)
        st = exact_set_open(&f->exact, f->db, &eo);
    if (st == STATUS_OK)
        st = page_store_open(&f->pages, f->db);
    if (st == STATUS_OK)
        st = page_store_watch_bodies(f->pages, share(f, 1, MIB / 4, 256 * MIB));
    if (st == STATUS_OK)
        st = link_store_open(&f->links, f->db);
    if (st == STATUS_OK)
        st = hint_store_open(&f->hints, f->db);
    if (st == STATUS_OK)
        st = frontier_store_open(&f->store, f->db, &so, 0, NULL, NULL);
    return st;
}

static enum status start_seen(struct frontier *f)
{
    unsigned hot = f->o.hot_share > 0 ? f->o.hot_share : 4;
    enum status st = STATUS_OK;

    if (f->o.use_filter)
        st = frontier_bring_up_filter(f);
    if (st == STATUS_OK)
        st = seen_new(&f->seen, f->filter, f->exact,
                      share(f, hot, 1 * MIB, 1024 * MIB));
    return st;
}

static enum status make_secret(struct frontier *f)
{
    if (getrandom(f->key_seed, sizeof f->key_seed, 0) !=
        (ssize_t)sizeof f->key_seed)
        return STATUS_IO;
    digest_key_init(&f->key, f->key_seed);
    return frontier_store_set_meta(f->store, "digest_seed",
                                   bytes_of(f->key_seed, sizeof f->key_seed));
}

enum status frontier_create(struct engine **out, const char *dir,
                            const struct frontier_options *o, int64_t now,
                            int64_t wall_ms)
{
    struct frontier *f = frontier_alloc(dir, o);
    enum status st = open_parts(f, DB_CREATE);

    if (st == STATUS_OK)
        st = make_secret(f);
    if (st == STATUS_OK)
        st = start_seen(f);
    if (st == STATUS_OK)
        st = frontier_checkpoint_now(&f->engine, "new", false, now, wall_ms);
    if (st != STATUS_OK) {
        f->engine.ops->close(&f->engine);
        return st;
    }
    *out = &f->engine;
    return STATUS_OK;
}

/* ---- an existing crawl ---- */

static enum status read_manifest(struct frontier *f)
{
    char *path = frontier_path(f, "manifest");
    char *db = frontier_path(f, "frontier.db");
    uint64_t size;
    bool have_db = file_size(db, &size) == STATUS_OK;
    enum status st = manifest_load(path, &f->manifest);

    if (st == STATUS_NOT_FOUND && have_db) {
        log_error("the manifest is missing",
                  "path=%s hint=\"`urlweir verify DIR --repair` writes it anew "
                  "from the store\"",
                  path);
        st = STATUS_DAMAGED;
    } else if (st == STATUS_OK && !have_db) {
        log_error("the store is missing",
                  "path=%s manifest_urls=%llu hint=\"put frontier.db back from "
                  "a copy, or start a new crawl in another directory\"",
                  db, (unsigned long long)f->manifest.urls);
        st = STATUS_DAMAGED;
    } else if (st == STATUS_FORMAT) {
        st = STATUS_DAMAGED;
    }
    free(db);
    free(path);
    return st;
}

static enum status read_secret(struct frontier *f)
{
    struct buf seed;
    enum status st;

    buf_init(&seed, DIGEST_SEED_SIZE);
    st = frontier_store_meta(f->store, "digest_seed", &seed);
    if (st == STATUS_OK && seed.len != DIGEST_SEED_SIZE)
        st = STATUS_DAMAGED;
    if (st == STATUS_OK) {
        memcpy(f->key_seed, seed.at, DIGEST_SEED_SIZE);
        digest_key_init(&f->key, f->key_seed);
    } else {
        log_error("the store has no digest seed", "dir=%s", f->dir);
        st = STATUS_DAMAGED;
    }
    buf_fini(&seed);
    return st;
}

/* The store may be ahead of the manifest, never behind it. */
static enum status compare_with_manifest(struct frontier *f)
{
    const struct manifest *m = &f->manifest;
    uint64_t urls = frontier_store_last_id(f->store);
    uint64_t fetches = page_store_last_seq(f->pages);
    struct buf id;
    enum status st;

    buf_init(&id, 64);
    st = frontier_store_meta(f->store, "store_id", &id);
    if (st == STATUS_OK && !bytes_is(buf_bytes(&id), m->store_id)) {
        log_error("store and manifest are of different crawls", "dir=%s",
                  f->dir);
        st = STATUS_DAMAGED;
    }
    buf_fini(&id);
    if (st == STATUS_OK && (urls < m->urls || fetches < m->fetches)) {
        log_error("the store is behind its manifest",
                  "dir=%s urls=%llu manifest_urls=%llu fetches=%llu "
                  "manifest_fetches=%llu hint=\"put frontier.db and "
                  "frontier.db-wal back, or accept the loss with `urlweir "
                  "verify DIR --repair`: what is missing is fetched again\"",
                  f->dir, (unsigned long long)urls, (unsigned long long)m->urls,
                  (unsigned long long)fetches, (unsigned long long)m->fetches);
        st = STATUS_DAMAGED;
    }
    return st;
}

struct restart {
    struct frontier *f;
    int64_t now, wall_ms;
    int64_t later_ms; /* wall_ms, or when the manifest was written */
};

/* The last run wrote its deadlines by its own clock: if that was ahead of ours,
 * what had been left of them is left still. The ceiling helps where the clock
 * was set back behind the last manifest. */
static struct restart restart_of(struct frontier *f, int64_t now,
                                 int64_t wall_ms)
{
    return (struct restart){f, now, wall_ms,
                            clock_later(wall_ms, f->manifest.written_at_ms)};
}

static void take_tries(void *ctx, uint64_t id, uint32_t tries, int64_t due_ms)
{
    struct restart *r = ctx;
    struct tries_entry *t = xcalloc(1, sizeof *t);
    const struct schedule_options *o = &r->f->o.schedule;
    int64_t most = clock_later(o->max_delay, o->retry_delay) / NS_PER_MS * 2;

    if (tries == 0) /* another program put it off */
        most = SCHEDULE_PUT_OFF_MOST_MS;
    t->tries = tries;
    t->due =
        r->now + schedule_left(due_ms, r->later_ms,
                               clock_later(most, SCHEDULE_BACKOFF_MOST_MS));
    free(map_put(r->f->tries, bytes_of(&id, sizeof id), t));
}

static const char by_person[] = "blocked";

static const char *block_reason(const struct queue_state *s)
{
    return strcmp(s->reason, "retry_after") == 0 ? "retry_after"
           : strcmp(s->reason, "back_off") == 0  ? "back_off"
                                                 : by_person;
}

static void take_queue_state(void *ctx, uint32_t queue,
                             const struct queue_state *s)
{
    struct restart *r = ctx;
    struct host_queue *h = frontier_host(r->f, queue);

    const char *why = block_reason(s);
    int64_t left = why == by_person
                       ? schedule_left(s->blocked_until_ms, r->wall_ms,
                                       SCHEDULE_PUT_OFF_MOST_MS)
                       : schedule_left(s->blocked_until_ms, r->later_ms,
                                       SCHEDULE_BACKOFF_MOST_MS);

    h->own_delay =
        s->delay_ms < 0
            ? -1
            : clock_earlier(s->delay_ms, SCHEDULE_PUT_OFF_MOST_MS) * NS_PER_MS;
    h->backoffs = s->backoffs;
    h->counted = s->fetched;
    if (left > 0) {
        h->blocked_until = r->now + left;
        h->why_blocked = why;
    }
}

/* After a clean stop no host was asked later than that. */
static int64_t last_asked(const struct frontier *f, int64_t now,
                          int64_t wall_ms)
{
    int64_t ago_ms = wall_ms - f->manifest.written_at_ms - 1; /* it was cut */

    return f->manifest.clean && ago_ms > 0
               ? now -
                     clock_earlier(ago_ms, SCHEDULE_PUT_OFF_MOST_MS) * NS_PER_MS
               : now;
}

/* Hosts of which something is known, or that have URLs left; the others get
 * their struct, and wait as these do, when a URL of theirs is found. */
static enum status schedule_all(struct frontier *f, int64_t now,
                                int64_t wall_ms)
{
    uint32_t queues = frontier_store_queue_count(f->store);
    enum status st = STATUS_OK;

    if (page_store_last_seq(f->pages) > 0 || !f->manifest.clean) {
        f->queues_before = queues;
        f->asked_before = last_asked(f, now, wall_ms);
    }
    for (uint32_t q = 1; st == STATUS_OK && q <= queues; q++) {
        bool known = q < f->host_room && f->hosts[q] != NULL;

        if (!known && frontier_store_pending(f->store, q) == 0)
            continue;
        if (known && f->queues_before > 0) /* made before that was known */
            frontier_wait_once(f, f->hosts[q]);
        if (known && f->groups != NULL) /* it may hold others back as well */
            st = frontier_recall_place(f, f->hosts[q]);
        frontier_reschedule(f, frontier_host(f, q));
    }
    return st;
}

static void find_next_step(struct frontier *f)
{
    while (f->next_step <= frontier_store_last_id(f->store))
        f->next_step *= 2;
}

static enum status restore(struct frontier *f, int64_t now, int64_t wall_ms)
{
    struct restart r = restart_of(f, now, wall_ms);
    enum status st = read_secret(f);

    if (st == STATUS_OK)
        st = compare_with_manifest(f);
    if (st == STATUS_OK)
        st = exact_set_check_upto(f->exact, frontier_store_last_id(f->store));
    if (st == STATUS_OK)
        st = frontier_store_each(f->store, exact_set_upto(f->exact) + 1,
                                 frontier_store_last_id(f->store), replay_row,
                                 f);
    if (st == STATUS_OK)
        st = start_seen(f);
    if (st == STATUS_OK)
        st = frontier_store_each_tries(f->store, take_tries, &r);
    if (st == STATUS_OK)
        st = frontier_store_each_queue_state(f->store, take_queue_state, &r);
    if (st == STATUS_OK)
        st = external_restore(f, now, r.later_ms);
    if (st == STATUS_OK) {
        f->old_urls = frontier_store_last_id(f->store);
        find_next_step(f);
        st = schedule_all(f, now, wall_ms);
    }
    return st;
}

enum status frontier_open(struct engine **out, const char *dir,
                          const struct frontier_options *o, int64_t now,
                          int64_t wall_ms)
{
    struct frontier *f = frontier_alloc(dir, o);
    enum status st = read_manifest(f);

    if (st == STATUS_OK) {
        f->generation = f->manifest.generation;
        st = open_parts(f, DB_WRITE);
    }
    if (st == STATUS_OK)
        st = restore(f, now, wall_ms);
    if (st != STATUS_OK) {
        f->engine.ops->close(&f->engine);
        return st;
    }
    *out = &f->engine;
    return STATUS_OK;
}
