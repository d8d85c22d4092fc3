/* SPDX-License-Identifier: MIT */
/*
 * fuzz_manifest.c - any bytes are a manifest or are refused.
 *
 * Tests the bytes as they are, and again with a correct checksum, so that the
 * checks after it are reached. An accepted manifest is written again octet for
 * octet.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdint.h>
#include <string.h>
#include <xxhash.h>

#include "storage/db/manifest.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(struct bytes text)
{
    struct manifest m;
    struct buf again;

    if (manifest_parse(text, &m) != STATUS_OK)
        return;
    buf_init(&again, 1 << 16);
    manifest_format(&m, &again);
    assert(bytes_equal(buf_bytes(&again), text));
    buf_fini(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const size_t line = sizeof "xxh3 0123456789abcdef";
    struct buf fixed;

    check(bytes_of(data, size));
    if (size < line)
        return 0;
    buf_init(&fixed, size + 64);
    buf_add(&fixed, data, size - line);
    buf_addf(&fixed, "xxh3 %016" PRIx64 "\n",
             (uint64_t)XXH3_64bits(data, size - line));
    check(buf_bytes(&fixed));
    buf_fini(&fixed);
    return 0;
}
