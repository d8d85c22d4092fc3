/* SPDX-License-Identifier: MIT */
/*
 * fuzz_css.c - any octets as a style sheet.
 *
 * Asserts, besides memory safety: a URL is never longer than the sheet allows,
 * an escape of six digits being three octets at least.
 */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "crawler/html/link_values.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void visit(void *ctx, struct bytes url)
{
    size_t *left = ctx;

    /* Two octets of the sheet give at most U+FFFD, which has three. */
    assert(url.len <= 2 * *left + 3);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct buf scratch;
    size_t left = size;

    buf_init(&scratch, size % 5 == 0 ? 16 : (size_t)1 << 20);
    css_links(bytes_of(data, size), &scratch, visit, &left);
    buf_fini(&scratch);
    return 0;
}
