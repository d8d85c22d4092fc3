/* SPDX-License-Identifier: MIT */
/* test_coding.c - content codings, in pieces of any size. */
#include "crawler/fetch/coding.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/buf.h"
#include "tests/unit/crawler/fetch/coded_bodies.h"
#include "tests/unit/unit.h"

#define TEXT      "<title>coded</title><a href=/coded>coded</a>"

#define OCTETS(s) bytes_of(s, sizeof(s) - 1)

static const struct coding_memory any = {NULL, NULL};

static enum status new_coding(struct coding **c, const char *value,
                              bool *unknown)
{
    return coding_new(c, bytes_of_str(value), &any, unknown);
}

/* How a body ended. */
enum end { WHOLE, CUT, DAMAGED };

/* Decodes the body in pieces of `piece` octets, reading `room` octets at a
 * time. */
static enum end decode(const char *codings, struct bytes body, size_t piece,
                       size_t room, struct buf *out)
{
    struct coding *c;
    enum end end = WHOLE;
    char to[512];
    bool unknown;

    ck_assert_uint_le(room, sizeof to);
    ck_ok(new_coding(&c, codings, &unknown));
    ck_assert_ptr_nonnull(c);
    for (size_t i = 0; end == WHOLE && i < body.len; i += piece) {
        size_t len = body.len - i < piece ? body.len - i : piece, got;
        struct bytes in = bytes_of(body.at + i, len);

        do {
            enum status st = coding_read(c, &in, to, room, &got);

            ck_assert_uint_le(got, room);
            buf_add(out, to, got);
            if (st != STATUS_OK) {
                ck_assert_int_eq(st, STATUS_FORMAT);
                end = DAMAGED;
                break;
            }
        } while (got > 0);
        ck_assert(end == DAMAGED || in.len == 0);
    }
    if (end == WHOLE && !coding_is_whole(c))
        end = CUT;
    coding_free(c);
    return end;
}

static void gives(const char *codings, struct bytes body, const char *wanted,
                  enum end end)
{
    static const size_t sizes[] = {1, 2, 3, 7, 64, 512};
    struct buf out;

    buf_init(&out, 1 << 20);
    for (size_t p = 0; p < 6; p++)
        for (size_t r = 0; r < 6; r++) {
            buf_clear(&out);
            ck_assert_int_eq(decode(codings, body, sizes[p], sizes[r], &out),
                             end);
            ck_assert_msg(bytes_is(buf_bytes(&out), wanted), "%s: %s", codings,
                          buf_str(&out));
        }
    buf_fini(&out);
}

/* Compresses `in` with zlib; `bits` is as in inflateInit2. */
static void add_deflated(struct buf *out, struct bytes in, int bits)
{
    z_stream z = {0};
    size_t most = in.len + 1024;
    char *at = malloc(most);

    ck_assert_int_eq(deflateInit2(&z, 9, Z_DEFLATED, bits, 8,
                                  Z_DEFAULT_STRATEGY),
                     Z_OK);
    z.next_in = (unsigned char *)(uintptr_t)in.at;
    z.avail_in = (unsigned)in.len;
    z.next_out = (unsigned char *)at;
    z.avail_out = (unsigned)most;
    ck_assert_int_eq(deflate(&z, Z_FINISH), Z_STREAM_END);
    buf_add(out, at, most - z.avail_out);
    deflateEnd(&z);
    free(at);
}

static const struct {
    const char *name;
    struct bytes body;
} coded[] = {
    {"gzip", {GZIP_BODY, sizeof GZIP_BODY - 1}},
    {"X-GZIP", {GZIP_BODY, sizeof GZIP_BODY - 1}},
    {"deflate", {DEFLATE_BODY, sizeof DEFLATE_BODY - 1}},
    {"deflate", {RAW_DEFLATE_BODY, sizeof RAW_DEFLATE_BODY - 1}},
    {"br", {BROTLI_BODY, sizeof BROTLI_BODY - 1}},
    {"zstd", {ZSTD_BODY, sizeof ZSTD_BODY - 1}},
    {"identity,, gzip ,", {GZIP_BODY, sizeof GZIP_BODY - 1}},
};
#define CODED_COUNT (sizeof coded / sizeof *coded)

TEST(each_coding_is_taken_off_whatever_its_pieces)
{
    for (size_t i = 0; i < CODED_COUNT; i++)
        gives(coded[i].name, coded[i].body, TEXT, WHOLE);
}

TEST(a_stream_cut_anywhere_is_not_whole)
{
    struct buf out;

    buf_init(&out, 1 << 20);
    for (size_t i = 0; i < CODED_COUNT; i++)
        for (size_t len = 1; len < coded[i].body.len; len++) {
            struct bytes cut = bytes_of(coded[i].body.at, len);

            buf_clear(&out);
            ck_assert_msg(decode(coded[i].name, cut, 512, 512, &out) == CUT,
                          "%s after %zu octets", coded[i].name, len);
            ck_assert(bytes_starts_with(bytes_of_str(TEXT), buf_str(&out)));
        }
    buf_fini(&out);
}

TEST(a_body_of_no_octets_is_whole)
{
    for (size_t i = 0; i < CODED_COUNT; i++)
        gives(coded[i].name, bytes_of_str(""), "", WHOLE);
}

TEST(what_is_damaged_is_told_and_what_came_before_is_given)
{
    gives("gzip", OCTETS(BROKEN_BODY), TEXT, DAMAGED);
    gives("gzip", bytes_of_str("not gzip!"), "", DAMAGED);
    gives("zstd", bytes_of_str("not zstd!"), "", DAMAGED);
    gives("deflate", OCTETS("\x78\xbb dict"), "", DAMAGED);
    gives("deflate", OCTETS("\xff\xff\xff\xff"), "", DAMAGED);
}

TEST(codings_come_off_in_the_reverse_order_they_were_applied)
{
    struct buf once;

    buf_init(&once, 1 << 20);
    add_deflated(&once, OCTETS(BROTLI_BODY), 15 + 16);
    gives("br, gzip", buf_bytes(&once), TEXT, WHOLE);
    buf_truncate(&once, once.len - 1);
    gives("br, gzip", buf_bytes(&once), TEXT, CUT);
    buf_fini(&once);
}

TEST(rfc1952_2_2_members_are_one_stream_and_what_follows_is_dropped)
{
    struct buf body;

    buf_init(&body, 1 << 20);
    add_deflated(&body, bytes_of_str("one "), 15 + 16);
    add_deflated(&body, bytes_of_str("two"), 15 + 16);
    gives("gzip", buf_bytes(&body), "one two", WHOLE);
    buf_add(&body, "\0\0\0padding", 10);
    gives("gzip", buf_bytes(&body), "one two", WHOLE);
    buf_fini(&body);
}

TEST(what_stands_behind_a_stream_is_dropped)
{
    gives("deflate", OCTETS(DEFLATE_BODY "more"), TEXT, WHOLE);
    gives("br", OCTETS(BROTLI_BODY "more"), TEXT, WHOLE);
}

TEST(rfc8878_frames_are_one_stream)
{
    gives("zstd", OCTETS(ZSTD_BODY ZSTD_BODY), TEXT TEXT, WHOLE);
}

/* Frames of one empty block, with windows of 8 and of 16 MiB. */
TEST(rfc9659_windows_over_8_mib_are_refused)
{
    gives("zstd", OCTETS("\x28\xb5\x2f\xfd\x00\x68\x01\x00\x00"), "", WHOLE);
    gives("zstd", OCTETS("\x28\xb5\x2f\xfd\x00\x70\x01\x00\x00"), "", DAMAGED);
}

TEST(nothing_to_take_off_is_no_coding)
{
    struct coding *c;
    bool unknown;

    ck_ok(new_coding(&c, "", &unknown));
    ck_assert_ptr_null(c);
    ck_ok(coding_new(&c, (struct bytes){NULL, 0}, &any, &unknown));
    ck_ok(new_coding(&c, "Identity", &unknown));
    ck_assert_ptr_null(c);
    ck_assert(!unknown);
    coding_free(NULL);
}

TEST(ours_unknown_codings_are_passed_over_and_said)
{
    static const char *const values[] = {"utf-8", "none", "binary", "compress"};
    struct coding *c;
    bool unknown;

    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        ck_ok(new_coding(&c, values[i], &unknown));
        ck_assert_ptr_null(c);
        ck_assert(unknown);
    }
    gives("none, gzip", OCTETS(GZIP_BODY), TEXT, WHOLE);
}

TEST(ours_at_most_two_codings_stand_over_each_other)
{
    struct coding *c;
    bool unknown;

    ck_assert_int_eq(new_coding(&c, "br,br,br", &unknown), STATUS_FORMAT);
    ck_assert_int_eq(new_coding(&c, "x, gzip, zstd, br", &unknown),
                     STATUS_FORMAT);
    ck_assert_ptr_null(c);
    ck_ok(new_coding(&c, "br, identity, br", &unknown));
    coding_free(c);
}

/* Adds `n` empty members, one after the other. */
static void add_members(struct buf *out, unsigned n)
{
    struct buf one;

    buf_init(&one, 1 << 10);
    add_deflated(&one, bytes_of_str(""), 15 + 16);
    for (unsigned i = 0; i < n; i++)
        buf_add_bytes(out, buf_bytes(&one));
    buf_fini(&one);
}

/* Promise 7: Hostile bytes cannot do harm. See also
 * `tests/cli/hostile-web.sh`, `tests/cli/codings.sh`,
 * `fetch_turns/a_piece_that_decodes_to_much_has_a_turn_for_each_mebibyte`,
 * `guard/refuses_every_block_of_the_special_purpose_registries`,
 * `fetcher_limits/no_address_the_guard_refuses_is_asked_whatever_its_spelling`,
 * `fetcher_limits/a_name_that_resolves_to_a_refused_address_is_not_asked`,
 * `fetcher_limits/a_gzip_bomb_stays_within_the_limit`,
 * `format/nothing_a_stranger_wrote_reaches_the_terminal_as_a_command`, `make
 * check-fuzz`, `make asan`, `tests/cli/guard.sh`,
 * `tests/cli/guard-proxy.sh`. */
/* 20 MB of empty members are 20 KB of gzip: they would keep a thread busy for
 * minutes, for a few mebibytes of output. The test computes by hand how much of
 * them the decoder takes. */
TEST(gzip_in_gzip_that_comes_to_nothing_is_refused_soon)
{
    struct buf members, body, out;
    struct coding *c;
    struct bytes in;
    size_t got = 0, steps = 0;
    bool unknown;
    char to[512];
    enum status st;

    buf_init(&members, 1 << 26);
    buf_init(&body, 1 << 26);
    buf_init(&out, 1 << 20);
    add_members(&members, 20000); /* 400 KB: less than what is free */
    add_deflated(&body, buf_bytes(&members), 15 + 16);
    gives("gzip, gzip", buf_bytes(&body), "", WHOLE);

    add_members(&members, 1000000);
    buf_clear(&body);
    add_deflated(&body, buf_bytes(&members), 15 + 16);
    ck_ok(new_coding(&c, "gzip, gzip", &unknown));
    in = buf_bytes(&body);
    do {
        st = coding_read(c, &in, to, sizeof to, &got);
        steps++;
    } while (st == STATUS_OK && got > 0);
    ck_assert_int_eq(st, STATUS_FORMAT);
    ck_assert_uint_eq(steps, 1);
    ck_assert_uint_gt(in.len, body.len * 9 / 10); /* hardly begun */
    coding_free(c);
    buf_fini(&members);
    buf_fini(&body);
    buf_fini(&out);
}

/* ---- memory ---- */

struct purse {
    size_t left, taken;
};

static bool take_from(void *ctx, size_t octets)
{
    struct purse *p = ctx;

    if (octets > p->left)
        return false;
    p->left -= octets;
    p->taken += octets;
    return true;
}

static enum status read_with(const char *codings, struct bytes body,
                             struct purse *p)
{
    const struct coding_memory memory = {take_from, p};
    char to[4096];
    struct coding *c;
    bool unknown;
    size_t got;
    enum status st;

    ck_ok(coding_new(&c, bytes_of_str(codings), &memory, &unknown));
    do {
        st = coding_read(c, &body, to, sizeof to, &got);
    } while (st == STATUS_OK && got > 0);
    coding_free(c);
    return st;
}

/* A frame with a window of 8 MiB and one block of zeros. */
#define WIDE "\x28\xb5\x2f\xfd\x00\x68\x03\x00\x10\x00"

TEST(windows_are_charged_when_they_are_made)
{
    struct purse small = {1 << 20, 0}, large = {16 << 20, 0};
    struct purse none = {0, 0};

    ck_assert_int_eq(read_with("zstd", OCTETS(WIDE), &small), STATUS_NOMEM);
    ck_ok(read_with("zstd", OCTETS(WIDE), &large));
    ck_assert_uint_ge(large.taken, 8 << 20);
    ck_assert_uint_le(large.taken, 9 << 20);
    ck_ok(read_with("gzip", OCTETS(GZIP_BODY), &none));
    ck_assert_int_eq(read_with("zstd", OCTETS(ZSTD_BODY), &none), STATUS_NOMEM);
    ck_ok(read_with("br", OCTETS(BROTLI_BODY), &large));
}

/* A text larger than one window decodes to itself, whatever the sizes of rooms
 * and pieces. */
TEST(long_bodies_are_what_zlib_was_given)
{
    uint32_t random = 7;
    struct buf text, body, out;

    buf_init(&text, 1 << 20);
    buf_init(&body, 1 << 20);
    buf_init(&out, 1 << 20);
    for (int i = 0; i < 100000; i++) {
        random = random * 1664525U + 1013904223U;
        buf_add_char(&text, (char)('a' + (random >> 24) % 4));
    }
    add_deflated(&body, buf_bytes(&text), 15 + 16);
    for (unsigned i = 0; i < 40; i++) {
        random = random * 1664525U + 1013904223U;
        buf_clear(&out);
        ck_assert_int_eq(decode("gzip", buf_bytes(&body),
                                1 + (random >> 8) % 9000,
                                1 + (random >> 24) % 512, &out),
                         WHOLE);
        ck_assert(bytes_equal(buf_bytes(&out), buf_bytes(&text)));
    }
    buf_fini(&text);
    buf_fini(&body);
    buf_fini(&out);
}
