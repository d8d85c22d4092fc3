/*
 * service_rig.h - a frontier service in a directory of its own, a clock that
 * the test advances, and calls that wait for their answers. Header only.
 */
#ifndef URLWEIR_TESTS_SERVICE_SERVICE_RIG_H
#define URLWEIR_TESTS_SERVICE_SERVICE_RIG_H

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "service/calls/frontier_service.h"
#include "tests/unit/storage/scratch.h"

#define RIG_NOW INT64_C(1700000000000)

struct service_rig {
    struct scratch at;
    struct frontier_service_options o;
    struct frontier_service *s;
    _Atomic int64_t now;
    atomic_bool held; /* the frontier thread executes no calls */
    pthread_mutex_t mtx;
    pthread_cond_t told;
    unsigned rooms; /* times `room` was called */
};

/* Set by the frontier thread. */
struct service_wait {
    struct service_rig *r;
    bool done;
};

/* The frontier thread asks this before it executes waiting calls. */
static inline int64_t service_clock(void *ctx)
{
    struct service_rig *r = ctx;

    while (atomic_load(&r->held))
        usleep(1000);
    return atomic_load(&r->now);
}

static inline void service_room(void *ctx)
{
    struct service_rig *r = ctx;

    pthread_mutex_lock(&r->mtx);
    r->rooms++;
    pthread_cond_broadcast(&r->told);
    pthread_mutex_unlock(&r->mtx);
}

static inline unsigned service_rooms(struct service_rig *r)
{
    unsigned n;

    pthread_mutex_lock(&r->mtx);
    n = r->rooms;
    pthread_mutex_unlock(&r->mtx);
    return n;
}

static inline void service_open(struct service_rig *r)
{
    ck_ok(frontier_service_open(&r->s, &r->o));
}

/* The caller may change options before service_open. */
static inline void service_init(struct service_rig *r)
{
    *r = (struct service_rig){.at = scratch_make(), .now = RIG_NOW};
    pthread_mutex_init(&r->mtx, NULL);
    pthread_cond_init(&r->told, NULL);
    r->o = (struct frontier_service_options){
        .dir = r->at.dir,
        .memory = (uint64_t)16 << 20,
        .node = bytes_of_str("127.0.0.1:7071"),
        .wall_ms = service_clock,
        .wall_ctx = r,
        .room = service_room,
        .room_ctx = r,
    };
}

static inline void service_make(struct service_rig *r)
{
    service_init(r);
    service_open(r);
}

static inline void service_restart(struct service_rig *r)
{
    ck_ok(frontier_service_close(r->s));
    service_open(r);
}

static inline void service_fini(struct service_rig *r)
{
    ck_ok(frontier_service_close(r->s));
    scratch_remove(&r->at);
}

static inline void service_told(struct frontier_call *call)
{
    struct service_wait *w = call->ctx;

    pthread_mutex_lock(&w->r->mtx);
    w->done = true;
    pthread_cond_broadcast(&w->r->told);
    pthread_mutex_unlock(&w->r->mtx);
}

static inline void service_wait_for(struct service_wait *w)
{
    pthread_mutex_lock(&w->r->mtx);
    while (!w->done)
        pthread_cond_wait(&w->r->told, &w->r->mtx);
    pthread_mutex_unlock(&w->r->mtx);
}

/* Submits the call and waits; the caller then ends it with
 * frontier_call_fini. */
static inline void service_call(struct service_rig *r,
                                struct frontier_call *call)
{
    struct service_wait w = {.r = r};

    call->done = service_told;
    call->ctx = &w;
    ck_ok(frontier_service_submit(r->s, call));
    service_wait_for(&w);
}

static inline struct frontier_call service_new(enum frontier_verb verb)
{
    struct frontier_call call;

    frontier_call_init(&call, verb, service_told, NULL);
    return call;
}

static inline struct bytes text(const char *s)
{
    return bytes_of_str(s);
}

/* ---- calls that most tests make ---- */

static inline enum frontier_ack put_item(struct service_rig *r,
                                         struct frontier_item item)
{
    struct frontier_call call = service_new(FRONTIER_PUT);

    call.in.put = (struct frontier_put){&item, 1};
    service_call(r, &call);
    frontier_call_fini(&call);
    return item.ack;
}

static inline enum frontier_ack discover(struct service_rig *r,
                                         const char *crawl, const char *key,
                                         const char *url)
{
    return put_item(r, (struct frontier_item){.kind = FRONTIER_ITEM_DISCOVERED,
                                              .crawl = text(crawl),
                                              .key = text(key),
                                              .url = text(url)});
}

static inline enum frontier_ack know(struct service_rig *r, const char *crawl,
                                     const char *key, const char *url,
                                     uint64_t refetch_s)
{
    return put_item(r, (struct frontier_item){.kind = FRONTIER_ITEM_KNOWN,
                                              .crawl = text(crawl),
                                              .key = text(key),
                                              .url = text(url),
                                              .refetch_s = refetch_s});
}

/* Returns the leased URLs, separated by blanks, in a static buffer. `crawl`
 * NULL: any. */
static inline const char *get_urls(struct service_rig *r, const char *crawl,
                                   const char *key, uint32_t urls,
                                   uint32_t queues, uint32_t hold_s)
{
    static char out[4096];
    struct frontier_call call = service_new(FRONTIER_GET);

    out[0] = '\0';
    call.in.crawl = text(crawl != NULL ? crawl : "");
    call.in.key = text(key);
    call.in.get = (struct frontier_get){.any_crawl = crawl == NULL,
                                        .max_urls_per_queue = urls,
                                        .max_queues = queues,
                                        .delay_requestable_s = hold_s};
    do {
        service_call(r, &call);
        ck_ok(call.status);
        for (size_t i = 0; i < call.url_count; i++) {
            size_t len = strlen(out);

            snprintf(out + len, sizeof out - len, "%s%.*s", len > 0 ? " " : "",
                     (int)call.urls[i].url.len, call.urls[i].url.at);
        }
    } while (call.more);
    frontier_call_fini(&call);
    return out;
}

static inline struct url_counts get_counts(struct service_rig *r,
                                           const char *crawl, const char *key)
{
    struct frontier_call call = service_new(FRONTIER_STATS);

    call.in.crawl = text(crawl);
    call.in.key = text(key);
    service_call(r, &call);
    ck_ok(call.status);
    frontier_call_fini(&call);
    return call.counts;
}

/* Performs a queue or crawl verb; sets *number unless it is NULL. */
static inline enum status control(struct service_rig *r,
                                  enum frontier_verb verb, const char *crawl,
                                  const char *key, uint64_t value,
                                  uint64_t *number)
{
    struct frontier_call call = service_new(verb);

    call.in.crawl = text(crawl);
    call.in.key = text(key);
    if (verb == FRONTIER_PURGE_URLS)
        call.in.days = (uint32_t)value;
    else if (verb == FRONTIER_SET_ACTIVE)
        call.in.active = value != 0;
    else
        call.in.setting.value = value;
    service_call(r, &call);
    frontier_call_fini(&call);
    if (number != NULL)
        *number = call.number;
    return call.status;
}

static inline void pass(struct service_rig *r, int64_t ms)
{
    atomic_fetch_add(&r->now, ms);
}

#endif
