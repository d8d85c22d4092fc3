/* SPDX-License-Identifier: MIT */
/*
 * http_answer.c - makes answers (JSON, text, problems) and sends them.
 *
 * Only the first answer counts, so that checks may go on after one failed.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/logger.h"
#include "base/mem.h"
#include "service/http/http_dashboard.h"
#include "service/http/http_events.h"
#include "service/http/http_export.h"
#include "service/http/http_server_impl.h"
#include "service/http/http_text.h"

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
