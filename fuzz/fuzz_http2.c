/* SPDX-License-Identifier: MIT */
/*
 * fuzz_http2.c - a client's dialogue with the gRPC server, without a socket:
 * session, streams, calls, their deadlines, health and reflection.
 *
 * The input is a list of steps. A step below 0xe0 is a length minus one: that
 * many octets follow and arrive in one piece. The others are actions of the
 * peer and of the rest of the service: see `step`. Unless the input begins with
 * 0xff, the preface and settings come first. fuzz_grpc.c tests messages.
 *
 * Asserts, besides memory safety: calls that open also end, even if held; no
 * connection has more calls without a token than allowed; and the session does
 * not wait for a block of header fields that has ended.
 */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "service/grpc/grpc_server.h"
#include "service/grpc/grpc_services.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define ANSWERS_MOST 64 /* most octets of a message that are echoed */

static struct grpc_call *kept; /* held by its method */
static unsigned begun, ended;

static void answer(struct grpc_call *c, struct bytes m)
{
    size_t n = m.len < ANSWERS_MOST ? m.len : ANSWERS_MOST;
    char *at = grpc_call_answer(c, n);

    if (at != NULL && n > 0)
        memcpy(at, m.at, n);
}

static void echo(struct grpc_call *c, struct bytes m)
{
    answer(c, m);
    if (grpc_call_room(c) == 0)
        grpc_call_pause(c);
}

static void finish(struct grpc_call *c)
{
    grpc_call_finish(c, GRPC_OK, NULL);
}

static void once(struct grpc_call *c, struct bytes m)
{
    answer(c, m);
    finish(c);
}

/* Plays the frontier, whose answer comes later (step 0xe4). */
static void keep(struct grpc_call *c, struct bytes m)
{
    (void)m;
    if (kept != NULL)
        grpc_call_drop(kept);
    grpc_call_hold(c);
    grpc_call_pause(c);
    kept = c;
}

static void count_begun(struct grpc_call *c)
{
    (void)c;
    begun++;
}

static void count_ended(struct grpc_call *c)
{
    (void)c;
    ended++;
}

static const struct grpc_method methods[] = {
    {.path = "/T/Echo",
     .kind = GRPC_STREAM,
     .role = AUTH_READ,
     .message = echo,
     .begun = count_begun,
     .half_closed = finish,
     .drained = grpc_call_resume,
     .ended = count_ended},
    {.path = "/T/Once",
     .kind = GRPC_SINGLE,
     .role = AUTH_READ,
     .message = once,
     .begun = count_begun,
     .ended = count_ended},
    {.path = "/T/Keep",
     .kind = GRPC_STREAM,
     .role = AUTH_READ,
     .message = keep,
     .begun = count_begun,
     .half_closed = finish,
     .ended = count_ended},
    {.path = NULL},
};

static void on_wake(void *conn)
{
    (void)conn;
}

/* ---- one connection ---- */

struct rig {
    struct loop *loop;
    struct grpc_health *health;
    struct grpc_reflection *reflection;
    struct grpc_server *server;
    struct http2_session *session;
    int64_t now;
    bool serving, open;
};

static void start(struct rig *r)
{
    static const char *const services[] = {"T", NULL};
    struct grpc_table tables[] = {{methods, NULL},
                                  {grpc_health_methods, NULL},
                                  {grpc_reflection_methods, NULL},
                                  {NULL, NULL}};
    struct grpc_options o = {.tables = tables, .calls_most = 12};
    struct http2_handler *handler;

    *r = (struct rig){.now = NS_PER_S, .serving = true, .open = true};
    if (loop_new(&r->loop) != STATUS_OK)
        abort();
    tables[1].ctx = r->health = grpc_health_new(services);
    tables[2].ctx = r->reflection = grpc_reflection_new();
    http2_server_options_init(&o.http2);
    o.http2.limits = (struct http2_limits){.streams = 16,
                                           .window = 65536,
                                           .header_most = 4096,
                                           .out_most = 256};
    r->server = grpc_server_without_port(r->loop, &o, &handler);
    handler->wake = on_wake;
    if (http2_session_new(&r->session, handler, &o.http2.limits, r) !=
        STATUS_OK)
        abort();
    begun = ended = 0;
}

static void stop(struct rig *r)
{
    http2_session_free(r->session);
    if (kept != NULL)
        grpc_call_drop(kept);
    kept = NULL;
    assert(begun == ended && grpc_server_calls(r->server) == 0);
    grpc_server_free(r->server);
    grpc_health_free(r->health);
    grpc_reflection_free(r->reflection);
    loop_free(r->loop);
}

static void receive(struct rig *r, const void *at, size_t len)
{
    const struct http2_standing *is = http2_session_standing(r->session);
    enum status st;

    st = http2_session_receive(r->session, bytes_of(at, len), r->now);
    if (st != STATUS_OK)
        r->open = false;
    assert(is->anonymous <= GRPC_ANONYMOUS_MOST);
    assert(is->anonymous <= http2_session_streams(r->session));
    assert(http2_session_head_since(r->session) <= r->now);
    assert(!http2_session_flooded(r->session) || st == STATUS_CLOSED);
}

static void take_all(struct rig *r)
{
    while (http2_session_send(r->session).len > 0)
        ;
    r->open = r->open && !http2_session_over(r->session);
}

/* Carries out a step that is not octets from the peer. */
static void step(struct rig *r, uint8_t what)
{
    switch (what) {
    case 0xe0: /* the peer reads everything */
        take_all(r);
        break;
    case 0xe1: /* the peer reads a little */
        (void)http2_session_send(r->session);
        break;
    case 0xe2: /* time goes by */
        r->now += NS_PER_S;
        break;
    case 0xe3:              /* deadlines, if any are over */
        loop_stop(r->loop); /* after one turn */
        loop_run(r->loop);
        break;
    case 0xe4: /* the frontier answers */
        if (kept == NULL)
            break;
        answer(kept, bytes_of_str("answer"));
        grpc_call_resume(kept);
        grpc_call_drop(kept);
        kept = NULL;
        break;
    case 0xe5: /* the store fails, or works again */
        r->serving = !r->serving;
        grpc_health_set(r->health, r->serving);
        break;
    case 0xe6: /* we send a PING */
        http2_session_ping(r->session);
        break;
    case 0xe7: /* the service stops */
        grpc_server_drain(r->server, NULL, NULL);
        http2_session_goaway(r->session, false);
        break;
    case 0xe8:
        http2_session_goaway(r->session, true);
        break;
    default:
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char hello[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
                                "\0\0\0\x04\0\0\0\0\0";
    struct rig r;

    start(&r);
    if (size == 0 || data[0] != 0xff)
        receive(&r, hello, sizeof hello - 1);
    for (size_t at = 0; at < size && r.open;) {
        uint8_t what = data[at++];
        size_t len = (size_t)what + 1;

        if (what >= 0xe0) {
            step(&r, what);
            continue;
        }
        len = len < size - at ? len : size - at;
        if (len > 0)
            receive(&r, data + at, len);
        at += len;
    }
    take_all(&r); /* reads GOAWAY, if it was ended */
    stop(&r);
    return 0;
}
