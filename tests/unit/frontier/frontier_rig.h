/*
 * frontier_rig.h - the frontier of a crawl in a directory of its own, with a clock
 * that the test advances and items made from a URL's text. Header only.
 */
#ifndef URLWEIR_TESTS_FRONTIER_ENGINE_RIG_H
#define URLWEIR_TESTS_FRONTIER_ENGINE_RIG_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "crawler/html/links.h"
#include "frontier/audit/audit.h"
#include "frontier/crawl/frontier_impl.h"
#include "frontier/crawl/frontier_open.h"
#include "frontier/reader.h"
#include "storage/rows/served_log.h"
#include "tests/unit/storage/scratch.h"
#include "tests/unit/unit.h"

#define RIG_WALL INT64_C(1700000000000)

struct rig {
    struct scratch at;
    struct frontier_options o;
    struct frontier *e;
    int64_t now;
};

/* The caller may change options before rig_create. */
static inline void rig_init(struct rig *r)
{
    *r = (struct rig){.at = scratch_make(), .now = NS_PER_S};
    r->o = (struct frontier_options){
        .crawl = bytes_of_str(CRAWL_ID),
        .schedule = {.max_delay = NS_PER_S, .retry_delay = NS_PER_MS},
        .tries = 1,
        .conns_per_host = 64,
        .in_flight = 64,
        .commit_least = 32,
        .store = {.use_filter = true,
                  .fpr = 0.01,
                  .memory = (uint64_t)64 << 20},
        .commit_interval = 200 * NS_PER_MS,
        .random_seed = 7,
    };
}

static inline void rig_create(struct rig *r)
{
    ck_ok(frontier_create(&r->e, r->at.dir, &r->o, RIG_WALL));
}

static inline void rig_commit(struct rig *r)
{
    ck_ok(frontier_turn(r->e, true, r->now, RIG_WALL, NULL));
}

/* A wall clock that advances with `now`; where the rig passes RIG_WALL instead,
 * wall time stands still. */
static inline int64_t rig_wall(const struct rig *r)
{
    return RIG_WALL + r->now / NS_PER_MS;
}

static inline void rig_turn(struct rig *r)
{
    ck_ok(frontier_turn(r->e, true, r->now, rig_wall(r), NULL));
}

/* Ends the frontier as kill -9 would. */
static inline void rig_crash(struct rig *r)
{
    frontier_close(r->e);
    ck_ok(frontier_open(&r->e, r->at.dir, &r->o, r->now, rig_wall(r)));
}

static inline struct frontier_counts rig_stats(const struct rig *r)
{
    struct frontier_counts s;

    frontier_get_counts(r->e, &s);
    return s;
}

/* Stops cleanly, so that readers see everything. */
static inline void rig_stop(struct rig *r)
{
    ck_ok(frontier_checkpoint_now(r->e, "finished", true, r->now, RIG_WALL));
    frontier_close(r->e);
    r->e = NULL;
}

/* Opens the frontier again, after rig_crash or rig_stop. */
static inline void rig_reopen(struct rig *r)
{
    if (r->e != NULL)
        frontier_close(r->e);
    ck_ok(frontier_open(&r->e, r->at.dir, &r->o, r->now, RIG_WALL));
}

/* Copies the files of a stopped crawl. */
static inline void rig_copy(const struct scratch *from,
                            const struct scratch *to)
{
    static const char *const names[] = {"frontier.db", "manifest",
                                        "filter.ckpt"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char a[128], b[128];

        snprintf(a, sizeof a, "%s/%s", from->dir, names[i]);
        snprintf(b, sizeof b, "%s/%s", to->dir, names[i]);
        scratch_copy_file(a, b);
    }
}

static inline void rig_fini(struct rig *r)
{
    if (r->e != NULL)
        frontier_close(r->e);
    scratch_remove(&r->at);
}

/* Checks as a reader that store and exact set are sound. Returns how many rows
 * of served URLs they have, with those of removed ones. */
static inline uint64_t rig_verify_dir(const char *dir)
{
    struct reader reader;
    struct audit_options o = {.what_if = NULL};
    struct audit a;
    uint64_t put;

    ck_ok(reader_open(&reader, dir));
    ck_ok(db_verify(reader.db));
    ck_ok(frontier_store_verify(reader.store));
    ck_ok(exact_set_verify(reader.exact));
    ck_ok(served_log_verify(reader.db, &put));
    ck_ok(audit_crawl(&a, &reader, &o));
    ck_assert_uint_eq(a.missing, 0);
    ck_assert_uint_eq(a.false_negatives, 0);
    ck_assert_uint_eq(a.exact_count,
                      frontier_store_last_id(reader.store) - a.replaced);
    audit_fini(&a);
    reader_close(&reader);
    return put;
}

static inline void rig_verify(const struct rig *r)
{
    (void)rig_verify_dir(r->at.dir);
}

/* `url` is "SCHEME://HOST/..."; the caller keeps its text. */
static inline struct url_item rig_item(struct rig *r, const char *url)
{
    const char *host = strstr(url, "://") + 3;
    struct url_item item = {.kind = LINK_A, .depth = 1};

    item.url = bytes_of_str(url);
    item.key = bytes_of(host, strcspn(host, "/"));
    item.digest = digest_url(frontier_get_digest_key(r->e), r->o.crawl,
                             item.key, item.url);
    return item;
}

static inline enum put_answer rig_put(struct rig *r, struct url_item item)
{
    enum put_answer answer;

    ck_ok(frontier_put(r->e, 0, &item, 1, RIG_WALL, &answer));
    return answer;
}

static inline void rig_seed(struct rig *r, const char *url)
{
    struct url_item item = rig_item(r, url);

    item.seed = true;
    item.depth = 0;
    item.kind = LINK_SEED;
    ck_assert_int_eq(rig_put(r, item), PUT_NEW);
}

/* Leases the next URL and returns its id; 0: none is due. */
static inline uint64_t rig_lease(struct rig *r)
{
    struct url_lease l;
    size_t n = 0;

    r->now += NS_PER_S;
    ck_ok(frontier_lease(r->e, 1, r->now, RIG_WALL, &l, &n));
    return n > 0 ? l.id : 0;
}

static inline void rig_ack(struct rig *r, uint64_t id, struct outcome o,
                           const struct url_item *found, size_t n)
{
    struct url_done d = {
        .id = id,
        .outcome = o,
        .row = {.at_ms = RIG_WALL, .links = (uint32_t)n},
        .outlinks = found,
        .outlink_count = n,
        .host = {.ended = r->now, .retry_after_ms = -1},
    };

    ck_ok(frontier_ack(r->e, &d, 1, r->now, RIG_WALL));
}

/* Leases the next URL and reports it as a fetched page with these links. */
static inline uint64_t rig_page(struct rig *r, const struct url_item *found,
                                size_t n)
{
    uint64_t id = rig_lease(r);

    ck_assert_uint_ne(id, 0);
    rig_ack(r, id, (struct outcome){OUTCOME_FETCHED, REASON_NONE, 200}, found,
            n);
    return id;
}

static inline uint64_t rig_counter(struct rig *r, const char *name)
{
    return frontier_store_counter(r->e->store, name);
}

/* Returns the id that a reader finds for a URL; 0: none. */
static inline uint64_t rig_find(struct reader *reader, const char *text)
{
    struct url u;
    uint64_t id = 0;

    url_init(&u);
    ck_assert_int_eq(url_canonical(&u, bytes_of_str(text), NULL, NULL), URL_OK);
    ck_ok(reader_find(reader, &u, &id));
    url_fini(&u);
    return id;
}

#endif
