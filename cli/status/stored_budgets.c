/* SPDX-License-Identifier: MIT */
/* stored_budgets.c - which hosts of a stored crawl are over a budget. */
#include "cli/status/stored_budgets.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "frontier/url/host.h"
#include "storage/rows/served_log.h"

struct domain {
    uint64_t pages;
    struct source_bits sources;
};

struct host {
    uint64_t pages, octets, limit, completed;
    uint32_t sources;
    struct domain *domain; /* NULL without --per-domain */
};

struct stored_budgets {
    struct budgets budgets;
    struct reader *reader;
    struct map *domains; /* registrable domain -> struct domain */
    struct host *hosts;  /* by queue - 1 */
    uint32_t count;
};

static struct domain *domain_of(struct stored_budgets *s, uint32_t queue)
{
    struct bytes crawl, key, name;
    struct domain *d;

    frontier_store_queue_name(s->reader->store, queue, &crawl, &key);
    name = host_registrable(key);
    d = map_get(s->domains, name);
    if (d == NULL) {
        d = xcalloc(1, sizeof *d);
        (void)map_put(s->domains, name, d);
    }
    return d;
}

static void take_state(void *ctx, uint32_t queue, const struct queue_state *q)
{
    struct stored_budgets *s = ctx;
    struct source_bits sources;
    struct host *h;

    if (queue < 1 || queue > s->count)
        return;
    memcpy(sources.octet, q->sources, sizeof sources.octet);
    h = &s->hosts[queue - 1];
    h->pages = q->fetched;
    h->octets = q->octets;
    h->sources = q->linked ? source_bits_count(&sources) : 0;
    if (h->domain == NULL)
        return;
    h->domain->pages += q->fetched;
    if (q->linked)
        (void)source_bits_join(&h->domain->sources, &sources);
}

static void take_limit(void *ctx, uint32_t queue,
                       const struct served_queue_row *row)
{
    struct stored_budgets *s = ctx;

    if (queue < 1 || queue > s->count)
        return;
    s->hosts[queue - 1].limit = row->completed_most;
    s->hosts[queue - 1].completed = row->completed;
}

enum status stored_budgets_load(struct stored_budgets **out, struct reader *r,
                                const struct budgets *b)
{
    struct stored_budgets *s = xcalloc(1, sizeof *s);
    struct served_log *log = NULL;
    enum status st;

    s->budgets = *b;
    s->reader = r;
    s->domains = map_new();
    s->count = frontier_store_queue_count(r->store);
    s->hosts = xcalloc(s->count, sizeof *s->hosts);
    for (uint32_t i = 0; b->domain_pages > 0 && i < s->count; i++)
        s->hosts[i].domain = domain_of(s, i + 1);
    st = frontier_store_each_queue_state(r->store, take_state, s);
    if (st == STATUS_OK)
        st = served_log_open(&log, r->db);
    if (st == STATUS_OK)
        st = served_log_each_queue(log, take_limit, s);
    served_log_close(log);
    *out = s;
    if (st != STATUS_OK) {
        stored_budgets_free(s);
        *out = NULL;
    }
    return st;
}

void stored_budgets_free(struct stored_budgets *s)
{
    if (s == NULL)
        return;
    map_free(s->domains, free);
    free(s->hosts);
    free(s);
}

const char *stored_budgets_over(const struct stored_budgets *s, uint32_t queue)
{
    const struct host *h = &s->hosts[queue - 1];
    struct budget_spent spent = {
        .host_pages = h->pages,
        .host_octets = h->octets,
        .host_sources = h->sources,
    };
    const char *which;

    if (h->domain != NULL) {
        spent.domain_pages = h->domain->pages;
        spent.domain_sources = source_bits_count(&h->domain->sources);
    }
    if (budget_left(&s->budgets, &spent, &which) == 0)
        return which;
    return h->limit > 0 && h->completed >= h->limit ? "limit" : NULL;
}
