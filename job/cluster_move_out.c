/* SPDX-License-Identifier: MIT */
/*
 * cluster_move_out.c - moves a crawl out of a cluster.
 *
 * What is queued in the directory is parked
 * (frontier/cluster/cluster_engine.h): due in ten years, since others may have
 * it. What waits in the cluster becomes due as it is there; what others have
 * done becomes final. If any is parked after that, its worker was not named.
 */
#include "job/cluster_move_out.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "base/clock.h"
#include "base/fault.h"
#include "base/logger.h"
#include "base/mem.h"
#include "crawler/html/link_kinds.h"
#include "frontier/cluster_store/cluster_item.h"
#include "frontier/cluster_store/cluster_move.h"
#include "frontier/cluster_store/cluster_watch.h"
#include "frontier/outcome.h"
#include "frontier/reader.h"

#define MARK         "cluster_out" /* in the store's table meta */
#define BATCH        256
#define STEP         1000 /* rows */
#define TEXT_MOST    ((size_t)64 << 20)
#define HOLD         (60 * NS_PER_S) /* without a sign of us */
#define HEARD_MS     5000  /* a worker that is at work says so by then */
#define WORKERS_MS   15000 /* for workers that are just ending */
#define LEASES_MS    5000  /* beside their length */
#define POLL         (200 * NS_PER_MS)
#define PARKED_LEAST (INT64_C(365) * 24 * 3600 * NS_PER_S)

struct cluster_move_out {
    struct cluster_store *store;
    struct engine *e;
    int64_t held_at, hold; /* ns */
    struct cluster_out_counts counts;
    uint64_t invalid; /* items that are no URLs of ours */
    enum status st;   /* of a visit */
    bool heard;
    /* a batch on its way into the directory */
    size_t n;
    struct engine_item items[BATCH];
    struct import_fact facts[BATCH];
    int64_t delay_ms[BATCH], wait_ms[BATCH];
    size_t url_len[BATCH], key_len[BATCH];
    struct buf text; /* URL and key of each */
    /* rows that are looked up */
    size_t rows, found;
    struct url_row row[STEP];
    struct cluster_url url[STEP];
    struct buf read;
    bool ended;
};

enum status cluster_move_out_new(struct cluster_move_out **out,
                                 struct cluster_store *store, struct engine *e)
{
    struct cluster_move_out *m;

    if (memcmp(e->ops->digest_key(e), cluster_store_digest_key(store),
               sizeof(struct digest_key)) != 0)
        return STATUS_ARG;
    m = xcalloc(1, sizeof *m);
    m->store = store;
    m->e = e;
    m->hold = fault_time("move-hold", HOLD);
    buf_init(&m->text, TEXT_MOST);
    buf_init(&m->read, TEXT_MOST);
    *out = m;
    return STATUS_OK;
}

void cluster_move_out_free(struct cluster_move_out *m)
{
    if (m == NULL)
        return;
    buf_fini(&m->text);
    buf_fini(&m->read);
    free(m);
}

/* ---- quiet ---- */

static enum status hold(struct cluster_move_out *m, int64_t *left)
{
    m->held_at = clock_mono();
    return cluster_move_hold(m->store, m->hold / NS_PER_MS, left);
}

/* While we work no lease begins. */
static enum status keep_held(struct cluster_move_out *m)
{
    int64_t left = 0;
    enum status st = STATUS_OK;

    if (clock_mono() - m->held_at > m->hold / 4)
        st = hold(m, &left);
    return st == STATUS_OK && left > 0 ? STATUS_BUSY : st;
}

static void hear(void *ctx, struct bytes name, int64_t heard_ms,
                 struct bytes words)
{
    struct cluster_move_out *m = ctx;

    (void)name;
    (void)words;
    m->heard |= heard_ms < HEARD_MS;
}

enum status cluster_move_out_quiet(struct cluster_move_out *m, int64_t lease_ms)
{
    int64_t end = clock_mono() + (lease_ms + LEASES_MS) * NS_PER_MS,
            workers_end = clock_mono() + WORKERS_MS * NS_PER_MS, left = 0;
    enum status st;

    for (;;) {
        st = hold(m, &left);
        m->heard = false;
        if (st == STATUS_OK)
            st = cluster_store_each_worker(m->store, hear, m);
        if (st != STATUS_OK || (left == 0 && !m->heard))
            return st;
        if (clock_mono() > (m->heard ? workers_end : end))
            return STATUS_BUSY;
        cluster_store_turn(m->store, POLL);
        nanosleep(&(struct timespec){.tv_nsec = POLL}, NULL);
    }
}

/* ---- into the directory ---- */

/* The URL that is known already and parked, or waits by itself, is due then. */
static enum status postpone(struct cluster_move_out *m, size_t i,
                            enum import_answer answer)
{
    const struct external_report r = {.due_ms = clock_wall_ms() +
                                                clock_later(m->delay_ms[i], 0)};
    struct engine *e = m->e;
    enum external_result said;
    uint64_t id = 0;
    enum status st;

    if (m->facts[i].outcome.status != OUTCOME_QUEUED ||
        answer == IMPORT_DROPPED ||
        (answer == IMPORT_NEW && m->delay_ms[i] <= 0))
        return STATUS_OK;
    st = e->ops->identify(e, m->items[i].key, m->items[i].url, &id);
    if (st != STATUS_OK || id == 0)
        return st;
    return e->ops->external_settle(e, id, &r, clock_mono(), clock_wall_ms(),
                                   &said);
}

/* What is left of the wait of a host; one that was given up is asked again by
 * whoever goes on. */
static enum status make_wait(struct cluster_move_out *m, size_t i)
{
    struct engine *e = m->e;
    int64_t ms = m->wait_ms[i], now = clock_mono();

    if (ms <= 0 || ms > CLUSTER_GIVEN_UP_MS / 2 ||
        (i > 0 && bytes_equal(m->items[i].key, m->items[i - 1].key)))
        return STATUS_OK;
    return e->ops->block(e, bytes_of_str(CRAWL_ID), m->items[i].key,
                         now + ms * NS_PER_MS, now, clock_wall_ms());
}

static enum status flush(struct cluster_move_out *m)
{
    enum import_answer answers[BATCH];
    struct engine *e = m->e;
    size_t at = 0;
    enum status st = buf_failed(&m->text);

    for (size_t i = 0; i < m->n; i++) {
        struct engine_item *it = &m->items[i];

        it->url = bytes_of(m->text.at + at, m->url_len[i]);
        it->key = bytes_of(m->text.at + at + m->url_len[i], m->key_len[i]);
        it->digest = digest_url(e->ops->digest_key(e), bytes_of_str(CRAWL_ID),
                                it->key, it->url);
        at += m->url_len[i] + m->key_len[i];
    }
    if (st == STATUS_OK && m->n > 0)
        st = e->ops->import(e, m->items, m->facts, m->n, clock_mono(),
                            clock_wall_ms(), answers);
    for (size_t i = 0; st == STATUS_OK && i < m->n; i++) {
        if (m->facts[i].outcome.status != OUTCOME_QUEUED)
            m->counts.others += answers[i] != IMPORT_KNOWN;
        st = postpone(m, i, answers[i]);
        if (st == STATUS_OK)
            st = make_wait(m, i);
    }
    m->n = 0;
    buf_clear(&m->text);
    fault_point("move-out");
    if (st == STATUS_OK)
        st = e->ops->turn(e, false, clock_mono(), clock_wall_ms(), NULL);
    return st == STATUS_OK ? keep_held(m) : st;
}

static enum status add(struct cluster_move_out *m, struct engine_item item,
                       struct import_fact fact, int64_t delay_ms,
                       int64_t wait_ms)
{
    m->items[m->n] = item;
    m->facts[m->n] = fact;
    m->delay_ms[m->n] = delay_ms;
    m->wait_ms[m->n] = wait_ms;
    m->url_len[m->n] = item.url.len;
    m->key_len[m->n] = item.key.len;
    buf_add_bytes(&m->text, item.url);
    buf_add_bytes(&m->text, item.key);
    return ++m->n == BATCH ? flush(m) : STATUS_OK;
}

/* ---- what others have done ---- */

struct other {
    struct cluster_move_out *m;
    struct reader reader;
    struct buf url;
};

/* What was removed there was done by somebody else. */
static enum status take_done(struct other *o, const struct fetch_row *f)
{
    struct reader *r = &o->reader;
    struct import_fact fact = {.outcome = {f->status, REASON_IMPORTED,
                                           f->http_status},
                               .at_ms = f->at_ms,
                               .detail =
                                   bytes_of_str("done by another worker")};
    struct url_row row;
    struct bytes crawl, key;
    enum status st;

    if (!reader_is_newest(r, f) || f->reason == REASON_REMOVED)
        return STATUS_OK;
    if (f->status == OUTCOME_DENIED)
        fact.outcome.status = OUTCOME_SKIPPED;
    st = frontier_store_get(r->store, f->url, &row, &o->url);
    if (st != STATUS_OK)
        return st;
    frontier_store_queue_name(r->store, row.queue, &crawl, &key);
    return add(o->m,
               (struct engine_item){.key = key,
                                    .url = row.url,
                                    .depth = row.depth,
                                    .hops = row.hops,
                                    .kind = row.kind,
                                    .seed = (row.flags & URL_ROW_SEED) != 0},
               fact, -1, 0);
}

static bool visit_done(void *ctx, const struct fetch_row *f)
{
    struct other *o = ctx;

    o->m->st = take_done(o, f);
    return o->m->st == STATUS_OK;
}

enum status cluster_move_out_worker(struct cluster_move_out *m, const char *dir)
{
    struct other o = {.m = m};
    enum status st = reader_open(&o.reader, dir);

    if (st != STATUS_OK)
        return st;
    buf_init(&o.url, TEXT_MOST);
    m->st = STATUS_OK;
    if (memcmp(&o.reader.key, m->e->ops->digest_key(m->e),
               sizeof o.reader.key) != 0)
        st = STATUS_ARG;
    if (st == STATUS_OK)
        st = reader_find_newest(&o.reader);
    if (st == STATUS_OK)
        st = page_store_each(o.reader.pages, 0, visit_done, &o);
    if (st == STATUS_OK)
        st = m->st;
    if (st == STATUS_OK)
        st = flush(m);
    buf_fini(&o.url);
    reader_close(&o.reader);
    return st;
}

/* ---- what waits ---- */

static enum status take_waiting(void *ctx, const struct cluster_waiting *w)
{
    struct cluster_move_out *m = ctx;
    struct cluster_item item;
    struct buf url;
    enum status st;

    buf_init(&url, CLUSTER_ITEM_MOST);
    if (!cluster_item_is_valid(&item, w->item, w->host, LINK_KIND_COUNT_,
                               &url)) {
        log_warn("the cluster has an item that is not a URL of ours; it is "
                 "dropped",
                 "octets=%zu", w->item.len);
        m->invalid++;
        buf_fini(&url);
        return STATUS_OK;
    }
    st = add(m,
             (struct engine_item){.key = w->host,
                                  .url = item.url,
                                  .depth = item.depth,
                                  .hops = item.hops,
                                  .kind = item.kind,
                                  .seed = item.seed},
             (struct import_fact){.outcome = {.status = OUTCOME_QUEUED}},
             w->delay_ms, w->wait_ms);
    buf_fini(&url);
    return st;
}

enum status cluster_move_out_waiting(struct cluster_move_out *m)
{
    enum status st = STATUS_OK;

    for (unsigned i = 0; st == STATUS_OK && i < cluster_store_shards(m->store);
         i++) {
        st = cluster_move_read(m->store, i, take_waiting, m);
        if (st == STATUS_OK)
            st = keep_held(m);
    }
    return st == STATUS_OK ? flush(m) : st;
}

/* ---- hosts ---- */

/* What the directory had of the cluster's, or from before it was a worker's. */
static enum status forget_sets(struct engine *e)
{
    struct engine_stats all;
    enum status st = STATUS_OK;

    e->ops->stats(e, &all);
    for (uint32_t i = 1; st == STATUS_OK && i <= all.queues; i++) {
        int64_t now = clock_mono();
        struct external_queue q;

        e->ops->external_get_queue(e, i, now, &q);
        if (q.set_delay >= 0)
            st = e->ops->delay(e, bytes_of_str(CRAWL_ID),
                               e->ops->queue_key(e, i), -1, now);
        if (st == STATUS_OK && q.limit > 0)
            st = e->ops->limit_queue(e, i, 0, 0, now);
    }
    return st;
}

static enum status take_set(void *ctx, const struct cluster_host_set *h)
{
    const struct cluster_move_out *m = ctx;
    const struct bytes crawl = bytes_of_str(CRAWL_ID);
    struct engine *e = m->e;
    uint32_t queue = e->ops->find_queue(e, crawl, h->host);
    int64_t now = clock_mono();

    if (queue == 0) {
        log_warn("what was set for a host without URLs is not kept",
                 "host=%.*s", (int)h->host.len, h->host.at);
        return STATUS_OK;
    }
    switch (h->what) {
    case CLUSTER_HOST_BLOCK:
        return h->value == 0 ? STATUS_OK
                             : e->ops->block(e, crawl, h->host,
                                             now + h->value * NS_PER_MS, now,
                                             clock_wall_ms());
    case CLUSTER_HOST_DELAY:
        return e->ops->delay(e, crawl, h->host, h->value, now);
    default:
        return e->ops->limit_queue(e, queue,
                                   (uint32_t)clock_earlier(h->value,
                                                           UINT32_MAX),
                                   h->done, now);
    }
}

enum status cluster_move_out_hosts(struct cluster_move_out *m)
{
    enum status st = forget_sets(m->e);

    for (unsigned i = 0; st == STATUS_OK && i < cluster_store_shards(m->store);
         i++) {
        st = cluster_move_read_hosts(m->store, i, take_set, m);
        if (st == STATUS_OK)
            st = keep_held(m);
    }
    return st;
}

/* ---- is all known? ---- */

static void note_row(void *ctx, const struct url_row *row)
{
    struct cluster_move_out *m = ctx;

    buf_add_bytes(&m->read, row->url);
    m->row[m->rows++] = *row;
}

static void found(void *ctx, enum status st, const bool *fresh, size_t n)
{
    struct cluster_move_out *m = ctx;

    for (size_t i = 0; i < n; i++)
        m->found += !fresh[i];
    m->ended = true;
    m->st = st;
}

static enum status seek(struct cluster_move_out *m, size_t n)
{
    enum status st;

    m->ended = false;
    st = cluster_store_seek(m->store, m->url, n, found, m);
    while (st == STATUS_OK && !m->ended)
        cluster_store_turn(m->store, NS_PER_S);
    return st == STATUS_OK ? m->st : st;
}

static enum status check_step(struct cluster_move_out *m, uint64_t first,
                              uint64_t *known)
{
    struct engine *e = m->e;
    size_t at = 0, n = 0;
    enum status st;

    m->rows = m->found = 0;
    buf_clear(&m->read);
    st = e->ops->each_url(e, first, first + STEP - 1, note_row, m);
    if (st == STATUS_OK)
        st = buf_failed(&m->read);
    for (size_t i = 0; st == STATUS_OK && i < m->rows; i++) {
        const struct bytes key = e->ops->queue_key(e, m->row[i].queue),
                           url = bytes_of(m->read.at + at, m->row[i].url.len);
        struct external_facts facts;
        uint64_t id = 0;

        at += url.len;
        st = e->ops->identify(e, key, url, &id);
        if (st != STATUS_OK || id != m->row[i].id)
            continue;
        e->ops->external_get_facts(e, id, clock_mono(), &facts);
        m->counts.waiting += !facts.done;
        m->counts.unknown += !facts.done && facts.due_for > PARKED_LEAST;
        m->url[n++] =
            (struct cluster_url){.host = key,
                                 .digest = digest_url(e->ops->digest_key(e),
                                                      bytes_of_str(CRAWL_ID),
                                                      key, url)};
    }
    if (st == STATUS_OK)
        st = seek(m, n);
    *known += m->found;
    return st == STATUS_OK ? keep_held(m) : st;
}

static void counted(void *ctx, enum status st, const struct cluster_counts *c)
{
    struct cluster_move_out *m = ctx;

    m->ended = true;
    m->st = st;
    m->counts.unknown += c->seen;
}

enum status cluster_move_out_check(struct cluster_move_out *m,
                                   struct cluster_out_counts *out)
{
    struct engine_stats s;
    uint64_t known = 0;
    enum status st = STATUS_OK;

    m->e->ops->stats(m->e, &s);
    m->counts.waiting = m->counts.unknown = 0;
    for (uint64_t at = 1; st == STATUS_OK && at <= s.urls; at += STEP)
        st = check_step(m, at, &known);
    m->ended = false;
    if (st == STATUS_OK)
        cluster_store_count(m->store, counted, m);
    while (st == STATUS_OK && !m->ended)
        cluster_store_turn(m->store, NS_PER_S);
    if (st == STATUS_OK)
        st = m->st;
    known += m->invalid;
    m->counts.unknown -= known < m->counts.unknown ? known : m->counts.unknown;
    *out = m->counts;
    return st;
}

/* ---- the end ---- */

/* The directory that the crawl went to has the same mark as its record, so no
 * other one may take it a second time. */
static enum status end_with(struct cluster_move_out *m, struct buf *mark)
{
    enum status st = m->e->ops->meta(m->e, MARK, mark);
    unsigned char random[8];

    if (st == STATUS_NOT_FOUND) {
        if (cluster_store_is_moved(m->store))
            return STATUS_EXISTS;
        if (getrandom(random, sizeof random, 0) != sizeof random)
            return STATUS_IO;
        buf_clear(mark);
        for (size_t i = 0; i < sizeof random; i++)
            buf_addf(mark, "%02x", random[i]);
        st = m->e->ops->set_meta(m->e, MARK, buf_bytes(mark));
    }
    if (st == STATUS_OK)
        st = m->e->ops->turn(m->e, true, clock_mono(), clock_wall_ms(), NULL);
    return st == STATUS_OK ? cluster_store_end_move(m->store, buf_bytes(mark))
                           : st;
}

static enum status end_move(struct cluster_move_out *m)
{
    struct buf mark;
    enum status st;

    buf_init(&mark, 100);
    st = end_with(m, &mark);
    buf_fini(&mark);
    return st;
}

enum status cluster_move_out_may(struct cluster_move_out *m)
{
    return cluster_store_is_moved(m->store) ? end_move(m) : STATUS_OK;
}

enum status cluster_move_out_end(struct cluster_move_out *m)
{
    int64_t left;
    enum status st = end_move(m);

    return st == STATUS_OK ? cluster_move_hold(m->store, -1, &left) : st;
}
