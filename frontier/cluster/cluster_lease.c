/* SPDX-License-Identifier: MIT */
/*
 * cluster_lease.c - looking for leases, claiming, ending.
 *
 *   each shard:   idle --its time has come--> peek --hosts--> claim --> idle
 *                                              '--none-----------------> idle
 *
 * Two scripts instead of one, because a script has to declare the queues that
 * it touches, and which hosts are due is known only after a look. What another
 * worker claims in between is simply not given.
 *
 * Claims are durable: a master that is cut off from its replicas gives out no
 * leases, else all that is fetched with them would be fetched again after a
 * failover. For the same reason an acknowledgement is.
 *
 * A shard is looked at when our own put or acknowledgement makes something due,
 * when the last look said that something will be, and every LOOK_MOST for what
 * others put. Each worker has a part of the shards, by its place among those
 * that live, and looks at other shards only when its own give it too little,
 * and OTHERS_WAIT after their time. So a host is mostly asked by one worker,
 * which has its connection, its robots.txt and its links. Who has which part is
 * no promise: two may think that they have the same.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "frontier/cluster/cluster_impl.h"

#define DEFAULT_NODE_TIMEOUT 15000 /* ms; Redis's own */
#define LOOKS_MOST           64    /* shards that are looked at at once */
#define HOSTS_MOST           16    /* of one look */
#define LOOK_LEAST           (5 * NS_PER_MS) /* between two looks at one shard */
#define LOOK_MOST            (1 * NS_PER_S)
#define LOOK_OFTEN           (200 * NS_PER_MS)
#define OTHERS_WAIT          (500 * NS_PER_MS)
#define SHORT                (20 * NS_PER_MS) /* of leases, before we look there */
#define DELAY_MOST_MS        (UINT64_C(366) * 24 * 3600 * 1000)

bool cluster_lease_allows(const struct cluster_lease *l, int64_t now,
                          int64_t length)
{
    return length < l->until - now;
}

void cluster_look_at(struct cluster_store *s, unsigned shard, int64_t when)
{
    struct cluster_shard *x = &s->shards[shard];

    x->next_look = clock_earlier(x->next_look, when);
}

void cluster_store_set_part(struct cluster_store *s, unsigned part,
                            unsigned parts)
{
    s->part = part;
    s->parts = parts;
}

static bool is_own(const struct cluster_store *s, unsigned shard)
{
    return s->parts <= 1 ||
           (uint64_t)shard * s->parts / s->shard_count == s->part;
}

/* A worker with a part of the shards looks at these as often as one with all
 * looks at all: then others that have just asked a host of ours leave it. */
static int64_t look_most(const struct cluster_store *s, unsigned shard)
{
    if (s->parts <= 1 || !is_own(s, shard))
        return LOOK_MOST;
    return clock_later(LOOK_MOST / s->parts, LOOK_OFTEN);
}

/* One look at one shard, up to its claim's answer. */
struct look {
    struct cluster_store *s;
    unsigned shard;
    size_t most;   /* of its claim */
    int64_t began; /* its claim, at the latest */
};

static void end_look(struct look *l, int64_t next)
{
    l->s->shards[l->shard].looking = false;
    cluster_look_at(l->s, l->shard, next); /* a put may have said: sooner */
    l->s->claiming -= l->most;
    l->s->looks--;
    free(l);
}

/* ---- another server has the shard ---- */

static void adopt_came(void *ctx, enum status st, const redisReply *r)
{
    (void)st; /* the next claim shows it */
    (void)r;
    end_look(ctx, 0);
}

static void adopt(struct look *l, struct bytes before, int64_t hold_ms)
{
    char hold[24];
    struct bytes args[3] = {bytes_of(REDIS_RUN_ID, REDIS_RUN_ID_SIZE - 1),
                            before};
    struct key_list k;

    snprintf(hold, sizeof hold, "%" PRId64, hold_ms);
    args[2] = bytes_of_str(hold);
    key_list_init(&k);
    key_list_add(&k, l->s, l->shard, "m", bytes_of("", 0));
    cluster_run(l->s, l->shard, &cluster_script_adopt, &k, args, 3, true,
                adopt_came, l);
    key_list_fini(&k);
}

/* How long after a failover. A master that is cut off goes on for as long as
 * the cluster takes to notice. */
static int64_t hold_of(const struct redis_cluster_stats *stats,
                       const struct cluster_store_options *o)
{
    int64_t timeout = stats->node_timeout_ms > 0 ? stats->node_timeout_ms
                                                 : DEFAULT_NODE_TIMEOUT;

    return o->hold_ms > timeout ? o->hold_ms : timeout;
}

/* A shard that no server had before is new, as its first server is durable
 * before its first lease; with `fast` it may also have lost all that it had. If
 * the server before is a master still, the slot was moved, and nothing is
 * lost. Only a map that was asked for after that answer can tell: the second
 * from now on, as one may be under way. */
static void change_server(struct look *l, struct bytes before)
{
    struct cluster_shard *shard = &l->s->shards[l->shard];
    struct redis_cluster_stats stats;

    redis_cluster_get_stats(l->s->net, &stats);
    if (before.len == 0 || !redis_cluster_has_master(l->s->net, before)) {
        shard->maps = 0;
        l->s->holds += before.len > 0;
        adopt(l, before, before.len == 0 ? 0 : hold_of(&stats, &l->s->o));
        return;
    }
    if (shard->maps == 0)
        shard->maps = stats.maps + 1;
    if (stats.maps > shard->maps) {
        shard->maps = 0;
        adopt(l, before, 0);
        return;
    }
    redis_cluster_remap(l->s->net);
    end_look(l, clock_mono() + 50 * NS_PER_MS);
}

/* ---- claims ---- */

static bool is_lease(const redisReply *r, size_t i)
{
    return r->element[i]->type == REDIS_REPLY_STRING &&
           r->element[i]->len <= CLUSTER_HOST_MOST &&
           r->element[i + 1]->type == REDIS_REPLY_INTEGER &&
           r->element[i + 2]->type == REDIS_REPLY_STRING &&
           r->element[i + 2]->len >= 1 &&
           (size_t)r->element[i + 2]->len <= CLUSTER_ITEM_MOST &&
           r->element[i + 3]->type == REDIS_REPLY_STRING &&
           r->element[i + 4]->type == REDIS_REPLY_STRING;
}

/* PAUSE:TOKEN:DONE:STATE without the first three. */
static struct bytes state_of(struct bytes text)
{
    for (int i = 0; i < 3; i++) {
        const char *colon =
            text.len > 0 ? memchr(text.at, ':', text.len) : NULL;

        if (colon == NULL)
            return bytes_of("", 0);
        text = bytes_skip(text, (size_t)(colon - text.at) + 1);
    }
    return text;
}

static int64_t delay_of(const redisReply *r)
{
    uint64_t ms = 0;

    return redis_url_number(bytes_of(r->str, (size_t)r->len), DELAY_MOST_MS,
                            &ms)
               ? (int64_t)ms
               : -1;
}

static void give(struct look *l, const redisReply *r)
{
    for (size_t i = 0; i + 4 < r->elements; i += 5) {
        struct cluster_lease lease = {.shard = l->shard};
        const redisReply *item;

        if (!is_lease(r, i))
            continue; /* it will be over by itself */
        item = r->element[i + 2];
        lease.host = bytes_of(r->element[i]->str, (size_t)r->element[i]->len);
        lease.token = (uint64_t)r->element[i + 1]->integer;
        lease.lost = (unsigned char)item->str[0];
        lease.item = bytes_of(item->str + 1, (size_t)item->len - 1);
        lease.state = state_of(
            bytes_of(r->element[i + 3]->str, (size_t)r->element[i + 3]->len));
        lease.delay_ms = delay_of(r->element[i + 4]);
        lease.until =
            l->began + (l->s->o.lease_ms - CLUSTER_LEASE_MARGIN_MS) * NS_PER_MS;
        l->s->wanted -= l->s->wanted > 0;
        l->s->short_since = 0;
        l->s->take(l->s->take_ctx, &lease);
    }
}

static void claim_came(void *ctx, enum status st, const redisReply *r)
{
    struct look *l = ctx;
    int64_t now = clock_mono();

    if (st != STATUS_OK || r->type != REDIS_REPLY_ARRAY) {
        end_look(l, now + LOOK_MOST);
    } else if (r->elements == 2 && r->element[0]->type == REDIS_REPLY_INTEGER) {
        if (r->element[1]->type == REDIS_REPLY_STRING)
            change_server(l, bytes_of(r->element[1]->str,
                                      (size_t)r->element[1]->len));
        else
            end_look(l, now + LOOK_MOST); /* held */
    } else {
        give(l, r);
        end_look(l, now + LOOK_LEAST);
    }
}

static void claim(struct look *l, const redisReply *hosts)
{
    struct cluster_store *s = l->s;
    struct bytes args[5 + 2 * HOSTS_MOST];
    char ttl[24], pause[24], most[24];
    struct key_list k;
    size_t n = 5;

    snprintf(ttl, sizeof ttl, "%" PRId64, s->o.lease_ms);
    snprintf(pause, sizeof pause, "%" PRId64, s->o.pause_ms);
    snprintf(most, sizeof most, "%zu", l->most);
    args[0] = bytes_of(REDIS_RUN_ID, REDIS_RUN_ID_SIZE - 1);
    args[1] = bytes_of_str(ttl);
    args[2] = bytes_of_str(pause);
    args[3] = bytes_of_str(most);
    args[4] = bytes_of_str(s->worker);
    key_list_init(&k);
    for (size_t i = 0; i < 5; i++) {
        const char kind[2] = {"mrlth"[i], '\0'};

        key_list_add(&k, s, l->shard, kind, bytes_of("", 0));
    }
    for (size_t i = 1; i < hosts->elements && n < 5 + 2 * HOSTS_MOST; i++) {
        if (hosts->element[i]->type != REDIS_REPLY_STRING)
            continue;
        args[n] =
            bytes_of(hosts->element[i]->str, (size_t)hosts->element[i]->len);
        key_list_add(&k, s, l->shard, "q:", args[n]);
        key_list_add(&k, s, l->shard, "d:", args[n]);
        n++;
    }
    cluster_run(s, l->shard, &cluster_script_claim, &k, args, n, true,
                claim_came, l);
    key_list_fini(&k);
}

/* ---- looks ---- */

static int64_t due_of(long long ms, int64_t now)
{
    return ms < 0 || ms > INT64_MAX / (2 * NS_PER_MS) ? INT64_MAX
                                                      : now + ms * NS_PER_MS;
}

int64_t cluster_store_next_due(const struct cluster_store *s)
{
    int64_t due = INT64_MAX;

    for (unsigned i = 0; i < s->shard_count; i++)
        due = clock_earlier(due, s->shards[i].due);
    return due;
}

static int64_t look_time(const struct cluster_store *s, unsigned shard)
{
    int64_t at = s->shards[shard].next_look;

    if (is_own(s, shard) || at == INT64_MAX)
        return at;
    return s->short_since == 0
               ? INT64_MAX
               : clock_later(at + OTHERS_WAIT, s->short_since + SHORT);
}

int64_t cluster_store_next_look(const struct cluster_store *s)
{
    int64_t next = INT64_MAX;

    if (s->wanted <= s->claiming)
        return INT64_MAX;
    for (unsigned i = 0; i < s->shard_count; i++)
        next = clock_earlier(next, look_time(s, i));
    return next;
}

static void peek_came(void *ctx, enum status st, const redisReply *r)
{
    struct look *l = ctx;
    int64_t now = clock_mono(), next = look_most(l->s, l->shard);
    size_t free_claims =
        l->s->wanted > l->s->claiming ? l->s->wanted - l->s->claiming : 0;

    if (st != STATUS_OK || r->type != REDIS_REPLY_ARRAY || r->elements < 1 ||
        r->element[0]->type != REDIS_REPLY_INTEGER) {
        end_look(l, now + LOOK_MOST);
        return;
    }
    l->s->shards[l->shard].due = due_of(r->element[0]->integer, now);
    if (r->elements == 1) {
        if (r->element[0]->integer >= 0)
            next = clock_earlier(next,
                                 clock_earlier(r->element[0]->integer, 1000) *
                                     NS_PER_MS);
        end_look(l, now + clock_later(next, LOOK_LEAST));
        return;
    }
    if (free_claims == 0) {
        end_look(l, now);
        return;
    }
    l->most = r->elements - 1 < free_claims ? r->elements - 1 : free_claims;
    l->s->claiming += l->most;
    l->began = now;
    claim(l, r);
}

static void peek(struct cluster_store *s, unsigned shard)
{
    struct look *l = xcalloc(1, sizeof *l);
    char text[16];
    struct bytes arg;
    struct key_list k;

    l->s = s;
    l->shard = shard;
    s->shards[shard].looking = true;
    s->shards[shard].next_look = INT64_MAX;
    s->looks++;
    snprintf(text, sizeof text, "%d", HOSTS_MOST);
    arg = bytes_of_str(text);
    key_list_init(&k);
    key_list_add(&k, s, shard, "r", bytes_of("", 0));
    key_list_add(&k, s, shard, "l", bytes_of("", 0));
    cluster_run(s, shard, &cluster_script_peek, &k, &arg, 1, false, peek_came,
                l);
    key_list_fini(&k);
}

/* Looks at own shards, or at those of others, whose time has come. */
static void look_around(struct cluster_store *s, bool own, int64_t now)
{
    for (unsigned i = 0;
         i < s->shard_count && s->looks < LOOKS_MOST && s->claiming < s->wanted;
         i++) {
        unsigned shard = s->look_at++ % s->shard_count;

        if (is_own(s, shard) == own && !s->shards[shard].looking &&
            look_time(s, shard) <= now)
            peek(s, shard);
    }
}

void cluster_store_lease(struct cluster_store *s, size_t most,
                         cluster_lease_take *take, void *ctx)
{
    int64_t now = clock_mono();

    s->wanted = most;
    s->take = take;
    s->take_ctx = ctx;
    look_around(s, true, now);
    if (s->looks > 0 || s->claiming >= s->wanted)
        return;
    if (s->short_since == 0)
        s->short_since = now;
    look_around(s, false, now);
}

/* ---- ending ---- */

struct ending {
    cluster_ack_end *end;
    void *ctx;
};

static void ack_came(void *ctx, enum status st, const redisReply *r)
{
    struct ending *e = ctx;

    if (st == STATUS_OK && r->type != REDIS_REPLY_INTEGER)
        st = STATUS_FORMAT;
    e->end(e->ctx, st, st == STATUS_OK && r->integer == 0);
    free(e);
}

static struct ending *new_ending(cluster_ack_end *end, void *ctx)
{
    struct ending *e = xcalloc(1, sizeof *e);

    e->end = end;
    e->ctx = ctx;
    return e;
}

enum status cluster_store_ack(struct cluster_store *s,
                              const struct cluster_ack *a, cluster_ack_end *end,
                              void *ctx)
{
    char token[24], pause[24], delay[24];
    struct bytes args[6] = {a->host, {NULL, 0}, {NULL, 0}, a->state};
    struct key_list k;
    struct buf item;

    if (a->host.len < 1 || a->host.len > CLUSTER_HOST_MOST ||
        a->state.len > CLUSTER_STATE_MOST || a->shard >= s->shard_count ||
        a->item.len >= CLUSTER_ITEM_MOST)
        return STATUS_ARG;
    buf_init(&item, CLUSTER_ITEM_MOST + 1);
    if (a->item.len > 0) {
        buf_add_char(&item, '\0');
        buf_add_bytes(&item, a->item);
    }
    snprintf(token, sizeof token, "%" PRIu64, a->token);
    snprintf(pause, sizeof pause, "%" PRId64, a->pause_ms);
    snprintf(delay, sizeof delay, "%" PRId64, a->delay_ms);
    args[1] = bytes_of_str(token);
    args[2] = bytes_of_str(pause);
    args[4] = buf_bytes(&item);
    args[5] = bytes_of_str(delay);
    key_list_init(&k);
    for (size_t i = 0; i < 5; i++) {
        const char kind[2] = {"mrlth"[i], '\0'};

        key_list_add(&k, s, a->shard, kind, bytes_of("", 0));
    }
    key_list_add(&k, s, a->shard, "q:", a->host);
    key_list_add(&k, s, a->shard, "d:", a->host);
    cluster_run(s, a->shard, &cluster_script_ack, &k, args, 6, true, ack_came,
                new_ending(end, ctx));
    key_list_fini(&k);
    buf_fini(&item);
    cluster_look_at(s, a->shard,
                    clock_mono() + clock_later(a->pause_ms, 0) * NS_PER_MS);
    return STATUS_OK;
}

void cluster_store_extend(struct cluster_store *s, unsigned shard,
                          struct bytes host, uint64_t token,
                          cluster_ack_end *end, void *ctx)
{
    char text[24], length[24];
    struct bytes args[3] = {host};
    struct key_list k;

    snprintf(text, sizeof text, "%" PRIu64, token);
    snprintf(length, sizeof length, "%" PRId64, s->o.lease_ms);
    args[1] = bytes_of_str(text);
    args[2] = bytes_of_str(length);
    key_list_init(&k);
    key_list_add(&k, s, shard, "l", bytes_of("", 0));
    key_list_add(&k, s, shard, "t", bytes_of("", 0));
    cluster_run(s, shard, &cluster_script_extend, &k, args, 3, false, ack_came,
                new_ending(end, ctx));
    key_list_fini(&k);
}
