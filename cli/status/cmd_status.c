/* SPDX-License-Identifier: MIT */
/* cmd_status.c - `urlweir status`: the state of a crawl, also while it runs. */
#include <dirent.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/format.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/record.h"
#include "base/status.h"
#include "cli/command.h"
#include "cli/command_line.h"
#include "cli/control/control_place.h"
#include "cli/open_crawl.h"
#include "cli/report/progress.h"
#include "cli/status/stored_hosts.h"
#include "cluster/cluster_stats.h"
#include "config/config.h"
#include "crawler/crawl_stats.h"
#include "frontier/reader.h"
#include "frontier/served/served_reader.h"
#include "job/exit_code.h"
#include "job/settings/settings.h"
#include "job/settings_applied.h"

#define SERVICE_LINE ((size_t)1 << 20)

/* ---- of every place: a crawl, a service, shards ---- */

static void set_place(json_t *o, struct reader *r, const char *state)
{
    struct buf sandbox;

    json_set_str(o, "dir", r->dir);
    json_set_str(o, "state", state != NULL ? state : crawl_state(r));
    if (is_service(r))
        json_set_str(o, "holds", "service");
    if (r->holder <= 0)
        return;
    json_object_set_new(o, "pid", json_integer(r->holder));
    buf_init(&sandbox, 4096);
    if (control_note_sandbox(r->dir, &sandbox) && sandbox.len > 0)
        json_set_str(o, "sandbox", buf_str(&sandbox));
    buf_fini(&sandbox);
}

static void set_checkpoint(json_t *o, const struct reader *r)
{
    if (r->manifest_status != STATUS_OK)
        return;
    json_set_time(o, "checkpoint_at", r->manifest.written_at_ms);
    json_set_uint(o, "generation", r->manifest.generation);
}

static const char *text_at(const json_t *o, const char *name)
{
    return json_string_value(json_object_get(o, name));
}

static uint64_t uint_at(const json_t *o, const char *name)
{
    return (uint64_t)json_integer_value(json_object_get(o, name));
}

static void print_place(const json_t *o)
{
    const json_t *pid = json_object_get(o, "pid");

    printf("%s: %s%s", text_at(o, "dir"),
           text_at(o, "holds") != NULL ? "a service's frontier, " : "",
           text_at(o, "state"));
    if (pid != NULL)
        printf(" (process %lld)", (long long)json_integer_value(pid));
    putchar('\n');
    if (text_at(o, "sandbox") != NULL)
        printf("  sandbox: %s\n", text_at(o, "sandbox"));
}

static void text_row(const char *label, const json_t *value)
{
    printf("  %-22s %14s\n", label, COUNT((uint64_t)json_integer_value(value)));
}

/* A column of a list of objects: its field, what stands above it, its width
 * (negative: to the left; 0: the last, as wide as it is). */
struct text_column {
    const char *name, *heading;
    int width;
};

static void print_cell(const struct text_column *c, bool first,
                       const char *text)
{
    const char *gap = first ? "" : c->width > 0 ? " " : "  ";

    if (c->width == 0)
        printf("%s%s\n", gap, text);
    else
        printf("%s%*s", gap, c->width, text);
}

static void print_table(const json_t *list, const struct text_column *columns,
                        size_t n)
{
    struct buf cell;
    const json_t *row;
    size_t i;

    for (size_t k = 0; k < n; k++)
        print_cell(&columns[k], k == 0, columns[k].heading);
    buf_init(&cell, SERVICE_LINE);
    json_array_foreach(list, i, row)
    {
        for (size_t k = 0; k < n; k++) {
            const json_t *v = json_object_get(row, columns[k].name);

            buf_clear(&cell);
            if (json_is_integer(v))
                buf_addf(&cell, "%lld", (long long)json_integer_value(v));
            else
                format_terminal(&cell, bytes_of(json_string_value(v),
                                                json_string_length(v)));
            print_cell(&columns[k], k == 0, buf_str(&cell));
        }
    }
    buf_fini(&cell);
}

/*
 * `urlweir status` of a directory of `urlweir serve`.
 *
 * Uses the words of the HTTP API: queued, leased, completed. Counts everything
 * from the rows (served_reader.h), since the service keeps no counter on disk.
 */

struct crawl_line {
    struct bytes name;
    struct served_reader_counts urls;
    uint64_t queues, blocked_queues;
};

struct view {
    struct reader *r;
    struct served_reader *served;
    const struct served_reader_facts *facts;
    struct crawl_line *crawls;
    size_t crawl_count;
    uint32_t *queues; /* existing ones, most queued first */
    uint32_t queue_count;
};

/* ---- gathering ---- */

static struct crawl_line *crawl_named(struct view *v, struct map *places,
                                      struct bytes name)
{
    size_t place = (size_t)(uintptr_t)map_get(places, name);

    if (place == 0) {
        place = ++v->crawl_count;
        v->crawls = xrealloc(v->crawls, place * sizeof *v->crawls);
        v->crawls[place - 1] = (struct crawl_line){.name = name};
        map_put(places, name, (void *)(uintptr_t)place);
    }
    return &v->crawls[place - 1];
}

static void add_queue(struct view *v, struct map *places, uint32_t number)
{
    const struct served_reader_queue q = served_reader_queue(v->served, number);
    struct bytes crawl, key;
    struct crawl_line *c;

    if (!q.there)
        return;
    frontier_store_queue_name(v->r->store, number, &crawl, &key);
    c = crawl_named(v, places, crawl);
    c->queues++;
    c->blocked_queues += q.blocked_until_ms > 0;
    c->urls.queued += q.urls.queued;
    c->urls.leased += q.urls.leased;
    c->urls.completed += q.urls.completed;
    v->queues[v->queue_count++] = number;
}

struct ranked {
    uint64_t queued;
    uint32_t number;
};

static int by_queued(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;

    if (x->queued != y->queued)
        return x->queued > y->queued ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

static void rank_queues(struct view *v)
{
    struct ranked *all = xcalloc((size_t)v->queue_count + 1, sizeof *all);

    for (uint32_t i = 0; i < v->queue_count; i++)
        all[i] = (struct ranked){
            served_reader_queue(v->served, v->queues[i]).urls.queued,
            v->queues[i]};
    qsort(all, v->queue_count, sizeof *all, by_queued);
    for (uint32_t i = 0; i < v->queue_count; i++)
        v->queues[i] = all[i].number;
    free(all);
}

static void gather(struct view *v)
{
    uint32_t n = frontier_store_queue_count(v->r->store);
    struct map *places = map_new();

    v->facts = served_reader_facts(v->served);
    v->queues = xcalloc((size_t)n + 1, sizeof *v->queues);
    for (uint32_t q = 1; q <= n; q++)
        add_queue(v, places, q);
    rank_queues(v);
    map_free(places, NULL);
}

/* ---- crawls of its own, each in a directory like any other crawl's ---- */

static int is_visible(const struct dirent *e)
{
    return e->d_name[0] != '.';
}

static json_t *own_crawls_json(const struct view *v)
{
    char *path = reader_path(v->r, "crawls");
    json_t *list = json_array();
    struct dirent **names;
    int n = scandir(path, &names, is_visible, alphasort);

    for (int i = 0; i < n; i++) {
        json_array_append_new(list, json_string(names[i]->d_name));
        free(names[i]);
    }
    if (n >= 0)
        free(names);
    free(path);
    return list;
}

/* ---- JSON ---- */

static void set_counts(json_t *o, const struct served_reader_counts *c)
{
    json_set_uint(o, "queued", c->queued);
    json_set_uint(o, "leased", c->leased);
    json_set_uint(o, "completed", c->completed);
}

static json_t *crawls_json(const struct view *v)
{
    json_t *list = json_array();

    for (size_t i = 0; i < v->crawl_count; i++) {
        const struct crawl_line *c = &v->crawls[i];
        json_t *o = json_object();

        json_set_text(o, "crawl", c->name);
        set_counts(o, &c->urls);
        json_set_uint(o, "queue_count", c->queues);
        json_set_uint(o, "blocked_queues", c->blocked_queues);
        json_array_append_new(list, o);
    }
    return list;
}

static void set_value(void *o, const char *name,
                      const struct record_value *value)
{
    json_set_value(o, name, value);
}

static json_t *queues_json(const struct view *v)
{
    json_t *list = json_array();

    for (uint32_t i = 0; i < v->queue_count; i++) {
        struct served_record f =
            served_reader_queue_record(v->served, v->queues[i]);
        json_t *o = json_object();

        column_view_each(&served_views[SERVED_VIEW_QUEUES], &f, set_value, o);
        json_array_append_new(list, o);
    }
    return list;
}

static json_t *service_json(const struct view *v, bool queues)
{
    json_t *o = json_object();

    set_place(o, v->r, NULL);
    json_set_uint(o, "urls", frontier_store_last_id(v->r->store));
    set_counts(o, &v->facts->urls);
    json_set_uint(o, "due", v->facts->due);
    json_set_uint(o, "removed", v->facts->urls.removed);
    json_set_uint(o, "queue_count", v->facts->queues);
    json_set_uint(o, "blocked_queues", v->facts->blocked_queues);
    json_set_seconds(o, "default_delay_seconds", v->facts->default_delay_ms);
    json_object_set_new(o, "active", json_boolean(v->facts->active));
    json_object_set_new(o, "crawls", crawls_json(v));
    json_object_set_new(o, "own_crawls", own_crawls_json(v));
    set_checkpoint(o, v->r);
    if (queues)
        json_object_set_new(o, "queues", queues_json(v));
    return o;
}

/* ---- text ---- */

static void service_print_totals(const json_t *o)
{
    static const char *const rows[][2] = {{"queued", "queued"},
                                          {"due", "of them due"},
                                          {"leased", "leased"},
                                          {"completed", "completed"},
                                          {"removed", "removed"},
                                          {"queue_count", "queues"},
                                          {"blocked_queues",
                                           "of them blocked"}};
    int64_t delay_ms =
        (int64_t)(json_number_value(
                      json_object_get(o, "default_delay_seconds")) *
                      1000 +
                  0.5);

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        text_row(rows[i][1], json_object_get(o, rows[i][0]));
    printf("  %-22s %14s\n", "default delay", DURATION(delay_ms));
    if (!json_is_true(json_object_get(o, "active")))
        printf("  no URL is handed out: the service was set inactive\n");
}

static void service_print_crawls(const json_t *crawls)
{
    static const struct text_column columns[] = {{"queued", "queued", 12},
                                                 {"leased", "leased", 12},
                                                 {"completed", "completed", 12},
                                                 {"queue_count", "queues", 12},
                                                 {"crawl", "crawl", 0}};

    if (json_array_size(crawls) == 0)
        return;
    putchar('\n');
    print_table(crawls, columns, sizeof columns / sizeof *columns);
}

static void service_print_own(const json_t *o)
{
    const json_t *list = json_object_get(o, "own_crawls"), *name;
    size_t i;

    if (json_array_size(list) > 0)
        printf("\nits own crawls:\n");
    /* cppcheck-suppress unknownMacro */
    json_array_foreach(list, i, name)
        printf("  urlweir status %s/crawls/%s\n",
               json_string_value(json_object_get(o, "dir")),
               json_string_value(name));
}

/* The delay of a queue is shown if it has one of its own, which a record does
 * not tell. */
static void text_queue(const struct view *v, uint32_t number, struct buf *line)
{
    const struct served_reader_queue q = served_reader_queue(v->served, number);
    struct bytes crawl, key;

    frontier_store_queue_name(v->r->store, number, &crawl, &key);
    buf_clear(line);
    format_terminal(line, key);
    if (v->crawl_count > 1) {
        buf_add_str(line, " of ");
        format_terminal(line, crawl);
    }
    if (q.delay_ms >= 0)
        buf_addf(line, ", delay %s", DURATION(q.delay_ms));
    if (q.blocked_until_ms > 0)
        buf_addf(line, ", blocked for %s",
                 DURATION(q.blocked_until_ms - v->facts->now));
    if (q.limit > 0)
        buf_addf(line, ", limit %u", q.limit);
    printf("%12" PRIu64 " %12" PRIu64 " %12" PRIu64 "  %s\n", q.urls.queued,
           q.urls.leased, q.urls.completed, buf_str(line));
}

static void text_queues(const struct view *v)
{
    struct buf line;

    buf_init(&line, SERVICE_LINE);
    printf("\n%12s %12s %12s  queue\n", "queued", "leased", "completed");
    for (uint32_t i = 0; i < v->queue_count; i++)
        text_queue(v, v->queues[i], &line);
    buf_fini(&line);
}

static int service_status(struct reader *r, bool json, bool queues)
{
    struct view v = {.r = r};
    enum status st = served_reader_open(&v.served, r, clock_wall_ms());
    json_t *o;

    if (st != STATUS_OK)
        return cannot_read("status", r->dir, st);
    gather(&v);
    o = service_json(&v, queues);
    if (json) {
        json_print(o);
    } else {
        print_place(o);
        service_print_totals(o);
        service_print_crawls(json_object_get(o, "crawls"));
        if (queues)
            text_queues(&v);
        service_print_own(o);
    }
    json_decref(o);
    free(v.crawls);
    free(v.queues);
    served_reader_close(v.served);
    return EXIT_DONE;
}

/*
 * `urlweir status` of a crawl whose shards are in Kafka, from
 * any machine: all of it, and each shard.
 *
 * What each shard has done stands in NAME.control as of its last commit, so no
 * worker is asked and none has to run.
 */

static void shards_print_text(const json_t *o)
{
    static const struct text_column columns[] = {
        {"shard", "  shard   ", -10}, {"pages", "pages", 12},
        {"urls", "URLs", 12},         {"queued", "queued", 12},
        {"sent", "sent", 12},         {"received", "received", 12},
        {"state", "state", -9},       {"worker", "worker", 0}};

    printf("%s: %s\n", text_at(o, "cluster"), text_at(o, "state"));
    for (size_t i = 0; i < SHARD_FIGURES; i++)
        text_row(shard_figures[i].title,
                 json_object_get(o, shard_figures[i].name));
    print_table(json_object_get(o, "shards"), columns,
                sizeof columns / sizeof *columns);
}

static void shards_print(struct cluster_control *c, const char *url, bool json)
{
    struct cluster_stats s;
    json_t *o;

    cluster_stats_take(&s, c);
    o = cluster_stats_json(&s, url);
    (json ? json_print : shards_print_text)(o);
    json_decref(o);
    cluster_stats_fini(&s);
}

/* The kafka:// URL that `where` is, or that is the crawl of the worker's
 * directory `where`; the caller frees it. NULL: it is neither. */
static char *shards_status_place(const char *where)
{
    struct control_place p;
    struct buf why;
    char *url = NULL;

    buf_init(&why, (size_t)128 << 10);
    if (control_place_find(&p, where, &why) == STATUS_OK) {
        if (p.kafka != NULL)
            url = xstrdup(p.kafka);
        control_place_fini(&p);
    }
    buf_fini(&why);
    return url;
}

/* Prints it; returns the exit status, errors were printed. `where`: as given by
 * the person. */
static int shards_status(const char *where, const char *url, bool json)
{
    struct cluster_control *c = NULL;
    struct kafka_address at;
    struct crawl_settings s;
    struct kafka_access access;
    struct buf why;
    enum status st;
    int code = EXIT_DONE;

    settings_init(&s);
    buf_init(&why, (size_t)64 << 10);
    st = kafka_address_read(&at, url, &why);
    if (st == STATUS_OK && strcmp(where, url) != 0)
        st = settings_load(&s, where, &why);
    access =
        (struct kafka_access){at.brokers,
                              {s.kafka_property.item, s.kafka_property.count}};
    if (st == STATUS_OK)
        st = cluster_control_open(&c, &access, at.topic, &why);
    if (st == STATUS_NOT_FOUND)
        buf_addf(&why, "there is no crawl %s", at.topic);
    if (st != STATUS_OK)
        code = command_failed("status",
                              why.len > 0 ? buf_str(&why) : status_text(st));
    else
        shards_print(c, url, json);
    cluster_control_close(c);
    buf_fini(&why);
    settings_fini(&s);
    return code;
}

/* ---- hosts that did not respond, and the URLs that wait for them ---- */

#define UNRESPONSIVE_MOST 100 /* most hosts listed */

#define PRINTED           8
#define LINE              1024

struct silent_host {
    uint32_t queue;
    uint64_t queued;
    struct queue_state state;
};

struct silent_hosts {
    struct frontier_store *store;
    struct silent_host at[UNRESPONSIVE_MOST];
    size_t count;
};

/* Returns "connect" for "no_response:connect". NULL: the queue waits for
 * another reason, or none. */
static const char *reason_of(const struct queue_state *s, bool *given_up)
{
    const char *colon = strchr(s->reason, ':');
    struct bytes word;

    if (colon == NULL)
        return NULL;
    word = bytes_of(s->reason, (size_t)(colon - s->reason));
    *given_up = bytes_is(word, QUEUE_GIVEN_UP);
    return *given_up || bytes_is(word, QUEUE_SILENT) ? colon + 1 : NULL;
}

/* Keeps the longest queues, sorted. */
static void take(void *ctx, uint32_t queue, const struct queue_state *s)
{
    struct silent_hosts *all = ctx;
    struct silent_host h = {queue, frontier_store_pending(all->store, queue),
                            *s};
    size_t at;
    bool given_up;

    if (h.queued == 0 || reason_of(s, &given_up) == NULL)
        return;
    if (all->count < UNRESPONSIVE_MOST)
        all->count++;
    else if (all->at[all->count - 1].queued >= h.queued)
        return;
    for (at = all->count - 1; at > 0 && all->at[at - 1].queued < h.queued; at--)
        all->at[at] = all->at[at - 1];
    all->at[at] = h;
}

/* [{"host", "reason", "given_up", "queued"}], those with most URLs first. */
static enum status unresponsive_json(struct reader *r, json_t **out)
{
    struct silent_hosts *all = xcalloc(1, sizeof *all);
    enum status st;

    all->store = r->store;
    st = frontier_store_each_queue_state(r->store, take, all);
    *out = json_array();
    for (size_t i = 0; i < all->count; i++) {
        const struct silent_host *h = &all->at[i];
        bool given_up = false;
        const char *reason = reason_of(&h->state, &given_up);
        struct bytes crawl, key;

        frontier_store_queue_name(r->store, h->queue, &crawl, &key);
        json_array_append_new(*out,
                              json_pack("{s:o, s:s, s:b, s:I}", "host",
                                        json_stringn(key.at, key.len), "reason",
                                        reason, "given_up", given_up, "queued",
                                        (json_int_t)h->queued));
    }
    free(all);
    return st;
}

static void unresponsive_print_one(const json_t *o)
{
    const json_t *host = json_object_get(o, "host");
    uint64_t queued =
        (uint64_t)json_integer_value(json_object_get(o, "queued"));
    struct buf b;

    buf_init(&b, LINE);
    format_terminal(&b, bytes_of(json_string_value(host),
                                 json_string_length(host)));
    buf_add_str(&b, " did not respond (");
    format_terminal(&b, bytes_of_str(text_at(o, "reason")));
    buf_addf(&b, "), %s URL%s queued", COUNT(queued), queued == 1 ? "" : "s");
    printf("  %s\n", buf_str(&b));
    buf_fini(&b);
}

/* Prints a line for each of the first few on stdout. */
static void unresponsive_print(const json_t *list)
{
    size_t n = json_array_size(list);

    for (size_t i = 0; i < n && i < PRINTED; i++)
        unresponsive_print_one(json_array_get(list, i));
    if (n > PRINTED)
        puts("  and more hosts that did not respond: --json lists them");
}

/* ---- the settings of the crawl ---- */

/* Returns those settings that differ from `s` and were in force when the store
 * was written last. */
static json_t *of_run(struct reader *r, const struct crawl_settings *s,
                      json_t *all)
{
    json_t *differ = json_object(), *was_all, *value;
    struct crawl_settings was;
    const char *name;
    struct buf note;
    bool there;

    buf_init(&note, CONFIG_CEILING);
    there = frontier_store_meta(r->store, "settings", &note) == STATUS_OK;
    if (there) /* not known: a copy of `s` */
        (void)settings_of_note(buf_bytes(&note), s, &was);
    buf_fini(&note);
    if (!there)
        return differ;
    was_all = settings_json(&was);
    /* cppcheck-suppress unknownMacro */
    json_object_foreach(was_all, name, value)
    {
        if (!json_equal(value, json_object_get(all, name)))
            json_object_set(differ, name, value);
    }
    json_decref(was_all);
    settings_fini(&was);
    return differ;
}

/* Sets `settings`, `secrets` and, if the last run had other settings,
 * `settings_of_run` (docs/formats/status.md); or `settings_error` if they
 * cannot be read. */
static void status_set_settings(json_t *o, struct reader *r)
{
    struct crawl_settings s;
    struct buf error;
    json_t *all, *run;

    settings_init(&s);
    buf_init(&error, 65536);
    if (settings_load(&s, r->dir, &error) == STATUS_OK) {
        all = settings_json(&s);
        run = of_run(r, &s, all);
        json_object_set_new(o, "settings", all);
        json_object_set_new(o, "secrets", settings_secrets_json(&s));
        if (json_object_size(run) > 0)
            json_object_set(o, "settings_of_run", run);
        json_decref(run);
    } else {
        json_object_set_new(o, "settings_error", json_string(buf_str(&error)));
    }
    settings_fini(&s);
    buf_fini(&error);
}

/* ---- printing ---- */

static void add_value(struct buf *out, const json_t *v)
{
    const json_t *item;
    size_t i;

    if (json_is_string(v))
        format_terminal(out,
                        bytes_of(json_string_value(v), json_string_length(v)));
    else if (json_is_integer(v))
        buf_addf(out, "%lld", (long long)json_integer_value(v));
    else if (json_is_real(v))
        buf_addf(out, "%g", json_real_value(v));
    else if (json_is_boolean(v))
        buf_add_str(out, json_is_true(v) ? "true" : "false");
    else if (json_array_size(v) == 0)
        buf_add_str(out, "none");
    json_array_foreach(v, i, item)
    {
        if (i > 0)
            buf_add_str(out, ", ");
        add_value(out, item);
    }
}

static void print_one(const json_t *o, const char *name, const json_t *value)
{
    const json_t *run =
        json_object_get(json_object_get(o, "settings_of_run"), name);
    struct buf line;

    buf_init(&line, SIZE_MAX);
    buf_addf(&line, "    %s: ", name);
    add_value(&line, value);
    if (run != NULL) {
        buf_addf(&line, " (%s: ",
                 json_object_get(o, "pid") != NULL ? "this run" : "last run");
        add_value(&line, run);
        buf_add_char(&line, ')');
    }
    puts(buf_str(&line));
    buf_fini(&line);
}

static bool is_told(const json_t *o, const json_t *defaults, const char *name,
                    const json_t *value)
{
    if (strcmp(name, "seeds") == 0 || strcmp(name, "input") == 0)
        return false;
    return !json_equal(value, json_object_get(defaults, name)) ||
           json_object_get(json_object_get(o, "settings_of_run"), name) != NULL;
}

static void print_secrets(const json_t *names)
{
    const json_t *name;
    size_t i;

    json_array_foreach(names, i, name)
    {
        printf("    %s: set, but not shown\n", json_string_value(name));
    }
}

/* Prints for people the settings that are not the defaults. */
static void status_print_settings(const json_t *o)
{
    const json_t *error = json_object_get(o, "settings_error");
    struct crawl_settings none;
    const char *name;
    json_t *defaults, *value;
    struct buf safe;

    if (error != NULL) {
        buf_init(&safe, SIZE_MAX);
        format_terminal(&safe, bytes_of_str(json_string_value(error)));
        printf("  settings cannot be read: %s\n", buf_str(&safe));
        buf_fini(&safe);
        return;
    }
    settings_init(&none);
    defaults = settings_json(&none);
    puts("  settings that differ from the defaults");
    json_object_foreach(json_object_get(o, "settings"), name, value)
    {
        if (is_told(o, defaults, name, value))
            print_one(o, name, value);
    }
    print_secrets(json_object_get(o, "secrets"));
    json_decref(defaults);
    settings_fini(&none);
}

/*
 * How --memory is divided and used.
 *
 * The shares follow from the settings; what is used of them, only the process
 * that runs the crawl knows. The hot cache may use what the filter leaves of
 * the two's share, and connections what the frontier does not use, so their
 * shares are what they may have now.
 */

enum { FILTER, HOT, EXACT, DATABASE, QUEUES, CONNECTIONS, BODIES, REST, PARTS };
static const struct {
    const char *name, *title;
    const char *used; /* the counter that says so, or NULL */
} parts[PARTS] = {
    [FILTER] = {"filter", "filter", "memory_filter"},
    [HOT] = {"hot_cache", "hot cache", "memory_hot"},
    [EXACT] = {"exact_set", "exact set", "memory_exact"},
    [DATABASE] = {"database", "database cache", "memory_database"},
    [QUEUES] = {"queues", "queues and hosts", "memory_queues"},
    [CONNECTIONS] = {"connections", "idle connections", NULL},
    [BODIES] = {"bodies", "bodies under way", "memory_bodies"},
    [REST] = {"rest", "code, stacks, parsers", NULL},
};

static void fill_shares(const struct memory_plan *p, const json_t *live,
                        uint64_t share[PARTS])
{
    uint64_t filter =
        (uint64_t)json_integer_value(json_object_get(live, parts[FILTER].used));
    uint64_t frontier =
        (uint64_t)json_integer_value(json_object_get(live, "memory_bytes"));
    uint64_t spare = frontier < p->frontier ? p->frontier - frontier : 0;

    share[FILTER] = p->store.filter;
    share[HOT] = filter < p->store.hot ? p->store.hot - filter : 0;
    share[EXACT] = p->store.exact + p->store.delta;
    share[DATABASE] = p->store.database;
    share[QUEUES] = p->store.queues;
    share[CONNECTIONS] = spare > p->connections ? spare : p->connections;
    share[BODIES] = p->bodies;
    share[REST] = p->rest;
}

static json_t *to_json(const struct memory_plan *p, const json_t *live)
{
    json_t *o = json_object(), *used, *part;
    uint64_t share[PARTS];

    fill_shares(p, live, share);
    json_set_uint(o, "limit", p->limit);
    for (int i = 0; i < PARTS; i++) {
        part = json_object();
        json_object_set_new(part, "share", json_integer((json_int_t)share[i]));
        used =
            parts[i].used != NULL ? json_object_get(live, parts[i].used) : NULL;
        if (json_is_integer(used))
            json_object_set(part, "used", used);
        json_object_set_new(o, parts[i].name, part);
    }
    return o;
}

/* Sets "memory" of `o`. `live` is what the process says that runs the crawl
 * (live_state), NULL if none does. Leaves it out if the settings cannot be
 * read. */
static void status_set_memory(json_t *o, struct reader *r, const json_t *live)
{
    struct crawl_settings s, run;
    struct buf text;
    struct memory_plan p;
    bool known;

    settings_init(&s);
    buf_init(&text, (size_t)1 << 20);
    known = settings_load(&s, r->dir, &text) == STATUS_OK;
    p = memory_plan(s.memory_bytes, s.filter != FILTER_NONE);
    buf_clear(&text);
    if (known && live != NULL && /* of this run, --once included */
        frontier_store_meta(r->store, "settings", &text) == STATUS_OK) {
        (void)settings_of_note(buf_bytes(&text), &s, &run);
        p = memory_plan(run.memory_bytes, run.filter != FILTER_NONE);
        settings_fini(&run);
    }
    if (known)
        json_object_set_new(o, "memory", to_json(&p, live));
    buf_fini(&text);
    settings_fini(&s);
}

/* NULL is fine */
static void status_print_memory(const json_t *memory)
{
    if (memory == NULL)
        return;
    printf("  memory: at most %s\n", SIZE(uint_at(memory, "limit")));
    for (int i = 0; i < PARTS; i++) {
        const json_t *part = json_object_get(memory, parts[i].name);
        const json_t *used = json_object_get(part, "used");

        printf("    %s: ", parts[i].title);
        if (used != NULL)
            printf("%s of ", SIZE(uint_at(part, "used")));
        puts(SIZE(uint_at(part, "share")));
    }
}

/* ---- status --hosts ---- */

/* Does it have URLs left, or settings of its own? */
static bool host_is_told(const struct host_record *h)
{
    return h->queued > 0 || h->set_delay_ms >= 0 || h->limit > 0 ||
           bytes_is(h->why, "operator");
}

static void add_delay(struct buf *line, const struct host_record *h)
{
    if (h->crawl_delay_ms >= 0)
        buf_addf(line, ", Crawl-delay %s", DURATION(h->crawl_delay_ms));
    if (bytes_is(h->delay_why, "max_crawl_delay"))
        buf_addf(line, " cut to %s", DURATION(h->delay_ms));
    if (h->set_delay_ms >= 0)
        buf_addf(line, ", delay %s", DURATION(h->set_delay_ms));
}

/* A limit has words of its own. */
static void add_why(struct buf *line, const struct host_record *h)
{
    if (h->why.len == 0 || bytes_is(h->why, "limit"))
        return;
    buf_add_str(line, ", ");
    if (h->why.len > 4 && memcmp(h->why.at, "per-", 4) == 0)
        buf_add_str(line, "over --");
    if (bytes_is(h->why, "operator"))
        buf_add_str(line, "blocked");
    else
        format_terminal(line, h->why);
}

static void add_connections(struct buf *line, const struct host_record *h)
{
    if (h->connections > 0)
        buf_addf(line,
                 ", %" PRId64 " connection%s, kept for %" PRId64 " response%s",
                 h->connections, h->connections == 1 ? "" : "s", h->kept,
                 h->kept == 1 ? "" : "s");
}

static bool print_host(void *ctx, const struct host_record *h)
{
    struct buf line;

    (void)ctx;
    if (!host_is_told(h))
        return true;
    buf_init(&line, SERVICE_LINE);
    format_terminal(&line, h->host);
    if (h->address.len > 0) {
        buf_add_str(&line, " at ");
        format_terminal(&line, h->address);
    }
    add_delay(&line, h);
    add_why(&line, h);
    if (h->due_ms > 0)
        buf_addf(&line, ": waits %s", DURATION(h->due_ms - clock_wall_ms()));
    if (h->limit > 0)
        buf_addf(&line, ", limit %" PRIu64 ": %" PRIu64 " done", h->limit,
                 h->completed);
    add_connections(&line, h);
    printf("%10" PRIu64 "  %s\n", h->queued, buf_str(&line));
    buf_fini(&line);
    return true;
}

static void stored_hosts_print(const struct stored_hosts *h)
{
    printf("\n%10s  %s\n", "queued", "host");
    stored_hosts_each(h, true, print_host, NULL);
}

static bool add_host(void *list, const struct host_record *h)
{
    json_t *o;

    if (!host_is_told(h))
        return true;
    o = json_object();
    column_view_set(&host_views[HOST_VIEW_STORED], h, o);
    json_array_append_new(list, o);
    return true;
}

static json_t *stored_hosts_json(const struct stored_hosts *h)
{
    json_t *list = json_array();

    stored_hosts_each(h, true, add_host, list);
    return list;
}

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

/* ---- the counters ---- */

static void add_reason(void *ctx, const char *name, uint64_t value)
{
    if (strchr(name, '.') != NULL)
        json_object_set_new(ctx, name, json_integer((json_int_t)value));
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
    printf("  in this run: %s, %s pages and %s a second\n"
           "  transfers: %" PRIu64 " of at most %" PRIu64 ", %" PRIu64
           " connections open\n",
           DURATION((int64_t)(json_number_value(elapsed) * 1000)),
           RATE(json_number_value(json_object_get(o, "pages_per_second"))),
           SIZE((uint64_t)json_number_value(
               json_object_get(o, "bytes_per_second"))),
           uint_at(o, "transfers"), uint_at(o, "transfers_most"),
           uint_at(o, "connections_open"));
    if (json_is_object(waiting)) {
        take_wait(waiting, &w);
        buf_init(&b, 4096);
        progress_wait(&b, &w);
        printf("  %s\n", buf_str(&b));
        buf_fini(&b);
    }
}

static json_t *status_json(struct reader *r)
{
    json_t *o = json_object(), *reasons = json_object(), *silent = NULL;
    struct crawl_stats crawl = {.active = 0};
    json_t *live = r->holder > 0 ? live_state(r->dir) : NULL;
    const char *state = json_string_value(json_object_get(live, "state"));

    set_place(o, r, state);
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
    set_checkpoint(o, r);
    return o;
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

    print_place(o);
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

static int crawl_status(struct reader *r, const struct status_settings *s)
{
    struct stored_hosts *hosts = NULL;
    json_t *o = status_json(r);
    int code = EXIT_DONE;

    if (s->hosts && stored_hosts_load(&hosts, r) != STATUS_OK)
        code = EXIT_CANNOT;
    if (hosts != NULL)
        stored_hosts_ask(hosts);
    if (s->json) {
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
    return code;
}

static int status_run(const struct usage *u, void *settings,
                      const struct option_list *operands)
{
    const struct status_settings *s = settings;
    const char *where = operands->item[0];
    char *shards = shards_status_place(where);
    struct reader r;
    int code = EXIT_DONE;

    if (shards != NULL)
        code = s->hosts ? usage_error(u, "--hosts is of one shard: "
                                         "DIR/shards/N")
                        : shards_status(where, shards, s->json);
    free(shards);
    if (shards != NULL || !open_crawl(&r, u->name, where, &code))
        return code;
    code = is_service(&r) ? service_status(&r, s->json, s->hosts)
                          : crawl_status(&r, s);
    reader_close(&r);
    return code;
}

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
    .run = status_run,
};
