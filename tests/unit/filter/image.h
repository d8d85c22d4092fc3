/*
 * image.h - a filter file of a test, and ways to damage it. Header only.
 */
#ifndef URLWEIR_TESTS_FILTER_IMAGE_H
#define URLWEIR_TESTS_FILTER_IMAGE_H

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/buf.h"
#include "base/file/file.h"
#include "filter/checkpoint.h"
#include "tests/unit/filter/keys.h"
#include "tests/unit/unit.h"

static char dir[64], path[80];
static const struct checkpoint_id id = {.seed_print = 77,
                                        .generation = 5,
                                        .covers = 1234};

static inline void use_a_file(void)
{
    snprintf(dir, sizeof dir, "/tmp/urlweir-checkpoint-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/image", dir);
    /* refusals are logged */
    ck_assert_ptr_nonnull(freopen("/dev/null", "w", stderr));
}

static inline void drop_the_file(void)
{
    unlink(path);
    rmdir(dir);
}

static inline struct filter *saved(const char *kind, uint64_t n,
                                   struct remembered *r)
{
    struct filter_options o = {.kind = kind, .expect = n, .fpr = 0.01};
    struct filter *f = NULL;

    if (r != NULL) {
        o.source = source_of(r);
        remember_range(r, 0, n);
    }
    ck_ok(filter_new(&f, &o));
    ck_ok(add_range(f, 0, n));
    ck_ok(checkpoint_save(path, f, &id));
    return f;
}

static inline struct buf file_content(void)
{
    struct buf b;

    buf_init(&b, (size_t)1 << 30);
    ck_ok(file_read(path, &b));
    return b;
}

static inline void flip(uint64_t bit)
{
    int fd = open(path, O_RDWR);
    unsigned char c;

    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(pread(fd, &c, 1, (off_t)(bit / 8)), 1);
    c ^= (unsigned char)(1u << bit % 8);
    ck_assert_int_eq(pwrite(fd, &c, 1, (off_t)(bit / 8)), 1);
    close(fd);
}

static inline enum status load(struct filter **f, struct remembered *r,
                               struct checkpoint_info *info)
{
    struct filter_source s = {0};

    if (r != NULL)
        s = source_of(r);
    return checkpoint_load(f, path, id.seed_print, &s, 0, info);
}

/* Saves the filter and loads it again. */
static inline struct filter *reloaded(struct filter *f, struct remembered *r)
{
    struct checkpoint_info info;
    struct filter *g = NULL;

    ck_ok(checkpoint_save(path, f, &id));
    ck_ok(load(&g, r, &info));
    ck_assert_uint_eq(info.damaged, 0);
    return g;
}

/* Writes `v` at `at` in both headers and corrects their checksums. */
static inline void forge(size_t at, const void *v, size_t len)
{
    struct buf b = file_content();
    char *heads[] = {b.at, b.at + b.len - 256};

    for (int i = 0; i < 2; i++) {
        uint64_t sum;

        memcpy(heads[i] + at, v, len);
        sum = XXH3_64bits(heads[i], 248);
        for (int j = 0; j < 8; j++)
            heads[i][248 + j] = (char)(sum >> (8 * j));
    }
    ck_ok(file_replace(path, buf_bytes(&b)));
    buf_fini(&b);
}

/* Writes `v` at `at` of unit i's entry in the directory, which precedes the
 * last header, and corrects the entry's checksum. */
static inline void forge_entry(uint64_t units, uint64_t i, size_t at,
                               uint64_t v)
{
    struct buf b = file_content();
    char *e = b.at + b.len - 256 - (units - i) * 64;
    uint64_t sum;

    for (int j = 0; j < 8; j++)
        e[at + (size_t)j] = (char)(v >> (8 * j));
    sum = XXH3_64bits(e, 56);
    for (int j = 0; j < 8; j++)
        e[56 + j] = (char)(sum >> (8 * j));
    ck_ok(file_replace(path, buf_bytes(&b)));
    buf_fini(&b);
}

/* Does the same to 8 octets of the unit's content, whose checksum is in the
 * entry. */
static inline void forge_content(uint64_t units, uint64_t i, size_t at,
                                 uint64_t v)
{
    struct buf b = file_content();
    char *e = b.at + b.len - 256 - (units - i) * 64, *unit;
    uint64_t offset, length, sum;

    memcpy(&offset, e + 8, 8); /* little-endian, as the machine is */
    memcpy(&length, e + 16, 8);
    unit = b.at + offset;
    memcpy(unit + at, &v, 8);
    sum = XXH3_64bits_withSeed(unit, length, i);
    ck_ok(file_replace(path, buf_bytes(&b)));
    buf_fini(&b);
    forge_entry(units, i, 48, sum);
}

#endif
