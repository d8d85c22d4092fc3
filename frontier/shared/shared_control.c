/* SPDX-License-Identifier: MIT */
/*
 * shared_control.c - removal, purge, settings.
 *
 * What is larger than a script should be is done in steps: queues some dozens
 * at a time, a queue's URLs some hundreds. A step that was answered stays done
 * if a later one fails.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "frontier/shared/shared_impl.h"

#define QUEUES 32  /* removed at a time, of each shard */
#define PLACED 500 /* placed by one call (shared_parts.c) */

/* ---- one queue ---- */

/* Runs a call that answers a number. */
static enum status run_one(struct shared_round *r, struct shared_one *one)
{
    (void)shared_round_run(r, INT64_MAX);
    return one->st;
}

static void one_init(struct shared_one *one)
{
    *one = (struct shared_one){.st = STATUS_CLOSED};
    buf_init(&one->text, 4096);
}

enum status shared_set(struct shared_hand *h, struct bytes crawl,
                       struct bytes key, enum shared_setting what,
                       int64_t value)
{
    static const char *const names[] = {[SHARED_BLOCKED] = "blocked",
                                        [SHARED_DELAY] = "delay",
                                        [SHARED_LIMIT] = "limit"};
    struct shared_one one;
    struct shared_round *r;
    struct shared_call *c;
    enum status st;

    one_init(&one);
    r = shared_round_new(h, shared_take_one, &one);
    c = shared_call_new(r, shared_shard_of(h->s, crawl, key), SHARED_SET, 0);
    shared_call_changes(c, true);
    (void)shared_call_queue(c, crawl, key);
    shared_call_arg(c, bytes_of_str(names[what]));
    shared_call_number(c, value);
    st = run_one(r, &one);
    buf_fini(&one.text);
    return st == STATUS_OK && one.number == 0 ? STATUS_NOT_FOUND : st;
}

enum status shared_remove_queue(struct shared_hand *h, struct bytes crawl,
                                struct bytes key, uint64_t *gone)
{
    struct shared_one one;
    struct shared_round *r;
    struct shared_call *c;
    enum status st;

    one_init(&one);
    r = shared_round_new(h, shared_take_one, &one);
    c = shared_call_new(r, shared_shard_of(h->s, crawl, key), SHARED_REMOVE, 0);
    shared_call_changes(c, true);
    (void)shared_call_queue(c, crawl, key);
    st = run_one(r, &one);
    buf_fini(&one.text);
    *gone = (uint64_t)one.number;
    return st;
}

/* ---- the queues of a crawl ---- */

/* Its queues, by shard. Rounds take the next ones of each shard: a caller whose
 * answers are kept has one call under way at a shard. */
struct queues {
    struct shared_hand *h;
    struct bytes crawl;
    struct buf text; /* the keys, one after the other */
    struct queue_at {
        unsigned shard;
        size_t at, len;
    } * list;
    size_t n, room;
    size_t *next, *end; /* of each shard, in the list */
    /* of a round */
    enum status st;
    uint64_t gone;
    /* of a purge */
    char (*cursor)[24]; /* of each shard's queue */
    int64_t before_ms;
};

#define KEYS_MOST ((size_t)4 << 30)

static void queues_add(void *ctx, struct bytes key)
{
    struct queues *q = ctx;

    if (q->n == q->room) {
        q->room = q->room == 0 ? 64 : 2 * q->room;
        q->list = xrealloc(q->list, q->room * sizeof *q->list);
    }
    q->list[q->n++] = (struct queue_at){shared_shard_of(q->h->s, q->crawl, key),
                                        q->text.len, key.len};
    buf_add_bytes(&q->text, key);
}

static int by_shard(const void *a, const void *b)
{
    const struct queue_at *x = a, *y = b;

    return x->shard < y->shard ? -1 : x->shard > y->shard;
}

/* Reads the queues of a crawl, or takes the one of `key`. */
static enum status queues_begin(struct queues *q, struct shared_hand *h,
                                struct bytes crawl, struct bytes key)
{
    const unsigned shards = h->s->shards;
    enum status st = STATUS_OK;

    *q = (struct queues){.h = h, .crawl = crawl};
    buf_init(&q->text, KEYS_MOST);
    q->next = xcalloc(shards, sizeof *q->next);
    q->end = xcalloc(shards, sizeof *q->end);
    q->cursor = xcalloc(shards, sizeof *q->cursor);
    if (key.len > 0)
        queues_add(q, key);
    else
        st = shared_each_queue(h, crawl, true, 0, UINT64_MAX, queues_add, q);
    if (st == STATUS_OK)
        st = buf_failed(&q->text);
    if (q->n > 0)
        qsort(q->list, q->n, sizeof *q->list, by_shard);
    for (size_t i = 0, shard = 0; shard < shards; shard++) {
        q->next[shard] = i;
        while (i < q->n && q->list[i].shard == shard)
            i++;
        q->end[shard] = i;
        memcpy(q->cursor[shard], "0", 2);
    }
    return st;
}

static void queues_end(struct queues *q)
{
    buf_fini(&q->text);
    free(q->list);
    free(q->next);
    free(q->end);
    free(q->cursor);
}

static struct bytes key_at(const struct queues *q, size_t i)
{
    return bytes_of(q->text.at + q->list[i].at, q->list[i].len);
}

/* What a round does: `fill` names the next queues of the shard in the call, and
 * `take` takes its answer. */
struct round_kind {
    enum shared_script_number script;
    void (*fill)(struct queues *q, unsigned shard, struct shared_call *c);
    shared_take *take;
};

/* Goes on at each shard that has queues left. False: none has. */
static bool run_round(struct queues *q, const struct round_kind *kind)
{
    struct shared_round *r = shared_round_new(q->h, kind->take, q);
    bool any = false;

    for (unsigned shard = 0; shard < q->h->s->shards; shard++) {
        struct shared_call *c;

        if (q->next[shard] == q->end[shard])
            continue;
        any = true;
        c = shared_call_new(r, shard, kind->script, shard);
        shared_call_changes(c, true);
        kind->fill(q, shard, c);
    }
    (void)shared_round_run(r, INT64_MAX);
    return any;
}

/* Runs rounds until no queue is left, and ends the list. */
static enum status run_rounds(struct queues *q, const struct round_kind *kind,
                              uint64_t *gone)
{
    enum status st;

    while (q->st == STATUS_OK && run_round(q, kind))
        continue;
    st = q->st;
    *gone = q->gone;
    queues_end(q);
    return st;
}

/* ---- removal ---- */

static void removed(void *ctx, size_t shard, enum status st,
                    const redisReply *r)
{
    struct queues *q = ctx;

    (void)shard;
    if (st == STATUS_OK && r->type != REDIS_REPLY_STRING)
        st = STATUS_FORMAT;
    if (st == STATUS_OK)
        q->gone += strtoull(r->str, NULL, 10);
    else
        q->st = st;
}

static void fill_remove(struct queues *q, unsigned shard, struct shared_call *c)
{
    while (q->next[shard] < q->end[shard] && shared_call_queues(c) < QUEUES)
        (void)shared_call_queue(c, q->crawl, key_at(q, q->next[shard]++));
}

enum status shared_remove_crawl(struct shared_hand *h, struct bytes crawl,
                                uint64_t *gone)
{
    static const struct round_kind remove = {SHARED_REMOVE, fill_remove,
                                             removed};
    struct queues q;
    enum status st = queues_begin(&q, h, crawl, bytes_of("", 0));

    q.st = st;
    return run_rounds(&q, &remove, gone);
}

/* ---- purge ---- */

static void purged(void *ctx, size_t shard, enum status st, const redisReply *r)
{
    struct queues *q = ctx;
    const char *blank;

    if (st == STATUS_OK && (r->type != REDIS_REPLY_STRING ||
                            (blank = strchr(r->str, ' ')) == NULL ||
                            (size_t)(blank - r->str) >= sizeof *q->cursor))
        st = STATUS_FORMAT;
    if (st != STATUS_OK) {
        q->st = st;
        return;
    }
    q->gone += strtoull(blank + 1, NULL, 10);
    memcpy(q->cursor[shard], r->str, (size_t)(blank - r->str));
    q->cursor[shard][blank - r->str] = '\0';
    q->next[shard] += strcmp(q->cursor[shard], "0") == 0;
}

static void fill_purge(struct queues *q, unsigned shard, struct shared_call *c)
{
    (void)shared_call_queue(c, q->crawl, key_at(q, q->next[shard]));
    shared_call_number(c, q->before_ms);
    shared_call_copy(c, bytes_of_str(q->cursor[shard]));
}

enum status shared_purge(struct shared_hand *h, struct bytes crawl,
                         struct bytes key, int64_t before_ms, uint64_t *gone)
{
    static const struct round_kind purge = {SHARED_PURGE, fill_purge, purged};
    struct queues q;
    enum status st = queues_begin(&q, h, crawl, key);

    q.st = st;
    q.before_ms = before_ms;
    return run_rounds(&q, &purge, gone);
}

/* ---- settings of all queues ---- */

struct tuned {
    enum status st;
    bool more;
};

static void tune_came(void *ctx, size_t shard, enum status st,
                      const redisReply *r)
{
    struct tuned *t = ctx;

    (void)shard;
    if (st == STATUS_OK && r->type != REDIS_REPLY_STRING)
        st = STATUS_FORMAT;
    if (st != STATUS_OK)
        t->st = st;
    else if (strtoll(r->str, NULL, 10) == PLACED)
        t->more = true;
}

/* Sets a field of every shard, and places the queues of a crawl, if any is
 * named, from rank `from` on. */
static struct tuned tune(struct shared_hand *h, const char *field,
                         int64_t value, struct bytes crawl, int64_t from)
{
    struct tuned t = {.st = STATUS_OK};
    struct shared_round *r = shared_round_new(h, tune_came, &t);

    for (unsigned shard = 0; shard < h->s->shards; shard++) {
        struct shared_call *c = shared_call_new(r, shard, SHARED_TUNE, shard);

        shared_call_changes(c, true);
        shared_call_crawl(c, crawl);
        shared_call_arg(c, bytes_of_str(field));
        shared_call_number(c, value);
        shared_call_number(c, from);
    }
    (void)shared_round_run(r, INT64_MAX);
    return t;
}

enum status shared_set_active(struct shared_hand *h, bool active)
{
    return tune(h, "active", active, bytes_of("", 0), -1).st;
}

enum status shared_set_default_delay(struct shared_hand *h, int64_t delay_ms)
{
    const struct bytes *names;
    size_t n = 0;
    enum status st = tune(h, "delay", delay_ms, bytes_of("", 0), -1).st;

    if (st == STATUS_OK)
        st = shared_crawls(h, &names, &n);
    for (size_t i = 0; st == STATUS_OK && i < n; i++) {
        struct tuned t = {.more = true};

        for (int64_t from = 0; t.st == STATUS_OK && t.more; from += PLACED)
            t = tune(h, "delay", delay_ms, names[i], from);
        st = t.st;
    }
    return st;
}
