/* SPDX-License-Identifier: MIT */
/*
 * fuzz_grpc.c - any octets as an HTTP/2 connection with gRPC calls on it.
 *
 * The first octet says how the rest is cut into reads and whether a preface and
 * settings come first, so that the fuzzer need not find them. The reader of
 * messages follows the session; each message is unpacked as every message type
 * of the API. Asserts, besides memory safety: streams that open also close, and
 * no message is longer than its ceiling.
 */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "service/grpc/grpc_frame.h"
#include "service/grpc/http2_session.h"
#include "service/net/proto.h"
#include "service/urlfrontier.pb-c.h"
#include "service/urlfrontier/urlfrontier_call.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define WINDOW 65536

static unsigned open_streams;

static void try_item(struct arena *a, struct bytes m)
{
    const Urlfrontier__URLInfo *info =
        proto_unpack(&urlfrontier__urlinfo__descriptor, a, m);
    struct frontier_item item = {0};

    if (info == NULL || urlfrontier_url_take(&item, info, a) != STATUS_OK)
        return;
    assert(bytes_is_utf8(item.url) && bytes_is_utf8(item.key));
    if (item.metadata.len > 0)
        assert(proto_unpack(&urlfrontier__urlinfo__descriptor, a,
                            item.metadata) != NULL);
}

static void take_message(struct bytes m)
{
    static const ProtobufCMessageDescriptor *const kinds[] = {
        &urlfrontier__urlitem__descriptor,
        &urlfrontier__discovered_batch__descriptor,
        &urlfrontier__get_params__descriptor,
        &urlfrontier__list_url_params__descriptor,
        &urlfrontier__count_url_params__descriptor,
    };
    struct arena *a = arena_new((size_t)16 << 20);

    assert(m.len <= GRPC_MESSAGE_MOST);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        (void)proto_unpack(kinds[i], a, m);
        arena_reset(a);
    }
    try_item(a, m);
    arena_free(a);
}

/* ---- streams ---- */

static void on_request(void *ctx, struct http2_stream *s,
                       const struct http2_request *r)
{
    const struct http2_header h[] = {
        {bytes_of_str(":status"), bytes_of_str("200")}};
    struct grpc_reader *reader = xmalloc(sizeof *reader);
    int64_t ns;

    (void)ctx;
    open_streams++;
    (void)grpc_parse_timeout(http2_request_header(r, "grpc-timeout"), &ns);
    (void)grpc_content_type(http2_request_header(r, "content-type"));
    (void)auth_bearer(http2_request_header(r, "authorization"));
    grpc_reader_init(reader, http2_request_header(r, "grpc-encoding").len > 0,
                     WINDOW);
    http2_stream_set_user(s, reader);
    http2_stream_respond(s, h, 1, false);
}

static void finish(struct http2_stream *s)
{
    const struct http2_header h[] = {
        {bytes_of_str("grpc-status"), bytes_of_str("0")}};

    http2_stream_finish(s, h, 1);
}

static void on_data(struct http2_stream *s, struct bytes b)
{
    struct grpc_reader *reader = http2_stream_user(s);
    enum status st = grpc_reader_feed(reader, b);
    struct bytes m;

    while (st == STATUS_OK) {
        st = grpc_reader_next(reader, &m);
        if (st == STATUS_OK)
            take_message(m);
    }
    if (st == STATUS_AGAIN)
        http2_stream_consume(s, b.len);
    else
        finish(s);
}

static void on_end(struct http2_stream *s)
{
    char *at = http2_stream_write(s, 100);

    if (at != NULL)
        memset(at, 'x', 100);
    finish(s);
}

static void on_turn(struct http2_stream *s)
{
    (void)http2_stream_room(s);
}

static void on_closed(struct http2_stream *s)
{
    struct grpc_reader *reader = http2_stream_user(s);

    if (reader == NULL)
        return;
    grpc_reader_fini(reader);
    free(reader);
    open_streams--;
}

static void on_wake(void *conn)
{
    (void)conn;
}

static const struct http2_handler handler = {
    .request = on_request,
    .data = on_data,
    .end = on_end,
    .turn = on_turn,
    .drained = on_turn,
    .closed = on_closed,
    .wake = on_wake,
};

static bool receive(struct http2_session *s, const void *at, size_t len)
{
    if (http2_session_receive(s, bytes_of(at, len), 1) != STATUS_OK)
        return false;
    while (http2_session_send(s).len > 0)
        ;
    return !http2_session_over(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char hello[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
                                "\0\0\0\x04\0\0\0\0\0";
    const struct http2_limits limits = {.streams = 8,
                                        .window = WINDOW,
                                        .header_most = 4096,
                                        .out_most = 4096};
    struct http2_session *s = NULL;
    size_t cut;
    bool open = true;

    if (size == 0)
        return 0;
    if (http2_session_new(&s, &handler, &limits, NULL) != STATUS_OK)
        return 0;
    if ((data[0] & 0x80) == 0)
        open = receive(s, hello, sizeof hello - 1);
    cut = (data[0] & 0x7f) > 0 ? data[0] & 0x7f : size;
    for (size_t at = 1; at < size && open; at += cut)
        open = receive(s, data + at, size - at < cut ? size - at : cut);
    http2_session_free(s);
    assert(open_streams == 0);
    return 0;
}
