/* SPDX-License-Identifier: MIT */
/*
 * warc_packer.c - gzip members by ISA-L.
 *
 * Compression is the main cost of an archive: for the three records of a 9.7 KB
 * page zlib's level 1 takes 129 us, libdeflate's 69, ISA-L's 51, with output of
 * about the same size. ISA-L also takes a record piece by piece, so no body is
 * copied. Its state is made once and reused.
 *
 * Of those 51 us the request and the metadata record took 24, most of it to
 * make tables for a few hundred octets each. With tables made once, of the
 * samples below, they take 7, for 8 % more octets in these two records. The
 * samples are part of no format: each member begins with its tables.
 *
 * The gzip header has neither time nor system, so equal records give equal
 * bytes.
 */
#include "storage/warc/warc_packer.h"

#include <assert.h>
#include <isa-l/igzip_lib.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define ROOM_LEAST ((size_t)512) /* for gzip's header, trailer and tables */

/* Records as a crawl makes them: which octets and distances are common. */
static const char *const samples[] = {
    "WARC/1.1\r\n"
    "WARC-Type: request\r\n"
    "WARC-Record-ID: <urn:uuid:834c33a9-efa4-42e2-aafc-b0789f3c8b1c>\r\n"
    "WARC-Target-URI: https://www.example.org/2025/11/page-with-words.html\r\n"
    "WARC-Date: 2026-11-26T19:23:49.518Z\r\n"
    "WARC-IP-Address: 203.0.113.57\r\n"
    "WARC-Warcinfo-ID: <urn:uuid:e70ea570-b5c0-4b8b-a264-3af700a8bcf4>\r\n"
    "WARC-Concurrent-To: <urn:uuid:d3a25e26-92af-407c-8e7b-0dd204b49028>\r\n"
    "WARC-Block-Digest: sha1:6QFRR6FOTTJCDQ4A2362X6SQU4QUGHFM\r\n"
    "Content-Type: application/http;msgtype=request\r\n"
    "Content-Length: 162\r\n"
    "\r\n"
    "GET /2025/11/page-with-words.html HTTP/1.1\r\n"
    "Host: www.example.org\r\n"
    "User-Agent: urlweir/0.1.0\r\n"
    "Accept: */*\r\n"
    "Accept-Encoding: deflate, gzip, br, zstd\r\n"
    "\r\n\r\n\r\n",

    "WARC/1.1\r\n"
    "WARC-Type: metadata\r\n"
    "WARC-Record-ID: <urn:uuid:e8429e42-ac79-4b39-8ca8-4b6c78eab15e>\r\n"
    "WARC-Target-URI: https://www.example.org/2025/11/page-with-words.html\r\n"
    "WARC-Date: 2026-11-26T19:23:49.518Z\r\n"
    "WARC-Warcinfo-ID: <urn:uuid:e70ea570-b5c0-4b8b-a264-3af700a8bcf4>\r\n"
    "WARC-Concurrent-To: <urn:uuid:d3a25e26-92af-407c-8e7b-0dd204b49028>\r\n"
    "WARC-Block-Digest: sha1:LREG3FJQ4M3P63QNXASS4RNQRUI7BLUN\r\n"
    "Content-Type: application/warc-fields\r\n"
    "Content-Length: 644\r\n"
    "\r\n"
    "via: https://www.example.org/2025/list?page=3\r\n"
    "hopsFromSeed: LLLL\r\n"
    "fetchTimeMs: 183\r\n"
    "charsetForLinkExtraction: UTF-8\r\n"
    "outlink: https://www.example.org/ L a/@href\r\n"
    "outlink: https://www.example.org/contact/ L a/@href\r\n"
    "outlink: https://www.example.org/2024/06/talk-about-railways.html L "
    "a/@href\r\n"
    "outlink: https://www.example.org/tag/history L a/@href\r\n"
    "outlink: https://docs.example.net/en/latest/guide/install.html L "
    "a/@href\r\n"
    "outlink: https://www.example.org/shop/item.php?id=48713&lang=en L "
    "a/@href\r\n"
    "outlink: https://www.example.org/wiki/Stra%C3%9Fe_(Verkehr) L a/@href\r\n"
    "outlink: https://forum.example.com/viewtopic?f=2&t=9056 L a/@href\r\n"
    "outlink: https://www.example.org/news/weather-and-music L a/@href\r\n"
    "\r\n\r\n",
};

struct warc_packer {
    struct isal_zstream z;
    struct isal_hufftables lines;          /* for records of lines */
    uint8_t tokens[ISAL_DEF_LVL1_DEFAULT]; /* ISA-L's, for level 1 */
};

static void make_tables(struct isal_hufftables *out)
{
    struct isal_huff_histogram counts;
    int rc;

    memset(&counts, 0, sizeof counts);
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++)
        isal_update_histogram((uint8_t *)(uintptr_t)samples[i],
                              (int)strlen(samples[i]), &counts);
    rc = isal_create_hufftables(out, &counts);
    assert(rc == 0); /* every count has a code */
    (void)rc;
}

struct warc_packer *warc_packer_new(void)
{
    struct warc_packer *p = xcalloc(1, sizeof *p);

    make_tables(&p->lines);
    return p;
}

void warc_packer_free(struct warc_packer *p)
{
    free(p);
}

/* Compresses all of `piece`; `out` grows as needed. */
static enum status squeeze(struct isal_zstream *z, struct bytes piece,
                           bool last, struct buf *out)
{
    z->next_in = (uint8_t *)(uintptr_t)piece.at;
    z->avail_in = (uint32_t)piece.len;
    z->end_of_stream = last;
    do {
        size_t most = ROOM_LEAST + z->avail_in / 2;
        char *at = buf_room(out, most);
        int rc;

        if (at == NULL)
            return STATUS_LIMIT;
        z->next_out = (uint8_t *)at;
        z->avail_out = (uint32_t)most;
        rc = isal_deflate(z);
        assert(rc == COMP_OK); /* other results mean wrong parameters */
        (void)rc;
        buf_grew(out, most - z->avail_out);
    } while (z->avail_out == 0);
    assert(z->avail_in == 0);
    return STATUS_OK;
}

enum status warc_pack(struct warc_packer *p, const struct bytes *pieces,
                      size_t n, struct buf *out)
{
    enum status st = STATUS_OK;

    isal_deflate_init(&p->z);
    p->z.level = 1;
    p->z.level_buf = p->tokens;
    p->z.level_buf_size = sizeof p->tokens;
    p->z.gzip_flag = IGZIP_GZIP;
    p->z.flush = NO_FLUSH;
    for (size_t i = 0; st == STATUS_OK && i < n; i++)
        st = pieces[i].len <= UINT32_MAX / 2
                 ? squeeze(&p->z, pieces[i], i + 1 == n, out)
                 : STATUS_LIMIT;
    return st;
}

/* What does not become smaller is stored, with five octets more. */
enum status warc_pack_lines(struct warc_packer *p, struct bytes record,
                            struct buf *out)
{
    size_t most = record.len + ROOM_LEAST;
    char *at = buf_room(out, most);
    int rc;

    assert(record.len <= WARC_LINES_MOST);
    if (at == NULL)
        return STATUS_LIMIT;
    isal_deflate_stateless_init(&p->z);
    rc = isal_deflate_set_hufftables(&p->z, &p->lines, IGZIP_HUFFTABLE_CUSTOM);
    assert(rc == COMP_OK);
    p->z.gzip_flag = IGZIP_GZIP;
    p->z.next_in = (uint8_t *)(uintptr_t)record.at;
    p->z.avail_in = (uint32_t)record.len;
    p->z.end_of_stream = 1;
    p->z.next_out = (uint8_t *)at;
    p->z.avail_out = (uint32_t)most;
    rc = isal_deflate_stateless(&p->z);
    assert(rc == COMP_OK); /* there is room for it uncompressed */
    (void)rc;
    buf_grew(out, most - p->z.avail_out);
    return STATUS_OK;
}
