/* SPDX-License-Identifier: MIT */

#include "service/grpc/http2_frames.h"
#include "tests/unit/unit.h"

#define HELLO "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

static const char dialogue[] =
    HELLO "\0\0\0\4\0\0\0\0\0"     /* SETTINGS */
          "\0\0\3\1\0\0\0\0\1abc"  /* HEADERS, incomplete */
          "\0\0\2\x9\4\0\0\0\1de"  /* CONTINUATION, their end */
          "\0\1\0\xee\7\x80\1\2\3" /* of an unknown type, 256 octets */
          "................................................................"
          "................................................................"
          "................................................................"
          "................................................................"
          "\0\0\0\1\4\0\0\0\3"         /* HEADERS, empty */
          "\0\0\x9\1\5\0\0\0\5fields"; /* HEADERS, cut short */

static const struct http2_frame_head heads[] = {
    {0, 0, 4, 0}, {3, 1, 1, 0}, {2, 1, 9, 4}, {256, 0x10203, 0xee, 7},
    {0, 3, 1, 4}, {9, 5, 1, 5},
};

TEST(each_head_is_seen_however_the_octets_are_cut)
{
    const size_t len = sizeof dialogue - 1;

    for (size_t cut = 1; cut <= len; cut++) {
        struct http2_frames f;
        struct http2_frame_head h;
        size_t n = 0;

        http2_frames_init(&f);
        for (size_t at = 0; at < len; at += cut) {
            struct bytes in =
                bytes_of(dialogue + at, len - at < cut ? len - at : cut);

            for (; http2_frames_next(&f, &in, &h); n++) {
                ck_assert_uint_lt(n, sizeof heads / sizeof *heads);
                ck_assert_uint_eq(h.len, heads[n].len);
                ck_assert_uint_eq(h.stream, heads[n].stream);
                ck_assert_uint_eq(h.type, heads[n].type);
                ck_assert_uint_eq(h.flags, heads[n].flags);
            }
            ck_assert_uint_eq(in.len, 0);
        }
        ck_assert_uint_eq(n, sizeof heads / sizeof *heads);
        ck_assert_uint_eq(f.blocks, 3);
        ck_assert(f.in_block);
    }
}

static bool is_in_block(const char *octets, size_t len)
{
    struct http2_frames f;
    struct http2_frame_head h;
    struct bytes in = bytes_of(octets, len);

    http2_frames_init(&f);
    while (http2_frames_next(&f, &in, &h))
        ;
    return f.in_block;
}
#define IN_BLOCK(frames) is_in_block(HELLO frames, sizeof(HELLO frames) - 1)

TEST(header_fields_last_until_the_last_octet_of_their_last_frame)
{
    ck_assert(!IN_BLOCK(""));
    ck_assert(IN_BLOCK("\0\0\2\1\4\0\0\0\1"));
    ck_assert(IN_BLOCK("\0\0\2\1\4\0\0\0\1a"));
    ck_assert(!IN_BLOCK("\0\0\2\1\4\0\0\0\1ab"));
    ck_assert(IN_BLOCK("\0\0\2\1\0\0\0\0\1ab"));
    ck_assert(IN_BLOCK("\0\0\2\1\0\0\0\0\1ab\0\0\0\x9\0\0\0\0\1"));
    ck_assert(!IN_BLOCK("\0\0\2\1\0\0\0\0\1ab\0\0\0\x9\4\0\0\0\1"));
    ck_assert(!IN_BLOCK("\0\0\2\0\0\0\0\0\1a"));
}
