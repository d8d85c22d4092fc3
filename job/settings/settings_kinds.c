/* SPDX-License-Identifier: MIT */
/* settings_kinds.c - which kinds of links a crawl follows. */
#include "crawler/html/link_kinds.h"
#include "job/settings/settings.h"

static uint32_t kinds_of(const struct option_list *l)
{
    uint32_t set = 0;
    enum link_kind k;

    for (size_t i = 0; i < l->count; i++)
        if (link_kind_of_name(bytes_of_str(l->item[i]), &k))
            set |= LINK_BIT(k);
    return set;
}

uint32_t settings_link_kinds(const struct crawl_settings *s)
{
    uint32_t set = kinds_of(&s->follow);

    if (s->check)
        return LINK_BIT(LINK_REDIRECT);
    if (s->assets != ASSETS_OFF)
        set |= LINK_SET_ASSETS;
    set &= ~kinds_of(&s->ignore);
    if (s->sitemap == SITEMAPS_ONLY)
        set = LINK_BIT(LINK_SITEMAP);
    if (s->sitemap == SITEMAPS_OFF)
        set &= ~LINK_BIT(LINK_SITEMAP);
    return set | LINK_BIT(LINK_REDIRECT);
}
