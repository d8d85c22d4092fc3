/* SPDX-License-Identifier: MIT */
/* test_warc_packer.c - gzip members, with tables of their own and without. */
#include "storage/warc/warc_record.h"
#include "tests/unit/unit.h"

#include <zlib.h>

#define ROOM ((size_t)1 << 20)

static const char request[] =
    "WARC/1.1\r\n"
    "WARC-Type: request\r\n"
    "WARC-Record-ID: <urn:uuid:0f1c9bd2-7a35-4e68-9d04-c2b8f65e31a7>\r\n"
    "WARC-Target-URI: http://127.0.0.19:45175/harbour/society/library-p38/\r\n"
    "WARC-Date: 2024-02-29T08:05:07.032Z\r\n"
    "WARC-IP-Address: 127.0.0.19\r\n"
    "WARC-Warcinfo-ID: <urn:uuid:5b7e2f60-18dc-4c39-8a91-e3d4076cb5f2>\r\n"
    "WARC-Concurrent-To: <urn:uuid:92a6d8e4-c05f-4b17-b3e8-7f614a2d90cb>\r\n"
    "WARC-Block-Digest: sha1:KZ7QPV2HBM5WTN4XRA6YJ3CDLOGEUIF2\r\n"
    "Content-Type: application/http;msgtype=request\r\n"
    "Content-Length: 157\r\n"
    "\r\n"
    "GET /harbour/society/library-p38/ HTTP/1.1\r\n"
    "Host: 127.0.0.19:45175\r\n"
    "User-Agent: urlweir/0.1.0\r\n"
    "Accept: */*\r\n"
    "Accept-Encoding: deflate, gzip, br, zstd\r\n"
    "\r\n\r\n\r\n";

static const char metadata[] =
    "WARC/1.1\r\n"
    "WARC-Type: metadata\r\n"
    "WARC-Record-ID: <urn:uuid:d81e07b9-35fa-4d62-87c0-f49b6e21a35c>\r\n"
    "WARC-Target-URI: http://127.0.0.19:45175/harbour/society/library-p38/\r\n"
    "WARC-Date: 2024-02-29T08:05:07.032Z\r\n"
    "WARC-Warcinfo-ID: <urn:uuid:5b7e2f60-18dc-4c39-8a91-e3d4076cb5f2>\r\n"
    "WARC-Concurrent-To: <urn:uuid:92a6d8e4-c05f-4b17-b3e8-7f614a2d90cb>\r\n"
    "WARC-Block-Digest: sha1:F4VXNCJ2RMHTLW7BQEIZ5OPA3UKGY6DS\r\n"
    "Content-Type: application/warc-fields\r\n"
    "Content-Length: 521\r\n"
    "\r\n"
    "via: http://127.0.0.19:45175/weather/history/health-p378/\r\n"
    "hopsFromSeed: LL\r\n"
    "fetchTimeMs: 3\r\n"
    "charsetForLinkExtraction: UTF-8\r\n"
    "outlink: http://127.0.0.19:45175/ L a/@href\r\n"
    "outlink: http://127.0.0.19:45175/journal/society-p78/ L a/@href\r\n"
    "outlink: http://127.0.0.19:45175/planet/kitchen-p1338/ L a/@href\r\n"
    "outlink: http://127.0.0.19:45175/culture/garden-p1638 L a/@href\r\n"
    "outlink: http://127.0.0.19:45175/gallery/family-p658/ L a/@href\r\n"
    "outlink: http://127.0.0.19:45175/about/balance-p1738/ L a/@href\r\n"
    "outlink: http://127.0.0.19:45175/view.php?item=p798 L a/@href\r\n"
    "\r\n\r\n";

static void unpack(const struct buf *gz, struct buf *out)
{
    z_stream z = {.next_in = (Bytef *)gz->at, .avail_in = (uInt)gz->len};
    char *at = buf_room(out, ROOM);

    ck_assert_int_eq(inflateInit2(&z, 15 + 16), Z_OK);
    z.next_out = (Bytef *)at;
    z.avail_out = (uInt)ROOM;
    ck_assert_int_eq(inflate(&z, Z_FINISH), Z_STREAM_END);
    ck_assert_uint_eq(z.avail_in, 0);
    buf_grew(out, z.total_out);
    inflateEnd(&z);
}

static void fill(char *at, size_t n, unsigned how)
{
    static uint64_t x = 1;

    for (size_t i = 0; i < n; i++) {
        x = x * UINT64_C(6364136223846793005) + 1442695040888963407;
        at[i] = how == 0   ? (char)(x >> 56)             /* noise */
                : how == 1 ? "outlink:"[x >> 61]         /* text */
                           : (char)(i / 16 + (x >> 63)); /* each octet */
    }
}

TEST(lines_of_any_octets_come_out_as_they_went_in)
{
    struct warc_packer *p = warc_packer_new();
    char record[WARC_LINES_MOST];
    struct buf gz, text;

    buf_init(&gz, ROOM);
    buf_init(&text, 2 * ROOM);
    for (size_t n = 0; n <= sizeof record; n += n < 600 ? 1 : 233) {
        fill(record, n, (unsigned)(n % 3));
        buf_clear(&gz);
        buf_clear(&text);
        ck_ok(warc_pack_lines(p, bytes_of(record, n), &gz));
        unpack(&gz, &text);
        ck_assert_uint_eq(text.len, n);
        ck_assert_mem_eq(text.at, record, n);
        ck_assert_uint_le(gz.len, n + 150); /* gzip's ends, and the tables */
    }
    warc_packer_free(p);
    buf_fini(&gz);
    buf_fini(&text);
}

/* Both ways in turn, so that neither leaves something to the other. */
TEST(equal_records_become_equal_members)
{
    struct warc_packer *p = warc_packer_new();
    struct bytes record = bytes_of_str(metadata);
    struct buf lines[2], members[2], text;

    buf_init(&text, 2 * ROOM);
    for (int i = 0; i < 2; i++) {
        buf_init(&lines[i], ROOM);
        buf_init(&members[i], ROOM);
        ck_ok(warc_pack_lines(p, record, &lines[i]));
        ck_ok(warc_pack(p, &record, 1, &members[i]));
        buf_clear(&text);
        unpack(&members[i], &text);
        ck_assert_str_eq(buf_str(&text), metadata);
    }
    ck_assert(bytes_equal(buf_bytes(&lines[0]), buf_bytes(&lines[1])));
    ck_assert(bytes_equal(buf_bytes(&members[0]), buf_bytes(&members[1])));
    for (int i = 0; i < 2; i++) {
        buf_fini(&lines[i]);
        buf_fini(&members[i]);
    }
    buf_fini(&text);
    warc_packer_free(p);
}

/* The fixed tables of RFC 1951 give 18 % more for the one and 24 % for the
 * other. */
TEST(records_of_lines_become_about_as_small_as_by_tables_of_their_own)
{
    const struct bytes records[] = {bytes_of_str(request),
                                    bytes_of_str(metadata)};
    struct warc_packer *p = warc_packer_new();

    for (size_t i = 0; i < 2; i++) {
        struct buf lines, member;

        buf_init(&lines, ROOM);
        buf_init(&member, ROOM);
        ck_ok(warc_pack_lines(p, records[i], &lines));
        ck_ok(warc_pack(p, &records[i], 1, &member));
        ck_assert_msg(lines.len * 100 <= member.len * 112,
                      "%zu octets, and by tables of its own %zu", lines.len,
                      member.len);
        buf_fini(&lines);
        buf_fini(&member);
    }
    warc_packer_free(p);
}

TEST(a_member_without_room_leaves_the_others_as_they_were)
{
    struct warc_packer *p = warc_packer_new();
    struct buf out;
    size_t before;

    buf_init(&out, sizeof request + 600);
    ck_ok(warc_pack_lines(p, bytes_of_str(request), &out));
    ck_assert_uint_gt(out.len, 18);
    before = out.len;
    ck_assert_int_eq(warc_pack_lines(p, bytes_of_str(request), &out),
                     STATUS_LIMIT);
    ck_assert_uint_eq(out.len, before);
    buf_fini(&out);
    warc_packer_free(p);
}
