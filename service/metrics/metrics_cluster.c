/* SPDX-License-Identifier: MIT */
/* metrics_cluster.c - the state of a crawl in a cluster
 * (job/cluster_crawl/cluster_state.h). */
#include <string.h>

#include "job/cluster_crawl/cluster_state.h"
#include "service/metrics/metrics_parts.h"

#define PREFIX "cluster"

static uint64_t count_in(const json_t *o, const char *name)
{
    return (uint64_t)cluster_state_number(o, name);
}

static const char *text_in(const json_t *o, const char *name)
{
    const char *text = json_string_value(json_object_get(o, name));

    return text != NULL ? text : "";
}

/* ---- the whole ---- */

static void add_states(struct metrics_text *m, const char *is)
{
    static const char *const names[] = {"running", "full",     "paused",
                                        "stopped", "finished", "unreachable"};

    metrics_family(m, PREFIX, "state", METRICS_GAUGE,
                   "1: the crawl in the cluster is in this state.");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        metrics_uint(m, METRICS_LABELS({"state", names[i]}),
                     strcmp(is, names[i]) == 0);
}

/* A number of `o` for each name, which is the value of a label. */
static void add_each(struct metrics_text *m, const json_t *o, const char *label,
                     const char *const *names)
{
    for (; *names != NULL; names++)
        metrics_uint(m, METRICS_LABELS({label, *names}), count_in(o, *names));
}

static void add_whole(struct metrics_text *m, const json_t *o)
{
    static const char *const urls[] = {"waiting", "leased", "done", NULL};
    static const char *const kinds[] = {"seen",   "queues", "hosts", "leases",
                                        "counts", "robots", NULL};

    metrics_one(m, PREFIX, "workers", METRICS_GAUGE,
                "Workers that were heard in the last 15 s.",
                count_in(o, "workers_alive"));
    metrics_one(m, PREFIX, "pages_total", METRICS_COUNTER,
                "Pages that its workers have told of.", count_in(o, "pages"));
    metrics_family(m, PREFIX, "urls", METRICS_GAUGE,
                   "URLs seen, by where they are.");
    add_each(m, o, "state", urls);
    metrics_one(m, PREFIX, "leases_lost_total", METRICS_COUNTER,
                "Leases that were over before they were acknowledged.",
                count_in(o, "leases_lost"));
    metrics_one(m, PREFIX, "waiting_hosts", METRICS_GAUGE,
                "Hosts with URLs that wait, and no lease.",
                count_in(o, "hosts_waiting"));
    metrics_family(m, PREFIX, "memory_bytes", METRICS_GAUGE,
                   "Memory of the servers by kind of key, estimated.");
    add_each(m, json_object_get(o, "memory"), "kind", kinds);
    metrics_one(m, PREFIX, "settings_version", METRICS_GAUGE,
                "Version of the crawl's settings.",
                count_in(o, "settings_version"));
}

/* ---- servers and workers ---- */

static void add_server(struct metrics_text *m, const json_t *servers,
                       const char *name, const char *key, const char *help)
{
    json_t *one;
    size_t i;

    metrics_family(m, PREFIX, name, METRICS_GAUGE, help);
    json_array_foreach(servers, i, one)
    {
        json_t *v = json_object_get(one, key);

        metrics_uint(m, METRICS_LABELS({"server", text_in(one, "server")}),
                     json_is_boolean(v) ? json_is_true(v) : count_in(one, key));
    }
}

static void add_servers(struct metrics_text *m, const json_t *servers)
{
    add_server(m, servers, "server_memory_bytes", "used_memory",
               "Memory of a server that counts for its maxmemory.");
    add_server(m, servers, "server_memory_limit_bytes", "maxmemory",
               "Its maxmemory; 0: none.");
    add_server(m, servers, "server_full", "full",
               "1: it refuses what takes memory.");
}

static void add_workers(struct metrics_text *m, const json_t *workers)
{
    static const struct {
        const char *name, *key, *help;
        enum metrics_type type;
    } families[] = {
        {"worker_alive", "alive", "1: it was heard in the last 15 s.",
         METRICS_GAUGE},
        {"worker_pages_total", "pages", "Pages in its directory.",
         METRICS_COUNTER},
        {"worker_received_bytes_total", "bytes", "Octets that it received.",
         METRICS_COUNTER},
        {"worker_leases", "leases", "URLs that it holds.", METRICS_GAUGE},
        {"worker_settings_version", "settings_version",
         "Version of the settings that it goes by.", METRICS_GAUGE},
        {"worker_call_repeats_total", "repeats",
         "Calls to servers that it sent once more.", METRICS_COUNTER},
        {"worker_connections_lost_total", "connections_lost",
         "Connections to servers that it lost.", METRICS_COUNTER},
        {"worker_holds_total", "holds",
         "Shards that it held, since their server was another.",
         METRICS_COUNTER},
    };
    json_t *one;
    size_t i;

    for (size_t k = 0; k < sizeof families / sizeof *families; k++) {
        metrics_family(m, PREFIX, families[k].name, families[k].type,
                       families[k].help);
        json_array_foreach(workers, i, one)
        {
            json_t *v = json_object_get(one, families[k].key);

            if (v != NULL) /* one that was killed says no more */
                metrics_uint(m,
                             METRICS_LABELS({"worker", text_in(one, "worker")},
                                            {"host", text_in(one, "host")},
                                            {"dir", text_in(one, "dir")}),
                             json_is_boolean(v)
                                 ? json_is_true(v)
                                 : count_in(one, families[k].key));
        }
    }
}

void metrics_add_cluster(struct metrics_text *m, const json_t *state)
{
    add_states(m, text_in(state, "state"));
    if (json_object_get(state, "seen") == NULL)
        return; /* it has never answered */
    add_whole(m, state);
    add_servers(m, json_object_get(state, "servers"));
    add_workers(m, json_object_get(state, "workers"));
}
