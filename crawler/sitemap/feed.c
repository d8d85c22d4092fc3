/* SPDX-License-Identifier: MIT */
/*
 * feed.c - items of RSS 0.9x, 1.0 (RDF), 2.0 and of Atom.
 *
 * Elements of other vocabularies (media, itunes, atom:link in RSS) share names
 * with ours, so an element counts by its namespace as well: in RSS none, or a
 * namespace of RSS itself; in Atom none or Atom's. An undeclared prefix is
 * foreign.
 */
#include "crawler/sitemap/feed.h"

static bool is_word(struct bytes a, const char *word)
{
    return bytes_equal_nocase(a, bytes_of_str(word));
}

static bool is_one_of(struct bytes ns, const char *const *list)
{
    for (; *list != NULL; list++)
        if (is_word(ns, *list))
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
           (n->ns.len == 0 && is_word(n->prefix, "dc"));
}

static bool is_plain(const struct xml_name *n)
{
    return n->ns.len == 0 && n->prefix.len == 0;
}

static bool is_own(const struct feed *f, const struct xml_name *n)
{
    if (is_plain(n))
        return true;
    return f->format == SITEMAP_ATOM ? is_atom_ns(n->ns) : is_rss_ns(n->ns);
}

enum sitemap_format feed_of_root(const struct xml_name *n, size_t depth)
{
    if (is_word(n->local, "rss") && (is_plain(n) || is_rss_ns(n->ns)))
        return SITEMAP_RSS;
    if (is_word(n->local, "rdf") &&
        (n->prefix.len > 0 ||
         is_word(n->ns, "http://www.w3.org/1999/02/22-rdf-syntax-ns#")))
        return SITEMAP_RDF;
    if (is_word(n->local, "feed") && (is_plain(n) || is_atom_ns(n->ns)))
        return SITEMAP_ATOM;
    /* The root is missing. */
    if (depth == 1 && is_word(n->local, "channel") && is_plain(n))
        return SITEMAP_RSS;
    if (depth == 1 && is_word(n->local, "entry") && is_atom_ns(n->ns))
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
    if (is_own(f, n)) {
        if (is_word(n->local, "link"))
            return ENTRY_LOC;
        if (is_word(n->local, "guid"))
            return ENTRY_LOC_ELSE;
        if (is_word(n->local, "pubDate"))
            return ENTRY_LASTMOD;
    } else if (is_dublin_core(n) && is_word(n->local, "date")) {
        return ENTRY_LASTMOD_ELSE;
    }
    return ENTRY_NO_FIELD;
}

static enum entry_field atom_field(const struct feed *f,
                                   const struct xml_name *n)
{
    if (!is_own(f, n))
        return ENTRY_NO_FIELD;
    if (is_word(n->local, "link"))
        return ENTRY_LOC_OTHER;
    if (is_word(n->local, "updated") || is_word(n->local, "modified"))
        return ENTRY_LASTMOD;
    if (is_word(n->local, "published") || is_word(n->local, "issued"))
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

    if (rel.len > 0 && !is_word(rel, "alternate") &&
        !is_word(rel, "http://www.iana.org/assignments/relation/alternate"))
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
    return is_own(f, n) &&
           is_word(n->local, f->format == SITEMAP_ATOM ? "entry" : "item") &&
           f->entry->skip_depth == 0;
}

void feed_start(struct feed *f, const struct xml_name *name,
                const struct xml_attr *attrs, size_t attr_count, size_t depth)
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
        is_word(name->local, "link") &&
        (is_own(f, name) || is_atom_ns(name->ns)))
        take_href(f, f->format == SITEMAP_ATOM ? ENTRY_LOC : ENTRY_LOC_OTHER,
                  attrs, attr_count);
    field =
        f->format == SITEMAP_ATOM ? atom_field(f, name) : rss_field(f, name);
    if (field == ENTRY_LOC_ELSE &&
        is_word(xml_attr_value(attrs, attr_count, "isPermaLink"), "false"))
        field = ENTRY_NO_FIELD;
    entry_element(e, field, depth);
}

void feed_end(struct feed *f, size_t depth, bool closed)
{
    entry_end(f->entry, depth, closed, base_of(f));
    while (f->base_count > 0 && f->bases[f->base_count - 1].depth >= depth)
        f->base_count--;
}

void feed_init(struct feed *f, struct entry *entry, const struct url *document)
{
    *f = (struct feed){.entry = entry, .document = document};
    for (size_t i = 0; i < FEED_BASES_MOST; i++)
        url_init(&f->bases[i].url);
}

void feed_fini(struct feed *f)
{
    for (size_t i = 0; i < FEED_BASES_MOST; i++)
        url_fini(&f->bases[i].url);
}
