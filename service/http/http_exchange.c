/* SPDX-License-Identifier: MIT */
/*
 * http_exchange.c - one request, from its first line to its answer, and the
 * checks of access on its way.
 *
 *   server's thread: head, body ─► exchange_ask() ─► suspend, submit
 *   frontier thread:                               done ─► resume
 *   server's thread: reply() ◄─────────────────────────────┘
 *
 * The library decodes nothing: http_text.c decodes paths and queries from the
 * raw request line, so that a name with a zero byte or bad UTF-8 is refused,
 * not truncated.
 */
#include <errno.h>
#include <fcntl.h>
#include <gnutls/gnutls.h>
#include <microhttpd.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/ascii.h"
#include "base/clock.h"
#include "base/logger.h"
#include "base/mem.h"
#include "service/http/http_request.h"
#include "service/http/http_server_impl.h"
#include "service/http/http_text.h"
#include "service/shards/call_wire.h"

/* ---- a report, its thread, and the pipe between it and the answer ----
 *
 *   server's thread: ask ─► thread, sleep on the pipe ... reply ─► read, send
 *   report's thread:          crawls_report ─► pipe, status, close
 *
 * (The library can answer from a pipe by itself, but would make all other
 * connections wait for it.) Both threads own the struct, and the last of them
 * frees it.
 */

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

static int http_socket(const struct http_request *r);

static void export_let_go(struct http_export *e)
{
    if (atomic_fetch_sub(&e->holders, 1) > 1)
        return;
    free(e->crawl);
    free(e->url);
    free(e->rows);
    free(e);
}

/* NULL is fine */
static void http_export_free(struct http_export *e)
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

/* Lets the request sleep until there is something to reply. False: it must not
 * sleep any more, but reply. */
static bool http_export_wait(struct http_export *e)
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

/* ---- access checks: Host header, client certificate, token ----
 *
 * They run before the body is read, so that a stranger costs only its headers.
 */

struct bytes http_header(struct http_request *r, const char *name)
{
    const char *value = NULL;
    size_t len = 0;

    if (MHD_lookup_connection_value_n(r->conn, MHD_HEADER_KIND, name,
                                      strlen(name), &value, &len) != MHD_YES)
        return bytes_of(NULL, 0);
    return bytes_of(value, len);
}

static bool shows_certificate(struct http_request *r)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(r->conn, MHD_CONNECTION_INFO_GNUTLS_SESSION);
    unsigned wrong = 1;

    return info != NULL && info->tls_session != NULL &&
           gnutls_certificate_verify_peers2(info->tls_session, &wrong) == 0 &&
           wrong == 0;
}

/* Checks the token's role against r->route. */
static void http_guard_role(struct http_request *r)
{
    struct auth *auth = r->server->options.auth;
    enum auth_role needed = r->route->role, has;
    struct bytes token;

    if (needed == AUTH_NONE)
        return;
    if (auth == NULL) {
        http_conns_know(r->server->conns, http_conn_of(r->conn));
        has = r->server->options.open_role;
        r->role = has != AUTH_NONE ? has : AUTH_ADMIN;
        if (has != AUTH_NONE && has < needed)
            http_problem(r, 403, "this needs the role %s; the caller has %s",
                         auth_role_name(needed), auth_role_name(has));
        return;
    }
    token = auth_bearer(http_header(r, MHD_HTTP_HEADER_AUTHORIZATION));
    has = auth_role_of(auth, token);
    r->role = has;
    if (has != AUTH_NONE)
        http_conns_know(r->server->conns, http_conn_of(r->conn));
    if (has == AUTH_NONE)
        http_problem(r, 401, "this needs a token: Authorization: Bearer TOKEN");
    else if (has < needed)
        http_problem(r, 403, "this needs a token with the role %s",
                     auth_role_name(needed));
}

/* A browser says from which page a request comes (Fetch Metadata, W3C), to
 * loopback and over TLS. Another port of this machine is `same-site`. Its page
 * could read nothing, but have work done. */
static void http_guard_site(struct http_request *r)
{
    struct bytes site = http_header(r, "Sec-Fetch-Site");

    if (r->route->role != AUTH_NONE && site.len > 0 &&
        !bytes_is(site, "same-origin") && !bytes_is(site, "none"))
        http_problem(r, 403, "a page of another site asks for this");
}

/* Checks the Host header, and the client certificate if one is needed. */
static void http_guard_caller(struct http_request *r)
{
    const struct http_options *o = &r->server->options;

    if (o->loopback && !http_host_is_local(http_header(r, MHD_HTTP_HEADER_HOST),
                                           bytes_of_str(r->server->host)))
        http_problem(r, 421, "the Host header names another machine");
    else if (o->tls.client_ca != NULL && !shows_certificate(r))
        http_problem(r, 403, "this needs a client certificate");
}

/* ---- refuses heads that servers read differently ----
 *
 * If a proxy and a server disagree on where a request ends, or which host it is
 * for, one caller's request can be taken for another's (request smuggling). The
 * library accepts such heads; we refuse them (RFC 9112 sections 2.2, 3.2, 5.1,
 * 6.1 and 6.3) before anything else. The answer closes the connection, as does
 * any answer before the end of its request.
 *
 * The library ends strings at a zero byte. In the request line we can tell from
 * the position of the version; in a header field we cannot.
 */

struct head {
    unsigned hosts, lengths, codings;
    bool chunked; /* the last coding is chunked */
    const char *wrong;
};

/* RFC 9110 section 5.6.2. */
static bool is_token(struct bytes b)
{
    static const char others[] = "!#$%&'*+-.^_`|~";

    for (size_t i = 0; i < b.len; i++) {
        char c = b.at[i];

        if (!ascii_is_alnum(c) && (c == '\0' || strchr(others, c) == NULL))
            return false;
    }
    return b.len > 0;
}

static bool exchange_has_control(struct bytes b)
{
    for (size_t i = 0; i < b.len; i++)
        if (((unsigned char)b.at[i] < ' ' && b.at[i] != '\t') ||
            b.at[i] == 0x7f)
            return true;
    return false;
}

static bool names(struct bytes name, const char *field)
{
    return bytes_equal_nocase(name, bytes_of_str(field));
}

static enum MHD_Result exchange_look_at(void *ctx, enum MHD_ValueKind kind,
                                        const char *name, size_t name_len,
                                        const char *value, size_t value_len)
{
    struct head *h = ctx;
    struct bytes n = bytes_of(name, name_len), v = bytes_of(value, value_len);

    (void)kind;
    if (!is_token(n))
        h->wrong = "the name of a header field is not valid";
    else if (exchange_has_control(v))
        h->wrong = "a header field holds control characters";
    if (names(n, MHD_HTTP_HEADER_HOST)) {
        h->hosts++;
    } else if (names(n, MHD_HTTP_HEADER_CONTENT_LENGTH)) {
        h->lengths++;
    } else if (names(n, MHD_HTTP_HEADER_TRANSFER_ENCODING)) {
        h->codings++;
        h->chunked = names(v, "chunked");
    }
    return h->wrong == NULL ? MHD_YES : MHD_NO;
}

static const char *why_not(struct MHD_Connection *conn, const char *version)
{
    struct head h = {.wrong = NULL};

    MHD_get_connection_values_n(conn, MHD_HEADER_KIND, exchange_look_at, &h);
    if (h.wrong != NULL)
        return h.wrong;
    if (h.hosts > 1)
        return "there is more than one Host";
    if (h.lengths > 1)
        return "there is more than one Content-Length";
    if (h.codings > 0 && h.lengths > 0)
        return "there are both Content-Length and Transfer-Encoding";
    if (h.codings > 0 && strcmp(version, MHD_HTTP_VERSION_1_0) == 0)
        return "HTTP/1.0 has no Transfer-Encoding";
    if (h.codings > 1 || (h.codings == 1 && !h.chunked))
        return "Transfer-Encoding can only be chunked, once";
    return NULL;
}

/* In the library's buffer the version begins one space after the target; if the
 * target has a zero byte, it is farther away. */
static bool is_cut_short(const struct http_request *r, const char *version)
{
    uintptr_t target = (uintptr_t)r->target, at = (uintptr_t)version;

    return at > target && at - target < HTTP_HEADERS_MOST &&
           at - target != strlen(r->uri) + 1;
}

/* Answers 400 to a head that other servers may read differently; `version` is
 * the library's pointer. */
static void http_head_check(struct http_request *r, const char *version)
{
    const char *why = why_not(r->conn, version);

    if (why == NULL && (is_cut_short(r, version) || strchr(r->uri, ' ')))
        why = "the request line holds a zero byte or too many spaces";
    if (why == NULL && strstr(r->path, "%00") != NULL)
        why = "the path holds a zero byte";
    if (why != NULL)
        http_problem(r, 400, "%s", why);
}

/* ---- from the first line to the head ---- */

/*
 * Gives back leases whose answer was not delivered.
 *
 * A caller that leaves between asking for URLs and getting them does not know
 * what it has leased, and no other caller would get those URLs until the leases
 * end. We cannot know whether an answer was read (RFC 9112 has no
 * acknowledgement), only that it was not sent in full, or that the caller had
 * closed its side before. Such a caller gets no URLs, though it might still
 * read: a URL that is given back must not be delivered as well.
 *
 * Threads: the server's.
 *
 * The kernel accepts data for a caller that has left, and the reset comes
 * later; so we check the socket first. With TLS the end of the underlying
 * stream looks the same.
 */

struct give_back {
    struct http_server *server;
    atomic_size_t pending;
    size_t n;
    struct frontier_call calls[];
};

/* Did the request lease URLs? */
static bool http_holds_leases(const struct http_request *r)
{
    return r->call_count == 1 && r->calls[0].verb == FRONTIER_GET &&
           r->calls[0].status == STATUS_OK && r->calls[0].url_count > 0;
}

/* Has the caller closed the connection, or its side of it? */
static bool http_caller_has_left(const struct http_request *r)
{
    struct pollfd p = {.fd = http_socket(r), .events = POLLRDHUP};

    return poll(&p, 1, 0) > 0;
}

/* One of the calls is done; the last one frees them. Any thread. */
static void call_over(struct give_back *g)
{
    struct http_server *s = g->server;

    if (atomic_fetch_sub(&g->pending, 1) > 1)
        return;
    for (size_t i = 0; i < g->n; i++)
        frontier_call_fini(&g->calls[i]);
    free(g);
    pthread_mutex_lock(&s->mtx);
    s->waiting--;
    pthread_cond_broadcast(&s->fewer);
    pthread_mutex_unlock(&s->mtx);
}

static void lost_told(struct frontier_call *call)
{
    call_over(call->ctx);
}

/* Submits calls to the frontier that give the leases back; they outlive the
 * request, and the server waits for them. Leases that the frontier cannot take
 * now last until they end. */
static void http_give_back(struct http_request *r)
{
    const struct frontier_call *get = &r->calls[0];
    struct http_server *s = r->server;
    size_t n = get->url_count;
    struct give_back *g = xcalloc(1, sizeof *g + n * sizeof *g->calls);

    g->server = s;
    g->n = n;
    atomic_init(&g->pending, n + 1);
    pthread_mutex_lock(&s->mtx);
    s->waiting++;
    pthread_mutex_unlock(&s->mtx);
    for (size_t i = 0; i < n; i++) {
        struct frontier_call *c = &g->calls[i];

        frontier_call_init(c, FRONTIER_SETTLE, lost_told, g);
        c->via = FRONTIER_VIA_HTTP;
        c->in.settle.lease = get->urls[i].lease;
        c->in.settle.how = URL_SETTLE_FAIL;
        if (router_submit(s->router, c) != STATUS_OK)
            atomic_fetch_sub(&g->pending, 1); /* our count kept it above 0 */
    }
    log_info("leases taken back: their caller had disconnected", "urls=%zu", n);
    call_over(g);
}

#define BODY_MOST   ((size_t)4 << 20)
#define BODIES_MOST ((size_t)64 << 20) /* of all requests together */
#define ARENA_MOST  ((size_t)32 << 20) /* a parsed body */

/* ---- checks before the body is read ---- */

static bool is_json(struct bytes type)
{
    const char *end = type.len > 0 ? memchr(type.at, ';', type.len) : NULL;

    if (end != NULL)
        type.len = (size_t)(end - type.at);
    return bytes_equal_nocase(bytes_trim(type),
                              bytes_of_str("application/json"));
}

static uint64_t body_most(const struct http_request *r)
{
    return r->route->file    ? http_upload_most(r)
           : r->route->calls ? CALL_WIRE_MOST
           : r->route->body  ? BODY_MOST
                             : 0;
}

static void check_body(struct http_request *r)
{
    struct bytes length = http_header(r, MHD_HTTP_HEADER_CONTENT_LENGTH);
    uint64_t n;

    if (bytes_take_number(&length, 0, &n) && n > body_most(r))
        http_problem(r, 413, "a body has at most %llu octets here",
                     (unsigned long long)body_most(r));
    else if (r->route->body &&
             !is_json(http_header(r, MHD_HTTP_HEADER_CONTENT_TYPE)))
        http_problem(r, 415, "Content-Type must be application/json");
}

static void arrive(struct http_request *r, const char *method,
                   const char *version)
{
    bool stopping = http_server_is_stopping(r->server);

    r->state = HTTP_READING;
    http_conns_read(r->server->conns, http_conn_of(r->conn));
    r->path = xstrndup(r->uri, strcspn(r->uri, "?"));
    http_head_check(r, version);
    if (r->status == 0)
        http_guard_caller(r);
    if (r->status == 0)
        http_route_find(r, method);
    if (r->status == 0)
        http_guard_site(r);
    if (r->status == 0)
        http_guard_role(r);
    if (stopping && (r->route == NULL || r->route->role != AUTH_NONE))
        http_problem(r, 503, "the service is stopping");
    if (r->status == 0)
        check_body(r);
    if (r->status == 0)
        http_route_read(r);
    if (r->status == 0 && r->route->file)
        http_upload_begin(r);
}

static void let_body_go(struct http_request *r)
{
    r->server->bodies -= r->body.len;
    buf_fini(&r->body);
}

/* False: the body is too long. */
static bool exchange_read_body(struct http_request *r, const char *data,
                               size_t len)
{
    if (r->upload != NULL)
        return http_upload_write(r->upload, data, len);
    if (!r->route->body || len > body_most(r) - r->body.len)
        return false;
    if (r->no_room)
        return true;
    if (r->server->bodies + len > BODIES_MOST) {
        r->no_room = true;
        let_body_go(r);
        return true;
    }
    r->server->bodies += len;
    buf_add(&r->body, data, len);
    return true;
}

static void parse_body(struct http_request *r)
{
    json_error_t wrong;

    json_decref(r->in);
    r->in = http_body(buf_bytes(&r->body), &wrong);
    let_body_go(r);
    if (r->in == NULL)
        http_problem(r, 400, "the body is not JSON: line %d, column %d: %s",
                     wrong.line, wrong.column, wrong.text);
}

/* The caller's socket; -1: unknown. */
static int http_socket(const struct http_request *r)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(r->conn, MHD_CONNECTION_INFO_CONNECTION_FD);

    return info != NULL ? info->connect_fd : -1;
}

/* ---- asking the frontier, and the registry of crawls ---- */

static void exchange_resume(struct http_request *r)
{
    struct http_server *s = r->server;

    MHD_resume_connection(r->conn); /* `r` may be freed from here on */
    pthread_mutex_lock(&s->mtx);
    s->waiting--;
    pthread_cond_broadcast(&s->fewer);
    pthread_mutex_unlock(&s->mtx);
}

/* One of its calls is done; the last one resumes the request. */
static void call_done(struct http_request *r)
{
    if (atomic_fetch_sub(&r->pending, 1) == 1)
        exchange_resume(r);
}

static void exchange_told(struct frontier_call *call)
{
    call_done(call->ctx);
}

struct frontier_call *http_calls(struct http_request *r,
                                 enum frontier_verb verb, size_t n)
{
    r->calls = xcalloc(n > 0 ? n : 1, sizeof *r->calls);
    r->call_count = n;
    for (size_t i = 0; i < n; i++) {
        frontier_call_init(&r->calls[i], verb, exchange_told, r);
        r->calls[i].via = FRONTIER_VIA_HTTP;
    }
    return r->calls;
}

static void crawl_told(struct crawls_call *call)
{
    call_done(call->ctx);
}

struct crawls_call *http_crawl_call(struct http_request *r,
                                    enum crawls_verb verb, json_t *in)
{
    r->crawl_call = xcalloc(1, sizeof *r->crawl_call);
    r->crawl_call->verb = verb;
    r->crawl_call->in = in;
    if (r->name != NULL)
        r->crawl_call->crawl = bytes_of_str(r->name);
    r->crawl_call->done = crawl_told;
    r->crawl_call->ctx = r;
    if (r->server->options.crawls == NULL)
        http_problem(r, 404, "this process runs no crawls");
    return r->crawl_call;
}

static void submit_crawl(struct http_request *r)
{
    enum status st;

    if (r->crawl_call == NULL)
        return;
    atomic_fetch_add(&r->pending, 1);
    st = crawls_submit(r->server->options.crawls, r->crawl_call);
    if (st == STATUS_OK)
        return;
    http_failed(r, st); /* too many requests wait, or the process stops */
    atomic_fetch_sub(&r->pending, 1);
}

static void shelf_told(struct shelf_call *call)
{
    call_done(call->ctx);
}

struct shelf_call *http_shelf_call(struct http_request *r, enum shelf_verb verb)
{
    r->shelf_call = xcalloc(1, sizeof *r->shelf_call);
    r->shelf_call->verb = verb;
    if (r->name != NULL)
        r->shelf_call->name = bytes_of_str(r->name);
    r->shelf_call->done = shelf_told;
    r->shelf_call->ctx = r;
    if (r->server->options.shelf == NULL)
        http_problem(r, 404, "this process has no filters by name");
    return r->shelf_call;
}

static void submit_shelf(struct http_request *r)
{
    enum status st;

    if (r->shelf_call == NULL)
        return;
    atomic_fetch_add(&r->pending, 1);
    st = filter_shelf_submit(r->server->options.shelf, r->shelf_call);
    if (st == STATUS_OK)
        return;
    http_failed(r, st); /* too many requests wait, or the process stops */
    atomic_fetch_sub(&r->pending, 1);
}

/* False: the server is over, and no request may wait any more. */
static bool may_wait(struct http_server *s)
{
    bool may;

    pthread_mutex_lock(&s->mtx);
    may = !s->over;
    s->waiting += may;
    pthread_mutex_unlock(&s->mtx);
    return may;
}

static void exchange_submit(struct http_request *r)
{
    struct http_server *s = r->server;

    r->state = HTTP_WAITING;
    MHD_suspend_connection(r->conn);
    atomic_store(&r->pending, r->call_count + 1);
    for (size_t i = 0; i < r->call_count; i++) {
        enum status st = router_submit(s->router, &r->calls[i]);

        if (st == STATUS_OK)
            continue;
        r->calls[i].status = st;
        atomic_fetch_sub(&r->pending, 1); /* our own count kept it above 0 */
    }
    submit_crawl(r);
    submit_shelf(r);
    call_done(r);
}

/* The whole request has arrived. */
static enum MHD_Result exchange_ask(struct http_request *r)
{
    http_conns_use(r->server->conns, http_conn_of(r->conn));
    if (r->no_room)
        http_problem(r, 503, "too many bodies at once; try again");
    if (r->status == 0 && r->route->body && !r->route->calls)
        parse_body(r);
    r->arena = arena_new(ARENA_MOST);
    if (r->status == 0)
        r->route->ask(r);
    if (r->call_count > 0 && r->server->router == NULL)
        http_problem(r, 404, "this process has no frontier for other programs");
    if (r->status == 0 && r->export != NULL) {
        r->state = HTTP_WAITING;
        if (http_export_wait(r->export))
            return MHD_YES;
        http_problem(r, 503, "the service is stopping");
    }
    if (r->status == 0 && !may_wait(r->server))
        http_problem(r, 503, "the service is stopping");
    if (r->status != 0)
        return http_send(r);
    exchange_submit(r);
    return MHD_YES;
}

/* ---- the library's callbacks ---- */

void *http_exchange_begin(void *server, const char *uri,
                          struct MHD_Connection *conn)
{
    struct http_server *s = server;
    struct http_request *r = xcalloc(1, sizeof *r);

    r->server = s;
    r->conn = conn;
    r->began = clock_mono();
    http_conns_asked(s->conns, http_conn_of(conn));
    r->uri = xstrdup(uri);
    r->target = uri;
    buf_init(&r->body, CALL_WIRE_MOST);
    pthread_mutex_lock(&s->mtx);
    s->open++;
    pthread_mutex_unlock(&s->mtx);
    return r;
}

void http_exchange_end(void *server, struct MHD_Connection *conn, void **ctx,
                       enum MHD_RequestTerminationCode how)
{
    struct http_server *s = server;
    struct http_request *r = *ctx;

    http_conns_answered(s->conns, http_conn_of(conn));
    http_conns_rest(s->conns, http_conn_of(conn));
    if (r == NULL)
        return;
    *ctx = NULL;
    if (http_holds_leases(r) && (how != MHD_REQUEST_TERMINATED_COMPLETED_OK ||
                                 r->state != HTTP_ANSWERED))
        http_give_back(r);
    let_body_go(r);
    for (size_t i = 0; i < r->call_count; i++)
        frontier_call_fini(&r->calls[i]);
    free(r->calls);
    free(r->items);
    if (r->crawl_call != NULL) {
        json_decref(r->crawl_call->in);
        json_decref(r->crawl_call->out);
        free(r->crawl_call);
    }
    if (r->shelf_call != NULL) {
        free(r->shelf_call->answers);
        free(r->shelf_call->stuck);
        free(r->shelf_call->locks);
        free(r->shelf_call->locked);
        free(r->shelf_call->views);
        free(r->shelf_call);
    }
    free(r->shelf_keys);
    http_upload_free(r->upload);
    json_decref(r->in);
    arena_free(r->arena);
    http_export_free(r->export);
    http_watcher_free(r->watcher);
    free(r->out);
    free(r->location);
    free(r->page);
    free(r->name);
    free(r->second_name);
    free(r->path);
    free(r->uri);
    free(r);
    pthread_mutex_lock(&s->mtx);
    s->open--;
    pthread_cond_broadcast(&s->fewer);
    pthread_mutex_unlock(&s->mtx);
}

enum MHD_Result http_exchange_step(void *server, struct MHD_Connection *conn,
                                   const char *url, const char *method,
                                   const char *version, const char *data,
                                   size_t *len, void **ctx)
{
    struct http_request *r = *ctx;

    (void)server;
    (void)conn;
    (void)url;
    switch (r->state) {
    case HTTP_ARRIVED:
        arrive(r, method, version);
        return r->status != 0 ? http_send(r) : MHD_YES;
    case HTTP_READING:
        if (*len == 0)
            return exchange_ask(r);
        if (!exchange_read_body(r, data, *len))
            return MHD_NO;
        break;
    case HTTP_WAITING:
        if ((http_holds_leases(r) || r->export != NULL) &&
            http_caller_has_left(r))
            return MHD_NO;
        if (r->status == 0)
            r->route->reply(r);
        return http_send(r);
    case HTTP_ANSWERED:
        break;
    }
    *len = 0;
    return MHD_YES;
}
