/* SPDX-License-Identifier: MIT */
/*
 * fuzz_coding.c - any octets as a coded body. The first chooses the codings,
 * the second how much room there is at a time.
 *
 * Asserts, besides memory safety: the output never exceeds the room for it,
 * each piece is consumed entirely or an error is returned, and decoding a piece
 * ends.
 */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "crawler/fetch/coding.h"

#define OUT_MOST ((size_t)1 << 22)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const codings[] = {"gzip",         "deflate",
                                          "br",           "zstd",
                                          "br, gzip",     "gzip, br",
                                          "zstd,deflate", "zstd, zstd"};
    static char to[256];
    size_t room, got, total = 0;
    const struct coding_memory memory = {NULL, NULL};
    struct coding *c = NULL;
    struct bytes in;
    enum status st;
    bool unknown;

    if (size < 2)
        return 0;
    room = 1 + data[1];
    in = bytes_of(data + 2, size - 2);
    st = coding_new(&c, bytes_of_str(codings[data[0] % 8]), &memory, &unknown);
    assert(st == STATUS_OK && c != NULL);
    do {
        st = coding_read(c, &in, to, room, &got);
        assert(got <= room);
        total += got;
    } while (st == STATUS_OK && got > 0 && total < OUT_MOST);
    assert(st != STATUS_OK || got > 0 || in.len == 0);
    (void)coding_is_whole(c);
    coding_free(c);
    return 0;
}
