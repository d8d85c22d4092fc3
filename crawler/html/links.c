/* SPDX-License-Identifier: MIT */
/*
 * links.c - links of a page, found by libxml2's SAX parser.
 *
 * The markup that html_filter.h leaves is small, flat and well-formed, so the
 * XML parser reads it, in one go, from memory: the HTML parser takes four times
 * as long and copies each value, and the push interface would read it twice.
 *
 * URLs are resolved only then, since <base> may come after the links it applies
 * to.
 */
#include "crawler/html/links.h"

#include <libxml/parser.h>
#include <libxml/xmlstring.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/mem.h"
#include "crawler/html/html_filter.h"
#include "crawler/html/html_tree.h"
#include "crawler/html/html_words.h"
#include "crawler/html/link_values.h"
#include "crawler/html/text_digest.h"
#include "crawler/html/xhtml.h"
#include "crawler/robots/robots.h"

/*
 * Attributes of one tag of the markup that html_filter.h writes,
 * as libxml2 hands them out.
 */

/* The attributes of a start tag; at == NULL: it lacks this one. */
struct tag_values {
    struct bytes href, src, srcset, action, data, cite, content, http_equiv,
        name, property, rel, type, style, data_src, data_srcset, poster, alt,
        hreflang, background, imagesrcset, srcdoc;
};

static struct bytes *value_place(struct tag_values *v, enum html_word w)
{
    switch (w) {
    case WORD_HREF:
        return &v->href;
    case WORD_SRC:
        return &v->src;
    case WORD_SRCSET:
        return &v->srcset;
    case WORD_ACTION:
        return &v->action;
    case WORD_DATA:
        return &v->data;
    case WORD_CITE:
        return &v->cite;
    case WORD_CONTENT:
        return &v->content;
    case WORD_HTTP_EQUIV:
        return &v->http_equiv;
    case WORD_NAME:
        return &v->name;
    case WORD_PROPERTY:
        return &v->property;
    case WORD_REL:
        return &v->rel;
    case WORD_TYPE:
        return &v->type;
    case WORD_STYLE:
        return &v->style;
    case WORD_DATA_SRC:
        return &v->data_src;
    case WORD_DATA_SRCSET:
        return &v->data_srcset;
    case WORD_POSTER:
        return &v->poster;
    case WORD_ALT:
        return &v->alt;
    case WORD_HREFLANG:
        return &v->hreflang;
    case WORD_BACKGROUND:
        return &v->background;
    case WORD_IMAGESRCSET:
        return &v->imagesrcset;
    case WORD_SRCDOC:
        return &v->srcdoc;
    default:
        return NULL;
    }
}

/* libxml2 gives each attribute as five pointers: local name, prefix, namespace,
 * where the value begins, where it ends. The value stands in libxml2's input.
 */
#define ATT_PARTS 5

static struct bytes raw_value(const xmlChar *const *att)
{
    return bytes_of(att[3], (size_t)(att[4] - att[3]));
}

/* `room` must not move. */
static struct bytes decoded_value(struct buf *room, struct bytes raw)
{
    size_t at = room->len;

    if (!html_markup_is_coded(raw))
        return raw;
    html_markup_read(room, raw);
    return bytes_of(room->at + at, room->len - at);
}

/* Reads `count` attributes in the form of startElementNsSAX2Func. Values that
 * are written in codes (html_markup_write) are decoded into `room`, which is
 * cleared first; the others stay where they are. All are empty if `room` has no
 * room.
 */
static struct tag_values tag_values_of(struct buf *room,
                                       const xmlChar *const *atts, int count)
{
    struct tag_values v = {0};
    size_t total = 0;

    for (int i = 0; i < count; i++)
        total += raw_value(atts + i * ATT_PARTS).len;
    buf_clear(room);
    if (buf_room(room, total) == NULL)
        return v;
    for (int i = 0; i < count; i++, atts += ATT_PARTS) {
        struct bytes name = bytes_of_str((const char *)atts[0]);
        struct bytes *place = value_place(&v, html_word_of(name));

        if (place != NULL)
            *place = decoded_value(room, raw_value(atts));
    }
    return v;
}

#define PARSER_MAGIC   UINT32_C(0x6c6e6b73)
#define TEXT_CEILING   ((size_t)256 << 20) /* most octets of a decoded page */
#define MARKUP_CEILING ((size_t)256 << 20)
#define CSS_URL_MOST   ((size_t)1 << 20)
#define KEPT_MOST      ((size_t)1 << 20) /* memory kept between pages */
#define TITLE_MOST     512
#define LANG_MOST      64
#define ROBOTS_MOST    256
#define NESTED_MOST    4    /* srcdoc in srcdoc */
#define SRCDOCS_MOST   1000 /* of a page, as Chromium has frames */

struct link_parser {
    uint32_t magic;
    char *agent; /* or NULL */
    struct html_filter filter;
    struct text_simhash simhash;
    struct text_digest text_digest;
    struct html_wants wants;
    uint32_t wanted_kinds; /* the kinds that `wants` was made for ... */
    bool wanted_texts;     /* ... with texts ... */
    bool wanted_about;     /* ... and what the page says of itself */
    xmlParserCtxtPtr xml;  /* its dictionary of names lives from page to page */
    struct buf values;     /* attributes of one tag that had to be decoded */
    struct buf text;       /* the page in UTF-8, if it had to be decoded */
    struct buf css_url;    /* one URL of a style sheet */
    struct buf about;      /* rel and alt of the current element */
    struct buf title, lang, description, robots;
    struct url base, url;

    /* the current page */
    const struct link_options *options;
    bool has_base;
    struct url_encoder *encoder;
    void (*visit)(void *ctx, const struct found_link *link);
    void *visit_ctx;
    struct page_info *info;
    bool full;                   /* options->most links were visited */
    bool nofollow;               /* of the current element */
    struct bytes rel, link_text; /* of it */
    size_t texts_read;           /* of filter.texts */
    bool read_whole;             /* the parser saw the end of the markup */

    /* of the documents in srcdoc */
    struct link_parser *inner; /* reads them; NULL until there is one */
    unsigned depth;            /* of this parser: 0 reads pages */
    unsigned srcdocs_left;     /* of the page */
    enum status inner_status;
};

/* ---- one link ------------------------------------------------------------ */

static void visit_link(struct link_parser *p, enum link_kind kind,
                       struct bytes value)
{
    const struct url *base = p->has_base ? &p->base : p->options->page_url;
    struct found_link found = {.kind = kind,
                               .nofollow = p->nofollow,
                               .url = &p->url,
                               .rel = p->rel,
                               .text = p->link_text};

    value = bytes_trim(value);
    if (value.len == 0 || p->full || !(p->options->kinds & LINK_BIT(kind)))
        return;
    if (url_parse(&p->url, value, base, p->encoder) != URL_OK)
        return;
    if (p->options->most > 0 && p->info->found == p->options->most) {
        p->full = true;
        return;
    }
    p->info->found++;
    p->visit(p->visit_ctx, &found);
}

static void visit_srcset(struct link_parser *p, enum link_kind kind,
                         struct bytes value)
{
    struct bytes url;

    while (srcset_next(&value, &url))
        visit_link(p, kind, url);
}

static void visit_css(void *ctx, struct bytes url)
{
    struct link_parser *p = ctx;

    if (!bytes_starts_with(url, "#")) /* in this document */
        visit_link(p, LINK_STYLE, url);
}

static enum status read_page(struct link_parser *p, struct bytes body,
                             const struct link_options *o,
                             struct page_info *info);

/* Reads the document that an iframe has in its attribute: in UTF-8, and with
 * the base URL of its page (HTML standard, section 7.4.2.3.1, "create
 * navigation params from a srcdoc resource", and section 4.2.3, "fallback base
 * URL"). Each is shorter than what it is in, as its quotes are references
 * there. What it says of robots, or of itself, says nothing of the page. */
static void read_srcdoc(struct link_parser *p, struct bytes srcdoc)
{
    struct link_options o = *p->options;
    struct page_info info;
    enum status st;

    p->full = p->full || (o.most > 0 && p->info->found == o.most);
    if (p->full || p->srcdocs_left == 0 || p->depth == NESTED_MOST)
        return;
    if (p->inner == NULL) {
        p->inner = link_parser_new(p->agent);
        p->inner->depth = p->depth + 1;
    }
    p->inner->srcdocs_left = p->srcdocs_left - 1;
    p->inner->visit = p->visit;
    p->inner->visit_ctx = p->visit_ctx;
    o.page_url = p->has_base ? &p->base : o.page_url;
    o.content_type = bytes_of_str("text/html; charset=utf-8");
    o.most -= o.most > 0 ? p->info->found : 0;
    o.about = o.simhash = o.text_digest = false;
    st = read_page(p->inner, srcdoc, &o, &info);
    if (st != STATUS_OK && st != STATUS_LIMIT)
        p->inner_status = st;
    p->srcdocs_left = p->inner->srcdocs_left;
    p->info->found += info.found;
    p->full = p->inner->full;
}

/* ---- elements ------------------------------------------------------------ */

static void take_meta(struct link_parser *p, const struct tag_values *v)
{
    struct bytes url, name = bytes_trim(v->name);

    if (bytes_equal_nocase(v->http_equiv, bytes_of_str("refresh")) &&
        refresh_url(v->content, &url))
        visit_link(p, LINK_META_REFRESH, url);
    if (bytes_equal_nocase(name, bytes_of_str("robots")) ||
        (p->agent != NULL &&
         bytes_equal_nocase(name, bytes_of_str(p->agent)))) {
        robots_tag_directives(v->content, &p->info->noindex,
                              &p->info->nofollow);
        if (p->options->about && bytes_trim(v->content).len > 0)
            text_fold_list(&p->robots, v->content);
    }
    if (p->options->about && p->description.len == 0 &&
        bytes_equal_nocase(name, bytes_of_str("description")))
        text_fold_list(&p->description, v->content);
    if (link_og_is_url(bytes_trim(v->property)) || link_og_is_url(name))
        visit_link(p, LINK_OG, v->content);
}

static void take_element(struct link_parser *p, enum html_word w,
                         const struct tag_values *v)
{
    enum link_kind kind;

    switch (w) {
    case WORD_A:
        visit_link(p, LINK_A, v->href);
        break;
    case WORD_AREA:
        visit_link(p, LINK_AREA, v->href);
        break;
    case WORD_LINK:
        if (bytes_trim(v->hreflang).len > 0 && words_have(v->rel, "alternate"))
            p->info->hreflang++;
        if (link_kind_of_rel(v->rel, v->type, p->options->kinds, &kind))
            visit_link(p, kind, v->href);
        visit_srcset(p, LINK_MEDIA, v->imagesrcset);
        break;
    case WORD_IMG:
        visit_link(p, LINK_IMG, v->src);
        visit_srcset(p, LINK_SRCSET, v->srcset);
        break;
    case WORD_SOURCE:
        visit_link(p, LINK_MEDIA, v->src);
        visit_srcset(p, LINK_SRCSET, v->srcset);
        break;
    case WORD_IFRAME:
    case WORD_FRAME:
        if (v->srcdoc.at == NULL) /* else src does not count */
            visit_link(p, LINK_IFRAME, v->src);
        else
            read_srcdoc(p, v->srcdoc);
        break;
    case WORD_SCRIPT:
        visit_link(p, LINK_SCRIPT, v->src);
        visit_link(p, LINK_SCRIPT, v->href); /* of SVG */
        break;
    case WORD_FORM:
        visit_link(p, LINK_FORM, v->action);
        break;
    case WORD_META:
        take_meta(p, v);
        break;
    case WORD_OBJECT:
        visit_link(p, LINK_OBJECT, v->data);
        break;
    case WORD_EMBED:
        visit_link(p, LINK_EMBED, v->src);
        break;
    case WORD_VIDEO:
    case WORD_AUDIO:
    case WORD_TRACK:
        visit_link(p, LINK_MEDIA, v->src);
        visit_link(p, LINK_MEDIA, v->poster);
        break;
    case WORD_INPUT:
        visit_link(p, LINK_MEDIA, v->src);
        break;
    case WORD_IMAGE: /* of SVG, as the next two */
        visit_link(p, LINK_MEDIA, v->href);
        break;
    case WORD_USE:
    case WORD_FEIMAGE:
        if (!bytes_starts_with(bytes_trim(v->href), "#")) /* in this page */
            visit_link(p, LINK_MEDIA, v->href);
        break;
    default: /* blockquote, q, ins, del; body and parts of tables */
        visit_link(p, LINK_CITE, v->cite);
        visit_link(p, LINK_MEDIA, v->background);
    }
}

static struct bytes folded(struct link_parser *p, struct bytes text)
{
    struct text_fold t;

    text_fold_begin(&t, &p->about, ANCHOR_TEXT_MOST);
    text_fold_add(&t, text);
    return text_fold_get(&t);
}

/* What is told of the links of an element. */
static void take_texts(struct link_parser *p, enum html_word w,
                       const struct tag_values *v)
{
    buf_clear(&p->about);
    (void)buf_room(&p->about, p->about.ceiling); /* it does not move later */
    p->rel = folded(p, v->rel);
    p->link_text = w == WORD_A
                       ? html_anchors_next(&p->filter.anchors, &p->texts_read)
                       : folded(p, v->alt);
}

static void on_start(void *ctx, const xmlChar *name, const xmlChar *prefix,
                     const xmlChar *space, int space_count,
                     const xmlChar **spaces, int count, int defaulted,
                     const xmlChar **atts)
{
    struct link_parser *p = ctx;
    enum html_word w = html_word_of(bytes_of_str((const char *)name));
    struct tag_values v;

    (void)prefix, (void)space, (void)space_count, (void)spaces, (void)defaulted;
    if (p->magic != PARSER_MAGIC || p->full || count == 0)
        return;
    v = tag_values_of(&p->values, atts, count);
    p->nofollow = v.rel.len > 0 && words_have(v.rel, "nofollow");
    if (p->options->texts)
        take_texts(p, w, &v);
    take_element(p, w, &v);
    visit_link(p, LINK_LAZY, v.data_src);
    visit_srcset(p, LINK_LAZY, v.data_srcset);
    if (v.style.len > 0)
        css_links(v.style, &p->css_url, visit_css, p);
}

static void on_end(void *ctx)
{
    struct link_parser *p = ctx;

    p->read_whole = p->xml->wellFormed;
}

/* ---- life ---------------------------------------------------------------- */

static void want(struct link_parser *p, uint32_t kinds, bool texts, bool about)
{
    p->wanted_kinds = kinds;
    p->wanted_texts = texts;
    p->wanted_about = about;
    link_wants(&p->wants, kinds, p->agent);
    if (texts)
        link_wants_texts(&p->wants);
    if (about)
        link_wants_about(&p->wants);
}

struct link_parser *link_parser_new(const char *agent)
{
    struct link_parser *p = xcalloc(1, sizeof *p);

    xmlInitParser();
    p->magic = PARSER_MAGIC;
    p->agent = agent != NULL ? xstrdup(agent) : NULL;
    html_filter_init(&p->filter, MARKUP_CEILING);
    buf_init(&p->text, TEXT_CEILING);
    buf_init(&p->values, MARKUP_CEILING);
    buf_init(&p->css_url, CSS_URL_MOST);
    buf_init(&p->about, 2 * (ANCHOR_TEXT_MOST + 1));
    buf_init(&p->title, TITLE_MOST);
    buf_init(&p->lang, LANG_MOST);
    buf_init(&p->description, TITLE_MOST);
    buf_init(&p->robots, ROBOTS_MOST);
    url_init(&p->base);
    url_init(&p->url);
    want(p, LINK_SET_BASIC, false, false);
    p->xml = xmlNewParserCtxt();
    if (p->xml == NULL)
        mem_out(sizeof *p->xml);
    *p->xml->sax = (xmlSAXHandler){.initialized = XML_SAX2_MAGIC,
                                   .startElementNs = on_start,
                                   .endDocument = on_end};
    p->xml->userData = p;
    return p;
}

void link_parser_free(struct link_parser *p)
{
    if (p == NULL)
        return;
    link_parser_free(p->inner);
    xmlFreeParserCtxt(p->xml);
    free(p->agent);
    html_filter_fini(&p->filter);
    buf_fini(&p->text);
    buf_fini(&p->values);
    buf_fini(&p->css_url);
    buf_fini(&p->about);
    buf_fini(&p->title);
    buf_fini(&p->lang);
    buf_fini(&p->description);
    buf_fini(&p->robots);
    url_fini(&p->base);
    url_fini(&p->url);
    free(p);
}

/* ---- a page -------------------------------------------------------------- */

static bool take_base(void *ctx, struct bytes href)
{
    struct link_parser *p = ctx;

    p->has_base =
        url_parse(&p->base, href, p->options->page_url, p->encoder) == URL_OK;
    return p->has_base;
}

/* The text of a title or the like, folded. */
static struct bytes collapse(struct buf *out, const struct buf *text)
{
    struct text_fold fold;

    buf_clear(out);
    text_fold_begin(&fold, out, out->ceiling);
    text_fold_add(&fold, buf_bytes(text));
    return text_fold_get(&fold);
}

/* We wrote the markup, so it parses; only memory may be short. It has no DTD,
 * no references and no value over libxml2's limits, and must not need more
 * options. It is ASCII, so no encoding is named: that would be a conversion. */
static enum status run_parser(struct link_parser *p)
{
    struct bytes markup = buf_bytes(&p->filter.markup);

    p->read_whole = false;
    xmlCtxtReadMemory(p->xml, markup.at, (int)markup.len, NULL, NULL,
                      XML_PARSE_NOERROR | XML_PARSE_NOWARNING |
                          XML_PARSE_NONET);
    xmlCtxtReset(p->xml); /* frees its copy of the markup */
    return p->read_whole ? STATUS_OK : STATUS_NOMEM;
}

static void begin_page(struct link_parser *p, const struct charset *charset,
                       const struct link_options *o, struct page_info *info)
{
    *info = (struct page_info){.charset = charset_name(charset),
                               .title = bytes_of("", 0),
                               .lang = bytes_of("", 0),
                               .description = bytes_of("", 0),
                               .h1 = bytes_of("", 0),
                               .robots = bytes_of("", 0)};
    p->options = o;
    p->info = info;
    p->has_base = p->full = p->nofollow = false;
    p->rel = p->link_text = bytes_of("", 0);
    p->texts_read = 0;
    p->inner_status = STATUS_OK;
    buf_clear(&p->description);
    buf_clear(&p->robots);
    p->encoder = charset_encoder_new(charset);
}

/* A huge page must not leave a fetcher large for good. */
static void let_go(struct buf *b)
{
    if (b->cap > KEPT_MOST)
        buf_fini(b);
}

static void end_page(struct link_parser *p)
{
    let_go(&p->text);
    let_go(&p->values);
    let_go(&p->filter.markup);
    let_go(&p->filter.scratch);
    let_go(&p->filter.style);
    let_go(&p->filter.anchors.texts);
    let_go(&p->css_url);
    let_go(&p->url.text);
    charset_encoder_free(p->encoder);
    p->encoder = NULL;
    p->options = NULL;
    p->info = NULL;
}

static void add_text(void *ctx, struct bytes piece)
{
    struct link_parser *p = ctx;

    if (p->options->text_digest)
        text_digest_add(&p->text_digest, piece);
    if (p->options->simhash)
        text_simhash_add(&p->simhash, piece);
}

static uint64_t line_of(struct bytes page, size_t at)
{
    uint64_t line = 1;

    for (size_t i = 0; i < at; i++)
        line += page.at[i] == '\n';
    return line;
}

static enum status filter(struct link_parser *p, struct bytes page, bool xml)
{
    enum status st;

    if (!xml)
        return html_filter_page(&p->filter, page, &p->wants, take_base, p);
    st = html_filter_xml(&p->filter, page, &p->wants, take_base, p);
    if (p->filter.broken)
        p->info->broken_line = line_of(page, p->filter.broken_at);
    return st;
}

static enum status read_page(struct link_parser *p, struct bytes body,
                             const struct link_options *o,
                             struct page_info *info)
{
    bool xml = xhtml_is_page(body, o->content_type);
    const struct charset *charset =
        xml ? html_charset_of_xml(body, o->content_type)
            : html_charset(body, o->content_type);
    struct bytes page;
    enum status decoded, filtered, parsed;

    begin_page(p, charset, o, info);
    if (p->wanted_kinds != o->kinds || p->wanted_texts != o->texts ||
        p->wanted_about != o->about)
        want(p, o->kinds, o->texts, o->about);
    p->wants.text = o->simhash || o->text_digest ? add_text : NULL;
    p->wants.text_ctx = p;
    text_simhash_begin(&p->simhash);
    text_digest_begin(&p->text_digest, !o->no_numbers);
    decoded = charset_decode(charset, body, &p->text, &page);
    filtered = filter(p, page, xml);
    parsed = run_parser(p);
    info->simhash = text_simhash_end(&p->simhash);
    if (o->text_digest)
        info->text_digest = text_digest_end(&p->text_digest);
    info->words = p->text_digest.words;
    info->description = buf_bytes(&p->description);
    info->robots = buf_bytes(&p->robots);
    info->h1 = html_heading_get(&p->filter.heading);
    info->title = collapse(&p->title, &p->filter.title);
    info->lang = collapse(&p->lang, &p->filter.lang);
    end_page(p);
    if (parsed != STATUS_OK)
        return parsed;
    if (p->inner_status != STATUS_OK)
        return p->inner_status;
    if (decoded != STATUS_OK)
        return decoded;
    return p->full ? STATUS_LIMIT : filtered;
}

enum status link_parser_html(struct link_parser *p, struct bytes body,
                             const struct link_options *o,
                             void (*visit)(void *ctx,
                                           const struct found_link *link),
                             void *ctx, struct page_info *info)
{
    p->visit = visit;
    p->visit_ctx = ctx;
    p->srcdocs_left = SRCDOCS_MOST;
    return read_page(p, body, o, info);
}

enum status link_parser_css(struct link_parser *p, struct bytes body,
                            const struct link_options *o,
                            void (*visit)(void *ctx,
                                          const struct found_link *link),
                            void *ctx, struct page_info *info)
{
    const struct charset *charset = charset_sniff_css(body, o->content_type);
    struct bytes sheet;
    enum status decoded;

    begin_page(p, charset, o, info);
    p->visit = visit;
    p->visit_ctx = ctx;
    decoded = charset_decode(charset, body, &p->text, &sheet);
    if (o->kinds & LINK_BIT(LINK_STYLE))
        css_links(sheet, &p->css_url, visit_css, p);
    end_page(p);
    return p->full ? STATUS_LIMIT : decoded;
}
