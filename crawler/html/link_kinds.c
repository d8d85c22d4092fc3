/* SPDX-License-Identifier: MIT */
/* link_kinds.c - names of kinds, and which kind a <link> is. */
#include "crawler/html/link_kinds.h"

#include "crawler/html/link_values.h"

static const char *const kind_names[LINK_KIND_COUNT_] = {
    [LINK_A] = "a",
    [LINK_AREA] = "area",
    [LINK_LINK] = "link",
    [LINK_CANONICAL] = "canonical",
    [LINK_CSS] = "css",
    [LINK_SITEMAP] = "sitemap",
    [LINK_ALTERNATE] = "alternate",
    [LINK_FEED] = "feed",
    [LINK_IMG] = "img",
    [LINK_SRCSET] = "srcset",
    [LINK_IFRAME] = "iframe",
    [LINK_SCRIPT] = "script",
    [LINK_FORM] = "form",
    [LINK_META_REFRESH] = "meta-refresh",
    [LINK_STYLE] = "style",
    [LINK_HEADER] = "header",
    [LINK_LAZY] = "lazy",
    [LINK_OBJECT] = "object",
    [LINK_EMBED] = "embed",
    [LINK_MEDIA] = "media",
    [LINK_CITE] = "cite",
    [LINK_MANIFEST] = "manifest",
    [LINK_AMPHTML] = "amphtml",
    [LINK_OG] = "og",
    [LINK_SEED] = "seed",
    [LINK_REDIRECT] = "redirect",
    [LINK_SITEMAP_PART] = "sitemap-part",
    [LINK_LISTED] = "listed",
    [LINK_PUT] = "put",
};

const char *link_kind_name(enum link_kind k)
{
    return kind_names[k];
}

bool link_kind_of_name(struct bytes name, enum link_kind *out)
{
    for (unsigned k = 0; k < LINK_KIND_COUNT_; k++)
        if (bytes_is(name, kind_names[k])) {
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
