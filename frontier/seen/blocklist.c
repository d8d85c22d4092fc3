/* SPDX-License-Identifier: MIT */
/*
 * blocklist.c - a filter and an exact list of URLs to keep out of a crawl.
 *
 * The frontier thread asks in batches, and only about URLs that were not seen
 * before. A URL that is in the crawl is not asked about; a blocked one is asked
 * about each time it is found.
 */
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
#include "base/logger.h"
#include "base/mem.h"
#include "filter/checkpoint.h"
#include "filter/redis/redis_bloom.h"
#include "frontier/seen/blocklist.h"
#include "frontier/url/url.h"
#include "storage/db/line_sort.h"

/*
 * The exact list, a set of URLs in a file, searched on disk.
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

#define BATCH 256

struct blocklist {
    struct filter *filter;     /* read from a file, or NULL */
    struct redis_bloom *redis; /* or a Redis filter */
    bool by_text;              /* keys are the octets themselves */
    struct digest_key key;
    struct block_exact *exact;
    struct blocklist_counts counts;
    bool told;
};

/* ---- opening ---- */

/* The advice for keys that are no canonical URLs. */
#define MAKE_IT "make it with `urlweir filter add --urls`"

static void doubt(const char *filter)
{
    log_warn("it is not known whether the blocklist's keys are canonical "
             "URLs; other keys block nothing",
             "filter=%s advice=\"" MAKE_IT "\"", filter);
}

/* A blocklist that blocks nothing is taken for a guard, so it is refused. */
static enum status check_keys(const struct blocklist *b, const char *path,
                              enum checkpoint_keys are, struct buf *error)
{
    const char *wrong = NULL;
    struct filter_stats s;

    filter_stats(b->filter, &s);
    if (s.count == 0)
        wrong = "it is empty, so that nothing would be blocked";
    else if (are == CHECKPOINT_KEYS_OTHER)
        wrong = "its keys are not canonical URLs, or not all of them, and such "
                "keys block nothing; " MAKE_IT;
    else if (are == CHECKPOINT_KEYS_UNKNOWN)
        doubt(path);
    if (wrong == NULL)
        return STATUS_OK;
    buf_addf(error, "%s: %s", path, wrong);
    return STATUS_FORMAT;
}

static enum status open_file(struct blocklist *b, const char *path,
                             uint64_t memory, struct buf *error)
{
    struct checkpoint_info info;
    enum status st = checkpoint_peek(path, &info);

    if (st == STATUS_OK && !info.id.has_seed) {
        buf_addf(error,
                 "%s: this filter belongs to a crawl, and its keys depend on "
                 "that crawl's secret; make one with `urlweir filter create`",
                 path);
        return STATUS_ARG;
    }
    if (st == STATUS_OK) {
        digest_key_init(&b->key, info.id.seed);
        st = checkpoint_load(&b->filter, path, info.id.seed_print, NULL, memory,
                             &info);
    }
    if (st != STATUS_OK)
        buf_addf(error, "%s: %s", path,
                 st == STATUS_NOT_FOUND ? "no such file"
                 : st == STATUS_FORMAT  ? "not a filter file"
                                        : status_text(st));
    return st == STATUS_OK ? check_keys(b, path, info.id.keys, error) : st;
}

static enum status open_redis(struct blocklist *b, const char *url,
                              struct buf *error)
{
    struct redis_place place;
    struct redis_bloom_options o = {.place = &place, .mode = REDIS_BLOOM_OPEN};
    struct redis_bloom_info info;
    enum status st = redis_url_parse(&place, url, error);

    if (st == STATUS_OK)
        st = redis_bloom_open(&b->redis, &o, error);
    if (st != STATUS_OK)
        return st;
    redis_bloom_known(b->redis, &info);
    b->by_text = info.layout == REDIS_PLAIN;
    if (!b->by_text && !info.has_seed) {
        buf_addf(error,
                 "%s: this filter belongs to crawls, and its keys depend on "
                 "their secrets; make one with `urlweir filter create`",
                 place.key);
        return STATUS_ARG;
    }
    digest_key_init(&b->key, info.seed);
    if (info.count == 0 && !info.foreign)
        log_warn("the blocklist has no keys yet, and blocks nothing",
                 "filter=%s", place.key);
    else
        doubt(place.key);
    return STATUS_OK;
}

enum status blocklist_open(struct blocklist **out,
                           const struct blocklist_options *o, struct buf *error)
{
    struct blocklist *b = xcalloc(1, sizeof *b);
    enum status st = redis_address_is_url(o->filter)
                         ? open_redis(b, o->filter, error)
                         : open_file(b, o->filter, o->memory, error);

    if (st == STATUS_OK && o->exact != NULL) {
        st = block_exact_open(&b->exact, o->exact, o->kept, error);
    }
    if (st != STATUS_OK) {
        blocklist_close(b);
        return st;
    }
    *out = b;
    return STATUS_OK;
}

void blocklist_close(struct blocklist *b)
{
    if (b == NULL)
        return;
    filter_free(b->filter);
    redis_bloom_free(b->redis);
    block_exact_close(b->exact);
    free(b);
}

/* ---- asking ---- */

/* Asks the filter; false: it is out of reach. */
static bool ask_filter(struct blocklist *b, const struct bytes *urls, size_t n,
                       bool *maybe)
{
    struct redis_keys keys = {.text = urls};
    uint64_t digests[BATCH];
    enum status st = STATUS_CLOSED;
    struct buf why;

    for (size_t i = 0; !b->by_text && i < n; i++)
        digests[i] = digest_bytes(&b->key, urls[i]).hi;
    if (!b->by_text)
        keys = (struct redis_keys){.digest = digests};
    if (b->filter != NULL) {
        filter_check(b->filter, digests, n, maybe);
        return true;
    }
    if (redis_bloom_is_due(b->redis))
        st = redis_bloom_check(b->redis, keys, n, maybe);
    if (st == STATUS_OK)
        return true;
    if (!b->told) {
        b->told = true;
        buf_init(&why, 2048);
        redis_bloom_why(b->redis, st, &why);
        log_warn("the blocklist's filter cannot be asked",
                 "why=\"%s\" meanwhile=\"%s\"", buf_str(&why),
                 b->exact != NULL ? "the exact list alone decides"
                                  : "nothing is blocked");
        buf_fini(&why);
    }
    b->counts.unsure += n;
    memset(maybe, b->exact != NULL, n * sizeof *maybe);
    return false;
}

static enum status check_batch(struct blocklist *b, const struct bytes *urls,
                               size_t n, bool *blocked)
{
    bool asked = ask_filter(b, urls, n, blocked);
    enum status st = STATUS_OK;

    if (asked)
        b->told = false;
    b->counts.asked += n;
    for (size_t i = 0; st == STATUS_OK && i < n; i++) {
        bool has = true;

        if (!blocked[i])
            continue;
        if (b->exact != NULL)
            st = block_exact_has(b->exact, urls[i], &has);
        blocked[i] = has;
        b->counts.blocked += has;
        b->counts.false_positives += asked && !has;
    }
    return st;
}

enum status blocklist_check(struct blocklist *b, const struct bytes *urls,
                            size_t n, bool *blocked)
{
    enum status st = STATUS_OK;

    for (size_t at = 0; st == STATUS_OK && at < n; at += BATCH)
        st = check_batch(b, urls + at, n - at < BATCH ? n - at : BATCH,
                         blocked + at);
    return st;
}

struct blocklist_counts blocklist_counts(const struct blocklist *b)
{
    return b->counts;
}

struct blocklist_size blocklist_size(const struct blocklist *b)
{
    struct blocklist_size size = {
        .exact_keys = b->exact != NULL ? block_exact_count(b->exact) : 0};
    struct redis_bloom_info info;
    struct filter_stats s;

    if (b->filter != NULL) {
        filter_stats(b->filter, &s);
        size.keys = s.count;
        size.rate = s.fpr_predicted;
    } else {
        redis_bloom_known(b->redis, &info);
        size.keys = info.count;
        size.rate = info.fpr_predicted;
    }
    return size;
}
