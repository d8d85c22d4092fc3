/* SPDX-License-Identifier: MIT */
/*
 * crawls_stats.c - a crawl's hosts and its recent answers, as JSON.
 *
 * A task on the frontier thread looks up the hosts and copies them into JSON,
 * as their names live only as long as the engine.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "crawler/url_columns.h"
#include "frontier/engine.h"
#include "frontier/host_columns.h"
#include "job/registry/crawls_impl.h"

#define HOSTS_MOST 1000

/* Reads "size", a number or the text of a query. */
static bool read_size(const struct crawls_call *call, size_t most, size_t *size)
{
    const json_t *v = json_object_get(call->in, "size");
    json_int_t n = 20;

    if (json_is_integer(v)) {
        n = json_integer_value(v);
    } else if (json_is_string(v)) {
        const char *s = json_string_value(v);

        if (s[0] == '\0' || strlen(s) > 6 || s[strspn(s, "0123456789")] != '\0')
            return false;
        for (n = 0; *s != '\0'; s++)
            n = n * 10 + (*s - '0');
    } else if (v != NULL) {
        return false;
    }
    if (n < 1 || (uintmax_t)n > most)
        return false;
    *size = (size_t)n;
    return true;
}

/* ---- hosts ---- */

struct hosts_task {
    struct crawl_task task; /* first */
    enum engine_host_order by;
    size_t size;
    json_t *out;
};

static json_t *host_json(const struct engine_host_row *r, int64_t now,
                         int64_t wall_ms)
{
    static const char *const states[] = {
        [ENGINE_HOST_READY] = "ready",     [ENGINE_HOST_BUSY] = "busy",
        [ENGINE_HOST_WAITING] = "waiting", [ENGINE_HOST_BLOCKED] = "blocked",
        [ENGINE_HOST_DEAD] = "dead",
    };
    int64_t due = r->due > now ? r->due : now;
    const struct host_record record = {
        .host = r->host,
        .state = bytes_of_str(states[r->state]),
        .why = bytes_of_str(r->why),
        .queued = r->queued,
        .fetched = r->fetched,
        .failures = r->failures,
        .connections = r->connections,
        .handshakes = r->handshakes,
        .kept = r->requests > r->connections ? r->requests - r->connections : 0,
        .delay_ms = r->delay / NS_PER_MS,
        .delay_why = bytes_of_str(r->delay_why),
        .crawl_delay_ms = r->crawl_delay >= 0 ? r->crawl_delay / NS_PER_MS : -1,
        .set_delay_ms = r->set_delay >= 0 ? r->set_delay / NS_PER_MS : -1,
        .limit = r->limit,
        .latency_ms =
            r->latency_us > 0 ? ((int64_t)r->latency_us + 999) / 1000 : -1,
        .due_ms = r->due == INT64_MAX ? 0 : wall_ms + (due - now) / NS_PER_MS,
    };
    json_t *o = json_object();

    column_view_set(&host_views[HOST_VIEW_LIVE], &record, o);
    return o;
}

static enum status look_at_hosts(struct crawl_task *t, struct engine *e,
                                 int64_t now, int64_t wall_ms)
{
    struct hosts_task *h = (struct hosts_task *)t;
    struct engine_host_row *rows = xcalloc(h->size, sizeof *rows);
    bool all;
    size_t n = e->ops->hosts(e, h->by, h->size, now, rows, &all);
    json_t *list = json_array();

    for (size_t i = 0; i < n; i++)
        json_array_append_new(list, host_json(&rows[i], now, wall_ms));
    h->out = json_pack("{s:o, s:b}", "hosts", list, "all", all);
    free(rows);
    return STATUS_OK;
}

static bool read_order(const struct crawls_call *call,
                       enum engine_host_order *by)
{
    static const char *const names[] = {
        [ENGINE_HOSTS_BIGGEST] = "biggest",
        [ENGINE_HOSTS_SLOWEST] = "slowest",
        [ENGINE_HOSTS_BLOCKED] = "blocked",
    };
    const json_t *v = json_object_get(call->in, "sort");

    *by = ENGINE_HOSTS_BIGGEST;
    if (v == NULL)
        return true;
    for (int i = 0; json_is_string(v) && i < 3; i++)
        if (strcmp(json_string_value(v), names[i]) == 0) {
            *by = (enum engine_host_order)i;
            return true;
        }
    return false;
}

void crawls_call_hosts(struct crawl *crawl, struct crawls_call *call)
{
    struct hosts_task h = {.task = {.run = look_at_hosts}};
    enum status st;

    if (!read_order(call, &h.by)) {
        crawls_fail(call, STATUS_ARG, "sort: biggest, slowest or blocked");
        return;
    }
    if (!read_size(call, HOSTS_MOST, &h.size)) {
        crawls_fail(call, STATUS_ARG, "size: 1 to %d", HOSTS_MOST);
        return;
    }
    st = crawl_perform(crawl, &h.task);
    if (st != STATUS_OK)
        crawls_fail(call, st, "the crawl is stopping");
    call->out = h.out;
}

/* ---- recent answers ---- */

static json_t *answer_json(const struct crawl_answer *a)
{
    struct url_record f = url_record_empty();
    json_t *o = json_object();

    f.url.url = bytes_of_str(a->url);
    f.fetch = (struct fetch_row){.at_ms = a->at_ms,
                                 .elapsed_ms = a->elapsed_ms,
                                 .status = (uint8_t)a->outcome.status,
                                 .reason = (uint8_t)a->outcome.reason,
                                 .http_status = a->outcome.http_status,
                                 .wire_bytes = a->bytes,
                                 .title = bytes_of_str(a->title)};
    column_view_set(&row_views[ROW_VIEW_RECENT], &f, o);
    return o;
}

void crawls_call_recent(struct crawl *crawl, struct crawls_call *call)
{
    struct crawl_answer *answers;
    json_t *list;
    size_t size, n;

    if (!read_size(call, CRAWL_RECENT, &size)) {
        crawls_fail(call, STATUS_ARG, "size: 1 to %d", CRAWL_RECENT);
        return;
    }
    answers = xcalloc(size, sizeof *answers);
    n = crawl_recent(crawl, answers, size);
    list = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(list, answer_json(&answers[i]));
    call->out = json_pack("{s:o}", "recent", list);
    free(answers);
}
