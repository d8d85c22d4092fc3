/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/buf.h"
#include "base/file/unpack.h"
#include "tests/unit/unit.h"

static enum status collect(void *ctx, struct bytes octets)
{
    struct buf *out = ctx;

    buf_add_bytes(out, octets);
    return STATUS_OK;
}

/* Appends `text` as one gzip member. */
static void add_member(struct buf *b, const char *text)
{
    z_stream z = {0};
    char out[4096];

    ck_assert_int_eq(deflateInit2(&z, 9, Z_DEFLATED, 15 + 16, 8,
                                  Z_DEFAULT_STRATEGY),
                     Z_OK);
    z.next_in = (unsigned char *)(uintptr_t)text;
    z.avail_in = (unsigned)strlen(text);
    z.next_out = (unsigned char *)out;
    z.avail_out = sizeof out;
    ck_assert_int_eq(deflate(&z, Z_FINISH), Z_STREAM_END);
    buf_add(b, out, sizeof out - z.avail_out);
    deflateEnd(&z);
}

/* Pushes `in` in pieces of every size up to 40 and compares. */
static void gives(struct bytes in, const char *want, enum status end)
{
    for (size_t piece = 1; piece < 40; piece++) {
        struct buf out;
        struct gunzip *g;

        buf_init(&out, 1 << 20);
        g = gunzip_new(1 << 20, collect, &out);
        for (size_t i = 0; i < in.len; i += piece)
            ck_ok(gunzip_push(g, bytes_of(in.at + i, in.len - i < piece
                                                         ? in.len - i
                                                         : piece)));
        ck_assert_int_eq(gunzip_finish(g), end);
        ck_assert_str_eq(buf_str(&out), want);
        gunzip_free(g);
        buf_fini(&out);
    }
}

TEST(what_is_not_gzip_passes_through)
{
    gives(bytes_of_str(""), "", STATUS_OK);
    gives(bytes_of_str("x"), "x", STATUS_OK);
    gives(bytes_of_str("plain text"), "plain text", STATUS_OK);
    gives(bytes_of_str("\x1f"), "\x1f", STATUS_OK);
    gives(bytes_of_str("\x1f plain"), "\x1f plain", STATUS_OK);
}

TEST(rfc1952_2_2_members_are_one_stream)
{
    struct buf b;

    buf_init(&b, 1 << 16);
    add_member(&b, "one ");
    gives(buf_bytes(&b), "one ", STATUS_OK);
    add_member(&b, "");
    add_member(&b, "two");
    gives(buf_bytes(&b), "one two", STATUS_OK);
    buf_fini(&b);
}

TEST(what_stands_behind_the_last_member_is_dropped)
{
    struct buf b;

    buf_init(&b, 1 << 16);
    add_member(&b, "one");
    buf_add(&b, "\0\0\0\x1f\x8b rubbish", 14);
    gives(buf_bytes(&b), "one", STATUS_OK);
    buf_clear(&b);
    add_member(&b, "one");
    buf_add(&b, "\x1f", 1);
    gives(buf_bytes(&b), "one", STATUS_OK);
    buf_fini(&b);
}

TEST(a_stream_cut_short_gives_what_came)
{
    struct buf b;

    buf_init(&b, 1 << 16);
    add_member(&b, "one");
    add_member(&b, "two");
    for (size_t cut = 1; cut <= 8; cut++) /* in the second one's trailer */
        gives(bytes_of(b.at, b.len - cut), "onetwo", STATUS_FORMAT);
    gives(bytes_of(b.at, b.len / 2 + 2), "one", STATUS_FORMAT);
    gives(bytes_of(b.at, 5), "", STATUS_FORMAT);
    buf_fini(&b);
}

TEST(a_damaged_stream_gives_what_came_before)
{
    struct buf b;

    buf_init(&b, 1 << 16);
    add_member(&b, "one");
    b.at[b.len - 6] ^= 1; /* its CRC */
    add_member(&b, "two");
    gives(buf_bytes(&b), "one", STATUS_FORMAT);
    buf_fini(&b);
    gives(bytes_of("\x1f\x8b\x07rubbish", 10), "", STATUS_FORMAT);
}

TEST(output_is_bounded)
{
    struct buf b, out;
    struct gunzip *g;
    char zeros[4001];

    memset(zeros, '0', 4000);
    zeros[4000] = '\0';
    buf_init(&b, 1 << 16);
    buf_init(&out, 1 << 20);
    for (int i = 0; i < 100; i++)
        add_member(&b, zeros);
    g = gunzip_new(10000, collect, &out);
    ck_assert_int_eq(gunzip_push(g, buf_bytes(&b)), STATUS_LIMIT);
    ck_assert_uint_eq(out.len, 10000);
    ck_assert_int_eq(gunzip_push(g, buf_bytes(&b)), STATUS_LIMIT);
    ck_assert_int_eq(gunzip_finish(g), STATUS_LIMIT);
    ck_assert_uint_eq(out.len, 10000);
    gunzip_free(g);
    buf_clear(&out);
    g = gunzip_new(5, collect, &out);
    ck_ok(gunzip_push(g, bytes_of_str("plain")));
    ck_assert_int_eq(gunzip_push(g, bytes_of_str("!")), STATUS_LIMIT);
    ck_assert_str_eq(buf_str(&out), "plain");
    gunzip_free(g);
    buf_fini(&out);
    buf_fini(&b);
}

TEST(members_are_read_one_by_one)
{
    struct buf b, out;
    struct bytes in;

    buf_init(&b, 1 << 16);
    buf_init(&out, 1 << 16);
    add_member(&b, "one");
    add_member(&b, "");
    add_member(&b, "three");
    buf_add_str(&b, "behind");
    in = buf_bytes(&b);
    ck_ok(gunzip_member(&in, &out));
    ck_assert_str_eq(buf_str(&out), "one");
    ck_ok(gunzip_member(&in, &out));
    ck_ok(gunzip_member(&in, &out));
    ck_assert_str_eq(buf_str(&out), "onethree");
    ck_assert(bytes_is(in, "behind"));
    ck_assert_int_eq(gunzip_member(&in, &out), STATUS_FORMAT);
    buf_fini(&out);
    /* cut short at each octet; then a buffer that is too small */
    for (size_t n = 0; n < 20; n++) {
        buf_init(&out, 1 << 16);
        in = bytes_of(b.at, n);
        ck_assert_int_eq(gunzip_member(&in, &out), STATUS_FORMAT);
        buf_fini(&out);
    }
    buf_init(&out, 2);
    in = buf_bytes(&b);
    ck_assert_int_eq(gunzip_member(&in, &out), STATUS_LIMIT);
    buf_fini(&out);
    buf_fini(&b);
}
