/* SPDX-License-Identifier: MIT */
/*
 * warc_record.c - one WARC/1.1 record as one gzip member.
 *
 *      WARC/1.1 CRLF
 *      name: value CRLF ...       Content-Length last
 *      CRLF
 *      block
 *      CRLF CRLF
 *
 * A member's gzip header says nothing of time or system, so the same record
 * gives the same bytes.
 *
 * Compressing is what an archive costs. libdeflate's level 1 takes half of
 * zlib's time for a page (29 us against 61 for 13 KB) and makes it smaller, but
 * wants all of the record in one piece; so records that are large go through
 * zlib, piece by piece, and no body of megabytes is copied for them. Either
 * state is made once and used again: making one costs more than compressing a
 * small page.
 */
#include "storage/warc_record.h"

#include <assert.h>
#include <libdeflate.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/clock.h"
#include "base/logger.h"
#include "base/mem.h"

#define GZIP_WINDOW  (15 + 16) /* zlib: write a gzip member */
#define MEMORY_LEVEL 8
#define HEAD_MOST    ((size_t)64 << 10)
#define SMALL_MOST   ((size_t)256 << 10) /* of a record made in one piece */
#define MOVED_MOST   ((size_t)1 << 31)   /* of one made again */

struct warc_maker {
    int level;
    struct libdeflate_compressor *small;
    z_stream *large; /* NULL until one comes */
    struct buf plain;
    EVP_MD_CTX *md;
    const EVP_MD *sha1;
    struct buf head;
};

static void no_memory(void)
{
    log_error("out of memory", "what=deflate");
    abort(); /* as xmalloc does */
}

struct warc_maker *warc_maker_new(int level)
{
    struct warc_maker *m = xcalloc(1, sizeof *m);

    m->level = level;
    buf_init(&m->head, HEAD_MOST);
    buf_init(&m->plain, MOVED_MOST);
    m->sha1 = EVP_sha1();
    m->md = EVP_MD_CTX_new();
    m->small = libdeflate_alloc_compressor(level);
    if (m->md == NULL || m->small == NULL)
        no_memory();
    return m;
}

static z_stream *large_of(struct warc_maker *m)
{
    if (m->large != NULL) {
        deflateReset(m->large);
        return m->large;
    }
    m->large = xcalloc(1, sizeof *m->large);
    if (deflateInit2(m->large, m->level, Z_DEFLATED, GZIP_WINDOW, MEMORY_LEVEL,
                     Z_DEFAULT_STRATEGY) != Z_OK)
        no_memory();
    return m->large;
}

void warc_maker_free(struct warc_maker *m)
{
    if (m == NULL)
        return;
    if (m->large != NULL)
        deflateEnd(m->large);
    free(m->large);
    libdeflate_free_compressor(m->small);
    EVP_MD_CTX_free(m->md);
    buf_fini(&m->head);
    buf_fini(&m->plain);
    free(m);
}

/* ---- identifiers and digests ---- */

void warc_new_id(char out[WARC_ID_SIZE])
{
    static const char hex[] = "0123456789abcdef";
    unsigned char r[16];
    size_t at = 10;
    int got = RAND_bytes(r, sizeof r);

    assert(got == 1);
    (void)got;
    r[6] = (unsigned char)(0x40 | (r[6] & 0x0f)); /* version 4 */
    r[8] = (unsigned char)(0x80 | (r[8] & 0x3f)); /* variant of RFC 4122 */
    memcpy(out, "<urn:uuid:", at);
    for (size_t i = 0; i < sizeof r; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            out[at++] = '-';
        out[at++] = hex[r[i] >> 4];
        out[at++] = hex[r[i] & 15];
    }
    out[at++] = '>';
    out[at] = '\0';
}

/* 20 octets are 32 groups of five bits. */
static void base32(const unsigned char in[20], char *out)
{
    static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

    for (size_t i = 0; i < 32; i++) {
        size_t bit = i * 5, byte = bit / 8;
        unsigned two =
            (unsigned)in[byte] << 8 | (byte + 1 < 20 ? in[byte + 1] : 0);

        out[i] = alphabet[two >> (11 - bit % 8) & 31];
    }
    out[32] = '\0';
}

void warc_digest(struct warc_maker *m, struct bytes piece, struct bytes more,
                 char out[WARC_DIGEST_SIZE])
{
    unsigned char sum[EVP_MAX_MD_SIZE] = {0};
    bool ok = EVP_DigestInit_ex(m->md, m->sha1, NULL) == 1 &&
              EVP_DigestUpdate(m->md, piece.at, piece.len) == 1 &&
              EVP_DigestUpdate(m->md, more.at, more.len) == 1 &&
              EVP_DigestFinal_ex(m->md, sum, NULL) == 1;

    assert(ok); /* SHA-1 of memory has nothing to fail at */
    (void)ok;
    snprintf(out, WARC_DIGEST_SIZE, "sha1:");
    base32(sum, out + 5);
}

/* ---- the head ---- */

static void add_bytes(struct warc_maker *m, const char *name,
                      struct bytes value)
{
    size_t from;

    if (value.len == 0)
        return;
    buf_add_str(&m->head, name);
    buf_add_str(&m->head, ": ");
    from = m->head.len;
    buf_add_bytes(&m->head, value);
    for (size_t i = from; i < m->head.len; i++) {
        unsigned char c = (unsigned char)m->head.at[i];

        if (c < ' ' || c == 0x7f)
            m->head.at[i] = '?';
    }
    buf_add_str(&m->head, "\r\n");
}

static void add_text(struct warc_maker *m, const char *name, const char *value)
{
    add_bytes(m, name, bytes_of_str(value));
}

static void add_date(struct warc_maker *m, const char *name, int64_t ms)
{
    char text[CLOCK_ISO_SIZE];

    if (ms == 0)
        return;
    clock_iso(text, ms);
    add_text(m, name, text);
}

static void lay_out_head(struct warc_maker *m, const struct warc_record *r)
{
    char digest[WARC_DIGEST_SIZE];

    buf_clear(&m->head);
    buf_add_str(&m->head, "WARC/1.1\r\n");
    add_text(m, "WARC-Type", r->type);
    add_text(m, "WARC-Record-ID", r->id);
    add_bytes(m, "WARC-Target-URI", r->uri);
    add_date(m, "WARC-Date", r->date_ms);
    add_bytes(m, "WARC-IP-Address", r->ip);
    add_text(m, "WARC-Filename", r->filename);
    add_text(m, "WARC-Warcinfo-ID", r->warcinfo_id);
    add_text(m, "WARC-Concurrent-To", r->concurrent_to);
    add_text(m, "WARC-Profile", r->profile);
    add_bytes(m, "WARC-Refers-To-Target-URI", r->refers_to_uri);
    add_date(m, "WARC-Refers-To-Date", r->refers_to_date_ms);
    add_text(m, "WARC-Truncated", r->truncated);
    add_text(m, "WARC-Protocol", r->protocol);
    add_bytes(m, "WARC-X-As-Received", r->as_received);
    add_text(m, "WARC-Payload-Digest", r->payload_digest);
    warc_digest(m, r->block, r->block_more, digest);
    add_text(m, "WARC-Block-Digest", digest);
    add_text(m, "Content-Type", r->content_type);
    buf_addf(&m->head, "Content-Length: %zu\r\n\r\n",
             r->block.len + r->block_more.len);
}

/* ---- the member ---- */

static enum status pack_small(struct warc_maker *m, struct bytes plain,
                              struct buf *out)
{
    size_t most = libdeflate_gzip_compress_bound(m->small, plain.len), n;
    char *at = buf_room(out, most);

    if (at == NULL)
        return STATUS_LIMIT;
    n = libdeflate_gzip_compress(m->small, plain.at, plain.len, at, most);
    assert(n > 0); /* there was room for the most it can be */
    buf_grew(out, n);
    return STATUS_OK;
}

/* Room for all of it was made, so each piece is taken whole. */
static void squeeze(z_stream *z, struct bytes piece, int flush)
{
    int rc;

    z->next_in = (Bytef *)piece.at;
    z->avail_in = (uInt)piece.len;
    rc = deflate(z, flush);
    assert(rc == (flush == Z_FINISH ? Z_STREAM_END : Z_OK) ||
           (rc == Z_BUF_ERROR && piece.len == 0));
    (void)rc;
}

static enum status pack_large(struct warc_maker *m, const struct bytes *pieces,
                              size_t n, size_t length, struct buf *out)
{
    z_stream *z = large_of(m);
    uLong most = deflateBound(z, (uLong)length);
    char *at = length <= UINT32_MAX / 2 ? buf_room(out, most) : NULL;

    if (at == NULL)
        return STATUS_LIMIT;
    z->next_out = (Bytef *)at;
    z->avail_out = (uInt)most;
    for (size_t i = 0; i < n; i++)
        squeeze(z, pieces[i], i + 1 < n ? Z_NO_FLUSH : Z_FINISH);
    buf_grew(out, (size_t)(most - z->avail_out));
    return STATUS_OK;
}

enum status warc_maker_add(struct warc_maker *m, const struct warc_record *r,
                           struct buf *out)
{
    struct bytes pieces[4];
    size_t length = 0;

    lay_out_head(m, r);
    if (buf_failed(&m->head) != STATUS_OK)
        return STATUS_LIMIT;
    pieces[0] = buf_bytes(&m->head);
    pieces[1] = r->block;
    pieces[2] = r->block_more;
    pieces[3] = bytes_of("\r\n\r\n", 4);
    for (size_t i = 0; i < 4; i++)
        length += pieces[i].len;
    if (length > SMALL_MOST)
        return pack_large(m, pieces, 4, length, out);
    buf_clear(&m->plain);
    for (size_t i = 0; i < 4; i++)
        buf_add_bytes(&m->plain, pieces[i]);
    return pack_small(m, buf_bytes(&m->plain), out);
}

/* ---- into another file ---- */

/* One member of *members into m->plain; *members is what follows it. */
static enum status unpack(struct warc_maker *m, struct bytes *members)
{
    z_stream z = {.next_in = (Bytef *)members->at,
                  .avail_in = (uInt)members->len};
    int rc = inflateInit2(&z, GZIP_WINDOW);

    buf_clear(&m->plain);
    while (rc == Z_OK) {
        char *at = buf_room(&m->plain, SMALL_MOST);

        if (at == NULL)
            break;
        z.next_out = (Bytef *)at;
        z.avail_out = SMALL_MOST;
        rc = inflate(&z, Z_NO_FLUSH);
        buf_grew(&m->plain, SMALL_MOST - z.avail_out);
    }
    *members = bytes_of(z.next_in, z.avail_in);
    inflateEnd(&z);
    if (rc == Z_OK || rc == Z_MEM_ERROR)
        return STATUS_LIMIT;
    return rc == Z_STREAM_END ? STATUS_OK : STATUS_FORMAT;
}

/* In the head alone: a block may hold anything. */
static bool change_info(struct bytes plain, const char *from, const char *to)
{
    static const char field[] = "WARC-Warcinfo-ID: ";
    const char *end = memmem(plain.at, plain.len, "\r\n\r\n", 4);
    size_t head = end != NULL ? (size_t)(end - plain.at) : 0;
    char *at =
        head > 0 ? memmem(plain.at, head, field, sizeof field - 1) : NULL;

    assert(strlen(from) == strlen(to));
    if (at == NULL ||
        strncmp(at + sizeof field - 1, from, strlen(from)) != 0)
        return false;
    memcpy(at + sizeof field - 1, to, strlen(to));
    return true;
}

enum status warc_maker_move(struct warc_maker *m, struct bytes members,
                            const char *from, const char *to, struct buf *out)
{
    enum status st = STATUS_OK;

    while (st == STATUS_OK && members.len > 0) {
        struct bytes plain;

        st = unpack(m, &members);
        plain = buf_bytes(&m->plain);
        if (st == STATUS_OK && !change_info(plain, from, to))
            st = STATUS_FORMAT;
        else if (st == STATUS_OK && plain.len <= SMALL_MOST)
            st = pack_small(m, plain, out);
        else if (st == STATUS_OK)
            st = pack_large(m, &plain, 1, plain.len, out);
    }
    if (m->plain.cap > 2 * SMALL_MOST)
        buf_fini(&m->plain);
    return st;
}
