/* SPDX-License-Identifier: MIT */
/*
 * fuzz_warc.c - any octets as the WARC file that a crash left.
 *
 * Asserts, besides memory safety: repair keeps a prefix of the file that ends
 * with a whole record, and a second repair changes nothing; each record gives a
 * line in the index or no line. The second half of the runs takes the octets as
 * the inflated content of one member, which a fuzzer could not compress by
 * itself.
 */
#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include "base/logger.h"
#include "storage/warc/cdxj.h"
#include "storage/warc/warc.h"
#include "storage/warc/warc_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool key_of(void *ctx, struct bytes url, struct buf *out)
{
    (void)ctx;
    buf_add_bytes(out, url);
    return true;
}

static void index_record(const struct warc_found *found)
{
    const struct cdxj_options o = {.key_of = key_of};
    struct buf line;

    buf_init(&line, 1 << 20);
    if (cdxj_line(&o, found, "f.warc.gz", &line))
        assert(line.at[line.len - 1] == '}');
    buf_fini(&line);
}

/* Reads the whole records; returns where the last one ends. */
static uint64_t read_all(int fd, size_t size)
{
    struct warc_walk *w = warc_walk_new(fd);
    struct warc_found found;
    uint64_t end = 0, before;

    while (warc_walk_next(w, &found, &before) == STATUS_OK) {
        assert(before == end && found.offset >= end && found.length > 0);
        assert(found.block.len <= found.block_length);
        assert(bytes_starts_with(found.head, "WARC/1."));
        end = found.offset + found.length;
        assert(end <= size);
        index_record(&found);
    }
    assert(before == end && found.offset == size);
    warc_walk_free(w);
    return end;
}

static void mend(const uint8_t *data, size_t size)
{
    int fd = memfd_create("warc", 0);
    char path[64];
    uint64_t kept = 0, again = 0, whole;
    uint8_t *now;

    assert(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    whole = read_all(fd, size);
    assert(warc_mend(path, &kept) == STATUS_OK && kept == whole);
    assert(warc_mend(path, &again) == STATUS_OK && again == kept);
    assert(lseek(fd, 0, SEEK_END) == (off_t)kept && kept <= size);
    now = malloc(kept + 1);
    assert(now != NULL && pread(fd, now, kept, 0) == (ssize_t)kept);
    assert(memcmp(now, data, kept) == 0);
    free(now);
    close(fd);
}

static void mend_packed(const uint8_t *data, size_t size)
{
    z_stream z = {.next_in = (Bytef *)data, .avail_in = (uInt)size};
    size_t room = compressBound(size) + 64;
    uint8_t *gz = malloc(room);
    int rc = deflateInit2(&z, 1, Z_DEFLATED, 15 + 16, 8, 0);

    assert(gz != NULL && rc == Z_OK);
    z.next_out = gz;
    z.avail_out = (uInt)room;
    rc = deflate(&z, Z_FINISH);
    assert(rc == Z_STREAM_END);
    mend(gz, room - z.avail_out);
    deflateEnd(&z);
    free(gz);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    logger_set_level(LOG_LEVEL_ERROR);
    if (size > 1 << 20)
        return 0;
    mend(data, size);
    mend_packed(data, size);
    return 0;
}
