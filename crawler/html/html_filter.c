/* SPDX-License-Identifier: MIT */
/*
 * html_filter.c - the pass over a page before libxml2.
 *
 * libxml2 2.9 reads HTML by rules older than HTML5: it invents links inside
 * textarea and iframe, drops what follows </html>, and stops at depth 256. It
 * also spends most of its time on text and on tags without links. So we give
 * its XML parser only the tags that can matter, as
 *
 *     <links><a href="/x?a\26b"/><img src="y.png"/>...</links>
 *
 * Values are decoded, then written as html_markup_write says. All tags are empty,
 * so depth never grows. A style attribute or lazy source on any other element
 * is written as a <param>, and the text of a style sheet as the style of one.
 */

#include "crawler/html/html_filter.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/ascii.h"
#include "base/buf.h"
#include "base/bytes.h"
#include "base/octet_block.h"
#include "crawler/html/html_tree.h"
#include "crawler/html/html_words.h"
#include "crawler/html/text_digest.h"
#include "crawler/html/xhtml.h"

/*
 * Values of attributes in the markup that html_filter.h writes.
 *
 * A printable ASCII character that XML lets stand in a value stands for itself;
 * every other octet, and the backslash, is a backslash and two lower-case
 * hexadecimal digits. Any thread.
 *
 * References would not do: XML has none for most control characters, nor for
 * octets that are not UTF-8. And libxml2 hands out a value of plain ASCII where
 * it stands in its input, while it copies one with references, line ends or
 * other characters, character by character.
 */

/* Most octets of a written value; libxml2 refuses 10,000,000 and more unless it
 * is told XML_PARSE_HUGE. */
#define MARKUP_VALUE_MOST ((size_t)9 << 20)

/* The octets at the beginning of `value` that stand for themselves. */
static size_t same_octets(struct bytes value)
{
    size_t i = 0;

    for (; i < value.len; i += 16) {
        unsigned n = value.len - i < 16 ? (unsigned)(value.len - i) : 16;
        unsigned other = octet_unprintable_or(value.at + i, n, "\"&<\\");

        if (other != 0)
            return i + (unsigned)__builtin_ctz(other);
    }
    return value.len;
}

/* Is `value`, of MARKUP_VALUE_MOST octets at most, written as it is? */
static bool html_markup_is_same(struct bytes value)
{
    return same_octets(value) == value.len;
}

static void write_octet(struct buf *out, unsigned char c)
{
    static const char digits[] = "0123456789abcdef";

    buf_add(out, (char[]){'\\', digits[c >> 4], digits[c & 15]}, 3);
}

void html_markup_write(struct buf *out, struct bytes value)
{
    size_t at = out->len;

    for (size_t i = 0; i < value.len; i++) {
        size_t same = same_octets(bytes_skip(value, i));

        buf_add(out, value.at + i, same);
        i += same;
        if (i < value.len && value.at[i] != '\0')
            write_octet(out, (unsigned char)value.at[i]);
    }
    if (out->len - at > MARKUP_VALUE_MOST)
        buf_truncate(out, at);
}

bool html_markup_is_coded(struct bytes written)
{
    return memchr(written.at, '\\', written.len) != NULL;
}

void html_markup_read(struct buf *out, struct bytes written)
{
    const char *at = written.at, *end = at + written.len, *next;
    int high, low;

    while ((next = memchr(at, '\\', (size_t)(end - at))) != NULL) {
        assert(end - next >= 3);
        buf_add(out, at, (size_t)(next - at));
        high = ascii_hex(next[1]);
        low = ascii_hex(next[2]);
        assert(high >= 0 && low >= 0);
        buf_add_char(out, (char)(high << 4 | low));
        at = next + 3;
    }
    buf_add(out, at, (size_t)(end - at));
}

/*
 * The attributes of a page that are read.
 */

static const enum html_word attr_words[ATTR_COUNT_] = {
    WORD_HREF,       WORD_SRC,         WORD_SRCSET,   WORD_ACTION,
    WORD_DATA,       WORD_CITE,        WORD_CONTENT,  WORD_HTTP_EQUIV,
    WORD_NAME,       WORD_PROPERTY,    WORD_REL,      WORD_TYPE,
    WORD_LANG,       WORD_STYLE,       WORD_DATA_SRC, WORD_DATA_SRCSET,
    WORD_XLINK_HREF, WORD_ENCODING,    WORD_COLOR,    WORD_FACE,
    WORD_SIZE,       WORD_POSTER,      WORD_ALT,      WORD_HREFLANG,
    WORD_BACKGROUND, WORD_IMAGESRCSET, WORD_XML_LANG, WORD_SRCDOC,
};

/* One more than the index in attr_words; 0: not one of ours. */
static const uint8_t attr_places[WORD_COUNT_] = {
    [WORD_HREF] = 1,         [WORD_SRC] = 2,          [WORD_SRCSET] = 3,
    [WORD_ACTION] = 4,       [WORD_DATA] = 5,         [WORD_CITE] = 6,
    [WORD_CONTENT] = 7,      [WORD_HTTP_EQUIV] = 8,   [WORD_NAME] = 9,
    [WORD_PROPERTY] = 10,    [WORD_REL] = 11,         [WORD_TYPE] = 12,
    [WORD_LANG] = 13,        [WORD_STYLE] = 14,       [WORD_DATA_SRC] = 15,
    [WORD_DATA_SRCSET] = 16, [WORD_XLINK_HREF] = 17,  [WORD_ENCODING] = 18,
    [WORD_COLOR] = 19,       [WORD_FACE] = 20,        [WORD_SIZE] = 21,
    [WORD_POSTER] = 22,      [WORD_ALT] = 23,         [WORD_HREFLANG] = 24,
    [WORD_BACKGROUND] = 25,  [WORD_IMAGESRCSET] = 26, [WORD_XML_LANG] = 27,
    [WORD_SRCDOC] = 28,
};

/* Its name. `place`: the number of its bit. */
static enum html_word html_attr_word(unsigned place)
{
    return attr_words[place];
}

/* The number of its bit; ATTR_COUNT_: it is not one of these. */
static unsigned html_attr_place(enum html_word w)
{
    return attr_places[w] > 0 ? attr_places[w] - 1U : ATTR_COUNT_;
}

/* Its number among the presentation attributes; PRESENTATION_COUNT_: it is not
 * one of them. */
static unsigned html_presentation_place(enum html_word w)
{
    switch (w) {
    case WORD_FILL:
        return 0;
    case WORD_STROKE:
        return 1;
    case WORD_FILTER:
        return 2;
    case WORD_MASK:
        return 3;
    case WORD_CLIP_PATH:
        return 4;
    case WORD_MARKER_START:
        return 5;
    case WORD_MARKER_MID:
        return 6;
    case WORD_MARKER_END:
        return 7;
    case WORD_CURSOR:
        return 8;
    default:
        return PRESENTATION_COUNT_;
    }
}

/* ---- what stands between the tags of <a> ---- */

static void html_anchors_init(struct html_anchors *a, size_t ceiling)
{
    *a = (struct html_anchors){.open = false};
    buf_init(&a->texts, ceiling);
}

static void html_anchors_fini(struct html_anchors *a)
{
    buf_fini(&a->texts);
}

/* another page begins */
static void html_anchors_clear(struct html_anchors *a)
{
    buf_clear(&a->texts);
    a->body_at = 0;
    a->open = false;
}

/* so does its body */
static void html_anchors_body(struct html_anchors *a)
{
    a->body_at = a->texts.len;
}

static void html_anchors_drop_body(struct html_anchors *a)
{
    buf_truncate(&a->texts, a->body_at);
    a->open = false;
}

/* An <a> was written. */
static void html_anchors_begin(struct html_anchors *a)
{
    text_fold_begin(&a->fold, &a->texts, ANCHOR_TEXT_MOST);
    a->open = true;
}

/* Text in it, if it is open. */
static void html_anchors_add(struct html_anchors *a, struct bytes text)
{
    if (a->open)
        text_fold_add(&a->fold, text);
}

/* The alt of an image, likewise: a word of its own. */
static void html_anchors_alt(struct html_anchors *a, struct bytes alt)
{
    static const struct bytes space = {" ", 1};

    html_anchors_add(a, space);
    html_anchors_add(a, alt);
    html_anchors_add(a, space);
}

static void html_anchors_end(struct html_anchors *a)
{
    if (a->open)
        buf_add_char(&a->texts, '\0');
    a->open = false;
}

struct bytes html_anchors_next(const struct html_anchors *a, size_t *at)
{
    const char *begin = a->texts.at + *at;
    const char *end =
        *at < a->texts.len ? memchr(begin, '\0', a->texts.len - *at) : NULL;

    if (end == NULL)
        return bytes_of("", 0);
    *at += (size_t)(end - begin) + 1;
    return bytes_of(begin, (size_t)(end - begin));
}

/* ---- the text of a page's first <h1> ---- */

#define HEADING_MOST 512 /* octets */

static void html_heading_init(struct html_heading *h)
{
    h->open = false;
    buf_init(&h->text, HEADING_MOST);
}

static void html_heading_fini(struct html_heading *h)
{
    buf_fini(&h->text);
}

/* <h1> to <h6>. */
static bool html_is_heading(enum html_word w)
{
    return w >= WORD_H1 && w <= WORD_H6;
}

/* another page begins */
static void html_heading_clear(struct html_heading *h)
{
    buf_clear(&h->text);
    h->open = false;
}

/* The start tag of a heading, which ends one that is open. */
static void html_heading_begin(struct html_heading *h, enum html_word w)
{
    h->open = w == WORD_H1 && h->text.len == 0;
    if (h->open)
        text_fold_begin(&h->fold, &h->text, HEADING_MOST);
}

/* Text in it, if it is open. */
static void html_heading_add(struct html_heading *h, struct bytes text)
{
    if (h->open)
        text_fold_add(&h->fold, text);
}

/* The alt of an image, likewise: a word of its own. */
static void html_heading_alt(struct html_heading *h, struct bytes alt)
{
    static const struct bytes space = {" ", 1};

    html_heading_add(h, space);
    html_heading_add(h, alt);
    html_heading_add(h, space);
}

static void html_heading_end(struct html_heading *h)
{
    h->open = false;
}

struct bytes html_heading_get(const struct html_heading *h)
{
    return buf_bytes(&h->text);
}

/* ---- the part of a page that can matter, as plain XML ---- */

#define VALUE_CEILING ((size_t)8 << 20)
_Static_assert(VALUE_CEILING <= MARKUP_VALUE_MOST, "a plain value is written");
#define MARKUP_BEGIN "<links>"
/* libxml2 2.9 asks for more input at each tag within its last 250 octets: with
 * blanks behind the root, none is there. */
#define EIGHT_BLANKS "        "
#define BLANKS_64                                                              \
    EIGHT_BLANKS EIGHT_BLANKS EIGHT_BLANKS EIGHT_BLANKS EIGHT_BLANKS           \
        EIGHT_BLANKS EIGHT_BLANKS EIGHT_BLANKS
#define MARKUP_END "</links>" BLANKS_64 BLANKS_64 BLANKS_64 BLANKS_64

void html_filter_init(struct html_filter *f, size_t markup_ceiling)
{
    assert(markup_ceiling >= sizeof MARKUP_BEGIN);
    memset(f, 0, sizeof *f);
    buf_init(&f->markup, markup_ceiling);
    buf_init(&f->scratch, VALUE_CEILING);
    buf_init(&f->style, VALUE_CEILING);
    buf_init(&f->title, HTML_NOTED_MOST);
    buf_init(&f->lang, HTML_NOTED_MOST);
    html_anchors_init(&f->anchors, markup_ceiling);
    html_heading_init(&f->heading);
}

void html_filter_fini(struct html_filter *f)
{
    buf_fini(&f->markup);
    buf_fini(&f->scratch);
    buf_fini(&f->style);
    buf_fini(&f->title);
    buf_fini(&f->lang);
    html_anchors_fini(&f->anchors);
    html_heading_fini(&f->heading);
}

/* ---- attributes ---------------------------------------------------------- */

/* Attributes that hold links; the others only say more about them. */
#define CARRIERS                                                               \
    (ATTR_HREF | ATTR_SRC | ATTR_SRCSET | ATTR_ACTION | ATTR_DATA |            \
     ATTR_CITE | ATTR_CONTENT | ATTR_STYLE | ATTR_DATA_SRC |                   \
     ATTR_DATA_SRCSET | ATTR_POSTER | ATTR_BACKGROUND | ATTR_IMAGESRCSET |     \
     ATTR_SRCDOC)

static void note_presentation(struct html_filter *f, enum html_word w,
                              struct bytes value)
{
    unsigned place = html_presentation_place(w);

    if (place == PRESENTATION_COUNT_ || (f->presented >> place & 1) != 0)
        return;
    f->presented |= UINT32_C(1) << place;
    f->presentation[place] = value;
}

/* Reads those attributes of `asked` that the tag has, the first of each name;
 * in XML, case counts. False: the page ends inside the tag. */
static bool read_attrs(struct html_filter *f, uint32_t asked)
{
    struct html_attr a;

    f->found = f->presented = 0;
    if (asked == 0 || html_tag_ends(&f->reader))
        return html_finish_tag(&f->reader);
    while (html_next_attr(&f->reader, &a)) {
        enum html_word w = html_word_of(a.name);
        unsigned place = html_attr_place(w);
        uint32_t bit = place < ATTR_COUNT_ ? UINT32_C(1) << place : 0;

        if (f->in_xml && !bytes_equal(a.name, html_word_text(w)))
            continue;
        if ((bit & asked) && !(f->found & bit)) {
            f->found |= bit;
            f->value[place] = a.value;
        } else if (bit == 0 && (asked & ATTR_PRESENTATION)) {
            note_presentation(f, w, a.value);
        }
    }
    return f->reader.tag_whole;
}

static unsigned place_of(enum html_attr_bit bit)
{
    return (unsigned)__builtin_ctz((unsigned)bit);
}

/* The decoded value of an attribute; empty if the tag lacks it or it is longer
 * than VALUE_CEILING. Lives until the next call. */
static struct bytes value_of(struct html_filter *f, enum html_attr_bit bit)
{
    struct bytes raw = f->value[place_of(bit)];

    if (!(f->found & (uint32_t)bit) || raw.len > VALUE_CEILING)
        return bytes_of("", 0);
    if (html_text_is_plain(raw))
        return raw;
    buf_clear(&f->scratch);
    html_text(&f->scratch, raw, HTML_AS_ATTRIBUTE);
    return f->scratch.failed ? bytes_of("", 0) : buf_bytes(&f->scratch);
}

static bool value_is(struct html_filter *f, enum html_attr_bit bit,
                     const char *s)
{
    return (f->found & (uint32_t)bit) &&
           bytes_equal_nocase(value_of(f, bit), bytes_of_str(s));
}

/* ---- writing ------------------------------------------------------------- */

/* Most values are written as they stand in the page. */
static void write_plain(struct html_filter *f, struct bytes name,
                        struct bytes value)
{
    char *to = buf_room(&f->markup, name.len + value.len + 4);

    if (to == NULL)
        return;
    *to = ' ';
    memcpy(to + 1, name.at, name.len);
    to += name.len + 1;
    to[0] = '=';
    to[1] = '"';
    memcpy(to + 2, value.at, value.len);
    to[2 + value.len] = '"';
    buf_grew(&f->markup, name.len + value.len + 4);
}

static void write_attr(struct html_filter *f, unsigned place)
{
    struct bytes name = html_word_text(html_attr_word(place));

    if (f->value[place].len <= VALUE_CEILING &&
        html_markup_is_same(f->value[place])) {
        write_plain(f, name, f->value[place]);
        return;
    }
    buf_add_char(&f->markup, ' ');
    buf_add_bytes(&f->markup, name);
    buf_add(&f->markup, "=\"", 2);
    html_markup_write(&f->markup,
                      value_of(f, (enum html_attr_bit)(1U << place)));
    buf_add_char(&f->markup, '"');
}

/* A tag that reaches the ceiling is removed whole. */
static void end_element(struct html_filter *f, size_t begin)
{
    buf_add(&f->markup, "/>", 2);
    if (f->markup.failed)
        buf_truncate(&f->markup, begin);
}

static void write_element(struct html_filter *f, enum html_word w,
                          uint32_t attrs)
{
    size_t begin = f->markup.len;

    buf_add_char(&f->markup, '<');
    buf_add_bytes(&f->markup, html_word_text(w));
    for (; attrs != 0; attrs &= attrs - 1)
        write_attr(f, (unsigned)__builtin_ctz(attrs));
    end_element(f, begin);
}

/* Writes the collected text of a style sheet. */
static void write_style(struct html_filter *f)
{
    size_t begin = f->markup.len;

    if (f->style.len > 0 && !f->style.failed) {
        buf_add_str(&f->markup, "<param style=\"");
        html_markup_write(&f->markup, buf_bytes(&f->style));
        buf_add_char(&f->markup, '"');
        end_element(f, begin);
    }
    buf_clear(&f->style);
}

/* ---- tags ---------------------------------------------------------------- */

/* Attributes that are read whatever is asked for. */
static const uint32_t always_read[WORD_COUNT_] = {
    [WORD_HTML] = ATTR_LANG | ATTR_XML_LANG,
    [WORD_BASE] = ATTR_HREF,
    [WORD_IMAGE] = UINT32_MAX, /* may be an <img> */
    [WORD_META] = ATTR_NAME | ATTR_CONTENT | ATTR_HTTP_EQUIV | ATTR_PROPERTY,
    [WORD_STYLE] = ATTR_TYPE,
    [WORD_FONT] = ATTR_COLOR | ATTR_FACE | ATTR_SIZE,
    [WORD_INPUT] = ATTR_TYPE,
    [WORD_ANNOTATION_XML] = ATTR_ENCODING,
};

/* The attributes of a tag that are needed. */
static uint32_t asked_of(const struct html_wants *wants, enum html_word w)
{
    return wants->of_any | wants->of[w] | wants->of_svg[w] | always_read[w];
}

static struct html_start start_of(struct html_filter *f, enum html_word w)
{
    struct html_start s = {.word = w,
                           .name = f->reader.name,
                           .self_closing = f->reader.self_closing};

    if (w == WORD_FONT)
        s.font_looks = f->found & (ATTR_COLOR | ATTR_FACE | ATTR_SIZE);
    else if (w == WORD_INPUT)
        s.hidden = value_is(f, ATTR_TYPE, "hidden");
    else if (w == WORD_ANNOTATION_XML)
        s.html_encoding = value_is(f, ATTR_ENCODING, "text/html") ||
                          value_is(f, ATTR_ENCODING, "application/xhtml+xml");
    return s;
}

/* Is it a refresh, directives for robots, or a text or property asked for? */
static bool meta_matters(struct html_filter *f, const struct html_wants *wants)
{
    struct bytes name;

    if (!(f->found & ATTR_CONTENT))
        return false;
    if (value_is(f, ATTR_HTTP_EQUIV, "refresh"))
        return true;
    name = bytes_trim(value_of(f, ATTR_NAME));
    if (bytes_equal_nocase(name, bytes_of_str("robots")) ||
        (wants->agent != NULL &&
         bytes_equal_nocase(name, bytes_of_str(wants->agent))))
        return true;
    if (wants->about && bytes_equal_nocase(name, bytes_of_str("description")))
        return true;
    return wants->og && (bytes_starts_with(value_of(f, ATTR_PROPERTY), "og:") ||
                         bytes_starts_with(value_of(f, ATTR_NAME), "og:"));
}

static bool mentions_nofollow(struct bytes rel)
{
    for (size_t i = 0; i + 8 <= rel.len; i++)
        if (bytes_equal_nocase(bytes_of(rel.at + i, 8),
                               bytes_of_str("nofollow")))
            return true;
    return false;
}

/* The attributes of an HTML element to write. */
static uint32_t written_of(struct html_filter *f,
                           const struct html_wants *wants, enum html_word w)
{
    uint32_t attrs = f->found & (wants->of[w] | wants->of_any);

    if (w == WORD_META)
        return meta_matters(f, wants)
                   ? f->found & (ATTR_CONTENT | ATTR_HTTP_EQUIV | ATTR_NAME |
                                 ATTR_PROPERTY)
                   : 0;
    if (w == WORD_INPUT && !value_is(f, ATTR_TYPE, "image"))
        attrs &= ~(uint32_t)ATTR_SRC;
    /* Elsewhere than in <link> only nofollow matters for what is followed. */
    if (w != WORD_LINK && (attrs & ATTR_REL) && !wants->link_texts &&
        !mentions_nofollow(value_of(f, ATTR_REL)))
        attrs &= ~(uint32_t)ATTR_REL;
    return attrs & CARRIERS ? attrs : 0;
}

static void write_html(struct html_filter *f, const struct html_wants *wants,
                       enum html_word w)
{
    uint32_t attrs = written_of(f, wants, w);

    if (attrs != 0)
        write_element(f, wants->of[w] != 0 || w == WORD_META ? w : WORD_PARAM,
                      attrs);
    if (attrs != 0 && w == WORD_A && wants->link_texts)
        html_anchors_begin(&f->anchors);
}

/* Writes the presentation attributes that may have a url(), each as a style of
 * its own: an open string in one must not reach into the next. */
static void write_presentation(struct html_filter *f)
{
    for (; f->presented != 0; f->presented &= f->presented - 1) {
        struct bytes value = f->presentation[__builtin_ctz(f->presented)];

        if (memchr(value.at, '(', value.len) == NULL &&
            memchr(value.at, '&', value.len) == NULL)
            continue;
        f->found |= ATTR_STYLE;
        f->value[place_of(ATTR_STYLE)] = value;
        write_element(f, WORD_PARAM, ATTR_STYLE);
    }
}

/* In SVG some elements have links, in MathML <a>, and every element may have
 * style. */
static void write_foreign(struct html_filter *f, const struct html_wants *wants,
                          enum html_word w, enum html_space space)
{
    uint32_t attrs = f->found & wants->of_any & ATTR_STYLE;
    uint32_t links =
        space == SVG_SPACE || w == WORD_A ? f->found & wants->of_svg[w] : 0;

    if (!(links & (ATTR_HREF | ATTR_XLINK_HREF))) {
        if (attrs != 0)
            write_element(f, WORD_PARAM, attrs);
        return;
    }
    if (!(links & ATTR_HREF)) {
        f->value[place_of(ATTR_HREF)] = f->value[place_of(ATTR_XLINK_HREF)];
        f->found |= ATTR_HREF;
    }
    write_element(f, w, attrs | (links & ATTR_REL) | ATTR_HREF);
    if (w == WORD_A && wants->link_texts)
        html_anchors_begin(&f->anchors);
}

struct page_pass {
    const struct html_wants *wants;
    bool (*base)(void *ctx, struct bytes href);
    void *ctx;
    bool base_found;
};

/* Appends text to a buffer of HTML_NOTED_MOST octets, as far as it has room; a
 * reference may become a little longer than it was. */
static void note_text(struct buf *out, struct bytes raw, enum html_text_as as)
{
    size_t room = (HTML_NOTED_MOST - out->len) / 2;

    if (out->len == 0)
        raw = bytes_skip_space(raw);
    if (raw.len > room)
        raw.len = room;
    html_text(out, raw, as);
}

/* Notes base, title and language, which the link parser need not see. */
static void note_element(struct html_filter *f, struct page_pass *pass,
                         enum html_word w)
{
    bool live = !html_tree_has(&f->tree, WORD_TEMPLATE);

    if (w == WORD_BASE && live && !pass->base_found && (f->found & ATTR_HREF))
        pass->base_found = pass->base(pass->ctx, value_of(f, ATTR_HREF));
    else if (w == WORD_HTML && live && f->lang.len == 0 &&
             (f->found & ATTR_LANG))
        note_text(&f->lang, f->value[place_of(ATTR_LANG)], HTML_AS_ATTRIBUTE);
    else if (w == WORD_HTML && f->in_xml && f->lang.len == 0 &&
             (f->found & ATTR_XML_LANG))
        note_text(&f->lang, f->value[place_of(ATTR_XML_LANG)],
                  HTML_AS_ATTRIBUTE);
    else if (w == WORD_TITLE && live && !f->title_found)
        f->in_title = f->title_found = true;
    else if (pass->wants->about && live && html_is_heading(w))
        html_heading_begin(&f->heading, w);
    else if (w == WORD_STYLE && pass->wants->style_text)
        f->in_style = !(f->found & ATTR_TYPE) || value_is(f, ATTR_TYPE, "") ||
                      value_is(f, ATTR_TYPE, "text/css");
}

static void take_start(struct html_filter *f, struct page_pass *pass)
{
    enum html_word w = f->in_xml ? f->xml_word : html_word_of(f->reader.name);
    struct html_start start;
    struct html_place place;

    if (!read_attrs(f, asked_of(pass->wants, w)))
        return;
    start = start_of(f, w);
    place = f->in_xml ? html_tree_open(&f->tree, &start, f->xml_space)
                      : html_tree_start(&f->tree, &start);
    if (!f->body_begun && f->tree.part != TREE_HEAD) {
        f->body_begun = true;
        f->body_at = f->markup.len;
        html_anchors_body(&f->anchors);
    }
    if (place.drops_body) {
        buf_truncate(&f->markup, f->body_at);
        html_anchors_drop_body(&f->anchors);
        html_heading_clear(&f->heading);
    }
    if (place.ignored)
        return;
    if (place.state != HTML_DATA)
        html_switch(&f->reader, place.state, f->reader.name);
    if (w == WORD_A)
        html_anchors_end(&f->anchors);
    if (place.space != HTML_SPACE) {
        write_foreign(f, pass->wants, place.word, place.space);
        if (place.space == SVG_SPACE)
            write_presentation(f);
        return;
    }
    note_element(f, pass, place.word);
    if (f->found & ATTR_ALT) {
        html_anchors_alt(&f->anchors, value_of(f, ATTR_ALT));
        html_heading_alt(&f->heading, value_of(f, ATTR_ALT));
    }
    write_html(f, pass->wants, place.word);
}

/* Notes the end tag of an element. */
static void note_end(struct html_filter *f, enum html_word w)
{
    if (w == WORD_A)
        html_anchors_end(&f->anchors);
    else if (html_is_heading(w))
        html_heading_end(&f->heading);
}

static void take_end(struct html_filter *f)
{
    enum html_word w = html_word_of(f->reader.name);

    note_end(f, w);
    html_tree_end(&f->tree, w, f->reader.name);
}

/* ---- text ---------------------------------------------------------------- */

static bool is_blank(struct html_filter *f)
{
    struct bytes s = f->reader.text;

    if (f->reader.text_state == HTML_DATA && !html_text_is_plain(s)) {
        buf_clear(&f->scratch);
        html_text(&f->scratch, s, HTML_AS_DATA);
        s = buf_bytes(&f->scratch);
    }
    for (size_t i = 0; i < s.len; i++)
        if (strchr(" \t\n\f\r", s.at[i]) == NULL) /* finds zero octets too */
            return false;
    return true;
}

/* Passes on visible text, also to the link and the heading around it.
 * References are rare, so most of it is passed on as it stands in the page. */
static void visit_text(struct html_filter *f, const struct html_wants *wants)
{
    struct bytes s = f->reader.text;

    if (!f->anchors.open && !f->heading.open)
        s = bytes_skip_space(s); /* between tags there is often nothing else */
    if (s.len == 0 || html_tree_has(&f->tree, WORD_TEMPLATE) ||
        html_tree_is_in(&f->tree, WORD_STYLE, SVG_SPACE))
        return;
    if (memchr(s.at, '&', s.len) != NULL && f->reader.text_state == HTML_DATA) {
        buf_clear(&f->scratch);
        html_text(&f->scratch, s, HTML_AS_DATA);
        s = buf_bytes(&f->scratch);
    }
    if (wants->text != NULL)
        wants->text(wants->text_ctx, s);
    html_anchors_add(&f->anchors, s);
    html_heading_add(&f->heading, s);
}

static void take_text(struct html_filter *f, const struct html_wants *wants)
{
    struct html_reader *r = &f->reader;
    bool raw = r->text_state != HTML_DATA && r->text_state != HTML_CDATA;

    if ((wants->text != NULL || f->anchors.open || f->heading.open) && !raw)
        visit_text(f, wants);
    if (f->in_title)
        note_text(&f->title, r->text, html_text_as(r->text_state));
    else if (f->in_style || (wants->style_text &&
                             html_tree_is_in(&f->tree, WORD_STYLE, SVG_SPACE)))
        html_text(&f->style, r->text, html_text_as(r->text_state));
    if (!raw && (f->tree.frameset_ok || f->tree.part == TREE_HEAD) &&
        f->tree.part < TREE_FRAMESET && !f->in_xml && !is_blank(f))
        html_tree_text(&f->tree);
}

static void begin_page(struct html_filter *f)
{
    html_tree_begin(&f->tree);
    buf_clear(&f->markup);
    buf_clear(&f->style);
    html_anchors_clear(&f->anchors);
    html_heading_clear(&f->heading);
    buf_add_str(&f->markup, MARKUP_BEGIN);
    f->body_at = f->markup.len;
    f->body_begun = f->in_xml = f->broken = false;
    f->in_style = f->in_title = f->title_found = false;
    buf_clear(&f->title);
    buf_clear(&f->lang);
}

/* The root's end tag always fits: no other may go beyond the ceiling. */
static enum status end_page(struct html_filter *f)
{
    enum status st;

    write_style(f);
    html_anchors_end(&f->anchors);
    st = buf_failed(&f->markup);
    f->markup.failed = false;
    f->markup.ceiling += sizeof MARKUP_END - 1;
    buf_add_str(&f->markup, MARKUP_END);
    f->markup.ceiling -= sizeof MARKUP_END - 1;
    return st;
}

/* A tag ends what is made of the text before it. */
static void end_texts(struct html_filter *f, const struct html_wants *wants)
{
    f->in_style = f->in_title = false;
    if (wants->style_text)
        write_style(f);
}

/* Reads what the reader has, of which `token` is the first. */
static void read_tokens(struct html_filter *f, struct page_pass *pass,
                        enum html_token token)
{
    for (; token != HTML_PAGE_END; token = html_next(&f->reader)) {
        if (token == HTML_TEXT) {
            take_text(f, pass->wants);
        } else if (token == HTML_START_TAG || token == HTML_END_TAG) {
            end_texts(f, pass->wants);
            if (token == HTML_START_TAG)
                take_start(f, pass);
            else if (html_finish_tag(&f->reader))
                take_end(f);
            f->reader.in_foreign = html_tree_in_foreign(&f->tree);
        }
    }
}

enum status html_filter_page(struct html_filter *f, struct bytes page,
                             const struct html_wants *wants,
                             bool (*base)(void *ctx, struct bytes href),
                             void *ctx)
{
    struct page_pass pass = {.wants = wants, .base = base, .ctx = ctx};

    begin_page(f);
    html_begin(&f->reader, page);
    read_tokens(f, &pass, html_next(&f->reader));
    return end_page(f);
}

/* ---- pages in XML -------------------------------------------------------- */

struct xml_pass {
    struct html_filter *f;
    struct page_pass *pass;
};

static void xml_start(void *ctx, enum html_word w, enum html_space space,
                      struct bytes tag)
{
    struct xml_pass *x = ctx;
    struct html_filter *f = x->f;

    f->xml_word = w;
    f->xml_space = space;
    html_begin(&f->reader, tag);
    read_tokens(f, x->pass, html_next(&f->reader));
}

static void xml_end(void *ctx)
{
    struct xml_pass *x = ctx;
    struct html_filter *f = x->f;

    assert(f->tree.open.depth > 0); /* each start tag was read */
    end_texts(f, x->pass->wants);
    note_end(f, (enum html_word)html_stack_top(&f->tree.open)->word);
    html_tree_close(&f->tree);
}

/* How HTML reads the content of the innermost element. */
static enum html_state open_state(const struct html_filter *f)
{
    const struct html_stack *s = &f->tree.open;

    if (s->depth == 0 || html_stack_top(s)->space != HTML_SPACE)
        return HTML_DATA;
    return html_content_state((enum html_word)html_stack_top(s)->word);
}

static void xml_text(void *ctx, struct bytes text)
{
    struct xml_pass *x = ctx;
    struct html_reader *r = &x->f->reader;

    html_begin(r, bytes_of("", 0));
    r->text = text;
    r->text_state = open_state(x->f) == HTML_DATA ? HTML_CDATA : HTML_RAWTEXT;
    read_tokens(x->f, x->pass, HTML_TEXT);
}

/* Goes on with the rest of a page as HTML, inside the elements that are open:
 * in a script, say, up to its end tag. */
static void go_on_as_html(struct html_filter *f, struct page_pass *pass,
                          struct bytes rest)
{
    enum html_state state = open_state(f);

    f->in_xml = false;
    html_begin(&f->reader, rest);
    f->reader.in_foreign = html_tree_in_foreign(&f->tree);
    if (state != HTML_DATA) {
        html_switch(&f->reader, state,
                    html_word_text(
                        (enum html_word)html_stack_top(&f->tree.open)->word));
        f->tree.in_raw = state != HTML_PLAINTEXT;
        html_stack_pop(&f->tree.open);
    }
    read_tokens(f, pass, html_next(&f->reader));
}

enum status html_filter_xml(struct html_filter *f, struct bytes page,
                            const struct html_wants *wants,
                            bool (*base)(void *ctx, struct bytes href),
                            void *ctx)
{
    struct page_pass pass = {.wants = wants, .base = base, .ctx = ctx};
    struct xml_pass x = {.f = f, .pass = &pass};
    const struct xhtml_handler handler = {.start = xml_start,
                                          .end = xml_end,
                                          .text = xml_text,
                                          .ctx = &x};

    begin_page(f);
    f->in_xml = true;
    f->broken = !xhtml_read(page, &handler, &f->broken_at);
    if (f->broken)
        go_on_as_html(f, &pass, bytes_skip(page, f->broken_at));
    return end_page(f);
}
