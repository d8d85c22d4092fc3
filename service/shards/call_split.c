/* SPDX-License-Identifier: MIT */
/*
 * call_split.c - calls as calls on single shards, and their answers as one.
 *
 * A URL's shard is that of its queue, so politeness, delays, limits and order
 * within a queue are one shard's matter, and only sums and lists are joined.
 *
 * A GET of any queue asks shards side by side, as each answer waits for a
 * commit, and begins with another shard each time, so that none starves. Of a
 * call that may bring more URLs than one part of an answer holds, it asks one
 * shard at a time: what a shard has leased would otherwise wait for a caller
 * that never asks for it.
 *
 *   a round: the shards still in are asked for equal shares of the queues that
 *            are still wanted
 *   again:   those that gave all that they were asked for may have more
 */
#include "service/shards/call_split.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/buf.h"
#include "base/mem.h"
#include "frontier/served/served.h"
#include "service/calls/call.h"

#define SIDE_BY_SIDE 32 /* shards that a GET asks at once */

uint32_t call_shard_of(struct bytes crawl, struct bytes key, uint32_t count)
{
    struct bytes name = served_crawl_name(crawl);

    return (uint32_t)(XXH3_64bits_withSeed(key.at, key.len,
                                           XXH3_64bits(name.at, name.len)) %
                      count);
}

/* ---- parts ---- */

static void part_init(struct call_part *p, const struct frontier_call *call,
                      uint32_t shard, void (*finish)(struct call_part *p),
                      void *join)
{
    frontier_call_init(&p->call, call->verb, NULL, NULL);
    p->call.via = call->via;
    p->call.in = call->in;
    p->call.cursor = call->cursor;
    p->shard = shard;
    p->finish = finish;
    p->join = join;
}

/* The part's answer becomes the call's. */
static void split_adopt(struct frontier_call *call, struct frontier_call *part)
{
    struct arena *memory = call->memory;

    call->memory = part->memory;
    part->memory = memory;
    call->status = part->status;
    call->why = part->why;
    call->crawl_id = part->crawl_id;
    call->urls = part->urls;
    call->url_count = part->url_count;
    call->names = part->names;
    call->name_count = part->name_count;
    call->number = part->number;
    call->flag = part->flag;
    call->counts = part->counts;
    call->facts = part->facts;
    call->more = part->more;
    call->cursor = part->cursor;
}

/* ---- of one shard ---- */

struct one {
    struct call_part part;
    const struct call_sender *s;
    struct frontier_call *call;
};

static void one_finished(struct call_part *p)
{
    struct one *o = p->join;
    const struct call_sender *s = o->s;
    struct frontier_call *call = o->call;

    split_adopt(call, &p->call);
    frontier_call_fini(&p->call);
    free(o);
    s->ended(s->ctx, call);
}

static void send_one(const struct call_sender *s, struct frontier_call *call,
                     uint32_t shard)
{
    struct one *o = xcalloc(1, sizeof *o);

    o->s = s;
    o->call = call;
    part_init(&o->part, call, shard, one_finished, o);
    s->send(s->ctx, &o->part);
}

/* ---- puts ---- */

struct puts {
    const struct call_sender *s;
    struct frontier_call *call;
    struct frontier_item *items; /* by shard, then in the order of the call */
    uint32_t *at;                /* their places in the call */
    size_t count;
    atomic_size_t pending;
    struct call_part parts[];
};

/* Each item gets the acknowledgement of its part; the call fails only if all
 * parts did. */
static void puts_end(struct puts *u)
{
    const struct call_sender *s = u->s;
    struct frontier_call *call = u->call;

    answer_begin(call);
    call->status = u->parts[0].call.status;
    call->why = u->parts[0].call.why;
    for (size_t i = 0; i < u->count; i++) {
        struct frontier_call *part = &u->parts[i].call;

        if (part->status == STATUS_OK)
            call->status = STATUS_OK;
        for (size_t k = 0; k < part->in.put.n; k++) {
            struct frontier_item *item = &part->in.put.items[k];

            call->in.put.items[u->at[item - u->items]].ack = item->ack;
        }
        frontier_call_fini(part);
    }
    free(u->items);
    free(u->at);
    free(u);
    s->ended(s->ctx, call);
}

static void put_finished(struct call_part *p)
{
    struct puts *u = p->join;

    if (atomic_fetch_sub(&u->pending, 1) == 1)
        puts_end(u);
}

/* An item without a key is skipped by whichever shard it comes to. */
static uint32_t shard_of_item(const struct frontier_item *item, uint32_t shards,
                              struct buf *room)
{
    struct bytes key =
        item->key.len > 0 ? item->key : served_key_of_url(item->url, room);

    return call_shard_of(item->crawl, key, shards);
}

static struct puts *split_puts(const struct call_sender *s,
                               struct frontier_call *call)
{
    const struct frontier_put *in = &call->in.put;
    uint32_t *shard = xmalloc(in->n * sizeof *shard), count = 0;
    size_t *from = xcalloc((size_t)s->shards + 1, sizeof *from), place = 0;
    struct buf room;
    struct puts *u;

    buf_init(&room, SERVED_BYTES_MOST + 16);
    for (size_t i = 0; i < in->n; i++) {
        shard[i] = shard_of_item(&in->items[i], s->shards, &room);
        count += from[shard[i]]++ == 0;
    }
    buf_fini(&room);
    u = xcalloc(1, sizeof *u + count * sizeof *u->parts);
    u->s = s;
    u->call = call;
    u->items = xmalloc(in->n * sizeof *u->items);
    u->at = xmalloc(in->n * sizeof *u->at);
    for (uint32_t n = 0; n < s->shards; n++) {
        size_t items = from[n];

        from[n] = place;
        if (items == 0)
            continue;
        part_init(&u->parts[u->count], call, n, put_finished, u);
        u->parts[u->count++].call.in.put =
            (struct frontier_put){u->items + place, items};
        place += items;
    }
    for (size_t i = 0; i < in->n; i++) {
        size_t to = from[shard[i]]++;

        u->items[to] = in->items[i];
        u->items[to].ack = FRONTIER_ACK_FAIL;
        u->at[to] = (uint32_t)i;
    }
    free(shard);
    free(from);
    return u;
}

static void send_puts(const struct call_sender *s, struct frontier_call *call)
{
    struct puts *u = split_puts(s, call);

    atomic_init(&u->pending, u->count + 1); /* plus this thread */
    for (size_t i = 0; i < u->count; i++)
        s->send(s->ctx, &u->parts[i]);
    if (atomic_fetch_sub(&u->pending, 1) == 1)
        puts_end(u);
}

/* ---- of all shards ---- */

struct all {
    const struct call_sender *s;
    struct frontier_call *call;
    atomic_size_t pending;
    struct call_part parts[];
};

static int split_by_name(const void *a, const void *b)
{
    const struct bytes *x = a, *y = b;
    size_t least = x->len < y->len ? x->len : y->len;
    int order = least > 0 ? memcmp(x->at, y->at, least) : 0;

    return order != 0 ? order : (x->len > y->len) - (x->len < y->len);
}

/* Keeps one of each name, in order. */
static void unite(struct frontier_call *call, struct bytes *names, size_t n)
{
    if (n > 0)
        qsort(names, n, sizeof *names, split_by_name);
    call->names = answer_room(call, n + 1, sizeof *call->names);
    for (size_t i = 0; call->names != NULL && i < n; i++)
        if (i == 0 || !bytes_equal(names[i], names[i - 1]))
            answer_name(call, names[i]);
}

static void add_up(struct frontier_call *call, const struct frontier_call *part)
{
    call->number += part->number;
    call->flag = call->flag && part->flag;
    call->counts.active += part->counts.active;
    call->counts.leased += part->counts.leased;
    call->counts.completed += part->counts.completed;
    call->counts.queues += part->counts.queues;
    call->counts.active_queues += part->counts.active_queues;
    if (call->status == STATUS_OK && part->status != STATUS_OK) {
        call->status = part->status;
        call->why = part->why;
    }
}

static void all_end(struct all *l)
{
    const struct call_sender *s = l->s;
    struct frontier_call *call = l->call;
    struct bytes *names;
    size_t n = 0;

    for (uint32_t i = 0; i < s->shards; i++)
        n += l->parts[i].call.name_count;
    names = xcalloc(n + 1, sizeof *names);
    n = 0;
    answer_begin(call);
    call->crawl_id = served_crawl_name(call->in.crawl);
    call->counts = (struct url_counts){0};
    call->flag = true;
    for (uint32_t i = 0; i < s->shards; i++) {
        const struct frontier_call *part = &l->parts[i].call;

        add_up(call, part);
        for (size_t k = 0; k < part->name_count; k++)
            names[n++] = part->names[k];
    }
    unite(call, names, n);
    free(names);
    for (uint32_t i = 0; i < s->shards; i++)
        frontier_call_fini(&l->parts[i].call);
    free(l);
    s->ended(s->ctx, call);
}

static void all_finished(struct call_part *p)
{
    struct all *l = p->join;

    if (atomic_fetch_sub(&l->pending, 1) == 1)
        all_end(l);
}

static void split_send_all(const struct call_sender *s,
                           struct frontier_call *call)
{
    struct all *l = xcalloc(1, sizeof *l + s->shards * sizeof *l->parts);

    l->s = s;
    l->call = call;
    atomic_init(&l->pending, (size_t)s->shards + 1); /* plus this thread */
    for (uint32_t i = 0; i < s->shards; i++) {
        part_init(&l->parts[i], call, i, all_finished, l);
        s->send(s->ctx, &l->parts[i]);
    }
    if (atomic_fetch_sub(&l->pending, 1) == 1)
        all_end(l);
}

/* ---- lists, one shard after the other ---- */

struct list {
    struct call_part part;
    const struct call_sender *s;
    struct frontier_call *call; /* as last submitted */
    uint32_t shard;
    bool begun;             /* the shard's answer has more parts */
    uint64_t start, most;   /* of the call */
    uint64_t passed, given; /* by the shards before; `given` by this one, too */
};

static void list_free(void *joint)
{
    struct list *l = joint;

    frontier_call_fini(&l->part.call);
    free(l);
}

static void list_finished(struct call_part *p);

static void list_send(struct list *l)
{
    uint64_t start = l->start > l->passed ? l->start - l->passed : 0;
    uint64_t size = l->most - l->given;

    if (!l->begun) {
        frontier_call_fini(&l->part.call);
        part_init(&l->part, l->call, l->shard, list_finished, l);
        memset(&l->part.call.cursor, 0, sizeof l->part.call.cursor);
        if (l->call->verb == FRONTIER_LIST_URLS) {
            l->part.call.in.list.start = (uint32_t)start;
            l->part.call.in.list.size = (uint32_t)size;
        } else {
            l->part.call.in.queues.start = (uint32_t)start;
            l->part.call.in.queues.size = (uint32_t)size;
        }
    }
    l->begun = true;
    l->s->send(l->s->ctx, &l->part);
}

/* Names come in one answer: those of this shard after those before. */
static void join_names(struct list *l)
{
    struct frontier_call *call = l->call, *part = &l->part.call;
    size_t n = call->name_count + part->name_count;
    struct bytes *names = answer_room(call, n + 1, sizeof *names);

    if (names == NULL)
        return;
    if (call->name_count > 0)
        memcpy(names, call->names, call->name_count * sizeof *names);
    call->names = names;
    for (size_t i = 0; i < part->name_count; i++)
        answer_name(call, part->names[i]);
}

static void list_end(struct list *l)
{
    const struct call_sender *s = l->s;
    struct frontier_call *call = l->call;

    if (!call->more) {
        call->joint = NULL;
        list_free(l);
    }
    s->ended(s->ctx, call);
}

static void list_finished(struct call_part *p)
{
    struct list *l = p->join;
    struct frontier_call *call = l->call, *part = &p->call;
    bool urls = call->verb == FRONTIER_LIST_URLS, on;

    l->given += urls ? part->url_count : part->name_count;
    if (!part->more) {
        l->passed += part->number;
        l->shard++;
        l->begun = false;
    }
    on = part->status == STATUS_OK &&
         (l->begun || (l->shard < l->s->shards && l->given < l->most));
    if (urls && (part->url_count > 0 || !on)) {
        split_adopt(call, part);
        call->more = on;
        list_end(l);
        return;
    }
    if (!urls && part->status != STATUS_OK)
        answer_fail(call, part->status);
    else if (!urls)
        join_names(l);
    if (!urls && (!on || call->status != STATUS_OK)) {
        call->why = part->why;
        list_end(l);
        return;
    }
    list_send(l);
}

static void send_list(const struct call_sender *s, struct frontier_call *call)
{
    bool urls = call->verb == FRONTIER_LIST_URLS;
    struct list *l = call->joint;

    answer_begin(call);
    call->crawl_id = served_crawl_name(call->in.crawl);
    if (l == NULL) {
        l = xcalloc(1, sizeof *l);
        l->s = s;
        l->start = urls ? call->in.list.start : call->in.queues.start;
        l->most = urls ? call->in.list.size : call->in.queues.size;
        if (l->most == 0)
            l->most = FRONTIER_LIST_SIZE;
        call->joint = l;
        call->joint_free = list_free;
    }
    l->call = call;
    list_send(l);
}

/* ---- GET of any queue ---- */

struct asked {
    struct call_part part;
    uint32_t queues, given; /* asked for, 0: no limit; and handed out */
    uint64_t last;          /* digest of the last of these */
};

struct get {
    const struct call_sender *s;
    struct frontier_call *call; /* as last submitted */
    struct asked *asked;        /* of this round, */
    size_t count;               /* so many */
    bool *out;                  /* by shard: it has no more */
    uint32_t in;                /* shards that are not */
    uint32_t at;                /* the next to ask */
    uint32_t left;              /* still to ask, until all were */
    uint32_t wanted;            /* queues, if there is a limit */
    bool wide;                  /* shards are asked side by side */
    bool begun;                 /* the only one asked has more parts */
    enum status failed;
    const char *why;
    atomic_size_t pending;
};

static void get_free(void *joint)
{
    struct get *g = joint;

    for (size_t i = 0; i < SIDE_BY_SIDE; i++)
        frontier_call_fini(&g->asked[i].part.call);
    free(g->asked);
    free(g->out);
    free(g);
}

static bool is_limited(const struct get *g)
{
    return g->call->in.get.max_queues > 0;
}

static bool wants_more(const struct get *g)
{
    return g->in > 0 && (!is_limited(g) || g->wanted > 0);
}

static void get_end(struct get *g, bool more)
{
    const struct call_sender *s = g->s;
    struct frontier_call *call = g->call;

    call->more = more;
    if (call->url_count == 0 && g->failed != STATUS_OK) {
        answer_fail(call, g->failed);
        call->why = g->why;
    }
    if (!call->more) {
        call->joint = NULL;
        get_free(g);
    }
    s->ended(s->ctx, call);
}

/* Of how many queues the URLs are that the answer adds: those of a queue stand
 * together. */
static uint32_t count_queues(struct asked *a)
{
    uint32_t n = 0;

    for (size_t i = 0; i < a->part.call.url_count; i++) {
        const struct frontier_url *u = &a->part.call.urls[i];
        uint64_t digest =
            XXH3_64bits_withSeed(u->key.at, u->key.len,
                                 XXH3_64bits(u->crawl.at, u->crawl.len));

        n += digest != a->last;
        a->last = digest;
    }
    a->given += n;
    return n;
}

static void take_urls(struct frontier_call *call,
                      const struct frontier_call *part)
{
    for (size_t i = 0; i < part->url_count; i++) {
        struct frontier_url u = part->urls[i];

        u.crawl = answer_keep(call, u.crawl);
        u.key = answer_keep(call, u.key);
        u.url = answer_keep(call, u.url);
        u.metadata = answer_keep(call, u.metadata);
        call->urls[call->url_count++] = u;
    }
}

/* A part that stopped at its size has leased no more than it handed out, so it
 * is asked anew in the next round. */
static void split_take_part(struct get *g, struct asked *a)
{
    struct frontier_call *part = &a->part.call;
    uint32_t given = count_queues(a);

    if (part->status != STATUS_OK) {
        g->failed = part->status;
        g->why = part->why;
    }
    take_urls(g->call, part);
    g->begun = !g->wide && part->status == STATUS_OK && part->more;
    g->wanted -= given < g->wanted ? given : g->wanted;
    if (g->begun)
        return;
    if (part->status != STATUS_OK || !is_limited(g) ||
        (a->given < a->queues && !part->more)) {
        g->out[a->part.shard] = true;
        g->in--;
    }
}

static void get_on(struct get *g);

static void take_round(struct get *g)
{
    struct frontier_call *call = g->call;
    size_t n = call->url_count;
    struct frontier_url *urls;

    for (size_t i = 0; i < g->count; i++)
        n += g->asked[i].part.call.url_count;
    urls = answer_room(call, n + 1, sizeof *urls);
    if (urls == NULL) {
        g->in = 0;
        g->begun = false;
        get_end(g, false);
        return;
    }
    if (call->url_count > 0)
        memcpy(urls, call->urls, call->url_count * sizeof *urls);
    call->urls = urls;
    for (size_t i = 0; i < g->count; i++)
        split_take_part(g, &g->asked[i]);
    get_on(g);
}

static void get_finished(struct call_part *p)
{
    struct get *g = p->join;

    if (atomic_fetch_sub(&g->pending, 1) == 1)
        take_round(g);
}

/* Prepares the question to the next shard that is in. */
static void ask_next(struct get *g)
{
    struct asked *a = &g->asked[g->count++];

    while (g->out[g->at])
        g->at = (g->at + 1) % g->s->shards;
    frontier_call_fini(&a->part.call);
    part_init(&a->part, g->call, g->at, get_finished, g);
    memset(&a->part.call.cursor, 0, sizeof a->part.call.cursor);
    a->queues = a->given = 0;
    a->last = 0;
    if (is_limited(g))
        a->queues = (g->wanted + g->left - 1) / g->left;
    a->part.call.in.get.max_queues = a->queues;
    g->at = (g->at + 1) % g->s->shards;
    g->left--;
}

static void begin_round(struct get *g)
{
    uint32_t most = g->wide ? SIDE_BY_SIDE : 1, wanted = g->wanted;

    g->count = 0;
    if (g->left == 0 || g->left > g->in)
        g->left = g->in;
    while (g->left > 0 && g->count < most &&
           (!is_limited(g) || g->wanted > 0)) {
        ask_next(g);
        if (is_limited(g)) /* what the next ones share */
            g->wanted -= g->asked[g->count - 1].queues;
    }
    g->wanted = wanted;
}

static void get_on(struct get *g)
{
    bool on = g->begun || wants_more(g);
    size_t count;

    if (!on || answer_is_full(g->call)) {
        get_end(g, on);
        return;
    }
    if (!g->begun)
        begin_round(g);
    count = g->count;
    atomic_init(&g->pending, count + 1); /* plus this thread */
    for (size_t i = 0; i < count; i++)
        g->s->send(g->s->ctx, &g->asked[i].part);
    if (atomic_fetch_sub(&g->pending, 1) == 1)
        take_round(g);
}

static void send_get(const struct call_sender *s, struct frontier_call *call,
                     unsigned turn)
{
    const struct frontier_get *in = &call->in.get;
    struct get *g = call->joint;

    answer_begin(call);
    call->crawl_id = in->any_crawl ? (struct bytes){NULL, 0}
                                   : served_crawl_name(call->in.crawl);
    if (g == NULL) {
        g = xcalloc(1, sizeof *g);
        g->s = s;
        g->asked = xcalloc(SIDE_BY_SIDE, sizeof *g->asked);
        g->out = xcalloc(s->shards, sizeof *g->out);
        g->in = s->shards;
        g->at = turn % s->shards;
        g->wanted = in->max_queues;
        g->wide = in->max_queues > 0 && in->max_urls_per_queue > 0 &&
                  (uint64_t)in->max_queues * in->max_urls_per_queue <=
                      ANSWER_PART_URLS;
        call->joint = g;
        call->joint_free = get_free;
    }
    g->call = call;
    g->failed = STATUS_OK;
    get_on(g);
}

/* ---- which way ---- */

static void send_url(const struct call_sender *s, struct frontier_call *call)
{
    struct bytes key = call->in.key;
    struct buf room;

    buf_init(&room, SERVED_BYTES_MOST + 16);
    if (key.len == 0)
        key = served_key_of_url(call->in.url, &room);
    send_one(s, call, call_shard_of(call->in.crawl, key, s->shards));
    buf_fini(&room);
}

/* Names no queue, and no crawl: any shard answers so. */
static bool is_of_nothing(const struct frontier_call *call)
{
    return call->verb == FRONTIER_GET && !call->in.get.any_crawl &&
           call->in.crawl.len == 0;
}

void call_split(const struct call_sender *s, struct frontier_call *call,
                unsigned turn)
{
    if (call->verb == FRONTIER_PUT)
        send_puts(s, call);
    else if (call->verb == FRONTIER_SETTLE)
        send_one(s, call,
                 served_lease_shard(call->in.settle.lease) % s->shards);
    else if (call->verb == FRONTIER_URL_STATUS)
        send_url(s, call);
    else if (call->in.key.len > 0 || is_of_nothing(call) ||
             call->verb == FRONTIER_BLOCK_QUEUE ||
             call->verb == FRONTIER_SET_LIMIT ||
             call->verb == FRONTIER_DELETE_QUEUE)
        send_one(s, call,
                 call_shard_of(call->in.crawl, call->in.key, s->shards));
    else if (call->verb == FRONTIER_GET)
        send_get(s, call, turn);
    else if (call->verb == FRONTIER_LIST_URLS ||
             call->verb == FRONTIER_LIST_QUEUES)
        send_list(s, call);
    else
        split_send_all(s, call);
}
