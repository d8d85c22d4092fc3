/* SPDX-License-Identifier: MIT */
/* metrics_process.c - the process, the disk. */

#include "service/metrics/metrics_parts.h"
#include "service/metrics/process_facts.h"

#define PROCESS "process"

/* ---- connections ---- */

void metrics_add_closed(struct metrics_text *m, const char *prefix,
                        const uint64_t closed[PLACE_ENDS_])
{
    metrics_family(m, prefix, "connections_closed_total", METRICS_COUNTER,
                   "Connections closed by the service, by reason.");
    for (unsigned i = 0; i < PLACE_ENDS_; i++)
        metrics_uint(m,
                     METRICS_LABELS(
                         {"reason", place_end_name((enum place_end)i)}),
                     closed[i]);
}

/* ---- process ---- */

static void add_seconds(struct metrics_text *m, const char *name,
                        enum metrics_type type, const char *help, uint64_t ns)
{
    metrics_family(m, PROCESS, name, type, help);
    metrics_seconds(m, NULL, ns);
}

static void add_disk(struct metrics_text *m, const char *dir)
{
    struct disk_facts d;

    if (dir == NULL || !disk_facts(dir, &d))
        return;
    metrics_one(m, "disk", "free_bytes", METRICS_GAUGE,
                "Room on the disk that holds the directory.", d.free_bytes);
    metrics_one(m, "disk", "size_bytes", METRICS_GAUGE, "Size of that disk.",
                d.size_bytes);
}

void metrics_add_process(struct metrics_text *m, const char *dir)
{
    struct process_facts p;

    process_facts(&p);
    add_seconds(m, "cpu_seconds_total", METRICS_COUNTER,
                "CPU time, user and system.", p.cpu_ns);
    metrics_one(m, PROCESS, "resident_memory_bytes", METRICS_GAUGE,
                "Resident memory.", p.resident_bytes);
    metrics_one(m, PROCESS, "virtual_memory_bytes", METRICS_GAUGE,
                "Address space.", p.virtual_bytes);
    metrics_one(m, PROCESS, "open_fds", METRICS_GAUGE, "Open descriptors.",
                p.open_fds);
    metrics_one(m, PROCESS, "max_fds", METRICS_GAUGE,
                "Descriptors that may be open.", p.max_fds);
    metrics_one(m, PROCESS, "threads", METRICS_GAUGE, "Threads.", p.threads);
    add_seconds(m, "start_time_seconds", METRICS_GAUGE,
                "When the process was started.", p.started_ns);
    add_disk(m, dir);
    metrics_family(m, "build", "info", METRICS_GAUGE, "Release.");
    metrics_uint(m, METRICS_LABELS({"version", URLWEIR_VERSION}), 1);
}
