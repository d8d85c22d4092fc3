/* SPDX-License-Identifier: MIT */
/* metrics_process.c - metrics of the process and the disk. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "service/metrics/metrics.h"
#include "service/metrics/metrics_process.h"

/* ---- facts about this process and a disk, from the system ----
 *
 * Source: proc_pid_stat(5), proc_stat(5), proc_pid_fd(5).
 */

#define STAT_MOST ((size_t)1 << 20) /* /proc/stat has a line for each core */

/* Reads a file that reports no size, as in /proc. */
static bool process_read_text(const char *path, struct buf *to)
{
    FILE *f = fopen(path, "re");
    char piece[4096];
    size_t n;

    if (f == NULL)
        return false;
    while ((n = fread(piece, 1, sizeof piece, f)) > 0)
        buf_add(to, piece, n);
    fclose(f);
    return buf_failed(to) == STATUS_OK;
}

/* Field `number` (from 3 on) of /proc/self/stat; the second is the program's
 * name in parentheses, which may hold anything. */
static uint64_t process_field(const struct buf *stat, unsigned number)
{
    const char *at = strrchr(buf_str(stat), ')');

    for (unsigned i = 2; at != NULL && i < number; i++) {
        at = strchr(at, ' ');
        at = at != NULL ? at + 1 : NULL;
    }
    return at != NULL ? strtoull(at, NULL, 10) : 0;
}

/* The boot time in seconds since 1970. */
static uint64_t boot_time(void)
{
    struct buf text;
    const char *at;
    uint64_t s = 0;

    buf_init(&text, STAT_MOST);
    if (process_read_text("/proc/stat", &text)) {
        at = strstr(buf_str(&text), "\nbtime ");
        s = at != NULL ? strtoull(at + 7, NULL, 10) : 0;
    }
    buf_fini(&text);
    return s;
}

static void take_stat(struct process_facts *out)
{
    const uint64_t ticks = (uint64_t)sysconf(_SC_CLK_TCK);
    struct buf stat;
    uint64_t boot = boot_time(), started;

    buf_init(&stat, 4096);
    if (process_read_text("/proc/self/stat", &stat)) {
        out->threads = process_field(&stat, 20);
        started = process_field(&stat, 22); /* ticks since boot */
        out->virtual_bytes = process_field(&stat, 23);
        if (boot > 0 && ticks > 0)
            out->started_ns = boot * (uint64_t)NS_PER_S +
                              started * ((uint64_t)NS_PER_S / ticks);
    }
    buf_fini(&stat);
}

/* The descriptor of /proc/self/fd itself is not counted. */
static uint64_t count_fds(void)
{
    DIR *d = opendir("/proc/self/fd");
    const struct dirent *e;
    uint64_t n = 0;

    if (d == NULL)
        return 0;
    while ((e = readdir(d)) != NULL)
        n += e->d_name[0] != '.';
    closedir(d);
    return n > 0 ? n - 1 : 0;
}

void process_facts(struct process_facts *out)
{
    struct rlimit most;

    *out = (struct process_facts){.cpu_ns = (uint64_t)clock_cpu(),
                                  .resident_bytes = mem_resident(),
                                  .open_fds = count_fds()};
    if (getrlimit(RLIMIT_NOFILE, &most) == 0)
        out->max_fds = most.rlim_cur;
    take_stat(out);
}

bool disk_facts(const char *dir, struct disk_facts *out)
{
    struct statvfs v;

    if (statvfs(dir, &v) != 0)
        return false;
    out->free_bytes = (uint64_t)v.f_bavail * v.f_frsize;
    out->size_bytes = (uint64_t)v.f_blocks * v.f_frsize;
    return true;
}

/* ---- their metrics ---- */

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
