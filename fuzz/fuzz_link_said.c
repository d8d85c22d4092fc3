/* SPDX-License-Identifier: MIT */
/*
 * fuzz_link_said.c - any octets as what is said of the links of a page.
 *
 * Asserts, besides memory safety: what is read is within its bounds and within
 * the input, and written again it reads the same.
 */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "storage/rows/link_store.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define WRITTEN_MOST (LINK_DROPPED_MOST + 2 * LINK_TEXT_MOST + 64)

static void same_again(const struct link_said *said)
{
    struct link_said again;
    struct bytes rest;
    struct buf written;

    buf_init(&written, WRITTEN_MOST);
    link_said_put(&written, said);
    assert(buf_failed(&written) == STATUS_OK);
    rest = buf_bytes(&written);
    assert(link_said_get(&rest, &again) && rest.len == 0);
    assert(bytes_equal(again.rel, said->rel));
    assert(bytes_equal(again.text, said->text));
    assert(bytes_equal(again.dropped, said->dropped));
    assert(again.reason == said->reason);
    buf_fini(&written);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes rest = bytes_of((const char *)data, size);
    struct link_said said;
    size_t before = size;

    while (rest.len > 0 && link_said_get(&rest, &said)) {
        assert(rest.len < before);
        before = rest.len;
        assert(rest.at + rest.len == (const char *)data + size);
        assert(said.rel.len <= LINK_TEXT_MOST &&
               said.text.len <= LINK_TEXT_MOST &&
               said.dropped.len <= LINK_DROPPED_MOST);
        same_again(&said);
    }
    return 0;
}
