/* SPDX-License-Identifier: MIT */
/*
 * http_metrics.c - /metrics in Prometheus' text format 0.0.4, and /healthz.
 *
 * It shows only stats that other threads have published: a scrape waits for no
 * frontier thread and reads no store.
 */
#include <stdio.h>
#include <stdlib.h>

#include "service/calls/frontier_service.h"
#include "service/http/http_request.h"
#include "service/http/http_server.h"
#include "service/metrics/metrics_parts.h"

#define HTTP      "http"
#define PAGE_MOST ((size_t)64 << 20) /* some 20 KB a crawl */

static void add_route(struct metrics_text *m, const struct http_counters *t,
                      unsigned group)
{
    for (unsigned c = 1; c < HTTP_CLASSES; c++) {
        uint64_t n =
            atomic_load_explicit(&t->classes[group][c], memory_order_relaxed);
        char code[16];

        snprintf(code, sizeof code, "%uxx", c);
        if (n > 0 || c == 2 || c == 4)
            metrics_uint(m,
                         METRICS_LABELS({"route", t->names[group]},
                                        {"code", code}),
                         n);
    }
}

static void add_http(struct metrics_text *m, struct http_server *s)
{
    const struct http_counters *t = http_server_tally(s);
    struct http_stats v;

    http_server_get_stats(s, &v);
    metrics_family(m, HTTP, "requests_total", METRICS_COUNTER,
                   "Requests answered, by path and status.");
    for (unsigned g = 0; g < t->count; g++)
        add_route(m, t, g);
    metrics_family(m, HTTP, "request_duration_seconds", METRICS_HISTOGRAM,
                   "From a request's line to its answer's being ready.");
    for (unsigned g = 0; g < t->count; g++) {
        struct histogram_stats h = {{0}, 0};

        histogram_add_to(&t->took[g], &h);
        if (histogram_count(&h) > 0)
            metrics_histogram(m, METRICS_LABELS({"route", t->names[g]}), &h);
    }
    metrics_one(m, HTTP, "connections", METRICS_GAUGE,
                "Connections that are open.", v.connections);
    metrics_add_closed(m, HTTP, v.closed);
}

static void add_crawls(struct metrics_text *m, struct crawls *crawls)
{
    struct crawls_view *views = NULL;
    size_t n = crawls_each(crawls, &views);

    metrics_add_crawls(m, views, n);
    free(views);
}

void http_ask_metrics(struct http_request *r)
{
    const struct http_options *o = http_server_options(r->server);
    struct metrics_text m;
    struct buf out;
    size_t len;
    char *text;

    buf_init(&out, PAGE_MOST);
    metrics_text_init(&m, &out);
    if (o->crawls != NULL)
        add_crawls(&m, o->crawls);
    if (o->cluster != NULL)
        metrics_add_cluster(&m, o->cluster);
    if (o->frontier != NULL)
        metrics_add_frontier(&m, o->frontier);
    if (o->grpc != NULL)
        metrics_add_grpc(&m, o->grpc);
    if (o->shelf != NULL)
        metrics_add_filters(&m, o->shelf);
    add_http(&m, r->server);
    metrics_add_process(&m, o->dir);
    if (buf_failed(&out) != STATUS_OK) {
        buf_fini(&out);
        http_problem(r, 503, "too many crawls for one page");
        return;
    }
    text = buf_take(&out, &len);
    http_answer_text(r, "text/plain; version=0.0.4; charset=utf-8", text, len);
    buf_fini(&out);
}

void http_ask_health(struct http_request *r)
{
    struct frontier_service_stats frontier = {.broken = false};
    struct http_stats http;
    const char *is = "ok";
    json_t *j = json_object();

    if (http_server_frontier(r->server) != NULL)
        frontier_service_get_stats(http_server_frontier(r->server), &frontier);
    http_server_get_stats(r->server, &http);
    if (http.stopping)
        is = "stopping";
    if (frontier.broken)
        is = "broken";
    json_object_set_new(j, "status", json_string(is));
    http_answer(r, http.stopping || frontier.broken ? 503 : 200, j);
}
