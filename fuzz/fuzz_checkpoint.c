/* SPDX-License-Identifier: MIT */
/*
 * fuzz_checkpoint.c - a filter file is not trusted until it verifies.
 *
 * The first octet of an input says how: even, the rest is loaded as it is; odd,
 * its checksums are corrected first, so that the checks after them are reached
 * too.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xxhash.h>

#include "filter/checkpoint.h"

enum { HEADER = 256, ENTRY = 64 };

static uint64_t get(const uint8_t *from)
{
    uint64_t v = 0;

    for (int i = 7; i >= 0; i--)
        v = v << 8 | from[i];
    return v;
}

static void put(uint8_t *to, uint64_t v)
{
    for (int i = 0; i < 8; i++)
        to[i] = (uint8_t)(v >> (8 * i));
}

static void make_sums_right(uint8_t *file, size_t size)
{
    uint64_t units, room;

    if (size < 2 * HEADER)
        return;
    put(file + 248, XXH3_64bits(file, 248));
    units = get(file + 192);
    room = (size - 2 * HEADER) / ENTRY;
    for (uint64_t i = 0; i < units && units <= room; i++) {
        uint8_t *e = file + size - HEADER - (units - i) * ENTRY;
        uint64_t offset = get(e + 8), length = get(e + 16);

        if (offset <= size && length <= size - offset)
            put(e + 48, XXH3_64bits_withSeed(file + offset, length, i));
        put(e + 56, XXH3_64bits(e, 56));
    }
}

/* Writes a file that is only in memory. */
static bool write_file(int fd, const uint8_t *file, size_t size)
{
    return ftruncate(fd, 0) == 0 && pwrite(fd, file, size, 0) == (ssize_t)size;
}

static void use(struct filter *f)
{
    uint64_t keys[300];
    bool maybe[300];

    for (size_t i = 0; i < 300; i++)
        keys[i] = XXH3_64bits(&i, sizeof i);
    if (filter_add(f, keys, 300, NULL) == STATUS_NOMEM)
        abort();
    filter_check(f, keys, 300, maybe);
    for (size_t i = 0; i < 300; i++)
        if (!maybe[i])
            abort(); /* a key that was added must not be called new */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int fd = -1;
    struct filter *f = NULL;
    char path[64];
    uint8_t *file;

    if (size < 1 || size > (1 << 20))
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
    if (write_file(fd, file, size - 1) &&
        checkpoint_load(&f, path, 7, NULL, 0, NULL) == STATUS_OK)
        use(f);
    filter_free(f);
    free(file);
    return 0;
}
