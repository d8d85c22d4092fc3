/*
 * html_stack.h - the stack of open elements (HTML standard, section 13.2.4.2).
 *
 * It stores the place of the innermost element of each word, of the innermost
 * special element and of the innermost end of a scope, so that lookups need no
 * search. Past HTML_DEPTH_MOST a new element replaces the innermost one, as
 * browsers limit the depth of their trees. One thread at a time.
 */
#ifndef URLWEIR_CRAWLER_HTML_HTML_STACK_H
#define URLWEIR_CRAWLER_HTML_HTML_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "crawler/html/html_words.h"

#define HTML_DEPTH_MOST 512

enum html_space { HTML_SPACE, SVG_SPACE, MATH_SPACE };

/* Places on the stack count from 1; 0 means none. */
struct html_open {
    uint8_t word;  /* enum html_word */
    uint8_t space; /* enum html_space */
    uint8_t flags;
    uint32_t hash;    /* of the name, if the word is WORD_OTHER */
    uint16_t same;    /* place of the next outer HTML element of its word, */
    uint16_t special; /* and what html_tree.special and */
    uint16_t scope;   /* .scope were before it was pushed */
};

/* Flags of an open element. push sets the first two of HTML elements, the
 * caller sets those of others. */
enum {
    OPEN_SPECIAL = 1,
    OPEN_SCOPE = 2,
    OPEN_HTML_INSIDE = 4, /* HTML integration point */
    OPEN_TEXT_INSIDE = 8  /* MathML text integration point */
};

struct html_stack {
    unsigned depth;
    uint16_t special;           /* the place of the innermost special element */
    uint16_t scope;             /* of the innermost element that ends a scope */
    uint16_t last[WORD_COUNT_]; /* of the innermost HTML element of each word */
    struct html_open stack[HTML_DEPTH_MOST + 1]; /* [0] is never used */
};

void html_stack_clear(struct html_stack *s);

/* Of a name, ASCII case ignored. */
uint32_t html_name_hash(struct bytes name);

static inline struct html_open html_open_of(enum html_word word,
                                            struct bytes name,
                                            enum html_space space)
{
    return (struct html_open){.word = (uint8_t)word,
                              .space = (uint8_t)space,
                              .hash = word == WORD_OTHER ? html_name_hash(name)
                                                         : 0};
}

static inline bool html_open_same_name(const struct html_open *a,
                                       const struct html_open *b)
{
    return a->word == b->word && a->hash == b->hash;
}

void html_stack_push(struct html_stack *s, struct html_open e);
void html_stack_push_word(struct html_stack *s, enum html_word word);

static inline void html_stack_pop(struct html_stack *s)
{
    const struct html_open *e = &s->stack[s->depth--];

    s->special = e->special;
    s->scope = e->scope;
    if (e->space == HTML_SPACE)
        s->last[e->word] = e->same;
}

/* Pops the element at `place` and all inside it; does nothing for 0. */
static inline void html_stack_close(struct html_stack *s, unsigned place)
{
    while (place > 0 && s->depth >= place)
        html_stack_pop(s);
}

/* Takes one element out and leaves those inside it. */
void html_stack_remove(struct html_stack *s, unsigned place);

/* The innermost element; meaningless if the stack is empty. */
static inline const struct html_open *html_stack_top(const struct html_stack *s)
{
    return &s->stack[s->depth];
}

static inline bool html_stack_top_is(const struct html_stack *s,
                                     enum html_word word)
{
    return s->depth > 0 && s->last[word] == s->depth;
}

/* The place of `word` in scope, which `wall` (unless WORD_OTHER) ends as well;
 * 0: none. */
static inline unsigned html_stack_in_scope(const struct html_stack *s,
                                           enum html_word word,
                                           enum html_word wall)
{
    unsigned place = s->last[word];

    if (place < s->scope || (wall != WORD_OTHER && place < s->last[wall]))
        return 0;
    return place;
}

/* The place of `word` in table scope; 0: none. */
unsigned html_stack_in_table(const struct html_stack *s, enum html_word word);
/* The innermost of some words, or 0. */
unsigned html_stack_innermost(const struct html_stack *s, const uint8_t *words,
                              size_t n);

#endif
