/* SPDX-License-Identifier: MIT */
/*
 * fuzz_page_meta.c - any octets as what a page says of itself.
 *
 * Asserts, besides memory safety: what is read is within its bounds, and
 * written again it reads the same.
 */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "storage/rows/page_store.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct page_meta m, again;
    struct buf written;

    if (!page_meta_get(bytes_of((const char *)data, size), &m))
        return 0;
    assert(m.description.len <= PAGE_DESCRIPTION_MOST &&
           m.h1.len <= PAGE_H1_MOST && m.robots.len <= PAGE_ROBOTS_MOST &&
           m.canonical.len <= PAGE_CANONICAL_MOST);
    buf_init(&written, PAGE_META_MOST);
    page_meta_put(&written, &m);
    assert(buf_failed(&written) == STATUS_OK);
    assert(page_meta_get(buf_bytes(&written), &again));
    assert(bytes_equal(again.description, m.description));
    assert(bytes_equal(again.h1, m.h1));
    assert(bytes_equal(again.robots, m.robots));
    assert(bytes_equal(again.canonical, m.canonical));
    assert(again.is_html == m.is_html && again.hreflang == m.hreflang &&
           again.words == m.words);
    buf_fini(&written);
    return 0;
}
