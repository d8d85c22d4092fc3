/* SPDX-License-Identifier: MIT */
/*
 * cluster_move_in.c - moves a crawl from its directory into a cluster.
 *
 * An item says that no places have to be known for it: all of them are in
 * before the first URL, and a worker reads them before its first lease.
 */
#include "job/cluster_move_in.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fault.h"
#include "base/mem.h"
#include "frontier/cluster_store/cluster_item.h"
#include "frontier/cluster_store/cluster_move.h"
#include "frontier/cluster_store/cluster_permits.h"
#include "frontier/reader.h"
#include "job/cluster_part.h"

#define STEP      2000 /* rows */
#define TEXT_MOST ((size_t)256 << 20)

/* ---- the crawl there ---- */

enum status cluster_move_in_begin(struct cluster_store **out, struct engine *e,
                                  const struct crawl_settings *s, bool *begun,
                                  struct buf *why)
{
    struct buf seed;
    enum status st;

    buf_init(&seed, DIGEST_SEED_SIZE);
    st = e->ops->meta(e, "digest_seed", &seed);
    if (st == STATUS_OK && seed.len != DIGEST_SEED_SIZE)
        st = STATUS_DAMAGED;
    if (st != STATUS_OK)
        buf_addf(why, "the digest seed: %s", status_text(st));
    else
        st = cluster_part_create_with(out, s, (unsigned char *)seed.at, why);
    if (st == STATUS_EXISTS) {
        struct buf again;

        buf_init(&again, 4096);
        st = cluster_part_find(out, s, &again);
        if (st != STATUS_OK)
            buf_addf(why, ": %s", buf_str(&again));
        buf_fini(&again);
    }
    if (st == STATUS_OK &&
        memcmp(cluster_store_seed(*out), seed.at, DIGEST_SEED_SIZE) != 0) {
        buf_clear(why);
        buf_add_str(why, "the cluster has another crawl of that name");
        cluster_store_close(*out);
        *out = NULL;
        st = STATUS_EXISTS;
    }
    if (st == STATUS_OK)
        *begun = cluster_store_is_begun(*out) || cluster_store_is_moved(*out);
    buf_fini(&seed);
    return st;
}

/* ---- what an attempt that was cut off has left ---- */

struct waited {
    bool ended;
    enum status st;
    uint64_t seen;
};

static void counted(void *ctx, enum status st, const struct cluster_counts *c)
{
    struct waited *w = ctx;

    *w = (struct waited){true, st, c->seen};
}

static enum status clear_hosts(struct cluster_store *store, struct engine *e)
{
    struct engine_stats s;
    struct bytes host[STEP];
    enum status st = STATUS_OK;
    size_t n = 0;

    e->ops->stats(e, &s);
    for (uint64_t q = 1; st == STATUS_OK && q <= s.queues; q++) {
        host[n++] = e->ops->queue_key(e, (uint32_t)q);
        if (n == STEP || q == s.queues) {
            st = cluster_move_clear_hosts(store, host, n);
            n = 0;
        }
    }
    return st;
}

/* A directory only gains hosts, so it has all that an earlier attempt put. */
static enum status clear(struct cluster_store *store, struct engine *e)
{
    struct waited w = {.ended = false};
    enum status st;

    cluster_store_count(store, counted, &w);
    while (!w.ended)
        cluster_store_turn(store, NS_PER_S);
    if (w.st != STATUS_OK || w.seen == 0)
        return w.st;
    st = clear_hosts(store, e);
    return st == STATUS_OK ? cluster_move_clear_shards(store) : st;
}

/* ---- places ---- */

struct places {
    struct cluster_store *store;
    struct buf text;
    size_t len[CLUSTER_PLACES_AT_ONCE], n;
    enum status st;
};

static void send_places(struct places *p)
{
    struct bytes place[CLUSTER_PLACES_AT_ONCE];
    size_t at = 0;
    uint64_t count;

    for (size_t i = 0; i < p->n; i++) {
        place[i] = bytes_of(p->text.at + at, p->len[i]);
        at += p->len[i];
    }
    if (p->st == STATUS_OK)
        p->st = buf_failed(&p->text);
    if (p->st == STATUS_OK && p->n > 0)
        p->st = cluster_store_add_places(p->store, place, p->n, &count);
    p->n = 0;
    buf_clear(&p->text);
}

static void note_place(void *ctx, const struct url_row *row)
{
    struct places *p = ctx;

    buf_add_bytes(&p->text, row->url);
    p->len[p->n++] = row->url.len;
    if (p->n == CLUSTER_PLACES_AT_ONCE)
        send_places(p);
}

static enum status move_places(struct cluster_store *store, struct engine *e)
{
    struct places p = {.store = store};
    enum status st;

    buf_init(&p.text, TEXT_MOST);
    st = e->ops->each_seed(e, note_place, &p);
    send_places(&p);
    buf_fini(&p.text);
    return st == STATUS_OK ? p.st : st;
}

/* ---- URLs ---- */

/* One step: rows that were read, and what becomes of them. */
struct step {
    struct engine *e;
    struct buf read, items;
    size_t rows, n;
    struct url_row row[STEP]; /* its URL: only the length */
    struct cluster_url url[STEP];
    struct cluster_moved moved[STEP];
    bool ended;
    enum status st;
};

static void note_row(void *ctx, const struct url_row *row)
{
    struct step *x = ctx;

    buf_add_bytes(&x->read, row->url);
    x->row[x->rows++] = *row;
}

static void add_item(struct step *x, const struct url_row *row,
                     struct bytes host)
{
    const struct cluster_item item = {.depth = row->depth,
                                      .hops = row->hops,
                                      .kind = row->kind,
                                      .seed = (row->flags & URL_ROW_SEED) != 0,
                                      .url = row->url};
    size_t before = x->items.len;

    cluster_item_write(&item, host, &x->items);
    x->url[x->n].item.len = x->items.len - before;
}

static int64_t ms_up(int64_t ns)
{
    return ns / NS_PER_MS + (ns % NS_PER_MS != 0);
}

static enum status add_row(struct step *x, const struct url_row *row)
{
    struct engine *e = x->e;
    const struct bytes host = e->ops->queue_key(e, row->queue);
    int64_t now = clock_mono();
    struct cluster_moved *m = &x->moved[x->n];
    struct external_facts facts;
    struct external_queue q;
    uint64_t id;
    enum status st = e->ops->identify(e, host, row->url, &id);

    if (st != STATUS_OK || id != row->id) /* a later row has the URL */
        return st;
    e->ops->external_get_facts(e, id, now, &facts);
    e->ops->external_get_queue(e, row->queue, now, &q);
    x->url[x->n] =
        (struct cluster_url){.host = host,
                             .digest = digest_url(e->ops->digest_key(e),
                                                  bytes_of_str(CRAWL_ID), host,
                                                  row->url)};
    *m = (struct cluster_moved){.done = facts.done, .delay_ms = -1};
    if (!facts.done) {
        int64_t own = clock_later(facts.due_for, facts.ends_in);

        add_item(x, row, host);
        if (own > 0)
            m->delay_ms = ms_up(own);
        m->wait_ms = ms_up(clock_later(q.polite_for, q.blocked_for));
    }
    x->n++;
    return st;
}

static void moved(void *ctx, enum status st, const bool *fresh, size_t n)
{
    struct step *x = ctx;

    (void)fresh; /* of two with one fingerprint the second is known, too */
    (void)n;
    x->ended = true;
    x->st = st;
}

static enum status send_step(struct step *x, struct cluster_store *store)
{
    size_t at = 0;
    enum status st = buf_failed(&x->items);

    for (size_t i = 0; i < x->n; i++) {
        x->url[i].item = bytes_of(x->items.at + at, x->url[i].item.len);
        at += x->url[i].item.len;
    }
    x->ended = false;
    if (st == STATUS_OK)
        st = cluster_store_move(store, x->url, x->moved, x->n, moved, x);
    while (st == STATUS_OK && !x->ended)
        cluster_store_turn(store, NS_PER_S);
    return st == STATUS_OK ? x->st : st;
}

static enum status move_step(struct step *x, struct cluster_store *store,
                             uint64_t first)
{
    size_t at = 0;
    enum status st;

    x->rows = x->n = 0;
    buf_clear(&x->read);
    buf_clear(&x->items);
    st = x->e->ops->each_url(x->e, first, first + STEP - 1, note_row, x);
    if (st == STATUS_OK)
        st = buf_failed(&x->read);
    for (size_t i = 0; st == STATUS_OK && i < x->rows; i++) {
        x->row[i].url = bytes_of(x->read.at + at, x->row[i].url.len);
        at += x->row[i].url.len;
        st = add_row(x, &x->row[i]);
    }
    return st == STATUS_OK ? send_step(x, store) : st;
}

static enum status move_urls(struct cluster_store *store, struct engine *e,
                             struct cluster_move_counts *counts)
{
    struct step *x = xcalloc(1, sizeof *x);
    struct engine_stats s;
    enum status st = STATUS_OK;

    x->e = e;
    buf_init(&x->read, TEXT_MOST);
    buf_init(&x->items, TEXT_MOST);
    e->ops->stats(e, &s);
    for (uint64_t at = 1; st == STATUS_OK && at <= s.urls; at += STEP) {
        st = move_step(x, store, at);
        for (size_t i = 0; st == STATUS_OK && i < x->n; i++)
            *(x->moved[i].done ? &counts->done : &counts->waiting) += 1;
        fault_point("move-in");
    }
    buf_fini(&x->read);
    buf_fini(&x->items);
    free(x);
    return st;
}

/* ---- hosts ---- */

/* What a person has set for one host: those of URLs that are there by now. */
static enum status move_hosts(struct cluster_store *store, struct engine *e,
                              const struct crawl_settings *s)
{
    struct engine_stats all;
    enum status st = STATUS_OK;

    e->ops->stats(e, &all);
    for (uint32_t i = 1; st == STATUS_OK && i <= all.queues; i++) {
        const struct bytes host = e->ops->queue_key(e, i);
        struct external_queue q;

        e->ops->external_get_queue(e, i, clock_mono(), &q);
        if (q.set_delay >= 0)
            st = cluster_store_set_host(store, host, CLUSTER_HOST_DELAY,
                                        ms_up(q.set_delay), s->delay_ms);
        if (st == STATUS_OK && q.limit > 0)
            st = cluster_store_set_host(store, host, CLUSTER_HOST_LIMIT,
                                        q.limit, s->delay_ms);
    }
    return st;
}

enum status cluster_move_in(struct cluster_store *store, struct engine *e,
                            const struct crawl_settings *s,
                            struct cluster_move_counts *counts, struct buf *why)
{
    struct engine_stats all;
    enum status st = clear(store, e);

    e->ops->stats(e, &all);
    if (st == STATUS_OK)
        st = cluster_store_set_pages(store, all.pages);
    *counts = (struct cluster_move_counts){0};
    if (st == STATUS_OK)
        st = move_places(store, e);
    if (st == STATUS_OK)
        st = move_urls(store, e, counts);
    if (st == STATUS_OK)
        st = move_hosts(store, e, s);
    if (st != STATUS_OK)
        buf_addf(why, "%s", status_text(st));
    return st;
}
