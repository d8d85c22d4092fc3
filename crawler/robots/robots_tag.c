/* SPDX-License-Identifier: MIT */
/*
 * robots_tag.c - X-Robots-Tag and the content of <meta name=robots>.
 *
 * The trap is the colon: `urlweir: noindex` names an agent, but
 * `unavailable_after: 25 Jun 2030 15:00:00 GMT` and `max-snippet:20` are
 * directives. So we know the directives that take a value by name, and only a
 * product token can be an agent.
 */
#include "crawler/robots/robots_tag.h"

#include "base/ascii.h"

static bool is_separator(char c)
{
    return c == ',' || c == ';' || c == ' ' || c == '\t' || c == '\n' ||
           c == '\r' || c == '\f';
}

static bool is_word(struct bytes a, const char *word)
{
    return bytes_equal_nocase(a, bytes_of_str(word));
}

void robots_tag_directives(struct bytes content, bool *noindex, bool *nofollow)
{
    size_t i = 0;

    while (i < content.len) {
        struct bytes word = bytes_of(content.at + i, 0);

        while (i < content.len && !is_separator(content.at[i])) {
            word.len++;
            i++;
        }
        i++;
        if (is_word(word, "noindex") || is_word(word, "none"))
            *noindex = true;
        if (is_word(word, "nofollow") || is_word(word, "none"))
            *nofollow = true;
    }
}

static bool takes_value(struct bytes name)
{
    return is_word(name, "unavailable_after") || is_word(name, "max-snippet") ||
           is_word(name, "max-image-preview") ||
           is_word(name, "max-video-preview");
}

static bool is_product_token(struct bytes s)
{
    for (size_t i = 0; i < s.len; i++) {
        char c = s.at[i];

        if (!ascii_is_letter(c) && c != '-' && c != '_')
            return false;
    }
    return s.len > 0;
}

/* Cuts `agent:` off the front of *item, if it is there. */
static bool cut_agent(struct bytes *item, struct bytes *agent)
{
    const char *colon = item->len > 0 ? memchr(item->at, ':', item->len) : NULL;
    struct bytes name;

    if (colon == NULL)
        return false;
    name = bytes_trim(bytes_of(item->at, (size_t)(colon - item->at)));
    if (takes_value(name) || (!is_product_token(name) && !bytes_is(name, "*")))
        return false;
    *agent = name;
    *item = bytes_of(colon + 1, item->len - (size_t)(colon + 1 - item->at));
    return true;
}

void robots_tag_header(struct bytes value, struct bytes agent, bool *noindex,
                       bool *nofollow)
{
    bool for_us = true;

    while (value.len > 0) {
        const char *comma = memchr(value.at, ',', value.len);
        struct bytes item = value, named;

        if (comma != NULL)
            item.len = (size_t)(comma - value.at);
        value = comma != NULL ? bytes_of(comma + 1, value.len - item.len - 1)
                              : bytes_of(NULL, 0);
        if (cut_agent(&item, &named))
            for_us = bytes_is(named, "*") || is_word(named, "robots") ||
                     bytes_equal_nocase(named, agent);
        if (for_us)
            robots_tag_directives(item, noindex, nofollow);
    }
}
