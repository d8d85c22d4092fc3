/*
 * served_model.h - the simplest possible frontier, written from the URLFrontier
 * contract: arrays, searched from end to end. Header only.
 *
 * It is plain data: a copy taken at a commit is what a restart after a crash
 * must find.
 */
#ifndef URLWEIR_TESTS_FRONTIER_SERVED_SERVED_MODEL_H
#define URLWEIR_TESTS_FRONTIER_SERVED_SERVED_MODEL_H

#include <stdio.h>
#include <string.h>

#include "tests/unit/frontier/engine_rig.h"

#define CRAWLS 3
#define KEYS   4 /* per crawl */
#define URLS   9 /* per queue */

struct m_url {
    bool there;
    uint64_t arrival;
    int64_t created, due; /* due 0: completed */
    int64_t leased_until, leased_at;
    char metadata[96];
};

struct m_queue {
    bool there;
    uint32_t number; /* order of first appearance; 0: never seen */
    int64_t delay, blocked, served;
    uint32_t limit;
    uint64_t turn;
    struct m_url urls[URLS];
};

struct model {
    struct m_queue queues[CRAWLS][KEYS];
    uint64_t arrivals, turns;
    uint32_t numbers;
    int64_t default_delay;
    bool active;
};

/* What a GET must return, in order. */
struct m_answer {
    unsigned crawl, key, url;
};

static inline void m_init(struct model *m)
{
    *m = (struct model){.default_delay = 1000, .active = true};
    for (unsigned c = 0; c < CRAWLS; c++) {
        for (unsigned k = 0; k < KEYS; k++)
            m->queues[c][k].delay = -1;
    }
}

static inline bool m_leased(const struct m_url *u, int64_t now)
{
    return u->there && u->due != 0 && u->leased_until > now;
}

/* Returns true if the URL was new. */
static inline bool m_put(struct model *m, unsigned c, unsigned k, unsigned n,
                         bool known, int64_t due, const char *metadata,
                         int64_t now)
{
    struct m_queue *q = &m->queues[c][k];
    struct m_url *u = &q->urls[n];
    bool fresh = !u->there;

    if (fresh) {
        *u = (struct m_url){.there = true,
                            .arrival = ++m->arrivals,
                            .created = now,
                            .due = due != 0 ? due : now};
        if (!q->there)
            q->turn = ++m->turns;
        if (q->number == 0)
            q->number = ++m->numbers;
        q->there = true;
    }
    if (known) {
        u->due = due;
        u->leased_until = 0;
    }
    if (known || fresh)
        snprintf(u->metadata, sizeof u->metadata, "%s",
                 known && due == 0 ? "" : metadata);
    return fresh;
}

static inline void m_counts(const struct m_queue *q, int64_t now,
                            struct url_counts *c)
{
    uint64_t active = 0;

    for (unsigned n = 0; n < URLS; n++) {
        const struct m_url *u = &q->urls[n];

        active += u->there && u->due != 0;
        c->completed += u->there && u->due == 0;
        c->leased += m_leased(u, now);
    }
    c->active += active;
    c->queues += q->there;
    c->active_queues += active > 0;
}

/* Returns the queue's next URL to hand out; URLS: none. */
static inline unsigned m_next(const struct m_queue *q, int64_t now)
{
    unsigned best = URLS;

    for (unsigned n = 0; n < URLS; n++) {
        const struct m_url *u = &q->urls[n], *b = &q->urls[best % URLS];

        if (!u->there || u->due == 0 || u->due > now || m_leased(u, now))
            continue;
        if (best == URLS || u->due < b->due ||
            (u->due == b->due && u->arrival < b->arrival))
            best = n;
    }
    return best;
}

static inline bool m_may_serve(const struct model *m, const struct m_queue *q,
                               uint32_t cap, int64_t now)
{
    struct url_counts c = {0};
    int64_t delay = q->delay >= 0 ? q->delay : m->default_delay;

    m_counts(q, now, &c);
    return q->there && q->blocked <= now &&
           (q->limit == 0 || c.completed < q->limit) &&
           (q->served == 0 || q->served + delay <= now) &&
           (cap == 0 || c.leased < cap) && m_next(q, now) < URLS;
}

static inline size_t m_serve(struct model *m, unsigned c, unsigned k,
                             const struct url_ask *g, int64_t now,
                             struct m_answer *out)
{
    struct m_queue *q = &m->queues[c][k];
    size_t n = 0;
    unsigned u;

    while ((g->most_urls == 0 || n < g->most_urls) &&
           (u = m_next(q, now)) < URLS) {
        q->urls[u].leased_until = now + g->lease_ms;
        q->urls[u].leased_at = now;
        out[n++] = (struct m_answer){c, k, u};
    }
    q->served = now;
    q->turn = ++m->turns;
    return n;
}

/* `c` or `k` equal to CRAWLS or KEYS means any. */
static inline size_t m_get(struct model *m, unsigned crawl, unsigned key,
                           const struct url_ask *g, int64_t now,
                           struct m_answer *out)
{
    uint64_t before = m->turns;
    size_t n = 0;

    for (uint32_t served = 0;
         m->active && (g->most_queues == 0 || served < g->most_queues);
         served++) {
        unsigned best_c = CRAWLS, best_k = KEYS;

        for (unsigned c = 0; c < CRAWLS; c++) {
            for (unsigned k = 0; k < KEYS; k++) {
                const struct m_queue *q = &m->queues[c][k];

                if ((crawl < CRAWLS && c != crawl) || (key < KEYS && k != key))
                    continue;
                if (q->turn > before || !m_may_serve(m, q, g->most_urls, now))
                    continue;
                if (best_c == CRAWLS ||
                    q->turn < m->queues[best_c][best_k].turn)
                    best_c = c, best_k = k;
            }
        }
        if (best_c == CRAWLS)
            break;
        n += m_serve(m, best_c, best_k, g, now, out + n);
    }
    return n;
}

static inline uint64_t m_remove(struct model *m, unsigned c, unsigned k)
{
    struct m_queue *q = &m->queues[c][k];
    struct url_counts counts = {0};
    uint32_t number = q->number;

    m_counts(q, 0, &counts);
    *q = (struct m_queue){.number = number, .delay = -1};
    return counts.active + counts.completed;
}

static inline uint64_t m_purge(struct model *m, unsigned c, unsigned k,
                               int64_t before)
{
    uint64_t gone = 0;

    for (unsigned n = 0; n < URLS; n++) {
        struct m_url *u = &m->queues[c][k].urls[n];

        if (!u->there || u->created >= before)
            continue;
        *u = (struct m_url){0};
        gone++;
    }
    return gone;
}

/* The store does not keep the round robin: after a restart, the queue served
 * longest ago comes first. */
static inline void m_restart(struct model *m)
{
    bool ranked[CRAWLS][KEYS] = {{false}};
    uint64_t turn = 0;

    for (;;) {
        struct m_queue *best = NULL;
        bool *mark = NULL;

        for (unsigned c = 0; c < CRAWLS; c++) {
            for (unsigned k = 0; k < KEYS; k++) {
                struct m_queue *q = &m->queues[c][k];

                if (!q->there || ranked[c][k])
                    continue;
                if (best == NULL || q->served < best->served ||
                    (q->served == best->served && q->number < best->number))
                    best = q, mark = &ranked[c][k];
            }
        }
        if (best == NULL)
            break;
        *mark = true;
        best->turn = ++turn;
    }
    m->turns = turn;
}

#endif
