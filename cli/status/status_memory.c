/* SPDX-License-Identifier: MIT */
/*
 * status_memory.c - how --memory is divided and used.
 *
 * The shares follow from the settings; what is used of them, only the process
 * that runs the crawl knows. The hot cache may use what the filter leaves of
 * the two's share, and connections what the engine does not use, so their
 * shares are what they may have now.
 */
#include "cli/status/status_memory.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/format.h"
#include "job/settings/memory_plan.h"
#include "job/settings/settings.h"
#include "job/settings_applied.h"

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
    uint64_t engine =
        (uint64_t)json_integer_value(json_object_get(live, "memory_bytes"));
    uint64_t spare = engine < p->engine ? p->engine - engine : 0;

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
    json_object_set_new(o, "limit", json_integer((json_int_t)p->limit));
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

void status_set_memory(json_t *o, struct reader *r, const json_t *live)
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

void status_print_memory(const json_t *memory)
{
    struct buf line;

    if (memory == NULL)
        return;
    buf_init(&line, 4096);
    buf_add_str(&line, "  memory: at most ");
    format_size(&line,
                (uint64_t)json_integer_value(json_object_get(memory, "limit")));
    buf_add_char(&line, '\n');
    for (int i = 0; i < PARTS; i++) {
        const json_t *part = json_object_get(memory, parts[i].name);
        const json_t *used = json_object_get(part, "used");

        buf_addf(&line, "    %s: ", parts[i].title);
        if (used != NULL) {
            format_size(&line, (uint64_t)json_integer_value(used));
            buf_add_str(&line, " of ");
        }
        format_size(&line, (uint64_t)json_integer_value(
                               json_object_get(part, "share")));
        buf_add_char(&line, '\n');
    }
    fputs(buf_str(&line), stdout);
    buf_fini(&line);
}
