/* SPDX-License-Identifier: MIT */
/*
 * seen_store_filter.c - makes, loads and restores the filter of a store.
 *
 * A filter in memory comes from DIR/filter.ckpt and is brought up to date from
 * the rows the file does not cover, in the pass that replays what the exact set
 * had in memory; or it is made anew from the exact set. A filter in
 * Redis is kept by the server: the store holds a mark, written in the very
 * commit that a checkpoint describes, which says up to which URL the filter was
 * whole and in which run of the server. If the mark does not match, the filter
 * is filled again from the exact set while the crawl goes on, and answers
 * "maybe" until then, so a restart never waits for a server.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/logger.h"
#include "base/mem.h"
#include "filter/checkpoint.h"
#include "filter/redis/redis.h"
#include "frontier/seen/seen_store.h"
#include "storage/db/db.h"

#define MARK "filter_mark" /* meta: covers, a space, the filter's mark */

/* ---- the source of keys ---- */

struct key_batch {
    void (*visit)(void *to, const uint64_t *keys, size_t n);
    void *to;
    uint64_t keys[512];
    size_t n;
};

static void add_to_batch(void *ctx, struct digest digest, uint64_t id)
{
    struct key_batch *b = ctx;

    (void)id;
    b->keys[b->n++] = digest.hi;
    if (b->n == sizeof b->keys / sizeof *b->keys) {
        b->visit(b->to, b->keys, b->n);
        b->n = 0;
    }
}

static enum status keys_of(void *ctx, uint64_t first, uint64_t last,
                           void (*visit)(void *to, const uint64_t *keys,
                                         size_t n),
                           void *to)
{
    struct seen_store *s = ctx;
    struct key_batch b = {.visit = visit, .to = to};
    enum status st = exact_set_each(s->exact, first, last, add_to_batch, &b);

    if (st == STATUS_OK && b.n > 0)
        visit(to, b.keys, b.n);
    return st;
}

static struct filter_source source_of(struct seen_store *s)
{
    return (struct filter_source){keys_of, s};
}

/* ---- which filter ---- */

static const struct filter_traits *traits_wanted(const struct seen_store *s)
{
    const char *kind = s->o.filter_kind;

    return filter_kind_named(kind != NULL ? kind : "scalable");
}

/* Least size of the first layer, for kinds that are never rebuilt. */
#define FIRST_LAYER UINT64_C(16384)

/* Kinds that cannot grow are made for --expect, the others for the URLs that
 * exist. A kind that grows without keys keeps its first layers for good, and
 * half of the promised rate belongs to the first one: with a layer of a few
 * keys, chance alone broke the promise in one crawl of thirty. With FIRST_LAYER
 * keys the rate is 1 % off at most, and it costs 40 KB. */
static uint64_t keys_wanted(struct seen_store *s, const struct filter_traits *t)
{
    uint64_t there = frontier_store_last_id(s->store) + 1;

    if (!t->grows && s->o.expect > 0)
        return s->o.expect;
    return t->grows && !t->needs_keys && there < FIRST_LAYER ? FIRST_LAYER
                                                             : there;
}

static struct filter_options filter_wanted(struct seen_store *s)
{
    const struct filter_traits *t = traits_wanted(s);

    return (struct filter_options){.kind = t->name,
                                   .expect = keys_wanted(s, t),
                                   .fpr = s->o.fpr,
                                   .most_bytes = s->o.memory / 4,
                                   .source = source_of(s),
                                   .redis = s->o.redis};
}

/* Is the filter in the file the one that the settings ask for? */
static bool is_wanted(const struct seen_store *s, const struct filter *filter)
{
    const struct filter_options *has = filter_options(filter);
    const struct filter_traits *t = traits_wanted(s);

    return has->fpr == s->o.fpr && strcmp(has->kind, t->name) == 0 &&
           (t->grows || s->o.expect == 0 || has->expect == s->o.expect);
}

/* ---- keys from rows and from the exact set ---- */

struct filter_feed {
    struct seen_store *s;
    enum status st;
    uint64_t keys[512];
    size_t n;
};

static void flush_feed(struct filter_feed *feed)
{
    if (feed->n > 0 && feed->st == STATUS_OK)
        feed->st =
            filter_add_lenient(feed->s->filter, feed->keys, feed->n, NULL);
    feed->n = 0;
}

static void feed_digest(void *ctx, struct digest digest, uint64_t id)
{
    struct filter_feed *feed = ctx;

    (void)id;
    feed->keys[feed->n++] = digest.hi;
    if (feed->n == sizeof feed->keys / sizeof *feed->keys)
        flush_feed(feed);
}

/* ---- the newest rows ---- */

#define REPLAYED 256
#define AHEAD    8 /* digests for which memory is fetched */

struct replay {
    struct filter_feed feed;
    uint64_t exact_upto; /* the exact set has the rows up to this one */
    uint64_t covers;     /* the filter has */
    bool damaged;        /* the filter may lack any that the exact set lacked */
    size_t n;
    struct replayed {
        struct digest digest;
        uint64_t id;
        bool replaces;
    } rows[REPLAYED];
};

static bool filter_lacks(const struct replay *r, const struct replayed *row)
{
    return row->id > r->covers ||
           (r->damaged && !filter_check_one(r->feed.s->filter, row->digest.hi));
}

/* The exact set comes first: a filter segment is rebuilt from its keys. */
static void flush_rows(struct replay *r)
{
    for (size_t i = 0; i < r->n; i++) {
        if (i + AHEAD < r->n)
            exact_set_prefetch(r->feed.s->exact, r->rows[i + AHEAD].digest);
        if (r->rows[i].id > r->exact_upto)
            row_to_exact_set(r->feed.s->exact, r->rows[i].digest, r->rows[i].id,
                             r->rows[i].replaces);
    }
    for (size_t i = 0; i < r->n; i++) {
        if (filter_lacks(r, &r->rows[i]))
            feed_digest(&r->feed, r->rows[i].digest, r->rows[i].id);
    }
    r->n = 0;
}

static void replay_row(void *ctx, const struct url_row *row)
{
    struct replay *r = ctx;
    struct seen_store *s = r->feed.s;

    r->rows[r->n++] = (struct replayed){row_digest(&s->key, s->store, row),
                                        row->id, row_replaces(row)};
    if (r->n == REPLAYED)
        flush_rows(r);
}

/* Adds the rows after `covers` to the filter, and to the exact set those that
 * it had in memory only, in one pass: the digest of a row costs more than to
 * add it. Units of the filter that were `damaged` were filled from an exact set
 * that lacked these rows. */
static enum status replay(struct seen_store *s, uint64_t covers, bool damaged)
{
    struct replay r = {.feed = {.s = s},
                       .exact_upto = exact_set_upto(s->exact),
                       .covers = covers,
                       .damaged = damaged};
    uint64_t before = covers < r.exact_upto ? covers : r.exact_upto;
    uint64_t last = frontier_store_last_id(s->store);
    enum status st = STATUS_OK;

    if (before < last)
        st = frontier_store_each(s->store, before + 1, last, replay_row, &r);
    flush_rows(&r);
    flush_feed(&r.feed);
    return st == STATUS_OK ? r.feed.st : st;
}

/* ---- from its file ---- */

/* Returns in *damaged whether units were made from the exact set. */
static enum status load_filter(struct seen_store *s, uint64_t *covers,
                               bool *damaged)
{
    char *path = seen_store_path(s, "filter.ckpt");
    uint64_t last = frontier_store_last_id(s->store);
    struct filter_source source = source_of(s);
    struct checkpoint_info info;
    enum status st =
        checkpoint_load(&s->filter, path, checkpoint_seed_print(&s->key),
                        &source, s->o.memory / 4, &info);

    if (st == STATUS_OK &&
        (info.id.covers > last || info.id.generation > s->generation + 1)) {
        /* The store has lost its newest rows since. Ids that the file covers
         * will be given to other URLs, which would then be missing from it.
         * Remove it at once, since the next start may no longer notice. */
        log_warn("the filter file runs ahead of the store",
                 "path=%s covers=%llu urls=%llu", path,
                 (unsigned long long)info.id.covers, (unsigned long long)last);
        (void)unlink(path);
        st = STATUS_DAMAGED;
    } else if (st == STATUS_OK && !is_wanted(s, s->filter)) {
        st = STATUS_ARG; /* other settings: make it anew, no damage */
    }
    if (st == STATUS_OK) {
        *covers = info.id.covers;
        *damaged = info.damaged > 0;
    } else if (s->filter != NULL) {
        filter_free(s->filter);
        s->filter = NULL;
    }
    if (st != STATUS_OK && st != STATUS_ARG && last > 0)
        log_warn("rebuilding the filter from the store", "path=%s urls=%llu",
                 path, (unsigned long long)last);
    free(path);
    return st;
}

static enum status make_filter(struct seen_store *s)
{
    struct filter_options wanted = filter_wanted(s);
    struct filter_feed feed = {.s = s};
    enum status st = filter_new(&s->filter, &wanted);

    if (st == STATUS_OK && frontier_store_last_id(s->store) > 0)
        st = exact_set_each(s->exact, 0, UINT64_MAX, feed_digest, &feed);
    flush_feed(&feed);
    return st == STATUS_OK ? feed.st : st;
}

/* ---- in Redis ---- */

/* Reads "COVERS MARK". STATUS_NOT_FOUND: there is no mark, or the store has
 * lost rows since. */
static enum status read_mark(struct seen_store *s, struct buf *text,
                             uint64_t *covers, struct bytes *mark)
{
    enum status st = frontier_store_meta(s->store, MARK, text);
    char *end;

    if (st != STATUS_OK)
        return st;
    *covers = strtoull(buf_str(text), &end, 10);
    if (*end != ' ' || *covers > frontier_store_last_id(s->store))
        return STATUS_NOT_FOUND;
    *mark = bytes_of(end + 1, text->len - (size_t)(end + 1 - text->at));
    return STATUS_OK;
}

/* A filter that is not trusted is filled from the exact set later. */
static enum status open_remote(struct seen_store *s)
{
    struct filter_options wanted = filter_wanted(s);
    struct bytes mark;
    struct buf text;
    uint64_t covers = 0, last = frontier_store_last_id(s->store);
    enum status st = filter_new(&s->filter, &wanted);

    if (st != STATUS_OK)
        return st;
    buf_init(&text, 1024);
    st = read_mark(s, &text, &covers, &mark);
    if (st == STATUS_OK && !redis_filter_trust(s->filter, mark))
        st = STATUS_NOT_FOUND;
    buf_fini(&text);
    if (st == STATUS_OK || st == STATUS_NOT_FOUND)
        st = replay(s, st == STATUS_OK ? covers : last, false);
    return st;
}

/* Keeps the counter at 0 or 1. */
static void note_overfull(struct seen_store *s)
{
    uint64_t was = frontier_store_counter(s->store, "filter_overfull");
    struct filter_stats now;

    filter_stats(s->filter, &now);
    if (now.overfull != (was != 0))
        frontier_store_add(s->store, "filter_overfull",
                           now.overfull ? 1 : 0 - was);
}

enum status seen_store_mark_filter(struct seen_store *s)
{
    struct buf text;
    enum status st;

    if (s->filter == NULL)
        return STATUS_OK;
    note_overfull(s);
    if (!s->filter_is_remote)
        return STATUS_OK;
    buf_init(&text, 1024);
    buf_addf(&text, "%llu ",
             (unsigned long long)frontier_store_last_id(s->store));
    if (!redis_filter_mark(s->filter, &text))
        buf_clear(&text);
    st = frontier_store_set_meta(s->store, MARK, buf_bytes(&text));
    buf_fini(&text);
    return st;
}

enum status seen_store_bring_up(struct seen_store *s)
{
    uint64_t covers = 0, last = frontier_store_last_id(s->store);
    bool damaged = false;
    enum status st;

    if (!s->o.use_filter)
        return replay(s, last, false);
    s->filter_is_remote = traits_wanted(s)->remote;
    if (s->filter_is_remote)
        return open_remote(s);
    if (load_filter(s, &covers, &damaged) == STATUS_OK) {
        s->saved_upto = covers;
        return replay(s, covers, damaged);
    }
    st = replay(s, last, false);
    return st == STATUS_OK ? make_filter(s) : st;
}

/* ---- the exact set of a crawl made anew from its rows ---- */

#define STEP 10000 /* rows in one transaction */

struct reindex {
    struct db *db;
    struct exact_set *exact;
    struct frontier_store *store;
    struct digest_key key;
};

static void put_row(void *ctx, const struct url_row *row)
{
    struct reindex *r = ctx;

    row_to_exact_set(r->exact, row_digest(&r->key, r->store, row), row->id,
                     row_replaces(row));
}

static enum status open_parts(struct reindex *r, const char *dir,
                              uint64_t memory)
{
    struct db_options dbo = {.cache_bytes = memory / 7, .forget_derived = true};
    struct exact_set_options eo = {.block_cache_bytes = memory / 7};
    struct frontier_store_options so = {.memory_bytes = memory / 7 * 4};
    size_t size = strlen(dir) + sizeof "/frontier.db";
    char *path = xmalloc(size);
    enum status st;

    snprintf(path, size, "%s/frontier.db", dir);
    st = db_open(&r->db, path, DB_WRITE, &dbo);
    free(path);
    if (st == STATUS_OK)
        st = exact_set_open(&r->exact, r->db, &eo);
    if (st == STATUS_OK)
        st = frontier_store_open(&r->store, r->db, &so, 0, NULL, NULL);
    if (st == STATUS_OK)
        st = row_digest_read_key(&r->key, r->store, dir);
    return st;
}

static enum status put_rows(struct reindex *r, uint64_t first, uint64_t last)
{
    enum status st = db_begin(r->db);

    if (st == STATUS_OK)
        st = frontier_store_each(r->store, first, last, put_row, r);
    if (st == STATUS_OK)
        st = exact_set_step(r->exact, last - first + 1);
    return st == STATUS_OK ? db_commit(r->db) : st;
}

enum status reindex(const char *dir, uint64_t memory, uint64_t *urls)
{
    struct reindex r = {0};
    enum status st = open_parts(&r, dir, memory);
    uint64_t last = st == STATUS_OK ? frontier_store_last_id(r.store) : 0;

    for (uint64_t id = 1; st == STATUS_OK && id <= last; id += STEP)
        st = put_rows(&r, id, last - id < STEP ? last : id + STEP - 1);
    *urls = last;
    frontier_store_close(r.store);
    exact_set_close(r.exact);
    db_close(r.db);
    return st;
}
