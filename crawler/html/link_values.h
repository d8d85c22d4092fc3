/*
 * link_values.h - the small grammars of attribute values that hold URLs.
 *
 * srcset, meta refresh, rel and the directions for robots, each read as its
 * standard says. Nothing is copied: results are parts of the input. Linear
 * time. Any thread.
 */
#ifndef URLWEIR_CRAWLER_HTML_LINK_VALUES_H
#define URLWEIR_CRAWLER_HTML_LINK_VALUES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "crawler/html/html_filter.h"

/* Passes each URL of `css` (UTF-8) to `visit`, unescaped. The URL may be in
 * `scratch`, whose ceiling bounds one URL, and lives until `visit` returns. */
void css_links(struct bytes css, struct buf *scratch,
               void (*visit)(void *ctx, struct bytes url), void *ctx);

/* The next image candidate's URL (HTML standard, "parse a srcset attribute");
 * candidates with wrong descriptors are skipped. *rest begins as the whole
 * value. False: no more. */
bool srcset_next(struct bytes *rest, struct bytes *url);

/* The URL of a meta refresh (HTML standard, "shared declarative refresh
 * steps"); false: it has no URL and so refreshes the page itself, or it is not
 * a refresh. */
bool refresh_url(struct bytes content, struct bytes *url);
/* Is `word` one of the words, ASCII case ignored? */
bool words_have(struct bytes words, const char *word);

/* text/css of "text/css; charset=x": the media type without parameters. */
struct bytes media_essence(struct bytes content_type);

/* ---- which attributes of a page can hold links of given kinds ---- */

/* Any thread. */

/* Asks html_filter.h for all that links of `kinds` need. `agent`
 * is for <meta name=AGENT>; it may be NULL, and must outlive *out. */
void link_wants(struct html_wants *out, uint32_t kinds, const char *agent);
/* Asks for the texts of links, too. */
void link_wants_texts(struct html_wants *out);
/* Asks for what the page says of itself, too: description, first heading,
 * languages of its other versions. */
void link_wants_about(struct html_wants *out);

/* ---- the links of an HTTP Link header (RFC 8288 section 3) ---- */

/*
 * Nothing is copied: results are parts of the input. Linear time. Any thread.
 */

struct header_link {
    struct bytes target; /* a URI reference */
    struct bytes rel;    /* its link types; may be empty */
    bool anchored;       /* it is a link of another document than this one */
};

/* The next link. *rest begins as the whole value. Text that is not a link is
 * skipped. False: no more. */
bool link_header_next(struct bytes *rest, struct header_link *out);

/* ---- the kinds of links, their names and sets ---- */

/* Any thread. */

/* The kinds of docs/rules.md, L2 and L8. The numbers are stored: append only.
 */
enum link_kind {
    LINK_A = 0,
    LINK_AREA,
    LINK_LINK, /* <link> of no kind below */
    LINK_CANONICAL,
    LINK_CSS,
    LINK_SITEMAP,
    LINK_ALTERNATE,
    LINK_FEED,
    LINK_IMG,
    LINK_SRCSET,
    LINK_IFRAME,
    LINK_SCRIPT,
    LINK_FORM,
    LINK_META_REFRESH,
    LINK_STYLE,  /* url() and @import of style elements and attributes */
    LINK_HEADER, /* HTTP Content-Location, and Link of no kind above */
    LINK_LAZY,   /* data-src, data-srcset */
    LINK_OBJECT,
    LINK_EMBED,
    LINK_MEDIA, /* video, audio, track, source src; video poster; images of
                   SVG, inputs, backgrounds and <link imagesrcset> */
    LINK_CITE,
    LINK_MANIFEST,
    LINK_AMPHTML,
    LINK_OG,
    LINK_SEED,         /* given by a person; no page has it */
    LINK_REDIRECT,     /* Location of a 3xx answer */
    LINK_SITEMAP_PART, /* a sitemap that a sitemap index lists */
    LINK_LISTED,       /* a page that a sitemap or a feed lists */
    LINK_PUT,      /* by another program, through the service; no page has it */
    LINK_IMPORT,   /* from the state of another crawler; no page has it */
    LINK_RESOURCE, /* <link> or Link to what a browser loads: icon ... */
    LINK_KIND_COUNT_
};
/* Is it a sitemap, however it was found? What it redirects to counts too. */
static inline bool link_is_sitemap(unsigned kind)
{
    return kind == LINK_SITEMAP || kind == LINK_SITEMAP_PART;
}
/* "a", "meta-refresh"; static. */
const char *link_kind_name(enum link_kind k);
#define HOP_LETTERS_MOST 50 /* most letters of a hop path, see archive.h */
/* How archives write a step of this kind in hopsFromSeed (WARC/1.1 section
 * 6.6): 'L', 'E', 'R', 'M', 'S'. */
char link_kind_letter(enum link_kind kind);
/* Where on a page links of this kind are, as archives write it: "a/@href". */
const char *link_kind_context(enum link_kind kind);
/* False: there is no kind of that name. */
bool link_kind_of_name(struct bytes name, enum link_kind *out);

#define LINK_BIT(kind) (UINT32_C(1) << (kind))
/* The kinds that `urlweir links` prints without --all (L2), with it (L8), and
 * those that a crawl follows unless --follow says otherwise. */
#define LINK_SET_BASIC                                                         \
    (LINK_BIT(LINK_A) | LINK_BIT(LINK_AREA) | LINK_BIT(LINK_LINK) |            \
     LINK_BIT(LINK_CANONICAL) | LINK_BIT(LINK_CSS) | LINK_BIT(LINK_SITEMAP) |  \
     LINK_BIT(LINK_ALTERNATE) | LINK_BIT(LINK_FEED) | LINK_BIT(LINK_IMG) |     \
     LINK_BIT(LINK_SRCSET) | LINK_BIT(LINK_IFRAME) | LINK_BIT(LINK_SCRIPT) |   \
     LINK_BIT(LINK_FORM) | LINK_BIT(LINK_META_REFRESH))
#define LINK_SET_ALL (LINK_BIT(LINK_SEED) - 1)
#define LINK_SET_FOLLOW                                                        \
    (LINK_BIT(LINK_A) | LINK_BIT(LINK_AREA) | LINK_BIT(LINK_IFRAME) |          \
     LINK_BIT(LINK_LINK) | LINK_BIT(LINK_CANONICAL) |                          \
     LINK_BIT(LINK_ALTERNATE) | LINK_BIT(LINK_META_REFRESH) |                  \
     LINK_BIT(LINK_SITEMAP) | LINK_BIT(LINK_FEED) | LINK_BIT(LINK_REDIRECT))
/* What --assets adds: what a browser needs to show a page. Frames are pages
 * that are followed anyway, but parts of this one too. */
#define LINK_SET_ASSETS                                                        \
    (LINK_BIT(LINK_IMG) | LINK_BIT(LINK_SRCSET) | LINK_BIT(LINK_SCRIPT) |      \
     LINK_BIT(LINK_CSS) | LINK_BIT(LINK_STYLE) | LINK_BIT(LINK_MEDIA) |        \
     LINK_BIT(LINK_LAZY) | LINK_BIT(LINK_OBJECT) | LINK_BIT(LINK_EMBED) |      \
     LINK_BIT(LINK_MANIFEST) | LINK_BIT(LINK_RESOURCE))
#define LINK_SET_EMBEDDED (LINK_SET_ASSETS | LINK_BIT(LINK_IFRAME))

/* The kind of a <link>: the first kind of L2 that fits. Manifest, amphtml and
 * resource are kinds of their own only if `kinds`, a LINK_BIT set, asks for
 * them. False: it names no document. */
bool link_kind_of_rel(struct bytes rel, struct bytes type, uint32_t kinds,
                      enum link_kind *out);
/* The same of a link in an HTTP Link header, whose kinds are header, canonical
 * and, if `kinds` asks for it, resource. */
bool link_kind_of_header(const struct header_link *link, uint32_t kinds,
                         enum link_kind *out);
/* Is the content of a meta og: property of this name a URL? */
bool link_og_is_url(struct bytes property);

#endif
