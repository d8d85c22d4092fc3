/* SPDX-License-Identifier: MIT */
/*
 * html_stack.c - open elements, chained by word.
 *
 * Each element stores what the chains were before it was pushed, so that
 * popping restores them. A search up the stack would cost up to 512 steps a
 * tag: half a million tags took a second and a half that way.
 */
#include "crawler/html/html_stack.h"

#include <string.h>

#include "crawler/html/html_traits.h"

void html_stack_clear(struct html_stack *s)
{
    s->depth = 0;
    s->special = s->scope = 0;
    memset(s->last, 0, sizeof s->last);
}

uint32_t html_name_hash(struct bytes name)
{
    uint32_t h = UINT32_C(2166136261); /* FNV-1a */

    for (size_t i = 0; i < name.len; i++) {
        unsigned char c = (unsigned char)name.at[i];

        if (c >= 'A' && c <= 'Z')
            c |= 0x20;
        h = (h ^ c) * UINT32_C(16777619);
    }
    return h;
}

/* Members are written where they stay: a struct that was written member by
 * member and is then copied as a whole waits for the cache. */
void html_stack_push(struct html_stack *s, struct html_open e)
{
    struct html_open *to;
    unsigned flags = e.flags;
    uint16_t place;

    if (s->depth == HTML_DEPTH_MOST)
        html_stack_pop(s);
    place = (uint16_t)++s->depth;
    to = &s->stack[place];
    to->word = e.word;
    to->space = e.space;
    to->hash = e.hash;
    to->special = s->special;
    to->scope = s->scope;
    to->same = 0;
    if (e.space == HTML_SPACE) {
        unsigned tr = html_traits[e.word];

        flags = ((tr & TRAIT_SPECIAL) ? OPEN_SPECIAL : 0U) |
                ((tr & TRAIT_SCOPE) ? OPEN_SCOPE : 0U);
        to->same = s->last[e.word];
        s->last[e.word] = place;
    }
    if (flags & OPEN_SPECIAL)
        s->special = place;
    if (flags & OPEN_SCOPE)
        s->scope = place;
    to->flags = (uint8_t)flags;
}

void html_stack_push_word(struct html_stack *s, enum html_word word)
{
    html_stack_push(s, html_open_of(word, html_word_text(word), HTML_SPACE));
}

void html_stack_remove(struct html_stack *s, unsigned place)
{
    struct html_open inside[HTML_DEPTH_MOST];
    unsigned n = s->depth - place;

    memcpy(inside, &s->stack[place + 1], n * sizeof *inside);
    html_stack_close(s, place);
    for (unsigned i = 0; i < n; i++)
        html_stack_push(s, inside[i]);
}

unsigned html_stack_in_table(const struct html_stack *s, enum html_word word)
{
    unsigned place = s->last[word];

    return place < s->last[WORD_TABLE] || place < s->last[WORD_TEMPLATE]
               ? 0
               : place;
}

unsigned html_stack_innermost(const struct html_stack *s, const uint8_t *words,
                              size_t n)
{
    unsigned place = 0;

    for (size_t i = 0; i < n; i++)
        if (s->last[words[i]] > place)
            place = s->last[words[i]];
    return place;
}
