/* SPDX-License-Identifier: MIT */
/* A server session of ours against a client session of nghttp2, in memory. */
#include <nghttp2/nghttp2.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "service/grpc/http2_session.h"
#include "tests/unit/unit.h"

#define WINDOW 65536
#define OUT    16384

/* ---- our side ---- */

struct seen {
    struct http2_stream *stream; /* the last */
    unsigned requests, ends, closed, drained, wakes;
    bool too_large;
    size_t headers, data;
    bool consume; /* at once */
};

static struct seen seen;

static void on_request(void *ctx, struct http2_stream *s,
                       const struct http2_request *r)
{
    const struct http2_header h[] = {
        {bytes_of_str(":status"), bytes_of_str("200")}};

    (void)ctx;
    seen.stream = s;
    seen.requests++;
    seen.too_large = r->too_large;
    seen.headers = r->count;
    http2_stream_respond(s, h, 1, false);
}

static void on_data(struct http2_stream *s, struct bytes b)
{
    seen.data += b.len;
    if (seen.consume)
        http2_stream_consume(s, b.len);
}

static void on_end(struct http2_stream *s)
{
    (void)s;
    seen.ends++;
}
static void on_turn(struct http2_stream *s)
{
    (void)s;
}
static void on_drained(struct http2_stream *s)
{
    (void)s;
    seen.drained++;
}
static void on_closed(struct http2_stream *s)
{
    (void)s;
    seen.closed++;
}
static void on_wake(void *conn)
{
    (void)conn;
    seen.wakes++;
}

static const struct http2_handler handler = {
    .request = on_request,
    .data = on_data,
    .end = on_end,
    .turn = on_turn,
    .drained = on_drained,
    .closed = on_closed,
    .wake = on_wake,
};

static struct http2_session *ours;
static nghttp2_session *theirs;
static size_t got_data;        /* octets of DATA that the client received */
static uint32_t goaway, reset; /* error codes that the client received, + 1 */
static bool got_trailer;

static int got_frame(nghttp2_session *ng, const nghttp2_frame *f, void *ctx)
{
    (void)ng;
    (void)ctx;
    if (f->hd.type == NGHTTP2_GOAWAY)
        goaway = f->goaway.error_code + 1;
    if (f->hd.type == NGHTTP2_RST_STREAM)
        reset = f->rst_stream.error_code + 1;
    if (f->hd.type == NGHTTP2_HEADERS &&
        (f->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0)
        got_trailer = true;
    return 0;
}

static int got_chunk(nghttp2_session *ng, uint8_t flags, int32_t id,
                     const uint8_t *data, size_t len, void *ctx)
{
    (void)ng;
    (void)flags;
    (void)id;
    (void)data;
    (void)ctx;
    got_data += len;
    return 0;
}

static void start(void)
{
    const struct http2_limits limits = {.streams = 10,
                                        .window = WINDOW,
                                        .header_most = 4096,
                                        .out_most = OUT};
    nghttp2_session_callbacks *cb;
    nghttp2_option *option;

    seen = (struct seen){.consume = true};
    got_data = goaway = reset = 0;
    got_trailer = false;
    ck_ok(http2_session_new(&ours, &handler, &limits, NULL));
    nghttp2_session_callbacks_new(&cb);
    nghttp2_session_callbacks_set_on_frame_recv_callback(cb, got_frame);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(cb, got_chunk);
    nghttp2_option_new(&option);
    nghttp2_option_set_no_auto_window_update(option, 1);
    nghttp2_session_client_new2(&theirs, cb, NULL, option);
    nghttp2_option_del(option);
    nghttp2_session_callbacks_del(cb);
    nghttp2_submit_settings(theirs, NGHTTP2_FLAG_NONE, NULL, 0);
}

static void stop(void)
{
    http2_session_free(ours);
    nghttp2_session_del(theirs);
}

/* Carries octets to and fro until both are idle; false: ours is over. */
static bool exchange_at(int64_t now)
{
    bool open = true;

    for (bool any = true; any;) {
        const uint8_t *at;
        ssize_t n;
        struct bytes b;

        any = false;
        while (open && (n = nghttp2_session_mem_send(theirs, &at)) > 0) {
            any = true;
            open = http2_session_receive(ours, bytes_of(at, (size_t)n), now) ==
                   STATUS_OK;
        }
        while ((b = http2_session_send(ours)).len > 0) {
            any = true;
            nghttp2_session_mem_recv(theirs, (const uint8_t *)b.at, b.len);
        }
    }
    return open && !http2_session_over(ours);
}

static bool exchange(void)
{
    return exchange_at(NS_PER_S);
}

/* ---- requests ---- */

static size_t to_send; /* octets of a request's body */
static bool body_ends;

static ssize_t give(nghttp2_session *ng, int32_t id, uint8_t *to, size_t len,
                    uint32_t *flags, nghttp2_data_source *source, void *ctx)
{
    size_t n = to_send < len ? to_send : len;

    (void)ng;
    (void)id;
    (void)source;
    (void)ctx;
    if (n == 0 && !body_ends)
        return NGHTTP2_ERR_DEFERRED;
    memset(to, 'x', n);
    to_send -= n;
    if (to_send == 0 && body_ends)
        *flags |= NGHTTP2_DATA_FLAG_EOF;
    return (ssize_t)n;
}

static nghttp2_nv nv(const char *name, const char *value)
{
    return (nghttp2_nv){(uint8_t *)(uintptr_t)name, (uint8_t *)(uintptr_t)value,
                        strlen(name), strlen(value), 0};
}

static int32_t request(size_t body, bool ends)
{
    const nghttp2_nv h[] = {nv(":method", "POST"), nv(":scheme", "http"),
                            nv(":path", "/x"), nv(":authority", "a")};
    nghttp2_data_provider p = {.read_callback = give};

    to_send = body;
    body_ends = ends;
    return nghttp2_submit_request(theirs, NULL, h, 4, &p, NULL);
}

TEST(a_request_is_answered_and_trailers_end_it)
{
    const struct http2_header t[] = {
        {bytes_of_str("grpc-status"), bytes_of_str("0")}};

    start();
    request(1000, true);
    ck_assert(exchange());
    ck_assert_uint_eq(seen.requests, 1);
    ck_assert_uint_eq(seen.data, 1000);
    ck_assert_uint_eq(seen.ends, 1);
    memcpy(http2_stream_write(seen.stream, 5), "hello", 5);
    http2_stream_finish(seen.stream, t, 1);
    ck_assert(seen.wakes > 0);
    ck_assert(exchange());
    ck_assert_uint_eq(got_data, 5);
    ck_assert(got_trailer);
    ck_assert_uint_eq(seen.closed, 1);
    ck_assert_uint_eq(reset, 0);
    ck_assert_uint_eq(http2_session_streams(ours), 0);
    stop();
}

TEST(rfc9113_8_1_a_peer_that_still_sends_is_told_to_stop_without_error)
{
    const struct http2_header t[] = {
        {bytes_of_str("grpc-status"), bytes_of_str("8")}};

    start();
    request(1000, false);
    ck_assert(exchange());
    http2_stream_finish(seen.stream, t, 1);
    ck_assert(exchange());
    ck_assert(got_trailer);
    ck_assert_uint_eq(reset, NGHTTP2_NO_ERROR + 1);
    ck_assert_uint_eq(seen.closed, 1);
    stop();
}

TEST(who_does_not_consume_is_sent_one_window_and_others_go_on)
{
    struct http2_stream *first;

    start();
    seen.consume = false;
    request(10 * WINDOW, false);
    ck_assert(exchange());
    ck_assert_uint_eq(seen.data, WINDOW);
    first = seen.stream;
    http2_stream_consume(first, WINDOW);
    ck_assert(exchange());
    ck_assert_uint_eq(seen.data, 2 * WINDOW);
    /* More streams than fit into the connection's window. */
    seen.consume = true;
    seen.data = 0;
    request(20 * WINDOW, true);
    ck_assert(exchange());
    ck_assert_uint_eq(seen.data, 20 * WINDOW);
    stop();
}

TEST(a_peer_that_does_not_read_fills_its_mark_and_then_drains)
{
    start();
    nghttp2_session_set_local_window_size(theirs, NGHTTP2_FLAG_NONE, 0, 65535);
    request(0, true);
    ck_assert(exchange());
    /* 65,535 octets leave, because nobody opens the window (RFC 9113 6.9.2). */
    memset(http2_stream_write(seen.stream, 65535), 'x', 65535);
    ck_assert(exchange());
    ck_assert_uint_eq(http2_stream_room(seen.stream), OUT);
    memset(http2_stream_write(seen.stream, OUT), 'x', OUT);
    ck_assert_uint_eq(http2_stream_room(seen.stream), 0);
    ck_assert(exchange());
    ck_assert_uint_eq(seen.drained, 0);
    ck_assert_uint_eq(got_data, 65535);
    nghttp2_session_consume(theirs, 1, 65535);
    ck_assert(exchange());
    ck_assert_uint_eq(seen.drained, 1);
    ck_assert_uint_eq(got_data, 65535 + OUT);
    stop();
}

/* ---- abuse ---- */

static bool raw(const void *octets, size_t len)
{
    return http2_session_receive(ours, bytes_of(octets, len), NS_PER_S) ==
           STATUS_OK;
}

/* Sends the frame `n` times; false: our session closed. */
static bool flood(const void *frame, size_t len, int n)
{
    bool open = true;

    for (int i = 0; i < n && open; i++)
        open = raw(frame, len);
    exchange();
    return open;
}

static void calm(void)
{
    ck_assert_uint_eq(goaway, NGHTTP2_ENHANCE_YOUR_CALM + 1);
}

static const char ping[] = "\0\0\x08\x06\0\0\0\0\0........";
static const char settings[] = "\0\0\0\x04\0\0\0\0\0";

TEST(a_flood_of_pings_is_ended)
{
    start();
    ck_assert(exchange());
    ck_assert(flood(ping, sizeof ping - 1, 500));
    ck_assert(!flood(ping, sizeof ping - 1, 5000)); /* answers not read */
    stop();
}

TEST(a_flood_of_settings_is_ended)
{
    start();
    ck_assert(exchange());
    ck_assert(!flood(settings, sizeof settings - 1, 5000));
    stop();
}

/* nghttp2 silently accepts any number of these. */
TEST(floods_of_frames_that_say_nothing_are_ended)
{
    static const struct {
        const char *octets;
        size_t len;
    } frames[] = {
        {"\0\0\4\x8\0\0\0\0\0\0\0\0\1", 13}, /* WINDOW_UPDATE */
        {"\0\0\4\x8\0\0\0\0\1\0\0\0\1", 13}, /* of a stream */
        {"\0\0\0\xbb\0\0\0\0\0", 9},         /* a type not known */
        {"\0\0\2\xbb\xff\0\0\0\1ab", 11},    /* with flags, on one */
        {"\0\0\x8\6\1\0\0\0\0........", 17}, /* PING's answer, unasked */
        {"\0\0\x8\7\0\0\0\0\0........", 17}, /* GOAWAY */
        {"\0\0\0\0\0\0\0\0\1", 9},           /* DATA, empty */
    };

    for (size_t i = 0; i < sizeof frames / sizeof *frames; i++) {
        start();
        request(0, false);
        ck_assert(exchange());
        ck_assert_uint_eq(seen.requests, 1);
        ck_assert_msg(flood(frames[i].octets, frames[i].len, 100), "%zu", i);
        ck_assert_msg(!flood(frames[i].octets, frames[i].len, 5000), "%zu", i);
        calm();
        ck_assert(http2_session_flooded(ours));
        stop();
    }
}
/* CVE-2024-28182: endless CONTINUATION frames. */
TEST(a_flood_of_continuations_is_ended)
{
    start();
    ck_assert(exchange());
    ck_assert(raw("\0\0\0\1\0\0\0\0\1", 9));
    ck_assert(!flood("\0\0\0\x9\0\0\0\0\1", 9, 5000));
    calm();
    stop();
}

/* Promise (The service): a client that floods, bombs, resets or never reads
 * costs bounded memory and is disconnected. See also
 * `http2_session/a_header_bomb_is_ended`,
 * `http2_session/a_flood_of_pings_is_ended`,
 * `http2_session/who_does_not_consume_is_sent_one_window_and_others_go_on`,
 * `http2_session/a_peer_that_does_not_read_fills_its_mark_and_then_drains`,
 * `grpc_frame/a_gzip_bomb_stays_within_the_limit`. */
TEST(rapid_reset_is_ended)
{
    bool open = true;
    int n = 0;

    start();
    ck_assert(exchange());
    for (; n < 100000 && open; n++) {
        int32_t id = request(0, true);

        open = exchange();
        nghttp2_submit_rst_stream(theirs, NGHTTP2_FLAG_NONE, id,
                                  NGHTTP2_CANCEL);
        open = open && exchange();
    }
    ck_assert_int_lt(n, 5000);
    ck_assert_uint_ne(goaway, 0); /* by us, or by nghttp2 if it counts them */
    ck_assert_uint_eq(seen.requests, seen.closed);
    stop();
}

TEST(headers_over_the_limit_are_known_as_such)
{
    char value[3000];
    nghttp2_nv h[] = {nv(":method", "POST"), nv(":scheme", "http"),
                      nv(":path", "/x"),     nv(":authority", "a"),
                      nv("a", "b"),          nv("c", value),
                      nv("d", value)};

    memset(value, 'v', sizeof value - 1);
    value[sizeof value - 1] = '\0';
    h[5] = nv("c", value);
    h[6] = nv("d", value);
    start();
    nghttp2_submit_request(theirs, NULL, h, 6, NULL, NULL);
    ck_assert(exchange());
    ck_assert(!seen.too_large);
    ck_assert_uint_eq(seen.headers, 2);
    nghttp2_submit_request(theirs, NULL, h, 7, NULL, NULL);
    ck_assert(exchange());
    ck_assert(seen.too_large);
    stop();
}

/* One long value, then the same again by its index: an octet each. nghttp2's
 * client would not send this, so the test makes the frame. */
TEST(a_header_bomb_is_ended)
{
    char value[3000], block[9 + 4096] = "";
    nghttp2_hd_deflater *d;
    nghttp2_nv h[200];
    size_t n = 4, len;

    memset(value, 'v', sizeof value - 1);
    value[sizeof value - 1] = '\0';
    h[0] = nv(":method", "POST");
    h[1] = nv(":scheme", "http");
    h[2] = nv(":path", "/x");
    h[3] = nv(":authority", "a");
    while (n < sizeof h / sizeof *h)
        h[n++] = nv("c", value);
    ck_assert_int_eq(nghttp2_hd_deflate_new(&d, 4096), 0);
    len = (size_t)nghttp2_hd_deflate_hd(d, (uint8_t *)block + 9, 4096, h, n);
    ck_assert_uint_lt(len, 4096);
    nghttp2_hd_deflate_del(d);
    block[1] = (char)(unsigned char)(len >> 8);
    block[2] = (char)(unsigned char)len;
    block[3] = 1; /* HEADERS */
    block[4] = 5; /* END_STREAM, END_HEADERS */
    block[8] = 1; /* the stream */
    start();
    ck_assert(exchange());
    ck_assert(!raw(block, 9 + len));
    exchange();
    calm();
    stop();
}

TEST(what_is_not_http2_is_closed)
{
    static const char http1[] = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";

    start();
    ck_assert(!raw(http1, sizeof http1 - 1));
    stop();
}

TEST(a_client_keeps_back_what_is_over_the_limit_that_it_was_told)
{
    start();
    ck_assert(exchange());
    ck_assert_uint_eq(nghttp2_session_get_remote_settings(
                          theirs, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS),
                      10);
    for (int i = 0; i < 20; i++)
        request(0, false);
    ck_assert(exchange());
    ck_assert_uint_eq(seen.requests, 10);
    ck_assert_uint_eq(http2_session_streams(ours), 10);
    stop();
}

/* A request's HEADERS of our own making, by indices of the static table and one
 * literal; nghttp2's client would keep it back. */
static bool raw_request(int id)
{
    char frame[] = "\0\0\6\1\4\0\0\0\0" /* END_HEADERS */
                   "\x83\x86\x84"       /* POST, http, / */
                   "\x41\x01"
                   "a"; /* :authority a */

    frame[7] = (char)(unsigned char)(id >> 8);
    frame[8] = (char)(unsigned char)id;
    return raw(frame, sizeof frame - 1);
}

/* Takes what ours sends, frame by frame: the number of streams it refuses. */
static size_t count_refused(void)
{
    struct bytes b;
    size_t n = 0;

    while ((b = http2_session_send(ours)).len > 0) {
        ck_assert_int_ne(b.at[3], NGHTTP2_GOAWAY);
        n +=
            b.at[3] == NGHTTP2_RST_STREAM && b.at[12] == NGHTTP2_REFUSED_STREAM;
    }
    return n;
}

/* Promise (The service): a caller that leaves a stream open for each page can
 * go on: its oldest idle streams end with OK, and the few of another caller
 * stay; a stream over the limit is refused and the connection goes on. See also
 * `grpc_server`, `tests/interop/grpc_client.py`. */
TEST(rfc9113_5_1_2_a_stream_over_the_limit_is_refused_and_others_go_on)
{
    const struct http2_header t[] = {
        {bytes_of_str("grpc-status"), bytes_of_str("0")}};
    int id = 1;

    start();
    ck_assert(exchange());
    for (; id < 20; id += 2)
        ck_assert(raw_request(id));
    ck_assert_uint_eq(seen.requests, 10);
    ck_assert_uint_eq(count_refused(), 0);
    for (; id < 60; id += 2)
        ck_assert(raw_request(id));
    ck_assert_uint_eq(count_refused(), 20);
    ck_assert_uint_eq(seen.requests, 10);
    ck_assert_uint_eq(http2_session_streams(ours), 10);
    http2_stream_finish(seen.stream, t, 1); /* room for one */
    ck_assert_uint_eq(count_refused(), 0);
    ck_assert(raw_request(id));
    ck_assert_uint_eq(seen.requests, 11);
    stop();
}

TEST(rfc9113_6_8_goaway_lets_streams_finish_and_then_it_is_over)
{
    const struct http2_header t[] = {
        {bytes_of_str("grpc-status"), bytes_of_str("0")}};

    start();
    request(0, true);
    ck_assert(exchange());
    http2_session_goaway(ours, false);
    ck_assert(exchange());
    ck_assert_uint_eq(goaway, NGHTTP2_NO_ERROR + 1);
    http2_session_goaway(ours, true);
    ck_assert(exchange());
    ck_assert(!http2_session_over(ours));
    http2_stream_finish(seen.stream, t, 1);
    ck_assert(!exchange());
    ck_assert(got_trailer);
    ck_assert(http2_session_over(ours));
    stop();
}

/* ---- heads of frames ---- */

#define HELLO "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

/* Is a block of header fields open after these octets, however they are cut? */
static bool is_in_block(const char *octets, size_t len)
{
    bool first = false;

    for (size_t cut = 1; cut <= len; cut++) {
        bool in;

        start();
        for (size_t at = 0; at < len; at += cut)
            (void)raw(octets + at, len - at < cut ? len - at : cut);
        in = http2_session_head_since(ours) > 0;
        ck_assert_msg(cut == 1 || in == first, "pieces of %zu", cut);
        first = in;
        stop();
    }
    return first;
}
#define SETTINGS "\0\0\0\4\0\0\0\0\0"
#define IN_BLOCK(frames)                                                       \
    is_in_block(HELLO SETTINGS frames, sizeof(HELLO SETTINGS frames) - 1)

TEST(header_fields_last_until_the_last_octet_of_their_last_frame)
{
    ck_assert(!IN_BLOCK(""));
    ck_assert(IN_BLOCK("\0\0\2\1\4\0\0\0\1"));
    ck_assert(IN_BLOCK("\0\0\2\1\4\0\0\0\1\x83"));
    ck_assert(!IN_BLOCK("\0\0\2\1\4\0\0\0\1\x83\x86"));
    ck_assert(IN_BLOCK("\0\0\2\1\0\0\0\0\1\x83\x86"));
    ck_assert(IN_BLOCK("\0\0\2\1\0\0\0\0\1\x83\x86\0\0\0\x9\0\0\0\0\1"));
    ck_assert(!IN_BLOCK("\0\0\2\1\0\0\0\0\1\x83\x86\0\0\0\x9\4\0\0\0\1"));
    ck_assert(!IN_BLOCK("\0\0\2\xee\0\0\0\0\1ab"));
    ck_assert(IN_BLOCK("\0\0\2\xee\0\0\0\0\1ab\0\0\2\1\4\0\0\0\1"));
}
