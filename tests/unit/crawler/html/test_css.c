/* SPDX-License-Identifier: MIT */
/* Links in style sheets. */
#include <stdlib.h>

#include "base/buf.h"
#include "crawler/html/link_values.h"
#include "tests/unit/unit.h"

static void add(void *ctx, struct bytes url)
{
    struct buf *b = ctx;

    buf_add_bytes(b, url);
    buf_add_char(b, '|');
}

static void check(const char *css, const char *want)
{
    struct buf got, scratch;

    buf_init(&got, (size_t)1 << 20);
    buf_init(&scratch, 64);
    css_links(bytes_of_str(css), &scratch, add, &got);
    ck_assert_msg(strcmp(buf_str(&got), want) == 0, "%s gives %s", css,
                  buf_str(&got));
    buf_fini(&got);
    buf_fini(&scratch);
}

TEST(css_syntax_4_3_6_urls_bare_and_quoted)
{
    check("a{b:url(x)}", "x|");
    check("a{b:URL(  x\ty )}", "");
    check("a{b:url( 'x y' ),url(\"z\" )}", "x y|z|");
    check("a{b:url(x", "x|");
    check("a{b:url('x", "x|");
    check("a{b:url()}", "|");
    check("a{b:curl(x) url (x) -url(x)}", "");
    check("a{b:10url(x) #url(x)}", "");
}

TEST(css_syntax_4_3_7_escapes)
{
    check("a{b:u\\72l(x)}", "x|");
    check("a{b:\\75 RL(x)}", "x|");
    check("a{b:url(\\28 x\\)\\20 y)}", "(x) y|");
    check("a{b:url('\\0000e9x\\\ny\\26\r\nz\\0')}", "\u00e9xy&z\ufffd|");
    check("a{b:url(x\\", "x\ufffd|");
}

TEST(css_syntax_4_3_bad_tokens_end_where_they_should)
{
    check("a{b:url(x y\\)z) c:url(d)}", "d|");
    check("a{b:url(x\"y) c:url(d)}", "d|");
    check("a{b:url(x(y) c:url(d)}", "d|");
    check("a{b:url('x\n) c:url(d)}", "d|");
    check("a{b:'url(x)\n url(d)}", "d|");
}

TEST(css_syntax_4_3_2_comments_and_strings_hide)
{
    check("/* url(x) */ a{b:'url(y)' \"url(z)\"; c:url(d)}", "d|");
    check("/* url(x)", "");
    check("/*/ url(x) */ a{b:url(d)}", "d|");
    check("<!--url(d)-->", "d|");
    check("a{b:u/**/rl(x)}", "");
}

TEST(css_cascade_2_import_takes_a_string_or_a_url)
{
    check("@import 'a';@import url(b);@IMPORT/**/\"c\" screen;", "a|b|c|");
    check("@imports 'a';@charset 'b';a{content:'c'}", "");
    check("@import x 'a';", "");
    check("@namespace url(a);@namespace x 'b';a{b:url(c)}", "c|");
}

TEST(css_images_2_5_strings_of_image_set_are_urls)
{
    check("a{b:image-set('x' 1x, \"y\" type('image/png') 2x, url(z) 3x)}",
          "x|y|z|");
    check("a{b:-webkit-image-set(url(x) 1x);c:'y'}", "x|");
}

TEST(ours_a_url_over_the_ceiling_is_none)
{
    check("a{b:url(1234567890123456789012345678901234567890123456789012345678"
          "90123456789012345678901234567890);c:url(d)}",
          "d|");
}
