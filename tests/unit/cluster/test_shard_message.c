/* SPDX-License-Identifier: MIT */
/* test_shard_message.c - a URL on its way to another shard, as octets. */
#include "cluster/shard_message.h"

#include <string.h>

#include "tests/unit/unit.h"

static const char known[] = "\1\6\3\1\2\x12http://h.example/a"
                            "\xf5\3"       /* priority 500, plus 1 */
                            "\xa1\x9c\1\3" /* -10001 */
                            "\x08nofollow\4text";

static const struct shard_message whole = {
    .url = {"http://h.example/a", 18},
    .depth = 3,
    .hops = 1,
    .kind = 2,
    .has_hint = true,
    .has_label = true,
    .hint = {.lastmod_ms = -10001, .priority = 500, .changefreq = 3},
    .label = {{"nofollow", 8}, {"text", 4}}};

static struct buf out;

static void begin(void)
{
    buf_init(&out, SHARD_MESSAGE_MOST);
}

static void end(void)
{
    buf_fini(&out);
}

FIXTURE(begin, end);

/* docs/formats/shard-url.md: shards of one crawl may be of several releases. */
TEST(a_message_has_known_octets)
{
    shard_message_write(&out, &whole);
    ck_assert_uint_eq(out.len, sizeof known - 1);
    ck_assert_mem_eq(out.at, known, out.len);
}

TEST(what_is_written_is_read)
{
    struct shard_message m;

    ck_ok(shard_message_read(&m, bytes_of(known, sizeof known - 1)));
    ck_assert(bytes_equal(m.url, whole.url) && !m.seed);
    ck_assert(m.depth == 3 && m.hops == 1 && m.kind == 2);
    ck_assert_int_eq(m.hint.priority, 500);
    ck_assert_int_eq(m.hint.lastmod_ms, -10001);
    ck_assert_int_eq(m.hint.changefreq, 3);
    ck_assert(bytes_is(m.label.rel, "nofollow"));
    ck_assert(bytes_is(m.label.text, "text"));
}

TEST(every_cut_message_is_refused)
{
    struct shard_message m;

    for (size_t n = 0; n < sizeof known - 1; n++)
        ck_assert_int_eq(shard_message_read(&m, bytes_of(known, n)),
                         STATUS_FORMAT);
}

static const struct {
    const char *octets;
    size_t len;
} bad[] = {
    {"\2\0\0\0\0\1u", 7},                        /* version */
    {"\1\x08\0\0\0\1u", 7},                      /* a flag */
    {"\1\0\0\0\0\1ux", 8},                       /* what follows */
    {"\1\0\xff\xff\xff\xff\x0f\0\0\1u", 11},     /* depth */
    {"\1\0\0\x80\x80\4\0\1u", 9},                /* hops: 65536 */
    {"\1\0\0\0\x20\1u", 7},                      /* kind: 32 */
    {"\1\0\0\0\0\xff\xff\xff\xff\xff\x0fu", 12}, /* length */
    {"\1\2\0\0\0\1u\xea\7\0\0", 11},             /* priority: 1002 */
    {"\1\2\0\0\0\1u\0\0\x20", 10},               /* changefreq */
    {"\1\4\0\0\0\1u\xff\xff\3", 10},             /* a label's length */
    {"\1\0\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\1", 13}, /* a varint */
};

TEST_EACH(octets_from_outside_are_bounded, bad)
{
    struct shard_message m;

    ck_assert_int_eq(shard_message_read(&m,
                                        bytes_of(bad[_i].octets, bad[_i].len)),
                     STATUS_FORMAT);
}
