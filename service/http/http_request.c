/* SPDX-License-Identifier: MIT */
/* http_request.c - a request's route, its answer, and the count of it. */
#include "service/http/http_request.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/logger.h"
#include "base/mem.h"
#include "service/http/http_pages.h"
#include "service/http/http_server_impl.h"
#include "service/http/http_text.h"

/* ---- counts ---- */

/* "/v1/queues/block": "queues"; "/": "root". */
static struct bytes route_name_of(const char *path)
{
    const char *at = path + 1;

    if (*at == '\0')
        return bytes_of_str("root");
    if (strncmp(at, "v1/", 3) == 0)
        at += 3;
    return bytes_of(at, strcspn(at, "/"));
}

static unsigned route_find(const struct http_counters *t, struct bytes name)
{
    unsigned g = 0;

    while (g < t->count && !bytes_is(name, t->names[g]))
        g++;
    return g;
}

static void route_add(struct http_counters *t, struct bytes name)
{
    if (route_find(t, name) < t->count)
        return;
    assert(t->count < HTTP_GROUPS && name.len < sizeof t->names[0]);
    snprintf(t->names[t->count++], sizeof t->names[0], "%.*s", (int)name.len,
             name.at);
}

void http_counters_init(struct http_counters *t,
                        const struct http_route *routes)
{
    if (t->count == 0)
        route_add(t, bytes_of_str("none"));
    for (; routes->path != NULL; routes++)
        route_add(t, route_name_of(routes->path));
}

static unsigned http_counters_group(const struct http_counters *t,
                                    const struct http_route *route)
{
    return route != NULL ? route_find(t, route_name_of(route->path)) : 0;
}

/* The group of a route; NULL: the request has none. */
static void http_counters_note(struct http_counters *t, unsigned group,
                               unsigned status, int64_t took_ns)
{
    unsigned class = status / 100 < HTTP_CLASSES ? status / 100 : 0;

    atomic_fetch_add_explicit(&t->classes[group][class], 1,
                              memory_order_relaxed);
    histogram_note(&t->took[group], took_ns);
}

/* ---- routes, found by linear search; there are some forty ----
 *
 * 405 names all methods of the path (RFC 9110 section 15.5.6), HEAD beside GET.
 */

const struct http_route *const http_route_tables[] = {
    http_routes,        http_queue_routes, http_crawl_routes,
    http_filter_routes, http_shard_routes, NULL,
};

/* Does `path` have the form of the route's? What stands where the route has a
 * name in braces, up to the next '/' and not empty, goes to names[]. */
static bool match(const char *route, const char *path,
                  struct bytes names[HTTP_NAMES])
{
    size_t n = 0;

    while (*route != '\0') {
        size_t len = strcspn(path, "/");

        if (*route != '{') {
            if (*route++ != *path++)
                return false;
            continue;
        }
        if (len == 0)
            return false;
        names[n++] = bytes_of(path, len);
        path += len;
        route = strchr(route, '}') + 1;
    }
    return *path == '\0';
}

static bool has_path(const struct http_route *route, const char *path)
{
    struct bytes names[HTTP_NAMES];

    return match(route->path, path, names);
}

static void allow(struct http_request *r, const char *method)
{
    size_t n = strlen(r->allow);

    snprintf(r->allow + n, sizeof r->allow - n, "%s%s", n > 0 ? ", " : "",
             strcmp(method, "GET") == 0 ? "GET, HEAD" : method);
}

void http_route_find(struct http_request *r, const char *method)
{
    if (strcmp(method, "HEAD") == 0)
        method = "GET";
    for (size_t i = 0; http_route_tables[i] != NULL; i++)
        for (const struct http_route *at = http_route_tables[i];
             at->path != NULL; at++) {
            if (!has_path(at, r->path))
                continue;
            if (strcmp(at->method, method) == 0) {
                r->route = at;
                return;
            }
            allow(r, at->method);
        }
    if (r->allow[0] == '\0')
        http_problem(r, 404, "there is nothing at this path");
    else
        http_problem(r, 405, "this path does not support the method %s",
                     method);
}

static void read_names(struct http_request *r)
{
    struct bytes names[HTTP_NAMES] = {{NULL, 0}};
    char **const to[HTTP_NAMES] = {&r->name, &r->second_name};

    (void)match(r->route->path, r->path, names);
    for (size_t i = 0; i < HTTP_NAMES && names[i].len > 0; i++) {
        *to[i] = http_decode(names[i], false);
        if (*to[i] == NULL)
            http_problem(r, 400, "the name in the path cannot be read");
    }
}

void http_route_read(struct http_request *r)
{
    const char *query = strchr(r->uri, '?');

    r->in = http_query(bytes_of_str(query != NULL ? query + 1 : ""));
    if (r->in == NULL)
        http_problem(r, 400, "the query cannot be read");
    else if (r->route->body && json_object_size(r->in) > 0)
        http_problem(r, 400, "this path takes no query");
    read_names(r);
}

bool http_members(struct http_request *r, json_t *object, long at,
                  const struct http_member *m, size_t n)
{
    char why[300];

    if (http_members_read(object, m, n, !r->route->body, why, sizeof why))
        return true;
    if (at >= 0)
        http_problem(r, 400, "item %ld: %s", at, why);
    else
        http_problem(r, 400, "%s", why);
    return false;
}

/* ---- answers: JSON, text, problems ----
 *
 * Only the first answer counts, so that checks may go on after one failed.
 */

#define PROBLEM_MOST 400 /* octets of `detail` */

static const char *title_of(unsigned status)
{
    switch (status) {
    case 400:
        return "Bad Request";
    case 401:
        return "Unauthorized";
    case 403:
        return "Forbidden";
    case 404:
        return "Not Found";
    case 405:
        return "Method Not Allowed";
    case 409:
        return "Conflict";
    case 413:
        return "Content Too Large";
    case 415:
        return "Unsupported Media Type";
    case 421:
        return "Misdirected Request";
    default:
        return "Service Unavailable";
    }
}

void http_answer_text(struct http_request *r, const char *type, char *text,
                      size_t len)
{
    if (r->status != 0) {
        free(text);
        return;
    }
    r->status = 200;
    r->type = type;
    r->out = text;
    r->out_len = len;
}

void http_answer(struct http_request *r, unsigned status, json_t *j)
{
    char *text = json_dumps(j, HTTP_JSON);

    json_decref(j);
    if (text == NULL)
        text = xstrdup("{}");
    if (r->status != 0) {
        free(text);
        return;
    }
    http_answer_text(r, "application/json", text, strlen(text));
    r->status = status;
}

/* RFC 9457 section 3: `type` is about:blank, so `title` is the status's. */
void http_problem(struct http_request *r, unsigned status, const char *fmt, ...)
{
    char detail[PROBLEM_MOST];
    struct bytes text;
    json_t *problem;
    va_list args;

    if (r->status != 0)
        return;
    va_start(args, fmt);
    vsnprintf(detail, sizeof detail, fmt, args);
    va_end(args);
    text = bytes_of_str(detail);
    while (!bytes_is_utf8(text))
        text.len--; /* do not cut within a character */
    problem = json_object();
    json_object_set_new(problem, "type", json_string("about:blank"));
    json_object_set_new(problem, "title", json_string(title_of(status)));
    json_object_set_new(problem, "status", json_integer((int)status));
    json_object_set_new(problem, "detail", http_bytes_json(text));
    http_answer(r, status, problem);
    r->type = "application/problem+json";
}

/* The reason of the call that ended like this. */
static const char *why_ended(const struct http_request *r, enum status st,
                             const char *fallback)
{
    for (size_t i = 0; i < r->call_count; i++)
        if (r->calls[i].status == st && r->calls[i].why != NULL)
            return r->calls[i].why;
    return fallback;
}

bool http_failed(struct http_request *r, enum status st)
{
    switch (st) {
    case STATUS_OK:
        return false;
    case STATUS_NOT_FOUND:
        http_problem(r, 404, "there is no such thing");
        break;
    case STATUS_ARG:
        http_problem(r, 400, "no key can be derived from the URL");
        break;
    case STATUS_LIMIT:
        http_problem(r, 400, "the answer would be too large; ask for less");
        break;
    case STATUS_REFUSED:
        http_problem(r, 409, "%s",
                     why_ended(r, st, "this one does not allow that"));
        break;
    case STATUS_AGAIN:
        http_problem(r, 503, "too many writes are waiting; try again");
        break;
    case STATUS_CLOSED:
        http_problem(r, 503, "%s", why_ended(r, st, "the service is stopping"));
        break;
    default:
        http_problem(r, 503, "the store failed: %s", status_text(st));
    }
    return true;
}

static void add_header(struct MHD_Response *m, const char *name,
                       const char *value)
{
    if (MHD_add_response_header(m, name, value) != MHD_YES)
        log_warn("cannot add a header", "name=%s", name);
}

/* The response owns the answer's memory from then on. */
static struct MHD_Response *response_of(struct http_request *r)
{
    struct MHD_Response *m;

    if (r->out == NULL && r->export != NULL) {
        m = http_export_response(r->export);
        if (m != NULL)
            r->export = NULL;
    } else if (r->out == NULL && r->watcher != NULL) {
        m = http_events_response(r->watcher);
        if (m != NULL)
            r->watcher = NULL;
    } else {
        m = MHD_create_response_from_buffer(r->out_len, r->out,
                                            MHD_RESPMEM_MUST_FREE);
        if (m != NULL)
            r->out = NULL;
    }
    return m;
}

enum MHD_Result http_send(struct http_request *r)
{
    struct MHD_Response *m = response_of(r);
    enum MHD_Result sent;

    http_conns_rest(r->server->conns, http_conn_of(r->conn));
    r->state = HTTP_ANSWERED;
    http_counters_note(&r->server->tally,
                       http_counters_group(&r->server->tally, r->route),
                       r->status, clock_mono() - r->began);
    if (m == NULL)
        return MHD_NO;
    add_header(m, MHD_HTTP_HEADER_CONTENT_TYPE, r->type);
    if (r->page != NULL)
        http_page_headers(r->page, m);
    else
        add_header(m, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
    add_header(m, "X-Content-Type-Options", "nosniff");
    if (r->role != AUTH_NONE)
        add_header(m, "Urlweir-Role", auth_role_name(r->role));
    if (r->status == 401)
        add_header(m, MHD_HTTP_HEADER_WWW_AUTHENTICATE,
                   "Bearer realm=\"urlweir\"");
    if (r->status == 503)
        add_header(m, MHD_HTTP_HEADER_RETRY_AFTER, "1");
    if (r->location != NULL)
        add_header(m, MHD_HTTP_HEADER_LOCATION, r->location);
    if (r->status == 405)
        add_header(m, MHD_HTTP_HEADER_ALLOW, r->allow);
    sent = MHD_queue_response(r->conn, r->status, m);
    MHD_destroy_response(m);
    return sent;
}
