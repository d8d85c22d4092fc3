/* SPDX-License-Identifier: MIT */
/*
 * cluster_lease.c - looking for leases, claiming.
 *
 *   each shard:   idle --its time has come--> peek --hosts--> claim --> idle
 *                   |                          '--none-----------------> idle
 *                   '--hosts are known to be due (cluster_hints.c)--> claim
 *
 * Two scripts instead of one, because a script has to declare the queues that
 * it touches, and which hosts are due is known only after a look. What another
 * worker claims in between is simply not given.
 *
 * Claims are durable: a master that is cut off from its replicas gives out no
 * leases, else all that is fetched with them would be fetched again after a
 * failover. For the same reason an acknowledgement is.
 *
 * A shard is looked at when the last look said that something will be due, and
 * every LOOK_MOST for what others put; what our own puts and acknowledgements
 * make due needs no look. Each worker has a part of the shards, by its place
 * among those that live, and looks at other shards only when its own give it
 * too little, and OTHERS_WAIT after their time. So a host is mostly asked by
 * one worker, which has its connection, its robots.txt and its links. Who has
 * which part is no promise: two may think that they have the same.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "frontier/cluster_store/cluster_impl.h"

#define DEFAULT_NODE_TIMEOUT 15000 /* ms; Redis's own */
#define LOOKS_MOST           64    /* shards that are looked at at once */
#define HOSTS_MOST           16    /* of one look */
#define LOOK_LEAST           (5 * NS_PER_MS) /* between two looks at one shard */
#define LOOK_MOST            (1 * NS_PER_S)
#define IN_VAIN_MOST         3
#define LOOK_OWN             (400 * NS_PER_MS) /* less than OTHERS_WAIT */
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

bool cluster_is_own(const struct cluster_store *s, unsigned shard)
{
    return s->parts <= 1 ||
           (uint64_t)shard * s->parts / s->shard_count == s->part;
}

/* How long until a shard is looked at again when nothing says sooner. A worker
 * with a part of the shards looks at these before others do, so that it keeps
 * its hosts, and the less often at those of others the longer they had none. */
static int64_t look_most(const struct cluster_store *s, unsigned shard)
{
    if (s->parts <= 1)
        return LOOK_MOST;
    return cluster_is_own(s, shard) ? LOOK_OWN
                                    : LOOK_MOST << s->shards[shard].in_vain;
}

/* One look at one shard, up to its claim's answer. */
struct look {
    struct cluster_store *s;
    unsigned shard;
    size_t most;   /* of its claim */
    int64_t began; /* its claim, at the latest */
    int64_t next;  /* the next look, if all that was claimed is given */
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
        cluster_hint_remove(l->s, l->shard, lease.host);
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
        end_look(l, r->elements / 5 < l->most ? now + LOOK_LEAST : l->next);
    }
}

static void claim(struct look *l, const struct bytes *hosts, size_t count)
{
    struct cluster_store *s = l->s;
    struct bytes args[5 + 2 * HOSTS_MOST];
    char ttl[24], pause[24], most[24];
    struct key_list k;
    size_t n = 5;

    s->claiming += l->most;
    l->began = clock_mono();
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
    for (size_t i = 0; i < count; i++) {
        key_list_add(&k, s, l->shard, "q:", hosts[i]);
        key_list_add(&k, s, l->shard, "d:", hosts[i]);
        args[n++] = hosts[i];
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
    const struct cluster_shard *x = &s->shards[shard];
    int64_t at = clock_earlier(x->next_look, x->hint_due);

    if (cluster_is_own(s, shard) || at == INT64_MAX)
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

static size_t free_claims(const struct cluster_store *s)
{
    return s->wanted > s->claiming ? s->wanted - s->claiming : 0;
}

static void peek_came(void *ctx, enum status st, const redisReply *r)
{
    struct look *l = ctx;
    struct bytes hosts[2 * HOSTS_MOST];
    int64_t now = clock_mono();
    size_t n = 0;

    if (st != STATUS_OK || r->type != REDIS_REPLY_ARRAY || r->elements < 1 ||
        r->element[0]->type != REDIS_REPLY_INTEGER) {
        end_look(l, now + LOOK_MOST);
        return;
    }
    for (size_t i = 1; i < r->elements && n < 2 * HOSTS_MOST; i++)
        if (r->element[i]->type == REDIS_REPLY_STRING)
            hosts[n++] =
                bytes_of(r->element[i]->str, (size_t)r->element[i]->len);
    if (n > 0)
        l->s->shards[l->shard].in_vain = 0;
    else if (l->s->shards[l->shard].in_vain < IN_VAIN_MOST)
        l->s->shards[l->shard].in_vain++;
    l->s->shards[l->shard].due =
        n > 0 ? now : due_of(r->element[0]->integer, now);
    l->next = now + look_most(l->s, l->shard);
    if (r->element[0]->integer >= 0)
        l->next = clock_earlier(
            l->next,
            now + clock_later(clock_earlier(r->element[0]->integer, 1000) *
                                  NS_PER_MS,
                              LOOK_LEAST));
    l->most = n < free_claims(l->s) ? n : free_claims(l->s);
    if (n < 1) {
        end_look(l, l->next);
        return;
    }
    if (l->most < n)
        l->next = now + LOOK_LEAST;
    if (l->most < 1) {
        end_look(l, now);
        return;
    }
    claim(l, hosts, n);
}

static struct look *new_look(struct cluster_store *s, unsigned shard)
{
    struct look *l = xcalloc(1, sizeof *l);

    l->s = s;
    l->shard = shard;
    l->next = INT64_MAX;
    s->shards[shard].looking = true;
    s->looks++;
    return l;
}

/* Hosts that others have claimed meanwhile are not given; nor are they missed,
 * so no look has to follow. */
static void claim_hinted(struct cluster_store *s, unsigned shard, int64_t now)
{
    struct bytes hosts[HOSTS_MOST];
    struct look *l = new_look(s, shard);
    struct buf text;

    l->most = free_claims(s) < HOSTS_MOST ? free_claims(s) : HOSTS_MOST;
    buf_init(&text, (size_t)HOSTS_MOST * CLUSTER_HOST_MOST);
    l->most = cluster_hints_take(s, shard, now, &text, hosts, l->most);
    claim(l, hosts, l->most);
    buf_fini(&text);
}

static void peek(struct cluster_store *s, unsigned shard)
{
    struct look *l = new_look(s, shard);
    char text[16];
    struct bytes arg;
    struct key_list k;

    s->shards[shard].next_look = INT64_MAX;
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

        if (cluster_is_own(s, shard) != own || s->shards[shard].looking ||
            look_time(s, shard) > now)
            continue;
        if (s->shards[shard].hint_due <= now &&
            s->shards[shard].next_look > now)
            claim_hinted(s, shard, now);
        else
            peek(s, shard);
    }
}

void cluster_store_set_spare(struct cluster_store *s, size_t spare)
{
    s->spare = spare;
}

void cluster_store_lease(struct cluster_store *s, size_t most,
                         cluster_lease_take *take, void *ctx)
{
    int64_t now = clock_mono();

    s->wanted = most + s->spare;
    s->take = take;
    s->take_ctx = ctx;
    look_around(s, true, now);
    if (s->looks > 0 || s->claiming >= most)
        return;
    s->wanted = most; /* others need theirs */
    if (s->short_since == 0)
        s->short_since = now;
    look_around(s, false, now);
}
