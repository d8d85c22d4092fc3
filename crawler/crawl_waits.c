/* SPDX-License-Identifier: MIT */
/* crawl_waits.c - hosts with URLs left when a crawl ends. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "crawler/crawl_impl.h"

#define LONG_QUEUES 1000

static bool is_noted(const struct crawl_result *r, struct bytes host)
{
    for (size_t i = 0; i < r->wait_count; i++)
        if (bytes_is(host, r->waits[i].host))
            return true;
    return false;
}

void crawl_note_wait(struct crawl *c, struct bytes host, const char *why,
                     uint64_t urls, int64_t ns)
{
    struct crawl_result *r = &c->result;
    struct crawl_wait *w = &r->waits[r->wait_count];

    if (r->wait_count == CRAWL_WAITS || is_noted(r, host))
        return;
    *w = (struct crawl_wait){.why = why, .urls = urls, .ns = ns};
    snprintf(w->host, sizeof w->host, "%.*s",
             (int)(host.len < 200 ? host.len : 200), host.at);
    r->wait_count++;
}

/* Of the hosts with the most URLs left, the one whose delays take longest. */
static void note_longest(struct crawl *c, int64_t now)
{
    struct engine_host_row *rows = xcalloc(LONG_QUEUES, sizeof *rows);
    double longest = 0;
    bool all;
    size_t n = c->engine->ops->hosts(c->engine, ENGINE_HOSTS_BIGGEST,
                                     LONG_QUEUES, now, rows, &all);

    for (size_t i = 0; i < n; i++) {
        const struct engine_host_row *r = &rows[i];
        double takes = (double)r->queued * (double)r->delay;

        if (takes <= longest || r->over_budget || r->state == ENGINE_HOST_DEAD)
            continue;
        longest = takes;
        c->result.longest = (struct crawl_wait){.why = r->delay_why,
                                                .urls = r->queued,
                                                .ns = r->delay};
        snprintf(c->result.longest.host, sizeof c->result.longest.host, "%.*s",
                 (int)(r->host.len < 200 ? r->host.len : 200), r->host.at);
    }
    free(rows);
}

void crawl_note_waits(struct crawl *c, int64_t now)
{
    struct engine_host_row rows[CRAWL_WAITS];
    size_t n;
    bool all;

    if (c->end == CRAWL_FINISHED || c->end == CRAWL_IDLE)
        return;
    note_longest(c, now);
    n = c->engine->ops->hosts(c->engine, ENGINE_HOSTS_BLOCKED, CRAWL_WAITS, now,
                              rows, &all);
    for (size_t i = 0; i < n; i++) {
        bool given_up = rows[i].state == ENGINE_HOST_DEAD;
        bool over_budget = rows[i].over_budget;

        /* one that was given up may have dates alone */
        if (rows[i].queued > 0
                ? given_up || over_budget || c->end == CRAWL_GAVE_UP
                : given_up && c->end == CRAWL_GAVE_UP)
            crawl_note_wait(c, rows[i].host, rows[i].why, rows[i].queued,
                            given_up      ? -1
                            : over_budget ? INT64_MAX
                                          : rows[i].due - now);
    }
}
