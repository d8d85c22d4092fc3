/* SPDX-License-Identifier: MIT */
/*
 * http2_stream.c - one stream, and its answer.
 *
 * An answer waits in `out` until nghttp2 asks for it. After the whole answer
 * the trailers follow.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "service/grpc/http2_session_impl.h"

#define TRAILERS_MOST 4
#define OUT_CEILING   (32u << 20) /* one stream's answer */
#define KEPT_CAP      4096        /* a larger `out` is freed when empty */

/* ---- life ---- */

void http2_stream_new(struct http2_session *s, int32_t id)
{
    struct http2_stream *t = xcalloc(1, sizeof *t);

    t->session = s;
    t->id = id;
    buf_init(&t->out, OUT_CEILING);
    buf_init(&t->trailer, s->limits.header_most);
    TAILQ_INSERT_TAIL(&s->all, t, all);
    s->streams++;
    s->opened++;
    nghttp2_session_set_stream_user_data(s->ng, id, t);
}

void http2_stream_forget(struct http2_stream *t)
{
    struct http2_session *s = t->session;

    s->handler->closed(t);
    TAILQ_REMOVE(&s->all, t, all);
    if (t->is_touched)
        TAILQ_REMOVE(&s->touched, t, touched);
    if (t->is_low)
        TAILQ_REMOVE(&s->low, t, low);
    s->streams--;
    buf_fini(&t->out);
    buf_fini(&t->trailer);
    free(t);
}

void http2_stream_set_user(struct http2_stream *t, void *user)
{
    t->user = user;
}

void *http2_stream_user(const struct http2_stream *t)
{
    return t->user;
}

void *http2_stream_conn(const struct http2_stream *t)
{
    return t->session->conn;
}

size_t http2_stream_siblings(const struct http2_stream *t)
{
    return t->session->streams;
}

struct http2_standing *http2_stream_standing(struct http2_stream *t)
{
    return &t->session->standing;
}

void http2_stream_consume(struct http2_stream *t, size_t n)
{
    if (n == 0)
        return;
    nghttp2_session_consume_stream(t->session->ng, t->id, n);
    http2_session_wake(t->session);
}

/* ---- what nghttp2 asks for ---- */

static nghttp2_nv nv_of(struct bytes name, struct bytes value)
{
    return (nghttp2_nv){(uint8_t *)(uintptr_t)name.at,
                        (uint8_t *)(uintptr_t)value.at, name.len, value.len,
                        NGHTTP2_NV_FLAG_NONE};
}

static void submit_trailer(struct http2_stream *t)
{
    nghttp2_nv nv[TRAILERS_MOST];
    const char *p = buf_str(&t->trailer);

    for (size_t i = 0; i < t->trailer_count; i++) {
        struct bytes name = bytes_of_str(p);
        struct bytes value = bytes_of_str(p + name.len + 1);

        nv[i] = nv_of(name, value);
        p = value.at + value.len + 1;
    }
    nghttp2_submit_trailer(t->session->ng, t->id, nv, t->trailer_count);
}

static size_t held(const struct http2_stream *t)
{
    return t->out.len - t->out_at;
}

static void sent(struct http2_stream *t, size_t n)
{
    t->out_at += n;
    if (held(t) == 0) {
        t->out_at = 0;
        if (t->out.cap > KEPT_CAP)
            buf_fini(&t->out);
        else
            buf_clear(&t->out);
    }
    if (t->over && !t->is_low && held(t) <= t->session->limits.out_most / 2) {
        t->is_low = true;
        TAILQ_INSERT_TAIL(&t->session->low, t, low);
    }
}

static ssize_t on_read(nghttp2_session *ng, int32_t id, uint8_t *to, size_t len,
                       uint32_t *flags, nghttp2_data_source *source, void *ctx)
{
    struct http2_stream *t = source->ptr;
    size_t n = held(t) < len ? held(t) : len;

    (void)ng;
    (void)id;
    (void)ctx;
    if (n == 0 && !t->finished) {
        t->waiting = true;
        return NGHTTP2_ERR_DEFERRED;
    }
    if (n > 0)
        memcpy(to, t->out.at + t->out_at, n);
    sent(t, n);
    if (held(t) == 0 && t->finished) {
        *flags |= NGHTTP2_DATA_FLAG_EOF | NGHTTP2_DATA_FLAG_NO_END_STREAM;
        submit_trailer(t);
    }
    return (ssize_t)n;
}

/* ---- the answer ---- */

void http2_stream_respond(struct http2_stream *t, const struct http2_header *h,
                          size_t n, bool end)
{
    nghttp2_data_provider provider = {.source.ptr = t,
                                      .read_callback = on_read};
    nghttp2_nv nv[16];

    assert(!t->responded && n <= sizeof nv / sizeof *nv);
    for (size_t i = 0; i < n; i++)
        nv[i] = nv_of(h[i].name, h[i].value);
    nghttp2_submit_response(t->session->ng, t->id, nv, n,
                            end ? NULL : &provider);
    t->responded = true;
    t->finished = end;
    http2_session_wake(t->session);
}

static void resume(struct http2_stream *t)
{
    if (t->waiting) {
        t->waiting = false;
        nghttp2_session_resume_data(t->session->ng, t->id);
    }
    http2_session_wake(t->session);
}

char *http2_stream_write(struct http2_stream *t, size_t len)
{
    char *at;

    assert(t->responded && !t->finished);
    if (t->out_at > 0 && t->out.len + len + 1 > t->out.cap) {
        memmove(t->out.at, t->out.at + t->out_at, held(t));
        buf_truncate(&t->out, held(t));
        t->out_at = 0;
    }
    at = buf_room(&t->out, len);
    if (at == NULL)
        return NULL;
    buf_grew(&t->out, len);
    resume(t);
    return at;
}

size_t http2_stream_room(struct http2_stream *t)
{
    size_t most = t->session->limits.out_most;

    if (held(t) < most)
        return most - held(t);
    t->over = true;
    return 0;
}

void http2_stream_finish(struct http2_stream *t, const struct http2_header *h,
                         size_t n)
{
    assert(t->responded && !t->finished && n <= TRAILERS_MOST);
    for (size_t i = 0; i < n; i++) {
        buf_add_bytes(&t->trailer, h[i].name);
        buf_add_char(&t->trailer, '\0');
        buf_add_bytes(&t->trailer, h[i].value);
        buf_add_char(&t->trailer, '\0');
    }
    t->trailer_count = n;
    t->finished = true;
    resume(t);
}

bool http2_stream_waits(const struct http2_stream *t)
{
    return held(t) > 0;
}

void http2_stream_reset(struct http2_stream *t)
{
    t->finished = true;
    nghttp2_submit_rst_stream(t->session->ng, NGHTTP2_FLAG_NONE, t->id,
                              NGHTTP2_CANCEL);
    http2_session_wake(t->session);
}
