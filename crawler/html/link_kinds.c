/* SPDX-License-Identifier: MIT */
/* link_kinds.c - names of kinds, and which kind a <link> is. */
#include "crawler/html/link_kinds.h"

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

enum link_kind link_kind_of_rel(struct bytes rel, struct bytes type,
                                uint32_t kinds)
{
    if (words_have(rel, "canonical"))
        return LINK_CANONICAL;
    if (words_have(rel, "stylesheet"))
        return LINK_CSS;
    if (words_have(rel, "sitemap"))
        return LINK_SITEMAP;
    if (words_have(rel, "alternate"))
        return media_is_feed(type) ? LINK_FEED : LINK_ALTERNATE;
    if (kinds & LINK_BIT(LINK_MANIFEST) && words_have(rel, "manifest"))
        return LINK_MANIFEST;
    if (kinds & LINK_BIT(LINK_AMPHTML) && words_have(rel, "amphtml"))
        return LINK_AMPHTML;
    return LINK_LINK;
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
