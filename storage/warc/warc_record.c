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
 * The gzip header has neither time nor system, so equal records give equal
 * bytes.
 *
 * Compression is the main cost of an archive: for the three records of a 9.7 KB
 * page zlib's level 1 takes 129 us, libdeflate's 69, ISA-L's 51, with output of
 * about the same size. ISA-L also takes a record piece by piece, so no body is
 * copied. Its state is made once and reused.
 */
#include "storage/warc/warc_record.h"

#include <assert.h>
#include <isa-l/igzip_lib.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/file/gunzip.h"
#include "base/mem.h"

#define HEAD_MOST ((size_t)64 << 10)
#define MOVED_MOST                                                             \
    ((size_t)1 << 31) /* octets unpacked, of a record to move                  \
                       */
#define PLAIN_KEPT ((size_t)512 << 10)
#define ROOM_LEAST ((size_t)512) /* for gzip's header, trailer and tables */

struct warc_maker {
    struct isal_zstream z;
    uint8_t tokens[ISAL_DEF_LVL1_DEFAULT]; /* ISA-L's, for level 1 */
    EVP_MD_CTX *md;
    const EVP_MD *sha1;
    struct buf head;
    struct buf plain; /* the record being moved */
};

struct warc_maker *warc_maker_new(void)
{
    struct warc_maker *m = xcalloc(1, sizeof *m);

    buf_init(&m->head, HEAD_MOST);
    buf_init(&m->plain, MOVED_MOST);
    m->sha1 = EVP_sha1();
    m->md = EVP_MD_CTX_new();
    if (m->md == NULL)
        mem_out(EVP_MAX_MD_SIZE);
    return m;
}

void warc_maker_free(struct warc_maker *m)
{
    if (m == NULL)
        return;
    EVP_MD_CTX_free(m->md);
    buf_fini(&m->head);
    buf_fini(&m->plain);
    free(m);
}

/* ---- identifiers and digests ---- */

/* Gets random octets for many identifiers at once: each system call costs as
 * much as a small digest. */
static void draw(unsigned char out[16])
{
    static _Thread_local unsigned char drawn[1024];
    static _Thread_local size_t left;

    if (left == 0) {
        int got = RAND_bytes(drawn, sizeof drawn);

        assert(got == 1);
        (void)got;
        left = sizeof drawn;
    }
    left -= 16;
    memcpy(out, drawn + left, 16);
}

void warc_new_id(char out[WARC_ID_SIZE])
{
    static const char hex[] = "0123456789abcdef";
    unsigned char r[16];
    size_t at = 10;

    draw(r);
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

    assert(ok); /* SHA-1 of memory cannot fail */
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

/* Compresses all of `piece`; `out` grows as needed. */
static enum status squeeze(struct isal_zstream *z, struct bytes piece,
                           bool last, struct buf *out)
{
    z->next_in = (uint8_t *)piece.at;
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

static enum status pack(struct warc_maker *m, const struct bytes *pieces,
                        size_t n, struct buf *out)
{
    enum status st = STATUS_OK;

    isal_deflate_init(&m->z);
    m->z.level = 1;
    m->z.level_buf = m->tokens;
    m->z.level_buf_size = sizeof m->tokens;
    m->z.gzip_flag = IGZIP_GZIP;
    m->z.flush = NO_FLUSH;
    for (size_t i = 0; st == STATUS_OK && i < n; i++)
        st = pieces[i].len <= UINT32_MAX / 2
                 ? squeeze(&m->z, pieces[i], i + 1 == n, out)
                 : STATUS_LIMIT;
    return st;
}

enum status warc_maker_add(struct warc_maker *m, const struct warc_record *r,
                           struct buf *out)
{
    struct bytes pieces[4];

    lay_out_head(m, r);
    if (buf_failed(&m->head) != STATUS_OK)
        return STATUS_LIMIT;
    pieces[0] = buf_bytes(&m->head);
    pieces[1] = r->block;
    pieces[2] = r->block_more;
    pieces[3] = bytes_of("\r\n\r\n", 4);
    return pack(m, pieces, 4, out);
}

/* ---- moving into another file ---- */

/* Changes the head only: a block may hold anything. */
static bool change_info(struct bytes plain, const char *from, const char *to)
{
    static const char field[] = "WARC-Warcinfo-ID: ";
    const char *end = memmem(plain.at, plain.len, "\r\n\r\n", 4);
    size_t head = end != NULL ? (size_t)(end - plain.at) : 0;
    char *at =
        head > 0 ? memmem(plain.at, head, field, sizeof field - 1) : NULL;

    assert(strlen(from) == strlen(to));
    if (at == NULL || strncmp(at + sizeof field - 1, from, strlen(from)) != 0)
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

        buf_clear(&m->plain);
        st = gunzip_member(&members, &m->plain);
        plain = buf_bytes(&m->plain);
        if (st == STATUS_OK && !change_info(plain, from, to))
            st = STATUS_FORMAT;
        else if (st == STATUS_OK)
            st = pack(m, &plain, 1, out);
    }
    if (m->plain.cap > PLAIN_KEPT)
        buf_fini(&m->plain);
    return st;
}
