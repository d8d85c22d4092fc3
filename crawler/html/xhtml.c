/* SPDX-License-Identifier: MIT */
/*
 * xhtml.c - a page as XML.
 *
 * The parser pulls its input in pieces, and gets no more once it has met an
 * error: what follows would cost time and a message for each further one. (It
 * must not be stopped from within an error: libxml2 2.9 goes on with pointers
 * into the input that this frees.)
 *
 * Its events say which tags and which text there are; attributes are read from
 * the page itself, since a tag that XML lets pass is one that html.h reads
 * alike. A tag holds no `<` but its first, so its place is the last one before
 * the place that the parser has reached.
 */
#include "crawler/html/xhtml.h"

#include <libxml/parser.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/ascii.h"
#include "base/buf.h"
#include "crawler/charset/charset.h"
#include "crawler/html/html.h"
#include "crawler/html/link_values.h"

/* ---- what stands before the root element of an XML document ---- */

struct xml_prolog {
    size_t length;        /* octets up to the `<` of the root */
    struct bytes root;    /* its name, as written */
    struct bytes doctype; /* what is between `<!DOCTYPE` and its `>`; empty:
                             there is none */
};

#define DOCTYPE "<!DOCTYPE"

/* The length up to and including `close`; 0: it is not there. */
static size_t length_to(struct bytes in, const char *close)
{
    const char *end =
        in.len > 0 ? memmem(in.at, in.len, close, strlen(close)) : NULL;

    return end != NULL ? (size_t)(end - in.at) + strlen(close) : 0;
}

/* The length of the quoted literal at the start of `in`; 0: its end is not
 * there. */
static size_t literal_length(struct bytes in)
{
    const char *end = memchr(in.at + 1, in.at[0], in.len - 1);

    return end != NULL ? (size_t)(end - in.at) + 1 : 0;
}

size_t xml_declaration_length(struct bytes in)
{
    size_t depth = 1; /* open `<`, including this one */
    size_t i = 0;

    while (i < in.len) {
        struct bytes rest = bytes_skip(in, i);
        size_t n = 1;

        if (bytes_starts_with(rest, "<!--"))
            n = length_to(rest, "-->");
        else if (bytes_starts_with(rest, "<?"))
            n = length_to(rest, "?>");
        else if (rest.at[0] == '"' || rest.at[0] == '\'')
            n = literal_length(rest);
        else if (rest.at[0] == '<')
            depth++;
        else if (rest.at[0] == '>' && --depth == 0)
            return i + 1;
        if (n == 0)
            return 0;
        i += n;
    }
    return 0;
}

/* The length of what may stand before the root, at the start of `in`; 0: it is
 * something else. */
static size_t part_length(struct bytes in, struct bytes *doctype)
{
    size_t n;

    if (bytes_starts_with(in, "<!--"))
        return length_to(in, "-->");
    if (bytes_starts_with(in, "<?"))
        return length_to(in, "?>");
    if (!bytes_starts_with(in, DOCTYPE))
        return 0;
    n = xml_declaration_length(bytes_skip(in, 2));
    if (n == 0)
        return 0;
    *doctype = bytes_of(in.at + strlen(DOCTYPE), n + 1 - strlen(DOCTYPE));
    return n + 2;
}

static bool begins_name(char c)
{
    return ascii_is_letter(c) || c == '_' || c == ':' ||
           (unsigned char)c >= 0x80;
}

static bool ends_name(char c)
{
    return ascii_is_space(c) || c == '/' || c == '>' || c == '<' || c == '\0';
}

/* Reads the prolog of `document`, which is UTF-8 without a byte order mark.
 * False: no start tag follows. */
static bool xml_prolog_read(struct bytes document, struct xml_prolog *out)
{
    struct bytes rest = document;
    size_t n;

    *out = (struct xml_prolog){.root = bytes_of("", 0),
                               .doctype = bytes_of("", 0)};
    do {
        rest = bytes_skip_space(rest);
        n = part_length(rest, &out->doctype);
        rest = bytes_skip(rest, n);
    } while (n > 0);
    out->length = document.len - rest.len;
    if (rest.len < 2 || rest.at[0] != '<' || !begins_name(rest.at[1]))
        return false;
    for (n = 1; n < rest.len && !ends_name(rest.at[n]); n++)
        ;
    out->root = bytes_of(rest.at + 1, n - 1);
    return true;
}

/* ---- reads a page by XML's rules, with libxml2's SAX2 parser ---- */

#define XHTML_ATTRS_MOST 256

#define READER_MAGIC     UINT32_C(0x7868746d)
#define TEXT_PIECE       ((size_t)64 << 10) /* longer text comes in pieces */
#define TEXT_CEILING     ((size_t)16 << 20) /* libxml2's longest text, and more */
#define ENTITY_MOST      ((size_t)64) /* longer names mean nothing in HTML */
#define PROLOG_DECODE    ((size_t)64 << 10) /* the root comes before that */

struct xhtml_reader {
    uint32_t magic;
    xmlParserCtxtPtr xml;
    const struct xhtml_handler *h;
    struct bytes page;
    size_t root;  /* where the parser's input begins in the page ... */
    size_t given; /* ... up to where it has it ... */
    size_t limit; /* ... and may have it */
    size_t done;  /* where the last whole tag or text ended */
    bool broken;  /* a bound was reached */
    size_t depth;
    unsigned namespaces;
    unsigned declared[XHTML_DEPTH_MOST]; /* namespaces, by open element */
    struct buf text;                     /* not yet handed on */
    bool html_names; /* the DOCTYPE declares the names that HTML has */
    bool own_names;  /* it may declare others */
    struct buf entity;
    xmlEntity expansion;
};

/* ---- bounds -------------------------------------------------------------- */

/* The length of the start tag at the start of `in`, which ends at a `>` outside
 * quotes; in.len: it does not end. *attrs: how many it has. */
static size_t tag_length(struct bytes in, size_t *attrs)
{
    char quote = '\0';

    *attrs = 0;
    for (size_t i = 1; i < in.len; i++) {
        char c = in.at[i];

        if (quote != '\0')
            quote = c == quote ? '\0' : quote;
        else if (c == '"' || c == '\'')
            quote = c;
        else if (c == '>')
            return i + 1;
        else if (c == '=')
            ++*attrs;
    }
    return in.len;
}

/* The octets of `page` up to the first tag with too many attributes. Wherever a
 * tag begins, it does not reach past the next `<`. */
static size_t readable(struct bytes page)
{
    const char *at = memchr(page.at, '<', page.len), *next;
    const char *end = page.at + page.len;
    size_t attrs;

    for (; at != NULL; at = next) {
        next = memchr(at + 1, '<', (size_t)(end - at) - 1);
        (void)tag_length(bytes_of(at,
                                  (size_t)((next != NULL ? next : end) - at)),
                         &attrs);
        if (attrs > XHTML_ATTRS_MOST && strchr("!?/", at[1]) == NULL)
            return (size_t)(at - page.at);
    }
    return page.len;
}

/* ---- events -------------------------------------------------------------- */

/* NULL: what comes now does not count. (libxml2 2.9 tells of text behind an
 * error.) */
static struct xhtml_reader *reader_of(void *ctx)
{
    struct xhtml_reader *r = ctx;

    return r->magic == READER_MAGIC && r->xml->wellFormed && !r->broken ? r
                                                                        : NULL;
}

/* Where the parser is in the page. */
static size_t place_of(const struct xhtml_reader *r)
{
    long n = xmlByteConsumed(r->xml);
    size_t place = r->root + (n > 0 ? (size_t)n : 0);

    return place < r->given ? place : r->given;
}

static void hand_text(struct xhtml_reader *r)
{
    if (r->text.len > 0)
        r->h->text(r->h->ctx, buf_bytes(&r->text));
    buf_clear(&r->text);
}

static void on_text(void *ctx, const xmlChar *text, int len)
{
    struct xhtml_reader *r = reader_of(ctx);

    if (r == NULL)
        return;
    buf_add(&r->text, text, (size_t)len);
    if (r->text.len > TEXT_PIECE)
        hand_text(r);
    r->done = place_of(r);
    if (text == r->xml->input->cur)
        r->done += (size_t)len; /* it is told of before it is passed */
}

static void on_comment(void *ctx, const xmlChar *text)
{
    struct xhtml_reader *r = reader_of(ctx);

    (void)text;
    if (r == NULL)
        return;
    hand_text(r); /* as HTML's text, it ends here */
    r->done = place_of(r);
}

static void on_instruction(void *ctx, const xmlChar *target,
                           const xmlChar *text)
{
    (void)target;
    on_comment(ctx, text);
}

static bool is_uri(const xmlChar *uri, const char *of)
{
    return bytes_is(bytes_of_str((const char *)uri), of);
}

static enum html_word word_of(const xmlChar *local, const xmlChar *prefix,
                              const xmlChar *uri, enum html_space *space)
{
    struct bytes name = bytes_of_str((const char *)local);
    enum html_word w = html_word_of(name);

    *space = HTML_SPACE;
    if (uri == NULL ? prefix == NULL
                    : is_uri(uri, "http://www.w3.org/1999/xhtml"))
        return bytes_equal(html_word_text(w), name) ? w : WORD_OTHER;
    if (uri == NULL)
        return WORD_OTHER;
    if (is_uri(uri, "http://www.w3.org/2000/svg"))
        *space = SVG_SPACE;
    else if (is_uri(uri, "http://www.w3.org/1998/Math/MathML"))
        *space = MATH_SPACE;
    return *space == HTML_SPACE ? WORD_OTHER : w;
}

/* The tag that the parser has come to the end of; empty: it has none. */
static struct bytes tag_at(const struct xhtml_reader *r, size_t place)
{
    const char *at = place > 0 ? memrchr(r->page.at, '<', place) : NULL;
    struct bytes tag;
    size_t attrs;

    if (at == NULL)
        return bytes_of("", 0);
    tag = bytes_skip(r->page, (size_t)(at - r->page.at));
    tag.len = tag_length(tag, &attrs);
    return tag.at[tag.len - 1] == '>' ? tag : bytes_of("", 0);
}

static void on_start(void *ctx, const xmlChar *local, const xmlChar *prefix,
                     const xmlChar *uri, int space_count,
                     const xmlChar **spaces, int count, int defaulted,
                     const xmlChar **atts)
{
    struct xhtml_reader *r = reader_of(ctx);
    enum html_space space;
    enum html_word w;
    struct bytes tag;

    (void)spaces, (void)count, (void)defaulted, (void)atts;
    if (r == NULL)
        return;
    hand_text(r);
    tag = tag_at(r, place_of(r));
    if (tag.len == 0 || r->depth == XHTML_DEPTH_MOST ||
        r->namespaces + (unsigned)space_count > XHTML_ATTRS_MOST) {
        r->broken = true;
        return;
    }
    r->done = (size_t)(tag.at - r->page.at) + tag.len;
    r->declared[r->depth++] = (unsigned)space_count;
    r->namespaces += (unsigned)space_count;
    w = word_of(local, prefix, uri, &space);
    if (!ascii_is_letter(tag.at[1]))
        tag = bytes_of_str("<x>"); /* HTML has no such names */
    r->h->start(r->h->ctx, w, space, tag);
}

static void on_end(void *ctx, const xmlChar *local, const xmlChar *prefix,
                   const xmlChar *uri)
{
    struct xhtml_reader *r = reader_of(ctx);

    (void)local, (void)prefix, (void)uri;
    if (r == NULL || r->depth == 0)
        return;
    hand_text(r);
    r->namespaces -= r->declared[--r->depth];
    r->h->end(r->h->ctx);
    r->done = place_of(r);
}

/* ---- names of characters ------------------------------------------------- */

/* The document types for which browsers know HTML's names of characters (HTML
 * standard, section 14.2). */
static bool is_xhtml_doctype(struct bytes doctype)
{
    static const char *const ids[] = {
        "-//W3C//DTD XHTML 1.0 Transitional//EN",
        "-//W3C//DTD XHTML 1.1//EN",
        "-//W3C//DTD XHTML 1.0 Strict//EN",
        "-//W3C//DTD XHTML 1.0 Frameset//EN",
        "-//W3C//DTD XHTML Basic 1.0//EN",
        "-//W3C//DTD XHTML 1.1 plus MathML 2.0//EN",
        "-//W3C//DTD XHTML 1.1 plus MathML 2.0 plus SVG 1.1//EN",
        "-//W3C//DTD MathML 2.0//EN",
        "-//WAPFORUM//DTD XHTML Mobile 1.0//EN",
    };

    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
        if (doctype.len > 0 &&
            memmem(doctype.at, doctype.len, ids[i], strlen(ids[i])) != NULL)
            return true;
    return false;
}

/* What `&name;` stands for; a name that only the page's own DTD may declare
 * stands for nothing. */
static xmlEntityPtr on_entity(void *ctx, const xmlChar *name)
{
    struct xhtml_reader *r = reader_of(ctx);
    char written[ENTITY_MOST];
    int n = snprintf(written, sizeof written, "&%s;", (const char *)name);

    if (r == NULL)
        return NULL;
    buf_clear(&r->entity);
    if (r->html_names && n > 0 && (size_t)n < sizeof written)
        html_text(&r->entity, bytes_of(written, (size_t)n), HTML_AS_DATA);
    if (r->entity.len == 0 ||
        bytes_equal(buf_bytes(&r->entity), bytes_of(written, (size_t)n))) {
        if (!r->own_names)
            return NULL;
        buf_clear(&r->entity);
    }
    buf_add_char(&r->entity, '\0');
    r->expansion = (xmlEntity)
    {
        .type = XML_ENTITY_DECL, .name = name,
        .content = (xmlChar *)r->entity.at, .length = (int)r->entity.len - 1,
        .etype = XML_INTERNAL_PREDEFINED_ENTITY, /* its content is no markup */
#if LIBXML_VERSION < 21100
            .checked = 2, /* and was read before */
#endif
    };
    return &r->expansion;
}

/* ---- a page -------------------------------------------------------------- */

static int give(void *ctx, char *to, int most)
{
    struct xhtml_reader *r = ctx;
    size_t n = r->limit - r->given;

    if (r->broken || !r->xml->wellFormed || most <= 0)
        return 0;
    if (n > (size_t)most)
        n = (size_t)most;
    memcpy(to, r->page.at + r->given, n);
    r->given += n;
    return (int)n;
}

static bool run(struct xhtml_reader *r)
{
    bool whole;

    r->xml = xmlNewParserCtxt();
    if (r->xml == NULL)
        return false;
    *r->xml->sax = (xmlSAXHandler){.initialized = XML_SAX2_MAGIC,
                                   .startElementNs = on_start,
                                   .endElementNs = on_end,
                                   .characters = on_text,
                                   .ignorableWhitespace = on_text,
                                   .cdataBlock = on_text,
                                   .comment = on_comment,
                                   .processingInstruction = on_instruction,
                                   .getEntity = on_entity};
    r->xml->userData = r;
    xmlCtxtReadIO(r->xml, give, NULL, r, NULL, NULL,
                  XML_PARSE_NOERROR | XML_PARSE_NOWARNING | XML_PARSE_NONET);
    if (!r->broken)
        hand_text(r);
    whole = r->xml->wellFormed && !r->broken && r->given == r->page.len;
    xmlFreeParserCtxt(r->xml);
    return whole;
}

bool xhtml_read(struct bytes page, const struct xhtml_handler *h, size_t *read)
{
    struct xhtml_reader r = {.magic = READER_MAGIC, .h = h, .page = page};
    struct xml_prolog prolog;
    bool whole;

    *read = 0;
    if (!xml_prolog_read(page, &prolog))
        return page.len == 0;
    r.root = r.given = r.done = prolog.length;
    r.limit = readable(page);
    r.html_names = is_xhtml_doctype(prolog.doctype);
    r.own_names = prolog.doctype.len > 0 &&
                  memchr(prolog.doctype.at, '[', prolog.doctype.len) != NULL;
    buf_init(&r.text, TEXT_CEILING);
    buf_init(&r.entity, ENTITY_MOST);
    whole = r.limit > r.root && run(&r);
    buf_fini(&r.text);
    buf_fini(&r.entity);
    *read = whole ? page.len : r.done;
    return whole;
}

static bool has_html_root(struct bytes body, struct bytes content_type)
{
    const struct charset *c = charset_sniff_xml(body, content_type);
    struct xml_prolog prolog;
    struct buf decoded;
    struct bytes begin;
    const char *colon;
    bool is_html;

    if (body.len > PROLOG_DECODE)
        body.len = PROLOG_DECODE;
    buf_init(&decoded, 4 * PROLOG_DECODE);
    is_html = charset_decode(c, body, &decoded, &begin) == STATUS_OK &&
              xml_prolog_read(begin, &prolog);
    if (is_html) {
        colon = memchr(prolog.root.at, ':', prolog.root.len);
        if (colon != NULL)
            prolog.root =
                bytes_skip(prolog.root, (size_t)(colon - prolog.root.at) + 1);
        is_html = bytes_is(prolog.root, "html");
    }
    buf_fini(&decoded);
    return is_html;
}

bool xhtml_is_page(struct bytes body, struct bytes content_type)
{
    struct bytes type = media_essence(content_type);

    if (bytes_equal_nocase(type, bytes_of_str("application/xhtml+xml")))
        return true;
    return (bytes_equal_nocase(type, bytes_of_str("text/xml")) ||
            bytes_equal_nocase(type, bytes_of_str("application/xml"))) &&
           has_html_root(body, content_type);
}
