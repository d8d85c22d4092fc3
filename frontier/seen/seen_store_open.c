/* SPDX-License-Identifier: MIT */
/*
 * seen_store_open.c - a new store, or one found on disk.
 *
 * Opening goes from what is certain to what can be derived: the manifest says
 * what the store must hold at least; the store gives the exact set, whose
 * newest part is replayed from the url rows; the filter file is used if it
 * verifies and is not ahead of the store, and is brought up to date in the same
 * pass over the rows; otherwise the filter is filled from the exact set.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/file/file.h"
#include "base/logger.h"
#include "base/mem.h"
#include "frontier/seen/hot_cache.h"
#include "frontier/seen/row_digest.h"
#include "frontier/seen/seen_store_impl.h"

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

/* Growing by half at a time, it is moved as a whole seldom enough to cost
 * nothing that can be measured. */
void seen_store_fit_hot(struct seen_store *s)
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
