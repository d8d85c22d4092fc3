/* SPDX-License-Identifier: MIT */
/* crawl_stats.c - the state of a crawl, for progress and monitors. */
#include <string.h>

#include "base/clock.h"
#include "base/histogram.h"
#include "crawler/crawl_impl.h"

#define STATS_INTERVAL  (100 * NS_PER_MS)
#define ENGINE_INTERVAL NS_PER_S
#define HOSTS_MOST      32 /* hosts searched for the reason */

/* ---- the latest answers ---- */

/* Copies as many whole UTF-8 characters of `s` as fit. */
static void keep_text(char *to, size_t size, struct bytes s)
{
    size_t n = s.len < size - 1 ? s.len : size - 1;

    while (n > 0 && n < s.len && ((unsigned char)s.at[n] & 0xc0) == 0x80)
        n--;
    if (n > 0)
        memcpy(to, s.at, n);
    to[n] = '\0';
}

void crawl_remember(struct crawl *c, const struct engine_done *d)
{
    struct bytes url = c->engine->ops->leased_url(c->engine, d->id);
    struct crawl_answer *a;

    pthread_mutex_lock(&c->mtx);
    a = &c->recent[c->answers++ % CRAWL_RECENT];
    a->at_ms = d->row.at_ms;
    a->outcome = d->outcome;
    a->elapsed_ms = d->row.elapsed_ms;
    a->bytes = d->row.wire_bytes;
    keep_text(a->url, sizeof a->url, url);
    keep_text(a->title, sizeof a->title, d->row.title);
    pthread_mutex_unlock(&c->mtx);
}

void crawl_set_outcome(struct crawl *c, uint64_t nth, struct outcome o)
{
    pthread_mutex_lock(&c->mtx);
    if (c->answers - nth <= CRAWL_RECENT)
        c->recent[nth % CRAWL_RECENT].outcome = o;
    pthread_mutex_unlock(&c->mtx);
}

size_t crawl_recent(struct crawl *c, struct crawl_answer *out, size_t most)
{
    size_t n = 0;

    pthread_mutex_lock(&c->mtx);
    for (; n < most && n < CRAWL_RECENT && n < c->answers; n++)
        out[n] = c->recent[(c->answers - 1 - n) % CRAWL_RECENT];
    pthread_mutex_unlock(&c->mtx);
    return n;
}

/* ---- the stats ---- */

/* Takes the engine's stats again if they are a second old, when the last URL is
 * done, and at the end, when no fetcher is left. */
static void update_engine(struct crawl *c, int64_t now, uint64_t queued)
{
    bool last_done = queued == 0 && c->engine_queued > 0;

    if (c->engine_at != 0 && c->gone < c->o.threads && !last_done &&
        now - c->engine_at < ENGINE_INTERVAL)
        return;
    c->engine->ops->get_stats(c->engine, now, &c->frontier);
    c->memory = c->engine->ops->memory(c->engine); /* SQLite adds up its own */
    c->engine_at = now;
    c->engine_queued = queued;
}

static void update_rates(struct crawl *c, const struct engine_stats *s,
                         int64_t now)
{
    int64_t ms = (now - c->rated_at) / NS_PER_MS;

    if (c->rated_at != 0 && now - c->rated_at < ENGINE_INTERVAL)
        return;
    if (c->rated_at != 0) {
        rate_follow(&c->pages_rate, engine_stats_fetches(&c->counted),
                    engine_stats_fetches(s), ms);
        rate_follow(&c->bytes_rate, c->counted.bytes, s->bytes, ms);
    }
    c->counted = *s;
    c->rated_at = now;
}

/* True: the host is among the first in that order, and *w is filled in. */
static bool find_why(struct crawl *c, enum engine_host_order by,
                     struct crawl_standstill *w, int64_t now)
{
    struct engine_host_row rows[HOSTS_MOST];
    bool all;
    size_t n =
        c->engine->ops->hosts(c->engine, by, HOSTS_MOST, now, rows, &all);

    for (size_t i = 0; i < n; i++)
        if (bytes_is(rows[i].host, w->host)) {
            w->why = rows[i].why;
            w->http_status = rows[i].http_status;
            return true;
        }
    return false;
}

/* Finds out why the host that the crawl waits for is not asked. The engine
 * searches all hosts, so this runs at most once a second. */
static void ask_why(struct crawl *c, struct crawl_standstill *w, int64_t now)
{
    if (strcmp(c->standstill.host, w->host) == 0 &&
        now - c->asked_why_at < ENGINE_INTERVAL) {
        w->why = c->standstill.why;
        w->http_status = c->standstill.http_status;
        return;
    }
    c->asked_why_at = now;
    if (!find_why(c, ENGINE_HOSTS_BLOCKED, w, now))
        (void)find_why(c, ENGINE_HOSTS_BIGGEST, w, now);
}

static void update_standstill(struct crawl *c, const struct engine_stats *s,
                              int64_t now)
{
    struct crawl_standstill w = {.why = ""};
    struct bytes host = {"", 0};
    int64_t due = now;

    if (c->end != CRAWL_RUNNING)
        return; /* what it waited for last is worth knowing */
    if (c->out == 0 && s->queued > 0 && !atomic_load(&c->paused))
        due = c->engine->ops->next_due(c->engine, now, &host);
    if (due != INT64_MAX && due - now >= NS_PER_S && host.len > 0) {
        keep_text(w.host, sizeof w.host, host);
        w.ns = due - now;
        ask_why(c, &w, now);
    }
    c->standstill = w;
}

/* Adds up what the fetchers count; returns their open connections. */
static struct open_connections {
    uint64_t tls, plain;
} count_fetchers(struct crawl *c, struct crawl_stats *s)
{
    struct open_connections open = {0, 0};

    for (unsigned i = 0; i < c->o.threads; i++) {
        const struct fetcher_counters *k = fetcher_counters(c->fetchers[i]);

        s->active += atomic_load(&k->active);
        s->requests += atomic_load(&k->requests);
        s->wire_bytes += atomic_load(&k->wire_bytes);
        s->connections += atomic_load(&k->connections.opened);
        s->handshakes_resumed += atomic_load(&k->connections.resumed);
        s->handshakes += atomic_load(&k->connections.full);
        open.tls += atomic_load(&k->connections.tls);
        open.plain += atomic_load(&k->connections.plain);
        fetch_stats_add(fetcher_fetch_counters(c->fetchers[i]), &s->fetches);
    }
    s->handshakes += s->handshakes_resumed;
    s->connections_open = open.tls + open.plain;
    return open;
}

/* Divides memory between transfers and bodies, for as many connections as there
 * are now. */
static void divide_memory(struct crawl *c, const struct crawl_stats *s,
                          struct open_connections open)
{
    struct body_pool *bodies = c->o.fetch->bodies;
    uint64_t excess;
    size_t most;

    if (c->o.connections == NULL)
        return;
    connection_budget_update(c->o.connections, s->memory.all);
    if (!c->o.auto_concurrency)
        return;
    most = connection_budget_transfers(c->o.connections, open.tls, open.plain,
                                       body_pool_size(bodies));
    c->in_force = most < c->o.concurrency ? most : c->o.concurrency;
    excess = connection_budget_excess(c->o.connections, open.tls, open.plain,
                                      s->active);
    if (excess > c->charged)
        body_pool_hold(bodies, excess - c->charged);
    else if (excess < c->charged)
        body_pool_give(bodies, NULL, c->charged - excess);
    c->charged = excess;
}

void crawl_publish(struct crawl *c, int64_t now, bool force)
{
    struct crawl_stats s = {.draining = c->end != CRAWL_RUNNING,
                            .paused = atomic_load(&c->paused)};

    if (!force && now - c->published < STATS_INTERVAL)
        return;
    c->published = now;
    c->engine->ops->stats(c->engine, &s.engine);
    update_engine(c, now, s.engine.queued);
    s.memory = c->memory;
    divide_memory(c, &s, count_fetchers(c, &s));
    s.frontier = c->frontier;
    update_rates(c, &s.engine, now);
    update_standstill(c, &s.engine, now);
    s.pages_rate = c->pages_rate;
    s.bytes_rate = c->bytes_rate;
    s.standstill = c->standstill;
    if (c->o.fetch->bodies != NULL)
        s.bodies = body_pool_used(c->o.fetch->bodies);
    s.stuck = watchdog_stuck(c->watchdog);
    s.transfers_most = c->in_force;
    pthread_mutex_lock(&c->mtx);
    c->stats = s;
    pthread_mutex_unlock(&c->mtx);
}

void crawl_get_stats(struct crawl *c, struct crawl_stats *out)
{
    pthread_mutex_lock(&c->mtx);
    *out = c->stats;
    pthread_mutex_unlock(&c->mtx);
    out->paused = atomic_load(&c->paused); /* seen at once after a pause */
}
