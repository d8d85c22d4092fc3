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
 * gives the same bytes. The deflate state is made once and reset: making it
 * costs more than compressing a small page.
 */
#include "storage/warc_record.h"

#include <assert.h>
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

struct warc_maker {
    z_stream z;
    EVP_MD_CTX *md;
    const EVP_MD *sha1;
    struct buf head;
};

struct warc_maker *warc_maker_new(int level)
{
    struct warc_maker *m = xcalloc(1, sizeof *m);

    buf_init(&m->head, HEAD_MOST);
    m->sha1 = EVP_sha1();
    m->md = EVP_MD_CTX_new();
    if (m->md == NULL ||
        deflateInit2(&m->z, level, Z_DEFLATED, GZIP_WINDOW, MEMORY_LEVEL,
                     Z_DEFAULT_STRATEGY) != Z_OK) {
        log_error("out of memory", "what=deflate");
        abort();
    }
    return m;
}

void warc_maker_free(struct warc_maker *m)
{
    if (m == NULL)
        return;
    deflateEnd(&m->z);
    EVP_MD_CTX_free(m->md);
    buf_fini(&m->head);
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

/* Room for all of it was made, so each piece is taken whole. */
static void squeeze(struct warc_maker *m, struct bytes piece, int flush)
{
    int rc;

    m->z.next_in = (Bytef *)piece.at;
    m->z.avail_in = (uInt)piece.len;
    rc = deflate(&m->z, flush);
    assert(rc == (flush == Z_FINISH ? Z_STREAM_END : Z_OK) ||
           (rc == Z_BUF_ERROR && piece.len == 0));
    (void)rc;
}

enum status warc_maker_add(struct warc_maker *m, const struct warc_record *r,
                           struct buf *out)
{
    size_t length;
    uLong most;
    char *at;

    lay_out_head(m, r);
    if (buf_failed(&m->head) != STATUS_OK)
        return STATUS_LIMIT;
    length = m->head.len + r->block.len + r->block_more.len + 4;
    if (length > UINT32_MAX / 2)
        return STATUS_LIMIT;
    deflateReset(&m->z);
    most = deflateBound(&m->z, (uLong)length);
    at = buf_room(out, most);
    if (at == NULL)
        return STATUS_LIMIT;
    m->z.next_out = (Bytef *)at;
    m->z.avail_out = (uInt)most;
    squeeze(m, buf_bytes(&m->head), Z_NO_FLUSH);
    squeeze(m, r->block, Z_NO_FLUSH);
    squeeze(m, r->block_more, Z_NO_FLUSH);
    squeeze(m, bytes_of("\r\n\r\n", 4), Z_FINISH);
    buf_grew(out, (size_t)(most - m->z.avail_out));
    return STATUS_OK;
}
