/* SPDX-License-Identifier: MIT */
/*
 * fuzz_html.c - any octets as a page, through tokenizer, tree and filter.
 *
 * Asserts, besides memory safety: tokens follow one another in the page, and
 * the filter writes a well-formed XML document in printable ASCII, also where
 * it reaches its ceiling.
 */
#include <assert.h>
#include <libxml/parser.h>
#include <stddef.h>
#include <stdint.h>

#include "crawler/html/html_filter.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool every_other_base(void *ctx, struct bytes href)
{
    unsigned *n = ctx;

    (void)href;
    return ++*n % 2 == 0;
}

static void check_inside(struct bytes part, struct bytes page)
{
    if (part.len > 0)
        assert(part.at >= page.at && part.at + part.len <= page.at + page.len);
}

static void read_tokens(struct bytes page)
{
    struct html_reader r;
    struct html_attr a;
    enum html_token t;
    const char *at;

    html_begin(&r, page);
    for (at = r.at; (t = html_next(&r)) != HTML_PAGE_END; at = r.at) {
        if (t == HTML_START_TAG || t == HTML_END_TAG) {
            check_inside(r.name, page);
            while (html_next_attr(&r, &a)) {
                check_inside(a.name, page);
                check_inside(a.value, page);
            }
        } else if (t != HTML_DOCTYPE) {
            check_inside(r.text, page);
        }
        assert(r.at > at && r.at <= r.end);
    }
}

static void check_markup(struct bytes markup)
{
    xmlParserCtxtPtr x = xmlNewParserCtxt();

    assert(x != NULL);
    for (size_t i = 0; i < markup.len; i++)
        assert(markup.at[i] >= ' ' && markup.at[i] < 0x7f);
    *x->sax = (xmlSAXHandler){.initialized = XML_SAX2_MAGIC};
    xmlCtxtReadMemory(x, markup.at, (int)markup.len, NULL, NULL,
                      XML_PARSE_NONET);
    assert(x->wellFormed && x->errNo == XML_ERR_OK);
    xmlFreeParserCtxt(x);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct html_filter f;
    static struct html_wants wants;
    struct bytes page = bytes_of(data, size);
    unsigned bases = 0;

    for (unsigned w = 1; w < WORD_COUNT_; w++)
        wants.of[w] = wants.of_svg[w] =
            ATTR_HREF | ATTR_SRC | ATTR_SRCSET | ATTR_REL;
    wants.of_any = ATTR_STYLE | ATTR_DATA_SRC;
    wants.style_text = wants.og = true;
    wants.agent = "bot";
    read_tokens(page);
    html_filter_init(&f, size % 7 == 0 ? 200 : (size_t)64 << 20);
    (void)!html_filter_page(&f, page, &wants, every_other_base, &bases);
    check_markup(buf_bytes(&f.markup));
    assert(f.tree.open.depth <= HTML_DEPTH_MOST);
    assert(f.title.len <= HTML_NOTED_MOST && f.lang.len <= HTML_NOTED_MOST);
    html_filter_fini(&f);
    return 0;
}
