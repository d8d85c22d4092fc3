/* SPDX-License-Identifier: MIT */
/* Promise (The service): gRPC on the wire: framing, gzip, deadlines, status,
 * trailers; a client has a minute for its preface and for a block of header
 * fields. See also `grpc_server`, `grpc_peers`. */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "service/grpc/grpc_frame.h"
#include "tests/unit/unit.h"

#define HELD 65536

static void add_message(struct buf *b, char flag, struct bytes m)
{
    char prefix[GRPC_PREFIX];

    grpc_prefix(prefix, m.len);
    prefix[0] = flag;
    buf_add(b, prefix, sizeof prefix);
    buf_add_bytes(b, m);
}

/* Appends one gzip member. */
static void add_gzip(struct buf *b, struct bytes plain)
{
    z_stream z = {0};
    uLong room;
    char *to;

    ck_assert_int_eq(deflateInit2(&z, 9, Z_DEFLATED, 15 + 16, 8,
                                  Z_DEFAULT_STRATEGY),
                     Z_OK);
    room = deflateBound(&z, (uLong)plain.len);
    to = buf_room(b, room);
    ck_assert_ptr_nonnull(to);
    z.next_in = (Bytef *)(uintptr_t)plain.at;
    z.avail_in = (uInt)plain.len;
    z.next_out = (Bytef *)to;
    z.avail_out = (uInt)room;
    ck_assert_int_eq(deflate(&z, Z_FINISH), Z_STREAM_END);
    buf_grew(b, z.total_out);
    deflateEnd(&z);
}

TEST(messages_come_out_as_they_went_in_however_they_are_cut)
{
    struct buf wire;
    struct bytes m;

    buf_init(&wire, 1000);
    add_message(&wire, 0, bytes_of_str("first"));
    add_message(&wire, 0, bytes_of_str(""));
    add_message(&wire, 0, bytes_of("a\0b", 3));
    for (size_t cut = 1; cut <= wire.len; cut++) {
        struct grpc_reader r;
        unsigned n = 0;

        grpc_reader_init(&r, false, HELD);
        for (size_t at = 0; at < wire.len; at += cut) {
            size_t len = wire.len - at < cut ? wire.len - at : cut;

            ck_ok(grpc_reader_feed(&r, bytes_of(wire.at + at, len)));
            while (grpc_reader_next(&r, &m) == STATUS_OK) {
                ck_assert(n != 0 || bytes_is(m, "first"));
                ck_assert(n != 1 || m.len == 0);
                ck_assert(n != 2 || bytes_equal(m, bytes_of("a\0b", 3)));
                n++;
            }
        }
        ck_assert_uint_eq(n, 3);
        ck_assert_uint_eq(grpc_reader_held(&r), 0);
        grpc_reader_fini(&r);
    }
    buf_fini(&wire);
}

static enum status read_one(bool gzip, struct bytes wire, struct buf *out)
{
    struct grpc_reader r;
    struct bytes m;
    enum status st;

    grpc_reader_init(&r, gzip, HELD);
    ck_ok(grpc_reader_feed(&r, wire));
    st = grpc_reader_next(&r, &m);
    if (st == STATUS_OK && out != NULL)
        buf_add_bytes(out, m);
    grpc_reader_fini(&r);
    return st;
}

TEST(a_length_over_four_mebibytes_is_refused_before_it_comes)
{
    char prefix[GRPC_PREFIX];

    grpc_prefix(prefix, GRPC_MESSAGE_MOST + 1);
    ck_assert_int_eq(read_one(false, bytes_of(prefix, sizeof prefix), NULL),
                     STATUS_LIMIT);
    grpc_prefix(prefix, GRPC_MESSAGE_MOST);
    ck_assert_int_eq(read_one(false, bytes_of(prefix, sizeof prefix), NULL),
                     STATUS_AGAIN);
    memset(prefix, 0xff, sizeof prefix);
    prefix[0] = 0;
    ck_assert_int_eq(read_one(false, bytes_of(prefix, sizeof prefix), NULL),
                     STATUS_LIMIT);
}

TEST(flags_other_than_the_two_are_refused)
{
    ck_assert_int_eq(read_one(true, bytes_of("\2\0\0\0\0", 5), NULL),
                     STATUS_FORMAT);
    ck_assert_int_eq(read_one(false, bytes_of("\1\0\0\0\0", 5), NULL),
                     STATUS_FORMAT);
}

TEST(gzip_is_read_and_what_is_not_compressed_beside_it)
{
    struct buf gz, wire, out;

    buf_init(&gz, 100000);
    buf_init(&wire, 100000);
    buf_init(&out, 100000);
    add_gzip(&gz, bytes_of_str("hello"));
    add_gzip(&gz, bytes_of_str(", world")); /* RFC 1952 2.2: members */
    add_message(&wire, 1, buf_bytes(&gz));
    ck_ok(read_one(true, buf_bytes(&wire), &out));
    ck_assert_str_eq(buf_str(&out), "hello, world");
    buf_clear(&wire);
    buf_clear(&out);
    add_message(&wire, 0, bytes_of_str("plain"));
    ck_ok(read_one(true, buf_bytes(&wire), &out));
    ck_assert_str_eq(buf_str(&out), "plain");
    buf_fini(&gz);
    buf_fini(&wire);
    buf_fini(&out);
}

TEST(gzip_that_is_cut_damaged_or_followed_by_more_is_refused)
{
    struct buf gz, wire;

    buf_init(&gz, 100000);
    buf_init(&wire, 100000);
    add_gzip(&gz, bytes_of_str("hello, hello, hello"));
    for (size_t len = 0; len < gz.len; len++) {
        buf_clear(&wire);
        add_message(&wire, 1, bytes_of(gz.at, len));
        ck_assert_msg(read_one(true, buf_bytes(&wire), NULL) == STATUS_FORMAT,
                      "cut to %zu", len);
    }
    buf_add_char(&gz, 'x');
    buf_clear(&wire);
    add_message(&wire, 1, buf_bytes(&gz));
    ck_assert_int_eq(read_one(true, buf_bytes(&wire), NULL), STATUS_FORMAT);
    buf_fini(&gz);
    buf_fini(&wire);
}

TEST(a_gzip_bomb_stays_within_the_limit)
{
    struct buf gz, wire;
    size_t size = 64u << 20;
    char *zeros = xcalloc(1, size);

    buf_init(&gz, 2 * size);
    buf_init(&wire, 2 * size);
    add_gzip(&gz, bytes_of(zeros, GRPC_MESSAGE_MOST));
    add_message(&wire, 1, buf_bytes(&gz));
    ck_ok(read_one(true, buf_bytes(&wire), NULL));
    buf_clear(&gz);
    buf_clear(&wire);
    add_gzip(&gz, bytes_of(zeros, size));
    add_message(&wire, 1, buf_bytes(&gz));
    ck_assert_int_eq(read_one(true, buf_bytes(&wire), NULL), STATUS_LIMIT);
    free(zeros);
    buf_fini(&gz);
    buf_fini(&wire);
}

TEST(more_than_a_window_and_a_message_is_refused)
{
    struct grpc_reader r;
    char prefix[GRPC_PREFIX];
    char *chunk = xcalloc(1, 1 << 20);

    grpc_prefix(prefix, GRPC_MESSAGE_MOST);
    grpc_reader_init(&r, false, HELD);
    ck_ok(grpc_reader_feed(&r, bytes_of(prefix, sizeof prefix)));
    for (int i = 0; i < 4; i++)
        ck_ok(grpc_reader_feed(&r, bytes_of(chunk, 1 << 20)));
    ck_ok(grpc_reader_feed(&r, bytes_of(chunk, HELD)));
    ck_assert_int_eq(grpc_reader_feed(&r, bytes_of(chunk, 1)), STATUS_LIMIT);
    grpc_reader_fini(&r);
    free(chunk);
}

/* ---- small texts ---- */

static void encodes(struct bytes plain, const char *wanted)
{
    struct buf b;

    buf_init(&b, 1000);
    grpc_percent_encode(&b, plain);
    ck_assert_str_eq(buf_str(&b), wanted);
    buf_fini(&b);
}

TEST(grpc_message_is_percent_encoded_outside_printable_ascii)
{
    encodes(bytes_of_str("no such URL"), "no such URL");
    encodes(bytes_of_str("100%"), "100%25");
    encodes(bytes_of_str("a\nb\x7f"), "a%0Ab%7F");
    encodes(bytes_of_str("\xc3\xa9"), "%C3%A9");
    encodes(bytes_of("\0", 1), "%00");
    encodes(bytes_of_str(""), "");
}

static int64_t timeout(const char *text)
{
    int64_t ns = -1;

    return grpc_parse_timeout(bytes_of_str(text), &ns) ? ns : -1;
}

TEST(grpc_timeout_is_eight_digits_at_most_and_a_unit)
{
    ck_assert_int_eq(timeout("1H"), 3600 * NS_PER_S);
    ck_assert_int_eq(timeout("2M"), 120 * NS_PER_S);
    ck_assert_int_eq(timeout("3S"), 3 * NS_PER_S);
    ck_assert_int_eq(timeout("4m"), 4 * NS_PER_MS);
    ck_assert_int_eq(timeout("5u"), 5000);
    ck_assert_int_eq(timeout("00000006n"), 6);
    ck_assert_int_eq(timeout("0S"), 0);
    ck_assert_int_eq(timeout("99999999H"), 3 * 365 * 86400 * NS_PER_S);
    ck_assert_int_eq(timeout("123456789n"), -1);
    ck_assert_int_eq(timeout("S"), -1);
    ck_assert_int_eq(timeout("1"), -1);
    ck_assert_int_eq(timeout(""), -1);
    ck_assert_int_eq(timeout("1s"), -1);
    ck_assert_int_eq(timeout("-1S"), -1);
    ck_assert_int_eq(timeout("1 S"), -1);
}

TEST(content_types_of_grpc_are_known_and_no_others)
{
    static const char *const ours[] = {"application/grpc",
                                       "application/grpc+proto",
                                       "Application/GRPC",
                                       "application/grpc;charset=utf-8",
                                       "application/grpc+proto ; x=y"};
    static const char *const others[] = {"",
                                         "application/grp",
                                         "application/json",
                                         "application/grpc-web",
                                         "application/grpc+json",
                                         "application/grpcx",
                                         "text/plain"};

    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        ck_assert_msg(grpc_content_type(bytes_of_str(ours[i])), "%s", ours[i]);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        ck_assert_msg(!grpc_content_type(bytes_of_str(others[i])), "%s",
                      others[i]);
    ck_assert(!grpc_content_type(bytes_of(NULL, 0)));
}
