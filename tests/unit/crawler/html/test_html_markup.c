/* SPDX-License-Identifier: MIT */
/* test_html_markup.c - values in the markup for libxml2, and the whole of it.
 */
#include <libxml/parser.h>
#include <stdlib.h>

#include "base/mem.h"
#include "crawler/html/html_filter.h"
#include "crawler/html/link_values.h"
#include "crawler/html/links.h"
#include "tests/unit/frontier/url/soup.h"
#include "tests/unit/unit.h"

static struct buf written, value;

static void setup(void)
{
    buf_init(&written, (size_t)64 << 20);
    buf_init(&value, (size_t)64 << 20);
}

static void teardown(void)
{
    buf_fini(&written);
    buf_fini(&value);
}

FIXTURE(setup, teardown);

TEST(every_octet_comes_back)
{
    for (unsigned c = 1; c < 256; c++) {
        char in[] = {'x', (char)c, (char)c, 'y', (char)c};

        buf_clear(&written);
        buf_clear(&value);
        html_markup_write(&written, bytes_of(in, sizeof in));
        for (size_t i = 0; i < written.len; i++)
            ck_assert(written.at[i] >= ' ' && written.at[i] < 0x7f);
        html_markup_read(&value, buf_bytes(&written));
        ck_assert(bytes_equal(buf_bytes(&value), bytes_of(in, sizeof in)));
    }
}

/* ---- the document -------------------------------------------------------- */

/* Pieces that XML forbids, escapes or reads in its own way. */
static const char *const pieces[] = {
    "<a href=",   "<img src=\"",
    "<p style='", "<meta property=og:x content=",
    "<svg>",      "<style>",
    "</style>",   "<frameset>",
    ">",          "\"",
    "'",          " ",
    "&",          "&amp;",
    "&#1;",       "&#xfffe;",
    "&#xd800;",   "\x01",
    "\x0b",       "\x1f",
    "\x7f",       "\xff",
    "\xc3",       "\xed\xa0\x80",
    "]]>",        "<![CDATA[",
    "<!--",       "-->",
    "<?xml v?>",  "<!DOCTYPE x [",
    "<!ENTITY",   "%x;",
    "xmlns=",     "xml:base=",
    "a:b=",       "\\",
    "\\26",       "\r\n",
    "/x",         "\xef\xbf\xbe",
    "</links>",   "<links>",
};

static void make_page(struct buf *page)
{
    buf_clear(page);
    for (uint64_t n = 5 + soup_random() % 40; n > 0; n--) {
        size_t i = soup_random() % (sizeof pieces / sizeof *pieces + 1);

        if (i < sizeof pieces / sizeof *pieces)
            buf_add_str(page, pieces[i]);
        else
            buf_add_char(page, (char)soup_random());
    }
}

static bool is_well_formed(struct bytes markup)
{
    xmlParserCtxtPtr x = xmlNewParserCtxt();
    bool ok;

    ck_assert_ptr_nonnull(x);
    *x->sax = (xmlSAXHandler){.initialized = XML_SAX2_MAGIC};
    xmlCtxtReadMemory(x, markup.at, (int)markup.len, NULL, NULL,
                      XML_PARSE_NONET);
    ok = x->wellFormed && x->errNo == XML_ERR_OK;
    xmlFreeParserCtxt(x);
    return ok;
}

static bool no_base(void *ctx, struct bytes href)
{
    (void)ctx;
    (void)href;
    return false;
}

/* Promise (Links): whatever octets a page has, libxml2 reads well-formed XML in
 * printable ASCII. See also `make check-fuzz`. */
/* Whatever comes in, and also where the ceiling cuts it off. */
TEST(the_markup_is_well_formed)
{
    struct html_wants wants;
    size_t cut = 0, with_tags = 0;

    link_wants(&wants, LINK_SET_ALL, "bot");
    for (unsigned i = 0; i < 20000; i++) {
        struct html_filter f;
        enum status st;

        make_page(&value);
        html_filter_init(&f, i % 2 == 0 ? (size_t)1 << 20 : 60);
        st = html_filter_page(&f, buf_bytes(&value), &wants, no_base, NULL);
        cut += st == STATUS_LIMIT;
        with_tags += memmem(f.markup.at, f.markup.len, "/>", 2) != NULL;
        ck_assert_msg(is_well_formed(buf_bytes(&f.markup)), "%s",
                      buf_str(&f.markup));
        html_filter_fini(&f);
    }
    ck_assert_uint_gt(cut, 100);
    ck_assert_uint_gt(with_tags, 1000);
}
