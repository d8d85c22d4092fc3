/* SPDX-License-Identifier: MIT */
/*
 * checkpoint_load.c - reading a filter back from a file.
 *
 * The file is untrusted until it verifies: each number is bounded before it is
 * used, and we take no more memory than the file has octets.
 */
#include "filter/checkpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/logger.h"
#include "base/mem.h"
#include "filter/checkpoint_format.h"
#include "filter/kind.h"

struct reader {
    const char *path;
    int fd;
    uint64_t size;
    unsigned char header[CHECKPOINT_HEADER_SIZE];
};

static enum status refuse(const char *path, enum status st, const char *why)
{
    log_error("filter file refused", "path=%s why=\"%s\"", path, why);
    return st;
}

/* False if the file is shorter or cannot be read. */
static bool read_at(const struct reader *r, uint64_t offset, void *to,
                    size_t len)
{
    unsigned char *at = to;

    while (len > 0) {
        ssize_t n = pread(r->fd, at, len, (off_t)offset);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        at += n;
        offset += (uint64_t)n;
        len -= (size_t)n;
    }
    return true;
}

static bool read_header(struct reader *r, uint64_t offset)
{
    return read_at(r, offset, r->header, CHECKPOINT_HEADER_SIZE) &&
           memcmp(r->header, CHECKPOINT_MAGIC, 8) == 0 &&
           checkpoint_get_u64(r->header + AT_SUM) ==
               XXH3_64bits(r->header, AT_SUM);
}

/* Text of a header field: zero-padded, never unterminated. */
static bool field_is(const struct reader *r, enum header_at at, size_t size,
                     const char *text)
{
    return strlen(text) < size &&
           strncmp((const char *)r->header + at, text, size) == 0;
}

static enum status check_header(struct reader *r)
{
    uint64_t units;

    if (r->size < 2 * CHECKPOINT_HEADER_SIZE)
        return refuse(r->path, STATUS_FORMAT, "shorter than its headers");
    if (!read_header(r, 0) &&
        !read_header(r, r->size - CHECKPOINT_HEADER_SIZE)) {
        char magic[8];

        if (read_at(r, 0, magic, 8) && memcmp(magic, CHECKPOINT_MAGIC, 8) == 0)
            return refuse(r->path, STATUS_DAMAGED, "damaged header");
        return refuse(r->path, STATUS_FORMAT, "not a filter file");
    }
    if (checkpoint_get_u32(r->header + AT_VERSION) > CHECKPOINT_VERSION)
        return refuse(r->path, STATUS_VERSION, "of a newer release");
    if (checkpoint_get_u32(r->header + AT_VERSION) < 1 ||
        checkpoint_get_u32(r->header + AT_LENGTH) != CHECKPOINT_HEADER_SIZE)
        return refuse(r->path, STATUS_FORMAT, "unknown version");
    if (!field_is(r, AT_HASH, 32, CHECKPOINT_HASH))
        return refuse(r->path, STATUS_FORMAT, "made with another hash");
    units = checkpoint_get_u64(r->header + AT_UNITS);
    if (units > (r->size - 2 * CHECKPOINT_HEADER_SIZE) / CHECKPOINT_ENTRY_SIZE)
        return refuse(r->path, STATUS_DAMAGED, "cut short");
    return STATUS_OK;
}

static enum status reader_open(struct reader *r, const char *path)
{
    struct stat sb;
    enum status st;

    *r = (struct reader){.path = path};
    r->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (r->fd < 0 || fstat(r->fd, &sb) != 0 || !S_ISREG(sb.st_mode)) {
        st = r->fd < 0 ? status_of_errno(errno) : STATUS_FORMAT;
        if (st != STATUS_NOT_FOUND) /* the caller decides what a missing file
                                     * means */
            (void)refuse(path, st, "cannot be read");
    } else {
        r->size = (uint64_t)sb.st_size;
        st = check_header(r);
    }
    if (st != STATUS_OK && r->fd >= 0)
        close(r->fd);
    return st;
}

static enum checkpoint_keys keys_of(uint64_t n)
{
    return n == CHECKPOINT_KEYS_URLS || n == CHECKPOINT_KEYS_OTHER
               ? (enum checkpoint_keys)n
               : CHECKPOINT_KEYS_UNKNOWN;
}

static void fill_info(const struct reader *r, struct checkpoint_info *info)
{
    memset(info, 0, sizeof *info);
    info->id.seed_print = checkpoint_get_u64(r->header + AT_SEED);
    info->id.generation = checkpoint_get_u64(r->header + AT_GENERATION);
    info->id.covers = checkpoint_get_u64(r->header + AT_COVERS);
    info->id.has_seed = checkpoint_get_u64(r->header + AT_HAS_SEED) == 1;
    info->id.keys = keys_of(checkpoint_get_u64(r->header + AT_KEYS));
    memcpy(info->id.seed, r->header + AT_OPEN_SEED, DIGEST_SEED_SIZE);
    info->bytes = r->size;
    info->units = checkpoint_get_u64(r->header + AT_UNITS);
}

static enum status make_from_header(const struct reader *r,
                                    const struct filter_source *source,
                                    uint64_t most_bytes, struct filter **out)
{
    struct filter_options o = {
        .expect = checkpoint_get_u64(r->header + AT_EXPECT),
        .fpr = checkpoint_get_double(r->header + AT_RATE),
        .most_bytes = most_bytes,
        .growth = checkpoint_get_double(r->header + AT_GROWTH),
        .tightening = checkpoint_get_double(r->header + AT_TIGHTENING),
        .fingerprint_bits =
            (unsigned)checkpoint_get_u64(r->header + AT_FINGERPRINT)};
    uint64_t shape[FILTER_SHAPE],
        units = checkpoint_get_u64(r->header + AT_UNITS);
    char kind[17] = {0};
    enum status st;

    memcpy(kind, r->header + AT_KIND, 16);
    o.kind = kind;
    if (source != NULL)
        o.source = *source;
    for (size_t i = 0; i < FILTER_SHAPE; i++)
        shape[i] = checkpoint_get_u64(r->header + AT_SHAPE + 8 * i);
    if (filter_complete_options(&o) != STATUS_OK ||
        filter_kind_named(o.kind)->remote)
        return refuse(r->path, STATUS_FORMAT, "unknown kind or settings");
    st = filter_ops_named(kind)->make_shaped(out, &o, shape, units, r->size);
    if (st == STATUS_FORMAT)
        return refuse(r->path, st, "shape does not fit the kind");
    return st;
}

/* Read unit i into `octets` and hand it to the filter. STATUS_DAMAGED: its
 * checksum is wrong. */
static enum status load_unit(const struct reader *r, struct filter *f,
                             uint64_t i, struct buf *octets)
{
    uint64_t units = checkpoint_get_u64(r->header + AT_UNITS);
    uint64_t directory =
        r->size - CHECKPOINT_HEADER_SIZE - units * CHECKPOINT_ENTRY_SIZE;
    unsigned char e[CHECKPOINT_ENTRY_SIZE];
    uint64_t offset, length, meta[FILTER_META];
    char *room;

    if (!read_at(r, directory + i * CHECKPOINT_ENTRY_SIZE, e, sizeof e) ||
        checkpoint_get_u64(e + 56) != XXH3_64bits(e, 56) ||
        checkpoint_get_u64(e) != i)
        return STATUS_DAMAGED;
    offset = checkpoint_get_u64(e + 8);
    length = checkpoint_get_u64(e + 16);
    for (size_t j = 0; j < FILTER_META; j++)
        meta[j] = checkpoint_get_u64(e + 24 + 8 * j);
    if (offset < CHECKPOINT_HEADER_SIZE || offset > directory ||
        length > directory - offset)
        return STATUS_DAMAGED;
    buf_clear(octets);
    room = buf_room(octets, length);
    if (room == NULL)
        return STATUS_NOMEM;
    if (!read_at(r, offset, room, length) ||
        checkpoint_get_u64(e + 48) != XXH3_64bits_withSeed(room, length, i))
        return STATUS_DAMAGED;
    return f->ops->put_unit(f, i, bytes_of(room, length), meta);
}

/* Load all units; bad[] marks those that did not verify. */
static enum status load_units(const struct reader *r, struct filter *f,
                              bool *bad, struct checkpoint_info *info)
{
    enum status st = STATUS_OK;
    struct buf octets;

    buf_init(&octets, SIZE_MAX / 2);
    for (uint64_t i = 0; i < info->units && st == STATUS_OK; i++) {
        st = load_unit(r, f, i, &octets);
        if (st == STATUS_DAMAGED) {
            bad[i] = true;
            if (info->damaged < CHECKPOINT_LISTED)
                info->listed[info->damaged] = i;
            info->damaged++;
            st = STATUS_OK;
        }
    }
    buf_fini(&octets);
    return st;
}

static enum status mend_units(const struct reader *r, struct filter *f,
                              const bool *bad, struct checkpoint_info *info)
{
    for (uint64_t i = 0; i < info->units; i++) {
        enum status st = bad[i] ? f->ops->mend_unit(f, i) : STATUS_OK;

        if (st == STATUS_NOT_FOUND)
            info->lost++;
        else if (st != STATUS_OK)
            return st;
    }
    if (info->damaged > 0)
        log_warn("filter file damaged",
                 "path=%s units=%llu damaged=%llu rebuilt=%llu first=%llu",
                 r->path, (unsigned long long)info->units,
                 (unsigned long long)info->damaged,
                 (unsigned long long)(info->damaged - info->lost),
                 (unsigned long long)info->listed[0]);
    return f->ops->loaded(f);
}

enum status checkpoint_load(struct filter **out, const char *path,
                            uint64_t seed_print,
                            const struct filter_source *source,
                            uint64_t most_bytes, struct checkpoint_info *info)
{
    struct checkpoint_info own;
    struct filter *f = NULL;
    bool *bad = NULL;
    struct reader r;
    enum status st = reader_open(&r, path);

    if (st != STATUS_OK)
        return st;
    fill_info(&r, &own);
    if (own.id.seed_print != seed_print)
        st = refuse(path, STATUS_FORMAT, "of another crawl or seed");
    if (st == STATUS_OK)
        st = make_from_header(&r, source, most_bytes, &f);
    if (st != STATUS_OK)
        goto out;
    bad = try_calloc(own.units, sizeof *bad);
    st = bad == NULL ? STATUS_NOMEM : load_units(&r, f, bad, &own);
    if (st == STATUS_OK && own.damaged == own.units)
        st = refuse(path, STATUS_DAMAGED, "no part of it verifies");
    if (st == STATUS_OK)
        st = mend_units(&r, f, bad, &own);
    if (st == STATUS_OK) {
        if (info != NULL)
            *info = own;
        *out = f;
        f = NULL;
    }
out:
    free(bad);
    filter_free(f);
    close(r.fd);
    return st;
}

enum status checkpoint_peek(const char *path, struct checkpoint_info *info)
{
    struct reader r;
    enum status st = reader_open(&r, path);

    if (st != STATUS_OK)
        return st;
    fill_info(&r, info);
    close(r.fd);
    return STATUS_OK;
}
