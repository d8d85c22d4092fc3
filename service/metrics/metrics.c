/* SPDX-License-Identifier: MIT */
/*
 * metrics.c - the page of metrics: frontiers of crawls and of the served
 * frontier, crawls, gRPC, filters, a cluster, the process and the disk.
 *
 * Samples of a family must be together on the page, so each family is written
 * for all frontiers before the next begins.
 */
#include "service/metrics/metrics.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "crawler/crawl_stats.h"

struct process_facts {
    uint64_t cpu_ns; /* user and system */
    uint64_t resident_bytes, virtual_bytes;
    uint64_t open_fds, max_fds;
    uint64_t threads;
    uint64_t
        started_ns; /* wall clock, since 1970; to a hundredth of a second */
};

struct disk_facts {
    uint64_t free_bytes; /* to us */
    uint64_t size_bytes;
};

/* ---- writes Prometheus' text format 0.0.4 ---- */

static void process_facts(struct process_facts *out);
static bool disk_facts(const char *dir, struct disk_facts *out);

void metrics_text_init(struct metrics_text *m, struct buf *out)
{
    *m = (struct metrics_text){.out = out};
}

/* Escapes line feeds and backslashes, and quotes in label values. */
static void add_escaped(struct buf *out, const char *s, bool quotes)
{
    for (; *s != '\0'; s++) {
        if (*s == '\n') {
            buf_add_str(out, "\\n");
            continue;
        }
        if (*s == '\\' || (quotes && *s == '"'))
            buf_add_char(out, '\\');
        buf_add_char(out, *s);
    }
}

void metrics_family(struct metrics_text *m, const char *prefix,
                    const char *name, enum metrics_type type, const char *help)
{
    static const char *const types[] = {
        [METRICS_COUNTER] = "counter",
        [METRICS_GAUGE] = "gauge",
        [METRICS_HISTOGRAM] = "histogram",
    };

    snprintf(m->name, sizeof m->name, "urlweir_%s_%s", prefix, name);
    buf_addf(m->out, "# HELP %s ", m->name);
    add_escaped(m->out, help, false);
    buf_addf(m->out, "\n# TYPE %s %s\n", m->name, types[type]);
}

static void add_label(struct buf *out, char before, const char *name,
                      const char *value)
{
    buf_add_char(out, before);
    buf_add_str(out, name);
    buf_add_str(out, "=\"");
    add_escaped(out, value, true);
    buf_add_char(out, '"');
}

/* "name_suffix{labels,le="..."} "; `le` may be NULL. */
static void begin_sample(struct metrics_text *m, const char *suffix,
                         const struct metrics_label *labels, const char *le)
{
    char before = '{';

    buf_add_str(m->out, m->name);
    buf_add_str(m->out, suffix);
    for (; labels != NULL && labels->name != NULL; labels++) {
        add_label(m->out, before, labels->name, labels->value);
        before = ',';
    }
    if (le != NULL) {
        add_label(m->out, before, "le", le);
        before = ',';
    }
    buf_add_str(m->out, before == ',' ? "} " : " ");
}

static void end_sample(struct metrics_text *m, uint64_t value)
{
    buf_add_uint(m->out, value);
    buf_add_char(m->out, '\n');
}

static void end_seconds(struct metrics_text *m, uint64_t ns)
{
    buf_addf(m->out, "%llu.%09llu\n",
             (unsigned long long)(ns / (uint64_t)NS_PER_S),
             (unsigned long long)(ns % (uint64_t)NS_PER_S));
}

void metrics_uint(struct metrics_text *m, const struct metrics_label *labels,
                  uint64_t value)
{
    begin_sample(m, "", labels, NULL);
    end_sample(m, value);
}

void metrics_double(struct metrics_text *m, const struct metrics_label *labels,
                    double value)
{
    begin_sample(m, "", labels, NULL);
    buf_addf(m->out, "%.9g\n", value);
}

void metrics_seconds(struct metrics_text *m, const struct metrics_label *labels,
                     uint64_t ns)
{
    begin_sample(m, "", labels, NULL);
    end_seconds(m, ns);
}

void metrics_histogram(struct metrics_text *m,
                       const struct metrics_label *labels,
                       const struct histogram_stats *h)
{
    uint64_t so_far = 0;

    for (unsigned i = 0; i < HISTOGRAM_BOUNDS; i++) {
        char le[32];

        snprintf(le, sizeof le, "%g",
                 (double)histogram_bounds[i] / (double)NS_PER_S);
        so_far += h->buckets[i];
        begin_sample(m, "_bucket", labels, le);
        end_sample(m, so_far);
    }
    so_far += h->buckets[HISTOGRAM_BOUNDS];
    begin_sample(m, "_bucket", labels, "+Inf");
    end_sample(m, so_far);
    begin_sample(m, "_sum", labels, NULL);
    end_seconds(m, h->sum);
    begin_sample(m, "_count", labels, NULL);
    end_sample(m, so_far);
}

void metrics_one(struct metrics_text *m, const char *prefix, const char *name,
                 enum metrics_type type, const char *help, uint64_t value)
{
    metrics_family(m, prefix, name, type, help);
    metrics_uint(m, NULL, value);
}

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

static uint64_t number_at(const char *at)
{
    struct bytes text = bytes_of_str(at);
    uint64_t n;

    return bytes_take_number(&text, 0, &n) ? n : 0;
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
    return number_at(at);
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
        s = number_at(at != NULL ? at + 7 : NULL);
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

static void process_facts(struct process_facts *out)
{
    struct rlimit most;

    *out = (struct process_facts){.cpu_ns = (uint64_t)clock_cpu(),
                                  .resident_bytes = mem_resident(),
                                  .open_fds = count_fds()};
    if (getrlimit(RLIMIT_NOFILE, &most) == 0)
        out->max_fds = most.rlim_cur;
    take_stat(out);
}

/* The file system that holds `dir`. False: it cannot be read. */
static bool disk_facts(const char *dir, struct disk_facts *out)
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

#define SEEN_FAMILY "seen_checks_total"

struct frontiers {
    struct metrics_text *m;
    const char *prefix;
    const struct frontier_metrics *at;
    size_t n;
};

/* `crawl`, if there is one, then the other label. */
#define LABELS(e, label, text)                                                 \
    ((e)->crawl != NULL ? METRICS_LABELS({"crawl", (e)->crawl}, {label, text}) \
                        : METRICS_LABELS({label, text}))

static void metrics_begin(const struct frontiers *all, const char *name,
                          enum metrics_type type, const char *help)
{
    metrics_family(all->m, all->prefix, name, type, help);
}

/* ---- seen check ---- */

/* The answers of the seen check, from the table of counters. */
static void add_seen_of(const struct frontiers *all,
                        const struct frontier_metrics *e)
{
    for (size_t k = 0; k < CRAWL_COUNTERS; k++) {
        const struct crawl_counter *c = &crawl_counters[k];

        if (strcmp(c->metric, SEEN_FAMILY) == 0)
            metrics_uint(all->m, LABELS(e, c->label, c->value),
                         crawl_counter_of_frontier(c, e->frontier));
    }
}

static void add_seen(const struct frontiers *all)
{
    metrics_begin(all, SEEN_FAMILY, METRICS_COUNTER,
                  "Answers of the seen check, over all runs.");
    for (size_t i = 0; i < all->n; i++)
        add_seen_of(all, &all->at[i]);
}

/* ---- filter ---- */

static void add_rates(const struct frontiers *all,
                      const struct frontier_metrics *e)
{
    const struct seen_filter_stats *f = &e->frontier->filter;

    if (!f->used)
        return;
    metrics_double(all->m, LABELS(e, "rate", "promised"), f->promised);
    metrics_double(all->m, LABELS(e, "rate", "predicted"), f->predicted);
    if (f->asked == 0)
        return;
    metrics_double(all->m, LABELS(e, "rate", "measured"), f->measured);
    metrics_double(all->m, LABELS(e, "rate", "measured_low"), f->low);
    metrics_double(all->m, LABELS(e, "rate", "measured_high"), f->high);
}

static void add_filter(const struct frontiers *all)
{
    static const struct {
        const char *name, *help;
        size_t at;
        enum metrics_type type;
    } families[] = {
        {"filter_bytes", "Memory of the filter.",
         offsetof(struct frontier_stats, filter.bytes), METRICS_GAUGE},
        {"filter_keys", "Keys in the filter.",
         offsetof(struct frontier_stats, filter.keys), METRICS_GAUGE},
        {"filter_segments",
         "Parts of the filter that can be rebuilt on their "
         "own.",
         offsetof(struct frontier_stats, filter.segments), METRICS_GAUGE},
        {"filter_rebuilds_total", "Parts of the filter that were rebuilt.",
         offsetof(struct frontier_stats, filter.rebuilds), METRICS_COUNTER},
    };

    for (size_t k = 0; k < sizeof families / sizeof *families; k++) {
        metrics_begin(all, families[k].name, families[k].type,
                      families[k].help);
        for (size_t i = 0; i < all->n; i++)
            metrics_uint(all->m, LABELS(&all->at[i], NULL, NULL),
                         *(const uint64_t *)((const char *)all->at[i].frontier +
                                             families[k].at));
    }
    metrics_begin(all, "filter_fill_ratio", METRICS_GAUGE,
                  "Share of the filter's bits or slots that are in use.");
    for (size_t i = 0; i < all->n; i++)
        metrics_double(all->m, LABELS(&all->at[i], NULL, NULL),
                       all->at[i].frontier->filter.fill);
    metrics_begin(all, "filter_overfull", METRICS_GAUGE,
                  "1: the filter no longer keeps the rate it promised.");
    for (size_t i = 0; i < all->n; i++)
        metrics_uint(all->m, LABELS(&all->at[i], NULL, NULL),
                     all->at[i].frontier->filter.overfull);
    metrics_begin(
        all, "filter_false_positive_ratio", METRICS_GAUGE,
        "New URLs that the filter calls maybe seen: promised, predicted, and "
        "measured with its 95 % interval.");
    for (size_t i = 0; i < all->n; i++)
        add_rates(all, &all->at[i]);
}

/* ---- commits and checkpoints ---- */

static void add_times(const struct frontiers *all)
{
    metrics_begin(all, "commit_duration_seconds", METRICS_HISTOGRAM,
                  "How long a commit took, until it was synced.");
    for (size_t i = 0; i < all->n; i++)
        metrics_histogram(all->m, LABELS(&all->at[i], NULL, NULL),
                          &all->at[i].frontier->commits);
    metrics_begin(all, "checkpoint_duration_seconds", METRICS_HISTOGRAM,
                  "How long a checkpoint took; work goes on meanwhile.");
    for (size_t i = 0; i < all->n; i++)
        metrics_histogram(all->m, LABELS(&all->at[i], NULL, NULL),
                          &all->at[i].frontier->checkpoints);
    metrics_begin(all, "checkpoint_failures_total", METRICS_COUNTER,
                  "Checkpoints that could not be written.");
    for (size_t i = 0; i < all->n; i++)
        metrics_uint(all->m, LABELS(&all->at[i], NULL, NULL),
                     all->at[i].frontier->checkpoints_failed);
    metrics_begin(
        all, "last_checkpoint_timestamp_seconds", METRICS_GAUGE,
        "When the last successful checkpoint began; 0: there was none.");
    for (size_t i = 0; i < all->n; i++)
        metrics_seconds(all->m, LABELS(&all->at[i], NULL, NULL),
                        (uint64_t)all->at[i].frontier->checkpoint_ms *
                            (uint64_t)NS_PER_MS);
}

static void metrics_add_engines(struct metrics_text *m, const char *prefix,
                                const struct frontier_metrics *e, size_t n)
{
    const struct frontiers all = {m, prefix, e, n};

    add_seen(&all);
    add_filter(&all);
    add_times(&all);
}

/* ---- the crawls of this process, each under a label ----
 *
 * Counters come from the table in crawler/crawl_stats.h; metrics with more
 * labels, or that are not whole numbers, have functions.
 */

#define PREFIX "crawl"
#define OF(v)                                                                  \
    {                                                                          \
        "crawl", (v)->name                                                     \
    }
struct crawl_views {
    struct metrics_text *m;
    const struct crawls_view *at;
    size_t n;
};

/* ---- the counters that have no labels of their own ---- */

/* "URLs admitted, over all runs." */
static void add_help(struct buf *out, const struct crawl_counter *c)
{
    static const char *const spans[COUNTER_KINDS] = {
        [COUNTER_CRAWL] = ", over all runs",
        [COUNTER_RUN] = ", of this run",
        [COUNTER_STATE] = "",
        [COUNTER_LIVE] = "",
    };

    buf_addf(out, "%s%s.", c->help, spans[c->kind]);
}

static void add_counter(const struct crawl_views *all,
                        const struct crawl_counter *c)
{
    bool sum = c->kind == COUNTER_CRAWL || c->kind == COUNTER_RUN;
    struct buf help;

    buf_init(&help, 1024);
    add_help(&help, c);
    metrics_family(all->m, PREFIX, c->metric,
                   sum ? METRICS_COUNTER : METRICS_GAUGE, buf_str(&help));
    for (size_t i = 0; i < all->n; i++)
        metrics_uint(all->m, METRICS_LABELS(OF(&all->at[i])),
                     crawl_counter_value(c, &all->at[i].stats));
    buf_fini(&help);
}

static void add_counters(const struct crawl_views *all)
{
    for (size_t k = 0; k < CRAWL_COUNTERS; k++)
        if (crawl_counters[k].label == NULL)
            add_counter(all, &crawl_counters[k]);
}

/* ---- state ---- */

static void add_states(const struct crawl_views *all)
{
    metrics_family(all->m, PREFIX, "state", METRICS_GAUGE,
                   "1: the crawl is in this state.");
    for (size_t i = 0; i < all->n; i++)
        for (unsigned s = CRAWLS_RUNNING; s <= CRAWLS_FAILED; s++)
            metrics_uint(all->m,
                         METRICS_LABELS(OF(&all->at[i]),
                                        {"state", crawls_state_name(
                                                      (enum crawls_state)s)}),
                         all->at[i].state == s);
    metrics_family(all->m, PREFIX, "start_time_seconds", METRICS_GAUGE,
                   "When this run began.");
    for (size_t i = 0; i < all->n; i++)
        metrics_seconds(all->m, METRICS_LABELS(OF(&all->at[i])),
                        (uint64_t)all->at[i].started_ms * (uint64_t)NS_PER_MS);
}

/* ---- outcomes of URLs and links ---- */

/* Reasons that are shown with a status even while they are 0, so that a rate()
 * sees the first one. Their numbers in enum outcome_reason are consecutive. */
static bool is_expected(unsigned status, unsigned reason)
{
    switch (status) {
    case OUTCOME_FETCHED:
        return reason <= REASON_BAD_ENCODING || reason == REASON_UNCHANGED;
    case OUTCOME_REDIRECT:
        return reason == REASON_NONE || (reason >= REASON_REDIRECT_LIMIT &&
                                         reason <= REASON_REDIRECT_INVALID);
    case OUTCOME_FAILED:
        return reason > REASON_HTTP && reason <= REASON_PROTOCOL;
    case OUTCOME_DENIED:
        return reason == REASON_ROBOTS || reason == REASON_ROBOTS_UNREACHABLE;
    case OUTCOME_SKIPPED:
        return reason >= REASON_ADDRESS && reason <= REASON_NOINDEX;
    default:
        return false;
    }
}

static void metrics_add_done(struct metrics_text *m,
                             const struct crawls_view *v, unsigned status,
                             const char *reason, uint64_t value)
{
    metrics_uint(m,
                 METRICS_LABELS(OF(v),
                                {"status", outcome_status_name(
                                               (enum outcome_status)status)},
                                {"reason", reason}),
                 value);
}

static void add_done_of(struct metrics_text *m, const struct crawls_view *v,
                        unsigned status)
{
    const struct frontier_stats *w = &v->stats.frontier;

    for (unsigned r = 0; r < REASON_COUNT_; r++)
        if (r != REASON_HTTP &&
            (w->done[status][r] > 0 || is_expected(status, r)))
            metrics_add_done(m, v, status,
                             outcome_reason_name((enum outcome_reason)r),
                             w->done[status][r]);
    for (unsigned d = 0; d < 10; d++) {
        char reason[16];

        snprintf(reason, sizeof reason, "http_%uxx", d);
        if (w->done_http[status][d] > 0 ||
            (status == OUTCOME_FAILED && (d == 4 || d == 5)))
            metrics_add_done(m, v, status, reason, w->done_http[status][d]);
    }
}

static void add_outcomes(const struct crawl_views *all)
{
    metrics_family(all->m, PREFIX, "urls_done_total", METRICS_COUNTER,
                   "URLs by their final outcome, over all runs.");
    for (size_t i = 0; i < all->n; i++)
        for (unsigned s = OUTCOME_FETCHED; s < OUTCOME_STATUS_COUNT_; s++)
            add_done_of(all->m, &all->at[i], s);
    metrics_family(all->m, PREFIX, "dropped_links_total", METRICS_COUNTER,
                   "Links dropped before admission, over all runs.");
    for (size_t i = 0; i < all->n; i++)
        for (unsigned r = REASON_NONE + 1; r < REASON_COUNT_; r++)
            if (all->at[i].stats.frontier.dropped[r] > 0 || r == REASON_SCOPE)
                metrics_uint(all->m,
                             METRICS_LABELS(OF(&all->at[i]),
                                            {"reason",
                                             outcome_reason_name(
                                                 (enum outcome_reason)r)}),
                             all->at[i].stats.frontier.dropped[r]);
}

/* ---- requests ---- */

static void add_requests(const struct crawl_views *all)
{
    metrics_family(all->m, PREFIX, "requests_total", METRICS_COUNTER,
                   "Requests of this run by how they ended, each try and each "
                   "robots.txt.");
    for (size_t i = 0; i < all->n; i++)
        for (unsigned e = 0; e < FETCH_STATS_ENDS; e++)
            metrics_uint(all->m,
                         METRICS_LABELS(OF(&all->at[i]),
                                        {"result", fetch_stats_end_name(e)}),
                         all->at[i].stats.fetches.ends[e]);
    metrics_family(all->m, PREFIX, "answers_total", METRICS_COUNTER,
                   "Responses of this run by their HTTP status.");
    for (size_t i = 0; i < all->n; i++)
        for (unsigned c = 1; c < FETCH_STATS_CLASSES; c++) {
            uint64_t n = all->at[i].stats.fetches.classes[c];
            char code[16];

            snprintf(code, sizeof code, "%uxx", c);
            if (n > 0 || (c >= 2 && c <= 5))
                metrics_uint(all->m,
                             METRICS_LABELS(OF(&all->at[i]), {"code", code}),
                             n);
        }
}

static void add_fetch_times(const struct crawl_views *all)
{
    static const struct {
        const char *name, *help;
        size_t at; /* in struct fetch_stats */
    } times[] = {
        {"response_duration_seconds",
         "Time from the start of a request to the last octet of its response.",
         offsetof(struct fetch_stats, response)},
        {"first_byte_duration_seconds",
         "Time from the start of a request to the first octet of its response.",
         offsetof(struct fetch_stats, first_byte)},
        {"connect_duration_seconds",
         "Time from the start of a request until its new connection was open, "
         "TLS included.",
         offsetof(struct fetch_stats, connect)},
        {"robots_duration_seconds",
         "Time from the start of a request for robots.txt to the last octet "
         "of its response.",
         offsetof(struct fetch_stats, robots)},
    };

    for (size_t k = 0; k < sizeof times / sizeof *times; k++) {
        metrics_family(all->m, PREFIX, times[k].name, METRICS_HISTOGRAM,
                       times[k].help);
        for (size_t i = 0; i < all->n; i++) {
            const char *fetches = (const char *)&all->at[i].stats.fetches;

            metrics_histogram(
                all->m, METRICS_LABELS(OF(&all->at[i])),
                (const struct histogram_stats *)(const void *)(fetches +
                                                               times[k].at));
        }
    }
}

/* ---- the whole ---- */

static void add_engines(const struct crawl_views *all)
{
    struct frontier_metrics *frontiers = xcalloc(all->n, sizeof *frontiers);

    for (size_t i = 0; i < all->n; i++)
        frontiers[i] = (struct frontier_metrics){all->at[i].name,
                                                 &all->at[i].stats.frontier};
    metrics_add_engines(all->m, PREFIX, frontiers, all->n);
    free(frontiers);
}

void metrics_add_crawls(struct metrics_text *m, const struct crawls_view *views,
                        size_t n)
{
    const struct crawl_views all = {m, views, n};

    add_states(&all);
    add_outcomes(&all);
    add_counters(&all);
    add_requests(&all);
    add_fetch_times(&all);
    add_engines(&all);
}

/* ---- the served frontier, and its gRPC port ---- */

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

static void metrics_add_counts(struct metrics_text *m,
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
    const struct frontier_metrics frontier = {NULL, &w.frontier};

    frontier_service_get_stats(s, &v);
    frontier_service_get_details(s, &w);
    metrics_add_counts(m, &v, &w.frontier);
    add_acks(m, w.acks);
    add_calls(m, &w);
    metrics_add_engines(m, FRONTIER, &frontier, 1);
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

/* ---- the filters by name that other programs use ---- */

#define FILTERS "filters"

void metrics_add_filters(struct metrics_text *m, struct filter_shelf *shelf)
{
    struct filter_shelf_stats v;

    filter_shelf_get_stats(shelf, &v);
    metrics_one(m, FILTERS, "loaded", METRICS_GAUGE, "Filters by name.",
                v.filters);
    metrics_one(m, FILTERS, "memory_bytes", METRICS_GAUGE,
                "Memory of them and of their kept keys.", v.bytes);
    metrics_family(m, FILTERS, "checked_total", METRICS_COUNTER,
                   "Keys asked for, by answer.");
    metrics_uint(m, METRICS_LABELS({"answer", "new"}), v.checked_new);
    metrics_uint(m, METRICS_LABELS({"answer", "maybe"}), v.checked_maybe);
    metrics_one(m, FILTERS, "added_total", METRICS_COUNTER,
                "Keys added, repeats and those of builds too.", v.added);
    metrics_one(m, FILTERS, "removed_total", METRICS_COUNTER, "Keys removed.",
                v.removed);
    metrics_one(m, FILTERS, "builds_total", METRICS_COUNTER,
                "Builds from a source that were finished.", v.builds);
}

/* ---- a crawl on many machines, whichever worker is asked ----
 *
 * Each worker shows the whole crawl, so the series of several are the same ones:
 * they are not to be added up.
 */

static enum metrics_type type_of(const struct shard_figure *f)
{
    const size_t n = strlen(f->metric), end = strlen("_total");

    return n > end && strcmp(f->metric + n - end, "_total") == 0
               ? METRICS_COUNTER
               : METRICS_GAUGE;
}

static const char *metrics_number(char text[16], uint32_t n)
{
    snprintf(text, 16, "%" PRIu32, n);
    return text;
}

static void add_figure(struct metrics_text *m, const struct shard_figure *f,
                       const char *crawl, const struct cluster_stats *s)
{
    char text[16];

    metrics_family(m, "cluster", f->metric, type_of(f), f->help);
    metrics_uint(m, METRICS_LABELS({"crawl", crawl}),
                 shard_figure_value(f, &s->all));
    metrics_family(m, "shard", f->metric, type_of(f), f->help);
    for (uint32_t n = 0; n < s->count; n++)
        metrics_uint(m,
                     METRICS_LABELS({"crawl", crawl},
                                    {"shard", metrics_number(text, n)}),
                     shard_figure_value(f, &s->shards[n]));
}

void metrics_add_cluster(struct metrics_text *m, struct cluster_board *b)
{
    const char *crawl = cluster_board_name(b);
    struct cluster_stats s;
    char text[16];

    cluster_board_read(b, &s);
    for (size_t i = 0; i < SHARD_FIGURES; i++)
        add_figure(m, &shard_figures[i], crawl, &s);
    metrics_family(m, "cluster", "state", METRICS_GAUGE,
                   "1: the crawl is in this state.");
    metrics_uint(m, METRICS_LABELS({"crawl", crawl}, {"state", s.state}), 1);
    metrics_family(m, "shard", "worker", METRICS_GAUGE,
                   "1: this worker has the shard, or had it last.");
    for (uint32_t n = 0; n < s.count; n++)
        metrics_uint(m,
                     METRICS_LABELS({"crawl", crawl},
                                    {"shard", metrics_number(text, n)},
                                    {"worker", s.shards[n].worker},
                                    {"state", shard_state(&s.shards[n])}),
                     1);
    cluster_stats_fini(&s);
}
