/* SPDX-License-Identifier: MIT */
/* http_crawl_json.c - a crawl's last stats as JSON, in a fixed order. */
#include "service/http/http_crawl_json.h"

#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "crawler/crawl_counters.h"
#include "service/http/http_text.h"

static void set_count(json_t *o, const char *name, uint64_t n)
{
    json_object_set_new(o, name, json_integer((json_int_t)n));
}

static void add_counts(json_t *o, const struct crawl_stats *s)
{
    for (size_t i = 0; i < CRAWL_COUNTERS; i++)
        set_count(o, crawl_counters[i].name,
                  crawl_counter_value(&crawl_counters[i], s));
}

static json_t *errors_json(const struct frontier_stats *w)
{
    json_t *o = json_object();

    for (unsigned i = 0; i < w->failure_count; i++)
        set_count(o, w->failures[i].why, w->failures[i].count);
    return o;
}

/* Four digits, which is all a chart can show. */
static json_t *fill_json(const struct seen_filter_stats *f)
{
    json_t *all = json_array();

    for (unsigned i = 0; i < f->groups; i++)
        json_array_append_new(all,
                              json_real(round(f->group_fill[i] * 1e4) / 1e4));
    return all;
}

/* The filter's measured rate, by the exact set, beside the promised one. */
static json_t *filter_json(const struct seen_filter_stats *f)
{
    json_t *o;

    if (!f->used)
        return json_null();
    o = json_object();
    json_object_set_new(o, "kind", json_string(f->kind));
    set_count(o, "keys", f->keys);
    set_count(o, "bits", f->bits);
    json_object_set_new(o, "fpr_promised", json_real(f->promised));
    json_object_set_new(o, "fpr_predicted", json_real(f->predicted));
    json_object_set_new(o, "fpr_measured",
                        f->asked > 0 ? json_real(f->measured) : json_null());
    json_object_set_new(o, "fpr_low", json_real(f->low));
    json_object_set_new(o, "fpr_high", json_real(f->high));
    set_count(o, "segments", f->segments);
    json_object_set_new(o, "fill", fill_json(f));
    return o;
}

static bool has_ended(enum crawls_state s)
{
    return s == CRAWLS_STOPPED || s == CRAWLS_FAILED;
}

/* What comes first, where nothing is under way and nothing is due. */
static json_t *waiting_json(const struct crawl_standstill *w)
{
    if (w->host[0] == '\0')
        return json_null();
    return json_pack("{s:o, s:o, s:o, s:f}", "host",
                     http_bytes_json(bytes_of_str(w->host)), "why",
                     w->why[0] != '\0' ? json_string(w->why) : json_null(),
                     "http_status",
                     w->http_status != 0 ? json_integer(w->http_status)
                                         : json_null(),
                     "seconds", (double)w->ns / NS_PER_S);
}

static void add_pace(json_t *o, const struct crawls_view *v, bool ended)
{
    int64_t ms = clock_wall_ms() - v->started_ms;

    json_object_set_new(o, "elapsed_seconds",
                        ended || v->started_ms == 0
                            ? json_null()
                            : json_real((double)(ms > 0 ? ms : 0) / 1000));
    json_object_set_new(o, "pages_per_second",
                        json_real(ended ? 0 : v->stats.pages_rate));
    json_object_set_new(o, "bytes_per_second",
                        json_real(ended ? 0 : v->stats.bytes_rate));
    json_object_set_new(o, "waiting",
                        ended ? json_null()
                              : waiting_json(&v->stats.standstill));
}

json_t *http_crawl_json(const struct crawls_view *v)
{
    json_t *o = json_object();
    bool ended = has_ended(v->state);
    const char *end =
        v->end == CRAWL_INTERRUPTED ? "stopped" : crawl_end_text(v->end);

    json_object_set_new(o, "name", json_string(v->name));
    json_object_set_new(o, "kind", json_string("own"));
    json_object_set_new(o, "state", json_string(crawls_state_name(v->state)));
    json_object_set_new(o, "end", ended ? json_string(end) : json_null());
    json_object_set_new(o, "why",
                        v->state == CRAWLS_FAILED ? json_string(v->why)
                                                  : json_null());
    json_object_set_new(o, "started_at", http_time_json(v->started_ms));
    add_pace(o, v, ended);
    add_counts(o, &v->stats);
    json_object_set_new(o, "errors", errors_json(&v->stats.frontier));
    json_object_set_new(o, "filter", filter_json(&v->stats.frontier.filter));
    return o;
}

json_t *http_served_json(struct bytes name)
{
    json_t *o = json_object();

    json_object_set_new(o, "name", http_bytes_json(name));
    json_object_set_new(o, "kind", json_string("served"));
    return o;
}

json_t *http_crawls_json(struct crawls *crawls)
{
    struct crawls_view *views = NULL;
    size_t n = crawls != NULL ? crawls_each(crawls, &views) : 0;
    json_t *all = json_array();

    for (size_t i = 0; i < n; i++)
        json_array_append_new(all, http_crawl_json(&views[i]));
    free(views);
    return all;
}
