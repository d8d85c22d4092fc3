/* SPDX-License-Identifier: MIT */
/* metrics_frontier.c - the served frontier, and its gRPC port. */
#include "service/metrics/metrics_parts.h"

#define FRONTIER "frontier"
#define GRPC     "grpc"

static const char *const vias[FRONTIER_VIAS_] = {
    [FRONTIER_VIA_SELF] = "self",
    [FRONTIER_VIA_GRPC] = "grpc",
    [FRONTIER_VIA_HTTP] = "http",
};

struct plain {
    const char *name, *help;
    enum metrics_type type;
    uint64_t value;
};

static void add_plain(struct metrics_text *m, const char *prefix,
                      const struct plain *all, size_t n)
{
    for (size_t i = 0; i < n; i++)
        metrics_one(m, prefix, all[i].name, all[i].type, all[i].help,
                    all[i].value);
}
#define ADD_PLAIN(m, prefix, all)                                              \
    add_plain(m, prefix, all, sizeof(all) / sizeof *(all))

/* ---- the frontier ---- */

static void add_counts(struct metrics_text *m,
                       const struct frontier_service_stats *v,
                       const struct frontier_stats *w)
{
    const struct plain all[] = {
        {"puts_total", "URLs put.", METRICS_COUNTER, v->puts},
        {"urls_leased_total", "URLs handed out.", METRICS_COUNTER,
         v->gets_urls},
        {"commits_total", "Commits, each synced.", METRICS_COUNTER,
         histogram_count(&w->commits)},
        {"waiting_items", "Items in calls that wait for the frontier.",
         METRICS_GAUGE, v->waiting},
        {"urls", "URLs not completed, leased ones included.", METRICS_GAUGE,
         v->all.active},
        {"leased_urls", "URLs handed out now.", METRICS_GAUGE, v->all.leased},
        {"completed_urls", "URLs completed.", METRICS_GAUGE, v->all.completed},
        {"dated_urls", "URLs with a date that a program gave.", METRICS_GAUGE,
         v->dated},
        {"overdue_urls", "Of them, not completed a minute after it.",
         METRICS_GAUGE, v->overdue},
        {"oldest_overdue_seconds", "Since the date of the oldest of these.",
         METRICS_GAUGE, v->overdue_seconds},
        {"queues", "Queues.", METRICS_GAUGE, v->all.queues},
        {"active_queues", "Queues with URLs to serve.", METRICS_GAUGE,
         v->all.active_queues},
        {"crawl_rows", "Crawls ever, removed ones included.", METRICS_GAUGE,
         v->crawls},
        {"url_rows", "URLs ever, removed ones included.", METRICS_GAUGE,
         v->urls},
        {"memory_bytes", "What the frontier holds.", METRICS_GAUGE, v->memory},
        {"active", "1: URLs are handed out.", METRICS_GAUGE, v->active},
        {"broken", "1: the store failed and no more calls are accepted.",
         METRICS_GAUGE, v->broken},
    };

    ADD_PLAIN(m, FRONTIER, all);
}

static void add_acks(struct metrics_text *m, const uint64_t *acks)
{
    static const char *const names[FRONTIER_ACKS_] = {
        [FRONTIER_ACK_OK] = "ok",
        [FRONTIER_ACK_SKIPPED] = "skipped",
        [FRONTIER_ACK_FAIL] = "failed",
    };

    metrics_family(m, FRONTIER, "put_answers_total", METRICS_COUNTER,
                   "Results of putting URLs.");
    for (unsigned i = 0; i < FRONTIER_ACKS_; i++)
        metrics_uint(m, METRICS_LABELS({"answer", names[i]}), acks[i]);
}

/* All calls have a count, but only those that occurred have times. */
static void add_calls(struct metrics_text *m,
                      const struct frontier_service_details *w)
{
    metrics_family(m, FRONTIER, "calls_total", METRICS_COUNTER,
                   "Calls carried out.");
    for (unsigned via = 0; via < FRONTIER_VIAS_; via++)
        for (unsigned v = 0; v < FRONTIER_VERBS_; v++)
            metrics_uint(m,
                         METRICS_LABELS({"transport", vias[via]},
                                        {"verb", frontier_verb_name(
                                                     (enum frontier_verb)v)}),
                         histogram_count(&w->calls[via][v]));
    metrics_family(m, FRONTIER, "call_duration_seconds", METRICS_HISTOGRAM,
                   "Time from a call's arrival to its answer, the commit "
                   "included.");
    for (unsigned via = 0; via < FRONTIER_VIAS_; via++)
        for (unsigned v = 0; v < FRONTIER_VERBS_; v++)
            if (histogram_count(&w->calls[via][v]) > 0)
                metrics_histogram(m,
                                  METRICS_LABELS({"transport", vias[via]},
                                                 {"verb",
                                                  frontier_verb_name(
                                                      (enum frontier_verb)v)}),
                                  &w->calls[via][v]);
}

void metrics_add_frontier(struct metrics_text *m, struct frontier_service *s)
{
    struct frontier_service_stats v;
    struct frontier_service_details w;
    const struct metrics_engine engine = {NULL, &w.engine};

    frontier_service_get_stats(s, &v);
    frontier_service_get_details(s, &w);
    add_counts(m, &v, &w.engine);
    add_acks(m, w.acks);
    add_calls(m, &w);
    metrics_add_engines(m, FRONTIER, &engine, 1);
}

/* ---- gRPC ---- */

void metrics_add_grpc(struct metrics_text *m, const struct grpc_server *s)
{
    struct grpc_stats v;

    grpc_server_get_stats(s, &v);
    {
        const struct plain all[] = {
            {"connections", "Connections that are open.", METRICS_GAUGE,
             v.http2.open},
            {"connections_accepted_total", "Connections accepted.",
             METRICS_COUNTER, v.http2.accepted},
            {"received_bytes_total", "Octets received, without TLS.",
             METRICS_COUNTER, v.http2.received},
            {"sent_bytes_total", "Octets sent, without TLS.", METRICS_COUNTER,
             v.http2.sent},
            {"streams", "Streams (calls) that are open.", METRICS_GAUGE,
             v.open},
            {"messages_received_total", "Messages received.", METRICS_COUNTER,
             v.received},
            {"messages_sent_total", "Messages sent.", METRICS_COUNTER, v.sent},
            {"strangers_total", "Requests that were not gRPC.", METRICS_COUNTER,
             v.strangers},
        };

        ADD_PLAIN(m, GRPC, all);
    }
    metrics_add_closed(m, GRPC, v.http2.closed);
    metrics_family(m, GRPC, "streams_ended_total", METRICS_COUNTER,
                   "Streams that have ended, by status code.");
    for (unsigned i = 0; i < GRPC_CODES_; i++)
        metrics_uint(m, METRICS_LABELS({"code", grpc_code_name(i)}),
                     v.ended[i]);
}
