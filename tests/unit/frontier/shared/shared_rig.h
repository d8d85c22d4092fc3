/*
 * shared_rig.h - a shared frontier in a real redis-server, as several processes
 * see it: each has its own connection. Header only.
 */
#ifndef URLWEIR_TESTS_FRONTIER_SHARED_SHARED_RIG_H
#define URLWEIR_TESTS_FRONTIER_SHARED_SHARED_RIG_H

#include "base/clock.h"
#include "frontier/shared/shared_impl.h"
#include "tests/unit/filter/redis/redis_rig.h"
#include "tests/unit/unit.h"

/* One process. */
struct rig {
    struct shared *s;
    struct shared_hand *h;
};

static inline struct rig rig_open(unsigned shards)
{
    struct redis_address a = redis_server_place(&server, "").at;
    const struct shared_options o = {.servers = &a,
                                     .server_count = 1,
                                     .name = "front",
                                     .shards = shards};
    struct rig r = {NULL, NULL};
    struct buf error;

    buf_init(&error, 4096);
    ck_assert_msg(shared_open(&r.s, &o, &error) == STATUS_OK, "%s",
                  buf_str(&error));
    buf_fini(&error);
    r.h = shared_hand_new(r.s);
    return r;
}

static inline void rig_close(struct rig *r)
{
    shared_hand_free(r->h);
    shared_close(r->s);
}

static inline struct bytes text(const char *s)
{
    return bytes_of_str(s);
}

/* Puts one URL; did it have an effect? `due` < 0: discovered. */
static inline bool rig_put(struct rig *r, const char *key, const char *url,
                           int64_t due, const char *metadata)
{
    struct url_put p = {.known = due >= 0,
                        .crawl = text("c"),
                        .key = text(key),
                        .url = text(url),
                        .metadata = text(metadata),
                        .due_ms = due >= 0 ? due : 0};

    shared_put(r->h, &p, 1);
    ck_ok(p.status);
    return p.fresh;
}

#define RIG_URLS 1000
struct rig_urls {
    size_t n;
    struct {
        char key[24], url[24], metadata[24];
        uint64_t lease;
        int64_t due_ms;
    } u[RIG_URLS];
};

static inline void rig_copy(char *to, size_t size, struct bytes b)
{
    snprintf(to, size, "%.*s", (int)b.len, b.len > 0 ? b.at : "");
}

static inline bool rig_visit(void *ctx, const struct url_view *v)
{
    struct rig_urls *to = ctx;

    ck_assert_uint_lt(to->n, RIG_URLS);
    rig_copy(to->u[to->n].key, 24, v->key);
    rig_copy(to->u[to->n].url, 24, v->url);
    rig_copy(to->u[to->n].metadata, 24, v->metadata);
    to->u[to->n].lease = v->lease;
    to->u[to->n++].due_ms = v->due_ms;
    return to->n < RIG_URLS;
}

struct rig_get {
    unsigned urls, queues;
    const char *key; /* NULL: any */
    int64_t lease_ms;
    size_t room; /* of a part; 0: all at once */
};

/* Part after part, to the end. */
static inline struct rig_urls rig_get(struct rig *r, struct rig_get g)
{
    struct rig_urls to = {.n = 0};
    struct url_ask a = {.crawl = text("c"),
                        .one_queue = g.key != NULL,
                        .key = text(g.key != NULL ? g.key : ""),
                        .most_urls = g.urls,
                        .most_queues = g.queues,
                        .lease_ms = g.lease_ms > 0 ? g.lease_ms : 600000};
    bool more;

    do {
        ck_ok(shared_get(r->h, &a, g.room > 0 ? g.room : RIG_URLS,
                         (size_t)1 << 20, rig_visit, &to, &more));
    } while (more);
    return to;
}

static inline struct url_counts rig_counts(struct rig *r, const char *key)
{
    struct url_counts c;

    ck_ok(shared_counts(r->h, text("c"), text(key), &c));
    return c;
}

static inline void rig_set(struct rig *r, const char *key,
                           enum shared_setting what, int64_t value)
{
    ck_ok(shared_set(r->h, text("c"), text(key), what, value));
}

#endif
