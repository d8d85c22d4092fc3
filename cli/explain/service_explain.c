/* SPDX-License-Identifier: MIT */
/*
 * service_explain.c - `urlweir explain` in a directory of `urlweir serve`.
 *
 * A service stores URLs as they are spelt, so this looks for the given text,
 * and for its canonical form if that differs. A URL that was removed and put
 * again has several rows, each naming the one before it; they make one story.
 */
#include "cli/explain/service_explain.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/format.h"
#include "base/mem.h"
#include "base/record.h"
#include "cli/open_crawl.h"
#include "frontier/served/served.h"
#include "frontier/served/served_reader.h"
#include "frontier/url/url.h"
#include "job/exit_code.h"
#include "service/http/http_text.h"

#define ARENA_MOST ((size_t)64 << 20)
#define ROWS_MOST  100 /* the latest of a story */

struct explainer {
    struct reader *r;
    struct served_reader *served;
    struct bytes url; /* to look for */
    uint64_t *ids;    /* its newest rows */
    size_t count;
    json_t *out, *found;
};

/* ---- one row ---- */

static void add_step(void *ctx, const struct served_step *step)
{
    json_t *e = json_object();

    if (step->event == SERVED_EVENT_LEASE) {
        json_set_str(e, "event", "leased");
        json_set_time(e, "at", step->at_ms);
        json_set_time(e, "until", step->until_ms);
    } else if (step->due_ms == 0) {
        json_set_str(e, "event", "completed");
    } else {
        json_set_str(e, "event", "updated");
        json_set_time(e, "due_at", step->due_ms);
    }
    json_array_append_new(ctx, e);
}

static enum status tell_row(struct explainer *x, const struct url_row *row,
                            json_t *history)
{
    json_t *e = json_object();
    enum status st;

    json_set_str(e, "event", "put");
    json_set_time(e, "at", row->found_at_ms);
    json_array_append_new(history, e);
    st = served_reader_story(x->served, row->id, add_step, history);
    if (served_reader_get(x->served, row->id).state != URL_STATE_REMOVED)
        return st;
    e = json_object();
    json_set_str(e, "event", "removed");
    json_array_append_new(history, e);
    return st;
}

/* Tells the row `id` and those before it, oldest first. */
static enum status tell_story(struct explainer *x, uint64_t id, json_t *history)
{
    uint64_t ids[ROWS_MOST];
    struct url_row row;
    struct buf text;
    size_t n = 0;
    enum status st = STATUS_OK;

    buf_init(&text, SERVED_BYTES_MOST);
    while (st == STATUS_OK && id != 0 && n < ROWS_MOST) {
        ids[n++] = id;
        st = frontier_store_get(x->r->store, id, &row, &text);
        id = st == STATUS_OK && row.via < id ? row.via : 0;
    }
    while (st == STATUS_OK && n > 0) {
        st = frontier_store_get(x->r->store, ids[--n], &row, &text);
        if (st == STATUS_OK)
            st = tell_row(x, &row, history);
    }
    buf_fini(&text);
    return st;
}

/* ---- one URL of one queue ---- */

static enum status get_metadata(struct explainer *x, uint64_t id, json_t **out)
{
    struct arena *arena = arena_new(ARENA_MOST);
    struct buf metadata;
    enum status st;

    buf_init(&metadata, SERVED_BYTES_MOST);
    st = served_reader_metadata(x->served, id, &metadata);
    if (st == STATUS_OK)
        *out = http_metadata_json(buf_bytes(&metadata), arena);
    buf_fini(&metadata);
    arena_free(arena);
    return st;
}

/* Leaves out absent values. */
static void set_value(void *o, const char *name,
                      const struct record_value *value)
{
    if (value->type != RECORD_ABSENT)
        json_object_set_new(o, name, record_value_json(value));
}

static json_t *view_json(enum served_view_id view,
                         const struct served_record *f)
{
    json_t *o = json_object();

    column_view_each(&served_views[view], f, set_value, o);
    return o;
}

static enum status tell_one(struct explainer *x, uint64_t id)
{
    struct served_reader_url u = served_reader_get(x->served, id);
    const struct url_row row = {.id = id, .queue = u.queue, .url = x->url};
    struct served_record f = served_reader_record(x->served, &row);
    json_t *o, *history = json_array();
    enum status st = get_metadata(x, id, &f.metadata);

    o = view_json(SERVED_VIEW_FOUND, &f);
    json_decref(f.metadata);
    json_object_set_new(o, "queue", view_json(SERVED_VIEW_QUEUE, &f));
    if (st == STATUS_OK)
        st = tell_story(x, id, history);
    json_object_set_new(o, "history", history);
    json_array_append_new(x->found, o);
    return st;
}

static void note_id(void *ctx, uint64_t id)
{
    struct explainer *x = ctx;

    x->ids = xrealloc(x->ids, (x->count + 1) * sizeof *x->ids);
    x->ids[x->count++] = id;
}

static enum status tell_all(struct explainer *x, struct bytes url)
{
    enum status st;

    x->url = url;
    x->count = 0;
    st = served_reader_find(x->served, url, note_id, x);
    for (size_t i = 0; st == STATUS_OK && i < x->count; i++)
        st = tell_one(x, x->ids[i]);
    return st;
}

static enum status explain_url(struct explainer *x, const char *text)
{
    struct bytes given = bytes_of_str(text);
    enum status st = tell_all(x, given);
    struct url canonical;

    url_init(&canonical);
    if (st == STATUS_OK &&
        url_canonical(&canonical, given, NULL, NULL) == URL_OK &&
        !bytes_equal(url_text(&canonical), given))
        st = tell_all(x, url_text(&canonical));
    url_fini(&canonical);
    json_object_set_new(x->out, "put",
                        json_boolean(json_array_size(x->found) > 0));
    json_object_set(x->out, "found", x->found);
    return st;
}

/* ---- text ---- */

static void print_metadata(json_t *metadata)
{
    const char *name;
    json_t *values, *v;
    struct buf line;
    size_t i;

    buf_init(&line, SERVED_BYTES_MOST);
    /* cppcheck-suppress unknownMacro */
    json_object_foreach(metadata, name, values)
    {
        json_array_foreach(values, i, v)
        {
            buf_add_char(&line, ' ');
            format_terminal(&line, bytes_of_str(name));
            buf_add_char(&line, '=');
            format_terminal(&line, bytes_of(json_string_value(v),
                                            json_string_length(v)));
        }
    }
    if (line.len > 0)
        printf("  metadata:%s\n", buf_str(&line));
    buf_fini(&line);
}

static void print_one(json_t *o)
{
    json_t *e;
    size_t i;

    printf(" ");
    json_print_fields(o);
    printf("\n  queue:");
    json_print_fields(json_object_get(o, "queue"));
    printf("\n");
    print_metadata(json_object_get(o, "metadata"));
    /* cppcheck-suppress unknownMacro */
    json_array_foreach(json_object_get(o, "history"), i, e)
    {
        printf("    %zu.", i + 1);
        json_print_fields(e);
        putchar('\n');
    }
}

static void print_text(const struct explainer *x, const char *text)
{
    struct buf clean;
    json_t *o;
    size_t i;

    buf_init(&clean, SERVED_BYTES_MOST);
    format_terminal(&clean, bytes_of_str(text));
    printf("%s\n", buf_str(&clean));
    buf_fini(&clean);
    if (json_array_size(x->found) == 0)
        printf("  was never put into this frontier\n");
    /* cppcheck-suppress unknownMacro */
    json_array_foreach(x->found, i, o) print_one(o);
}

int service_explain(struct reader *r, const char *url, bool json)
{
    struct explainer x = {.r = r};
    int code = EXIT_DONE;
    enum status st = served_reader_open(&x.served, r, clock_wall_ms());

    if (st != STATUS_OK)
        return cannot_read("explain", r->dir, st);
    x.out = json_object();
    x.found = json_array();
    json_set_text(x.out, "url", bytes_of_str(url));
    st = explain_url(&x, url);
    if (st != STATUS_OK) {
        code = cannot_read("explain", r->dir, st);
    } else if (json) {
        json_dumpf(x.out, stdout,
                   JSON_INDENT(2) | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(9));
        putchar('\n');
    } else {
        print_text(&x, url);
    }
    json_decref(x.found);
    json_decref(x.out);
    free(x.ids);
    served_reader_close(x.served);
    return code;
}
