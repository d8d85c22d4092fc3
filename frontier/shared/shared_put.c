/* SPDX-License-Identifier: MIT */
/*
 * shared_put.c - puts URLs.
 *
 * A put is cut into parts, each of one shard and one call. Parts of different
 * shards are under way together; of those of one shard the next one is sent
 * when the last has ended, so that URLs of one queue keep their order also if a
 * part has to be repeated.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "frontier/shared/shared_impl.h"

#define PART_URLS   256
#define PART_OCTETS ((size_t)1 << 20) /* a part that has them gets no more */

struct put_state {
    struct shared_hand *h;
    struct url_put *list;
    size_t n;
    unsigned *shard;    /* of each URL */
    size_t *next;       /* of each URL: the next one of its shard; n: none */
    size_t *head;       /* of each shard: its first URL that was not sent */
    size_t *part_first; /* of each part: its first URL */
    size_t *part_end;   /* the one after its last in its shard */
    char (*digest)[SHARED_DIGEST_SIZE];
};

static void put_begin(struct put_state *p)
{
    const unsigned shards = p->h->s->shards;
    size_t *last = xcalloc(shards, sizeof *last);

    p->shard = xcalloc(p->n, sizeof *p->shard);
    p->next = xcalloc(p->n, sizeof *p->next);
    p->digest = xcalloc(p->n, sizeof *p->digest);
    p->head = xcalloc(shards, sizeof *p->head);
    p->part_first = xcalloc(shards, sizeof *p->part_first);
    p->part_end = xcalloc(shards, sizeof *p->part_end);
    for (unsigned i = 0; i < shards; i++)
        p->head[i] = p->n;
    for (size_t i = 0; i < p->n; i++) {
        struct url_put *u = &p->list[i];
        unsigned shard = shared_shard_of(p->h->s, u->crawl, u->key);

        u->status = STATUS_CLOSED;
        u->fresh = false;
        shared_digest(p->h->s, u->crawl, u->key, u->url, p->digest[i]);
        p->shard[i] = shard;
        p->next[i] = p->n;
        if (p->head[shard] == p->n)
            p->head[shard] = i;
        else
            p->next[last[shard]] = i;
        last[shard] = i;
    }
    free(last);
}

static void put_end(struct put_state *p)
{
    free(p->shard);
    free(p->next);
    free(p->digest);
    free(p->head);
    free(p->part_first);
    free(p->part_end);
}

static void part_came(void *ctx, size_t part, enum status st,
                      const redisReply *r)
{
    struct put_state *p = ctx;
    size_t at = 0;

    if (st == STATUS_OK && r->type != REDIS_REPLY_STRING)
        st = STATUS_FORMAT;
    for (size_t i = p->part_first[part]; i != p->part_end[part];
         i = p->next[i], at++) {
        p->list[i].status =
            st == STATUS_OK && at >= (size_t)r->len ? STATUS_FORMAT : st;
        p->list[i].fresh = p->list[i].status == STATUS_OK && r->str[at] == '1';
    }
}

static void add_url(struct put_state *p, struct shared_call *c, size_t i)
{
    const struct url_put *u = &p->list[i];

    shared_call_number(c, (int64_t)shared_call_queue(c, u->crawl, u->key));
    shared_call_arg(c, bytes_of(u->known ? "k" : "d", 1));
    shared_call_arg(c, bytes_of(p->digest[i], SHARED_DIGEST_SIZE));
    shared_call_number(c, u->due_ms);
    shared_call_arg(c, u->url);
    shared_call_arg(c, u->metadata);
}

/* Sends the next part of each shard. False: all were sent. */
static bool put_round(struct put_state *p)
{
    struct shared_round *r = shared_round_new(p->h, part_came, p);
    size_t parts = 0;

    for (unsigned shard = 0; shard < p->h->s->shards; shard++) {
        struct shared_call *c;
        size_t count = 0, i = p->head[shard];

        if (i == p->n)
            continue;
        c = shared_call_new(r, shard, SHARED_PUT, parts);
        shared_call_changes(c, true);
        p->part_first[parts] = i;
        for (; i != p->n && count < PART_URLS &&
               (count == 0 || shared_call_octets(c) + p->list[i].url.len +
                                      p->list[i].metadata.len <
                                  PART_OCTETS);
             i = p->next[i], count++)
            add_url(p, c, i);
        p->part_end[parts++] = p->head[shard] = i;
    }
    (void)shared_round_run(r, INT64_MAX);
    return parts > 0;
}

void shared_put(struct shared_hand *h, struct url_put *list, size_t n)
{
    struct put_state p = {.h = h, .list = list, .n = n};

    put_begin(&p);
    while (put_round(&p))
        continue;
    put_end(&p);
}
