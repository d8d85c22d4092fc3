/* SPDX-License-Identifier: MIT */
/*
 * service_status.c - `urlweir status` of a directory of `urlweir serve`.
 *
 * Uses the words of the HTTP API: queued, leased, completed. Counts everything
 * from the rows (served_reader.h), since the service keeps no counter on disk.
 */
#include "cli/status/service_status.h"

#include <dirent.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/format.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/record.h"
#include "cli/control/control_place.h"
#include "cli/open_crawl.h"
#include "frontier/served/served_reader.h"
#include "job/exit_code.h"

#define LINE_CEILING ((size_t)1 << 20)

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
    struct buf sandbox; /* of the process that runs the service, if any */
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
    const struct served_reader_queue *q =
        served_reader_queue(v->served, number);
    struct bytes crawl, key;
    struct crawl_line *c;

    if (!q->there)
        return;
    frontier_store_queue_name(v->r->store, number, &crawl, &key);
    c = crawl_named(v, places, crawl);
    c->queues++;
    c->blocked_queues += served_reader_queue_is_blocked(q, v->facts->now);
    c->urls.queued += q->urls.queued;
    c->urls.leased += q->urls.leased;
    c->urls.completed += q->urls.completed;
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
            served_reader_queue(v->served, v->queues[i])->urls.queued,
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

/* Returns the number of names, in order; the caller frees each and the list. */
static size_t own_crawls(const struct view *v, struct dirent ***names)
{
    char *path = reader_path(v->r, "crawls");
    int n = scandir(path, names, is_visible, alphasort);

    free(path);
    if (n < 0)
        *names = NULL;
    return n > 0 ? (size_t)n : 0;
}

static json_t *own_crawls_json(const struct view *v)
{
    struct dirent **names;
    size_t n = own_crawls(v, &names);
    json_t *list = json_array();

    for (size_t i = 0; i < n; i++) {
        json_array_append_new(list, json_string(names[i]->d_name));
        free(names[i]);
    }
    free(names);
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

static json_t *queue_json(const struct view *v, uint32_t number)
{
    struct served_record f = served_reader_queue_record(v->served, number);
    json_t *o = json_object();

    column_view_each(&served_views[SERVED_VIEW_QUEUES], &f, set_value, o);
    return o;
}

static json_t *view_json(const struct view *v, bool queues)
{
    json_t *o = json_object(), *list = json_array();

    json_set_str(o, "dir", v->r->dir);
    json_set_str(o, "state", crawl_state(v->r));
    json_set_str(o, "holds", "service");
    if (v->r->holder > 0)
        json_object_set_new(o, "pid", json_integer(v->r->holder));
    if (v->sandbox.len > 0)
        json_set_str(o, "sandbox", buf_str(&v->sandbox));
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
    if (v->r->manifest_status == STATUS_OK) {
        json_set_time(o, "checkpoint_at", v->r->manifest.written_at_ms);
        json_set_uint(o, "generation", v->r->manifest.generation);
    }
    for (uint32_t i = 0; queues && i < v->queue_count; i++)
        json_array_append_new(list, queue_json(v, v->queues[i]));
    if (queues)
        json_object_set(o, "queues", list);
    json_decref(list);
    return o;
}

/* ---- text ---- */

static void text_row(const char *label, uint64_t n)
{
    struct buf b;

    buf_init(&b, 64);
    format_count(&b, n);
    printf("  %-22s %14s\n", label, buf_str(&b));
    buf_fini(&b);
}

static void text_totals(const struct view *v)
{
    const struct served_reader_facts *f = v->facts;
    struct buf delay;

    printf("%s: a service's frontier, %s", v->r->dir, crawl_state(v->r));
    if (v->r->holder > 0)
        printf(" (process %ld)", v->r->holder);
    putchar('\n');
    if (v->sandbox.len > 0)
        printf("  sandbox: %s\n", buf_str(&v->sandbox));
    text_row("queued", f->urls.queued);
    text_row("of them due", f->due);
    text_row("leased", f->urls.leased);
    text_row("completed", f->urls.completed);
    text_row("removed", f->urls.removed);
    text_row("queues", f->queues);
    text_row("of them blocked", f->blocked_queues);
    buf_init(&delay, 64);
    format_duration(&delay, f->default_delay_ms);
    printf("  %-22s %14s\n", "default delay", buf_str(&delay));
    buf_fini(&delay);
    if (!f->active)
        printf("  no URL is handed out: the service was set inactive\n");
}

static void text_crawls(const struct view *v)
{
    struct buf name;

    if (v->crawl_count == 0)
        return;
    buf_init(&name, LINE_CEILING);
    printf("\n%12s %12s %12s %12s  crawl\n", "queued", "leased", "completed",
           "queues");
    for (size_t i = 0; i < v->crawl_count; i++) {
        const struct crawl_line *c = &v->crawls[i];

        buf_clear(&name);
        format_terminal(&name, c->name);
        printf("%12" PRIu64 " %12" PRIu64 " %12" PRIu64 " %12" PRIu64 "  %s\n",
               c->urls.queued, c->urls.leased, c->urls.completed, c->queues,
               buf_str(&name));
    }
    buf_fini(&name);
}

static void text_own_crawls(const struct view *v)
{
    json_t *list = own_crawls_json(v), *name;
    size_t i;

    if (json_array_size(list) > 0)
        printf("\n"
               "its own crawls:\n");
    /* cppcheck-suppress unknownMacro */
    json_array_foreach(list, i, name)
        printf("  urlweir status %s/crawls/%s\n", v->r->dir,
               json_string_value(name));
    json_decref(list);
}

static void text_queue(const struct view *v, uint32_t number, struct buf *line)
{
    const struct served_reader_queue *q =
        served_reader_queue(v->served, number);
    struct bytes crawl, key;

    frontier_store_queue_name(v->r->store, number, &crawl, &key);
    buf_clear(line);
    format_terminal(line, key);
    if (v->crawl_count > 1) {
        buf_add_str(line, " of ");
        format_terminal(line, crawl);
    }
    if (q->delay_ms >= 0) {
        buf_add_str(line, ", delay ");
        format_duration(line, q->delay_ms);
    }
    if (served_reader_queue_is_blocked(q, v->facts->now)) {
        buf_add_str(line, ", blocked for ");
        format_duration(line, q->blocked_until_ms - v->facts->now);
    }
    if (q->limit > 0)
        buf_addf(line, ", limit %u", q->limit);
    printf("%12" PRIu64 " %12" PRIu64 " %12" PRIu64 "  %s\n", q->urls.queued,
           q->urls.leased, q->urls.completed, buf_str(line));
}

static void text_queues(const struct view *v)
{
    struct buf line;

    buf_init(&line, LINE_CEILING);
    printf("\n%12s %12s %12s  queue\n", "queued", "leased", "completed");
    for (uint32_t i = 0; i < v->queue_count; i++)
        text_queue(v, v->queues[i], &line);
    buf_fini(&line);
}

/* ---- */

int service_status(struct reader *r, bool json, bool queues)
{
    struct view v = {.r = r};
    enum status st = served_reader_open(&v.served, r, clock_wall_ms());
    json_t *o;

    if (st != STATUS_OK)
        return cannot_read("status", r->dir, st);
    gather(&v);
    buf_init(&v.sandbox, 4096);
    if (r->holder > 0)
        (void)control_note_sandbox(r->dir, &v.sandbox);
    if (json) {
        o = view_json(&v, queues);
        json_dumpf(o, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
        putchar('\n');
        json_decref(o);
    } else {
        text_totals(&v);
        text_crawls(&v);
        if (queues)
            text_queues(&v);
        text_own_crawls(&v);
    }
    buf_fini(&v.sandbox);
    free(v.crawls);
    free(v.queues);
    served_reader_close(v.served);
    return EXIT_DONE;
}
