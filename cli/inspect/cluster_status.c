/* SPDX-License-Identifier: MIT */
/* cluster_status.c - `urlweir status` of a crawl in a cluster. */
#include "cli/inspect/cluster_status.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/format.h"
#include "base/mem.h"
#include "cli/command.h"
#include "cli/report/json_fields.h"
#include "frontier/cluster/cluster_steer.h"
#include "frontier/cluster/cluster_watch.h"
#include "job/cluster_part.h"
#include "job/settings/cluster_settings.h"
#include "job/settings/settings.h"
#include "job/settings/settings_json.h"

#define LARGEST 5

/* ---- workers ---- */

struct workers {
    json_t *rows;
    uint64_t alive;
    double pages_rate, bytes_rate;
};

static double number_in(const json_t *o, const char *name)
{
    double n = json_number_value(json_object_get(o, name));

    return n > 0 && n < 1e18 ? n : 0;
}

/* What a worker says is from the cluster, and may be anything. */
static void add_worker(void *ctx, struct bytes name, int64_t heard_ms,
                       struct bytes words)
{
    struct workers *w = ctx;
    json_t *o = json_object(), *said = json_loadb(words.at, words.len, 0, NULL);
    bool alive = heard_ms <= CLUSTER_ALIVE_MS;

    json_set_text(o, "worker", name);
    json_set_str(o, "host", json_string_value(json_object_get(said, "host")));
    json_set_str(o, "dir", json_string_value(json_object_get(said, "dir")));
    json_set_uint(o, "pid", (uint64_t)number_in(said, "pid"));
    json_object_set_new(o, "alive", json_boolean(alive));
    json_set_seconds(o, "heard_seconds", heard_ms);
    json_set_uint(o, "pages", (uint64_t)number_in(said, "pages"));
    json_set_uint(o, "bytes", (uint64_t)number_in(said, "bytes"));
    if (alive) {
        double pages = number_in(said, "pages_per_second"),
               bytes = number_in(said, "bytes_per_second");

        json_object_set_new(o, "pages_per_second", json_real(pages));
        json_object_set_new(o, "bytes_per_second", json_real(bytes));
        json_set_uint(o, "leases", (uint64_t)number_in(said, "leases"));
        json_set_uint(o, "settings_version",
                      (uint64_t)number_in(said, "settings_version"));
        json_set_str(o, "full_server",
                     json_string_value(json_object_get(said, "full_server")));
        w->alive++;
        w->pages_rate += pages;
        w->bytes_rate += bytes;
    }
    json_array_append_new(w->rows, o);
    json_decref(said);
}

static enum status set_workers(json_t *o, struct cluster_store *store)
{
    struct workers w = {.rows = json_array()};
    enum status st = cluster_store_each_worker(store, add_worker, &w);

    json_set_uint(o, "workers_alive", w.alive);
    json_object_set_new(o, "pages_per_second", json_real(w.pages_rate));
    json_object_set_new(o, "bytes_per_second", json_real(w.bytes_rate));
    json_object_set_new(o, "workers", w.rows);
    return st;
}

/* ---- URLs ---- */

static int by_size(const void *a, const void *b)
{
    const struct cluster_shard_row *x = a, *y = b;

    if (x->seen != y->seen)
        return x->seen > y->seen ? -1 : 1;
    return x->shard < y->shard ? -1 : 1;
}

static void set_counts(json_t *o, const struct cluster_shard_row *row)
{
    json_set_uint(o, "seen", row->seen);
    json_set_uint(o, "waiting", row->waiting);
    json_set_uint(o, "leased", row->leased);
    json_set_uint(o, "done", row->done);
    json_set_uint(o, "leases_lost", row->expired);
    json_set_uint(o, "hosts_waiting", row->hosts);
}

static void set_shards(json_t *o, struct cluster_shard_row *rows, unsigned n)
{
    struct cluster_shard_row sum = {0};
    json_t *largest = json_array();

    for (unsigned i = 0; i < n; i++) {
        sum.seen += rows[i].seen;
        sum.waiting += rows[i].waiting;
        sum.leased += rows[i].leased;
        sum.done += rows[i].done;
        sum.expired += rows[i].expired;
        sum.hosts += rows[i].hosts;
    }
    set_counts(o, &sum);
    json_set_uint(o, "shards", n);
    qsort(rows, n, sizeof *rows, by_size);
    for (unsigned i = 0; i < n && i < LARGEST && rows[i].seen > 0; i++) {
        json_t *one = json_object();

        json_set_uint(one, "shard", rows[i].shard);
        set_counts(one, &rows[i]);
        json_array_append_new(largest, one);
    }
    json_object_set_new(o, "largest_shards", largest);
}

static void set_memory(json_t *o, const struct cluster_weights *w)
{
    json_t *m = json_object();

    json_set_uint(m, "seen", w->seen);
    json_set_uint(m, "queues", w->queues);
    json_set_uint(m, "hosts", w->hosts);
    json_set_uint(m, "leases", w->leases);
    json_set_uint(m, "counts", w->counts);
    json_set_uint(m, "robots", w->robots);
    json_set_uint(m, "sum",
                  w->seen + w->queues + w->hosts + w->leases + w->counts +
                      w->robots);
    json_object_set_new(o, "memory", m);
}

static enum status set_urls(json_t *o, struct cluster_store *store)
{
    unsigned n = cluster_store_shards(store);
    struct cluster_shard_row *rows = xcalloc(n, sizeof *rows);
    struct cluster_weights weights;
    enum status st = cluster_store_survey(store, rows);

    if (st == STATUS_OK)
        st = cluster_store_weigh(store, rows, &weights);
    if (st == STATUS_OK) {
        set_shards(o, rows, n);
        set_memory(o, &weights);
    }
    free(rows);
    return st;
}

/* ---- servers ---- */

static void add_server(void *ctx, const struct redis_master *m)
{
    json_t *rows = ctx, *o = json_object();

    json_set_text(o, "server", m->name);
    json_set_uint(o, "used_memory", m->memory_used);
    json_set_uint(o, "maxmemory", m->memory_most);
    json_object_set_new(o, "full", json_boolean(m->is_full));
    json_array_append_new(rows, o);
}

/* No new URLs are admitted: a server is full as it says itself, or refused a
 * worker just now. */
static bool is_full(const json_t *o)
{
    json_t *one;
    size_t i;

    json_array_foreach(json_object_get(o, "servers"), i, one)
    {
        if (json_is_true(json_object_get(one, "full")))
            return true;
    }
    json_array_foreach(json_object_get(o, "workers"), i, one)
    {
        if (json_is_string(json_object_get(one, "full_server")))
            return true;
    }
    return false;
}

/* ---- all of it ---- */

static const char *state_of(const json_t *o)
{
    if (number_in(o, "seen") == number_in(o, "done"))
        return "finished";
    if (json_is_true(json_object_get(o, "paused")))
        return "paused";
    if (number_in(o, "workers_alive") == 0)
        return "stopped";
    return is_full(o) ? "full" : "running";
}

static enum status gather(json_t *o, struct cluster_store *store,
                          const struct crawl_settings *s)
{
    json_t *servers = json_array();
    struct buf shown;
    enum status st;

    json_object_set_new(o, "servers", servers);
    cluster_store_each_master(store, add_server, servers);
    buf_init(&shown, 4096);
    cluster_url_show(s->cluster, &shown);
    json_set_text(o, "cluster", buf_bytes(&shown));
    buf_fini(&shown);
    json_object_set_new(o, "state", json_null()); /* its place */
    st = set_workers(o, store);
    if (st == STATUS_OK)
        st = set_urls(o, store);
    if (st != STATUS_OK)
        return st;
    json_object_set_new(o, "paused",
                        json_boolean(cluster_store_is_paused(store)));
    json_object_set_new(o, "state", json_string(state_of(o)));
    json_set_uint(o, "settings_version", cluster_store_version(store));
    json_object_set_new(o, "settings", settings_json(s));
    return STATUS_OK;
}

/* ---- as text ---- */

static void add_text(struct buf *b, const json_t *o, const char *name)
{
    const char *text = json_string_value(json_object_get(o, name));

    format_terminal(b, bytes_of_str(text != NULL ? text : "?"));
}

static void add_rates(struct buf *b, const json_t *o)
{
    format_rate(b, number_in(o, "pages_per_second"));
    buf_add_str(b, " pages and ");
    format_size(b, (uint64_t)number_in(o, "bytes_per_second"));
    buf_add_str(b, " a second");
}

static void print_worker(const json_t *w)
{
    struct buf b;

    buf_init(&b, 65536);
    buf_add_str(&b, "  worker ");
    add_text(&b, w, "host");
    buf_add_char(&b, ':');
    add_text(&b, w, "dir");
    buf_addf(&b, " (process %.0f): ", number_in(w, "pid"));
    format_count(&b, (uint64_t)number_in(w, "pages"));
    buf_add_str(&b, " pages");
    if (json_is_string(json_object_get(w, "full_server"))) {
        buf_add_str(&b, ", refused by ");
        add_text(&b, w, "full_server");
    }
    if (json_is_true(json_object_get(w, "alive"))) {
        buf_add_str(&b, ", ");
        add_rates(&b, w);
    } else {
        buf_add_str(&b, ", not heard for ");
        format_duration(&b, (int64_t)(number_in(w, "heard_seconds") * 1000));
    }
    puts(buf_str(&b));
    buf_fini(&b);
}

static void print_row(const char *label, const json_t *o, const char *name)
{
    struct buf b;

    buf_init(&b, 64);
    format_count(&b, (uint64_t)number_in(o, name));
    printf("  %-22s %14s\n", label, buf_str(&b));
    buf_fini(&b);
}

static void print_memory(const json_t *m)
{
    static const char *const kinds[] = {"seen",   "queues", "hosts",
                                        "leases", "counts", "robots"};
    struct buf b;

    buf_init(&b, 1024);
    format_size(&b, (uint64_t)number_in(m, "sum"));
    buf_add_str(&b, " (estimated)");
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        buf_addf(&b, "%s %s ", i == 0 ? ":" : ",", kinds[i]);
        format_size(&b, (uint64_t)number_in(m, kinds[i]));
    }
    printf("  memory of the cluster: %s\n", buf_str(&b));
    buf_fini(&b);
}

static void print_full(const json_t *o)
{
    json_t *one;
    struct buf b;
    size_t i;

    if (!is_full(o))
        return;
    buf_init(&b, 65536);
    buf_add_str(&b, "  no new URLs are admitted until there is room: raise "
                    "maxmemory or add servers\n");
    json_array_foreach(json_object_get(o, "servers"), i, one)
    {
        if (!json_is_true(json_object_get(one, "full")))
            continue;
        buf_add_str(&b, "  full: ");
        add_text(&b, one, "server");
        buf_add_str(&b, ", ");
        format_size(&b, (uint64_t)number_in(one, "used_memory"));
        buf_add_str(&b, " of its maxmemory of ");
        format_size(&b, (uint64_t)number_in(one, "maxmemory"));
        buf_add_char(&b, '\n');
    }
    fputs(buf_str(&b), stdout);
    buf_fini(&b);
}

static void print_all(const json_t *o)
{
    json_t *rows = json_object_get(o, "largest_shards"), *one;
    struct buf b;
    size_t i;

    buf_init(&b, 8192);
    add_text(&b, o, "cluster");
    buf_add_str(&b, ": ");
    add_text(&b, o, "state");
    buf_addf(&b, "\n  %.0f workers, ", number_in(o, "workers_alive"));
    add_rates(&b, o);
    puts(buf_str(&b));
    buf_fini(&b);
    print_full(o);
    json_array_foreach(json_object_get(o, "workers"), i, one)
    {
        print_worker(one);
    }
    print_row("URLs seen", o, "seen");
    print_row("waiting", o, "waiting");
    print_row("leased", o, "leased");
    print_row("done", o, "done");
    print_row("leases lost", o, "leases_lost");
    print_row("hosts waiting", o, "hosts_waiting");
    json_array_foreach(rows, i, one)
    {
        printf("  shard %-5.0f %.0f seen, %.0f waiting, %.0f leased\n",
               number_in(one, "shard"), number_in(one, "seen"),
               number_in(one, "waiting"), number_in(one, "leased"));
    }
    print_memory(json_object_get(o, "memory"));
    printf("  settings: version %.0f\n", number_in(o, "settings_version"));
}

int cluster_status(const char *url, bool json)
{
    struct cluster_store *store = NULL;
    json_t *o = json_object();
    struct crawl_settings s;
    struct buf why;
    enum status st;
    int code = EXIT_DONE;

    settings_init(&s);
    buf_init(&why, 8192);
    st = cluster_part_look(&store, url, &s, &why);
    if (st == STATUS_OK && (st = gather(o, store, &s)) != STATUS_OK)
        buf_addf(&why, "the cluster: %s", status_text(st));
    if (st != STATUS_OK)
        code = command_failed("status", buf_str(&why));
    else if (json)
        json_dumpf(o, stdout, JSON_INDENT(2));
    else
        print_all(o);
    if (json && st == STATUS_OK)
        putchar('\n');
    cluster_store_close(store);
    json_decref(o);
    buf_fini(&why);
    settings_fini(&s);
    return st == STATUS_ARG ? EXIT_USAGE : code;
}
