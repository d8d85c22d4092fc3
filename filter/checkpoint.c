/* SPDX-License-Identifier: MIT */
/*
 * checkpoint.c - a filter's file, read and written.
 *
 * Sizes are known only once the last unit has been copied, since the filter
 * changes meanwhile; so the directory comes after the units.
 */
#include "filter/checkpoint.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/fault.h"
#include "base/file/file.h"
#include "base/logger.h"
#include "base/mem.h"
#include "filter/kind.h"

/* ---- the layout of a filter file ----
 *
 *     0                header, 256 octets
 *     256              octets of the units, one after the other
 *     end - 256 - 64u  directory, 64 octets for each of u units
 *     end - 256        the header again
 *
 *     header  0 magic "urlweirF"   8 version u32     12 its length u32
 *            16 kind, 16 octets   32 hash, 32 octets
 *            64 seed print        72 generation      80 covers
 *            88 keys expected     96 rate, as IEEE 754 binary64
 *           104 growth           112 tightening     120 fingerprint bits
 *           128 shape, 8 numbers 192 units
 *           200 seed, 32 octets  232 whether it is there, 1 or 0
 *           240 what the keys are: 1 canonical URLs, 2 others too, 0 not known
 *           248 XXH3-64 of 0..247
 *
 *     entry   0 unit              8 offset           16 length
 *            24 three numbers of the kind's
 *            48 XXH3-64 of the unit's octets, seeded with its number
 *            56 XXH3-64 of 0..55
 *
 * The version is the one that the kind's units were last changed in
 * (`file_version` in kind.h), so that an older release reads what it can.
 *
 *     1  as above
 *     2  counting: keys may be kept; cuckoo: copies are counted, buckets of
 *        other sizes
 *
 * With two headers, and a checksum in each entry, one flipped bit damages one
 * unit at most.
 */

#define CHECKPOINT_MAGIC       "urlweirF"
#define CHECKPOINT_VERSION     2 /* the newest that is read */
#define CHECKPOINT_HASH        "xxh3-128 secret 1"
#define CHECKPOINT_HEADER_SIZE 256
#define CHECKPOINT_ENTRY_SIZE  64

enum header_at {
    AT_VERSION = 8,
    AT_LENGTH = 12,
    AT_KIND = 16,
    AT_HASH = 32,
    AT_SEED = 64,
    AT_GENERATION = 72,
    AT_COVERS = 80,
    AT_EXPECT = 88,
    AT_RATE = 96,
    AT_GROWTH = 104,
    AT_TIGHTENING = 112,
    AT_FINGERPRINT = 120,
    AT_SHAPE = 128,
    AT_UNITS = 192,
    AT_OPEN_SEED = 200,
    AT_HAS_SEED = 232,
    AT_KEYS = 240,
    AT_SUM = 248
};

static void checkpoint_put_u64(unsigned char *to, uint64_t v)
{
    v = htole64(v);
    memcpy(to, &v, sizeof v);
}

static uint64_t checkpoint_get_u64(const unsigned char *from)
{
    uint64_t v;

    memcpy(&v, from, sizeof v);
    return le64toh(v);
}

static void checkpoint_put_u32(unsigned char *to, uint32_t v)
{
    v = htole32(v);
    memcpy(to, &v, sizeof v);
}

static uint32_t checkpoint_get_u32(const unsigned char *from)
{
    uint32_t v;

    memcpy(&v, from, sizeof v);
    return le32toh(v);
}

static void checkpoint_put_double(unsigned char *to, double v)
{
    uint64_t bits;

    memcpy(&bits, &v, sizeof bits);
    checkpoint_put_u64(to, bits);
}

static double checkpoint_get_double(const unsigned char *from)
{
    uint64_t bits = checkpoint_get_u64(from);
    double v;

    memcpy(&v, &bits, sizeof v);
    return v;
}

/*
 * Reading a filter back from a file.
 *
 * The file is untrusted until it verifies: each number is bounded before it is
 * used, and we take no more memory than the file has octets.
 */

struct reader {
    const char *path;
    int fd;
    uint64_t size;
    unsigned char header[CHECKPOINT_HEADER_SIZE];
};

static enum status checkpoint_refuse(const char *path, enum status st,
                                     const char *why)
{
    log_error("filter file refused", "path=%s why=\"%s\"", path, why);
    return st;
}

/* False if the file is shorter or cannot be read. */
static bool checkpoint_read_at(const struct reader *r, uint64_t offset,
                               void *to, size_t len)
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
    return checkpoint_read_at(r, offset, r->header, CHECKPOINT_HEADER_SIZE) &&
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
        return checkpoint_refuse(r->path, STATUS_FORMAT,
                                 "shorter than its headers");
    if (!read_header(r, 0) &&
        !read_header(r, r->size - CHECKPOINT_HEADER_SIZE)) {
        char magic[8];

        if (checkpoint_read_at(r, 0, magic, 8) &&
            memcmp(magic, CHECKPOINT_MAGIC, 8) == 0)
            return checkpoint_refuse(r->path, STATUS_DAMAGED, "damaged header");
        return checkpoint_refuse(r->path, STATUS_FORMAT, "not a filter file");
    }
    if (checkpoint_get_u32(r->header + AT_VERSION) > CHECKPOINT_VERSION)
        return checkpoint_refuse(r->path, STATUS_VERSION, "of a newer release");
    if (checkpoint_get_u32(r->header + AT_VERSION) < 1 ||
        checkpoint_get_u32(r->header + AT_LENGTH) != CHECKPOINT_HEADER_SIZE)
        return checkpoint_refuse(r->path, STATUS_FORMAT, "unknown version");
    if (!field_is(r, AT_HASH, 32, CHECKPOINT_HASH))
        return checkpoint_refuse(r->path, STATUS_FORMAT,
                                 "made with another hash");
    units = checkpoint_get_u64(r->header + AT_UNITS);
    if (units > (r->size - 2 * CHECKPOINT_HEADER_SIZE) / CHECKPOINT_ENTRY_SIZE)
        return checkpoint_refuse(r->path, STATUS_DAMAGED, "cut short");
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
            (void)checkpoint_refuse(path, st, "cannot be read");
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
        return checkpoint_refuse(r->path, STATUS_FORMAT,
                                 "unknown kind or settings");
    st = filter_ops_named(kind)->make_shaped(out, &o, shape, units, r->size);
    if (st == STATUS_FORMAT)
        return checkpoint_refuse(r->path, st, "shape does not fit the kind");
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

    if (!checkpoint_read_at(r, directory + i * CHECKPOINT_ENTRY_SIZE, e,
                            sizeof e) ||
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
    if (!checkpoint_read_at(r, offset, room, length) ||
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
    return f->ops->loaded != NULL ? f->ops->loaded(f) : STATUS_OK;
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
        st = checkpoint_refuse(path, STATUS_FORMAT, "of another crawl or seed");
    if (st == STATUS_OK)
        st = make_from_header(&r, source, most_bytes, &f);
    if (st != STATUS_OK)
        goto out;
    bad = try_calloc(own.units, sizeof *bad);
    st = bad == NULL ? STATUS_NOMEM : load_units(&r, f, bad, &own);
    if (st == STATUS_OK && own.damaged == own.units)
        st = checkpoint_refuse(path, STATUS_DAMAGED, "no part of it verifies");
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

#define WRITE_SIZE ((size_t)1 << 20)

uint64_t checkpoint_seed_print(const struct digest_key *k)
{
    return digest_bytes(k, bytes_of_str("urlweir seed print")).lo;
}

/* Each header field is zeroed beforehand and longer than any text we put. */
static void checkpoint_put_text(unsigned char *field, const char *text)
{
    while (*text != '\0')
        *field++ = (unsigned char)*text++;
}

/* Returns the number of units that go with the shape in the header. */
static uint64_t make_header(unsigned char *h, const struct filter *f,
                            const struct checkpoint_id *id)
{
    uint64_t shape[FILTER_SHAPE] = {0}, units = f->ops->shape(f, shape);

    memset(h, 0, CHECKPOINT_HEADER_SIZE);
    checkpoint_put_text(h, CHECKPOINT_MAGIC);
    checkpoint_put_u32(h + AT_VERSION, f->ops->file_version);
    checkpoint_put_u32(h + AT_LENGTH, CHECKPOINT_HEADER_SIZE);
    checkpoint_put_text(h + AT_KIND, f->ops->traits.name);
    checkpoint_put_text(h + AT_HASH, CHECKPOINT_HASH);
    checkpoint_put_u64(h + AT_SEED, id->seed_print);
    checkpoint_put_u64(h + AT_GENERATION, id->generation);
    checkpoint_put_u64(h + AT_COVERS, id->covers);
    checkpoint_put_u64(h + AT_EXPECT, f->opt.expect);
    checkpoint_put_double(h + AT_RATE, f->opt.fpr);
    checkpoint_put_double(h + AT_GROWTH, f->opt.growth);
    checkpoint_put_double(h + AT_TIGHTENING, f->opt.tightening);
    checkpoint_put_u64(h + AT_FINGERPRINT, f->opt.fingerprint_bits);
    for (size_t i = 0; i < FILTER_SHAPE; i++)
        checkpoint_put_u64(h + AT_SHAPE + 8 * i, shape[i]);
    checkpoint_put_u64(h + AT_UNITS, units);
    if (id->has_seed) {
        memcpy(h + AT_OPEN_SEED, id->seed, DIGEST_SEED_SIZE);
        checkpoint_put_u64(h + AT_HAS_SEED, 1);
    }
    checkpoint_put_u64(h + AT_KEYS, id->keys);
    checkpoint_put_u64(h + AT_SUM, XXH3_64bits(h, AT_SUM));
    return units;
}

static void make_entry(unsigned char *e, uint64_t unit, uint64_t offset,
                       const uint64_t meta[FILTER_META], struct bytes octets)
{
    checkpoint_put_u64(e, unit);
    checkpoint_put_u64(e + 8, offset);
    checkpoint_put_u64(e + 16, octets.len);
    for (size_t i = 0; i < FILTER_META; i++)
        checkpoint_put_u64(e + 24 + 8 * i, meta[i]);
    checkpoint_put_u64(e + 48,
                       XXH3_64bits_withSeed(octets.at, octets.len, unit));
    checkpoint_put_u64(e + 56, XXH3_64bits(e, 56));
}

static enum status checkpoint_flush(struct file_writer *w, struct buf *b)
{
    enum status st = buf_failed(b);

    if (st == STATUS_OK)
        st = file_writer_write(w, b->at, b->len);
    buf_clear(b);
    return st;
}

/* Write all units and store their entries in `directory`. Small units are
 * gathered into one write. */
static enum status save_units(struct file_writer *w, struct filter *f,
                              uint64_t units, unsigned char *directory)
{
    uint64_t offset = CHECKPOINT_HEADER_SIZE;
    enum status st = STATUS_OK;
    struct buf b;

    buf_init(&b, SIZE_MAX / 2);
    for (uint64_t i = 0; i < units && st == STATUS_OK; i++) {
        uint64_t meta[FILTER_META] = {0};
        size_t before = b.len;

        if (i == units / 2)
            fault_point("filter-checkpoint-half");
        st = f->ops->get_unit(f, i, &b, meta);
        if (st != STATUS_OK)
            break;
        make_entry(directory + i * CHECKPOINT_ENTRY_SIZE, i, offset, meta,
                   bytes_of(b.at + before, b.len - before));
        offset += b.len - before;
        if (b.len >= WRITE_SIZE)
            st = checkpoint_flush(w, &b);
    }
    if (st == STATUS_OK)
        st = checkpoint_flush(w, &b);
    buf_fini(&b);
    return st;
}

static enum status save_all(struct file_writer *w, struct filter *f,
                            const struct checkpoint_id *id)
{
    unsigned char header[CHECKPOINT_HEADER_SIZE];
    uint64_t units = make_header(header, f, id);
    unsigned char *directory = try_calloc(units, CHECKPOINT_ENTRY_SIZE);
    enum status st;

    if (directory == NULL)
        return STATUS_NOMEM;
    st = file_writer_write(w, header, sizeof header);
    if (st == STATUS_OK)
        st = save_units(w, f, units, directory);
    if (st == STATUS_OK)
        st = file_writer_write(w, directory, units * CHECKPOINT_ENTRY_SIZE);
    if (st == STATUS_OK)
        st = file_writer_write(w, header, sizeof header);
    free(directory);
    return st;
}

enum status checkpoint_save(const char *path, struct filter *f,
                            const struct checkpoint_id *id)
{
    struct file_writer *w = NULL;
    enum status st =
        f->ops->traits.remote ? STATUS_ARG : file_writer_open(&w, path);

    if (st != STATUS_OK)
        return st;
    fault_point("filter-checkpoint-begin");
    if (f->ops->hold != NULL)
        f->ops->hold(f, true);
    st = save_all(w, f, id);
    if (f->ops->hold != NULL)
        f->ops->hold(f, false);
    fault_point("filter-checkpoint-end");
    if (st == STATUS_OK)
        st = file_writer_commit(w);
    file_writer_close(w);
    return st;
}

/* ---- filters of keys that are not a crawl's ----
 *
 * The default seed is the name of the command that made such files first; it is
 * part of the format.
 */

static const char default_text[] = "urlweir filter";

/* Part of the format: files merge by it. */
void seeded_from_text(unsigned char *seed, const char *text)
{
    if (text == NULL)
        text = default_text;
    for (unsigned i = 0; i < 2; i++) {
        XXH128_hash_t h = XXH3_128bits_withSeed(text, strlen(text), i);
        XXH128_canonical_t octets;

        XXH128_canonicalFromHash(&octets, h);
        memcpy(seed + i * 16, octets.digest, 16);
    }
}

static void use_seed(struct checkpoint_id *id, struct digest_key *key)
{
    digest_key_init(key, id->seed);
    id->seed_print = checkpoint_seed_print(key);
}

void seeded_id(struct checkpoint_id *id, struct digest_key *key,
               const char *text)
{
    id->has_seed = true;
    seeded_from_text(id->seed, text);
    use_seed(id, key);
}

enum status seeded_load(struct filter **out, const char *path,
                        uint64_t most_bytes, struct checkpoint_info *info,
                        struct digest_key *key)
{
    struct checkpoint_info read;
    struct digest_key of_file;
    uint64_t print;
    enum status st = checkpoint_peek(path, &read);

    if (st != STATUS_OK)
        return st;
    if (!read.id.has_seed)
        return STATUS_REFUSED;
    print = read.id.seed_print;
    use_seed(&read.id, &of_file);
    if (print != read.id.seed_print)
        return STATUS_DAMAGED;
    st = checkpoint_load(out, path, print, NULL, most_bytes, &read);
    if (st == STATUS_OK) {
        *info = read;
        *key = of_file;
    }
    return st;
}

/* With their lengths, so that no two pairs meet. */
uint64_t seeded_named_key(const struct digest_key *key, struct bytes name,
                          struct bytes text)
{
    return digest_url(key, name, bytes_of("", 0), text).hi;
}
