/* SPDX-License-Identifier: MIT */
/*
 * fuzz_filter_log.c - a log of filters is not trusted until it verifies.
 *
 * The first octet of an input says how: even, the rest is read as it is; odd,
 * the head and the checksums of records are corrected first. A log that was
 * read must read the same again, to its new end.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xxhash.h>

#include "service/filters/filter_shelf_impl.h"

enum { HEAD = 16, RECORD = 32, AT_SUM = 24 };

static void make_sums_right(uint8_t *file, size_t size)
{
    size_t at = HEAD;

    if (size < HEAD)
        return;
    memcpy(file, "urlweirL\1\0\0\0", 12);
    while (size - at >= RECORD) {
        uint32_t length;
        uint64_t sum;

        memcpy(&length, file + at + 4, 4);
        if (length < RECORD || length % 8 != 0 || length > size - at)
            return;
        memcpy(file + at, "FREC", 4);
        sum = XXH3_64bits_withSeed(file + at + RECORD, length - RECORD,
                                   XXH3_64bits(file + at, AT_SUM));
        for (int i = 0; i < 8; i++)
            file[at + AT_SUM + (size_t)i] = (uint8_t)(sum >> (8 * i));
        at += length;
    }
}

struct seen {
    uint64_t records, keys;
};

static void see(void *ctx, const struct filter_log_record *r)
{
    struct seen *s = ctx;
    uint64_t sum = 0;

    if (r->n > FILTER_LOG_KEYS || r->name.len > 255)
        abort();
    for (size_t i = 0; i < r->n; i++)
        sum += r->keys[i];
    for (size_t i = 0; i < r->name.len; i++)
        sum += (unsigned char)r->name.at[i];
    s->records++;
    s->keys += r->n + (sum == 1);
}

static enum status read_log(const char *path, struct seen *s)
{
    struct filter_log *l = NULL;
    uint64_t number;
    enum status st = filter_log_open(&l, path, see, s, &number);

    filter_log_close(l);
    return st;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int fd = -1;
    struct seen first = {0}, again = {0};
    char path[64];
    uint8_t *file;

    if (size < 1 + HEAD || size > (1 << 20))
        return 0;
    if (fd < 0)
        fd = memfd_create("fuzz", MFD_CLOEXEC);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    file = malloc(size);
    if (file == NULL)
        return 0;
    memcpy(file, data + 1, size - 1);
    if (data[0] % 2 == 1)
        make_sums_right(file, size - 1);
    if (ftruncate(fd, 0) == 0 &&
        pwrite(fd, file, size - 1, 0) == (ssize_t)(size - 1) &&
        read_log(path, &first) == STATUS_OK) {
        if (read_log(path, &again) != STATUS_OK ||
            first.records != again.records || first.keys != again.keys)
            abort();
    }
    free(file);
    return 0;
}
