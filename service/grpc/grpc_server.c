/* SPDX-License-Identifier: MIT */
/*
 * grpc_server.c - finds methods by path, and decides which requests become a
 * call.
 *
 * A refused request is answered at once, with a status alone; the rest of it is
 * dropped.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "service/grpc/grpc_server_impl.h"

#define CALLS_MOST    4096
#define MESSAGES_MOST (128u << 20)
#define REQUEST_TIME  (60 * NS_PER_S)

struct entry {
    const struct grpc_method *method;
    void *ctx;
};

/* ---- which requests become a call ---- */

static void refuse_http(struct grpc_server *s, struct http2_stream *t,
                        const char *status, const char *name, const char *value)
{
    const struct http2_header h[] = {grpc_header(":status", status),
                                     grpc_header(name, value)};

    grpc_count(&s->tally.strangers, 1);
    http2_stream_respond(t, h, 2, true);
}

static void refuse_role(struct grpc_server *s, struct http2_stream *t,
                        enum auth_role need)
{
    char why[64];

    snprintf(why, sizeof why, "this needs a token with the role %s",
             auth_role_name(need));
    grpc_refuse(s, t, GRPC_PERMISSION_DENIED, why);
}

/* False: refused. */
static bool may_call(struct grpc_server *s, struct http2_stream *t,
                     const struct http2_request *r, const struct entry *e)
{
    enum auth_role need = e != NULL ? e->method->role : AUTH_READ, has;
    struct bytes token;

    if (need == AUTH_NONE)
        return true;
    if (s->options.auth == NULL) {
        http2_stream_standing(t)->known = true; /* without tokens all are */
        return true;
    }
    token = auth_bearer(http2_request_header(r, "authorization"));
    has = auth_role_of(s->options.auth, token);
    if (has != AUTH_NONE)
        http2_stream_standing(t)->known = true;
    if (has >= need)
        return true;
    if (token.len == 0)
        grpc_refuse(s, t, GRPC_UNAUTHENTICATED,
                    "metadata authorization: Bearer TOKEN is missing");
    else if (has == AUTH_NONE)
        grpc_refuse(s, t, GRPC_UNAUTHENTICATED, "this token is not known");
    else
        refuse_role(s, t, need);
    return false;
}

/* False: refused. *timeout -1: none. */
static bool read_metadata(struct grpc_server *s, struct http2_stream *t,
                          const struct http2_request *r, bool *gzip,
                          int64_t *timeout)
{
    struct bytes encoding = http2_request_header(r, "grpc-encoding");
    struct bytes time = http2_request_header(r, "grpc-timeout");

    *timeout = -1;
    *gzip = bytes_is(encoding, "gzip");
    if (time.at != NULL && !grpc_parse_timeout(time, timeout)) {
        grpc_refuse(s, t, GRPC_INTERNAL, "metadata grpc-timeout is malformed");
        return false;
    }
    if (encoding.len > 0 && !*gzip && !bytes_is(encoding, "identity")) {
        grpc_refuse(s, t, GRPC_UNIMPLEMENTED,
                    "unknown grpc-encoding; gzip is supported");
        return false;
    }
    return true;
}

/* Is it a request of gRPC at all? False: it was refused. */
static bool is_grpc(struct grpc_server *s, struct http2_stream *t,
                    const struct http2_request *r)
{
    if (r->too_large)
        grpc_refuse(s, t, GRPC_RESOURCE_EXHAUSTED, "too much metadata");
    else if (!bytes_is(r->method, "POST"))
        refuse_http(s, t, "405", "allow", "POST");
    else if (!grpc_content_type(http2_request_header(r, "content-type")))
        refuse_http(s, t, "415", "accept", "application/grpc");
    else
        return true;
    return false;
}

static bool has_room(const struct grpc_server *s, struct http2_stream *t,
                     const struct grpc_method *m)
{
    if (m->role == AUTH_NONE)
        return http2_stream_standing(t)->anonymous < GRPC_ANONYMOUS_MOST;
    return s->calls < s->options.calls_most;
}

static void on_request(void *ctx, struct http2_stream *t,
                       const struct http2_request *r)
{
    struct grpc_server *s = ctx;
    const struct entry *e = map_get(s->methods, r->path);
    int64_t timeout;
    bool gzip;

    if (!is_grpc(s, t, r) || !may_call(s, t, r, e) ||
        !read_metadata(s, t, r, &gzip, &timeout))
        return;
    grpc_idle_make_room(s, t);
    if (e == NULL)
        grpc_refuse(s, t, GRPC_UNIMPLEMENTED, "no such method here");
    else if (s->draining)
        grpc_refuse(s, t, GRPC_UNAVAILABLE, "the service is stopping");
    else if (!has_room(s, t, e->method))
        grpc_refuse(s, t, GRPC_RESOURCE_EXHAUSTED, "too many calls at once");
    else
        grpc_call_open(s, t, e->method, e->ctx, gzip, timeout);
}

/* ---- life ---- */

static void add_table(struct grpc_server *s, const struct grpc_table *t)
{
    for (const struct grpc_method *m = t->methods; m->path != NULL; m++) {
        struct entry *e = xmalloc(sizeof *e);

        *e = (struct entry){m, t->ctx};
        free(map_put(s->methods, bytes_of_str(m->path), e));
    }
}

struct grpc_server *grpc_server_without_port(struct loop *l,
                                             const struct grpc_options *o)
{
    struct grpc_server *s = xcalloc(1, sizeof *s);

    s->loop = l;
    s->options = *o;
    if (s->options.calls_most == 0)
        s->options.calls_most = CALLS_MOST;
    if (s->options.messages_most == 0)
        s->options.messages_most = MESSAGES_MOST;
    if (s->options.request_ns == 0)
        s->options.request_ns = REQUEST_TIME;
    s->methods = map_new();
    TAILQ_INIT(&s->idle);
    for (const struct grpc_table *t = o->tables; t->methods != NULL; t++)
        add_table(s, t);
    s->handler = (struct http2_handler){.request = on_request, .ctx = s};
    grpc_call_handle(&s->handler);
    return s;
}

enum status grpc_server_new(struct grpc_server **out, struct loop *l,
                            const struct grpc_options *o)
{
    struct grpc_server *s = grpc_server_without_port(l, o);
    enum status st;

    st = http2_server_new(&s->http2, l, &s->handler, &s->options.http2);
    if (st != STATUS_OK) {
        grpc_server_free(s);
        return st;
    }
    *out = s;
    return STATUS_OK;
}

void grpc_server_cut(struct grpc_server *s)
{
    http2_server_free(s->http2);
    s->http2 = NULL;
}

void grpc_server_free(struct grpc_server *s)
{
    if (s == NULL)
        return;
    grpc_server_cut(s);
    map_free(s->methods, free);
    free(s);
}

struct http2_server *grpc_server_http2(struct grpc_server *s)
{
    return s->http2;
}

void grpc_server_get_stats(const struct grpc_server *s, struct grpc_stats *out)
{
    const memory_order relaxed = memory_order_relaxed;

    *out = (struct grpc_stats){
        .open = atomic_load_explicit(&s->tally.open, relaxed),
        .strangers = atomic_load_explicit(&s->tally.strangers, relaxed),
        .received = atomic_load_explicit(&s->tally.received, relaxed),
        .sent = atomic_load_explicit(&s->tally.sent, relaxed),
    };
    for (unsigned i = 0; i < GRPC_CODES_; i++)
        out->ended[i] = atomic_load_explicit(&s->tally.ended[i], relaxed);
    http2_server_get_stats(s->http2, &out->http2);
}

/* ---- the end ---- */

static void tell_stopping(struct http2_stream *t)
{
    struct grpc_call *c = http2_stream_user(t);

    if (c != NULL && !c->finished && c->method->stopping != NULL)
        c->method->stopping(c);
}

void grpc_server_drain(struct grpc_server *s, void (*ended)(void *ctx),
                       void *ctx)
{
    s->draining = true;
    http2_server_each(s->http2, tell_stopping);
    http2_server_drain(s->http2, ended, ctx);
}

size_t grpc_server_calls(const struct grpc_server *s)
{
    return s->calls;
}
