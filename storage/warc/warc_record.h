/*
 * warc_record.h - one WARC/1.1 record as one gzip member.
 *
 * Lays out a record of ISO 28500:2017 (WARC/1.1, sections 4 to 6) and
 * compresses it. The caller is responsible for what the fields say, but not for
 * their octets: control characters in a value become `?`, so that no URL or
 * header from the web can end a line. A maker belongs to one thread; its memory
 * is some 500 KB, whatever the size of a record.
 */
#ifndef URLWEIR_STORAGE_WARC_WARC_RECORD_H
#define URLWEIR_STORAGE_WARC_WARC_RECORD_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/status.h"

#define WARC_ID_SIZE     48 /* "<urn:uuid:...>" and a zero byte */
#define WARC_DIGEST_SIZE 38 /* "sha1:", 32 characters and a zero byte */

#define WARC_SAME_PAYLOAD                                                      \
    "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
#define WARC_NOT_MODIFIED                                                      \
    "http://netpreserve.org/warc/1.1/revisit/server-not-modified"

/* Fields that are empty, NULL or 0 are left out; `type`, `id` and `date_ms` are
 * required. Bytes are borrowed during the call. */
struct warc_record {
    const char *type;           /* "response" */
    const char *id;             /* warc_new_id */
    int64_t date_ms;            /* the moment of the request */
    struct bytes uri;           /* WARC-Target-URI */
    struct bytes ip;            /* WARC-IP-Address */
    const char *content_type;   /* of the block */
    const char *warcinfo_id;    /* of the file's warcinfo record */
    const char *concurrent_to;  /* id of the other record */
    const char *payload_digest; /* warc_digest */
    const char *truncated;      /* "length", "time", "disconnect" */
    const char *protocol;       /* WARC-Protocol: "h2" */
    const char *profile;        /* of a revisit: one of the two URLs above */
    struct bytes refers_to_uri; /* of the record with the same payload */
    int64_t refers_to_date_ms;
    const char *filename;     /* WARC-Filename, of warcinfo */
    struct bytes as_received; /* WARC-X-As-Received: header fields that were
                                 changed, as they came over the wire */
    struct bytes block, block_more; /* the block, in two pieces */
};

struct warc_maker;

/* Ends the process if there is no memory, as xmalloc does. */
struct warc_maker *warc_maker_new(void);
void warc_maker_free(struct warc_maker *m); /* NULL is fine */

/* Appends the record to `out`, one whole gzip member with WARC-Block-Digest.
 * STATUS_LIMIT: over the ceiling of `out`, which then holds part of it. */
MUST_CHECK enum status warc_maker_add(struct warc_maker *m,
                                      const struct warc_record *r,
                                      struct buf *out);

/* Appends `members`, made by warc_maker_add, to `out` again, with the id of
 * their warcinfo record changed from `from` to `to`. STATUS_FORMAT: they are
 * not such members. STATUS_LIMIT: as above. */
MUST_CHECK enum status warc_maker_move(struct warc_maker *m,
                                       struct bytes members, const char *from,
                                       const char *to, struct buf *out);

/* A fresh random UUID (RFC 4122 section 4.4). */
void warc_new_id(char out[WARC_ID_SIZE]);
/* "sha1:" and the SHA-1 of both pieces in base32 (RFC 4648 section 6), which
 * for 20 octets needs no padding. */
void warc_digest(struct warc_maker *m, struct bytes piece, struct bytes more,
                 char out[WARC_DIGEST_SIZE]);

/*
 * Octets as one gzip member of a WARC file.
 *
 * A member is compressed at ISA-L's level 1, or, if it is a small record of
 * fields and lines alone (request, metadata, a revisit), by Huffman tables made
 * beforehand for such text: making tables of its own takes most of the time
 * for a few hundred octets. Both are plain gzip, and equal octets always give
 * equal members. One thread at a time; some 450 KB, whatever is packed.
 */

/* A record of lines that is larger takes level 1: it gains more by it. */
#define WARC_LINES_MOST ((size_t)4 << 10)

struct warc_packer;

/* Ends the process if there is no memory, as xmalloc does. */
struct warc_packer *warc_packer_new(void);
void warc_packer_free(struct warc_packer *p); /* NULL is fine */

/* Appends `n` pieces as one member. STATUS_LIMIT: over the ceiling of `out`,
 * which then holds part of it, or a piece has 2 GiB and more. */
MUST_CHECK enum status warc_pack(struct warc_packer *p,
                                 const struct bytes *pieces, size_t n,
                                 struct buf *out);

/* Appends a record of WARC_LINES_MOST octets at most; any octets will do, those
 * of fields and URLs become small. STATUS_LIMIT: over the ceiling of `out`,
 * which is as it was. */
MUST_CHECK enum status warc_pack_lines(struct warc_packer *p,
                                       struct bytes record, struct buf *out);

#endif
