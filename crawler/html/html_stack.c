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

static uint32_t name_hash(enum html_word word, struct bytes name)
{
    uint32_t h = UINT32_C(2166136261); /* FNV-1a */

    if (word != WORD_OTHER)
        return 0;
    for (size_t i = 0; i < name.len; i++) {
        unsigned char c = (unsigned char)name.at[i];

        if (c >= 'A' && c <= 'Z')
            c |= 0x20;
        h = (h ^ c) * UINT32_C(16777619);
    }
    return h;
}

struct html_open html_open_of(enum html_word word, struct bytes name,
                              enum html_space space)
{
    return (struct html_open){.word = (uint8_t)word,
                              .space = (uint8_t)space,
                              .hash = name_hash(word, name)};
}

void html_stack_push(struct html_stack *s, struct html_open e)
{
    uint16_t place;

    if (s->depth == HTML_DEPTH_MOST)
        html_stack_pop(s);
    place = (uint16_t)++s->depth;
    e.special = s->special;
    e.scope = s->scope;
    if (e.space == HTML_SPACE) {
        unsigned tr = html_traits[e.word];

        e.flags = (uint8_t)(((tr & TRAIT_SPECIAL) ? OPEN_SPECIAL : 0) |
                            ((tr & TRAIT_SCOPE) ? OPEN_SCOPE : 0));
        e.same = s->last[e.word];
        s->last[e.word] = place;
    }
    if (e.flags & OPEN_SPECIAL)
        s->special = place;
    if (e.flags & OPEN_SCOPE)
        s->scope = place;
    s->stack[place] = e;
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
