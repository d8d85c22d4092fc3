/* SPDX-License-Identifier: MIT */
/*
 * shared_call.c - one call: its keys and arguments; several side by side.
 *
 * A script that begins with shared_queues (shared_parts.h) gets
 *
 *   KEYS  p m n q r l t, of each crawl c k e g, of each queue u w h
 *   ARGV  number of the call, crawls, queues, each crawl, of each queue the
 *         number of its crawl and its key, then its own
 *
 * so every key that it touches is declared, and a put and a claim can have many
 * queues. Crawls and queues come to be known one by one while a call is filled,
 * so keys and arguments are put together last.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/thread/cond.h"
#include "frontier/shared/shared_impl.h"

#define MEMORY_MOST ((size_t)12 << 20) /* octets of keys and copies of a call */

struct words {
    struct bytes *at;
    size_t n, room;
};

struct queue_of_call {
    size_t crawl; /* from 1 */
    struct bytes key;
};

struct shared_call {
    struct shared_call *next;
    struct shared_round *round;
    const struct redis_script *script;
    unsigned shard;
    size_t index, octets;
    struct arena *memory;
    struct words keys, args, crawls;
    struct queue_of_call *queues;
    size_t queue_count, queue_room;
    bool durable;
    uint64_t number; /* 0: its answer is not kept */
    bool has_queues;
};

struct shared_round {
    struct shared *s;
    struct shared_hand *h;
    shared_take *take;
    void *ctx;
    struct shared_call *first, **last;
    size_t count;

    pthread_mutex_t mtx; /* guards the fields below */
    pthread_cond_t ended;
    size_t unsent, left;
    bool left_alone; /* nobody waits any more */
};

/* ---- rounds ---- */

struct shared_round *shared_round_new(struct shared_hand *h, shared_take *take,
                                      void *ctx)
{
    struct shared_round *r = xcalloc(1, sizeof *r);

    r->s = h->s;
    r->h = h;
    r->take = take;
    r->ctx = ctx;
    r->last = &r->first;
    pthread_mutex_init(&r->mtx, NULL);
    cond_init(&r->ended);
    return r;
}

static void round_free(struct shared_round *r)
{
    pthread_cond_destroy(&r->ended);
    pthread_mutex_destroy(&r->mtx);
    free(r);
}

static void call_free(struct shared_call *c)
{
    arena_free(c->memory);
    free(c->keys.at);
    free(c->args.at);
    free(c->crawls.at);
    free(c->queues);
    free(c);
}

size_t shared_round_run(struct shared_round *r, int64_t patience)
{
    int64_t now = clock_mono(),
            until = patience < INT64_MAX - now ? now + patience : INT64_MAX;
    size_t late;

    r->unsent = r->left = r->count;
    if (r->count == 0) {
        round_free(r);
        return 0;
    }
    shared_post(r->s, r->first);
    pthread_mutex_lock(&r->mtx);
    while (r->left > 0 && (r->unsent > 0 || clock_mono() < until))
        (void)cond_wait_until(&r->ended, &r->mtx,
                              until < INT64_MAX ? until
                                                : now + 3600 * NS_PER_S);
    late = r->left;
    r->left_alone = late > 0;
    pthread_mutex_unlock(&r->mtx);
    if (late == 0)
        round_free(r);
    return late;
}

/* What servers refuse is their failure, whatever it is called: callers take
 * these statuses for answers. */
static enum status failure_of(enum status st)
{
    return st == STATUS_ARG || st == STATUS_NOT_FOUND || st == STATUS_LIMIT ||
                   st == STATUS_REFUSED
               ? STATUS_IO
               : st;
}

static void call_came(void *ctx, enum status st, const redisReply *reply)
{
    struct shared_call *c = ctx;
    struct shared_round *r = c->round;
    bool last;

    pthread_mutex_lock(&r->mtx);
    if (!r->left_alone)
        r->take(r->ctx, c->index, failure_of(st), reply);
    last = --r->left == 0;
    if (last && !r->left_alone)
        pthread_cond_signal(&r->ended);
    last = last && r->left_alone;
    pthread_mutex_unlock(&r->mtx);
    call_free(c);
    if (last)
        round_free(r);
}

/* ---- filling a call ---- */

struct shared_call *shared_call_new(struct shared_round *r, unsigned shard,
                                    enum shared_script_number script,
                                    size_t index)
{
    struct shared_call *c = xcalloc(1, sizeof *c);

    c->round = r;
    c->script = shared_script(script);
    c->shard = shard;
    c->index = index;
    c->memory = arena_new(MEMORY_MOST);
    *r->last = c;
    r->last = &c->next;
    r->count++;
    return c;
}

static void words_add(struct words *w, struct bytes word)
{
    if (w->n == w->room) {
        w->room = w->room == 0 ? 16 : 2 * w->room;
        w->at = xrealloc(w->at, w->room * sizeof *w->at);
    }
    w->at[w->n++] = word;
}

/* Names and the parts of a put are bounded, so that this fits. */
static struct bytes copy(struct shared_call *c, struct bytes b)
{
    char *at = arena_try_copy(c->memory, b.at, b.len);

    assert(at != NULL);
    return bytes_of(at, b.len);
}

static void add_key(struct shared_call *c, const char *kind, struct bytes rest)
{
    struct buf b;

    buf_init(&b, SHARED_ID_MOST + 256);
    buf_addf(&b, "{%s:%x}%s", c->round->s->name, c->shard, kind);
    buf_add_bytes(&b, rest);
    words_add(&c->keys, copy(c, buf_bytes(&b)));
    c->octets += b.len;
    buf_fini(&b);
}

void shared_call_key(struct shared_call *c, const char *kind, struct bytes rest)
{
    add_key(c, kind, rest);
}

void shared_call_arg(struct shared_call *c, struct bytes arg)
{
    words_add(&c->args, arg);
    c->octets += arg.len + 16;
}

void shared_call_copy(struct shared_call *c, struct bytes arg)
{
    shared_call_arg(c, copy(c, arg));
}

void shared_call_number(struct shared_call *c, int64_t n)
{
    char text[24];

    shared_call_copy(c, bytes_of(text, (size_t)snprintf(text, sizeof text,
                                                        "%lld", (long long)n)));
}

static size_t crawl_of(struct shared_call *c, struct bytes crawl)
{
    for (size_t i = 0; i < c->crawls.n; i++)
        if (bytes_equal(c->crawls.at[i], crawl))
            return i + 1;
    words_add(&c->crawls, crawl);
    c->octets += 5 * crawl.len + 64;
    return c->crawls.n;
}

void shared_call_crawl(struct shared_call *c, struct bytes crawl)
{
    c->has_queues = true;
    (void)crawl_of(c, crawl);
}

size_t shared_call_queue(struct shared_call *c, struct bytes crawl,
                         struct bytes key)
{
    size_t number = crawl_of(c, crawl);

    c->has_queues = true;
    for (size_t i = c->queue_count; i > 0; i--)
        if (c->queues[i - 1].crawl == number &&
            bytes_equal(c->queues[i - 1].key, key))
            return i;
    if (c->queue_count == c->queue_room) {
        c->queue_room = c->queue_room == 0 ? 8 : 2 * c->queue_room;
        c->queues = xrealloc(c->queues, c->queue_room * sizeof *c->queues);
    }
    c->queues[c->queue_count++] = (struct queue_of_call){number, key};
    c->octets += 3 * (crawl.len + key.len) + 64;
    return c->queue_count;
}

size_t shared_call_octets(const struct shared_call *c)
{
    return c->octets;
}

size_t shared_call_queues(const struct shared_call *c)
{
    return c->queue_count;
}

void shared_call_changes(struct shared_call *c, bool keep)
{
    c->durable = true;
    if (keep)
        c->number = ++c->round->h->calls;
}

/* ---- sending ---- */

static void add_crawl_keys(struct shared_call *c)
{
    for (size_t i = 0; i < c->crawls.n; i++) {
        add_key(c, "c:", c->crawls.at[i]);
        add_key(c, "k:", c->crawls.at[i]);
        add_key(c, "e:", c->crawls.at[i]);
        add_key(c, "g:", c->crawls.at[i]);
    }
}

static void add_queue_keys(struct shared_call *c, struct buf *id)
{
    for (size_t i = 0; i < c->queue_count; i++) {
        const struct queue_of_call *q = &c->queues[i];

        buf_clear(id);
        shared_id_write(id, c->crawls.at[q->crawl - 1], q->key);
        add_key(c, "u:", buf_bytes(id));
        add_key(c, "w:", buf_bytes(id));
        add_key(c, "h:", buf_bytes(id));
    }
}

/* Puts what shared_queues expects before the script's own arguments. */
static void finish_queues(struct shared_call *c)
{
    struct words own = c->args;
    struct buf b;

    c->args = (struct words){NULL, 0, 0};
    buf_init(&b, SHARED_ID_MOST + 256);
    buf_addf(&b, "%s:%u", c->round->s->process, c->round->h->number);
    add_key(c, "p:", buf_bytes(&b));
    for (const char *kind = "mnqrlt"; *kind != '\0'; kind++)
        add_key(c, (const char[2]){*kind, '\0'}, bytes_of("", 0));
    add_crawl_keys(c);
    add_queue_keys(c, &b);
    buf_fini(&b);
    shared_call_number(c, (int64_t)c->number);
    shared_call_number(c, (int64_t)c->crawls.n);
    shared_call_number(c, (int64_t)c->queue_count);
    for (size_t i = 0; i < c->crawls.n; i++)
        words_add(&c->args, c->crawls.at[i]);
    for (size_t i = 0; i < c->queue_count; i++) {
        shared_call_number(c, (int64_t)c->queues[i].crawl);
        words_add(&c->args, c->queues[i].key);
    }
    for (size_t i = 0; i < own.n; i++)
        words_add(&c->args, own.at[i]);
    free(own.at);
}

void shared_call_send(struct shared_call *c, struct redis_cluster *net)
{
    struct shared_round *r = c->round;
    struct redis_call_spec spec = {.script = c->script,
                                   .slot = r->s->slots[c->shard],
                                   .durable = c->durable,
                                   .end = call_came,
                                   .ctx = c};

    if (c->has_queues)
        finish_queues(c);
    spec.keys = c->keys.at;
    spec.key_count = c->keys.n;
    spec.args = c->args.at;
    spec.arg_count = c->args.n;
    redis_cluster_call(net, &spec);
    pthread_mutex_lock(&r->mtx);
    if (--r->unsent == 0)
        pthread_cond_signal(&r->ended);
    pthread_mutex_unlock(&r->mtx);
}

void shared_call_drop(struct shared_call *c)
{
    struct shared_round *r = c->round;

    pthread_mutex_lock(&r->mtx);
    r->unsent--;
    pthread_mutex_unlock(&r->mtx);
    call_came(c, STATUS_CLOSED, NULL);
}

struct shared_call *shared_call_next(struct shared_call *c)
{
    return c->next;
}

void shared_call_link(struct shared_call *c, struct shared_call *next)
{
    c->next = next;
}

/* ---- replies ---- */

bool shared_is_text(const redisReply *r, size_t i)
{
    return i < r->elements && r->element[i]->type == REDIS_REPLY_STRING;
}

bool shared_is_number(const redisReply *r, size_t i)
{
    return i < r->elements && r->element[i]->type == REDIS_REPLY_INTEGER;
}

struct bytes shared_text(const redisReply *r, size_t i)
{
    return bytes_of(r->element[i]->str, (size_t)r->element[i]->len);
}

void shared_take_one(void *ctx, size_t index, enum status st,
                     const redisReply *r)
{
    struct shared_one *one = ctx;

    (void)index;
    one->st = st;
    if (st != STATUS_OK)
        return;
    if (r->type == REDIS_REPLY_STRING) {
        buf_clear(&one->text);
        buf_add(&one->text, r->str, (size_t)r->len);
        one->number = strtoll(buf_str(&one->text), NULL, 10);
    } else if (r->type == REDIS_REPLY_INTEGER) {
        one->number = r->integer;
    } else if (r->type == REDIS_REPLY_NIL) {
        one->st = STATUS_NOT_FOUND;
    } else {
        one->st = STATUS_FORMAT;
    }
}
