/* SPDX-License-Identifier: MIT */
/*
 * http_crawls.c - the paths under /v1/crawls: crawls that this process runs,
 * and crawls of served URLs.
 *
 * If both kinds have a crawl of one name, the name means the one that runs
 * here. The registry (crawls.h) carries out changes on its own thread, and the
 * request waits for it as others wait for the frontier.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "crawler/crawl_stats.h"
#include "service/http/http_pages.h"
#include "service/http/http_request.h"
#include "service/http/http_server.h"
#include "service/http/http_text.h"

/* ---- a crawl's last stats as JSON, in a fixed order ---- */

static void crawls_set_count(json_t *o, const char *name, uint64_t n)
{
    json_object_set_new(o, name, json_integer((json_int_t)n));
}

static void crawls_add_counts(json_t *o, const struct crawl_stats *s)
{
    for (size_t i = 0; i < CRAWL_COUNTERS; i++)
        crawls_set_count(o, crawl_counters[i].name,
                         crawl_counter_value(&crawl_counters[i], s));
}

static json_t *errors_json(const struct frontier_stats *w)
{
    json_t *o = json_object();

    for (unsigned i = 0; i < w->failure_count; i++)
        crawls_set_count(o, w->failures[i].why, w->failures[i].count);
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
    crawls_set_count(o, "keys", f->keys);
    crawls_set_count(o, "bits", f->bits);
    json_object_set_new(o, "fpr_promised", json_real(f->promised));
    json_object_set_new(o, "fpr_predicted", json_real(f->predicted));
    json_object_set_new(o, "fpr_measured",
                        f->asked > 0 ? json_real(f->measured) : json_null());
    json_object_set_new(o, "fpr_low", json_real(f->low));
    json_object_set_new(o, "fpr_high", json_real(f->high));
    crawls_set_count(o, "segments", f->segments);
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

/* A crawl that this process runs. */
static json_t *http_crawl_json(const struct crawls_view *v)
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
    crawls_add_counts(o, &v->stats);
    json_object_set_new(o, "errors", errors_json(&v->stats.frontier));
    json_object_set_new(o, "filter", filter_json(&v->stats.frontier.filter));
    return o;
}

/* A crawl of served URLs, which other programs put. */
static json_t *http_served_json(struct bytes name)
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

/* ---- the paths under /v1/crawls ---- */

#define HOSTS_MOST  1000
#define RECENT_MOST 200
#define COUNT(a)    (sizeof(a) / sizeof *(a))

/* ---- the result of a call ---- */

/* If the registry returned an error, answers with it and returns true. */
static bool crawl_failed(struct http_request *r)
{
    const struct crawls_call *call = r->crawl_call;
    const char *why = call->why;

    switch (call->status) {
    case STATUS_OK:
        return false;
    case STATUS_NOT_FOUND:
        http_problem(r, 404, "%s",
                     *why ? why
                          : "this process runs no such "
                            "crawl");
        break;
    case STATUS_EXISTS:
        http_problem(r, 409, "%s", *why ? why : "such a crawl exists already");
        break;
    case STATUS_BUSY:
        http_problem(r, 409, "%s",
                     *why ? why
                          : "not in the crawl's present "
                            "state");
        break;
    case STATUS_CLOSED:
        if (http_server_is_stopping(r->server))
            return http_failed(r, call->status);
        http_problem(r, 409, "%s", *why ? why : "the crawl is stopped");
        break;
    case STATUS_ARG:
    case STATUS_FORMAT:
    case STATUS_LIMIT:
        http_problem(r, 400, "%s", *why ? why : status_text(call->status));
        break;
    default:
        http_problem(r, 503, "%s", *why ? why : status_text(call->status));
    }
    return true;
}

/* Replies with the registry's JSON. */
static void reply_as_it_is(struct http_request *r)
{
    if (!crawl_failed(r))
        http_answer(r, 200, json_incref(r->crawl_call->out));
}

static bool crawls_is_own(struct http_request *r)
{
    struct crawls *crawls = http_server_options(r->server)->crawls;

    return crawls != NULL && crawls_has(crawls, bytes_of_str(r->name));
}

/* False: there is no such crawl (any more). */
static bool answer_view(struct http_request *r, unsigned status,
                        struct bytes name)
{
    struct crawls *crawls = http_server_options(r->server)->crawls;
    struct crawls_view view;

    if (crawls == NULL || crawls_find_view(crawls, name, &view) != STATUS_OK)
        return false;
    http_answer(r, status, http_crawl_json(&view));
    return true;
}

/* ---- GET /v1/crawls, /v1/crawls/{crawl} ---- */

static void reply_list(struct http_request *r)
{
    struct crawls *crawls = http_server_options(r->server)->crawls;
    json_t *o = json_object(), *all = http_crawls_json(crawls);

    for (size_t i = 0; r->call_count > 0 && i < r->calls->name_count; i++) {
        struct bytes name = r->calls->names[i];

        if (crawls == NULL || !crawls_has(crawls, name))
            json_array_append_new(all, http_served_json(name));
    }
    json_object_set_new(o, "crawls", all);
    if (r->call_count > 0)
        http_failed(r, r->calls->status); /* this makes the answer */
    http_answer(r, 200, o);
}

static void ask_list(struct http_request *r)
{
    if (!http_members(r, r->in, -1, NULL, 0))
        return;
    if (http_server_frontier(r->server) != NULL)
        http_calls(r, FRONTIER_LIST_CRAWLS, 1);
    else
        reply_list(r);
}

static void ask_one(struct http_request *r)
{
    if (!http_members(r, r->in, -1, NULL, 0) ||
        answer_view(r, 200, bytes_of_str(r->name)))
        return;
    if (http_server_frontier(r->server) != NULL)
        http_calls(r, FRONTIER_LIST_CRAWLS, 1);
    else
        http_problem(r, 404, "there is no such crawl");
}

static void reply_one(struct http_request *r)
{
    struct bytes wanted = bytes_of_str(r->name);

    if (http_failed(r, r->calls->status))
        return;
    for (size_t i = 0; i < r->calls->name_count; i++)
        if (bytes_equal(r->calls->names[i], wanted))
            http_answer(r, 200, http_served_json(wanted));
    http_problem(r, 404, "there is no such crawl");
}

/* ---- POST /v1/crawls ---- */

/* Checks that seeds are strings, and not too many. */
static bool check_seeds(struct http_request *r, json_t *seeds, const char *what)
{
    size_t i;
    json_t *one;

    if (seeds == NULL)
        return true;
    if (!json_is_array(seeds))
        http_problem(r, 400, "'%s' must be an array of strings", what);
    else if (json_array_size(seeds) > CRAWLS_SEEDS_MOST)
        http_problem(r, 413, "at most %d URLs in one body", CRAWLS_SEEDS_MOST);
    json_array_foreach(seeds, i, one)
    {
        if (!json_is_string(one))
            http_problem(r, 400, "'%s': item %zu is not a string", what, i);
    }
    return r->status == 0;
}

static void ask_create(struct http_request *r)
{
    struct bytes name = {NULL, 0};
    json_t *seeds = NULL, *settings = NULL;
    const struct http_member members[] = {
        {.name = "name", .type = HTTP_TEXT, .to = &name, .needed = true},
        {.name = "seeds", .type = HTTP_ARRAY, .to = &seeds},
        {.name = "settings", .type = HTTP_OBJECT, .to = &settings},
    };

    if (!http_members(r, r->in, -1, members, COUNT(members)) ||
        !check_seeds(r, seeds, "seeds"))
        return;
    if (!crawls_name_is_valid(name))
        http_problem(r, 400,
                     "'name' must be 1 to %d letters, digits, '-', '_' and "
                     "'.', and must not begin with '.' or '-'",
                     CRAWLS_NAME_MOST);
    else
        http_crawl_call(r, CRAWLS_CREATE, json_incref(r->in))->crawl = name;
}

static void reply_create(struct http_request *r)
{
    struct bytes name = r->crawl_call->crawl;
    char at[sizeof "/v1/crawls/" + CRAWLS_NAME_MOST];

    if (crawl_failed(r))
        return;
    /* a valid name needs no percent-encoding */
    snprintf(at, sizeof at, "/v1/crawls/%.*s", (int)name.len, name.at);
    r->location = xstrdup(at);
    if (!answer_view(r, 201, name))
        http_problem(r, 404, "it has since been deleted");
}

/* ---- DELETE /v1/crawls/{crawl} ---- */

static void ask_delete(struct http_request *r)
{
    if (!http_members(r, r->in, -1, NULL, 0))
        return;
    if (crawls_is_own(r))
        http_crawl_call(r, CRAWLS_DELETE, NULL);
    else
        http_calls(r, FRONTIER_DELETE_CRAWL, 1)->in.crawl =
            bytes_of_str(r->name);
}

static void reply_delete(struct http_request *r)
{
    if (r->crawl_call != NULL)
        reply_as_it_is(r);
    else
        http_reply_deleted(r);
}

/* ---- pause, unpause, stop, resume ---- */

static void ask_state(struct http_request *r)
{
    if (http_members(r, r->in, -1, NULL, 0))
        http_crawl_call(r, (enum crawls_verb)r->route->how, NULL);
}

static void reply_state(struct http_request *r)
{
    if (!crawl_failed(r) && !answer_view(r, 200, bytes_of_str(r->name)))
        http_problem(r, 404, "it has since been deleted");
}

/* ---- seeds and settings ---- */

static void ask_seed(struct http_request *r)
{
    json_t *urls = NULL;
    const struct http_member members[] = {
        {.name = "urls", .type = HTTP_ARRAY, .to = &urls, .needed = true},
    };

    if (http_members(r, r->in, -1, members, COUNT(members)) &&
        check_seeds(r, urls, "urls"))
        http_crawl_call(r, CRAWLS_SEED, json_incref(r->in));
}

static void ask_retry(struct http_request *r)
{
    json_t *reasons = NULL;
    struct bytes host = bytes_of("", 0);
    const struct http_member members[] = {
        {.name = "reasons", .type = HTTP_ARRAY, .to = &reasons},
        {.name = "host", .type = HTTP_TEXT, .to = &host},
    };

    if (http_members(r, r->in, -1, members, COUNT(members)))
        http_crawl_call(r, CRAWLS_RETRY, json_incref(r->in));
}

static void ask_refresh(struct http_request *r)
{
    struct bytes host = bytes_of("", 0), match = bytes_of("", 0);
    bool now = false, lost = false;
    const struct http_member members[] = {
        {.name = "host", .type = HTTP_TEXT, .to = &host},
        {.name = "match", .type = HTTP_TEXT, .to = &match},
        {.name = "now", .type = HTTP_FLAG, .to = &now},
        {.name = "lost_archives", .type = HTTP_FLAG, .to = &lost},
    };

    if (http_members(r, r->in, -1, members, COUNT(members)))
        http_crawl_call(r, CRAWLS_REFRESH, json_incref(r->in));
}

static void ask_settings(struct http_request *r)
{
    if (http_members(r, r->in, -1, NULL, 0))
        http_crawl_call(r, CRAWLS_SETTINGS, NULL);
}

/* The registry checks names and values of settings. */
static void ask_set(struct http_request *r)
{
    if (json_is_object(r->in))
        http_crawl_call(r, CRAWLS_SET_SETTINGS, json_incref(r->in));
    else
        http_problem(r, 400, "expected an object");
}

/* ---- hosts and recent answers ---- */

static void ask_hosts(struct http_request *r)
{
    struct bytes sort = bytes_of_str("biggest");
    uint64_t size = 20;
    const struct http_member members[] = {
        {.name = "sort", .type = HTTP_TEXT, .to = &sort},
        {.name = "size",
         .type = HTTP_NUMBER,
         .to = &size,
         .least = 1,
         .most = HOSTS_MOST},
    };

    if (!http_members(r, r->in, -1, members, COUNT(members)))
        return;
    if (!bytes_is(sort, "biggest") && !bytes_is(sort, "slowest") &&
        !bytes_is(sort, "blocked"))
        http_problem(r, 400, "'sort' must be slowest, biggest or blocked");
    else
        http_crawl_call(r, CRAWLS_HOSTS,
                        json_pack("{s:s#, s:I}", "sort", sort.at, (int)sort.len,
                                  "size", (json_int_t)size));
}

static void ask_recent(struct http_request *r)
{
    uint64_t size = 20;
    const struct http_member members[] = {
        {.name = "size",
         .type = HTTP_NUMBER,
         .to = &size,
         .least = 1,
         .most = RECENT_MOST},
    };

    if (http_members(r, r->in, -1, members, COUNT(members)))
        http_crawl_call(r, CRAWLS_RECENT,
                        json_pack("{s:I}", "size", (json_int_t)size));
}

/* ---- reports ---- */

/* A report starts a program, so it is asked for by POST: a page of any site can
 * have a browser send a GET, but no body with the type of JSON. */

static void ask_report(struct http_request *r)
{
    if (http_server_options(r->server)->crawls != NULL)
        http_export_ask(r);
    else
        http_problem(r, 404, "this process runs no crawls");
}

/* ---- the paths ---- */

#define CRAWL "/v1/crawls/{crawl}"
#define GET   .method = "GET", .role = AUTH_READ
#define POST  .method = "POST", .body = true

/* clang-format off */
const struct http_route http_crawl_routes[] = {
    {GET, .path = "/v1/crawls", .ask = ask_list, .reply = reply_list},
    {POST, .path = "/v1/crawls", .role = AUTH_ADMIN,
     .ask = ask_create, .reply = reply_create},
    {GET, .path = CRAWL, .ask = ask_one, .reply = reply_one},
    {.method = "DELETE", .role = AUTH_ADMIN, .path = CRAWL,
     .ask = ask_delete, .reply = reply_delete},
    {POST, .path = CRAWL "/pause", .role = AUTH_WRITE,
     .ask = ask_state, .reply = reply_state, .how = CRAWLS_PAUSE},
    {POST, .path = CRAWL "/unpause", .role = AUTH_WRITE,
     .ask = ask_state, .reply = reply_state, .how = CRAWLS_UNPAUSE},
    {POST, .path = CRAWL "/stop", .role = AUTH_WRITE,
     .ask = ask_state, .reply = reply_state, .how = CRAWLS_STOP},
    {POST, .path = CRAWL "/resume", .role = AUTH_WRITE,
     .ask = ask_state, .reply = reply_state, .how = CRAWLS_RESUME},
    {POST, .path = CRAWL "/seeds", .role = AUTH_WRITE,
     .ask = ask_seed, .reply = reply_as_it_is},
    {POST, .path = CRAWL "/retry", .role = AUTH_WRITE,
     .ask = ask_retry, .reply = reply_as_it_is},
    {POST, .path = CRAWL "/refresh", .role = AUTH_WRITE,
     .ask = ask_refresh, .reply = reply_as_it_is},
    {GET, .path = CRAWL "/settings",
     .ask = ask_settings, .reply = reply_as_it_is},
    {.method = "PATCH", .body = true, .role = AUTH_ADMIN,
     .path = CRAWL "/settings", .ask = ask_set, .reply = reply_as_it_is},
    {GET, .path = CRAWL "/hosts", .ask = ask_hosts, .reply = reply_as_it_is},
    {GET, .path = CRAWL "/recent", .ask = ask_recent, .reply = reply_as_it_is},
    {POST, .path = CRAWL "/explain", .role = AUTH_READ, .ask = ask_report,
     .reply = http_export_reply, .how = CRAWLS_EXPLAIN},
    {POST, .path = CRAWL "/audit", .role = AUTH_READ, .ask = ask_report,
     .reply = http_export_reply, .how = CRAWLS_AUDIT},
    {POST, .path = CRAWL "/status", .role = AUTH_READ, .ask = ask_report,
     .reply = http_export_reply, .how = CRAWLS_STATUS},
    {POST, .path = CRAWL "/export", .role = AUTH_READ, .ask = ask_report,
     .reply = http_export_reply, .how = CRAWLS_EXPORT},
    {GET, .path = "/v1/events", .ask = http_events_ask},
    {.method = "GET", .path = "/openapi.json", .role = AUTH_NONE,
     .ask = http_openapi_ask},
    {.path = NULL},
};
/* clang-format on */
