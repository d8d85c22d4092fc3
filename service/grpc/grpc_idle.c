/* SPDX-License-Identifier: MIT */
/*
 * grpc_idle.c - calls that may be ended to make room for others.
 *
 * There are callers that open a stream for each message and never close it:
 * crawler4j's adapter completes each page on a PutURLs stream of its own. A
 * client of gRPC keeps further calls back when its connection has as many
 * streams as we allow, so such a caller would wait for ever. More streams would
 * only let it wait later; so, before the limit is reached, the stream that has
 * been idle for longest ends with OK.
 *
 * A caller may also keep a stream for all it will ever put, as StormCrawler
 * does, and would not expect its end. So the last few idle streams of each
 * connection are left alone, however long they have been idle.
 */
#include "service/grpc/grpc_server_impl.h"

#define KEPT 16 /* idle calls that a connection keeps */

void grpc_call_set_idle(struct grpc_call *c)
{
    if (c->idle || c->paused || grpc_call_has_ended(c) ||
        grpc_reader_held(&c->reader) > 0)
        return;
    grpc_reader_fini(&c->reader); /* it holds nothing */
    c->idle = true;
    http2_stream_standing(c->stream)->idle++;
    TAILQ_INSERT_TAIL(&c->server->idle, c, idle_entry);
}

void grpc_idle_leave(struct grpc_call *c)
{
    if (!c->idle)
        return;
    c->idle = false;
    http2_stream_standing(c->stream)->idle--;
    TAILQ_REMOVE(&c->server->idle, c, idle_entry);
}

/* Ends the call that has been idle for longest, of those on the connection of
 * `t`; NULL: of all. False: there is none that may be ended. */
static bool end_one(struct grpc_server *s, const struct http2_stream *t)
{
    struct grpc_call *c;

    for (c = TAILQ_FIRST(&s->idle); c != NULL; c = TAILQ_NEXT(c, idle_entry)) {
        if (http2_stream_standing(c->stream)->idle > KEPT &&
            (t == NULL ||
             http2_stream_conn(c->stream) == http2_stream_conn(t))) {
            grpc_call_finish(c, GRPC_OK, NULL);
            return true;
        }
    }
    return false;
}

void grpc_idle_make_room(struct grpc_server *s, const struct http2_stream *t)
{
    size_t streams = s->options.http2.limits.streams;
    size_t calls = s->options.calls_most;

    if (http2_stream_siblings(t) > streams - streams / 4 && end_one(s, t))
        return;
    if (s->calls >= calls - calls / 8)
        (void)end_one(s, NULL);
}
