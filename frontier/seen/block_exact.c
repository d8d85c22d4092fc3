/* SPDX-License-Identifier: MIT */
/*
 * block_exact.c - a set of URLs in a file, searched on disk.
 *
 *   offset  octets
 *        0      16  "urlweir block 1\n"
 *       16      32  seed of the digests
 *       48       8  size of the list it was made from
 *       56       8  its time of change, in nanoseconds
 *       64       8  digests
 *       72       8  0
 *       80       8  XXH3 of all digests
 *       88       8  XXH3 of the header up to here
 *       96      16  each: a digest, high half first, most significant first
 *
 * Numbers are little-endian; digests are sorted, for binary search. A SQLite
 * table would be four times as large and slow to fill in random order; sorting
 * takes one pass. storage/db/line_sort.h sorts the digests as hexadecimal
 * lines, in bounded memory.
 */
#include "frontier/seen/block_exact.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/ascii.h"
#include "base/digest.h"
#include "base/file/file.h"
#include "base/file/line_input.h"
#include "base/mem.h"
#include "frontier/url/url.h"
#include "storage/db/line_sort.h"

#define MAGIC       "urlweir block 1\n"
#define HEADER      96
#define DIGEST      16
#define SORT_MEMORY ((size_t)32 << 20)
#define SHOWN_MOST  ((size_t)200) /* octets of a line that are shown */

struct block_exact {
    int fd;
    uint64_t count;
    uint64_t list_size, list_time;
    unsigned char seed[DIGEST_SEED_SIZE];
    struct digest_key key;
};

/* ---- numbers ---- */

static void put_u64(unsigned char *at, uint64_t n)
{
    for (int i = 0; i < 8; i++)
        at[i] = (unsigned char)(n >> (8 * i) & 255);
}

static uint64_t get_u64(const unsigned char *at)
{
    uint64_t n = 0;

    for (int i = 7; i >= 0; i--)
        n = n << 8 | at[i];
    return n;
}

static void put_digest(unsigned char *at, struct digest d)
{
    for (int i = 0; i < 8; i++) {
        at[i] = (unsigned char)(d.hi >> (56 - 8 * i) & 255);
        at[8 + i] = (unsigned char)(d.lo >> (56 - 8 * i) & 255);
    }
}

/* ---- making it ---- */

struct making {
    struct block_exact *b;
    const char *list;
    struct line_input *in;
    struct url url;
    struct buf *why;
    struct line_sort *sort;
    struct file_writer *out;
    XXH3_state_t *sum;
    unsigned char last[DIGEST];
};

/* A line that is no URL would block nothing, whatever it was meant to. */
static enum status refuse_line(const struct making *m, struct bytes line,
                               const char *why)
{
    if (line.len > SHOWN_MOST)
        line.len = SHOWN_MOST;
    buf_addf(m->why, "%s: line %" PRIu64 ": '", m->list,
             line_input_number(m->in));
    buf_add_bytes(m->why, line);
    buf_addf(m->why, "' is not an http(s) URL (%s)", why);
    return STATUS_FORMAT;
}

static enum status add_line(void *ctx, struct bytes line, bool too_long)
{
    struct making *m = ctx;
    unsigned char octets[DIGEST];
    char hex[2 * DIGEST + 1];
    enum url_reason r = URL_LENGTH;

    line = line_entry(line);
    if (line.len == 0 && !too_long)
        return STATUS_OK;
    if (!too_long)
        r = url_canonical(&m->url, line, NULL, NULL);
    if (r != URL_OK)
        return refuse_line(m, line, url_reason_text(r));
    put_digest(octets, digest_bytes(&m->b->key, url_text(&m->url)));
    for (int i = 0; i < DIGEST; i++)
        snprintf(hex + 2 * i, 3, "%02x", octets[i]);
    return line_sort_add(m->sort, bytes_of(hex, 2 * DIGEST));
}

static enum status read_list(struct making *m)
{
    enum status st;

    m->in = line_input_new(&m->list, 1);
    url_init(&m->url);
    st = line_input_each(m->in, add_line, m);
    if (line_input_error(m->in)[0] != '\0')
        buf_add_str(m->why, line_input_error(m->in));
    url_fini(&m->url);
    line_input_free(m->in);
    return st;
}

/* Writes the next digest, unless it equals the one before. */
static enum status write_digest(void *ctx, struct bytes line)
{
    struct making *m = ctx;
    unsigned char octets[DIGEST];

    for (int i = 0; i < DIGEST; i++)
        octets[i] = (unsigned char)(ascii_hex(line.at[2 * i]) * 16 +
                                    ascii_hex(line.at[2 * i + 1]));
    if (m->b->count > 0 && memcmp(octets, m->last, DIGEST) == 0)
        return STATUS_OK;
    memcpy(m->last, octets, DIGEST);
    m->b->count++;
    XXH3_64bits_update(m->sum, octets, DIGEST);
    return file_writer_write(m->out, octets, DIGEST);
}

static void fill_header(const struct block_exact *b, uint64_t sum,
                        unsigned char header[HEADER])
{
    /* The field has no terminating zero: NOLINTNEXTLINE */
    memcpy(header, MAGIC, 16);
    memcpy(header + 16, b->seed, DIGEST_SEED_SIZE);
    put_u64(header + 48, b->list_size);
    put_u64(header + 56, b->list_time);
    put_u64(header + 64, b->count);
    put_u64(header + 72, 0);
    put_u64(header + 80, sum);
    put_u64(header + 88, XXH3_64bits(header, 88));
}

/* The header's numbers are known last, so the header with the magic is written
 * when the rest of the file is whole; a file without it is not used. */
static enum status finish_header(const struct block_exact *b, uint64_t sum,
                                 const char *path)
{
    unsigned char header[HEADER];
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    enum status st = STATUS_OK;

    if (fd < 0)
        return status_of_errno(errno);
    fill_header(b, sum, header);
    if (pwrite(fd, header, HEADER, 0) != HEADER || fsync(fd) != 0)
        st = status_of_errno(errno);
    close(fd);
    return st;
}

static enum status make(struct block_exact *b, const char *list,
                        const char *path, struct buf *why)
{
    static const unsigned char blank[HEADER];
    struct making m = {.b = b, .list = list, .why = why};
    char *dir = xstrdup(path), *slash = strrchr(dir, '/');
    enum status st = STATUS_IO;

    if (slash != NULL)
        *slash = '\0';
    if (getrandom(b->seed, sizeof b->seed, 0) == (ssize_t)sizeof b->seed)
        st = STATUS_OK;
    digest_key_init(&b->key, b->seed);
    m.sort = line_sort_new(slash != NULL ? dir : ".", SORT_MEMORY);
    m.sum = XXH3_createState();
    XXH3_64bits_reset(m.sum);
    if (st == STATUS_OK)
        st = read_list(&m);
    if (st == STATUS_OK)
        st = file_writer_open(&m.out, path);
    if (st == STATUS_OK)
        st = file_writer_write(m.out, blank, sizeof blank);
    if (st == STATUS_OK)
        st = line_sort_each(m.sort, write_digest, &m);
    if (st == STATUS_OK)
        st = file_writer_commit(m.out);
    if (st == STATUS_OK)
        st = finish_header(b, XXH3_64bits_digest(m.sum), path);
    file_writer_close(m.out);
    line_sort_free(m.sort);
    XXH3_freeState(m.sum);
    free(dir);
    return st;
}

/* ---- opening it ---- */

static bool digests_are_whole(int fd, uint64_t count, uint64_t sum)
{
    XXH3_state_t *state = XXH3_createState();
    unsigned char *room = xmalloc((size_t)1 << 20);
    uint64_t left = count * DIGEST, at = HEADER, got;

    XXH3_64bits_reset(state);
    while (left > 0) {
        size_t want = left < (1 << 20) ? (size_t)left : (size_t)1 << 20;
        ssize_t n = pread(fd, room, want, (off_t)at);

        if (n <= 0)
            break;
        XXH3_64bits_update(state, room, (size_t)n);
        left -= (uint64_t)n;
        at += (uint64_t)n;
    }
    got = XXH3_64bits_digest(state);
    XXH3_freeState(state);
    free(room);
    return left == 0 && got == sum;
}

/* Is the file at `path` whole, and made from the list as it is now? */
static bool take_file(struct block_exact *b, const char *path)
{
    unsigned char header[HEADER];
    struct stat s;

    b->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (b->fd < 0)
        return false;
    if (pread(b->fd, header, HEADER, 0) == HEADER &&
        memcmp(header, MAGIC, 16) == 0 &&
        get_u64(header + 88) == XXH3_64bits(header, 88) &&
        get_u64(header + 48) == b->list_size &&
        get_u64(header + 56) == b->list_time && fstat(b->fd, &s) == 0) {
        b->count = get_u64(header + 64);
        memcpy(b->seed, header + 16, sizeof b->seed);
        digest_key_init(&b->key, b->seed);
        if ((uint64_t)s.st_size >= HEADER &&
            b->count == ((uint64_t)s.st_size - HEADER) / DIGEST &&
            digests_are_whole(b->fd, b->count, get_u64(header + 80)))
            return true;
    }
    close(b->fd);
    b->fd = -1;
    return false;
}

/* Says why it cannot be used, unless a line or the reader has said more. */
static void say(const char *list, enum status st, struct buf *why)
{
    if (why->len == 0)
        buf_addf(why, "%s: %s", list,
                 st == STATUS_NOT_FOUND ? "no such file"
                 : st == STATUS_FORMAT  ? "it holds no URL"
                                        : status_text(st));
}

enum status block_exact_open(struct block_exact **out, const char *list,
                             const char *path, struct buf *why)
{
    struct block_exact *b;
    struct stat s;
    enum status st = STATUS_OK;

    if (stat(list, &s) != 0) {
        st = status_of_errno(errno);
        say(list, st, why);
        return st;
    }
    b = xcalloc(1, sizeof *b);
    b->fd = -1;
    b->list_size = (uint64_t)s.st_size;
    b->list_time =
        (uint64_t)s.st_mtim.tv_sec * 1000000000 + (uint64_t)s.st_mtim.tv_nsec;
    if (!take_file(b, path)) {
        b->count = 0;
        st = make(b, list, path, why);
        if (st == STATUS_OK && !take_file(b, path))
            st = STATUS_DAMAGED;
    }
    if (st == STATUS_OK && b->count == 0)
        st = STATUS_FORMAT;
    if (st != STATUS_OK) {
        say(list, st, why);
        block_exact_close(b);
        return st;
    }
    *out = b;
    return STATUS_OK;
}

void block_exact_close(struct block_exact *b)
{
    if (b == NULL)
        return;
    if (b->fd >= 0)
        close(b->fd);
    free(b);
}

/* ---- asking ---- */

enum status block_exact_has(struct block_exact *b, struct bytes url, bool *has)
{
    unsigned char want[DIGEST], there[DIGEST];
    uint64_t low = 0, behind = b->count;

    put_digest(want, digest_bytes(&b->key, url));
    *has = false;
    while (low < behind && !*has) {
        uint64_t middle = low + (behind - low) / 2;
        int order;

        if (pread(b->fd, there, DIGEST, (off_t)(HEADER + middle * DIGEST)) !=
            DIGEST)
            return STATUS_IO;
        order = memcmp(want, there, DIGEST);
        *has = order == 0;
        if (order < 0)
            behind = middle;
        else
            low = middle + 1;
    }
    return STATUS_OK;
}

uint64_t block_exact_count(const struct block_exact *b)
{
    return b->count;
}
