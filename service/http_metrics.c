/* SPDX-License-Identifier: MIT */
/*
 * http_metrics.c - /metrics in Prometheus' text format 0.0.4, and /healthz.
 *
 * Each family is a HELP line, a TYPE line and one sample; names end in their
 * unit, counters in _total. Source: prometheus.io, "Exposition formats".
 */
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "service/http_request.h"

#define PAGE_MOST 65536

struct family {
    const char *name, *type, *help;
    uint64_t value;
};

static void add_family(struct buf *out, const struct family *f)
{
    buf_addf(out, "# HELP urlweir_%s %s\n# TYPE urlweir_%s %s\nurlweir_%s ",
             f->name, f->help, f->name, f->type, f->name);
    buf_add_uint(out, f->value);
    buf_add_char(out, '\n');
}

static void add_frontier(struct buf *out, struct frontier_service *s)
{
    struct frontier_service_sample v;

    frontier_service_sample(s, &v);
    {
        const struct family all[] = {
            {"frontier_calls_total", "counter", "Calls carried out.", v.calls},
            {"frontier_puts_total", "counter", "URLs put.", v.puts},
            {"frontier_urls_leased_total", "counter", "URLs handed out.",
             v.gets_urls},
            {"frontier_commits_total", "counter", "Commits, each synced.",
             v.commits},
            {"frontier_waiting_items", "gauge",
             "Items in calls that wait for the frontier.", v.waiting},
            {"frontier_urls", "gauge",
             "URLs not completed, leased ones included.", v.all.size},
            {"frontier_leased_urls", "gauge", "URLs handed out now.",
             v.all.in_process},
            {"frontier_completed_urls", "gauge", "URLs completed.",
             v.all.completed},
            {"frontier_queues", "gauge", "Queues.", v.all.queues},
            {"frontier_active_queues", "gauge", "Queues with URLs to serve.",
             v.all.active_queues},
            {"frontier_crawl_rows", "gauge",
             "Crawls ever, removed ones included.", v.crawls},
            {"frontier_url_rows", "gauge", "URLs ever, removed ones included.",
             v.urls},
            {"frontier_memory_bytes", "gauge", "What the frontier holds.",
             v.memory},
            {"frontier_active", "gauge", "1: URLs are handed out.", v.active},
            {"frontier_broken", "gauge",
             "1: the store failed, nothing is taken any more.", v.broken},
        };

        for (size_t i = 0; i < sizeof all / sizeof *all; i++)
            add_family(out, &all[i]);
    }
}

static void add_process(struct buf *out, struct http_server *s)
{
    struct http_sample v;

    http_server_sample(s, &v);
    {
        const struct family all[] = {
            {"http_requests_total", "counter", "HTTP requests.", v.requests},
            {"http_connections", "gauge", "HTTP connections that are open.",
             v.connections},
            {"process_resident_memory_bytes", "gauge",
             "Resident memory of the process.", mem_resident()},
        };

        for (size_t i = 0; i < sizeof all / sizeof *all; i++)
            add_family(out, &all[i]);
    }
    buf_addf(out,
             "# HELP urlweir_process_cpu_seconds_total CPU time, user and "
             "system.\n# TYPE urlweir_process_cpu_seconds_total counter\n"
             "urlweir_process_cpu_seconds_total %.3f\n"
             "# HELP urlweir_build_info Release.\n"
             "# TYPE urlweir_build_info gauge\n"
             "urlweir_build_info{version=\"%s\"} 1\n",
             (double)clock_cpu() / (double)NS_PER_S, URLWEIR_VERSION);
}

void http_ask_metrics(struct http_request *r)
{
    struct buf out;
    size_t len;
    char *text;

    buf_init(&out, PAGE_MOST);
    if (http_server_frontier(r->server) != NULL)
        add_frontier(&out, http_server_frontier(r->server));
    add_process(&out, r->server);
    text = buf_take(&out, &len);
    http_answer_text(r, "text/plain; version=0.0.4; charset=utf-8", text, len);
    buf_fini(&out);
}

void http_ask_health(struct http_request *r)
{
    struct frontier_service_sample frontier = {.broken = false};
    struct http_sample http;
    const char *is = "ok";
    json_t *j = json_object();

    if (http_server_frontier(r->server) != NULL)
        frontier_service_sample(http_server_frontier(r->server), &frontier);
    http_server_sample(r->server, &http);
    if (http.stopping)
        is = "stopping";
    if (frontier.broken)
        is = "broken";
    json_object_set_new(j, "status", json_string(is));
    http_answer(r, http.stopping || frontier.broken ? 503 : 200, j);
}
