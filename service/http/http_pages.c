/* SPDX-License-Identifier: MIT */
/*
 * http_pages.c - answers that need no call: the dashboard's files and their
 * security headers, the OpenAPI document, metrics, health.
 *
 * The policy has no hash and no 'unsafe-inline': scripts and styles come only
 * from files of this origin, and answers of the API cannot be used as scripts
 * (nosniff). Trusted types forbid turning any string into markup, so that a URL
 * or a title from the web cannot become markup, whatever the page's code does.
 *
 * Sources: W3C, Content Security Policy Level 3 and Trusted Types; WHATWG HTML,
 * 7.1.3 (opener policies); RFC 9110, 8.8.3 and 13.1.2 (ETag, If-None-Match).
 */
#include <jansson.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/ascii.h"
#include "base/logger.h"
#include "base/mem.h"
#include "job/crawl_jobs/crawl_jobs.h"
#include "service/calls/frontier_service.h"
#include "service/http/dashboard_files.h"
#include "service/http/http_pages.h"
#include "service/http/http_request.h"
#include "service/http/http_server.h"
#include "service/http/http_server_impl.h"
#include "service/metrics/metrics.h"

static const struct file {
    const char *name, *type;
    struct bytes (*content)(void);
} files[] = {
    {"", "text/html; charset=utf-8", dashboard_index_html},
    {"dashboard.css", "text/css; charset=utf-8", dashboard_dashboard_css},
    {"main.js", "text/javascript; charset=utf-8", dashboard_main_js},
    {"api.js", "text/javascript; charset=utf-8", dashboard_api_js},
    {"dom.js", "text/javascript; charset=utf-8", dashboard_dom_js},
    {"chart.js", "text/javascript; charset=utf-8", dashboard_chart_js},
    {"crawl.js", "text/javascript; charset=utf-8", dashboard_crawl_js},
    {"served.js", "text/javascript; charset=utf-8", dashboard_served_js},
    {"shards.js", "text/javascript; charset=utf-8", dashboard_shards_js},
    {"tables.js", "text/javascript; charset=utf-8", dashboard_tables_js},
    {"control.js", "text/javascript; charset=utf-8", dashboard_control_js},
};

/* `no-cache`: may be stored, but must be revalidated each time (RFC 9111,
 * 5.2.2.4). */
static const struct {
    const char *name, *value;
} headers[] = {
    {"Cache-Control", "no-cache"},
    {"Content-Security-Policy",
     "default-src 'none'; script-src 'self'; style-src 'self'; "
     "img-src data:; connect-src 'self'; base-uri 'none'; "
     "form-action 'none'; frame-ancestors 'none'; "
     "require-trusted-types-for 'script'; trusted-types 'none'"},
    {"Cross-Origin-Opener-Policy", "same-origin"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Permissions-Policy",
     "camera=(), display-capture=(), geolocation=(), microphone=()"},
    {"Referrer-Policy", "no-referrer"},
    {"X-Frame-Options", "DENY"},
};

static const struct file *find_file(const char *name)
{
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (strcmp(files[i].name, name) == 0)
            return &files[i];
    return NULL;
}

/* Does an If-None-Match header, a list, name this ETag? Weak comparison. */
static bool page_is_named(struct bytes list, const char *etag)
{
    return list.len > 0 &&
           (bytes_is(bytes_trim(list), "*") ||
            memmem(list.at, list.len, etag, strlen(etag)) != NULL);
}

void http_ask_dashboard(struct http_request *r)
{
    const struct file *f = find_file(r->name != NULL ? r->name : "");
    struct http_page *page;
    struct bytes content;
    XXH128_hash_t h;

    if (f == NULL || (r->name != NULL && r->name[0] == '\0')) {
        http_problem(r, 404, "the dashboard has no such file");
        return;
    }
    content = f->content();
    h = XXH3_128bits(content.at, content.len);
    page = xcalloc(1, sizeof *page);
    snprintf(page->etag, sizeof page->etag, "\"%016llx%016llx\"",
             (unsigned long long)h.high64, (unsigned long long)h.low64);
    r->page = page;
    if (page_is_named(http_header(r, "If-None-Match"), page->etag)) {
        http_answer_text(r, f->type, xstrdup(""), 0);
        r->status = 304;
    } else {
        http_answer_text(r, f->type, xstrndup(content.at, content.len),
                         content.len);
    }
}

void http_page_headers(const struct http_page *page, struct MHD_Response *m)
{
    bool added =
        MHD_add_response_header(m, MHD_HTTP_HEADER_ETAG, page->etag) == MHD_YES;

    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
        added = MHD_add_response_header(m, headers[i].name, headers[i].value) ==
                    MHD_YES &&
                added;
    if (!added)
        log_warn("cannot add a header", "file=dashboard");
}

/* ---- /openapi.json, with settings and routes from their tables ---- */

/* ---- the schema of a setting ---- */

static json_t *is_switch(void)
{
    return json_pack("{s:[{s:s},{s:s,s:s}]}", "anyOf", "type", "boolean",
                     "type", "string", "pattern",
                     "^([Tt][Rr][Uu][Ee]|[Yy][Ee][Ss]|[Oo][Nn]|"
                     "[Ff][Aa][Ll][Ss][Ee]|[Nn][Oo]|[Oo][Ff][Ff])$");
}

static json_t *page_is_word(const struct option_spec *o)
{
    json_t *words = json_array();

    for (size_t i = 0; o->words[i] != NULL; i++)
        json_array_append_new(words, json_string(o->words[i]));
    if ((o->flags & OPTION_SWITCH) == 0)
        return json_pack("{s:o}", "enum", words);
    return json_pack("{s:[{s:o},o]}", "anyOf", "enum", words, is_switch());
}

/* What crawl_job_json.c takes for it: nothing else, though not all of this. */
static json_t *value_schema(const struct option_spec *o)
{
    switch (o->type) {
    case OPTION_FLAG:
        return is_switch();
    case OPTION_CHOICE:
        return page_is_word(o);
    case OPTION_COUNT:
        return json_pack("{s:[s,s],s:i}", "type", "integer", "string",
                         "minimum", 0);
    case OPTION_SIZE:
    case OPTION_TIME:
    case OPTION_FRACTION:
        return json_pack("{s:[s,s],s:i}", "type", "number", "string", "minimum",
                         0);
    case OPTION_TEXT:
        return json_pack("{s:[s,s,s]}", "type", "string", "number", "boolean");
    case OPTION_LIST:
        return json_pack("{s:[s,s,s,s],s:{s:s}}", "type", "array", "string",
                         "number", "boolean", "items", "type", "string");
    }
    return NULL;
}

static json_t *settings_schema(void)
{
    json_t *all = json_object();

    for (size_t i = 0; i < crawl_options.count; i++) {
        const struct option_spec *o = &crawl_options.spec[i];
        json_t *one;

        if (!crawl_jobs_takes(o))
            continue;
        one = value_schema(o);
        json_object_set_new(one, "description", json_string(o->help));
        if (o->fallback != NULL)
            json_object_set_new(one, "default", json_string(o->fallback));
        json_object_set_new(all, o->name, one);
    }
    return all;
}

/* ---- what follows from a route ---- */

static void add_error(json_t *operation, const char *status, const char *name)
{
    json_t *all = json_object_get(operation, "responses");

    if (json_object_get(all, status) == NULL)
        json_object_set_new(all, status,
                            json_pack("{s:o}", "$ref",
                                      json_sprintf("#/components/responses/%s",
                                                   name)));
}

static void add_name(json_t *operation, const char *name)
{
    json_t *all = json_object_get(operation, "parameters");

    if (all == NULL) {
        all = json_array();
        json_object_set_new(operation, "parameters", all);
    }
    json_array_insert_new(all, 0,
                          json_pack("{s:o}", "$ref",
                                    json_sprintf("#/components/parameters/%s",
                                                 name)));
}

/* The file has an operation's own part. Its role, the errors that any operation
 * may end with and the names in its path follow from the route. */
static void complete(json_t *operation, const struct http_route *at)
{
    bool open = at->role == AUTH_NONE;

    json_object_set_new(operation, "x-role",
                        json_string(open ? "none" : auth_role_name(at->role)));
    if (open)
        json_object_set_new(operation, "security", json_array());
    add_error(operation, "400", "BadRequest");
    if (!open) {
        add_error(operation, "401", "Unauthorized");
        add_error(operation, "403", "Forbidden");
    }
    add_error(operation, "413", "TooLarge");
    if (at->body)
        add_error(operation, "415", "WrongType");
    add_error(operation, "421", "Misdirected");
    add_error(operation, "503", "Unavailable");
    if (strstr(at->path, "{crawl}") != NULL)
        add_name(operation, "crawl_name");
    if (strstr(at->path, "{filter}") != NULL)
        add_name(operation, "filter_name");
}

static void complete_all(json_t *paths)
{
    for (size_t i = 0; http_route_tables[i] != NULL; i++)
        for (const struct http_route *at = http_route_tables[i];
             at->path != NULL; at++) {
            char method[8];
            size_t n = 0;

            while (n + 1 < sizeof method && at->method[n] != '\0') {
                method[n] = ascii_lower(at->method[n]);
                n++;
            }
            method[n] = '\0';
            complete(json_object_get(json_object_get(paths, at->path), method),
                     at);
        }
}

/* ---- the document ---- */

static char *document; /* for the process's life */

static void make_document(void)
{
    struct bytes text = http_openapi();
    json_t *whole = json_loadb(text.at, text.len, 0, NULL), *settings = NULL;

    if (json_unpack(whole, "{s:{s:{s:o}}}", "components", "schemas", "Settings",
                    &settings) == 0)
        json_object_set_new(settings, "properties", settings_schema());
    complete_all(json_object_get(whole, "paths"));
    document = json_dumps(whole, JSON_INDENT(1));
    json_decref(whole);
}

struct bytes http_openapi_document(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, make_document);
    return bytes_of_str(document);
}

void http_openapi_ask(struct http_request *r)
{
    struct bytes text = http_openapi_document();

    if (http_members(r, r->in, -1, NULL, 0))
        http_answer_text(r, "application/json", xstrndup(text.at, text.len),
                         text.len);
}

/* ---- /metrics in Prometheus' text format 0.0.4, and /healthz ----
 *
 * It shows only stats that other threads have published: a scrape waits for no
 * frontier thread and reads no store.
 */

#define HTTP      "http"
#define PAGE_MOST ((size_t)64 << 20) /* some 20 KB a crawl */

static void add_route(struct metrics_text *m, const struct http_counters *t,
                      unsigned group)
{
    for (unsigned c = 1; c < HTTP_CLASSES; c++) {
        uint64_t n =
            atomic_load_explicit(&t->classes[group][c], memory_order_relaxed);
        char code[16];

        snprintf(code, sizeof code, "%uxx", c);
        if (n > 0 || c == 2 || c == 4)
            metrics_uint(m,
                         METRICS_LABELS({"route", t->names[group]},
                                        {"code", code}),
                         n);
    }
}

static void add_http(struct metrics_text *m, struct http_server *s)
{
    const struct http_counters *t = http_server_tally(s);
    struct http_stats v;

    http_server_get_stats(s, &v);
    metrics_family(m, HTTP, "requests_total", METRICS_COUNTER,
                   "Requests answered, by path and status.");
    for (unsigned g = 0; g < t->count; g++)
        add_route(m, t, g);
    metrics_family(m, HTTP, "request_duration_seconds", METRICS_HISTOGRAM,
                   "From a request's line to its answer's being ready.");
    for (unsigned g = 0; g < t->count; g++) {
        struct histogram_stats h = {{0}, 0};

        histogram_add_to(&t->took[g], &h);
        if (histogram_count(&h) > 0)
            metrics_histogram(m, METRICS_LABELS({"route", t->names[g]}), &h);
    }
    metrics_one(m, HTTP, "connections", METRICS_GAUGE,
                "Connections that are open.", v.connections);
    metrics_add_closed(m, HTTP, v.closed);
}

static void add_crawls(struct metrics_text *m, struct crawls *crawls)
{
    struct crawls_view *views = NULL;
    size_t n = crawls_each(crawls, &views);

    metrics_add_crawls(m, views, n);
    free(views);
}

void http_ask_metrics(struct http_request *r)
{
    const struct http_options *o = http_server_options(r->server);
    struct metrics_text m;
    struct buf out;
    size_t len;
    char *text;

    buf_init(&out, PAGE_MOST);
    metrics_text_init(&m, &out);
    if (o->crawls != NULL)
        add_crawls(&m, o->crawls);
    if (o->cluster != NULL)
        metrics_add_cluster(&m, o->cluster);
    if (o->frontier != NULL)
        metrics_add_frontier(&m, o->frontier);
    if (o->grpc != NULL)
        metrics_add_grpc(&m, o->grpc);
    if (o->shelf != NULL)
        metrics_add_filters(&m, o->shelf);
    add_http(&m, r->server);
    metrics_add_process(&m, o->dir);
    if (buf_failed(&out) != STATUS_OK) {
        buf_fini(&out);
        http_problem(r, 503, "too many crawls for one page");
        return;
    }
    text = buf_take(&out, &len);
    http_answer_text(r, "text/plain; version=0.0.4; charset=utf-8", text, len);
    buf_fini(&out);
}

void http_ask_health(struct http_request *r)
{
    struct frontier_service_stats frontier = {.broken = false};
    struct http_stats http;
    const char *is = "ok";
    json_t *j = json_object();

    if (http_server_frontier(r->server) != NULL)
        frontier_service_get_stats(http_server_frontier(r->server), &frontier);
    http_server_get_stats(r->server, &http);
    if (http.stopping)
        is = "stopping";
    if (frontier.broken)
        is = "broken";
    json_object_set_new(j, "status", json_string(is));
    http_answer(r, http.stopping || frontier.broken ? 503 : 200, j);
}
