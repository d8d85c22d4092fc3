/* SPDX-License-Identifier: MIT */
/* cmd_status.c - `urlweir status`: the state of a crawl, also while it runs. */
#include <inttypes.h>
#include <jansson.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/format.h"
#include "base/json_fields.h"
#include "cli/command.h"
#include "cli/command_line.h"
#include "cli/control/control_place.h"
#include "cli/open_crawl.h"
#include "cli/report/progress.h"
#include "cli/status/live_state.h"
#include "cli/status/service_status.h"
#include "cli/status/shards_status.h"
#include "cli/status/status_memory.h"
#include "cli/status/status_settings.h"
#include "cli/status/stored_hosts.h"
#include "cli/status/unresponsive.h"
#include "crawler/crawl_counters.h"

struct status_settings {
    bool json, hosts;
    uint8_t from[2];
};

#define AT(f) .at = offsetof(struct status_settings, f)

/* clang-format off */
static const struct option_spec specs[] = {
    {.name = "json", .type = OPTION_FLAG, AT(json), .section = "Output",
     .help = "one JSON object (docs/formats/status.md)"},
    {.name = "hosts", .type = OPTION_FLAG, AT(hosts), .section = "Output",
     .help = "also list every queue that has URLs left or settings of its own "
             "(of a service, every queue), with the number of URLs and the "
             "time it waits"},
};
/* clang-format on */

static const struct option_table table =
    OPTION_TABLE(specs, struct status_settings);

const struct usage status_usage = {
    .name = "status",
    .synopsis = "status DIR|kafka://HOST/NAME [--json] [--hosts]",
    .about =
        "Shows the state of the crawl, or of a service's frontier, in DIR, "
        "while it runs and after; or of crawl NAME in a cluster, with all its "
        "workers.",
    .table = &table,
    .least = 1,
    .most = 1,
    .operand = "a directory of crawl or serve, or the URL of a crawl in a "
               "cluster",
};

/* ---- the counters ---- */

static void add_reason(void *ctx, const char *name, uint64_t value)
{
    if (strchr(name, '.') != NULL)
        json_object_set_new(ctx, name, json_integer((json_int_t)value));
}

static void set_sandbox(json_t *o, const char *dir)
{
    struct buf text;

    buf_init(&text, 4096);
    if (control_note_sandbox(dir, &text))
        json_object_set_new(o, "sandbox", json_string(buf_str(&text)));
    buf_fini(&text);
}

/* Sets the pace that the process reports; leaves out values of another type. */
static void set_pace(json_t *o, const json_t *live)
{
    static const struct {
        const char *name, *theirs;
    } rates[] = {{"elapsed", "elapsed_seconds"},
                 {"pages_per_second", "pages_per_second"},
                 {"bytes_per_second", "bytes_per_second"},
                 {"transfers", "transfers"},
                 {"transfers_most", "transfers_most"},
                 {"connections_open", "connections_open"}};
    json_t *waiting = json_object_get(live, "waiting");

    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        json_t *value = json_object_get(live, rates[i].theirs);

        if (json_is_number(value))
            json_object_set(o, rates[i].name, value);
    }
    if (json_is_object(waiting))
        json_object_set(o, "waiting", waiting);
}

static void take_wait(const json_t *waiting, struct crawl_standstill *w)
{
    const char *host = json_string_value(json_object_get(waiting, "host"));
    const char *why = json_string_value(json_object_get(waiting, "why"));
    double s = json_number_value(json_object_get(waiting, "seconds"));

    snprintf(w->host, sizeof w->host, "%s", host != NULL ? host : "");
    w->why = why != NULL ? why : "";
    w->http_status =
        (unsigned)json_integer_value(json_object_get(waiting, "http_status"));
    w->ns = s > 0 && s < 1e9 ? (int64_t)(s * NS_PER_S) : 0;
}

/* Prints "running for 3m12s: 9.8 pages and 91 KiB a second". */
static void print_pace(const json_t *o)
{
    const json_t *elapsed = json_object_get(o, "elapsed");
    const json_t *waiting = json_object_get(o, "waiting");
    struct crawl_standstill w;
    struct buf b;

    if (!json_is_number(elapsed))
        return;
    buf_init(&b, 4096);
    buf_add_str(&b, "  in this run: ");
    format_duration(&b, (int64_t)(json_number_value(elapsed) * 1000));
    buf_add_str(&b, ", ");
    format_rate(&b, json_number_value(json_object_get(o, "pages_per_second")));
    buf_add_str(&b, " pages and ");
    format_size(&b, (uint64_t)json_number_value(
                        json_object_get(o, "bytes_per_second")));
    buf_addf(&b,
             " a second\n  transfers: %" PRId64 " of at most %" PRId64
             ", %" PRId64 " connections open\n",
             (int64_t)json_integer_value(json_object_get(o, "transfers")),
             (int64_t)json_integer_value(json_object_get(o, "transfers_most")),
             (int64_t)json_integer_value(
                 json_object_get(o, "connections_open")));
    if (json_is_object(waiting)) {
        take_wait(waiting, &w);
        buf_add_str(&b, "  ");
        progress_wait(&b, &w);
        buf_add_char(&b, '\n');
    }
    fputs(buf_str(&b), stdout);
    buf_fini(&b);
}

static json_t *status_json(struct reader *r)
{
    json_t *o = json_object(), *reasons = json_object(), *silent = NULL;
    struct crawl_stats crawl = {.active = 0};
    char at[CLOCK_ISO_SIZE];
    json_t *live = r->holder > 0 ? live_state(r->dir) : NULL;
    const char *state = json_string_value(json_object_get(live, "state"));

    json_object_set_new(o, "dir", json_string(r->dir));
    json_object_set_new(o, "state",
                        json_string(state != NULL ? state : crawl_state(r)));
    if (r->holder > 0)
        json_object_set_new(o, "pid", json_integer(r->holder));
    if (r->holder > 0)
        set_sandbox(o, r->dir);
    set_pace(o, live);
    status_set_memory(o, r, live);
    json_decref(live);
    crawl_stats_of_store(r->store, &crawl);
    for (size_t i = 0; i < CRAWL_COUNTERS; i++)
        if (crawl_counter_is_stored(&crawl_counters[i]))
            json_set_uint(o, crawl_counters[i].name,
                          crawl_counter_value(&crawl_counters[i], &crawl));
    json_object_set_new(o, "filter_overfull",
                        json_boolean(crawl.frontier.filter.overfull));
    frontier_store_each_counter(r->store, add_reason, reasons);
    if (unresponsive_json(r, &silent) == STATUS_OK)
        json_object_set(o, "unresponsive", silent);
    json_decref(silent);
    json_object_set_new(o, "reasons", reasons);
    status_set_settings(o, r);
    if (r->manifest_status == STATUS_OK) {
        clock_iso(at, r->manifest.written_at_ms);
        json_object_set_new(o, "checkpoint_at", json_string(at));
        json_object_set_new(o, "generation",
                            json_integer((json_int_t)r->manifest.generation));
    }
    return o;
}

static void text_row(const char *label, const json_t *value)
{
    struct buf b;

    buf_init(&b, 64);
    format_count(&b, (uint64_t)json_integer_value(value));
    printf("  %-22s %14s\n", label, buf_str(&b));
    buf_fini(&b);
}

static void counter_rows(const json_t *o)
{
    for (size_t i = 0; i < CRAWL_COUNTERS; i++) {
        const struct crawl_counter *c = &crawl_counters[i];
        const json_t *value = json_object_get(o, c->name);

        if (c->title != NULL && (!c->rare || json_integer_value(value) > 0))
            text_row(c->title, value);
    }
}

static void status_text_out(const json_t *o)
{
    const char *reason;
    json_t *value;

    printf("%s: %s", json_string_value(json_object_get(o, "dir")),
           json_string_value(json_object_get(o, "state")));
    if (json_object_get(o, "pid") != NULL)
        printf(" (process %lld)",
               (long long)json_integer_value(json_object_get(o, "pid")));
    putchar('\n');
    if (json_object_get(o, "sandbox") != NULL)
        printf("  sandbox: %s\n",
               json_string_value(json_object_get(o, "sandbox")));
    print_pace(o);
    counter_rows(o);
    unresponsive_print(json_object_get(o, "unresponsive"));
    if (json_is_true(json_object_get(o, "filter_overfull")))
        printf("  the filter holds more URLs than it was made for (--expect): "
               "the crawl is slower, but loses no URL\n");
    /* cppcheck-suppress unknownMacro */
    json_object_foreach(json_object_get(o, "reasons"), reason, value)
        text_row(reason, value);
    status_print_memory(json_object_get(o, "memory"));
    status_print_settings(o);
}

int cmd_status(int argc, char **argv)
{
    struct status_settings s;
    struct option_list operands = {0};
    struct stored_hosts *hosts = NULL;
    struct reader r;
    int code = EXIT_DONE;
    char *shards = NULL;
    json_t *o = NULL;

    if (!command_line_parse(&status_usage, argc, argv, &s, &operands, &code))
        return code;
    shards = shards_status_place(operands.item[0]);
    if (shards != NULL) {
        code = s.hosts ? usage_error(&status_usage,
                                     "--hosts is of one shard: DIR/shards/N")
                       : shards_status(operands.item[0], shards, s.json);
        goto out;
    }
    if (!open_crawl(&r, "status", operands.item[0], &code))
        goto out;
    if (is_service(&r)) {
        code = service_status(&r, s.json, s.hosts);
        reader_close(&r);
        goto out;
    }
    o = status_json(&r);
    if (s.hosts && stored_hosts_load(&hosts, &r) != STATUS_OK)
        code = EXIT_CANNOT;
    if (hosts != NULL)
        stored_hosts_ask(hosts);
    if (s.json) {
        if (hosts != NULL)
            json_object_set_new(o, "queues", stored_hosts_json(hosts));
        json_print(o);
    } else {
        status_text_out(o);
        if (hosts != NULL)
            stored_hosts_print(hosts);
    }
    json_decref(o);
    stored_hosts_free(hosts);
    reader_close(&r);
out:
    free(shards);
    option_list_free(&operands);
    option_fini(&table, &s);
    return code;
}
