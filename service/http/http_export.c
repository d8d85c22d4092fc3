/* SPDX-License-Identifier: MIT */
/*
 * http_export.c - a report, its thread, and the pipe between it and the answer.
 *
 *   server's thread: ask ─► thread, sleep on the pipe ... reply ─► read, send
 *   report's thread:          crawls_report ─► pipe, status, close
 *
 * (The library can answer from a pipe by itself, but would make all other
 * connections wait for it.) Both threads own the struct, and the last of them
 * frees it.
 */
#include "service/http/http_export.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/logger.h"
#include "base/mem.h"
#include "service/http/http_request.h"
#include "service/http/http_server_impl.h"

#define BLOCK    ((size_t)16 << 10)
#define COUNT(a) (sizeof(a) / sizeof *(a))

struct http_export {
    struct http_server *server;
    struct http_sleeper sleeper; /* its `fd` is the read end of the pipe */
    const char *type;

    /* for the report's thread, once it has started */
    char *crawl, *url, *rows;
    struct crawls_report report;
    int to;

    atomic_int holders;
    _Atomic enum status status; /* set before `to` is closed */

    char first[BLOCK]; /* read before the answer's status was known */
    size_t first_len;
};

static void export_let_go(struct http_export *e)
{
    if (atomic_fetch_sub(&e->holders, 1) > 1)
        return;
    free(e->crawl);
    free(e->url);
    free(e->rows);
    free(e);
}

void http_export_free(struct http_export *e)
{
    if (e == NULL)
        return;
    if (e->sleeper.fd >= 0)
        close(e->sleeper.fd);
    export_let_go(e);
}

/* ---- the report's thread ---- */

static void *export_thread(void *arg)
{
    struct http_export *e = arg;
    struct http_server *s = e->server;
    enum status st = crawls_report(s->options.crawls, bytes_of_str(e->crawl),
                                   &e->report, e->to);

    atomic_store(&e->status, st);
    close(e->to);
    export_let_go(e);
    http_server_report_ended(s);
    return NULL;
}

/* Starts the thread with all signals blocked; others handle them, and SIGPIPE
 * must not be delivered. */
static int start_thread(struct http_export *e)
{
    sigset_t all, before;
    pthread_t thread;
    int rc;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    rc = pthread_create(&thread, NULL, export_thread, e);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (rc == 0)
        pthread_detach(thread);
    return rc;
}

static enum status export_start(struct http_export *e)
{
    int ends[2], rc;

    if (pipe2(ends, O_CLOEXEC) != 0)
        return status_of_errno(errno);
    e->sleeper.fd = ends[0];
    e->to = ends[1];
    atomic_store(&e->holders, 2);
    rc = fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0 ? start_thread(e) : errno;
    if (rc == 0)
        return STATUS_OK;
    atomic_store(&e->holders, 1);
    close(e->to);
    return status_of_errno(rc);
}

/* ---- asking ---- */

static void export_begin(struct http_request *r, struct http_export *e)
{
    enum status st;

    if (!http_server_report_begins(r->server)) {
        http_problem(r, 503, "%d reports are running already; try again",
                     HTTP_REPORTS_MOST);
        http_export_free(e);
        return;
    }
    st = export_start(e);
    if (st == STATUS_OK) {
        r->export = e;
        return;
    }
    log_error("cannot start a report", "why=\"%s\"", status_text(st));
    http_server_report_ended(r->server);
    http_problem(r, 503, "a report cannot be started; try again");
    http_export_free(e);
}

static bool read_query(struct http_request *r, struct http_export *e)
{
    struct bytes url = {NULL, 0}, rows = bytes_of_str("urls");
    struct bytes format = bytes_of_str("jsonl");
    const struct http_member explain[] = {
        {.name = "url", .type = HTTP_TEXT, .to = &url, .needed = true},
    };
    const struct http_member export[] = {
        {.name = "what", .type = HTTP_TEXT, .to = &rows},
        {.name = "format", .type = HTTP_TEXT, .to = &format},
    };
    bool csv;

    e->type = "application/json";
    if (r->route->how == CRAWLS_EXPLAIN &&
        !http_members(r, r->in, -1, explain, COUNT(explain)))
        return false;
    if (r->route->how == CRAWLS_EXPORT) {
        if (!http_members(r, r->in, -1, export, COUNT(export)))
            return false;
        csv = bytes_is(format, "csv");
        if (!csv && !bytes_is(format, "jsonl"))
            http_problem(r, 400, "'format' must be jsonl or csv");
        e->report.format = csv ? "csv" : "jsonl";
        e->type = csv ? "text/csv; charset=utf-8" : "application/x-ndjson";
    } else if (r->route->how != CRAWLS_EXPLAIN &&
               !http_members(r, r->in, -1, NULL, 0)) {
        return false;
    }
    e->url = xstrndup(url.len > 0 ? url.at : "", url.len);
    e->rows = xstrndup(rows.at, rows.len);
    return r->status == 0;
}

void http_export_ask(struct http_request *r)
{
    struct http_export *e = xcalloc(1, sizeof *e);

    e->server = r->server;
    e->sleeper = (struct http_sleeper){.conn = r->conn,
                                       .fd = -1,
                                       .socket = http_socket(r)};
    atomic_init(&e->holders, 1);
    if (!read_query(r, e)) {
        http_export_free(e);
        return;
    }
    e->crawl = xstrdup(r->name);
    e->report.what = (enum crawls_what)r->route->how;
    e->report.url = bytes_of_str(e->url);
    e->report.rows = e->rows;
    export_begin(r, e);
}

bool http_export_wait(struct http_export *e)
{
    return http_pump_sleep(e->server->pump, &e->sleeper, 0) == HTTP_ASLEEP;
}

/* ---- answering ---- */

static void export_refuse(struct http_request *r, enum status st)
{
    switch (st) {
    case STATUS_NOT_FOUND:
        http_problem(r, 404, "there is no such crawl, or it holds nothing");
        break;
    case STATUS_ARG:
        if (r->route->how == CRAWLS_EXPLAIN)
            http_problem(r, 400, "'url' is not a URL that a crawl can meet");
        else
            http_problem(r, 400,
                         "'what' must be urls, pages, errors, drops, hosts, "
                         "or links if --record kept them");
        break;
    default:
        http_problem(r, 503, "the report failed: %s", status_text(st));
    }
}

void http_export_reply(struct http_request *r)
{
    struct http_export *e = r->export;
    ssize_t n = read(e->sleeper.fd, e->first, sizeof e->first);
    enum status st;

    if (n < 0) {
        http_problem(r, 503, "the service is stopping"); /* woken by the cut */
        return;
    }
    st = n == 0 ? atomic_load(&e->status) : STATUS_OK;
    if (st != STATUS_OK) {
        export_refuse(r, st);
        return;
    }
    e->first_len = (size_t)n;
    http_answer_text(r, e->type, NULL, 0);
}

/* Callback of the library: the next part of the answer. */
static ssize_t export_next_part(void *ctx, uint64_t at, char *to, size_t room)
{
    struct http_export *e = ctx;
    ssize_t n;

    if (at < e->first_len) {
        n = (ssize_t)(e->first_len - at);
        n = (size_t)n < room ? n : (ssize_t)room;
        memcpy(to, e->first + at, (size_t)n);
        return n;
    }
    n = read(e->sleeper.fd, to, room);
    if (n > 0)
        return n;
    if (n == 0)
        return atomic_load(&e->status) == STATUS_OK
                   ? MHD_CONTENT_READER_END_OF_STREAM
                   : MHD_CONTENT_READER_END_WITH_ERROR;
    if (errno == EAGAIN && !e->sleeper.left && http_export_wait(e))
        return 0;
    return MHD_CONTENT_READER_END_WITH_ERROR;
}

static void response_ends(void *ctx)
{
    http_export_free(ctx);
}

struct MHD_Response *http_export_response(struct http_export *e)
{
    return MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK,
                                             export_next_part, e,
                                             response_ends);
}
