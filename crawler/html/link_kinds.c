/* SPDX-License-Identifier: MIT */
/*
 * link_kinds.c - names of kinds, and which kind a <link> is.
 *
 * A link type that is not known counts as one that names a document: a page
 * missed costs more than a request too many.
 */
#include "crawler/html/link_kinds.h"

#include "base/ascii.h"
#include "crawler/html/link_values.h"

/* `letter` and `context` are the notation of archives: a step of hopsFromSeed,
 * and where on a page such a link is. */
static const struct {
    const char *name;
    char letter;
    const char *context;
} kind_facts[LINK_KIND_COUNT_] = {
    [LINK_A] = {"a", 'L', "a/@href"},
    [LINK_AREA] = {"area", 'L', "area/@href"},
    [LINK_LINK] = {"link", 'L', "link/@href"},
    [LINK_CANONICAL] = {"canonical", 'L', "link/@href"},
    [LINK_CSS] = {"css", 'E', "link/@href"},
    [LINK_SITEMAP] = {"sitemap", 'M', "sitemap"},
    [LINK_ALTERNATE] = {"alternate", 'L', "link/@href"},
    [LINK_FEED] = {"feed", 'L', "link/@href"},
    [LINK_IMG] = {"img", 'E', "img/@src"},
    [LINK_SRCSET] = {"srcset", 'E', "img/@srcset"},
    [LINK_IFRAME] = {"iframe", 'E', "iframe/@src"},
    [LINK_SCRIPT] = {"script", 'E', "script/@src"},
    [LINK_FORM] = {"form", 'S', "form/@action"},
    [LINK_META_REFRESH] = {"meta-refresh", 'R', "meta/@content"},
    [LINK_STYLE] = {"style", 'E', "style"},
    [LINK_HEADER] = {"header", 'L', "header"},
    [LINK_LAZY] = {"lazy", 'E', "img/@data-src"},
    [LINK_OBJECT] = {"object", 'E', "object/@data"},
    [LINK_EMBED] = {"embed", 'E', "embed/@src"},
    [LINK_MEDIA] = {"media", 'E', "media/@src"},
    [LINK_CITE] = {"cite", 'L', "cite"},
    [LINK_MANIFEST] = {"manifest", 'E', "link/@href"},
    [LINK_AMPHTML] = {"amphtml", 'L', "link/@href"},
    [LINK_OG] = {"og", 'L', "meta/@content"},
    [LINK_SEED] = {"seed", 'L', "seed"},
    [LINK_REDIRECT] = {"redirect", 'R', "location"},
    [LINK_SITEMAP_PART] = {"sitemap-part", 'M', "sitemap"},
    [LINK_LISTED] = {"listed", 'M', "sitemap"},
    [LINK_PUT] = {"put", 'L', "put"},
    [LINK_IMPORT] = {"import", 'L', "import"},
    [LINK_RESOURCE] = {"resource", 'E', "link/@href"},
};

const char *link_kind_name(enum link_kind k)
{
    return kind_facts[k].name;
}

char link_kind_letter(enum link_kind kind)
{
    return kind < LINK_KIND_COUNT_ ? kind_facts[kind].letter : 'L';
}

const char *link_kind_context(enum link_kind kind)
{
    return kind < LINK_KIND_COUNT_ ? kind_facts[kind].context : "a/@href";
}

bool link_kind_of_name(struct bytes name, enum link_kind *out)
{
    for (unsigned k = 0; k < LINK_KIND_COUNT_; k++)
        if (bytes_is(name, kind_facts[k].name)) {
            *out = (enum link_kind)k;
            return true;
        }
    return false;
}

/* Link types whose URL is no document to read: a host to connect to, an
 * endpoint to post to, a form of search, the name of a vocabulary or a person.
 * From the HTML standard, section 4.6.7, and the registry that it refers to,
 * https://microformats.org/wiki/existing-rel-values. In lower case; a type that
 * ends in a dot stands for all that begin with it. */
static const char *const no_documents[] = {
    /* the HTML standard */
    "dns-prefetch",
    "preconnect",
    "pingback",
    "search",
    "expect",
    /* interfaces of publishing systems */
    "edituri",
    "wlwmanifest",
    "https://api.w.org/",
    "http://api.w.org/",
    "api.w.org",
    "service",
    "edit",
    "edit-media",
    "webmention",
    "micropub",
    "microsub",
    "hub",
    "unapi-server",
    /* who somebody is, and who vouches for it */
    "me",
    "openid.",
    "openid2.",
    "indieauth-metadata",
    "authorization_endpoint",
    "token_endpoint",
    "monetization",
    /* names of vocabularies */
    "schema.",
    "profile",
    "type",
};

static bool names_no_document(struct bytes word)
{
    char first = ascii_lower(word.at[0]);

    for (size_t i = 0; i < sizeof no_documents / sizeof *no_documents; i++) {
        struct bytes type, part = word;

        if (no_documents[i][0] != first)
            continue; /* as nearly all */
        type = bytes_of_str(no_documents[i]);
        if (type.at[type.len - 1] == '.' && part.len > type.len)
            part.len = type.len;
        if (bytes_equal_nocase(part, type))
            return true;
    }
    return false;
}

/* Without any type it is a link like others. */
static bool rel_names_a_document(struct bytes rel)
{
    struct bytes word;
    bool any = false;

    while (word_next(&rel, &word)) {
        if (!names_no_document(word))
            return true;
        any = true;
    }
    return !any;
}

/* External resource links of the HTML standard that browsers load, but for
 * those that are a kind by themselves. */
static bool rel_names_a_resource(struct bytes rel)
{
    static const char *const types[] = {
        "icon",
        "preload",
        "modulepreload",
        "prefetch",
        "compression-dictionary",
    };

    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (words_have(rel, types[i]))
            return true;
    return false;
}

bool link_kind_of_rel(struct bytes rel, struct bytes type, uint32_t kinds,
                      enum link_kind *out)
{
    *out = LINK_LINK;
    if (words_have(rel, "canonical"))
        *out = LINK_CANONICAL;
    else if (words_have(rel, "stylesheet"))
        *out = LINK_CSS;
    else if (words_have(rel, "sitemap"))
        *out = LINK_SITEMAP;
    else if (words_have(rel, "alternate"))
        *out = media_is_feed(type) ? LINK_FEED : LINK_ALTERNATE;
    else if (kinds & LINK_BIT(LINK_MANIFEST) && words_have(rel, "manifest"))
        *out = LINK_MANIFEST;
    else if (kinds & LINK_BIT(LINK_AMPHTML) && words_have(rel, "amphtml"))
        *out = LINK_AMPHTML;
    else if (kinds & LINK_BIT(LINK_RESOURCE) && rel_names_a_resource(rel))
        *out = LINK_RESOURCE;
    else
        return rel_names_a_document(rel);
    return true;
}

/* Search engines read a canonical link there as that of a page, and browsers
 * load what is named so for the page. */
bool link_kind_of_header(const struct header_link *link, uint32_t kinds,
                         enum link_kind *out)
{
    *out = LINK_HEADER;
    if (!link->anchored && words_have(link->rel, "canonical"))
        *out = LINK_CANONICAL;
    else if (!link->anchored && kinds & LINK_BIT(LINK_RESOURCE) &&
             rel_names_a_resource(link->rel))
        *out = LINK_RESOURCE;
    return *out != LINK_HEADER || rel_names_a_document(link->rel);
}

bool link_og_is_url(struct bytes property)
{
    static const char *const names[] = {
        "og:url",
        "og:image",
        "og:image:url",
        "og:video",
        "og:image:secure_url",
        "og:video:url",
        "og:audio",
        "og:video:secure_url",
        "og:audio:url",
        "og:see_also",
        "og:audio:secure_url",
    };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (bytes_equal_nocase(property, bytes_of_str(names[i])))
            return true;
    return false;
}
