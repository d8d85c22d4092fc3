/* SPDX-License-Identifier: MIT */
/*
 * fuzz_charset.c - any octets in any encoding: `label` LF `octets`, or octets
 * whose encoding is sniffed.
 *
 * Asserts, besides memory safety: decoded text is UTF-8, and text that a page's
 * own encoding can represent is encoded to octets that decode to it again.
 */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "crawler/html/html_tree.h"
#include "frontier/url/url_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_utf8(struct bytes s)
{
    struct buf clean;

    buf_init(&clean, s.len * 3 + 1);
    utf8_add_clean(&clean, s);
    assert(bytes_equal(buf_bytes(&clean), s));
    buf_fini(&clean);
}

/* Encoders write one of several equivalent octet strings. */
static void check_way_back(const struct charset *c, struct bytes text)
{
    struct url_encoder *e = charset_encoder_new(c);
    struct buf octets, scratch;
    struct bytes back;

    if (e == NULL)
        return;
    buf_init(&octets, text.len * 20 + 64);
    buf_init(&scratch, text.len * 60 + 64);
    e->encode(e->ctx, text, &octets);
    assert(buf_failed(&octets) == STATUS_OK);
    assert(charset_decode(c, buf_bytes(&octets), &scratch, &back) == STATUS_OK);
    check_utf8(back);
    buf_fini(&octets);
    buf_fini(&scratch);
    charset_encoder_free(e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes all = bytes_of(data, size), body = all, text;
    const char *lf = size > 0 ? memchr(data, '\n', size) : NULL;
    const struct charset *c = NULL;
    struct buf scratch;

    if (lf != NULL) {
        size_t n = (size_t)(lf - all.at);

        c = charset_of_label(bytes_of(all.at, n));
        body = bytes_of(lf + 1, size - n - 1);
    }
    if (c == NULL)
        c = html_charset(all, bytes_of("", 0));
    assert(charset_name(c) != NULL);
    assert(charset_name(charset_sniff_xml(all, all)) != NULL);
    assert(charset_name(charset_sniff_css(all, body)) != NULL);
    buf_init(&scratch, size * 4 + 4);
    assert(charset_decode(c, body, &scratch, &text) == STATUS_OK);
    check_utf8(text);
    check_way_back(c, text);
    buf_fini(&scratch);
    return 0;
}
