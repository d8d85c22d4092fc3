/* SPDX-License-Identifier: MIT */
/* html_charset.c - the encoding that the head of a page names. */
#include "crawler/html/html_charset.h"

#include "crawler/html/html_tree.h"

/* The first meta element of the head that names an encoding. */
static const struct charset *of_head(struct bytes body)
{
    struct html_reader r;
    struct html_tree tree;
    enum html_token token;

    html_begin(&r, body);
    html_tree_begin(&tree);
    while (tree.part == TREE_HEAD && (token = html_next(&r)) != HTML_PAGE_END) {
        struct html_start start = {.word = html_word_of(r.name),
                                   .name = r.name};
        const char *attributes = r.at;

        if (token == HTML_TEXT && r.text_state == HTML_DATA &&
            bytes_trim(r.text).len > 0) {
            html_tree_text(&tree);
        } else if (token == HTML_END_TAG && html_finish_tag(&r)) {
            html_tree_end(&tree, start.word, r.name);
        } else if (token == HTML_START_TAG && html_finish_tag(&r)) {
            struct html_place place = html_tree_start(&tree, &start);
            const struct charset *c = NULL;

            if (place.word == WORD_META)
                c = charset_of_meta(
                    bytes_of(attributes, (size_t)(r.end - attributes)));
            if (c != NULL)
                return c;
            if (place.state != HTML_DATA)
                html_switch(&r, place.state, r.name);
        }
    }
    return NULL;
}

/* Pages that name no encoding are mostly UTF-8 today, and text in another one
 * is hardly ever valid UTF-8 (the HTML standard, section 13.2.3.2, step 8, lets
 * a user agent detect it). The last character may have been cut. */
static bool is_utf8_without_a_name(struct bytes body)
{
    size_t ascii = 0;

    while (ascii < body.len && (unsigned char)body.at[ascii] < 0x80)
        ascii++;
    for (size_t cut = 0; cut < 4 && body.len > ascii + cut; cut++)
        if (bytes_is_utf8(bytes_of(body.at + ascii, body.len - ascii - cut)))
            return true;
    return false;
}

const struct charset *html_charset(struct bytes body, struct bytes content_type)
{
    const struct charset *c = charset_sniff(body, content_type);

    if (c == NULL && body.len > CHARSET_PRESCAN_MOST)
        c = of_head(body);
    if (c == NULL && is_utf8_without_a_name(body))
        c = charset_utf8();
    return c != NULL ? c : charset_of_label(bytes_of_str("windows-1252"));
}

const struct charset *html_charset_of_xml(struct bytes body,
                                          struct bytes content_type)
{
    const struct charset *c = charset_sniff_xml(body, content_type);

    return c == charset_utf8() && !bytes_is_utf8(body)
               ? html_charset(body, content_type)
               : c;
}
