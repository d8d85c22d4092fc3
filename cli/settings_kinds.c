/* SPDX-License-Identifier: MIT */
/* settings_kinds.c - which kinds of links a crawl follows. */
#include "cli/settings.h"
#include "crawler/links.h"

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
    return (kinds_of(&s->follow) & ~kinds_of(&s->ignore)) |
           LINK_BIT(LINK_REDIRECT);
}
