/* SPDX-License-Identifier: MIT */
/*
 * network.c - stands in for libcurl's transfers.
 *
 * A transfer goes through the steps of enum step. Up to ASKED it has no
 * descriptor that is ready at the right moment, so its steps are due by the
 * multi handle's timer; from then on its socket is ready when octets of the
 * response are due.
 */
#include "tests/sim/network.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/clock.h"
#include "tests/sim/cookies.h"
#include "tests/sim/crowd.h"
#include "tests/sim/files.h"
#include "tests/sim/life.h"
#include "tests/sim/scheduler.h"
#include "tests/sim/world.h"

#define KEY_SIZE  320
#define HEAD_MOST 64 /* headers of a request */

enum step {
    REST,  /* in no multi handle, or done with */
    BEGIN, /* was added just now */
    FAIL,  /* ends with `code` at `due` */
    ASKED, /* the request is out, the head is to come */
    BODY,
    PAUSED,
    DONE /* ends with `code` as soon as it is asked for */
};

struct connection {
    struct connection *next;
    int fd;
    char key[KEY_SIZE];
    unsigned port;     /* of ours */
    int64_t closed_at; /* by the server, while it is idle */
    curl_closesocket_callback on_close;
    void *close_ctx;
};

struct easy {
    struct multi *multi;
    struct easy *next;
    enum step step;
    int64_t due;
    CURLcode code;
    /* options */
    char *url, *user_agent, *cookie, *accept;
    const char *socket, *method, *fields; /* of a request to DIR/control */
    struct curl_slist *headers;
    void *private, *head_ctx, *body_ctx, *send_ctx, *debug_ctx, *open_ctx,
        *close_ctx;
    curl_write_callback on_head, on_body;
    curl_prereq_callback on_send;
    curl_debug_callback on_debug;
    curl_opensocket_callback on_open;
    curl_closesocket_callback on_close;
    char *error;
    long buffer, connect_ms;
    bool head_only, verbose, no_reuse;
    struct cookies *cookies; /* NULL: none are kept */
    /* of the transfer */
    char scheme[8], host[256];
    unsigned port;
    const char *target; /* in `url` */
    struct connection *connection;
    struct sim_answer answer;
    struct buf whole_headers;
    size_t offset, length; /* of the body */
    int64_t asked_at;
    size_t place; /* in the log */
    bool looked_up, sent, head_came, fresh;
    char address[64];
    unsigned local_port;
};

struct multi {
    struct easy *first;
    struct connection *idle;
    curl_socket_callback on_socket;
    void *socket_ctx;
    curl_multi_timer_callback on_timer;
    void *timer_ctx;
    struct CURLMsg msg;
};

static struct dice dice;
static unsigned next_port;

void network_begin(struct dice d)
{
    dice = d;
    next_port = 40000;
}

/* ---- the log of requests ---- */

static size_t log_add(const struct easy *e, bool conditional)
{
    struct sim_log *l = &world->log;

    if (l->count == l->room) {
        size_t room = l->room > 0 ? 2 * l->room : 256;

        l->at = world_grow(l->at, l->count * sizeof *l->at,
                           l->room * sizeof *l->at, room * sizeof *l->at);
        l->room = room;
    }
    l->at[l->count] = (struct sim_log_entry){
        .life = life_number(),
        .at_ms = world_web_ms(),
        .passed_ms = world->passed_ns / NS_PER_MS,
        .jumped_ms = world->jumped_ms,
        .method = e->head_only ? "HEAD" : "GET",
        .scheme = world_strdup(e->scheme),
        .host = world_strdup(e->host),
        .port = e->port,
        .target = world_strdup(e->target),
        .fate = e->answer.fate,
        .conditional = conditional,
    };
    return l->count++;
}

static void log_end(struct easy *e, enum sim_log_end end)
{
    struct sim_log_entry *entry;

    if (!e->sent)
        return;
    entry = &world->log.at[e->place];
    if (entry->end != SIM_LOG_UNDER_WAY)
        return;
    entry->end = end;
    entry->ended_ms = world->passed_ns / NS_PER_MS;
    entry->status = e->head_came ? e->answer.status : 0;
    entry->octets = e->offset;
    TELL("response %u of %s://%s%s: %zu octets%s", entry->status, e->scheme,
         e->host, e->target, e->offset,
         end == SIM_LOG_WHOLE     ? ""
         : end == SIM_LOG_ABORTED ? ", aborted"
                                  : ", failed");
}

/* ---- connections ---- */

static void watch(struct easy *e, int what)
{
    if (e->connection != NULL)
        e->multi->on_socket(e, e->connection->fd, what, e->multi->socket_ctx,
                            NULL);
}

static void connection_close(struct connection *c)
{
    struct sim_socket *s = socket_of(c->fd);

    c->on_close(c->close_ctx, c->fd);
    free(s);
    free(c);
}

static void hang_up(struct easy *e)
{
    struct connection *c = e->connection;

    if (c == NULL)
        return;
    watch(e, CURL_POLL_REMOVE);
    e->connection = NULL;
    connection_close(c);
}

static void keep(struct easy *e)
{
    struct connection *c = e->connection;

    watch(e, CURL_POLL_REMOVE);
    e->connection = NULL;
    socket_of(c->fd)->readable_at = SCHEDULER_NEVER;
    c->closed_at = world->mono_ns + (5 + dice_below(&dice, 120)) * NS_PER_S;
    c->next = e->multi->idle;
    e->multi->idle = c;
}

static bool is_dead(const struct connection *c)
{
    return socket_of(c->fd)->shut || c->closed_at <= world->mono_ns;
}

/* Closes those that ended, and takes one for `key`. */
static struct connection *take_idle(struct easy *e, const char *key)
{
    struct connection **at = &e->multi->idle, *found = NULL;

    while (*at != NULL) {
        struct connection *c = *at;
        bool dead = is_dead(c);

        if (!dead && (found != NULL || strcmp(c->key, key) != 0)) {
            at = &c->next;
            continue;
        }
        *at = c->next;
        if (dead)
            connection_close(c);
        else
            found = c;
    }
    return found;
}

static bool connect_to(struct easy *e)
{
    struct curl_sockaddr a = {.socktype = SOCK_STREAM, .protocol = IPPROTO_TCP};
    struct sockaddr_in v4 = {.sin_family = AF_INET};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};
    struct connection *c;
    curl_socket_t fd;
    char key[KEY_SIZE];

    snprintf(key, sizeof key, "%s://%s:%u", e->scheme, e->host, e->port);
    e->connection = e->no_reuse ? NULL : take_idle(e, key);
    e->fresh = e->connection == NULL;
    if (!e->fresh)
        return true;
    if (inet_pton(AF_INET, e->address, &v4.sin_addr) == 1) {
        a.family = AF_INET;
        a.addrlen = sizeof v4;
        memcpy(&a.addr, &v4, sizeof v4);
    } else if (inet_pton(AF_INET6, e->address, &v6.sin6_addr) == 1) {
        world_fault("no IPv6 addresses are expected: %s", e->address);
    } else {
        world_fault("no address: %s", e->address);
    }
    fd = e->on_open(e->open_ctx, CURLSOCKTYPE_IPCXN, &a);
    if (fd == CURL_SOCKET_BAD)
        return false;
    c = calloc(1, sizeof *c);
    c->fd = fd;
    snprintf(c->key, sizeof c->key, "%s", key);
    c->port = next_port++;
    c->on_close = e->on_close;
    c->close_ctx = e->close_ctx;
    e->connection = c;
    return true;
}

/* ---- a transfer ---- */

static void fail_later(struct easy *e, CURLcode code, int64_t ms)
{
    e->step = FAIL;
    e->code = code;
    e->due = world->mono_ns + ms * NS_PER_MS;
}

static void end(struct easy *e, CURLcode code)
{
    e->step = DONE;
    e->code = code;
    e->due = SCHEDULER_NEVER;
    log_end(e, code == CURLE_OK ? SIM_LOG_WHOLE
               : code == CURLE_WRITE_ERROR || code == CURLE_ABORTED_BY_CALLBACK
                   ? SIM_LOG_ABORTED
                   : SIM_LOG_FAILED);
    if (e->connection == NULL)
        return;
    if (code == CURLE_OK && !e->no_reuse && dice_chance(&dice, 80))
        keep(e);
    else
        hang_up(e);
}

/* "https://host:port/target" into its parts; it is in canonical form. */
static void split_url(struct easy *e)
{
    const char *at = strstr(e->url, "://"), *host, *end_of, *colon;

    if (at == NULL)
        world_fault("no URL: %s", e->url);
    snprintf(e->scheme, sizeof e->scheme, "%.*s", (int)(at - e->url), e->url);
    host = at + 3;
    end_of = host + strcspn(host, "/?#");
    at = memchr(host, '@', (size_t)(end_of - host));
    if (at != NULL)
        host = at + 1;
    colon = host[0] == '[' ? strchr(host, ']') : host;
    colon = colon != NULL && colon < end_of
                ? memchr(colon, ':', (size_t)(end_of - colon))
                : NULL;
    e->port = colon != NULL ? (unsigned)strtoul(colon + 1, NULL, 10)
              : strcmp(e->scheme, "https") == 0 ? 443
                                                : 80;
    if (colon == NULL)
        colon = end_of;
    snprintf(e->host, sizeof e->host, "%.*s", (int)(colon - host), host);
    e->target = *end_of == '/' ? end_of : "/";
}

static bool starts_with(const char *s, const char *with)
{
    return strncasecmp(s, with, strlen(with)) == 0;
}

/* The headers of the request, as "Name: value". */
struct request_headers {
    const char *at[HEAD_MOST];
    size_t count;
    struct buf made[4];
    bool conditional;
};

static void add_made(struct request_headers *h, unsigned slot, const char *name,
                     const char *value)
{
    buf_init(&h->made[slot], SIZE_MAX);
    if (value == NULL || *value == '\0')
        return;
    buf_addf(&h->made[slot], "%s: %s", name, value);
    h->at[h->count++] = buf_str(&h->made[slot]);
}

static void gather_headers(struct easy *e, struct request_headers *h)
{
    struct buf cookie;

    h->count = 0;
    h->conditional = false;
    buf_init(&cookie, SIZE_MAX);
    if (e->cookie != NULL)
        buf_add_str(&cookie, e->cookie);
    if (e->cookies != NULL)
        cookies_for(e->cookies, e->scheme, e->host, e->target, &cookie);
    add_made(h, 0, "Host", e->host);
    add_made(h, 1, "User-Agent", e->user_agent);
    add_made(h, 2, "Accept-Encoding", e->accept);
    add_made(h, 3, "Cookie", cookie.len > 0 ? buf_str(&cookie) : NULL);
    buf_fini(&cookie);
    for (const struct curl_slist *s = e->headers;
         s != NULL && h->count < HEAD_MOST; s = s->next) {
        h->at[h->count++] = s->data;
        h->conditional |= starts_with(s->data, "If-None-Match:") ||
                          starts_with(s->data, "If-Modified-Since:");
    }
}

static void tell_debug(struct easy *e, const struct request_headers *h)
{
    struct buf head;

    if (e->on_debug == NULL || !e->verbose)
        return;
    buf_init(&head, SIZE_MAX);
    buf_addf(&head, "%s %s HTTP/1.1\r\n", e->head_only ? "HEAD" : "GET",
             e->target);
    for (size_t i = 0; i < h->count; i++)
        buf_addf(&head, "%s\r\n", h->at[i]);
    buf_add_str(&head, "\r\n");
    e->on_debug(e, CURLINFO_HEADER_OUT, head.at, head.len, e->debug_ctx);
    buf_fini(&head);
}

/* When octet `n` of the body comes. */
static int64_t moment_of(const struct easy *e, size_t n)
{
    return e->asked_at + e->answer.first_ms * NS_PER_MS +
           (int64_t)n * e->answer.ms_per_kib * NS_PER_MS / 1024;
}

static void expect(struct easy *e, int64_t at)
{
    socket_of(e->connection->fd)->readable_at = at;
}

static size_t piece_of(const struct easy *e)
{
    size_t left = e->length - e->offset;

    return left < (size_t)e->buffer ? left : (size_t)e->buffer;
}

/* The request goes out; what becomes of it is known to the web. */
static void ask(struct easy *e)
{
    struct request_headers h;
    struct sim_request r = {.method = e->head_only ? "HEAD" : "GET",
                            .scheme = e->scheme,
                            .host = e->host,
                            .port = e->port,
                            .target = e->target,
                            .at_ms = world_web_ms()};

    gather_headers(e, &h);
    r.headers = h.at;
    r.header_count = h.count;
    sim_web_answer(world_web, &r, &e->answer);
    TELL("request %s %s://%s:%u%s%s", r.method, r.scheme, r.host, r.port,
         r.target, h.conditional ? " (conditional)" : "");
    e->asked_at = world->mono_ns;
    e->length = e->answer.fate == SIM_RESET || e->answer.fate == SIM_CUT
                    ? e->answer.cut_at
                    : e->answer.body.len;
    if (e->length > e->answer.body.len)
        e->length = e->answer.body.len;
    e->offset = 0;
    e->step = ASKED;
    e->due = SCHEDULER_NEVER;
    switch (e->answer.fate) {
    case SIM_NO_NAME:
        e->looked_up = false;
        fail_later(e, CURLE_COULDNT_RESOLVE_HOST, 1 + dice_below(&dice, 100));
        break;
    case SIM_REFUSED:
        fail_later(e, CURLE_COULDNT_CONNECT, 1 + dice_below(&dice, 50));
        break;
    case SIM_SILENT:
        watch(e, CURL_POLL_OUT);
        fail_later(e, CURLE_OPERATION_TIMEDOUT,
                   e->connect_ms > 0 ? e->connect_ms : 300000);
        break;
    case SIM_BAD_TLS:
        watch(e, CURL_POLL_IN);
        fail_later(e, CURLE_PEER_FAILED_VERIFICATION, e->answer.first_ms);
        break;
    case SIM_ANSWERS:
    case SIM_MUTE:
    case SIM_RESET:
    case SIM_CUT:
        if (e->on_send != NULL &&
            e->on_send(e->send_ctx, e->address, (char *)"10.0.0.1",
                       (int)e->port, 40000) != CURL_PREREQFUNC_OK) {
            end(e, CURLE_ABORTED_BY_CALLBACK);
            break;
        }
        e->place = log_add(e, h.conditional);
        e->sent = true;
        tell_debug(e, &h);
        expect(e,
               e->answer.fate == SIM_MUTE ? SCHEDULER_NEVER : moment_of(e, 0));
        watch(e, CURL_POLL_IN);
        break;
    }
    for (unsigned i = 0; i < 4; i++)
        buf_fini(&h.made[i]);
}

static void begin(struct easy *e)
{
    const char *address;

    split_url(e);
    e->looked_up = e->sent = e->head_came = false;
    e->address[0] = '\0';
    address = sim_web_address(world_web, e->host, world_web_ms());
    if (address == NULL) {
        TELL("no name %s", e->host);
        fail_later(e, CURLE_COULDNT_RESOLVE_HOST, 1 + dice_below(&dice, 100));
        return;
    }
    e->looked_up = true;
    snprintf(e->address, sizeof e->address, "%s", address);
    if (!connect_to(e)) {
        fail_later(e, CURLE_COULDNT_CONNECT, 0);
        return;
    }
    e->local_port = e->connection->port;
    ask(e);
}

/* False: the client wants no more. */
static bool give_head_line(struct easy *e, const char *line, size_t len)
{
    if (e->cookies != NULL && starts_with(line, "Set-Cookie:"))
        cookies_take(e->cookies, e->scheme, e->host, e->target, line + 11,
                     len - 11);
    return e->on_head((char *)line, 1, len, e->head_ctx) == len;
}

static void give_head(struct easy *e)
{
    const char *at = buf_str(&e->answer.headers);
    char line[64];
    int n = snprintf(line, sizeof line, "HTTP/1.1 %u %s\r\n", e->answer.status,
                     e->answer.status < 300 ? "OK" : "Other");
    bool goes_on = give_head_line(e, line, (size_t)n);

    e->head_came = true;
    while (goes_on && *at != '\0') {
        size_t len = strcspn(at, "\n") + 1;

        goes_on = give_head_line(e, at, len);
        at += len;
    }
    if (!goes_on || !give_head_line(e, "\r\n", 2)) {
        end(e, CURLE_WRITE_ERROR);
        return;
    }
    e->step = BODY;
    if (e->length > 0)
        expect(e, moment_of(e, piece_of(e)));
}

static void end_body(struct easy *e)
{
    if (e->answer.fate == SIM_RESET)
        end(e, CURLE_RECV_ERROR);
    else if (e->answer.fate == SIM_CUT && !e->head_only)
        end(e, CURLE_PARTIAL_FILE);
    else
        end(e, CURLE_OK);
}

static void give_piece(struct easy *e)
{
    size_t n = piece_of(e), taken;

    taken = e->on_body(e->answer.body.at + e->offset, 1, n, e->body_ctx);
    if (taken == CURL_WRITEFUNC_PAUSE) {
        e->step = PAUSED;
        watch(e, CURL_POLL_REMOVE);
        return;
    }
    if (taken != n) {
        end(e, CURLE_WRITE_ERROR);
        return;
    }
    e->offset += n;
    if (e->step == PAUSED) {
        e->step = BODY;
        watch(e, CURL_POLL_IN);
    }
    if (e->offset == e->length)
        end_body(e);
    else
        expect(e, moment_of(e, e->offset + piece_of(e)));
}

/* Octets are there. */
static void go_on(struct easy *e)
{
    if (e->step == ASKED)
        give_head(e);
    if (e->step == BODY && e->length == 0)
        end_body(e);
    else if (e->step == BODY &&
             moment_of(e, e->offset + piece_of(e)) <= world->mono_ns)
        give_piece(e);
}

/* ---- the multi handle ---- */

static void set_timer(struct multi *m)
{
    int64_t due = SCHEDULER_NEVER;
    long ms = -1;

    for (const struct easy *e = m->first; e != NULL; e = e->next)
        if (e->step != DONE && e->due < due)
            due = e->due;
    if (due <= world->mono_ns)
        ms = 0;
    else if (due != SCHEDULER_NEVER)
        ms = (long)((due - world->mono_ns + NS_PER_MS - 1) / NS_PER_MS);
    m->on_timer(m, ms, m->timer_ctx);
}

CURLM *sim_curl_multi_init(void)
{
    return calloc(1, sizeof(struct multi));
}

CURLMcode sim_curl_multi_cleanup(CURLM *p)
{
    struct multi *m = p;

    while (m->idle != NULL) {
        struct connection *c = m->idle;

        m->idle = c->next;
        connection_close(c);
    }
    free(m);
    return CURLM_OK;
}

CURLMcode sim_curl_multi_setopt(CURLM *p, CURLMoption what, ...)
{
    struct multi *m = p;
    va_list args;

    va_start(args, what);
    switch (what) {
    case CURLMOPT_SOCKETFUNCTION:
        m->on_socket = va_arg(args, curl_socket_callback);
        break;
    case CURLMOPT_SOCKETDATA:
        m->socket_ctx = va_arg(args, void *);
        break;
    case CURLMOPT_TIMERFUNCTION:
        m->on_timer = va_arg(args, curl_multi_timer_callback);
        break;
    case CURLMOPT_TIMERDATA:
        m->timer_ctx = va_arg(args, void *);
        break;
    default:
        break;
    }
    va_end(args);
    return CURLM_OK;
}

CURLMcode sim_curl_multi_add_handle(CURLM *p, CURL *easy)
{
    struct multi *m = p;
    struct easy *e = easy, **at = &m->first;

    while (*at != NULL)
        at = &(*at)->next;
    *at = e;
    e->next = NULL;
    e->multi = m;
    e->step = BEGIN;
    e->due = world->mono_ns;
    set_timer(m);
    return CURLM_OK;
}

CURLMcode sim_curl_multi_remove_handle(CURLM *p, CURL *easy)
{
    struct multi *m = p;
    struct easy *e = easy, **at = &m->first;

    while (*at != NULL && *at != e)
        at = &(*at)->next;
    if (*at == NULL)
        return CURLM_BAD_EASY_HANDLE;
    *at = e->next;
    if (e->step != DONE) {
        log_end(e, SIM_LOG_ABORTED);
        hang_up(e);
    }
    e->step = REST;
    e->due = SCHEDULER_NEVER;
    set_timer(m);
    return CURLM_OK;
}

CURLMsg *sim_curl_multi_info_read(CURLM *p, int *left)
{
    struct multi *m = p;

    *left = 0;
    for (struct easy *e = m->first; e != NULL; e = e->next)
        if (e->step == DONE) {
            m->msg.msg = CURLMSG_DONE;
            m->msg.easy_handle = e;
            m->msg.data.result = e->code;
            return &m->msg;
        }
    return NULL;
}

/* Callbacks may not add or remove transfers, as libcurl has it too. */
CURLMcode sim_curl_multi_socket_action(CURLM *p, curl_socket_t fd, int ready,
                                       int *running)
{
    struct multi *m = p;

    (void)ready;
    *running = 0;
    for (struct easy *e = m->first; e != NULL; e = e->next) {
        if (e->connection != NULL && e->connection->fd == fd)
            go_on(e);
        else if (e->step == BEGIN && fd == CURL_SOCKET_TIMEOUT)
            begin(e);
        else if (e->step == FAIL && e->due <= world->mono_ns)
            end(e, e->code);
    }
    set_timer(m);
    return CURLM_OK;
}

/* ---- the easy handle ---- */

CURL *sim_curl_easy_init(void)
{
    struct easy *e = calloc(1, sizeof *e);

    e->due = SCHEDULER_NEVER;
    e->buffer = 16384;
    sim_answer_init(&e->answer);
    return e;
}

void sim_curl_easy_cleanup(CURL *easy)
{
    struct easy *e = easy;

    if (e == NULL)
        return;
    free(e->url);
    free(e->user_agent);
    free(e->cookie);
    free(e->accept);
    cookies_free(e->cookies);
    sim_answer_fini(&e->answer);
    free(e);
}

static void set_text(char **to, const char *text)
{
    free(*to);
    *to = text != NULL ? strdup(text) : NULL;
}

static void set_object(struct easy *e, CURLoption what, va_list args)
{
    void *p = va_arg(args, void *);

    switch (what) {
    case CURLOPT_URL:
        set_text(&e->url, p);
        break;
    case CURLOPT_USERAGENT:
        set_text(&e->user_agent, p);
        break;
    case CURLOPT_COOKIE:
        set_text(&e->cookie, p);
        break;
    case CURLOPT_UNIX_SOCKET_PATH:
        e->socket = p;
        break;
    case CURLOPT_CUSTOMREQUEST:
        e->method = p;
        break;
    case CURLOPT_POSTFIELDS:
        e->fields = p;
        break;
    case CURLOPT_ACCEPT_ENCODING:
        set_text(&e->accept, p);
        break;
    case CURLOPT_HTTPHEADER:
        e->headers = p;
        break;
    case CURLOPT_PRIVATE:
        e->private = p;
        break;
    case CURLOPT_HEADERDATA:
        e->head_ctx = p;
        break;
    case CURLOPT_WRITEDATA:
        e->body_ctx = p;
        break;
    case CURLOPT_PREREQDATA:
        e->send_ctx = p;
        break;
    case CURLOPT_DEBUGDATA:
        e->debug_ctx = p;
        break;
    case CURLOPT_OPENSOCKETDATA:
        e->open_ctx = p;
        break;
    case CURLOPT_CLOSESOCKETDATA:
        e->close_ctx = p;
        break;
    case CURLOPT_ERRORBUFFER:
        e->error = p;
        break;
    case CURLOPT_PROXY:
        if (p != NULL && *(const char *)p != '\0')
            world_fault("no proxy is expected");
        break;
    case CURLOPT_COOKIEFILE:
        cookies_free(e->cookies);
        e->cookies = p != NULL ? cookies_new() : NULL;
        break;
    case CURLOPT_COOKIELIST:
        cookies_line(&e->cookies, p);
        break;
    default: /* of TLS, which there is none of */
        break;
    }
}

static void set_function(struct easy *e, CURLoption what, va_list args)
{
    switch (what) {
    case CURLOPT_HEADERFUNCTION:
        e->on_head = va_arg(args, curl_write_callback);
        break;
    case CURLOPT_WRITEFUNCTION:
        e->on_body = va_arg(args, curl_write_callback);
        break;
    case CURLOPT_PREREQFUNCTION:
        e->on_send = va_arg(args, curl_prereq_callback);
        break;
    case CURLOPT_DEBUGFUNCTION:
        e->on_debug = va_arg(args, curl_debug_callback);
        break;
    case CURLOPT_OPENSOCKETFUNCTION:
        e->on_open = va_arg(args, curl_opensocket_callback);
        break;
    case CURLOPT_CLOSESOCKETFUNCTION:
        e->on_close = va_arg(args, curl_closesocket_callback);
        break;
    default:
        break;
    }
}

static void set_number(struct easy *e, CURLoption what, va_list args)
{
    long n = va_arg(args, long);

    switch (what) {
    case CURLOPT_NOBODY:
        e->head_only = n != 0;
        break;
    case CURLOPT_HTTPGET:
        e->head_only = false;
        break;
    case CURLOPT_VERBOSE:
        e->verbose = n != 0;
        break;
    case CURLOPT_FORBID_REUSE:
        e->no_reuse = n != 0;
        break;
    case CURLOPT_BUFFERSIZE:
        e->buffer = n;
        break;
    case CURLOPT_CONNECTTIMEOUT_MS:
        e->connect_ms = n;
        break;
    default:
        break;
    }
}

CURLcode sim_curl_easy_setopt(CURL *easy, CURLoption what, ...)
{
    va_list args;

    va_start(args, what);
    if (what >= CURLOPTTYPE_FUNCTIONPOINT && what < CURLOPTTYPE_OFF_T)
        set_function(easy, what, args);
    else if (what >= CURLOPTTYPE_OBJECTPOINT &&
             what < CURLOPTTYPE_FUNCTIONPOINT)
        set_object(easy, what, args);
    else if (what < CURLOPTTYPE_OBJECTPOINT)
        set_number(easy, what, args);
    va_end(args);
    return CURLE_OK;
}

static curl_off_t time_of(const struct easy *e, CURLINFO what)
{
    int64_t asked_us = 1000, head_us;

    switch (what) {
    case CURLINFO_NAMELOOKUP_TIME_T:
        return e->looked_up ? 1 : 0;
    case CURLINFO_CONNECT_TIME_T:
    case CURLINFO_APPCONNECT_TIME_T:
    case CURLINFO_PRETRANSFER_TIME_T:
        return e->sent ? asked_us : 0;
    case CURLINFO_STARTTRANSFER_TIME_T:
        head_us = asked_us + e->answer.first_ms * 1000;
        return e->head_came ? head_us : 0;
    case CURLINFO_SIZE_DOWNLOAD_T:
        return (curl_off_t)e->offset;
    default:
        world_fault("curl_easy_getinfo of %d", (int)what);
    }
}

CURLcode sim_curl_easy_getinfo(CURL *easy, CURLINFO what, ...)
{
    struct easy *e = easy;
    va_list args;
    void *out;

    va_start(args, what);
    out = va_arg(args, void *);
    va_end(args);
    switch (what) {
    case CURLINFO_PRIVATE:
        *(void **)out = e->private;
        break;
    case CURLINFO_EFFECTIVE_URL:
        *(char **)out = e->url;
        break;
    case CURLINFO_PRIMARY_IP:
        *(char **)out = e->address;
        break;
    case CURLINFO_COOKIELIST:
        *(struct curl_slist **)out = cookies_list(e->cookies);
        break;
    case CURLINFO_ACTIVESOCKET:
        *(curl_socket_t *)out = CURL_SOCKET_BAD;
        break;
    case CURLINFO_RESPONSE_CODE:
        *(long *)out = e->head_came ? (long)e->answer.status : 0;
        break;
    case CURLINFO_HTTP_VERSION:
        *(long *)out = CURL_HTTP_VERSION_1_1;
        break;
    case CURLINFO_LOCAL_PORT:
        *(long *)out = (long)e->local_port;
        break;
    case CURLINFO_NUM_CONNECTS:
        *(long *)out = e->fresh;
        break;
    default:
        *(curl_off_t *)out = time_of(e, what);
        break;
    }
    return CURLE_OK;
}

CURLcode sim_curl_easy_pause(CURL *easy, int what)
{
    struct easy *e = easy;

    if (what != CURLPAUSE_CONT || e->step != PAUSED)
        return CURLE_OK;
    give_piece(e);
    set_timer(e->multi);
    return e->step == DONE && e->code != CURLE_OK ? e->code : CURLE_OK;
}

/* ---- the rest of libcurl that is asked for ---- */

CURLcode sim_curl_easy_perform(CURL *easy)
{
    struct easy *e = easy; /* of a command to a process that runs */
    struct crowd_request r = {.method = e->method, .url = e->url};

    if (e->socket == NULL || !crowd_is_self())
        return CURLE_COULDNT_CONNECT;
    r.body = e->fields != NULL ? e->fields : "{}";
    if (!crowd_ask(e->socket, &r))
        return CURLE_GOT_NOTHING;
    e->head_came = true;
    e->answer.status = r.status;
    (void)e->on_body(r.answer, 1, strlen(r.answer), e->body_ctx);
    return CURLE_OK;
}

CURLcode sim_curl_global_init_mem(long flags, curl_malloc_callback m,
                                  curl_free_callback f, curl_realloc_callback r,
                                  curl_strdup_callback s,
                                  curl_calloc_callback c)
{
    (void)flags, (void)m, (void)f, (void)r, (void)s, (void)c;
    return CURLE_OK;
}

CURLcode sim_curl_global_init(long flags)
{
    (void)flags;
    return CURLE_OK;
}

CURLSH *sim_curl_share_init(void)
{
    return NULL;
}

CURLSHcode sim_curl_share_cleanup(CURLSH *share)
{
    (void)share;
    return CURLSHE_OK;
}
