/* SPDX-License-Identifier: MIT */
/* cluster_state.c - the state of a crawl in a cluster, as JSON. */
#include "job/cluster_crawl/cluster_state.h"

#include <stdlib.h>

#include "base/json_fields.h"
#include "base/mem.h"
#include "frontier/cluster_store/cluster_permits.h"
#include "frontier/cluster_store/cluster_steer.h"
#include "frontier/cluster_store/cluster_watch.h"
#include "job/settings/cluster_settings.h"
#include "job/settings/settings_json.h"

#define LARGEST 5

/* ---- workers ---- */

struct workers {
    json_t *rows;
    uint64_t alive;
    double pages_rate, bytes_rate;
};

double cluster_state_number(const json_t *o, const char *name)
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
    json_set_uint(o, "pid", (uint64_t)cluster_state_number(said, "pid"));
    json_object_set_new(o, "alive", json_boolean(alive));
    json_set_seconds(o, "heard_seconds", heard_ms);
    json_set_uint(o, "pages", (uint64_t)cluster_state_number(said, "pages"));
    json_set_uint(o, "bytes", (uint64_t)cluster_state_number(said, "bytes"));
    if (alive) {
        double pages = cluster_state_number(said, "pages_per_second"),
               bytes = cluster_state_number(said, "bytes_per_second");

        json_object_set_new(o, "pages_per_second", json_real(pages));
        json_object_set_new(o, "bytes_per_second", json_real(bytes));
        json_set_uint(o, "leases",
                      (uint64_t)cluster_state_number(said, "leases"));
        json_set_uint(o, "settings_version",
                      (uint64_t)cluster_state_number(said, "settings_version"));
        json_set_uint(o, "repeats",
                      (uint64_t)cluster_state_number(said, "repeats"));
        json_set_uint(o, "connections_lost",
                      (uint64_t)cluster_state_number(said, "connections_lost"));
        json_set_uint(o, "holds",
                      (uint64_t)cluster_state_number(said, "holds"));
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
bool cluster_state_is_full(const json_t *o)
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
    if (cluster_state_number(o, "seen") == cluster_state_number(o, "done"))
        return "finished";
    if (json_is_true(json_object_get(o, "paused")))
        return "paused";
    if (cluster_state_number(o, "workers_alive") == 0)
        return "stopped";
    return cluster_state_is_full(o) ? "full" : "running";
}

enum status cluster_state_gather(json_t *o, struct cluster_store *store,
                                 const struct crawl_settings *s)
{
    json_t *servers = json_array();
    uint64_t pages = 0;
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
        st = cluster_store_get_pages(store, &pages);
    json_set_uint(o, "pages", pages);
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
