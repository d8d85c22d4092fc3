/* SPDX-License-Identifier: MIT */
/*
 * sitemap.c - sitemaps and their indexes: XML, text, gzip.
 *
 * A pipeline in which each stage passes its output to the next:
 *
 *     octets -> gunzip -> gunzip -> UTF-8 -> lines of text ------> entries
 *                                        \-> xml_scan -> fields /
 *
 * There are two gunzip stages because a .gz file is often compressed once more
 * for transfer, and neither header nor name reliably tells. The first octets
 * are held back until they show encoding and format.
 *
 * An element of a sitemap counts if it has no namespace, a sitemap's (there are
 * several, sitemaps.org's and older ones of Google), or the root's namespace;
 * so image:loc, video:loc and the like never count.
 */

#include "crawler/sitemap/sitemap.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/file/unpack.h"
#include "base/mem.h"
#include "base/status.h"
#include "crawler/charset/charset.h"
#include "crawler/html/link_values.h"
#include "crawler/sitemap/xml_scan.h"
#include "frontier/url/url.h"

/*
 * An entry of a sitemap or feed while it is being read.
 *
 * Gathers the text of its fields, and passes the entry on when it ends. The
 * names of fields differ by format (sitemap.c); their handling does
 * not. One thread at a time.
 */

/* Where two fields have the same meaning, the second is used if the first is
 * empty. */
enum entry_field {
    ENTRY_LOC,
    ENTRY_LOC_ELSE,
    ENTRY_LOC_OTHER, /* as the other dialect writes it: Atom's link in RSS, or
                        the text of a link in Atom; the last to be used */
    ENTRY_LASTMOD,
    ENTRY_LASTMOD_ELSE,
    ENTRY_PRIORITY,
    ENTRY_CHANGEFREQ,
    ENTRY_FIELD_COUNT
};

#define ENTRY_NO_FIELD ENTRY_FIELD_COUNT

/* Where entries go. */
struct entry_sink {
    void (*visit)(void *ctx, const struct sitemap_entry *entry);
    void *ctx;
    uint64_t most; /* most entries to visit, alternates aside; 0: no limit */
    uint64_t visited;
    uint64_t passed_over; /* entries whose location is not an http(s) URL */
    bool full;            /* an entry came past `most` */
    struct url url;       /* of the current entry */
};

struct entry {
    struct entry_sink *sink;
    enum sitemap_kind kind;
    struct buf fields[ENTRY_FIELD_COUNT];
    bool lost[ENTRY_FIELD_COUNT]; /* its text cannot be known */
    enum entry_field field;       /* being read, or ENTRY_NO_FIELD */
    size_t depth;                 /* of the entry's element; 0: none is open */
    size_t field_depth;           /* of the field's element */
    size_t skip_depth;            /* of an element being skipped; 0: none */
};

static inline bool entry_is_open(const struct entry *e)
{
    return e->depth > 0;
}

/* A longer location cannot be a page's URL; a longer value is not a date or a
 * number. */
#define LOC_MOST   URL_LENGTH_CEILING
#define VALUE_MOST ((size_t)1024)

/* ---- passing on ---------------------------------------------------------- */

static void entry_sink_init(struct entry_sink *s,
                            void (*visit)(void *ctx,
                                          const struct sitemap_entry *entry),
                            void *ctx, uint64_t most)
{
    *s = (struct entry_sink){.visit = visit, .ctx = ctx, .most = most};
    url_init(&s->url);
}

static void entry_sink_fini(struct entry_sink *s)
{
    url_fini(&s->url);
}

/* Passes on one entry; sets `entry->url` from `loc`, which is relative to
 * `base` unless that is NULL. False: `loc` is not an http(s) URL. */
static bool entry_sink_give(struct entry_sink *s, struct sitemap_entry *entry,
                            struct bytes loc, const struct url *base)
{
    if (loc.len == 0 || url_parse(&s->url, loc, base, NULL) != URL_OK)
        return false;
    if (entry->kind != SITEMAP_ALTERNATE && s->most > 0 &&
        s->visited == s->most) {
        s->full = true;
        return true;
    }
    s->visited += entry->kind != SITEMAP_ALTERNATE;
    entry->url = &s->url;
    s->visit(s->ctx, entry);
    return true;
}

/* ---- gathering ------------------------------------------------------------*/

static void entry_init(struct entry *e, struct entry_sink *sink)
{
    *e = (struct entry){.sink = sink, .field = ENTRY_NO_FIELD};
    for (size_t i = 0; i < ENTRY_FIELD_COUNT; i++)
        buf_init(&e->fields[i], i <= ENTRY_LOC_OTHER ? LOC_MOST : VALUE_MOST);
}

static void entry_fini(struct entry *e)
{
    for (size_t i = 0; i < ENTRY_FIELD_COUNT; i++)
        buf_fini(&e->fields[i]);
}

/* The text of a field; empty also if it is unknown or too long. */
static struct bytes value_of(const struct entry *e, enum entry_field field)
{
    if (e->lost[field] || buf_failed(&e->fields[field]) != STATUS_OK)
        return bytes_of(NULL, 0);
    return bytes_trim_blanks(buf_bytes(&e->fields[field]));
}

static struct bytes first_of(const struct entry *e, enum entry_field a,
                             enum entry_field b)
{
    struct bytes value = value_of(e, a);

    return value.len > 0 ? value : value_of(e, b);
}

static void clear_field(struct entry *e, enum entry_field field)
{
    buf_clear(&e->fields[field]);
    e->lost[field] = false;
}

static void clear_fields(struct entry *e)
{
    for (size_t i = 0; i < ENTRY_FIELD_COUNT; i++)
        clear_field(e, (enum entry_field)i);
}

static void give(struct entry *e, const struct url *base)
{
    struct sitemap_entry out = {.kind = e->kind,
                                .lastmod = first_of(e, ENTRY_LASTMOD,
                                                    ENTRY_LASTMOD_ELSE),
                                .priority = value_of(e, ENTRY_PRIORITY),
                                .changefreq = value_of(e, ENTRY_CHANGEFREQ)};

    if (!entry_sink_give(e->sink, &out, value_of(e, ENTRY_LOC), base) &&
        !entry_sink_give(e->sink, &out, value_of(e, ENTRY_LOC_ELSE), base) &&
        !entry_sink_give(e->sink, &out, value_of(e, ENTRY_LOC_OTHER), base))
        e->sink->passed_over++;
}

static void hand_on(struct entry *e, const struct url *base)
{
    give(e, base);
    e->depth = e->skip_depth = 0;
    e->field = ENTRY_NO_FIELD;
}

/* An entry's element begins; an entry still open is passed on first. */
static void entry_begin(struct entry *e, enum sitemap_kind kind, size_t depth,
                        const struct url *base)
{
    if (entry_is_open(e))
        hand_on(e, base);
    clear_fields(e);
    e->kind = kind;
    e->depth = depth;
    if (kind == SITEMAP_SITEMAP) { /* <sitemap>URL</sitemap> is written too */
        e->field = ENTRY_LOC_ELSE;
        e->field_depth = depth;
    }
}

/* Another location of an entry of a sitemap; each is passed on, with the values
 * that follow it. */
static bool is_next_loc(const struct entry *e, enum entry_field field,
                        size_t depth)
{
    return field == ENTRY_LOC && e->kind != SITEMAP_ITEM &&
           depth == e->depth + 1 && value_of(e, field).len > 0;
}

/* An element begins inside the entry. `field`: the field it is, or
 * ENTRY_NO_FIELD for an element to skip with its content. The first value of a
 * field counts, unless it was empty; of a sitemap's entry every location does,
 * each with what follows it. A field begun inside another, by a missing end
 * tag, ends that one. */
static void entry_element(struct entry *e, enum entry_field field, size_t depth)
{
    if (e->skip_depth > 0)
        return;
    if (is_next_loc(e, field, depth)) {
        give(e, NULL); /* in a sitemap locations are absolute */
        clear_fields(e);
    }
    if (field == ENTRY_NO_FIELD ||
        (e->field == ENTRY_NO_FIELD && depth > e->depth + 1) ||
        value_of(e, field).len > 0 || e->lost[field]) {
        e->skip_depth = depth;
        return;
    }
    clear_field(e, field);
    e->field = field;
    e->field_depth = depth;
}

/* Sets a field from an attribute, unless it is set already. */
static void entry_set(struct entry *e, enum entry_field field,
                      struct bytes value)
{
    if (value_of(e, field).len > 0)
        return;
    clear_field(e, field);
    buf_add_bytes(&e->fields[field], value);
}

static void entry_text(struct entry *e, struct bytes text, bool lost)
{
    if (e->field == ENTRY_NO_FIELD || e->skip_depth > 0)
        return;
    buf_add_bytes(&e->fields[e->field], text);
    e->lost[e->field] |= lost;
}

/* The element at `depth` ends; if it is the entry's own, the entry is passed
 * on. `closed` false: the document ended, so a field still open is
 * incomplete. */
static void entry_end(struct entry *e, size_t depth, bool closed,
                      const struct url *base)
{
    if (!entry_is_open(e))
        return;
    if (e->skip_depth >= depth)
        e->skip_depth = 0;
    if (e->field != ENTRY_NO_FIELD && e->field_depth >= depth) {
        if (!closed)
            clear_field(e, e->field);
        e->field = ENTRY_NO_FIELD;
    }
    if (e->depth >= depth)
        hand_on(e, base);
}

#define SITEMAP_BYTES_MOST  ((size_t)52428800) /* 50 MiB, by the protocol */

#define SITEMAP_DECODE_MOST ((size_t)8 << 20)

/*
 * Items of RSS 0.9x, 1.0 (RDF), 2.0 and of Atom.
 *
 * Takes the events of an XML reader (xml_scan.h) and gathers entries.
 * An item's location is its <link>; in RSS without one a <guid> that is a
 * permalink (RSS 2.0), or rdf:about (RSS 1.0); in Atom the first <link> that is
 * an alternate (RFC 4287 section 4.2.7.2). Its date is <pubDate>, else dc:date;
 * in Atom <updated> (0.3: <modified>), else <published> (<issued>). The feed's
 * own links, enclosures, comments and sources are not items. xml:base applies.
 * One thread at a time.
 *
 * Elements of other vocabularies (media, itunes, atom:link in RSS) share names
 * with ours, so an element counts by its namespace as well: in RSS none, or a
 * namespace of RSS itself; in Atom none or Atom's. An undeclared prefix is
 * foreign.
 */

enum { FEED_BASES_MOST = 8 }; /* nested xml:base attributes */

struct feed {
    enum sitemap_format format;
    struct entry *entry;
    const struct url *document; /* its own URL; NULL: not known */
    struct {
        struct url url;
        size_t depth; /* of the element with the attribute */
    } bases[FEED_BASES_MOST];
    size_t base_count;
};

static bool feed_is_word(struct bytes a, const char *word)
{
    return bytes_equal_nocase(a, bytes_of_str(word));
}

static bool is_one_of(struct bytes ns, const char *const *list)
{
    for (; *list != NULL; list++)
        if (feed_is_word(ns, *list))
            return true;
    return false;
}

static bool is_rss_ns(struct bytes ns)
{
    static const char *const list[] = {
        "http://purl.org/rss/1.0/",
        "http://purl.org/net/rss1.1#",
        "http://my.netscape.com/rdf/simple/0.9/",
        "http://channel.netscape.com/rdf/simple/0.9/",
        "http://backend.userland.com/rss",
        "http://backend.userland.com/rss2",
        "http://backend.userland.com/rss091",
        "http://backend.userland.com/rss092",
        "http://blogs.law.harvard.edu/tech/rss",
        "http://cyber.law.harvard.edu/rss/rss.html",
        NULL};

    return is_one_of(ns, list);
}

static bool is_atom_ns(struct bytes ns)
{
    static const char *const list[] = {"http://www.w3.org/2005/Atom",
                                       "http://purl.org/atom/ns#", NULL};

    return is_one_of(ns, list);
}

static bool is_dublin_core(const struct xml_name *n)
{
    static const char *const list[] = {"http://purl.org/dc/elements/1.1/",
                                       "http://purl.org/dc/elements/1.0/",
                                       "http://purl.org/dc/terms/", NULL};

    return is_one_of(n->ns, list) ||
           (n->ns.len == 0 && feed_is_word(n->prefix, "dc"));
}

static bool is_plain(const struct xml_name *n)
{
    return n->ns.len == 0 && n->prefix.len == 0;
}

static bool feed_is_own(const struct feed *f, const struct xml_name *n)
{
    if (is_plain(n))
        return true;
    return f->format == SITEMAP_ATOM ? is_atom_ns(n->ns) : is_rss_ns(n->ns);
}

/* The format of a feed whose root is this element; SITEMAP_UNKNOWN: none. */
static enum sitemap_format feed_of_root(const struct xml_name *n, size_t depth)
{
    if (feed_is_word(n->local, "rss") && (is_plain(n) || is_rss_ns(n->ns)))
        return SITEMAP_RSS;
    if (feed_is_word(n->local, "rdf") &&
        (n->prefix.len > 0 ||
         feed_is_word(n->ns, "http://www.w3.org/1999/02/22-rdf-syntax-ns#")))
        return SITEMAP_RDF;
    if (feed_is_word(n->local, "feed") && (is_plain(n) || is_atom_ns(n->ns)))
        return SITEMAP_ATOM;
    /* The root is missing. */
    if (depth == 1 && feed_is_word(n->local, "channel") && is_plain(n))
        return SITEMAP_RSS;
    if (depth == 1 && feed_is_word(n->local, "entry") && is_atom_ns(n->ns))
        return SITEMAP_ATOM;
    return SITEMAP_UNKNOWN;
}

/* ---- base URLs ------------------------------------------ */

static const struct url *base_of(const struct feed *f)
{
    return f->base_count > 0 ? &f->bases[f->base_count - 1].url : f->document;
}

static void push_base(struct feed *f, struct bytes xml_base, size_t depth)
{
    struct url *next = &f->bases[f->base_count % FEED_BASES_MOST].url;

    if (xml_base.len == 0 || f->base_count == FEED_BASES_MOST ||
        url_parse(next, xml_base, base_of(f), NULL) != URL_OK)
        return;
    f->bases[f->base_count++].depth = depth;
}

/* ---- entries --------------------------------------------------------------*/

static enum entry_field rss_field(const struct feed *f,
                                  const struct xml_name *n)
{
    if (feed_is_own(f, n)) {
        if (feed_is_word(n->local, "link"))
            return ENTRY_LOC;
        if (feed_is_word(n->local, "guid"))
            return ENTRY_LOC_ELSE;
        if (feed_is_word(n->local, "pubDate"))
            return ENTRY_LASTMOD;
    } else if (is_dublin_core(n) && feed_is_word(n->local, "date")) {
        return ENTRY_LASTMOD_ELSE;
    }
    return ENTRY_NO_FIELD;
}

static enum entry_field atom_field(const struct feed *f,
                                   const struct xml_name *n)
{
    if (!feed_is_own(f, n))
        return ENTRY_NO_FIELD;
    if (feed_is_word(n->local, "link"))
        return ENTRY_LOC_OTHER;
    if (feed_is_word(n->local, "updated") || feed_is_word(n->local, "modified"))
        return ENTRY_LASTMOD;
    if (feed_is_word(n->local, "published") || feed_is_word(n->local, "issued"))
        return ENTRY_LASTMOD_ELSE;
    return ENTRY_NO_FIELD;
}

/* <link href>, a child of the entry: resolved at once, since its own xml:base
 * counts. */
static void take_href(struct feed *f, enum entry_field field,
                      const struct xml_attr *attrs, size_t n)
{
    struct bytes rel = xml_attr_value(attrs, n, "rel"),
                 href = xml_attr_value(attrs, n, "href");
    struct url u;

    if (rel.len > 0 && !feed_is_word(rel, "alternate") &&
        !feed_is_word(rel,
                      "http://www.iana.org/assignments/relation/alternate"))
        return;
    url_init(&u);
    if (href.len > 0 && url_parse(&u, href, base_of(f), NULL) == URL_OK)
        entry_set(f->entry, field, url_text(&u));
    url_fini(&u);
}

static void begin_entry(struct feed *f, const struct xml_attr *attrs, size_t n,
                        size_t depth)
{
    entry_begin(f->entry, SITEMAP_ITEM, depth, base_of(f));
    if (f->format == SITEMAP_RDF)
        entry_set(f->entry, ENTRY_LOC_ELSE,
                  xml_attr_value(attrs, n, "rdf:about"));
}

static bool begins_entry(const struct feed *f, const struct xml_name *n)
{
    return feed_is_own(f, n) &&
           feed_is_word(n->local,
                        f->format == SITEMAP_ATOM ? "entry" : "item") &&
           f->entry->skip_depth == 0;
}

/* Events from the root's start tag on; text goes to entry_text(). */
static void feed_start(struct feed *f, const struct xml_name *name,
                       const struct xml_attr *attrs, size_t attr_count,
                       size_t depth)
{
    struct entry *e = f->entry;
    enum entry_field field;

    push_base(f, xml_attr_value(attrs, attr_count, "xml:base"), depth);
    if (begins_entry(f, name)) {
        begin_entry(f, attrs, attr_count, depth);
        return;
    }
    if (!entry_is_open(e))
        return;
    if (depth == e->depth + 1 && e->skip_depth == 0 &&
        feed_is_word(name->local, "link") &&
        (feed_is_own(f, name) || is_atom_ns(name->ns)))
        take_href(f, f->format == SITEMAP_ATOM ? ENTRY_LOC : ENTRY_LOC_OTHER,
                  attrs, attr_count);
    field =
        f->format == SITEMAP_ATOM ? atom_field(f, name) : rss_field(f, name);
    if (field == ENTRY_LOC_ELSE &&
        feed_is_word(xml_attr_value(attrs, attr_count, "isPermaLink"), "false"))
        field = ENTRY_NO_FIELD;
    entry_element(e, field, depth);
}

static void feed_end(struct feed *f, size_t depth, bool closed)
{
    entry_end(f->entry, depth, closed, base_of(f));
    while (f->base_count > 0 && f->bases[f->base_count - 1].depth >= depth)
        f->base_count--;
}

static void feed_init(struct feed *f, struct entry *entry,
                      const struct url *document)
{
    *f = (struct feed){.entry = entry, .document = document};
    for (size_t i = 0; i < FEED_BASES_MOST; i++)
        url_init(&f->bases[i].url);
}

static void feed_fini(struct feed *f)
{
    for (size_t i = 0; i < FEED_BASES_MOST; i++)
        url_fini(&f->bases[i].url);
}

#define BETWEEN_FREE ((uint64_t)1 << 20)
#define HEAD_MOST    ((size_t)1024) /* searched for encoding and format */
#define NAME_MOST    ((size_t)1024) /* of the root's namespace */

enum stage {
    STAGE_HEAD,  /* gathering the first octets */
    STAGE_WHOLE, /* gathering everything, to decode it at the end */
    STAGE_TEXT,
    STAGE_XML
};

struct sitemap_parser {
    struct sitemap_options options;
    struct gunzip *outer, *inner;
    uint64_t between, made; /* octets into `inner`, and out of it */
    enum stage stage;
    struct buf gathered; /* in STAGE_HEAD and STAGE_WHOLE */
    const struct charset *charset;
    struct buf line; /* of a text file, as far as it has come */
    struct xml_scan *scan;
    enum sitemap_format format;
    bool refused; /* the document is something else */
    struct buf root_ns, root_prefix;
    struct entry_sink sink;
    struct entry entry;
    struct feed feed;
};

/* ---- a text file: one URL a line ------------------------------------------*/

static void end_line(struct sitemap_parser *p)
{
    struct sitemap_entry entry = {.kind = SITEMAP_PAGE};
    bool too_long = buf_failed(&p->line) != STATUS_OK;
    struct bytes loc = bytes_trim_blanks(buf_bytes(&p->line));

    if (too_long ||
        (loc.len > 0 && !entry_sink_give(&p->sink, &entry, loc, NULL)))
        p->sink.passed_over++;
    buf_clear(&p->line);
}

static void read_text(struct sitemap_parser *p, struct bytes in)
{
    size_t begin = 0;

    for (size_t i = 0; i < in.len; i++) {
        if (in.at[i] != '\n' && in.at[i] != '\r')
            continue;
        buf_add(&p->line, in.at + begin, i - begin);
        end_line(p);
        begin = i + 1;
    }
    buf_add(&p->line, in.at + begin, in.len - begin);
}

/* ---- urlset and sitemapindex ----------------------------------------------*/

static bool is_word(struct bytes a, const char *word)
{
    return bytes_equal_nocase(a, bytes_of_str(word));
}

static bool is_sitemap_ns(struct bytes ns)
{
    static const char part[] = "/schemas/sitemap/";

    return ns.len > 0 && memmem(ns.at, ns.len, part, sizeof part - 1) != NULL;
}

static bool is_own(const struct sitemap_parser *p, const struct xml_name *n)
{
    if (n->ns.len == 0)
        return n->prefix.len == 0 ||
               (p->root_ns.len == 0 &&
                bytes_equal(n->prefix, buf_bytes(&p->root_prefix)));
    return is_sitemap_ns(n->ns) || bytes_equal(n->ns, buf_bytes(&p->root_ns));
}

static enum sitemap_format sitemap_of_root(const struct xml_name *n,
                                           size_t depth)
{
    bool child = depth == 1 && n->prefix.len == 0; /* the root is missing */

    if (is_word(n->local, "urlset") || (child && is_word(n->local, "url")))
        return SITEMAP_URLSET;
    if (is_word(n->local, "sitemapindex") ||
        (child && is_word(n->local, "sitemap")))
        return SITEMAP_INDEX;
    return SITEMAP_UNKNOWN;
}

static enum entry_field sitemap_field(const struct sitemap_parser *p,
                                      const struct xml_name *n)
{
    if (!is_own(p, n))
        return ENTRY_NO_FIELD;
    if (is_word(n->local, "loc"))
        return ENTRY_LOC;
    if (is_word(n->local, "lastmod"))
        return ENTRY_LASTMOD;
    if (is_word(n->local, "priority"))
        return ENTRY_PRIORITY;
    if (is_word(n->local, "changefreq"))
        return ENTRY_CHANGEFREQ;
    return ENTRY_NO_FIELD;
}

/* Google's "localized versions": a link as in the head of a page. */
static void take_link(struct sitemap_parser *p, const struct xml_attr *attrs,
                      size_t n)
{
    struct sitemap_entry found = {.kind = SITEMAP_ALTERNATE};

    if (words_have(xml_attr_value(attrs, n, "rel"), "alternate"))
        (void)entry_sink_give(&p->sink, &found,
                              xml_attr_value(attrs, n, "href"), NULL);
}

static void sitemap_start(struct sitemap_parser *p, const struct xml_name *n,
                          const struct xml_attr *attrs, size_t attr_count,
                          size_t depth)
{
    bool begins = p->entry.skip_depth == 0 && is_own(p, n);

    if (p->options.alternates && entry_is_open(&p->entry) &&
        p->entry.kind == SITEMAP_PAGE && is_word(n->local, "link"))
        take_link(p, attrs, attr_count);

    if (begins && is_word(n->local, "url"))
        entry_begin(&p->entry, SITEMAP_PAGE, depth, NULL);
    else if (begins && is_word(n->local, "sitemap"))
        entry_begin(&p->entry, SITEMAP_SITEMAP, depth, NULL);
    else if (entry_is_open(&p->entry))
        entry_element(&p->entry, sitemap_field(p, n), depth);
}

/* ---- XML ------------------------------------------------------------------*/

static void recognise(struct sitemap_parser *p, const struct xml_name *n,
                      size_t depth)
{
    p->format = sitemap_of_root(n, depth);
    if (p->format == SITEMAP_UNKNOWN)
        p->format = feed_of_root(n, depth);
    p->feed.format = p->format;
    p->refused = p->format == SITEMAP_UNKNOWN && is_word(n->local, "html");
    buf_add_bytes(&p->root_ns, n->ns);
    buf_add_bytes(&p->root_prefix, n->prefix);
}

static bool is_sitemap(const struct sitemap_parser *p)
{
    return p->format == SITEMAP_URLSET || p->format == SITEMAP_INDEX;
}

static void on_start(void *ctx, const struct xml_name *name,
                     const struct xml_attr *attrs, size_t attr_count,
                     size_t depth)
{
    struct sitemap_parser *p = ctx;

    if (p->refused)
        return;
    if (p->format == SITEMAP_UNKNOWN) {
        buf_clear(&p->root_ns);
        buf_clear(&p->root_prefix);
        recognise(p, name, depth);
    }
    if (is_sitemap(p))
        sitemap_start(p, name, attrs, attr_count, depth);
    else if (p->format != SITEMAP_UNKNOWN)
        feed_start(&p->feed, name, attrs, attr_count, depth);
}

static void on_end(void *ctx, size_t depth, bool closed)
{
    struct sitemap_parser *p = ctx;

    if (is_sitemap(p))
        entry_end(&p->entry, depth, closed, NULL);
    else
        feed_end(&p->feed, depth, closed);
}

static void on_text(void *ctx, struct bytes text, bool lost)
{
    struct sitemap_parser *p = ctx;

    entry_text(&p->entry, text, lost);
}

/* ---- encoding and format --------------------------------------------------*/

/* Text that begins with something else may still be XML after error messages of
 * the server. */
static bool looks_like_xml(struct bytes head)
{
    static const char *const marks[] = {"<?xml", "<urlset", "<sitemapindex",
                                        "<rss",  "<feed",   "<rdf:RDF"};

    head = bytes_trim(head);
    if (head.len == 0 || head.at[0] == '<')
        return head.len > 0;
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (memmem(head.at, head.len, marks[i], strlen(marks[i])) != NULL)
            return true;
    return false;
}

/* `head` is the first octets of the text, in UTF-8 and without a byte order
 * mark. */
static void begin_text(struct sitemap_parser *p, struct bytes head)
{
    if (head.len > HEAD_MOST)
        head.len = HEAD_MOST;
    p->stage = looks_like_xml(head) ? STAGE_XML : STAGE_TEXT;
    if (p->stage == STAGE_TEXT)
        p->format = SITEMAP_TEXT;
}

static void read_on(struct sitemap_parser *p, struct bytes text)
{
    if (p->stage == STAGE_XML)
        xml_scan_push(p->scan, text);
    else
        read_text(p, text);
}

static void decide(struct sitemap_parser *p)
{
    struct bytes head = buf_bytes(&p->gathered);

    p->charset = charset_sniff_xml(head, p->options.content_type);
    if (p->charset != charset_utf8()) {
        p->stage = STAGE_WHOLE;
        return;
    }
    if (bytes_starts_with(head, "\xef\xbb\xbf"))
        head = bytes_of(head.at + 3, head.len - 3);
    begin_text(p, head);
    read_on(p, head);
}

static enum status take_octets(void *ctx, struct bytes in)
{
    struct sitemap_parser *p = ctx;

    p->made += in.len;
    if (p->stage == STAGE_HEAD) {
        size_t n = HEAD_MOST - p->gathered.len;

        n = n < in.len ? n : in.len;
        buf_add(&p->gathered, in.at, n);
        in = bytes_of(in.at + n, in.len - n);
        if (p->gathered.len == HEAD_MOST)
            decide(p);
    }
    if (in.len == 0 || p->stage == STAGE_HEAD)
        return p->sink.full ? STATUS_LIMIT : STATUS_OK;
    if (p->stage == STAGE_WHOLE) {
        buf_add_bytes(&p->gathered, in);
        return buf_failed(&p->gathered);
    }
    read_on(p, in);
    return p->sink.full ? STATUS_LIMIT : STATUS_OK;
}

static enum status decode_whole(struct sitemap_parser *p)
{
    struct buf scratch;
    struct bytes text = bytes_of(NULL, 0);
    enum status st;

    buf_init(&scratch, 4 * SITEMAP_DECODE_MOST);
    st = charset_decode(p->charset, buf_bytes(&p->gathered), &scratch, &text);
    begin_text(p, text);
    read_on(p, text);
    buf_fini(&scratch);
    return st;
}

/* ---- life and pushing -----------------------------------------------------*/

static enum status take_outer(void *ctx, struct bytes in)
{
    struct sitemap_parser *p = ctx;

    p->between += in.len;
    if (p->between > BETWEEN_FREE + 2 * p->made)
        return STATUS_FORMAT; /* gzip in gzip that yields almost nothing */
    return gunzip_push(p->inner, in);
}

struct sitemap_parser *sitemap_parser_new(
    const struct sitemap_options *o,
    void (*visit)(void *ctx, const struct sitemap_entry *entry), void *ctx)
{
    struct sitemap_parser *p = xcalloc(1, sizeof *p);
    const struct xml_handler handler = {.start = on_start,
                                        .end = on_end,
                                        .text = on_text,
                                        .ctx = p};

    p->options = *o;
    if (p->options.bytes_most == 0)
        p->options.bytes_most = SITEMAP_BYTES_MOST;
    p->outer = gunzip_new(p->options.bytes_most, take_outer, p);
    p->inner = gunzip_new(p->options.bytes_most, take_octets, p);
    buf_init(&p->gathered, SITEMAP_DECODE_MOST);
    buf_init(&p->line, URL_LENGTH_CEILING);
    buf_init(&p->root_ns, NAME_MOST);
    buf_init(&p->root_prefix, NAME_MOST);
    p->scan = xml_scan_new(&handler);
    entry_sink_init(&p->sink, visit, ctx, o->entries_most);
    entry_init(&p->entry, &p->sink);
    feed_init(&p->feed, &p->entry, o->base);
    return p;
}

void sitemap_parser_free(struct sitemap_parser *p)
{
    if (p == NULL)
        return;
    feed_fini(&p->feed);
    entry_fini(&p->entry);
    entry_sink_fini(&p->sink);
    xml_scan_free(p->scan);
    buf_fini(&p->root_prefix);
    buf_fini(&p->root_ns);
    buf_fini(&p->line);
    buf_fini(&p->gathered);
    gunzip_free(p->inner);
    gunzip_free(p->outer);
    free(p);
}

enum status sitemap_parser_push(struct sitemap_parser *p, struct bytes in)
{
    return gunzip_push(p->outer, in);
}

/* The more important of two statuses: a limit counts more than a damaged
 * stream. */
static enum status graver(enum status a, enum status b)
{
    return a == STATUS_OK || (a == STATUS_FORMAT && b != STATUS_OK) ? b : a;
}

enum status sitemap_parser_finish(struct sitemap_parser *p)
{
    enum status st = gunzip_finish(p->outer);

    st = graver(st, gunzip_finish(p->inner));
    if (p->stage == STAGE_HEAD)
        decide(p);
    if (p->stage == STAGE_WHOLE)
        st = graver(st, decode_whole(p));
    if (p->stage == STAGE_XML)
        xml_scan_finish(p->scan);
    else if (p->line.len > 0)
        end_line(p);
    return graver(st, p->sink.full ? STATUS_LIMIT : STATUS_OK);
}

enum sitemap_format sitemap_parser_format(const struct sitemap_parser *p)
{
    return p->format;
}

uint64_t sitemap_parser_passed_over(const struct sitemap_parser *p)
{
    return p->sink.passed_over;
}
