/* SPDX-License-Identifier: MIT */
/* cluster_status.c - `urlweir status` of a crawl in a cluster. */
#include "cli/status/cluster_status.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>

#include "base/format.h"
#include "base/json_fields.h"
#include "cli/command.h"
#include "cli/status/shared_status.h"
#include "job/cluster_crawl/cluster_state.h"
#include "job/cluster_part.h"
#include "job/settings/settings.h"

/* ---- as text ---- */

static void add_text(struct buf *b, const json_t *o, const char *name)
{
    const char *text = json_string_value(json_object_get(o, name));

    format_terminal(b, bytes_of_str(text != NULL ? text : "?"));
}

static void add_rates(struct buf *b, const json_t *o)
{
    format_rate(b, cluster_state_number(o, "pages_per_second"));
    buf_add_str(b, " pages and ");
    format_size(b, (uint64_t)cluster_state_number(o, "bytes_per_second"));
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
    buf_addf(&b, " (process %.0f): ", cluster_state_number(w, "pid"));
    format_count(&b, (uint64_t)cluster_state_number(w, "pages"));
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
        format_duration(&b, (int64_t)(cluster_state_number(w, "heard_seconds") *
                                      1000));
    }
    puts(buf_str(&b));
    buf_fini(&b);
}

static void print_row(const char *label, const json_t *o, const char *name)
{
    struct buf b;

    buf_init(&b, 64);
    format_count(&b, (uint64_t)cluster_state_number(o, name));
    printf("  %-22s %14s\n", label, buf_str(&b));
    buf_fini(&b);
}

static void print_memory(const json_t *m)
{
    static const char *const kinds[] = {"seen",   "queues", "hosts",
                                        "leases", "counts", "robots"};
    struct buf b;

    buf_init(&b, 1024);
    format_size(&b, (uint64_t)cluster_state_number(m, "sum"));
    buf_add_str(&b, " (estimated)");
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        buf_addf(&b, "%s %s ", i == 0 ? ":" : ",", kinds[i]);
        format_size(&b, (uint64_t)cluster_state_number(m, kinds[i]));
    }
    printf("  memory of the cluster: %s\n", buf_str(&b));
    buf_fini(&b);
}

static void print_full(const json_t *o)
{
    json_t *one;
    struct buf b;
    size_t i;

    if (!cluster_state_is_full(o))
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
        format_size(&b, (uint64_t)cluster_state_number(one, "used_memory"));
        buf_add_str(&b, " of its maxmemory of ");
        format_size(&b, (uint64_t)cluster_state_number(one, "maxmemory"));
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
    buf_addf(&b, "\n  %.0f workers, ",
             cluster_state_number(o, "workers_alive"));
    add_rates(&b, o);
    puts(buf_str(&b));
    buf_fini(&b);
    print_full(o);
    json_array_foreach(json_object_get(o, "workers"), i, one)
    {
        print_worker(one);
    }
    print_row("pages", o, "pages");
    print_row("URLs seen", o, "seen");
    print_row("waiting", o, "waiting");
    print_row("leased", o, "leased");
    print_row("done", o, "done");
    print_row("leases lost", o, "leases_lost");
    print_row("hosts waiting", o, "hosts_waiting");
    json_array_foreach(rows, i, one)
    {
        printf("  shard %-5.0f %.0f seen, %.0f waiting, %.0f leased\n",
               cluster_state_number(one, "shard"),
               cluster_state_number(one, "seen"),
               cluster_state_number(one, "waiting"),
               cluster_state_number(one, "leased"));
    }
    print_memory(json_object_get(o, "memory"));
    printf("  settings: version %.0f\n",
           cluster_state_number(o, "settings_version"));
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
    if (st == STATUS_OK &&
        (st = cluster_state_gather(o, store, &s)) != STATUS_OK)
        buf_addf(&why, "the cluster: %s", status_text(st));
    if (st == STATUS_REFUSED)
        code = shared_status(url, json); /* it is a service's */
    else if (st != STATUS_OK)
        code = command_failed("status", buf_str(&why));
    else if (json)
        json_print(o);
    else
        print_all(o);
    cluster_store_close(store);
    json_decref(o);
    buf_fini(&why);
    settings_fini(&s);
    return st == STATUS_ARG ? EXIT_USAGE : code;
}
