/* SPDX-License-Identifier: MIT */
/*
 * http_server.c - requests over libmicrohttpd.
 *
 *   server's thread: arrive() ─► read_body() ─► ask() ─► suspend, submit
 *   frontier thread:                                done ─► resume
 *   server's thread: reply() ◄──────────────────────────────┘
 *
 * The library decodes nothing: paths and queries are taken from the request
 * line as it came (http_text.c), so that a name with a zero byte or bad UTF-8
 * is refused and not shortened.
 */
#include "service/http_server.h"

#include <errno.h>
#include <gnutls/gnutls.h>
#include <microhttpd.h>
#include <openssl/crypto.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/logger.h"
#include "base/mem.h"
#include "service/http2_server.h"
#include "service/http_request.h"
#include "service/http_text.h"
#include "service/listener.h"

#define BODY_MOST    ((size_t)4 << 20)
#define BODIES_MOST  ((size_t)64 << 20) /* of all requests at once */
#define ARENA_MOST   ((size_t)32 << 20) /* what one body becomes */
#define HEADERS_MOST ((size_t)32 << 10) /* with the request line */
#define IDLE_SECONDS 60u
#define PEM_MOST     ((size_t)1 << 20)
#define PROBLEM_MOST 400 /* octets of `detail` */
#define TLS_PRIORITY                                                           \
    "SECURE128:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:-RSA:-AES-128-CBC:"         \
    "-AES-256-CBC"

struct http_server {
    struct http_options options;
    struct MHD_Daemon *daemon;
    struct buf cert, key, client_ca;
    char *host; /* of the address it listens on */
    char address[LISTENER_ADDRESS_SIZE];
    int fd;

    pthread_mutex_t mtx; /* what follows */
    pthread_cond_t fewer;
    unsigned open;    /* requests */
    unsigned waiting; /* of them suspended */
    uint64_t requests;
    bool stopping;
    int64_t stop_by; /* monotonic */

    size_t bodies; /* octets held; the server's thread */
};

/* ---- answers ---- */

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
    char *text = json_dumps(j, JSON_COMPACT);

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
        text.len--; /* cut within a character */
    problem = json_object();
    json_object_set_new(problem, "type", json_string("about:blank"));
    json_object_set_new(problem, "title", json_string(title_of(status)));
    json_object_set_new(problem, "status", json_integer((int)status));
    json_object_set_new(problem, "detail", http_bytes_json(text));
    http_answer(r, status, problem);
    r->type = "application/problem+json";
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
    case STATUS_AGAIN:
        http_problem(r, 503, "too much waits to be written; try again");
        break;
    case STATUS_CLOSED:
        http_problem(r, 503, "the service is stopping");
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

static enum MHD_Result send_answer(struct http_request *r)
{
    struct MHD_Response *m =
        MHD_create_response_from_buffer(r->out_len, r->out,
                                        MHD_RESPMEM_MUST_FREE);
    enum MHD_Result sent;

    r->state = HTTP_ANSWERED;
    if (m == NULL)
        return MHD_NO;
    r->out = NULL; /* the response's now */
    add_header(m, MHD_HTTP_HEADER_CONTENT_TYPE, r->type);
    add_header(m, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
    add_header(m, "X-Content-Type-Options", "nosniff");
    if (r->status == 401)
        add_header(m, MHD_HTTP_HEADER_WWW_AUTHENTICATE,
                   "Bearer realm=\"urlweir\"");
    if (r->status == 503)
        add_header(m, MHD_HTTP_HEADER_RETRY_AFTER, "1");
    if (r->allow != NULL)
        add_header(m, MHD_HTTP_HEADER_ALLOW, r->allow);
    sent = MHD_queue_response(r->conn, r->status, m);
    MHD_destroy_response(m);
    return sent;
}

/* ---- who may ---- */

static struct bytes header_of(struct http_request *r, const char *name)
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

static void check_role(struct http_request *r)
{
    struct auth *auth = r->server->options.auth;
    enum auth_role needed = r->route->role, has;
    struct bytes token;

    if (auth == NULL || needed == AUTH_NONE)
        return;
    token = auth_bearer(header_of(r, MHD_HTTP_HEADER_AUTHORIZATION));
    has = auth_role_of(auth, token);
    if (has == AUTH_NONE)
        http_problem(r, 401, "a token is needed: Authorization: Bearer TOKEN");
    else if (has < needed)
        http_problem(r, 403, "a token of the role %s is needed",
                     auth_role_name(needed));
}

static void check_caller(struct http_request *r)
{
    const struct http_options *o = &r->server->options;

    if (o->loopback && !http_host_is_local(header_of(r, MHD_HTTP_HEADER_HOST),
                                           bytes_of_str(r->server->host)))
        http_problem(r, 421, "the Host header names another machine");
    else if (o->client_ca != NULL && !shows_certificate(r))
        http_problem(r, 403, "a client certificate is needed");
}

/* ---- what is asked for ---- */

static bool has_method(const struct http_route *route, const char *method)
{
    return strcmp(route->method, method) == 0 ||
           (strcmp(method, "HEAD") == 0 && strcmp(route->method, "GET") == 0);
}

static bool has_path(const struct http_route *route, const char *path)
{
    size_t n = strlen(route->path);

    if (!route->rest)
        return strcmp(route->path, path) == 0;
    return strncmp(route->path, path, n) == 0 && path[n] != '\0';
}

static void find_route(struct http_request *r, const char *method)
{
    for (const struct http_route *at = http_routes; at->path != NULL; at++) {
        if (!has_path(at, r->path))
            continue;
        r->allow = at->method;
        r->route = at;
        if (has_method(at, method)) {
            r->allow = NULL;
            return;
        }
    }
    if (r->route == NULL)
        http_problem(r, 404, "there is nothing at this path");
    else
        http_problem(r, 405, "this path does not know the method %s", method);
}

static void read_query(struct http_request *r)
{
    const char *query = strchr(r->uri, '?');

    r->in = http_query(bytes_of_str(query != NULL ? query + 1 : ""));
    if (r->in == NULL)
        http_problem(r, 400, "the query cannot be read");
    if (r->in != NULL && (r->route->body || r->route->rest) &&
        json_object_size(r->in) > 0)
        http_problem(r, 400, "this path takes no query");
    if (!r->route->rest)
        return;
    r->name =
        http_decode(bytes_of_str(r->path + strlen(r->route->path)), false);
    if (r->name == NULL)
        http_problem(r, 400, "the name in the path cannot be read");
}

static bool is_json(struct bytes type)
{
    const char *end = type.len > 0 ? memchr(type.at, ';', type.len) : NULL;

    if (end != NULL)
        type.len = (size_t)(end - type.at);
    return bytes_equal_nocase(bytes_trim(type),
                              bytes_of_str("application/json"));
}

static void check_body(struct http_request *r)
{
    struct bytes length = header_of(r, MHD_HTTP_HEADER_CONTENT_LENGTH);

    if (length.len > 0 &&
        strtoull(length.at, NULL, 10) > (r->route->body ? BODY_MOST : 0))
        http_problem(r, 413, "a body has at most %zu octets here",
                     r->route->body ? BODY_MOST : 0);
    else if (r->route->body &&
             !is_json(header_of(r, MHD_HTTP_HEADER_CONTENT_TYPE)))
        http_problem(r, 415, "Content-Type must be application/json");
}

/* All that can be refused before the body is read. */
static void arrive(struct http_request *r, const char *method)
{
    struct http_server *s = r->server;
    bool stopping;

    r->state = HTTP_READING;
    pthread_mutex_lock(&s->mtx);
    stopping = s->stopping;
    pthread_mutex_unlock(&s->mtx);
    r->path = xstrndup(r->uri, strcspn(r->uri, "?"));
    check_caller(r);
    if (r->status == 0)
        find_route(r, method);
    if (r->status == 0)
        check_role(r);
    if (stopping && (r->route == NULL || r->route->role != AUTH_NONE))
        http_problem(r, 503, "the service is stopping");
    if (r->status == 0)
        check_body(r);
    if (r->status == 0)
        read_query(r);
}

static void let_body_go(struct http_request *r)
{
    r->server->bodies -= r->body.len;
    buf_fini(&r->body);
}

/* False: it has no end. */
static bool read_body(struct http_request *r, const char *data, size_t len)
{
    if (!r->route->body || len > BODY_MOST - r->body.len)
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
    r->in = json_loadb(buf_str(&r->body), r->body.len, JSON_REJECT_DUPLICATES,
                       &wrong);
    let_body_go(r);
    if (r->in == NULL)
        http_problem(r, 400, "the body is no JSON: line %d, column %d: %s",
                     wrong.line, wrong.column, wrong.text);
}

/* ---- asking the frontier ---- */

struct frontier_service *http_server_frontier(struct http_server *s)
{
    return s->options.frontier;
}

static void resume(struct http_request *r)
{
    struct http_server *s = r->server;

    MHD_resume_connection(r->conn); /* `r` may be gone from here on */
    pthread_mutex_lock(&s->mtx);
    s->waiting--;
    pthread_cond_broadcast(&s->fewer);
    pthread_mutex_unlock(&s->mtx);
}

/* One of its calls; the last one goes on with it. */
static void call_done(struct http_request *r)
{
    if (atomic_fetch_sub(&r->pending, 1) == 1)
        resume(r);
}

static void told(struct frontier_call *call)
{
    call_done(call->ctx);
}

struct frontier_call *http_calls(struct http_request *r,
                                 enum frontier_verb verb, size_t n)
{
    r->calls = xcalloc(n > 0 ? n : 1, sizeof *r->calls);
    r->call_count = n;
    for (size_t i = 0; i < n; i++)
        frontier_call_init(&r->calls[i], verb, told, r);
    return r->calls;
}

static void submit(struct http_request *r)
{
    struct http_server *s = r->server;

    r->state = HTTP_WAITING;
    pthread_mutex_lock(&s->mtx);
    s->waiting++;
    pthread_mutex_unlock(&s->mtx);
    MHD_suspend_connection(r->conn);
    atomic_store(&r->pending, r->call_count + 1);
    for (size_t i = 0; i < r->call_count; i++) {
        enum status st =
            frontier_service_submit(s->options.frontier, &r->calls[i]);

        if (st == STATUS_OK)
            continue;
        r->calls[i].status = st;
        atomic_fetch_sub(&r->pending, 1); /* the loop's own keeps it above 0 */
    }
    call_done(r);
}

/* The whole request is there. */
static enum MHD_Result ask(struct http_request *r)
{
    if (r->no_room)
        http_problem(r, 503, "too many bodies at once; try again");
    if (r->status == 0 && r->route->body)
        parse_body(r);
    r->arena = arena_new(ARENA_MOST);
    if (r->status == 0)
        r->route->ask(r);
    if (r->status != 0)
        return send_answer(r);
    submit(r);
    return MHD_YES;
}

/* ---- the library's callbacks ---- */

static void *request_begun(void *server, const char *uri,
                           struct MHD_Connection *conn)
{
    struct http_server *s = server;
    struct http_request *r = xcalloc(1, sizeof *r);

    r->server = s;
    r->conn = conn;
    r->uri = xstrdup(uri);
    buf_init(&r->body, BODY_MOST);
    pthread_mutex_lock(&s->mtx);
    s->open++;
    s->requests++;
    pthread_mutex_unlock(&s->mtx);
    return r;
}

static void request_ended(void *server, struct MHD_Connection *conn, void **ctx,
                          enum MHD_RequestTerminationCode how)
{
    struct http_server *s = server;
    struct http_request *r = *ctx;

    (void)conn;
    (void)how;
    if (r == NULL)
        return;
    *ctx = NULL;
    let_body_go(r);
    for (size_t i = 0; i < r->call_count; i++)
        frontier_call_fini(&r->calls[i]);
    free(r->calls);
    free(r->items);
    json_decref(r->in);
    arena_free(r->arena);
    free(r->out);
    free(r->name);
    free(r->path);
    free(r->uri);
    free(r);
    pthread_mutex_lock(&s->mtx);
    s->open--;
    pthread_cond_broadcast(&s->fewer);
    pthread_mutex_unlock(&s->mtx);
}

static enum MHD_Result handle(void *server, struct MHD_Connection *conn,
                              const char *url, const char *method,
                              const char *version, const char *data,
                              size_t *len, void **ctx)
{
    struct http_request *r = *ctx;

    (void)server;
    (void)conn;
    (void)url;
    (void)version;
    switch (r->state) {
    case HTTP_ARRIVED:
        arrive(r, method);
        return r->status != 0 ? send_answer(r) : MHD_YES;
    case HTTP_READING:
        if (*len == 0)
            return ask(r);
        if (!read_body(r, data, *len))
            return MHD_NO;
        break;
    case HTTP_WAITING:
        r->route->reply(r);
        return send_answer(r);
    case HTTP_ANSWERED:
        break;
    }
    *len = 0;
    return MHD_YES;
}

/* Names and queries are decoded by us. */
static size_t leave_as_it_is(void *ctx, struct MHD_Connection *conn, char *s)
{
    (void)ctx;
    (void)conn;
    return strlen(s);
}

__attribute__((format(printf, 2, 0))) static void library_says(void *ctx,
                                                               const char *fmt,
                                                               va_list args)
{
    char text[300];

    (void)ctx;
    vsnprintf(text, sizeof text, fmt, args);
    log_debug("http", "says=\"%s\"", text);
}

/* ---- beginning and end ---- */

static enum status read_pem(const char *path, struct buf *to)
{
    enum status st;

    if (path == NULL)
        return STATUS_OK;
    st = file_read(path, to);
    if (st != STATUS_OK)
        log_error("cannot read a PEM file", "path=\"%s\" why=\"%s\"", path,
                  status_text(st));
    return st;
}

static enum status read_pems(struct http_server *s)
{
    const struct http_options *o = &s->options;
    enum status st = read_pem(o->tls_cert, &s->cert);

    if (st == STATUS_OK)
        st = read_pem(o->tls_key, &s->key);
    if (st == STATUS_OK)
        st = read_pem(o->client_ca, &s->client_ca);
    return st;
}

static enum status start(struct http_server *s)
{
    const struct http_options *o = &s->options;
    unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME |
                     MHD_USE_ERROR_LOG;
    struct MHD_OptionItem tls[] = {
        {MHD_OPTION_HTTPS_MEM_CERT, 0, s->cert.at},
        {MHD_OPTION_HTTPS_MEM_KEY, 0, s->key.at},
        {MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)(uintptr_t)TLS_PRIORITY},
        {o->client_ca != NULL ? MHD_OPTION_HTTPS_MEM_TRUST : MHD_OPTION_END, 0,
         s->client_ca.at},
        {MHD_OPTION_END, 0, NULL},
    };

    if (o->tls_cert != NULL)
        flags |= MHD_USE_TLS;
    else
        tls[0].option = MHD_OPTION_END;
    s->daemon =
        MHD_start_daemon(flags, 0, NULL, NULL, handle, s,
                         MHD_OPTION_EXTERNAL_LOGGER, library_says, NULL,
                         MHD_OPTION_LISTEN_SOCKET, s->fd,
                         MHD_OPTION_CONNECTION_LIMIT,
                         o->connections > 0 ? o->connections : 1000u,
                         MHD_OPTION_CONNECTION_TIMEOUT, IDLE_SECONDS,
                         MHD_OPTION_CONNECTION_MEMORY_LIMIT, HEADERS_MOST,
                         MHD_OPTION_URI_LOG_CALLBACK, request_begun, s,
                         MHD_OPTION_NOTIFY_COMPLETED, request_ended, s,
                         MHD_OPTION_UNESCAPE_CALLBACK, leave_as_it_is, NULL,
                         MHD_OPTION_ARRAY, tls, MHD_OPTION_END);
    if (s->daemon != NULL)
        return STATUS_OK;
    log_error("cannot serve HTTP", "address=\"%s\"%s", s->address,
              o->tls_cert != NULL ? " why=\"TLS certificate or key?\"" : "");
    return o->tls_cert != NULL ? STATUS_FORMAT : STATUS_IO;
}

enum status http_server_open(struct http_server **out,
                             const struct http_options *o)
{
    struct http_server *s = xcalloc(1, sizeof *s);
    struct bytes host, port;
    enum status st;

    s->options = *o;
    s->fd = -1;
    pthread_mutex_init(&s->mtx, NULL);
    pthread_cond_init(&s->fewer, NULL);
    buf_init(&s->cert, PEM_MOST);
    buf_init(&s->key, PEM_MOST);
    buf_init(&s->client_ca, PEM_MOST);
    if (http2_split_address(bytes_of_str(o->listen), &host, &port))
        s->host = xstrndup(host.at, host.len);
    st = read_pems(s);
    if (st == STATUS_OK)
        st = listener_open(o->listen, &s->fd, s->address);
    if (st == STATUS_OK)
        st = start(s);
    if (st != STATUS_OK) {
        http_server_close(s);
        return st;
    }
    *out = s;
    return STATUS_OK;
}

void http_server_stop(void *server)
{
    struct http_server *s = server;

    bool was;

    pthread_mutex_lock(&s->mtx);
    was = s->stopping;
    if (!was)
        s->stop_by = clock_mono() + s->options.drain_ms * NS_PER_MS;
    s->stopping = true;
    pthread_mutex_unlock(&s->mtx);
    if (was)
        return;
    MHD_quiesce_daemon(s->daemon);
    shutdown(s->fd, SHUT_RDWR); /* who waits in the backlog is told */
}

/* What the frontier has it answers, come what may. */
static void wait_for_requests(struct http_server *s)
{
    pthread_mutex_lock(&s->mtx);
    while (s->waiting > 0 || (s->open > 0 && clock_mono() < s->stop_by)) {
        struct timespec until;

        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 50 * NS_PER_MS;
        until.tv_sec += until.tv_nsec / NS_PER_S;
        until.tv_nsec %= NS_PER_S;
        pthread_cond_timedwait(&s->fewer, &s->mtx, &until);
    }
    pthread_mutex_unlock(&s->mtx);
}

void http_server_close(struct http_server *s)
{
    if (s == NULL)
        return;
    if (s->daemon != NULL) {
        http_server_stop(s);
        wait_for_requests(s);
        MHD_stop_daemon(s->daemon);
    }
    if (s->fd >= 0)
        close(s->fd);
    if (s->key.at != NULL)
        OPENSSL_cleanse(s->key.at, s->key.cap);
    buf_fini(&s->cert);
    buf_fini(&s->key);
    buf_fini(&s->client_ca);
    pthread_cond_destroy(&s->fewer);
    pthread_mutex_destroy(&s->mtx);
    free(s->host);
    free(s);
}

const char *http_server_address(const struct http_server *s)
{
    return s->address;
}

void http_server_sample(struct http_server *s, struct http_sample *out)
{
    const union MHD_DaemonInfo *info =
        MHD_get_daemon_info(s->daemon, MHD_DAEMON_INFO_CURRENT_CONNECTIONS);

    *out = (struct http_sample){0};
    if (info != NULL)
        out->connections = info->num_connections;
    pthread_mutex_lock(&s->mtx);
    out->requests = s->requests;
    out->stopping = s->stopping;
    pthread_mutex_unlock(&s->mtx);
}
